//! What the NAND is doing: operations in stages on dies and channel buses (MODEL section 1).
//!
//! A die has two operation slots. Without a cache register only one is ever used; with one, the second lets an operation of the same kind
//! use the array while the first is on the bus. A program does not claim its die while it waits for the bus: the die only stands in the
//! bus's line, and decides what to do when its turn comes.
//!
//! Beside its slots a die has a shelf for one GC operation that was suspended (lee2013 IV-B: two commands are never suspended at once).
//! A GC operation stops at the preemption points that the configured axes make worth a look; it is *held* there until somebody says whether
//! it goes on.

mod notes;
mod timing;
mod trace;

pub use timing::Timing;
pub use trace::{Interval, Resource, Trace};

use std::collections::VecDeque;

use crate::config::{Config, Suspendable};
use crate::event::{Event, EventQueue};
use crate::geometry::Geometry;
use crate::timeline::Recorder;
use crate::units::{ChannelId, DieId, Ns};

/// The kinds of flash operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Array, then transfer out.
    Read,
    /// Transfer in, then array.
    Program,
    /// Array.
    Erase,
    /// Read, transfer out, transfer in, program: all on one die.
    Move,
    /// Read and program inside one plane, no transfer.
    CopybackMove,
    /// Transfer out of a page that a page move holds in its register (lee2013 Table III).
    RegisterRead,
}

/// Where an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Empty,
    /// Nobody can get between its stages, so its end was known at its start.
    Whole,
    Read,
    /// A read whose data wait for the die's other transfer to end.
    WaitRegister,
    WaitBusOut,
    Out,
    WaitBusIn,
    In,
    /// A program whose data are in the cache register while the array is at work.
    WaitArray,
    Program,
    /// An erase that can be suspended.
    Erase,
    /// At a preemption point: before its transfer out, before its transfer in, before its program.
    HeldOut,
    HeldIn,
    HeldProgram,
    /// Told to suspend its array stage.
    Suspending,
    /// A host program that stops at the end of its step, if that is still wanted then.
    Pausing,
}

/// An operation to start.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// It serves a host request.
    pub host: bool,
    /// Planes that take part, one page each.
    pub pages: u32,
    /// Array time of its read, ns.
    pub read_ns: Ns,
    /// Array time of its program or erase, ns.
    pub write_ns: Ns,
    /// What its owner wants back when it ends.
    pub tag: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    stage: Stage,
    op: Op,
    /// Its serial number: by start.
    serial: u64,
    /// Pages whose transfer has ended.
    transferred: u32,
    /// When the operation began, the time in which it was suspended or paused left out.
    began: Ns,
    /// When the stage began.
    since: Ns,
    /// When the last transfer ended.
    transferred_at: Ns,
    /// When the array stage under way ends.
    due: Ns,
    /// Of an array stage that is or was suspended: the stage, and its time left, ns.
    suspended: Stage,
    left: Ns,
    /// Of a program that may stop at the end of its step: the serial number before.
    serial_of_end: u64,
    /// A host request has joined it: it is no longer GC's to put aside.
    joined: bool,
}

/// Where a GC operation is, as far as others care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The array reads, for at least this long, ns.
    Read(Ns),
    /// Read; the transfer out has not begun.
    BeforeOut,
    /// The transfer out is under way.
    Out,
    /// The transfer in has not begun.
    BeforeIn,
    /// The transfer in began at this time, ns, and has not ended.
    In(Ns),
    /// The transfer in has ended; the program has not begun.
    BeforeProgram,
    /// The array programs, for at least this long, ns.
    Program(Ns),
    /// The array erases, for at least this long, ns.
    Erase(Ns),
    /// It is being suspended, or nobody can get between its stages.
    Closed,
}

/// What a die is doing, for whoever decides what begins on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Nothing.
    Nothing,
    /// A GC operation, in this slot, is at a preemption point, where it stays until told.
    Held(u32),
    /// A GC operation alone, in this slot.
    Gc(u32),
    /// Anything else.
    Other,
}

#[derive(Clone, Debug, Default)]
struct Bus {
    current: Option<u32>,
    waiting: VecDeque<Waiter>,
    busy_ns: Ns,
    /// When the transfer under way, or else the last, ends.
    end: Ns,
    /// Summed over its transfers: who stood in its line while they went on.
    stalls: u64,
}

impl Bus {
    fn line_up(&mut self, now: Ns, waiter: Waiter) {
        self.stalls += u64::from(self.end > now);
        self.waiting.push_back(waiter);
    }
}

/// Who stands in a bus's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiter {
    /// An operation with data in a register.
    Slot(u32),
    /// A die that would begin a program.
    Die(u32),
}

/// What an event meant for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Its read from the array has ended.
    ReadEnded,
    /// The transfer of its page of this number has ended.
    TransferEnded(u32),
    /// It is over. If it ended with a transfer, that transfer's page has this number.
    Ended(Option<u32>),
    /// It is on the shelf of its die.
    Suspended,
    /// It has ended the step after which it was to stop.
    StepEnded,
}

