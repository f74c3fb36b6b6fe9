//! Columns that a script or `blkparse -f` printed, without names and units: a command that makes a CSV file of them.

use super::csv::{self, HEADER};
use super::text::{decimal, integer};
use super::{Format, Reading, blkparse, names};
use ssdlab_keys::config::TraceFormat;

/// Share of the rows, in percent, whose values decide what a column holds. The others may be damaged.
const ENOUGH: usize = 80;
/// Separators of columns, each with awk's option for it; a space stands for any white space.
const SEPARATORS: [(u8, &str); 4] = [(b' ', ""), (b';', "-F' *; *' "), (b'|', "-F' *[|] *' "), (b',', "-F' *, *' ")];

/// Message about rows with an operation and at least three numbers; `None` for others.
pub(super) fn message(lines: &[&[u8]]) -> Option<String> {
    let is_summary = |line: &&&[u8]| line.starts_with(b"CPU") && line.contains(&b'(') || line.starts_with(b"Total (");
    let events: Vec<&[u8]> = lines.iter().take_while(|line| !is_summary(line)).copied().collect();
    // Other events in blkparse's own layout.
    let mut blkparse = Format::of(TraceFormat::Blkparse).parser(&Reading::default())?;
    if events.iter().all(|line| blkparse.parse(line).is_ok()) {
        return None;
    }
    SEPARATORS.iter().find_map(|&(separator, option)| Rows::of(&events, separator)?.message(option))
}

/// Rows with as many columns as most lines have.
struct Rows<'a>(Vec<Vec<&'a [u8]>>);

impl<'a> Rows<'a> {
    fn of(lines: &[&'a [u8]], separator: u8) -> Option<Self> {
        let split = |line: &'a [u8]| -> Vec<&'a [u8]> {
            match separator {
                b' ' => line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect(),
                _ => line.split(|byte| *byte == separator).map(<[u8]>::trim_ascii).collect(),
            }
        };
        let rows: Vec<Vec<&[u8]>> = lines.iter().map(|line| split(line)).collect();
        let width = rows.iter().map(Vec::len).find(|&width| {
            let count = rows.iter().filter(|row| row.len() == width).count();
            count * 2 >= rows.len().saturating_sub(1)
        })?;
        let rows = rows.into_iter().filter(|row| row.len() == width).collect();
        (4..=16).contains(&width).then_some(Rows(rows))
    }

    fn column(&self, at: usize) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().map(move |row| row[at])
    }

    /// Columns of which nearly all values are of a kind.
    fn columns(&self, is: impl Fn(&[u8]) -> bool) -> Vec<usize> {
        let enough = |&at: &usize| self.column(at).filter(|word| is(word)).count() * 100 >= self.0.len() * ENOUGH;
        (0..self.0[0].len()).filter(enough).collect()
    }

    /// The column of operations: of several, of which one has the actions of blkparse, the one with writes or else with reads.
    fn operation(&self) -> Option<usize> {
        let columns = self.columns(|word| csv::kind(word).is_ok());
        let with = |first: u8| {
            columns.iter().find(|&&at| self.column(at).any(|word| word.strip_prefix(b"F").unwrap_or(word).first() == Some(&first)))
        };
        with(b'W').or_else(|| with(b'R')).or(columns.last()).copied()
    }

