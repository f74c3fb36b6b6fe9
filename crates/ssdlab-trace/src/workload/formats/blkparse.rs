//! Text of blkparse in its default layout: `major,minor cpu serial seconds pid action RWBS sector + sectors [process]`. One of two actions is
//! a request: Q (queued, before merging) or D (issued to the driver, after merging); the others are further steps of the same requests.
//! The device is `major,minor`.

use std::collections::BTreeMap;

use super::kernel::{HandedOn, kind_of, range};
use super::text::{Words, integer};
use super::{Bad, Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Skipped, Time};
use ssdlab_keys::config::{TimeUnit, TraceEvent, TraceFormat};
use ssdlab_keys::remark::Remark;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Blkparse,
    name: "blkparse",
    hints: &[("blkparse", None)],
    meaning: Meaning {
        time: Time::Fixed(TimeUnit::S),
        address: Measure::Sectors,
        size: Measure::Sectors,
        operations: "RWBS letters: R, W; D and WZ = trim; F without sectors = flush",
    },
    event: Event::OneOf { prefers: TraceEvent::Queue, of: event_of },
    names_devices: true,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Lines(|settings| Box::new(Blkparse::new(settings.clock, settings.event))),
};

const COLUMNS: &str = "an event: major,minor cpu serial seconds pid action RWBS ...";

struct Blkparse {
    clock: Clock,
    /// Event that counts as a request; `None` while formats are tried: both do.
    event: Option<TraceEvent>,
    seen_event: bool,
    /// The summary that follows the events has begun.
    in_summary: bool,
    /// Number of lines without a request, by action; `N` for requests that are neither reads nor writes.
    skipped: Skipped,
    handed_on: HandedOn,
}

impl Blkparse {
    fn new(clock: Clock, event: Option<TraceEvent>) -> Self {
        Blkparse { clock, event, seen_event: false, in_summary: false, skipped: Skipped::default(), handed_on: HandedOn::default() }
    }

    /// Counts an event that is not a request, and notes the two devices of a remap.
    fn skip<'a>(&mut self, action: &[u8], device: &[u8], mut words: Words<'_>) -> Parsed<'a> {
        if !matches!(action.len(), 1 | 2) || !action.iter().all(u8::is_ascii_alphabetic) {
            return Err(Bad::new("an action of one or two letters", action));
        }
        if action == b"A"
            && let Some(from) = std::iter::from_fn(|| words.word()).find(|word| word.starts_with(b"("))
        {
            self.handed_on.add(from.trim_ascii_start().strip_prefix(b"(").unwrap_or(from).strip_suffix(b")").unwrap_or(from), device);
        }
        self.skipped.add(action);
        Ok(None)
    }
}

impl LineParser for Blkparse {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut words = Words::new(line);
        let device = words.take(COLUMNS)?;
        if !is_device(device) {
            self.in_summary |= self.seen_event && (device.starts_with(b"CPU") || device == b"Total");
            return if self.in_summary { Ok(None) } else { Err(Bad::new("a device: major,minor", device)) };
        }
        if self.in_summary {
            return Err(Bad::new("one output of blkparse: here another begins behind the statistics of the first; split the file", line));
        }
        integer(words.take(COLUMNS)?, "a cpu number")?;
        integer(words.take(COLUMNS)?, "a serial number")?;
        let time_ns = self.clock.read(words.take(COLUMNS)?)?;
        integer(words.take(COLUMNS)?, "a process number")?;
        let action = words.take(COLUMNS)?;
        self.seen_event = true;
        let is_request = match (action, self.event) {
            (b"Q", event) => event != Some(TraceEvent::Issue),
            (b"D", event) => event != Some(TraceEvent::Queue),
            _ => false,
        };
        if !is_request {
            return self.skip(action, device, words);
        }
        let Some(kind) = kind_of(words.take(COLUMNS)?)? else {
            self.skipped.add(b"N");
            return Ok(None);
        };
        // Without sectors, a process in brackets follows.
        let sector = words.word().filter(|word| !word.starts_with(b"["));
        range(time_ns, kind, sector, words, device)
    }

    fn skipped(&self) -> BTreeMap<String, u64> {
        self.skipped.named(|action| match action {
            "N" => "requests that neither read nor write (N)".into(),
            action => format!("action {action}{}", step(action)),
        })
    }

    fn remarks(&self) -> Vec<Remark> {
        super::kernel::requeued(self.event, self.skipped.count(b"R"))
    }

    fn handed_on(&self) -> Vec<(String, String)> {
        self.handed_on.pairs()
    }
}

/// Meaning of the common actions (blkparse(1), "TRACE ACTIONS"); empty for others.
fn step(action: &str) -> &'static str {
    match action {
        "A" => " (remapped)",
        "C" => " (completed)",
        "D" => " (issued)",
        "F" | "M" => " (merged)",
        "G" => " (request allocated)",
        "I" => " (inserted)",
        "m" => " (message)",
        "P" => " (plugged)",
        "Q" => " (queued)",
        "R" => " (requeued)",
        "U" | "UT" => " (unplugged)",
        "X" => " (split)",
        _ => "",
    }
}

/// Whether a word is an action of blkparse.
pub(super) fn is_action(word: &[u8]) -> bool {
    matches!(word, b"S" | b"B") || std::str::from_utf8(word).is_ok_and(|word| !step(word).is_empty())
}

/// The event of a line, queue (action Q) or issue (action D); `None` for other lines.
fn event_of(line: &[u8]) -> Option<TraceEvent> {
    let mut words = Words::new(line);
    let is_event = words.word().is_some_and(is_device);
    let action = std::iter::from_fn(|| words.word()).nth(4)?;
    match action {
        b"Q" if is_event => Some(TraceEvent::Queue),
        b"D" if is_event => Some(TraceEvent::Issue),
        _ => None,
    }
}

pub(super) fn is_device(word: &[u8]) -> bool {
    let mut parts = word.split(|&b| b == b',');
    let is_number = |part: Option<&[u8]>| part.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}
