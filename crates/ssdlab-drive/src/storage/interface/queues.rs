//! The submission queues of the host: where commands wait until they are fetched, and which queue's turn it is.
//!
//! Each queue is fetched in order. Commands of different queues may pass each other, unless their order could change what is read: then
//! the younger command waits until the older has been fetched.

use std::collections::{BTreeMap, VecDeque};

use super::quota::Quota;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{Arbitration, Host as Config};
use ssdlab_keys::memory::{self, Exhausted};

/// Size of a piece of the address space, bytes; commands are looked up by the pieces that they touch.
const PIECE_BYTES: u64 = 64 * 1024;

/// A command that waits to be fetched.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Serial number of the command, in order of arrival.
    serial: u64,
    /// The place of the command at the interface.
    place: u32,
    request: Request,
    /// The wait for an older command of the same bytes has been counted.
    held: bool,
    /// Time for which the quota had held commands of the queue when this one came, ns.
    before_ns: Ns,
}

/// The queues of a drive's host interface.
#[derive(Debug)]
pub struct Queues {
    waiting: Vec<VecDeque<Waiting>>,
    /// Number of commands that wait, in all queues.
    count: usize,
    /// By queue: number of commands fetched and not complete.
    fetched: Vec<u32>,
    /// Most commands of a queue fetched and not complete at a time.
    depth: u32,
    /// By flow: the queue that its commands enter.
    of_flow: Vec<u16>,
    /// By queue: number of commands that may be fetched from it in a turn.
    weights: Vec<u32>,
    /// The queue whose turn it is, and the number of commands that may still be fetched from it in this turn.
    turn: (usize, u32),
    /// With several queues, by piece: the waiting commands that touch the piece, in order of arrival.
    touching: BTreeMap<u64, VecDeque<(u64, Request)>>,
    serial: u64,
    /// By queue: its quota; empty if no queue has one.
    quotas: Vec<Quota>,
}

/// The command to fetch next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The place of the command at the interface.
    pub place: u32,
    /// The command passes an older command of another queue.
    pub passes: bool,
    /// Time for which it waited for the quota of its queue, ns.
    pub quota_ns: Ns,
}

impl Queues {
    /// The queues of a host interface; `of_flow`: the queue of each flow.
    pub fn new(config: &Config, of_flow: Vec<u16>) -> Self {
        let queues = config.queues as usize;
        let weights = match config.arbitration {
            Arbitration::Rr => vec![1; queues],
            Arbitration::Wrr => config.weights.clone(),
        };
        Queues {
            waiting: vec![VecDeque::new(); queues],
            count: 0,
            fetched: vec![0; queues],
            depth: if config.queue_depth == 0 { u32::MAX } else { config.queue_depth },
            of_flow,
            turn: (0, weights[0]),
            weights,
            touching: BTreeMap::new(),
            serial: 0,
            quotas: Quota::of_queues(config),
        }
    }

    pub fn make_room(&mut self, commands: usize) -> Result<(), Exhausted> {
        // Queues without a flow never hold a command.
        self.of_flow.iter().try_for_each(|&queue| memory::make_room(&mut self.waiting[usize::from(queue)], commands))
    }

    /// The drive is operational since `now`: from then on quotas count as what commands wait for.
    pub fn released(&mut self, now: Ns) {
        for (quota, waiting) in self.quotas.iter().zip(&mut self.waiting) {
            waiting.iter_mut().for_each(|one| one.before_ns = quota.held_ns(now));
        }
    }

    /// Number of commands that wait.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Number of commands fetched and not complete.
    pub fn fetched(&self) -> u32 {
        self.fetched.iter().sum()
    }

    /// The queue of a flow has as many commands fetched and not complete as it may have.
    pub fn is_full(&self, flow: u16) -> bool {
        self.fetched[self.queue(flow)] >= self.depth
    }

    fn queue(&self, flow: u16) -> usize {
        usize::from(self.of_flow[usize::from(flow)])
    }

    /// A command arrives.
    pub fn push(&mut self, now: Ns, place: u32, request: Request) {
        let queue = self.queue(request.flow);
        let mut before_ns = 0;
        if let Some(quota) = self.quotas.get_mut(queue) {
            if self.waiting[queue].is_empty() {
                quota.comes_first(now, &request);
            }
            before_ns = quota.held_ns(now);
        }
        let waiting = Waiting { serial: self.serial, place, request, held: false, before_ns };
        self.serial += 1;
        if self.waiting.len() > 1 {
            pieces(&request).for_each(|piece| self.touching.entry(piece).or_default().push_back((waiting.serial, request)));
        }
        self.waiting[queue].push_back(waiting);
        self.count += 1;
    }

    /// Takes out the command to fetch next, if any may be fetched. Adds to `held` the commands that begin to wait for an older one.
    pub fn pop(&mut self, now: Ns, held: &mut u64) -> Option<Next> {
        if self.count == 0 {
            return None;
        }
        let (queues, before) = (self.waiting.len(), self.turn);
        for _ in 0..=queues {
            let (queue, left) = self.turn;
            if left > 0 && self.may_give(now, queue, held) {
                self.turn.1 -= 1;
                return Some(self.take(now, queue));
            }
            let next = (queue + 1) % queues;
            self.turn = (next, self.weights[next]);
        }
        // No queue has used its turn.
        self.turn = before;
        None
    }

