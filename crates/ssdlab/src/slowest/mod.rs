//! The slowest requests of a run, each with what it waited for: operations, GC jobs and blocks by name, from the one run.
//!
//! Each drive keeps its recent operations in a [`Ring`]. [`Slowest`] keeps the completions of the slowest requests, and explains them
//! before the ring has turned: [`explain`] cuts a response time into segments, which add up to it, and names what each waited for.
//!
//! | file | question |
//! |---|---|
//! | `explain` | which segments make up the response time of a request, in the order of its way? |
//! | `trail` | the same behind a cache or in an array: which page operations followed each other? |
//! | `page` | which segments make up the time of one page operation in a drive? |
//! | `blockers` | which operations and jobs did a segment wait for? |
//! | `result` | what does the file say? |

mod blockers;
mod explain;
mod page;
mod result;
mod trail;

use std::io::Write;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::files::WholeFile;
use crate::request::RequestKind;
use crate::stats::{Completion, Times};
use crate::timeline::{DEFAULT_STAGES, Ring};
use crate::units::Ns;
pub use result::{ChainResult, Explained, File, JobResult, OperationResult, OperationShare, Segment, ShareResult, StageResult};

/// The largest number of requests to keep.
pub const MOST_REQUESTS: usize = 10_000;
/// Completions between two looks at how far the rings have turned.
const COMPLETIONS_PER_LOOK: u32 = 64;

/// Requested explanations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// File to write.
    pub path: PathBuf,
    /// Number of the slowest reads and writes to explain.
    pub count: usize,
    /// Requests to explain in any case, by number.
    pub requests: Vec<u64>,
    /// Limit of the stages that the rings of all drives hold together.
    pub stages: usize,
}

impl Wanted {
    /// Explanations of the `count` slowest reads and writes, and of `requests`.
    ///
    /// # Errors
    /// [`Error::Usage`] for more than [`MOST_REQUESTS`].
    pub fn new(path: PathBuf, count: usize, requests: Vec<u64>, stages: Option<usize>) -> Result<Self> {
        if count + requests.len() > MOST_REQUESTS {
            return Err(Error::Usage(format!("slowest = {count}: expected at most {MOST_REQUESTS} requests to explain")));
        }
        Ok(Wanted { path, count, requests, stages: stages.unwrap_or(DEFAULT_STAGES) })
    }
}

/// The levels of a storage on which the order of a request's parts depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// A cache is in front of the drive or the array.
    pub cache: bool,
    /// There are several drives.
    pub array: bool,
}

/// When a command went on from the host interface, and what it took before and behind that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    /// The command went on to the lower level, ns.
    pub delivered: Ns,
    /// The lower level completed it, ns.
    pub answered: Ns,
    /// Times until it went on.
    pub before: Times,
    /// Times in the lower level.
    pub inside: Times,
}

/// A request that is kept.
#[derive(Debug)]
struct Kept {
    completion: Completion,
    passage: Option<Passage>,
    explained: Option<Explained>,
}

impl Kept {
    /// The order of the slowest: by response time, then by number.
    fn rank(&self) -> (std::cmp::Reverse<Ns>, u64) {
        let Completion { arrival_ns, completed_ns, index, .. } = self.completion;
        (std::cmp::Reverse(completed_ns - arrival_ns), index)
    }
}

/// The slowest requests of a run.
#[derive(Debug)]
pub struct Slowest {
    file: WholeFile,
    wanted: Wanted,
    /// Index of the first request that counts; `u64::MAX` in a warm-up.
    first: u64,
    /// The slowest requests, in order.
    slowest: Vec<Kept>,
    /// Requests that are explained in any case.
    asked: Vec<Kept>,
    topology: Topology,
    completions: u32,
    /// Number of stages recorded by each drive when the kept requests were last explained.
    seen: Vec<u64>,
}

impl Slowest {
    /// Keeps requests from now on. `warming_up`: only from [`Slowest::measure_from`] on. `topology`: that of the storage.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be begun.
    pub fn new(wanted: &Wanted, warming_up: bool, topology: Topology) -> Result<Self> {
        Ok(Slowest {
            file: WholeFile::create(&wanted.path)?,
            wanted: wanted.clone(),
            first: if warming_up { u64::MAX } else { 0 },
            slowest: Vec::with_capacity(wanted.count + 1),
            asked: Vec::new(),
            topology,
            completions: 0,
            seen: Vec::new(),
        })
    }

    /// The warm-up is over: requests with this index and above count.
    pub fn measure_from(&mut self, first: u64) {
        self.first = first;
    }

