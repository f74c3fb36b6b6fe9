//! Fair order of operations of several flows (`scheduler.order = "fair"`), after A. Tavakkol et al., "FLIN", ISCA 2018, section 4. What goes first
//! on a die is decided in three steps, from the operations on:
//!
//! 1. Of the operations of one kind, those of flows of low intensity go before others. Among equals one goes ahead of an older one of another flow
//!    if that makes their estimated slowdowns more even. Where the flows' mean slowdowns are too uneven, the flow that is slowed down most goes first.
//! 2. Flows with weights take turns: a flow gives as many operations of a die as its weight before another round begins.
//! 3. Of a read and a write that has waited longer, as a multiple of its service time, goes first. A write of no flow stays behind reads.
//!
//! The slowdown of an operation is estimated against a die that serves its flow alone, in the order of arrival. docs/model/tenants.md.

use ssdlab_base::units::{DieId, Ns, SlabId, TxnId};
use ssdlab_keys::config::Scheduler as Config;

use super::QueueKind;

/// A slowdown of 1.
const ONE: u64 = 1_024;

/// An operation that could go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The operation.
    pub id: TxnId,
    /// Whether it reads or writes.
    pub kind: QueueKind,
    /// The flow of its request; `None` for what the drive itself sends, such as the content of a write buffer.
    pub flow: Option<u16>,
}

/// What is known of an operation that waits.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    entered: Ns,
    /// Time from `entered` until it would have ended if its flow had the die alone, ns; above 0.
    alone_ns: Ns,
}

/// Place of a flow; that of operations of no flow comes first.
fn place(flow: Option<u16>) -> usize {
    flow.map_or(0, |flow| usize::from(flow) + 1)
}

/// What is known of a flow.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// By kind: bytes of operations that have come in this epoch.
    came: [u64; 2],
    /// By kind: the flow sent little in the epoch before.
    is_low: [bool; 2],
    /// By die: when the flow's operations would have ended if it had the die alone.
    alone_until: Vec<Ns>,
    /// By kind: sum and number of the estimated slowdowns of operations that have begun; both are halved with each epoch.
    slowdowns: [(u64, u64); 2],
    /// By die: operations that the flow may still give in this round.
    tokens: Vec<u32>,
}

/// The state of a fair order of one drive.
#[derive(Clone, Debug)]
pub struct Fair {
    epoch_ns: Ns,
    epoch_ends: Ns,
    /// Fewer bytes of a kind in an epoch are low intensity.
    low_bytes: u64,
    /// Ratio of the least to the greatest mean slowdown below which the flow with the greatest goes first, in parts of [`ONE`].
    least_ratio: u64,
    weights: Vec<u32>,
    dies: usize,
    page_bytes: u64,
    /// By kind: service time of an operation, ns.
    service_ns: [Ns; 2],
    /// By place.
    flows: Vec<Flow>,
    /// By transaction.
    waiting: Vec<Waiting>,
    /// Buffer reused from call to call: of those that step 1 looks at the index, by flow the first.
    firsts: Vec<usize>,
}

impl Fair {
    /// An order without history. `service_ns`: expected time of a read and of a write, transfer and array.
    pub fn new(config: &Config, dies: u32, page_bytes: u32, service_ns: [Ns; 2]) -> Self {
        let epoch_ns = Ns::from(config.fair_epoch_us) * 1_000;
        Fair {
            epoch_ns,
            epoch_ends: epoch_ns,
            // MB a second are bytes a microsecond.
            low_bytes: u64::from(config.fair_low_mb_s) * u64::from(config.fair_epoch_us),
            least_ratio: (config.fair_ratio * ONE as f64) as u64,
            weights: config.flow_weights.clone(),
            dies: dies as usize,
            page_bytes: page_bytes.into(),
            service_ns,
            flows: Vec::new(),
            waiting: Vec::new(),
            firsts: Vec::new(),
        }
    }

    /// The weight of the flow at a place; 1 for operations of no flow.
    fn weight(&self, place: usize) -> u32 {
        place.checked_sub(1).and_then(|flow| self.weights.get(flow)).copied().unwrap_or(1)
    }

