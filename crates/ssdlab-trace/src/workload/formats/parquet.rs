//! The project's columnar format: a Parquet file with the columns `time_ns`, `op` (R, W, T, F), `offset_bytes`, `size_bytes` and, where
//! requests belong to devices, `device`, and where they name placement handles, `handle`. Row numbers take the place of line numbers. The
//! columns may have the names of CSV instead, which state other units. The log of a run (`requests.parquet`) can be read, too: it names the
//! time `arrival_ns`, the op `kind` (as a word) and the device `flow`.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::names::{self, Layout};
use super::{Bad, Event, Format, Meaning, Measure, Parsed, Reader, Record, Time, Units, arrow_schema, csv};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::inputs;
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Parquet,
    name: "parquet",
    hints: &[],
    meaning: Meaning {
        time: Time::Fixed(TimeUnit::Ns),
        address: Measure::Bytes,
        size: Measure::Bytes,
        operations: "R, W, T = trim, F = flush, or words",
    },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Columnar,
};

/// The first four bytes of every Parquet file.
pub(crate) const MAGIC: &[u8] = b"PAR1";
/// Columns of a trace, in the order in which they are written; `device` may be absent.
pub(crate) const COLUMNS: [&str; 5] = ["time_ns", "op", "offset_bytes", "size_bytes", "device"];
/// The column of placement handles, which may be absent, and in which null names none.
pub(crate) const HANDLE: &str = "handle";
/// Names of the [`COLUMNS`] in the log of a run.
const COLUMNS_OF_LOG: [&str; 5] = ["arrival_ns", "kind", "offset_bytes", "size_bytes", "flow"];
const REQUIRED: usize = 4;
const BATCH_ROWS: usize = 8192;

/// The rows of a Parquet trace.
pub(crate) struct Rows {
    path: PathBuf,
    file: SerializedFileReader<File>,
    is_log: bool,
    layout: Layout,
    required: [Column; REQUIRED],
    device: Option<Column>,
    handle: Option<Column>,
    /// Index of the next row group.
    group: usize,
    /// Rows of the current row group that have not been read into a batch.
    left: usize,
    batch: Batch,
    row: u64,
    total: u64,
    /// Why no more rows can be read, once an error has occurred.
    failure: Option<String>,
    caller: Caller,
}

impl Rows {
    /// Opens a Parquet file and checks its columns.
    pub(crate) fn open(path: &Path, caller: &Caller) -> Result<Self> {
        let file = inputs::open(path).map_err(|e| Error::io("read", path, e))?;
        let damaged = |e: String| Error::Trace(format!("{}: not a readable Parquet file: {e}", path.display()));
        let file = guarded(|| SerializedFileReader::new(file)).map_err(damaged)?;
        let about = file.metadata().file_metadata();
        let Columns { is_log, layout, required, optional: [device, handle] } =
            columns(about.schema_descr()).map_err(|e| Error::Trace(format!("{}: {e}", path.display())))?;
        let arrow = about.key_value_metadata().into_iter().flatten().find(|entry| entry.key == arrow_schema::KEY);
        let schema = arrow.and_then(|entry| entry.value.as_deref());
        let (name, unit) = (&required[0].name, layout.time_unit.map_or("ns", TimeUnit::name));
        if let Some(found) = schema.and_then(|schema| arrow_schema::unit_of_duration(schema, name)).filter(|&found| found != unit) {
            return Err(Error::Trace(format!(
                "{}: the column {name} holds durations in {found}, and was to be in {unit}; write it as whole nanoseconds",
                path.display(),
            )));
        }
        let total = u64::try_from(about.num_rows()).unwrap_or(0);
        Ok(Rows {
            path: path.to_path_buf(),
            file,
            is_log,
            layout,
            required,
            device,
            handle,
            group: 0,
            left: 0,
            batch: Batch::default(),
            row: 0,
            total,
            failure: None,
            caller: caller.clone(),
        })
    }

    /// Whether the file is the log of a run, whose times count from the start of that run.
    pub(crate) fn is_log(&self) -> bool {
        self.is_log
    }

    /// Enters the units that the names of the columns state.
    pub(crate) fn state_units(&self, units: &mut Units) {
        self.layout.state_units(units);
    }

    /// Share of the rows consumed, 0..=1; `None` for a file without rows.
    pub(crate) fn share(&self) -> Option<f64> {
        (self.total > 0).then(|| (self.row as f64 / self.total as f64).min(1.0))
    }

