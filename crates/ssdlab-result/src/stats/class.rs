//! The response times of one class of requests: their distribution, and their parts.

use super::result::{Breakdown, Latency};
use super::series::Histogram;
use super::{Part, Times};
use crate::distribution::Distribution;
use ssdlab_base::blocked::TimesSum;
use ssdlab_base::units::Ns;

/// Sums and distribution of the response times of one class. Recording allocates nothing.
#[derive(Clone, Debug)]
pub(super) struct Class {
    times: Distribution,
    shares: TimesSum,
}

impl Class {
    pub(super) fn new() -> Self {
        Class { times: Distribution::new(), shares: TimesSum::default() }
    }

    /// Adds a request, whose `times` add up to `response_ns`.
    #[inline]
    pub(super) fn record(&mut self, response_ns: Ns, times: &Times) {
        self.times.record(response_ns);
        self.shares.add(times, response_ns);
    }

    /// The class of the requests of both classes.
    pub(super) fn merged(&self, other: &Class) -> Class {
        Class { times: self.times.merged(&other.times), shares: self.shares.merged(&other.shares) }
    }

    /// Number of requests recorded.
    pub(super) fn count(&self) -> u64 {
        self.times.sums().count
    }

    /// The statistics of the class, `None` if it is empty.
    pub(super) fn latency(&self) -> Option<Latency> {
        self.times.summary().map(Latency::from)
    }

    /// Distribution of the response times.
    pub(super) fn histogram(&self) -> Histogram {
        let (upper_ns, count) = self.times.buckets().unzip();
        Histogram { upper_ns, count }
    }

    /// The mean parts of the response time, `None` if the class is empty.
    pub(super) fn breakdown(&self) -> Option<Breakdown> {
        if self.count() == 0 {
            return None;
        }
        let sums = self.shares.parts();
        let mean = |part: Part| sums[part as usize] as f64 / self.count() as f64;
        Some(Breakdown {
            host_queue: mean(Part::HostQueue),
            die_queue: mean(Part::DieQueue),
            gc: mean(Part::Gc),
            bus_queue: mean(Part::BusQueue),
            transfer: mean(Part::Transfer),
            array: mean(Part::Array),
            suspended: mean(Part::Suspended),
            dram: mean(Part::Dram),
            controller: mean(Part::Controller),
            link: mean(Part::Link),
            mapping: mean(Part::Mapping),
            pace: mean(Part::Pace),
            power: mean(Part::Power),
            heat: mean(Part::Heat),
            power_state: mean(Part::PowerState),
            retry: mean(Part::Retry),
            decode: mean(Part::Decode),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_class_has_no_statistics() {
        assert_eq!((Class::new().latency(), Class::new().breakdown()), (None, None));
    }
}