    /// The first command of a queue may be fetched now.
    fn may_give(&mut self, now: Ns, queue: usize, held: &mut u64) -> bool {
        if self.fetched[queue] >= self.depth || self.quotas.get(queue).is_some_and(|quota| quota.holds_until() > now) {
            return false;
        }
        let Some(first) = self.waiting[queue].front() else { return false };
        let waits = self.waiting.len() > 1 && self.must_wait(first);
        if waits && !first.held {
            *held += 1;
            self.waiting[queue][0].held = true;
        }
        !waits
    }

    /// An older waiting command must be fetched before this one. A flush follows all writes; with quotas those of its own queue, as another may be
    /// held for long.
    fn must_wait(&self, command: &Waiting) -> bool {
        let follows = |other: &Request| keep_order(other, &command.request);
        // Older commands are in front, and few: queues are long in an overload.
        if command.request.kind == RequestKind::Flush {
            let own = self.queue(command.request.flow);
            let queues = self.waiting.iter().enumerate().filter(|&(queue, _)| self.quotas.is_empty() || queue == own);
            let older = queues.flat_map(|(_, queue)| queue.iter().take_while(|other| other.serial < command.serial));
            return older.map(|other| &other.request).any(follows);
        }
        let older = |list: &VecDeque<(u64, Request)>| {
            list.iter().take_while(|(serial, _)| *serial < command.serial).any(|(_, other)| follows(other))
        };
        let listed = |piece| self.touching.get(&piece).is_some_and(older);
        pieces(&command.request).any(listed)
    }

    fn take(&mut self, now: Ns, queue: usize) -> Next {
        let Waiting { serial, place, request, before_ns, .. } = self.waiting[queue].pop_front().expect("the queue may give it");
        let mut quota_ns = 0;
        if let Some(quota) = self.quotas.get_mut(queue) {
            quota.pay(now, &request);
            quota_ns = quota.held_ns(now) - before_ns;
            if let Some(next) = self.waiting[queue].front() {
                quota.comes_first(now, &next.request);
            }
        }
        self.count -= 1;
        self.fetched[queue] += 1;
        for piece in pieces(&request).filter(|_| self.waiting.len() > 1) {
            let list = self.touching.get_mut(&piece).expect("it waits");
            let at = list.iter().position(|&(other, _)| other == serial).expect("it waits");
            list.remove(at);
            if list.is_empty() {
                self.touching.remove(&piece);
            }
        }
        let passes = self.waiting.iter().any(|queue| queue.front().is_some_and(|first| first.serial < serial));
        Next { place, passes, quota_ns }
    }

    /// When a quota next lets a command go that it holds at `now`; [`Ns::MAX`] if it holds none.
    pub fn quota_due(&self, now: Ns) -> Ns {
        let held = self.quotas.iter().zip(&self.waiting).filter(|(_, waiting)| !waiting.is_empty());
        held.map(|(quota, _)| quota.holds_until()).filter(|&until| until > now).min().unwrap_or(Ns::MAX)
    }

    /// A command that was fetched from the queue of `flow` is complete.
    pub fn complete(&mut self, flow: u16) {
        let queue = self.queue(flow);
        self.fetched[queue] -= 1;
    }

    /// Checks the redundant state.
    pub fn recount(&self) -> Result<(), String> {
        let waiting: usize = self.waiting.iter().map(VecDeque::len).sum();
        let in_order = self.waiting.iter().all(|queue| queue.iter().is_sorted_by_key(|waiting| waiting.serial));
        let within = self.fetched.iter().all(|&fetched| fetched <= self.depth);
        let found = |waiting: &Waiting| {
            let listed = |piece| self.touching.get(&piece).is_some_and(|list| list.iter().any(|&(serial, _)| serial == waiting.serial));
            self.waiting.len() == 1 || pieces(&waiting.request).all(listed)
        };
        let listed = self.waiting.iter().flatten().all(found);
        if waiting == self.count && in_order && within && listed {
            return Ok(());
        }
        Err(format!(
            "the queues of the host have {waiting} commands, counted {}, and {:?} fetched of at most {}",
            self.count, self.fetched, self.depth
        ))
    }
}

/// Whether two commands must keep their order: one of them changes bytes that both touch, or a flush follows a write.
fn keep_order(older: &Request, newer: &Request) -> bool {
    let same_bytes = newer.offset < older.offset + older.length && older.offset < newer.offset + newer.length;
    match (older.kind, newer.kind) {
        (RequestKind::Read, RequestKind::Read) => false,
        (older, RequestKind::Flush) => older == RequestKind::Write,
        _ => same_bytes,
    }
}

