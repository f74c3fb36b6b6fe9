//! The drive: requests in, their bytes, and answers when the simulated drive has completed them.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use ssdlab::error::{Error, Result};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::Simulation;
use ssdlab::stats::{PowerCutResult, RunResult};
use ssdlab::units::Ns;

use crate::clock::Clock;
use crate::contents::Contents;
use crate::late::Late;
use crate::record::Record;
use crate::undo::{Undo, Volatile};

/// Who asked: what an answer is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker {
    /// The client.
    pub client: u64,
    /// The client's name for the request.
    pub cookie: u64,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Bytes are to be read.
    Read,
    /// These are to be written.
    Write(Vec<u8>),
    /// Zeros are to be written; `holes`: they may take no room.
    Zero {
        /// The drive may trim the range.
        holes: bool,
    },
    /// The bytes are no longer needed. They read as zeros from then on.
    Trim,
    /// What was answered before is to outlive a power failure.
    Flush,
}

/// A request of a client, within the drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Who asks.
    pub asker: Asker,
    /// What.
    pub action: Action,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub length: u64,
    /// What it writes is to outlive a power failure when it is answered.
    pub force: bool,
    /// When it came, if another thread has taken it in; absent: now.
    pub came: Option<Instant>,
}

/// What became of a request.
#[derive(Debug)]
pub struct Answer {
    /// Who asked.
    pub asker: Asker,
    /// Bytes that were read, if any; or why not.
    pub outcome: io::Result<Vec<u8>>,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    asker: Asker,
    kind: RequestKind,
    offset: u64,
    length: u64,
    /// A flush is to follow before it is answered.
    force: bool,
    /// The write that it is the flush of.
    of: Option<u64>,
}

/// When the power of a drive fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerCut {
    /// At this simulated time, ns.
    Time(Ns),
    /// When so many requests have arrived.
    Requests(u64),
}

/// A simulated drive, its bytes and its clock.
pub struct Drive {
    simulation: Simulation,
    /// Time begins with the first request, as in a replay of the record.
    clock: Option<Clock>,
    scale: f64,
    contents: Box<dyn Contents>,
    record: Option<Record>,
    late: Late,
    /// By serial number from `first` on; `None`: answered.
    under_way: VecDeque<Option<UnderWay>>,
    first: u64,
    answers: Vec<Answer>,
    undo: Undo,
    /// Why a power failure left data that it should have taken.
    untaken: Option<io::Error>,
    power_cut: Option<PowerCut>,
}

impl Drive {
    /// A drive whose time begins with its first request. `scale`: 1 is real time, 10 is ten times slower. `power_cut`: when its power fails.
    pub fn new(
        mut simulation: Simulation,
        scale: f64,
        contents: Box<dyn Contents>,
        record: Option<Record>,
        power_cut: Option<PowerCut>,
    ) -> Self {
        simulation.take_completions(); // from now on it keeps them
        let undo = Undo::new(simulation.exported_bytes(), simulation.unit_bytes(), simulation.is_volatile());
        Drive {
            simulation,
            clock: None,
            scale,
            contents,
            record,
            late: Late::default(),
            under_way: VecDeque::new(),
            first: 0,
            answers: Vec::new(),
            undo,
            untaken: None,
            power_cut,
        }
    }

    /// The power is to fail now.
    pub fn is_to_be_cut(&self) -> bool {
        match self.power_cut {
            None => false,
            Some(PowerCut::Time(ns)) => self.clock.is_some_and(|clock| clock.now() >= ns),
            Some(PowerCut::Requests(count)) => self.submitted() >= count,
        }
    }

    /// Requests that have come.
    fn submitted(&self) -> u64 {
        self.first + self.under_way.len() as u64
    }

    /// The present simulated time; it ends with the power.
    fn now(&self) -> Ns {
        self.time(Instant::now()).max(self.simulation.now())
    }

    /// The simulated time at an instant; it ends with the power.
    fn time(&self, instant: Instant) -> Ns {
        let time = self.clock.map_or(0, |clock| clock.at(instant));
        match self.power_cut {
            Some(PowerCut::Time(ns)) => time.min(ns),
            _ => time,
        }
    }

