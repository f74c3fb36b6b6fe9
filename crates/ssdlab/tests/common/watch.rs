//! A drive watched from outside at every instant: free blocks, and that collection gets somewhere.

use ssdlab::cause::Cause;
use ssdlab::config::{Begin, Config, Frontier, Streams, Trigger};
use ssdlab::ftl::{BlockState, Ftl};
use ssdlab::request::Request;
use ssdlab::simulation::Simulation;
use ssdlab::units::{BlockId, PoolId};

/// More instants than any of these runs has.
const INSTANTS: u64 = 1_000_000;

/// What a pool was like at an instant.
#[derive(Clone, Debug)]
struct Seen {
    free: u32,
    /// By class of host writes (`ftl.placement`): the block, the page, and whether a write would have to take a new block. With superblocks
    /// of several pools: the superblocks that the host has open in the group.
    host: Vec<(BlockId, u32, bool)>,
    /// With an SLC cache: the blocks that the host has opened in either mode and that are not erased, each with its erases before.
    opened: Vec<(BlockId, u32)>,
    collects: bool,
    /// Its blocks that jobs empty, or have emptied.
    victims: Vec<BlockId>,
    /// Collection is wanted, as far as can be seen: it works, or it would gain something and free blocks are below T_soft.
    wants: bool,
    /// Some block of it can be collected.
    gains: bool,
    /// Of the jobs that followed each other without a break until now, one may have been for another reason than a want of free blocks.
    otherwise: bool,
}

/// Watches the free blocks of every pool.
#[derive(Debug)]
pub struct Watch {
    soft: u32,
    hard: u32,
    by_free_blocks: bool,
    separate: bool,
    host_classes: u8,
    /// The streams below this are those of the host.
    host_streams: u8,
    /// Superblocks of several pools are what is taken and collected.
    spans: bool,
    /// Collection begins for requests only, but for idle time.
    set_off: bool,
    /// Free blocks with which an episode ends; 0: there are none.
    until: u32,
    /// The most pools that fold at a time; 0: all.
    fold_jobs: usize,
    /// Pages that could be gained when the run began.
    invalid: u64,
    pools: Vec<Seen>,
    /// Pools with a job.
    active: usize,
    /// Requests that were outstanding in the drive after the instant before.
    outstanding: usize,
    /// Jobs begun by then for another reason than a want of free blocks.
    otherwise: u64,
    /// Units that have waited for a place in front of the drive.
    place_waits: u64,
    erases: u64,
    /// Instants at which the host took a free block while collection was wanted and there is a T_hard.
    pub takes: u64,
    /// Instants at which an episode ended.
    pub episodes: u64,
    /// Instants at which a pool had fewer than T_hard free blocks and wanted collection.
    pub short: u64,
}

/// Too many blocks have failed: the drive takes no more writes.
fn is_read_only(simulation: &Simulation) -> bool {
    simulation.ssd().wear_stats().is_some_and(|wear| wear.read_only.is_some())
}

impl Watch {
    /// Begins to watch a drive at rest.
    pub fn new(config: &Config, simulation: &Simulation) -> Self {
        let ftl = simulation.ssd().ftl();
        let blocks_each = ftl.geometry().pools.blocks_each;
        let programmed: u64 = blocks(ftl).map(|block| u64::from(ftl.blocks().programmed(block))).sum();
        // What a write buffer has accepted, and what the mapping table is to keep, sets off the jobs that make room for it where blocks can fail.
        let keeps_accepted = config.wear.is_on() && (config.buffer.is_on() || config.caches_map());
        let soft = config.gc.soft_blocks(blocks_each) + config.uncounted_blocks();
        let mut watch = Watch {
            soft,
            hard: if config.gc.hard == 0.0 { 0 } else { config.gc.hard_blocks(blocks_each) + config.uncounted_blocks() },
            by_free_blocks: !matches!(config.gc.trigger, Trigger::InvalidShare | Trigger::Both),
            set_off: config.gc.begin != Begin::Frontier && config.gc.trigger != Trigger::Idle && !keeps_accepted,
            until: if config.gc.until > 0 { soft.max(2) + config.gc.until } else { 0 },
            separate: config.ftl.frontier == Frontier::Separate,
            host_classes: Streams::new(config).host_classes,
            host_streams: Streams::new(config).host_classes + u8::from(config.ftl.frontier == Frontier::Shared),
            spans: ftl.geometry().spans_pools(),
            fold_jobs: config.slc.fold_jobs as usize,
            invalid: programmed - ftl.mapped_pages(),
            pools: Vec::new(),
            active: 0,
            outstanding: 0,
            otherwise: 0,
            place_waits: 0,
            erases: 0,
            takes: 0,
            episodes: 0,
            short: 0,
        };
        watch.pools = watch.look(ftl);
        watch
    }

