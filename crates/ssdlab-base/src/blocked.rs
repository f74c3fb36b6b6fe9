//! Reasons for which operations wait. The arbiter gives the reason; the wait clocks add up time by reason, for the breakdown of response
//! times, the column `blocked_by` of the request log, the timeline and the watchdog's report.
//!
//! To add a reason: a variant here with its part and its name, and the place that gives it (`arbiter::eligible`, or what holds a die:
//! `blocked_on` in `ssd/watch/waits.rs`; of a request in the host queue, `Ssd::admit_page`; of a command outside the drive, `storage/interface`, or in front of
//! its write buffer, `storage/buffer`; for the mapping table, `storage/mapping`).

mod sum;

pub use sum::TimesSum;

use crate::status::Status;
use crate::units::Ns;

/// A named part of a response time, as results show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Part {
    /// Waiting in a queue of the host, for a place in a chip's queue or for a chip with room.
    HostQueue,
    /// Waiting for the die behind host work.
    DieQueue,
    /// Waiting for garbage collection.
    Gc,
    /// Waiting for the channel bus.
    BusQueue,
    /// Being transferred on the bus.
    Transfer,
    /// Being read, programmed or erased in the flash array.
    Array,
    /// Being suspended or paused.
    Suspended,
    /// Being served by the controller's DRAM.
    Dram,
    /// Waiting for a processor of the controller, and served by it.
    Controller,
    /// Waiting for the link to the host, and on it.
    Link,
    /// Waiting for entries of the mapping table.
    Mapping,
    /// Waiting for garbage collection to free room for writes (`gc.pace`), for the rate of writes (`host.write_bytes_per_us`), or for the quota of a
    /// queue (`host.quota_iops`, `host.quota_mb_s`).
    Pace,
    /// Waiting for power (`energy.cap_w`).
    Power,
    /// Waiting since the drive is too warm (`thermal`).
    Heat,
    /// Waiting for the drive to leave a power state (`power_states`).
    PowerState,
    /// Steps of a read that failed, so that it was repeated: array, transfer, decoding, and waits for the bus between them
    /// (`errors.retry`).
    Retry,
    /// Decoding of the data of a read, in its last step (`errors.decode_ns`).
    Decode,
}

