//! The per-request log: a Parquet file with a row for each request, in order of its index.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Int64Array, RecordBatch, StringArray, UInt8Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::order::InOrder;
use super::{Blocked, Completion, Part};
use crate::error::{Error, Result};
use crate::files::{WholeFile, io_reason};
use crate::request::RequestKind;
use crate::units::Ns;

/// Rows of a row group, the unit in which readers skip.
const ROWS_OF_A_GROUP: usize = 128 * 1024;
/// Rows handed to the encoder at once.
const ROWS_AT_ONCE: usize = 16 * 1024;
/// What the column `kind` can hold, in the order of its keys.
const KINDS: [&str; 4] = ["read", "write", "trim", "flush"];

/// Writes the log. It appears under its name when finished; dropped before that, it leaves no file.
///
/// Rows go by index, which costs the memory of the completions between the oldest request outstanding and the newest
/// completed one: the simulator holds as much of the same requests anyway.
#[derive(Debug)]
pub(super) struct RequestLog {
    /// With whether the request arrived in the warm-up.
    order: InOrder<(Completion, bool)>,
    rows: Rows,
    schema: SchemaRef,
    /// The names of the flows, where there are several.
    flows: Vec<String>,
    writer: ArrowWriter<WholeFile>,
}

impl RequestLog {
    /// Begins the log `path`. `flows`: the names of the flows, where there are several.
    pub(super) fn create(path: &Path, flows: &[String]) -> Result<Self> {
        let file = WholeFile::create(path)?;
        let schema = schema(!flows.is_empty());
        let error = |error| io_error(path, error);
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties())).map_err(error)?;
        Ok(RequestLog { order: InOrder::new(), rows: Rows::new(), schema, flows: flows.to_vec(), writer })
    }

    /// Takes one completion, in any order, each index once, with whether it arrived in the warm-up.
    pub(super) fn take(&mut self, completion: &Completion, in_warm_up: bool) -> Result<()> {
        self.order.insert(completion.index, (*completion, in_warm_up))?;
        while let Some((next, in_warm_up)) = self.order.pop() {
            self.rows.push(&next);
            self.rows.warm_up.push(in_warm_up);
            if self.rows.len() == ROWS_AT_ONCE {
                self.encode()?;
            }
        }
        Ok(())
    }

    /// Writes what is left and puts the file in its place. Requests after a gap in the index are an error of the caller.
    pub(super) fn finish(mut self) -> Result<()> {
        debug_assert_eq!(self.order.gap(), None);
        self.encode()?;
        let path = self.writer.inner().path().to_path_buf();
        self.writer.into_inner().map_err(|error| io_error(&path, error))?.commit()
    }

    fn encode(&mut self) -> Result<()> {
        let batch = std::mem::replace(&mut self.rows, Rows::new()).into_batch(&self.schema, &self.flows);
        self.writer.write(&batch).map_err(|error| io_error(self.writer.inner().path(), error))
    }
}

/// The columns: name and, as metadata, nothing; units are in the names. Whole numbers are signed, so that the difference of two columns is what
/// one expects. `warm_up`: the request arrived in the warm-up, so that no statistic counts it. `blocked_by`: the reason for which it waited
/// longest ([`Completion::blocked_by`]); null if it never waited. `flow`: the name of the flow, where there are several.
fn schema(with_flows: bool) -> SchemaRef {
    let names = || DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8));
    let mut fields = vec![
        Field::new("index", DataType::Int64, false),
        Field::new("kind", names(), false),
        Field::new("sequential", DataType::Boolean, false),
    ];
    let numbers = ["offset_bytes", "size_bytes", "arrival_ns", "response_ns"].map(String::from);
    let parts = Part::NAMES.map(|part| format!("{part}_ns"));
    fields.extend(numbers.into_iter().chain(parts).map(|name| Field::new(name, DataType::Int64, false)));
    fields.push(Field::new("warm_up", DataType::Boolean, false));
    fields.push(Field::new("blocked_by", names(), true));
    fields.extend(with_flows.then(|| Field::new("flow", names(), false)));
    Arc::new(Schema::new(fields))
}

fn properties() -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("ssdlab ", env!("CARGO_PKG_VERSION")).to_string())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROWS_OF_A_GROUP));
    // These two only rise, so their differences are small.
    for rising in ["index", "arrival_ns"].map(ColumnPath::from) {
        builder = builder.set_column_dictionary_enabled(rising.clone(), false).set_column_encoding(rising, Encoding::DELTA_BINARY_PACKED);
    }
    builder.build()
}

