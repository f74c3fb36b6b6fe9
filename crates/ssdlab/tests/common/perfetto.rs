//! A timeline's file, read back and held against the rules of the trace-event format and of the viewers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A slice: process, thread, name, start, end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slice {
    pub process: String,
    pub thread: String,
    pub name: String,
    pub category: String,
    pub start: u64,
    pub end: u64,
    /// Arguments of the slice as text.
    pub args: String,
}

/// What a file has.
#[derive(Debug, Default)]
pub struct File {
    /// By start, as in the file.
    pub slices: Vec<Slice>,
    /// Thread, name, time.
    pub marks: Vec<(String, String, u64)>,
    /// By number: phase, thread, time of each step.
    pub flows: BTreeMap<u64, Vec<(char, String, u64)>>,
    /// By process and name with argument: from when on a level has which value.
    pub levels: BTreeMap<(String, String), Vec<(u64, u64)>>,
    /// Fields of the file beside the events.
    pub other: Value,
}

/// A time in ns. Perfetto multiplies by 1000 and cuts off what is not whole: that must be exact too.
fn ns(value: &Value) -> Result<u64, String> {
    let us = value.as_f64().ok_or_else(|| format!("{value} is no time"))?;
    let (cut, rounded) = ((us * 1000.0) as u64, (us * 1000.0).round() as u64);
    if cut == rounded && us >= 0.0 { Ok(rounded) } else { Err(format!("{value} is {cut} ns or {rounded} ns")) }
}

fn text<'a>(event: &'a Value, key: &str) -> Result<&'a str, String> {
    event[key].as_str().ok_or_else(|| format!("no {key}: {event}"))
}

fn number(event: &Value, key: &str) -> Result<u64, String> {
    event[key].as_u64().ok_or_else(|| format!("no {key}: {event}"))
}

impl File {
    /// Reads a file and checks it.
    pub fn read(text_of_file: &str) -> Result<Self, String> {
        let whole: Value = serde_json::from_str(text_of_file).map_err(|error| error.to_string())?;
        let events = whole["traceEvents"].as_array().ok_or("no events")?;
        let mut names: BTreeMap<(&str, u64, u64), String> = BTreeMap::new();
        let mut threads = BTreeMap::new();
        // By thread: the last slice that has begun there.
        let mut begun = BTreeMap::new();
        let mut file = File { other: whole["otherData"].clone(), ..File::default() };
        let mut last = 0;
        for event in events {
            let (phase, name) = (text(event, "ph")?, text(event, "name")?);
            let (pid, tid) = (number(event, "pid")?, number(event, "tid")?);
            if phase == "M" {
                let named = match name {
                    "process_name" => names.insert(("process", pid, 0), text(&event["args"], "name")?.to_string()),
                    "thread_name" => {
                        // Perfetto finds a thread to name by its number alone.
                        if threads.insert(tid, pid).is_some() || tid == pid {
                            return Err(format!("thread {tid} has no number of its own"));
                        }
                        names.insert(("thread", pid, tid), text(&event["args"], "name")?.to_string())
                    }
                    "process_sort_index" | "thread_sort_index" => number(&event["args"], "sort_index").map(|_| None)?,
                    other => return Err(format!("metadata {other}")),
                };
                if let Some(before) = named {
                    return Err(format!("{before} is named twice"));
                }
                continue;
            }
            let name_of = |what, pid, tid| names.get(&(what, pid, tid)).cloned().ok_or_else(|| format!("a {what} without a name: {event}"));
            let (process, thread) = (name_of("process", pid, 0)?, name_of("thread", pid, tid)?);
            let at = ns(&event["ts"])?;
            if at < last || pid == 0 || tid == 0 {
                return Err(format!("after {last} ns: {event}"));
            }
            last = at;
            if phase == "C" {
                let args = event["args"].as_object().filter(|args| args.len() == 1).ok_or_else(|| format!("not one value: {event}"))?;
                for (what, value) in args {
                    let value = value.as_u64().ok_or_else(|| format!("no level: {event}"))?;
                    file.levels.entry((process.clone(), format!("{name} {what}"))).or_default().push((at, value));
                }
                continue;
            }
            text(event, "cat")?;
            match phase {
                "X" => {
                    let slice = Slice {
                        process,
                        thread,
                        name: name.into(),
                        category: text(event, "cat")?.into(),
                        start: at,
                        end: at + ns(&event["dur"])?,
                        args: event["args"].to_string(),
                    };
                    begun.insert(tid, file.slices.len());
                    file.slices.push(slice);
                }
                "i" if text(event, "s")? == "t" => file.marks.push((thread, name.into(), at)),
                "s" | "t" | "f" => {
                    if phase == "f" && text(event, "bp")? != "e" {
                        return Err(format!("an arrow that does not end in its slice: {event}"));
                    }
                    // The viewer takes the last slice that has begun on the thread.
                    let under = begun.get(&tid).map(|&place: &usize| &file.slices[place]);
                    if under.is_none_or(|slice| slice.start > at || slice.end <= at) {
                        return Err(format!("an arrow in no slice: {event}"));
                    }
                    let letter = phase.chars().next().expect("one letter");
                    file.flows.entry(number(event, "id")?).or_default().push((letter, thread, at));
                }
                other => return Err(format!("phase {other}")),
            }
        }
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), String> {
        let mut ends: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for slice in &self.slices {
            let end = ends.entry((&slice.process, &slice.thread)).or_default();
            if slice.start < *end || slice.end <= slice.start {
                return Err(format!("overlaps what ends at {end} ns, or lasts no time: {slice:?}"));
            }
            *end = slice.end;
        }
        for (id, steps) in &self.flows {
            let letters: String = steps.iter().map(|step| step.0).collect();
            if letters != "sf" && letters != "stf" {
                return Err(format!("arrow {id} goes {letters}"));
            }
        }
        Ok(())
    }

