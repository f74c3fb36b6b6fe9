//! Flash operations, the stages that they go through, and the slot that each occupies.

use crate::units::{Ns, PoolId, TxnId};

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

/// Whom an operation serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The host: the first of the transactions whose pages it reads or programs.
    Host(TxnId),
    /// The GC job of a pool.
    Gc(PoolId),
}

impl Owner {
    /// It serves the host.
    #[inline(always)]
    pub fn is_host(self) -> bool {
        matches!(self, Owner::Host(_))
    }
}

/// How many mapping units of each page of a host read are transferred (`device.partial_reads`), in four bits for each page, from the first on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts(u64);

impl Parts {
    /// Whole pages. A page for which there is no number is whole, and so is one of [`crate::config::UNITS_MAX`] units, for which four bits have
    /// none.
    pub const WHOLE: Parts = Parts(0);

    /// Numbers of units that there are, that for a whole page included; and the most pages.
    pub(super) const NUMBERS: usize = 16;
    const BITS: u32 = 4;

    /// So many units of the page of this number are transferred.
    #[inline]
    pub fn set(&mut self, page: u32, units: u32) {
        assert!(page < crate::config::PART_PAGES_MAX, "the configuration allows no more planes");
        self.0 |= u64::from(units % Parts::NUMBERS as u32) << (Parts::BITS * page);
    }

    /// The units of the page of this number, 0 for all.
    #[inline(always)]
    pub(super) fn of(self, page: u32) -> usize {
        // Where there are more pages than bits for them, all are whole.
        self.0.wrapping_shr(Parts::BITS * page) as usize % Parts::NUMBERS
    }
}

/// An operation to start.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Whom it serves.
    pub owner: Owner,
    /// Planes that take part, one page each.
    pub pages: u32,
    /// Of a host read: what of each page is transferred.
    pub parts: Parts,
    /// Array time of its read, ns.
    pub read_ns: Ns,
    /// Array time of its program or erase, ns.
    pub write_ns: Ns,
}

/// Where an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Empty,
    /// Nothing can get between its stages, so its end was known at its start.
    Whole,
    /// The command of a read is on the bus.
    Command,
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
    /// Stopped at a preemption point: before its transfer out, before its transfer in, before its program.
    StoppedBeforeOut,
    StoppedBeforeIn,
    StoppedBeforeProgram,
    /// Its array stage is about to be suspended.
    Suspending,
    /// A program that stops at the end of its step, or what is suspended for reads once it has run for long enough, if that is still wanted
    /// then.
    Pausing,
}

/// What an operation slot of a die holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) stage: Stage,
    pub(super) op: Op,
    /// Its serial number: by start.
    pub(super) serial: u64,
    /// Pages whose transfer has ended.
    pub(super) transferred: u32,
    /// Page moves for which the operation stands: a row of them is one event (`repeat`). 0 for all other operations.
    pub(super) repetitions: u32,
    /// When the operation began, the time in which it was suspended or paused left out.
    pub(super) began: Ns,
    /// When the stage began.
    pub(super) since: Ns,
    /// When the last transfer ended.
    pub(super) transferred_at: Ns,
    /// When the array stage in service began, or resumed; and when it ends.
    pub(super) runs_since: Ns,
    pub(super) due: Ns,
    /// Of an array stage that is or was suspended: the stage, and its time left, ns.
    pub(super) suspended: Stage,
    pub(super) left: Ns,
    /// Of a program that may stop at the end of its step: the serial number before.
    pub(super) serial_of_end: u64,
    /// What is to stop, or has stopped, is a program that pauses between two of its steps; else it is suspended.
    pub(super) pauses: bool,
    /// A host operation has merged with it: it is suspended no more.
    pub(super) merged: bool,
    /// Times that it was suspended for reads; and that is what it is being suspended for.
    pub(super) suspensions: u32,
    pub(super) for_reads: bool,
}

impl Slot {
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
        suspensions: 0,
        for_reads: false,
    };

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.stage == Stage::Empty
    }

    /// The transaction that a host operation in it serves.
    #[inline(always)]
    pub(super) fn host(&self) -> Option<TxnId> {
        match self.op.owner {
            Owner::Host(first) if !self.is_empty() => Some(first),
            _ => None,
        }
    }

    /// The pool whose job an operation in it serves.
    #[inline(always)]
    pub(super) fn gc(&self) -> Option<PoolId> {
        match self.op.owner {
            Owner::Gc(pool) if !self.is_empty() => Some(pool),
            _ => None,
        }
    }

    /// The page of a move is in its register for longer than its transfer out.
    pub(super) fn holds_register(&self) -> bool {
        matches!(
            self.stage,
            Stage::Out | Stage::StoppedBeforeIn | Stage::WaitBusIn | Stage::In | Stage::StoppedBeforeProgram | Stage::Program
        )
    }

    /// Where the GC operation in it is, `left` being the time left of an array stage.
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
            Stage::Suspending | Stage::Pausing | Stage::Whole | Stage::Empty => Phase::Closed,
        }
    }
}

/// Where a GC operation is, as far as others care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The command of its read is on the bus.
    Command,
    /// The array reads, for at least this long, ns.
    Read(Ns),
    /// Read; the transfer out has not begun.
    BeforeOut,
    /// It is being transferred out.
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
    /// It is being suspended, or nothing can get between its stages.
    Closed,
}
