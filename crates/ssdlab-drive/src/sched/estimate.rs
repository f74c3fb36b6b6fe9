//! Estimates of when a page operation will end (elyasi2017 section 5): equations (1) to (6), from queue lengths and counters that hardware
//! could keep. The residual time (7) of operations in service comes from the flash. All in integer ns; every product is divided once and
//! rounded down.

use super::QueueKind;
use crate::flash::Timing;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::Device;

/// Service times of operations that nothing keeps waiting, ns.
#[derive(Clone, Copy, Debug)]
pub struct Latencies {
    /// A read and a write of the host, transfer included.
    pub host: [Ns; 2],
    /// An erase.
    pub erase: Ns,
    /// A transfer of one page.
    pub transfer: Ns,
}

impl Latencies {
    fn new(device: &Device, timing: &Timing) -> Self {
        let transfer = timing.transfer_ns;
        Latencies {
            host: [
                timing.read_command_ns + device.mean_read_ns() + transfer + timing.decode_ns + timing.mean_retry_ns,
                timing.program_transfer_ns + device.mean_program_ns(),
            ],
            erase: timing.erase_ns,
            transfer,
        }
    }

    /// Service time of a page move, a read and a write, ns.
    pub fn page_move(&self) -> Ns {
        self.host[0] + self.host[1]
    }
}

/// Counters of the operations that a station has served.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// Host pages read and programmed, and the commands that did it: Cntr_RD and Cntr_WR, and what turns them into the paper's Cntr_ARD and
    /// Cntr_AWR.
    pages: [u64; 2],
    commands: [u64; 2],
    /// Of the host pages read and programmed, those in commands for more than one page.
    together: [u64; 2],
    /// Pages moved and blocks erased by collection: Cntr_Move, Cntr_ER.
    moved: u64,
    erased: u64,
}

/// Numbers of operations of one kind that go before another operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Operations on the same plane, which a command serves one at a time.
    pub own: u64,
    /// Operations on other planes of the same die, which a command may serve together with one of the same plane.
    pub beside: u64,
    /// Operations elsewhere, or of unknown plane.
    pub elsewhere: u64,
}

impl Before {
    /// Number of operations, wherever they are.
    pub fn all(&self) -> u64 {
        self.own + self.beside + self.elsewhere
    }
}

/// What an operation has to wait for on its station.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// Reads and writes in queues that go first.
    pub waiting: [Before; 2],
    /// Remaining time of the operation in service, ns: T_residual.
    pub residual: Ns,
    /// Number of operations that the station serves at once.
    pub width: u64,
}

/// `wide` divided by `by`, rounded down. A division of 128 bits takes several times as long as one of 64, which mostly suffice.
#[inline]
fn quotient(wide: u128, by: u64) -> u64 {
    u64::try_from(wide).map_or_else(|_| (wide / u128::from(by)) as u64, |narrow| narrow / by)
}

/// The counters of all stations and channels.
#[derive(Clone, Debug)]
pub struct Estimator {
    latencies: Latencies,
    stations: Vec<Done>,
    /// By channel: page operations admitted, Cntr_Total. The buses count Cntr_Ready.
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

    /// The service times of operations.
    #[inline]
    pub fn latencies(&self) -> &Latencies {
        &self.latencies
    }

    /// Counts a page operation that was admitted to a channel.
    pub fn admitted(&mut self, channel: u32) {
        self.admitted[channel as usize] += 1;
    }

    /// Counts a command of a station for `pages` pages of the host.
    pub fn served(&mut self, station: u32, kind: QueueKind, pages: u32) {
        let done = &mut self.stations[station as usize];
        done.pages[kind as usize] += u64::from(pages);
        done.commands[kind as usize] += 1;
        done.together[kind as usize] += if pages > 1 { u64::from(pages) } else { 0 };
    }

    /// Counts a page that GC has moved on a station.
    pub fn moved(&mut self, station: u32) {
        self.stations[station as usize].moved += 1;
    }

    /// Counts a block that GC has erased on a station.
    pub fn erased(&mut self, station: u32) {
        self.stations[station as usize].erased += 1;
    }

    /// How long a station takes to serve these operations of a kind, ns: (3), reduced by advanced commands (4). With Pr the share of pages
    /// served together: each operation of the same plane takes a command; one beside it a command only if it is not served together; any
    /// other the commands per page on average, (1 - Pr) + Pr / N = commands / pages. Where planes have equal shares of the queue the sum is
    /// the paper's.
    pub fn queue_of(&self, station: u32, kind: QueueKind, before: Before) -> Ns {
        if before == Before::default() {
            return 0;
        }
        let (done, kind) = (&self.stations[station as usize], kind as usize);
        let latency = u128::from(self.latencies.host[kind]);
        let [own, beside, elsewhere] = [before.own, before.beside, before.elsewhere].map(|count| u128::from(count) * latency);
        let share = |time: u128, part: u64| match done.pages[kind] {
            pages if pages == 0 || time == 0 => time,
            pages => u128::from(quotient(time * u128::from(part), pages)),
        };
        let alone = done.pages[kind] - done.together[kind];
        (own + share(beside, alone) + share(elsewhere, done.commands[kind])) as Ns
    }

    /// T_GC (5): time of collection so far, divided by the host pages read and programmed, ns.
    fn collection(&self, station: u32) -> Ns {
        let done = &self.stations[station as usize];
        let pages = done.pages[0] + done.pages[1];
        let cost = |count: u64, ns: Ns| u128::from(count) * u128::from(ns);
        if pages == 0 { 0 } else { quotient(cost(done.moved, self.latencies.page_move()) + cost(done.erased, self.latencies.erase), pages) }
    }

    /// T_interference (6): mean time that a page operation has waited for the channel, ns.
    fn interference(&self, channel: u32, ready: u64) -> Ns {
        match self.admitted[channel as usize] {
            0 => 0,
            admitted => quotient(u128::from(self.latencies.transfer) * u128::from(ready), admitted),
        }
    }

    /// The estimated time from now to the end of a page operation (1), (2), ns. `ready`: Cntr_Ready of the channel, summed over its
    /// transfers the operations that waited during each.
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
