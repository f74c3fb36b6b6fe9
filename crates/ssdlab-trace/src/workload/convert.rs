//! Converts traces to CSV and Parquet, and reads prefill files (the byte ranges that hold data when a trace begins).

use std::io::{BufWriter, Write};
use std::path::Path;

use parquet::data_type::ByteArray;
use serde::Serialize;

use super::formats::parquet::{COLUMNS, HANDLE};
use super::formats::{csv, integer};
use super::info::{KindCounts, check_time};
use super::input::Lines;
use super::reading::{Reading, SkippedLines, Units};
use super::select::{Choice, Selection};
use super::source::{Entry, Row, Source};
use super::trace::{limit_ns, scale_millionths, scaled};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::files::WholeFile;
use ssdlab_base::inputs;
use ssdlab_base::request::RequestKind;
use ssdlab_base::table::{Holds, ROWS_AT_ONCE, Table, Values};
use ssdlab_keys::config::{TimeOrder, TraceFormat};
use ssdlab_keys::remark::Remark;

/// Requests between two checks for a stop request.
const REQUESTS_PER_LOOK: u64 = 64 * 1024;

/// Options of a conversion: how the input is read and which part is converted. Default: all of it; unreadable lines and times that go back
/// are errors.
#[derive(Clone, Debug)]
pub struct ConvertOptions {
    /// Format, units and event of the input, where its file leaves them open.
    pub reading: Reading,
    /// Convert only requests of this device. `None`: all, with a column `device` if the trace has several devices.
    pub device: Option<String>,
    /// Number of unreadable lines to skip; one more is an error.
    pub bad_lines: u64,
    /// Treatment of times that go back.
    pub time_order: TimeOrder,
    /// Number of requests to skip at the start.
    pub skip: u64,
    /// Convert only requests less than this many seconds of trace time after the first request taken. 0: no limit.
    pub limit_s: f64,
    /// Divisor of the times, which count from the first request taken; results are rounded down to ns.
    pub time_scale: f64,
    /// Maximum number of requests to convert. `None`: no limit.
    pub requests: Option<u64>,
    /// Cancel flag: the conversion ends with [`Error::Interrupted`] once a stop is requested.
    pub caller: Caller,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        ConvertOptions {
            reading: Reading::default(),
            device: None,
            bad_lines: 0,
            time_order: TimeOrder::Error,
            skip: 0,
            limit_s: 0.0,
            time_scale: 1.0,
            requests: None,
            caller: Caller::default(),
        }
    }
}

/// Result of a conversion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConvertSummary {
    /// Format of the input.
    pub format: TraceFormat,
    /// Units in which the columns of the input were read.
    pub units: Units,
    /// Requests written, by kind.
    pub requests: KindCounts,
    /// Unreadable lines that were skipped.
    pub bad_lines: u64,
    /// Requests of other devices that were skipped.
    pub other_devices: u64,
    /// Requests that were moved forward to the time of the previous request.
    pub clamped: u64,
    /// Size of the output file, bytes.
    pub bytes: u64,
    /// Lines of the input that hold no request, counted by kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped_lines: Vec<SkippedLines>,
    /// Remarks for the user on the input, such as implausible times or sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// Converts the trace `from` to the file `to`. The ending of `to` gives the format: `.csv` (also `.csv.gz`, `.csv.bz2`, `.csv.zst`) or