impl Part {
    /// Number of parts.
    pub const COUNT: usize = 17;
    /// Names of the parts in results, in order.
    pub const NAMES: [&'static str; Part::COUNT] = [
        "host_queue",
        "die_queue",
        "gc",
        "bus_queue",
        "transfer",
        "array",
        "suspended",
        "dram",
        "controller",
        "link",
        "mapping",
        "pace",
        "power",
        "heat",
        "power_state",
        "retry",
        "decode",
    ];
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $text:literal in $part:ident,)*) => {
        /// Why an operation does not begin, or does not go on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Blocked {
            $($(#[$doc])* $name,)*
        }

        impl Blocked {
            /// All reasons, in order.
            pub const ALL: [Blocked; Blocked::COUNT] = [$(Blocked::$name),*];
            /// Names of the reasons in the request log, in order.
            pub const NAMES: [&'static str; Blocked::COUNT] = [$($text),*];
            /// Number of reasons.
            pub const COUNT: usize = [$($text),*].len();
            const PARTS: [Part; Blocked::COUNT] = [$(Part::$part),*];
        }
    };
}

// Reasons that a die, plane or chip can cause come first: the wait clocks count these.
reasons! {
    /// A host operation occupies the die, or another die of a chip whose dies exclude each other.
    HostOperation = "host_operation" in DieQueue,
    /// The channel's bus is busy, or other operations wait for it.
    Bus = "bus" in BusQueue,
    /// A GC operation occupies the die.
    GcOperation = "gc_operation" in Gc,
    /// A GC job excludes the host from its scope (`gc.scope`).
    Scope = "gc_scope" in Gc,
    /// The pool has fewer than T_hard free blocks (states S2 and S3, lee2013 Fig. 7).
    HardThreshold = "hard_threshold" in Gc,
    /// The pool has no page for a write until GC has freed a block. Wait clocks also show this while nothing holds a die.
    FreeBlock = "free_block" in Gc,
    /// A suspended GC operation holds the page register or the open block that is needed (lee2013 section IV).
    Register = "register" in Gc,
    /// Operations on other dies draw the power that is needed (`energy.cap_w`), or wait for it longer.
    Power = "power" in Power,
    /// The drive is too warm (`thermal`): throttled, operations on other dies draw the power that is needed or wait for it longer; or it is at its
    /// critical temperature.
    Heat = "heat" in Heat,
    /// The drive enters a power state, is in it or leaves it (`power_states`).
    PowerState = "power_state" in PowerState,
    /// The queue of the chip is full (`scheduler.read_queue`, `scheduler.write_queue`), or an earlier request waits for a place in it.
    QueueFull = "queue_full" in HostQueue,
    /// Dynamic allocation: no chip has room for the data, or an earlier request waits for room.
    NoRoom = "no_room" in HostQueue,
    /// An earlier update of the same stripe of the array has not ended, or drives have no place for the data of a write (`wear`).
    StripeLock = "stripe_lock" in HostQueue,
    /// An earlier operation on the same logical page has not ended.
    PageOrder = "page_order" in DieQueue,
    /// The operation, a program, is paused for reads (`scheduler.write_pausing`), or suspended for them (`scheduler.suspend`).
    Paused = "paused" in Suspended,
    /// The write buffer of the drive has no room (`buffer.bytes`), the drive no place for the data of a write (`wear`), or an earlier request
    /// waits for either.
    BufferFull = "buffer_full" in HostQueue,
    /// A write waits for credit that GC earns (`gc.pace`), or for an earlier request that waits for credit.
    Pace = "pace" in Pace,
    /// All slots for commands are taken (`host.slots`).
    Slot = "slot" in HostQueue,
    /// Commands of other queues are fetched first, the command's own queue has as many fetched as it may (`host.queue_depth`), or an older
    /// command of the same bytes waits in another queue.
    Queue = "queue" in HostQueue,
    /// The controller's processors serve other commands (`host.cores`).
    Core = "core" in Controller,
    /// Data of other requests, or of an older write of the same bytes, are on the link to the host.
    Link = "link" in Link,
    /// The drive takes the data of writes in at a limited rate (`host.write_bytes_per_us`), or those of an older write of the same bytes.
    WriteRate = "write_rate" in Pace,
    /// A translation page with entries that are needed is not in memory (`ftl.map_cache_bytes`), or an earlier request of the same units
    /// waits for such a page.
    TranslationPage = "translation_page" in Mapping,
    /// A finish or a reset of the zone has not ended (`zones`). In a log of the host (`zones.log`): no zone is free for a write, or an earlier request
    /// of the same mapping unit has not been sent.
    Zone = "zone" in HostQueue,
    /// The quota of the command's queue is used up (`host.quota_iops`, `host.quota_mb_s`), by it or by commands before it.
    Quota = "quota" in Pace,
}

impl Blocked {
    /// Number of reasons that a die, plane or chip can cause; they come first.
    pub const OF_DIES: usize = Blocked::PowerState as usize + 1;
    /// Number of reasons for which a request waits inside a drive or an array; they come first.
    const INSIDE: usize = Blocked::Paused as usize + 1;

    /// The part of a response time to which waiting for this reason belongs.
    #[inline]
    pub const fn part(self) -> Part {
        Blocked::PARTS[self as usize]
    }

    /// Name of the reason in the request log.
    pub const fn name(self) -> &'static str {
        Blocked::NAMES[self as usize]
    }
}

/// A resource that serves an operation while it does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Served {
    /// The bus, by a transfer.
    Transfer,
    /// The flash array.
    Array,
    /// Steps of a read that fail.
    Retry,
    /// The decoding of the data of a read.
    Decode,
    /// The controller's DRAM.
    Dram,
    /// A processor of the controller.
    Core,
    /// The link to the host.
    Link,
}

