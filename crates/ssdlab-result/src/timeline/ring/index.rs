//! An index of what a ring holds, for explanations: each asks thousands of times which stages, waits and jobs belong to an operation or a
//! die, and none of these may pass over the whole ring.
//!
//! The index is made at its first use, by one pass over the ring, and shared by all requests that are explained at that moment. A
//! drive that only records pays nothing for it.

use std::cell::OnceCell;
use std::ops::{Deref, Range};

use super::{Hold, PageEnd, RecentJob, Ring, Stage, Wait};
use crate::timeline::Track;
use ssdlab_base::units::{Ns, SlabId};

/// Places in a ring, grouped by a key, in the order of the ring within a group.
#[derive(Debug)]
struct Groups {
    /// Place in `places` of the first of each group, then their number.
    firsts: Vec<u32>,
    places: Vec<u32>,
}

impl Groups {
    /// Groups entries by the number of their group, which is below `count`. An entry of `None` is in no group.
    fn new(count: usize, groups: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let mut firsts = vec![0; count + 1];
        groups.clone().flatten().for_each(|group| firsts[group + 1] += 1);
        for group in 0..count {
            firsts[group + 1] += firsts[group];
        }
        let mut next = firsts.clone();
        let mut places = vec![0; firsts[count] as usize];
        for (place, group) in (0..).zip(groups) {
            let Some(group) = group else { continue };
            places[next[group] as usize] = place;
            next[group] += 1;
        }
        Groups { firsts, places }
    }

    /// Groups entries by a hash of their key, for keys of any size: of a group's entries some may have other keys.
    fn by_hash(entries: usize, keys: impl Iterator<Item = Option<u64>> + Clone) -> Self {
        let count = entries.next_power_of_two();
        Groups::new(count, keys.map(|key| key.map(|key| hash(key, count))))
    }

    fn range(&self, group: usize) -> Range<usize> {
        self.firsts[group] as usize..self.firsts[group + 1] as usize
    }

    fn of(&self, group: usize) -> &[u32] {
        &self.places[self.range(group)]
    }

    fn of_key(&self, key: u64) -> &[u32] {
        self.of(hash(key, self.firsts.len() - 1))
    }
}

/// The stages of each track by their start.
#[derive(Debug)]
struct Tracks {
    groups: Groups,
    /// End of the stage at each of the places of `groups`, ns: a search passes over these alone.
    ends: Vec<Ns>,
}

/// Spreads keys over `count` groups, a power of two, by Fibonacci hashing.
fn hash(key: u64, count: usize) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (count - 1)
}

/// A ring with an index.
#[derive(Debug)]
pub struct Index<'a> {
    ring: &'a Ring,
    /// Stages that have not ended, which follow those of the ring.
    open: Vec<Stage>,
    by_track: OnceCell<Tracks>,
    by_operation: OnceCell<Groups>,
    by_end: OnceCell<Groups>,
    waits: OnceCell<Groups>,
    holds: OnceCell<Groups>,
    jobs: OnceCell<Groups>,
    jobs_by_number: OnceCell<Groups>,
}

impl Deref for Index<'_> {
    type Target = Ring;

    fn deref(&self) -> &Ring {
        self.ring
    }
}

impl<'a> Index<'a> {
    /// An index of what the ring holds now.
    pub fn new(ring: &'a Ring) -> Self {
        Index {
            ring,
            open: ring.open.iter().flatten().copied().collect(),
            by_track: OnceCell::new(),
            by_operation: OnceCell::new(),
            by_end: OnceCell::new(),
            waits: OnceCell::new(),
            holds: OnceCell::new(),
            jobs: OnceCell::new(),
            jobs_by_number: OnceCell::new(),
        }
    }

    /// All stages in the order of the ring, those that have not ended last.
    pub(super) fn stages(&self) -> impl Iterator<Item = &Stage> + Clone {
        self.ring.stages.kept.iter().chain(&self.open)
    }

