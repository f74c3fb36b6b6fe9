//! The per-request log: a Parquet file with a row for each request, in order of its index.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use parquet::data_type::ByteArray;

use super::order::InOrder;
use super::{Blocked, Completion, Part};
use ssdlab_base::error::{Error, Result};
use ssdlab_base::files::WholeFile;
use ssdlab_base::request::RequestKind;
use ssdlab_base::status::Status;
use ssdlab_base::table::{Holds, ROWS_AT_ONCE, Table, Values};

/// Columns that only some logs have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra {
    /// Reads may have errors: whether data of the request are lost.
    pub errors: bool,
    /// Blocks can fail: whether the drive rejected the request.
    pub wear: bool,
    /// Data are placed by handle: the handle of the request.
    pub handles: bool,
}

/// Writes the log. The file appears under its name when the log is finished; a log dropped before that leaves no file.
///
/// Rows go by index. That takes memory for the completions between the oldest outstanding request and the newest completed one; the
/// simulator holds as much for the same requests anyway. A thread of its own encodes and writes them, since that takes longer than to
/// simulate a request.
#[derive(Debug)]
pub(super) struct RequestLog {
    /// Completions that wait for their turn, each with whether the request arrived in the warm-up.
    order: InOrder<(Completion, bool)>,
    /// Completions in order that have not been handed over.
    batch: Batch,
    writer: Writer,
}

impl RequestLog {
    /// Creates the log at `path`. `flows`: the names of the flows, if there are several.
    pub(super) fn create(path: &Path, flows: &[String], extra: Extra) -> Result<Self> {
        let table =
            Table::new(WholeFile::create(path)?, &columns(!flows.is_empty(), extra)).map_err(|error| Error::io("write", path, error))?;
        let names = |names: &[&str]| names.iter().map(|&name| ByteArray::from(name)).collect();
        let encoder = Encoder {
            kinds: names(&RequestKind::NAMES),
            reasons: names(&Blocked::NAMES),
            flows: flows.iter().map(|name| ByteArray::from(name.as_str())).collect(),
            extra,
            table,
            rows: Rows::default(),
        };
        Ok(RequestLog { order: InOrder::new(), batch: Batch::new(), writer: Writer::start(encoder, path)? })
    }

    /// Adds a completion and whether the request arrived in the warm-up. In any order; each index once.
    pub(super) fn take(&mut self, completion: &Completion, in_warm_up: bool) -> Result<()> {
        self.order.insert(completion.index, (*completion, in_warm_up))?;
        while let Some(next) = self.order.pop() {
            self.batch.push(next);
            if self.batch.len() == ROWS_AT_ONCE {
                self.writer.write(&mut self.batch)?;
            }
        }
        Ok(())
    }

    /// Writes the remaining rows and gives the file its name. The caller must have added every index up to the last.
    pub(super) fn finish(mut self) -> Result<()> {
        debug_assert_eq!(self.order.gap(), None);
        self.writer.write(&mut self.batch)?;
        let table = self.writer.end()?.expect("it ends once").table;
        let path = table.inner().path().to_path_buf();
        table.finish().map_err(|error| Error::io("write", &path, error))?.commit()
    }
}

/// Completions, each with whether the request arrived in the warm-up.
type Batch = Vec<(Completion, bool)>;

/// Batches that may wait for the thread that encodes them.
const BATCHES: usize = 2;

/// The thread that encodes completions. It ends with the log.
#[derive(Debug)]
struct Writer {
    /// `None` once the thread is to end.
    batches: Option<SyncSender<Batch>>,
    /// Batches that have been written: their memory is used again.
    written: Receiver<Batch>,
    thread: Option<JoinHandle<Result<Encoder>>>,
}

impl Writer {
    fn start(mut encoder: Encoder, path: &Path) -> Result<Self> {
        let (batches, to_write) = sync_channel::<Batch>(BATCHES);
        let (done, written) = channel();
        let write_all = move || {
            for mut batch in to_write {
                encoder.encode(&batch)?;
                batch.clear();
                // The simulation takes no buffer back after its last batch, so sending may fail.
                _ = done.send(batch);
            }
            Ok(encoder)
        };
        let spawned = thread::Builder::new().name("log".into()).spawn(write_all);
        let thread = spawned.map_err(|error| Error::io("start the thread that writes", path, error))?;
        Ok(Writer { batches: Some(batches), written, thread: Some(thread) })
    }

    /// Hands a batch over, and leaves an empty one in its place. Fails if a batch handed over before could not be written.
    fn write(&mut self, batch: &mut Batch) -> Result<()> {
        let full = std::mem::replace(batch, self.written.try_recv().unwrap_or_default());
        match self.batches.as_ref().map(|batches| batches.send(full)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended early, which it does with an error only.
            _ => self.end().map(drop),
        }
    }

    /// Waits until all batches have been written. `None` if that was done before.
    fn end(&mut self) -> Result<Option<Encoder>> {
        self.batches = None;
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(None),
            Some(Ok(ended)) => ended.map(Some),
            Some(Err(panic)) => resume_unwind(panic),
        }
    }
}