impl Served {
    const COUNT: usize = 7;
    /// Number of resources that serve operations inside a drive; they come first.
    const INSIDE: usize = Served::Dram as usize + 1;
    const PARTS: [Part; Served::COUNT] = [Part::Transfer, Part::Array, Part::Retry, Part::Decode, Part::Dram, Part::Controller, Part::Link];
    const NAMES: [&'static str; Served::COUNT] = ["transfer", "array", "retry", "decode", "dram", "core", "link"];
    const ALL: [Served; Served::COUNT] =
        [Served::Transfer, Served::Array, Served::Retry, Served::Decode, Served::Dram, Served::Core, Served::Link];
}

/// A share of a response time: waiting for a reason, or being served by a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Waiting.
    Wait(Blocked),
    /// Being served.
    Service(Served),
}

impl Share {
    /// Name of the reason or of the resource.
    pub fn name(self) -> &'static str {
        match self {
            Share::Wait(reason) => reason.name(),
            Share::Service(by) => Served::NAMES[by as usize],
        }
    }

    /// Name of the part of the response time.
    pub fn part(self) -> &'static str {
        match self {
            Share::Wait(reason) => Part::NAMES[reason.part() as usize],
            Share::Service(by) => Part::NAMES[Served::PARTS[by as usize] as usize],
        }
    }
}

/// Nanoseconds by [`Part`]; for a completed request they add up to its response time, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(pub [Ns; Part::COUNT]);

impl Parts {
    /// The sum of all parts.
    #[inline]
    pub fn total(&self) -> Ns {
        self.0.iter().sum()
    }
}

/// Times of an operation inside a drive: waiting, by reason, and being served, by resource. Each transaction has one, so it is kept small,
/// without times in the host interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriveTimes {
    waited: [Ns; Blocked::INSIDE],
    served: [Ns; Served::INSIDE],
}

impl DriveTimes {
    /// Adds time that the operation waited for `reason`, ns.
    #[inline(always)]
    pub fn wait(&mut self, reason: Blocked, ns: Ns) {
        self.waited[reason as usize] += ns;
    }

    /// Adds time that the operation was served, ns.
    #[inline(always)]
    pub fn serve(&mut self, by: Served, ns: Ns) {
        self.served[by as usize] += ns;
    }

    /// Adds the times of a later part of the request, or of another request.
    #[inline(always)]
    fn then(&mut self, later: &DriveTimes) {
        // Sums of times fit, as those of clocks do ([`DriveTimes::wait_by_clocks`]): unchecked, the loops are a few vector instructions.
        self.waited.iter_mut().zip(&later.waited).for_each(|(sum, ns)| *sum = sum.wrapping_add(*ns));
        self.served.iter_mut().zip(&later.served).for_each(|(sum, ns)| *sum = sum.wrapping_add(*ns));
    }

    /// Adds the time that the wait clocks of a die, by reason, advanced from `noted` to `shown` while the operation waited.
    #[inline(always)]
    pub fn wait_by_clocks(&mut self, noted: &[Ns; Blocked::OF_DIES], shown: &[Ns; Blocked::OF_DIES]) {
        for ((waited, shown), noted) in self.waited.iter_mut().zip(shown).zip(noted) {
            // Clocks never go back, and sums of times fit (see `simulation::LAST_INSTANT`). Unchecked, the loop is a few vector instructions.
            *waited = waited.wrapping_add(shown.wrapping_sub(*noted));
        }
    }
}

/// Number of reasons and resources in front of the drive: the last ones of [`Blocked`] and of [`Served`].
const OUTSIDE: usize = Blocked::COUNT - Blocked::INSIDE + Served::COUNT - Served::INSIDE;

/// Times of a request: waiting, by reason, and being served, by resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    inside: DriveTimes,
    /// Times in the host interface, the write buffer and the mapping table, and of waiting for credit (`gc.pace`): first those of waiting by
    /// reason, then those of being served; `None`: all are 0.
    outside: Option<[Ns; OUTSIDE]>,
    /// What became of the request, or of the part that these times are of.
    pub status: Status,
}

