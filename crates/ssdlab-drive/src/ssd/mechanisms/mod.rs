//! Mechanisms: steps of an operation that only some configurations have. The other files of `ssd` call them by path, at the place where they
//! act: `merge::try_merge(ssd, ..)`.
//!
//! | file | question | keys |
//! |---|---|---|
//! | `units` | which mapping units share a flash operation? | `ftl.map_unit_bytes`, `device.pages_per_program` |
//! | `burst` | which page moves are one event, and what interrupts them? | none: results are those of move after move |
//! | `ages` | which steps does a read take that has errors, and which blocks are moved for that? | `errors` |
//! | `merge` | how do host operations merge with page moves (lee2013 III-B)? | `gc.merge` |
//! | `advance` | which steps of a job may begin where it advances with host operations only? | `gc.advance` |
//! | `idle` | what does idle time change? | `gc.trigger = "idle"` |
//! | `pace` | which writes wait for credit that GC earns? | `gc.pace` |
//! | `dynamic` | what does a write change whose address does not say where it goes? | `ftl.allocation = "dynamic"` |
//! | `estimates` | when will operations end (elyasi2017)? | `scheduler.read_bypass`, `write_bypass`, `write_pausing`, `estimates` |
//! | `slc` | when are blocks in SLC mode folded in idle time, and what is counted of them? | `slc` |
//! | `order` | what does a user-defined order decide? | none: the policy comes with the plan |
//! | `power` | which operation waits for power? | `energy.cap_w` |
//! | `power_states` | when does the drive enter and leave power states, and what do these keep waiting? | `power_states` |
//! | `heat` | how warm is the drive, and what does that limit? | `thermal` |
//! | `carry` | when does a job leave units for the next? | `gc.leftover` |
//! | `superblock` | to which die do the page moves of a superblock go, and the reads that wait for the pages? | `ftl.reclaim_unit` |
//! | `wear` | what if a program or an erase fails, and when is the drive read-only? | `wear` |
//! | `accepted` | which place does the drive keep for data that a level above has accepted? | `wear` |
//! | `planes` | which programs go plane by plane? | `device.plane_programs` |
//! | `table` | what is noted for a mapping table in flash? | `ftl.map_cache_bytes` |
//! | `windows` | when may a drive of an array collect? | `array.window_us` |
//! | `rotation` | when is it a pool's turn to collect, of all drives of an array? | `array.rotation` |
//! | `zones` | what does the reset of a zone leave in its open blocks? | `zones` |
//! | `pause` | when does an operation stop for reads? | `scheduler.write_pausing`, `scheduler.suspend` |
//!
//! At the moments of an operation's life that have a function here, the spine calls that, and the function calls what each mechanism does then: to
//! add a mechanism, add its call.

use crate::flash::OpKind;
use crate::ftl::Allocated;
use crate::sched::QueueKind;
use crate::ssd::Ssd;
use crate::ssd::candidates::HostCandidate;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{BlockId, DieId, Ns, PoolId, ReqId, SlotId, TxnId};

/// A block that has been erased.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErasedBlock {
    /// The pool whose job erased it.
    pub pool: PoolId,
    /// The block.
    pub block: BlockId,
    /// It was in the cache of blocks in SLC mode.
    pub in_cache: bool,
    /// Number of its units that its mode skipped.
    pub skipped: u32,
    /// It is retired.
    pub retired: bool,
    /// An earlier job of the pool had collected it.
    pub earlier: bool,
}

pub(super) mod accepted;
pub(super) mod advance;
pub(super) mod ages;
pub(super) mod burst;
pub(super) mod carry;
pub(super) mod dynamic;
pub(super) mod estimates;
pub(super) mod heat;
pub(super) mod idle;
pub(super) mod merge;
pub(super) mod order;
pub(super) mod pace;
pub(super) mod pause;
pub(super) mod planes;
pub(super) mod power;
pub(super) mod power_states;
pub(super) mod rotation;
pub(super) mod slc;
pub(super) mod superblock;
pub(super) mod table;
pub(super) mod units;
pub(super) mod wear;
pub(super) mod windows;
pub(super) mod zones;

/// A request has come to the drive; none of its pages is admitted.
#[inline(always)]
pub(super) fn request_arrived(ssd: &mut Ssd, now: Ns, request: ReqId) {
    idle::request_arrived(ssd, request);
    estimates::request_arrived(ssd, now, request);
}

/// A host operation has left its queue.
#[inline(always)]
pub(super) fn left_queue(ssd: &mut Ssd, die: DieId, left: HostCandidate) {
    dynamic::left_queue(ssd, die);
    superblock::left_queue(ssd, left);
}

