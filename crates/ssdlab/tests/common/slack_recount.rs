//! Recounts every counter behind an estimate from the stages of a run, and recomputes every estimate from these counts.

use std::collections::BTreeMap;

use ssdlab::config::{Allocation, Config, ReclaimUnit};
use ssdlab::flash::{Interval, OpKind, Resource};
use ssdlab::geometry::Geometry;
use ssdlab::request::{Request, RequestKind};
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::units::{ChannelId, DieId, Lpn, Ns, PoolId};

use super::slack::{Key, PAGE, Page, look, under_way};

/// A flash operation, or several of one kind as one: it waits for nothing but its station.
#[derive(Clone, Debug)]
struct Command {
    die: DieId,
    kind: OpKind,
    host: bool,
    /// Pages.
    pages: u64,
    begin: Ns,
    end: Ns,
    /// Time of each of its array stages, in order: of a page move, of its read and its program.
    array: Vec<Ns>,
    /// When a page of it ended: at the end of its transfer out, or with the command.
    page_ends: Vec<Ns>,
    /// Transfers: start, end, and whether another of the command's pages had been transferred until then.
    transfers: Vec<(Ns, Ns, bool)>,
    /// When a transfer out or, of a page move, in was requested, and when it began, if that was later.
    waits: Vec<(Ns, Ns)>,
}

/// The commands of a die, none of which overlap.
fn commands_of(die: DieId, intervals: &[Interval]) -> Vec<Command> {
    let mut stages: Vec<&Interval> = intervals.iter().filter(|interval| interval.die == die).collect();
    stages.sort_by_key(|stage| (stage.start, stage.end));
    let mut commands: Vec<Command> = Vec::new();
    let mut open = false;
    for stage in stages {
        let array = matches!(stage.resource, Resource::Array(_));
        // A read begins in the array, a program on the bus, and more pages follow on the bus.
        let begins = match stage.kind {
            OpKind::Read | OpKind::Erase => array,
            OpKind::Program | OpKind::Move => !open,
            kind => panic!("{kind:?} is not counted"),
        };
        if begins {
            let Interval { die, kind, host, start, .. } = *stage;
            commands.push(Command {
                die,
                kind,
                host,
                pages: 0,
                begin: start,
                end: 0,
                array: Vec::new(),
                page_ends: Vec::new(),
                transfers: Vec::new(),
                waits: Vec::new(),
            });
        }
        let command = commands.last_mut().expect("begun");
        assert_eq!((command.kind, command.host), (stage.kind, stage.host));
        // What asks for the bus does so when its stage before has ended: also one page of several when the one before is through, if others
        // wait by then.
        let asks = !array && !begins;
        if asks && stage.start > command.end {
            command.waits.push((command.end, stage.start));
        }
        if !array {
            let follows = command.transfers.last().is_some_and(|&(_, end, _)| end == stage.start) && stage.kind != OpKind::Move;
            command.transfers.push((stage.start, stage.end, follows));
        }
        if array {
            command.array.push(stage.end - stage.start);
        }
        command.end = stage.end;
        command.pages += u64::from(!array);
        if stage.kind == OpKind::Read && !array {
            command.page_ends.push(stage.end);
        }
        open = match stage.kind {
            OpKind::Program => !array,
            OpKind::Move => begins || !array,
            _ => false,
        };
    }
    for command in &mut commands {
        if command.kind == OpKind::Program {
            command.page_ends = vec![command.end];
        }
    }
    commands
}

/// A page operation.
#[derive(Clone, Debug)]
struct Op {
    key: Key,
    read: bool,
    /// Where it was, from when on: a read that waits follows a page that moves to another pool.
    pools: Vec<(Ns, PoolId)>,
    /// Of a read: its page lay in a block in SLC mode when it was admitted.
    in_slc: bool,
    page: Page,
    arrival: Ns,
    begin: Ns,
}

impl Op {
    fn pool(&self, now: Ns) -> PoolId {
        self.pools.iter().rev().find(|(since, _)| *since <= now).unwrap_or(&self.pools[0]).1
    }
}

/// A run whose estimates are to be recomputed.
#[derive(Debug)]
pub struct Recount {
    config: Config,
    geometry: Geometry,
    commands: Vec<Command>,
    ops: Vec<Op>,
}

