//! Linux block events as ftrace (`trace`, `trace_pipe`), `trace-cmd report` and `perf script` print them:
//! `task-pid [cpu] seconds: block_rq_issue: major,minor RWBS bytes (command) sector + sectors ...`. One of two events is a request:
//! `block_rq_issue` (to the driver, after merging) or `block_bio_queue` (before merging). Layout: the kernel's `trace/events/block.h`. The
//! device is `major,minor`.

use std::collections::BTreeMap;

use super::kernel::{HandedOn, kind_of, range};
use super::text::{Words, integer};
use super::{Bad, Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Skipped, Time};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceEvent, TraceFormat};
use ssdlab_keys::remark::Remark;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Ftrace,
    name: "ftrace",
    hints: &[("ftrace", None)],
    meaning: Meaning {
        time: Time::Fixed(TimeUnit::S),
        address: Measure::Sectors,
        size: Measure::Sectors,
        operations: "RWBS letters: R, W; D, WZ and N with sectors = trim; F without sectors = flush",
    },
    event: Event::OneOf { prefers: TraceEvent::Issue, of: event_of },
    names_devices: true,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Lines(|settings| {
        let (skipped, handed_on) = (Skipped::default(), HandedOn::default());
        Box::new(Ftrace { clock: settings.clock, event: settings.event, skipped, handed_on, lost: 0, begun: false })
    }),
};

const COLUMNS: &str = "an event: task-pid [cpu] seconds: name: ...";
const ISSUE: &[u8] = b"block_rq_issue";
const QUEUE: &[u8] = b"block_bio_queue";
const REQUEUE: &[u8] = b"block_rq_requeue";
const REMAP: &[u8] = b"block_bio_remap";

struct Ftrace {
    clock: Clock,
    /// Event that counts as a request; `None` while formats are tried: both do.
    event: Option<TraceEvent>,
    skipped: Skipped,
    handed_on: HandedOn,
    /// Number of events that the kernel overwrote.
    lost: u64,
    /// An event has been read.
    begun: bool,
}

/// An event line: its time, its name and the words after them.
pub(super) struct Line<'a> {
    pub(super) time: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) rest: Words<'a>,
}

/// Splits an event line; `None` without a time and a name. The place of the time depends on the tool, and task names may hold anything.
pub(super) fn event_line(line: &[u8]) -> Option<Line<'_>> {
    let mut words = Words::new(line);
    while let Some(word) = words.word() {
        let Some(time) = word.strip_suffix(b":").filter(|time| is_time(time)) else { continue };
        let name = words.word()?.strip_suffix(b":")?;
        let name = name.strip_prefix(b"block:").or_else(|| name.strip_prefix(b"nvme:")).unwrap_or(name);
        return Some(Line { time, name, rest: words });
    }
    None
}

fn is_time(word: &[u8]) -> bool {
    word.contains(&b'.') && word.iter().all(|&byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether a line without an event is valid: a comment, a heading of trace-cmd, or a line of a call chain.
pub(super) fn is_beside_events(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    // A call chain, indented: `ffffffff8140a0b0 submit_bio+0x30 ([kernel.kallsyms])`.
    let is_address = |word: &[u8]| text.len() < line.len() && text.ends_with(b")") && word.iter().all(u8::is_ascii_hexdigit);
    let heading = [&b"#"[..], b"CPU", b"cpus=", b"version ="].iter().any(|start| text.starts_with(start));
    heading || Words::new(text).word().is_some_and(is_address)
}

impl Ftrace {
    /// Checks a line without an event, and counts the lost events that it reports (`CPU:2 [LOST 42 EVENTS]`).
    fn beside_events<'a>(&mut self, line: &[u8]) -> Parsed<'a> {
        if !is_beside_events(line) {
            return Err(Bad::new(COLUMNS, line));
        }
        if self.begun && line.starts_with(b"# tracer:") {
            return Err(Bad::new("one recording: a second header begins another here; split the file", line));
        }
        if let Some(at) = memchr::memmem::find(line, b"LOST ") {
            let count = Words::new(&line[at + 5..]).word().and_then(|word| integer(word, "").ok());
            self.lost += count.unwrap_or(1);
        }
        Ok(None)
    }

    fn skip<'a>(&mut self, name: &[u8], mut rest: Words<'_>) -> Parsed<'a> {
        if name == REMAP {
            let to = rest.word().unwrap_or_default();
            if let Some(from) = std::iter::from_fn(|| rest.word()).find(|word| word.starts_with(b"(")) {
                self.handed_on.add(from.strip_prefix(b"(").unwrap_or(from).strip_suffix(b")").unwrap_or(from), to);
            }
        }
        self.skipped.add(name);
        Ok(None)
    }
}

impl LineParser for Ftrace {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let Some(Line { time, name, rest: mut words }) = event_line(line) else { return self.beside_events(line) };
        self.begun = true;
        let is_request = match name {
            ISSUE => self.event != Some(TraceEvent::Queue),
            QUEUE => self.event != Some(TraceEvent::Issue),
            _ => false,
        };
        if !is_request {
            return self.skip(name, words);
        }
        let time_ns = self.clock.read(time)?;
        let device = words.take(COLUMNS)?;
        if !super::blkparse::is_device(device) {
            return Err(Bad::new("a device: major,minor", device));
        }
        let letters = words.take("letters of the operation (RWBS)")?;
        // Only some events have the bytes and a command in brackets before the sector.
        let mut sector = words.take("sector + sectors")?;
        if name == ISSUE {
            let mut command = words.take("a command in brackets")?;
            while !command.ends_with(b")") {
                command = words.take("the end of the command in brackets")?;
            }
            sector = words.take("sector + sectors")?;
        }
        let has_sectors = Words::new(words.rest()).word() == Some(b"+") && without_sectors(words.rest()).is_none();
        match (kind_of(letters)?, has_sectors) {
            (None, false) => self.skip(b"N", words),
            (None, true) => range(time_ns, RequestKind::Trim, Some(sector), words, device),
            (Some(_), false) if letters.starts_with(b"F") => range(time_ns, RequestKind::Flush, None, words, device),
            (Some(kind), _) => range(time_ns, kind, Some(sector), words, device),
        }
    }

    fn skipped(&self) -> BTreeMap<String, u64> {
        self.skipped.named(|name| if name == "N" { "commands that neither read nor write (N)".into() } else { format!("event {name}") })
    }

    fn remarks(&self) -> Vec<Remark> {
        let mut remarks = super::kernel::requeued(self.event, self.skipped.count(REQUEUE));
        if self.lost > 0 {
            let sentence = format!("The kernel lost {} events while this was recorded: requests are missing.", self.lost);
            remarks.push(Remark::warning("lost-events", "workload.trace.requests", sentence, "Record again with a larger buffer_size_kb."));
        }
        remarks
    }

    fn handed_on(&self) -> Vec<(String, String)> {
        self.handed_on.pairs()
    }
}

/// `Some` if the text is `+ 0`: the request has no sectors.
fn without_sectors(rest: &[u8]) -> Option<()> {
    let mut words = Words::new(rest);
    words.word()?;
    (words.word()? == b"0").then_some(())
}

/// The event of a line, issue (`block_rq_issue`) or queue (`block_bio_queue`); `None` for other lines.
fn event_of(line: &[u8]) -> Option<TraceEvent> {
    match event_line(line)?.name {
        ISSUE => Some(TraceEvent::Issue),
        QUEUE => Some(TraceEvent::Queue),
        _ => None,
    }
}