    /// The next row and its number from 1, or `None` at the end.
    pub(crate) fn next_row(&mut self) -> Result<Option<(u64, Parsed<'_>)>> {
        while self.batch.next == self.batch.time.len() {
            self.caller.check()?;
            self.share().inspect(|&share| self.caller.report_progress(share));
            if let Some(reason) = &self.failure {
                return Err(self.damaged(reason));
            }
            match guarded(|| self.next_batch()) {
                Ok(Some(batch)) => self.batch = batch,
                Ok(None) => return Ok(None),
                Err(reason) => self.failure = Some(reason),
            }
        }
        self.row += 1;
        self.batch.next += 1;
        Ok(Some((self.row, self.batch.record(self.batch.next - 1))))
    }

    fn next_batch(&mut self) -> std::result::Result<Option<Batch>, String> {
        while self.left == 0 {
            if self.group == self.file.num_row_groups() {
                return Ok(None);
            }
            self.begin_group()?;
        }
        let rows = self.left.min(BATCH_ROWS);
        self.left -= rows;
        let [time, op, offset, size] = &mut self.required;
        let device = self.device.as_mut().map(|column| column.texts(rows)).transpose()?;
        let handle = self.handle.as_mut().map(|column| column.texts(rows)).transpose()?;
        let ns = self.layout.time_unit.map_or(1, |unit| 10u64.pow(unit.places()));
        let (time, offset) = (time.numbers(rows, ns, true)?, offset.numbers(rows, self.layout.offset_bytes, false)?);
        let size = size.numbers(rows, self.layout.size_bytes, false)?;
        Ok(Some(Batch { time, op: op.texts(rows)?, offset, size, device, handle, next: 0 }))
    }

    fn begin_group(&mut self) -> std::result::Result<(), String> {
        let group = self.file.get_row_group(self.group).map_err(|e| e.to_string())?;
        let rows = group.metadata().num_rows();
        for column in self.required.iter_mut().chain(&mut self.device).chain(&mut self.handle) {
            let values = group.metadata().column(column.leaf).num_values();
            if values != rows {
                return Err(format!("a row group of {rows} rows has {values} values of the column {}", column.name));
            }
            column.reader = Some(group.get_column_reader(column.leaf).map_err(|e| e.to_string())?);
        }
        self.left = usize::try_from(rows).map_err(|_| format!("a row group has {rows} rows"))?;
        self.group += 1;
        Ok(())
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::Trace(format!(
            "{}: cannot read the rows after {}: {reason}; write the file anew, or copy it again",
            self.path.display(),
            self.row
        ))
    }
}

/// Runs a step of the Parquet library. Some damaged files make it panic where it should return an error; such a panic becomes one here.
/// The reader is not used again after an error, so nothing half-done is ever seen.
fn guarded<T, E: std::fmt::Display>(step: impl FnOnce() -> std::result::Result<T, E>) -> std::result::Result<T, String> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|e| e.to_string()),
        Err(_) => Err("the data is damaged".into()),
    }
}

/// The columns of a file.
struct Columns {
    /// They are those of the log of a run.
    is_log: bool,
    layout: Layout,
    required: [Column; REQUIRED],
    /// Columns of devices and of placement handles, if any.
    optional: [Option<Column>; 2],
}

