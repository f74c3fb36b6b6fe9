//! The temperature of the drive (`thermal`): what it draws heats it, and a drive that is too warm is throttled or stops.
//!
//! Samples of the temperature are events, at multiples of `thermal.sample_us`: a sample takes what the drive has drawn since the last as even. A
//! drive that has drawn nothing beside its idle power since then, and has nothing in service, sleeps: there are no samples until something begins, and the time
//! that has passed is one step in closed form. Throttling begins and ends at samples, also at those that were left out.

use crate::event::Event;
use crate::rules::BurstRule;
use crate::ssd::mechanisms::power;
use crate::ssd::{Planted, Ssd};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::Config;
use ssdlab_keys::energy::{Drawn, EnergyParts};
use ssdlab_keys::thermal::{Body, ThermalRates, ThermalStats};

/// Bursts: a sample of the temperature counts the energy of each move.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["thermal."], exact: |config| !config.thermal.is_on() };

/// The temperature of the drive.
#[derive(Clone, Debug)]
pub(in crate::ssd) struct Heat {
    body: Body,
    /// What the drive has drawn until the body's time, fJ.
    counted_fj: u128,
    /// What it has drawn until then beside its idle power and that in power states, fJ.
    worked_fj: u128,
    /// Commands of the host, and the bytes that they read or write.
    commands: u64,
    link_bytes: u64,
    /// A sample is due.
    awake: bool,
}

impl Heat {
    /// The temperature of a drive at the start of a run; `None` without one.
    pub(in crate::ssd) fn new(config: &Config) -> Option<Box<Heat>> {
        let body = Body::new(ThermalRates::new(config)?);
        Some(Box::new(Heat { body, counted_fj: 0, worked_fj: 0, commands: 0, link_bytes: 0, awake: false }))
    }

    /// The level of the temperature: 0 free, 1 light, 2 heavy, 3 stopped.
    pub(in crate::ssd) fn level(&self) -> usize {
        self.body.level()
    }

    /// Goes on to `now`. Returns true if the drive has drawn more than its power at rest since.
    fn advance(&mut self, ssd: &Ssd, now: Ns) -> bool {
        let parts = self.drawn(ssd, now);
        let (total, at_rest) = (parts.total(), parts.idle + parts.states);
        let before = (self.counted_fj, self.worked_fj);
        (self.counted_fj, self.worked_fj) = (total, total - at_rest);
        self.body.advance(now, total - before.0);
        self.worked_fj > before.1
    }

    /// What the drive has drawn until `now`.
    fn drawn(&self, ssd: &Ssd, now: Ns) -> EnergyParts {
        let drawn = Drawn { commands: self.commands, link_bytes: self.link_bytes, ..ssd.drawn(now) };
        ssd.rules.energy.map_or(EnergyParts::default(), |rates| rates.parts(&drawn))
    }
}

/// Call when the run begins: the drive may be too warm from the start.
pub(in crate::ssd) fn begin(ssd: &mut Ssd) {
    if let Some(level) = ssd.heat.as_ref().map(|heat| heat.level()) {
        limit(ssd, level);
    }
}

fn limit(ssd: &mut Ssd, level: usize) {
    if !ssd.probes.has(Planted::IgnoresHeat) {
        power::limit(ssd, level);
    }
}

/// A sample is due: goes on to `now`. Returns true if the drive has drawn more than its idle power since the last.
fn go_on(ssd: &mut Ssd, now: Ns) -> bool {
    let Some(mut heat) = ssd.heat.take() else { return false };
    let before = heat.level();
    let works = heat.advance(ssd, now);
    let level = heat.level();
    ssd.heat = Some(heat);
    if level != before {
        limit(ssd, level);
    }
    works
}

/// Handles a sample that is due: the next follows unless the drive may sleep.
pub(in crate::ssd) fn look(ssd: &mut Ssd, now: Ns) {
    let works = go_on(ssd, now);
    if let Some(heat) = &mut ssd.heat {
        heat.awake = false;
    }
    if works {
        wake(ssd, now);
    }
    begun(ssd, now);
}

