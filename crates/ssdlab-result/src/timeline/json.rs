//! The JSON trace-event format ("Trace Event Format", Google, 2016), as Perfetto and chrome://tracing read it.
//!
//! All slices are complete events (`X`), which never overlap on their thread; arrows are flow events (`s`, `t`, `f`), instants `i`,
//! levels counter events (`C`), names `M`.
//! Viewers find a flow's slice by time and thread, hence the order: by time, and at one instant slices before flows before instants.
//! Perfetto looks up the names of threads by `tid` alone, so these differ between processes, and from every `pid`. It finds the
//! process of a counter by a `tid`, too: any of its threads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;
use std::io::{self, Write};

use super::levels::{Level, Levels, Value};
use super::origin::{Cause, NOBODY, Origin};
use super::recorder::{NOWHERE, Operation, Page, Recorder, Slice};
use super::requests::{RecordedRequest, Requests};
use super::track::Track;
use super::{Ns, Reach};
use ssdlab_base::request::RequestKind;
use ssdlab_base::version::version;

/// The `pid` of the host's requests.
const REQUESTS: u32 = 1;
/// Processes of a drive (dies, channels, jobs): `pid` is the drive's number times [`PIDS_OF_A_DRIVE`], plus one of these.
const DIES: u32 = 2;
const CHANNELS: u32 = 3;
const JOBS: u32 = 4;
const PIDS_OF_A_DRIVE: u32 = 10;
/// `tid`s begin at a multiple of this.
const TIDS: u32 = 1000;

/// Shows a time in microseconds, exact to the nanosecond for times up to 2^51 ns (26 days).
struct Us(Ns);

impl fmt::Display for Us {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Us(ns) = *self;
        let nearest = ns as f64 / 1000.0;
        // Perfetto multiplies by 1000 and truncates, which gives 1000 ns for 1.001, and it drops slices that overlap even by a nanosecond.
        // The next larger number gives 1001 ns to readers that truncate and to readers that round.
        if ((nearest * 1000.0) as Ns) < ns {
            return write!(f, "{}", nearest.next_up());
        }
        let (whole, rest) = (ns / 1000, ns % 1000);
        match rest {
            0 => write!(f, "{whole}"),
            _ if rest % 100 == 0 => write!(f, "{whole}.{}", rest / 100),
            _ if rest % 10 == 0 => write!(f, "{whole}.{:02}", rest / 10),
            _ => write!(f, "{whole}.{rest:03}"),
        }
    }
}

/// A step of an arrow after its start: on the way, or the last.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Step,
    Finish,
}

/// An event to write. The numbers are indices of requests, slices, marks or values; variants are in the order of events at one instant.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The warm-up ends.
    WarmUpEnds,
    Request(u32),
    Slice(u32),
    /// An arrow (its number) begins at a request.
    Start(u64, u32),
    /// An arrow (its number) reaches a slice.
    Flow(Phase, u64, u32),
    Mark(u32),
    Level(u32),
}

impl Event {
    fn rank(self) -> u32 {
        match self {
            Event::WarmUpEnds | Event::Request(_) | Event::Slice(_) => 0,
            Event::Start(..) => 1,
            Event::Flow(Phase::Step, ..) => 2,
            Event::Flow(Phase::Finish, ..) => 3,
            Event::Mark(_) => 4,
            Event::Level(_) => 5,
        }
    }
}

/// `tid`s of the tracks of a drive.
struct Tids {
    /// `tid` of each slot, then of the suspended operation of each die; 0 if never used.
    dies: Vec<u32>,
    /// `tid` of the first channel; those of the others follow.
    channels: u32,
    /// `tid` of the GC jobs of each pool; 0 for a pool without jobs.
    jobs: Vec<u32>,
}

/// The recording of a drive with its `pid` and `tid`s.
struct Drive<'a> {
    recorder: &'a Recorder,
    tids: Tids,
    pid: u32,
}

