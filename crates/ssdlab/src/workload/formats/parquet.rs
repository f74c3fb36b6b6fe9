//! The project's columnar format: a Parquet file with the columns `time_ns`, `op` (R, W, T, F), `offset_bytes`, `size_bytes` and, where
//! requests belong to devices, `device`. Row numbers stand for line numbers. The log of a run (`requests.parquet`) can be read, too: it names
//! the time `arrival_ns`, the op `kind` (as a word) and the device `flow`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::{Bad, Event, Format, Meaning, Measure, Parsed, Reader, Record, Time, csv};
use crate::caller::Caller;
use crate::config::{TimeUnit, TraceFormat};
use crate::error::{Error, Result};
use crate::inputs;
use crate::request::RequestKind;

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
/// The columns, in the order in which they are written; `device` may be absent.
pub(crate) const COLUMNS: [&str; 5] = ["time_ns", "op", "offset_bytes", "size_bytes", "device"];
/// The names of these columns in the log of a run.
const COLUMNS_OF_LOG: [&str; 5] = ["arrival_ns", "kind", "offset_bytes", "size_bytes", "flow"];
const REQUIRED: usize = 4;
const BATCH_ROWS: usize = 8192;

/// The rows of a Parquet trace.
pub(crate) struct Rows {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
    names: &'static [&'static str; 5],
    batch: Option<Batch>,
    row: u64,
    total: u64,
    /// Why nothing more can be read.
    failure: Option<String>,
    caller: Caller,
}

/// One batch of rows, converted to the types that are used.
struct Batch {
    time: UInt64Array,
    op: StringArray,
    offset: UInt64Array,
    size: UInt64Array,
    device: Option<StringArray>,
    next: usize,
}

impl Rows {
    /// Opens a Parquet file and checks its columns.
    pub(crate) fn open(path: &Path, caller: &Caller) -> Result<Self> {
        let file = inputs::open(path).map_err(|e| Error::io("read", path, e))?;
        let damaged = |e: String| Error::Trace(format!("{}: not a readable Parquet file: {e}", path.display()));
        let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new(file)).map_err(damaged)?;
        let names = names_of(builder.schema());
        let wanted = wanted_columns(path, names, builder.schema())?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
        let total = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let reader = guarded(|| builder.with_projection(mask).with_batch_size(BATCH_ROWS).build()).map_err(damaged)?;
        Ok(Rows { path: path.to_path_buf(), reader, names, batch: None, row: 0, total, failure: None, caller: caller.clone() })
    }

    /// The file is the log of a run: its times count from the start of that run.
    pub(crate) fn is_log(&self) -> bool {
        *self.names == COLUMNS_OF_LOG
    }

    /// Consumed rows as a share of all.
    pub(crate) fn share(&self) -> Option<f64> {
        (self.total > 0).then(|| (self.row as f64 / self.total as f64).min(1.0))
    }

    /// The next row and its number from 1, or `None` at the end.
    pub(crate) fn next_row(&mut self) -> Result<Option<(u64, Parsed<'_>)>> {
        while self.batch.as_ref().is_none_or(|batch| batch.next == batch.time.len()) {
            self.caller.check()?;
            self.share().inspect(|&share| self.caller.report_progress(share));
            if let Some(reason) = &self.failure {
                return Err(self.damaged(reason));
            }
            let names = self.names;
            let next = guarded(|| self.reader.next().map(|batch| Batch::of(&batch.map_err(|e| e.to_string())?, names)).transpose());
            match next {
                Ok(Some(batch)) => self.batch = Some(batch),
                Ok(None) => return Ok(None),
                Err(reason) => self.failure = Some(reason),
            }
        }
        self.row += 1;
        let batch = self.batch.as_mut().expect("the loop above leaves a batch with a row");
        batch.next += 1;
        Ok(Some((self.row, batch.record(batch.next - 1))))
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::Trace(format!("{}: cannot read the rows after {}: {reason}", self.path.display(), self.row))
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

/// The names under which a file has the columns: those of a log, if it has none of a trace's own.
fn names_of(schema: &SchemaRef) -> &'static [&'static str; 5] {
    let has = |name: &str| schema.index_of(name).is_ok();
    let [time, op, ..] = COLUMNS;
    let is_log = !has(time) && !has(op) && COLUMNS_OF_LOG[..REQUIRED].iter().all(|name| has(name));
    if is_log { &COLUMNS_OF_LOG } else { &COLUMNS }
}

fn wanted_columns(path: &Path, names: &[&str; 5], schema: &SchemaRef) -> Result<Vec<usize>> {
    if let Some(missing) = names[..REQUIRED].iter().find(|name| schema.index_of(name).is_err()) {
        let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let expected = names[..REQUIRED].join(", ");
        let message = format!("expected the columns {expected}; {missing} is missing, found \"{}\"", found.join(", "));
        return Err(Error::Trace(format!("{}: {message}", path.display())));
    }
    Ok(names.iter().filter_map(|name| schema.index_of(name).ok()).collect())
}

