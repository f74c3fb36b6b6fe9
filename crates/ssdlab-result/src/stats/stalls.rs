//! How long writes may stand still.

use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;

/// Measures the longest time during which writes were outstanding and none completed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stalls {
    /// Number of outstanding writes. `since`: from when on writes have been outstanding without a completion.
    outstanding: u64,
    since: Ns,
    longest: Option<Ns>,
}

impl Stalls {
    /// A request arrives.
    #[inline(always)]
    pub fn arrives(&mut self, now: Ns, kind: RequestKind) {
        if kind.brings_data() {
            if self.outstanding == 0 {
                self.since = now;
            }
            self.outstanding += 1;
        }
    }

    /// A request completes.
    #[inline(always)]
    pub fn completes(&mut self, now: Ns, kind: RequestKind) {
        if kind.brings_data() {
            self.outstanding -= 1;
            self.longest = self.longest.max(Some(now - self.since));
            self.since = now;
        }
    }

    /// The measured part of the run begins: stalls are measured from `now` on.
    pub fn begin_at(&mut self, now: Ns) {
        (self.since, self.longest) = (now, None);
    }

    /// The longest stall, ns; `None` if no write has completed in the measured part of the run.
    pub fn longest(&self) -> Option<Ns> {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RequestKind::{Read, Write};

    /// Writes from 10 to 30 ns and from 15 to 90 ns: none completes for 60 ns. The write from 200 ns on has the drive to itself.
    #[test]
    fn a_stall_lasts_from_completion_to_completion_while_writes_are_outstanding() {
        let mut stalls = Stalls::default();
        let mut longest = Vec::new();
        for (now, arrives, kind) in [
            (5, true, Read),
            (10, true, Write),
            (15, true, Write),
            (30, false, Write),
            (90, false, Write),
            (99, false, Read),
            (200, true, Write),
            (250, false, Write),
        ] {
            if arrives {
                stalls.arrives(now, kind)
            } else {
                stalls.completes(now, kind)
            }
            longest.push(stalls.longest());
        }
        assert_eq!(longest, [None, None, None, Some(20), Some(60), Some(60), Some(60), Some(60)]);
        stalls.begin_at(300);
        stalls.arrives(320, Write);
        stalls.completes(330, Write);
        assert_eq!(stalls.longest(), Some(10));
    }
}
