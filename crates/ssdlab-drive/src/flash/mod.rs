//! What the NAND is doing: operations in stages on dies and channel buses.
//!
//! A die has two operation slots. Without a cache register only one is ever used; with one, the second lets an operation of the same kind
//! use the array while the first is on the bus. Beside its slots a die keeps a suspended GC operation, and one that is paused for reads.
//!
//! | file | question |
//! |---|---|
//! | `mod` | what is a die doing, and what could begin on it? |
//! | `op` | what is an operation, and in which stages does it go? |
//! | `stages` | what begins when a stage ends? |
//! | `repeat` | how is a row of page moves one event, and in which stage is the last of them? |
//! | `bus` | which operation has the bus of a channel, and which wait for it? |
//! | `suspend` | how does an operation stop and go on? |
//! | `cells`, `errors` | how old is a block, and how many errors do its reads have? |
//! | `wear` | which programs and erases fail? |
//! | `pulses` | which pulses erase a block, and how much do they wear it? |
//! | `retry/`, `steps` | which steps does a read take that has errors, and how do they follow each other? |
//! | `timing` | how long does a stage take? |
//! | `busy`, `trace` | how long was a die or a bus busy, and with what? |
//! | `notes` | what is reported to the timeline? |

mod bus;
mod busy;
mod cells;
mod errors;
mod notes;
mod op;
mod planes;
mod pulses;
mod repeat;
mod retry;
mod stages;
mod steps;
mod suspend;
mod timing;
mod trace;
mod wear;

pub use bus::{BUS_BURSTS, Grant};
pub use busy::BUSY_BURSTS;
pub use cells::Cells;
pub use errors::{Age, DAY_NS, ErrorModel, Need};
pub use op::{Op, OpKind, Owner, Parts, Phase};
pub use pulses::{ErasePlan, Pulses};
pub use repeat::Unrolled;
pub use retry::{Pace, Steps};
pub use stages::{Begun, Progress};
pub use steps::Retry;
pub use timing::{TIMING_BURSTS, Timing};
pub use trace::{Interval, Resource, Trace};
pub use wear::Failures;

use bus::Bus;
use op::{Slot, Stage};
use steps::Read;

use crate::rules::FlashRules;
use ssdlab_base::units::{ChannelId, DieId, Ns, SlotId, TxnId};
use ssdlab_keys::config::Config;
use ssdlab_keys::energy::ArrayTimes;
use ssdlab_keys::geometry::Geometry;
use ssdlab_result::timeline::Recorder;

/// What a die is doing, as the arbiter's dispatch needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// No operation is in service.
    Nothing,
    /// A GC operation, in this slot, has stopped at a preemption point: the arbiter decides next.
    Stopped(SlotId),
    /// A GC operation is in service, in this slot, and alone on the die.
    Gc(SlotId),
    /// Anything else: a host operation, or two operations.
    Other,
}

/// The flash of one drive.
#[derive(Debug)]
pub struct Flash {
    rules: FlashRules,
    timing: Timing,
    slots: Vec<Slot>,
    buses: Vec<Bus>,
    /// The last serial number given. An operation gets a new one when it starts, is to stop, resumes, or leaves a burst; events with an older
    /// one are stale.
    serial: u64,
    /// By die: it is in its bus's queue.
    waits_for_bus: Vec<bool>,
    /// By die: the time in which it had an operation in service, ns, and since when it has one now.
    die_busy: Vec<(Ns, Ns)>,
    /// Array times of stages that have begun, whole, less what suspensions left of them.
    arrays: ArrayTimes,
    /// By chip: number of operations in service. Used only where its dies exclude each other.
    chip_ops: Vec<u32>,
    /// By die: its suspended GC operation.
    suspended_op: Vec<Option<Slot>>,
    /// By die: its operation that is paused or suspended for reads. Empty if none ever is.
    paused_op: Vec<Option<Slot>>,
    channel_of_die: Vec<ChannelId>,
    /// The age of each block; `None` if reads have no errors.
    cells: Option<Box<Cells>>,
    /// By slot: the steps of its read. Empty if reads have no errors.
    reads: Vec<Read>,
    /// By die: those of its suspended GC operation. Empty if reads have no errors.
    suspended_reads: Vec<Read>,
    /// Watches every stage as an interval on its resource, if wanted.
    trace: Option<Trace>,
    /// Records a timeline, if wanted.
    recorder: Option<Box<Recorder>>,
    /// The recorder of a timeline that has ended.
    recorded: Option<Box<Recorder>>,
}

