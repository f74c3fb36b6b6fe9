//! Flash operations, the stages that they go through, and the slot that each occupies.

use ssdlab_base::units::{Ns, PoolId, TxnId};

/// The kinds of flash operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// The array reads, then a transfer out.
    Read,
    /// A transfer in, then the array programs.
    Program,
    /// The array erases.
    Erase,
    /// A page move: read, transfer out, transfer in, program, all on one die.
    Move,
    /// A page move inside one plane: read and program, without a transfer.
    CopybackMove,
    /// A transfer out of a page that a page move holds in its register (lee2013 Table III).
    RegisterRead,
}

/// The owner of an operation: host or GC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The host: the first transaction of those whose pages the operation reads or programs.
    Host(TxnId),
    /// GC: the pool whose job the operation is part of.
    Gc(PoolId),
}

impl Owner {
    /// The operation belongs to the host.
    #[inline(always)]
    pub fn is_host(self) -> bool {
        matches!(self, Owner::Host(_))
    }
}

/// Number of mapping units (or sixteenths, of a page that is one unit) transferred of each page of a host read (`device.partial_reads`), in
/// four bits for each page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts(u64);

impl Parts {
    /// Whole pages. A page without a number is transferred whole, and so is one of [`ssdlab_keys::config::UNITS_MAX`] units, a number for which
    /// four bits have no room.
    pub const WHOLE: Parts = Parts(0);

    /// Values of a number of units, 0 (the whole page) included; also the most pages that have numbers.
    pub(super) const NUMBERS: usize = 16;
    const BITS: u32 = 4;

    /// Sets the number of parts that are transferred of a page of the operation.
    #[inline]
    pub fn set(&mut self, page: u32, parts: u32) {
        assert!(page < ssdlab_keys::config::PART_PAGES_MAX, "the configuration allows no more planes");
        self.0 |= u64::from(parts % Parts::NUMBERS as u32) << (Parts::BITS * page);
    }

    /// The number of units that are transferred of a page of the operation, 0 for the whole page.
    #[inline(always)]
    pub(super) fn of(self, page: u32) -> usize {
        // Where there are more pages than bits for them, all numbers are 0.
        self.0.wrapping_shr(Parts::BITS * page) as usize % Parts::NUMBERS
    }
}

/// An operation to start.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// The kind of the operation.
    pub kind: OpKind,
    /// The owner of the operation: host or GC.
    pub owner: Owner,
    /// Number of planes that take part, with one page each.
    pub pages: u32,
    /// Of a host read: the part of each page that is transferred.
    pub parts: Parts,
    /// Array time of the operation's read, ns.
    pub read_ns: Ns,
    /// Array time of the operation's program or erase, ns.
    pub write_ns: Ns,
}

/// The stage of the operation in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Empty,
    /// The operation is one event: nothing can get between its stages, so its end was known at its start.
    Whole,
    /// The command of a read is on the bus.
    Command,
    Read,
    /// The page of a read is in the page register, and waits until the die's other transfer has ended.
    WaitRegister,
    WaitBusOut,
    Out,
    WaitBusIn,
    In,
    /// The data of a program are in the cache register, and wait until the array has ended another program.
    WaitArray,
    Program,
    /// The data of a read are decoded, while it keeps the die.
    Decode,
    /// The data of a read have been transferred, and an array read that was begun ahead is to be stopped.
    Stopping,
    /// An erase that can be suspended.
    Erase,
    /// The page move has stopped at a preemption point: before its transfer out, before its transfer in, before its program.
    StoppedBeforeOut,
    StoppedBeforeIn,
    StoppedBeforeProgram,
    /// The array stage is being suspended.
    Suspending,
    /// The array stage is to stop later, if that is still wanted then: a program pauses at the end of its step, or an operation is
    /// suspended for reads once it has run for long enough.
    Pausing,
}