    /// An operation begins to wait for a die.
    pub fn enters(&mut self, now: Ns, die: DieId, operation: Candidate) {
        self.begin_epoch(now);
        while self.flows.len() <= place(operation.flow) {
            let tokens = vec![self.weight(self.flows.len()); self.dies];
            // A flow that has sent nothing yet has a low intensity.
            self.flows.push(Flow { is_low: [true; 2], alone_until: vec![0; self.dies], tokens, ..Flow::default() });
        }
        let (kind, flow) = (operation.kind as usize, &mut self.flows[place(operation.flow)]);
        flow.came[kind] += self.page_bytes;
        let until = &mut flow.alone_until[die.index()];
        *until = (*until).max(now) + self.service_ns[kind];
        let waiting = Waiting { entered: now, alone_ns: *until - now };
        if self.waiting.len() <= operation.id.number() as usize {
            self.waiting.resize(operation.id.number() as usize + 1, Waiting::default());
        }
        self.waiting[operation.id.number() as usize] = waiting;
    }

    /// Classes flows by what they sent in the epoch that is over.
    fn begin_epoch(&mut self, now: Ns) {
        if now < self.epoch_ends {
            return;
        }
        let after_another = now - self.epoch_ends >= self.epoch_ns;
        for flow in &mut self.flows {
            for kind in 0..2 {
                flow.is_low[kind] = after_another || flow.came[kind] < self.low_bytes;
                let (sum, count) = &mut flow.slowdowns[kind];
                (*sum, *count) = (*sum / 2, *count / 2);
            }
            flow.came = [0; 2];
        }
        self.epoch_ends = now - (now - self.epoch_ends) % self.epoch_ns + self.epoch_ns;
    }

    /// An operation begins on a die.
    pub fn begins(&mut self, now: Ns, die: DieId, operation: Candidate) {
        let slowdown = self.slowdown(now, operation, 0);
        let flow = &mut self.flows[place(operation.flow)];
        let (sum, count) = &mut flow.slowdowns[operation.kind as usize];
        (*sum, *count) = (*sum + slowdown, *count + 1);
        let tokens = &mut flow.tokens[die.index()];
        *tokens = tokens.saturating_sub(1);
    }

    /// The estimated slowdown of an operation that begins after `delay`, in parts of [`ONE`].
    fn slowdown(&self, now: Ns, operation: Candidate, delay: Ns) -> u64 {
        let Waiting { entered, alone_ns } = self.waiting[operation.id.number() as usize];
        let takes = now - entered + delay + self.service_ns[operation.kind as usize];
        (u128::from(takes) * u128::from(ONE) / u128::from(alone_ns.max(1))) as u64
    }

    /// The index of the operation that goes first on a die. `operations`: those that may begin, the oldest first; not empty.
    pub fn first(&mut self, now: Ns, die: DieId, operations: &[Candidate]) -> usize {
        let in_turn = |flow: &Flow| flow.tokens[die.index()] > 0;
        if !self.weights.is_empty() && !operations.iter().any(|operation| in_turn(&self.flows[place(operation.flow)])) {
            for number in 0..self.flows.len() {
                self.flows[number].tokens[die.index()] = self.weight(number);
            }
        }
        let best = [QueueKind::Read, QueueKind::Write].map(|kind| self.first_of(now, die, operations, kind));
        match best {
            [Some(read), Some(write)] => {
                let waited = |index: usize| u128::from(now - self.waiting[operations[index].id.number() as usize].entered);
                let [of_read, of_write] = self.service_ns.map(u128::from);
                if operations[write].flow.is_some() && waited(write) * of_read > waited(read) * of_write { write } else { read }
            }
            [read, write] => read.or(write).expect("there is an operation"),
        }
    }

    /// The first operation of a kind: of the flows in their turn, if any of them has one of either kind, those of low intensity before others.
    fn first_of(&mut self, now: Ns, die: DieId, operations: &[Candidate], kind: QueueKind) -> Option<usize> {
        let in_turn = |of: &Self, flow: Option<u16>| of.weights.is_empty() || of.flows[place(flow)].tokens[die.index()] > 0;
        let is_low = |of: &Self, flow: Option<u16>| of.flows[place(flow)].is_low[kind as usize];
        let mut firsts = std::mem::take(&mut self.firsts);
        firsts.clear();
        for (index, operation) in operations.iter().enumerate().filter(|(_, operation)| operation.kind == kind) {
            if in_turn(self, operation.flow) && firsts.iter().all(|&first: &usize| operations[first].flow != operation.flow) {
                firsts.push(index);
            }
        }
        if firsts.iter().any(|&index| is_low(self, operations[index].flow)) {
            firsts.retain(|&index| is_low(self, operations[index].flow));
        } else if let Some(flow) = self.slowed_most(kind)
            && let Some(at) = firsts.iter().position(|&index| place(operations[index].flow) == flow)
        {
            firsts.swap(0, at);
            firsts.truncate(1);
        }
        let best = firsts.iter().copied().reduce(|best, other| {
            let (one, two) = (operations[best], operations[other]);
            if self.is_fairer(now, two, one) { other } else { best }
        });
        self.firsts = firsts;
        best
    }

