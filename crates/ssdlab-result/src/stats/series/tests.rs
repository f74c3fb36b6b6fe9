//! Series of made-up histories, against a recount of the whole history for each bin.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::stats::Writer;
use crate::stats::result::ratio;
use ssdlab_keys::config::Config;

const POOLS: usize = 3;

/// A moment of a made-up history: the state from an instant on, and the events at it.
#[derive(Clone, Debug)]
struct Moment {
    at: Ns,
    outstanding: u64,
    free: [u32; POOLS],
    states: [usize; POOLS],
    /// By chip: a job is active.
    active: Vec<bool>,
    buses: u64,
    dies: u64,
    dirty: u64,
    /// Free blocks left when one was taken.
    left: Vec<u32>,
    responses: Vec<(RequestKind, Ns)>,
    /// Jobs started, pages moved, hits, lookups, bytes programmed.
    counts: [u64; 5],
}

/// A made-up history up to the present, from which a series reads.
struct Past {
    moments: Vec<Moment>,
    /// Number of moments whose free blocks have been read.
    looked_at: usize,
}

impl Past {
    /// A figure of each moment x the time for which it lasted within `from..until`, ns, summed.
    fn sum(&self, from: Ns, until: Ns, figure: impl Fn(&Moment) -> u64) -> u128 {
        self.held(from, until).map(|(moment, ns)| u128::from(figure(moment)) * u128::from(ns)).sum()
    }

    /// The moments that lasted for a time within `from..until`, and for how long, ns.
    fn held(&self, from: Ns, until: Ns) -> impl Iterator<Item = (&Moment, Ns)> {
        let ends = self.moments.iter().skip(1).map(|moment| moment.at).chain([Ns::MAX]);
        let held = move |(moment, end): (_, Ns)| {
            let moment: &Moment = moment;
            (moment, end.min(until).saturating_sub(moment.at.max(from)))
        };
        self.moments.iter().zip(ends).map(held).filter(|&(_, ns)| ns > 0)
    }

    fn happened(&self, from: Ns, until: Ns) -> impl Iterator<Item = &Moment> {
        self.moments.iter().filter(move |moment| (from..until).contains(&moment.at))
    }
}

fn total(free: [u32; POOLS]) -> u64 {
    free.iter().map(|&free| u64::from(free)).sum()
}

impl Gauged for Past {
    fn read(&mut self, now: Ns) -> Readings {
        let last = self.moments.last().expect("there is a present");
        let counted = |index: usize| self.moments.iter().map(|moment| moment.counts[index]).sum();
        let readings = Readings {
            gc_ns: (0..last.active.len()).map(|chip| self.sum(0, now, |moment| u64::from(moment.active[chip]))).collect(),
            jobs: counted(0),
            pages_moved: counted(1),
            flash_bytes: counted(4),
            slc_bytes: [counted(1), counted(2), counted(3)],
            streams: vec![[counted(0), counted(2), counted(1)], [counted(4), counted(3), counted(2)]],
            free_blocks: total(last.free),
            free_block_ns: self.sum(0, now, |moment| total(moment.free)),
            free_min: self.moments[self.looked_at..].iter().flat_map(|moment| &moment.left).copied().min().unwrap_or(u32::MAX),
            state_ns: [0, 1, 2, 3].map(|state| self.sum(0, now, |moment| in_state(moment, state))),
            bus_ns: self.sum(0, now, |moment| moment.buses),
            die_ns: self.sum(0, now, |moment| moment.dies),
            drawn: Drawn { bus_ns: self.sum(0, now, |moment| moment.buses), on_ns: now.into(), ..Drawn::default() },
            temperature: 0,
            throttled_ns: 0,
            cache_hits: counted(2),
            cache_lookups: counted(3),
            cache_dirty: last.dirty,
        };
        self.looked_at = self.moments.len();
        readings
    }

    fn fewest_free_blocks(&self) -> u32 {
        self.moments.last().and_then(|moment| moment.free.into_iter().min()).expect("there is a present")
    }
}

/// Bytes of a made-up request.
fn bytes_of(response_ns: Ns) -> u64 {
    response_ns % 4096
}

fn in_state(moment: &Moment, state: usize) -> u64 {
    moment.states.iter().filter(|&&of| of == state).count() as u64
}

