//! What a run knows of its own course, and the remarks that this makes.

use crate::error::{Error, Result};
use crate::remark::Remark;
use crate::request::RequestKind;
use crate::settled::{Totals, Verdict, Windows};
use crate::stats::{RunResult, Trends, remarks_of_result, remarks_of_run};
use crate::storage::Storage;

/// Collects what [`Windows`] judges. It looks at the drives as often as their windows need it.
#[derive(Debug)]
pub(super) struct Settling {
    windows: Windows,
    /// The totals when the measured part of the run began.
    began: Totals,
    unit_bytes: u64,
    /// Bytes of completed writes, and how many there are when the totals are looked at.
    written: u64,
    next_look: u64,
    looks: u64,
}

impl Settling {
    /// Nothing has been written.
    pub(super) fn new(storage: &Storage) -> Self {
        let geometries = || storage.drives().into_iter().map(|drive| drive.ftl().geometry());
        let exported = geometries().map(|geometry| u64::from(geometry.exported_pages)).sum();
        let unit_bytes = geometries().map(|geometry| u64::from(geometry.page_bytes)).next().expect("there is a drive");
        Settling { windows: Windows::new(exported), began: Totals::default(), unit_bytes, written: 0, next_look: 0, looks: 0 }
    }

    /// Counts a completed request; only the bytes of writes matter.
    #[inline]
    pub(super) fn completes(&mut self, kind: RequestKind, bytes: u64) {
        if kind == RequestKind::Write {
            self.written += bytes;
        }
    }

    /// So much has been written that [`Settling::look`] is to be called.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.written >= self.next_look
    }

    /// Looks at the drives, whose sums are those of the present.
    #[cold]
    pub(super) fn look(&mut self, storage: &Storage) {
        self.windows.add(totals(storage));
        self.next_look = self.written + self.windows.step() * self.unit_bytes;
        self.looks += 1;
    }

    /// How often the drives were looked at.
    pub(super) fn looks(&self) -> u64 {
        self.looks
    }

    /// What the host has written, as of the last look, in drive writes.
    pub(super) fn drive_writes(&self) -> f64 {
        self.windows.drive_writes()
    }

    /// As of the last look, whether write amplification has settled.
    pub(super) fn verdict(&self) -> Verdict {
        self.windows.verdict()
    }

    /// As of the last look, write amplification in the stretch that the verdict is about; `None` where too little was written.
    pub(super) fn amplification(&self) -> Option<f64> {
        self.windows.amplification()
    }

    /// What was before is not measured.
    pub(super) fn restart(&mut self, storage: &Storage) {
        self.began = totals(storage);
        self.windows.add(self.began);
        self.windows.restart();
        self.next_look = self.written;
    }

    /// Whether write amplification has settled, and its value in the whole measured part; `None` where the host wrote nothing.
    pub(super) fn ended(&mut self, storage: &Storage) -> Option<(Verdict, f64)> {
        let totals = totals(storage);
        self.windows.add(totals);
        Some((self.windows.verdict(), totals.since(&self.began).amplification()?))
    }
}

/// What all drives have written.
pub(super) fn totals(storage: &Storage) -> Totals {
    storage.drives().into_iter().fold(Totals::default(), |sum, drive| {
        let counters = drive.counters();
        let parity_units = counters.parity_programs * u64::from(drive.ftl().geometry().units_per_program);
        let flash_units = counters.host_programs + counters.pages_moved + counters.map_programs + counters.padded_units + parity_units;
        Totals {
            host_units: sum.host_units + counters.host_programs,
            flash_units: sum.flash_units + flash_units,
            erases: sum.erases + counters.erases,
        }
    })
}

/// The result with its remarks: those of the run, `more` (decided elsewhere), and those that the result itself decides, where the workload's
/// are among.
pub(super) fn with_remarks(result: RunResult, trends: &Trends, more: Vec<Remark>) -> Result<RunResult> {
    // Series are long, and decide nothing.
    let (series, histograms) = (result.series, result.histograms);
    let bare = RunResult { series: None, histograms: None, ..result };
    let value = serde_json::to_value(&bare).map_err(|error| Error::Simulation(error.to_string()))?;
    let remarks = [remarks_of_run(trends, &value), more, remarks_of_result(&value)].concat();
    Ok(RunResult { series, histograms, remarks, ..bare })
}