    /// How late answers were.
    pub fn late(&self) -> &Late {
        &self.late
    }

    /// Real time until something happens, if no request comes before.
    pub fn idle_for(&self) -> Option<Duration> {
        let clock = self.clock?;
        self.next_instant().map(|instant| clock.until(instant))
    }

    /// Requests under way.
    pub fn outstanding(&self) -> usize {
        self.under_way.iter().flatten().count()
    }

    /// When something happens next, if no request comes before.
    fn next_instant(&self) -> Option<Ns> {
        let cut = if let Some(PowerCut::Time(ns)) = self.power_cut { Some(ns) } else { None };
        self.simulation.next_instant().into_iter().chain(cut).min()
    }

    /// Takes a request in, at the instant when it came, or at the present one if what happened since is simulated already.
    ///
    /// # Errors
    /// What the simulation or the record meets: the drive cannot go on.
    pub fn take(&mut self, ask: Ask) -> Result<()> {
        let Ask { asker, action, offset, length, force, came } = ask;
        let applied = self.apply(&action, offset, length);
        // Nothing to do, or impossible to do.
        if applied.is_err() || (length == 0 && action != Action::Flush) {
            self.answers.push(Answer { asker, outcome: applied.map(|()| Vec::new()) });
            return Ok(());
        }
        let kind = match action {
            Action::Read => RequestKind::Read,
            Action::Write(_) | Action::Zero { holes: false } => RequestKind::Write,
            Action::Zero { holes: true } | Action::Trim => RequestKind::Trim,
            Action::Flush => RequestKind::Flush,
        };
        let force = force && matches!(kind, RequestKind::Write | RequestKind::Trim);
        self.submit(came, UnderWay { asker, kind, offset, length, force, of: None })
    }

    /// Bytes are written when their request comes, so that what comes after it finds them.
    fn apply(&mut self, action: &Action, offset: u64, length: u64) -> io::Result<()> {
        let write = self.submitted();
        let writes = matches!(action, Action::Write(_) | Action::Zero { holes: false });
        if writes {
            self.undo.note(write, offset, length, self.contents.as_ref())?;
        }
        let applied = match action {
            Action::Write(bytes) => self.contents.write(offset, bytes),
            Action::Zero { .. } | Action::Trim => self.contents.clear(offset, length),
            Action::Read | Action::Flush => Ok(()),
        };
        match action {
            Action::Trim | Action::Zero { holes: true } if applied.is_ok() => self.undo.trimmed(offset, length),
            _ if writes && applied.is_err() => self.undo.forget(write, offset, length),
            _ => (),
        }
        applied
    }

    fn submit(&mut self, came: Option<Instant>, under_way: UnderWay) -> Result<()> {
        let UnderWay { kind, offset, length, .. } = under_way;
        let came = came.unwrap_or_else(Instant::now);
        let arrival_ns = match self.clock {
            // What is due before it comes first. At an instant that is simulated already all has begun that could begin, so it comes after that.
            Some(_) => {
                let arrival_ns = self.time(came).max(self.simulation.now() + 1);
                self.simulation.run_until(arrival_ns - 1)?;
                arrival_ns
            }
            None => {
                self.clock = Some(Clock::start(came, self.scale));
                0
            }
        };
        let request = Request { arrival_ns, kind, offset, length, high_priority: false, flow: 0 };
        if let Some(record) = &mut self.record {
            record.add(&request)?;
        }
        self.simulation.submit(request)?;
        self.under_way.push_back(Some(under_way));
        Ok(())
    }

    /// Simulates until all requests are complete, however long that takes of simulated time, and gives their answers.
    ///
    /// # Errors
    /// What the simulation or the record meets.
    pub fn drain(&mut self) -> Result<Vec<Answer>> {
        while self.outstanding() > 0 {
            self.simulation.run_to_idle()?;
            self.complete()?;
        }
        Ok(std::mem::take(&mut self.answers))
    }

    /// The record takes its place, although the run cannot be finished.
    ///
    /// # Errors
    /// What writing it meets.
    pub fn keep_record(self) -> Result<()> {
        self.record.map_or(Ok(()), Record::finish)
    }

