//! A timeline of a run for the Perfetto viewer and chrome://tracing: what every die, bus and GC job did, when, and for which request.
//!
//! A [`Recorder`] watches one drive and keeps slices, clipped to a window of time and bounded in number; [`Requests`] keeps those of the
//! host. All that share a [`Budget`] stop together. [`Levels`] keeps how many of something there were. An [`Origin`] says whose a request
//! to a drive is. An [`Output`] is the file: the JSON trace-event format, written at the end of the run.

mod budget;
mod json;
mod levels;
mod origin;
mod recorder;
mod requests;

pub use budget::Budget;
pub use levels::{Level, Levels};
pub use origin::{Cause, NOBODY, Origin};
pub use recorder::{NOWHERE, Recorder, Shape};
pub use requests::Requests;

use std::path::PathBuf;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::files::{Cancellable, WholeFile};
use crate::units::Ns;

/// Slices at most, unless somebody says: 40 to 52 MB of JSON.
pub const DEFAULT_LIMIT: u64 = 200_000;
/// The largest limit: slices are kept in memory until the run ends, up to 300 bytes each.
pub const LARGEST_LIMIT: u64 = 10_000_000;

/// A timeline that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where it goes. What ends in `.gz` is compressed.
    pub path: PathBuf,
    /// The part of the run that it shows: from this time on, ns.
    pub from: Ns,
    /// Up to this time, ns.
    pub to: Ns,
    /// The most slices that it may have.
    pub limit: u64,
}

impl Wanted {
    /// A timeline of the window `from..to`.
    ///
    /// # Errors
    /// [`Error::Usage`] for an empty window, or a limit that is not within 1..=[`LARGEST_LIMIT`].
    pub fn new(path: PathBuf, (from, to): (Ns, Ns), limit: u64) -> Result<Self> {
        if from >= to {
            return Err(Error::Usage(format!(
                "the timeline's window begins at {from} ns and ends at {to} ns: it must end after it begins"
            )));
        }
        if !(1..=LARGEST_LIMIT).contains(&limit) {
            return Err(Error::Usage(format!("the timeline's limit is {limit} slices: expected 1 to {LARGEST_LIMIT}")));
        }
        Ok(Wanted { path, from, to, limit })
    }
}

/// What became of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Slices in it.
    pub slices: u64,
    /// From when on it shows all that happened, ns.
    pub from: Ns,
    /// Up to when, ns.
    pub to: Ns,
    /// It ends there because it had as many slices as it may have.
    pub full: bool,
}

/// The file of a timeline. It appears under its name when committed; dropped before that, it leaves no file.
#[derive(Debug)]
pub struct Output {
    file: WholeFile,
    compressed: bool,
    budget: Arc<Budget>,
    requests: Requests,
    levels: Levels,
}

impl Output {
    /// Begins the file.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be begun.
    pub fn create(wanted: &Wanted) -> Result<Self> {
        let compressed = wanted.path.extension().is_some_and(|ending| ending == "gz");
        let budget = Arc::new(Budget::new(wanted.from, wanted.to, wanted.limit));
        Ok(Output {
            file: WholeFile::create(&wanted.path)?,
            compressed,
            requests: Requests::new(&budget),
            levels: Levels::new(&budget, wanted.limit),
            budget,
        })
    }

    /// What the drives' recorders are to share.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Where the requests of the host are recorded.
    #[inline]
    pub fn requests(&mut self) -> &mut Requests {
        &mut self.requests
    }

    /// Where levels are recorded.
    #[inline]
    pub fn levels(&mut self) -> &mut Levels {
        &mut self.levels
    }

    /// Writes what the drives' recorders have at the end of the run. It is in its place only after [`Output::commit`].
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Interrupted`] once the caller asked to stop.
    pub fn write(&mut self, mut recorders: Vec<Box<Recorder>>, end: Ns, caller: &Caller) -> Result<Reach> {
        let reached = recorders.iter_mut().map(|recorder| recorder.finish(end)).min();
        let to = self.requests.finish(end).min(self.levels.finish(end)).min(reached.unwrap_or(end));
        let from = self.budget.from.min(end);
        let reach = Reach {
            slices: self.requests.count() + recorders.iter().map(|recorder| recorder.count()).sum::<u64>(),
            from,
            to: to.max(from),
            full: self.budget.is_full(),
        };
        let host = (&self.requests, &self.levels);
        let target = self.file.path().to_path_buf();
        let mut file = Cancellable { file: &mut self.file, caller };
        let written = if self.compressed {
            let mut encoder = GzEncoder::new(file, Compression::default());
            json::write(&mut encoder, host, &recorders, reach).and_then(|()| encoder.finish().map(drop))
        } else {
            json::write(&mut file, host, &recorders, reach)
        };
        caller.check()?;
        written.map_err(|error| Error::io("write", &target, error))?;
        Ok(reach)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// [`Error::Io`] if the last bytes cannot be written or the file not renamed.
    pub fn commit(self) -> Result<()> {
        self.file.commit()
    }
}
