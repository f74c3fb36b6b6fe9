//! What a placement policy written in Python sees.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use ssdlab::ftl::{Happened, Placing, Sizes, Source};

/// A page for which a stream is to be chosen, among those of its writer.
///
/// Streams are numbered from 0, those of host writes first, then those of page moves.
#[pyclass(frozen, name = "Placing", module = "ssdlab._core")]
pub struct PyPlacing {
    sizes: Sizes,
    /// Number of the page (mapping unit).
    #[pyo3(get)]
    page: u32,
    source: Source,
    events: Vec<Happened>,
}

impl PyPlacing {
    /// A copy of the question.
    pub fn of(placing: &Placing<'_>) -> Self {
        let Placing { sizes, page, source, events } = *placing;
        PyPlacing { sizes, page, source, events: events.to_vec() }
    }

    /// Number of streams to choose from.
    pub fn streams(&self) -> u8 {
        match self.source {
            Source::Host { .. } => self.sizes.host_streams,
            Source::Moved { .. } => self.sizes.move_streams,
        }
    }
}

/// The number of a stream; -1 for one that is not known.
fn number(stream: Option<u8>) -> i16 {
    stream.map_or(-1, i16::from)
}

#[pymethods]
impl PyPlacing {
    /// Event: a page that the host wrote is in flash: `(WRITTEN, page)`.
    #[classattr]
    const WRITTEN: u8 = 0;
    /// Event: a stream has taken a block to fill: `(OPENED, block, stream)`.
    #[classattr]
    const OPENED: u8 = 1;
    /// Event: a block has become a victim: `(COLLECTED, block, stream, valid_pages)`.
    #[classattr]
    const COLLECTED: u8 = 2;

    /// The page is moved by garbage collection; else the host writes it.
    #[getter]
    fn moved(&self) -> bool {
        matches!(self.source, Source::Moved { .. })
    }

    /// Handle of the host's request; `None` if it names none, and for a moved page.
    #[getter]
    fn handle(&self) -> Option<u8> {
        match self.source {
            Source::Host { handle, .. } => handle,
            Source::Moved { .. } => None,
        }
    }

    /// The host writes a page that holds no data yet.
    #[getter]
    fn is_new(&self) -> bool {
        matches!(self.source, Source::Host { is_new: true, .. })
    }

    /// Stream that filled the block which a moved page leaves; -1 if that was before streams were noted, and for host writes.
    #[getter]
    fn stream(&self) -> i16 {
        match self.source {
            Source::Host { .. } => -1,
            Source::Moved { stream } => number(stream),
        }
    }

    /// Number of logical pages (mapping units) of the drive.
    #[getter]
    fn pages(&self) -> u32 {
        self.sizes.pages
    }

    /// Number of blocks of the drive.
    #[getter]
    fn blocks(&self) -> u32 {
        self.sizes.blocks
    }

    /// Number of pages (mapping units) of a block.
    #[getter]
    fn pages_per_block(&self) -> u32 {
        self.sizes.pages_per_block
    }

    /// Number of streams of host writes (`ftl.host_streams`).
    #[getter]
    fn host_streams(&self) -> u8 {
        self.sizes.host_streams
    }

    /// Number of streams of page moves (`ftl.move_streams`).
    #[getter]
    fn move_streams(&self) -> u8 {
        self.sizes.move_streams
    }

    /// What has happened since the call before, in order: tuples of `WRITTEN`, `OPENED` or `COLLECTED` and what it concerns.
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let tuple = |event: &Happened| match *event {
            Happened::Written { page } => (Self::WRITTEN, page).into_pyobject(py),
            Happened::Opened { block, stream } => PyTuple::new(py, [u32::from(Self::OPENED), block, stream.into()]),
            Happened::Collected { block, stream, valid } => (Self::COLLECTED, block, number(stream), valid).into_pyobject(py),
        };
        PyList::new(py, self.events.iter().map(tuple).collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        let writer = if self.moved() { "moved" } else { "of the host" };
        format!("<Placing: page {}, {writer}, {} events>", self.page, self.events.len())
    }
}
