//! What the tests of slack-aware scheduling share: small drives, runs watched page by page at every instant, and cases worked by hand.

use std::collections::BTreeMap;

use ssdlab::config::{Config, Order, PreconditionKind};
use ssdlab::flash::{Interval, Resource};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::{Control, Plan, Simulation, Verify};
use ssdlab::ssd::Ssd;
use ssdlab::stats::{Part, Parts, SlackResult};
use ssdlab::units::Ns;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// The time unit of the paper's figures.
pub const CYCLE: Ns = 1000;
/// The shortest time there is.
pub const NS: Ns = 1;
/// More instants than any of these runs has.
const INSTANTS: u64 = 1_000_000;

/// A drive of one die and plane a chip, one chip a channel, filled, with transfers that take no time: a read takes a cycle, a program four,
/// which are four steps. Page `p` lies on chip `p` modulo the chips. Two thirds are spare, so that nothing is ever collected.
pub fn cycles(chips: u32, change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    config.device.channels = chips;
    config.device.blocks_per_plane = 24;
    config.device.pages_per_block = 8;
    config.device.overprovisioning = 0.67;
    config.device.read_ns = CYCLE;
    config.device.program_ns = 4 * CYCLE;
    config.device.transfer_ps_per_byte = 0;
    config.device.command_ns = 0;
    config.device.ispp_steps = 4;
    config.ftl.precondition.kind = PreconditionKind::Fill;
    config.gc.soft = 1.0;
    config.scheduler.order = Order::FrFcfs;
    config.scheduler.estimates = true;
    change(&mut config);
    config
}

pub fn reads(arrival_ns: Ns, page: u64, pages: u64) -> Request {
    Request { arrival_ns, kind: RequestKind::Read, offset: page * PAGE, length: pages * PAGE, high_priority: false, flow: 0, handle: None }
}

pub fn read(arrival_ns: Ns, page: u64) -> Request {
    reads(arrival_ns, page, 1)
}

pub fn writes(arrival_ns: Ns, page: u64, pages: u64) -> Request {
    Request { kind: RequestKind::Write, ..reads(arrival_ns, page, pages) }
}

pub fn write(arrival_ns: Ns, page: u64) -> Request {
    writes(arrival_ns, page, 1)
}

/// A write of the second half of a page, and of the pages after it.
pub fn partial_writes(arrival_ns: Ns, page: u64, pages: u64) -> Request {
    let whole = writes(arrival_ns, page, pages);
    Request { offset: whole.offset + PAGE / 2, length: whole.length - PAGE / 2, ..whole }
}

/// A page of a request, by the request's index: the logical page number.
pub type Key = (u64, u64);

/// What is expected of some pages.
type OfPages = Vec<(Key, Ns)>;

/// What was seen of a page operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The instant after which it was under way.
    pub admitted: Ns,
    /// When it was estimated to end.
    pub estimate: Ns,
    /// Slack of the page when the instant of its admission had passed.
    pub slack: Ns,
    /// Slack of the page when it was seen last.
    pub left: Ns,
    /// When the page operation ended.
    pub end: Ns,
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// All pages, except those answered at once.
    pub pages: BTreeMap<Key, Page>,
    /// By request: when it ended.
    pub ends: Vec<Ns>,
    /// By request: the parts of its response time.
    pub parts: Vec<Parts>,
    /// Operations passed in the queues of reads and of writes; programs that paused, and reads served meanwhile.
    pub counts: [u64; 4],
    /// Collections.
    pub jobs: u64,
    /// Every stage.
    pub intervals: Vec<Interval>,
    /// What the result says.
    pub slack: SlackResult,
}

/// `read_passes`, `write_passes`, `write_pauses`, `pause_reads`.
pub fn counts(ssd: &Ssd) -> [u64; 4] {
    let [reads, writes] = {
        let counters = ssd.counters();
        [counters.read_passes, counters.write_passes]
    };
    [reads, writes, ssd.counters().write_pauses, ssd.counters().pause_reads]
}

/// Page, estimated end and slack left of all operations under way.
pub fn under_way(simulation: &Simulation) -> Vec<(Key, Ns, Ns)> {
    simulation.estimates().into_iter().map(|of| ((of.request, u64::from(of.lpn.0)), of.end, of.slack)).collect()
}

/// How a run is watched.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    pub verify: Verify,
    /// Every stage is an event of its own.
    pub every_stage: bool,
    /// Requests may be admitted in parts: the slack of a page grows when a later one of its request is estimated to end later.
    pub in_parts: bool,
}

