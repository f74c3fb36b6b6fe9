//! Selects the requests of a trace by volume and position, puts them in order of time and sets their arrival times.

use std::collections::VecDeque;
use std::path::Path;

use super::plausible::Evidence;
use super::reading::Reading;
use super::source::{Entry, Row, Source};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::TimeOrder;
use ssdlab_keys::remark::Remark;

/// Which requests to take from a trace, and how to read it.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) reading: Reading,
    /// Take only requests of this volume, by the name that users write (see [`super::formats::Format::device_name`]); `None`: all.
    pub(crate) device: Option<String>,
    /// Number of unreadable lines to tolerate.
    pub(crate) bad_lines: u64,
    pub(crate) time_order: TimeOrder,
    /// Number of requests (of the chosen volume) to skip at the start.
    pub(crate) skip: u64,
    /// Take only the last N requests. 0: all.
    pub(crate) last: u64,
    /// Take only requests that arrive less than this after time 0, ns. 0: no limit.
    pub(crate) limit_ns: Ns,
    /// Cancel flag: reading ends once a stop is requested.
    pub(crate) caller: Caller,
}

/// Counters of a selection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Requests returned so far.
    pub(crate) taken: u64,
    pub(crate) bad_lines: u64,
    pub(crate) zero_size: u64,
    pub(crate) first_bad_line: Option<String>,
    pub(crate) other_devices: u64,
    pub(crate) skipped: u64,
    /// Requests that arrived before the previous one and were delayed to its time, requests skipped afterwards included.
    pub(crate) clamped: u64,
}

/// The chosen requests of a trace. Times count from the first request taken, unless the trace or [`Selection::count_from`] sets another
/// origin.
pub(crate) struct Selection {
    source: Source,
    choice: Choice,
    /// By volume number: whether its requests are taken. Grows as volumes appear.
    is_chosen: Vec<bool>,
    /// Requests still to be returned, if the trace had to be read to its end first (to sort it, or to take its last requests).
    loaded: Option<std::collections::vec_deque::IntoIter<Entry>>,
    skipped_first: u64,
    /// First request taken, once read and until it is returned.
    head: Option<Entry>,
    /// Trace time of the previous request, ns; with [`TimeOrder::Clamp`] no request arrives earlier.
    latest_ns: Ns,
    /// Trace time that counts as time 0, ns; `None` until it is known.
    origin_ns: Option<Ns>,
    last_ns: Ns,
    at_end: bool,
    /// The time limit cut off a request.
    is_limited: bool,
    seen: Seen,
    /// Evidence for the plausibility of the requests taken.
    evidence: Evidence,
}

impl Selection {
    /// Opens the trace. With [`TimeOrder::Sort`] or `last` it is read to its end before the first request is returned.
    pub(crate) fn open(path: &Path, choice: Choice) -> Result<Self> {
        let source = Source::open(path, &choice.reading, &choice.caller)?;
        if let Some(device) = &choice.device
            && !source.format().names_devices
        {
            let (path, name) = (path.display(), source.format().name);
            return Err(Error::Usage(format!("{path}: volume {device}: the format {name} has no volumes; leave out workload.device")));
        }
        // The log of a run has that run's own time 0; a part of a log begins with its first request, like a part of any trace.
        let is_whole = choice.skip == 0 && choice.last == 0;
        let origin_ns = (source.counts_from_start_of_run() && is_whole).then_some(0);
        Ok(Selection {
            source,
            choice,
            is_chosen: Vec::new(),
            loaded: None,
            skipped_first: 0,
            head: None,
            latest_ns: 0,
            origin_ns,
            last_ns: 0,
            at_end: false,
            is_limited: false,
            seen: Seen::default(),
            evidence: Evidence::default(),
        })
    }

    /// Trace time that counts as time 0, ns: that of the first request taken, or 0 in the log of a run. Reads up to that request.
    ///
    /// # Errors
    /// As [`Selection::next_entry`].
    pub(crate) fn origin_ns(&mut self) -> Result<Ns> {
        if let Some(origin_ns) = self.origin_ns {
            return Ok(origin_ns);
        }
        if self.head.is_none() {
            self.head = self.after_skipped()?;
        }
        let origin_ns = self.head.as_ref().map(|first| first.time_ns).ok_or_else(|| self.nothing_taken())?;
        Ok(*self.origin_ns.insert(origin_ns))
    }

