//! A timeline of a run for the Perfetto viewer and chrome://tracing: the operations of every die, bus and GC job, with their times and
//! requests.
//!
//! A [`Recorder`] records the slices of one drive, clipped to a window of time and limited in number; [`Requests`] records the host
//! requests. Recorders that share a [`Budget`] stop together. [`Levels`] records levels such as free blocks. An [`Origin`] gives the host
//! request and the cause of a request to a drive. An [`Output`] is the file: the JSON trace-event format, written at the end of the run.
//! [`Blocks`] records the state of every block over time, in a file of its own.

mod budget;
mod json;
mod levels;
mod origin;
mod recorder;
mod requests;
mod ring;
mod track;

pub use budget::Budget;
pub use levels::{Level, Levels};
pub use origin::{Cause, NOBODY, Origin};
pub use recorder::{NOWHERE, Page, Recorder};
pub use requests::Requests;
pub use ring::{Admission, DEFAULT_STAGES, Hold, Index, PageEnd, RecentJob, RecentOperation, Ring, Stage, Trigger, Wait};
pub use track::{DriveShape, Track};

use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;

use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::files::{Cancellable, WholeFile};
use ssdlab_base::units::Ns;

/// Default limit of slices: 40 to 52 MB of JSON.
pub const DEFAULT_LIMIT: u64 = 200_000;
/// The largest limit: slices are kept in memory until the run ends, up to 300 bytes each.
pub const LARGEST_LIMIT: u64 = 10_000_000;

/// A requested timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// File to write; compressed if its name ends in `.gz`.
    pub path: PathBuf,
    /// Start of the part of the run to record, ns.
    pub from: Ns,
    /// End of the part of the run to record, ns.
    pub to: Ns,
    /// Maximum number of slices.
    pub limit: u64,
}

impl Wanted {
    /// A request for a timeline of the window `from..to`, ns, with at most `limit` slices.
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

/// The extent of a written timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Number of slices in the timeline.
    pub slices: u64,
    /// Time from which on the timeline is complete, ns.
    pub from: Ns,
    /// Time up to which the timeline is complete, ns.
    pub to: Ns,
    /// Recording ended because the limit of slices was reached.
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
    /// Begins the file of a timeline. `flows`: the names of the flows of requests, if there are several.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be begun.
    pub fn create(wanted: &Wanted, flows: Vec<String>) -> Result<Self> {
        let compressed = wanted.path.extension().is_some_and(|ending| ending == "gz");
        let budget = Arc::new(Budget::new(wanted.from, wanted.to, wanted.limit));
        Ok(Output {
            file: WholeFile::create(&wanted.path)?,
            compressed,
            requests: Requests::new(&budget, flows),
            levels: Levels::new(&budget, wanted.limit),
            budget,
        })
    }

    /// The budget that the recorders share.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The recorder of the host requests.
    #[inline]
    pub fn requests(&mut self) -> &mut Requests {
        &mut self.requests
    }

    /// The recorder of the levels.
    #[inline]
    pub fn levels(&mut self) -> &mut Levels {
        &mut self.levels
    }

    /// Writes the recordings at the end of the run. The file has its name only after [`Output::commit`].
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Interrupted`] once a stop was requested.
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
            // The encoder takes long for each piece of text, however short.
            let mut encoder = BufWriter::with_capacity(1 << 16, GzEncoder::new(file, Compression::fast()));
            let written = json::write(&mut encoder, host, &recorders, reach);
            written.and_then(|()| encoder.into_inner()?.finish().map(drop))
        } else {
            json::write(&mut file, host, &recorders, reach)
        };
        caller.check()?;
        written.map_err(|error| Error::io("write", &target, error))?;
        Ok(reach)
    }

    /// Renames the file to its final name.
    ///
    /// # Errors
    /// [`Error::Io`] if the last bytes cannot be written or the file not renamed.
    pub fn commit(self) -> Result<()> {
        self.file.commit()
    }
}
