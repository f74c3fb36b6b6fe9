//! The temperature of a drive: one body with a thermal resistance to its surroundings and a time constant.
//!
//! dT/dt = (T_ambient + P R - T) / tau. Over a time in which the power P is constant, T goes to T_ambient + P R exponentially, and that is
//! computed in closed form. All is in integers (10^-9 degrees C, and 2^-62 for the share that is left), so that a run has the same bits on any machine.

use crate::config::Config;
use ssdlab_base::units::Ns;

/// Number of levels: free, light, heavy, stopped.
pub const LEVELS: usize = 4;
/// The level of a drive at its critical temperature, at which no operation begins.
pub const STOPPED: usize = 3;
/// One, as a share with 62 binary places.
const ONE: u128 = 1 << 62;
/// ln 2 with 62 binary places.
const LN_2: u128 = 0x2C5C_85FD_F473_DE6A;

/// Properties of the body, in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThermalRates {
    /// Temperature of the surroundings, 10^-9 degrees C.
    pub ambient: i64,
    /// Temperature at the start, 10^-9 degrees C.
    pub start: i64,
    /// Thermal resistance, 10^-3 degrees C for each W.
    pub resistance: u64,
    /// Time constant, ns.
    pub tau_ns: Ns,
    /// Time between two samples of the temperature, ns.
    pub sample_ns: Ns,
    /// Temperatures at which the levels 1 to 3 begin, 10^-9 degrees C; `i64::MAX`: never.
    pub limits: [i64; LEVELS - 1],
    /// Distance below its limit at which a level ends, 10^-9 degrees C.
    pub hysteresis: i64,
}

impl ThermalRates {
    /// The rates of a checked configuration; `None` without a temperature.
    pub fn new(config: &Config) -> Option<Self> {
        let thermal = &config.thermal;
        let nano = |degrees: f64| (degrees * 1e9).round() as i64;
        let limit = |degrees: f64| if degrees > 0.0 { nano(degrees) } else { i64::MAX };
        thermal.is_on().then(|| {
            let rates = ThermalRates {
                ambient: nano(thermal.ambient_c),
                start: 0,
                resistance: ((thermal.resistance_c_per_w * 1e3).round() as u64).max(1),
                tau_ns: (thermal.time_constant_s * 1e9).round() as Ns,
                sample_ns: thermal.sample_us * 1000,
                limits: [thermal.light_c, thermal.heavy_c, thermal.critical_c].map(limit),
                hysteresis: nano(thermal.hysteresis_c),
            };
            let idle_uw = (config.energy.idle_mw * 1e3).round() as u128;
            ThermalRates { start: thermal.start_c.map_or_else(|| rates.settled(idle_uw, 1), nano), ..rates }
        })
    }

    /// The temperature at which the body settles that takes `fj` in each `ns`, 10^-9 degrees C.
    pub fn settled(&self, fj: u128, ns: Ns) -> i64 {
        let rise = fj * u128::from(self.resistance) / u128::from(ns.max(1));
        self.ambient.saturating_add(i64::try_from(rise).unwrap_or(i64::MAX / 2))
    }

    /// The temperature `ns` after it was `from`, on the way to `settled`, 10^-9 degrees C.
    fn after(&self, from: i64, settled: i64, ns: Ns) -> i64 {
        let distance = i128::from(from) - i128::from(settled);
        let left = distance * decay(ns, self.tau_ns) as i128;
        (i128::from(settled) + ((left + (ONE / 2) as i128) >> 62)) as i64
    }

    /// The level at a sample that finds this temperature, after `level`.
    fn level(&self, level: usize, temperature: i64) -> usize {
        let reached = (1..LEVELS).rev().find(|&level| temperature >= self.limits[level - 1]).unwrap_or(0);
        let kept = (1..=level).rev().find(|&level| temperature >= self.limits[level - 1].saturating_sub(self.hysteresis)).unwrap_or(0);
        reached.max(kept)
    }
}

/// e^(-ns/tau) with 62 binary places.
fn decay(ns: Ns, tau_ns: Ns) -> u128 {
    let exponent = (u128::from(ns) << 62) / u128::from(tau_ns.max(1));
    let (halvings, rest) = (exponent / LN_2, exponent % LN_2);
    if halvings >= 63 {
        return 0;
    }
    // The series of e^-x for x below ln 2: the 25th term is below 2^-62.
    let (mut term, mut sum) = (ONE as i128, ONE as i128);
    for n in 1..=24 {
        term = -((term * rest as i128) >> 62) / n;
        sum += term;
    }
    sum as u128 >> halvings
}

