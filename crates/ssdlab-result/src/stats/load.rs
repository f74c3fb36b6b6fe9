//! Whether requests came faster than the drive completed them.

use ssdlab_base::units::Ns;

/// Most windows kept; when a run needs more, neighbouring windows are joined.
const WINDOWS: usize = 256;
/// With fewer windows than this, all requests count as arriving at one instant.
const WINDOWS_MIN: usize = WINDOWS / 2;
/// Quarters of the time are compared by halves: at least this many windows are needed.
const EIGHTHS: usize = 8;
/// Number of arrivals below which a queue is not judged.
const ARRIVALS_MIN: u64 = 100;
/// Least growth: outstanding requests in the last quarter over those in the second quarter.
const GROWTH: f64 = 1.5;
/// Marks a window in which no arrival has been recorded.
const NONE: u64 = u64::MAX;

/// Number of outstanding requests over time, up to the last arrival: in at most 256 windows of equal width, which doubles when needed.
#[derive(Clone, Debug)]
pub struct Load {
    /// By window: the fewest outstanding requests that an arrival met.
    fewest: [u64; WINDOWS],
    /// The window of the last arrival, which is the last window in use.
    current: usize,
    /// `since`: start of the first window; `until`: end of the current window.
    since: Ns,
    until: Ns,
    width: Ns,
    /// By window: the requests that arrived in it.
    arrivals: [u64; WINDOWS],
    /// Sum of the outstanding requests that the arrivals of the measured part met, and number of arrivals before that part.
    met: u64,
    unmeasured: u64,
}

/// How a queue grew to the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overload {
    /// The fewest outstanding requests in the second, third and fourth quarter of the time from the first arrival to the last.
    Grew([u64; 3]),
    /// All requests arrived at one instant; holds their number.
    AtOnce(u64),
}

impl Default for Load {
    fn default() -> Self {
        Load { fewest: [NONE; WINDOWS], current: 0, since: 0, until: 0, width: 1, arrivals: [0; WINDOWS], met: 0, unmeasured: 0 }
    }
}

impl Load {
    /// A request arrives and finds `outstanding` others that have not completed. Times do not go back.
    #[inline(always)]
    pub fn arrives(&mut self, now: Ns, outstanding: u64) {
        if now >= self.until {
            self.begin_window(now, outstanding);
        }
        let fewest = &mut self.fewest[self.current];
        *fewest = outstanding.min(*fewest);
        self.arrivals[self.current] += 1;
        self.met += outstanding;
    }

    /// The measured part of the run begins: what arrivals met before does not count.
    pub fn begin_measuring(&mut self) {
        (self.met, self.unmeasured) = (0, self.arrivals.iter().sum());
    }

    /// Mean number of outstanding requests that an arrival of the measured part met; `None` of fewer than 100. For a Poisson process that is
    /// the mean over time, whatever the load; requests in bursts meet more.
    pub fn met(&self) -> Option<f64> {
        let count = self.arrivals.iter().sum::<u64>() - self.unmeasured;
        (count >= ARRIVALS_MIN).then(|| self.met as f64 / count as f64)
    }

    /// Opens the window of `now`. In skipped windows nothing arrived, so that the queue was not shorter than `outstanding` in them.
    #[cold]
    fn begin_window(&mut self, now: Ns, outstanding: u64) {
        if self.until == 0 {
            self.since = now;
        }
        let elapsed = now - self.since;
        while elapsed / self.width >= WINDOWS as u64 {
            for pair in 0..WINDOWS / 2 {
                self.fewest[pair] = self.fewest[2 * pair].min(self.fewest[2 * pair + 1]);
                self.arrivals[pair] = self.arrivals[2 * pair] + self.arrivals[2 * pair + 1];
            }
            self.fewest[WINDOWS / 2..].fill(NONE);
            self.arrivals[WINDOWS / 2..].fill(0);
            self.current /= 2;
            self.width *= 2;
        }
        let last = (elapsed / self.width) as usize;
        for fewest in &mut self.fewest[self.current..=last] {
            *fewest = outstanding.min(*fewest);
        }
        self.current = last;
        self.until = self.since + (last as u64 + 1) * self.width;
    }

    /// The windows to judge. Those of the beginning are left out, and those of the end, if they are a quarter of the time or more and have at
    /// most 1 % of all requests.
    fn judged(&self, arrivals: u64) -> std::ops::Range<usize> {
        let all = self.current + 1;
        let few = |windows: &mut dyn Iterator<Item = &u64>| {
            let sums = windows.scan(0, |sum, &count| Some((*sum += count, *sum).1));
            sums.take_while(|&sum| sum <= arrivals / 100).count()
        };
        let (early, late) = (few(&mut self.arrivals[..all].iter()), few(&mut self.arrivals[..all].iter().rev()));
        let end = all - late;
        // The queue may have become short in the last window before the late ones.
        let end = if 4 * late >= all { end.saturating_sub(1) } else { all };
        let start = if 4 * early >= end { early } else { 0 };
        start.min(end)..end
    }