impl Watched {
    /// Runs the requests and looks at every instant.
    pub fn run(self, config: &Config, requests: &[Request]) -> Result<Run, String> {
        let plan = Plan { verify: self.verify, ..Plan::new(config.clone(), 1) };
        let mut simulation = Simulation::new(&plan, &Control::default()).map_err(|error| error.to_string())?;
        simulation.take_completions();
        simulation.ssd_mut().keep_trace();
        if self.every_stage {
            simulation.ssd_mut().play_every_stage();
        }
        for request in requests {
            simulation.submit(*request).map_err(|error| error.to_string())?;
        }
        let mut pages = BTreeMap::new();
        let mut arrivals = requests.iter().map(|request| request.arrival_ns).peekable();
        for instant in 0.. {
            let Some(due) = simulation.ssd().next_event().into_iter().chain(arrivals.peek().copied()).min() else { break };
            while arrivals.next_if(|&arrival| arrival <= due).is_some() {}
            simulation.run_until(due).map_err(|error| error.to_string())?;
            look(&mut pages, due, under_way(&simulation), self.in_parts)?;
            if instant > INSTANTS {
                return Err(format!("goes on and on, at {due} ns by now"));
            }
        }
        let mut completions = simulation.take_completions();
        completions.sort_by_key(|completion| completion.index);
        let mut run = Run {
            pages,
            ends: completions.iter().map(|completion| completion.completed_ns).collect(),
            parts: completions.iter().map(|completion| completion.parts()).collect(),
            counts: counts(simulation.ssd()),
            jobs: simulation.ssd().counters().jobs,
            intervals: simulation.ssd().trace().expect("kept").intervals.clone(),
            slack: SlackResult::default(),
        };
        run.slack = simulation.finish().map_err(|error| error.to_string())?.slack;
        Ok(run)
    }
}

/// Looks at what is under way at the end of an instant: pages come, their slack melts, and they end.
pub fn look(pages: &mut BTreeMap<Key, Page>, now: Ns, under_way: Vec<(Key, Ns, Ns)>, in_parts: bool) -> Result<(), String> {
    for page in pages.values_mut().filter(|page| page.end == Ns::MAX) {
        page.end = now;
    }
    for (key, estimate, left) in under_way {
        let page = pages.entry(key).or_insert(Page { admitted: now, estimate, slack: left, left, end: Ns::MAX });
        if page.end != now && page.admitted != now {
            return Err(format!("at {now} ns {key:?} is under way again, or twice"));
        }
        if page.estimate != estimate || left > page.left && !in_parts {
            return Err(format!("at {now} ns {key:?} had {page:?}, and now estimate {estimate} and slack {left}"));
        }
        (page.left, page.end) = (left, Ns::MAX);
    }
    Ok(())
}

/// A case worked by hand.
#[derive(Clone, Debug)]
pub struct Case {
    name: String,
    config: Config,
    requests: Vec<Request>,
    ends: Vec<Ns>,
    estimates: OfPages,
    slacks: OfPages,
    left: OfPages,
    page_ends: OfPages,
    parts: Vec<(usize, Vec<(Part, Ns)>)>,
    counts: [u64; 4],
    stages: Vec<(u32, Vec<(Ns, Ns)>)>,
    result: Option<SlackResult>,
    of_request: Option<u64>,
}

impl Case {
    pub fn new(name: impl Into<String>, config: Config) -> Self {
        Case {
            name: name.into(),
            config,
            requests: Vec::new(),
            ends: Vec::new(),
            estimates: Vec::new(),
            slacks: Vec::new(),
            left: Vec::new(),
            page_ends: Vec::new(),
            parts: Vec::new(),
            counts: [0; 4],
            stages: Vec::new(),
            result: None,
            of_request: None,
        }
    }

    /// A request whose end is not looked at.
    pub fn given(mut self, request: Request) -> Self {
        self.requests.push(request);
        self.ends.push(Ns::MAX);
        self
    }

    /// Requests whose ends are not looked at.
    pub fn all_given(self, requests: impl IntoIterator<Item = Request>) -> Self {
        requests.into_iter().fold(self, Case::given)
    }

    /// A request and when it ends.
    pub fn ends(mut self, request: Request, end: Ns) -> Self {
        self.requests.push(request);
        self.ends.push(end);
        self
    }

    /// Later calls set expectations of this request instead of the request given last.
    pub fn of_request(self, index: u64) -> Self {
        Case { of_request: Some(index), ..self }
    }

    /// Index of the request whose expectations are being set.
    fn last(&self) -> u64 {
        self.of_request.unwrap_or(self.requests.len() as u64 - 1)
    }

    /// When a page of the request given last is estimated to end.
    pub fn estimated(mut self, page: u64, estimate: Ns) -> Self {
        self.estimates.push(((self.last(), page), estimate));
        self
    }

