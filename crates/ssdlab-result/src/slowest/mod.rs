//! The slowest requests of a run, each with what it waited for: operations, GC jobs and blocks by name, from the one run.
//!
//! Each drive keeps its recent operations in a [`Ring`]. [`Slowest`] keeps the completions of the slowest requests, and explains them
//! before the ring has turned: [`explain`] cuts a response time into segments, which add up to it, and names what each waited for.
//!
//! In an overload each request is the slowest so far, waits for longer than the ring reaches back, and leaves the list soon. Such a
//! request is explained once the ring has turned by an eighth since its completion, if it is still kept.
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

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;

use crate::stats::{Completion, Times};
use crate::timeline::{DEFAULT_STAGES, Index, Ring};
pub use result::{ChainResult, Explained, File, JobResult, OperationResult, OperationShare, Segment, ShareResult, StageResult};
use ssdlab_base::error::{Error, Result};
use ssdlab_base::files::WholeFile;
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;
use ssdlab_base::version::version;

/// The largest number of requests to keep.
pub const MOST_REQUESTS: usize = 10_000;
/// Completions between two looks at how far the rings have turned.
const COMPLETIONS_PER_LOOK: u32 = 64;
/// Parts of a turn of a ring after which requests are explained.
const PARTS_OF_TURN: u64 = 2;
/// Parts of a turn of a ring after which requests are explained that waited for longer than the rings reach back.
const PARTS_OF_TURN_IF_CUT: u64 = 8;

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
    /// Number of looks at which rings had turned by a [part](PARTS_OF_TURN_IF_CUT) before it completed.
    looks: u64,
    explained: Option<Box<Explained>>,
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
    /// The slowest requests, in order. In an overload each comes in at the front.
    slowest: VecDeque<Kept>,
    /// Requests that are explained in any case.
    asked: Vec<Kept>,
    topology: Topology,
    completions: u32,
    /// When fully recorded requests were last explained.
    half: Turns,
    /// When requests that are not fully recorded were last explained.
    eighth: Turns,
    /// How often requests that are not fully recorded were explained.
    looks: u64,
}

/// How far the rings of a storage had turned at some time: number of stages recorded by each drive.
#[derive(Debug, Default)]
struct Turns(Vec<u64>);

