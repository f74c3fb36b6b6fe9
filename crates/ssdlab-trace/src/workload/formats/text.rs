//! Columns and numbers of one line, without allocation and without floating point.

use super::Bad;

/// Columns separated by one byte. Spaces around a column do not belong to it.
pub(crate) struct Columns<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Columns<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8], separator: u8) -> Self {
        Columns { rest: Some(line), separator }
    }

    /// Takes the next column. `columns`: the expected columns of the line, for messages.
    #[inline]
    pub(crate) fn take(&mut self, columns: &'static str) -> Result<&'a [u8], Bad> {
        let Some(rest) = self.rest else { return Err(Bad::new(columns, b"fewer columns")) };
        // Columns are short: a plain loop beats a call to a vectorised search.
        let (column, rest) = match rest.iter().position(|&b| b == self.separator) {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        self.rest = rest;
        Ok(trim(column))
    }

    /// Number of bytes not taken yet.
    #[inline]
    pub(crate) fn rest_len(&self) -> usize {
        self.rest.map_or(0, <[u8]>::len)
    }

    /// Checks that no column is left. `columns`: the expected columns of the line, for messages.
    #[inline]
    pub(crate) fn end(&self, columns: &'static str) -> Result<(), Bad> {
        if self.rest.is_some() { Err(Bad::new(columns, b"more columns")) } else { Ok(()) }
    }
}

#[inline]
fn trim(column: &[u8]) -> &[u8] {
    match column {
        [b' ', ..] | [.., b' '] => column.trim_ascii(),
        _ => column,
    }
}

/// Words separated by any number of spaces and tabs.
pub(crate) struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Words(line)
    }

    /// Takes the next word, if there is one.
    #[inline]
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|b| !matches!(b, b' ' | b'\t'))?;
        let rest = &self.0[start..];
        let end = rest.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(rest.len());
        self.0 = &rest[end..];
        Some(&rest[..end])
    }

    /// The text that has not been taken.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Takes the next word. `columns`: the expected columns of the line, for messages.
    #[inline]
    pub(crate) fn take(&mut self, columns: &'static str) -> Result<&'a [u8], Bad> {
        self.word().ok_or_else(|| Bad::new(columns, b"fewer columns"))
    }

    /// Checks that no word is left. `columns`: the expected columns of the line, for messages.
    #[inline]
    pub(crate) fn end(&mut self, columns: &'static str) -> Result<(), Bad> {
        if self.word().is_some() { Err(Bad::new(columns, b"more columns")) } else { Ok(()) }
    }
}

/// Words separated by any number of spaces and tabs, the last word first.
pub(crate) struct LastWords<'a>(&'a [u8]);

impl<'a> LastWords<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8]) -> Self {
        LastWords(line)
    }

    /// Takes the last word not taken yet. `columns`: the expected columns of the line, for messages.
    #[inline]
    pub(crate) fn take(&mut self, columns: &'static str) -> Result<&'a [u8], Bad> {
        let is_blank = |b: &u8| matches!(b, b' ' | b'\t');
        let end = self.0.iter().rposition(|b| !is_blank(b)).ok_or_else(|| Bad::new(columns, b"fewer columns"))? + 1;
        let start = self.0[..end].iter().rposition(is_blank).map_or(0, |at| at + 1);
        let word = &self.0[start..end];
        self.0 = &self.0[..start];
        Ok(word)
    }
}

/// An unsigned decimal integer: digits only, within 64 bits. Signs, points and exponents are refused, so that a number damaged by a
/// spreadsheet (`1.82083E+11`) is never read as 1.
#[inline]
pub(crate) fn integer(field: &[u8], expected: &'static str) -> Result<u64, Bad> {
    digits(field).ok_or_else(|| Bad::new(expected, field))
}

/// Splits off the integer at the start of a text: up to the first byte that is not a digit. `None` unless it has 1 to 19 digits.
#[inline]
pub(crate) fn leading_integer(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut value, mut length) = (0u64, 0);
    while let Some(&byte) = text.get(length) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        // Wraps only with more than 19 digits.
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    (1..=19).contains(&length).then(|| (value, &text[length..]))
}

