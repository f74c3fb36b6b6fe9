//! The requests of a trace file of any format, in the order of the file.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::formats::{self, Bad, Format, LineParser, Parsed, parquet};
use super::input::{Compression, Consumed, Lines};
use crate::caller::Caller;
use crate::config::TraceFormat;
use crate::error::{Error, Result};
use crate::inputs;
use crate::request::RequestKind;
use crate::units::Ns;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) time_ns: Ns,
    pub(crate) kind: RequestKind,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Index into [`Devices`].
    pub(crate) device: u32,
    /// Line (or row) number, from 1.
    pub(crate) line: u64,
}

/// A line or row that is not blank.
pub(crate) enum Row {
    Request(Entry),
    Bad { line: u64, bad: Bad },
}

/// The volumes so far, numbered in order of appearance.
#[derive(Default)]
pub(crate) struct Devices {
    numbers: BTreeMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
    last: u32,
}

impl Devices {
    #[inline]
    fn number(&mut self, name: &[u8]) -> u32 {
        // Most traces stay with a device for a while.
        if self.names.get(self.last as usize).is_some_and(|last| **last == *name) {
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
    unit_bytes: Option<u64>,
    compression: Compression,
    rows: Rows,
    pub(crate) devices: Devices,
}

impl Source {
    /// Opens a trace and settles its format, by `format` if given, else by content and name. Reading ends once `caller` requests a stop.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Usage`] where the format must be given or `unit_bytes` does not apply to it, and [`Error::Trace`] where
    /// the file is empty or of no known format.
    pub(crate) fn open(path: &Path, format: Option<TraceFormat>, unit_bytes: Option<u64>, caller: &Caller) -> Result<Self> {
        let is_columnar = format == Some(TraceFormat::Parquet) || (format.is_none() && is_parquet(path)?);
        if is_columnar {
            let format = Format::of(TraceFormat::Parquet);
            refuse_useless_units(path, format, unit_bytes)?;
            let rows = Rows::Columns(Box::new(parquet::Rows::open(path, caller)?));
            let compression = Compression::None;
            return Ok(Source { path: path.to_path_buf(), format, unit_bytes: None, compression, rows, devices: Devices::default() });
        }
        let mut lines = Lines::open(path, caller)?;
        let compression = lines.compression();
        let (sample, is_all) = lines.sample()?;
        let recognised = match format {
            Some(_) if sample.is_empty() => return Err(Error::Trace(format!("{}: the file is empty", path.display()))),
            Some(id) => given(path, id),
            None => formats::recognise(path, sample, is_all)?,
        };
        let format = recognised.format;
        refuse_useless_units(path, format, unit_bytes)?;
        let unit_bytes = unit_bytes.or(recognised.unit_bytes);
        let rows = match format.parser(unit_bytes) {
            Some(parser) => Rows::Lines { lines, parser },
            None => {
                let none = || Error::Trace(format!("{}: expected records of the format {}", path.display(), format.name));
                let layout = format.records(lines.sample()?.0).ok_or_else(none)?;
                Rows::Records { records: lines, bytes: layout.bytes, parser: layout.parser }
            }
        };
        Ok(Source { path: path.to_path_buf(), format, unit_bytes, compression, rows, devices: Devices::default() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn format(&self) -> &'static Format {
        self.format
    }

    /// The bytes of a unit, where the format lets them be chosen.
    pub(crate) fn unit_bytes(&self) -> Option<u64> {
        self.format.counts_units.then(|| self.unit_bytes.unwrap_or(512))
    }

    /// Times count from the start of a run: the file is the log of one.
    pub(crate) fn counts_from_start_of_run(&self) -> bool {
        matches!(&self.rows, Rows::Columns(rows) if rows.is_log())
    }

    /// The trace has no header although its format allows one.
    pub(crate) fn without_header(&self) -> bool {
        matches!(&self.rows, Rows::Lines { parser, .. } if parser.assumes_columns())
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    pub(crate) fn device_name(&self, number: u32) -> String {
        self.format.device_name(self.devices.raw(number))
    }

    /// The share of the file consumed so far, where its length is known.
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
            Some(Row::Request(Entry { time_ns: r.time_ns, kind: r.kind, offset: r.offset, length: r.length, device, line }))
        }
        Err(bad) => Some(Row::Bad { line, bad }),
    }
}

/// A format that the caller named; the file name may still tell the unit.
fn given(path: &Path, id: TraceFormat) -> formats::Recognised {
    let named = formats::by_name(path).into_iter().find(|named| named.format.id == id);
    named.unwrap_or(formats::Recognised { format: Format::of(id), unit_bytes: None })
}

fn refuse_useless_units(path: &Path, format: &Format, unit_bytes: Option<u64>) -> Result<()> {
    if unit_bytes.is_none() || format.counts_units {
        return Ok(());
    }
    let (path, name) = (path.display(), format.name);
    Err(Error::Usage(format!(
        "{path}: unit_bytes is given, but the format {name} fixes its units; unit_bytes is for disksim, ssdsim and mqsim"
    )))
}

/// Parquet needs random access, so a pipe that has no copy is never Parquet; and it is not opened here, since it can be read only once.
fn is_parquet(path: &Path) -> Result<bool> {
    let failed = |e| Error::io("read", path, e);
    if !inputs::is_repeatable(path).map_err(failed)? {
        return Ok(false);
    }
    let mut head = Vec::new();
    inputs::open(path).map_err(failed)?.take(parquet::MAGIC.len() as u64).read_to_end(&mut head).map_err(failed)?;
    Ok(head == parquet::MAGIC)
}