/// What became of the temperature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThermalStats {
    /// Number of drives.
    pub drives: u64,
    /// The temperature summed over time and drives, 10^-9 degrees C times ns.
    pub sum: i128,
    /// The highest temperature, 10^-9 degrees C.
    pub highest: i64,
    /// The present temperature, summed over drives, 10^-9 degrees C.
    pub present: i128,
    /// By level: time in it, summed over drives, ns.
    pub level_ns: [u128; LEVELS],
    /// By level: how often it was entered from a lower one.
    pub entered: [u64; LEVELS],
}

impl ThermalStats {
    /// The statistics of both drives.
    #[must_use]
    pub fn joined(self, other: ThermalStats) -> Self {
        ThermalStats {
            drives: self.drives + other.drives,
            sum: self.sum + other.sum,
            highest: self.highest.max(other.highest),
            present: self.present + other.present,
            level_ns: std::array::from_fn(|level| self.level_ns[level] + other.level_ns[level]),
            entered: std::array::from_fn(|level| self.entered[level] + other.entered[level]),
        }
    }

    /// The statistics since `before`, after which the highest temperature was looked for again.
    #[must_use]
    pub fn since(self, before: &ThermalStats) -> Self {
        ThermalStats {
            sum: self.sum - before.sum,
            level_ns: std::array::from_fn(|level| self.level_ns[level] - before.level_ns[level]),
            entered: std::array::from_fn(|level| self.entered[level] - before.entered[level]),
            ..self
        }
    }
}

/// The body, its temperature and its level until now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    rates: ThermalRates,
    /// Until when `temperature` is known.
    at: Ns,
    temperature: i64,
    level: usize,
    stats: ThermalStats,
}

impl Body {
    /// The body at time 0.
    pub fn new(rates: ThermalRates) -> Self {
        let stats = ThermalStats {
            drives: 1,
            sum: 0,
            highest: rates.start,
            present: rates.start.into(),
            level_ns: [0; LEVELS],
            entered: [0; LEVELS],
        };
        let mut body = Body { rates, at: 0, temperature: rates.start, level: 0, stats };
        body.enter(rates.level(0, rates.start));
        body
    }

    /// The time until which the temperature is known, ns.
    pub fn at(&self) -> Ns {
        self.at
    }

    /// The temperature at that time, 10^-9 degrees C.
    pub fn temperature(&self) -> i64 {
        self.temperature
    }

    /// The level at that time: 0 free, 1 light, 2 heavy, 3 stopped.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The next sample of the temperature after `now`, ns.
    pub fn next_look(&self, now: Ns) -> Ns {
        (now / self.rates.sample_ns + 1) * self.rates.sample_ns
    }

    /// What became of the temperature until then.
    pub fn stats(&self) -> ThermalStats {
        ThermalStats { present: self.temperature.into(), ..self.stats }
    }

    /// The highest temperature is looked for from now on, when it is `present`.
    pub fn look_for_highest(&mut self, present: i64) {
        self.stats.highest = present;
    }

    /// Goes on to `until`; the drive has drawn `fj` since the time until which the temperature is known, evenly.
    pub fn advance(&mut self, until: Ns, fj: u128) {
        if until <= self.at {
            return;
        }
        let settled = self.rates.settled(fj, until - self.at);
        while self.at < until {
            let change = self.next_change(until, settled);
            self.pass(change.unwrap_or(until), settled);
            if change.is_some() {
                self.enter(self.rates.level(self.level, self.temperature));
            }
        }
    }

    fn temperature_at(&self, at: Ns, settled: i64) -> i64 {
        self.rates.after(self.temperature, settled, at - self.at)
    }