/// An operation slot of a die, with its operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) stage: Stage,
    pub(super) op: Op,
    /// Serial number, new when the operation starts, is to stop, and resumes: events with another number are stale.
    pub(super) serial: u64,
    /// Pages whose transfer has ended.
    pub(super) transferred: u32,
    /// Number of page moves that are left of a repeated move, which is one event (see `repeat`); 0 for all other operations.
    pub(super) repetitions: u32,
    /// When the operation began, ns, shifted by the time in which it was suspended or paused.
    pub(super) began: Ns,
    /// When the stage began, ns.
    pub(super) since: Ns,
    /// When the last transfer of the operation ended, ns.
    pub(super) transferred_at: Ns,
    /// When the array stage in service began or resumed (`runs_since`), and when it ends (`due`), ns.
    pub(super) runs_since: Ns,
    pub(super) due: Ns,
    /// Of an array stage that is or was suspended: the stage, and its time left (`left`), ns.
    pub(super) suspended: Stage,
    pub(super) left: Ns,
    /// Of an operation that may stop later: its serial number before, which it has again if it does not stop.
    pub(super) serial_of_end: u64,
    /// The operation is, or is to be, paused between two of its program steps; else it is, or is to be, suspended.
    pub(super) pauses: bool,
    /// A host operation has merged with the page move: it is not suspended any more.
    pub(super) merged: bool,
    /// Of a program that may go plane by plane: number of planes that it has not begun; 0 for all other operations.
    pub(super) planes_left: u16,
    /// Number of planes in service; 0 for all other operations.
    pub(super) planes_now: u16,
    /// How often the operation was suspended for reads; and whether it is being suspended for reads now (`for_reads`).
    pub(super) suspensions: u32,
    pub(super) for_reads: bool,
}

impl Slot {
    /// Time of `ns` in the array as energy counts it: for each page, or for each plane in service of the `planes` that a page spans
    /// (`device.plane_programs`) its share.
    pub(super) fn drawing_ns(&self, ns: Ns, planes: u32) -> Ns {
        if self.planes_now == 0 { ns * Ns::from(self.op.pages) } else { ns * Ns::from(self.planes_now) / Ns::from(planes) }
    }

    pub(super) const IDLE: Slot = Slot {
        stage: Stage::Empty,
        op: Op { kind: OpKind::Erase, owner: Owner::Gc(PoolId(0)), pages: 0, parts: Parts::WHOLE, read_ns: 0, write_ns: 0 },
        serial: 0,
        transferred: 0,
        repetitions: 0,
        began: 0,
        since: 0,
        transferred_at: 0,
        runs_since: 0,
        due: 0,
        suspended: Stage::Empty,
        left: 0,
        serial_of_end: 0,
        pauses: false,
        merged: false,
        planes_left: 0,
        planes_now: 0,
        suspensions: 0,
        for_reads: false,
    };

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.stage == Stage::Empty
    }

    /// The first transaction of a host operation in the slot.
    #[inline(always)]
    pub(super) fn host(&self) -> Option<TxnId> {
        match self.op.owner {
            Owner::Host(first) if !self.is_empty() => Some(first),
            _ => None,
        }
    }

    /// The pool of a GC operation in the slot.
    #[inline(always)]
    pub(super) fn gc(&self) -> Option<PoolId> {
        match self.op.owner {
            Owner::Gc(pool) if !self.is_empty() => Some(pool),
            _ => None,
        }
    }

    /// The page register holds the page of a move, for longer than the transfer out.
    pub(super) fn holds_register(&self) -> bool {
        matches!(
            self.stage,
            Stage::Out | Stage::StoppedBeforeIn | Stage::WaitBusIn | Stage::In | Stage::StoppedBeforeProgram | Stage::Program
        )
    }

    /// Where the GC operation in the slot is in its stages. `left`: time left of an array stage, ns.
    pub(super) fn phase(&self, left: Ns) -> Phase {
        match self.stage {
            Stage::Command => Phase::Command,
            Stage::Read => Phase::Read(left),
            Stage::WaitRegister | Stage::WaitBusOut | Stage::StoppedBeforeOut => Phase::BeforeOut,
            Stage::Out => Phase::Out,
            Stage::StoppedBeforeIn | Stage::WaitBusIn => Phase::BeforeIn,
            Stage::In => Phase::In(self.since),
            Stage::StoppedBeforeProgram | Stage::WaitArray => Phase::BeforeProgram,
            Stage::Program => Phase::Program(left),
            Stage::Erase => Phase::Erase(left),
            Stage::Suspending | Stage::Pausing | Stage::Whole | Stage::Empty | Stage::Decode | Stage::Stopping => Phase::Closed,
        }
    }
}

/// Where a GC operation is in its stages, as far as suspending and merging need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The command of the operation's read is on the bus.
    Command,
    /// The array reads, for at least this time to come, ns.
    Read(Ns),
    /// The read has ended; the transfer out has not begun.
    BeforeOut,
    /// The transfer out is in service.
    Out,
    /// The transfer out has ended; the transfer in has not begun.
    BeforeIn,
    /// The transfer in began at this time, ns, and has not ended.
    In(Ns),
    /// The transfer in has ended; the program has not begun.
    BeforeProgram,
    /// The array programs, for at least this time to come, ns.
    Program(Ns),
    /// The array erases, for at least this time to come, ns.
    Erase(Ns),
    /// The operation is being suspended or is to stop, or nothing can get between its stages.
    Closed,
}