    fn stage(&self, place: u32) -> &Stage {
        let kept = &self.ring.stages.kept;
        kept.get(place as usize).unwrap_or_else(|| &self.open[place as usize - kept.len()])
    }

    /// The stages of an operation, in the order of the ring, those that have not ended last.
    pub fn stages_of(&self, operation: u64) -> impl DoubleEndedIterator<Item = &Stage> {
        let count = self.ring.stages.kept.len() + self.open.len();
        let groups = self.by_operation.get_or_init(|| Groups::by_hash(count, self.stages().map(|stage| Some(stage.operation))));
        groups.of_key(operation).iter().map(|&place| self.stage(place)).filter(move |stage| stage.operation == operation)
    }

    /// The stage of an operation that began at this time on a track, if it has ended.
    pub fn stage_at(&self, operation: u64, track: Track, start: Ns) -> Option<&Stage> {
        self.stages_of(operation).rev().find(|stage| (stage.track, stage.start) == (track, start) && stage.end != Ns::MAX)
    }

    /// The stages of slots that ended at an instant, in the order of the ring.
    pub fn slots_ended_at(&self, at: Ns) -> impl Iterator<Item = &Stage> {
        let key = |stage: &Stage| matches!(stage.track, Track::Slot(_)).then_some(stage.end);
        let kept = &self.ring.stages.kept;
        let groups = self.by_end.get_or_init(|| Groups::by_hash(kept.len(), kept.iter().map(key)));
        groups.of_key(at).iter().map(|&place| self.stage(place)).filter(move |stage| stage.end == at)
    }

    /// The stages of a track that overlap an interval, by their start, each with its place in the ring.
    pub fn stages_on(&self, track: Track, from: Ns, to: Ns) -> impl Iterator<Item = (u32, &Stage)> {
        let Tracks { groups, ends } = self.by_track.get_or_init(|| self.group_by_track());
        let all = self.ring.place(track).map_or(0..0, |group| groups.range(group));
        // Stages of one track do not overlap.
        let first = all.start + ends[all.clone()].partition_point(|&end| end <= from);
        groups.places[first..all.end].iter().map(|&place| (place, self.stage(place))).take_while(move |(_, stage)| stage.start < to)
    }

    /// Operations that are one event are in the ring before stages of others that begin earlier on the same bus.
    fn group_by_track(&self) -> Tracks {
        let mut groups = Groups::new(self.ring.open.len(), self.stages().map(|stage| self.ring.place(stage.track)));
        for group in 0..self.ring.open.len() {
            let range = groups.range(group);
            groups.places[range].sort_by_key(|&place| self.stage(place).start);
        }
        let ends = groups.places.iter().map(|&place| self.stage(place).end).collect();
        Tracks { groups, ends }
    }

    /// The waits of a page operation for its die, in order.
    pub fn waits_of(&self, end: &PageEnd) -> impl Iterator<Item = &Wait> {
        let kept = &self.ring.waits.kept;
        let key = |wait: &Wait| Some(u64::from(wait.transaction.number()));
        let groups = self.waits.get_or_init(|| Groups::by_hash(kept.len(), kept.iter().map(key)));
        let PageEnd { transaction, arrival, ended, .. } = *end;
        let is_own = move |wait: &&Wait| wait.transaction == transaction && wait.from >= arrival && wait.to <= ended;
        groups.of_key(transaction.number().into()).iter().map(|&place| &kept[place as usize]).filter(is_own)
    }

    /// What held a domain between two times, in order.
    pub fn holds_between(&self, domain: u32, from: Ns, to: Ns) -> impl Iterator<Item = &Hold> {
        let kept = &self.ring.holds.kept;
        let groups = self.holds.get_or_init(|| Groups::new(self.ring.excluded.len(), kept.iter().map(|hold| Some(hold.domain as usize))));
        let places = groups.of(domain as usize);
        let first = places.partition_point(|&place| kept[place as usize].to <= from);
        let before = places[first..].iter().map(|&place| &kept[place as usize]).take_while(move |hold| hold.from < to);
        let now = self.ring.now_held.iter().filter(move |hold| hold.domain == domain && hold.from < to && hold.to > from);
        before.chain(now)
    }

