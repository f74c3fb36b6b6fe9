//! The drive: requests in, their bytes, and answers when the simulated drive has completed them.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use ssdlab::error::{Error, Result};
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::Simulation;
use ssdlab::stats::RunResult;
use ssdlab::units::Ns;

use crate::clock::Clock;
use crate::contents::Contents;
use crate::late::Late;
use crate::record::Record;

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
    reads: bool,
    offset: u64,
    length: u64,
    /// A flush is to follow before it is answered.
    force: bool,
}

/// A simulated drive, its bytes and its clock.
pub struct Drive {
    simulation: Simulation,
    clock: Clock,
    contents: Box<dyn Contents>,
    record: Option<Record>,
    late: Late,
    /// By serial number from `first` on; `None`: answered.
    under_way: VecDeque<Option<UnderWay>>,
    first: u64,
    answers: Vec<Answer>,
}

impl Drive {
    /// A drive whose time begins now.
    pub fn new(mut simulation: Simulation, clock: Clock, contents: Box<dyn Contents>, record: Option<Record>) -> Self {
        simulation.take_completions(); // from now on it keeps them
        Drive { simulation, clock, contents, record, late: Late::default(), under_way: VecDeque::new(), first: 0, answers: Vec::new() }
    }

    /// How late answers were.
    pub fn late(&self) -> &Late {
        &self.late
    }

    /// The clock of the drive.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Requests under way.
    pub fn outstanding(&self) -> usize {
        self.under_way.iter().flatten().count()
    }

    /// When something happens next, if no request comes before.
    pub fn next_instant(&self) -> Option<Ns> {
        self.simulation.next_instant()
    }

    /// Takes a request in, at the instant when it came, or at the present one if what happened since is simulated already.
    ///
    /// # Errors
    /// What the simulation or the record meets: the drive cannot go on.
    pub fn take(&mut self, ask: Ask) -> Result<()> {
        let Ask { asker, action, offset, length, force, came } = ask;
        let applied = match &action {
            Action::Write(bytes) => self.contents.write(offset, bytes),
            Action::Zero { .. } | Action::Trim => self.contents.clear(offset, length),
            Action::Read | Action::Flush => Ok(()),
        };
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
        let arrival = came.map_or_else(|| self.clock.now(), |instant| self.clock.at(instant));
        self.submit(arrival, kind, offset, length, UnderWay { asker, reads: kind == RequestKind::Read, offset, length, force })
    }

    fn submit(&mut self, arrival: Ns, kind: RequestKind, offset: u64, length: u64, under_way: UnderWay) -> Result<()> {
        let arrival_ns = arrival.max(self.simulation.now());
        // What is due before it comes first.
        self.simulation.run_until(arrival_ns)?;
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

    /// Ends the run. Its result is that of a replay of the record.
    ///
    /// # Errors
    /// What the simulation, the record or the bytes' file meets.
    pub fn finish(mut self) -> Result<(RunResult, Late)> {
        let result = self.simulation.finish()?;
        self.record.map(Record::finish).transpose()?;
        self.contents
            .sync()
            .map_err(|reason| Error::Simulation(format!("the data of the drive cannot be brought to the disk: {reason}")))?;
        Ok((result, self.late))
    }

    /// Simulates up to the present, and gives the answers that are due.
    ///
    /// # Errors
    /// What the simulation or the record meets: the drive cannot go on.
    pub fn answers(&mut self) -> Result<Vec<Answer>> {
        let now = self.clock.now().max(self.simulation.now());
        self.simulation.run_until(now)?;
        self.complete()?;
        Ok(std::mem::take(&mut self.answers))
    }

    /// Answers what has completed.
    fn complete(&mut self) -> Result<()> {
        for completion in self.simulation.take_completions() {
            let place = (completion.index - self.first) as usize;
            let done = self.under_way[place].take().expect("a request completes once");
            if done.force {
                self.submit(self.clock.now(), RequestKind::Flush, 0, 0, UnderWay { force: false, reads: false, ..done })?;
                continue;
            }
            let mut bytes = vec![0; if done.reads { done.length as usize } else { 0 }];
            let outcome = if done.reads { self.contents.read(done.offset, &mut bytes) } else { Ok(()) };
            self.late.add(self.clock.since(completion.completed_ns));
            self.answers.push(Answer { asker: done.asker, outcome: outcome.map(|()| bytes) });
        }
        while let Some(None) = self.under_way.front() {
            self.under_way.pop_front();
            self.first += 1;
        }
        Ok(())
    }
}
