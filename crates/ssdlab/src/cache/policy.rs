//! The policies behind one narrow interface, and awareness of collection as one rule over any of them.
//!
//! A policy keeps its units (pages, or groups of them) in classes, one for each home, and says of each class which unit would go first and
//! how it ranks among those of other classes. So the first unit whose home is not in GC, for which wu2017 walks along its list (Algorithms 1
//! and 2), is found by asking each class once. Without awareness there is one class.

use super::bplru::Bplru;
use super::cflru::Cflru;
use super::custom::Asked;
use super::fab::Fab;
use super::grouping::Grouping;
use super::homes::{Groups, Homes};
use super::lru::Lru;
use crate::config::{Cache as Config, CachePolicy, whole_part};

/// Where a unit stands in the order of eviction: the least goes first. No two units rank the same.
pub type Rank = (u64, u64);

/// How a page is used.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// It is written, and kept to be written below later.
    pub writes: bool,
    /// All of it is.
    pub whole_page: bool,
    /// It is dirty now.
    pub dirty: bool,
}

/// An order of eviction. A class is a number; a page can change its class when it is used.
pub trait Order {
    /// A page becomes kept as an entry of a class.
    fn keep(&mut self, entry: u32, page: u32, class: u32, used: Use);
    /// A kept page is used; its class changes from the one to the other.
    fn touch(&mut self, entry: u32, page: u32, classes: (u32, u32), used: Use);
    /// A page is no longer kept.
    fn forget(&mut self, entry: u32, class: u32);
    /// A dirty page has become clean.
    fn cleaned(&mut self, _entry: u32, _class: u32) {}
    /// The unit of a class that would go first.
    fn first(&self, class: u32) -> Option<(Rank, u32)>;
    /// The groups, if these are its units and not pages.
    fn grouping(&self) -> Option<&Grouping> {
        None
    }
    /// All entries of a unit that is a group are no longer kept.
    fn forget_group(&mut self, entries: &[u32], class: u32) {
        entries.iter().for_each(|&entry| self.forget(entry, class));
    }
}

/// The policies.
#[derive(Debug)]
pub enum Policy {
    /// See [`Lru`].
    Lru(Lru),
    /// See [`Cflru`].
    Cflru(Cflru),
    /// See [`Bplru`].
    Bplru(Bplru),
    /// See [`Fab`].
    Fab(Fab),
    /// One of the user's own.
    Asked(Asked),
}

/// Calls the same of whichever policy it is.
macro_rules! each {
    ($policy:expr, $order:ident => $call:expr) => {
        match $policy {
            Policy::Lru($order) => $call,
            Policy::Cflru($order) => $call,
            Policy::Bplru($order) => $call,
            Policy::Fab($order) => $call,
            Policy::Asked($order) => $call,
        }
    };
}

impl Policy {
    /// As configured, for a cache of so many pages in so many classes over a store of so many pages.
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
    fn keep(&mut self, entry: u32, page: u32, class: u32, used: Use) {
        each!(self, order => order.keep(entry, page, class, used));
    }

    #[inline]
    fn touch(&mut self, entry: u32, page: u32, classes: (u32, u32), used: Use) {
        each!(self, order => order.touch(entry, page, classes, used));
    }

    #[inline]
    fn forget(&mut self, entry: u32, class: u32) {
        each!(self, order => order.forget(entry, class));
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
    fn grouping(&self) -> Option<&Grouping> {
        each!(self, order => order.grouping())
    }

    fn forget_group(&mut self, entries: &[u32], class: u32) {
        each!(self, order => order.forget_group(entries, class));
    }
}

/// The unit that is evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one that the order names.
    First(u32),
    /// The first whose home is not in GC; others were passed over.
    Skipped(u32),
    /// All homes with units are in GC; this is the one that the order names.
    AllInGc(u32),
}

/// Chooses among so many classes: homes, and behind them what has no home. `None`: nothing is kept.
#[inline]
pub fn choose(order: &impl Order, classes: u32, homes: &impl Homes, soon: u32) -> Option<Choice> {
    let in_gc = |class: u32| class < homes.homes() && homes.in_gc(class, soon);
    let firsts = || (0..classes).filter_map(|class| order.first(class).map(|(rank, unit)| (rank, class, unit)));
    let (_, class, unit) = firsts().min()?;
    if classes == 1 || !in_gc(class) {
        return Some(Choice::First(unit));
    }
    let other = firsts().filter(|&(_, class, _)| !in_gc(class)).min();
    Some(other.map_or(Choice::AllInGc(unit), |(_, _, unit)| Choice::Skipped(unit)))
}
