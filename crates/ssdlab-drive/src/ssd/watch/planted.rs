//! Defects planted on purpose: tests plant one and show that the random drives find it.

use crate::ssd::Ssd;
use ssdlab_base::units::PoolId;

/// A defect that can be planted. Ordinary host operations check for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// A suspended move that goes on takes its copy for current, although the page was written meanwhile.
    KeepsStaleCopies,
    /// State S2 is never entered.
    ForgetsHardThreshold,
    /// A job that has ended leaves its exclusion behind.
    KeepsExclusion,
    /// The first unit of a program of several is counted as valid twice.
    CountsUnitTwice,
    /// Credit that GC earns for paced writes counts twice.
    CountsCreditTwice,
    /// A write of the host goes to the stream behind that of its class.
    WritesToAnotherStream,
    /// Page moves forget the handle of their data.
    ForgetsHandles,
    /// An erased block of a superblock comes free before the others.
    FreesMembersApart,
    /// A closed superblock does not count a unit as invalid that has become so.
    ForgetsOneInvalid,
    /// A read takes one retry step too few.
    ForgetsRetryStep,
    /// A read begins with the last good retry step of another block.
    MixesRetrySteps,
    /// Operations on blocks in SLC mode take the times of other blocks.
    ForgetsSlcMode,
    /// The youngest block in SLC mode is folded first.
    FoldsYoungest,
    /// A block that was retired is on the free list.
    UsesRetiredBlock,
    /// A write whose program has failed is not programmed again.
    ForgetsFailedWrite,
    /// A drive that is read-only gives up accepted data that wait, though they have a place.
    LosesAccepted,
    /// An erase as needed takes the time of whole pulses.
    ErasesInWholePulses,
    /// Pools want as many free blocks outside the window of their drive as inside.
    IgnoresWindow,
    /// Jobs for space begin without the turn of their pool.
    IgnoresTurn,
    /// A drive that is too warm goes on as before.
    IgnoresHeat,
    /// A drive enters power states whatever is under way in it.
    SleepsAtWork,
}

impl Ssd {
    /// Plants a defect.
    #[doc(hidden)]
    pub fn plant(&mut self, defect: Planted) {
        self.probes.plant(defect);
        self.rules.never_bursts();
        if defect == Planted::ForgetsHardThreshold {
            self.gc.forget_hard_threshold();
        }
        if defect == Planted::ForgetsHandles {
            self.ftl.placer_mut().forget_handles();
        }
        match defect {
            Planted::ForgetsSlcMode => self.ftl.forget_mode(),
            Planted::FoldsYoungest => self.ftl.fold_youngest(),
            _ => {}
        }
        if let Some(cells) = self.flash.cells_mut().filter(|_| defect == Planted::MixesRetrySteps) {
            cells.mix_blocks();
        }
        if let Some(pace) = self.pace.as_mut().filter(|_| defect == Planted::CountsCreditTwice) {
            pace.count_twice();
        }
    }
}

/// Plants a defect: the suspended move of a pool takes its page to be at the place where it was written meanwhile.
pub(in crate::ssd) fn plant_stale_copy(ssd: &mut Ssd, pool: PoolId) {
    let moved = ssd.gc.moving(pool).filter(|moved| moved.to.is_some());
    if let Some(from) = moved.and_then(|moved| ssd.ftl.lookup(moved.lpn)) {
        ssd.gc.jobs.moving_mut(pool).from = from;
    }
}