/// `.parquet`. Times count from the first request taken. The file is written whole or not at all, and replaces an existing one.
///
/// # Errors
/// [`Error::Usage`] for another ending of `to` or a limit or scale out of range; [`Error::Io`]; [`Error::Trace`] for input that cannot be
/// read.
pub fn convert(from: &Path, to: &Path, options: &ConvertOptions) -> Result<ConvertSummary> {
    let kind = OutputKind::of(to)?;
    check_time(options.limit_s, options.time_scale)?;
    let scale = scale_millionths(options.time_scale)?;
    let mut selection = Selection::open(from, choice(options)?)?;
    let extra = extra_columns(from, options, &selection)?;
    let mut file = WholeFile::create(to)?;
    let failed = |e| Error::io("write", to, e);
    let mut output = Output::new(kind, &mut file, extra).map_err(failed)?;
    let mut requests = KindCounts::default();
    while options.requests.is_none_or(|limit| requests.total() < limit) {
        let Some(entry) = selection.next_entry()? else { break };
        let entry = Entry { time_ns: scaled(entry.time_ns, scale), ..entry };
        let device = if extra.device { selection.source().device_name(entry.device) } else { String::new() };
        output.write(&entry, &device).map_err(failed)?;
        requests.add(entry.kind);
        // A sorted trace is in memory: its reader, which checks for a stop request, is not called any more.
        if requests.total() % REQUESTS_PER_LOOK == 0 {
            options.caller.check()?;
        }
    }
    output.finish().map_err(failed)?;
    file.commit()?;
    let bytes = std::fs::metadata(to).map_err(|e| Error::io("read", to, e))?.len();
    let seen = selection.seen();
    Ok(ConvertSummary {
        format: selection.source().format().id,
        units: selection.source().units(),
        requests,
        bad_lines: seen.bad_lines,
        other_devices: seen.other_devices,
        clamped: seen.clamped,
        bytes,
        skipped_lines: selection.source().skipped_lines(),
        remarks: selection.remarks(true),
    })
}

fn choice(options: &ConvertOptions) -> Result<Choice> {
    Ok(Choice {
        reading: options.reading.clone(),
        device: options.device.clone(),
        bad_lines: options.bad_lines,
        time_order: options.time_order,
        skip: options.skip,
        last: 0,
        limit_ns: limit_ns(options.limit_s),
        caller: options.caller.clone(),
    })
}

/// Columns that a trace has only if it needs them.
#[derive(Clone, Copy)]
struct Extra {
    device: bool,
    handle: bool,
}

/// Which further columns the output has. Columns are fixed before the first row, so the trace is read once more to see its devices and
/// handles. A pipe can be read only once: it gets the columns that its format may have.
fn extra_columns(from: &Path, options: &ConvertOptions, selection: &Selection) -> Result<Extra> {
    let format = selection.source().format();
    let names_handles = matches!(format.id, TraceFormat::Csv | TraceFormat::Parquet);
    let possible = Extra { device: options.device.is_none() && format.names_devices, handle: names_handles };
    if !inputs::is_repeatable(from).map_err(|e| Error::io("read", from, e))? {
        return Ok(possible);
    }
    let mut found = Extra { device: false, handle: false };
    let mut source = Source::open(from, &options.reading, &options.caller)?;
    while (possible.device && !found.device || possible.handle && !found.handle)
        && let Some(row) = source.next_row()?
    {
        found.device |= possible.device && source.devices.len() > 1;
        found.handle |= matches!(row, Row::Request(Entry { handle: Some(_), .. }));
    }
    Ok(found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputKind {
    Csv,
    CsvGzip,
    CsvBzip2,
    CsvZstd,
    Parquet,
}

impl OutputKind {
    fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let known = [
            (".csv", OutputKind::Csv),
            (".csv.gz", OutputKind::CsvGzip),
            (".csv.bz2", OutputKind::CsvBzip2),
            (".csv.zst", OutputKind::CsvZstd),
            (".parquet", OutputKind::Parquet),
        ];
        let found = known.iter().find(|(ending, _)| name.ends_with(ending));
        let message = || format!("{}: expected a name that ends in .csv, .csv.gz, .csv.bz2, .csv.zst or .parquet", path.display());
        found.map(|&(_, kind)| kind).ok_or_else(|| Error::Usage(message()))
    }
}

/// The output file of a conversion.
enum Output<'a> {
    Csv { out: CsvOut<'a>, extra: Extra, line: Vec<u8> },
    Parquet(Box<ParquetOut<'a>>),
}

enum CsvOut<'a> {
    Plain(BufWriter<&'a mut WholeFile>),
    Gzip(flate2::write::GzEncoder<BufWriter<&'a mut WholeFile>>),
    Bzip2(bzip2::write::BzEncoder<BufWriter<&'a mut WholeFile>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<&'a mut WholeFile>>),
}

impl<'a> Output<'a> {
    fn new(kind: OutputKind, file: &'a mut WholeFile, extra: Extra) -> std::io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 17, file);
        let mut out = match kind {
            OutputKind::Parquet => return Ok(Output::Parquet(Box::new(ParquetOut::new(file, extra)?))),
            OutputKind::Csv => CsvOut::Plain(file),
            OutputKind::CsvGzip => CsvOut::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            OutputKind::CsvBzip2 => CsvOut::Bzip2(bzip2::write::BzEncoder::new(file, bzip2::Compression::default())),
            OutputKind::CsvZstd => CsvOut::Zstd(zstd::stream::write::Encoder::new(file, 9)?),
        };
        let device = if extra.device { ",device" } else { "" };
        let handle = if extra.handle { ",handle" } else { "" };
        out.write_all(format!("{}{device}{handle}\n", csv::HEADER).as_bytes())?;
        Ok(Output::Csv { out, extra, line: Vec::new() })
    }

    fn write(&mut self, entry: &Entry, device: &str) -> std::io::Result<()> {
        match self {
            Output::Csv { out, extra, line } => {
                line.clear();
                csv_line(line, entry, extra.device.then_some(device), extra.handle)?;
                out.write_all(line)
            }
            Output::Parquet(out) => out.write(entry, device),
        }
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Output::Csv { out, .. } => match out {
                CsvOut::Plain(mut out) => out.flush(),
                CsvOut::Gzip(out) => out.finish()?.flush(),
                CsvOut::Bzip2(out) => out.finish()?.flush(),
                CsvOut::Zstd(out) => out.finish()?.flush(),
            },
            Output::Parquet(out) => out.finish(),
        }
    }
}

impl CsvOut<'_> {
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            CsvOut::Plain(out) => out.write_all(bytes),
            CsvOut::Gzip(out) => out.write_all(bytes),
            CsvOut::Bzip2(out) => out.write_all(bytes),
            CsvOut::Zstd(out) => out.write_all(bytes),
        }
    }
}