    /// The slack of a page of the request given last at the end of the instant of its admission.
    pub fn slack(mut self, page: u64, slack: Ns) -> Self {
        self.slacks.push(((self.last(), page), slack));
        self
    }

    /// The slack of a page of the request given last just before the page ends.
    pub fn left(mut self, page: u64, left: Ns) -> Self {
        self.left.push(((self.last(), page), left));
        self
    }

    /// When a page of the request given last ends.
    pub fn page_ends(mut self, page: u64, end: Ns) -> Self {
        self.page_ends.push(((self.last(), page), end));
        self
    }

    /// The parts of the response time of the request given last.
    pub fn parts(mut self, parts: &[(Part, Ns)]) -> Self {
        self.parts.push((self.last() as usize, parts.to_vec()));
        self
    }

    /// Passes of reads and of writes, pauses, reads in them.
    pub fn counts(self, counts: [u64; 4]) -> Self {
        Case { counts, ..self }
    }

    /// When the array of a die works.
    pub fn array(mut self, die: u32, stages: &[(Ns, Ns)]) -> Self {
        self.stages.push((die, stages.to_vec()));
        self
    }

    /// What the result says.
    pub fn result(self, result: SlackResult) -> Self {
        Case { result: Some(result), ..self }
    }

    /// The case with a changed configuration and `name` added to its name.
    pub fn with(mut self, name: &str, change: impl FnOnce(&mut Config)) -> Self {
        self.name = format!("{}, {name}", self.name);
        change(&mut self.config);
        self
    }

    /// Plays the case with and without long operations played as one event. Returns what was not as expected.
    fn play(&self) -> Vec<String> {
        let run = |every_stage| Watched { verify: Verify::Every, every_stage, in_parts: false }.run(&self.config, &self.requests);
        match (run(false), run(true)) {
            (Ok(run), Ok(staged)) => {
                let mut wrong = self.compare(&run);
                if run.pages != staged.pages
                    || run.ends != staged.ends
                    || run.parts != staged.parts
                    || run.counts != staged.counts
                    || run.slack != staged.slack
                {
                    wrong.push(format!("every stage played differs: {:?}, {:?}, {:?}", staged.pages, staged.ends, staged.counts));
                }
                wrong.into_iter().map(|sentence| format!("{}: {sentence}", self.name)).collect()
            }
            (first, second) => [first, second].into_iter().filter_map(Result::err).map(|error| format!("{}: {error}", self.name)).collect(),
        }
    }

    fn compare(&self, run: &Run) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut differ = |what: String, found: String, expected: String| {
            if found != expected {
                wrong.push(format!("{what}: {found}, not {expected}"));
            }
        };
        for (index, &end) in self.ends.iter().enumerate().filter(|(_, end)| **end != Ns::MAX) {
            differ(format!("request {index} ends at"), run.ends[index].to_string(), end.to_string());
        }
        let mut of_pages = |what: &str, expected: &OfPages, of: fn(&Page) -> Ns| {
            for (key, expected) in expected {
                let found = run.pages.get(key).map_or("nothing".into(), |page| of(page).to_string());
                differ(format!("{what} of {key:?}"), found, expected.to_string());
            }
        };
        of_pages("estimate", &self.estimates, |page| page.estimate);
        of_pages("slack", &self.slacks, |page| page.slack);
        of_pages("slack left", &self.left, |page| page.left);
        of_pages("end", &self.page_ends, |page| page.end);
        for (index, parts) in &self.parts {
            let mut sums = [0; Part::COUNT];
            parts.iter().for_each(|&(part, ns)| sums[part as usize] += ns);
            differ(format!("parts of request {index}"), format!("{:?}", run.parts[*index].0), format!("{sums:?}"));
        }
        differ("passes, pauses, reads in them".into(), format!("{:?}", run.counts), format!("{:?}", self.counts));
        for (die, expected) in &self.stages {
            differ(format!("array of die {die}"), format!("{:?}", array_of(run, *die)), format!("{expected:?}"));
        }
        if let Some(expected) = &self.result {
            differ("result".into(), format!("{:#?}", run.slack), format!("{expected:#?}"));
        }
        wrong
    }
}

/// When the array of a die worked.
pub fn array_of(run: &Run, die: u32) -> Vec<(Ns, Ns)> {
    let of_die = |interval: &&Interval| matches!(interval.resource, Resource::Array(array) if array.0 == die);
    let mut stages: Vec<_> = run.intervals.iter().filter(of_die).map(|interval| (interval.start, interval.end)).collect();
    stages.sort_unstable();
    stages
}

/// Plays cases, all of them before it fails.
pub fn play(cases: impl IntoIterator<Item = Case>) {
    let wrong: Vec<String> = cases.into_iter().flat_map(|case| case.play()).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
