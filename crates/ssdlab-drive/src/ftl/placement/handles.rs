//! Placement by handle (NVMe Flexible Data Placement): the host says which writes belong together.

use super::Class;
use serde::{Deserialize, Serialize};
use ssdlab_keys::config::{Config, Isolation, Stream};
use ssdlab_result::stats::NO_STREAM;

/// A stream for the host writes of each handle. Page moves share one stream, or have one for each handle.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Handles {
    /// Number of handles.
    count: u8,
    /// The handle of requests that name none.
    default: u8,
    /// Moved pages stay with their handle.
    persistent: bool,
}

impl Handles {
    pub(super) fn new(config: &Config) -> Self {
        Handles { count: config.ftl.handles, default: config.ftl.default_handle, persistent: config.ftl.isolation == Isolation::Persistent }
    }

    /// Each active zone has a handle.
    pub(super) fn of_zones(config: &Config) -> Self {
        Handles { count: config.zones.max_active, default: 0, persistent: false }
    }

    /// Plants a defect: moved pages do not stay with their handle.
    pub(super) fn forget(&mut self) {
        self.persistent = false;
    }

    /// The class of a host write. There are as many classes as handles.
    #[inline]
    pub(super) fn host_class(&self, handle: Option<u8>) -> Class {
        handle.unwrap_or(self.default)
    }

    /// The class of the page moves of a block. Host writes of handle h fill stream h, and its page moves, if they stay apart, stream
    /// n + h, for n handles: a block has data of one handle, one that was filled before streams were noted that of the default handle.
    #[inline]
    pub(super) fn move_class(&self, from: Stream) -> Class {
        match from {
            _ if !self.persistent => 0,
            NO_STREAM => self.default,
            _ => from % self.count,
        }
    }
}