/// Appends a request as a CSV line. Microseconds have a fraction only if they are not whole.
fn csv_line(line: &mut Vec<u8>, entry: &Entry, device: Option<&str>, handle: bool) -> std::io::Result<()> {
    let (us, ns) = (entry.time_ns / 1000, entry.time_ns % 1000);
    write!(line, "{us}")?;
    if ns > 0 {
        write!(line, ".{ns:03}")?;
    }
    write!(line, ",{},{},{}", csv::letter(entry.kind), entry.offset, entry.length)?;
    match device {
        None => {}
        Some(name) if name.contains([',', '"']) => write!(line, ",\"{}\"", name.replace('"', "'"))?,
        Some(name) => write!(line, ",{name}")?,
    }
    if handle {
        write!(line, ",{}", entry.handle.map(|handle| handle.to_string()).unwrap_or_default())?;
    }
    line.push(b'\n');
    Ok(())
}

/// A Parquet file under construction, with the rows not encoded yet, by column in the order of [`COLUMNS`].
struct ParquetOut<'a> {
    table: Table<BufWriter<&'a mut WholeFile>>,
    time: Vec<i64>,
    op: Vec<Option<u8>>,
    offset: Vec<i64>,
    size: Vec<i64>,
    device: Option<Vec<ByteArray>>,
    handle: Option<Vec<Option<u8>>>,
    letters: [ByteArray; RequestKind::COUNT],
    handles: Vec<ByteArray>,
}

impl<'a> ParquetOut<'a> {
    fn new(file: BufWriter<&'a mut WholeFile>, extra: Extra) -> std::io::Result<Self> {
        let holds = [Holds::Unsigned, Holds::Texts, Holds::Unsigned, Holds::Unsigned, Holds::Texts];
        let count = if extra.device { COLUMNS.len() } else { COLUMNS.len() - 1 };
        let mut columns: Vec<_> = COLUMNS.into_iter().zip(holds).take(count).collect();
        columns.extend(extra.handle.then_some((HANDLE, Holds::TextsOrNulls)));
        Ok(ParquetOut {
            table: Table::new(file, &columns)?,
            time: Vec::new(),
            op: Vec::new(),
            offset: Vec::new(),
            size: Vec::new(),
            device: extra.device.then(Vec::new),
            handle: extra.handle.then(Vec::new),
            letters: RequestKind::ALL.map(|kind| ByteArray::from(csv::letter(kind))),
            handles: (0..=u8::MAX).map(|handle| ByteArray::from(handle.to_string().as_str())).collect(),
        })
    }

