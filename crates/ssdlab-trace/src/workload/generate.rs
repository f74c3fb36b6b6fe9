//! Synthetic requests: sizes, arrivals, kinds and addresses drawn from distributions, each from a random stream of its own.

use serde_json::{Map, Value};

use super::RequestSource;
use super::skew::{FioZipf, Normal, Pareto, Places, Zones};
use super::tags::Tags;
use super::zipf::{Scatter, Zipf};
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::rng::Rng;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{Address, Arrival, SeparateFlow, SizeDistribution, Workload};

const SECTOR_BYTES: u64 = 512;
const PS_PER_NS: u128 = 1000;

/// Keys that an unnamed entry of `workload.flows` (a part of the generated flow) may set.
const FLOW_KEYS: [&str; 26] = [
    "request_kb",
    "request_size",
    "size_table",
    "interarrival_us",
    "arrival",
    "burst_length",
    "read_share",
    "trim_share",
    "trim_first",
    "sequential_share",
    "high_priority_share",
    "handle",
    "handle_ranges",
    "address",
    "hot_share",
    "hot_access",
    "hot_scattered",
    "permutation_repeats",
    "zipf_exponent",
    "pareto_h",
    "fio_draws",
    "normal_width",
    "zones",
    "footprint",
    "align_kb",
    "align_large_kb",
];

/// An endless synthetic workload of one flow, or of several merged by arrival; at one instant the flow listed first comes first.
///
/// Every request lies inside its flow's footprint, which begins at byte 0:
/// - a sequential request begins where the previous request of its flow ended, or at byte 0 if it would not fit there;
/// - a random request begins at a multiple of `align_kb`. Uniform addresses are drawn from those at which the request fits; a hot-cold or
///   Zipf address at which it does not fit is moved down to the last that does. A request of at least `align_large_kb` is then moved down
///   to a multiple of `align_large_kb`;
/// - a size drawn larger than the footprint is cut to the footprint.
///
/// Time is counted in integer picoseconds, so that rounding errors do not accumulate, and returned in nanoseconds, rounded down. The first
/// request arrives one interarrival time after the start. In a closed loop of a single flow, where times are not used, all times are 0.
#[derive(Clone, Debug)]
pub struct Generator {
    flows: Vec<Flow>,
    /// The write whose trim was the last request (`trim_first`).
    trimmed: Option<Request>,
    flushes: Flushes,
    /// Bytes left until the flow ends (`total_bytes`); `None` without that end.
    left_bytes: Option<u64>,
    /// Time at which an open loop ends (`run_s`), ns; [`Ns::MAX`] without that end.
    end_ns: Ns,
}

impl Generator {
    /// A generator for a drive that exports `exported_bytes`. The same configuration, size and seed always give the same requests.
    ///
    /// # Errors
    /// [`Error::Config`] for a value out of range, an unknown key of a flow, or a footprint without room for a request.
    pub fn new(config: &Workload, exported_bytes: u64, seed: u64) -> Result<Self> {
        let path = "workload".to_string();
        Self::of_flow(&SeparateFlow { name: String::new(), path, stream: 0, workload: config.clone() }, exported_bytes, seed)
    }

    /// A generator for one of several named flows. `bytes`: size of the flow's part of the exported range.
    ///
    /// # Errors
    /// As [`Generator::new`].
    pub fn of_flow(flow: &SeparateFlow, bytes: u64, seed: u64) -> Result<Self> {
        let config = &flow.workload;
        let own =
            Place { path: flow.path.clone(), stream: format!("workload/flow{}", flow.stream), is_only: config.parts().next().is_none() };
        let mut flows = vec![Flow::new(config, bytes, seed, &own)?];
        for (index, keys) in config.parts() {
            let place = own.part(index, flow.stream);
            let config = flow_config(config, keys).map_err(|e| Error::Config(format!("{}: {e}", place.path)))?;
            flows.push(Flow::new(&config, bytes, seed, &place)?);
        }
        let left_bytes = (config.total_bytes > 0).then_some(config.total_bytes);
        // A closed loop ends by its clock, which is not that of the arrivals.
        let end_ns = if config.queue_depth == 0 { super::terms::run_ns(config) } else { Ns::MAX };
        Ok(Generator { flows, trimmed: None, flushes: Flushes::new(config.flush_every), left_bytes, end_ns })
    }
}

impl RequestSource for Generator {
    fn next_request(&mut self) -> Result<Option<Request>> {
        if let Some(request) = self.trimmed.take() {
            return Ok(Some(self.flushes.count(request)));
        }
        // min_by_key returns the first minimum: the flow listed first.
        let flow = self.flows.iter_mut().min_by_key(|flow| flow.arrivals.now_ps).expect("there is always flow 0");
        if self.left_bytes == Some(0) || (self.end_ns < Ns::MAX && flow.arrivals.now_ns()? >= self.end_ns) {
            return Ok(None);
        }
        if let Some(flush) = self.flushes.due() {
            return Ok(Some(flush));
        }
        let request = flow.request()?;
        flow.arrivals.advance();
        if let Some(left) = &mut self.left_bytes {
            *left = left.saturating_sub(request.length);
        }
        if flow.trim_first && request.kind == RequestKind::Write {
            self.trimmed = Some(request);
            return Ok(Some(Request { kind: RequestKind::Trim, high_priority: false, ..request }));
        }
        Ok(Some(self.flushes.count(request)))
    }

    fn is_at_hand(&self) -> bool {
        true
    }

    fn draw_others(&mut self) {
        self.flows.iter_mut().for_each(Flow::draw_others);
    }
}

/// Flushes behind every N writes (`flush_every`).
#[derive(Clone, Debug)]
struct Flushes {
    /// Number of writes from one flush to the next; 0: no flushes.
    every: u32,
    /// Number of writes since the last flush.
    writes: u32,
    /// Arrival of the last write, ns.
    last_ns: Ns,
}

impl Flushes {
    fn new(every: u32) -> Self {
        Flushes { every, writes: 0, last_ns: 0 }
    }

