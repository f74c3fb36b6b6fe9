//! A user-defined order, called where there is a choice between operations that could begin. `docs/own-policies.md` shows one.

use crate::custom::Custom;
use crate::views::Ready;
use ssdlab_base::units::{BlockId, DieId, Ns, PoolId};

pub use crate::custom::Failure;

/// A user-defined order of the operations that wait for a die.
pub trait OrderPolicy: Send {
    /// Returns the index of the operation in [`Choices::operations`] that goes first. Called once per decision, with at least two operations.
    /// If it returns `None`, the configured order decides (counted by `counters.order_fallbacks`).
    ///
    /// A run is repeatable if the choice depends only on the arguments of this and earlier calls.
    ///
    /// # Errors
    /// Any failure: the run ends with it.
    fn pick(&mut self, choices: &Choices<'_>) -> Result<Option<usize>, Failure>;
}

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// A page is read.
    Read,
    /// A page is programmed.
    Program,
    /// A page of the victim of a GC job is moved.
    Move,
    /// The victim of a GC job is erased.
    Erase,
}

/// What operations are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A request of the host.
    Host,
    /// Garbage collection.
    Gc,
    /// A part of the mapping table that is in flash (`ftl.map_cache_bytes`).
    Mapping,
}

/// An operation that could go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The kind of the operation.
    pub kind: OperationKind,
    /// What the operation is for.
    pub cause: Cause,
    /// The age of the operation: when it was admitted to its chip's queue, or when the step of the GC job became ready, ns, and the serial
    /// number of that moment.
    pub ready: Ready,
    /// Arrival of the request, or start of the GC job, ns.
    pub arrival_ns: Ns,
    /// First byte of the page's part that the request touches; 0 for GC.
    pub offset: u64,
    /// Bytes of the page that the request touches; for GC, of a page.
    pub bytes: u32,
    /// Serial number of the request; `None` for GC.
    pub request: Option<u64>,
    /// Length of the whole request, bytes; 0 for GC.
    pub request_bytes: u64,
    /// Number of the flow that sent the request, from 0; 0 for GC.
    pub flow: u16,
    /// The request is a high-priority write.
    pub high_priority: bool,
    /// The pool of the page.
    pub pool: PoolId,
    /// How much later the operation may end without delaying its request, ns; `None` for GC, and if ends are not estimated.
    pub slack_ns: Option<Ns>,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Situation {
    /// What begins on a die where an operation may begin.
    Begins,
    /// A page move has stopped between two of its stages: whether it goes on, or makes way for an operation.
    Stopped,
    /// An operation is in the array: whether it goes on, or is suspended for an operation.
    InService,
}

/// The GC job whose step or operation is the last of [`Choices::operations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobState {
    /// The block that the job collects.
    pub victim: BlockId,
    /// Pages (mapping units) of the victim that are still valid.
    pub valid_pages: u32,
    /// Free blocks of the job's pool.
    pub free_blocks: u32,
    /// The operation has begun, and is suspended, has stopped or is in service; else it is the job's next step.
    pub begun: bool,
}

/// The operations that could go first.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a> {
    /// The simulated time, ns.
    pub now_ns: Ns,
    /// The die; where the dies of a chip exclude each other, one of its dies.
    pub die: DieId,
    /// What is decided.
    pub situation: Situation,
    /// Numbers of reads and of writes that the chip has accepted and not begun, also those that cannot begin now.
    pub queued: [u32; 2],
    /// Operations of the host, in the order of their queues (the oldest first), and last the one of GC, if `job` is there.
    pub operations: &'a [Operation],
    /// The GC job of the last operation; `None` if all are of the host.
    pub job: Option<JobState>,
}

/// A user-defined order as part of a plan.
pub type CustomOrder = Custom<dyn OrderPolicy>;

impl CustomOrder {
    /// `name`: for messages. `source`: identifies the policy (its source text, or a name with a version); results have its hash. `make`:
    /// makes a new policy for each drive.
    pub fn new<P: OrderPolicy + 'static>(name: &str, source: &str, make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        Self::boxed("order", name, source, move || Box::new(make()))
    }
}
