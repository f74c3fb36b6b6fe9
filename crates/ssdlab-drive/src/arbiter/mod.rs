//! What goes first on a die: a host operation, a GC step, or both as a pair? Two pure functions of small views answer that: [`eligible`]
//! says which host operations may begin at all, and if not, why; [`decide`] says what happens. A good place to begin if you know the
//! papers.

mod eligible;

pub use eligible::eligible;

use crate::rules::BurstRule;
use crate::views::{DiePhase, DieView, GcView, HostView};
use ssdlab_keys::config::Priority;

/// Bursts: in the order of age an operation may come between two moves since it has waited for longer.
pub const BURSTS: BurstRule = BurstRule { keys: &["gc.priority"], exact: |config| config.gc.priority != Priority::Fifo };

/// What happens next on a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing begins.
    Wait,
    /// The host operation in the view begins.
    Host,
    /// The GC step in the view begins, or a suspended GC operation resumes.
    Gc,
    /// The page that the host operation reads or writes is moved next, and the two merge (reordering, lee2013 III-B).
    MoveForHost,
    /// The stopped page move goes on.
    GoOn,
    /// The stopped page move goes on with its program, and the host write is transferred meanwhile (lee2013 III-C).
    Pair,
    /// The stopped page move is suspended between two of its stages, for the host operation.
    SuspendMove,
    /// The GC operation in the array is suspended for the host operation (lee2013 IV).
    Suspend,
}

/// Decides what happens on a die.
#[inline(always)]
pub fn decide(view: &DieView, priority: Priority) -> Decision {
    let host_first = goes_first(view.host.as_ref(), view.gc.as_ref(), priority);
    match view.phase {
        DiePhase::BetweenMoves if host_first && view.host.is_some_and(|host| host.in_victim) => Decision::MoveForHost,
        DiePhase::BetweenMoves if host_first => Decision::Host,
        DiePhase::BetweenMoves if view.gc.is_some() => Decision::Gc,
        DiePhase::BetweenMoves => Decision::Wait,
        DiePhase::InsideMove { may_suspend: true, .. } if host_first => Decision::SuspendMove,
        DiePhase::InsideMove { may_pair: true, .. } if host_first => Decision::Pair,
        DiePhase::InsideMove { .. } => Decision::GoOn,
        DiePhase::InArray if host_first => Decision::Suspend,
        DiePhase::InArray => Decision::Wait,
    }
}

/// The view has a host operation, and it goes before the GC step or operation in the view.
#[inline(always)]
fn goes_first(host: Option<&HostView>, gc: Option<&GcView>, priority: Priority) -> bool {
    match (host, gc) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(host), Some(_)) if host.urgent => true,
        // State S3: GC runs to completion (lee2013 III-D).
        (Some(_), Some(gc)) if gc.urgent => false,
        // At a preemption point GC serves what waits and goes on (lee2013 III-A-2; Fig. 6: read z, then read y of the move).
        (Some(_), Some(gc)) if gc.in_turn => false,
        (Some(host), Some(gc)) => match priority {
            // bux2011 section 5: CEP serves copies and erases first, RWP host reads and writes. lee2013 III-A and ae2022 4.3: as RWP.
            Priority::Gc => false,
            Priority::Host => true,
            Priority::Fifo => host.ready < gc.ready,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Option<HostView> = Some(HostView { ready: (1, 1), in_victim: false, urgent: false });
    const GC: Option<GcView> = Some(GcView { ready: (1, 1), urgent: false, in_turn: false });

    #[test]
    fn the_table_of_priorities() {
        let host = |ns, serial| HOST.map(|host| HostView { ready: (ns, serial), ..host });
        let gc = |ns, serial| GC.map(|gc| GcView { ready: (ns, serial), ..gc });
        let cases = [
            (Priority::Gc, None, None, Decision::Wait),
            (Priority::Gc, host(1, 1), None, Decision::Host),
            (Priority::Host, None, gc(1, 1), Decision::Gc),
            (Priority::Gc, host(1, 1), gc(9, 9), Decision::Gc),
            (Priority::Host, host(9, 9), gc(1, 1), Decision::Host),
            (Priority::Fifo, host(1, 1), gc(2, 2), Decision::Host),
            (Priority::Fifo, host(2, 2), gc(1, 1), Decision::Gc),
            // Two that became ready at one instant: the lower serial number goes first.
            (Priority::Fifo, host(5, 1), gc(5, 2), Decision::Host),
            (Priority::Fifo, host(5, 2), gc(5, 1), Decision::Gc),
        ];
        for (priority, host, gc, expected) in cases {
            let view = DieView { phase: DiePhase::BetweenMoves, host, gc };
            assert_eq!(decide(&view, priority), expected, "{priority:?} {host:?} {gc:?}");
        }
    }

    #[test]
    fn the_table_of_phases() {
        let point = |may_suspend, may_pair| DiePhase::InsideMove { may_suspend, may_pair };
        let reads_victim = HOST.map(|host| HostView { in_victim: true, ..host });
        let cases = [
            // lee2013 Fig. 3: at B the host operation is inserted; Fig. 5: or its page is moved next.
            (DiePhase::BetweenMoves, HOST, Decision::Host),
            (DiePhase::BetweenMoves, reads_victim, Decision::MoveForHost),
            // Fig. 6: at A a write is pipelined, or nothing is served.
            (point(false, true), HOST, Decision::Pair),
            (point(false, false), HOST, Decision::GoOn),
            (point(false, true), None, Decision::GoOn),
            // Section IV: what can be suspended lets the host go first.
            (point(true, false), HOST, Decision::SuspendMove),
            (point(true, false), None, Decision::GoOn),
            (DiePhase::InArray, HOST, Decision::Suspend),
            (DiePhase::InArray, None, Decision::Wait),
        ];
        for (phase, host, expected) in cases {
            assert_eq!(decide(&DieView { phase, host, gc: GC }, Priority::Host), expected, "{phase:?} {host:?}");
        }
    }

    #[test]
    fn a_step_whose_turn_it_is_goes_before_what_waits() {
        let gc = GC.map(|gc| GcView { in_turn: true, ..gc });
        let decide = |host| decide(&DieView { phase: DiePhase::BetweenMoves, host, gc }, Priority::Host);
        assert_eq!(decide(HOST), Decision::Gc);
        assert_eq!(decide(HOST.map(|host| HostView { urgent: true, ..host })), Decision::Host);
    }

    #[test]
    fn in_state_s3_nothing_comes_between_but_the_write_that_asked_for_it() {
        let gc = GC.map(|gc| GcView { urgent: true, ..gc });
        let urgent = HOST.map(|host| HostView { urgent: true, ..host });
        let decide = |phase, host| decide(&DieView { phase, host, gc }, Priority::Host);
        assert_eq!(decide(DiePhase::BetweenMoves, HOST), Decision::Gc);
        assert_eq!(decide(DiePhase::BetweenMoves, urgent), Decision::Host);
        assert_eq!(decide(DiePhase::InsideMove { may_suspend: true, may_pair: true }, HOST), Decision::GoOn);
        assert_eq!(decide(DiePhase::InArray, HOST), Decision::Wait);
    }
}
