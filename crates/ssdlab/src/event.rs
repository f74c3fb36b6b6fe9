//! The event queue: a total order of (time, serial), so that what happens at one instant happens in a defined order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Ns;

/// Something that ends at a known time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The array phase (or the whole of an undisturbed operation) in this operation slot ends.
    Slot(u32),
    /// The transfer on this channel ends.
    Bus(u32),
}

/// Bits of the payload in a key: a kind and an index.
const PAYLOAD_BITS: u32 = 24;

/// Events by time; among equal times in the order in which they were scheduled.
#[derive(Debug, Default)]
pub struct EventQueue {
    /// time << 64 | serial << 24 | payload: one comparison decides, and the payload never does.
    heap: BinaryHeap<Reverse<u128>>,
    serial: u64,
}

impl EventQueue {
    /// Schedules `event` at `time`.
    #[inline]
    pub fn push(&mut self, time: Ns, event: Event) {
        let payload = match event {
            Event::Slot(index) => index << 1,
            Event::Bus(index) => index << 1 | 1,
        };
        debug_assert!(payload < 1 << PAYLOAD_BITS);
        self.serial += 1;
        self.heap.push(Reverse(u128::from(time) << 64 | u128::from(self.serial) << PAYLOAD_BITS | u128::from(payload)));
    }

    /// The time of the next event.
    #[inline]
    pub fn next_time(&self) -> Option<Ns> {
        self.heap.peek().map(|Reverse(key)| (key >> 64) as Ns)
    }

    /// Takes the next event if it is due at `time`.
    #[inline]
    pub fn pop_at(&mut self, time: Ns) -> Option<Event> {
        if self.next_time() != Some(time) {
            return None;
        }
        let Reverse(key) = self.heap.pop()?;
        let payload = key as u32 & ((1 << PAYLOAD_BITS) - 1);
        Some(if payload & 1 == 0 { Event::Slot(payload >> 1) } else { Event::Bus(payload >> 1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_come_in_the_order_of_scheduling() {
        let mut queue = EventQueue::default();
        queue.push(5, Event::Slot(9));
        queue.push(3, Event::Bus(1));
        queue.push(5, Event::Bus(0));
        queue.push(5, Event::Slot(0));
        assert_eq!(queue.next_time(), Some(3));
        assert_eq!(queue.pop_at(5), None);
        assert_eq!(queue.pop_at(3), Some(Event::Bus(1)));
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop_at(5)).collect();
        assert_eq!(rest, [Event::Slot(9), Event::Bus(0), Event::Slot(0)]);
    }
}