    fn look(&self, ftl: &Ftl) -> Vec<Seen> {
        let mut collects = vec![false; ftl.geometry().pools.count.get() as usize];
        let collected = |block| matches!(ftl.blocks().state(block), BlockState::Victim | BlockState::Erased);
        let collected_blocks: Vec<BlockId> = blocks(ftl).filter(|&block| collected(block)).collect();
        for &block in &collected_blocks {
            let pool = ftl.geometry().pool_of_block(block);
            // A block that is retired leaves the others of its superblock to be erased.
            for pool in [pool, ftl.geometry().lead_pool(pool)] {
                collects[pool.index()] = true;
            }
        }
        let seen = |(pool, collects): (usize, bool)| {
            let pool = PoolId(pool as u32);
            let free = ftl.blocks().free_count(pool);
            let gains = ftl.blocks().eligible_blocks(pool).next().is_some();
            let next = |class| (ftl.next_write_block(pool, class), ftl.next_offset(pool, class), ftl.takes_free(pool, class));
            let of_host = |&&(first, stream): &&(BlockId, u8)| stream < self.host_streams || ftl.blocks().in_cache(first);
            let open = ftl.blocks().open_superblocks(pool).iter().filter(of_host);
            let superblocks = open.map(|&(first, _)| (first, 0, false)).collect();
            let is_host = |block: &BlockId| ftl.blocks().stream(*block) < self.host_streams || ftl.blocks().in_cache(*block);
            let in_use = blocks(ftl).filter(|&block| ftl.geometry().pool_of_block(block) == pool && ftl.blocks().is_in_use(block));
            let opened = in_use.filter(is_host).map(|block| (block, ftl.blocks().erases()[block.index()]));
            Seen {
                free,
                host: if self.spans { superblocks } else { (0..self.host_classes).map(next).collect() },
                opened: if ftl.geometry().slc.is_some() { opened.collect() } else { Vec::new() },
                collects,
                victims: collected_blocks.iter().copied().filter(|&block| ftl.geometry().pool_of_block(block) == pool).collect(),
                wants: collects || self.by_free_blocks && free < self.soft && gains,
                gains,
                otherwise: false,
            }
        };
        collects.into_iter().enumerate().map(seen).collect()
    }

    /// Runs all requests, and what collection has to do after the last.
    pub fn run(&mut self, simulation: &mut Simulation, requests: &[Request]) -> Result<(), String> {
        let mut arrivals = requests.iter().map(|request| request.arrival_ns).peekable();
        for _ in 0..INSTANTS {
            let due = simulation.storage().next_event().into_iter().chain(arrivals.peek().copied()).min();
            let Some(due) = due else {
                return simulation.run_to_idle().map_err(|error| error.to_string());
            };
            while arrivals.next_if(|&arrival| arrival <= due).is_some() {}
            simulation.run_until(due).map_err(|error| error.to_string())?;
            self.instant_passed(simulation)?;
        }
        let (counters, mapping) = (simulation.ssd().counters(), simulation.storage().stats(simulation.now()).mapping);
        Err(format!("goes on and on, at {} ns by now: {counters:?} {mapping:?}", simulation.now()))
    }

