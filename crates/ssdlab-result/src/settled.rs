//! Whether write amplification has settled: one rule, for the preparation of a drive and for a run.
//!
//! The rule looks at the last *drive write* (as many units written by the host as it can address), or at the whole if that is shorter. It
//! cuts this stretch into eight windows of host writes. Write amplification *drifts* if it differs between the first four windows and the
//! last four by more than 0.5 % and by more than chance. What chance makes of the difference is estimated from the steps between
//! neighbouring windows, by their median: a drift moves few of them far, or all of them little. Write amplification has *settled* if it
//! does not drift, the stretch is a whole drive write, and blocks were erased in it.
//!
//! What is left after the rule is met depends on how slowly the drive forgets. Uniform writes replace what greedy collection sees about
//! once in half a drive write; then 0.1 % is left. Where it takes a whole drive write, 0.6 % is left; where it takes three, 2.5 %.

/// Number of windows into which the judged stretch is cut.
const WINDOWS: usize = 8;
/// Change from the first half of the stretch to the second, as a share, that still counts as none.
const TOLERANCE: f64 = 0.005;
/// Change, in standard errors, that chance may cause.
const CHANCE: f64 = 3.0;
/// The median of the size of a step between independent normal windows, in their standard deviations: 0.6745 x sqrt(2).
const MEDIAN_STEP: f64 = 0.9539;
/// Maximum number of totals kept. At that number, those before the last drive write are dropped, or every second one if few are older.
const MARKS_MAX: usize = 256;
/// Number of totals kept per drive write at first.
const MARKS_PER_DRIVE_WRITE: u64 = 1024;

/// Units programmed and blocks erased by drives since some beginning. Units are mapping units (pages, where those are the unit).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Units programmed for writes of the host.
    pub host_units: u64,
    /// Units programmed in all: for the host, by collection, for padding, parity and the mapping table.
    pub flash_units: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl Totals {
    /// The totals since `earlier`.
    pub fn since(&self, earlier: &Totals) -> Totals {
        Totals {
            host_units: self.host_units - earlier.host_units,
            flash_units: self.flash_units - earlier.flash_units,
            erases: self.erases - earlier.erases,
        }
    }

    /// Units programmed per unit that the host wrote; `None` if it wrote none.
    pub fn amplification(&self) -> Option<f64> {
        (self.host_units > 0).then(|| self.flash_units as f64 / self.host_units as f64)
    }
}

/// The answer to whether write amplification has settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// There are too few host writes to tell, and no drift in them.
    TooShort {
        /// Host writes, in drive writes: 0 to 1, or a little more where totals came seldom.
        drive_writes: f64,
    },
    /// No block was erased in the last drive write, so that write amplification is that of a drive without collection.
    NoCollection,
    /// Write amplification changes.
    Drifts {
        /// Write amplification in the second half of the stretch.
        amplification: f64,
        /// Change of write amplification from the first half of the stretch, as a share: 0.03 for a rise by 3 %.
        change: f64,
    },
    /// Write amplification has settled.
    Settled {
        /// Write amplification over the stretch.
        amplification: f64,
    },
}

/// Totals as they grew with the writes of the host, in little memory whatever their number.
#[derive(Clone, Debug)]
pub struct Windows {
    drive_write: u64,
    /// Totals at which the count begins.
    began: Totals,
    /// Totals kept, in ascending order of host units; at least those since the last drive write.
    marks: Vec<Totals>,
    /// Minimum host units from one mark to the next.
    step: u64,
    /// Host units from which on further totals are wanted.
    wanted_from: u64,
}

impl Windows {
    /// Windows without totals. `drive_write`: the units that the host can address, of all drives; at least 1.
    pub fn new(drive_write: u64) -> Self {
        let (drive_write, step) = (drive_write.max(1), (drive_write / MARKS_PER_DRIVE_WRITE).max(1));
        Windows { drive_write, began: Totals::default(), marks: vec![Totals::default()], step, wanted_from: step }
    }

    /// Host writes since the count began, as of the last totals, in drive writes.
    pub fn drive_writes(&self) -> f64 {
        self.written() as f64 / self.drive_write as f64
    }

    /// Host units from one look at the totals to the next: 1/1024 of a drive write at first, 1/128 after one.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Whether `host_units` is far enough from the last totals to call [`Windows::add`].
    #[inline]
    pub fn wants(&self, host_units: u64) -> bool {
        host_units >= self.wanted_from
    }

