//! The pages that a write to a stripe with parity reads and writes, column by column.
//!
//! A column is the pages at one offset of the stripe's units. The method that reads fewer pages is taken. Read-modify-write
//! reads the old content of the pages written and the old parity. Reconstruct-write reads the pages that are not written in full.

use std::ops::Range;

use super::layout::Layout;

/// A write to one stripe: a range of the stripe's data.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// The stripe written.
    pub stripe: u32,
    /// First byte of the stripe's data, and one past the last.
    pub from: u64,
    /// End of the bytes that begin at `from`.
    pub to: u64,
    /// The update writes sectors of its only page that are not consecutive.
    pub scattered: bool,
}

/// The extent to which a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Nothing of the page is written.
    Not,
    /// A part of the page is written.
    Partly,
    /// The whole page is written.
    Wholly,
}

/// How the parity of a column is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// All data of the column are written: nothing is read.
    Full,
    /// Read-modify-write: from the old parity, and the old and new content of the pages written.
    Modify,
    /// Reconstruct-write: from all data; pages that are not written in full are read.
    Reconstruct,
    /// Reconstruct-write if a page on the failed drive is written in part: all other pages are read, and their sum is its old content.
    Recover,
}

impl Update {
    /// The units of data that the update writes: first and last.
    pub fn units(&self, layout: &Layout) -> (u32, u32) {
        ((self.from / layout.unit_bytes()) as u32, ((self.to - 1) / layout.unit_bytes()) as u32)
    }

    /// The columns in which the update writes a page: one range or two, ascending.
    pub fn columns(&self, layout: &Layout) -> [Range<u32>; 2] {
        let (first, last) = self.units(layout);
        let column = |byte: u64| (byte % layout.unit_bytes() / u64::from(layout.page_bytes)) as u32;
        let (begin, end) = (column(self.from), column(self.to - 1) + 1);
        if first == last {
            [begin..end, end..end]
        } else if last - first > 1 || end >= begin {
            [0..layout.unit_pages, 0..0]
        } else {
            [0..end, begin..layout.unit_pages]
        }
    }

    /// How much of a page the update writes; `unit`: the unit of data in the stripe.
    #[inline]
    pub fn written(&self, layout: &Layout, unit: u32, column: u32) -> Written {
        let page = u64::from(layout.page_bytes);
        let start = u64::from(unit) * layout.unit_bytes() + u64::from(column) * page;
        if self.to <= start || self.from >= start + page {
            Written::Not
        } else if self.from <= start && start + page <= self.to && !self.scattered {
            Written::Wholly
        } else {
            Written::Partly
        }
    }

    /// The method for the parity of a column: the method that reads fewer pages; read-modify-write if both read as many. With a failed
    /// drive, the method that does not read that drive.
    pub fn method(&self, layout: &Layout, column: u32) -> Method {
        let (first, last) = self.units(layout);
        let (mut pages, mut whole) = (0, 0);
        for unit in first..=last {
            let written = self.written(layout, unit, column);
            pages += u32::from(written != Written::Not);
            whole += u32::from(written == Written::Wholly);
        }
        if whole == layout.data_units() {
            return Method::Full;
        }
        match layout.failed_unit(self.stripe).map(|unit| self.written(layout, unit, column)) {
            Some(Written::Not) => Method::Modify,
            Some(Written::Partly) => Method::Recover,
            Some(Written::Wholly) => Method::Reconstruct,
            None if pages < layout.data_units() - whole => Method::Modify,
            None => Method::Reconstruct,
        }
    }

    /// The update reads the page of `unit` in `column`. The unit of parity is numbered after those of data. Not called for the failed
    /// drive.
    #[inline]
    pub fn reads(&self, layout: &Layout, method: Method, unit: u32, column: u32) -> bool {
        let parity = unit == layout.data_units();
        match method {
            Method::Full => false,
            Method::Modify => parity || self.written(layout, unit, column) != Written::Not,
            Method::Reconstruct => !parity && self.written(layout, unit, column) != Written::Wholly,
            Method::Recover => true,
        }
    }

    /// The update writes the page of `unit` in `column`; parity is always written.
    #[inline]
    pub fn writes(&self, layout: &Layout, unit: u32, column: u32) -> bool {
        unit == layout.data_units() || self.written(layout, unit, column) != Written::Not
    }

