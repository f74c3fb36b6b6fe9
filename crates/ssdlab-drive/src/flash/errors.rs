//! The raw bit error rate of a block, and the retry step that its reads need (docs/model/ageing.md).
//!
//! The rate is a power law of erases, time and reads (Kim et al., FAST 2019). It only grows until the block is erased, so the step that a
//! read needs holds up to some time and some number of reads: a read compares two integers, and powers are computed only when one of them
//! is passed.

use ssdlab_base::units::Ns;
use ssdlab_keys::config::Errors;

/// Nanoseconds of a day.
pub const DAY_NS: f64 = 86_400e9;

/// Age of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Age {
    /// Erases since the block was new.
    pub cycles: u64,
    /// Time since the block was opened, ns.
    pub ns: Ns,
    /// Array reads of the block since it was opened.
    pub reads: u64,
    /// Share of the rate of a typical block.
    pub factor: f64,
}

/// The retry step that reads of a block need, and how long it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The step; one more than the last of the retry table if none is good enough.
    pub step: u8,
    /// The age up to which it holds, ns, if the block has no more reads than `until_reads`.
    pub until_ns: Ns,
    /// The array reads up to which it holds, if the block is no older than `until_ns`.
    pub until_reads: u64,
}

/// The error model of a drive.
#[derive(Clone, Debug)]
pub struct ErrorModel {
    errors: Errors,
    /// By step: the highest rate that it corrects. Ascending.
    limits: Vec<f64>,
    pages: f64,
    /// Share of the rate that the power law gives.
    share: f64,
}

impl ErrorModel {
    /// The model of a checked configuration, for blocks that hold `pages` flash pages and have this share of the errors of the power law.
    pub fn new(errors: &Errors, pages: u32, share: f64) -> Self {
        let correctable = f64::from(errors.correctable_bits) / (8.0 * f64::from(errors.codeword_bytes));
        let limits = std::iter::once(1.0).chain(errors.retry_table.iter().copied()).map(|left| correctable / left).collect();
        ErrorModel { errors: errors.clone(), limits, pages: f64::from(pages), share }
    }

    /// The last step of the retry table; 0 is the plain read.
    pub fn table(&self) -> u8 {
        (self.limits.len() - 1) as u8
    }

    /// The raw bit error rate of a block.
    pub fn rate(&self, age: Age) -> f64 {
        let e = &self.errors;
        let [retention, disturb] = self.coefficients(age);
        let wear = e.epsilon + e.alpha * libm::pow(cycles(age), e.k);
        let aged = retention * libm::pow(age.ns as f64 / DAY_NS, e.n) + disturb * libm::pow(age.reads as f64 / self.pages, e.q);
        (wear + aged) * (age.factor * self.share)
    }

    /// The coefficients of t^n and r^q.
    fn coefficients(&self, age: Age) -> [f64; 2] {
        let e = &self.errors;
        [e.beta * libm::pow(cycles(age), e.m), e.gamma * libm::pow(cycles(age), e.p)]
    }

    /// The step that reads of a block need.
    pub fn step(&self, age: Age) -> u8 {
        let rate = self.rate(age);
        self.limits.partition_point(|&limit| limit < rate) as u8
    }

    /// The step that reads of a block need, and how long it holds: half of what is left up to the limit is for time, half for reads.
    #[cold]
    pub fn need(&self, age: Age) -> Need {
        let step = self.step(age);
        let Some(&limit) = self.limits.get(usize::from(step)) else { return Need { step, until_ns: Ns::MAX, until_reads: u64::MAX } };
        let e = &self.errors;
        let half = (limit - self.rate(age)) / (age.factor * self.share) / 2.0;
        let [retention, disturb] = self.coefficients(age);
        let grown = |now: f64, exponent: f64, coefficient: f64| libm::pow(libm::pow(now, exponent) + half / coefficient, 1.0 / exponent);
        let days = grown(age.ns as f64 / DAY_NS, e.n, retention);
        let reads = grown(age.reads as f64 / self.pages, e.q, disturb) * self.pages;
        // Far beyond every run, and without overflow.
        let (mut ns, mut count) = ((days * DAY_NS).min(MOST) as Ns, reads.min(MOST) as u64);
        (ns, count) = (ns.max(age.ns), count.max(age.reads));
        // Rounding may lead beyond the limit.
        while self.step(Age { ns, reads: count, ..age }) != step {
            (ns, count) = (age.ns + (ns - age.ns) / 2, age.reads + (count - age.reads) / 2);
        }
        Need { step, until_ns: ns, until_reads: count }
    }
}

