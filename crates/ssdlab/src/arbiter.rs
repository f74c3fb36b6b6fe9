//! The one place that answers: may a host operation go now, or a GC step? A pure function of a small view and the policy's axes.

use crate::config::{Gc, Priority};
use crate::views::DieView;

/// The axes that the arbiter looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// Who goes first when both are ready.
    pub priority: Priority,
}

impl Axes {
    /// The axes of a checked configuration.
    pub fn new(gc: &Gc) -> Self {
        Axes { priority: gc.priority }
    }
}

/// What begins on the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Wait,
    /// The host operation in the view.
    Host,
    /// The GC step in the view.
    Gc,
}

/// Decides what begins on a die that is free to begin something.
#[inline(always)]
pub fn decide(view: &DieView, axes: &Axes) -> Decision {
    match (&view.host, &view.gc) {
        (None, None) => Decision::Wait,
        (Some(_), None) => Decision::Host,
        (None, Some(_)) => Decision::Gc,
        (Some(host), Some(gc)) => match axes.priority {
            // bux2011 section 5: CEP serves copies and erases first, RWP host reads and writes.
            Priority::Gc => Decision::Gc,
            Priority::Host => Decision::Host,
            Priority::Fifo if host.ready < gc.ready => Decision::Host,
            Priority::Fifo => Decision::Gc,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::{GcView, HostView};

    #[test]
    fn the_table_of_priorities() {
        let host = |ns, serial| Some(HostView { ready: (ns, serial) });
        let gc = |ns, serial| Some(GcView { ready: (ns, serial) });
        let cases = [
            (Priority::Gc, None, None, Decision::Wait),
            (Priority::Gc, host(1, 1), None, Decision::Host),
            (Priority::Host, None, gc(1, 1), Decision::Gc),
            (Priority::Gc, host(1, 1), gc(9, 9), Decision::Gc),
            (Priority::Host, host(9, 9), gc(1, 1), Decision::Host),
            (Priority::Fifo, host(1, 1), gc(2, 2), Decision::Host),
            (Priority::Fifo, host(2, 2), gc(1, 1), Decision::Gc),
            // At one instant the one that was there first.
            (Priority::Fifo, host(5, 1), gc(5, 2), Decision::Host),
            (Priority::Fifo, host(5, 2), gc(5, 1), Decision::Gc),
        ];
        for (priority, host, gc, expected) in cases {
            assert_eq!(decide(&DieView { host, gc }, &Axes { priority }), expected, "{priority:?} {host:?} {gc:?}");
        }
    }
}