    /// Counts a request of the generator if it is a write, and returns it.
    #[inline]
    fn count(&mut self, request: Request) -> Request {
        if self.every > 0 && request.kind == RequestKind::Write {
            self.writes += 1;
            self.last_ns = request.arrival_ns;
        }
        request
    }

    /// The flush that is due before the next request; it arrives with the write that it follows.
    #[inline]
    fn due(&mut self) -> Option<Request> {
        (self.every > 0 && self.writes == self.every).then(|| {
            self.writes = 0;
            Request {
                kind: RequestKind::Flush,
                arrival_ns: self.last_ns,
                offset: 0,
                length: 0,
                high_priority: false,
                flow: 0,
                handle: None,
            }
        })
    }
}

/// The configuration of a part of a flow: that of the flow (`base`) with `keys` replaced.
fn flow_config(base: &Workload, keys: &Map<String, Value>) -> std::result::Result<Workload, String> {
    let flat = Workload { flows: Vec::new(), ..base.clone() };
    let Ok(Value::Object(mut merged)) = serde_json::to_value(&flat) else { return Err("the flow above it cannot be copied".into()) };
    for (key, value) in keys {
        if !FLOW_KEYS.contains(&key.as_str()) {
            let nearest = FLOW_KEYS.iter().max_by(|a, b| strsim::jaro_winkler(key, a).total_cmp(&strsim::jaro_winkler(key, b)));
            let nearest = nearest.expect("there are keys");
            return Err(format!("{key} is not a key of a flow; the nearest is {nearest}; all are: {}", FLOW_KEYS.join(", ")));
        }
        merged.insert(key.clone(), value.clone());
    }
    serde_json::from_value(Value::Object(merged)).map_err(|e| e.to_string())
}

#[derive(Clone, Debug)]
struct Flow {
    sizes: Sizes,
    arrivals: Arrivals,
    kinds: Kinds,
    addresses: Addresses,
    tags: Tags,
    trim_first: bool,
}

impl Flow {
    fn new(config: &Workload, exported_bytes: u64, seed: u64, check: &Place) -> Result<Self> {
        let rng = |purpose: &str| Rng::new(seed, &format!("{}/{purpose}", check.stream));
        let footprint = check.footprint(config.footprint, exported_bytes)?;
        let mut arrivals = Arrivals::new(config, check, rng("arrival"))?;
        arrivals.advance();
        Ok(Flow {
            sizes: Sizes::new(config, check, footprint, rng("size"))?,
            arrivals,
            kinds: Kinds::new(config, check, [rng("kind"), rng("trim"), rng("priority")])?,
            addresses: Addresses::new(config, check, footprint, [rng("sequential"), rng("address"), rng("scatter")])?,
            tags: Tags::new(config, exported_bytes),
            trim_first: config.trim_first,
        })
    }

    /// Continues with other draws. Popular addresses were drawn when the flow was made, and stay.
    fn draw_others(&mut self) {
        let Flow { sizes, arrivals, kinds, addresses, .. } = self;
        let Kinds { kind, trim, priority, .. } = kinds;
        let streams = [&mut sizes.rng, &mut arrivals.rng, kind, trim, priority, &mut addresses.sequential, &mut addresses.random];
        streams.into_iter().for_each(Rng::jump);
    }

    fn request(&mut self) -> Result<Request> {
        let length = self.sizes.draw();
        let (kind, high_priority) = self.kinds.draw();
        let offset = self.addresses.draw(length);
        Ok(Request { arrival_ns: self.arrivals.now_ns()?, kind, offset, length, high_priority, flow: 0, handle: self.tags.of(offset) })
    }
}

/// Position of a flow in the configuration, for error messages, and the prefix of its random streams.
struct Place {
    /// Path of the flow's keys: `workload` or `workload.flows[1]`.
    path: String,
    /// Prefix of the names of the flow's random streams.
    stream: String,
    /// The flow has no parts and is not a part itself.
    is_only: bool,
}

impl Place {
    /// The place of the part at `index` in the flow's list. `stream`: number of the flow's random streams.
    fn part(&self, index: usize, stream: usize) -> Place {
        let number = index + 1;
        let stream = if stream == 0 { format!("workload/flow{number}") } else { format!("{}.{number}", self.stream) };
        Place { path: format!("{}.flows[{index}]", self.path), stream, is_only: false }
    }

    fn error(&self, key: &str, message: &str) -> Error {
        Error::Config(format!("{}.{key}{message}", self.path))
    }

    fn range(&self, key: &str, value: f64, low: f64, high: f64) -> Result<f64> {
        if (low..=high).contains(&value) { Ok(value) } else { Err(self.error(key, &format!(" = {value}: expected {low} to {high}"))) }
    }

    fn share(&self, key: &str, value: f64) -> Result<f64> {
        self.range(key, value, 0.0, 1.0)
    }

    /// Checks an alignment in KiB, a multiple of 0.5, and returns it in bytes.
    fn alignment(&self, key: &str, kb: f64, least_kb: f64) -> Result<u64> {
        self.range(key, kb, least_kb, 1_048_576.0)?;
        if (kb * 2.0).fract() != 0.0 {
            return Err(self.error(key, &format!(" = {kb}: expected a multiple of 0.5 (one sector)")));
        }
        Ok((kb * 2.0) as u64 * SECTOR_BYTES)
    }

    /// The footprint, rounded down to whole sectors, bytes.
    fn footprint(&self, share: f64, exported_bytes: u64) -> Result<u64> {
        self.range("footprint", share, 0.000001, 1.0)?;
        let bytes = if share == 1.0 { exported_bytes } else { (exported_bytes as f64 * share) as u64 };
        let bytes = bytes / SECTOR_BYTES * SECTOR_BYTES;
        if bytes == 0 {
            let message = format!(" = {share}: of the {exported_bytes} bytes that the drive exports that is less than one sector");
            return Err(self.error("footprint", &message));
        }
        Ok(bytes)
    }
}

/// Draws request sizes in bytes: whole sectors, at least one, at most the footprint.
#[derive(Clone, Debug)]
struct Sizes {
    law: SizeLaw,
    max: u64,
    rng: Rng,
}

