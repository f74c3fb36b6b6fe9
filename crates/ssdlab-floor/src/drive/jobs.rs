//! GC jobs: a victim's pages are moved, and it is erased.

use ssdlab_base::units::Ns;

use super::{Doing, Drive, Sharing};
use crate::blocks::{Frontier, PAGES};

impl<S: Sharing> Drive<S> {
    /// A job gets its victim. Its steps begin when the die is idle.
    pub(crate) fn begin_job(&mut self, die: u32) {
        self.dies[die as usize].victim = Some(self.blocks.take_victim(die));
        self.counts.jobs += 1;
    }

    #[inline(always)]
    pub(super) fn begin_step(&mut self, now: Ns, die: u32, victim: u32) {
        let moves = self.blocks.valid_pages(victim).count_ones().min(S::MOVES_AT_ONCE);
        let (doing, takes) =
            if moves > 0 { (Doing::Moves(moves), u64::from(moves) * self.times.page_move) } else { (Doing::Erase, self.times.erase) };
        self.dies[die as usize].doing = doing;
        self.ends(now + takes, die);
    }

    #[inline(always)]
    pub(super) fn step_ended(&mut self, die: u32, doing: Doing) {
        let victim = self.die(die).victim.expect("a step is that of a job");
        if let Doing::Moves(moves) = doing {
            return self.moved(die, victim, moves);
        }
        self.blocks.erased(die, victim);
        self.counts.erases += 1;
        self.dies[die as usize].victim = None;
        S::job_ended(self, die);
    }

    #[inline(always)]
    fn moved(&mut self, die: u32, victim: u32, mut moves: u32) {
        self.counts.pages_moved += u64::from(moves);
        while moves > 0 {
            if self.die(die).moves.room() == 0 {
                let block = self.blocks.take_free(die);
                self.dies[die as usize].moves = Frontier { block, next: 0 };
            }
            let run = moves.min(self.die(die).moves.room());
            self.moved_to_one_block(die, victim, run);
            moves -= run;
        }
    }

    /// The first valid pages of a victim have been moved to one block.
    #[inline(always)]
    fn moved_to_one_block(&mut self, die: u32, victim: u32, moves: u32) {
        let first = self.dies[die as usize].moves.take(moves);
        let valid = self.blocks.valid_pages(victim);
        let mut left = valid;
        for to in first..first + moves {
            self.map.moved(&mut self.operations, victim * PAGES + left.trailing_zeros(), to);
            left &= left - 1;
        }
        self.blocks.moved_away(victim, valid & !left);
        self.blocks.programmed(die, first / PAGES, moves);
    }
}