impl From<&DriveTimes> for Times {
    #[inline]
    fn from(times: &DriveTimes) -> Self {
        Times { inside: *times, outside: None, status: Status::Done }
    }
}

impl Times {
    /// Adds time that the request waited for `reason`, ns.
    #[inline(always)]
    pub fn wait(&mut self, reason: Blocked, ns: Ns) {
        match (reason as usize).checked_sub(Blocked::INSIDE) {
            None => self.inside.wait(reason, ns),
            Some(place) => self.outside.get_or_insert_default()[place] += ns,
        }
    }

    /// Adds time that the request was served, ns.
    #[inline(always)]
    pub fn serve(&mut self, by: Served, ns: Ns) {
        match (by as usize).checked_sub(Served::INSIDE) {
            None => self.inside.serve(by, ns),
            Some(place) => self.outside.get_or_insert_default()[Blocked::COUNT - Blocked::INSIDE + place] += ns,
        }
    }

    /// The time of a share, ns.
    pub fn of(&self, share: Share) -> Ns {
        let outside = |place: usize| self.outside.map_or(0, |outside| outside[place]);
        match share {
            Share::Wait(reason) => match (reason as usize).checked_sub(Blocked::INSIDE) {
                None => self.inside.waited[reason as usize],
                Some(place) => outside(place),
            },
            Share::Service(by) => match (by as usize).checked_sub(Served::INSIDE) {
                None => self.inside.served[by as usize],
                Some(place) => outside(Blocked::COUNT - Blocked::INSIDE + place),
            },
        }
    }

    /// Adds to a share, ns.
    pub fn add(&mut self, share: Share, ns: Ns) {
        match share {
            Share::Wait(reason) => self.wait(reason, ns),
            Share::Service(by) => self.serve(by, ns),
        }
    }

    /// The shares that are not 0: waits in the order of reasons, then services.
    pub fn shares(&self) -> impl Iterator<Item = (Share, Ns)> {
        let all = Blocked::ALL.into_iter().map(Share::Wait).chain(Served::ALL.into_iter().map(Share::Service));
        all.map(|share| (share, self.of(share))).filter(|&(_, ns)| ns > 0)
    }

    /// The times minus those of `part`; `None` if `part` has more of a share than they have.
    pub fn less(&self, part: &Times) -> Option<Times> {
        if part.shares().any(|(share, ns)| self.of(share) < ns) {
            return None;
        }
        let mut left = Times::default();
        self.shares().for_each(|(share, ns)| left.add(share, ns - part.of(share)));
        Some(left)
    }

    /// Adds the times of a later part of the request.
    #[inline]
    pub fn then(&mut self, later: &Times) {
        self.status.add(later.status);
        self.inside.then(&later.inside);
        if let Some(later) = later.outside {
            self.outside.get_or_insert_default().iter_mut().zip(later).for_each(|(sum, ns)| *sum += ns);
        }
    }

    /// The times by part of the response time.
    #[inline]
    pub fn parts(&self) -> Parts {
        let mut parts = [0; Part::COUNT];
        let inside = Blocked::PARTS[..Blocked::INSIDE].iter().zip(&self.inside.waited);
        let served = Served::PARTS[..Served::INSIDE].iter().zip(&self.inside.served);
        inside.chain(served).for_each(|(part, ns)| parts[*part as usize] += ns);
        if let Some(outside) = &self.outside {
            let later = Blocked::PARTS[Blocked::INSIDE..].iter().chain(&Served::PARTS[Served::INSIDE..]);
            later.zip(outside).for_each(|(part, ns)| parts[*part as usize] += ns);
        }
        Parts(parts)
    }

    /// All times, in arbitrary order.
    #[inline]
    fn all(&self) -> impl Iterator<Item = Ns> + Clone {
        let DriveTimes { waited, served } = &self.inside;
        waited.iter().chain(served).chain(self.outside.iter().flatten()).copied()
    }