/// The unfinished file is gone when this returns.
impl Drop for Writer {
    fn drop(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // The thread's error, if any, has no receiver any more.
            _ = thread.join();
        }
    }
}

/// Encodes completions into the file.
#[derive(Debug)]
struct Encoder {
    kinds: Vec<ByteArray>,
    reasons: Vec<ByteArray>,
    /// The names of the flows, if there are several.
    flows: Vec<ByteArray>,
    extra: Extra,
    table: Table<WholeFile>,
    /// Buffer reused from batch to batch.
    rows: Rows,
}

impl Encoder {
    /// Encodes completions into the table, in the order of [`columns`].
    fn encode(&mut self, batch: &Batch) -> Result<()> {
        self.rows.clear();
        batch.iter().for_each(|(completion, in_warm_up)| self.rows.push(completion, *in_warm_up));
        let rows = &self.rows;
        let mut columns = vec![Values::Numbers(&rows.index), Values::Names(&rows.kind, &self.kinds), Values::Flags(&rows.sequential)];
        let numbers = [&rows.offset, &rows.size, &rows.arrival, &rows.response].into_iter().chain(&rows.parts);
        columns.extend(numbers.map(|column| Values::Numbers(column)));
        columns.extend([Values::Flags(&rows.warm_up), Values::Names(&rows.blocked_by, &self.reasons)]);
        columns.extend((!self.flows.is_empty()).then_some(Values::Names(&rows.flow, &self.flows)));
        columns.extend(self.extra.errors.then_some(Values::Flags(&rows.uncorrectable)));
        columns.extend(self.extra.wear.then_some(Values::Flags(&rows.rejected)));
        columns.extend(self.extra.handles.then_some(Values::NumbersOrNulls(&rows.handle)));
        self.table.write(batch.len(), &columns).map_err(|error| Error::io("write", self.table.inner().path(), error))
    }
}

/// The columns; units are in the names. Whole numbers are signed, so that differences of two columns can be negative. `warm_up`: the
/// request arrived in the warm-up and no statistic counts it. `blocked_by`: the reason of the longest wait of the page (or part) that ended last
/// ([`Completion::blocked_by`]); null if it never waited. `flow`: the name of the flow, if there are several. `uncorrectable`:
/// data that the request read are lost; only if reads may have errors. `rejected`: the drive was read-only, and rejected the request, or a part of it; only if blocks can fail. `handle`: the placement handle, null if the request names none; only if
/// data are placed by handle.
fn columns(with_flows: bool, extra: Extra) -> Vec<(String, Holds)> {
    let of = |name: &str, holds| (name.to_string(), holds);
    let mut columns = vec![of("index", Holds::Rising), of("kind", Holds::Texts), of("sequential", Holds::Flags)];
    columns.extend([of("offset_bytes", Holds::Numbers), of("size_bytes", Holds::Numbers)]);
    columns.extend([of("arrival_ns", Holds::Rising), of("response_ns", Holds::Numbers)]);
    columns.extend(Part::NAMES.map(|part| (format!("{part}_ns"), Holds::Numbers)));
    columns.extend([of("warm_up", Holds::Flags), of("blocked_by", Holds::TextsOrNulls)]);
    columns.extend(with_flows.then(|| of("flow", Holds::Texts)));
    columns.extend(extra.errors.then(|| of("uncorrectable", Holds::Flags)));
    columns.extend(extra.wear.then(|| of("rejected", Holds::Flags)));
    columns.extend(extra.handles.then(|| of("handle", Holds::NumbersOrNulls)));
    columns
}

/// Rows not encoded yet, by column.
#[derive(Debug, Default)]
struct Rows {
    index: Vec<i64>,
    kind: Vec<Option<u8>>,
    sequential: Vec<bool>,
    offset: Vec<i64>,
    size: Vec<i64>,
    arrival: Vec<i64>,
    response: Vec<i64>,
    parts: [Vec<i64>; Part::COUNT],
    warm_up: Vec<bool>,
    blocked_by: Vec<Option<u8>>,
    flow: Vec<Option<u8>>,
    uncorrectable: Vec<bool>,
    rejected: Vec<bool>,
    handle: Vec<Option<u8>>,
}

impl Rows {
    fn push(&mut self, completion: &Completion, in_warm_up: bool) {
        // Times, addresses and the number of requests are all below 2^63: the simulator rejects larger ones.
        let signed = |value: u64| i64::try_from(value).expect("a figure of a request has 63 bits");
        self.index.push(signed(completion.index));
        self.kind.push(Some(completion.kind as u8));
        self.sequential.push(completion.sequential);
        self.offset.push(signed(completion.offset));
        self.size.push(signed(completion.length));
        self.arrival.push(signed(completion.arrival_ns));
        self.response.push(signed(completion.completed_ns - completion.arrival_ns));
        for (column, &ns) in self.parts.iter_mut().zip(&completion.parts().0) {
            column.push(signed(ns));
        }
        self.warm_up.push(in_warm_up);
        self.blocked_by.push(completion.blocked_by().map(|reason| reason as u8));
        self.uncorrectable.push(completion.times.status == Status::Lost);
        self.rejected.push(completion.is_rejected());
        self.handle.push(completion.handle);
        self.flow.push(Some(u8::try_from(completion.flow).expect("there are at most 256 flows")));
    }

