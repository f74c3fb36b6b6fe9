//! Whose request it is that a drive is given: the host's, or one that a cache or an array makes of it or by itself.

/// No request, no job.
pub const NOBODY: u64 = u64::MAX;

/// What a request to a drive is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Data that the host reads or writes.
    Host,
    /// Pages for a cache, which the host reads.
    Fetch,
    /// Dirty pages of a cache are written.
    Destage,
    /// A page that is missing in a group of a cache is read, to be written with it.
    Padding,
    /// Old data or old parity are read, for the parity of what is written.
    Update,
    /// Parity is written.
    Parity,
    /// Read in place of what a failed drive holds.
    Degraded,
}

impl Cause {
    /// The category of its slices.
    pub(super) fn category(self) -> &'static str {
        match self {
            Cause::Host | Cause::Fetch => "host",
            Cause::Destage | Cause::Padding => "cache",
            Cause::Update | Cause::Parity | Cause::Degraded => "array",
        }
    }

    /// What an argument says of it, where the category does not say it all.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Cause::Host => None,
            Cause::Fetch => Some("fetch"),
            Cause::Destage => Some("destage"),
            Cause::Padding => Some("padding"),
            Cause::Update => Some("update"),
            Cause::Parity => Some("parity"),
            Cause::Degraded => Some("degraded"),
        }
    }
}

/// Whose request it is, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The number of the host's request, or [`NOBODY`].
    pub request: u64,
    /// What for.
    pub cause: Cause,
}

impl Origin {
    /// Of a request of the host, as it is.
    pub fn host(request: u64) -> Self {
        Origin { request, cause: Cause::Host }
    }

    /// Of something that no request of the host waits for.
    pub fn nobody(cause: Cause) -> Self {
        Origin { request: NOBODY, cause }
    }

    /// For the same request, but what the array makes of it.
    #[must_use]
    pub fn made(self, cause: Cause) -> Self {
        Origin { cause, ..self }
    }

    /// For the same request by way of a cache, which keeps what it reads. What is not the host's stays what it is.
    #[must_use]
    pub fn fetched(self) -> Self {
        if self.cause == Cause::Host { self.made(Cause::Fetch) } else { self }
    }
}
