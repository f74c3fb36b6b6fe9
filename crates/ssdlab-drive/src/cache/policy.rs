//! The interface of the policies, and GC awareness as one rule over any of them.
//!
//! A policy keeps its units (pages, or groups of pages) in classes, one per target. For each class it gives the unit to evict first, and
//! its rank among the units of other classes. wu2017 walks along a list to find the first unit whose target is not in GC (Algorithms 1 and
//! 2); here one look at each class finds it. Without GC awareness there is one class.

use super::bplru::Bplru;
use super::cflru::Cflru;
use super::custom::CustomOrder;
use super::fab::Fab;
use super::grouping::Grouping;
use super::lru::Lru;
use super::targets::{Groups, Targets};
use ssdlab_keys::config::{Cache as Config, CachePolicy, whole_part};

/// The rank of a unit in the order of eviction: the least is evicted first. No two units have the same rank.
pub type Rank = (u64, u64);

/// How a page is used.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The page is written, and destaged later.
    pub writes: bool,
    /// The whole page is written.
    pub whole_page: bool,
    /// The page is dirty after the use.
    pub dirty: bool,
}

/// An order of eviction. A page can change its class when it is used.
pub trait Order {
    /// A page is inserted as an entry of a class.
    fn insert(&mut self, entry: u32, page: u32, class: u32, used: Use);
    /// A cached page is used; its class changes from the first of `classes` to the second.
    fn touch(&mut self, entry: u32, page: u32, classes: (u32, u32), used: Use);
    /// A page leaves the cache.
    fn remove(&mut self, entry: u32, class: u32);
    /// A dirty page has become clean.
    fn cleaned(&mut self, _entry: u32, _class: u32) {}
    /// The unit of a class to evict first, with its rank; `None` if the class has no units.
    fn first(&self, class: u32) -> Option<(Rank, u32)>;
    /// The class and the unit to evict first among the classes below `classes` that `eligible` accepts. It is called only with a class
    /// whose first unit goes before those of all eligible classes before it.
    #[inline]
    fn first_of(&self, classes: u32, eligible: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        let mut best: Option<(Rank, u32, u32)> = None;
        for class in 0..classes {
            if let Some((rank, unit)) = self.first(class)
                && best.is_none_or(|(least, ..)| rank < least)
                && eligible(class)
            {
                best = Some((rank, class, unit));
            }
        }
        best.map(|(_, class, unit)| (class, unit))
    }
    /// The groups, if the units of the policy are groups; else `None`.
    fn grouping(&self) -> Option<&Grouping> {
        None
    }
    /// All entries of a group leave the cache.
    fn remove_group(&mut self, entries: &[u32], class: u32) {
        entries.iter().for_each(|&entry| self.remove(entry, class));
    }
}

/// The eviction policy of a cache.
#[derive(Debug)]
pub enum Policy {
    /// Least recently used ([`Lru`]).
    Lru(Lru),
    /// Clean-first LRU ([`Cflru`]).
    Cflru(Cflru),
    /// Block padding LRU ([`Bplru`]).
    Bplru(Bplru),
    /// Flash-aware buffer ([`Fab`]).
    Fab(Fab),
    /// A user-defined policy.
    Custom(CustomOrder),
}

/// Calls the same method of the policy in use.
macro_rules! each {
    ($policy:expr, $order:ident => $call:expr) => {
        match $policy {
            Policy::Lru($order) => $call,
            Policy::Cflru($order) => $call,
            Policy::Bplru($order) => $call,
            Policy::Fab($order) => $call,
            Policy::Custom($order) => $call,
        }
    };
}

impl Policy {
    /// The configured policy, for a cache of `capacity` pages in `classes` classes over a store of `pages` pages.
    pub fn new(config: &Config, capacity: u32, classes: u32, groups: Groups, pages: u32) -> Self {
        let entries = capacity.min(pages);
        match config.policy {
            CachePolicy::None | CachePolicy::Lru => Policy::Lru(Lru::new(entries, classes)),
            CachePolicy::Cflru => Policy::Cflru(Cflru::new(entries, classes, whole_part(config.clean_window, capacity))),
            CachePolicy::Bplru => Policy::Bplru(Bplru::new(Grouping::new(groups, pages, entries), entries, classes, config.compensation)),
            CachePolicy::Fab => Policy::Fab(Fab::new(Grouping::new(groups, pages, entries), entries, classes, groups.pages)),
        }
    }
}

impl Order for Policy {
    #[inline]
    fn insert(&mut self, entry: u32, page: u32, class: u32, used: Use) {
        each!(self, order => order.insert(entry, page, class, used));
    }

    #[inline]
    fn touch(&mut self, entry: u32, page: u32, classes: (u32, u32), used: Use) {
        each!(self, order => order.touch(entry, page, classes, used));
    }

    #[inline]
    fn remove(&mut self, entry: u32, class: u32) {
        each!(self, order => order.remove(entry, class));
    }

    #[inline]
    fn cleaned(&mut self, entry: u32, class: u32) {
        each!(self, order => order.cleaned(entry, class));
    }

    #[inline]
    fn first(&self, class: u32) -> Option<(Rank, u32)> {
        each!(self, order => order.first(class))
    }

    #[inline]
    fn first_of(&self, classes: u32, eligible: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        each!(self, order => order.first_of(classes, eligible))
    }

    #[inline]
    fn grouping(&self) -> Option<&Grouping> {
        each!(self, order => order.grouping())
    }

    fn remove_group(&mut self, entries: &[u32], class: u32) {
        each!(self, order => order.remove_group(entries, class));
    }
}

/// The unit that is chosen to be evicted: by the order of eviction, or by a user-defined policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first unit in the order of eviction.
    First(u32),
    /// The first unit whose target is not in GC; units before it were skipped.
    Skipped(u32),
    /// The first unit in the order of eviction, since all targets with units are in GC.
    AllInGc(u32),
}

/// Chooses among the classes: one per target, and the last for pages without a known target. `None`: the cache is empty.
#[inline]
pub fn choose(order: &impl Order, classes: u32, targets: &impl Targets, soon: u32) -> Option<Choice> {
    let in_gc = |class: u32| class < targets.targets() && targets.in_gc(class, soon);
    let (class, unit) = order.first_of(classes, |_| true)?;
    if classes == 1 || !in_gc(class) {
        return Some(Choice::First(unit));
    }
    let other = order.first_of(classes, |class| !in_gc(class));
    Some(other.map_or(Choice::AllInGc(unit), |(_, unit)| Choice::Skipped(unit)))
}