/// 3 mW of a channel that transfers, and 5 mW at any time.
fn rates() -> Option<EnergyRates> {
    let mut config = Config::default();
    (config.energy.bus_mw, config.energy.idle_mw) = (3.0, 5.0);
    EnergyRates::new(&config)
}

fn shape(chips: u32, cached: bool) -> SeriesShape {
    SeriesShape {
        chips,
        dies: 2 * chips,
        channels: 2,
        pools: POOLS as u32,
        soft_blocks: 5,
        hard_blocks: 2,
        cached,
        slc: cached,
        streams: 2,
        host_streams: 1,
        energy: rates(),
        heated: 0,
    }
}

/// Plays a history from its first moment, at time 0, until `end`.
fn play(moments: &[Moment], end: Ns, shape: SeriesShape) -> (SeriesResult, Past) {
    let mut series = Series::new(shape);
    let mut past = Past { moments: Vec::new(), looked_at: 0 };
    for moment in moments {
        if let Some(before) = past.moments.last()
            && before.at < moment.at
        {
            let (at, outstanding) = (before.at, before.outstanding);
            series.hold(at, moment.at, outstanding, &mut past);
        }
        past.moments.push(moment.clone());
        moment.responses.iter().for_each(|&(kind, ns)| series.completed(kind, ns, bytes_of(ns)));
    }
    let last = moments.last().expect("a history has a beginning");
    if last.at < end {
        series.hold(last.at, end, last.outstanding, &mut past);
    }
    (series.finish(end, last.outstanding, &mut past), past)
}