    /// The place of the flow with the greatest mean slowdown of operations of a kind, if the least is less than the configured part of it.
    fn slowed_most(&self, kind: QueueKind) -> Option<usize> {
        let mean = |flow: &Flow| {
            let (sum, count) = flow.slowdowns[kind as usize];
            sum.checked_div(count)
        };
        let means = self.flows.iter().zip(0..).filter_map(|(flow, number)| Some((mean(flow)?, number)));
        let least = means.clone().map(|(mean, _)| mean).min()?;
        let (most, number) = means.max_by_key(|&(mean, number)| (mean, std::cmp::Reverse(number)))?;
        (u128::from(least) * u128::from(ONE) < u128::from(most) * u128::from(self.least_ratio)).then_some(number)
    }

    /// The slowdowns of two operations are more even if `other` goes first than if `one` does.
    fn is_fairer(&self, now: Ns, other: Candidate, one: Candidate) -> bool {
        let evenness = |first: Candidate, second: Candidate| {
            let delay = self.service_ns[first.kind as usize];
            let (first, second) = (self.slowdown(now, first, 0), self.slowdown(now, second, delay));
            (u128::from(first.min(second)), u128::from(first.max(second)))
        };
        let (ahead, behind) = (evenness(other, one), evenness(one, other));
        ahead.0 * behind.1 > behind.0 * ahead.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::rng::Rng;

    const READ_NS: Ns = 100;
    const WRITE_NS: Ns = 300;
    const PAGE: u32 = 4_096;

    fn config(weights: &[u32], ratio: f64) -> Config {
        Config { flow_weights: weights.to_vec(), fair_epoch_us: 1, fair_low_mb_s: 3 * PAGE, fair_ratio: ratio, ..Config::default() }
    }

    fn fair(config: &Config, dies: u32) -> Fair {
        Fair::new(config, dies, PAGE, [READ_NS, WRITE_NS])
    }

    fn operation(number: u32, kind: QueueKind, flow: u16) -> Candidate {
        Candidate { id: TxnId::new(number), kind, flow: Some(flow) }
    }

    use QueueKind::{Read, Write};

    /// Alone the second read of the first flow would end after 200 and that of the other after 100. At 100: the one first gives slowdowns of 1 and 3,
    /// the other first of 2 and 1.5.
    #[test]
    fn one_goes_ahead_of_an_older_one_if_slowdowns_are_more_even_then() {
        let mut order = fair(&config(&[], 0.0), 1);
        let waiting = [operation(1, Read, 0), operation(2, Read, 0), operation(3, Read, 1)];
        order.enters(0, DieId(0), operation(0, Read, 0));
        waiting.into_iter().for_each(|operation| order.enters(0, DieId(0), operation));
        order.begins(0, DieId(0), operation(0, Read, 0));
        assert_eq!(order.first(100, DieId(0), &waiting), 2);
        assert_eq!(order.first(100, DieId(0), &waiting[..2]), 0, "operations of one flow keep their order");
    }

    /// 30 of 100 is less than 100 of 300; after 34 it is more.
    #[test]
    fn of_a_read_and_a_write_that_which_waited_for_more_of_its_service_time_goes_first() {
        let mut order = fair(&config(&[], 0.0), 1);
        let waiting = [operation(0, Write, 0), operation(1, Read, 1)];
        order.enters(0, DieId(0), waiting[0]);
        order.enters(70, DieId(0), waiting[1]);
        assert_eq!((order.first(100, DieId(0), &waiting), order.first(106, DieId(0), &waiting)), (0, 1));
    }

    /// In the first epoch flow 0 reads four pages and flow 1 two, less than three. So flow 1 goes first then, though flow 0 waits longer.
    #[test]
    fn flows_of_low_intensity_go_first() {
        let mut order = fair(&config(&[], 0.0), 1);
        (0..4).for_each(|number| order.enters(number.into(), DieId(0), operation(number, Read, 0)));
        (4..6).for_each(|number| order.enters(number.into(), DieId(0), operation(number, Read, 1)));
        let waiting = [operation(6, Read, 0), operation(7, Read, 1)];
        order.enters(1_000, DieId(0), waiting[0]);
        order.enters(1_890, DieId(0), waiting[1]);
        assert_eq!(order.first(1_900, DieId(0), &waiting), 1);
        // An epoch without an operation makes all flows such.
        order.enters(3_500, DieId(0), operation(8, Write, 0));
        assert_eq!(order.first(3_500, DieId(0), &waiting), 0);
    }

    #[test]
    fn in_a_round_a_flow_gives_as_many_as_its_weight() {
        let mut order = fair(&config(&[3, 1], 0.0), 1);
        let mut waiting: Vec<_> = (0..16).map(|number| operation(number, Read, (number % 2) as u16)).collect();
        waiting.iter().for_each(|&operation| order.enters(0, DieId(0), operation));
        let mut given = [0; 2];
        for step in 1..=8 {
            let first = waiting.remove(order.first(step, DieId(0), &waiting));
            order.begins(step, DieId(0), first);
            given[usize::from(first.flow.unwrap())] += 1;
            assert!(step % 4 != 0 || given == [3 * step / 4, step / 4], "{given:?} after {step}");
        }
    }

    /// The order from its definition: from all that has happened, again for each question.
    struct Slow<'a> {
        config: &'a Config,
        entered: Vec<(Ns, DieId, Candidate)>,
        begun: Vec<(Ns, DieId, Candidate)>,
        /// By die: number of operations that had begun when its round began.
        rounds: Vec<usize>,
    }