/// The file system's error from inside the Parquet library's, as the user needs to see it.
fn io_error(path: &Path, error: ParquetError) -> Error {
    Error::io("write", path, io_reason(error))
}

/// Rows that wait to be encoded, by column.
#[derive(Debug)]
struct Rows {
    index: Vec<u64>,
    kind: Vec<u8>,
    sequential: Vec<bool>,
    offset: Vec<u64>,
    size: Vec<u64>,
    arrival: Vec<Ns>,
    response: Vec<Ns>,
    parts: [Vec<Ns>; Part::COUNT],
    warm_up: Vec<bool>,
    blocked_by: Vec<Option<u8>>,
    flow: Vec<u8>,
}

impl Rows {
    fn new() -> Self {
        let numbers = || Vec::with_capacity(ROWS_AT_ONCE);
        Rows {
            index: numbers(),
            kind: Vec::with_capacity(ROWS_AT_ONCE),
            sequential: Vec::with_capacity(ROWS_AT_ONCE),
            offset: numbers(),
            size: numbers(),
            arrival: numbers(),
            response: numbers(),
            parts: std::array::from_fn(|_| numbers()),
            warm_up: Vec::with_capacity(ROWS_AT_ONCE),
            blocked_by: Vec::with_capacity(ROWS_AT_ONCE),
            flow: Vec::with_capacity(ROWS_AT_ONCE),
        }
    }

    fn len(&self) -> usize {
        self.index.len()
    }

    fn push(&mut self, completion: &Completion) {
        self.index.push(completion.index);
        self.kind.push(kind_key(completion.kind));
        self.sequential.push(completion.sequential);
        self.offset.push(completion.offset);
        self.size.push(completion.length);
        self.arrival.push(completion.arrival_ns);
        self.response.push(completion.completed_ns - completion.arrival_ns);
        for (column, &ns) in self.parts.iter_mut().zip(&completion.parts().0) {
            column.push(ns);
        }
        self.blocked_by.push(completion.blocked_by().map(|reason| reason as u8));
        self.flow.push(u8::try_from(completion.flow).expect("there are at most 256 flows"));
    }

    fn into_batch(self, schema: &SchemaRef, flows: &[String]) -> RecordBatch {
        // Times, addresses and the number of requests are all below 2^63: the simulator refuses what is not.
        let signed = |value: u64| i64::try_from(value).expect("a figure of a request has 63 bits");
        let numbers = |values: Vec<u64>| Arc::new(values.into_iter().map(signed).collect::<Int64Array>()) as ArrayRef;
        let named = |keys: UInt8Array, names: &[&str]| Arc::new(DictionaryArray::new(keys, Arc::new(StringArray::from(names.to_vec()))));
        let kind = named(self.kind.into(), &KINDS);
        let mut columns: Vec<ArrayRef> = vec![numbers(self.index), kind, Arc::new(BooleanArray::from(self.sequential))];
        columns.extend([self.offset, self.size, self.arrival, self.response].into_iter().chain(self.parts).map(numbers));
        columns.push(Arc::new(BooleanArray::from(self.warm_up)));
        columns.push(named(self.blocked_by.into(), &Blocked::NAMES));
        if !flows.is_empty() {
            columns.push(named(self.flow.into(), &flows.iter().map(String::as_str).collect::<Vec<_>>()));
        }
        RecordBatch::try_new(Arc::clone(schema), columns).expect("the columns are those of the schema, of one length")
    }
}

