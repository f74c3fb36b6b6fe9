//! A job has its die to itself: its page moves are one event. The next job waits for the operations that arrived before the end of the last.

use crate::drive::{Drive, Sharing};

/// State of a die.
#[derive(Default)]
pub(crate) struct Exclusive {
    /// A job begins when all older operations have begun; 0: none waits.
    after: u64,
}

impl Sharing for Exclusive {
    const MOVES_AT_ONCE: u32 = u32::MAX;

    #[inline(always)]
    fn host_begins(drive: &Drive<Self>, die: u32) -> Option<u32> {
        drive.waiting(die).next().filter(|_| drive.die(die).victim.is_none())
    }

    #[inline(always)]
    fn job_waits(&self) -> bool {
        self.after > 0
    }

    #[inline(always)]
    fn job_ended(drive: &mut Drive<Self>, die: u32) {
        if drive.is_short(die) {
            drive.die_mut(die).sharing.after = drive.serial() + 1;
        }
    }

    #[inline(always)]
    fn job_may_begin(drive: &mut Drive<Self>, die: u32) -> bool {
        let after = drive.die(die).sharing.after;
        if after == 0 || drive.waiting(die).next().is_some_and(|oldest| drive.operation(oldest).age < after) {
            return false;
        }
        drive.die_mut(die).sharing.after = 0;
        true
    }
}