/// The line of a bus moved on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// The transfer of this slot's operation has begun.
    Transfer(u32),
    /// It is this die's turn to begin a program, or whatever it prefers by now.
    Die(DieId),
}

/// The flash of one drive.
#[derive(Debug)]
pub struct Flash {
    /// Stage times.
    pub timing: Timing,
    slots: Vec<Slot>,
    buses: Vec<Bus>,
    /// Operations started.
    serial: u64,
    /// The die stands in its bus's line.
    in_line: Vec<bool>,
    /// Time each die had an operation, ns, and since when it has one.
    die_busy: Vec<(Ns, Ns)>,
    /// Operations in each chip, where its dies exclude each other.
    chip_ops: Vec<u32>,
    interleave: bool,
    pipeline: bool,
    gc_pipeline: bool,
    /// Pages in a register can be read from there while the array is at work.
    register_reads: bool,
    /// Page moves stop before their program, and before their transfers.
    stop_before_program: bool,
    stop_before_transfers: bool,
    /// GC operations may be suspended or paired: they are played stage by stage.
    staged: bool,
    /// Channels with one die where nothing overlaps: whoever holds the die holds the bus.
    solo: bool,
    suspend_ns: Ns,
    /// By die: the operation that was suspended.
    shelf: Vec<Option<Slot>>,
    /// By die: the host program that pauses. Empty where none ever does.
    paused: Vec<Option<Slot>>,
    /// Steps of a program.
    ispp_steps: u64,
    dies_per_chip: u32,
    channel_of_die: Vec<u32>,
    /// Every stage as an interval on its resource, when asked for.
    pub trace: Option<Trace>,
    /// What is recorded for a timeline, when asked for.
    pub timeline: Option<Box<Recorder>>,
}

const IDLE: Slot = Slot {
    stage: Stage::Empty,
    op: Op { kind: OpKind::Erase, host: false, pages: 0, read_ns: 0, write_ns: 0, tag: 0 },
    serial: 0,
    transferred: 0,
    began: 0,
    since: 0,
    transferred_at: 0,
    due: 0,
    suspended: Stage::Empty,
    left: 0,
    serial_of_end: 0,
    joined: false,
};

/// Transfers of an operation of one page.
const fn transfers(kind: OpKind) -> Ns {
    match kind {
        OpKind::Erase | OpKind::CopybackMove => 0,
        OpKind::Read | OpKind::Program | OpKind::RegisterRead => 1,
        OpKind::Move => 2,
    }
}

/// The page of a move in this stage is in its register for longer than its transfer out.
fn register_holds(stage: Stage) -> bool {
    matches!(stage, Stage::Out | Stage::HeldIn | Stage::WaitBusIn | Stage::In | Stage::HeldProgram | Stage::Program)
}

impl Flash {
    /// All dies idle.
    pub fn new(config: &Config, geometry: &Geometry) -> Self {
        let cache_register = config.device.cache_register;
        let pipeline = config.scheduler.pipeline && cache_register;
        let gc_pipeline = config.gc.pipeline && cache_register;
        let suspends_programs = config.gc.suspend.contains(&Suspendable::Program);
        let pauses = config.scheduler.write_pausing;
        let staged = gc_pipeline || config.gc.merge || !config.gc.suspend.is_empty();
        Flash {
            timing: Timing::new(&config.device),
            slots: vec![IDLE; 2 * geometry.dies as usize],
            buses: vec![Bus::default(); geometry.channels as usize],
            serial: 0,
            in_line: vec![false; geometry.dies as usize],
            die_busy: vec![(0, 0); geometry.dies as usize],
            chip_ops: vec![0; geometry.chips as usize],
            interleave: config.device.die_interleave,
            pipeline,
            gc_pipeline,
            register_reads: config.gc.merge && cache_register,
            stop_before_program: gc_pipeline || suspends_programs,
            stop_before_transfers: suspends_programs,
            staged,
            solo: geometry.dies_per_channel.get() == 1 && !pipeline && !staged && !pauses,
            suspend_ns: config.device.suspend_ns,
            shelf: vec![None; geometry.dies as usize],
            paused: if pauses { vec![None; geometry.dies as usize] } else { Vec::new() },
            ispp_steps: u64::from(config.device.ispp_steps),
            dies_per_chip: config.device.dies_per_chip,
            channel_of_die: (0..geometry.dies).map(|die| geometry.channel_of_die(DieId(die)).0).collect(),
            trace: None,
            timeline: None,
        }
    }

    /// Plays every stage as an event of its own, also where nobody could get between them. For tests: results must not differ.
    pub fn play_every_stage(&mut self) {
        self.solo = false;
    }

    fn pair(&self, die: DieId) -> [&Slot; 2] {
        [&self.slots[2 * die.index()], &self.slots[2 * die.index() + 1]]
    }

    /// No operation is under way on the die.
    #[inline(always)]
    pub fn idle(&self, die: DieId) -> bool {
        self.pair(die).iter().all(|slot| slot.stage == Stage::Empty)
    }