/// The series recounted bin by bin from the whole history.
fn recount(past: &Past, end: Ns, shape: SeriesShape) -> SeriesResult {
    let doublings = (0..).find(|&doublings| end / (NARROWEST_NS << doublings) < MOST_BINS as u64).expect("some width does");
    let bin_ns = NARROWEST_NS << doublings;
    let bins = end / bin_ns + 1;
    let borders = || (0..bins).map(|bin| (bin * bin_ns, (bin + 1) * bin_ns));
    let now = past.moments.last().expect("there is a present");
    let last_is_empty = end == (bins - 1) * bin_ns;
    let share = |of: u32, figure: &dyn Fn(&Moment) -> u64| -> Vec<f64> {
        let sums = borders().map(|(from, until)| past.sum(from, until.min(end), figure));
        sums.map(|sum| ratio(sum, u128::from(bin_ns) * u128::from(of)).unwrap()).collect()
    };
    let count = |figure: &dyn Fn(&Moment) -> u64| -> Vec<u64> {
        borders().map(|(from, until)| past.happened(from, until).map(figure).sum()).collect()
    };
    let responses = |kind: RequestKind| {
        let of = |(from, until)| -> Vec<Ns> {
            past.happened(from, until).flat_map(|moment| &moment.responses).filter(|(of, _)| *of == kind).map(|&(_, ns)| ns).collect()
        };
        let mean = |times: Vec<Ns>| ratio(times.iter().map(|&ns| u128::from(ns)).sum(), times.len() as u128).unwrap_or(0.0);
        ResponseSeries {
            count: borders().map(|bin| of(bin).len() as u64).collect(),
            mean: borders().map(|bin| mean(of(bin))).collect(),
            max: borders().map(|bin| of(bin).into_iter().max().unwrap_or(0)).collect(),
        }
    };
    let most = |(from, until): (Ns, Ns)| {
        let most = past.held(from, until.min(end)).map(|(moment, _)| moment.outstanding).max();
        most.unwrap_or(now.outstanding)
    };
    let fewest = |(from, until): (Ns, Ns)| {
        let held = past.held(from, until.min(end)).flat_map(|(moment, _)| moment.free);
        let left = past.happened(from, until).flat_map(|moment| moment.left.iter().copied());
        let at_the_end = now.free.into_iter().filter(|_| last_is_empty && from == end);
        held.chain(left).chain(at_the_end).min().unwrap()
    };
    let mean_free = |(from, until): (Ns, Ns)| {
        let ns = until.min(end) - from;
        let sum = if ns == 0 { u128::from(total(now.free)) } else { past.sum(from, until.min(end), |moment| total(moment.free)) };
        ratio(sum, u128::from(ns.max(1)) * POOLS as u128).unwrap()
    };
    let watts = |(from, until): (Ns, Ns)| {
        let milliwatts = past.sum(from, until.min(end), |moment| 5 + 3 * moment.buses);
        ratio(milliwatts * 1000, u128::from(until.min(end) - from)).map_or(0.0, |microwatts| microwatts / 1e6)
    };
    let chips: Vec<u32> = (0..shape.chips).collect();
    let chips_per_row = shape.chips.div_ceil(64);
    let rows = chips.chunks(chips_per_row as usize);
    let gc = |row: &[u32]| share(row.len() as u32, &|moment| row.iter().map(|&chip| u64::from(moment.active[chip as usize])).sum());
    let [s0, s1, s2, s3] = [0, 1, 2, 3].map(|state| share(POOLS as u32, &move |moment| in_state(moment, state)));
    SeriesResult {
        bin_ns,
        bins,
        warm_up_ns: None,
        latency_ns: LatencySeries { read: responses(RequestKind::Read), write: responses(RequestKind::Write) },
        outstanding: OutstandingSeries { mean: share(1, &|moment| moment.outstanding), max: borders().map(most).collect() },
        gc: GcSeries {
            chips: rows.map(gc).collect(),
            chips_per_row,
            jobs: count(&|moment| moment.counts[0]),
            pages_moved: count(&|moment| moment.counts[1]),
        },
        written: WrittenSeries {
            host_bytes: count(&|moment| {
                moment.responses.iter().filter(|(kind, _)| *kind == RequestKind::Write).map(|&(_, ns)| bytes_of(ns)).sum()
            }),
            flash_bytes: count(&|moment| moment.counts[4]),
        },
        free_blocks: FreeBlockSeries {
            min: borders().map(fewest).collect(),
            mean: borders().map(mean_free).collect(),
            soft: shape.soft_blocks,
            hard: shape.hard_blocks,
        },
        states: StateSeries { s0, s1, s2, s3 },
        bus: share(shape.channels, &|moment| moment.buses),
        dies: share(shape.dies, &|moment| moment.dies),
        power: shape.energy.map(|_| borders().map(watts).collect()),
        thermal: None,
        cache: shape.cached.then(|| CacheSeries {
            hits: count(&|moment| moment.counts[2]),
            lookups: count(&|moment| moment.counts[3]),
            dirty: borders().map(|(_, until)| past.happened(0, until).last().map_or(0, |moment| moment.dirty)).collect(),
        }),
        slc: shape.slc.then(|| SlcSeries {
            cached_bytes: count(&|moment| moment.counts[1]),
            direct_bytes: count(&|moment| moment.counts[2]),
            folded_bytes: count(&|moment| moment.counts[3]),
        }),
        streams: [(Writer::Host, [0, 2, 1]), (Writer::Moves, [4, 3, 2])]
            .map(|(writer, of)| {
                let [host_units, collected_units, valid_units] = of.map(|index| count(&|moment| moment.counts[index]));
                StreamSeries { writer, class: 0, host_units, collected_units, valid_units }
            })
            .to_vec(),
    }
}

/// Where two results differ, with what is found and expected there.
fn differences(found: &Value, expected: &Value, place: &str) -> Vec<String> {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) if found.keys().eq(expected.keys()) => {
            found.iter().flat_map(|(key, value)| differences(value, &expected[key], &format!("{place}/{key}"))).collect()
        }
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            let pairs = found.iter().zip(expected).enumerate();
            pairs.flat_map(|(index, (found, expected))| differences(found, expected, &format!("{place}/{index}"))).collect()
        }
        _ if found == expected => Vec::new(),
        _ => vec![format!("{place}: {found}, expected {expected}")],
    }
}

fn moment(chips: usize) -> impl Strategy<Value = Moment> {
    let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Trim, RequestKind::Flush];
    let levels = (0u64..20, prop::array::uniform3(0u32..9), prop::array::uniform3(0usize..4), 0u64..3, 0u64..9, 0u64..50);
    let events = (
        prop::collection::vec(0u32..9, 0..3),
        prop::collection::vec((prop::sample::select(kinds.to_vec()), 0u64..1 << 40), 0..4),
        prop::array::uniform5(0u64..5),
    );
    (levels, events, prop::collection::vec(any::<bool>(), chips)).prop_map(|(levels, events, active)| {
        let (outstanding, free, states, buses, dies, dirty) = levels;
        let (left, responses, counts) = events;
        Moment { at: 0, outstanding, free, states, active, buses, dies, dirty, left, responses, counts }
    })
}