/// Writes a timeline as a JSON file of trace events.
pub(super) fn write(
    out: &mut impl Write,
    (requests, levels): (&Requests, &Levels),
    recorders: &[Box<Recorder>],
    reach: Reach,
) -> io::Result<()> {
    let pids = recorders.len() as u32 * PIDS_OF_A_DRIVE;
    let mut names = Names { next: TIDS * (pids / TIDS + 1), several: recorders.len() > 1, lines: Vec::new() };
    let host = Host::new(requests, &mut names);
    let drives: Vec<_> = recorders.iter().map(|recorder| Drive::new(recorder, &mut names)).collect();
    out.write_all(b"{\"traceEvents\":[")?;
    let mut separator = "\n";
    for line in &names.lines {
        write!(out, "{separator}{line}")?;
        separator = ",\n";
    }
    // Time, drive (none: 0), event.
    let mut events: Vec<(Ns, u32, Event)> =
        (0..).zip(&requests.recorded).map(|(number, request)| (request.start, 0, Event::Request(number))).collect();
    let warm_up_ended = requests.warm_up_ended.filter(|ended| (reach.from..=reach.to).contains(ended));
    events.extend(warm_up_ended.map(|ended| (ended, 0, Event::WarmUpEnds)));
    let mut flows = 0;
    for (drive, number) in drives.iter().zip(0..) {
        drive.events(&host, &mut flows, |at, event| events.push((at, number, event)));
    }
    let used = levels.used();
    let values = (0..).zip(&levels.values).filter(|(_, value)| used[value.of as usize]);
    events.extend(values.map(|(number, value)| (value.at, 0, Event::Level(number))));
    // Stable: of one drive, slices of one instant stay in the order of their tracks.
    events.sort_by_key(|&(at, _, event)| (at, event.rank()));
    for (at, drive, event) in events {
        out.write_all(separator.as_bytes())?;
        match event {
            Event::WarmUpEnds => write_warm_up_end(out, at)?,
            Event::Request(number) => host.write(out, number)?,
            Event::Start(id, number) => write_flow(out, at, "s\"", id, (REQUESTS, host.lanes[number as usize]))?,
            Event::Level(number) => write_level(out, levels, levels.values[number as usize], &host, &drives)?,
            _ => drives[drive as usize].write(out, at, event)?,
        }
        separator = ",\n";
    }
    let Reach { slices, from, to, full } = reach;
    let version = version();
    write!(out, "\n],\"otherData\":{{\"writer\":\"ssdlab {version}\",\"slices\":{slices},\"from_us\":{},\"to_us\":{},", Us(from), Us(to))?;
    writeln!(out, "\"full\":{full}}}}}")
}

/// Metadata events: names and order of processes and threads.
struct Names {
    /// Next free `tid`.
    next: u32,
    /// There are several drives.
    several: bool,
    lines: Vec<String>,
}

impl Names {
    fn process(&mut self, pid: u32, name: &str) {
        self.name("process", pid, pid, name);
    }

    fn process_of_drive(&mut self, drive: u32, process: u32, name: &str) {
        let of = if self.several { format!("drive {drive}: ") } else { String::new() };
        self.process(drive * PIDS_OF_A_DRIVE + process, &format!("{of}{name}"));
    }

    /// Names the next thread of a process and returns its `tid`.
    fn thread(&mut self, pid: u32, name: &str) -> u32 {
        self.next += 1;
        self.name("thread", pid, self.next - 1, name);
        self.next - 1
    }

    fn name(&mut self, what: &str, pid: u32, tid: u32, name: &str) {
        let of = format!("\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid}");
        self.lines.push(format!("{{\"name\":\"{what}_name\",{of},\"args\":{{\"name\":{}}}}}", quoted(name)));
        self.lines.push(format!("{{\"name\":\"{what}_sort_index\",{of},\"args\":{{\"sort_index\":{tid}}}}}"));
    }
}