    /// The message with a command; the user states the units.
    fn message(&self, option: &str) -> Option<String> {
        let Some(operation) = self.operation() else {
            let is_blkparse =
                !self.columns(blkparse::is_action).is_empty() && !self.columns(|word| decimal(word, 9, "").is_ok()).is_empty();
            return is_blkparse.then(|| {
                "columns that `blkparse -f` printed without the operation (%d), address (%S) or size (%n); print them: \
                 blkparse -f \"%T.%t %a %d %S %n\\n\""
                    .into()
            });
        };
        let numbers = self.columns(|word| integer(word, "").is_ok());
        let decimals: Vec<usize> =
            self.columns(|word| decimal(word, 9, "").is_ok()).into_iter().filter(|at| !numbers.contains(at)).collect();
        if numbers.len() + decimals.len() < 3 {
            return None;
        }
        // With more numbers than a request has, their meaning is unknown: a command with gaps fails, one with guesses would not.
        let (time, numbers) = match (&decimals[..], &numbers[..]) {
            (&[time], numbers) => (Some(time), numbers),
            (&[], &[time, ref numbers @ ..]) if numbers.len() == 2 => (Some(time), numbers),
            (_, numbers) => (None, numbers),
        };
        let plus = self.columns(|word| word == b"+");
        let (offset, size) = match (&plus[..], numbers) {
            (&[plus], numbers) if plus > 0 && numbers.contains(&(plus - 1)) && numbers.contains(&(plus + 1)) => {
                (Some(plus - 1), Some(plus + 1))
            }
            (_, &[offset, size]) => (Some(offset), Some(size)),
            // The kernel and blkparse print address and size behind the operation.
            (_, numbers) if [1, 2].iter().all(|more| numbers.contains(&(operation + more))) => (Some(operation + 1), Some(operation + 2)),
            _ => (None, None),
        };
        let shown = |column: Option<usize>, what: &str| column.map_or(format!("<column of {what}>"), |at| (at + 1).to_string());
        let gaps = if time.is_none() || offset.is_none() { ", and the columns in place of < >" } else { "" };
        let (time_column, offset, size) = (shown(time, "TIME"), shown(offset, "ADDRESS"), shown(size, "SIZE"));
        let operation_column = operation + 1;
        let is_request = self.action(operation).map_or(String::new(), |(at, action)| format!("${}==\"{action}\"&&", at + 1));
        let is_ns = time.is_some_and(|at| self.column(at).any(|word| names::absolute_ns(word).is_some()));
        let (unit, ratio) = if is_ns { ("ns", "1e-3") } else { ("seconds", "1e6") };
        Some(format!(
            "columns of no known format, as `blkparse -f` or a script prints them, without names and units; blkparse without -f prints what \
             ssdlab reads, or convert with the units that you know (here {unit} and sectors{gaps}): awk {option}'BEGIN{{print \"{HEADER}\"}}\
             {is_request}${offset}~/^[0-9]+$/{{printf \"%.3f,%s,%.0f,%.0f\\n\",${time_column}*T,${operation_column},${offset}*A,${size}*S}}' \
             T={ratio} A=512 S=512 FILE"
        ))
    }