    impl Slow<'_> {
        fn service(kind: QueueKind) -> Ns {
            if kind == Read { READ_NS } else { WRITE_NS }
        }

        fn weight(&self, flow: Option<u16>) -> usize {
            flow.and_then(|flow| self.config.flow_weights.get(usize::from(flow))).map_or(1, |&weight| weight as usize)
        }

        /// When it came, and its time on a die of its flow's own.
        fn alone(&self, of: Candidate) -> (Ns, Ns) {
            let (_, die, _) = *self.entered.iter().rfind(|(.., other)| other.id == of.id).unwrap();
            let (mut until, mut found) = (0, (0, 0));
            for &(came, _, other) in self.entered.iter().filter(|(_, on, other)| *on == die && other.flow == of.flow) {
                until = until.max(came) + Self::service(other.kind);
                found = if other.id == of.id { (came, until - came) } else { found };
            }
            found
        }

        fn slowdown(&self, now: Ns, of: Candidate, delay: Ns) -> u64 {
            let (came, alone) = self.alone(of);
            (now - came + delay + Self::service(of.kind)) * 1_024 / alone
        }

        fn epoch(&self, at: Ns) -> Ns {
            at / (Ns::from(self.config.fair_epoch_us) * 1_000)
        }

        fn is_low(&self, flow: Option<u16>, kind: QueueKind) -> bool {
            let now = self.epoch(self.entered.last().unwrap().0);
            let Some(&(first, ..)) = self.entered.iter().find(|(.., other)| other.flow == flow) else { return true };
            if self.epoch(first) == now {
                return true;
            }
            let came = self.entered.iter().filter(|(at, _, other)| self.epoch(*at) + 1 == now && (other.flow, other.kind) == (flow, kind));
            (came.count() as u64) * u64::from(PAGE) < u64::from(self.config.fair_low_mb_s) * u64::from(self.config.fair_epoch_us)
        }

        /// Sum and number of slowdowns of a flow, halved where operations come in a new epoch.
        fn slowdowns(&self, flow: Option<u16>, kind: QueueKind) -> (u64, u64) {
            let mut times: Vec<(Ns, bool, Candidate)> = self.entered.iter().map(|&(at, _, of)| (at, true, of)).collect();
            times.extend(self.begun.iter().map(|&(at, _, of)| (at, false, of)));
            times.sort_by_key(|&(at, enters, _)| (at, !enters));
            let (mut sum, mut count, mut epoch) = (0, 0, 0);
            for (at, enters, of) in times {
                if enters && self.epoch(at) > epoch {
                    (sum, count, epoch) = (sum / 2, count / 2, self.epoch(at));
                } else if !enters && (of.flow, of.kind) == (flow, kind) {
                    (sum, count) = (sum + self.slowdown(at, of, 0), count + 1);
                }
            }
            (sum, count)
        }