    /// Ends the run. Its result is that of a replay of the record. `state`: where the state of the drive is saved. Returns also whether the data
    /// and that could be kept.
    ///
    /// # Errors
    /// What the simulation or the record meets.
    pub fn finish(mut self, state: Option<&Path>) -> Result<(RunResult, Late, Result<()>)> {
        let kept = match self.untaken.take() {
            None => self.contents.sync().map_err(|reason| unkept(&reason)),
            Some(reason) => {
                Err(Error::Simulation(format!("some data that the power cut should have taken back are still there: {reason}")))
            }
        };
        let (result, saved) = match state {
            None => (self.simulation.finish()?, Ok(())),
            Some(path) => self.simulation.finish_and_save(path)?,
        };
        self.record.map(Record::finish).transpose()?;
        Ok((result, self.late, kept.and(saved)))
    }

    /// The power fails. What was only in volatile memory is gone from the data. Requests that are not complete will not be answered; in the
    /// result they are complete, as in a replay of the record.
    ///
    /// # Errors
    /// What the simulation or the file of the data meets.
    pub fn cut_power(&mut self) -> Result<PowerCutResult> {
        let at_ns = self.now();
        if self.clock.is_some() {
            self.simulation.run_until(at_ns)?;
        }
        // What has completed since answers were sent last has none, and counts as incomplete.
        let incomplete: BTreeSet<u64> =
            (self.first..).zip(&self.under_way).filter_map(|(number, one)| one.as_ref().map(|one| one.of.unwrap_or(number))).collect();
        let volatile = self.volatile();
        let (lost, done) = self.undo.take_back(&volatile, |write| !incomplete.contains(&write), self.contents.as_mut());
        self.untaken = done.err();
        Ok(PowerCutResult { at_ns, unanswered: incomplete.len() as u64, lost_writes: lost.writes, lost_bytes: lost.bytes })
    }

    /// The units whose newest data a power failure would lose now.
    fn volatile(&self) -> Volatile {
        let mut found = Volatile::new();
        self.simulation.volatile_units(&mut |unit, oldest| {
            let known = found.entry(unit).or_insert(oldest);
            *known = [*known, oldest].into_iter().flatten().min();
        });
        found
    }

    /// Simulates up to the present, and gives the answers that are due.
    ///
    /// # Errors
    /// What the simulation or the record meets: the drive cannot go on.
    pub fn answers(&mut self) -> Result<Vec<Answer>> {
        if self.clock.is_some() {
            self.simulation.run_until(self.now())?;
            self.complete()?;
        }
        if self.undo.is_long() {
            let volatile = self.volatile();
            self.undo.forget_safe(&volatile);
        }
        Ok(std::mem::take(&mut self.answers))
    }

    /// Answers what has completed.
    fn complete(&mut self) -> Result<()> {
        for completion in self.simulation.take_completions() {
            let place = (completion.index - self.first) as usize;
            let done = self.under_way[place].take().expect("a request completes once");
            if done.kind == RequestKind::Write {
                self.undo.completes(completion.index, done.offset, done.length);
            }
            if done.force {
                let flush = UnderWay { kind: RequestKind::Flush, offset: 0, length: 0, force: false, of: Some(completion.index), ..done };
                self.submit(None, flush)?;
                continue;
            }
            let reads = done.kind == RequestKind::Read;
            let mut bytes = vec![0; if reads { done.length as usize } else { 0 }];
            let outcome = if reads { self.contents.read(done.offset, &mut bytes) } else { Ok(()) };
            self.late.add(self.clock.map_or(Duration::ZERO, |clock| clock.since(completion.completed_ns)));
            self.answers.push(Answer { asker: done.asker, outcome: outcome.map(|()| bytes) });
        }
        while let Some(None) = self.under_way.front() {
            self.under_way.pop_front();
            self.first += 1;
        }
        Ok(())
    }
}

fn unkept(reason: &io::Error) -> Error {
    Error::Simulation(format!("the data of the drive cannot be brought to the disk: {reason}"))
}