    fn job_at(&self, place: u32) -> &RecentJob {
        &self.ring.jobs.kept[place as usize]
    }

    /// The jobs of these pools that overlap an interval.
    pub fn jobs_between(&self, pools: &Range<u32>, from: Ns, to: Ns) -> impl Iterator<Item = &RecentJob> {
        let count = self.ring.running.len();
        let of_pools = || self.ring.jobs.kept.iter().map(|job| Some(job.pool.index()));
        let groups = self.jobs.get_or_init(|| Groups::new(count, of_pools()));
        let pools = pools.start as usize..(pools.end as usize).min(count);
        pools.flat_map(move |pool| {
            let places = groups.of(pool);
            let first = places.partition_point(|&place| self.job_at(place).ended <= from);
            let ended = places[first..].iter().map(|&place| self.job_at(place));
            ended.chain(&self.ring.running[pool]).filter(move |job| job.started < to && job.ended > from)
        })
    }

    /// A job that has ended or runs, by its number.
    pub fn job(&self, number: u64) -> Option<&RecentJob> {
        let kept = &self.ring.jobs.kept;
        let groups = self.jobs_by_number.get_or_init(|| Groups::by_hash(kept.len(), kept.iter().map(|job| Some(job.number))));
        let ended = groups.of_key(number).iter().map(|&place| self.job_at(place));
        ended.chain(self.ring.running.iter().flatten()).find(|job| job.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::ring::{RecentOperation, Trigger};
    use crate::timeline::{NOBODY, NOWHERE, Origin};
    use ssdlab_base::blocked::{Blocked, DriveTimes};
    use ssdlab_base::rng::Rng;
    use ssdlab_base::units::{DieId, Lpn, PoolId, TxnId};
    use ssdlab_keys::config::Config;
    use ssdlab_keys::geometry::Geometry;

    const POOLS: u64 = 3;
    const DOMAINS: u64 = 3;
    const END: Ns = 12_000;

    /// A ring that has turned, of stages on random tracks, some of which are known before they end, with waits, holds and jobs.
    fn random_ring(rng: &mut Rng) -> Ring {
        let mut ring = Ring::new(&Geometry::new(&Config::default()), (false, true), 0);
        let (mut busy, mut held, mut started) = ([0; 6], [0; DOMAINS as usize], [None; POOLS as usize]);
        for now in 1..END {
            let slot = rng.below(4) as u32;
            ring.begins(slot, RecentOperation { host: true, job: NOBODY, block: NOWHERE, page: None, pages: 0 });
            let track = match rng.below(8) {
                0 => Track::Suspended(slot / 2),
                _ => Track::Slot(slot),
            };
            let place = ring.place(track).map_or(0, |place| place % 6);
            if now >= busy[place] {
                if rng.below(3) == 0 {
                    ring.end(now, track);
                    busy[place] = now + 1 + rng.below(20);
                    ring.known((now, busy[place]), track, "whole", slot);
                } else {
                    ring.begin(now, track, "stage", slot);
                }
            }
            let (domain, pool) = (rng.below(DOMAINS) as usize, rng.below(POOLS) as usize);
            ring.held(domain as u32, Some(Blocked::Scope), (held[domain], now), None);
            held[domain] = now;
            let transaction = TxnId::new(rng.below(50) as u32);
            ring.waited(Wait { transaction, domain: 0, from: now - 1, to: now });
            if started[pool].replace(now).is_some() {
                ring.job_ends(now, PoolId(pool as u32));
            }
            let (number, pool, trigger) = (now, PoolId(pool as u32), Trigger::Soft);
            ring.job_starts(RecentJob { number, pool, victim: 0, valid: 0, trigger, free: 0, started: now, ended: Ns::MAX });
        }
        ring.holds_now(END, [(1, Blocked::Bus, END - 1)].into_iter());
        ring
    }

    fn overlaps(stage: &Stage, (from, to): (Ns, Ns)) -> bool {
        stage.start < to && stage.end > from
    }

    #[test]
    fn an_index_finds_what_a_pass_over_the_ring_finds() {
        let mut rng = Rng::new(1, "index");
        let ring = random_ring(&mut rng);
        assert!(ring.stages.left > 0 && ring.open.iter().flatten().count() > 0);
        let index = Index::new(&ring);
        let all: Vec<Stage> = index.stages().copied().collect();
        let all_jobs = || ring.jobs.kept.iter().chain(ring.running.iter().flatten());
        let mut found = 0;
        for _ in 0..2_000 {
            let from = rng.below(END + 100);
            let (to, domain, number) = (from + rng.below(60), rng.below(DOMAINS) as u32, rng.below(END + 100));
            let track = all[rng.below(all.len() as u64) as usize].track;
            let mut on: Vec<(Ns, u32)> = index.stages_on(track, from, to).map(|(place, stage)| (stage.start, place)).collect();
            let is_on = |(_, stage): &(u32, &Stage)| stage.track == track && overlaps(stage, (from, to));
            let mut expected: Vec<(Ns, u32)> = (0..).zip(&all).filter(is_on).map(|(place, stage)| (stage.start, place)).collect();
            on.sort_unstable();
            expected.sort_unstable();
            assert_eq!(on, expected, "{track:?} {from} {to}");
            let of: Vec<&Stage> = index.stages_of(number).collect();
            assert_eq!(of, all.iter().filter(|stage| stage.operation == number).collect::<Vec<_>>());
            let ended: Vec<&Stage> = index.slots_ended_at(from).collect();
            let ends = |stage: &&Stage| stage.end == from && matches!(stage.track, Track::Slot(_));
            assert_eq!(ended, all.iter().filter(ends).collect::<Vec<_>>());
            let holds = |hold: &&Hold| hold.domain == domain && hold.from < to && hold.to > from;
            let expected: Vec<Ns> = ring.holds.kept.iter().chain(&ring.now_held).filter(holds).map(|hold| hold.to).collect();
            assert_eq!(index.holds_between(domain, from, to).map(|hold| hold.to).collect::<Vec<_>>(), expected);
            let pools = domain..domain + 2;
            let within = |job: &&RecentJob| pools.contains(&job.pool.0) && job.started < to && job.ended > from;
            let mut expected: Vec<u64> = all_jobs().filter(within).map(|job| job.number).collect();
            let mut jobs: Vec<u64> = index.jobs_between(&pools, from, to).map(|job| job.number).collect();
            expected.sort_unstable();
            jobs.sort_unstable();
            assert_eq!(jobs, expected);
            let job = all_jobs().find(|job| job.number == number).map(|job| job.started);
            assert_eq!(index.job(number).map(|job| job.started), job);
            found += on.len() + of.len() + ended.len() + jobs.len() + usize::from(job.is_some());
        }
        assert!(found > 3_000, "{found} found");
    }

    #[test]
    fn waits_are_those_of_the_page_operation_in_its_time() {
        let ring = random_ring(&mut Rng::new(2, "index"));
        let index = Index::new(&ring);
        let mut found = 0;
        for number in 0..60 {
            let (origin, times) = (Origin::host(7), DriveTimes::default());
            let (transaction, arrival, ended) = (TxnId::new(number), END - 1_000, END - 500);
            let end = PageEnd { origin, transaction, lpn: Lpn(0), die: DieId(0), write: true, arrival, ended, times };
            let is_own = |wait: &&Wait| wait.transaction == transaction && wait.from >= arrival && wait.to <= ended;
            let expected: Vec<Ns> = ring.waits.kept.iter().filter(is_own).map(|wait| wait.to).collect();
            assert_eq!(index.waits_of(&end).map(|wait| wait.to).collect::<Vec<_>>(), expected);
            found += expected.len();
        }
        assert!(found > 300, "{found} found");
    }
}