#[derive(Clone, Debug)]
enum SizeLaw {
    Fixed(u64),
    /// Exponentially distributed, rounded up to whole sectors. Holds the scale in sectors.
    Exponential(f64),
    /// Drawn from a table of (size in bytes, cumulative weight).
    Table(Vec<(u64, f64)>),
}

impl Sizes {
    fn new(config: &Workload, check: &Place, footprint: u64, rng: Rng) -> Result<Self> {
        let law = match config.request_size {
            SizeDistribution::Fixed => SizeLaw::Fixed(sectors(Self::mean_kb(config, check, footprint)?)),
            SizeDistribution::Exponential => SizeLaw::Exponential(rounded_up_scale(Self::mean_kb(config, check, footprint)? * 2.0)),
            SizeDistribution::Table => Self::table(config, check, footprint)?,
        };
        Ok(Sizes { law, max: footprint, rng })
    }

    fn mean_kb(config: &Workload, check: &Place, footprint: u64) -> Result<f64> {
        let kb = check.range("request_kb", config.request_kb, 0.5, 1_048_576.0)?;
        Self::fits(check, "request_kb", kb, footprint)?;
        Ok(kb)
    }

    fn fits(check: &Place, key: &str, kb: f64, footprint: u64) -> Result<()> {
        if sectors(kb) > footprint {
            return Err(check.error(
                key,
                &format!(
                    ": {kb} KiB is more than the flow's footprint of {} KiB; make requests smaller, or workload.footprint larger",
                    footprint / 1024
                ),
            ));
        }
        Ok(())
    }

    fn table(config: &Workload, check: &Place, footprint: u64) -> Result<SizeLaw> {
        let mut total = 0.0;
        let mut table = Vec::with_capacity(config.size_table.len());
        for &(kb, weight) in &config.size_table {
            check.range("size_table", kb, 0.5, 1_048_576.0)?;
            check.range("size_table", weight, 0.0, 1e15)?;
            Self::fits(check, "size_table", kb, footprint)?;
            total += weight;
            table.push((sectors(kb), total));
        }
        if total <= 0.0 {
            return Err(
                check.error("size_table", ": expected at least one pair [size in KiB, weight above 0] for request_size = \"table\"")
            );
        }
        Ok(SizeLaw::Table(table))
    }

    fn draw(&mut self) -> u64 {
        let bytes = match &self.law {
            SizeLaw::Fixed(bytes) => *bytes,
            SizeLaw::Exponential(scale) => (self.rng.exponential(*scale).ceil() as u64).max(1).saturating_mul(SECTOR_BYTES),
            SizeLaw::Table(table) => {
                let total = table.last().expect("a table has a pair of weight above 0").1;
                let drawn = self.rng.unit() * total;
                // The first entry whose cumulative weight exceeds the draw: never one of weight 0.
                table[table.partition_point(|&(_, upto)| upto <= drawn).min(table.len() - 1)].0
            }
        };
        bytes.min(self.max)
    }
}

/// A size in KiB, rounded to whole sectors (at least one), in bytes.
fn sectors(kb: f64) -> u64 {
    ((kb * 2.0).round() as u64).max(1) * SECTOR_BYTES
}

/// The scale of an exponential variate whose value, rounded up to whole sectors, has the given mean: rounding up makes it geometric with
/// success probability 1 - exp(-1/scale) = 1/mean. A mean of one sector or less is always one sector (scale 0).
fn rounded_up_scale(mean_sectors: f64) -> f64 {
    if mean_sectors <= 1.0 { 0.0 } else { -1.0 / libm::log1p(-1.0 / mean_sectors) }
}

/// Arrival times of a flow, in ps.
#[derive(Clone, Debug)]
struct Arrivals {
    law: Arrival,
    gap_ps: f64,
    /// `gap_ps` rounded to whole picoseconds, for fixed interarrival times.
    fixed_ps: u128,
    burst_length: u32,
    left_in_burst: u32,
    now_ps: u128,
    rng: Rng,
}

impl Arrivals {
    fn new(config: &Workload, check: &Place, rng: Rng) -> Result<Self> {
        let faster = check.range("time_scale", config.time_scale, 1e-6, 1e6)?;
        let gap_ps = check.range("interarrival_us", config.interarrival_us, 0.0, 1e9)? * 1e6 / faster;
        if config.burst_length == 0 {
            return Err(check.error("burst_length", " = 0: expected at least 1"));
        }
        let burst_length = config.burst_length;
        // In a closed loop without pacing the times only order the turns of several flows: for a single one, none are drawn.
        let is_read = config.queue_depth == 0 || config.paced || !check.is_only;
        let (law, gap_ps) = if is_read { (config.arrival, gap_ps) } else { (Arrival::Fixed, 0.0) };
        Ok(Arrivals { law, gap_ps, fixed_ps: gap_ps.round() as u128, burst_length, left_in_burst: 0, now_ps: 0, rng })
    }

    fn advance(&mut self) {
        let gap_ps = match self.law {
            Arrival::Fixed => {
                self.now_ps += self.fixed_ps;
                return;
            }
            Arrival::Exponential => self.rng.exponential(self.gap_ps),
            Arrival::Burst if self.left_in_burst > 0 => {
                self.left_in_burst -= 1;
                0.0
            }
            Arrival::Burst => {
                self.left_in_burst = self.burst_length - 1;
                self.rng.exponential(self.gap_ps * f64::from(self.burst_length))
            }
        };
        self.now_ps += rounded(gap_ps);
    }

    fn now_ns(&self) -> Result<Ns> {
        // 64-bit division takes a few instructions and suffices for 213 days.
        if let Ok(now_ps) = u64::try_from(self.now_ps) {
            return Ok(now_ps / PS_PER_NS as u64);
        }
        Ns::try_from(self.now_ps / PS_PER_NS).map_err(|_| {
            Error::Config("workload.interarrival_us: the arrivals span more than 584 years; lower it, or use fewer requests".into())
        })
    }
}

