//! What a run knows of its own course, and the remarks that this makes.

use crate::error::{Error, Result};
use crate::remark::Remark;
use crate::settled::{Totals, Verdict, Windows};
use crate::stats::{RunResult, Trends, remarks_of_result, remarks_of_run};
use crate::storage::Storage;

/// Collects what [`Windows`] judges. It looks at the drives the more seldom the longer the run.
#[derive(Debug)]
pub(super) struct Settling {
    windows: Windows,
    /// The totals when the measured part of the run began.
    began: Totals,
    /// Completed requests from which on the totals are looked at.
    next_look: u64,
}

/// The totals are looked at again when 1/256 more requests have completed.
const LOOKS: u64 = 256;

impl Settling {
    /// Nothing has been written.
    pub(super) fn new(storage: &Storage) -> Self {
        let exported = storage.drives().into_iter().map(|drive| u64::from(drive.ftl().geometry().exported_pages)).sum();
        Settling { windows: Windows::new(exported), began: Totals::default(), next_look: 1 }
    }

    /// So many requests have completed.
    #[inline]
    pub(super) fn completed(&mut self, completed: u64, storage: &Storage) {
        if completed >= self.next_look {
            self.look(completed, storage);
        }
    }

    #[cold]
    fn look(&mut self, completed: u64, storage: &Storage) {
        self.next_look = completed + completed / LOOKS + 1;
        self.windows.add(totals(storage));
    }

    /// What was before is not measured.
    pub(super) fn restart(&mut self, storage: &Storage) {
        self.began = totals(storage);
        self.windows.add(self.began);
        self.windows.restart();
    }

    /// Whether write amplification has settled, and its value in the whole measured part; `None` where the host wrote nothing.
    pub(super) fn ended(&mut self, storage: &Storage) -> Option<(Verdict, f64)> {
        let totals = totals(storage);
        self.windows.add(totals);
        let written = totals.host_units - self.began.host_units;
        (written > 0).then(|| (self.windows.verdict(), (totals.flash_units - self.began.flash_units) as f64 / written as f64))
    }
}

/// What all drives have written.
fn totals(storage: &Storage) -> Totals {
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