/// The pieces of the address space that a command touches; none for a flush.
fn pieces(request: &Request) -> std::ops::Range<u64> {
    if request.kind == RequestKind::Flush {
        return 0..0;
    }
    request.offset / PIECE_BYTES..(request.offset + request.length).div_ceil(PIECE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(config: Config) -> Queues {
        let flows = config.queues as u16;
        Queues::new(&config, (0..flows).collect())
    }

    fn read(flow: u16, offset: u64) -> Request {
        Request { arrival_ns: 0, kind: RequestKind::Read, offset, length: 4096, high_priority: false, flow, handle: None }
    }

    fn write(flow: u16, offset: u64) -> Request {
        Request { kind: RequestKind::Write, ..read(flow, offset) }
    }

    fn order(queues: &mut Queues) -> Vec<u32> {
        std::iter::from_fn(|| queues.pop(0, &mut 0)).map(|next| next.place).collect()
    }

    /// Queue 0 holds the commands with places 0 to 3, queue 1 those with 4 and 5, queue 2 that with 6.
    fn filled(config: Config) -> Queues {
        let mut queues = queues(config);
        [0, 0, 0, 0, 1, 1, 2].into_iter().zip(0..).for_each(|(flow, place)| queues.push(0, place, read(flow, 0)));
        queues
    }

    #[test]
    fn queues_take_turns_and_an_empty_one_loses_its_own() {
        assert_eq!(order(&mut filled(Config { queues: 3, ..Config::default() })), [0, 4, 6, 1, 5, 2, 3]);
    }

    #[test]
    fn in_a_turn_a_queue_gives_as_many_as_its_weight() {
        let config = Config { queues: 3, arbitration: Arbitration::Wrr, weights: vec![3, 1, 1], ..Config::default() };
        assert_eq!(order(&mut filled(config)), [0, 1, 2, 4, 6, 3, 5]);
    }

    #[test]
    fn a_full_queue_is_passed_over_until_one_of_its_commands_completes() {
        let mut queues = filled(Config { queues: 3, queue_depth: 1, ..Config::default() });
        assert_eq!(order(&mut queues), [0, 4, 6]);
        assert!(queues.is_full(1));
        queues.complete(1);
        assert_eq!(queues.pop(0, &mut 0), Some(Next { place: 5, passes: true, quota_ns: 0 }));
        assert_eq!((queues.len(), queues.fetched()), (3, 3));
        queues.recount().unwrap();
    }

    #[test]
    fn a_read_of_what_an_older_write_of_another_queue_writes_waits_for_its_fetch() {
        let mut queues = queues(Config { queues: 2, queue_depth: 1, ..Config::default() });
        queues.push(0, 0, write(0, 0));
        queues.push(0, 1, write(0, 8192));
        queues.push(0, 2, read(1, 8192));
        queues.push(0, 3, read(1, 0));
        let mut held = 0;
        assert_eq!(queues.pop(0, &mut held).map(|next| next.place), Some(0));
        // Queue 0 is full, and the first of queue 1 waits for the write at place 1.
        assert_eq!((queues.pop(0, &mut held), held), (None, 1));
        queues.complete(0);
        assert_eq!(queues.pop(0, &mut held).map(|next| next.place), Some(1));
        assert_eq!(queues.pop(0, &mut held).map(|next| next.place), Some(2));
        assert_eq!(held, 1);
        queues.recount().unwrap();
    }

    #[test]
    fn only_reads_of_the_same_bytes_may_change_places() {
        let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Trim];
        for (older, newer) in kinds.into_iter().flat_map(|older| kinds.map(|newer| (older, newer))) {
            let kept = |offset| keep_order(&Request { kind: older, ..read(0, 0) }, &Request { kind: newer, ..read(1, offset) });
            assert_eq!(
                (kept(0), kept(4095), kept(4096)),
                (older != newer || older != RequestKind::Read, kept(0), false),
                "{older:?} {newer:?}"
            );
        }
    }

    /// Queue 0 may send a command a second, and has sent it. The flush of queue 1 waits for the write of its own queue.
    #[test]
    fn a_flush_does_not_wait_for_what_the_quota_of_another_queue_holds() {
        let host = Config { queues: 2, quota_iops: vec![1, 0], quota_burst_us: 0, ..Config::default() };
        let mut queues = queues(host);
        queues.push(0, 0, write(0, 0));
        assert_eq!(order(&mut queues), [0]);
        queues.push(0, 1, write(0, 8192));
        queues.push(0, 2, write(1, 4096));
        queues.push(0, 3, Request { kind: RequestKind::Flush, offset: 0, length: 0, ..read(1, 0) });
        assert_eq!(order(&mut queues), [2, 3]);
        queues.recount().unwrap();
    }

    #[test]
    fn a_flush_waits_for_the_fetch_of_all_older_writes() {
        let mut queues = queues(Config { queues: 2, queue_depth: 1, ..Config::default() });
        queues.push(0, 0, read(0, 0));
        queues.push(0, 1, write(0, 8192));
        queues.push(0, 2, Request { kind: RequestKind::Flush, offset: 0, length: 0, ..read(1, 0) });
        queues.push(0, 3, write(0, 4096));
        assert_eq!(order(&mut queues), [0]);
        queues.complete(0);
        assert_eq!(order(&mut queues), [1, 2], "the write behind it is younger");
    }
}
