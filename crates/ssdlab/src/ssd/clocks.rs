//! Wait clocks: where the time of waiting transactions goes, without visiting each of them.
//!
//! For each domain (a die; a plane where planes are excluded apart; a chip for writes that have no die yet) the clocks add up how long it was
//! held by garbage collection, by host operations, and by the bus. A transaction notes what they show when it begins to wait; the
//! differences when it is dispatched are the parts of its waiting time (MODEL section 9).

use crate::units::Ns;

/// Who holds a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Holder {
    /// Garbage collection: an operation of it, an exclusion, or its debt of free blocks.
    Gc,
    /// A host operation.
    Host,
    /// The bus, for which the next program waits.
    Bus,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    shown: [Ns; 3],
    holder: Holder,
    since: Ns,
}

/// All wait clocks of a drive.
#[derive(Clone, Debug)]
pub struct Clocks(Vec<Clock>);

impl Clocks {
    /// Clocks at zero.
    pub fn new(domains: u32) -> Self {
        Clocks(vec![Clock { shown: [0; 3], holder: Holder::Gc, since: 0 }; domains as usize])
    }

    /// The domain is held by `holder` from now on.
    #[inline(always)]
    pub fn hold(&mut self, domain: u32, holder: Holder, now: Ns) {
        let clock = &mut self.0[domain as usize];
        if clock.holder != holder {
            clock.shown[clock.holder as usize] += now - clock.since;
            clock.holder = holder;
            clock.since = now;
        }
    }

    /// What the domain's clocks show.
    #[inline(always)]
    pub fn read(&self, domain: u32, now: Ns) -> [Ns; 3] {
        let clock = &self.0[domain as usize];
        let mut shown = clock.shown;
        shown[clock.holder as usize] += now - clock.since;
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_the_time_each_holder_had() {
        let mut clocks = Clocks::new(1);
        clocks.hold(0, Holder::Host, 10);
        let before = clocks.read(0, 15);
        clocks.hold(0, Holder::Bus, 20);
        clocks.hold(0, Holder::Gc, 26);
        let after = clocks.read(0, 33);
        assert_eq!([0, 1, 2].map(|i| after[i] - before[i]), [7, 5, 6]);
    }
}
