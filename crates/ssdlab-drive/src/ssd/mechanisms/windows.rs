//! Windows in which a drive of an array collects, so that its drives do not collect at once (`array.window_us`; Li et al. 2021). Outside its
//! window a drive wants fewer free blocks: only pools that are below a lower threshold begin jobs. Jobs go on to their end.

use crate::event::Event;
use crate::rules::BurstRule;
use crate::ssd::{Planted, Ssd};
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{Ns, PoolId};
use ssdlab_keys::config::Config;
use ssdlab_keys::turns::Turns;

/// Bursts: a window begins or ends at a time of its own.
pub(in crate::ssd) const BURSTS: BurstRule =
    BurstRule { keys: &["array.window_us", "array.window_tail_us", "array.window_forced"], exact: |config| config.array.window_us == 0 };

/// The windows of a drive.
#[derive(Debug)]
pub(in crate::ssd) struct Windows {
    turns: Turns,
    /// Number of the drive in its array.
    drive: u32,
    /// Free blocks below which pools want to collect outside the window.
    forced: u32,
    /// Jobs may begin.
    open: bool,
}

impl Windows {
    /// The windows of the drive with this number; `None` if it may always collect.
    pub(in crate::ssd) fn new(config: &Config, drive: u32, pool_blocks: u32) -> Option<Box<Self>> {
        let forced = config.array.window_forced_blocks(config.gc.soft_blocks(pool_blocks)) + config.uncounted_blocks();
        Turns::new(&config.array).map(|turns| Box::new(Windows { turns, drive, forced, open: false }))
    }
}

/// Call when the run begins, and when a window begins or ends: from now on pools want as many free blocks as they do inside or outside it.
pub(in crate::ssd) fn change(ssd: &mut Ssd, now: Ns) {
    let Some(windows) = &mut ssd.windows else { return };
    windows.open = windows.turns.may_begin(windows.drive, now);
    let (open, forced, next) = (windows.open, windows.forced, windows.turns.next_change(windows.drive, now));
    let wanted = if open || ssd.probes.has(Planted::IgnoresWindow) { ssd.ftl.soft_blocks() } else { forced };
    ssd.ftl.want_free(wanted);
    ssd.events.push(next, 0, Event::Window);
    if open {
        ssd.pools().for_each(|pool| ssd.trigger_gc(now, pool));
    }
}

/// Call when a job begins: counts one for space outside the window.
pub(in crate::ssd) fn job_begun(ssd: &mut Ssd, pool: PoolId) {
    let outside = ssd.windows.as_ref().is_some_and(|windows| !windows.open);
    if outside && ssd.gc.job(pool).is_some_and(|job| job.cause() == Cause::Space) {
        ssd.probes.count().outside_window += 1;
    }
}
