//! The origin of a request to a drive: a host request, or a request that a cache or an array derives from one or makes itself.

/// Value for no request and for no job.
pub const NOBODY: u64 = u64::MAX;

/// The cause of a request to a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Data that the host reads or writes.
    Host,
    /// Pages that a cache fetches, as the host reads them.
    Fetch,
    /// Dirty pages of a cache are written.
    Destage,
    /// A page that is missing in a group of a cache is read, to be written with it.
    Padding,
    /// Units of the write buffer are programmed.
    Drain,
    /// The rest of a unit of the write buffer is read, to be programmed with it.
    Fill,
    /// Old data or old parity are read, to compute new parity.
    Update,
    /// Parity is written.
    Parity,
    /// A translation page is read, since a request needs it.
    MapRead,
    /// A translation page that has changed is written, since another takes its place in memory.
    MapWrite,
    /// A translation page is read or written since GC has moved pages.
    MapUpdate,
    /// Another drive is read in place of one that has failed, or collects.
    Degraded,
    /// A unit of a failed drive is rebuilt on the drive in its place.
    Rebuild,
    /// A log of the host moves data, or resets a zone.
    LogMove,
}

impl Cause {
    /// Category of the slices of requests with this cause.
    pub(super) fn category(self) -> &'static str {
        match self {
            Cause::Host | Cause::Fetch => "host",
            Cause::Destage | Cause::Padding => "cache",
            Cause::Drain | Cause::Fill => "buffer",
            Cause::MapRead | Cause::MapWrite | Cause::MapUpdate => "mapping",
            Cause::LogMove => "log",
            Cause::Update | Cause::Parity | Cause::Degraded | Cause::Rebuild => "array",
        }
    }

    /// Name of the cause in the arguments of a slice; `None` if the category determines it.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Cause::Host => None,
            Cause::Fetch => Some("fetch"),
            Cause::Destage => Some("destage"),
            Cause::Padding => Some("padding"),
            Cause::Drain => Some("drain"),
            Cause::Fill => Some("fill"),
            Cause::Update => Some("update"),
            Cause::Parity => Some("parity"),
            Cause::MapRead => Some("map_read"),
            Cause::MapWrite => Some("map_write"),
            Cause::MapUpdate => Some("map_update"),
            Cause::Degraded => Some("degraded"),
            Cause::Rebuild => Some("rebuild"),
            Cause::LogMove => Some("log_move"),
        }
    }
}

/// The host request that a request to a drive belongs to, and its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The number of the host request, or [`NOBODY`].
    pub request: u64,
    /// The cause of the request to the drive.
    pub cause: Cause,
}

impl Origin {
    /// The origin of a host request that reaches the drive unchanged.
    pub fn host(request: u64) -> Self {
        Origin { request, cause: Cause::Host }
    }

    /// The origin of a request that no host request waits for.
    pub fn nobody(cause: Cause) -> Self {
        Origin { request: NOBODY, cause }
    }

    /// This origin with another cause, for the same host request.
    #[must_use]
    pub fn made(self, cause: Cause) -> Self {
        Origin { cause, ..self }
    }

    /// This origin for a page that a cache fetches: [`Cause::Host`] becomes [`Cause::Fetch`], other causes stay.
    #[must_use]
    pub fn fetched(self) -> Self {
        if self.cause == Cause::Host { self.made(Cause::Fetch) } else { self }
    }
}
