//! Power states that the drive enters by itself while it is idle (`power_states`): NVMe's autonomous transitions to non-operational states.
//!
//! The drive is idle while no command is outstanding and no flash operation is in service or could begin. After the idle time of a state it enters
//! that state from the one before it; neither an entry nor an exit can be cut short. The host interface ends each round with
//! [`Ssd::end_round`], and holds commands back while the drive is not operational. Work of the drive's own that becomes due in a state (GC, folding,
//! refreshes, drains of a buffer) wakes it as a command does: its jobs and requests are taken in, and begin once the drive has left the state.

use crate::event::Event;
use crate::rules::BurstRule;
use crate::ssd::mechanisms::heat;
use crate::ssd::watch::{verify, waits};
use crate::ssd::{Planted, Ssd};
use ssdlab_base::units::{DieId, Ns};
use ssdlab_keys::config::{Config, POWER_STATES_MAX, PowerState};
use ssdlab_keys::power_states::PowerStateStats;

/// Bursts: no state is entered while one is in service.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["power_states."], exact: |_| true };

/// The commands of the host at the end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// None is outstanding, and none came in the round.
    None,
    /// None is outstanding; at least one came in the round and took no time.
    Passed,
    /// At least one is outstanding.
    Outstanding,
}

/// Where the drive is between its states; a number is that of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Commands are served, and operations begin.
    Operational,
    /// The drive enters a state.
    Enters(usize),
    /// The drive is in a state.
    In(usize),
    /// The drive leaves a state.
    Leaves(usize),
}

/// The power states of a drive.
#[derive(Debug)]
pub(in crate::ssd) struct PowerStates {
    /// The states, the shallowest first.
    states: Vec<PowerState>,
    phase: Phase,
    /// When the phase began, ns.
    since: Ns,
    /// Since when the operational drive has been idle, ns; `None` if it was not at the end of the last round.
    idle_since: Option<Ns>,
    /// When the first event is due, ns; [`Ns::MAX`]: none.
    armed: Ns,
    /// Counts, and times of the phases before this one.
    stats: PowerStateStats,
}

impl PowerStates {
    /// The power states of a drive; `None` without any.
    pub(in crate::ssd) fn new(config: &Config) -> Option<Box<Self>> {
        config.power_states.is_on().then(|| {
            Box::new(PowerStates {
                states: config.power_states.states(),
                phase: Phase::Operational,
                since: 0,
                idle_since: None,
                armed: Ns::MAX,
                stats: PowerStateStats { states: config.power_states.states().len(), ..PowerStateStats::default() },
            })
        })
    }

    /// When the phase ends by itself, or the next state is due, ns; `None` if neither.
    fn next_change(&self) -> Option<Ns> {
        match self.phase {
            Phase::Operational => self.idle_since.map(|since| since + self.states[0].idle_ns),
            Phase::Enters(state) => Some(self.since + self.states[state].entry_ns),
            Phase::In(state) => self.states.get(state + 1).map(|next| self.since + next.idle_ns),
            Phase::Leaves(state) => Some(self.since + self.states[state].exit_ns),
        }
    }

    fn is_due(&self, now: Ns) -> bool {
        self.next_change().is_some_and(|at| at <= now)
    }

    fn stats(&self, now: Ns) -> PowerStateStats {
        let (mut stats, ns) = (self.stats, u128::from(now - self.since));
        match self.phase {
            Phase::Operational => {}
            Phase::In(state) => stats.in_ns[state] += ns,
            Phase::Enters(_) | Phase::Leaves(_) => stats.changing_ns += ns,
        }
        stats
    }

    fn begin(&mut self, now: Ns, phase: Phase) {
        self.stats = self.stats(now);
        (self.phase, self.since) = (phase, now);
        if let Phase::In(state) = phase {
            self.stats.entries[state] += 1;
        }
    }
}

/// The drive enters a power state, is in it or leaves it: no operation begins.
#[inline(always)]
pub(in crate::ssd) fn hold(ssd: &Ssd) -> bool {
    ssd.power_states.as_ref().is_some_and(|states| states.phase != Phase::Operational)
}

/// Handles an event that is due: an entry or an exit may end now. States that are due begin at the end of the round.
pub(in crate::ssd) fn event(ssd: &mut Ssd, now: Ns) {
    let Some(states) = &mut ssd.power_states else { return };
    if states.armed == now {
        states.armed = Ns::MAX;
    }
    let is_due = states.is_due(now);
    match states.phase {
        Phase::Enters(state) if is_due => begin(ssd, now, Phase::In(state)),
        Phase::Leaves(_) if is_due => {
            states.idle_since = None;
            begin(ssd, now, Phase::Operational);
        }
        _ => {}
    }
}