    /// Column of the actions of blkparse, and the one that is a request: as for blkparse's own text, Q if there is one, otherwise D. A file
    /// may have neither.
    fn action(&self, operation: usize) -> Option<(usize, &'static str)> {
        let at = self.columns(blkparse::is_action).into_iter().find(|&at| at != operation)?;
        let has = |action: &&str| self.column(at).any(|word| word == action.as_bytes());
        Some((at, ["Q", "D", "C"].into_iter().find(has)?))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::super::recognise;
    use super::*;

    /// Requests of the CSV file that a command makes of the file FILE with this text: ns, operation, offset, size.
    pub(in super::super) fn requests_of(command: &str, text: &str) -> Vec<(u64, String, u64, u64)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("FILE"), text).unwrap();
        let out = Command::new("sh").args(["-c", command]).current_dir(&folder).output().unwrap();
        assert!(out.status.success(), "{command}: {}", String::from_utf8_lossy(&out.stderr));
        let format = recognise(Path::new("x"), &out.stdout, true).unwrap().format;
        let mut parser = format.parser(&Reading::default()).unwrap();
        let printed = String::from_utf8(out.stdout).unwrap();
        let records = printed.lines().filter_map(|line| parser.parse(line.as_bytes()).unwrap());
        records.map(|record| (record.time_ns, format!("{:?}", record.kind), record.offset, record.length)).collect()
    }

    fn converted(text: &str) -> Vec<(u64, String, u64, u64)> {
        let told = message(&text.lines().map(str::as_bytes).collect::<Vec<_>>()).unwrap();
        requests_of(&told[told.find("awk ").unwrap()..], text)
    }

    #[test]
    fn the_command_for_columns_of_blkparse_makes_a_trace_of_them() {
        let expected = [
            (1_000_000, "Read", 1_048_576, 4096),
            (2_500_000, "Write", 2_097_152, 8192),
            (3_000_000, "Flush", 0, 0),
            (4_000_000, "Trim", 0, 4096),
        ];
        let expected = expected.map(|(ns, kind, offset, size)| (ns, kind.to_string(), offset, size));
        for text in [
            // -f "%T.%t %d %S %n\n"
            "0.001000000 RA 2048 8\n0.002500000 WS 4096 16\n0.003000000 FWS 0 0\n0.004000000 D 0 8\n",
            // -f "%D %a %d %S + %n %T.%t %C\n", with other steps and the summary
            "8,16 Q RA 2048 + 8 0.001000000 fio\n8,16 G RA 2048 + 8 0.001000001 fio\n8,16 Q WS 4096 + 16 0.002500000 fio\n\
             8,16 Q FWS 0 + 0 0.003000000 kworker\n8,16 D WS 4096 + 16 0.003000100 fio\n8,16 Q D 0 + 8 0.004000000 fio\n\
             CPU0 (8,16):\n Reads Queued:           1,        4KiB\t Writes Queued:           1,        8KiB\n",
            // -f "%T.%t, %a, %d, %S, %n\n"
            "0.001000000, D, R, 2048, 8\n0.002500000, D, WFS, 4096, 16\n0.003000000, D, FN, 0, 0\n0.004000000, D, DS, 0, 8\n0.005, C, R, 2048, 8\n",
            // -f "%D %c %s %T.%t %p %a %d %S %n\n": more numbers, of which the two behind the operation are the address and the size
            "8,16 1 7 0.001000000 100 D R 2048 8\n8,16 1 8 0.002500000 100 D WS 4096 16\n8,16 1 9 0.003000000 100 D FWS 0 0\n\
             8,16 1 9 0.004000000 100 D DS 0 8\n8,16 1 9 0.005000000 0 C R 2048 8\n",
            "0.001000000;8,16;D;R;2048;8\n0.002500000;8,16;D;W;4096;16\n0.003000000;8,16;D;F;0;0\n0.004000000;8,16;D;WZ;0;8\n",
        ] {
            assert_eq!(converted(text), expected, "{text}");
        }
    }

    #[test]
    fn times_since_1970_in_nanoseconds_state_their_unit() {
        let (a, b) = (1_732_780_000_000_000_000_u64, 1_732_780_000_001_000_000_u64);
        let rows = converted(&format!("{a} W 8 8\n{b} R 16 8\n"));
        assert_eq!((rows[0].1.as_str(), rows[1].2), ("Write", 8192));
        assert!(rows[1].0.abs_diff(rows[0].0).abs_diff(1_000_000) < 1000, "{rows:?}");
    }

    /// With more numbers than a request has, none is guessed to be the address.
    #[test]
    fn a_command_leaves_open_what_the_columns_do_not_tell() {
        let told = |text: &str| message(&text.lines().map(str::as_bytes).collect::<Vec<_>>()).unwrap();
        assert!(told("0.5 100 8 R\n0.6 108 8 W\n").contains("$1*T,$4,$2*A,$3*S"));
        for more in ["0.5 8 100 8 R\n0.6 8 108 8 W\n", "5 8 100 8 R\n6 8 108 8 W\n"] {
            assert!(told(more).contains("$<column of ADDRESS>*A,$<column of SIZE>*S"), "{}", told(more));
        }
        let completed: &[&[u8]] = &[b"8,16 0 1 1.5 9 C W 8 + 8 [0]", b"8,16 0 2 1.6 9 C W 16 + 8 [0]"];
        assert_eq!(message(completed), None, "blkparse's own layout");
        assert!(told("1.5, 10, fio, Q, 8, 8\n1.6, 10, fio, C, 8, 8\n").contains("without the operation"));
    }
}
