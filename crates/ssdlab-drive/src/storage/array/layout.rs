//! Where data and parity lie on the drives of an array.
//!
//! A stripe is one unit per drive, at the same offset of each drive: units of data and, with parity, one unit of parity.

use ssdlab_keys::config::{self, ArrayLevel};

/// The layout of an array: units of data and, with parity, one unit of parity in each stripe, rotating (left-symmetric).
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Number of drives, a failed one included.
    pub drives: u32,
    /// Each stripe has a unit of parity.
    pub parity: bool,
    /// The failed drive, if one has failed.
    pub failed: Option<u32>,
    /// A new drive is in the place of the failed one.
    pub replaced: bool,
    /// Number of stripes, from the first on, whose unit the new drive has.
    pub rebuilt: u32,
    /// Number of stripes.
    pub stripes: u32,
    /// Number of pages in a unit.
    pub unit_pages: u32,
    /// User bytes of a page.
    pub page_bytes: u32,
}

impl Layout {
    /// The layout of an array of drives with `drive_pages` pages each.
    pub fn new(array: &config::Array, page_bytes: u32, drive_pages: u32) -> Self {
        let unit_pages = (array.unit_bytes() / u64::from(page_bytes)) as u32;
        Layout {
            drives: array.drives,
            parity: array.level == ArrayLevel::Rais5,
            failed: array.degraded,
            replaced: array.rebuild_stripes > 0,
            rebuilt: 0,
            stripes: drive_pages / unit_pages,
            unit_pages,
            page_bytes,
        }
    }

    /// Number of units of data in a stripe.
    #[inline(always)]
    pub fn data_units(&self) -> u32 {
        self.drives - u32::from(self.parity)
    }

    /// Size of a unit, bytes.
    #[inline(always)]
    pub fn unit_bytes(&self) -> u64 {
        u64::from(self.unit_pages) * u64::from(self.page_bytes)
    }

    /// Size of the data in a stripe, parity excluded, bytes.
    #[inline(always)]
    pub fn stripe_bytes(&self) -> u64 {
        self.unit_bytes() * u64::from(self.data_units())
    }

    /// Number of pages of data in the array.
    pub fn exported_pages(&self) -> u32 {
        self.stripes * self.data_units() * self.unit_pages
    }

    /// The drive that holds the parity of a stripe; `None` without parity.
    #[inline]
    pub fn parity_drive(&self, stripe: u32) -> Option<u32> {
        self.parity.then(|| self.drives - 1 - stripe % self.drives)
    }

    /// The drive of a unit of data, numbered over the whole array: `unit` mod N, the number of drives. With left-symmetric parity, too: the
    /// first unit of a stripe is on the drive after its parity, which moves one drive to the left with each stripe of N - 1 units.
    #[inline]
    pub fn drive_of(&self, unit: u32) -> u32 {
        unit % self.drives
    }

    /// The drive of a unit of a stripe. The unit of parity is numbered after those of data.
    #[inline]
    pub fn drive_in_stripe(&self, stripe: u32, unit: u32) -> u32 {
        match self.parity_drive(stripe) {
            Some(parity) if unit == self.data_units() => parity,
            _ => self.drive_of(stripe * self.data_units() + unit),
        }
    }

    /// The drives that a write of a page of the array programs, and their pages: its own and, with parity, that of parity, unless it has failed.
    pub fn written_with(&self, page: u32) -> impl Iterator<Item = (u32, u32)> + use<> {
        let unit = page / self.unit_pages;
        let stripe = unit / self.data_units();
        let on_drive = stripe * self.unit_pages + page % self.unit_pages;
        let (drives, failed) = ([Some(self.drive_of(unit)), self.parity_drive(stripe)], self.failed_in(stripe));
        drives.into_iter().flatten().filter(move |&drive| Some(drive) != failed).map(move |drive| (drive, on_drive))
    }

    /// The unit of a stripe that a drive holds. The unit of parity is numbered after those of data.
    pub fn unit_on(&self, stripe: u32, drive: u32) -> u32 {
        match self.parity_drive(stripe) {
            None => drive,
            Some(parity) => (drive + self.drives - parity - 1) % self.drives,
        }
    }

    /// The drive whose unit of this stripe is lost: the failed one, until the unit is on the new drive.
    #[inline]
    pub fn failed_in(&self, stripe: u32) -> Option<u32> {
        self.failed.filter(|_| stripe >= self.rebuilt)
    }