impl Flash {
    /// The flash of a drive, all dies idle.
    pub fn new(config: &Config, rules: FlashRules, geometry: &Geometry) -> Self {
        let dies = geometry.dies as usize;
        Flash {
            rules,
            timing: Timing::new(config),
            slots: vec![Slot::IDLE; 2 * dies],
            buses: vec![Bus::default(); geometry.channels as usize],
            serial: 0,
            waits_for_bus: vec![false; dies],
            die_busy: vec![(0, 0); dies],
            arrays: ArrayTimes::default(),
            chip_ops: vec![0; geometry.chips as usize],
            suspended_op: vec![None; dies],
            paused_op: if rules.pauses { vec![None; dies] } else { Vec::new() },
            channel_of_die: (0..geometry.dies).map(|die| geometry.channel_of_die(DieId(die))).collect(),
            cells: None,
            suspended_reads: Vec::new(),
            reads: Vec::new(),
            trace: None,
            recorder: None,
            recorded: None,
        }
    }

    /// The times of the device's operations.
    #[inline(always)]
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Sets the mean time that retries add to a read, ns, for estimates.
    pub fn expect_retries(&mut self, mean_ns: Ns) {
        self.timing.mean_retry_ns = mean_ns;
    }

    /// Plays every stage as an event of its own, also where nothing could get between stages. For tests: results must not differ.
    pub fn play_every_stage(&mut self) {
        self.rules.solo = false;
    }

    /// Checks from now on that stages do not overlap on a resource; with `keep`, keeps each as an interval.
    pub fn watch_stages(&mut self, keep: bool) {
        self.trace.get_or_insert_with(Trace::default).keep |= keep;
    }