/// How many estimates were compared, and in how many a term was not 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub estimates: u64,
    pub residual: u64,
    pub collection: u64,
    pub interference: u64,
    pub advanced: u64,
    pub in_slc: u64,
}

impl Recount {
    /// Runs a drive on which no request is for a page that is under way.
    pub fn run(config: &Config, rng: &mut Rng, kinds: &[RequestKind]) -> Result<Self, String> {
        let plan = Plan { verify: Verify::End, ..Plan::new(config.clone(), 1) };
        let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
        simulation.ssd_mut().keep_trace();
        let mut arrivals: Vec<Ns> = Vec::new();
        let gap = [500, 3_000, 12_000][rng.below(3) as usize];
        for _ in 0..60 {
            let last = arrivals.last().copied().unwrap_or(0);
            arrivals.push(if rng.chance(0.3) { last } else { last + rng.below(gap) });
        }
        let exported = simulation.ssd().ftl().geometry().exported_units;
        let (mut pages, mut reads, mut came) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (mut places, mut in_slc) = (BTreeMap::<Key, Vec<(Ns, PoolId)>>::new(), BTreeMap::new());
        let mut before: Vec<Key> = Vec::new();
        let in_parts = config.ftl.allocation == Allocation::Dynamic;
        let mut arrivals = arrivals.into_iter().peekable();
        while let Some(due) = simulation.ssd().next_event().into_iter().chain(arrivals.peek().copied()).min() {
            let mut taken: Vec<u64> = under_way(&simulation).iter().map(|(key, ..)| key.1).collect();
            while arrivals.next_if_eq(&due).is_some() {
                let (first, count) = (rng.below(u64::from(exported)), 1 + rng.below(4));
                let last = (first + count).min(u64::from(exported));
                if (first..last).any(|page| taken.contains(&page)) {
                    continue;
                }
                taken.extend(first..last);
                let kind = kinds[rng.below(kinds.len() as u64) as usize];
                reads.push(kind == RequestKind::Read);
                came.push(due);
                let request = Request {
                    arrival_ns: due,
                    kind,
                    offset: first * PAGE,
                    length: (last - first) * PAGE,
                    high_priority: false,
                    flow: 0,
                    handle: None,
                };
                simulation.submit(request).map_err(|error| error.to_string())?;
            }
            simulation.run_until(due).map_err(|error| error.to_string())?;
            let under_way = under_way(&simulation);
            let ftl = simulation.ssd().ftl();
            // Writes are where they have gone to once they have ended.
            let now: Vec<Key> = under_way.iter().map(|(key, ..)| *key).collect();
            let ended = before.iter().filter(|key| !now.contains(key));
            for &key in now.iter().chain(ended).filter(|key| reads[key.0 as usize] || !now.contains(key)) {
                let Some(place) = ftl.lookup(Lpn(key.1 as u32)) else { continue };
                places.entry(key).or_default().push((due, ftl.geometry().pool_of_page(place)));
                in_slc.entry(key).or_insert(ftl.in_cache(place));
            }
            before = now;
            look(&mut pages, due, under_way, in_parts)?;
        }
        let geometry = simulation.ssd().ftl().geometry().clone();
        let intervals = &simulation.ssd().trace().expect("kept").intervals;
        let commands: Vec<Command> = (0..geometry.dies).flat_map(|die| commands_of(DieId(die), intervals)).collect();
        let begun = |die: DieId, read: bool, end: Ns| {
            let kind = if read { OpKind::Read } else { OpKind::Program };
            let is = |command: &&Command| command.host && (command.die, command.kind) == (die, kind) && command.page_ends.contains(&end);
            commands.iter().find(is).map(|command| command.begin)
        };
        let mut ops = Vec::new();
        for (&key, &page) in &pages {
            let (read, mut pools) = (reads[key.0 as usize], places.remove(&key).ok_or("a page of an operation has a place")?);
            // A read that ends with the move of its page was served where the page lay before.
            let die = |pools: &[(Ns, PoolId)]| pools.last().map(|&(_, pool)| geometry.die_of_pool(pool)).expect("a place");
            if read && pools.len() > 1 && pools.last().is_some_and(|&(since, _)| since == page.end) {
                pools.pop();
            }
            let begin = begun(die(&pools), read, page.end).ok_or_else(|| format!("no command ends {key:?}: {page:?}"))?;
            pools.retain(|&(since, _)| !read || since <= begin);
            ops.push(Op { key, read, pools, in_slc: in_slc[&key], page, arrival: came[key.0 as usize], begin });
        }
        simulation.finish().map_err(|error| error.to_string())?;
        Ok(Recount { config: config.clone(), geometry, commands, ops })
    }