fn begin(ssd: &mut Ssd, now: Ns, phase: Phase) {
    // Until now the drive has drawn what it does in the present phase.
    heat::power_changes(ssd, now);
    let held = hold(ssd);
    if let Some(states) = &mut ssd.power_states {
        states.begin(now, phase);
    }
    if hold(ssd) != held {
        (0..ssd.geometry().dies).for_each(|die| waits::set_clocks(ssd, now, DieId(die)));
    }
}

/// The round is over: the drive begins to enter or to leave a state if it is time for that.
fn end_round(ssd: &mut Ssd, now: Ns, commands: Commands) {
    let outstanding = commands == Commands::Outstanding;
    let Some(states) = &ssd.power_states else { return };
    match states.phase {
        Phase::Operational => {
            let is_idle = !outstanding && is_idle(ssd);
            let Some(states) = &mut ssd.power_states else { return };
            let before = states.idle_since.filter(|_| commands == Commands::None);
            states.idle_since = is_idle.then(|| before.unwrap_or(now));
            if states.is_due(now) {
                begin(ssd, now, Phase::Enters(0));
            }
        }
        Phase::In(state) if outstanding || has_work(ssd) => wake(ssd, now, state, outstanding),
        Phase::In(state) if states.is_due(now) => begin(ssd, now, Phase::Enters(state + 1)),
        _ => {}
    }
    arm(ssd);
}

fn wake(ssd: &mut Ssd, now: Ns, state: usize, by_command: bool) {
    if let Some(states) = &mut ssd.power_states {
        states.stats.wakes += u64::from(by_command);
        states.stats.background_wakes += u64::from(!by_command);
    }
    begin(ssd, now, Phase::Leaves(state));
}

/// Sets an event for the next change. One that was set for an earlier time sets the next.
fn arm(ssd: &mut Ssd) {
    let Some(states) = &mut ssd.power_states else { return };
    if let Some(at) = states.next_change().filter(|&at| at < states.armed) {
        states.armed = at;
        ssd.events.push(at, 0, Event::PowerState);
    }
}

/// Nothing is under way in the drive, and nothing can begin before a command or a timer.
fn is_idle(ssd: &Ssd) -> bool {
    let at_work =
        ssd.host.outstanding() > 0 || ssd.flash.drawing().next().is_some() || ssd.power.as_ref().is_some_and(|power| power.has_line());
    !at_work && !has_work(ssd) || ssd.probes.has(Planted::SleepsAtWork)
}

/// Something has become ready that could begin; a job that has got its turn waits as a host barrier to be checked.
fn has_work(ssd: &Ssd) -> bool {
    ssd.ready.any() || ssd.host.may_admit() || ssd.merging.any_answered() || ssd.gc.any_barrier()
}

impl Ssd {
    /// The drive has power states (`power_states`).
    pub fn has_power_states(&self) -> bool {
        self.power_states.is_some()
    }

    /// The drive is in no power state, and enters or leaves none: commands are served.
    pub fn is_operational(&self) -> bool {
        !hold(self)
    }

    /// Ends a round at `now`: call it when the drive and all levels below the host interface have nothing more to do at the instant.
    pub fn end_round(&mut self, now: Ns, commands: Commands) {
        end_round(self, now, commands);
        verify::round(self);
    }

    /// What became of the power states until `now`; `None` without any.
    pub fn power_state_stats(&self, now: Ns) -> Option<PowerStateStats> {
        self.power_states.as_ref().map(|states| states.stats(now))
    }

    /// Time in each power state until `now`, ns.
    pub(in crate::ssd) fn power_state_ns(&self, now: Ns) -> [u128; POWER_STATES_MAX] {
        self.power_state_stats(now).unwrap_or_default().in_ns
    }

    /// The present power state, from 1 on: 0 while the drive is operational, or enters or leaves one. `None` without power states.
    pub fn power_state(&self) -> Option<u64> {
        self.power_states.as_ref().map(|states| if let Phase::In(state) = states.phase { state as u64 + 1 } else { 0 })
    }
}

/// Checks that nothing is in service in a power state.
pub(in crate::ssd) fn check(ssd: &Ssd) -> Result<(), String> {
    let Some(states) = &ssd.power_states else { return Ok(()) };
    match ssd.flash.drawing().next() {
        Some(op) if hold(ssd) => {
            Err(format!("the drive is not operational ({:?}), and has an operation in service: {:?}", states.phase, op.kind))
        }
        _ => Ok(()),
    }
}
