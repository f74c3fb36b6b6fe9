//! The served drive: takes requests, keeps their bytes, and answers when the simulated drive has completed them.

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

/// The client and the request that an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Number of the client.
    pub client: u64,
    /// The client's name for the request.
    pub cookie: u64,
}

/// Kind of a client's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads bytes.
    Read,
    /// Writes these bytes.
    Write(Vec<u8>),
    /// Writes zeros. `holes`: they may take no room.
    Zero {
        /// The drive may trim the range.
        holes: bool,
    },
    /// Trims: the bytes are no longer needed, and read as zeros from then on.
    Trim,
    /// Flushes: writes answered before must survive a power failure.
    Flush,
}

/// A request of a client, within the drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The client, and its name for the request.
    pub asker: Asker,
    /// Kind of the request.
    pub action: Action,
    /// First byte.
    pub offset: u64,
    /// Length in bytes; 0 for a flush.
    pub length: u64,
    /// Once the request is answered, what it writes must survive a power failure.
    pub force: bool,
    /// Placement handle that the client names.
    pub handle: Option<u8>,
    /// When the request came, if another thread has taken it in; `None`: now.
    pub came: Option<Instant>,
}

/// The outcome of a request.
#[derive(Debug)]
pub struct Answer {
    /// The client and the request that are answered.
    pub asker: Asker,
    /// Bytes that were read (none for other requests), or the error.
    pub outcome: io::Result<Vec<u8>>,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    asker: Asker,
    kind: RequestKind,
    offset: u64,
    length: u64,
    /// A flush must follow before the request is answered.
    force: bool,
    handle: Option<u8>,
    /// For a flush that follows a forced request: the serial number of that request.
    of: Option<u64>,
}

/// When the power of a drive fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerCut {
    /// At this simulated time, ns.
    Time(Ns),
    /// Once this many requests have arrived.
    Requests(u64),
}

/// A simulated drive, its bytes and its clock.
pub struct Drive {
    simulation: Simulation,
    /// The clock; `None` before the first request, with which time begins as in a replay of the record.
    clock: Option<Clock>,
    scale: f64,
    contents: Box<dyn Contents>,
    record: Option<Record>,
    late: Late,
    /// Requests under way by serial number, from `first` on; `None`: answered.
    under_way: VecDeque<Option<UnderWay>>,
    first: u64,
    answers: Vec<Answer>,
    undo: Undo,
    /// Why a power failure could not take back all data that it should have.
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
        simulation.take_completions(); // completions are kept from now on
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

    /// Whether the power is to fail now.
    pub fn is_to_be_cut(&self) -> bool {
        match self.power_cut {
            None => false,
            Some(PowerCut::Time(ns)) => self.clock.is_some_and(|clock| clock.now() >= ns),
            Some(PowerCut::Requests(count)) => self.submitted() >= count,
        }
    }

    /// Number of requests that have come.
    fn submitted(&self) -> u64 {
        self.first + self.under_way.len() as u64
    }

    /// The present simulated time, ns, which ends with the power.
    fn now(&self) -> Ns {
        self.time(Instant::now()).max(self.simulation.now())
    }

    /// The simulated time at an instant of real time, ns, which ends with the power.
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

    /// Real time until the next event, if no request comes before; `None` if there is none.
    pub fn idle_for(&self) -> Option<Duration> {
        let clock = self.clock?;
        self.next_instant().map(|instant| clock.until(instant))
    }

    /// Number of requests under way.
    pub fn outstanding(&self) -> usize {
        self.under_way.iter().flatten().count()
    }

    /// Simulated time of the next event, ns, if no request comes before; `None` if there is none.
    fn next_instant(&self) -> Option<Ns> {
        let cut = if let Some(PowerCut::Time(ns)) = self.power_cut { Some(ns) } else { None };
        self.simulation.next_instant().into_iter().chain(cut).min()
    }

    /// Takes a request in at the time when it came, or right after the time that is simulated already.
    ///
    /// # Errors
    /// Errors of the simulation or the record: the drive cannot go on.
    pub fn take(&mut self, ask: Ask) -> Result<()> {
        let Ask { asker, action, offset, length, force, handle, came } = ask;
        let applied = self.apply(&action, offset, length);
        // There is nothing to do, or it cannot be done.
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
        self.submit(came, UnderWay { asker, kind, offset, length, force, handle, of: None })
    }

    /// Applies a request to the contents when it comes, so that later requests find its bytes.
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
        let UnderWay { kind, offset, length, handle, .. } = under_way;
        let came = came.unwrap_or_else(Instant::now);
        let arrival_ns = match self.clock {
            // Events due before the request come first. At an instant that is simulated already, all that could begin has begun, so the
            // request comes after it.
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
        let request = Request {
            arrival_ns,
            kind,
            offset,
            length,
            high_priority: false,
            flow: 0,
            handle: handle.filter(|_| kind == RequestKind::Write),
        };
        if let Some(record) = &mut self.record {
            record.add(&request)?;
        }
        self.simulation.submit(request)?;
        self.under_way.push_back(Some(under_way));
        Ok(())
    }

    /// Simulates until all requests are complete, however long that takes of simulated time, and returns their answers.
    ///
    /// # Errors
    /// Errors of the simulation or the record.
    pub fn drain(&mut self) -> Result<Vec<Answer>> {
        while self.outstanding() > 0 {
            self.simulation.run_to_idle()?;
            self.complete()?;
        }
        Ok(std::mem::take(&mut self.answers))
    }

    /// Moves the record to its place, although the run cannot be finished.
    ///
    /// # Errors
    /// Errors of writing the record.
    pub fn keep_record(self) -> Result<()> {
        self.record.map_or(Ok(()), Record::finish)
    }

    /// Ends the run. Its result is that of a replay of the record. `state`: file for the state of the drive. Returns also how late answers
    /// were, and whether the data and the state could be saved.
    ///
    /// # Errors
    /// Errors of the simulation or the record.
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

    /// Makes the power fail. Data that were only in volatile memory are lost. Requests that are not complete will not be answered; in the
    /// result they are complete, as in a replay of the record.
    ///
    /// # Errors
    /// Errors of the simulation or the file of the data.
    pub fn cut_power(&mut self) -> Result<PowerCutResult> {
        let at_ns = self.now();
        if self.clock.is_some() {
            self.simulation.run_until(at_ns)?;
        }
        // Requests that have completed since answers were sent last have no answer, and count as incomplete.
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

    /// Simulates up to the present, and returns the answers that are due.
    ///
    /// # Errors
    /// Errors of the simulation or the record: the drive cannot go on.
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

    /// Makes the answers to requests that have completed.
    fn complete(&mut self) -> Result<()> {
        for completion in self.simulation.take_completions() {
            let place = (completion.index - self.first) as usize;
            let done = self.under_way[place].take().expect("a request completes once");
            if done.kind == RequestKind::Write {
                self.undo.completes(completion.index, done.offset, done.length);
            }
            if done.force {
                let flush = UnderWay {
                    kind: RequestKind::Flush,
                    offset: 0,
                    length: 0,
                    force: false,
                    handle: None,
                    of: Some(completion.index),
                    ..done
                };
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