    /// The pages of the array in which the update writes something.
    pub fn pages(&self, layout: &Layout) -> Range<u32> {
        let (start, page) = (u64::from(self.stripe) * layout.stripe_bytes(), u64::from(layout.page_bytes));
        ((start + self.from) / page) as u32..(start + self.to).div_ceil(page) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 4096;

    /// Five drives, one of them perhaps failed; units of four pages.
    fn layout(failed: Option<u32>) -> Layout {
        Layout { drives: 5, parity: true, failed, replaced: false, rebuilt: 0, stripes: 10, unit_pages: 4, page_bytes: 4096 }
    }

    fn update(from: u64, to: u64) -> Update {
        Update { stripe: 0, from, to, scattered: false }
    }

    fn pages(from: u64, to: u64) -> Update {
        update(from * PAGE, to * PAGE)
    }

    fn columns(update: &Update) -> Vec<u32> {
        update.columns(&layout(None)).into_iter().flatten().collect()
    }

    #[test]
    fn columns_are_those_of_the_pages_written() {
        assert_eq!(columns(&pages(1, 3)), [1, 2]);
        assert_eq!(columns(&update(PAGE + 1, 2 * PAGE + 1)), [1, 2]);
        // The last page of one unit and the first of the next.
        assert_eq!(columns(&pages(3, 5)), [0, 3]);
        assert_eq!(columns(&pages(3, 6)), [0, 1, 3]);
        assert_eq!(columns(&pages(3, 7)), [0, 1, 2, 3]);
        assert_eq!(columns(&pages(3, 9)), [0, 1, 2, 3]);
        assert_eq!(columns(&pages(0, 16)), [0, 1, 2, 3]);
    }

    /// The method for column 0 when the first `whole` of its four data pages are written: the update writes `whole` - 1 units and one
    /// page.
    fn method_of(whole: u64, failed: Option<u32>) -> Method {
        update(0, (4 * (whole - 1) + 1) * PAGE).method(&layout(failed), 0)
    }

    #[test]
    fn whichever_reads_less_is_chosen() {
        // One page: 1 + 1 reads against 3. Two: 2 + 1 against 2. Three: 3 + 1 against 1. Four: none.
        assert_eq!(
            [1, 2, 3, 4].map(|whole| method_of(whole, None)),
            [Method::Modify, Method::Reconstruct, Method::Reconstruct, Method::Full]
        );
        // A page and half of the next: 2 + 1 against the 3 that are not written in full: a tie.
        let part = update(0, 4 * PAGE + 512);
        assert_eq!(part.method(&layout(None), 0), Method::Modify);
        assert_eq!(part.written(&layout(None), 1, 0), Written::Partly);
        // Columns decide for themselves.
        assert_eq!([0, 1].map(|column| pages(0, 9).method(&layout(None), column)), [Method::Reconstruct, Method::Reconstruct]);
        assert_eq!([0, 1].map(|column| pages(0, 5).method(&layout(None), column)), [Method::Reconstruct, Method::Modify]);
    }

    #[test]
    fn sectors_that_do_not_follow_each_other_are_a_page_written_in_part() {
        let scattered = Update { scattered: true, ..pages(0, 1) };
        assert_eq!(scattered.written(&layout(None), 0, 0), Written::Partly);
        assert_eq!(scattered.method(&layout(Some(0)), 0), Method::Recover);
    }

    #[test]
    fn with_a_failed_drive_nothing_of_it_is_needed() {
        // Stripe 0: drives 0 to 3 hold its data. Two whole pages would be a reconstruct-write.
        assert_eq!(method_of(2, Some(3)), Method::Modify);
        assert_eq!(method_of(1, Some(0)), Method::Reconstruct);
        assert_eq!(method_of(4, Some(0)), Method::Full);
        assert_eq!(update(0, 512).method(&layout(Some(0)), 0), Method::Recover);
    }

    #[test]
    fn what_is_read_and_written() {
        let of = |update: Update, f: &dyn Fn(&Update, u32) -> bool| (0..5).filter(|&unit| f(&update, unit)).collect::<Vec<_>>();
        let layout = layout(None);
        let reads = |method| move |update: &Update, unit| update.reads(&layout, method, unit, 0);
        // Unit 0 whole, half a page of unit 1; unit 4 is parity.
        let part = update(0, 4 * PAGE + 512);
        assert_eq!(of(part, &reads(Method::Modify)), [0, 1, 4]);
        assert_eq!(of(part, &reads(Method::Reconstruct)), [1, 2, 3]);
        assert_eq!(of(part, &reads(Method::Recover)), [0, 1, 2, 3, 4]);
        assert!(of(part, &reads(Method::Full)).is_empty());
        assert_eq!(of(part, &|update, unit| update.writes(&layout, unit, 0)), [0, 1, 4]);
    }
}