    /// Empties the columns; they keep their memory.
    fn clear(&mut self) {
        let Rows {
            index,
            kind,
            sequential,
            offset,
            size,
            arrival,
            response,
            parts,
            warm_up,
            blocked_by,
            flow,
            uncorrectable,
            rejected,
            handle,
        } = self;
        [index, offset, size, arrival, response].into_iter().chain(parts).for_each(Vec::clear);
        [kind, blocked_by, flow, handle].into_iter().for_each(Vec::clear);
        [sequential, warm_up, uncorrectable, rejected].into_iter().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::{self, File};

    use parquet::basic::Encoding;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};

    use super::super::{Parts, Recorder, Times};
    use super::*;
    use ssdlab_base::table::ROWS_OF_A_GROUP;

    fn completion(index: u64) -> Completion {
        let kind = RequestKind::ALL[index as usize % RequestKind::COUNT];
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
            handle: None,
            arrival_ns,
            completed_ns,
            times,
        }
    }

    /// A row of the log: the completion without its latency parts, these parts, and the reason of the longest wait.
    type Logged = (Completion, Parts, Option<&'static str>);

    fn logged(completion: &Completion) -> Logged {
        (Completion { times: Times::default(), ..*completion }, completion.parts(), completion.blocked_by().map(Blocked::name))
    }

    /// Reads a row of the file back.
    fn read(row: &Row) -> Logged {
        let fields: BTreeMap<&str, &Field> = row.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect();
        let number = |name: &str| if let Field::Long(value) = fields[name] { value.cast_unsigned() } else { panic!("{name} is no number") };
        let text = |name: &str| if let Field::Str(text) = fields[name] { Some(text.as_str()) } else { None };
        let reason = text("blocked_by").map(|name| *Blocked::NAMES.iter().find(|known| **known == name).unwrap());
        let completion = Completion {
            index: number("index"),
            flow: 0,
            kind: RequestKind::ALL[RequestKind::NAMES.iter().position(|&name| Some(name) == text("kind")).unwrap()],
            sequential: *fields["sequential"] == Field::Bool(true),
            offset: number("offset_bytes"),
            length: number("size_bytes"),
            handle: None,
            arrival_ns: number("arrival_ns"),
            completed_ns: number("arrival_ns") + number("response_ns"),
            times: Times::default(),
        };
        (completion, Parts(Part::NAMES.map(|name| number(&format!("{name}_ns")))), reason)
    }

    fn open(path: &Path) -> SerializedFileReader<File> {
        SerializedFileReader::new(File::open(path).unwrap()).unwrap()
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

        let file = open(&path);
        let groups = file.metadata().row_groups().iter().map(|group| group.num_rows() as usize);
        assert_eq!(groups.collect::<Vec<_>>(), [ROWS_OF_A_GROUP, ROWS_AT_ONCE + 1000]);
        let mut index = 0;
        for row in file.get_row_iter(None).unwrap() {
            assert_eq!(format!("{:?}", read(&row.unwrap())), format!("{:?}", logged(&completion(index))));
            index += 1;
        }
        assert_eq!(index, count);
        println!("{:.1} bytes per request", fs::metadata(&path).unwrap().len() as f64 / count as f64);
    }

    /// The few different words are stored in dictionaries; rising numbers as differences, which takes little room.
    #[test]
    fn words_are_in_dictionaries_and_rising_numbers_as_differences() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.parquet");
        let mut log = RequestLog::create(&path, &["a", "b"].map(String::from), Extra::default()).unwrap();
        (0..5000).for_each(|index| log.take(&Completion { flow: index as u16 % 2, ..completion(index) }, index < 9).unwrap());
        log.finish().unwrap();
        let file = open(&path);
        for column in file.metadata().row_group(0).columns() {
            let name = column.column_path().string();
            let (is_text, is_rising) = (["kind", "blocked_by", "flow"].contains(&&*name), ["index", "arrival_ns"].contains(&&*name));
            assert!(!is_text || column.encodings().any(|encoding| encoding == Encoding::RLE_DICTIONARY), "{name}");
            assert_eq!(is_rising, column.encodings().any(|encoding| encoding == Encoding::DELTA_BINARY_PACKED), "{name}");
            assert_eq!(column.column_descr().self_type().is_optional(), name == "blocked_by");
        }
        let last = file.get_row_iter(None).unwrap().last().unwrap().unwrap().to_string();
        assert!(last.contains("flow: \"b\"") && last.contains("warm_up: false"), "{last}");
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
        let file = open(&path).metadata().file_metadata().clone();
        assert_eq!((file.num_rows(), file.schema_descr().num_columns()), (0, 26));
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