    /// Sets the trace time that counts as time 0, ns; not after the first request taken.
    pub(crate) fn count_from(&mut self, origin_ns: Ns) {
        self.origin_ns = Some(origin_ns);
    }

    /// Time of the last request returned, ns after time 0.
    pub(crate) fn last_ns(&self) -> Ns {
        self.last_ns
    }

    /// End of the part taken, ns after time 0, if the time limit cut off a request; otherwise `None`.
    pub(crate) fn limited_to_ns(&self) -> Option<Ns> {
        self.is_limited.then_some(self.choice.limit_ns)
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Remarks for the user on the requests taken so far. `timed`: their times matter (open loop).
    pub(crate) fn remarks(&self, timed: bool) -> Vec<Remark> {
        let all_volumes = self.choice.device.is_none();
        let devices = if all_volumes && self.seen.skipped == 0 { self.source.devices.len() } else { 1 };
        let of_file = self.source.remarks(all_volumes).into_iter().filter(|remark| timed || remark.code != "fio-waits");
        of_file.chain(self.evidence.remarks(devices, timed)).collect()
    }

    /// The next request, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Trace`] for one unreadable line too many, for a time that goes back under [`TimeOrder::Error`], and for a trace of which
    /// no request at all is taken.
    #[inline]
    pub(crate) fn next_entry(&mut self) -> Result<Option<Entry>> {
        if !self.at_end {
            let entry = if self.head.is_some() { self.head.take() } else { self.after_skipped()? };
            if let Some(entry) = entry {
                let entry = self.timed(entry)?;
                if self.choice.limit_ns == 0 || entry.time_ns < self.choice.limit_ns {
                    self.last_ns = entry.time_ns;
                    self.seen.taken += 1;
                    self.evidence.add(&entry);
                    return Ok(Some(entry));
                }
                self.is_limited = true;
            }
            self.at_end = true;
        }
        if self.seen.taken == 0 { Err(self.nothing_taken()) } else { Ok(None) }
    }

    /// The next request after those that are skipped at the start.
    #[inline]
    fn after_skipped(&mut self) -> Result<Option<Entry>> {
        loop {
            let entry = self.in_order()?;
            if entry.is_none() || self.skipped_first >= self.choice.skip {
                return Ok(entry);
            }
            self.skipped_first += 1;
            self.seen.skipped += 1;
        }
    }

    /// The next request of the chosen volume, after clamping or sorting by time and the limit to the last requests, as configured.
    #[inline]
    fn in_order(&mut self) -> Result<Option<Entry>> {
        if self.choice.time_order != TimeOrder::Sort && self.choice.last == 0 {
            return self.clamped();
        }
        if self.loaded.is_none() {
            self.loaded = Some(self.load()?.into_iter());
        }
        Ok(self.loaded.as_mut().and_then(Iterator::next))
    }

    /// Reads the trace to its end. Without sorting, only the last N requests are kept in memory meanwhile.
    fn load(&mut self) -> Result<VecDeque<Entry>> {
        let sort = self.choice.time_order == TimeOrder::Sort;
        let keep = if self.choice.last == 0 { usize::MAX } else { usize::try_from(self.choice.last).unwrap_or(usize::MAX) };
        let mut all = VecDeque::new();
        while let Some(entry) = self.clamped()? {
            all.push_back(entry);
            if !sort && all.len() > keep {
                self.leave_out(&mut all);
            }
        }
        if sort {
            all.make_contiguous().sort_by_key(|entry| entry.time_ns);
        }
        while all.len() > keep {
            self.leave_out(&mut all);
        }
        Ok(all)
    }

    fn leave_out(&mut self, all: &mut VecDeque<Entry>) {
        all.pop_front();
        self.seen.skipped += 1;
    }

    /// The next request of the chosen volume. With [`TimeOrder::Clamp`], its time is at least that of the previous request, taken or not.
    #[inline]
    fn clamped(&mut self) -> Result<Option<Entry>> {
        let Some(mut entry) = self.of_device()? else { return Ok(None) };
        if self.choice.time_order == TimeOrder::Clamp && entry.time_ns < self.latest_ns {
            self.seen.clamped += 1;
            entry.time_ns = self.latest_ns;
        }
        self.latest_ns = entry.time_ns;
        Ok(Some(entry))
    }

    #[inline]
    fn of_device(&mut self) -> Result<Option<Entry>> {
        loop {
            match self.source.next_row()? {
                None => return Ok(None),
                Some(Row::Request(entry)) if self.is_chosen(entry.device) => return Ok(Some(entry)),
                Some(Row::Request(_)) => self.seen.other_devices += 1,
                Some(Row::Bad { line, bad }) => self.tolerate(line, &bad)?,
            }
        }
    }

    #[inline]
    fn is_chosen(&mut self, device: u32) -> bool {
        let Some(wanted) = &self.choice.device else { return true };
        while self.is_chosen.len() <= device as usize {
            let name = self.source.device_name(self.is_chosen.len() as u32);
            self.is_chosen.push(name == *wanted);
        }
        self.is_chosen[device as usize]
    }

    #[cold]
    fn tolerate(&mut self, line: u64, bad: &super::formats::Bad) -> Result<()> {
        self.seen.bad_lines += 1;
        self.seen.zero_size += u64::from(bad.zero_size);
        let message = self.source.bad_message(line, bad);
        if self.seen.bad_lines > self.choice.bad_lines {
            let tolerated = self.choice.bad_lines;
            let already = if tolerated == 0 { String::new() } else { format!(" ({tolerated} unreadable lines before it were tolerated)") };
            let remedy = "--skip-bad-lines N (workload.bad_lines) leaves out up to N such lines";
            return Err(Error::Trace(format!("{message}{already}; {remedy}")));
        }
        self.seen.first_bad_line.get_or_insert(message);
        Ok(())
    }

    /// The request with its time counted from time 0; an error if it is earlier than the request taken before it.
    #[inline]
    fn timed(&mut self, mut entry: Entry) -> Result<Entry> {
        let origin_ns = *self.origin_ns.get_or_insert(entry.time_ns);
        let floor_ns = origin_ns + self.last_ns;
        if entry.time_ns < floor_ns {
            return Err(self.time_goes_back(&entry, floor_ns - entry.time_ns));
        }
        entry.time_ns -= origin_ns;
        Ok(entry)
    }

    #[cold]
    fn time_goes_back(&self, entry: &Entry, by_ns: Ns) -> Error {
        let (path, line) = (self.source.path().display(), entry.line);
        let what = "expected a time no earlier than that of the request before, found one";
        let remedy = "workload.time_order = \"sort\" sorts the trace, \"clamp\" lets such requests arrive with the one before";
        Error::Trace(format!("{path}:{line}: {what} {by_ns} ns earlier; {remedy}"))
    }

    #[cold]
    fn nothing_taken(&self) -> Error {
        let path = self.source.path().display();
        let found = if self.seen.skipped > 0 {
            format!("all {} requests are skipped (workload.skip = {})", self.seen.skipped, self.choice.skip)
        } else if self.is_limited {
            let limit_s = self.choice.limit_ns as f64 / 1e9;
            let of = self.choice.device.as_ref().map_or(String::new(), |device| format!(" of the volume {device}"));
            format!("no request{of} arrives within {limit_s} s (workload.limit_s) after time 0, which flows that read this file share")
        } else if let Some(device) = self.choice.device.as_ref().filter(|_| self.seen.other_devices > 0) {
            const SHOWN: usize = 20;
            let names: Vec<String> = (0..self.source.devices.len().min(SHOWN)).map(|d| self.source.device_name(d as u32)).collect();
            let more = if self.source.devices.len() > SHOWN { ", ..." } else { "" };
            format!("no request is of the volume {device}; the trace has: {}{more}", names.join(", "))
        } else {
            self.source.without_requests(self.seen.bad_lines)
        };
        Error::Trace(format!("{path}: {found}"))
    }
}