/// A text as a JSON string; names of flows are chosen by the user.
fn quoted(text: &str) -> serde_json::Value {
    text.into()
}

impl Tids {
    fn new(recorder: &Recorder, names: &mut Names) -> Self {
        let shape = recorder.shape;
        let pid = |process| shape.drive * PIDS_OF_A_DRIVE + process;
        let mut used = vec![false; 3 * shape.dies as usize];
        let mut collects = vec![false; shape.pools as usize];
        for slice in &recorder.slices {
            match slice.track {
                Track::Slot(slot) => used[slot as usize] = true,
                Track::Suspended(die) => used[(2 * shape.dies + die) as usize] = true,
                Track::Job(pool) => collects[pool as usize] = true,
                Track::Bus(_) => {}
            }
        }
        recorder.marks.iter().for_each(|mark| used[mark.slot as usize] = true);
        names.process_of_drive(shape.drive, DIES, "dies");
        let mut dies = vec![0; used.len()];
        for die in 0..shape.dies {
            let tracks = [(2 * die, ""), (2 * die + 1, ", second operation"), (2 * shape.dies + die, ", suspended")];
            for (place, what) in tracks.into_iter().filter(|&(place, what)| what.is_empty() || used[place as usize]) {
                dies[place as usize] = names.thread(pid(DIES), &format!("die {die}{what}"));
            }
        }
        names.process_of_drive(shape.drive, CHANNELS, "channels");
        let channels = names.next;
        (0..shape.channels).for_each(|channel| _ = names.thread(pid(CHANNELS), &format!("channel {channel}")));
        names.process_of_drive(shape.drive, JOBS, "GC jobs");
        let of_pool = |(pool, used): (usize, bool)| if used { names.thread(pid(JOBS), &format!("pool {pool}")) } else { 0 };
        let jobs = collects.into_iter().enumerate().map(of_pool).collect();
        Tids { dies, channels, jobs }
    }
}

/// Puts requests into lanes, each into the first free one, so that the requests of a lane do not overlap. Returns the lane of each, and
/// the number of lanes.
fn lanes<'a>(requests: impl Iterator<Item = &'a RecordedRequest>) -> (Vec<u32>, u32) {
    let mut busy = BinaryHeap::new();
    let mut free = BinaryHeap::new();
    let mut lanes = 0;
    let of = requests.map(|request| {
        while let Some(&Reverse((end, lane))) = busy.peek()
            && end <= request.start
        {
            busy.pop();
            free.push(Reverse(lane));
        }
        let lane = free.pop().map_or(lanes, |Reverse(lane)| lane);
        lanes = lanes.max(lane + 1);
        busy.push(Reverse((request.end, lane)));
        lane
    });
    (of.collect(), lanes)
}

/// The recorded host requests with their `tid`s.
struct Host<'a> {
    requests: &'a Requests,
    /// The `tid` of the first lane.
    first: u32,
    /// `tid` of the lane of each request.
    lanes: Vec<u32>,
    /// Index of each recorded request, by its number.
    places: BTreeMap<u64, u32>,
}

impl<'a> Host<'a> {
    fn new(requests: &'a Requests, names: &mut Names) -> Self {
        names.process(REQUESTS, "requests");
        let first = names.next;
        let mut of = vec![0; requests.recorded.len()];
        for flow in 0..requests.flows.len().max(1) {
            let places: Vec<_> = (0..of.len()).filter(|&place| usize::from(requests.recorded[place].request.flow) == flow).collect();
            let (lane_of, lanes) = lanes(places.iter().map(|&place| &requests.recorded[place]));
            let begin = names.next;
            places.into_iter().zip(lane_of).for_each(|(place, lane)| of[place] = begin + lane);
            let name = requests.flows.get(flow).map_or(String::new(), |name| format!("{name}: "));
            // Viewers show levels only for a process with a thread.
            (1..=lanes.max(1)).for_each(|lane| _ = names.thread(REQUESTS, &format!("{name}requests {lane}")));
        }
        let places = (0..).zip(&requests.recorded).map(|(place, request)| (request.index, place)).collect();
        Host { requests, first, lanes: of, places }
    }