    /// Sum of all times, ns; `None` if it exceeds 64 bits.
    #[inline]
    pub fn total(&self) -> Option<Ns> {
        let DriveTimes { waited, served } = &self.inside;
        let inside = || waited.iter().chain(served).copied();
        // Times are mostly so short that no sum of them wraps: then a few vector instructions suffice.
        if self.outside.is_none() && inside().fold(0, |bits, ns| bits | ns) < 1 << 56 {
            return Some(inside().fold(0, u64::wrapping_add));
        }
        self.all().try_fold(0_u64, u64::checked_add)
    }

    /// Sum of all times, ns, in 128 bits.
    pub fn wide_total(&self) -> u128 {
        self.all().map(u128::from).sum()
    }

    /// The reason for which the request waited longest, the first in order among equals; `None` if it never waited.
    pub fn blocked_by(&self) -> Option<Blocked> {
        let outside = self.outside.unwrap_or_default();
        let waited = self.inside.waited.iter().chain(&outside[..Blocked::COUNT - Blocked::INSIDE]);
        let longest = *waited.clone().max()?;
        let first = waited.clone().position(|&ns| ns == longest)?;
        (longest > 0).then(|| Blocked::ALL[first])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_belongs_to_a_part_of_waiting() {
        for (reason, name) in Blocked::ALL.into_iter().zip(Blocked::NAMES) {
            let mut times = Times::default();
            times.wait(reason, 5);
            times.serve(Served::Array, 7);
            let mut expected = [0; Part::COUNT];
            expected[reason.part() as usize] = 5;
            expected[Part::Array as usize] = 7;
            assert_eq!((times.parts().0, times.total(), times.blocked_by()), (expected, Some(12), Some(reason)), "{name}");
            assert!(!matches!(reason.part(), Part::Transfer | Part::Array | Part::Dram), "{name}");
        }
    }

    #[test]
    fn time_in_the_host_interface_counts_like_any_other() {
        let mut times = Times::default();
        times.wait(Blocked::Bus, 3);
        times.serve(Served::Core, 5);
        times.serve(Served::Link, 7);
        times.then(&times.clone());
        let parts = times.parts().0;
        assert_eq!((parts[Part::BusQueue as usize], parts[Part::Controller as usize], parts[Part::Link as usize]), (6, 10, 14));
        assert_eq!((times.total(), times.wide_total()), (Some(30), 30));
        times.wait(Blocked::Link, u64::MAX - 30);
        assert_eq!((times.total(), times.blocked_by()), (Some(u64::MAX), Some(Blocked::Link)));
        times.wait(Blocked::Slot, 1);
        assert_eq!((times.total(), times.wide_total()), (None, 1 << 64));
    }

    #[test]
    fn shares_are_read_and_taken_away_by_name() {
        let mut times = Times::default();
        let all = Blocked::ALL.into_iter().map(Share::Wait).chain(Served::ALL.into_iter().map(Share::Service));
        all.clone().zip(1..).for_each(|(share, ns)| times.add(share, ns));
        assert_eq!(times.shares().collect::<Vec<_>>(), all.zip(1..).collect::<Vec<_>>());
        let mut part = Times::default();
        part.wait(Blocked::TranslationPage, 3);
        part.serve(Served::Array, 4);
        let left = times.less(&part).unwrap();
        assert_eq!(left.total(), times.total().map(|ns| ns - 7));
        assert_eq!(times.of(Share::Service(Served::Array)) - left.of(Share::Service(Served::Array)), 4);
        part.wait(Blocked::Bus, 1000);
        assert_eq!(times.less(&part), None);
    }

    #[test]
    fn the_longest_wait_names_the_reason() {
        let mut times = Times::default();
        assert_eq!(times.blocked_by(), None);
        times.wait(Blocked::PageOrder, 3);
        times.wait(Blocked::Bus, 3);
        assert_eq!(times.blocked_by(), Some(Blocked::Bus));
        times.wait(Blocked::PageOrder, 1);
        assert_eq!(times.blocked_by(), Some(Blocked::PageOrder));
        times.then(&times.clone());
        assert_eq!((times.total(), times.wide_total()), (Some(14), 14));
    }
}