    fn write(&mut self, entry: &Entry, device: &str) -> std::io::Result<()> {
        self.time.push(entry.time_ns.cast_signed());
        self.op.push(Some(entry.kind as u8));
        self.offset.push(entry.offset.cast_signed());
        self.size.push(entry.length.cast_signed());
        if let Some(column) = &mut self.device {
            column.push(ByteArray::from(device));
        }
        if let Some(column) = &mut self.handle {
            column.push(entry.handle);
        }
        if self.time.len() == ROWS_AT_ONCE { self.write_rows() } else { Ok(()) }
    }

    fn write_rows(&mut self) -> std::io::Result<()> {
        let (time, op) = (Values::Numbers(&self.time), Values::Names(&self.op, &self.letters));
        let mut columns = vec![time, op, Values::Numbers(&self.offset), Values::Numbers(&self.size)];
        columns.extend(self.device.as_deref().map(Values::Texts));
        columns.extend(self.handle.as_deref().map(|column| Values::Names(column, &self.handles)));
        self.table.write(self.time.len(), &columns)?;
        [&mut self.time, &mut self.offset, &mut self.size].into_iter().for_each(Vec::clear);
        self.op.clear();
        self.device.iter_mut().for_each(Vec::clear);
        self.handle.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<()> {
        self.write_rows()?;
        self.table.finish()?.flush()
    }
}

/// Reads a prefill file: the byte ranges that hold data when a trace begins. Its lines are `offset_bytes,size_bytes`, with or without that
/// header, plain or compressed. Returns (offset, size) in the order of the file.
///
/// # Errors
/// [`Error::Io`]; [`Error::Trace`] with file and line for a line that cannot be read, a size of 0, or a range that ends beyond
/// `exported_bytes`; and for a file without any range.
pub fn read_prefill(path: &Path, exported_bytes: u64) -> Result<Vec<(u64, u64)>> {
    const EXPECTED: &str = "offset_bytes,size_bytes";
    let mut lines = Lines::open(path, &Caller::default())?;
    let mut ranges = Vec::new();
    while let Some(line) = lines.next_line()? {
        let number = line.number;
        let text = line.text.unwrap_or(b"a line longer than 64 KiB").trim_ascii();
        if text.is_empty() || (number == 1 && text.eq_ignore_ascii_case(EXPECTED.as_bytes())) {
            continue;
        }
        let range = range_of(text, exported_bytes).map_err(|why| {
            let found = String::from_utf8_lossy(&text[..text.len().min(60)]).escape_debug().to_string();
            Error::Trace(format!("{}:{number}: expected {why}, found \"{found}\"", path.display()))
        })?;
        ranges.push(range);
    }
    if ranges.is_empty() {
        return Err(Error::Trace(format!("{}: the file has no ranges; expected lines {EXPECTED}", path.display())));
    }
    Ok(ranges)
}

fn range_of(text: &[u8], exported_bytes: u64) -> std::result::Result<(u64, u64), String> {
    let columns = || "two whole numbers: offset_bytes,size_bytes".to_string();
    let comma = text.iter().position(|&b| b == b',').ok_or_else(columns)?;
    let offset = integer(text[..comma].trim_ascii(), "").map_err(|_| columns())?;
    let size = integer(text[comma + 1..].trim_ascii(), "").map_err(|_| columns())?;
    if size == 0 {
        return Err("a size above 0".into());
    }
    if offset > exported_bytes || size > exported_bytes - offset {
        return Err(format!("a range within the {exported_bytes} bytes that the drive exports"));
    }
    Ok((offset, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{RequestSource, TraceReader, trace_info};
    use ssdlab_keys::config::Workload;

    fn write_file(directory: &Path, name: &str, text: &str) -> std::path::PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    type Rows = Vec<(u64, RequestKind, u64, u64)>;

    fn replay(path: &Path) -> Rows {
        let config = Workload { trace: Some(path.to_str().unwrap().into()), ..Workload::default() };
        let mut reader = TraceReader::new(&config, 1 << 62).unwrap();
        std::iter::from_fn(|| reader.next_request().unwrap()).map(|r| (r.arrival_ns, r.kind, r.offset, r.length)).collect()
    }

    #[test]
    fn every_output_reads_back_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let from = write_file(
            directory.path(),
            "in.csv",
            "timestamp_us,op,offset_bytes,size_bytes\n1,R,0,512\n2.5,W,512,1024\n3,T,0,4096\n3.001,F,0,0\n",
        );
        let expected = replay(&from);
        for name in ["a.csv", "a.csv.gz", "a.csv.bz2", "a.csv.zst", "a.parquet"] {
            let to = directory.path().join(name);
            let summary = convert(&from, &to, &ConvertOptions::default()).unwrap();
            assert_eq!(summary.requests, KindCounts { read: 1, write: 1, trim: 1, flush: 1, zone: 0 });
            assert_eq!(summary.bytes, std::fs::metadata(&to).unwrap().len());
            assert_eq!(replay(&to), expected, "{name}");
        }
    }

    #[test]
    fn several_devices_get_a_column() {
        let directory = tempfile::tempdir().unwrap();
        let text = "8,16 0 1 0.5 1 Q R 0 + 8 [a]\n8,17 0 2 0.6 1 Q W 0 + 8 [a]\n";
        let from = write_file(directory.path(), "in.blkparse.txt", text);
        for name in ["a.csv", "a.parquet"] {
            let to = directory.path().join(name);
            convert(&from, &to, &ConvertOptions::default()).unwrap();
            let devices: Vec<String> = trace_info(&to, &Reading::default(), None).unwrap().devices.into_iter().map(|d| d.name).collect();
            assert_eq!(devices, ["8,16", "8,17"], "{name}");
            let one = ConvertOptions { device: Some("8,17".into()), ..ConvertOptions::default() };
            let again = directory.path().join("one.csv");
            assert_eq!(convert(&to, &again, &one).unwrap().other_devices, 1);
            assert_eq!(std::fs::read_to_string(&again).unwrap(), "timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n");
        }
    }

    #[test]
    fn a_failed_conversion_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let from =
            write_file(directory.path(), "in.csv", "timestamp_us,op,offset_bytes,size_bytes\n1,R,0,512\n2,R,0,512\n3,R,0,512\n4,R,x,512\n");
        for name in ["out.csv", "out.parquet"] {
            let to = directory.path().join(name);
            let message = convert(&from, &to, &ConvertOptions::default()).unwrap_err().to_string();
            assert!(message.contains("in.csv:5:"), "{message}");
        }
        let names: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["in.csv"]);
        let wrong = convert(&from, &directory.path().join("out.txt"), &ConvertOptions::default()).unwrap_err();
        assert_eq!(wrong.exit_code(), 2);
        assert!(convert(&from, Path::new("/nonexistent/x.csv"), &ConvertOptions::default()).is_err());
    }