/// Call before operations begin: a drive that has slept has cooled meanwhile.
#[inline(always)]
pub(in crate::ssd) fn catch_up(ssd: &mut Ssd, now: Ns) {
    if ssd.heat.as_ref().is_some_and(|heat| !heat.awake) {
        go_on(ssd, now);
    }
}

/// Call when the drive at rest begins to draw another power: the temperature until now follows from the power before.
pub(in crate::ssd) fn power_changes(ssd: &mut Ssd, now: Ns) {
    if ssd.heat.is_some() {
        go_on(ssd, now);
    }
}

/// Call when nothing more begins at this instant: samples follow while operations are in service or wait for power.
#[inline(always)]
pub(in crate::ssd) fn begun(ssd: &mut Ssd, now: Ns) {
    if ssd.heat.as_ref().is_some_and(|heat| !heat.awake) {
        wake_if_at_work(ssd, now);
    }
}

fn wake_if_at_work(ssd: &mut Ssd, now: Ns) {
    if ssd.flash.drawing().next().is_some() || ssd.power.as_ref().is_some_and(|power| power.has_line()) {
        wake(ssd, now);
    }
}

fn wake(ssd: &mut Ssd, now: Ns) {
    let Some(heat) = &mut ssd.heat else { return };
    if !std::mem::replace(&mut heat.awake, true) {
        ssd.events.push(heat.body.next_look(now), 0, Event::Heat);
    }
}

impl Ssd {
    /// The drive has a temperature (`thermal`).
    pub fn has_temperature(&self) -> bool {
        self.heat.is_some()
    }

    /// The host has sent a command to the drive: `commands` and `link_bytes` are all so far.
    pub fn commands_came(&mut self, now: Ns, commands: u64, link_bytes: u64) {
        catch_up(self, now);
        let Some(heat) = &mut self.heat else { return };
        (heat.commands, heat.link_bytes) = (commands, link_bytes);
        wake(self, now);
    }

    /// The temperature at the last sample, whole degrees C (0 below that), and the level since: 0 free, 1 light, 2 heavy, 3 stopped. `None` without
    /// a temperature.
    pub fn last_look(&self) -> Option<(u64, usize)> {
        self.heat.as_ref().map(|heat| (heat.body.temperature().max(0) as u64 / 1_000_000_000, heat.level()))
    }

    /// What became of the temperature until `now`; `None` without one.
    pub fn thermal_stats(&self, now: Ns) -> Option<ThermalStats> {
        self.heat_at(now).map(|heat| heat.body.stats())
    }

    /// The level at `now`; `None` without a temperature. For tests.
    #[doc(hidden)]
    pub fn thermal_level(&self, now: Ns) -> Option<usize> {
        self.heat_at(now).map(|heat| heat.level())
    }

    /// The temperature at `now`, as it is shown: the state of the drive stays as it is.
    fn heat_at(&self, now: Ns) -> Option<Heat> {
        let mut heat = Heat::clone(self.heat.as_ref()?);
        heat.advance(self, now);
        Some(heat)
    }

    /// The highest temperature is looked for from `now` on.
    pub fn forget_highest_temperature(&mut self, now: Ns) {
        let present = self.heat_at(now).map(|heat| heat.body.temperature());
        if let (Some(heat), Some(present)) = (&mut self.heat, present) {
            heat.body.look_for_highest(present);
        }
    }
}

/// Checks that the times at all levels are the time that has passed, and that a drive at work samples its temperature.
pub(in crate::ssd) fn check(ssd: &Ssd) -> Result<(), String> {
    let Some(heat) = &ssd.heat else { return Ok(()) };
    let (stats, at) = (heat.body.stats(), heat.body.at());
    if stats.level_ns.iter().sum::<u128>() != u128::from(at) {
        return Err(format!("the times at the levels of the temperature are {:?}, and it is known until {at} ns", stats.level_ns));
    }
    if !heat.awake && ssd.flash.drawing().next().is_some() {
        return Err("operations are in service, and no look at the temperature is due".into());
    }
    Ok(())
}
