//! The project's columnar format: a Parquet file with the columns `time_ns`, `op` (R, W, T, F), `offset_bytes`, `size_bytes` and, where
//! requests belong to devices, `device`, and where they name placement handles, `handle`. Row numbers take the place of line numbers. The log of a run (`requests.parquet`) can be read,
//! too: it names the time `arrival_ns`, the op `kind` (as a word) and the device `flow`.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::{Bad, Event, Format, Meaning, Measure, Parsed, Reader, Record, Time, arrow_schema, csv};
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
/// Names of the [`COLUMNS`] in the log of a run.
const COLUMNS_OF_LOG: [&str; 5] = ["arrival_ns", "kind", "offset_bytes", "size_bytes", "flow"];
/// The column of placement handles, which may be absent, and in which null names none.
pub(crate) const HANDLE: &str = "handle";
const REQUIRED: usize = 4;
const BATCH_ROWS: usize = 8192;

/// The rows of a Parquet trace.
pub(crate) struct Rows {
    path: PathBuf,
    file: SerializedFileReader<File>,
    names: &'static [&'static str; 5],
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
        let (names, required, [device, handle]) =
            columns(about.schema_descr()).map_err(|e| Error::Trace(format!("{}: {e}", path.display())))?;
        let arrow = about.key_value_metadata().into_iter().flatten().find(|entry| entry.key == arrow_schema::KEY);
        let schema = arrow.and_then(|entry| entry.value.as_deref());
        if let Some(unit) = schema.and_then(|schema| arrow_schema::unit_of_duration(schema, names[0])).filter(|&unit| unit != "ns") {
            return Err(Error::Trace(format!(
                "{}: the column {} holds durations in {unit}, and was to be in ns; write it as whole nanoseconds",
                path.display(),
                names[0]
            )));
        }
        let total = u64::try_from(about.num_rows()).unwrap_or(0);
        Ok(Rows {
            path: path.to_path_buf(),
            file,
            names,
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
        *self.names == COLUMNS_OF_LOG
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
        let (time, offset, size) = (time.numbers(rows)?, offset.numbers(rows)?, size.numbers(rows)?);
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

/// Column names of a file, its required columns, and its columns of devices and of placement handles, if any.
type Columns = (&'static [&'static str; 5], [Column; REQUIRED], [Option<Column>; 2]);

/// Finds the columns of a trace; an error if one is missing or of a type that cannot be used.
fn columns(schema: &SchemaDescriptor) -> std::result::Result<Columns, String> {
    let fields = schema.root_schema().get_fields();
    let find = |name: &str| fields.iter().position(|field| field.name() == name);
    let names = names_of(|name| find(name).is_some());
    if let Some(missing) = names[..REQUIRED].iter().find(|name| find(name).is_none()) {
        let found: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let expected = names[..REQUIRED].join(", ");
        return Err(format!("expected the columns {expected}; {missing} is missing, found \"{}\"", found.join(", ")));
    }
    let column = |name: &'static str, expected: &str| {
        let root = find(name).expect("it was found before");
        let field = &fields[root];
        let holds = Holds::of(field).filter(|&holds| holds != Holds::Text || expected == TEXT);
        let holds = holds.ok_or_else(|| format!("the column {name}: expected {expected}, found {}", type_name(field)))?;
        let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == root);
        Ok::<_, String>(Column { name, leaf: leaf.expect("a field that is no group is a leaf"), holds, reader: None })
    };
    let [time, op, offset, size, device] = *names;
    let required = [column(time, NUMBERS)?, column(op, TEXT)?, column(offset, NUMBERS)?, column(size, NUMBERS)?];
    let optional = |name, expected| find(name).map(|_| column(name, expected)).transpose();
    Ok((names, required, [optional(device, TEXT)?, optional(HANDLE, TEXT)?]))
}

/// The column names of a run's log, if a file has those and neither the time nor the op of a trace; otherwise those of a trace.
fn names_of(has: impl Fn(&str) -> bool) -> &'static [&'static str; 5] {
    let [time, op, ..] = COLUMNS;
    let is_log = !has(time) && !has(op) && COLUMNS_OF_LOG[..REQUIRED].iter().all(|name| has(name));
    if is_log { &COLUMNS_OF_LOG } else { &COLUMNS }
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
    name: &'static str,
    /// Index of the column in the file, where a group of columns counts by its members.
    leaf: usize,
    holds: Holds,
    /// Reader of the row group that is being read.
    reader: Option<ColumnReader>,
}