/// A column of numbers as unsigned ones. What does not fit becomes null, which is then a bad row, not a bad file. `None`: no numbers.
fn whole_numbers(column: &ArrayRef) -> Option<UInt64Array> {
    fn widened<T: ArrowPrimitiveType<Native: TryInto<u64>>>(column: &ArrayRef) -> UInt64Array {
        column.as_primitive::<T>().iter().map(|value| value.and_then(|value| value.try_into().ok())).collect()
    }
    fn rounded<T: ArrowPrimitiveType<Native: Into<f64>>>(column: &ArrayRef) -> UInt64Array {
        let whole = |value: f64| (value >= 0.0 && value < u64::MAX as f64 && value.fract() == 0.0).then_some(value as u64);
        column.as_primitive::<T>().iter().map(|value| value.and_then(|value| whole(value.into()))).collect()
    }
    Some(match column.data_type() {
        DataType::UInt64 => column.as_primitive::<UInt64Type>().clone(),
        DataType::UInt32 => widened::<UInt32Type>(column),
        DataType::UInt16 => widened::<UInt16Type>(column),
        DataType::UInt8 => widened::<UInt8Type>(column),
        DataType::Int64 => widened::<Int64Type>(column),
        DataType::Int32 => widened::<Int32Type>(column),
        DataType::Int16 => widened::<Int16Type>(column),
        DataType::Int8 => widened::<Int8Type>(column),
        // As tools write columns that may lack a value.
        DataType::Float64 => rounded::<Float64Type>(column),
        DataType::Float32 => rounded::<Float32Type>(column),
        DataType::Null => UInt64Array::new_null(column.len()),
        _ => return None,
    })
}

/// A column of text, or of numbers that are names. `None`: neither.
fn strings(column: &ArrayRef) -> Option<StringArray> {
    Some(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().clone(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().collect(),
        DataType::Utf8View => column.as_string_view().iter().collect(),
        DataType::Null => StringArray::new_null(column.len()),
        DataType::Dictionary(_, _) => {
            let encoded = column.as_any_dictionary();
            let words = strings(encoded.values())?;
            if words.is_empty() {
                return Some(StringArray::new_null(column.len()));
            }
            let word = |(row, key): (usize, usize)| (!column.is_null(row) && words.is_valid(key)).then(|| words.value(key));
            encoded.normalized_keys().into_iter().enumerate().map(word).collect()
        }
        _ => whole_numbers(column)?.iter().map(|value| value.map(|value| value.to_string())).collect(),
    })
}

impl Batch {
    fn of(batch: &RecordBatch, names: &[&str; 5]) -> std::result::Result<Self, String> {
        let [time, op, offset, size, device] = *names;
        let column = |name: &str| batch.column_by_name(name).ok_or_else(|| format!("the column {name} is missing"));
        let wrong = |name: &str, expected: &str| {
            format!(
                "the column {name}: expected {expected}, found {}",
                batch.schema().field_with_name(name).map_or(&DataType::Null, Field::data_type)
            )
        };
        let numbers = |name| whole_numbers(column(name)?).ok_or_else(|| wrong(name, "whole numbers"));
        let texts = |name| strings(column(name)?).ok_or_else(|| wrong(name, "text"));
        let device = if batch.column_by_name(device).is_some() { Some(texts(device)?) } else { None };
        Ok(Batch { time: numbers(time)?, op: texts(op)?, offset: numbers(offset)?, size: numbers(size)?, device, next: 0 })
    }

    fn record(&self, row: usize) -> Parsed<'_> {
        let number = |column: &UInt64Array, expected| {
            if column.is_null(row) { Err(Bad::new(expected, b"null, a fraction or a number out of range")) } else { Ok(column.value(row)) }
        };
        let op = if self.op.is_null(row) { "" } else { self.op.value(row) };
        let kind = match op {
            "read" => RequestKind::Read,
            "write" => RequestKind::Write,
            "trim" => RequestKind::Trim,
            "flush" => RequestKind::Flush,
            letter => csv::kind(letter.as_bytes())?,
        };
        let time_ns = number(&self.time, "a time_ns of 0 or more")?;
        let device = match &self.device {
            Some(column) if !column.is_null(row) => column.value(row).as_bytes(),
            _ => b"",
        };
        if kind == RequestKind::Flush {
            return Record::new(time_ns, kind, 0, 0, device);
        }
        let offset = number(&self.offset, "an offset_bytes of 0 or more")?;
        let length = number(&self.size, "a size_bytes of 0 or more")?;
        Record::new(time_ns, kind, offset, length, device)
    }
}