    /// The stages watched since [`Flash::watch_stages`].
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    /// Records what happens from now on for a timeline.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(Box::new(recorder));
    }

    /// The recorder of a timeline, if there is one.
    #[inline(always)]
    pub fn recorder(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_deref_mut()
    }

    /// Shared access to the recorder of a timeline, if there is one.
    #[inline(always)]
    pub fn recording(&self) -> Option<&Recorder> {
        self.recorder.as_deref()
    }

    /// Reports nothing to the recorder any more, and keeps what it has recorded.
    pub fn end_recording(&mut self) {
        self.recorded = self.recorder.take();
    }

    /// Takes the recorder of the timeline, with all that was recorded.
    pub fn take_recorder(&mut self) -> Option<Box<Recorder>> {
        self.recorder.take().or_else(|| self.recorded.take())
    }

    #[inline(always)]
    fn first_slot(die: DieId) -> SlotId {
        SlotId(2 * die.0)
    }

    #[inline(always)]
    fn pair(&self, die: DieId) -> [&Slot; 2] {
        let first = Flash::first_slot(die);
        [&self.slots[first.index()], &self.slots[first.other().index()]]
    }

    /// No operation is in service on the die.
    #[inline(always)]
    pub fn idle(&self, die: DieId) -> bool {
        self.pair(die).iter().all(|slot| slot.is_empty())
    }

    /// Whether the die is occupied by a host operation (first) and by a GC operation (second), a paused one included.
    #[inline(always)]
    pub fn holders(&self, die: DieId) -> (bool, bool) {
        let [a, b] = self.pair(die);
        let paused = self.paused(die).map(Owner::is_host);
        let host = a.host().is_some() || b.host().is_some() || paused == Some(true);
        let gc = a.gc().is_some() || b.gc().is_some() || paused == Some(false);
        (host, gc)
    }

    /// Whether a host operation (first) and a GC operation (second) are in service on the die. A paused one counts while no other is.
    #[inline(always)]
    pub fn in_service(&self, die: DieId) -> (bool, bool) {
        let [a, b] = self.pair(die);
        let (host, gc) = (a.host().is_some() || b.host().is_some(), a.gc().is_some() || b.gc().is_some());
        if host || gc { (host, gc) } else { self.holders(die) }
    }

    /// The first transactions of the host operations on the die, a paused one included.
    pub fn host_operations(&self, die: DieId) -> impl Iterator<Item = TxnId> {
        let paused = match self.paused(die) {
            Some(Owner::Host(first)) => Some(first),
            Some(Owner::Gc(_)) | None => None,
        };
        // The pages of a read that only stops an array read ahead have been read.
        let in_service = |slot: &Slot| slot.host().filter(|_| slot.stage != Stage::Stopping);
        self.pair(die).map(in_service).into_iter().flatten().chain(paused)
    }

    /// The die could begin an operation of this kind now, apart from the bus.
    #[inline(always)]
    pub fn can_start(&self, die: DieId, kind: OpKind, host: bool) -> bool {
        if self.idle(die) {
            return self.rules.interleave || self.chip_ops[(die.0 / self.rules.dies_per_chip) as usize] == 0;
        }
        self.can_overlap(die, kind, host)
    }

    /// With a cache register: the die could begin this operation beside the one in service, one on the bus and one in the array.
    fn can_overlap(&self, die: DieId, kind: OpKind, host: bool) -> bool {
        let [a, b] = self.pair(die);
        let first = Flash::first_slot(die);
        let (at, running) = match (a.stage, b.stage) {
            (_, Stage::Empty) => (first, a),
            (Stage::Empty, _) => (first.other(), b),
            _ => return false,
        };
        let reads_out = running.op.kind == OpKind::Read && matches!(running.stage, Stage::WaitBusOut | Stage::Out) && self.leaves_array(at);
        match (running.op.owner.is_host(), host, kind) {
            (true, true, OpKind::Read) => self.rules.pipeline && reads_out,
            (true, true, OpKind::Program) => self.rules.pipeline && running.op.kind == kind && running.stage == Stage::Program,
            // Preemption point B: the move's read overlaps the transfer of the host read (lee2013 Fig. 6).
            (true, false, OpKind::Read | OpKind::Move | OpKind::CopybackMove) => self.rules.gc_pipeline && reads_out,
            // Preemption point A: the transfer of the host write overlaps the move's program.
            (false, true, OpKind::Program) => self.rules.gc_pipeline && running.stage == Stage::Program,
            (false, true, OpKind::RegisterRead) => self.rules.register_reads && running.holds_register() && !self.step_fails(at),
            _ => false,
        }
    }

    /// The operations in service on all dies, without those that have stopped at a preemption point.
    pub fn drawing(&self) -> impl Iterator<Item = &Op> {
        let draws = |stage| !matches!(stage, Stage::Empty | Stage::StoppedBeforeOut | Stage::StoppedBeforeIn | Stage::StoppedBeforeProgram);
        self.slots.iter().filter(move |slot| draws(slot.stage)).map(|slot| &slot.op)
    }

    /// The operation in a slot.
    #[inline(always)]
    pub fn op(&self, at: SlotId) -> &Op {
        &self.slots[at.index()].op
    }

    /// The first page of a slot's host operation is done: `first`, its next page, becomes the first.
    #[inline]
    pub fn set_first(&mut self, at: SlotId, first: TxnId) {
        self.slots[at.index()].op.owner = Owner::Host(first);
    }

    /// Number of pages of a slot's operation whose transfer has ended.
    #[inline]
    pub fn transferred(&self, at: SlotId) -> u32 {
        self.slots[at.index()].transferred
    }

    /// When the last transfer of a slot's operation ended, ns.
    #[inline]
    pub fn last_transfer_end(&self, at: SlotId) -> Ns {
        self.slots[at.index()].transferred_at
    }

    /// The operation in a slot is played as one event.
    #[inline(always)]
    pub fn is_whole(&self, at: SlotId) -> bool {
        self.slots[at.index()].stage == Stage::Whole
    }

    /// What the die is doing.
    #[inline]
    pub fn doing(&self, die: DieId) -> Doing {
        let [a, b] = self.pair(die);
        if a.is_empty() && b.is_empty() {
            return Doing::Nothing;
        }
        let first = Flash::first_slot(die);
        let (at, slot) = match (a.gc(), b.gc()) {
            (Some(_), _) => (first, a),
            (None, Some(_)) => (first.other(), b),
            (None, None) => return Doing::Other,
        };
        match slot.stage {
            Stage::StoppedBeforeOut | Stage::StoppedBeforeIn | Stage::StoppedBeforeProgram => Doing::Stopped(at),
            _ if self.is_alone(at) => Doing::Gc(at),
            _ => Doing::Other,
        }
    }

    /// Whether the second slot of this slot's die is empty.
    pub fn is_alone(&self, at: SlotId) -> bool {
        self.slots[at.other().index()].is_empty()
    }

    /// Where the GC operation in a slot is in its stages.
    pub fn phase(&self, at: SlotId, now: Ns) -> Phase {
        let slot = &self.slots[at.index()];
        slot.phase(slot.due.saturating_sub(now))
    }

    /// The operation in a slot is a program that shares its die with a GC program in the array.
    pub fn overlaps_gc_program(&self, at: SlotId) -> bool {
        let other = &self.slots[at.other().index()];
        other.stage == Stage::Program && other.gc().is_some() && self.op(at).kind == OpKind::Program
    }

    /// The transfer of a slot's operation is in service (and does not wait for the bus).
    pub fn is_transferring(&self, at: SlotId) -> bool {
        matches!(self.slots[at.index()].stage, Stage::In | Stage::Out)
    }

    /// Sets the array time of a program that has not begun, ns.
    pub fn set_write_ns(&mut self, at: SlotId, ns: Ns) {
        self.slots[at.index()].op.write_ns = ns;
    }
}