    /// Adds totals, which are no less than those before; ignores totals that come too soon.
    pub fn add(&mut self, totals: Totals) {
        if !self.wants(totals.host_units) {
            return;
        }
        self.marks.push(totals);
        if self.marks.len() == MARKS_MAX {
            self.make_room();
        }
        self.wanted_from = totals.host_units + self.step;
    }

    /// Drops the marks before the last drive write if these are at least a quarter of all, otherwise every second mark.
    fn make_room(&mut self) {
        let from = self.last().host_units.saturating_sub(self.drive_write);
        let old = self.marks.partition_point(|mark| mark.host_units <= from).saturating_sub(1);
        if old >= MARKS_MAX / 4 {
            self.marks.drain(..old);
            return;
        }
        let mut keep = false;
        self.marks.retain(|_| {
            keep = !keep;
            keep
        });
        self.step *= 2;
    }

    /// Begins the count again at the totals that were added last.
    pub fn restart(&mut self) {
        let last = *self.last();
        *self = Windows { began: last, marks: vec![last], ..Windows::new(self.drive_write) };
        self.wanted_from = last.host_units + self.step;
    }

    fn last(&self) -> &Totals {
        self.marks.last().expect("there is a first one")
    }

    /// Judges the last drive write, or the whole if that is shorter, by the rule in this module's documentation.
    pub fn verdict(&self) -> Verdict {
        let written = self.written();
        let too_short = Verdict::TooShort { drive_writes: self.drive_writes() };
        let Some(bounds) = self.bounds() else { return too_short };
        if written >= self.drive_write && bounds[WINDOWS].erases == bounds[0].erases {
            return Verdict::NoCollection;
        }
        let (before, after) = (amplification(&bounds[0], &bounds[WINDOWS / 2]), amplification(&bounds[WINDOWS / 2], &bounds[WINDOWS]));
        let change = (after - before) / before;
        if change.abs() > TOLERANCE && (after - before).abs() > CHANCE * standard_error(&bounds) {
            return Verdict::Drifts { amplification: after, change };
        }
        if written < self.drive_write {
            return too_short;
        }
        Verdict::Settled { amplification: amplification(&bounds[0], &bounds[WINDOWS]) }
    }

    /// Write amplification of the stretch that is judged, whether or not it has settled; `None` without enough host writes.
    pub fn amplification(&self) -> Option<f64> {
        let bounds = self.bounds()?;
        Some(amplification(&bounds[0], &bounds[WINDOWS]))
    }

    /// Host units since the count began.
    fn written(&self) -> u64 {
        self.last().host_units - self.began.host_units
    }

    /// The totals at the ends of the windows of the last drive write, or of all if that is less; `None` if some window has no writes.
    fn bounds(&self) -> Option<[Totals; WINDOWS + 1]> {
        let stretch = self.written().min(self.drive_write);
        let begin = self.last().host_units - stretch;
        let at = |window: usize| {
            let units = begin + stretch * window as u64 / WINDOWS as u64;
            self.marks[self.marks.partition_point(|mark| mark.host_units < units)]
        };
        let bounds: [Totals; WINDOWS + 1] = std::array::from_fn(at);
        bounds.is_sorted_by(|one, next| one.host_units < next.host_units).then_some(bounds)
    }
}

/// Write amplification from one total to a later one, between which the host wrote.
fn amplification(from: &Totals, to: &Totals) -> f64 {
    to.since(from).amplification().expect("windows have writes")
}

