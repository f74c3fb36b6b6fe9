//! The states of zones, their write pointers and the limits of open and active zones (NVMe Zoned Namespace Command Set 1.1, section 2.1).

/// State of a zone. The states "read only" and "offline" of the specification do not occur: where blocks fail, the whole drive becomes read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No data; not active.
    Empty,
    /// Opened by a write.
    ImplicitlyOpen,
    /// Opened by a command.
    ExplicitlyOpen,
    /// Active, not open.
    Closed,
    /// Written to its end, or finished; not active.
    Full,
}

impl State {
    /// Name of the state.
    pub fn name(self) -> &'static str {
        ["empty", "implicitly-open", "explicitly-open", "closed", "full"][self as usize]
    }
}

/// Why a command is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The write does not begin at the write pointer, or an append not at the beginning of its zone.
    InvalidWrite,
    /// The write ends beyond the capacity of the zone.
    Boundary,
    /// The zone is full.
    Full,
    /// As many zones are active as may be.
    TooManyActive,
    /// As many zones are open as may be, all of them by commands.
    TooManyOpen,
    /// The command does not apply to a zone in this state.
    InvalidTransition,
}

/// The place of a zone among the active ones.
pub type Place = u8;

/// Means "no place".
const NOWHERE: Place = Place::MAX;

#[derive(Clone, Copy, Debug)]
struct Zone {
    state: State,
    /// Units written by the host: the write pointer. A finished zone keeps it.
    written: u32,
    /// Place among the active zones, or [`NOWHERE`].
    place: Place,
    /// Its number among all openings of zones, when it was opened last.
    opened: u64,
}

/// The zones of a drive.
#[derive(Clone, Debug)]
pub struct Machine {
    zones: Vec<Zone>,
    capacity: u32,
    max_open: usize,
    /// By place: the active zone there.
    active: Vec<Option<u32>>,
    /// By place: number of openings when a zone left it last. The data of that zone may still be in the write buffer, so the place that was left longest ago is
    /// taken next.
    left: Vec<u64>,
    openings: u64,
    /// Zones closed for want of another open one.
    pub closes: u64,
}

impl Machine {
    /// `count` empty zones of `capacity` units.
    pub fn new(count: u32, capacity: u32, max_open: u8, max_active: u8) -> Self {
        let empty = Zone { state: State::Empty, written: 0, place: NOWHERE, opened: 0 };
        Machine {
            zones: vec![empty; count as usize],
            capacity,
            max_open: max_open.into(),
            active: vec![None; max_active.into()],
            left: vec![0; max_active.into()],
            openings: 0,
            closes: 0,
        }
    }

    /// The zone was written to its end before the run.
    pub fn filled(&mut self, zone: u32) {
        let of = &mut self.zones[zone as usize];
        (of.state, of.written) = (State::Full, self.capacity);
    }

    /// Number of zones.
    pub fn count(&self) -> u32 {
        self.zones.len() as u32
    }

    /// State of a zone.
    pub fn state(&self, zone: u32) -> State {
        self.zones[zone as usize].state
    }

    /// Units that the host has written in a zone.
    pub fn written(&self, zone: u32) -> u32 {
        self.zones[zone as usize].written
    }

    /// The place of a zone among the active ones.
    pub fn place(&self, zone: u32) -> Option<Place> {
        Some(self.zones[zone as usize].place).filter(|&place| place != NOWHERE)
    }

    /// Writes units at `at`, or for an append (`None`) at the write pointer. Returns the first unit, and the place of the zone.
    pub fn write(&mut self, zone: u32, at: Option<u32>, units: u32) -> Result<(u32, Place), Refusal> {
        let Zone { state, written, .. } = self.zones[zone as usize];
        if state == State::Full {
            return Err(Refusal::Full);
        }
        if at.is_some_and(|at| at != written) {
            return Err(Refusal::InvalidWrite);
        }
        let end = written.checked_add(units).filter(|&end| end <= self.capacity).ok_or(Refusal::Boundary)?;
        if matches!(state, State::Empty | State::Closed) {
            self.make_open(zone, State::ImplicitlyOpen)?;
        }
        let place = self.zones[zone as usize].place;
        self.zones[zone as usize].written = end;
        if end == self.capacity {
            self.leave(zone, State::Full);
        }
        Ok((written, place))
    }

