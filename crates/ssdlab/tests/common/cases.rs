//! Many independent cases on all cores, each with a time limit.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How often each thing happened, by name.
pub type Tally = BTreeMap<String, u64>;

/// Adds one tally to another.
pub fn add(to: &mut Tally, from: Tally) {
    from.into_iter().for_each(|(name, count)| *to.entry(name).or_default() += count);
}

/// A case that did not pass, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub case: u64,
    pub reason: String,
}

/// The number in an environment variable, or `otherwise`.
pub fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Without `FULL=1` a test of random cases runs one in this many.
const SHARE: u64 = 8;

/// Whether tests of random cases run all of them: only then has every mechanism fired often enough to demand it.
pub fn is_full() -> bool {
    std::env::var("FULL").is_ok_and(|full| !full.is_empty()) && std::env::var_os("SWARM").is_none()
}

/// Cases `first..first + count`.
#[derive(Clone, Copy, Debug)]
pub struct Cases {
    pub first: u64,
    pub count: u64,
    /// A case that takes this long does not end.
    pub limit: Duration,
    /// Says now and then on standard error how far it is.
    pub progress: bool,
}

/// Seconds after which a case does not end, unless another limit is given. Cases take milliseconds; a machine that is very busy, and a
/// build that counts what is reached, make seconds of them.
const LIMIT_S: u64 = 300;
/// How often the cases are looked at.
const TICK: Duration = Duration::from_millis(500);
/// Ticks between reports of progress.
const TICKS_PER_REPORT: u64 = 20;

/// What the workers share.
#[derive(Debug)]
struct Shared {
    next: AtomicU64,
    end: AtomicU64,
    /// By worker: the case it is at, plus one; 0: none.
    at: Vec<AtomicU64>,
}

impl Cases {
    /// The first `count` cases.
    pub fn up_to(count: u64) -> Self {
        Cases { first: 0, count, limit: Duration::from_secs(LIMIT_S), progress: false }
    }

    /// With `FULL=1` the first `count` cases, without it a share of them; or as many as `SWARM` says, from `SWARM_FIRST` on.
    /// `SWARM_LIMIT_S` is the limit of each, in seconds.
    pub fn asked_for(count: u64) -> Self {
        Cases {
            first: from_environment("SWARM_FIRST", 0),
            count: from_environment("SWARM", if is_full() { count } else { count.div_ceil(SHARE) }),
            limit: Duration::from_secs(from_environment("SWARM_LIMIT_S", LIMIT_S)),
            progress: std::env::var_os("SWARM").is_some(),
        }
    }

    /// Runs the cases until one fails. A panic is a failure. A case that does not end is left behind: threads cannot be stopped.
    pub fn run(&self, case: impl Fn(u64) -> Result<Tally, String> + Send + Sync + 'static) -> Result<Tally, Failure> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            next: AtomicU64::new(self.first),
            end: AtomicU64::new(self.first + self.count),
            at: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        });
        let (sender, receiver) = channel();
        let case = Arc::new(case);
        for worker in 0..workers {
            let (shared, sender, case) = (Arc::clone(&shared), sender.clone(), Arc::clone(&case));
            std::thread::spawn(move || _ = sender.send(work(&shared, worker, case.as_ref())));
        }
        let result = self.collect(&shared, &receiver);
        shared.end.store(0, Ordering::Relaxed);
        result
    }

    fn collect(&self, shared: &Shared, receiver: &Receiver<Result<Tally, Failure>>) -> Result<Tally, Failure> {
        let (mut total, mut left) = (Tally::new(), shared.at.len());
        let mut since = vec![(0, 0_u64); left];
        let mut ticks = 0;
        while left > 0 {
            match receiver.recv_timeout(TICK) {
                Ok(tally) => {
                    add(&mut total, tally?);
                    left -= 1;
                }
                Err(RecvTimeoutError::Disconnected) => panic!("a worker went away"),
                Err(RecvTimeoutError::Timeout) => {
                    ticks += 1;
                    self.look_at_clocks(shared, &mut since, ticks)?;
                    self.report(shared, ticks);
                }
            }
        }
        Ok(total)
    }

    /// `since`: by worker, the case and the tick at which it was seen first.
    fn look_at_clocks(&self, shared: &Shared, since: &mut [(u64, u64)], tick: u64) -> Result<(), Failure> {
        for (at, since) in shared.at.iter().zip(since) {
            let at = at.load(Ordering::Relaxed);
            if at != since.0 {
                *since = (at, tick);
            } else if at > 0 && TICK * (tick - since.1) as u32 >= self.limit {
                return Err(Failure { case: at - 1, reason: "does not end".into() });
            }
        }
        Ok(())
    }

    fn report(&self, shared: &Shared, tick: u64) {
        if self.progress && tick.is_multiple_of(TICKS_PER_REPORT) {
            let begun = shared.next.load(Ordering::Relaxed).min(self.first + self.count) - self.first;
            eprintln!("{begun} of {} cases", self.count);
        }
    }
}

/// Takes one case after the other.
fn work(shared: &Shared, worker: usize, case: &impl Fn(u64) -> Result<Tally, String>) -> Result<Tally, Failure> {
    let mut total = Tally::new();
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if number >= shared.end.load(Ordering::Relaxed) {
            shared.at[worker].store(0, Ordering::Relaxed);
            return Ok(total);
        }
        shared.at[worker].store(number + 1, Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(|| case(number))).unwrap_or_else(|panic| Err(sentence(panic.as_ref())));
        add(&mut total, result.map_err(|reason| Failure { case: number, reason })?);
    }
}

/// What a panic says.
fn sentence(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a word"))
}
