//! When will a page operation end? elyasi2017 section 5: from the lengths of queues and counters that hardware could keep, equations (1) to (6); what is in service, (7), is asked of the flash.
//! All in integer ns; every product is divided once and rounded down.

use super::QueueKind;
use crate::config::Device;
use crate::flash::Timing;
use crate::units::Ns;

/// What an operation takes that nothing keeps waiting, ns.
#[derive(Clone, Copy, Debug)]
pub struct Latencies {
    /// Of a read and a write of the host, transfer included.
    pub host: [Ns; 2],
    /// Of an erase.
    pub erase: Ns,
    /// Of a transfer.
    pub transfer: Ns,
}

impl Latencies {
    fn new(device: &Device, timing: &Timing) -> Self {
        let transfer = timing.transfer_ns;
        Latencies {
            host: [timing.read_command_ns + device.mean_read_ns() + transfer, timing.program_transfer_ns + device.mean_program_ns()],
            erase: timing.erase_ns,
            transfer,
        }
    }

    /// Of a page move: a read and a write.
    pub fn page_move(&self) -> Ns {
        self.host[0] + self.host[1]
    }
}

/// What a station has done, in counts.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// Pages read and programmed for the host, and the commands in which that was done: Cntr_RD, Cntr_WR, and what makes of them the paper's
    /// Cntr_ARD, Cntr_AWR.
    pages: [u64; 2],
    commands: [u64; 2],
    /// Of these pages, those in commands for more than one.
    together: [u64; 2],
    /// Pages moved and blocks erased by collection: Cntr_Move, Cntr_ER.
    moved: u64,
    erased: u64,
}

/// Operations of one kind that go before another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// On its own plane, of which a command serves one at a time.
    pub own: u64,
    /// On the other planes of its die, that a command may serve together with one of its own.
    pub beside: u64,
    /// Wherever else, or of which the plane is not known.
    pub elsewhere: u64,
}

impl Before {
    /// Operations wherever they are.
    pub fn all(&self) -> u64 {
        self.own + self.beside + self.elsewhere
    }
}

/// What stands ahead of an operation on its station.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// Reads and writes in the queues that go first.
    pub waiting: [Before; 2],
    /// What is left of the operation that runs, ns: T_residual.
    pub residual: Ns,
    /// Operations that the station works on at once.
    pub width: u64,
}

/// The counters of all stations and channels.
#[derive(Clone, Debug)]
pub struct Estimator {
    latencies: Latencies,
    stations: Vec<Done>,
    /// By channel, page operations admitted: Cntr_Total. Cntr_Ready is counted by the buses.
    admitted: Vec<u64>,
}

impl Estimator {
    pub(super) fn new(device: &Device, timing: &Timing, stations: u32, channels: u32) -> Self {
        Estimator {
            latencies: Latencies::new(device, timing),
            stations: vec![Done::default(); stations as usize],
            admitted: vec![0; channels as usize],
        }
    }

    /// What operations take.
    #[inline]
    pub fn latencies(&self) -> &Latencies {
        &self.latencies
    }

    /// A page operation was admitted to a channel.
    pub fn admitted(&mut self, channel: u32) {
        self.admitted[channel as usize] += 1;
    }

    /// A station begins a command for this many pages of the host.
    pub fn served(&mut self, station: u32, kind: QueueKind, pages: u32) {
        let done = &mut self.stations[station as usize];
        done.pages[kind as usize] += u64::from(pages);
        done.commands[kind as usize] += 1;
        done.together[kind as usize] += if pages > 1 { u64::from(pages) } else { 0 };
    }

    /// Collection has moved a page on a station.
    pub fn moved(&mut self, station: u32) {
        self.stations[station as usize].moved += 1;
    }

    /// Collection has erased a block on a station.
    pub fn erased(&mut self, station: u32) {
        self.stations[station as usize].erased += 1;
    }

    /// How long it takes a station to serve these operations of a kind: (3), shortened by what advanced commands do at once (4). With Pr the share
    /// of pages served together, each of its own plane takes a command, one beside it a command only if it is not served together, any other
    /// the share of a command that pages take on average, (1 - Pr) + Pr / N, which is commands / pages. Where planes have equal shares of the
    /// queue the sum is the paper's.
    pub fn queue_of(&self, station: u32, kind: QueueKind, before: Before) -> Ns {
        let (done, kind) = (&self.stations[station as usize], kind as usize);
        let latency = u128::from(self.latencies.host[kind]);
        let [own, beside, elsewhere] = [before.own, before.beside, before.elsewhere].map(|count| u128::from(count) * latency);
        let share = |time: u128, part: u64| match done.pages[kind] {
            0 => time,
            pages => time * u128::from(part) / u128::from(pages),
        };
        let alone = done.pages[kind] - done.together[kind];
        (own + share(beside, alone) + share(elsewhere, done.commands[kind])) as Ns
    }

    /// T_GC (5): what collection has cost an operation so far.
    fn collection(&self, station: u32) -> Ns {
        let done = &self.stations[station as usize];
        let cost =
            u128::from(done.moved) * u128::from(self.latencies.page_move()) + u128::from(done.erased) * u128::from(self.latencies.erase);
        cost.checked_div(u128::from(done.pages[0] + done.pages[1])).unwrap_or(0) as Ns
    }

    /// T_interference (6).
    fn interference(&self, channel: u32, ready: u64) -> Ns {
        let waits = u128::from(self.latencies.transfer) * u128::from(ready);
        waits.checked_div(u128::from(self.admitted[channel as usize])).unwrap_or(0) as Ns
    }

    /// The estimated time from now to the end of a page operation (1), (2). `ready`: Cntr_Ready of the channel, over its transfers the operations
    /// that each kept waiting.
    pub fn response(&self, station: u32, channel: u32, kind: QueueKind, ahead: Ahead, ready: u64) -> Ns {
        let queue: Ns =
            [QueueKind::Read, QueueKind::Write].map(|kind| self.queue_of(station, kind, ahead.waiting[kind as usize])).iter().sum();
        queue / ahead.width
            + self.collection(station)
            + self.interference(channel, ready)
            + ahead.residual
            + self.latencies.host[kind as usize]
    }
}
