//! The response times of one class of requests: their distribution, and their parts.

use super::result::{Breakdown, Latency};
use super::series::Histogram;
use super::{Part, Parts};
use crate::distribution::Distribution;
use ssdlab_base::units::Ns;

/// Sums and distribution of the response times of one class. Recording allocates nothing.
#[derive(Clone, Debug)]
pub(super) struct Class {
    times: Distribution,
    parts: [u128; Part::COUNT],
}

impl Class {
    pub(super) fn new() -> Self {
        Class { times: Distribution::new(), parts: [0; Part::COUNT] }
    }

    #[inline]
    pub(super) fn record(&mut self, response_ns: Ns, parts: &Parts) {
        self.times.record(response_ns);
        // Most parts of a request are 0.
        for (sum, &ns) in self.parts.iter_mut().zip(&parts.0).filter(|(_, ns)| **ns > 0) {
            *sum += u128::from(ns);
        }
    }

    /// The class of the requests of both classes.
    pub(super) fn merged(&self, other: &Class) -> Class {
        let mut parts = self.parts;
        for (sum, &ns) in parts.iter_mut().zip(&other.parts) {
            *sum += ns;
        }
        Class { times: self.times.merged(&other.times), parts }
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
        let mean = |part: Part| self.parts[part as usize] as f64 / self.count() as f64;
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
