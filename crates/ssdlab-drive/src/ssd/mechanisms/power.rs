//! The power cap (`energy.cap_w`, and lower ones while the drive is too warm, `thermal`): an operation begins only if all operations in service
//! draw no more than the cap with it.
//!
//! An operation draws the power of its array stages from its start to its end, one that is suspended,
//! paused or stopped at a preemption point draws none. Dies whose
//! operation does not fit wait in one line; the first of them goes first, whatever others would fit. When the cap falls, operations in service go
//! on. One that was interrupted, on several planes, and draws more than the lower cap goes on alone.

use std::collections::VecDeque;

use crate::flash::{Op, OpKind};
use crate::rules::BurstRule;
use crate::ssd::Ssd;
use crate::ssd::mechanisms::power_states;
use ssdlab_base::blocked::Blocked;
use ssdlab_base::units::{DieId, PoolId, SlotId};
use ssdlab_keys::config::Config;
use ssdlab_keys::thermal::{LEVELS, STOPPED};

/// Bursts: each move waits for power.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["energy."], exact: |config| config.energy.cap_w == 0.0 };

/// The power that operations may draw, and the dies that wait for it.
#[derive(Debug)]
pub(in crate::ssd) struct Power {
    /// By level of the temperature (`thermal`): what all operations in service may draw, uW.
    budgets_uw: [u64; LEVELS],
    /// The present level.
    level: usize,
    /// What operations in service may draw that began under a higher budget, or alone, uW.
    allowed_uw: u64,
    /// Of a plane that reads, programs and erases, uW.
    of_plane_uw: [u64; 3],
    /// Dies that wait, each with what the operation that it was refused draws, uW.
    line: VecDeque<(DieId, u64)>,
    /// By die: it is in the line.
    waits: Vec<bool>,
    /// The die that was woken to begin what it waits for.
    turn: Option<DieId>,
}

impl Power {
    /// Of a drive with `dies` dies, if there is a cap or its temperature may limit it.
    pub(in crate::ssd) fn new(config: &Config, dies: u32) -> Option<Box<Power>> {
        let (energy, thermal) = (&config.energy, &config.thermal);
        let microwatts = |milliwatts: f64| (milliwatts * 1e3).round() as u64;
        let of_cap = |watts: f64| if watts > 0.0 { microwatts(watts * 1e3).saturating_sub(microwatts(energy.idle_mw)) } else { u64::MAX };
        let free = of_cap(energy.cap_w);
        let light = if thermal.light_c > 0.0 { free.min(of_cap(thermal.light_w)) } else { free };
        let heavy = if thermal.heavy_c > 0.0 { light.min(of_cap(thermal.heavy_w)) } else { light };
        (energy.cap_w > 0.0 || thermal.throttles()).then(|| {
            Box::new(Power {
                budgets_uw: [free, light, heavy, 0],
                level: 0,
                allowed_uw: free,
                of_plane_uw: [energy.read_mw, energy.program_mw, energy.erase_mw].map(microwatts),
                line: VecDeque::with_capacity(dies as usize),
                waits: vec![false; dies as usize],
                turn: None,
            })
        })
    }

    /// What all operations in service may draw, uW.
    fn budget_uw(&self) -> u64 {
        self.budgets_uw[self.level]
    }

    /// No operation may begin.
    fn is_stopped(&self) -> bool {
        self.level == STOPPED
    }

    /// The temperature is why an operation waits.
    fn is_throttled(&self) -> bool {
        self.budget_uw() < self.budgets_uw[0]
    }

    /// An operation that needs this power fits beside operations that draw `drawn`, uW.
    fn fits(&self, needed: u64, drawn: u64) -> bool {
        !self.is_stopped() && (drawn == 0 || needed <= self.budget_uw().saturating_sub(drawn))
    }

    /// Dies wait.
    pub(in crate::ssd) fn has_line(&self) -> bool {
        !self.line.is_empty()
    }

    /// What an operation on one plane draws, uW.
    fn of(&self, kind: OpKind) -> u64 {
        let [read, program, erase] = self.of_plane_uw;
        match kind {
            OpKind::Read => read,
            OpKind::RegisterRead => 0,
            OpKind::Program => program,
            OpKind::Move | OpKind::CopybackMove => read.max(program),
            OpKind::Erase => erase,
        }
    }

    fn leave(&mut self, die: DieId) {
        self.waits[die.index()] = false;
        self.line.retain(|&(waiting, _)| waiting != die);
    }

    fn refuse(&mut self, die: DieId, needed: u64) {
        if std::mem::replace(&mut self.waits[die.index()], true) {
            return;
        }
        if self.turn == Some(die) { self.line.push_front((die, needed)) } else { self.line.push_back((die, needed)) }
    }
}

/// What operations in service draw, uW.
fn drawn(ssd: &Ssd, power: &Power) -> u64 {
    ssd.flash.drawing().map(|op| u64::from(op.pages) * power.of(op.kind)).sum()
}

/// The level of the temperature has changed: from now on operations may draw what it allows. Dies in the line learn why they wait.
pub(in crate::ssd) fn limit(ssd: &mut Ssd, level: usize) {
    let Some(mut power) = ssd.power.take() else { return };
    power.level = level;
    power.allowed_uw = power.budget_uw().max(drawn(ssd, &power));
    power.line.iter().for_each(|&(die, _)| ssd.ready.wake(die));
    ssd.power = Some(power);
}

/// The die may begin an operation of this kind on a plane now; else it waits in the line.
#[inline(always)]
pub(in crate::ssd) fn granted(ssd: &mut Ssd, die: DieId, kind: OpKind) -> bool {
    ssd.power.is_none() || ask(ssd, die, kind, 1)
}

