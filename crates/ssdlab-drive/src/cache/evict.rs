//! Evictions: which unit a policy gives up, and what becomes of its pages.

use super::policy::{self, Choice, Order, Policy};
use super::{Cache, CacheEntry, Evicted, EvictionCandidate, Targets};
use crate::lists::NONE;
use ssdlab_keys::config::Padding;

impl Cache {
    /// Evicts one unit of a full cache. Returns false and evicts nothing if all targets are in GC and `for_write` is false.
    pub(super) fn make_room(&mut self, targets: &impl Targets, for_write: bool) -> bool {
        let choice = self.choose(targets, for_write).expect("a full cache has units");
        let unit = match choice {
            Choice::First(unit) => unit,
            Choice::Skipped(unit) => {
                self.counters.gc_skips += 1;
                unit
            }
            Choice::AllInGc(unit) if for_write => {
                self.counters.gc_fallbacks += 1;
                unit
            }
            Choice::AllInGc(_) => {
                self.counters.gc_bypasses += 1;
                return false;
            }
        };
        self.take_unit(unit);
        self.evict_unit(targets);
        true
    }

    /// Evicts ahead of need, after the insertion of the page of `inserted`. [`Cache::take_evicted`] gives the evicted pages.
    #[inline]
    pub fn evict_ahead(&mut self, inserted: u32, targets: &impl Targets) {
        while self.cached_pages() > self.evicts_above {
            let choice = self.choose(targets, false);
            let unit = match choice {
                Some(Choice::First(unit) | Choice::Skipped(unit)) => unit,
                Some(Choice::AllInGc(_)) | None => return,
            };
            self.take_unit(unit);
            if self.unit.contains(&inserted) {
                return;
            }
            self.counters.gc_skips += u64::from(matches!(choice, Some(Choice::Skipped(_))));
            self.evict_unit(targets);
        }
    }

    /// The unit to evict, by the configured or the user-defined policy. The latter is not called if all targets are in GC and `for_write`
    /// is false, as nothing is evicted then.
    #[inline]
    fn choose(&mut self, targets: &impl Targets, for_write: bool) -> Option<Choice> {
        if matches!(self.policy, Policy::Custom(_)) {
            return self.choose_by_custom_policy(targets, for_write);
        }
        policy::choose(&self.policy, self.classes, targets, self.soon)
    }

    fn choose_by_custom_policy(&mut self, targets: &impl Targets, for_write: bool) -> Option<Choice> {
        let Policy::Custom(custom) = &self.policy else { return None };
        let aware = self.classes > 1;
        let candidate = |(entry, age): (u32, u64)| {
            let CacheEntry { page, class, dirty, .. } = self.entries[entry as usize];
            let known = if aware { Some(class).filter(|&class| class < targets.targets()) } else { targets.target_of(page) };
            let in_gc = known.is_some_and(|target| targets.in_gc(target, self.soon));
            (entry, EvictionCandidate { page, dirty, age, home: known, in_gc })
        };
        let all: Vec<_> = custom.by_age().map(candidate).collect();
        let first = all.first()?.0;
        let all_in_gc = aware && all.iter().all(|(_, candidate)| candidate.in_gc);
        if all_in_gc && !for_write {
            return Some(Choice::AllInGc(first));
        }
        let (entries, candidates): (Vec<_>, Vec<_>) =
            all.iter().filter(|(_, candidate)| !aware || all_in_gc || !candidate.in_gc).copied().unzip();
        let Policy::Custom(custom) = &mut self.policy else { return None };
        let named = custom.pick(&candidates);
        self.counters.policy_fallbacks += u64::from(named.is_none());
        let unit = entries[named.unwrap_or(0)];
        Some(if all_in_gc {
            Choice::AllInGc(unit)
        } else if candidates.len() < all.len() {
            Choice::Skipped(unit)
        } else {
            Choice::First(unit)
        })
    }

    /// Lists the entries of a unit by page.
    fn take_unit(&mut self, unit: u32) {
        self.unit.clear();
        match self.policy.grouping() {
            None => self.unit.push(unit),
            Some(groups) => {
                self.unit.extend(groups.entries(unit));
                self.unit.sort_unstable_by_key(|&entry| self.entries[entry as usize].page);
            }
        }
    }

    fn evict_unit(&mut self, targets: &impl Targets) {
        let unit = std::mem::take(&mut self.unit);
        if self.spreads_groups {
            let mut known = unit.iter().filter_map(|&entry| targets.target_of(self.entries[entry as usize].page));
            let first = known.next();
            self.counters.spread_groups += u64::from(known.any(|target| Some(target) != first));
        }
        let padding = self.padding_of(&unit);
        let class = self.entries[unit[0] as usize].class;
        if self.policy.grouping().is_some() {
            self.policy.remove_group(&unit, class);
        } else {
            self.policy.remove(unit[0], class);
        }
        for &entry in &unit {
            let CacheEntry { page, dirty, .. } = self.entries[entry as usize];
            let dirty = dirty.then(|| self.held.extent(entry));
            self.counters.evictions += 1;
            self.counters.destages += u64::from(dirty.is_some());
            self.evicted.push(Evicted::Page { entry, page, dirty });
            self.release(entry);
        }
        self.evicted.extend(padding);
        self.unit = unit;
    }

    /// The pages that pad the group of these entries, by page (BPLRU).
    fn padding_of(&self, unit: &[u32]) -> Vec<Evicted> {
        let Policy::Bplru(order) = &self.policy else { return Vec::new() };
        let groups = order.groups();
        let slot = groups.slot(unit[0]);
        let wanted = match self.padding {
            Padding::Off => false,
            Padding::Always => true,
            Padding::Share => unit.len() as f64 >= self.padding_share * f64::from(groups.size(slot)),
        };
        if !wanted || !unit.iter().any(|&entry| self.entries[entry as usize].dirty) {
            return Vec::new();
        }
        let clean = groups.pages(slot).filter_map(|page| {
            let entry = self.entry_of(page);
            let cached = (entry != NONE).then(|| self.entries[entry as usize]);
            (!cached.is_some_and(|cached| cached.dirty))
                .then(|| Evicted::Padding { page, at_hand: cached.is_some() && self.holds_all(entry) })
        });
        clean.collect()
    }
}