    /// A host (first) or GC (second) operation is under way on the die.
    #[inline(always)]
    pub fn holders(&self, die: DieId) -> (bool, bool) {
        let [a, b] = self.pair(die);
        let host = a.stage != Stage::Empty && a.op.host || b.stage != Stage::Empty && b.op.host || self.paused(die).is_some();
        let gc = a.stage != Stage::Empty && !a.op.host || b.stage != Stage::Empty && !b.op.host;
        (host, gc)
    }

    /// The tags of the host operations under way on the die, one that pauses included.
    pub fn host_tags(&self, die: DieId) -> impl Iterator<Item = u32> {
        let tag = |slot: &Slot| (slot.stage != Stage::Empty && slot.op.host).then_some(slot.op.tag);
        self.pair(die).map(tag).into_iter().flatten().chain(self.paused(die))
    }

    /// The die could begin an operation of this kind now, the bus aside.
    #[inline(always)]
    pub fn can_start(&self, die: DieId, kind: OpKind, host: bool) -> bool {
        if self.idle(die) {
            return self.interleave || self.chip_ops[die.index() / self.dies_per_chip as usize] == 0;
        }
        self.can_overlap(die, kind, host)
    }

    /// The cache register: an operation on the bus and one of the same kind in the array.
    fn can_overlap(&self, die: DieId, kind: OpKind, host: bool) -> bool {
        let [a, b] = self.pair(die);
        let running = match (a.stage, b.stage) {
            (_, Stage::Empty) => a,
            (Stage::Empty, _) => b,
            _ => return false,
        };
        let reads_out = running.op.kind == OpKind::Read && matches!(running.stage, Stage::WaitBusOut | Stage::Out);
        match (running.op.host, host, kind) {
            (true, true, OpKind::Read) => self.pipeline && reads_out,
            (true, true, OpKind::Program) => self.pipeline && running.op.kind == kind && running.stage == Stage::Program,
            // Preemption point B: the move's read overlaps the transfer of the host read (lee2013 Fig. 6).
            (true, false, OpKind::Read | OpKind::Move | OpKind::CopybackMove) => self.gc_pipeline && reads_out,
            // Preemption point A: the transfer of the host write overlaps the move's program.
            (false, true, OpKind::Program) => self.gc_pipeline && running.stage == Stage::Program,
            (false, true, OpKind::RegisterRead) => self.register_reads && register_holds(running.stage),
            _ => false,
        }
    }

    /// A transfer could begin on the die's channel now.
    #[inline(always)]
    pub fn bus_free(&self, die: DieId) -> bool {
        let bus = &self.buses[self.channel_of_die[die.index()] as usize];
        bus.current.is_none() && bus.waiting.is_empty()
    }

    /// The die stands in its bus's line to begin a program.
    #[inline(always)]
    pub fn in_line(&self, die: DieId) -> bool {
        self.in_line[die.index()]
    }

    /// Puts the die into its bus's line, unless it stands there.
    pub fn line_up(&mut self, now: Ns, die: DieId) {
        if !std::mem::replace(&mut self.in_line[die.index()], true) {
            self.buses[self.channel_of_die[die.index()] as usize].line_up(now, Waiter::Die(die.0));
        }
    }

    /// Starts an operation on a die that [`Flash::can_start`] it; a program also needs [`Flash::bus_free`] or the bus's grant.
    /// Returns its slot.
    #[inline]
    pub fn start(&mut self, now: Ns, die: DieId, op: Op, events: &mut EventQueue) -> u32 {
        if self.idle(die) {
            self.die_busy[die.index()].1 = now;
        }
        let index = 2 * die.0 + u32::from(self.slots[2 * die.index()].stage != Stage::Empty);
        assert!(self.can_start(die, op.kind, op.host), "die {die} cannot begin a {:?}", op.kind);
        if !self.interleave {
            self.chip_ops[die.index() / self.dies_per_chip as usize] += 1;
        }
        let slot = &mut self.slots[index as usize];
        self.serial += 1;
        let serial = self.serial;
        *slot = Slot { stage: Stage::Whole, op, serial, began: now, since: now, transferred_at: now, ..IDLE };
        self.note_start(index);
        let transfers = transfers(op.kind);
        if transfers == 0 && !self.staged || self.solo && op.pages == 1 {
            events.push(now + op.read_ns + op.write_ns + transfers * self.timing.transfer_ns, serial, Event::Slot(index));
            self.trace_whole(now, die, op);
            self.note_whole(now, index);
            return index;
        }
        match op.kind {
            OpKind::Program => _ = self.ask_for_granted_bus(now, index, Stage::WaitBusIn, events),
            OpKind::RegisterRead => _ = self.ask_for_bus(now, index, Stage::WaitBusOut, events),
            OpKind::Erase => self.begin_array(now, index, Stage::Erase, op.write_ns, events),
            OpKind::Read | OpKind::Move | OpKind::CopybackMove => self.begin_array(now, index, Stage::Read, op.read_ns, events),
        }
        index
    }

