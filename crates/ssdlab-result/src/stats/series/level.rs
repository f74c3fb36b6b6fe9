//! A number that changes in steps, and its sum over time.

use ssdlab_base::units::Ns;

/// A number that changes in steps, and its exact sum over time, kept without sampling. Changes may be recorded in another order than
/// they happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    value: u64,
    /// Sum over all changes of the change x its time, ns.
    moment: i128,
}

impl Level {
    /// The number after all changes.
    #[inline]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Sets the number to `value` from `now` on.
    #[inline]
    pub fn set(&mut self, now: Ns, value: u64) {
        self.moment += i128::from(now) * (i128::from(value) - i128::from(self.value));
        self.value = value;
    }

    /// The sum of the number over the time until `now`, number x ns. No recorded change may be after `now`.
    #[inline]
    pub fn sum_until(&self, now: Ns) -> u128 {
        (i128::from(self.value) * i128::from(now) - self.moment).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_area_below_the_steps() {
        let mut level = Level::default();
        level.set(10, 3);
        level.set(10, 4);
        level.set(15, 1);
        assert_eq!((level.value(), level.sum_until(15), level.sum_until(22)), (1, 20, 27));
    }
}
