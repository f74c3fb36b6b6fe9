//! Places the volumes of a trace one after the other (`workload.volumes = "concatenated"`).

use std::path::Path;

use super::select::Choice;
use super::source::{Entry, Row, Source};
use ssdlab_base::error::{Error, Result};
use ssdlab_base::inputs;
use ssdlab_base::request::RequestKind;

/// Volumes begin at multiples of this, bytes.
const UNIT_BYTES: u64 = 1 << 20;

/// Placement of volumes one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// First byte of each volume, in order of appearance.
    starts: Vec<u64>,
    /// End of the last volume, bytes.
    end: u64,
}

impl Places {
    /// Reads a whole trace for the sizes of its volumes, and places them.
    ///
    /// # Errors
    /// Errors of reading the trace; [`Error::Usage`] for a pipe, which can be read only once.
    pub(crate) fn of(path: &Path, choice: &Choice) -> Result<Self> {
        if !inputs::is_repeatable(path).map_err(|e| Error::io("read", path, e))? {
            let path = path.display();
            return Err(Error::Usage(format!(
                "{path}: a pipe can be read only once; write it to a file for workload.volumes = \"concatenated\""
            )));
        }
        let mut source = Source::open(path, &choice.reading, &choice.caller)?;
        let mut ends = Vec::new();
        while let Some(row) = source.next_row()? {
            if let Row::Request(entry) = row {
                note_end(&mut ends, &entry);
            }
        }
        Self::one_after_the_other(&ends).ok_or_else(|| {
            Error::Trace(format!("{}: the volumes are larger than 2^63 bytes together; choose one (workload.device)", path.display()))
        })
    }

    /// Places volumes of these sizes (bytes, in order of appearance); `None` if they exceed 2^63 bytes together.
    pub(crate) fn one_after_the_other(ends: &[u64]) -> Option<Self> {
        let mut places = Places::default();
        let mut next = 0_u64;
        for &end in ends {
            places.starts.push(next);
            places.end = next.checked_add(end).filter(|&end| end <= 1 << 63)?;
            next = places.end.checked_next_multiple_of(UNIT_BYTES)?;
        }
        Some(places)
    }

    /// End of the last volume, bytes.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Moves a request to the place of its volume. A flush has no address and stays.
    #[inline]
    pub(super) fn place(&self, entry: &mut Entry) {
        if entry.kind != RequestKind::Flush {
            entry.offset += self.starts[entry.device as usize];
        }
    }
}

/// Extends the volume of a request to the end of the request. `ends`: by volume, its end so far, bytes.
pub(crate) fn note_end(ends: &mut Vec<u64>, entry: &Entry) {
    let volume = entry.device as usize;
    if volume >= ends.len() {
        ends.resize(volume + 1, 0);
    }
    ends[volume] = ends[volume].max(entry.offset + entry.length);
}