    /// An array stage of a slot begins, for `ns`.
    #[inline]
    fn begin_array(&mut self, now: Ns, index: u32, stage: Stage, ns: Ns, events: &mut EventQueue) {
        let slot = &mut self.slots[index as usize];
        slot.stage = stage;
        slot.since = now;
        slot.due = now + ns;
        events.push(slot.due, slot.serial, Event::Slot(index));
        self.note(now, index);
    }

    /// The operation in a slot.
    #[inline(always)]
    pub fn op(&self, slot: u32) -> &Op {
        &self.slots[slot as usize].op
    }

    /// Changes what the owner of a slot's operation wants back: its first page is done, the next one takes its place.
    #[inline]
    pub fn set_tag(&mut self, slot: u32, tag: u32) {
        self.slots[slot as usize].op.tag = tag;
    }

    /// Pages of a slot's operation whose transfer has ended.
    #[inline]
    pub fn transferred(&self, slot: u32) -> u32 {
        self.slots[slot as usize].transferred
    }

    /// When the last transfer of a slot's operation ended.
    #[inline]
    pub fn last_transfer_end(&self, slot: u32) -> Ns {
        self.slots[slot as usize].transferred_at
    }

    /// The operation in a slot was played in one piece.
    #[inline(always)]
    pub fn is_whole(&self, slot: u32) -> bool {
        self.slots[slot as usize].stage == Stage::Whole
    }

    /// The array phase of a slot's program begins.
    fn begin_program(&mut self, now: Ns, index: u32, events: &mut EventQueue) {
        self.begin_array(now, index, Stage::Program, self.slots[index as usize].op.write_ns, events);
    }

    fn begin_transfer(&mut self, now: Ns, index: u32, events: &mut EventQueue) {
        let slot = &mut self.slots[index as usize];
        slot.stage = match slot.stage {
            Stage::Whole | Stage::WaitBusIn | Stage::In => Stage::In,
            _ => Stage::Out,
        };
        slot.since = now;
        let serial = slot.serial;
        let channel = self.channel_of_die[index as usize / 2];
        let bus = &mut self.buses[channel as usize];
        bus.current = Some(index);
        bus.end = now + self.timing.transfer_ns;
        bus.stalls += bus.waiting.len() as u64;
        events.push(bus.end, serial, Event::Bus(channel));
        self.note(now, index);
    }

    /// Begins a transfer on an idle bus, the line aside: its front is the caller. Else waits for it.
    fn ask_for_granted_bus(&mut self, now: Ns, index: u32, waiting: Stage, events: &mut EventQueue) -> bool {
        self.slots[index as usize].stage = waiting;
        let bus = &mut self.buses[self.channel_of_die[index as usize / 2] as usize];
        if bus.current.is_none() {
            self.begin_transfer(now, index, events);
            return true;
        }
        bus.line_up(now, Waiter::Slot(index));
        self.note(now, index);
        false
    }

    /// Asks for the bus: begins at once on an idle bus without a line. Returns true if the transfer has begun.
    fn ask_for_bus(&mut self, now: Ns, index: u32, waiting: Stage, events: &mut EventQueue) -> bool {
        self.slots[index as usize].stage = waiting;
        let bus = &mut self.buses[self.channel_of_die[index as usize / 2] as usize];
        if bus.current.is_none() && bus.waiting.is_empty() {
            self.begin_transfer(now, index, events);
            true
        } else {
            bus.line_up(now, Waiter::Slot(index));
            self.note(now, index);
            false
        }
    }

    /// An event of a slot is due that was scheduled for another operation, or before its operation was suspended.
    #[inline(always)]
    pub fn is_stale(&self, index: u32, serial: u64) -> bool {
        let slot = &self.slots[index as usize];
        slot.stage == Stage::Empty || slot.serial != serial
    }

    /// The array phase (or the whole operation) of a slot has ended. The second value tells a slot of the same die whose transfer or array
    /// phase could begin because of it.
    #[inline]
    pub fn slot_event(&mut self, now: Ns, index: u32, events: &mut EventQueue) -> (Progress, Option<Begun>) {
        let stage = self.slots[index as usize].stage;
        self.trace_stage(now, index);
        match stage {
            Stage::Whole => {
                let op = self.slots[index as usize].op;
                self.buses[self.channel_of_die[index as usize / 2] as usize].busy_ns += transfers(op.kind) * self.timing.transfer_ns;
                self.empty(now, index);
                (Progress::Ended(None), None)
            }
            Stage::Erase => {
                self.empty(now, index);
                (Progress::Ended(None), None)
            }
            Stage::Suspending => {
                self.shelve(now, index);
                (Progress::Suspended, None)
            }
            Stage::Pausing => {
                self.slots[index as usize].since = now;
                (Progress::StepEnded, None)
            }
            Stage::Program => {
                self.empty(now, index);
                let other = index ^ 1;
                let begun = (self.slots[other as usize].stage == Stage::WaitArray).then(|| {
                    self.begin_program(now, other, events);
                    Begun::Program(other)
                });
                (Progress::Ended(None), begun)
            }
            Stage::Read if self.slots[index as usize].op.kind == OpKind::CopybackMove => {
                if self.stop_before_program {
                    self.hold(now, index, Stage::HeldProgram);
                } else {
                    self.begin_program(now, index, events);
                }
                (Progress::ReadEnded, None)
            }
            Stage::Read => {
                if matches!(self.slots[index as usize ^ 1].stage, Stage::WaitBusOut | Stage::Out) {
                    self.hold(now, index, Stage::WaitRegister);
                    return (Progress::ReadEnded, None);
                }
                let begun = self.ask_or_hold(now, index, Stage::WaitBusOut, Stage::HeldOut, events).then_some(Begun::Transfer(index));
                (Progress::ReadEnded, begun)
            }
            stage => unreachable!("an array event in stage {stage:?}"),
        }
    }

