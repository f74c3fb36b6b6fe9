//! The requests of a trace file of any format, in the order of the file.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::formats::{self, Bad, Format, LineParser, Parsed, parquet};
use super::input::{Compression, Consumed, Lines};
use super::reading::{Reading, SkippedLines, Units};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::inputs;
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{TraceEvent, TraceFormat};
use ssdlab_keys::remark::Remark;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) time_ns: Ns,
    pub(crate) kind: RequestKind,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Number of the volume: an index into [`Devices`].
    pub(crate) device: u32,
    /// Placement handle, if the trace names one.
    pub(crate) handle: Option<u8>,
    /// Line (or row) number, from 1.
    pub(crate) line: u64,
}

/// A non-blank line or row of a trace.
pub(crate) enum Row {
    Request(Entry),
    Bad { line: u64, bad: Bad },
}

/// Volumes seen so far, numbered in order of appearance.
#[derive(Default)]
pub(crate) struct Devices {
    numbers: BTreeMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
    last: u32,
}

impl Devices {
    #[inline]
    fn number(&mut self, name: &[u8]) -> u32 {
        // Requests in a row are often of one volume. Names of length 0 are compared by length alone: memcmp with a dangling address takes
        // 100 ns on processors with AVX-512.
        let is_last = |last: &[u8]| last.len() == name.len() && (name.is_empty() || last == name);
        if self.names.get(self.last as usize).is_some_and(|last| is_last(last)) {
            return self.last;
        }
        self.last = match self.numbers.get(name) {
            Some(&number) => number,
            None => self.add(name),
        };
        self.last
    }

    #[cold]
    fn add(&mut self, name: &[u8]) -> u32 {
        let number = u32::try_from(self.names.len()).expect("a trace names fewer than 2^32 devices");
        self.numbers.insert(name.into(), number);
        self.names.push(name.into());
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name.as_bytes())
    }

    pub(crate) fn raw(&self, number: u32) -> &[u8] {
        &self.names[number as usize]
    }
}

enum Rows {
    Lines { lines: Lines, parser: Box<dyn LineParser> },
    Records { records: Lines, bytes: usize, parser: Box<dyn LineParser> },
    Columns(Box<parquet::Rows>),
}

/// An open trace.
pub(crate) struct Source {
    path: PathBuf,
    format: &'static Format,
    /// The reading that the caller stated, with the unit and event that were determined from the file.
    reading: Reading,
    /// The file states its units in a header, which the caller cannot override.
    stated: bool,
    /// It has a header, which states at least the units of address and size.
    names_columns: bool,
    compression: Compression,
    rows: Rows,
    pub(crate) devices: Devices,
}

impl Source {
    /// Opens a trace and determines its format: from `reading` if stated there, else by content and name. Reading ends once `caller`
    /// requests a stop.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Usage`] where the format must be given or a part of `reading` does not apply to it, and [`Error::Trace`]
    /// where the file is empty or of no known format.
    pub(crate) fn open(path: &Path, reading: &Reading, caller: &Caller) -> Result<Self> {
        if reading.unit_bytes == Some(0) {
            return Err(Error::Usage("unit_bytes = 0: expected at least 1".into()));
        }
        let is_columnar = reading.format == Some(TraceFormat::Parquet) || (reading.format.is_none() && is_parquet(path)?);
        if is_columnar {
            let format = Format::of(TraceFormat::Parquet);
            reading.check(path, format, false, false)?;
            let rows = Rows::Columns(Box::new(parquet::Rows::open(path, caller)?));
            return Ok(Source::new(path, format, reading.clone(), (false, false), Compression::None, rows));
        }
        let mut lines = Lines::open(path, caller)?;
        let compression = lines.compression();
        let (sample, is_all) = lines.sample()?;
        let recognised = match reading.format {
            Some(_) if sample.is_empty() => return Err(Error::Trace(format!("{}: the file is empty", path.display()))),
            Some(id) => given(path, id),
            None => formats::recognise(path, sample, is_all)?,
        };
        let format = recognised.format;
        let first_lines = formats::sample_lines(sample, is_all);
        let stated = matches!(format.id, TraceFormat::Csv | TraceFormat::VscsiText) && format.states_units(&first_lines);
        let names_columns = format.id == TraceFormat::Csv && first_lines.first().is_some_and(|first| formats::csv::is_header(first));
        reading.check(path, format, stated, names_columns)?;
        let event = format.chosen_event(reading.event, &first_lines);
        let reading = Reading { unit_bytes: reading.unit_bytes.or(recognised.unit_bytes), event, ..reading.clone() };
        let rows = match format.parser(&reading) {
            Some(parser) => Rows::Lines { lines, parser },
            None => {
                let none = || Error::Trace(format!("{}: expected records of the format {}", path.display(), format.name));
                let layout = format.records(lines.sample()?.0).ok_or_else(none)?;
                Rows::Records { records: lines, bytes: layout.bytes, parser: layout.parser }
            }
        };
        Ok(Source::new(path, format, reading, (stated, names_columns), compression, rows))
    }