/// A host operation is about to begin on a die. Returns the kind of the flash operation that serves it.
#[inline(always)]
pub(super) fn host_begins(ssd: &mut Ssd, now: Ns, die: DieId, operation: HostCandidate, kind: OpKind) -> OpKind {
    advance::lets_job_step(ssd, die);
    order::host_begins(ssd, now, die, operation.id);
    merge::kind_of(ssd, now, die, operation.id, kind)
}

/// The pages of a host operation are known, and it goes to the flash now. `operations`: the number of its transactions.
#[inline(always)]
pub(super) fn host_prepared(ssd: &mut Ssd, die: DieId, kind: QueueKind, operations: u32) {
    estimates::host_prepared(ssd, die, kind, operations);
}

/// A host operation has begun in a slot.
#[inline(always)]
pub(super) fn host_begun(ssd: &mut Ssd, at: SlotId, kind: OpKind) {
    ages::operation_begun(ssd, at, kind);
}

/// A page operation of the host has ended; its request does not know it yet.
#[inline(always)]
pub(super) fn page_ended(ssd: &mut Ssd, now: Ns, id: TxnId) {
    estimates::page_ended(ssd, now, id);
    dynamic::page_ended(ssd);
    accepted::page_ended(ssd, id);
    ages::page_ended(ssd, id);
}

/// An operation of the job of a pool is about to begin on a die.
#[inline(always)]
pub(super) fn step_begins(ssd: &mut Ssd, die: DieId, pool: PoolId) {
    advance::operation_begins(ssd, die, pool);
}

/// A step of the job of a pool has begun in a slot.
#[inline(always)]
pub(super) fn step_begun(ssd: &mut Ssd, now: Ns, at: SlotId, pool: PoolId, kind: OpKind) {
    ages::operation_begun(ssd, at, kind);
    merge::merge_waiting(ssd, now, pool);
}

/// A block of a pool has been opened: its first page is about to be programmed.
#[inline(always)]
pub(super) fn block_opened(ssd: &mut Ssd, now: Ns, pool: PoolId, opened: Allocated) {
    ages::block_opened(ssd, now, opened.ppn);
    slc::block_opened(ssd, now, pool, opened.ppn, opened.took_block);
}

/// A block has been erased, and perhaps retired.
#[inline(always)]
pub(super) fn block_erased(ssd: &mut Ssd, now: Ns, erased: ErasedBlock) {
    slc::block_erased(ssd, erased);
    ages::block_erased(ssd, now, erased.block);
    wear::block_erased(ssd, now, erased);
    table::block_erased(ssd, erased);
}

/// The job of a pool and its group begins.
pub(super) fn job_begins(ssd: &mut Ssd, pool: PoolId) {
    idle::job_starts(ssd, pool);
}

/// A job that is not for space begins.
pub(super) fn moving_begins(ssd: &mut Ssd, now: Ns, pool: PoolId, cause: Cause) {
    wear::job_starts(ssd, pool, cause);
    slc::job_starts(ssd, now, pool, cause);
}

/// The job of a pool has begun, with its parts in all pools of its group.
pub(super) fn job_begun(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    pace::job_starts(ssd, pool);
    windows::job_begun(ssd, pool);
    rotation::job_begun(ssd, pool);
    superblock::job_begun(ssd, now, pool);
}

/// A pool whose job was the next of its scope has begun none.
pub(super) fn no_job(ssd: &mut Ssd, pool: PoolId) {
    rotation::no_job(ssd, pool);
}

/// The job of a pool has ended; the next of its scope has not begun. `barrier`: host operations of its scope that began to wait before this serial
/// number go first.
pub(super) fn job_ends(ssd: &mut Ssd, pool: PoolId, barrier: Option<u64>) {
    ssd.group_of(pool).for_each(|part| advance::limit_credit(ssd, ssd.geometry().die_of_pool(part)));
    rotation::job_ends(ssd, pool, barrier);
}

/// The job of a pool has ended, and its scope has had its turn.
pub(super) fn job_ended(ssd: &mut Ssd, now: Ns, pool: PoolId, cause: Cause) {
    slc::job_ended(ssd, now, pool, cause);
    ssd.group_of(pool).for_each(|part| advance::forget_credit(ssd, ssd.geometry().die_of_pool(part)));
}

/// Nothing more can begin in a round. Returns true if something may begin because of this.
#[inline(always)]
pub(super) fn nothing_begins(ssd: &mut Ssd, now: Ns) -> bool {
    let dealt_again = ssd.rules.slc && ssd.rules.gc.spreads && !wear::is_read_only(ssd) && superblock::deal_writes_again(ssd, now);
    dealt_again || wear::nothing_begins(ssd, now)
}