    /// Whether the queue grew until the end. The run is overloaded if the fewest outstanding requests in the last quarter of the time
    /// between the first arrival and the last are more than in the third quarter, at least 1.5 times those in the second, at least the
    /// square root of the number of arrivals (by which a Poisson process scatters), and fewer in the quarter's first half than in its
    /// second. A queue that empties now and then, as one behind bursts does, has a quarter with few.
    ///
    /// The beginning and the end of the time are left out where they are a quarter of it or more, with at most 1 % of all requests: a few
    /// early or late requests hide no overload.
    ///
    /// The response times of an overloaded run depend on its length. `None` also for fewer than 100 arrivals.
    pub fn overload(&self) -> Option<Overload> {
        let arrivals = self.arrivals.iter().sum();
        if arrivals < ARRIVALS_MIN {
            return None;
        }
        let (all, judged) = (self.current + 1, self.judged(arrivals));
        if all < WINDOWS_MIN {
            return Some(Overload::AtOnce(arrivals));
        }
        if judged.len() < EIGHTHS {
            return None;
        }
        let at = |eighths: usize| judged.start + judged.len() * eighths / EIGHTHS;
        let fewest = |from: usize, to: usize| self.fewest[at(from)..at(to)].iter().copied().min().unwrap_or(0);
        let [second, third, fourth] = [fewest(2, 4), fewest(4, 6), fewest(6, 8)];
        let grows = second.max(third) < fourth && fourth as f64 >= GROWTH * second as f64 && fewest(6, 7) < fewest(7, 8);
        (grows && u128::from(fourth) * u128::from(fourth) >= u128::from(arrivals)).then_some(Overload::Grew([second, third, fourth]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::rng::Rng;

    const SERVICE_NS: u64 = 1_000;

    /// Serves arrivals one at a time, in order, each in `service_ns`.
    fn served(arrivals: impl Iterator<Item = Ns>, service_ns: Ns) -> Load {
        let (mut load, mut ends, mut free_at) = (Load::default(), std::collections::VecDeque::new(), 0);
        for now in arrivals {
            while ends.front().is_some_and(|&end| end <= now) {
                ends.pop_front();
            }
            load.arrives(now, ends.len() as u64);
            free_at = now.max(free_at) + service_ns;
            ends.push_back(free_at);
        }
        load
    }

    /// Arrivals of a Poisson process with a mean of `load` arrivals in a service time.
    fn poisson(seed: u64, load: f64, count: u64) -> Load {
        let mut rng = Rng::new(seed, "load");
        let mut now = 0.0;
        let next = move || {
            now -= libm::log(1.0 - rng.unit()) * SERVICE_NS as f64 / load;
            now as Ns
        };
        served(
            (0..count).map({
                let mut next = next;
                move |_| next()
            }),
            SERVICE_NS,
        )
    }

    /// M/D/1 at a load of 0.9 has 0.9 + 0.81 / 0.2 = 4.95 requests in the mean, and empties again and again. At 1.1 one request in eleven
    /// stays behind: of n requests n / 11 at the end.
    #[test]
    fn a_single_server_is_overloaded_above_a_load_of_one() {
        for seed in 0..40 {
            for count in [200, 1_000, 5_000, 50_000] {
                assert_eq!(poisson(seed, 0.9, count).overload(), None, "{count} requests, seed {seed}");
            }
            let Some(Overload::Grew([second, _, fourth])) = poisson(seed, 1.1, 20_000).overload() else { panic!("seed {seed}") };
            // At the beginning of the last quarter 3/4 of 20000 / 11 wait, at that of the second 1/4.
            assert!((fourth as f64 - 1_364.0).abs() < 4.0 * 20_000_f64.sqrt(), "{fourth}");
            assert!((second as f64 - 455.0).abs() < 4.0 * 20_000_f64.sqrt(), "{second}");
        }
    }

    #[test]
    fn a_fixed_distance_between_arrivals_decides_exactly() {
        let every = |ns: Ns| served((0..10_000).map(move |index| index * ns), SERVICE_NS).overload();
        assert_eq!(every(SERVICE_NS), None);
        assert_eq!(every(SERVICE_NS + 1), None);
        assert!(matches!(every(900), Some(Overload::Grew(_))));
    }

    #[test]
    fn bursts_that_the_drive_works_off_are_no_overload_also_at_the_end() {
        let bursts = |count: u64, period: Ns| served((0..count).flat_map(move |burst| vec![burst * period; 500]), SERVICE_NS).overload();
        for count in [2, 3, 4, 7, 20, 1_000] {
            assert_eq!(bursts(count, 600 * SERVICE_NS), None, "{count}");
        }
        assert!(matches!(bursts(20, 400 * SERVICE_NS), Some(Overload::Grew(_))), "they come before the last one is done");
        let late = (0..1_000).map(|index| index * 2 * SERVICE_NS).chain((0..1_000).map(|index| 2_000 * SERVICE_NS + index));
        assert_eq!(served(late, SERVICE_NS).overload(), None, "half of the requests come at the end");
        let burst = (0..500).map(|index| index * 20 * SERVICE_NS).chain((0..4_000).map(|_| 10_000 * SERVICE_NS));
        let falling = burst.chain((0..180).map(|index| (10_000 + index * 20) * SERVICE_NS));
        assert_eq!(served(falling, SERVICE_NS).overload(), None, "the run ends while a burst is worked off");
    }

    #[test]
    fn a_load_that_rises_in_the_second_half_is_one() {
        let rising =
            (0..2_000).map(|index| index * 2 * SERVICE_NS).chain((0..8_000).map(|index| 4_000 * SERVICE_NS + index * SERVICE_NS / 2));
        assert!(matches!(served(rising, SERVICE_NS).overload(), Some(Overload::Grew(_))));
    }

    #[test]
    fn a_few_late_requests_hide_no_overload() {
        let overloaded = || (0..10_000).map(|index| index * 900);
        let (end, worked_off) = (10_000 * 900, 10_000 * SERVICE_NS);
        for late in [0, 1, 100] {
            let found = served(overloaded().chain((0..late).map(|index| end + worked_off / 2 + index)), SERVICE_NS).overload();
            assert!(matches!(found, Some(Overload::Grew(_))), "{late}: {found:?}");
        }
        for stray in [3, 10, 25] {
            let late = served(overloaded().chain([stray * end]), SERVICE_NS).overload();
            let early = served([0].into_iter().chain(overloaded().map(|now| now + stray * end)), SERVICE_NS).overload();
            assert!(matches!((late, early), (Some(Overload::Grew(_)), Some(Overload::Grew(_)))), "{stray}: {late:?}, {early:?}");
        }
        // The windows are so wide that the run lies in few of them.
        assert_eq!(served(overloaded().chain([100 * end]), SERVICE_NS).overload(), None);
        let more = served(overloaded().chain((0..200).map(|index| 2 * end + index * SERVICE_NS * 9)), SERVICE_NS).overload();
        assert_eq!(more, None, "more than 1 %, and the queue is empty again");
    }

    /// The requests of a burst of 500 meet 0 to 499, or those of a measured part that begins in its middle 250 to 499.
    #[test]
    fn arrivals_meet_those_of_their_burst() {
        let mut load = Load::default();
        (0..500).for_each(|index| load.arrives(7, index));
        assert_eq!(load.met(), Some(249.5));
        let mut load = Load::default();
        (0..250).for_each(|index| load.arrives(7, index));
        load.begin_measuring();
        assert_eq!(load.met(), None);
        (250..500).for_each(|index| load.arrives(7, index));
        assert_eq!(load.met(), Some(374.5));
    }

    #[test]
    fn many_requests_at_one_instant_are_told_apart_from_few() {
        let at_once = |count: u64| served((0..count).map(|_| 77), SERVICE_NS).overload();
        assert_eq!(at_once(99), None);
        assert_eq!(at_once(100), Some(Overload::AtOnce(100)));
    }

    /// 58 of 64 servers are busy in the mean at a load of 0.9: many outstanding requests alone are no overload.
    #[test]
    fn many_servers_have_many_outstanding_requests() {
        for seed in 0..40 {
            let mut rng = Rng::new(seed, "servers");
            let (mut load, mut ends, mut now) = (Load::default(), Vec::new(), 0.0_f64);
            for _ in 0..3_000 {
                now -= libm::log(1.0 - rng.unit()) * SERVICE_NS as f64 / (0.9 * 64.0);
                ends.retain(|&end: &u64| end > now as u64);
                load.arrives(now as u64, ends.len() as u64);
                let mut sorted = ends.clone();
                sorted.sort_unstable();
                let begins = if sorted.len() < 64 { now as u64 } else { sorted[sorted.len() - 64] };
                ends.push(begins.max(now as u64) + SERVICE_NS);
            }
            assert_eq!(load.overload(), None, "seed {seed}");
        }
    }

    #[test]
    fn memory_is_fixed_and_the_last_arrival_counts() {
        let mut load = Load::default();
        for index in 0..1_000_u64 {
            load.arrives(index * index * index * 1_000_003, index * index);
        }
        assert!(load.current < WINDOWS && load.current >= WINDOWS_MIN);
        assert!(matches!(load.overload(), Some(Overload::Grew(_))));
    }
}