    fn new(
        path: &Path,
        format: &'static Format,
        reading: Reading,
        (stated, names_columns): (bool, bool),
        compression: Compression,
        rows: Rows,
    ) -> Self {
        Source { path: path.to_path_buf(), format, reading, stated, names_columns, compression, rows, devices: Devices::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn format(&self) -> &'static Format {
        self.format
    }

    /// Bytes per unit of address and size; `None` if the format or the file fixes it.
    pub(crate) fn unit_bytes(&self) -> Option<u64> {
        (self.format.counts_units() && !self.stated && !self.names_columns)
            .then(|| self.reading.unit_bytes.unwrap_or(self.format.default_unit_bytes()))
    }

    /// Units in which the columns are read.
    pub(crate) fn units(&self) -> Units {
        let mut units = self.format.units(&self.reading, self.stated);
        match &self.rows {
            Rows::Lines { parser, .. } | Rows::Records { parser, .. } => parser.state_units(&mut units),
            Rows::Columns(rows) => rows.state_units(&mut units),
        }
        units
    }

    fn parser(&self) -> Option<&dyn LineParser> {
        match &self.rows {
            Rows::Lines { parser, .. } | Rows::Records { parser, .. } => Some(&**parser),
            Rows::Columns(_) => None,
        }
    }

    /// Whether the file is the request log of a run, whose times count from the start of that run.
    pub(crate) fn counts_from_start_of_run(&self) -> bool {
        matches!(&self.rows, Rows::Columns(rows) if rows.is_log())
    }

    /// Whether the trace has no header although its format allows one.
    pub(crate) fn without_header(&self) -> bool {
        self.parser().is_some_and(LineParser::assumes_columns)
    }

    /// Valid lines so far that hold no request, counted by kind.
    pub(crate) fn skipped_lines(&self) -> Vec<SkippedLines> {
        let skipped = self.parser().map(LineParser::skipped).unwrap_or_default();
        skipped.into_iter().map(|(what, lines)| SkippedLines { what, lines }).collect()
    }

    /// Remarks for the user on the file. `all_volumes`: no single volume is chosen.
    pub(crate) fn remarks(&self, all_volumes: bool) -> Vec<Remark> {
        let mut remarks = self.parser().map(LineParser::remarks).unwrap_or_default();
        if all_volumes {
            remarks.extend(self.stacked());
        }
        remarks
    }

    /// The remark on stacked devices, if there are any: the trace has each request of the upper device again for the lower one.
    fn stacked(&self) -> Option<Remark> {
        let pairs = self.parser()?.handed_on();
        let mut uppers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (upper, lower) in pairs.into_iter().filter(|(upper, lower)| self.devices.has(upper) && self.devices.has(lower)) {
            uppers.entry(upper).or_default().push(lower);
        }
        // 9 is the major number of software RAID (Documentation/admin-guide/devices.txt).
        let is_raid = |name: &String| name.starts_with("9,");
        let names = || (0..self.devices.len()).map(|number| self.device_name(number as u32));
        let is_kernel = matches!(self.format.id, TraceFormat::Blkparse | TraceFormat::Ftrace);
        if uppers.is_empty() && is_kernel && names().any(|name| is_raid(&name)) {
            let disks: Vec<String> = names().filter(|name| !is_raid(name)).collect();
            uppers.extend(names().filter(|name| is_raid(name) && !disks.is_empty()).map(|raid| (raid, disks.clone())));
        }
        let list: Vec<String> = uppers.iter().map(|(upper, lowers)| format!("{upper} over {}", lowers.join(" and "))).collect();
        (!list.is_empty()).then(|| {
            let sentence =
                format!("Stacked devices ({}): each request of the upper one is in the trace again, for the lower one.", list.join("; "));
            Remark::warning("stacked-devices", "workload.trace.devices", sentence, "--volume NAME (workload.device) takes one of them.")
        })
    }

    /// Message for a trace without requests: its lines by kind (`3 lines of action C (completed)`) and its unreadable lines.
    pub(crate) fn without_requests(&self, bad_lines: u64) -> String {
        let skipped = self.skipped_lines().into_iter().map(|SkippedLines { what, lines }| format!("{lines} lines of {what}"));
        let unreadable = format!("{bad_lines} unreadable lines");
        let held: Vec<String> = skipped.chain(Some(unreadable)).collect();
        let event = match (self.reading.event, self.skipped_lines().is_empty()) {
            (Some(TraceEvent::Queue), false) => "; requests are queue events (--event queue)",
            (Some(TraceEvent::Issue), false) => "; requests are issue events (--event issue)",
            _ => "",
        };
        format!("the trace holds no requests ({}){event}", held.join(", "))
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    pub(crate) fn device_name(&self, number: u32) -> String {
        self.format.device_name(self.devices.raw(number))
    }

    /// Share of the file consumed so far, 0..=1; `None` if its length is unknown.
    pub(crate) fn progress(&self) -> Option<f64> {
        match &self.rows {
            Rows::Lines { lines, .. } | Rows::Records { records: lines, .. } => Consumed::share(lines.consumed()),
            Rows::Columns(rows) => rows.share(),
        }
    }

    /// The next request or unreadable line, or `None` at the end.
    #[inline]
    pub(crate) fn next_row(&mut self) -> Result<Option<Row>> {
        match &mut self.rows {
            Rows::Lines { lines, parser } => loop {
                let Some(line) = lines.next_line()? else { return Ok(None) };
                let parsed = match line.text {
                    Some(text) if text.is_empty() || (text[0] <= b' ' && text.trim_ascii().is_empty()) => continue,
                    Some(text) => parser.parse(text),
                    None => Err(Bad::new("a line of at most 64 KiB", b"a longer one")),
                };
                if let Some(row) = row(&mut self.devices, line.number, parsed) {
                    return Ok(Some(row));
                }
            },
            Rows::Records { records, bytes, parser } => loop {
                let Some(record) = records.next_record(*bytes)? else { return Ok(None) };
                let parsed = parser.parse(record.text.unwrap_or_default());
                if let Some(row) = row(&mut self.devices, record.number, parsed) {
                    return Ok(Some(row));
                }
            },
            Rows::Columns(rows) => loop {
                let Some((number, parsed)) = rows.next_row()? else { return Ok(None) };
                if let Some(row) = row(&mut self.devices, number, parsed) {
                    return Ok(Some(row));
                }
            },
        }
    }

    /// The message for an unreadable line.
    pub(crate) fn bad_message(&self, line: u64, bad: &Bad) -> String {
        format!("{}:{line}: {bad}", self.path.display())
    }
}

#[inline]
fn row(devices: &mut Devices, line: u64, parsed: Parsed<'_>) -> Option<Row> {
    match parsed {
        Ok(None) => None,
        Ok(Some(r)) => {
            let device = devices.number(r.device);
            Some(Row::Request(Entry {
                time_ns: r.time_ns,
                kind: r.kind,
                offset: r.offset,
                length: r.length,
                device,
                handle: r.handle,
                line,
            }))
        }
        Err(bad) => Some(Row::Bad { line, bad }),
    }
}

/// The format that the caller stated, with the unit that the file name gives, if any.
fn given(path: &Path, id: TraceFormat) -> formats::Recognised {
    let named = formats::by_name(path).into_iter().find(|named| named.format.id == id);
    named.unwrap_or(formats::Recognised { format: Format::of(id), unit_bytes: None })
}

/// Whether a file is Parquet. Never so for a pipe without a copy: Parquet needs random access, and a pipe can be read only once.
fn is_parquet(path: &Path) -> Result<bool> {
    let failed = |e| Error::io("read", path, e);
    if !inputs::is_repeatable(path).map_err(failed)? {
        return Ok(false);
    }
    let mut head = Vec::new();
    inputs::open(path).map_err(failed)?.take(parquet::MAGIC.len() as u64).read_to_end(&mut head).map_err(failed)?;
    Ok(head == parquet::MAGIC)
}