    /// Asks for the bus, unless the operation stops at this point.
    fn ask_or_hold(&mut self, now: Ns, index: u32, waiting: Stage, held: Stage, events: &mut EventQueue) -> bool {
        if self.stop_before_transfers && !self.slots[index as usize].op.host {
            self.hold(now, index, held);
            return false;
        }
        self.ask_for_bus(now, index, waiting, events)
    }

    /// An operation waits in a stage that ends by itself or by somebody's word.
    fn hold(&mut self, now: Ns, index: u32, stage: Stage) {
        self.slots[index as usize].stage = stage;
        self.note(now, index);
    }

    /// The transfer on a channel has ended. Returns the slot, what it meant, and what else of that die began.
    #[inline]
    pub fn bus_event(&mut self, now: Ns, channel: ChannelId, events: &mut EventQueue) -> (u32, Progress, Option<Begun>) {
        let bus = &mut self.buses[channel.index()];
        let index = bus.current.take().expect("a transfer was under way");
        bus.busy_ns += self.timing.transfer_ns;
        self.trace_stage(now, index);
        self.note_transfer_end(now, channel);
        let slot = &mut self.slots[index as usize];
        let page = slot.transferred;
        slot.transferred += 1;
        slot.transferred_at = now;
        if slot.transferred < slot.op.pages {
            // The pages of one multi-plane operation asked for the bus together, so they follow each other.
            self.begin_transfer(now, index, events);
            return (index, Progress::TransferEnded(page), Some(Begun::Transfer(index)));
        }
        let (progress, begun) = match (slot.stage, slot.op.kind) {
            (Stage::Out, OpKind::Read) => {
                self.empty(now, index);
                let other = index ^ 1;
                let begun = self.slots[other as usize].stage == Stage::WaitRegister
                    && self.ask_or_hold(now, other, Stage::WaitBusOut, Stage::HeldOut, events);
                (Progress::Ended(Some(page)), begun.then_some(Begun::Transfer(other)))
            }
            (Stage::Out, OpKind::RegisterRead) => {
                self.empty(now, index);
                (Progress::Ended(Some(page)), None)
            }
            (Stage::Out, OpKind::Move) => {
                slot.transferred = 0;
                let begun = self.ask_or_hold(now, index, Stage::WaitBusIn, Stage::HeldIn, events);
                (Progress::TransferEnded(page), begun.then_some(Begun::Transfer(index)))
            }
            (Stage::In, _) => {
                let held = self.stop_before_program && !slot.op.host;
                if self.slots[index as usize ^ 1].stage == Stage::Program {
                    self.hold(now, index, Stage::WaitArray);
                    (Progress::TransferEnded(page), None)
                } else if held {
                    self.hold(now, index, Stage::HeldProgram);
                    (Progress::TransferEnded(page), None)
                } else {
                    self.begin_program(now, index, events);
                    (Progress::TransferEnded(page), Some(Begun::Program(index)))
                }
            }
            (stage, kind) => unreachable!("a {kind:?} was on the bus in stage {stage:?}"),
        };
        (index, progress, begun)
    }

    /// Moves the line of an idle bus on by one. `None` if it is busy or nobody waits.
    pub fn next_in_line(&mut self, now: Ns, channel: ChannelId, events: &mut EventQueue) -> Option<Grant> {
        let bus = &mut self.buses[channel.index()];
        if bus.current.is_some() {
            return None;
        }
        Some(match bus.waiting.pop_front()? {
            Waiter::Slot(index) => {
                self.begin_transfer(now, index, events);
                Grant::Transfer(index)
            }
            Waiter::Die(die) => {
                self.in_line[die as usize] = false;
                Grant::Die(DieId(die))
            }
        })
    }

    /// What the die is doing.
    #[inline]
    pub fn doing(&self, die: DieId) -> Doing {
        let [a, b] = self.pair(die);
        if a.stage == Stage::Empty && b.stage == Stage::Empty {
            return Doing::Nothing;
        }
        let gc = |slot: &Slot| slot.stage != Stage::Empty && !slot.op.host;
        let (index, slot) = match (gc(a), gc(b)) {
            (true, _) => (2 * die.0, a),
            (_, true) => (2 * die.0 + 1, b),
            _ => return Doing::Other,
        };
        match slot.stage {
            Stage::HeldOut | Stage::HeldIn | Stage::HeldProgram => Doing::Held(index),
            _ if self.is_alone(index) => Doing::Gc(index),
            _ => Doing::Other,
        }
    }

