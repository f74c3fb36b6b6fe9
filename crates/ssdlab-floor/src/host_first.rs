//! Host operations go first, between the page moves of a job as well, each of which is an event. A job's successor follows at once.

use crate::drive::{Drive, Sharing};

/// Free blocks that only page moves may take.
const RESERVE: u32 = 1;

/// State of a die: none.
#[derive(Default)]
pub(crate) struct HostFirst;

impl Sharing for HostFirst {
    const MOVES_AT_ONCE: u32 = 1;

    #[inline(always)]
    fn host_begins(drive: &Drive<Self>, die: u32) -> Option<u32> {
        let room = drive.die(die).host.room() > 0 || drive.free(die) > RESERVE;
        drive.waiting(die).find(|&number| room || drive.operation(number).reads)
    }

    #[inline(always)]
    fn job_waits(&self) -> bool {
        false
    }

    #[inline(always)]
    fn job_ended(drive: &mut Drive<Self>, die: u32) {
        if drive.is_short(die) {
            drive.begin_job(die);
        }
    }

    #[inline(always)]
    fn job_may_begin(_: &mut Drive<Self>, _: u32) -> bool {
        false
    }
}