    /// The parity of this stripe is lost.
    #[inline]
    pub fn parity_failed(&self, stripe: u32) -> bool {
        self.failed_in(stripe).is_some_and(|failed| self.parity_drive(stripe) == Some(failed))
    }

    /// The unit of data of this stripe that is lost, if any.
    #[inline]
    pub fn failed_unit(&self, stripe: u32) -> Option<u32> {
        self.failed_in(stripe).map(|drive| self.unit_on(stripe, drive)).filter(|&unit| unit < self.data_units())
    }

    /// The drives that have not failed, and a new one.
    pub fn working(&self) -> impl Iterator<Item = u32> + use<> {
        let failed = self.failed.filter(|_| !self.replaced);
        (0..self.drives).filter(move |&drive| Some(drive) != failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(parity: bool, drives: u32, stripes: u32) -> Layout {
        Layout { drives, parity, failed: None, replaced: false, rebuilt: 0, stripes, unit_pages: 1, page_bytes: 4096 }
    }

    /// By stripe, the content of each drive: the number of a unit of data, or P for parity.
    fn table(layout: Layout) -> Vec<String> {
        let cell = |stripe: u32, drive: u32| match layout.unit_on(stripe, drive) {
            unit if unit < layout.data_units() => (stripe * layout.data_units() + unit).to_string(),
            _ => "P".into(),
        };
        (0..layout.stripes).map(|stripe| (0..layout.drives).map(|drive| cell(stripe, drive)).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn rais0_goes_round_the_drives() {
        assert_eq!(table(layout(false, 3, 3)), ["0 1 2", "3 4 5", "6 7 8"]);
    }

    /// The tables of the left-symmetric layout: parity moves to the left, and a stripe's data begin behind it and go round.
    #[test]
    fn rais5_is_left_symmetric() {
        assert_eq!(table(layout(true, 3, 4)), ["0 1 P", "3 P 2", "P 4 5", "6 7 P"]);
        assert_eq!(table(layout(true, 4, 5)), ["0 1 2 P", "4 5 P 3", "8 P 6 7", "P 9 10 11", "12 13 14 P"]);
        assert_eq!(table(layout(true, 5, 5)), ["0 1 2 3 P", "5 6 7 P 4", "10 11 P 8 9", "15 P 12 13 14", "P 16 17 18 19"]);
    }

    #[test]
    fn units_and_drives_are_inverse() {
        for (parity, drives) in [(false, 2), (false, 5), (true, 3), (true, 4), (true, 7)] {
            let layout = layout(parity, drives, 20);
            for (stripe, drive) in (0..20).flat_map(|stripe| (0..drives).map(move |drive| (stripe, drive))) {
                assert_eq!(layout.drive_in_stripe(stripe, layout.unit_on(stripe, drive)), drive, "stripe {stripe} of {layout:?}");
            }
        }
    }

    #[test]
    fn a_failed_drive_holds_data_or_parity() {
        let layout = Layout { failed: Some(1), ..layout(true, 3, 4) };
        assert_eq!([0, 1, 2, 3].map(|stripe| layout.failed_unit(stripe)), [Some(1), None, Some(0), Some(1)]);
        assert_eq!([0, 1, 2, 3].map(|stripe| layout.parity_failed(stripe)), [false, true, false, false]);
        assert_eq!(layout.working().collect::<Vec<_>>(), [0, 2]);
        // The new drive has its units of the first two stripes.
        let layout = Layout { replaced: true, rebuilt: 2, ..layout };
        assert_eq!([0, 1, 2, 3].map(|stripe| layout.failed_unit(stripe)), [None, None, Some(0), Some(1)]);
        assert_eq!([0, 1, 2, 3, 4].map(|stripe| layout.parity_failed(stripe)), [false, false, false, false, true]);
        assert_eq!(layout.working().collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn the_end_of_a_drive_that_fills_no_unit_is_not_used() {
        let array = config::Array { level: ArrayLevel::Rais5, drives: 4, stripe_kb: 12.0, ..config::Array::default() };
        let layout = Layout::new(&array, 4096, 16);
        assert_eq!((layout.unit_pages, layout.stripes, layout.exported_pages()), (3, 5, 5 * 3 * 3));
        assert_eq!(u64::from(layout.exported_pages()) * 4096, array.exported_bytes(16 * 4096));
    }
}