    /// Opens a zone.
    pub fn open(&mut self, zone: u32) -> Result<(), Refusal> {
        match self.state(zone) {
            State::Full => Err(Refusal::InvalidTransition),
            State::ExplicitlyOpen => Ok(()),
            State::ImplicitlyOpen => {
                self.zones[zone as usize].state = State::ExplicitlyOpen;
                Ok(())
            }
            State::Empty | State::Closed => self.make_open(zone, State::ExplicitlyOpen),
        }
    }

    /// Closes a zone; one without data becomes empty.
    pub fn close(&mut self, zone: u32) -> Result<(), Refusal> {
        match self.state(zone) {
            State::Empty | State::Full => Err(Refusal::InvalidTransition),
            State::Closed => Ok(()),
            State::ImplicitlyOpen | State::ExplicitlyOpen if self.written(zone) == 0 => {
                self.leave(zone, State::Empty);
                Ok(())
            }
            State::ImplicitlyOpen | State::ExplicitlyOpen => {
                self.zones[zone as usize].state = State::Closed;
                Ok(())
            }
        }
    }

    /// Makes a zone full.
    pub fn finish(&mut self, zone: u32) {
        self.leave(zone, State::Full);
    }

    /// Makes a zone empty.
    pub fn reset(&mut self, zone: u32) {
        self.leave(zone, State::Empty);
        self.zones[zone as usize].written = 0;
    }

    fn leave(&mut self, zone: u32, state: State) {
        let of = &mut self.zones[zone as usize];
        of.state = state;
        let place = std::mem::replace(&mut of.place, NOWHERE);
        if place != NOWHERE {
            self.active[usize::from(place)] = None;
            self.left[usize::from(place)] = self.openings;
        }
    }

    fn open_zones(&self) -> impl Iterator<Item = u32> + '_ {
        let is_open = |zone: &u32| matches!(self.state(*zone), State::ImplicitlyOpen | State::ExplicitlyOpen);
        self.active.iter().flatten().copied().filter(is_open)
    }

    /// The place without a zone that was left longest ago.
    fn free_place(&self) -> Option<Place> {
        let free = (0..self.active.len()).filter(|&place| self.active[place].is_none());
        free.min_by_key(|&place| self.left[place]).map(|place| place as Place)
    }

    /// Opens an empty or closed zone, within the limits.
    fn make_open(&mut self, zone: u32, state: State) -> Result<(), Refusal> {
        let place = match self.place(zone) {
            Some(place) => place,
            None => self.free_place().ok_or(Refusal::TooManyActive)?,
        };
        if self.open_zones().count() >= self.max_open {
            let implicit = self.open_zones().filter(|&other| self.state(other) == State::ImplicitlyOpen);
            let oldest = implicit.min_by_key(|&other| self.zones[other as usize].opened).ok_or(Refusal::TooManyOpen)?;
            self.zones[oldest as usize].state = State::Closed;
            self.closes += 1;
        }
        self.active[usize::from(place)] = Some(zone);
        self.openings += 1;
        let of = &mut self.zones[zone as usize];
        (of.state, of.place, of.opened) = (state, place, self.openings);
        Ok(())
    }

    /// Recounts active and open zones.
    ///
    /// # Errors
    /// A sentence about the first contradiction.
    pub fn check(&self) -> Result<(), String> {
        for (number, zone) in (0..).zip(&self.zones) {
            let is_active = !matches!(zone.state, State::Empty | State::Full);
            let listed = self.active.iter().filter(|active| **active == Some(number)).count();
            let is_at_place = zone.place != NOWHERE && self.active[usize::from(zone.place)] == Some(number);
            if is_active != is_at_place || listed != usize::from(is_active) {
                return Err(format!("zone {number} is {:?} and listed as active {listed} times", zone.state));
            }
            if zone.written > self.capacity || zone.state == State::Empty && zone.written > 0 {
                return Err(format!("zone {number} is {:?} and has {} units of {}", zone.state, zone.written, self.capacity));
            }
        }
        let open = self.open_zones().count();
        if open > self.max_open { Err(format!("{open} zones are open, and {} may be", self.max_open)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three places zone 0 leaves the first, whose data may still be in the write buffer: zones 1 and 2 take the others, and zone 3 the first.
    #[test]
    fn the_place_that_was_left_longest_ago_is_taken_next() {
        let mut machine = Machine::new(4, 2, 3, 3);
        let places = [0, 1, 2, 3].map(|zone| {
            let (_, place) = machine.write(zone, None, 2).unwrap();
            place
        });
        assert_eq!(places, [0, 1, 2, 0]);
        machine.check().unwrap();
    }
}