impl Column {
    /// The next `rows` values as unsigned numbers. A value that does not fit becomes null, which makes its row unreadable, not the file.
    fn numbers(&mut self, rows: usize) -> std::result::Result<Vec<Option<u64>>, String> {
        let whole = |value: f64| (value >= 0.0 && value < u64::MAX as f64 && value.fract() == 0.0).then_some(value as u64);
        let values = match (&mut self.reader, self.holds) {
            (_, Holds::Nulls) => Ok(vec![None; rows]),
            (Some(ColumnReader::Int64ColumnReader(reader)), Holds::Unsigned) => read(reader, rows, |value| Some(value.cast_unsigned())),
            (Some(ColumnReader::Int64ColumnReader(reader)), _) => read(reader, rows, |value| value.try_into().ok()),
            (Some(ColumnReader::Int32ColumnReader(reader)), Holds::Unsigned) => {
                read(reader, rows, |value| Some(value.cast_unsigned().into()))
            }
            (Some(ColumnReader::Int32ColumnReader(reader)), _) => read(reader, rows, |value| value.try_into().ok()),
            (Some(ColumnReader::DoubleColumnReader(reader)), _) => read(reader, rows, whole),
            (Some(ColumnReader::FloatColumnReader(reader)), _) => read(reader, rows, |value| whole(value.into())),
            _ => Err("it has no numbers".into()),
        };
        values.map_err(|reason| format!("the column {}: {reason}", self.name))
    }

    /// The next `rows` values as text; numbers are accepted, since they may be names.
    fn texts(&mut self, rows: usize) -> std::result::Result<Vec<Option<ByteArray>>, String> {
        let Some(ColumnReader::ByteArrayColumnReader(reader)) = self.reader.as_mut().filter(|_| self.holds == Holds::Text) else {
            let named = |value: Option<u64>| value.map(|value| ByteArray::from(value.to_string().as_str()));
            return Ok(self.numbers(rows)?.into_iter().map(named).collect());
        };
        let texts = read(reader, rows, Some).map_err(|reason| format!("the column {}: {reason}", self.name))?;
        let is_text = |text: &ByteArray| text.data().is_ascii() || text.as_utf8().is_ok();
        if texts.iter().flatten().all(is_text) { Ok(texts) } else { Err(format!("the column {}: text that is not UTF-8", self.name)) }
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
    fn record(&self, row: usize) -> Parsed<'_> {
        let number =
            |column: &[Option<u64>], expected| column[row].ok_or_else(|| Bad::new(expected, b"null, a fraction or a number out of range"));
        let kind = match self.op[row].as_ref().map_or(&b""[..], ByteArray::data) {
            b"read" => RequestKind::Read,
            b"write" => RequestKind::Write,
            b"trim" => RequestKind::Trim,
            b"flush" => RequestKind::Flush,
            letter => csv::kind(letter)?,
        };
        let time_ns = number(&self.time, "a time_ns of 0 or more")?;
        let device = self.device.as_ref().and_then(|column| column[row].as_ref()).map_or(&b""[..], ByteArray::data);
        if kind == RequestKind::Flush {
            return Record::new(time_ns, kind, 0, 0, device);
        }
        let offset = number(&self.offset, "an offset_bytes of 0 or more")?;
        let length = number(&self.size, "a size_bytes of 0 or more")?;
        let handle = self.handle.as_ref().and_then(|column| column[row].as_ref()).map_or(&b""[..], ByteArray::data);
        let record = Record::new(time_ns, kind, offset, length, device)?;
        let handle = csv::handle_of(handle)?;
        Ok(record.map(|record| Record { handle, ..record }))
    }
}

#[cfg(test)]
mod tests {
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

    /// The index of a column in the file is not its index in the schema: members of groups before it count.
    #[test]
    fn columns_are_found_by_the_names_of_the_outermost() {
        let others = "optional group other { optional int64 time_ns; optional int64 x; }";
        let wanted = "optional int64 offset_bytes; required int64 size_bytes; required binary op (STRING); required int64 time_ns;";
        let places = |text: &str| {
            let schema = SchemaDescriptor::new(parse_message_type(&format!("message schema {{ {text} }}")).unwrap().into());
            columns(&schema).map(|(_, required, [device, _])| (required.map(|column| column.leaf), device.map(|column| column.leaf)))
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