/// Finds the columns of a trace; an error if one is missing or of a type that cannot be used.
fn columns(schema: &SchemaDescriptor) -> std::result::Result<Columns, String> {
    let fields = schema.root_schema().get_fields();
    let mut names: Vec<String> = fields.iter().map(|field| field.name().to_string()).collect();
    let is_log = is_log(&names);
    if is_log {
        for name in &mut names {
            if let Some(at) = COLUMNS_OF_LOG.iter().position(|of_log| of_log == name) {
                *name = COLUMNS[at].into();
            }
        }
    }
    // Beside the column of this format the one of CSV is any other column.
    if names.iter().any(|name| name == COLUMNS[0]) {
        names.iter_mut().filter(|name| *name == "timestamp_us").for_each(String::clear);
    }
    let layout = names::layout(&names).map_err(|missing| {
        let missing = if missing == "timestamp_us" { COLUMNS[0] } else { missing };
        let found: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        format!("expected the columns {}; {missing} is missing, found \"{}\"", COLUMNS[..REQUIRED].join(", "), found.join(", "))
    })?;
    let name = |root: usize| fields[root].name();
    if layout.has_open_time() {
        return Err(format!("the column {} does not state its unit; name it time_ns or timestamp_us", name(layout.time)));
    }
    if let Some(event) = layout.event {
        return Err(format!("the column {}: write the rows of one event, without that column", name(event)));
    }
    let column = |root: usize, expected: &str| {
        let field = &fields[root];
        let holds = Holds::of(field).filter(|&holds| holds != Holds::Text || expected == TEXT);
        let holds = holds.ok_or_else(|| format!("the column {}: expected {expected}, found {}", name(root), type_name(field)))?;
        let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == root);
        Ok::<_, String>(Column { name: name(root).into(), leaf: leaf.expect("a field that is no group is a leaf"), holds, reader: None })
    };
    let required =
        [column(layout.time, NUMBERS)?, column(layout.op, TEXT)?, column(layout.offset, NUMBERS)?, column(layout.size, NUMBERS)?];
    let optional = |root: Option<usize>| root.map(|root| column(root, TEXT)).transpose();
    Ok(Columns { is_log, layout, required, optional: [optional(layout.device)?, optional(layout.handle)?] })
}

/// Whether the column names are those of a run's log, with neither the time nor the op of a trace.
fn is_log(names: &[String]) -> bool {
    let has = |name: &str| names.iter().any(|one| one == name);
    let [time, op, ..] = COLUMNS;
    !has(time) && !has(op) && COLUMNS_OF_LOG[..REQUIRED].iter().all(|name| has(name))
}

const NUMBERS: &str = "whole numbers";
const TEXT: &str = "text";

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Only nulls, without a type.
    Nulls,
    Signed,
    Unsigned,
    /// Floating-point numbers, as tools write columns that may lack a value.
    Fractions,
    Text,
}

impl Holds {
    /// Type of the values of a column; `None` if they are neither numbers nor text.
    fn of(field: &Type) -> Option<Self> {
        let info = field.get_basic_info();
        if field.is_group() || info.repetition() == Repetition::REPEATED {
            return None;
        }
        if info.logical_type_ref() == Some(&LogicalType::Unknown) {
            return Some(Holds::Nulls);
        }
        // Older files have converted types only; for newer ones the library derives them where there is one.
        match (field.get_physical_type(), info.converted_type(), info.logical_type_ref()) {
            (Physical::INT32 | Physical::INT64, ConvertedType::NONE, None) => Some(Holds::Signed),
            (_, ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32 | ConvertedType::INT_64, _) => Some(Holds::Signed),
            (_, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64, _) => {
                Some(Holds::Unsigned)
            }
            (Physical::FLOAT | Physical::DOUBLE, _, _) => Some(Holds::Fractions),
            (_, ConvertedType::UTF8 | ConvertedType::JSON, _) => Some(Holds::Text),
            _ => None,
        }
    }
}

/// Name, for messages, of the type of a column that cannot be used: `TIMESTAMP`, `BOOLEAN`.
fn type_name(field: &Type) -> String {
    let info = field.get_basic_info();
    let logical = info.logical_type_ref().map(|of| format!("{of:?}"));
    match logical.as_deref().and_then(|of| of.split(|c: char| !c.is_alphanumeric()).next()) {
        _ if info.repetition() == Repetition::REPEATED => "several values a row".into(),
        Some(name) if !name.is_empty() => name.to_uppercase(),
        _ if info.converted_type() != ConvertedType::NONE => info.converted_type().to_string(),
        _ if field.is_group() => "a group of columns".into(),
        _ => field.get_physical_type().to_string(),
    }
}

/// A column of the file, read from one row group after the other.
struct Column {
    name: String,
    /// Index of the column in the file, where a group of columns counts by its members.
    leaf: usize,
    holds: Holds,
    /// Reader of the row group that is being read.
    reader: Option<ColumnReader>,
}