    fn instant_passed(&mut self, simulation: &Simulation) -> Result<(), String> {
        let now = self.look(simulation.ssd().ftl());
        let before = std::mem::replace(&mut self.pools, now);
        let otherwise = jobs_otherwise(simulation);
        let began_otherwise = std::mem::replace(&mut self.otherwise, otherwise) < otherwise;
        for (now, before) in self.pools.iter_mut().zip(&before) {
            now.otherwise = before.otherwise && before.collects || began_otherwise && now.collects;
        }
        // The first pool of a group represents it.
        let group = simulation.ssd().ftl().geometry().pools.per_group.get() as usize;
        for (pool, before) in before.into_iter().enumerate().step_by(group) {
            self.pool_keeps_free_blocks(simulation, pool, &before)?;
            self.episode_is_whole(simulation, pool, &before)?;
        }
        let waits = simulation.ssd().counters().place_waits;
        let awaited = std::mem::replace(&mut self.place_waits, waits) < waits || simulation.ssd().has_awaited_place();
        self.begins_for_requests(simulation, began_otherwise || awaited)?;
        self.erases = simulation.ssd().counters().erases;
        self.gets_somewhere(simulation)
    }

    /// The host leaves a pool the blocks that it is to leave.
    fn pool_keeps_free_blocks(&mut self, simulation: &Simulation, pool: usize, before: &Seen) -> Result<(), String> {
        let (now, counters) = (&self.pools[pool], simulation.ssd().counters());
        if counters.failed_programs > 0 || is_read_only(simulation) {
            // A block that is filled no further changes what the host fills next.
            return Ok(());
        }
        let short = now.wants && now.free < self.hard;
        self.short += u64::from(short);
        // With a shared frontier a job may have written. Where writes change between blocks in SLC mode and others, only free blocks tell.
        let in_modes = simulation.ssd().ftl().geometry().slc.is_some();
        let known = self.separate && !in_modes || !before.collects && !now.collects;
        // Of a full block only the one that would follow it is seen, which a job may take.
        let changed = |(before, now): &(&(BlockId, u32, bool), &(BlockId, u32, bool))| before != now && !(before.2 && now.2);
        let changes = match (self.spans, in_modes) {
            (true, _) => taken(before, now) > 0,
            (_, true) => now.free < before.free,
            _ => before.host.iter().zip(&now.host).any(|pair| changed(&pair)),
        };
        if !known || !changes {
            return Ok(());
        }
        let says = |what: &str| Err(format!("at {} ns {what} with {} blocks free in pool {pool}", simulation.now(), now.free));
        let took =
            self.spans || in_modes || before.host.iter().zip(&now.host).any(|(before, now)| !now.2 && (before.2 || before.0 != now.0));
        // Dies of a group may take two superblocks at once, one of them for a job.
        let for_job = u32::from(self.spans && now.collects);
        if took && now.free + for_job == 0 {
            return says("the host takes the last block");
        }
        // With `invalid-share` the end of a job may leave nothing to be wanted, whatever is free: T_hard does not hold until the next begins,
        // which the block that the host takes may set off at this same instant.
        let ended = !self.by_free_blocks && !before.victims.iter().any(|block| now.victims.contains(block));
        // Once the drive is read-only, what it has accepted takes the blocks that were kept for that.
        if self.hard == 0 || !before.wants || ended || counters.s3_entries > 0 || is_read_only(simulation) {
            return Ok(());
        }
        self.takes += u64::from(took);
        if took && now.free + for_job + 1 < self.hard {
            return says("the host takes a block below T_hard");
        }
        if before.free < self.hard && now.free < self.hard && self.erases == counters.erases {
            return says("the host writes below T_hard");
        }
        Ok(())
    }