    #[test]
    fn options_choose_a_part() {
        let directory = tempfile::tempdir().unwrap();
        let from = write_file(
            directory.path(),
            "in.csv",
            "timestamp_us,op,offset_bytes,size_bytes\n9,R,0,512\n8,R,0,512\nx\n11,R,0,512\n13,R,0,512\n99,R,0,512\n",
        );
        let options = ConvertOptions {
            bad_lines: 1,
            time_order: TimeOrder::Sort,
            skip: 1,
            limit_s: 10e-6,
            requests: Some(2),
            ..ConvertOptions::default()
        };
        let to = directory.path().join("out.csv");
        let summary = convert(&from, &to, &options).unwrap();
        assert_eq!((summary.bad_lines, summary.requests.read), (1, 2));
        assert_eq!(replay(&to).iter().map(|r| r.0).collect::<Vec<_>>(), [0, 2000]);
    }

    #[test]
    fn prefill_ranges_are_checked() {
        let directory = tempfile::tempdir().unwrap();
        let read = |text: &str| read_prefill(&write_file(directory.path(), "p.csv", text), 8192).map_err(|e| e.to_string());
        assert_eq!(read("offset_bytes,size_bytes\n0,512\n 4096 , 4096 \n").unwrap(), [(0, 512), (4096, 4096)]);
        for (text, part) in [
            ("", "no ranges"),
            ("0,512\n1,0\n", ":2: expected a size above 0"),
            ("0,8193\n", "8192 bytes"),
            ("8193,18446744073709551615\n", "8192 bytes"),
            ("0\n", "two whole numbers"),
            ("1.8E+11,5\n", "found \"1.8E+11,5\""),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