    /// The die's other slot is empty.
    pub fn is_alone(&self, slot: u32) -> bool {
        self.slots[slot as usize ^ 1].stage == Stage::Empty
    }

    /// Where the GC operation in a slot is.
    pub fn phase(&self, slot: u32, now: Ns) -> Phase {
        let slot = &self.slots[slot as usize];
        Self::phase_of(slot, slot.due.saturating_sub(now))
    }

    fn phase_of(slot: &Slot, left: Ns) -> Phase {
        match slot.stage {
            Stage::Read => Phase::Read(left),
            Stage::WaitRegister | Stage::WaitBusOut | Stage::HeldOut => Phase::BeforeOut,
            Stage::Out => Phase::Out,
            Stage::HeldIn | Stage::WaitBusIn => Phase::BeforeIn,
            Stage::In => Phase::In(slot.since),
            Stage::HeldProgram | Stage::WaitArray => Phase::BeforeProgram,
            Stage::Program => Phase::Program(left),
            Stage::Erase => Phase::Erase(left),
            Stage::Suspending | Stage::Pausing | Stage::Whole | Stage::Empty => Phase::Closed,
        }
    }

    /// A host request joins the operation in a slot, which is no longer put aside or suspended from now on.
    pub fn join(&mut self, slot: u32) {
        self.slots[slot as usize].joined = true;
    }

    /// The host requests that had joined the operation in a slot are done.
    pub fn leave(&mut self, slot: u32) {
        self.slots[slot as usize].joined = false;
    }

    /// The operation in the slot shares its die with a GC program in the array.
    pub fn overlaps_gc_program(&self, slot: u32) -> bool {
        let other = &self.slots[slot as usize ^ 1];
        other.stage == Stage::Program && !other.op.host && self.slots[slot as usize].op.kind == OpKind::Program
    }

    /// A host request has joined the operation in a slot.
    pub fn is_joined(&self, slot: u32) -> bool {
        self.slots[slot as usize].joined
    }

    /// The slot of the die with a GC operation of this tag, if it is in one.
    pub fn slot_of_gc(&self, die: DieId, tag: u32) -> Option<u32> {
        (2 * die.0..2 * die.0 + 2).find(|&index| {
            let slot = &self.slots[index as usize];
            slot.stage != Stage::Empty && !slot.op.host && slot.op.tag == tag
        })
    }

    /// The operation's transfer is under way (and it does not wait for the bus).
    pub fn is_transferring(&self, slot: u32) -> bool {
        matches!(self.slots[slot as usize].stage, Stage::In | Stage::Out)
    }

    /// Sets the array time of a program that has not begun, ns.
    pub fn set_write_ns(&mut self, slot: u32, ns: Ns) {
        self.slots[slot as usize].op.write_ns = ns;
    }

    /// A held operation goes on. Returns what has begun.
    pub fn go_on(&mut self, now: Ns, slot: u32, events: &mut EventQueue) -> Option<Begun> {
        match self.slots[slot as usize].stage {
            Stage::HeldOut => self.ask_for_bus(now, slot, Stage::WaitBusOut, events).then_some(Begun::Transfer(slot)),
            Stage::HeldIn => self.ask_for_bus(now, slot, Stage::WaitBusIn, events).then_some(Begun::Transfer(slot)),
            Stage::HeldProgram => {
                self.begin_program(now, slot, events);
                Some(Begun::Program(slot))
            }
            stage => unreachable!("an operation in stage {stage:?} is not held"),
        }
    }

    /// Puts a held operation on its die's shelf, at once.
    pub fn put_aside(&mut self, now: Ns, slot: u32) {
        self.shelve(now, slot);
    }

    /// Tells an array stage to suspend: the operation is on the shelf `suspend_ns` later.
    pub fn suspend(&mut self, now: Ns, index: u32, events: &mut EventQueue) {
        self.serial += 1;
        let slot = &mut self.slots[index as usize];
        // The event of its end is stale from now on.
        slot.serial = self.serial;
        slot.left = slot.due - now;
        slot.suspended = std::mem::replace(&mut slot.stage, Stage::Suspending);
        events.push(now + self.suspend_ns, slot.serial, Event::Slot(index));
        self.note_suspension(now, index);
    }

    /// Moves an operation from its slot to the die's shelf.
    fn shelve(&mut self, now: Ns, index: u32) {
        let mut slot = self.slots[index as usize];
        if slot.stage == Stage::Suspending {
            slot.stage = slot.suspended;
        }
        slot.since = now;
        let shelf = &mut self.shelf[index as usize / 2];
        assert!(shelf.is_none(), "one operation of a die is suspended at a time");
        *shelf = Some(slot);
        self.note_aside(now, index, slot.stage, false);
        self.empty(now, index);
    }