/// The place of `kind` in [`KINDS`].
fn kind_key(kind: RequestKind) -> u8 {
    match kind {
        RequestKind::Read => 0,
        RequestKind::Write => 1,
        RequestKind::Trim => 2,
        RequestKind::Flush => 3,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int64Type, UInt8Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::super::{Parts, Recorder, Times};
    use super::*;

    fn completion(index: u64) -> Completion {
        let kind = [RequestKind::Read, RequestKind::Write, RequestKind::Trim, RequestKind::Flush][index as usize % 4];
        let mut times = Times::default();
        for (reason, number) in Blocked::ALL.into_iter().zip(0_u64..) {
            times.wait(reason, index * 7 % (number + 2));
        }
        let arrival_ns = 1000 * index;
        let completed_ns = arrival_ns + times.parts().total();
        Completion {
            index,
            flow: 0,
            kind,
            sequential: index.is_multiple_of(5),
            offset: 512 * (index % 977),
            length: 512 + index % 3,
            arrival_ns,
            completed_ns,
            times,
        }
    }

    /// What the log says of a completion, apart from the times of its parts, these, and the reason for which it waited longest.
    type Row = (Completion, Parts, Option<&'static str>);

    fn row_of(completion: &Completion) -> Row {
        (Completion { times: Times::default(), ..*completion }, completion.parts(), completion.blocked_by().map(Blocked::name))
    }

    /// Row `row` of `batch`.
    fn row(batch: &RecordBatch, row: usize) -> Row {
        let number = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().value(row).cast_unsigned();
        let kinds = batch.column_by_name("kind").unwrap().as_dictionary::<UInt8Type>();
        let kind = kinds.values().as_string::<i32>().value(usize::from(kinds.keys().value(row)));
        let parts = Parts(Part::NAMES.map(|name| number(&format!("{name}_ns"))));
        let reasons = batch.column_by_name("blocked_by").unwrap().as_dictionary::<UInt8Type>();
        let reason = (!reasons.is_null(row)).then(|| reasons.values().as_string::<i32>().value(usize::from(reasons.keys().value(row))));
        let reason = reason.map(|name| *Blocked::NAMES.iter().find(|known| **known == name).unwrap());
        let completion = Completion {
            index: number("index"),
            flow: 0,
            kind: [RequestKind::Read, RequestKind::Write, RequestKind::Trim, RequestKind::Flush]
                [KINDS.iter().position(|&name| name == kind).unwrap()],
            sequential: batch.column_by_name("sequential").unwrap().as_boolean().value(row),
            offset: number("offset_bytes"),
            length: number("size_bytes"),
            arrival_ns: number("arrival_ns"),
            completed_ns: number("arrival_ns") + number("response_ns"),
            times: Times::default(),
        };
        (completion, parts, reason)
    }

    #[test]
    fn a_log_reads_back_as_it_was_recorded_by_index() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.parquet");
        let count = (ROWS_OF_A_GROUP + ROWS_AT_ONCE + 1000) as u64;
        let mut recorder = Recorder::new(Some(&path), Vec::new()).unwrap();
        // Groups of eight in reverse: the log must put them in order. The count is a multiple of eight.
        (0..count).for_each(|index| recorder.record(&completion(index ^ 7)).unwrap());
        recorder.finish().unwrap();

        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let mut index = 0;
        for batch in reader.build().unwrap().map(|batch| batch.unwrap()) {
            for at in 0..batch.num_rows() {
                assert_eq!(format!("{:?}", row(&batch, at)), format!("{:?}", row_of(&completion(index))));
                index += 1;
            }
        }
        assert_eq!(index, count);
        println!("{:.1} bytes per request", fs::metadata(&path).unwrap().len() as f64 / count as f64);
    }

    #[test]
    fn an_unfinished_log_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(Some(&folder.path().join("requests.parquet")), Vec::new()).unwrap();
        (0..2 * ROWS_OF_A_GROUP as u64).for_each(|index| recorder.record(&completion(index)).unwrap());
        drop(recorder);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_log_with_a_missing_request_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(Some(&folder.path().join("requests.parquet")), Vec::new()).unwrap();
        recorder.record(&completion(1)).unwrap();
        recorder.finish().unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_empty_log_is_a_readable_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.parquet");
        Recorder::new(Some(&path), Vec::new()).unwrap().finish().unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        assert_eq!(reader.schema().fields().len(), 21);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_the_systems_error_with_the_path() {
        let mut recorder = Recorder::new(Some(Path::new("/dev/full")), Vec::new()).unwrap();
        let result = (0..8 * ROWS_OF_A_GROUP as u64).try_for_each(|index| recorder.record(&completion(index)));
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with("/dev/full: cannot write: No space left"), "{message}");

        let mut recorder = Recorder::new(Some(Path::new("/dev/full")), Vec::new()).unwrap();
        recorder.record(&completion(0)).unwrap();
        let message = recorder.finish().unwrap_err().to_string();
        assert!(message.starts_with("/dev/full: cannot write: No space left"), "{message}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_before_the_run() {
        let message = Recorder::new(Some(Path::new("/nonexistent/requests.parquet")), Vec::new()).unwrap_err().to_string();
        assert!(message.starts_with("/nonexistent/requests.parquet: cannot write: No such file"), "{message}");
    }
}
