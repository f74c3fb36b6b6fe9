//! Sums of the times of many requests.

use super::{Blocked, DriveTimes, OUTSIDE, Part, Served, Times};
use crate::units::Ns;

/// Requests shorter than this many nanoseconds are added in 64 bits; [`CARRIED`] of them fit.
const SHORT: Ns = 1 << 48;
/// Requests after which sums in 64 bits are carried over.
const CARRIED: u32 = 1 << 15;

/// Exact sums, by part of the response time, of the times of requests. Adding allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct TimesSum {
    /// Shares of short requests since they were last carried over. In 64 bits, the sums are a few vector instructions.
    inside: DriveTimes,
    outside: [Ns; OUTSIDE],
    added: u32,
    carried: [u128; Part::COUNT],
}

impl TimesSum {
    /// Adds the times of a request, which add up to `total_ns`.
    #[inline]
    pub fn add(&mut self, times: &Times, total_ns: Ns) {
        if total_ns >= SHORT {
            return self.add_long(times);
        }
        self.inside.then(&times.inside);
        if let Some(outside) = &times.outside {
            self.outside.iter_mut().zip(outside).for_each(|(sum, ns)| *sum = sum.wrapping_add(*ns));
        }
        self.added += 1;
        if self.added == CARRIED {
            self.carry();
        }
    }

    #[cold]
    fn add_long(&mut self, times: &Times) {
        self.carried.iter_mut().zip(times.parts().0).for_each(|(sum, ns)| *sum += u128::from(ns));
    }

    #[cold]
    fn carry(&mut self) {
        *self = self.merged(&TimesSum::default());
    }

    /// The sums of both.
    pub fn merged(&self, other: &TimesSum) -> TimesSum {
        let (mut carried, others) = (self.parts(), other.parts());
        carried.iter_mut().zip(others).for_each(|(sum, ns)| *sum += ns);
        TimesSum { carried, ..TimesSum::default() }
    }

    /// The sums by [`Part`], ns.
    pub fn parts(&self) -> [u128; Part::COUNT] {
        let mut parts = self.carried;
        let (waited, served) = self.outside.split_at(Blocked::COUNT - Blocked::INSIDE);
        let waits = Blocked::PARTS.iter().zip(self.inside.waited.iter().chain(waited));
        let services = Served::PARTS.iter().zip(self.inside.served.iter().chain(served));
        waits.chain(services).for_each(|(part, &ns)| parts[*part as usize] += u128::from(ns));
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocked::Share;

    /// Compares the sums of many requests, some of them long, with sums in 128 bits.
    #[test]
    fn the_sums_are_those_of_the_parts_of_each_request() {
        let all = || Blocked::ALL.into_iter().map(Share::Wait).chain(Served::ALL.into_iter().map(Share::Service));
        let (mut sum, mut expected) = (TimesSum::default(), [0_u128; Part::COUNT]);
        for request in 0..2 * u64::from(CARRIED) + 5 {
            let mut times = Times::default();
            let unit = if request % 1000 == 7 { SHORT } else { SHORT / 2000 };
            all().zip(1..).filter(|(_, number)| (request + number) % 3 > 0).for_each(|(share, number)| times.add(share, number * unit));
            sum.add(&times, times.total().unwrap());
            expected.iter_mut().zip(times.parts().0).for_each(|(sum, ns)| *sum += u128::from(ns));
        }
        assert_eq!(sum.parts(), expected);
    }
}