    /// The time in which there is a slice on one of these threads of a process, ns.
    pub fn union_ns(&self, process: &str, threads: &[String]) -> u64 {
        let (mut busy, mut until) = (0, 0);
        for slice in self.slices.iter().filter(|slice| slice.process == process && threads.contains(&slice.thread)) {
            busy += slice.end.saturating_sub(slice.start.max(until));
            until = slice.end.max(until);
        }
        busy
    }

    /// The sum of the slices on a thread of a process, ns.
    pub fn sum_ns(&self, process: &str, thread: &str) -> u64 {
        let slices = self.slices.iter().filter(|slice| slice.process == process && slice.thread == thread);
        slices.map(|slice| slice.end - slice.start).sum()
    }

    /// The slices within a window, cut at its edges. What a part of the whole may not know of requests is left out: their lanes, and the
    /// response times of those that end later.
    pub fn within(&self, from: u64, to: u64) -> BTreeSet<Slice> {
        let cut = |slice: &Slice| Slice { start: slice.start.max(from), end: slice.end.min(to), ..slice.clone() };
        let cut = self.slices.iter().map(cut).filter(|slice| slice.end > slice.start);
        let known = |args: &str| args.split(",\"response_us\"").next().unwrap_or_default().trim_end_matches('}').to_string();
        let request = |slice: Slice| Slice { thread: "any".into(), args: known(&slice.args), ..slice };
        cut.map(|slice| if slice.process == "requests" { request(slice) } else { slice }).collect()
    }

    /// The levels within a window that are ever above 0 there: that at its beginning, and every other that follows.
    pub fn levels_within(&self, from: u64, to: u64) -> BTreeMap<(String, String), Vec<(u64, u64)>> {
        let mut within = BTreeMap::new();
        for (key, values) in &self.levels {
            let begun = values.partition_point(|&(at, _)| at <= from).checked_sub(1).map_or(0, |place| values[place].1);
            let later = values.iter().copied().filter(|&(at, _)| from < at && at < to);
            let values: Vec<_> = std::iter::once((from, begun)).chain(later).collect();
            if from < to && values.iter().any(|&(_, value)| value > 0) {
                within.insert(key.clone(), values);
            }
        }
        within
    }

    /// The sum of a level over time up to `to`.
    pub fn level_ns(&self, process: &str, name: &str, to: u64) -> u64 {
        let Some(values) = self.levels.get(&(process.to_string(), name.to_string())) else { return 0 };
        let ends = values.iter().skip(1).map(|&(at, _)| at).chain([to]);
        values.iter().zip(ends).map(|(&(at, value), end)| (end - at) * value).sum()
    }

    /// Start, end, name of the slices of a thread.
    pub fn on(&self, thread: &str) -> Vec<(u64, u64, &str)> {
        self.slices.iter().filter(|slice| slice.thread == thread).map(|slice| (slice.start, slice.end, slice.name.as_str())).collect()
    }
}