/// Instants that often fall on borders, from nanoseconds to minutes apart.
fn gap() -> impl Strategy<Value = Ns> {
    prop_oneof![Just(0), 0u64..3_000, (0u64..40).prop_map(|n| n * 1000), (0u32..27, 0u64..2_000).prop_map(|(k, n)| n << k)]
}

fn history() -> impl Strategy<Value = (Vec<Moment>, Ns, SeriesShape)> {
    (prop_oneof![1usize..5, 60usize..70, Just(200)], any::<bool>()).prop_flat_map(|(chips, cached)| {
        let moments = prop::collection::vec((gap(), moment(chips)), 1..60);
        (moments, gap()).prop_map(move |(moments, last)| {
            let mut at = 0;
            let mut timed = Vec::new();
            let mut before: Option<[u32; POOLS]> = None;
            for (gap, mut moment) in moments {
                at += if before.is_some() { gap } else { 0 };
                // Free blocks become fewer only by being taken.
                let fewer = moment.free.into_iter().zip(before.unwrap_or([0; POOLS])).filter(|(free, before)| free < before);
                moment.left.extend(fewer.map(|(free, _)| free));
                before = Some(moment.free);
                timed.push(Moment { at, ..moment });
            }
            (timed, at + last, shape(chips as u32, cached))
        })
    })
}

proptest! {
    // A recount of one history takes some ten milliseconds.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bins_are_those_of_a_recount_of_the_whole_history((moments, end, shape) in history()) {
        let (series, past) = play(&moments, end, shape);
        let [found, expected] = [series, recount(&past, end, shape)].map(|series| serde_json::to_value(series).unwrap());
        let first_difference = differences(&found, &expected, "").into_iter().next();
        prop_assert_eq!(first_difference, None);
    }
}

/// One chip and one request, from 0 on.
fn steady(end: Ns) -> SeriesResult {
    let moment = Moment {
        at: 0,
        outstanding: 1,
        free: [1, 2, 6],
        states: [0, 0, 3],
        active: vec![true],
        buses: 1,
        dies: 2,
        dirty: 7,
        left: vec![],
        responses: vec![(RequestKind::Read, 5)],
        counts: [1, 2, 3, 4, 5],
    };
    play(&[moment], end, shape(1, true)).0
}

#[test]
fn there_are_never_more_bins_than_allowed_and_always_as_many_as_that_allows() {
    for (end, bin_ns, bins) in [
        (0, 1_000, 1),
        (999, 1_000, 1),
        (1_000, 1_000, 2),
        (511_999, 1_000, 512),
        (512_000, 2_000, 257),
        (1_023_999, 2_000, 512),
        (1_024_000, 4_000, 257),
        // Thirty years.
        (1 << 60, 1_000 << 42, 263),
    ] {
        let series = steady(end);
        assert_eq!((series.bin_ns, series.bins), (bin_ns, bins), "{end}");
        assert_eq!(series.gc.chips[0].len() as u64, bins);
    }
}

#[test]
fn the_last_bin_counts_what_lies_beyond_the_end_as_idle_except_for_free_blocks() {
    let series = steady(1_250);
    assert_eq!((series.outstanding.mean, series.outstanding.max), (vec![1.0, 0.25], vec![1, 1]));
    assert_eq!((series.gc.chips, series.gc.jobs), (vec![vec![1.0, 0.25]], vec![1, 0]));
    assert_eq!((series.states.s0, series.states.s3), (vec![2.0 / 3.0, 1.0 / 6.0], vec![1.0 / 3.0, 0.25 / 3.0]));
    assert_eq!((series.bus, series.dies), (vec![0.5, 0.125], vec![1.0, 0.25]));
    assert_eq!((series.free_blocks.mean, series.free_blocks.min), (vec![3.0, 3.0], vec![1, 1]));
    let cache = series.cache.unwrap();
    assert_eq!((cache.hits, cache.lookups, cache.dirty), (vec![3, 0], vec![4, 0], vec![7, 7]));
    // Where no time is left there is still what there is.
    let series = steady(1_000);
    assert_eq!((series.outstanding.mean, series.outstanding.max), (vec![1.0, 0.0], vec![1, 1]));
    assert_eq!((series.free_blocks.mean, series.free_blocks.min), (vec![3.0, 3.0], vec![1, 1]));
}
