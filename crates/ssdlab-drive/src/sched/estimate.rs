//! Estimates of when a page operation will end (elyasi2017 section 5): equations (1) to (6), from queue lengths and counters that hardware
//! could keep. The residual time (7) of operations in service comes from the flash. All in integer ns; every product is divided once and
//! rounded down.

use super::QueueKind;
use crate::flash::Timing;
use ssdlab_base::units::Ns;

/// Counters of the operations that a station has served.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// Host pages read and programmed, and the commands that did it: Cntr_RD and Cntr_WR, and what turns them into the paper's Cntr_ARD and
    /// Cntr_AWR.
    pages: [u64; 2],
    commands: [u64; 2],
    /// Of the host pages read and programmed, those in commands for more than one page.
    together: [u64; 2],
    /// Expected times of the page moves and erases of collection, ns: Cntr_Move and Cntr_ER times their latencies.
    collection: u128,
}

/// Expected times of the operations of one kind that go before another operation, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Operations on the same plane, which a command serves one at a time.
    pub own: Ns,
    /// Operations on other planes of the same die, which a command may serve together with one of the same plane.
    pub beside: Ns,
    /// Operations elsewhere, or of unknown plane.
    pub elsewhere: Ns,
}

impl Before {
    /// The times of all operations, wherever they are.
    pub fn all(&self) -> Ns {
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
    /// A transfer of one page, ns.
    transfer_ns: Ns,
    stations: Vec<Done>,
    /// By channel: page operations admitted, Cntr_Total. The buses count Cntr_Ready.
    admitted: Vec<u64>,
}

impl Estimator {
    pub(super) fn new(timing: &Timing, stations: u32, channels: u32) -> Self {
        Estimator {
            transfer_ns: timing.transfer_ns,
            stations: vec![Done::default(); stations as usize],
            admitted: vec![0; channels as usize],
        }
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

    /// Counts an operation of collection on a station that was expected to take this long.
    pub fn collected(&mut self, station: u32, expected: Ns) {
        self.stations[station as usize].collection += u128::from(expected);
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
        let share = |time: Ns, part: u64| match done.pages[kind] {
            pages if pages == 0 || time == 0 => time,
            pages => quotient(u128::from(time) * u128::from(part), pages),
        };
        let alone = done.pages[kind] - done.together[kind];
        before.own + share(before.beside, alone) + share(before.elsewhere, done.commands[kind])
    }

    /// T_GC (5): time of collection so far, divided by the host pages read and programmed, ns.
    fn collection(&self, station: u32) -> Ns {
        let done = &self.stations[station as usize];
        let pages = done.pages[0] + done.pages[1];
        if pages == 0 { 0 } else { quotient(done.collection, pages) }
    }

    /// T_interference (6): mean time that a page operation has waited for the channel, ns.
    fn interference(&self, channel: u32, ready: u64) -> Ns {
        match self.admitted[channel as usize] {
            0 => 0,
            admitted => quotient(u128::from(self.transfer_ns) * u128::from(ready), admitted),
        }
    }

    /// The estimated time from now to the end of a page operation that is expected to take `alone` (1), (2), ns. `ready`: Cntr_Ready of
    /// the channel, summed over its transfers the operations that waited during each.
    pub fn response(&self, station: u32, channel: u32, alone: Ns, ahead: Ahead, ready: u64) -> Ns {
        let queue: Ns =
            [QueueKind::Read, QueueKind::Write].map(|kind| self.queue_of(station, kind, ahead.waiting[kind as usize])).iter().sum();
        queue / ahead.width + self.collection(station) + self.interference(channel, ready) + ahead.residual + alone
    }
}
