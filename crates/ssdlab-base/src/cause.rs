//! Why a job of garbage collection takes its block. Whatever the cause, a job has the same steps, preemption points, priorities, suspension and
//! merging.
//!
//! To add a cause: a variant here with its names and sentences, and the place that finds its blocks (`gc::DueBlocks::push`, or `gc::Collector`).
//! Counters, timelines, `why` and reports follow.

macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident { trigger $trigger:literal, slice $slice:literal, why $why:literal, jobs $jobs:literal, moves $moves:literal, $which:literal })*) => {
        /// Why a job takes its block.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Cause {
            $($(#[$doc])* $name,)*
        }

        impl Cause {
            /// All causes, in order.
            pub const ALL: [Cause; Cause::COUNT] = [$(Cause::$name),*];
            /// Number of causes.
            pub const COUNT: usize = [$($trigger),*].len();
            /// By cause: the counter of its jobs, and that counter's sentence.
            pub const JOBS: [(&'static str, &'static str); Cause::COUNT] = [$(($jobs, concat!("GC jobs ", $which, "."))),*];
            /// By cause: the counter of the pages (mapping units) that its jobs moved, stale ones included, and that counter's sentence.
            pub const MOVES: [(&'static str, &'static str); Cause::COUNT] =
                [$(($moves, concat!("Pages (mapping units) moved by GC jobs ", $which, "."))),*];

            /// The name of the cause among the triggers of a job, as results show it.
            pub fn trigger(self) -> &'static str {
                [$($trigger),*][self as usize]
            }

            /// What `ssdlab why` says of such a job, behind the number of free blocks that its pool had.
            pub fn why(self) -> &'static str {
                [$($why),*][self as usize]
            }

            /// The name of a job's slice in a timeline.
            pub fn slice(self) -> &'static str {
                [$($slice),*][self as usize]
            }
        }
    };
}

causes! {
    /// The pool needs a free block.
    Space {
        trigger "space", slice "job", why "and needed one",
        jobs "space_jobs", moves "space_moves", "for a pool that needed a free block"
    }
    /// The drive is idle, and collects ahead of need.
    Idle {
        trigger "idle", slice "job", why "and the drive was idle",
        jobs "idle_jobs", moves "idle_moves", "that idle time started although their pool had T_soft free blocks or more"
    }
    /// A block in SLC mode is folded since the drive is idle.
    FoldIdle {
        trigger "fold", slice "fold", why "and a block in SLC mode was folded",
        jobs "idle_folds", moves "idle_fold_moves", "that folded a block in SLC mode since the drive was idle (`slc.idle_us`)"
    }
    /// A block in SLC mode is folded since the cache has reached its level, or writes wait for a block in SLC mode.
    FoldFull {
        trigger "fold", slice "fold", why "and a block in SLC mode was folded",
        jobs "full_folds", moves "full_fold_moves", "that folded a block in SLC mode since the cache was full (`slc.fold_level`, `slc.full`)"
    }
    /// A block in SLC mode is folded since its pool needs free blocks for other data.
    FoldSpace {
        trigger "fold", slice "fold", why "and a block in SLC mode was folded",
        jobs "space_folds", moves "space_fold_moves", "that folded a block in SLC mode since its pool needed a free block (`slc.dynamic_blocks`)"
    }
    /// A block holds no valid data, so that its erase costs no move.
    Empty {
        trigger "empty", slice "empty block", why "and a block without valid data was erased",
        jobs "empty_jobs", moves "empty_moves", "that erased a block without valid data ahead of need, in idle time or for a cache in SLC mode"
    }
    /// A block was read too often (read reclaim).
    Reclaim {
        trigger "reclaim", slice "read reclaim", why "and a block that had been read errors.reclaim_reads times",
        jobs "reclaim_jobs", moves "reclaim_moves", "that moved a block because it had been read too often (`errors.reclaim_reads`)"
    }
    /// The data of a block are too old (refresh).
    Refresh {
        trigger "refresh", slice "refresh", why "and a block with data older than errors.refresh_days",
        jobs "refresh_jobs", moves "refresh_moves", "that moved a block because its data were too old (`errors.refresh_days`)"
    }
    /// A program of a block failed.
    Retirement {
        trigger "retirement", slice "retirement", why "and a block of which a program had failed",
        jobs "retirement_jobs", moves "retirement_moves", "that moved the data of a block of which a program had failed, before it was retired (`wear`)"
    }
    /// A block has been erased less than others.
    Leveling {
        trigger "leveling", slice "leveling", why "and a block that had been erased less than others",
        jobs "leveling_jobs", moves "leveling_moves", "that moved the data of a block that had been erased less than others (`wear.leveling`)"
    }
}

impl Cause {
    /// The job gains the free block that its pool needs, or will need.
    pub fn is_for_space(self) -> bool {
        matches!(self, Cause::Space | Cause::Idle | Cause::FoldSpace)
    }

    /// The job folds a block in SLC mode.
    pub fn folds(self) -> bool {
        matches!(self, Cause::FoldIdle | Cause::FoldFull | Cause::FoldSpace)
    }

    /// The job collects the block that its victim policy chose.
    pub fn collects(self) -> bool {
        matches!(self, Cause::Space | Cause::Idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_counters_are_their_own() {
        let mut names: Vec<_> = Cause::JOBS.iter().chain(&Cause::MOVES).map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 2 * Cause::COUNT);
    }
}