    /// Start (within the window) and index of a request; `None` if it was not recorded.
    fn find(&self, request: u64) -> Option<(Ns, u32)> {
        let &place = self.places.get(&request)?;
        Some((self.requests.recorded[place as usize].start, place))
    }

    fn write(&self, out: &mut impl Write, number: u32) -> io::Result<()> {
        let RecordedRequest { index, request, start, end, arrived, completed } = self.requests.recorded[number as usize];
        let name = match request.kind {
            RequestKind::Read => "read request",
            RequestKind::Write => "write request",
            RequestKind::Trim => "trim request",
            RequestKind::Flush => "flush request",
            RequestKind::Append => "append request",
            RequestKind::ZoneOpen => "zone-open request",
            RequestKind::ZoneClose => "zone-close request",
            RequestKind::ZoneFinish => "zone-finish request",
            RequestKind::ZoneReset => "zone-reset request",
            RequestKind::Copy => "copy request",
        };
        write_head(out, name, "host", (REQUESTS, self.lanes[number as usize]), (start, end))?;
        write!(out, "\"request\":{index},\"offset\":{},\"bytes\":{}", request.offset, request.length)?;
        if let Some(flow) = self.requests.flows.get(usize::from(request.flow)) {
            write!(out, ",\"flow\":{}", quoted(flow))?;
        }
        write!(out, ",\"arrival_us\":{}", Us(arrived))?;
        if let Some((completed, blocked_by)) = completed {
            write!(out, ",\"response_us\":{}", Us(completed - arrived))?;
            if let Some(reason) = blocked_by {
                write!(out, ",\"blocked_by\":\"{}\"", reason.name())?;
            }
        }
        out.write_all(b"}}")
    }
}

impl<'a> Drive<'a> {
    fn new(recorder: &'a Recorder, names: &mut Names) -> Self {
        Drive { recorder, tids: Tids::new(recorder, names), pid: recorder.shape.drive * PIDS_OF_A_DRIVE }
    }

