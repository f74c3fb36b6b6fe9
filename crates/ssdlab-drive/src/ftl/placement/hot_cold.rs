//! Placement by recency: pages that are written often apart from the others.

use super::{Class, LastWrites};
use serde::{Deserialize, Serialize};
use ssdlab_base::units::Lpn;
use ssdlab_keys::config::Config;

/// A page is hot while its last write is recent. Hot and cold pages have streams of their own, of host writes and of page moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HotCold {
    last: LastWrites,
    /// A page is hot if its last write was fewer written pages ago.
    hot_below: u32,
}

/// The classes, of host writes and of page moves alike.
const HOT: Class = 0;
const COLD: Class = 1;

impl HotCold {
    pub(super) fn new(config: &Config, pages: u32) -> Self {
        HotCold { last: LastWrites::new(pages), hot_below: (f64::from(pages) * config.ftl.hot_within) as u32 }
    }

    #[inline]
    pub(super) fn host_class(&self, lpn: Lpn, is_new: bool) -> Class {
        let age = self.last.age(lpn);
        if !is_new && age < self.hot_below { HOT } else { COLD }
    }

    pub(super) fn filled(&mut self, pages: u32) {
        self.last.filled(pages);
    }

    #[inline]
    pub(super) fn written(&mut self, lpn: Lpn) {
        self.last.written(lpn);
    }

    #[inline]
    pub(super) fn move_class(&self, lpn: Lpn) -> Class {
        if self.last.age(lpn) < self.hot_below { HOT } else { COLD }
    }

    pub(super) fn parts(&self) -> Vec<Vec<u32>> {
        vec![vec![self.last.now], self.last.at.clone()]
    }

    pub(super) fn restore(&mut self, parts: &[Vec<u32>]) -> Result<(), String> {
        self.last = LastWrites { now: parts[0][0], at: parts[1].clone() };
        Ok(())
    }
}
