//! Parses amounts with units: `64MiB` bytes, `2M` requests.
//!
//! A letter alone is a power of 1024 for bytes, as in `dd` and `fio`, and a power of 1000 for counts.

use serde_json::Value;

use ssdlab_base::error::{Error, Result};

use super::Problem;
use super::node::{KeyShape, Node, root};

/// Kind of an amount, which decides the meaning of the unit behind the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Bytes: `k`, `Ki` and `KiB` are 1024, `kB` is 1000; likewise M, G and T.
    Bytes,
    /// A number of things: `k` is 1000; likewise M and G.
    Count,
}

impl Amount {
    /// Parses an amount; `name` is its name in messages.
    ///
    /// # Errors
    /// [`Error::Usage`] with the accepted forms.
    pub fn parse(self, name: &str, text: &str) -> Result<u64> {
        self.value(text).ok_or_else(|| Error::Usage(self.mismatch(name, text)))
    }

    fn mismatch(self, name: &str, text: &str) -> String {
        let expected = match self {
            Amount::Bytes => "a number of bytes such as 4096, 4k or 4KiB (times 1024) or 4kB (times 1000); also with M, G or T",
            Amount::Count => "a whole number such as 5000, 5k (times 1000) or 2M",
        };
        format!("{name} = \"{text}\": expected {expected}")
    }

    /// The amount as a whole number, computed without floats. `None` if it is malformed, not whole or above 64 bits.
    fn value(self, text: &str) -> Option<u64> {
        let text = text.trim();
        let letters = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(letters);
        let (whole, fraction) = match number.trim_end().split_once('.') {
            Some((whole, fraction)) => (digits(whole)?, digits(fraction)?),
            None => (digits(number.trim_end())?, String::new()),
        };
        let places = u32::try_from(fraction.len()).ok()?;
        let scaled = format!("{whole}{fraction}").parse::<u128>().ok()?.checked_mul(u128::from(self.unit(unit)?))?;
        let divisor = 10_u128.checked_pow(places)?;
        (scaled % divisor == 0).then_some(scaled / divisor)?.try_into().ok()
    }

    fn unit(self, letters: &str) -> Option<u64> {
        let letters = letters.to_ascii_lowercase();
        let (power, rest) = match letters.chars().next() {
            None => return Some(1),
            Some('b') if self == Amount::Bytes && letters == "b" => return Some(1),
            Some('k') => (1, &letters[1..]),
            Some('m') => (2, &letters[1..]),
            Some('g') => (3, &letters[1..]),
            Some('t') if self == Amount::Bytes => (4, &letters[1..]),
            Some(_) => return None,
        };
        match (self, rest) {
            (Amount::Bytes, "" | "i" | "ib") => Some(1024_u64.pow(power)),
            (Amount::Bytes, "b") | (Amount::Count, "") => Some(1000_u64.pow(power)),
            _ => None,
        }
    }
}

/// The digits of a number without the underscores between them. `None` for other characters, an underscore at an end, or no digits.
fn digits(text: &str) -> Option<String> {
    let ends_well = !text.starts_with('_') && !text.ends_with('_') && !text.is_empty();
    (ends_well && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')).then(|| text.replace('_', ""))
}

/// Whether a key holds a number of bytes, which may be given with a unit.
pub(super) fn in_bytes(node: &Node) -> bool {
    matches!(node.shape, KeyShape::Integer(_)) && (node.name() == "bytes" || node.name().ends_with("_bytes"))
}

/// Replaces texts by numbers at keys that hold bytes. A text that is not an amount is reported, and replaced by the key's default.
pub(super) fn resolve(tree: &mut Value, problems: &mut Vec<Problem>) {
    for node in root().keys().into_iter().filter(|node| in_bytes(node)) {
        let Some(value) = tree.pointer_mut(&format!("/{}", node.path.replace('.', "/"))) else { continue };
        let Some(text) = value.as_str() else { continue };
        match Amount::Bytes.value(text) {
            Some(bytes) => *value = bytes.into(),
            None => {
                let message = format!("{} ({})", Amount::Bytes.mismatch(&node.path, text), node.summary());
                problems.push(Problem { key: node.path.clone(), message });
                *value = node.default.clone(); // so that it is not refused a second time
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_amounts_of_bytes_have_units() {
        let cases = [
            ("0", 0),
            ("4096", 4096),
            ("4_096", 4096),
            ("512B", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4Ki", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("4KB", 4000),
            ("64MiB", 64 << 20),
            ("64M", 64 << 20),
            ("64MB", 64_000_000),
            (" 2 GiB ", 2 << 30),
            ("1.5k", 1536),
            ("0.5TB", 500_000_000_000),
            ("1.25GB", 1_250_000_000),
            ("16777215TiB", 16_777_215 << 40),
        ];
        for (text, bytes) in cases {
            assert_eq!(Amount::Bytes.parse("x", text).ok(), Some(bytes), "{text}");
        }
    }

    #[test]
    fn config_amounts_of_counts_have_units() {
        for (text, count) in [("5000", 5000), ("1k", 1000), ("1K", 1000), ("2M", 2_000_000), ("1.5G", 1_500_000_000)] {
            assert_eq!(Amount::Count.parse("x", text).ok(), Some(count), "{text}");
        }
    }

    #[test]
    fn config_amounts_that_are_none_name_the_forms() {
        let none = [
            "",
            " ",
            "k",
            "4x",
            "4kk",
            "4kib4",
            "-4k",
            "+4",
            "4.",
            ".5k",
            "1.0001k",
            "4e3",
            "0x10",
            "_4",
            "4_k",
            "4 4",
            "17E",
            "16777216TiB",
            "٤",
        ];
        for text in none {
            let message = Amount::Bytes.parse("fit", text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("fit = \"{text}\": expected a number of bytes")), "{message}");
            assert!(message.contains("4KiB") && message.contains("4kB"), "{message}");
        }
        for text in ["4KiB", "4kB", "4B", "1T", "1.5"] {
            assert!(Amount::Count.parse("requests", text).is_err(), "{text}");
        }
    }
}