/// Rounds `x`, which is not negative, to the nearest whole number, halves up. Below 2^52 without a function call.
#[inline(always)]
fn rounded(x: f64) -> u128 {
    if x < (1_u64 << 52) as f64 {
        let whole = x as u64;
        u128::from(whole + u64::from(x - whole as f64 >= 0.5))
    } else {
        x.round() as u128
    }
}

/// Draws the kind of each request, and which writes have high priority.
#[derive(Clone, Debug)]
struct Kinds {
    read_share: f64,
    trim_share: f64,
    high_priority_share: f64,
    kind: Rng,
    trim: Rng,
    priority: Rng,
}

impl Kinds {
    fn new(config: &Workload, check: &Place, [kind, trim, priority]: [Rng; 3]) -> Result<Self> {
        let read_share = check.share("read_share", config.read_share)?;
        let high_priority_share = check.share("high_priority_share", config.high_priority_share)?;
        let trim_share = check.share("trim_share", config.trim_share)?;
        Ok(Kinds { read_share, trim_share, high_priority_share, kind, trim, priority })
    }

    fn draw(&mut self) -> (RequestKind, bool) {
        // Each stream has this one use, so the draws for a share of 0 can be left out.
        if self.read_share > 0.0 && self.kind.chance(self.read_share) {
            return (RequestKind::Read, false);
        }
        if self.trim_share > 0.0 && self.trim.chance(self.trim_share) {
            return (RequestKind::Trim, false);
        }
        (RequestKind::Write, self.high_priority_share > 0.0 && self.priority.chance(self.high_priority_share))
    }
}

/// Draws the first byte of each request.
#[derive(Clone, Debug)]
struct Addresses {
    law: AddressLaw,
    sequential_share: f64,
    footprint: u64,
    align: u64,
    /// Requests of at least this many bytes begin at multiples of it; 0: no such rule.
    align_large: u64,
    /// Number of aligned addresses in the footprint.
    slots: u64,
    /// End of the flow's previous request, bytes; `None` before the first.
    last_end: Option<u64>,
    sequential: Rng,
    random: Rng,
}

#[derive(Clone, Debug)]
enum AddressLaw {
    Uniform,
    /// The first `hot` slots are accessed with probability `access`; `scatter` then permutes the slots over the footprint.
    HotCold {
        hot: u64,
        access: f64,
        scatter: Option<Scatter>,
    },
    Zipf(Zipf, Scatter),
    FioZipf(FioZipf, Places),
    Pareto(Pareto, Places),
    Normal(Normal),
    Zones(Zones),
    Start,
    /// Pass after pass over all slots: `next` is the position in the pass, `order` that of the slots in it.
    Permutation {
        order: Scatter,
        next: u64,
        repeats: bool,
    },
}

impl Addresses {
    fn new(config: &Workload, check: &Place, footprint: u64, [sequential, random, mut scatter]: [Rng; 3]) -> Result<Self> {
        let align = check.alignment("align_kb", config.align_kb, 0.5)?;
        let align_large = check.alignment("align_large_kb", config.align_large_kb, 0.0)?;
        let slots = footprint.div_ceil(align);
        let law = match config.address {
            Address::Uniform => AddressLaw::Uniform,
            Address::HotCold => AddressLaw::HotCold {
                hot: ((slots as f64 * check.share("hot_share", config.hot_share)?).round() as u64).min(slots),
                access: check.share("hot_access", config.hot_access)?,
                scatter: config.hot_scattered.then(|| Scatter::new(slots, &mut scatter)),
            },
            Address::Zipf => {
                let exponent = check.range("zipf_exponent", config.zipf_exponent, 0.0, 10.0)?;
                if config.fio_draws {
                    AddressLaw::FioZipf(FioZipf::new(slots, exponent), Places::fio(slots, &mut scatter))
                } else {
                    AddressLaw::Zipf(Zipf::new(slots, exponent), Scatter::new(slots, &mut scatter))
                }
            }
            Address::Pareto => {
                let h = check.range("pareto_h", config.pareto_h, 0.0001, 0.9999)?;
                let places = if config.fio_draws { Places::fio } else { Places::scattered };
                AddressLaw::Pareto(Pareto::new(slots, h), places(slots, &mut scatter))
            }
            Address::Normal => AddressLaw::Normal(Normal::new(slots, check.range("normal_width", config.normal_width, 0.0, 0.5)?)),
            Address::Zones => AddressLaw::Zones(
                Zones::new(slots, &config.zones).ok_or_else(|| check.error("zones", ": expected a zone with requests and a size"))?,
            ),
            Address::Start => AddressLaw::Start,
            Address::Permutation => {
                AddressLaw::Permutation { order: Scatter::new(slots, &mut scatter), next: 0, repeats: config.permutation_repeats }
            }
        };
        let sequential_share = check.share("sequential_share", config.sequential_share)?;
        Ok(Addresses { law, sequential_share, footprint, align, align_large, slots, last_end: None, sequential, random })
    }

    fn draw(&mut self, length: u64) -> u64 {
        // Every request draws from this stream, or for a share of 0 none does, so that other draws never shift it.
        let is_sequential = self.sequential_share > 0.0 && self.sequential.chance(self.sequential_share);
        let start = match self.last_end {
            Some(end) if is_sequential => {
                if end + length <= self.footprint {
                    end
                } else {
                    0
                }
            }
            _ => self.random_start(length),
        };
        self.last_end = Some(start + length);
        start
    }