impl Turns {
    /// Whether some ring has turned by one of `parts` parts since, and notes how far all have turned now if so.
    fn pass(&mut self, rings: &[&Ring], parts: u64) -> bool {
        let before = self.0.iter().copied().chain(std::iter::repeat(0));
        let passed = rings.iter().zip(before).any(|(ring, before)| ring.recorded() - before >= ring.limit() / parts);
        if passed {
            self.0 = rings.iter().map(|ring| ring.recorded()).collect();
        }
        passed
    }
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
            slowest: VecDeque::with_capacity(wanted.count + 1),
            asked: Vec::new(),
            topology,
            completions: 0,
            half: Turns::default(),
            eighth: Turns::default(),
            looks: 0,
        })
    }

    /// The warm-up is over: requests with this index and above count.
    pub fn measure_from(&mut self, first: u64) {
        self.first = first;
    }

    /// A request has completed.
    pub fn completes(&mut self, completion: &Completion, passage: Option<&Passage>) {
        self.completions += 1;
        let looks = self.looks;
        let kept = || Kept { completion: *completion, passage: passage.copied(), looks, explained: None };
        if self.wanted.requests.contains(&completion.index) {
            self.asked.push(kept());
        }
        let counts = !matches!(completion.kind, RequestKind::Trim | RequestKind::Flush) && completion.index >= self.first;
        let response = completion.completed_ns - completion.arrival_ns;
        let is_full = self.slowest.len() == self.wanted.count;
        let last = self.slowest.back().map_or(0, |last| last.completion.completed_ns - last.completion.arrival_ns);
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

    /// Explains the kept requests whose time has come, before the rings have turned.
    pub fn look(&mut self, rings: &[&Ring]) {
        let horizon = rings.iter().map(|ring| ring.horizon()).max().unwrap_or(0);
        let is_cut = |kept: &Kept| kept.completion.arrival_ns < horizon;
        if self.half.pass(rings, PARTS_OF_TURN) {
            self.settle(rings);
            self.explain(rings, |kept| !is_cut(kept));
        }
        if self.eighth.pass(rings, PARTS_OF_TURN_IF_CUT) {
            let looks = self.looks;
            self.explain(rings, |kept| is_cut(kept) && kept.looks < looks);
            self.looks += 1;
        }
    }

    /// Explains all kept requests at the end of the run.
    pub fn finish(&mut self, rings: &[&Ring]) {
        self.settle(rings);
        self.explain(rings, |_| true);
    }

    fn kept_mut(&mut self) -> impl Iterator<Item = &mut Kept> {
        self.slowest.iter_mut().chain(&mut self.asked)
    }

    /// Explains those of the kept requests that are not explained yet.
    fn explain(&mut self, rings: &[&Ring], those: impl Fn(&Kept) -> bool) {
        let topology = self.topology;
        let indices: Vec<Index<'_>> = rings.iter().map(|ring| Index::new(ring)).collect();
        for kept in self.kept_mut().filter(|kept| kept.explained.is_none() && those(kept)) {
            let explained = explain::explain(&kept.completion, kept.passage.as_ref(), &indices, topology);
            kept.explained = Some(Box::new(explained));
        }
    }

    /// Learns when operations and jobs ended that were under way when requests were explained.
    fn settle(&mut self, rings: &[&Ring]) {
        let indices: Vec<Index<'_>> = rings.iter().map(|ring| Index::new(ring)).collect();
        self.kept_mut().filter_map(|kept| kept.explained.as_mut()).for_each(|explained| explained.settle(&indices));
    }

    /// Writes the file, once the kept requests are explained. `digest`: that of the result.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(mut self, digest: &str) -> Result<()> {
        let file = File {
            version: version().into(),
            digest: digest.into(),
            stages: self.wanted.stages as u64,
            slowest: self.slowest.into_iter().filter_map(|kept| kept.explained.map(|one| *one)).collect(),
            asked: self.asked.into_iter().filter_map(|kept| kept.explained.map(|one| *one)).collect(),
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
    use crate::timeline::{Budget, DriveShape, Recorder};
    use ssdlab_base::blocked::Blocked;
    use ssdlab_base::request::Request;
    use ssdlab_base::units::ChannelId;
    use ssdlab_keys::config::Config;
    use ssdlab_keys::geometry::Geometry;

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
        let index = |one: &Kept| one.completion.index;
        (slowest.slowest.iter().map(index).collect(), slowest.asked.iter().map(index).collect())
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

    /// A drive that does nothing but one stage after the other, each of 10 ns.
    struct Drive {
        recorder: Recorder,
        now: Ns,
    }

    impl Drive {
        fn new() -> Self {
            let geometry = Geometry::new(&Config::default());
            let Geometry { dies, channels, .. } = geometry;
            let shape = DriveShape { drive: 0, dies, channels, pools: 1, pages_per_block: 1, blocks_per_pool: 1 };
            let mut recorder = Recorder::new(shape, &std::sync::Arc::new(Budget::nothing()));
            recorder.keep_ring(Ring::new(&geometry, (false, true), 0));
            Drive { recorder, now: 0 }
        }

        fn ring(&self) -> &Ring {
            self.recorder.ring().unwrap()
        }

        /// Lets the ring turn by one of `parts` parts, and `slowest` look. Returns which of the kept requests are explained.
        fn turns(&mut self, parts: u64, slowest: &mut Slowest) -> Vec<(u64, bool)> {
            for _ in 0..self.ring().limit() / parts {
                self.recorder.whole(self.now, 0, ChannelId(0), &[("read", 10, false)]);
                self.now += 10;
            }
            slowest.look(&[self.ring()]);
            slowest.slowest.iter().map(|kept| (kept.completion.index, kept.explained.is_some())).collect()
        }
    }

    /// A list of the `count` slowest requests, and a drive whose ring has turned once. Nothing is written.
    fn turned_once(count: usize) -> (Slowest, Drive) {
        let folder = tempfile::tempdir().unwrap();
        let wanted = Wanted::new(folder.path().join("slowest.json"), count, vec![], None).unwrap();
        let (mut slowest, mut drive) = (Slowest::new(&wanted, false, PLAIN).unwrap(), Drive::new());
        drive.turns(1, &mut slowest);
        (slowest, drive)
    }

    #[test]
    fn a_request_that_waited_for_longer_than_the_ring_reaches_back_is_explained_if_it_stays() {
        let (mut slowest, mut drive) = turned_once(1);
        drive.turns(4, &mut slowest);
        let late = |slowest: &mut Slowest, index| slowest.completes(&completion(index, RequestKind::Write, 50_000 + index), None);
        for index in 0..20 {
            late(&mut slowest, index);
            assert_eq!(drive.turns(8, &mut slowest), [(index, false)], "the next one takes its place");
        }
        assert_eq!(drive.turns(16, &mut slowest), [(19, false)]);
        assert_eq!(drive.turns(16, &mut slowest), [(19, true)]);
        late(&mut slowest, 20);
        slowest.finish(&[drive.ring()]);
        let explained = slowest.slowest[0].explained.as_ref().unwrap();
        assert_eq!((explained.request, explained.known_from_ns), (20, Some(drive.ring().horizon())));
    }

    #[test]
    fn a_request_within_the_ring_is_explained_each_half_turn() {
        let (mut slowest, mut drive) = turned_once(2);
        let index = drive.now / 100;
        slowest.completes(&completion(index, RequestKind::Read, 900), None);
        for _ in 0..3 {
            assert_eq!(drive.turns(8, &mut slowest), [(index, false)]);
        }
        assert_eq!(drive.turns(8, &mut slowest), [(index, true)]);
        slowest.completes(&completion(index + 1, RequestKind::Read, 800), None);
        assert_eq!(drive.turns(4, &mut slowest), [(index, true), (index + 1, false)]);
        assert_eq!(drive.turns(4, &mut slowest), [(index, true), (index + 1, true)]);
        assert!(slowest.slowest.iter().all(|kept| kept.explained.as_ref().unwrap().known_from_ns.is_none()));
    }

    #[test]
    fn a_request_without_a_drive_is_explained_by_what_it_waited_for() {
        let explained = explain::explain(&completion(3, RequestKind::Write, 40), None, &[], PLAIN);
        let segments = explained.segments.iter().map(|one| (one.from_ns, one.to_ns, one.shares[0].what)).collect::<Vec<_>>();
        assert_eq!(segments, [(300, 340, "buffer_full")]);
    }
}