    fn operation(&self, slice: &Slice) -> &'a Operation {
        &self.recorder.operations[slice.of as usize]
    }

    fn pages(&self, operation: &Operation) -> &'a [Page] {
        &self.recorder.pages[operation.pages.0 as usize..operation.pages.1 as usize]
    }

    /// The page that a bus slice of a host operation transfers; `None` for other slices.
    fn page_transferred(&self, slice: &Slice) -> Option<usize> {
        let operation = self.operation(slice);
        let page = operation.pages.0.checked_add(slice.page)?;
        (operation.host && page < operation.pages.1).then_some(page as usize)
    }

    /// Passes each event of the drive, with its time, to `put`, in the order of slices. `flows`: number of arrows so far; counted on.
    fn events(&self, host: &Host, flows: &mut u64, mut put: impl FnMut(Ns, Event)) {
        let Recorder { slices, operations, pages, marks, joined, .. } = self.recorder;
        let mut transferred = vec![false; pages.len()];
        for slice in slices.iter().filter(|slice| matches!(slice.track, Track::Bus(_))) {
            self.page_transferred(slice).into_iter().for_each(|page| transferred[page] = true);
        }
        let mut begun = vec![false; operations.len()];
        let mut flow_of = vec![None; pages.len()];
        for (slice, number) in slices.iter().zip(0..) {
            put(slice.start, Event::Slice(number));
            match slice.track {
                Track::Slot(_) if !std::mem::replace(&mut begun[slice.of as usize], true) && self.operation(slice).host => {
                    let (first, end) = self.operation(slice).pages;
                    for page in first as usize..end as usize {
                        let Some((start, request)) = pages[page].origin.and_then(|origin| host.find(origin.request)) else { continue };
                        put(start, Event::Start(*flows, request));
                        let phase = if transferred[page] { Phase::Step } else { Phase::Finish };
                        put(slice.start, Event::Flow(phase, *flows, number));
                        flow_of[page] = Some(*flows);
                        *flows += 1;
                    }
                }
                Track::Bus(_) => {
                    let flow = self.page_transferred(slice).and_then(|page| flow_of[page].take());
                    flow.into_iter().for_each(|flow| put(slice.start, Event::Flow(Phase::Finish, flow, number)));
                }
                _ => {}
            }
        }
        let by_slot = if joined.is_empty() { BTreeMap::new() } else { self.by_slot() };
        for joined in joined {
            let (Some((start, request)), Some(numbers)) = (host.find(joined.request), by_slot.get(&joined.slot)) else { continue };
            let begun = numbers.partition_point(|&number| slices[number as usize].start <= joined.at);
            let running = numbers[..begun].last().filter(|&&number| slices[number as usize].end > joined.at);
            let Some(&number) = running else { continue };
            put(start, Event::Start(*flows, request));
            put(joined.at, Event::Flow(Phase::Finish, *flows, number));
            *flows += 1;
        }
        marks.iter().zip(0..).for_each(|(mark, number)| put(mark.at, Event::Mark(number)));
    }

    /// Indices of the slices of each slot, by start.
    fn by_slot(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut by_slot: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (slice, number) in self.recorder.slices.iter().zip(0..) {
            if let Track::Slot(slot) = slice.track {
                by_slot.entry(slot).or_default().push(number);
            }
        }
        by_slot
    }

    /// The `pid` and `tid` of a slice.
    fn thread(&self, number: u32) -> (u32, u32) {
        let (process, tid) = match self.recorder.slices[number as usize].track {
            Track::Slot(slot) => (DIES, self.tids.dies[slot as usize]),
            Track::Suspended(die) => (DIES, self.tids.dies[(2 * self.recorder.shape.dies + die) as usize]),
            Track::Bus(channel) => (CHANNELS, self.tids.channels + channel),
            Track::Job(pool) => (JOBS, self.tids.jobs[pool as usize]),
        };
        (self.pid + process, tid)
    }

    fn write(&self, out: &mut impl Write, at: Ns, event: Event) -> io::Result<()> {
        match event {
            Event::Slice(number) => self.write_slice(out, number),
            Event::Flow(Phase::Step, id, number) => write_flow(out, at, "t\"", id, self.thread(number)),
            Event::Flow(Phase::Finish, id, number) => write_flow(out, at, "f\",\"bp\":\"e\"", id, self.thread(number)),
            Event::Mark(number) => {
                let mark = &self.recorder.marks[number as usize];
                let (pid, tid, name) = (self.pid + DIES, self.tids.dies[mark.slot as usize], mark.name);
                write!(
                    out,
                    "{{\"name\":\"{name}\",\"cat\":\"suspension\",\"ph\":\"i\",\"s\":\"t\",\"pid\":{pid},\"tid\":{tid},\"ts\":{}}}",
                    Us(at)
                )
            }
            Event::WarmUpEnds | Event::Request(_) | Event::Start(..) | Event::Level(_) => unreachable!("the host's"),
        }
    }

    fn write_slice(&self, out: &mut impl Write, number: u32) -> io::Result<()> {
        let slice = &self.recorder.slices[number as usize];
        write_head(out, slice.name, self.category(slice), self.thread(number), (slice.start, slice.end))?;
        if let Track::Job(pool) = slice.track {
            let job = self.recorder.jobs[slice.of as usize];
            write!(out, "\"job\":{},\"pool\":{pool},\"victim\":{},\"valid_pages\":{}", job.number, job.victim, job.valid)?;
        } else {
            self.write_operation(out, slice)?;
        }
        out.write_all(b"}}")
    }

    /// Category of a slice. For an operation on several pages it is that of the page transferred, or of the first page.
    fn category(&self, slice: &Slice) -> &'static str {
        if matches!(slice.track, Track::Job(_)) || !self.operation(slice).host {
            return "gc";
        }
        let pages = self.pages(self.operation(slice));
        let page = pages.get(slice.page as usize).or(pages.first());
        page.and_then(|page| page.origin).map_or(Cause::Host, |origin| origin.cause).category()
    }

    /// Writes the arguments of a slice of an operation: its pages, or the page that it transfers.
    fn write_operation(&self, out: &mut impl Write, slice: &Slice) -> io::Result<()> {
        let operation = self.operation(slice);
        if operation.job != NOBODY {
            write!(out, "\"job\":{},", operation.job)?;
        }
        if operation.block != NOWHERE {
            return write!(out, "\"pool\":{},\"block\":{}", operation.block / self.recorder.shape.blocks_per_pool, operation.block);
        }
        let pages = self.pages(operation);
        // All transfers of a page move are of its only page.
        let transferred = if operation.host { pages.get(slice.page as usize) } else { None };
        match (transferred, pages) {
            (Some(page), _) | (None, [page]) => self.write_page(out, page),
            (None, pages) => {
                out.write_all(b"\"pages\":[")?;
                for (page, separator) in pages.iter().zip(std::iter::once("{").chain(std::iter::repeat(",{"))) {
                    out.write_all(separator.as_bytes())?;
                    self.write_page(out, page)?;
                    out.write_all(b"}")?;
                }
                out.write_all(b"]")
            }
        }
    }

    fn write_page(&self, out: &mut impl Write, page: &Page) -> io::Result<()> {
        let shape = &self.recorder.shape;
        if let Some(Origin { request, cause }) = page.origin {
            if request != NOBODY {
                write!(out, "\"request\":{request},")?;
            }
            if let Some(name) = cause.name() {
                write!(out, "\"for\":\"{name}\",")?;
            }
        }
        write!(out, "\"lpn\":{}", page.lpn)?;
        if page.ppn.0 != NOWHERE {
            let block = page.ppn.0 / shape.pages_per_block;
            write!(out, ",\"ppn\":{},\"block\":{block},\"pool\":{}", page.ppn, block / shape.blocks_per_pool)?;
        }
        if page.to.0 != NOWHERE {
            write!(out, ",\"to_ppn\":{},\"to_block\":{}", page.to, page.to.0 / shape.pages_per_block)?;
        }
        Ok(())
    }
}

