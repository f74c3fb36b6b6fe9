//! The Arrow schema that a Parquet file may carry: durations, which Parquet itself stores as bare numbers of an unknown unit.
//!
//! The metadata entry `ARROW:schema` is base64 of an Arrow IPC message, a flatbuffer: `Message` has a `Schema`, which has fields, each with
//! its name and type (<https://github.com/apache/arrow/blob/main/format/Schema.fbs>). Only what is needed is read. Anything odd counts as no
//! schema.

use base64::prelude::{BASE64_STANDARD, Engine};

/// Key of the schema in the metadata of a Parquet file.
pub(super) const KEY: &str = "ARROW:schema";
/// Number of the type `Duration` in the schema's union of types.
const DURATION: u8 = 18;
/// Units of durations, by number.
const UNITS: [&str; 4] = ["s", "ms", "us", "ns"];
/// The unit of a duration that states none.
const DEFAULT_UNIT: u16 = 1;

/// The unit of the column `name` if it holds durations: `s`, `ms`, `us` or `ns`.
pub(super) fn unit_of_duration(encoded: &str, name: &str) -> Option<&'static str> {
    let message = BASE64_STANDARD.decode(encoded).ok()?;
    // The flatbuffer follows a mark of continuation, which old files lack, and its length.
    let length = if message.starts_with(&[0xff; 4]) { 4 } else { 0 };
    let schema = Table::root(message.get(length + 4..)?)?.table(2)?;
    let fields = schema.tables(1)?;
    let field = fields.into_iter().find(|field| field.text(0) == Some(name))?;
    if field.byte(2)? != DURATION {
        return None;
    }
    let unit = field.table(3)?.short(0).unwrap_or(DEFAULT_UNIT);
    UNITS.get(usize::from(unit)).copied()
}

/// A table of a flatbuffer: at its place is the distance back to a list of where its entries lie, by their numbers.
#[derive(Clone, Copy)]
struct Table<'a> {
    buffer: &'a [u8],
    at: usize,
}

impl<'a> Table<'a> {
    fn root(buffer: &'a [u8]) -> Option<Self> {
        Some(Table { buffer, at: number(buffer, 0)? as usize })
    }

    /// Place of an entry; `None` if it is absent.
    fn entry(self, index: usize) -> Option<usize> {
        let list = self.at.checked_add_signed(-(number(self.buffer, self.at)?.cast_signed() as isize))?;
        let (bytes, at) = (short(self.buffer, list)?, 4 + 2 * index);
        let offset = if at + 2 <= usize::from(bytes) { short(self.buffer, list + at)? } else { 0 };
        (offset > 0).then(|| self.at + usize::from(offset))
    }

    /// Place of what an entry refers to.
    fn referred(self, index: usize) -> Option<usize> {
        let at = self.entry(index)?;
        Some(at + number(self.buffer, at)? as usize)
    }

    fn byte(self, index: usize) -> Option<u8> {
        self.buffer.get(self.entry(index)?).copied()
    }

    fn short(self, index: usize) -> Option<u16> {
        short(self.buffer, self.entry(index)?)
    }

    fn table(self, index: usize) -> Option<Self> {
        Some(Table { at: self.referred(index)?, ..self })
    }

    fn text(self, index: usize) -> Option<&'a str> {
        let at = self.referred(index)?;
        let length = number(self.buffer, at)? as usize;
        std::str::from_utf8(self.buffer.get(at + 4..)?.get(..length)?).ok()
    }

    fn tables(self, index: usize) -> Option<Vec<Self>> {
        let at = self.referred(index)?;
        let count = number(self.buffer, at)? as usize;
        let places = (0..count).map(|index| at + 4 + 4 * index);
        places.map(|at| Some(Table { at: at + number(self.buffer, at)? as usize, ..self })).collect()
    }
}

fn number(buffer: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(buffer.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn short(buffer: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(buffer.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a table with the columns `time_ns`, durations in us, and `op`, texts, as pyarrow 26 writes it.
    const MICROSECONDS: &str = "/////6gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAIAAABAAAAABAAAANj///8AAAEFEAAAABgAAAAEAA\
        AAAAAAAAIAAABvcAAABAAEAAQAAAAQABQACAAGAAcADAAAABAAEAAAAAAAARIQAAAAIAAAAAQAAAAAAAAABwAAAHRpbWVfbnMAAAAGAAgABgAG\
        AAAAAAACAAAAAAA=";

    #[test]
    fn durations_are_found_by_their_column() {
        assert_eq!(unit_of_duration(MICROSECONDS, "time_ns"), Some("us"));
        assert_eq!(unit_of_duration(MICROSECONDS, "op"), None);
        assert_eq!(unit_of_duration(MICROSECONDS, "size"), None);
    }

    #[test]
    fn a_damaged_schema_is_none() {
        let message = BASE64_STANDARD.decode(MICROSECONDS).unwrap();
        for length in 0..message.len() {
            let _ = unit_of_duration(&BASE64_STANDARD.encode(&message[..length]), "time_ns");
        }
        for place in 0..message.len() {
            let mut other = message.clone();
            other[place] ^= 0xff;
            let _ = unit_of_duration(&BASE64_STANDARD.encode(&other), "time_ns");
        }
        assert_eq!(unit_of_duration("no base64", "time_ns"), None);
    }
}