    fn random_start(&mut self, length: u64) -> u64 {
        let last_fitting = (self.footprint - length) / self.align;
        let rng = &mut self.random;
        let slot = match &mut self.law {
            AddressLaw::Uniform => rng.below(last_fitting + 1),
            AddressLaw::HotCold { hot, access, scatter } => {
                let slot = match *hot {
                    0 => rng.below(self.slots),
                    hot if hot == self.slots || rng.chance(*access) => rng.below(hot),
                    hot => hot + rng.below(self.slots - hot),
                };
                scatter.as_ref().map_or(slot, |scatter| scatter.place(slot))
            }
            AddressLaw::Zipf(zipf, scatter) => scatter.place(zipf.rank(rng) - 1),
            AddressLaw::FioZipf(zipf, places) => places.place(zipf.rank(rng)),
            AddressLaw::Pareto(pareto, places) => places.place(pareto.rank(rng)),
            AddressLaw::Normal(normal) => normal.slot(rng),
            AddressLaw::Zones(zones) => zones.slot(rng),
            AddressLaw::Start => 0,
            AddressLaw::Permutation { order, next, repeats } => {
                if *next == self.slots {
                    *next = 0;
                    if !*repeats {
                        *order = Scatter::new(self.slots, rng);
                    }
                }
                *next += 1;
                order.place(*next - 1)
            }
        };
        let start = slot.min(last_fitting) * self.align;
        if self.align_large > 0 && length >= self.align_large { start / self.align_large * self.align_large } else { start }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    const MB: u64 = 1 << 20;
    /// All distributions of addresses, with `hot_scattered`.
    const ADDRESSES: [(Address, bool); 7] = [
        (Address::Uniform, false),
        (Address::HotCold, false),
        (Address::HotCold, true),
        (Address::Zipf, false),
        (Address::Permutation, false),
        (Address::Pareto, false),
        (Address::Normal, false),
    ];

    fn take(config: &Workload, exported: u64, count: usize) -> Vec<Request> {
        let mut generator = Generator::new(config, exported, 42).unwrap();
        (0..count).map(|_| generator.next_request().unwrap().unwrap()).collect()
    }

    fn message(config: &Workload) -> String {
        Generator::new(config, 16 * MB, 42).unwrap_err().to_string()
    }

    fn mean(values: impl ExactSizeIterator<Item = u64>) -> f64 {
        let count = values.len() as f64;
        values.map(|v| v as f64).sum::<f64>() / count
    }

    #[test]
    fn other_draws_have_the_same_popular_addresses() {
        let config = Workload { address: Address::Zipf, zipf_exponent: 1.2, request_kb: 4.0, align_kb: 4.0, ..Workload::default() };
        let popular = |requests: &[Request]| {
            let mut counts = BTreeMap::<u64, u32>::new();
            requests.iter().for_each(|request| *counts.entry(request.offset).or_default() += 1);
            let mut by_count: Vec<_> = counts.into_iter().map(|(offset, count)| (count, offset)).collect();
            by_count.sort_unstable_by(|a, b| b.cmp(a));
            by_count.into_iter().take(3).map(|(_, offset)| offset).collect::<Vec<_>>()
        };
        let first = take(&config, 64 * MB, 20_000);
        let mut generator = Generator::new(&config, 64 * MB, 42).unwrap();
        generator.draw_others();
        let others: Vec<_> = (0..20_000).map(|_| generator.next_request().unwrap().unwrap()).collect();
        assert_eq!(popular(&others), popular(&first));
        let same = first.iter().zip(&others).filter(|(one, other)| one.offset == other.offset).count();
        assert!(same < 10_000, "{same} of 20,000 at the same address");
    }

    #[test]
    fn a_pass_reaches_each_address_once_in_an_order_that_is_new_or_repeats() {
        for permutation_repeats in [false, true] {
            let config =
                Workload { address: Address::Permutation, permutation_repeats, request_kb: 4.0, align_kb: 4.0, ..Workload::default() };
            let offsets: Vec<u64> = take(&config, 400 << 10, 300).iter().map(|request| request.offset).collect();
            let passes: Vec<&[u64]> = offsets.chunks(100).collect();
            for pass in &passes {
                let mut sorted = pass.to_vec();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..100).map(|slot| slot << 12).collect::<Vec<u64>>());
            }
            assert_eq!((passes[0] == passes[1], passes[1] == passes[2]), (permutation_repeats, permutation_repeats));
        }
    }

    /// Each of the 4 KiB writes in a row follows its trim; two of them are 8 KiB.
    #[test]
    fn trims_come_first_and_are_counted_once() {
        let config = Workload {
            trim_first: true,
            read_share: 0.0,
            sequential_share: 1.0,
            address: Address::Start,
            total_bytes: 8192,
            queue_depth: 1,
            ..Workload::default()
        };
        let mut generator = Generator::new(&config, 16 * MB, 1).unwrap();
        let requests: Vec<_> = std::iter::from_fn(|| generator.next_request().unwrap()).map(|r| (r.kind, r.offset, r.length)).collect();
        let pair = |offset| [(RequestKind::Trim, offset, 4096), (RequestKind::Write, offset, 4096)];
        assert_eq!(requests, [pair(0), pair(4096)].concat());
    }

    /// As in fio (`get_rw_ddir`): behind every second write and before the next request, so none behind the last. Reads and trims do not count.
    #[test]
    fn a_flush_follows_every_n_writes() {
        let kinds = |requests: u64, config: Workload| {
            let config = Workload { flush_every: 2, total_bytes: requests * 4096, ..config };
            let mut generator = Generator::new(&config, 16 * MB, 1).unwrap();
            let requests: Vec<_> = std::iter::from_fn(|| generator.next_request().unwrap()).collect();
            for pair in requests.windows(2).filter(|pair| pair[1].kind == RequestKind::Flush) {
                let (write, flush) = (pair[0], pair[1]);
                assert_eq!((write.kind, flush.arrival_ns, flush.length), (RequestKind::Write, write.arrival_ns, 0));
            }
            requests.iter().map(|request| ['r', 'w', 't', 'f'][request.kind as usize]).collect::<String>()
        };
        let writes = Workload { read_share: 0.0, ..Workload::default() };
        assert_eq!(kinds(5, writes.clone()), "wwfwwfw");
        assert_eq!(kinds(5, Workload { trim_first: true, ..writes }), "twtwftwtwftw");
        let mixed = kinds(400, Workload::default());
        assert!(mixed.contains("wrwf") && mixed.replace('r', "").replace("wwf", "").len() < 3, "{mixed}");
    }

    /// 10,000 requests other than reads, a quarter trims: the standard deviation of the share is 0.0043.
    #[test]
    fn trims_have_their_share_and_shift_no_other_draw() {
        let base = Workload { read_share: 0.5, ..Workload::default() };
        let (with, without) = (take(&Workload { trim_share: 0.25, ..base.clone() }, 64 * MB, 20_000), take(&base, 64 * MB, 20_000));
        let count = |kind| with.iter().filter(|request| request.kind == kind).count() as f64;
        let share = count(RequestKind::Trim) / (count(RequestKind::Trim) + count(RequestKind::Write));
        assert!((share - 0.25).abs() < 0.015, "{share}");
        for (one, other) in with.iter().zip(&without) {
            assert_eq!((one.offset, one.kind == RequestKind::Read), (other.offset, other.kind == RequestKind::Read));
        }
    }

    /// 10 us apart from 10 us on: those before 35 us are at 10, 20 and 30 us. Requests of 4 KiB: the third reaches 10,000 bytes.
    #[test]
    fn a_flow_ends_by_time_or_by_bytes() {
        let base = Workload { arrival: Arrival::Fixed, interarrival_us: 10.0, ..Workload::default() };
        for config in [Workload { run_s: 35e-6, ..base.clone() }, Workload { total_bytes: 10_000, ..base }] {
            let mut generator = Generator::new(&config, 16 * MB, 1).unwrap();
            let times: Vec<_> = std::iter::from_fn(|| generator.next_request().unwrap()).map(|request| request.arrival_ns).collect();
            assert_eq!(times, [10_000, 20_000, 30_000]);
        }
    }

    #[test]
    fn shares_and_means_are_as_configured() {
        let config = Workload {
            request_kb: 13.7,
            request_size: SizeDistribution::Exponential,
            interarrival_us: 300.0,
            read_share: 0.3,
            sequential_share: 0.4,
            high_priority_share: 0.25,
            ..Workload::default()
        };
        let requests = take(&config, 64 * MB, 100_000);
        let share = |hits: usize, of: usize| hits as f64 / of as f64;
        assert!((mean(requests.iter().map(|r| r.length)) / 1024.0 - 13.7).abs() < 0.15);
        assert!((requests.last().unwrap().arrival_ns as f64 / 1e5 / 300_000.0 - 1.0).abs() < 0.02);
        let writes: Vec<_> = requests.iter().filter(|r| r.kind == RequestKind::Write).collect();
        assert!((share(writes.len(), requests.len()) - 0.7).abs() < 0.01);
        assert!((share(writes.iter().filter(|r| r.high_priority).count(), writes.len()) - 0.25).abs() < 0.01);
        assert!(requests.iter().all(|r| r.kind == RequestKind::Write || !r.high_priority));
        let sequential = requests.windows(2).filter(|w| w[1].offset == w[0].offset + w[0].length).count();
        assert!((share(sequential, requests.len()) - 0.4).abs() < 0.01);
        assert!(requests.windows(2).all(|w| w[0].arrival_ns <= w[1].arrival_ns));
    }

    #[test]
    fn every_request_lies_in_the_footprint_in_whole_sectors() {
        for (address, hot_scattered) in ADDRESSES {
            let config = Workload {
                address,
                hot_scattered,
                request_kb: 100.0,
                request_size: SizeDistribution::Exponential,
                sequential_share: 0.5,
                footprint: 0.31,
                align_kb: 3.5,
                ..Workload::default()
            };
            let footprint = (MB as f64 * 0.31) as u64 / 512 * 512;
            for request in take(&config, MB, 20_000) {
                assert!(request.length > 0 && request.length % 512 == 0 && request.offset % 512 == 0);
                assert!(request.offset + request.length <= footprint, "{address:?} {request:?}");
            }
        }
    }

    #[test]
    fn large_requests_alone_begin_at_their_own_multiples() {
        for (address, hot_scattered) in ADDRESSES {
            let config = Workload {
                address,
                hot_scattered,
                request_size: SizeDistribution::Table,
                size_table: vec![(8.0, 1.0), (64.0, 1.0), (72.0, 1.0)],
                align_kb: 8.0,
                align_large_kb: 64.0,
                ..Workload::default()
            };
            let (large, small): (Vec<_>, Vec<_>) = take(&config, MB, 6000).into_iter().partition(|r| r.length >= 64 << 10);
            assert!(large.iter().all(|r| r.offset % (64 << 10) == 0 && r.offset + r.length <= MB), "{address:?}");
            assert!(small.iter().any(|r| r.offset % (64 << 10) != 0), "{address:?}");
            // Uniform addresses reach all 16 multiples of 64 KiB, of which 15 have room for 72 KiB.
            let starts = large.iter().map(|r| r.offset).collect::<BTreeSet<_>>();
            assert!(address != Address::Uniform || starts.len() == 16, "{starts:?}");
        }
        let config = Workload { align_large_kb: 64.2, ..Workload::default() };
        assert!(message(&config).contains("workload.align_large_kb"));
    }

    #[test]
    fn a_purely_sequential_flow_wraps_to_the_start() {
        let config = Workload { sequential_share: 1.0, request_kb: 96.0, ..Workload::default() };
        let requests = take(&config, MB, 1000);
        for pair in requests.windows(2) {
            let end = pair[0].offset + pair[0].length;
            assert_eq!(pair[1].offset, if end + 96 * 1024 <= MB { end } else { 0 });
        }
    }

    #[test]
    fn a_closed_loop_of_one_flow_has_no_times_and_else_the_same_requests() {
        let open = Workload { read_share: 0.3, request_size: SizeDistribution::Exponential, ..Workload::default() };
        let closed = Workload { queue_depth: 4, ..open.clone() };
        let timeless = |config| take(config, MB, 1000).into_iter().map(|request| Request { arrival_ns: 0, ..request }).collect::<Vec<_>>();
        assert_eq!(take(&closed, MB, 1000), timeless(&open));
        assert!(take(&open, MB, 1).iter().all(|request| request.arrival_ns > 0));
        // Flows take turns by their times.
        let flow = serde_json::json!({"interarrival_us": 1e6}).as_object().unwrap().clone();
        let of_flows = Workload { flows: vec![flow], ..closed };
        assert!(take(&of_flows, MB, 1000).iter().all(|request| request.arrival_ns > 0));
    }

    #[test]
    fn fixed_arrivals_do_not_drift() {
        let config = Workload { arrival: Arrival::Fixed, interarrival_us: 0.3333, ..Workload::default() };
        let requests = take(&config, MB, 30_000);
        assert_eq!(requests[2].arrival_ns, 999); // 3 x 333.3 ns
        assert_eq!(requests[29_999].arrival_ns, 9_999_000);
    }

    #[test]
    fn time_scale_speeds_up_every_flow_alike() {
        let flows = vec![serde_json::from_str(r#"{"arrival": "fixed", "read_share": 1.0}"#).unwrap()];
        let config = Workload { interarrival_us: 1000.0, flows, ..Workload::default() };
        let plain = take(&config, MB, 100);
        let fast = take(&Workload { time_scale: 16.0, ..config }, MB, 100);
        assert!(plain.iter().any(|request| request.kind == RequestKind::Read) && plain.last().unwrap().arrival_ns > 10_000_000);
        for (plain, fast) in plain.iter().zip(&fast) {
            assert_eq!((plain.kind, plain.offset, plain.length), (fast.kind, fast.offset, fast.length));
            assert!(plain.arrival_ns.abs_diff(fast.arrival_ns * 16) <= 16, "{} {}", plain.arrival_ns, fast.arrival_ns);
        }
    }

    #[test]
    fn bursts_arrive_together_and_keep_the_mean() {
        let config = Workload { arrival: Arrival::Burst, burst_length: 4, interarrival_us: 10.0, ..Workload::default() };
        let requests = take(&config, MB, 40_000);
        for burst in requests.chunks(4) {
            assert!(burst.iter().all(|r| r.arrival_ns == burst[0].arrival_ns));
        }
        assert!((requests.last().unwrap().arrival_ns as f64 / 40_000.0 / 10_000.0 - 1.0).abs() < 0.05);
    }

    #[test]
    fn hot_addresses_get_their_share() {
        let config = Workload { address: Address::HotCold, hot_share: 0.1, hot_access: 0.9, ..Workload::default() };
        let requests = take(&config, 40 * MB, 50_000);
        let hot = requests.iter().filter(|r| r.offset < 4 * MB).count();
        assert!((hot as f64 / 50_000.0 - 0.9).abs() < 0.01);
    }

    /// A workload on 10240 pages, of which a tenth is hot and scattered.
    fn scattered(hot_access: f64) -> Workload {
        Workload { address: Address::HotCold, hot_share: 0.1, hot_access, hot_scattered: true, ..Workload::default() }
    }

    #[test]
    fn scattered_hot_pages_are_all_over_the_footprint_and_as_many_as_configured() {
        // 30 requests for each hot page: one is left out with a probability of 1024 e^-30.
        let requests = take(&scattered(1.0), 40 * MB, 30 * 1024);
        let hot: BTreeSet<u64> = requests.iter().map(|r| r.offset).collect();
        assert!(hot.len() == 1024 && hot.iter().all(|offset| offset % 4096 == 0), "{}", hot.len());
        let of_tenth = |tenth: u64| requests.iter().filter(|r| r.offset / (4 * MB) == tenth).count() as f64 / requests.len() as f64;
        let tenths: Vec<f64> = (0..10).map(of_tenth).collect();
        // A tenth of the footprint has 102.4 hot pages, with a standard deviation of 9.1.
        assert!(tenths.iter().all(|share| (share - 0.1).abs() < 0.03), "{tenths:?}");
        // The places have no pattern: a tenth of the hot pages have a hot one behind them, 102 with a standard deviation of 10.
        let neighbours = hot.iter().filter(|&offset| hot.contains(&(offset + 4096))).count();
        assert!((60..145).contains(&neighbours), "{neighbours}");
    }

    #[test]
    fn scattered_hot_pages_get_their_share_and_cold_ones_the_rest() {
        let hot: BTreeSet<u64> = take(&scattered(1.0), 40 * MB, 30 * 1024).iter().map(|r| r.offset).collect();
        let mixed = take(&scattered(0.9), 40 * MB, 50_000);
        let (to_hot, to_cold): (Vec<&Request>, Vec<&Request>) = mixed.iter().partition(|r| hot.contains(&r.offset));
        assert!((to_hot.len() as f64 / 50_000.0 - 0.9).abs() < 0.01, "{}", to_hot.len());
        assert_eq!(to_hot.iter().map(|r| r.offset).collect::<BTreeSet<_>>(), hot);
        for tenth in 0..10 {
            let share = to_cold.iter().filter(|r| r.offset / (4 * MB) == tenth).count() as f64 / to_cold.len() as f64;
            assert!((share - 0.1).abs() < 0.03, "{tenth}: {share}");
        }
        let to_cold_only = take(&scattered(0.0), 40 * MB, 10_000);
        assert!(to_cold_only.iter().all(|r| !hot.contains(&r.offset)));
    }

    #[test]
    fn scattering_the_hot_part_gives_each_address_one_place_and_shifts_no_draw() {
        let plain = Workload { hot_scattered: false, ..scattered(0.8) };
        let (before, after) = (take(&plain, 4 * MB, 50_000), take(&scattered(0.8), 4 * MB, 50_000));
        let (mut places, mut taken) = (BTreeMap::new(), BTreeMap::new());
        for (plain, scattered) in before.iter().zip(&after) {
            assert_eq!(Request { offset: 0, ..*plain }, Request { offset: 0, ..*scattered });
            assert_eq!(*places.entry(plain.offset).or_insert(scattered.offset), scattered.offset);
            assert_eq!(*taken.entry(scattered.offset).or_insert(plain.offset), plain.offset);
        }
        assert_eq!((places.len(), taken.len()), (1024, 1024));
        assert!(places.iter().filter(|(from, to)| from == to).count() < 10, "a page stays where it was with a probability of 1 in 1024");
    }

    #[test]
    fn flows_and_seeds_have_hot_pages_of_their_own() {
        let flow = serde_json::json!({ "read_share": 1.0, "hot_scattered": true });
        let flows = vec![flow.as_object().unwrap().clone()];
        let config = Workload { read_share: 0.0, hot_scattered: false, flows, ..scattered(1.0) };
        let hot = |kind, requests: &[Request]| requests.iter().filter(|r| r.kind == kind).map(|r| r.offset).collect::<BTreeSet<_>>();
        let requests = take(&config, 4 * MB, 10_000);
        let first: BTreeSet<u64> = (0..102).map(|page| page * 4096).collect();
        assert_eq!(hot(RequestKind::Write, &requests), first, "the first flow's hot part lies at the start");
        let scattered_flow = hot(RequestKind::Read, &requests);
        assert!(scattered_flow.len() == 102 && scattered_flow.intersection(&first).count() < 30, "{scattered_flow:?}");
        let both = take(&Workload { hot_scattered: true, ..config }, 4 * MB, 10_000);
        assert_eq!(hot(RequestKind::Read, &both), scattered_flow);
        assert!(hot(RequestKind::Write, &both).intersection(&scattered_flow).count() < 30);
        let mut other = Generator::new(&scattered(1.0), 4 * MB, 43).unwrap();
        let other: BTreeSet<u64> = (0..10_000).map(|_| other.next_request().unwrap().unwrap().offset).collect();
        assert!(other.len() == 102 && other.intersection(&hot(RequestKind::Write, &both)).count() < 30);
    }

    #[test]
    fn zipf_addresses_are_skewed_and_scattered() {
        let config = Workload { address: Address::Zipf, zipf_exponent: 1.0, ..Workload::default() };
        let mut counts = BTreeMap::new();
        for request in take(&config, 4 * MB, 100_000) {
            *counts.entry(request.offset / 4096).or_insert(0u32) += 1;
        }
        let mut by_count: Vec<(u32, u64)> = counts.iter().map(|(&slot, &count)| (count, slot)).collect();
        by_count.sort_unstable_by(|a, b| b.cmp(a));
        // Harmonic number of 1024: 7.51, so the first has 13.3 %.
        assert!((f64::from(by_count[0].0) / 1e5 - 0.1332).abs() < 0.005, "{:?}", &by_count[..3]);
        assert!(by_count[..20].iter().any(|&(_, slot)| slot > 512) && by_count[..20].iter().any(|&(_, slot)| slot < 512));
    }

    #[test]
    fn rounding_without_a_call_is_rounding() {
        let mut rng = Rng::new(1, "rounding");
        let edges = [0.0, 0.5, 0.499_999_999_999_999_94, 1.5, 2.5, 4_503_599_627_370_495.5, 4_503_599_627_370_496.0, 1e25];
        let drawn = (0..10_000).map(|power| rng.exponential(f64::from(power % 60).exp2()));
        for x in edges.into_iter().chain(drawn) {
            assert_eq!(rounded(x), x.round() as u128, "{x}");
        }
    }

    #[test]
    fn tables_follow_their_weights() {
        let config = Workload {
            request_size: SizeDistribution::Table,
            size_table: vec![(4.0, 3.0), (8.0, 0.0), (64.0, 1.0)],
            ..Workload::default()
        };
        let requests = take(&config, 64 * MB, 40_000);
        let small = requests.iter().filter(|r| r.length == 4096).count();
        assert!((small as f64 / 40_000.0 - 0.75).abs() < 0.01);
        assert!(requests.iter().all(|r| r.length != 8192));
    }

    #[test]
    fn a_further_flow_changes_nothing_in_the_first() {
        let flow = serde_json::json!({ "read_share": 1.0, "interarrival_us": 500.0, "request_kb": 8 });
        let alone = Workload { read_share: 0.0, ..Workload::default() };
        let both = Workload { flows: vec![flow.as_object().unwrap().clone()], ..alone.clone() };
        let merged = take(&both, 64 * MB, 3000);
        assert!(merged.windows(2).all(|w| w[0].arrival_ns <= w[1].arrival_ns));
        let first: Vec<Request> = merged.iter().filter(|r| r.kind == RequestKind::Write).copied().collect();
        assert_eq!(first, take(&alone, 64 * MB, first.len()));
        assert!(merged.iter().filter(|r| r.kind == RequestKind::Read).all(|r| r.length == 8192));
        assert!((first.len() as f64 / 3000.0 - 1.0 / 3.0).abs() < 0.05);
    }

    #[test]
    fn one_more_draw_of_one_kind_shifts_no_other() {
        let base = Workload { request_size: SizeDistribution::Exponential, ..Workload::default() };
        let other = Workload { arrival: Arrival::Fixed, read_share: 0.9, ..base.clone() };
        let (a, b) = (take(&base, 64 * MB, 100), take(&other, 64 * MB, 100));
        assert!(a.iter().zip(&b).all(|(a, b)| (a.offset, a.length) == (b.offset, b.length)));
    }

    #[test]
    fn impossible_values_name_the_key() {
        let base = Workload::default();
        assert!(message(&Workload { request_kb: f64::NAN, ..base.clone() }).contains("workload.request_kb"));
        assert!(message(&Workload { request_kb: 1e5, ..base.clone() }).contains("more than the flow's footprint"));
        assert!(message(&Workload { read_share: 1.5, ..base.clone() }).contains("workload.read_share = 1.5"));
        assert!(message(&Workload { align_kb: 0.7, ..base.clone() }).contains("workload.align_kb"));
        assert!(message(&Workload { request_size: SizeDistribution::Table, ..base.clone() }).contains("size_table"));
        let flow = |json: Value| Workload { flows: vec![json.as_object().unwrap().clone()], ..base.clone() };
        let typo = message(&flow(serde_json::json!({ "reed_share": 1.0 })));
        assert!(typo.contains("workload.flows[0]") && typo.contains("the nearest is read_share"), "{typo}");
        assert!(message(&flow(serde_json::json!({ "read_share": 2.0 }))).contains("workload.flows[0].read_share"));
        assert!(Generator::new(&base, 100, 1).unwrap_err().to_string().contains("footprint"));
    }
}