        fn slowed_most(&self, kind: QueueKind) -> Option<Option<u16>> {
            let flows = [None, Some(0), Some(1), Some(2)].into_iter();
            let means: Vec<(u64, Option<u16>)> = flows
                .filter_map(|flow| match self.slowdowns(flow, kind) {
                    (_, 0) => None,
                    (sum, count) => Some((sum / count, flow)),
                })
                .collect();
            let least = means.iter().map(|(mean, _)| *mean).min()?;
            let most = means.iter().map(|(mean, _)| *mean).max()?;
            let ratio = (self.config.fair_ratio * 1_024.0) as u64;
            (least * 1_024 < most * ratio).then(|| means.iter().find(|(mean, _)| *mean == most).unwrap().1)
        }

        fn first(&mut self, now: Ns, die: DieId, waiting: &[Candidate]) -> usize {
            let given = |of: &Self, flow: Option<u16>| {
                of.begun[of.rounds[die.index()]..].iter().filter(|(_, on, other)| *on == die && other.flow == flow).count()
            };
            let in_turn = |of: &Self, flow: Option<u16>| of.config.flow_weights.is_empty() || given(of, flow) < of.weight(flow);
            if !waiting.iter().any(|other| in_turn(self, other.flow)) {
                self.rounds[die.index()] = self.begun.len();
            }
            let of_kind = |of: &Self, kind: QueueKind| {
                let mut firsts: Vec<usize> = Vec::new();
                for (index, other) in waiting.iter().enumerate().filter(|(_, other)| other.kind == kind && in_turn(of, other.flow)) {
                    if firsts.iter().all(|&before| waiting[before].flow != other.flow) {
                        firsts.push(index);
                    }
                }
                let low: Vec<usize> = firsts.iter().copied().filter(|&index| of.is_low(waiting[index].flow, kind)).collect();
                if low.is_empty()
                    && let Some(flow) = of.slowed_most(kind)
                    && let Some(&index) = firsts.iter().find(|&&index| waiting[index].flow == flow)
                {
                    return Some(index);
                }
                let among = if low.is_empty() { firsts } else { low };
                among.into_iter().reduce(|best, other| {
                    let even = |first: usize, second: usize| {
                        let one = of.slowdown(now, waiting[first], 0);
                        let two = of.slowdown(now, waiting[second], Self::service(waiting[first].kind));
                        (one.min(two), one.max(two))
                    };
                    let (ahead, behind) = (even(other, best), even(best, other));
                    if ahead.0 * behind.1 > behind.0 * ahead.1 { other } else { best }
                })
            };
            match (of_kind(self, Read), of_kind(self, Write)) {
                (Some(read), Some(write)) => {
                    let share = |index: usize| (now - self.alone(waiting[index]).0) as f64 / Self::service(waiting[index].kind) as f64;
                    if waiting[write].flow.is_some() && share(write) > share(read) { write } else { read }
                }
                (read, write) => read.or(write).unwrap(),
            }
        }
    }

    #[test]
    fn choices_are_those_of_the_slow_model() {
        let mut passes = 0;
        for case in 0..300 {
            let mut rng = Rng::new(case, "fair");
            let weights: &[u32] = [&[][..], &[2, 1], &[1, 3, 2]][rng.below(3) as usize];
            let config = config(weights, [0.0, 0.6, 1.0][rng.below(3) as usize]);
            let dies = 1 + rng.below(2) as u32;
            let mut order = fair(&config, dies);
            let mut slow = Slow { config: &config, entered: Vec::new(), begun: Vec::new(), rounds: vec![0; dies as usize] };
            let mut waiting = vec![Vec::new(); dies as usize];
            let (mut now, mut number) = (0, 0);
            for _ in 0..120 {
                let gap = [40, 300][rng.below(2) as usize];
                now += 1 + rng.below(gap) + if rng.chance(0.02) { 2_500 } else { 0 };
                let die = DieId(rng.below(dies.into()) as u32);
                let own: &mut Vec<Candidate> = &mut waiting[die.index()];
                if own.is_empty() || own.len() < 7 && rng.chance(0.5) {
                    let candidate = operation(number, if rng.chance(0.5) { Read } else { Write }, rng.below(3) as u16);
                    let candidate = Candidate { flow: candidate.flow.filter(|_| rng.chance(0.9)), ..candidate };
                    number += 1;
                    order.enters(now, die, candidate);
                    slow.entered.push((now, die, candidate));
                    own.push(candidate);
                } else {
                    let (found, expected) = (order.first(now, die, own), slow.first(now, die, own));
                    assert_eq!(found, expected, "case {case}, at {now}: {own:?}");
                    passes += u64::from(found > 0);
                    let first = own.remove(found);
                    order.begins(now, die, first);
                    slow.begun.push((now, die, first));
                }
            }
        }
        assert!(passes > 1_000, "{passes}");
    }
}
