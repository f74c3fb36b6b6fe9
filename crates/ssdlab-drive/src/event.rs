//! The event queue: a total order of (time, serial number of the operation), so that what happens at one instant happens in a defined order.
//!
//! The serial number is that of the operation's start, not of the event: two operations that reach something at one instant are served in the
//! order in which they began, however many stages lie between.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ssdlab_base::units::Ns;

/// An event at a known time: the end of a stage, or a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The array phase (or the whole of an undisturbed operation) in this operation slot ends.
    Slot(u32),
    /// The transfer on this channel ends.
    Bus(u32),
    /// The drive may have been idle for long enough for this.
    Idle(IdleWork),
    /// The data that have been decoded for longest have been.
    Decoded,
    /// The drive's window to collect may have begun or ended (`array.window_us`).
    Window,
    /// A sample of the temperature is due (`thermal`).
    Heat,
    /// The drive may have to enter or leave a power state, or has done so (`power_states`).
    PowerState,
}

/// What begins once no request has been outstanding for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleWork {
    /// GC ahead of need (`gc.trigger = "idle"`).
    Gc,
    /// Folding of blocks in SLC mode (`slc.idle_us`).
    Folding,
}

/// Bits of the payload in a key: an index above a kind, which is 0 for slots (the most frequent), 01 for buses, 11 for idle time in which GC
/// begins (index 0), decoded data (index 1), idle time in which folding begins (index 2), windows (index 3), samples of the
/// temperature (index 4) and power states (index 5).
const PAYLOAD_BITS: u32 = 24;

/// Events by time; among equal times by the serial number of their operation.
#[derive(Debug, Default)]
pub struct EventQueue {
    /// time << 64 | serial << 24 | payload: one comparison decides.
    heap: BinaryHeap<Reverse<u128>>,
}

impl EventQueue {
    /// Schedules `event` of the operation `serial` at `time`.
    #[inline]
    pub fn push(&mut self, time: Ns, serial: u64, event: Event) {
        let payload = match event {
            Event::Slot(index) => index << 1,
            Event::Bus(index) => index << 2 | 0b01,
            Event::Idle(IdleWork::Gc) => 0b11,
            Event::Decoded => 0b111,
            Event::Idle(IdleWork::Folding) => 0b1011,
            Event::Window => 0b1111,
            Event::Heat => 0b1_0011,
            Event::PowerState => 0b1_0111,
        };
        assert!(payload < 1 << PAYLOAD_BITS && serial < 1 << (64 - PAYLOAD_BITS));
        self.heap.push(Reverse(u128::from(time) << 64 | u128::from(serial) << PAYLOAD_BITS | u128::from(payload)));
    }

    /// The time of the next event; `None` without events.
    #[inline]
    pub fn next_time(&self) -> Option<Ns> {
        self.heap.peek().map(|Reverse(key)| (key >> 64) as Ns)
    }

    /// Takes the next event, with its serial number, if it is due at `time`.
    #[inline]
    pub fn pop_at(&mut self, time: Ns) -> Option<(u64, Event)> {
        if self.next_time() != Some(time) {
            return None;
        }
        let Reverse(key) = self.heap.pop()?;
        let payload = key as u32 & ((1 << PAYLOAD_BITS) - 1);
        let event = match payload & 0b11 {
            0b01 => Event::Bus(payload >> 2),
            0b11 if payload == 0b11 => Event::Idle(IdleWork::Gc),
            0b11 if payload == 0b111 => Event::Decoded,
            0b11 if payload == 0b1111 => Event::Window,
            0b11 if payload == 0b1_0011 => Event::Heat,
            0b11 if payload == 0b1_0111 => Event::PowerState,
            0b11 => Event::Idle(IdleWork::Folding),
            _ => Event::Slot(payload >> 1),
        };
        Some(((key as u64) >> PAYLOAD_BITS, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_come_in_the_order_of_the_operations() {
        let mut queue = EventQueue::default();
        queue.push(5, 3, Event::Slot(0));
        queue.push(3, 2, Event::Bus(1));
        queue.push(5, 1, Event::Bus(9));
        queue.push(5, 2, Event::Slot(5));
        queue.push(5, 0, Event::Idle(IdleWork::Gc));
        assert_eq!(queue.next_time(), Some(3));
        assert_eq!(queue.pop_at(5), None);
        assert_eq!(queue.pop_at(3), Some((2, Event::Bus(1))));
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop_at(5)).collect();
        assert_eq!(rest, [(0, Event::Idle(IdleWork::Gc)), (1, Event::Bus(9)), (2, Event::Slot(5)), (3, Event::Slot(0))]);
    }
}