#[inline]
fn digits(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    if field.len() > 19 {
        return long_digits(field);
    }
    let mut value = 0u64;
    for &byte in field {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // 19 digits are below 10^19 < 2^64: this cannot wrap.
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    Some(value)
}

#[cold]
fn long_digits(field: &[u8]) -> Option<u64> {
    field.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// Parses a decimal number and returns it times 10^`places`, exactly; further digits are cut off. `places` is at most 9.
#[inline]
pub(crate) fn decimal(field: &[u8], places: u32, expected: &'static str) -> Result<u64, Bad> {
    let bad = || Bad::new(expected, field);
    let (whole, fraction) = match field.iter().position(|&b| b == b'.') {
        Some(at) => (&field[..at], &field[at + 1..]),
        None => (field, &field[..0]),
    };
    let has_point = whole.len() != field.len();
    let whole = if whole.is_empty() && !fraction.is_empty() { 0 } else { digits(whole).ok_or_else(bad)? };
    if has_point && !fraction.iter().all(u8::is_ascii_digit) {
        return Err(bad());
    }
    let kept = &fraction[..fraction.len().min(places as usize)];
    let kept_value = if kept.is_empty() { 0 } else { digits(kept).ok_or_else(bad)? };
    let scaled_fraction = kept_value * 10u64.pow(places - kept.len() as u32);
    whole.checked_mul(10u64.pow(places)).and_then(|v| v.checked_add(scaled_fraction)).ok_or_else(bad)
}

/// Parses a number of units and returns it in bytes.
#[inline]
pub(crate) fn units(field: &[u8], unit_bytes: u64, expected: &'static str) -> Result<u64, Bad> {
    integer(field, expected)?.checked_mul(unit_bytes).ok_or_else(|| Bad::new(expected, field))
}

/// Whether a line is the header `header`, ignoring case and spaces.
pub(crate) fn is_header(line: &[u8], header: &str) -> bool {
    let mut found = line.split(|&b| b == b',');
    let same = header.split(',').all(|name| found.next().is_some_and(|f| f.trim_ascii().eq_ignore_ascii_case(name.as_bytes())));
    same && found.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_digits_only() {
        assert_eq!(integer(b"0", "").ok(), Some(0));
        assert_eq!(integer(b"18446744073709551615", "").ok(), Some(u64::MAX));
        assert_eq!(integer(b"000000000000000000000000012", "").ok(), Some(12));
        for bad in ["", "-1", "+1", "1.0", "1e3", "1.82083E+11", "0x10", "18446744073709551616", "1 2", "\u{0661}"] {
            assert!(integer(bad.as_bytes(), "").is_err(), "{bad}");
        }
    }

    #[test]
    fn an_integer_is_split_off_the_rest() {
        assert_eq!(leading_integer(b"120,R"), Some((120, &b",R"[..])));
        assert_eq!(leading_integer(b"9999999999999999999"), Some((9_999_999_999_999_999_999, &b""[..])));
        for none in ["", ",1", "-1", " 1", "00000000000000000001", "18446744073709551616,"] {
            assert_eq!(leading_integer(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal(b"1456095145.133076001", 9, "").ok(), Some(1_456_095_145_133_076_001));
        assert_eq!(decimal(b"26.214000", 6, "").ok(), Some(26_214_000));
        assert_eq!(decimal(b"7", 3, "").ok(), Some(7_000));
        assert_eq!(decimal(b".5", 9, "").ok(), Some(500_000_000));
        assert_eq!(decimal(b"5.", 0, "").ok(), Some(5));
        assert_eq!(decimal(b"0.0000000019", 9, "").ok(), Some(1)); // cut off, not rounded
        for bad in ["", ".", "-0.5", "1.2.3", "1.-5", "1e-5", "1.5E+3", "nan", "inf", "18446744073.709551616"] {
            assert!(decimal(bad.as_bytes(), 9, "").is_err(), "{bad}");
        }
    }

    #[test]
    fn headers_are_known_in_any_case() {
        assert!(is_header(b"Timestamp, response,IOType", "timestamp,Response,iotype"));
        assert!(!is_header(b"Timestamp,response", "timestamp,Response,iotype"));
        assert!(!is_header(b"Timestamp,response,IOType,x", "timestamp,Response,iotype"));
    }
}
