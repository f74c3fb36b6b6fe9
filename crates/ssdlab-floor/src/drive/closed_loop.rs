//! The closed loop: requests are sent, what may begin begins, and time goes on to what ends next.

use std::cmp::Reverse;

use ssdlab_base::units::Ns;
use ssdlab_trace::workload::RequestSource;

use super::{DIE_BITS, Drive, ORDER_BITS, Sharing};

impl<S: Sharing> Drive<S> {
    pub(crate) fn run(&mut self, source: &mut dyn RequestSource, depth: u32, mut each: impl FnMut(u32, Ns)) {
        let (mut now, mut sent, mut room) = (0, 0, depth);
        loop {
            self.send(now, source, &mut sent, room, &mut each);
            while self.ready != 0 {
                let die = self.ready.trailing_zeros();
                self.ready &= self.ready - 1;
                self.dispatch(now, die);
            }
            let Some(next) = self.next_instant() else { return };
            now = next;
            room = 0;
            while self.next_instant() == Some(now) {
                room += u32::from(self.end_next(now, &mut each));
            }
        }
    }

    #[inline(always)]
    fn next_instant(&self) -> Option<Ns> {
        self.events.peek().map(|Reverse(event)| (event >> ORDER_BITS) as Ns)
    }

    /// What ends next ends. Returns true if a request has completed.
    #[inline(always)]
    fn end_next(&mut self, now: Ns, each: &mut impl FnMut(u32, Ns)) -> bool {
        let Reverse(event) = self.events.pop().expect("something ends");
        let ended = self.ended(now, event as u32 & ((1 << DIE_BITS) - 1));
        if let Some((request, response_ns)) = ended {
            self.counts.response(response_ns);
            each(request, response_ns);
        }
        ended.is_some()
    }

    /// Sends requests while there is room among those outstanding.
    #[inline(always)]
    fn send(&mut self, now: Ns, source: &mut dyn RequestSource, sent: &mut u32, mut room: u32, each: &mut impl FnMut(u32, Ns)) {
        while room > 0 {
            let Some(request) = source.next_request().expect("a request") else { return };
            if self.arrive(now, *sent, &request) {
                self.counts.response(0);
                each(*sent, 0);
            } else {
                room -= 1;
            }
            *sent += 1;
        }
    }
}
