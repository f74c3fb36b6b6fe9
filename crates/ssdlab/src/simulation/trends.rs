//! Follows write amplification during a run, and adds remarks to its result.

use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::{DieId, PoolId};
use ssdlab_drive::storage::Storage;
use ssdlab_keys::remark::Remark;
use ssdlab_result::settled::{Totals, Verdict, Windows};
use ssdlab_result::stats::{Filled, RunResult, Trends, remarks_of_result, remarks_of_run};

/// Collects the totals of the drives for [`Windows`], as often as those need them.
#[derive(Debug)]
pub(super) struct Settling {
    windows: Windows,
    /// Totals when the measured part of the run began.
    began: Totals,
    unit_bytes: u64,
    /// Bytes of completed writes. `next_look`: their number from which on [`Settling::look`] is due.
    written: u64,
    next_look: u64,
    looks: u64,
}

impl Settling {
    /// The state before anything is written.
    pub(super) fn new(storage: &Storage) -> Self {
        let geometries = || storage.drives().into_iter().map(|drive| drive.ftl().geometry());
        let exported = geometries().map(|geometry| u64::from(geometry.exported_units)).sum();
        let unit_bytes = geometries().map(|geometry| u64::from(geometry.unit_bytes)).next().expect("there is a drive");
        Settling { windows: Windows::new(exported), began: Totals::default(), unit_bytes, written: 0, next_look: 0, looks: 0 }
    }

    /// Counts a completed request; only the bytes of writes matter.
    #[inline]
    pub(super) fn completes(&mut self, kind: RequestKind, bytes: u64) {
        if kind.brings_data() {
            self.written += bytes;
        }
    }

    /// Whether enough has been written for a call of [`Settling::look`].
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.written >= self.next_look
    }

    /// Collects the totals of the drives, whose counters must be up to date.
    #[cold]
    pub(super) fn look(&mut self, storage: &Storage) {
        self.windows.add(totals(storage));
        self.next_look = self.written + self.windows.step() * self.unit_bytes;
        self.looks += 1;
    }

    /// Number of calls of [`Settling::look`].
    pub(super) fn looks(&self) -> u64 {
        self.looks
    }

    /// Host writes until the last look, in drive writes.
    pub(super) fn drive_writes(&self) -> f64 {
        self.windows.drive_writes()
    }

    /// Whether write amplification has settled, as of the last look.
    pub(super) fn verdict(&self) -> Verdict {
        self.windows.verdict()
    }

    /// Write amplification over the stretch that the verdict is about, as of the last look; `None` if too little was written.
    pub(super) fn amplification(&self) -> Option<f64> {
        self.windows.amplification()
    }

    /// Begins the measured part of the run: what was written before does not count.
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

/// Sum over all drives of units programmed and blocks erased.
pub(super) fn totals(storage: &Storage) -> Totals {
    storage.drives().into_iter().fold(Totals::default(), |sum, drive| {
        let counters = drive.counters();
        Totals {
            // Of what the drive programs for a log of the host, a part are moves of the log.
            host_units: sum.host_units + (counters.host_programs - counters.log_moved_units.min(counters.host_programs)),
            flash_units: sum.flash_units + drive.flash_units(),
            erases: sum.erases + counters.erases,
        }
    })
}

/// Adds the remarks to a result: those of the run (`trends`), `more` (decided elsewhere), and those that follow from the result itself,
/// among them the workload's.
pub(super) fn with_remarks(result: RunResult, trends: &Trends, more: Vec<Remark>) -> Result<RunResult> {
    // Series are long and lead to no remarks.
    let (series, histograms) = (result.series, result.histograms);
    let bare = RunResult { series: None, histograms: None, ..result };
    let value = serde_json::to_value(&bare).map_err(|error| Error::Simulation(error.to_string()))?;
    let remarks = [remarks_of_run(trends, &value), more, remarks_of_result(&value)].concat();
    Ok(RunResult { series, histograms, remarks, ..bare })
}

/// What the dies of all drives hold.
pub(super) fn filled(storage: &Storage) -> Filled {
    let (mut valid, mut units_per_program, mut unit_bytes) = (Vec::new(), 1, 1);
    for drive in storage.drives() {
        let (blocks, geometry) = (drive.ftl().blocks(), drive.ftl().geometry());
        let of_die = |die| geometry.pools_of_die(DieId(die)).map(|pool| u64::from(blocks.valid_in_pool(PoolId(pool)))).sum();
        valid.extend((0..geometry.dies).map(of_die).collect::<Vec<u64>>());
        (units_per_program, unit_bytes) = (geometry.units_per_program, geometry.unit_bytes);
    }
    Filled { valid, units_per_program, unit_bytes }
}
