//! A user-defined placement policy. `docs/own-policies.md` shows one.

use std::sync::{Arc, Mutex, PoisonError};

use super::Class;
use crate::custom::{AtWork, Custom};
use ssdlab_base::error::Error;
use ssdlab_base::units::{BlockId, Lpn};
use ssdlab_keys::config::{Stream, Streams};

pub use crate::custom::Failure;

/// A user-defined placement policy.
pub trait PlacementPolicy: Send {
    /// Returns the stream that a page goes to, among those of its writer, from 0. Called once per unit that the host writes and per unit
    /// that is moved, also during preconditioning, where the writer has more than one stream. A number that the writer does not have is a
    /// failure.
    ///
    /// A run is repeatable if the choice depends only on the arguments of this and earlier calls.
    ///
    /// # Errors
    /// Any failure: the run ends with it.
    fn place(&mut self, placing: &Placing<'_>) -> Result<Class, Failure>;
}

/// Sizes of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Logical pages (mapping units).
    pub pages: u32,
    /// Blocks.
    pub blocks: u32,
    /// Pages (mapping units) of a block.
    pub pages_per_block: u32,
    /// Streams of host writes (`ftl.host_streams`). Streams are numbered from 0, those of the host first.
    pub host_streams: u8,
    /// Streams of page moves (`ftl.move_streams`).
    pub move_streams: u8,
}

/// Who writes a page, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The host.
    Host {
        /// Handle of the request, if it names one.
        handle: Option<u8>,
        /// The page holds no data yet.
        is_new: bool,
    },
    /// A page move.
    Moved {
        /// The stream that filled the block which the page leaves; `None`: it was filled before streams were noted.
        stream: Option<Stream>,
    },
}

/// Something that has happened in the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A page that the host wrote is in flash.
    Written {
        /// The page.
        page: u32,
    },
    /// A stream has taken a block to fill.
    Opened {
        /// The block.
        block: u32,
        /// The stream.
        stream: Stream,
    },
    /// A block has become a victim.
    Collected {
        /// The block.
        block: u32,
        /// The stream that filled it; `None`: it was filled before streams were noted.
        stream: Option<Stream>,
        /// Number of valid pages of the block.
        valid: u32,
    },
}

/// A page for which a stream is to be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Placing<'a> {
    /// Sizes of the drive.
    pub sizes: Sizes,
    /// The page (mapping unit).
    pub page: u32,
    /// Who writes it.
    pub source: Source,
    /// What has happened since the call before, in order.
    pub events: &'a [Happened],
}

/// A user-defined placement policy as part of a plan.
pub type CustomPlacement = Custom<dyn PlacementPolicy>;

impl CustomPlacement {
    /// `name`: for messages. `source`: identifies the policy (its source text, or a name with a version); results have its hash. `make`:
    /// makes a new policy for each drive, which goes with it from preconditioning to the end of the run.
    pub fn new<P: PlacementPolicy + 'static>(name: &str, source: &str, make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        Self::boxed("placement", name, source, move || Box::new(make()))
    }
}

/// A user-defined policy at work. Copies of a drive share it.
#[derive(Clone, Debug)]
pub(super) struct Own {
    sizes: Sizes,
    asks: Option<Arc<Mutex<Asking>>>,
}

#[derive(Debug)]
struct Asking {
    policy: AtWork<dyn PlacementPolicy>,
    events: Vec<Happened>,
}

impl Own {
    /// A drive for which no policy was given yet.
    pub(super) fn new(streams: Streams, pages: u32, blocks: u32, pages_per_block: u32) -> Self {
        let (host_streams, move_streams) = (streams.host_classes, streams.move_classes);
        Own { sizes: Sizes { pages, blocks, pages_per_block, host_streams, move_streams }, asks: None }
    }

    pub(super) fn ask(&mut self, custom: &CustomPlacement) {
        self.asks = Some(Arc::new(Mutex::new(Asking { policy: custom.make(), events: Vec::new() })));
    }

    fn with<T>(&self, act: impl FnOnce(&mut Asking) -> T) -> Option<T> {
        self.asks.as_ref().map(|asks| act(&mut asks.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(super) fn note(&self, event: Happened) {
        self.with(|asking| asking.events.push(event));
    }

    pub(super) fn class(&self, lpn: Lpn, source: Source) -> Class {
        let (who, count) = match source {
            Source::Host { .. } => ("host writes", self.sizes.host_streams),
            Source::Moved { .. } => ("page moves", self.sizes.move_streams),
        };
        if count == 1 {
            return 0;
        }
        let chosen = self.with(|Asking { policy, events }| {
            let placing = Placing { sizes: self.sizes, page: lpn.0, source, events };
            let chosen = policy.ask(|policy| match policy.place(&placing)? {
                class if class >= count => {
                    Err(format!("chose stream {class} for a page; expected 0 to {}, the streams of {who}", count - 1).into())
                }
                class => Ok(Some(class)),
            });
            events.clear();
            chosen
        });
        chosen.flatten().unwrap_or(0)
    }

    pub(super) fn take_failure(&self) -> Option<Error> {
        self.with(|asking| asking.policy.take_failure()).flatten()
    }
}

impl Happened {
    pub(super) fn opened(block: BlockId, stream: Stream) -> Self {
        Happened::Opened { block: block.0, stream }
    }

    pub(super) fn collected(block: BlockId, stream: Option<Stream>, valid: u32) -> Self {
        Happened::Collected { block: block.0, stream, valid }
    }
}
