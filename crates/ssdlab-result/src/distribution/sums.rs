//! Exact sums: mean and variance without a rounding before the last division.

/// Count, extremes, sum and sum of squares of `u64` values, all exact.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// Number of values.
    pub count: u64,
    /// Smallest value; `u64::MAX` without values.
    pub min: u64,
    /// Largest value; 0 without values.
    pub max: u64,
    /// Sum of the values.
    pub sum: u128,
    /// Sum of the squares of the values. Multiplied by the count, it exceeds 128 bits for a few thousand waits of an hour.
    squares: Wide,
}

/// A whole number below 2^256, for sums of squares of times: `high * 2^128 + low`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    /// Zero.
    pub const ZERO: Wide = Wide { high: 0, low: 0 };

    /// The product of two numbers.
    pub fn product(a: u128, b: u128) -> Self {
        let (high, low) = wide_product(a, b);
        Wide { high, low }
    }

    /// Adds the square of a value.
    #[inline]
    pub fn add_square(&mut self, value: u64) {
        let (low, carry) = self.low.overflowing_add(u128::from(value) * u128::from(value));
        *self = Wide { high: self.high + u128::from(carry), low };
    }

    /// The product with `factor`, which must be below 2^256.
    fn times(self, factor: u128) -> Self {
        let product = Wide::product(factor, self.low);
        Wide { high: product.high + factor * self.high, ..product }
    }

    /// The number as the nearest `f64`, to within one part in 2^52.
    pub fn to_f64(self) -> f64 {
        wide_to_f64(self.high, self.low)
    }
}

impl std::ops::Add for Wide {
    type Output = Wide;

    fn add(self, other: Wide) -> Wide {
        let (low, carry) = self.low.overflowing_add(other.low);
        Wide { high: self.high + other.high + u128::from(carry), low }
    }
}

impl std::ops::Sub for Wide {
    type Output = Wide;

    /// The difference, which must not be negative.
    fn sub(self, other: Wide) -> Wide {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Wide { high: self.high - other.high - u128::from(borrow), low }
    }
}

impl Default for Sums {
    fn default() -> Self {
        Sums::new()
    }
}

impl Sums {
    /// Sums over no values.
    pub const fn new() -> Self {
        Sums { count: 0, min: u64::MAX, max: 0, sum: 0, squares: Wide::ZERO }
    }

    /// Adds one value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += u128::from(value);
        self.squares.add_square(value);
    }

    /// Sums over the values of both.
    pub fn merged(&self, other: &Sums) -> Sums {
        Sums {
            count: self.count + other.count,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    /// The mean, rounded once. `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The population variance (n squares - sum^2) / n^2: an exact numerator, divided once. `None` without values.
    pub fn variance(&self) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let count = u128::from(self.count);
        // By Cauchy-Schwarz the difference is not negative.
        Some((self.squares.times(count) - Wide::product(self.sum, self.sum)).to_f64() / (count * count) as f64)
    }
}

/// The 256-bit product of two 128-bit numbers as (high, low) halves, by schoolbook multiplication of 64-bit digits.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const DIGIT: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & DIGIT, b >> 64, b & DIGIT);
    let middle = a0 * b1 + ((a0 * b0) >> 64);
    let (middle, carry) = middle.overflowing_add(a1 * b0);
    let low = (middle << 64) | ((a0 * b0) & DIGIT);
    (a1 * b1 + (middle >> 64) + (u128::from(carry) << 64), low)
}

/// `high * 2^128 + low` as the nearest `f64`, to within one part in 2^52.
fn wide_to_f64(high: u128, low: u128) -> f64 {
    if high == 0 {
        return low as f64;
    }
    let shift = 128 - high.leading_zeros();
    let top = if shift == 128 { high } else { (high << (128 - shift)) | (low >> shift) };
    // Two factors, as 2^shift times `top` could pass the largest power that is a constant, but never the range of f64.
    top as f64 * (1u128 << (shift / 2)) as f64 * (1u128 << (shift - shift / 2)) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Sums {
        let mut sums = Sums::new();
        values.iter().for_each(|&value| sums.add(value));
        sums
    }

    #[test]
    fn a_hand_worked_example() {
        let sums = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((sums.mean(), sums.variance()), (Some(5.0), Some(4.0)));
        assert_eq!((Sums::new().mean(), Sums::new().variance()), (None, None));
    }

    #[test]
    fn the_largest_values_neither_overflow_nor_cancel() {
        // Around the largest u64, where 128-bit and floating-point sums of squares both fail: the variance is that of 0, 1, 2, 3.
        let sums = of(&[u64::MAX, u64::MAX - 1, u64::MAX - 2, u64::MAX - 3]);
        assert_eq!(sums.variance(), Some(1.25));
        let spread = of(&[0, u64::MAX, 0, u64::MAX]);
        assert_eq!(spread.variance(), Some((u64::MAX as f64 / 2.0).powi(2)));
        let many = (0..20).fold(spread, |sums, _| sums.merged(&sums));
        assert_eq!((many.count, many.variance()), (4 << 20, spread.variance()));
    }

    proptest! {
        #[test]
        fn the_variance_is_that_of_the_definition(values in prop::collection::vec(0u64..1 << 40, 1..200), cut in 0usize..200) {
            let (front, back) = values.split_at(cut.min(values.len()));
            let sums = of(front).merged(&of(back));
            let count = values.len() as f64;
            let mean = values.iter().map(|&v| v as f64).sum::<f64>() / count;
            let variance = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / count;
            prop_assert!((sums.mean().unwrap() - mean).abs() <= 1e-12 * mean);
            prop_assert!((sums.variance().unwrap() - variance).abs() <= 1e-9 * variance);
            prop_assert_eq!(sums.min, *values.iter().min().unwrap());
            prop_assert_eq!(sums.max, *values.iter().max().unwrap());
        }

        #[test]
        fn wide_products_agree_modulo_a_prime(a: u128, b: u128) {
            const PRIME: u128 = (1 << 61) - 1;
            let (high, low) = wide_product(a, b);
            let power = (u128::MAX % PRIME + 1) % PRIME;
            prop_assert_eq!((high % PRIME * power + low % PRIME) % PRIME, (a % PRIME) * (b % PRIME) % PRIME);
        }
    }
}