    /// The first sample until `until` that finds another level. Between two samples the temperature only rises or only falls: once a sample has found the
    /// level as it is, the first that does not can be searched by halves.
    fn next_change(&self, until: Ns, settled: i64) -> Option<Ns> {
        let sample = self.rates.sample_ns;
        let (mut kept, mut changed) = (self.at / sample + 1, until / sample);
        let changes = |look: Ns| self.rates.level(self.level, self.temperature_at(look * sample, settled)) != self.level;
        if changed < kept {
            return None;
        }
        if changes(kept) {
            return Some(kept * sample);
        }
        if !changes(changed) {
            return None;
        }
        while changed - kept > 1 {
            let middle = kept + (changed - kept) / 2;
            if changes(middle) { changed = middle } else { kept = middle }
        }
        Some(changed * sample)
    }

    fn pass(&mut self, until: Ns, settled: i64) {
        let (before, ns) = (self.temperature, until - self.at);
        self.temperature = self.temperature_at(until, settled);
        self.at = until;
        let fallen = i128::from(before) - i128::from(self.temperature);
        self.stats.sum += i128::from(settled) * i128::from(ns) + fallen * i128::from(self.rates.tau_ns);
        self.stats.highest = self.stats.highest.max(self.temperature);
        self.stats.level_ns[self.level] += u128::from(ns);
    }

    fn enter(&mut self, level: usize) {
        self.stats.entered[level] += u64::from(level > self.level);
        self.level = level;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEGREE: i64 = 1_000_000_000;

    /// 10 degrees for each W, 100 s, 25 degrees around: 4 W settle at 65, and 10 W at 125.
    fn rates() -> ThermalRates {
        let mut config = Config::default();
        config.energy.idle_mw = 4_000.0;
        config.thermal.resistance_c_per_w = 10.0;
        (config.thermal.light_c, config.thermal.heavy_c, config.thermal.critical_c) = (80.0, 90.0, 100.0);
        ThermalRates::new(&config).expect("it is on")
    }

    #[test]
    fn the_share_that_is_left_is_that_of_the_exponential() {
        for (ns, tau) in [(0, 1), (1, 1_000_000_000_000), (7, 10), (100, 100), (1_000, 7), (1 << 62, 1 << 40), (44, 1)] {
            let exact = (-(ns as f64) / tau as f64).exp();
            assert!((decay(ns, tau) as f64 / ONE as f64 - exact).abs() < 1e-15, "{ns} of {tau}");
        }
    }

    #[test]
    fn the_start_is_where_the_idle_drive_settles() {
        assert_eq!(rates().start, 65 * DEGREE);
    }

    /// From 65 to 125 degrees in one step, and in a thousand: T = 125 - 60 e^(-t/tau). 80 degrees are reached after 100 s ln(60/45) = 28.768 s,
    /// seen at 28.8 s; 90 after 53.8997 s, seen at 53.9 s (samples every 0.1 s); 100 after 87.547 s, seen at 87.6 s.
    #[test]
    fn levels_begin_at_the_look_after_their_limit() {
        let (watts, second) = (10_000_000_u128, 1_000_000_000_u64);
        let mut jump = Body::new(rates());
        jump.advance(200 * second, watts * u128::from(200 * second));
        let mut steps = Body::new(rates());
        for step in 1..=2_000 {
            steps.advance(step * second / 10, watts * u128::from(second / 10));
        }
        for body in [jump, steps] {
            let exact = 125.0 - 60.0 * (-2.0_f64).exp();
            assert!((body.temperature() as f64 / 1e9 - exact).abs() < 1e-5, "{body:?}");
            assert_eq!(body.stats().level_ns, [28_800_000_000, 25_100_000_000, 33_700_000_000, 112_400_000_000]);
            assert_eq!(body.stats().entered, [0, 1, 1, 1]);
            let mean = 125.0 - 60.0 * (1.0 - (-2.0_f64).exp()) / 2.0;
            assert!((body.stats().sum as f64 / 2e11 / 1e9 - mean).abs() < 1e-5);
        }
        // Back to 65 degrees: a level ends 5 degrees below its limit.
        let hot = jump.temperature() as f64 / 1e9 - 65.0;
        jump.advance(2_000 * second, 4_000_000 * u128::from(1_800 * second));
        let stopped = 112.4 + (100.0 * (hot / 30.0).ln() * 10.0).ceil() / 10.0;
        assert_eq!(jump.stats().level_ns[STOPPED], (stopped * 1e9).round() as u128);
        assert_eq!((jump.level(), jump.stats().entered), (0, [0, 1, 1, 1]));
    }
}