/// Limit of times and reads up to which a step holds: 2^62.
const MOST: f64 = 4.6e18;

/// Erases of a block, at least 1: the power law has no retention errors without any.
fn cycles(age: Age) -> f64 {
    age.cycles.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(change: fn(&mut Errors)) -> ErrorModel {
        let mut errors = Errors::default();
        change(&mut errors);
        ErrorModel::new(&errors, 64, 1.0)
    }

    fn aged(cycles: u64, days: f64, reads: u64) -> Age {
        Age { cycles, ns: (days * DAY_NS) as Ns, reads, factor: 1.0 }
    }

    /// Computed apart: 1.48e-3 + 3.9e-10 x 1000^2.05 + 6.28e-5 x 1000^0.14 x 365^0.54, and 64 x 1000 reads of a page of 64.
    #[test]
    fn the_rate_is_the_published_power_law() {
        let model = model(|_| {});
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
        close(model.rate(aged(1000, 0.0, 0)), 1.48e-3 + 3.9e-10 * 1000_f64.powf(2.05));
        close(
            model.rate(aged(1000, 365.0, 64_000)),
            1.48e-3
                + 3.9e-10 * 1000_f64.powf(2.05)
                + 6.28e-5 * 1000_f64.powf(0.14) * 365_f64.powf(0.54)
                + 3.73e-9 * 1000_f64.powf(0.33) * 1000_f64.powf(1.71),
        );
        assert_eq!(model.rate(aged(0, 30.0, 5)), model.rate(aged(1, 30.0, 5)), "a new block counts as erased once");
    }

    /// Wherever a need is computed, it holds up to its ends, and it is found again one nanosecond or one read beyond where it must change.
    #[test]
    fn a_need_holds_as_long_as_it_says() {
        let model = model(|errors| errors.codeword_bytes = 4096);
        for cycles in [0, 300, 3000] {
            for days in [0.0, 0.01, 1.0, 40.0, 400.0] {
                for reads in [0, 7, 64_000] {
                    let age = aged(cycles, days, reads);
                    let need = model.need(age);
                    assert_eq!(need.step, model.step(age));
                    assert!(need.until_ns >= age.ns && need.until_reads >= age.reads);
                    assert_eq!(model.step(Age { ns: need.until_ns, reads: need.until_reads, ..age }), need.step);
                }
            }
        }
    }

    /// Following a block through its life, only the ends of needs being looked at: each step begins at the read at which it must.
    #[test]
    fn following_the_ends_of_needs_misses_no_change() {
        let model = model(|errors| (errors.gamma, errors.retry_table) = (3e-7, vec![0.8, 0.7, 0.5]));
        let mut need = Need { step: 0, until_ns: 0, until_reads: 0 };
        let (mut computed, mut seen) = (0, [0; 5]);
        for read in 0..300_000_u64 {
            let age = aged(500, read as f64 / 1e4, read);
            if age.ns > need.until_ns || age.reads > need.until_reads {
                need = model.need(age);
                computed += 1;
            }
            assert_eq!(need.step, model.step(age), "read {read}");
            seen[usize::from(need.step)] += 1;
        }
        assert!(computed < 400 && seen.iter().all(|&count| count > 0), "{computed} {seen:?}");
    }

    /// 72 of 8192 bits: exactly the limit is corrected.
    #[test]
    fn a_codeword_has_as_many_errors_as_can_be_corrected() {
        let exact = model(|errors| (errors.epsilon, errors.alpha, errors.beta, errors.gamma) = (72.0 / 8192.0, 0.0, 0.0, 0.0));
        assert_eq!(exact.step(aged(0, 0.0, 0)), 0);
        assert_eq!(exact.step(Age { factor: 1.0001, ..aged(0, 0.0, 0) }), 1);
        assert_eq!(exact.step(Age { factor: 10.0, ..aged(0, 0.0, 0) }), exact.table() + 1);
    }
}