    /// The operation on the die's shelf: its tag, and where it stopped.
    #[inline]
    pub fn shelved(&self, die: DieId) -> Option<(u32, Phase)> {
        self.shelf[die.index()].as_ref().map(|slot| (slot.op.tag, Self::phase_of(slot, slot.left)))
    }

    /// Takes the operation from the shelf of an idle die. It goes on where it stopped: in its array stage, or held at its point.
    pub fn resume(&mut self, now: Ns, die: DieId, events: &mut EventQueue) -> u32 {
        let slot = self.shelf[die.index()].take().expect("an operation is suspended");
        let index = 2 * die.0;
        self.take_slot(now, die, slot);
        if matches!(slot.stage, Stage::Read | Stage::Program | Stage::Erase) {
            self.begin_array(now, index, slot.stage, slot.left, events);
        } else {
            self.note(now, index);
        }
        index
    }

    /// What was suspended or paused takes the first slot of an idle die.
    fn take_slot(&mut self, now: Ns, die: DieId, slot: Slot) {
        assert!(self.idle(die));
        self.die_busy[die.index()].1 = now;
        if !self.interleave {
            self.chip_ops[die.index() / self.dies_per_chip as usize] += 1;
        }
        self.serial += 1;
        // As if it had begun later by the time that it lay aside.
        let began = slot.began + (now - slot.since);
        self.slots[2 * die.index()] = Slot { serial: self.serial, began, since: now, ..slot };
        self.note_return(now, 2 * die.0);
    }

    /// The host program that pauses on the die: its first page.
    #[inline(always)]
    pub fn paused(&self, die: DieId) -> Option<u32> {
        self.paused.get(die.index())?.as_ref().map(|slot| slot.op.tag)
    }

    /// The host program that is alone in the array of a die on which nothing is suspended: its slot, its first page, and when the next of its steps
    /// ends, ns. `None` in its last step.
    pub fn pausable(&self, now: Ns, die: DieId) -> Option<(u32, u32, Ns)> {
        let index = (2 * die.0..2 * die.0 + 2).find(|&index| self.slots[index as usize].stage == Stage::Program)?;
        let slot = &self.slots[index as usize];
        if !slot.op.host || !self.is_alone(index) || self.shelf[die.index()].is_some() {
            return None;
        }
        let total = slot.op.write_ns;
        let end_of_step = |step: u64| (u128::from(total) * u128::from(step) / u128::from(self.ispp_steps)) as Ns;
        let done = total - (slot.due - now);
        // The first step whose end is not past; the beginning is the end of none.
        let step = ((u128::from(done) * u128::from(self.ispp_steps)).div_ceil(u128::from(total)) as u64).max(1);
        (step < self.ispp_steps).then(|| (index, slot.op.tag, now + (end_of_step(step) - done)))
    }

    /// A program is to stop at the end of a step, if that is still wanted then.
    pub fn stop_at(&mut self, slot: u32, at: Ns, events: &mut EventQueue) {
        self.serial += 1;
        let stopping = &mut self.slots[slot as usize];
        // The event of its end is stale until it goes on.
        stopping.serial_of_end = std::mem::replace(&mut stopping.serial, self.serial);
        stopping.stage = Stage::Pausing;
        events.push(at, stopping.serial, Event::Slot(slot));
    }

    /// A program that was to stop goes on, as if nothing had been asked.
    pub fn do_not_stop(&mut self, slot: u32) {
        let program = &mut self.slots[slot as usize];
        program.stage = Stage::Program;
        program.serial = program.serial_of_end;
    }

    /// A program that was to stop does.
    pub fn pause(&mut self, now: Ns, index: u32) {
        let mut slot = self.slots[index as usize];
        slot.left = slot.due - now;
        let paused = &mut self.paused[index as usize / 2];
        assert!(paused.is_none(), "one program of a die pauses at a time");
        *paused = Some(slot);
        self.note_aside(now, index, Stage::Program, true);
        self.empty(now, index);
    }

    /// The program that pauses on an idle die goes on.
    pub fn end_pause(&mut self, now: Ns, die: DieId, events: &mut EventQueue) {
        let slot = self.paused[die.index()].take().expect("a program pauses");
        self.take_slot(now, die, slot);
        self.begin_array(now, 2 * die.0, Stage::Program, slot.left, events);
    }

    /// How long the operation on the die will last, if it takes as long as it should, ns (elyasi2017 (7)). Of two the one that takes longer.
    pub fn residual_ns(&self, now: Ns, die: DieId, latency: impl Fn(&Op) -> Ns) -> Ns {
        let running = self.pair(die).into_iter().filter(|slot| slot.stage != Stage::Empty);
        let left = running.map(|slot| latency(&slot.op).saturating_sub(now - slot.began));
        let paused = self.paused.get(die.index()).and_then(Option::as_ref).map(|slot| slot.left);
        left.chain(paused).max().unwrap_or(0)
    }

