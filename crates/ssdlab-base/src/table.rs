//! Tables as Parquet files, written some rows at a time.
//!
//! In a file, one column of a row group follows the other. The columns of the group that is being filled are therefore encoded in memory, and
//! go to the file once it is full. The library's own interface for this is that of Arrow, whose crates take longer to compile than the core.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type, TypePtr};

use crate::version::version;

/// Rows of a row group, the unit in which readers skip.
pub const ROWS_OF_A_GROUP: usize = 128 * 1024;
/// Maximum number of rows handed to the encoder at once; a row group is a multiple of it.
pub const ROWS_AT_ONCE: usize = 16 * 1024;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Whole numbers.
    Numbers,
    /// Whole numbers, or null.
    NumbersOrNulls,
    /// Whole numbers in ascending order (equal ones may follow each other), so that their differences are small.
    Rising,
    /// Whole numbers from 0 on, each passed as the signed number with the same bits.
    Unsigned,
    /// Yes or no.
    Flags,
    /// Text.
    Texts,
    /// Text, or null.
    TextsOrNulls,
}

/// The values of a column for some rows.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Values of a column of whole numbers.
    Numbers(&'a [i64]),
    /// Values of a column of small whole numbers or null.
    NumbersOrNulls(&'a [Option<u8>]),
    /// Values of a column of yes or no.
    Flags(&'a [bool]),
    /// Values of a column of text.
    Texts(&'a [ByteArray]),
    /// Values of a column with few different texts: the index of each in the list of all texts, `None` for null.
    Names(&'a [Option<u8>], &'a [ByteArray]),
}

/// A Parquet file under construction.
pub struct Table<W: Write + Send> {
    file: SerializedFileWriter<W>,
    /// Columns of the row group that is being filled; empty between two row groups.
    group: Vec<Column>,
    /// Rows of the current row group so far.
    rows: usize,
}

impl<W: Write + Send> fmt::Debug for Table<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("file", &self.file).field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<W: Write + Send> Table<W> {
    /// Begins a table with these columns.
    pub fn new<N: AsRef<str>>(out: W, columns: &[(N, Holds)]) -> io::Result<Self> {
        let file = SerializedFileWriter::new(out, schema(columns), properties(columns)).map_err(io_reason)?;
        Ok(Table { file, group: Vec::new(), rows: 0 })
    }

    /// Adds `rows` rows, by column: at most [`ROWS_AT_ONCE`], and fewer only the last time.
    pub fn write(&mut self, rows: usize, columns: &[Values<'_>]) -> io::Result<()> {
        if rows == 0 {
            return Ok(());
        }
        if self.group.is_empty() {
            let properties = self.file.properties();
            self.group = self.file.schema_descr().columns().iter().map(|of| Column::new(of, properties)).collect();
        }
        debug_assert_eq!(self.group.len(), columns.len());
        for (column, values) in self.group.iter_mut().zip(columns) {
            column.write(values).map_err(io_reason)?;
        }
        self.rows += rows;
        if self.rows >= ROWS_OF_A_GROUP { self.finish_group().map_err(io_reason) } else { Ok(()) }
    }

    /// The writer that the table is written to.
    pub fn inner(&self) -> &W {
        self.file.inner()
    }

    /// Writes the remaining rows and the end of the file, and returns the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.finish_group().and_then(|()| self.file.into_inner()).map_err(io_reason)
    }

    fn finish_group(&mut self) -> Result<()> {
        self.rows = 0;
        if self.group.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in self.group.drain(..) {
            let (bytes, close) = column.finish()?;
            group.append_column(&bytes, close)?;
        }
        group.close().map(drop)
    }
}

/// One column of the row group that is being filled.
struct Column {
    writer: ColumnWriter<'static>,
    pages: Pages,
}

impl Column {
    fn new(of: &ColumnDescPtr, properties: &WriterPropertiesPtr) -> Self {
        let pages = Pages(Arc::new(Mutex::new(TrackedWrite::new(Vec::new()))));
        Column { writer: get_column_writer(of.clone(), properties.clone(), Box::new(pages.clone())), pages }
    }

    fn write(&mut self, values: &Values<'_>) -> Result<usize> {
        match (&mut self.writer, values) {
            (ColumnWriter::Int64ColumnWriter(writer), Values::Numbers(numbers)) => writer.write_batch(numbers, None, None),
            (ColumnWriter::Int64ColumnWriter(writer), Values::NumbersOrNulls(numbers)) => {
                let known: Vec<i64> = numbers.iter().flatten().map(|&number| number.into()).collect();
                writer.write_batch(&known, Some(&levels(numbers)), None)
            }
            (ColumnWriter::BoolColumnWriter(writer), Values::Flags(flags)) => writer.write_batch(flags, None, None),
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Texts(texts)) => writer.write_batch(texts, None, None),
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Names(places, names)) => {
                let texts: Vec<ByteArray> = places.iter().flatten().map(|&place| names[usize::from(place)].clone()).collect();
                writer.write_batch(&texts, Some(&levels(places)), None)
            }
            _ => unreachable!("the values are those of another column"),
        }
    }

    /// The encoded column, and its description for the file.
    fn finish(self) -> Result<(Bytes, ColumnCloseResult)> {
        let close = self.writer.close()?;
        let pages = std::mem::replace(&mut *self.pages.lock(), TrackedWrite::new(Vec::new()));
        Ok((pages.into_inner()?.into(), close))
    }
}

/// The encoded pages of a column, in memory.
#[derive(Clone)]
struct Pages(Arc<Mutex<TrackedWrite<Vec<u8>>>>);

impl Pages {
    fn lock(&self) -> MutexGuard<'_, TrackedWrite<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        SerializedPageWriter::new(&mut self.lock()).write_page(page)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// For the library: which values are not null.
fn levels(values: &[Option<u8>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

fn schema<N: AsRef<str>>(columns: &[(N, Holds)]) -> TypePtr {
    let fields = columns.iter().map(|(name, holds)| {
        let (physical, logical) = match holds {
            Holds::Numbers | Holds::NumbersOrNulls | Holds::Rising => (Physical::INT64, None),
            Holds::Unsigned => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Holds::Flags => (Physical::BOOLEAN, None),
            Holds::Texts | Holds::TextsOrNulls => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let nulls = matches!(holds, Holds::TextsOrNulls | Holds::NumbersOrNulls);
        let repetition = if nulls { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(name.as_ref(), physical).with_logical_type(logical).with_repetition(repetition).build();
        Arc::new(field.expect("these types go together"))
    });
    Arc::new(Type::group_type_builder("schema").with_fields(fields.collect()).build().expect("a group may have any columns"))
}

fn properties<N: AsRef<str>>(columns: &[(N, Holds)]) -> WriterPropertiesPtr {
    let mut builder = WriterProperties::builder()
        .set_created_by(format!("ssdlab {}", version()))
        .set_compression(Compression::ZSTD(ZstdLevel::default()));
    for (name, _) in columns.iter().filter(|(_, holds)| *holds == Holds::Rising) {
        let column = ColumnPath::from(name.as_ref());
        builder = builder.set_column_dictionary_enabled(column.clone(), false).set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    Arc::new(builder.build())
}

/// The I/O error inside an error of the Parquet library, as the user needs to see it.
fn io_reason(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => inner.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error),
        other => io::Error::other(other),
    }
}