/// Writes a slice up to its arguments.
fn write_head(out: &mut impl Write, name: &str, cat: &str, (pid, tid): (u32, u32), (start, end): (Ns, Ns)) -> io::Result<()> {
    let (ts, dur) = (Us(start), Us(end - start));
    write!(out, "{{\"name\":\"{name}\",\"cat\":\"{cat}\",\"ph\":\"X\",\"pid\":{pid},\"tid\":{tid},\"ts\":{ts},\"dur\":{dur},\"args\":{{")
}

/// Writes a line across all tracks at the end of the warm-up; statistics leave out the time before it.
fn write_warm_up_end(out: &mut impl Write, at: Ns) -> io::Result<()> {
    write!(out, "{{\"name\":\"warm-up ends\",\"cat\":\"warm-up\",\"ph\":\"i\",\"s\":\"g\",\"pid\":{REQUESTS},\"tid\":0,\"ts\":{}}}", Us(at))
}

/// Writes a step of an arrow. `phase`: its letter and closing quotation mark, with the keys that belong to it.
fn write_flow(out: &mut impl Write, at: Ns, phase: &str, id: u64, (pid, tid): (u32, u32)) -> io::Result<()> {
    write!(out, "{{\"name\":\"page\",\"cat\":\"flow\",\"ph\":\"{phase},\"id\":{id},\"pid\":{pid},\"tid\":{tid},\"ts\":{}}}", Us(at))
}