    fn station(&self, die: DieId) -> u32 {
        if self.config.device.die_interleave { die.0 } else { self.geometry.chip_of_die(die).0 }
    }

    /// Compares all estimates.
    pub fn compare(&self) -> Result<Compared, String> {
        let mut compared = Compared::default();
        for (index, op) in self.ops.iter().enumerate() {
            let Some(expected) = self.estimate(index, &mut compared) else { continue };
            if op.page.estimate != expected {
                return Err(format!(
                    "{op:?} was estimated to end at {}, and by what the stages say at {expected}\n{:#?}",
                    op.page.estimate, self.config
                ));
            }
        }
        Ok(compared)
    }

    /// Over the transfers of a channel until now, the operations that stood in the bus's line while they went on. `None` where an operation came to
    /// the line and a transfer began at this very instant: stages do not tell whether the arrivals of the instant came between.
    fn ready(&self, channel: ChannelId, now: Ns) -> Option<u64> {
        let commands = || self.commands.iter().filter(|command| self.geometry.channel_of_die(command.die) == channel);
        let mut ready = 0;
        for &(asked, began) in commands().flat_map(|command| &command.waits) {
            for &(start, end, follows) in commands().flat_map(|command| &command.transfers) {
                if start >= began || asked >= end {
                    continue;
                }
                if asked == start && start == now {
                    return None;
                }
                let counted = if asked <= start { start < now || start == now && follows } else { asked <= now };
                ready += u64::from(counted);
            }
        }
        Some(ready)
    }

    /// What a command is taken for: its array time, and its transfers if nothing else wants the bus. A page move counts two of them however
    /// it goes; of moves whose reads and programs are commands apart, where both are of one die, `Program` stands for both.
    fn latency(&self, command: &Command, ends: bool) -> Ns {
        let transfer = self.transfer_ns();
        let array: Ns = command.array.iter().sum();
        let apart = self.config.ftl.reclaim_unit == ReclaimUnit::Superblock && self.geometry.dies > 1;
        match command.kind {
            OpKind::Erase => array,
            OpKind::Read if !command.host && ends && !apart => 0,
            OpKind::Program if !command.host && ends && !apart => array + self.config.device.read_ns + 2 * transfer,
            OpKind::Read | OpKind::Program => array + transfer,
            _ => array + 2 * transfer,
        }
    }

    fn transfer_ns(&self) -> Ns {
        PAGE * self.config.device.transfer_ps_per_byte / 1000 + self.config.device.command_ns
    }

    /// The next write of this die is expected to go to a block in SLC mode: those of its one pool have room.
    fn has_room_in_slc(&self, die: DieId, now: Ns) -> bool {
        let Config { device, slc, .. } = &self.config;
        let each = u64::from(device.pages_per_block / slc.bits_per_cell);
        let of_die = || self.commands.iter().filter(|command| command.die == die);
        let is = |command: &&Command, kind: OpKind, ns: Ns| command.kind == kind && command.array == [ns];
        let erased = of_die().filter(|command| is(command, OpKind::Erase, slc.erase_ns) && command.end <= now).count() as u64;
        let written = of_die().filter(|command| is(command, OpKind::Program, slc.program_ns) && command.begin < now).count() as u64;
        (u64::from(slc.static_blocks) + erased) * each > written
    }

    /// What an operation was expected to take when it was admitted.
    fn expected(&self, op: &Op) -> Ns {
        let Config { device, slc, .. } = &self.config;
        let in_slc = if op.read { op.in_slc } else { self.has_room_in_slc(self.die(op, op.page.admitted), op.page.admitted) };
        let array = match (op.read, in_slc && slc.is_on()) {
            (true, true) => slc.read_ns,
            (true, false) => device.read_ns,
            (false, true) => slc.program_ns,
            (false, false) => device.program_ns,
        };
        array + self.transfer_ns()
    }