    /// A job begins while a request is outstanding, or at the instant at which the last ends: merged with a move, it may wait no longer.
    /// `otherwise`: a job begins at this instant for another reason than a want of free blocks.
    fn begins_for_requests(&mut self, simulation: &Simulation, otherwise: bool) -> Result<(), String> {
        let active = self.pools.iter().filter(|pool| pool.collects).count();
        let began = std::mem::replace(&mut self.active, active) < active;
        let before = std::mem::replace(&mut self.outstanding, simulation.ssd().outstanding());
        if began && self.set_off && before == 0 && self.outstanding == 0 && !otherwise {
            return Err(format!("at {} ns a job begins though no request is outstanding", simulation.now()));
        }
        Ok(())
    }

    /// An episode ends when the pool has the free blocks that it is to have, or nothing is to be gained there any more.
    fn episode_is_whole(&mut self, simulation: &Simulation, pool: usize, before: &Seen) -> Result<(), String> {
        let now = &self.pools[pool];
        if self.until == 0 || !self.by_free_blocks || !before.collects || now.collects || simulation.ssd().counters().s3_entries > 0 {
            return Ok(());
        }
        // A job that moves an old block, or folds one in idle time, ends no episode; and a drive that becomes read-only gives its jobs up.
        if before.otherwise || is_read_only(simulation) {
            return Ok(());
        }
        if self.waits_to_fold(simulation, pool) {
            return Ok(());
        }
        self.episodes += 1;
        // What is to be gained may have appeared after the episode ended, with a write elsewhere that ended at this instant.
        let gains = before.gains && now.gains;
        // The host may have taken blocks at the same instant.
        let took = || before.host.iter().zip(&now.host).filter(|(before, now)| (now.0, now.2) != (before.0, before.2)).count();
        let took = match (self.spans, simulation.ssd().ftl().geometry().slc) {
            (true, _) => taken(before, now),
            (_, Some(_)) => opened(before, now),
            _ => took(),
        } as u32;
        if gains && now.free + took < self.until {
            return Err(format!(
                "at {} ns an episode ends in pool {pool} with {} blocks free, not {}",
                simulation.now(),
                now.free,
                self.until
            ));
        }
        Ok(())
    }

    /// The pool has a block to fold for space, and as many others fold as may at a time: an episode goes on when one of these has ended.
    fn waits_to_fold(&self, simulation: &Simulation, pool: usize) -> bool {
        let ftl = simulation.ssd().ftl();
        let folds = blocks(ftl).filter(|&block| ftl.blocks().state(block) == BlockState::Victim && ftl.blocks().in_cache(block)).count();
        self.fold_jobs > 0 && folds >= self.fold_jobs && ftl.next_fold(PoolId(pool as u32), true).is_some()
    }

    /// Each erase gains a page at least, so that there are no more of them than pages that became invalid; those of old blocks may gain none.
    fn gets_somewhere(&self, simulation: &Simulation) -> Result<(), String> {
        let counters = simulation.ssd().counters();
        let written = counters.host_programs + counters.map_programs;
        let invalid =
            self.invalid + written + counters.trimmed_pages + counters.stale_moves + counters.padded_units + counters.skipped_units;
        // A failed program leaves out the rest of its block.
        let invalid = invalid + counters.failed_programs * u64::from(simulation.ssd().ftl().geometry().units_per_block.get());
        // Of units a flash page at least; of a superblock in one of its blocks.
        let collected =
            (counters.erases / u64::from(simulation.ssd().ftl().geometry().pools.per_group.get())).saturating_sub(due_jobs(simulation));
        let gained = collected * u64::from(simulation.ssd().ftl().geometry().units_per_flash_page);
        if gained <= invalid {
            return Ok(());
        }
        Err(format!("{} erases gain no more than {invalid} pages by {} ns: {counters:?}", counters.erases, simulation.now()))
    }
}

