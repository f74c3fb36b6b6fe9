//! Parses times of a trace, in their unit, to nanoseconds.

use super::Bad;
use super::text::{decimal, integer};
use ssdlab_keys::config::TimeUnit;

/// Parses times of a trace, in one unit of time.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    places: u32,
    scale: u64,
    /// Times must be whole numbers, without a decimal point.
    whole: bool,
    expected: &'static str,
}

impl Clock {
    pub(crate) fn new(unit: TimeUnit, whole: bool) -> Self {
        Clock { places: unit.places(), scale: 10u64.pow(unit.places()), whole, expected: unit.expected() }
    }

    /// Parses a time and returns it in ns, exactly; digits beyond the nanosecond are ignored.
    #[inline]
    pub(crate) fn read(&self, field: &[u8]) -> Result<u64, Bad> {
        if !self.whole {
            return decimal(field, self.places, self.expected);
        }
        self.whole_ns(integer(field, self.expected)?).ok_or_else(|| Bad::new(self.expected, field))
    }

    /// A whole number of the unit, in ns; `None` if it exceeds 64 bits.
    #[inline]
    pub(crate) fn whole_ns(&self, time: u64) -> Option<u64> {
        time.checked_mul(self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_a_power_of_ten_nanoseconds() {
        for (unit, ns) in [("s", 2_500_000_000), ("ms", 2_500_000), ("us", 2_500), ("ticks", 250), ("ns", 2)] {
            let unit = TimeUnit::ALL.into_iter().find(|one| one.name() == unit).unwrap();
            assert_eq!(Clock::new(unit, false).read(b"2.5"), Ok(ns));
            assert!(Clock::new(unit, true).read(b"2.5").is_err());
            assert_eq!(Clock::new(unit, true).read(b"2"), Ok(2 * 10u64.pow(unit.places())));
        }
        assert!(Clock::new(TimeUnit::Ticks, true).read(b"1844674407370955161").is_err());
    }
}