    fn die(&self, op: &Op, now: Ns) -> DieId {
        self.geometry.die_of_pool(op.pool(now))
    }

    /// The estimate of an operation from what its station, its channel and the queues had done when it was admitted.
    fn estimate(&self, index: usize, compared: &mut Compared) -> Option<Ns> {
        let op = &self.ops[index];
        let now = op.page.admitted;
        if now > op.arrival {
            // It has waited for room: what began at the instant of its admission may have begun before.
            return None;
        }
        let (transfer, pool, die) = (self.transfer_ns(), op.pool(now), self.die(op, now));
        let station = self.station(die);
        let on_station = || self.commands.iter().filter(|command| self.station(command.die) == station);
        // Pages, commands, and pages that shared theirs, of a kind that the station had begun for the host; those it begins now it begins after
        // the arrivals.
        let served = |kind: OpKind| {
            let begun = || on_station().filter(|command| command.host && command.kind == kind && command.begin < now);
            let pages = |commands: &mut dyn Iterator<Item = &Command>| commands.map(|command| command.pages).sum::<u64>();
            (pages(&mut begun()), begun().count() as u64, pages(&mut begun().filter(|command| command.pages > 1)))
        };
        let (of_reads, of_writes) = (served(OpKind::Read), served(OpKind::Program));
        // Operations ahead of it on its own plane, on others of its die, and elsewhere.
        let ahead = |read: bool| {
            let waits = |other: &&Op| {
                let before = (other.page.admitted, other.key) < (now, op.key);
                other.read == read && self.station(self.die(other, now)) == station && before && other.begin >= now
            };
            let ahead = || self.ops.iter().filter(waits);
            let sum = |ops: &mut dyn Iterator<Item = &Op>| ops.map(|other| self.expected(other)).sum::<Ns>();
            let own = sum(&mut ahead().filter(|other| other.pool(now) == pool));
            let beside = sum(&mut ahead().filter(|other| other.pool(now) != pool && self.die(other, now) == die));
            [own, beside, sum(&mut ahead()) - own - beside]
        };
        let queue = |[own, beside, elsewhere]: [Ns; 3], (pages, commands, shared): (u64, u64, u64)| {
            let part = |ns: Ns, of: u64| (ns * of).checked_div(pages).unwrap_or(ns);
            own + part(beside, pages - shared) + part(elsewhere, commands)
        };
        let t_queue = if op.read {
            queue(ahead(true), of_reads)
        } else {
            queue([0, 0, ahead(true).iter().sum()], of_reads) + queue(ahead(false), of_writes)
        };
        let (c_r, c_w) = (of_reads.0, of_writes.0);
        let ended = on_station().filter(|command| !command.host && command.end <= now);
        let collection: Ns = ended.map(|command| self.latency(command, true)).sum();
        let t_gc = collection.checked_div(c_r + c_w).unwrap_or(0);
        let channel = self.geometry.channel_of_die(die);
        let on_channel = |die: DieId| self.geometry.channel_of_die(die) == channel;
        let ready = self.ready(channel, now)?;
        let admitted = |other: &&Op| on_channel(self.die(other, other.page.admitted)) && (other.page.admitted, other.key) < (now, op.key);
        let total = self.ops.iter().filter(admitted).count() as u64;
        let t_interference = (transfer * ready).checked_div(total).unwrap_or(0);
        let running = on_station().filter(|command| command.begin < now && command.end > now);
        let t_residual = running.map(|command| self.latency(command, false).saturating_sub(now - command.begin)).max().unwrap_or(0);
        compared.estimates += 1;
        compared.residual += u64::from(t_residual > 0);
        compared.collection += u64::from(t_gc > 0);
        compared.interference += u64::from(t_interference > 0);
        compared.advanced += u64::from(of_reads.1 < c_r || of_writes.1 < c_w);
        let alone = self.expected(op);
        compared.in_slc += u64::from(alone != transfer + if op.read { self.config.device.read_ns } else { self.config.device.program_ns });
        Some(now + t_queue + t_gc + t_interference + t_residual + alone)
    }
}