/// The operation in a slot, which has stopped at a preemption point, may go on; else its die waits in the line.
#[inline(always)]
pub(in crate::ssd) fn may_go_on(ssd: &mut Ssd, at: SlotId) -> bool {
    ssd.power.is_none() || ask_again(ssd, at.die(), *ssd.flash.op(at))
}

/// The GC operation that is suspended on the die may be resumed; else the die waits in the line.
#[inline(always)]
pub(in crate::ssd) fn may_resume(ssd: &mut Ssd, die: DieId) -> bool {
    ssd.power.is_none() || ask_again(ssd, die, *ssd.flash.suspended_op(die))
}

/// The operation that is paused or suspended for reads on the die may go on; else the die waits in the line.
#[inline(always)]
pub(in crate::ssd) fn may_end_pause(ssd: &mut Ssd, die: DieId) -> bool {
    ssd.power.is_none() || ask_again(ssd, die, *ssd.flash.paused_op(die))
}

fn ask_again(ssd: &mut Ssd, die: DieId, op: Op) -> bool {
    ask(ssd, die, op.kind, op.pages)
}

/// The die that waits in the line on behalf of `die`: the first of its chip where these exclude each other, since the chip then chooses among the
/// operations of all its dies.
fn in_line(ssd: &Ssd, die: DieId) -> DieId {
    if ssd.rules.flash.interleave { die } else { DieId(ssd.geometry().dies_of_chip(ssd.geometry().chip_of_die(die)).start) }
}

#[inline(never)]
fn ask(ssd: &mut Ssd, die: DieId, kind: OpKind, planes: u32) -> bool {
    let die = in_line(ssd, die);
    let Some(mut power) = ssd.power.take() else { return true };
    let needed = u64::from(planes) * power.of(kind);
    let is_next = power.line.is_empty() && power.turn.is_none() || power.turn == Some(die);
    let fits = if needed == 0 { !power.is_stopped() } else { is_next && power.fits(needed, drawn(ssd, &power)) };
    if fits {
        power.leave(die);
        power.allowed_uw = if needed == 0 { power.allowed_uw } else { power.budget_uw().max(needed) };
    } else {
        let (is_new, throttled) = (!power.waits[die.index()], power.is_throttled());
        ssd.probes.count().heat_waits += u64::from(is_new && throttled);
        ssd.probes.count().power_waits += u64::from(is_new && !throttled);
        power.refuse(die, needed);
    }
    if power.turn == Some(die) {
        power.turn = None;
    }
    ssd.power = Some(power);
    fits
}

/// Number of planes beside the first on which an operation of this kind may begin together with it.
#[inline(always)]
pub(in crate::ssd) fn planes_beside(ssd: &Ssd, kind: OpKind) -> u32 {
    let Some(power) = &ssd.power else { return u32::MAX };
    let Some(each) = std::num::NonZeroU64::new(power.of(kind)) else { return u32::MAX };
    u32::try_from(power.budget_uw().saturating_sub(drawn(ssd, power)) / each).unwrap_or(u32::MAX).saturating_sub(1)
}

/// Call when all woken dies have been dispatched: wakes the first die of the line if what it waits for fits now. A die that was woken and
/// did not ask wants nothing any more. Returns true if a die was woken.
#[inline(always)]
pub(in crate::ssd) fn wake_next(ssd: &mut Ssd) -> bool {
    ssd.power.is_some() && wake_first(ssd)
}

fn wake_first(ssd: &mut Ssd) -> bool {
    let Some(mut power) = ssd.power.take() else { return false };
    power.turn = None;
    let next = power.line.front().copied().filter(|&(_, needed)| power.fits(needed, drawn(ssd, &power)));
    if let Some((die, _)) = next {
        power.leave(die);
        power.turn = Some(die);
        ssd.ready.wake(die);
    }
    ssd.power = Some(power);
    next.is_some()
}

/// The kind of the next step of the pool's job, as far as power tells kinds apart.
pub(in crate::ssd) fn kind_of_next_step(ssd: &Ssd, pool: PoolId) -> OpKind {
    let (jobs, ftl) = (&ssd.gc.jobs, &ssd.ftl);
    if jobs.next_is_program(ftl, pool) {
        OpKind::Program
    } else if jobs.next_is_erase(ftl, pool) {
        OpKind::Erase
    } else if ssd.rules.gc.several_moves() {
        OpKind::Read
    } else {
        OpKind::Move
    }
}

/// Why the die waits for power; `None` if it does not.
pub(in crate::ssd) fn held_by(ssd: &Ssd, die: DieId) -> Option<Blocked> {
    if power_states::hold(ssd) {
        return Some(Blocked::PowerState);
    }
    let power = ssd.power.as_ref().filter(|power| power.waits[in_line(ssd, die).index()])?;
    Some(if power.is_throttled() { Blocked::Heat } else { Blocked::Power })
}

/// Recounts what operations draw.
pub(in crate::ssd) fn check(ssd: &Ssd) -> Result<(), String> {
    let Some(power) = &ssd.power else { return Ok(()) };
    let drawn = drawn(ssd, power);
    if drawn > power.allowed_uw {
        return Err(format!("operations draw {drawn} uW, and {} are left of the cap", power.allowed_uw));
    }
    // A failed drive of an array begins no run, and nothing on it asks for power.
    if ssd.dispatched_at.is_some() && power.level != ssd.heat.as_ref().map_or(0, |heat| heat.level()) {
        return Err(format!("power is that of level {} of the temperature", power.level));
    }
    if power.line.len() != power.waits.iter().filter(|&&waits| waits).count() {
        return Err("a die is in the line for power and not noted, or the opposite".into());
    }
    Ok(())
}
