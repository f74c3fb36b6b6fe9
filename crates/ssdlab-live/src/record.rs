//! Records the requests as a trace in the project's own format, with their arrivals in simulated time; it can be replayed like any other.

use std::io::Write;
use std::path::Path;

use ssdlab::error::{Error, Result};
use ssdlab::files::WholeFile;
use ssdlab::request::{Request, RequestKind};
use ssdlab::workload::CSV_HEADER;

/// A trace of requests under construction.
pub struct Record {
    file: WholeFile,
    /// The trace has a column of placement handles.
    with_handles: bool,
}

impl Record {
    /// Begins the file of the trace. `with_handles`: it has a column of placement handles.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] for a name that does not end in `.csv`.
    pub fn create(path: &Path, with_handles: bool) -> Result<Self> {
        if path.extension().is_none_or(|ending| ending != "csv") {
            return Err(Error::Usage(format!(
                "{}: a record ends with .csv; `ssdlab trace convert` makes other formats of it",
                path.display()
            )));
        }
        let mut file = WholeFile::create(path)?;
        let more = if with_handles { ",handle" } else { "" };
        writeln!(file, "{CSV_HEADER}{more}").map_err(|source| Error::io("write", path, source))?;
        Ok(Record { file, with_handles })
    }

    /// Adds a request to the trace.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn add(&mut self, request: &Request) -> Result<()> {
        let op = match request.kind {
            RequestKind::Read => "R",
            RequestKind::Write => "W",
            RequestKind::Trim => "T",
            RequestKind::Flush => "F",
            of_zones => of_zones.name(),
        };
        let (us, ns) = (request.arrival_ns / 1_000, request.arrival_ns % 1_000);
        let handle = match request.handle {
            _ if !self.with_handles => String::new(),
            None => ",".into(),
            Some(handle) => format!(",{handle}"),
        };
        let written = writeln!(self.file, "{us}.{ns:03},{op},{},{}{handle}", request.offset, request.length);
        written.map_err(|source| Error::io("write", self.file.path(), source))
    }

    /// Completes the trace and moves its file to its place.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(self) -> Result<()> {
        self.file.commit()
    }
}