    /// Summed over a channel's transfers: how many stood in the bus's line while they went on, be it for a part of them.
    pub fn bus_stalls(&self, channel: ChannelId) -> u64 {
        self.buses[channel.index()].stalls
    }

    /// Drops the operation on the die's shelf.
    pub fn drop_shelved(&mut self, now: Ns, die: DieId) {
        self.shelf[die.index()] = None;
        self.note_given_up(now, die);
    }

    /// Drops a held operation.
    pub fn drop_held(&mut self, now: Ns, slot: u32) {
        self.empty(now, slot);
    }

    /// No transfer is under way on the die's channel; its line may not be empty.
    #[inline(always)]
    pub fn bus_idle(&self, die: DieId) -> bool {
        self.buses[self.channel_of_die[die.index()] as usize].current.is_none()
    }

    fn empty(&mut self, now: Ns, index: u32) {
        self.slots[index as usize].stage = Stage::Empty;
        self.note(now, index);
        if self.slots[index as usize ^ 1].stage == Stage::Empty {
            let (busy, since) = &mut self.die_busy[index as usize / 2];
            *busy += now - *since;
        }
        if !self.interleave {
            self.chip_ops[index as usize / 2 / self.dies_per_chip as usize] -= 1;
        }
    }

    /// Time the die had an operation until `now`, ns.
    pub fn die_busy_ns(&self, die: DieId, now: Ns) -> Ns {
        let (busy, since) = self.die_busy[die.index()];
        if self.idle(die) { busy } else { busy + (now - since) }
    }

    /// Time the channel's bus was busy until `now`, ns.
    pub fn bus_busy_ns(&self, channel: ChannelId, now: Ns) -> Ns {
        let bus = &self.buses[channel.index()];
        let running: Ns = match bus.current {
            Some(index) => now - self.slots[index as usize].since,
            None => self
                .slots
                .chunks(2)
                .zip(&self.channel_of_die)
                .filter(|(_, of)| **of == channel.0)
                .map(|(pair, _)| self.whole_on_bus(&pair[0], now))
                .sum(),
        };
        bus.busy_ns + running
    }

    /// The same, summed over all channels.
    pub fn buses_busy_ns(&self, now: Ns) -> u128 {
        let transferring = |bus: &Bus| bus.current.map_or(0, |index| now - self.slots[index as usize].since);
        let buses = self.buses.iter().map(|bus| u128::from(bus.busy_ns + transferring(bus)));
        // What is played in one piece is alone on its channel, so that no transfer is under way there.
        buses.sum::<u128>() + self.slots.iter().map(|slot| u128::from(self.whole_on_bus(slot, now))).sum::<u128>()
    }

    /// Bus time until `now` of an operation that is played in one piece.
    fn whole_on_bus(&self, slot: &Slot, now: Ns) -> Ns {
        if slot.stage != Stage::Whole {
            return 0;
        }
        let (from, transfers) = match slot.op.kind {
            OpKind::Erase | OpKind::CopybackMove | OpKind::RegisterRead => return 0,
            OpKind::Read => (slot.op.read_ns, 1),
            OpKind::Program => (0, 1),
            OpKind::Move => (slot.op.read_ns, 2),
        };
        (now - slot.since).saturating_sub(from).min(transfers * self.timing.transfer_ns)
    }

    fn trace_stage(&mut self, now: Ns, index: u32) {
        let Some(trace) = &mut self.trace else { return };
        let slot = &self.slots[index as usize];
        let die = DieId(index / 2);
        let resource = match slot.stage {
            Stage::In | Stage::Out => Resource::Bus(ChannelId(self.channel_of_die[die.index()])),
            Stage::Whole => return,
            _ => Resource::Array(die),
        };
        trace.push(Interval { resource, die, start: slot.since, end: now, kind: slot.op.kind, host: slot.op.host });
    }

    fn trace_whole(&mut self, now: Ns, die: DieId, op: Op) {
        let transfer = self.timing.transfer_ns;
        let Some(trace) = &mut self.trace else { return };
        let bus = Resource::Bus(ChannelId(self.channel_of_die[die.index()]));
        let array = Resource::Array(die);
        let mut at = now;
        let mut push = |resource, ns| {
            trace.push(Interval { resource, die, start: at, end: at + ns, kind: op.kind, host: op.host });
            at += ns;
        };
        match op.kind {
            OpKind::RegisterRead => unreachable!("it is never played in one piece"),
            OpKind::Erase => push(array, op.write_ns),
            OpKind::CopybackMove => push(array, op.read_ns + op.write_ns),
            OpKind::Read => {
                push(array, op.read_ns);
                push(bus, transfer);
            }
            OpKind::Program => {
                push(bus, transfer);
                push(array, op.write_ns);
            }
            OpKind::Move => {
                push(array, op.read_ns);
                push(bus, transfer);
                push(bus, transfer);
                push(array, op.write_ns);
            }
        }
    }
}

/// A stage that began because another ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// A transfer of this slot's operation.
    Transfer(u32),
    /// The array phase of this slot's program.
    Program(u32),
}