impl Column {
    /// The next `rows` values as unsigned numbers, times `unit`. A value that does not fit becomes null, which makes its row unreadable, not
    /// the file. `rounds`: fractions of the result are rounded, otherwise they do not fit.
    fn numbers(&mut self, rows: usize, unit: u64, rounds: bool) -> std::result::Result<Vec<Option<u64>>, String> {
        let whole = |value: f64| {
            let value = if rounds && unit > 1 { (value * unit as f64).round() } else { value * unit as f64 };
            (value >= 0.0 && value < u64::MAX as f64 && value.fract() == 0.0).then_some(value as u64)
        };
        let scaled = |value: Option<u64>| value.and_then(|value| value.checked_mul(unit));
        let values = match (&mut self.reader, self.holds) {
            (_, Holds::Nulls) => Ok(vec![None; rows]),
            (Some(ColumnReader::Int64ColumnReader(reader)), Holds::Unsigned) => {
                read(reader, rows, |value| scaled(Some(value.cast_unsigned())))
            }
            (Some(ColumnReader::Int64ColumnReader(reader)), _) => read(reader, rows, |value| scaled(value.try_into().ok())),
            (Some(ColumnReader::Int32ColumnReader(reader)), Holds::Unsigned) => {
                read(reader, rows, |value| scaled(Some(value.cast_unsigned().into())))
            }
            (Some(ColumnReader::Int32ColumnReader(reader)), _) => read(reader, rows, |value| scaled(value.try_into().ok())),
            (Some(ColumnReader::DoubleColumnReader(reader)), _) => read(reader, rows, whole),
            (Some(ColumnReader::FloatColumnReader(reader)), _) => read(reader, rows, |value| whole(value.into())),
            _ => Err("it has no numbers".into()),
        };
        values.map_err(|reason| format!("the column {}: {reason}", self.name))
    }

    /// The next `rows` values as text; numbers are accepted, since they may be names. None is lost: -1 and 0.5 are texts, too.
    fn texts(&mut self, rows: usize) -> std::result::Result<Vec<Option<ByteArray>>, String> {
        let (is_text, is_unsigned) = (self.holds == Holds::Text, self.holds == Holds::Unsigned);
        let text = |number: &dyn std::fmt::Display| Some(ByteArray::from(number.to_string().as_str()));
        let texts = match &mut self.reader {
            _ if self.holds == Holds::Nulls => Ok(vec![None; rows]),
            Some(ColumnReader::ByteArrayColumnReader(reader)) if is_text => read(reader, rows, Some),
            Some(ColumnReader::Int64ColumnReader(reader)) if is_unsigned => read(reader, rows, |value| text(&value.cast_unsigned())),
            Some(ColumnReader::Int64ColumnReader(reader)) => read(reader, rows, |value| text(&value)),
            Some(ColumnReader::Int32ColumnReader(reader)) if is_unsigned => read(reader, rows, |value| text(&value.cast_unsigned())),
            Some(ColumnReader::Int32ColumnReader(reader)) => read(reader, rows, |value| text(&value)),
            Some(ColumnReader::DoubleColumnReader(reader)) => read(reader, rows, |value| text(&value)),
            Some(ColumnReader::FloatColumnReader(reader)) => read(reader, rows, |value| text(&value)),
            _ => Err("it has neither text nor numbers".into()),
        };
        let texts = texts.map_err(|reason| format!("the column {}: {reason}", self.name))?;
        let is_utf8 = |text: &ByteArray| text.data().is_ascii() || text.as_utf8().is_ok();
        if texts.iter().flatten().all(is_utf8) { Ok(texts) } else { Err(format!("the column {}: text that is not UTF-8", self.name)) }
    }
}

/// The next `rows` values of a column, converted by `of`; `None` for a null, and where `of` returns `None`.
fn read<T: DataType, V>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    of: impl Fn(T::T) -> Option<V>,
) -> std::result::Result<Vec<Option<V>>, String> {
    let (mut levels, mut values) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let (found, _, _) = reader.read_records(rows, Some(&mut levels), None, &mut values).map_err(|e| e.to_string())?;
    if found < rows {
        return Err(format!("{} rows are missing", rows - found));
    }
    let mut values = values.into_iter();
    // A column that cannot have nulls has no levels.
    if levels.is_empty() {
        return Ok(values.map(of).collect());
    }
    Ok(levels.into_iter().map(|level| if level == 0 { None } else { values.next().and_then(&of) }).collect())
}

/// Rows that are read together, by column.
#[derive(Default)]
struct Batch {
    time: Vec<Option<u64>>,
    op: Vec<Option<ByteArray>>,
    offset: Vec<Option<u64>>,
    size: Vec<Option<u64>>,
    device: Option<Vec<Option<ByteArray>>>,
    handle: Option<Vec<Option<ByteArray>>>,
    next: usize,
}

