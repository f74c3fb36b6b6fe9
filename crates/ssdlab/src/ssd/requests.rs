//! Requests under way.

use crate::distribution::Wide;
use crate::request::Request;
use crate::slab::Slab;
use crate::stats::Parts;
use crate::units::{Lpn, Ns};

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub struct Active {
    /// The request.
    pub request: Request,
    /// Its serial number.
    pub index: u64,
    /// It starts where the one before ended.
    pub sequential: bool,
    /// It writes sectors of its page that do not follow each other.
    pub scattered: bool,
    /// Transactions to come or under way.
    pub pending: u32,
    /// The parts of the transaction that completed last.
    pub parts: Parts,
    /// When that was, and its page.
    pub last: (Ns, Lpn),
    /// When its pages ended.
    pub ends: Ends,
}

/// When the pages of a request ended, as much of it as is needed for their slack.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    /// Pages that have ended.
    pub pages: u32,
    /// The sum of their times since arrival, ns, and of the squares of these.
    pub sum: u128,
    /// See `sum`.
    pub squares: Wide,
    /// Chips that they were on; counted where slack is.
    pub chips: u32,
    /// A page has passed others; one was served in a pause or paused.
    pub passed: bool,
    /// See `passed`.
    pub paused: bool,
    /// It arrived in the warm-up, so that no statistic counts it.
    pub in_warm_up: bool,
}

impl Ends {
    /// A page has ended so long after the arrival.
    #[inline]
    pub fn add(&mut self, ns: Ns) {
        self.pages += 1;
        self.sum += u128::from(ns);
        self.squares.add_square(ns);
    }
}

impl Active {
    /// The logical pages it touches, first and one past the last.
    pub fn pages(&self, page_bytes: u32) -> (u32, u32) {
        let page = u64::from(page_bytes);
        ((self.request.offset / page) as u32, (self.request.offset + self.request.length).div_ceil(page) as u32)
    }

    /// The bytes of a page that it touches, first and one past the last.
    pub fn bytes_in_page(&self, lpn: Lpn, page_bytes: u32) -> (u32, u32) {
        let start = u64::from(lpn.0) * u64::from(page_bytes);
        let from = self.request.offset.saturating_sub(start);
        let to = (self.request.offset + self.request.length - start).min(u64::from(page_bytes));
        (from as u32, to as u32)
    }
}

/// The slab of requests.
pub type Requests = Slab<Active>;