    /// A request has completed.
    pub fn completes(&mut self, completion: &Completion, passage: Option<&Passage>) {
        self.completions += 1;
        let kept = || Kept { completion: *completion, passage: passage.copied(), explained: None };
        if self.wanted.requests.contains(&completion.index) {
            self.asked.push(kept());
        }
        let counts = matches!(completion.kind, RequestKind::Read | RequestKind::Write) && completion.index >= self.first;
        let response = completion.completed_ns - completion.arrival_ns;
        let is_full = self.slowest.len() == self.wanted.count;
        let last = self.slowest.last().map_or(0, |last| last.completion.completed_ns - last.completion.arrival_ns);
        if !counts || self.wanted.count == 0 || is_full && response < last {
            return;
        }
        let one = kept();
        let place = self.slowest.partition_point(|other| other.rank() < one.rank());
        self.slowest.insert(place, one);
        self.slowest.truncate(self.wanted.count);
    }

    /// Whether it is time to look whether the rings have turned.
    pub fn may_be_due(&mut self) -> bool {
        self.completions >= COMPLETIONS_PER_LOOK && std::mem::take(&mut self.completions) > 0
    }

    /// Some ring has turned half way since the kept requests were explained.
    pub fn is_due(&self, rings: &[&Ring]) -> bool {
        let seen = self.seen.iter().copied().chain(std::iter::repeat(0));
        rings.iter().zip(seen).any(|(ring, seen)| ring.recorded() - seen >= ring.limit() / 2)
    }

    /// Explains the kept requests that are not explained yet, and learns when operations ended that were under way.
    pub fn explain(&mut self, rings: &[&Ring]) {
        let topology = self.topology;
        for kept in self.slowest.iter_mut().chain(&mut self.asked) {
            match &mut kept.explained {
                Some(explained) => explained.settle(rings),
                None => kept.explained = Some(explain::explain(&kept.completion, kept.passage.as_ref(), rings, topology)),
            }
        }
        self.seen = rings.iter().map(|ring| ring.recorded()).collect();
    }

    /// Writes the file, once the kept requests are explained. `digest`: that of the result.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(mut self, digest: &str) -> Result<()> {
        let explained = |kept: Vec<Kept>| kept.into_iter().filter_map(|kept| kept.explained).collect();
        let file = File {
            version: env!("CARGO_PKG_VERSION").into(),
            digest: digest.into(),
            stages: self.wanted.stages as u64,
            slowest: explained(self.slowest),
            asked: explained(self.asked),
        };
        let text = serde_json::to_vec(&file).map_err(|error| Error::Simulation(error.to_string()))?;
        let target = self.file.path().to_path_buf();
        self.file.write_all(&text).map_err(|error| Error::io("write", &target, error))?;
        self.file.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocked::Blocked;
    use crate::request::Request;

    const PLAIN: Topology = Topology { cache: false, array: false };

    fn completion(index: u64, kind: RequestKind, response: Ns) -> Completion {
        let request = Request { arrival_ns: 100 * index, kind, offset: 0, length: 4096, high_priority: false, flow: 0, handle: None };
        let mut times = Times::default();
        times.wait(Blocked::BufferFull, response);
        Completion::of(&request, index, false, request.arrival_ns + response, &times)
    }

    fn kept(wanted: &Wanted, warm_up: Option<u64>, completions: &[(u64, RequestKind, Ns)]) -> (Vec<u64>, Vec<u64>) {
        let mut slowest = Slowest::new(wanted, warm_up.is_some(), PLAIN).unwrap();
        for &(index, kind, response) in completions {
            if warm_up == Some(index) {
                slowest.measure_from(index);
            }
            slowest.completes(&completion(index, kind, response), None);
        }
        let of = |kept: &[Kept]| kept.iter().map(|one| one.completion.index).collect();
        (of(&slowest.slowest), of(&slowest.asked))
    }

    #[test]
    fn the_slowest_reads_and_writes_are_kept_and_of_equals_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = |count, requests| Wanted::new(folder.path().join("slowest.json"), count, requests, None).unwrap();
        use RequestKind::{Flush, Read, Write};
        let all = [(0, Read, 5), (1, Flush, 90), (2, Write, 9), (4, Read, 9), (3, Write, 9), (5, Read, 7), (6, Write, 1)];
        assert_eq!(kept(&wanted(3, vec![]), None, &all), (vec![2, 3, 4], vec![]));
        assert_eq!(kept(&wanted(9, vec![1, 6]), None, &all), (vec![2, 3, 4, 5, 0, 6], vec![1, 6]));
        assert_eq!(kept(&wanted(9, vec![0]), Some(4), &all), (vec![4, 5, 6], vec![0]), "3 arrived in the warm-up");
        assert_eq!(kept(&wanted(0, vec![3]), None, &all), (vec![], vec![3]));
    }

    #[test]
    fn a_request_without_a_drive_is_explained_by_what_it_waited_for() {
        let explained = explain::explain(&completion(3, RequestKind::Write, 40), None, &[], PLAIN);
        let segments = explained.segments.iter().map(|one| (one.from_ns, one.to_ns, one.shares[0].what)).collect::<Vec<_>>();
        assert_eq!(segments, [(300, 340, "buffer_full")]);
    }
}