/// Writes the value of a level from `at` on. Perfetto names the track by the name and the argument together.
fn write_level(out: &mut impl Write, levels: &Levels, Value { at, of, value }: Value, host: &Host, drives: &[Drive]) -> io::Result<()> {
    let of_host = (REQUESTS, host.first);
    let of_drive = |drive: u32| (drives[drive as usize].pid + DIES, drives[drive as usize].tids.dies[0]);
    let ((pid, tid), name, what) = match levels.levels[of as usize].0 {
        Level::Outstanding => (of_host, "requests".to_string(), "outstanding"),
        Level::Dirty => (of_host, "cache".to_string(), "dirty pages"),
        Level::Reads { drive, chip } => (of_drive(drive), format!("chip {chip} reads"), "waiting"),
        Level::Writes { drive, chip } => (of_drive(drive), format!("chip {chip} writes"), "waiting"),
        Level::Free { drive } => (of_drive(drive), "free blocks".to_string(), "all pools"),
        Level::Fewest { drive } => (of_drive(drive), "fewest free blocks".to_string(), "of a pool"),
        Level::Temperature { drive } => (of_drive(drive), "temperature".to_string(), "degrees C"),
        Level::Throttling { drive } => (of_drive(drive), "throttling".to_string(), "level"),
        Level::PowerState { drive } => (of_drive(drive), "power state".to_string(), "state"),
    };
    write!(out, "{{\"name\":\"{name}\",\"ph\":\"C\",\"pid\":{pid},\"tid\":{tid},\"ts\":{},\"args\":{{\"{what}\":{value}}}}}", Us(at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use ssdlab_base::request::Request;

    #[test]
    fn times_are_microseconds_with_the_digits_that_they_need() {
        for (ns, text) in [(0, "0"), (1, "0.001"), (10, "0.01"), (102_400, "102.4"), (12_345, "12.345"), (7_000_000, "7000")] {
            assert_eq!(Us(ns).to_string(), text);
        }
        // The double next to 1.001 times 1000 is 1000.9999999999999.
        assert_eq!(Us(1001).to_string(), "1.0010000000000001");
    }

    proptest! {
        #[test]
        fn times_are_exact_for_those_who_round_and_for_those_who_cut(ns in prop_oneof![0u64..2_000_000, 0u64..1 << 51]) {
            let us: f64 = Us(ns).to_string().parse().unwrap();
            prop_assert_eq!((us * 1000.0) as Ns, ns);
            prop_assert_eq!((us * 1000.0).round() as Ns, ns);
        }

        #[test]
        fn requests_of_one_lane_do_not_overlap_and_no_lane_is_needless(times in prop::collection::vec((0u64..300, 1u64..60), 0..120)) {
            let request = Request { arrival_ns: 0, kind: RequestKind::Read, offset: 0, length: 1, high_priority: false, flow: 0, handle: None };
            let request = |(&(start, ns), index): (&(Ns, Ns), u64)| RecordedRequest {
                index, request, start, end: start + ns, arrived: start, completed: None,
            };
            let mut slices: Vec<RecordedRequest> = times.iter().zip(0..).map(request).collect();
            slices.sort_by_key(|slice| slice.start);
            let (lane_of, lanes) = lanes(slices.iter());
            for lane in 0..lanes {
                let of_lane: Vec<&RecordedRequest> = slices.iter().zip(&lane_of).filter(|&(_, &of)| of == lane).map(|(slice, _)| slice).collect();
                prop_assert!(!of_lane.is_empty());
                prop_assert!(of_lane.windows(2).all(|pair| pair[0].end <= pair[1].start));
            }
            let at_once = |at: Ns| slices.iter().filter(|slice| slice.start <= at && at < slice.end).count();
            prop_assert_eq!(lanes as usize, slices.iter().map(|slice| at_once(slice.start)).max().unwrap_or(0));
        }
    }
}