/// The standard error of the change from the first half of the windows to the second, were they independent.
fn standard_error(bounds: &[Totals; WINDOWS + 1]) -> f64 {
    let each: [f64; WINDOWS] = std::array::from_fn(|window| amplification(&bounds[window], &bounds[window + 1]));
    let mut steps: [f64; WINDOWS - 1] = std::array::from_fn(|at| (each[at + 1] - each[at]).abs());
    steps.sort_unstable_by(f64::total_cmp);
    let deviation = steps[steps.len() / 2] / MEDIAN_STEP;
    deviation * (4.0 / WINDOWS as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIVE: u64 = 20_000;

    /// A drive whose write amplification at each share of a drive write is `amplification`, written `drive_writes` times.
    fn judged(drive_writes: f64, amplification: impl Fn(f64) -> f64) -> Verdict {
        let mut windows = Windows::new(DRIVE);
        let mut flash = 0.0;
        for host_units in 1..=(drive_writes * DRIVE as f64) as u64 {
            flash += amplification(host_units as f64 / DRIVE as f64);
            windows.add(Totals { host_units, flash_units: flash as u64, erases: host_units / 64 });
        }
        windows.verdict()
    }

    #[test]
    fn what_stays_the_same_has_settled_after_a_drive_write() {
        assert!(matches!(judged(1.01, |_| 3.5), Verdict::Settled { amplification } if (amplification - 3.5).abs() < 1e-3));
        assert!(matches!(judged(40.0, |_| 3.5), Verdict::Settled { .. }), "totals are kept in little memory");
        assert!(matches!(judged(0.6, |_| 3.5), Verdict::TooShort { drive_writes } if (drive_writes - 0.6).abs() < 1e-2));
        assert_eq!(Windows::new(DRIVE).verdict(), Verdict::TooShort { drive_writes: 0.0 });
    }

    /// The change of an exponential from one half drive write to the next, by its integral: with the distance d at the end of the second
    /// and a time constant of t drive writes it is d t/0.5 (e^(0.5/t) - 1)^2.
    #[test]
    fn an_approach_settles_when_the_halves_of_a_drive_write_differ_by_half_a_per_cent() {
        for time_constant in [0.4, 1.0] {
            let growth = (0.5_f64 / time_constant).exp() - 1.0;
            let distance_at_limit = 0.005 * 4.0 / (time_constant / 0.5 * growth * growth);
            let until_limit = time_constant * (1.0 / distance_at_limit).ln();
            let approach = |at: f64| 4.0 - (-at / time_constant).exp();
            assert!(matches!(judged(until_limit - 0.1, approach), Verdict::Drifts { change, .. } if change > 0.005), "{time_constant}");
            assert!(matches!(judged(until_limit + 0.1, approach), Verdict::Settled { .. }), "{time_constant}");
        }
    }

    #[test]
    fn a_short_run_drifts_where_its_beginning_differs_from_its_end() {
        let beginning = |at: f64| if at < 0.07 { 1.2 } else { 3.6 };
        assert!(matches!(judged(0.15, beginning), Verdict::Drifts { change, .. } if change > 0.5));
        assert!(matches!(judged(1.5, beginning), Verdict::Settled { .. }), "it is over");
    }

    #[test]
    fn a_jump_within_the_last_drive_write_is_no_chance() {
        let jump = |at: f64| if at < 0.2 { 2.0 } else { 3.6 };
        assert!(matches!(judged(1.01, jump), Verdict::Drifts { .. }));
    }

    #[test]
    fn chance_is_no_drift() {
        let mut random = ssdlab_base::rng::Rng::new(1, "test");
        let mut drifts = 0;
        for _ in 0..100 {
            // Normal enough: the sum of twelve uniform numbers. Halves then differ by 2 % a time and more, by chance alone.
            let noise: Vec<f64> = (0..9).map(|_| (0..12).map(|_| random.below(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0).collect();
            let verdict = judged(1.02, |at| 3.5 + 0.1 * noise[(8.0 * at) as usize]);
            drifts += u32::from(!matches!(verdict, Verdict::Settled { .. }));
        }
        assert!(drifts <= 10, "{drifts} of 100");
    }

    /// However long the run, only its last drive write counts, in windows of an eighth of it.
    #[test]
    fn what_a_long_run_did_long_ago_is_forgotten() {
        let late_rise = |at: f64| if at < 99.5 { 2.0 } else { 2.0 * (1.0 + 0.1 * (at - 99.5)) };
        assert!(matches!(judged(100.0, late_rise), Verdict::Drifts { .. }));
        let early = |at: f64| if at < 98.9 { 9.0 } else { 3.5 };
        assert!(matches!(judged(100.0, early), Verdict::Settled { amplification } if (amplification - 3.5).abs() < 1e-3));
    }

    #[test]
    fn without_collection_nothing_has_settled() {
        let mut windows = Windows::new(DRIVE);
        for host_units in 1..=2 * DRIVE {
            windows.add(Totals { host_units, flash_units: host_units, erases: 0 });
        }
        assert_eq!(windows.verdict(), Verdict::NoCollection);
    }

    #[test]
    fn a_count_begins_again_where_it_is_told_to() {
        let mut windows = Windows::new(DRIVE);
        windows.add(Totals { host_units: 5 * DRIVE, flash_units: 50 * DRIVE, erases: 9 });
        windows.restart();
        assert_eq!(windows.verdict(), Verdict::TooShort { drive_writes: 0.0 });
        assert!(!windows.wants(5 * DRIVE));
        assert!(windows.wants(5 * DRIVE + DRIVE / 1024));
    }
}