impl Batch {
    fn record<'a>(&'a self, row: usize) -> Parsed<'a> {
        let number =
            |column: &[Option<u64>], expected| column[row].ok_or_else(|| Bad::new(expected, b"null, a fraction or a number out of range"));
        let op = self.op[row].as_ref().map_or(&b""[..], ByteArray::data);
        let time_ns = number(&self.time, "a time_ns of 0 or more")?;
        let text = |column: &'a Option<Vec<Option<ByteArray>>>| {
            column.as_ref().and_then(|column| column[row].as_ref()).map_or(&b""[..], ByteArray::data)
        };
        let (device, handle) = (text(&self.device), csv::handle_of(text(&self.handle))?);
        if csv::kind(op)? == Some(RequestKind::Flush) && !matches!(op, [b'F', _, ..]) {
            return Ok(Record::new(time_ns, RequestKind::Flush, 0, 0, device)?.map(|record| Record { handle, ..record }));
        }
        let offset = number(&self.offset, "an offset_bytes of 0 or more")?;
        let length = number(&self.size, "a size_bytes of 0 or more")?;
        let Some(kind) = csv::kind_of_length(op, length)? else { return Ok(None) };
        Ok(Record::new(time_ns, kind, offset, length, device)?.map(|record| Record { handle, ..record }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::schema::parser::parse_message_type;

    use super::*;

    #[test]
    fn types_of_use_are_told_by_new_and_by_old_annotations_and_others_are_named() {
        for (field, expected) in [
            ("required int64 a", Ok(Holds::Signed)),
            ("optional int32 a", Ok(Holds::Signed)),
            ("optional int32 a (INT_8)", Ok(Holds::Signed)),
            ("optional int64 a (INTEGER(64,true))", Ok(Holds::Signed)),
            ("optional int32 a (UINT_16)", Ok(Holds::Unsigned)),
            ("optional int32 a (INTEGER(8,false))", Ok(Holds::Unsigned)),
            ("optional int64 a (UINT_64)", Ok(Holds::Unsigned)),
            ("optional float a", Ok(Holds::Fractions)),
            ("optional double a", Ok(Holds::Fractions)),
            ("optional binary a (UTF8)", Ok(Holds::Text)),
            ("optional binary a (STRING)", Ok(Holds::Text)),
            ("optional binary a (JSON)", Ok(Holds::Text)),
            ("optional int32 a (UNKNOWN)", Ok(Holds::Nulls)),
            ("optional binary a", Err("BYTE_ARRAY")),
            ("optional binary a (ENUM)", Err("ENUM")),
            ("optional boolean a", Err("BOOLEAN")),
            ("optional int96 a", Err("INT96")),
            ("optional int32 a (DATE)", Err("DATE")),
            ("optional int64 a (TIMESTAMP(NANOS,true))", Err("TIMESTAMP")),
            ("optional int64 a (TIMESTAMP_MICROS)", Err("TIMESTAMP_MICROS")),
            ("optional int64 a (DECIMAL(10,2))", Err("DECIMAL")),
            ("optional fixed_len_byte_array(2) a (FLOAT16)", Err("FLOAT16")),
            ("repeated int64 a", Err("several values a row")),
            ("repeated binary a (STRING)", Err("several values a row")),
            ("optional group a { optional int64 b; }", Err("a group of columns")),
            ("optional group a (LIST) { repeated group list { optional int64 element; } }", Err("LIST")),
        ] {
            let end = if field.ends_with('}') { "" } else { ";" };
            let schema = parse_message_type(&format!("message schema {{ {field}{end} }}")).unwrap();
            let field = &schema.get_fields()[0];
            assert_eq!(Holds::of(field).ok_or_else(|| type_name(field)), expected.map_err(String::from), "{field:?}");
        }
    }

    /// A request: ns, kind, offset, size, handle.
    type Row = (u64, RequestKind, u64, u64, Option<u8>);

    /// Requests or messages of a file whose columns all hold 64-bit fractions, but `op`.
    fn read_file(columns: &[(&str, &[f64])], ops: &[&str]) -> Vec<std::result::Result<Row, String>> {
        use parquet::data_type::{ByteArrayType, DoubleType};
        let file = tempfile::NamedTempFile::new().unwrap();
        let names: String = columns.iter().map(|(name, _)| format!("required double {name}; ")).collect();
        let schema = parse_message_type(&format!("message schema {{ {names} required binary op (STRING); }}")).unwrap();
        let mut writer = parquet::file::writer::SerializedFileWriter::new(file.reopen().unwrap(), schema.into(), Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for (_, values) in columns {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<DoubleType>().write_batch(values, None, None).unwrap();
            column.close().unwrap();
        }
        let ops: Vec<ByteArray> = ops.iter().map(|&op| op.into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&ops, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let mut rows = match Rows::open(file.path(), &Caller::default()) {
            Ok(rows) => rows,
            Err(error) => return vec![Err(error.to_string())],
        };
        let mut found = Vec::new();
        while let Some((_, parsed)) = rows.next_row().unwrap() {
            let record = parsed.map_err(|bad| bad.to_string()).transpose();
            found.extend(record.map(|record| record.map(|r| (r.time_ns, r.kind, r.offset, r.length, r.handle))));
        }
        found
    }

    #[test]
    fn the_columns_of_csv_state_their_units() {
        let own = [("timestamp_us", &[0.5, 2.0][..]), ("offset_bytes", &[0.0, 4096.0]), ("size_bytes", &[512.0, 4096.0])];
        let (read, write) = ((500, RequestKind::Read, 0, 512, None), (2_000, RequestKind::Write, 4096, 4096, None));
        assert_eq!(read_file(&own, &["R", "write"]), [Ok(read), Ok(write)]);
        let kernel = [("ts_ns", &[500.0, 2000.0][..]), ("sector", &[0.0, 8.0]), ("nr_sector", &[1.0, 8.0])];
        assert_eq!(read_file(&kernel, &["RA", "WS"]), [Ok(read), Ok(write)]);
        let open = [("ts", &[0.5][..]), ("offset_bytes", &[0.0]), ("size_bytes", &[512.0])];
        assert!(read_file(&open, &["R"])[0].as_ref().unwrap_err().contains("ts does not state its unit"));
        let both = [("time_ns", &[7.0][..]), ("timestamp_us", &[9.0]), ("offset_bytes", &[0.0]), ("size_bytes", &[512.0])];
        assert_eq!(read_file(&both, &["R"]), [Ok((7, RequestKind::Read, 0, 512, None))]);
    }

    #[test]
    fn a_handle_that_is_negative_or_no_whole_number_is_refused() {
        let zero = [0.0; 6];
        let handles = [0.0, 7.0, -1.0, 0.5, f64::NAN, 300.0];
        let columns = [("time_ns", &zero[..]), ("offset_bytes", &zero), ("size_bytes", &[512.0; 6]), ("handle", &handles)];
        let found = read_file(&columns, &["W", "W", "W", "W", "F", "W"]);
        let named = |row: usize| found[row].as_ref().map(|row| row.4);
        assert_eq!((named(0), named(1)), (Ok(Some(0)), Ok(Some(7))));
        for (row, value) in [(2, "-1"), (3, "0.5"), (4, "NaN"), (5, "300")] {
            let message = found[row].as_ref().unwrap_err();
            assert!(message.contains("a placement handle from 0 to 7") && message.contains(value), "{message}");
        }
    }

    /// The index of a column in the file is not its index in the schema: members of groups before it count.
    #[test]
    fn columns_are_found_by_the_names_of_the_outermost() {
        let others = "optional group other { optional int64 time_ns; optional int64 x; }";
        let wanted = "optional int64 offset_bytes; required int64 size_bytes; required binary op (STRING); required int64 time_ns;";
        let places = |text: &str| {
            let schema = SchemaDescriptor::new(parse_message_type(&format!("message schema {{ {text} }}")).unwrap().into());
            columns(&schema).map(|Columns { required, optional: [device, _], .. }| {
                (required.map(|column| column.leaf), device.map(|column| column.leaf))
            })
        };
        assert_eq!(places(&format!("{others} {wanted}")), Ok(([5, 4, 2, 3], None)));
        assert_eq!(places(&format!("{wanted} {others} optional int32 device;")), Ok(([3, 2, 0, 1], Some(6))));
        let message = places(&format!("{others} {}", wanted.replace("int64 size_bytes", "binary size_bytes (STRING)"))).unwrap_err();
        assert_eq!(message, "the column size_bytes: expected whole numbers, found STRING");
        let message = places(&wanted.replace(" op ", " kind ")).unwrap_err();
        assert!(
            message.starts_with("expected the columns time_ns, op, offset_bytes, size_bytes; op is missing, found \"offset_bytes,"),
            "{message}"
        );
    }
}