/// Superblocks that the host has taken since.
fn taken(before: &Seen, now: &Seen) -> usize {
    now.host.iter().filter(|open| !before.host.contains(open)).count()
}

/// Blocks that the host has opened since, in either mode.
fn opened(before: &Seen, now: &Seen) -> usize {
    now.opened.iter().filter(|block| !before.opened.contains(block)).count()
}

/// Jobs that moved a block for its age or its reads, folded it, or erased it ahead of need, although the pool did not want free blocks.
fn jobs_otherwise(simulation: &Simulation) -> u64 {
    due_jobs(simulation) - simulation.ssd().counters().jobs_for(Cause::FoldSpace)
}

/// Jobs that moved a block for its age or its reads, folded it, or erased it ahead of need.
fn due_jobs(simulation: &Simulation) -> u64 {
    let counters = simulation.ssd().counters();
    let retired = counters.retired_by_program + counters.retired_by_erase + counters.retired_by_endurance;
    counters.jobs_for(Cause::Reclaim)
        + counters.jobs_for(Cause::Refresh)
        + counters.folds
        + counters.jobs_for(Cause::Empty)
        + counters.jobs_for(Cause::Retirement)
        + counters.jobs_for(Cause::Leveling)
        + retired
}

fn blocks(ftl: &Ftl) -> impl Iterator<Item = BlockId> + use<> {
    (0..ftl.geometry().blocks).map(BlockId)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{one_die, simulation};
    use crate::slc::one_block;
    use ssdlab::units::Lpn;

    /// Three pages take two blocks in SLC mode. The block that a fold then opens is not one of the host.
    #[test]
    fn each_block_counts_that_the_host_opens_in_a_mode() {
        let config = one_block(|c| c.slc.dynamic_blocks = 2);
        let simulation = simulation(&config);
        let watch = Watch::new(&config, &simulation);
        let (mut ftl, pool) = (simulation.ssd().ftl().clone(), PoolId(0));
        for page in 0..3 {
            let at = ftl.allocate_host(pool, 0).ppn;
            ftl.commit_write(pool, Lpn(page), at);
        }
        let now = &watch.look(&ftl)[0];
        assert_eq!(opened(&watch.pools[0], now), 2);
        let full = ftl.next_fold(pool, false).expect("a block is full");
        ftl.start_job(pool, full);
        assert!(ftl.allocate_move(pool, 0).took_block);
        assert_eq!(opened(now, &watch.look(&ftl)[0]), 0);
    }

    /// The host takes the second of two free blocks, T_hard being three, while a job of the pool goes on, or where one has ended and another begins:
    /// with `invalid-share` nothing may be wanted between these.
    #[test]
    fn with_invalid_share_t_hard_ends_with_each_job() {
        let is_wrong = |trigger, victims: [u32; 2]| {
            let mut config = one_die();
            (config.device.blocks_per_plane, config.ftl.frontier) = (16, Frontier::Separate);
            (config.gc.trigger, config.gc.soft, config.gc.hard) = (trigger, 5.0, 0.6);
            let simulation = simulation(&config);
            let mut watch = Watch::new(&config, &simulation);
            let seen = |free, open, victim| Seen {
                free,
                host: vec![(BlockId(open), 0, false)],
                opened: Vec::new(),
                collects: true,
                victims: vec![BlockId(victim)],
                wants: true,
                gains: true,
                otherwise: false,
            };
            watch.pools[0] = seen(1, 2, victims[1]);
            watch.pool_keeps_free_blocks(&simulation, 0, &seen(2, 1, victims[0])).is_err_and(|says| says.contains("below T_hard"))
        };
        assert!(is_wrong(Trigger::InvalidShare, [5, 5]) && !is_wrong(Trigger::InvalidShare, [5, 6]));
        assert!(is_wrong(Trigger::Soft, [5, 5]) && is_wrong(Trigger::Soft, [5, 6]));
    }
}
