//! Heat: how warm a drive gets, and what it does about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Config;

/// Heat: a drive as one body that the energy it draws heats and its surroundings cool, and throttling by its temperature. Off with
/// `resistance_c_per_w = 0`. In an array each drive has a temperature of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Thermal {
    /// Thermal resistance from the drive to its surroundings, degrees C for each W: a drive that draws P settles P times this above
    /// `ambient_c`. 0: no temperature.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub resistance_c_per_w: f64,
    /// Time constant, s: the difference to the settled temperature falls to 1/e of it in this time. Resistance times heat capacity.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub time_constant_s: f64,
    /// Temperature of the surroundings, degrees C.
    #[schemars(range(min = -100.0, max = 200.0))]
    pub ambient_c: f64,
    /// Temperature at the start of the run, degrees C. Without it: that at which the idle drive settles.
    #[schemars(range(min = -100.0, max = 1000.0))]
    pub start_c: Option<f64>,
    /// Time between two samples of the temperature, us: throttling begins and ends at multiples of it.
    #[schemars(range(min = 1, max = 1000000000))]
    pub sample_us: u64,
    /// Temperature from which on the drive throttles lightly, degrees C (NVMe: thermal management temperature 1). 0: never.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub light_c: f64,
    /// Power cap while the drive throttles lightly, W: as `energy.cap_w`.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub light_w: f64,
    /// Temperature from which on the drive throttles heavily, degrees C (NVMe: thermal management temperature 2). 0: never.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub heavy_c: f64,
    /// Power cap while the drive throttles heavily, W: as `energy.cap_w`.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub heavy_w: f64,
    /// Critical temperature, degrees C: from it on no operation begins on a die. 0: none.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub critical_c: f64,
    /// Number of degrees C below the temperature of its beginning at which throttling, or a stop, ends.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub hysteresis_c: f64,
}

impl Default for Thermal {
    fn default() -> Self {
        Thermal {
            resistance_c_per_w: 0.0,
            time_constant_s: 100.0,
            ambient_c: 25.0,
            start_c: None,
            sample_us: 100_000,
            light_c: 0.0,
            light_w: 0.0,
            heavy_c: 0.0,
            heavy_w: 0.0,
            critical_c: 0.0,
            hysteresis_c: 5.0,
        }
    }
}

impl Thermal {
    /// Drives have a temperature.
    pub fn is_on(&self) -> bool {
        self.resistance_c_per_w > 0.0
    }

    /// The temperature limits what a drive does.
    pub fn throttles(&self) -> bool {
        self.is_on() && [self.light_c, self.heavy_c, self.critical_c].iter().any(|&limit| limit > 0.0)
    }
}

/// Checks the relations between keys of heat and energy.
pub(super) fn check(config: &Config, messages: &mut Vec<String>) {
    let (thermal, energy) = (&config.thermal, &config.energy);
    if !thermal.is_on() {
        return;
    }
    if !energy.is_on() {
        messages.push(
            "thermal.resistance_c_per_w is above 0, and the drive draws nothing that would heat it: set powers (energy.idle_mw, energy.program_mw \
             and others), or thermal.resistance_c_per_w = 0"
                .into(),
        );
    }
    let limits = [("light_c", thermal.light_c), ("heavy_c", thermal.heavy_c), ("critical_c", thermal.critical_c)];
    let set: Vec<_> = limits.into_iter().filter(|&(_, limit)| limit > 0.0).collect();
    for pair in set.windows(2).filter(|pair| pair[0].1 >= pair[1].1) {
        let [(low, below), (high, above)] = [pair[0], pair[1]];
        messages.push(format!("thermal.{low} = {below} must be below thermal.{high} = {above}; lower the one or raise the other"));
    }
    if thermal.light_c > 0.0 && thermal.heavy_c > 0.0 && thermal.heavy_w > thermal.light_w {
        messages.push(format!(
            "thermal.heavy_w = {} must be at most thermal.light_w = {}, the cap of light throttling",
            thermal.heavy_w, thermal.light_w
        ));
    }
    let most = energy.read_mw.max(energy.program_mw).max(energy.erase_mw);
    let least = (energy.idle_mw + most) / 1e3;
    for (limit, watts, cap, name) in
        [("light_c", thermal.light_w, thermal.light_c, "light_w"), ("heavy_c", thermal.heavy_w, thermal.heavy_c, "heavy_w")]
    {
        if cap > 0.0 && watts < least {
            messages.push(format!(
                "thermal.{name} = {watts}: from thermal.{limit} = {cap} on this is the power cap, and an operation on one plane draws up to {most} mW \
                 beside energy.idle_mw = {}, so that it could never begin; set thermal.{name} to {least} or more, or thermal.{limit} = 0",
                energy.idle_mw
            ));
        }
    }
    let idle_c = thermal.ambient_c + thermal.resistance_c_per_w * energy.idle_mw / 1e3;
    if thermal.critical_c > 0.0 && idle_c >= thermal.critical_c - thermal.hysteresis_c {
        messages.push(format!(
            "thermal.critical_c = {}: the idle drive settles at {idle_c:.1} degrees C, so that it would never cool to {:.1}, where a stop ends \
             (thermal.hysteresis_c = {}); lower thermal.resistance_c_per_w, thermal.ambient_c or energy.idle_mw",
            thermal.critical_c,
            thermal.critical_c - thermal.hysteresis_c,
            thermal.hysteresis_c
        ));
    }
}
