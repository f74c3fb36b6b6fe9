//! How the format of a file is recognised. A file must state its format and units, by content or by name; ssdlab does not guess them.

use std::path::Path;

use super::super::reading::Reading;
use super::text::Columns;
use super::{Bad, Format, Measure, REGISTRY, Time, csv, foreign};
use ssdlab_base::error::{Error, Result};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

/// Seconds since 1970 in the years 2000 to 2099.
pub(super) const UNIX_S: (u64, u64) = (946_684_800, 4_102_444_800);
/// Microseconds since 1970 in the years 2000 to 2099.
pub(super) const UNIX_US: (u64, u64) = (UNIX_S.0 * 1_000_000, UNIX_S.1 * 1_000_000);
/// Windows ticks of 100 ns since 1601 in the years 1990 to 2099.
pub(super) const WINDOWS: (u64, u64) = (122_756_256_000_000_000, 157_469_184_000_000_000);

/// Format of a file, and the bytes per unit if the file name indicates them.
pub(crate) struct Recognised {
    pub(crate) format: &'static Format,
    pub(crate) unit_bytes: Option<u64>,
}

/// Formats that the parts of a file's name between dots indicate, except the first part.
pub(crate) fn by_name(path: &Path) -> Vec<Recognised> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let mut named = Vec::new();
    for part in name.split('.').skip(1) {
        for format in REGISTRY {
            if let Some((_, unit_bytes)) = format.hints.iter().find(|(hint, _)| *hint == part) {
                named.push(Recognised { format, unit_bytes: *unit_bytes });
            }
        }
    }
    named
}

/// Determines the format of a file by its content, and by its name where the content leaves it open. `sample`: beginning of the file;
/// `is_all`: its whole content.
///
/// # Errors
/// [`Error::Usage`] where the caller must name the format, since the file does not state its units or fits several formats;
/// [`Error::Trace`] where the content is in none of the known formats.
pub(crate) fn recognise(path: &Path, sample: &[u8], is_all: bool) -> Result<Recognised> {
    let shown = path.display();
    if sample.is_empty() {
        return Err(Error::Trace(format!("{shown}: the file is empty")));
    }
    if let Some(format) = REGISTRY.iter().find(|format| format.records(sample).is_some()) {
        return Ok(Recognised { format, unit_bytes: None });
    }
    if let Some(what) = foreign::binary(path, sample, is_all) {
        return Err(Error::Trace(format!("{shown}: {what}")));
    }
    let lines = sample_lines(sample, is_all);
    if lines.is_empty() && is_all {
        return Err(Error::Trace(format!("{shown}: the file is empty: every line is blank")));
    }
    if let Some(what) = foreign::page(&lines) {
        return Err(Error::Trace(format!("{shown}: {what}")));
    }
    let mut fitting = fitting(&lines, false);
    if fitting.is_empty() && !lines.first().is_some_and(|first| csv::is_header(first)) && foreign::text(&lines).is_none() {
        fitting = self::fitting(&lines, true);
    }
    // A name decides between fitting formats, and by itself if the first lines are damaged.
    let mut named = by_name(path);
    named.retain(|named| named.format.parser(&Reading::default()).is_some());
    if let Some(at) = named.iter().position(|named| fitting.is_empty() || fitting.iter().any(|format| format.id == named.format.id)) {
        return Ok(named.swap_remove(at));
    }
    if let Some(named) = named.first() {
        let list = names(&fitting);
        let name = named.format.name;
        return Err(Error::Usage(format!("{shown}: named like the format {name}, but its content is {list}; give --format")));
    }
    let certain: Vec<&Format> = fitting.iter().filter(|format| format.states_units(&lines)).copied().collect();
    match (&certain[..], &fitting[..]) {
        (&[format], _) => Ok(Recognised { format, unit_bytes: None }),
        ([], []) if lines.first().is_some_and(|first| csv::is_header(first)) => {
            // The message about the line after such a header is more helpful.
            Ok(Recognised { format: Format::of(TraceFormat::Csv), unit_bytes: None })
        }
        ([], []) => Err(Error::Trace(unknown(path, &lines))),
        ([], open) => match own_header(open, &lines) {
            Some(what) => Err(Error::Trace(format!("{shown}: {what}"))),
            None => Err(Error::Usage(format!("{shown}: {}", without_units(open, &lines, is_all)))),
        },
        (several, _) => Err(Error::Usage(format!("{shown}: the content fits several formats: {}; give --format", names(several)))),
    }
}

/// Message about a user's own CSV file whose rows happen to fit formats, but whose first line names other columns.
fn own_header(fitting: &[&Format], lines: &[&[u8]]) -> Option<String> {
    let first = lines.first()?;
    let reads = |format: &&Format| format.parser(&Reading::default()).is_some_and(|mut parser| parser.parse(first).is_ok());
    if fitting.iter().any(reads) { None } else { foreign::header(first) }
}

/// Message about lines that fit no format.
fn unknown(path: &Path, lines: &[&[u8]]) -> String {
    let shown = path.display();
    if let Some(what) = foreign::text(lines) {
        return format!("{shown}: {what}");
    }
    let first = lines.first().copied().unwrap_or_default();
    let known = names(&REGISTRY);
    let bad = Bad::new("a line of a known trace format", first);
    format!("{shown}:1: {bad}; known formats, for --format: {known}")
}

/// Message about lines that fit formats but do not state their units: the meaning of each choice.
fn without_units(fitting: &[&Format], lines: &[&[u8]], is_all: bool) -> String {
    let of = if is_all { "the requests span".to_string() } else { format!("the first {} lines span", lines.len()) };
    let spans = spans(fitting, lines).map_or(String::new(), |spans| format!("; {of} {spans}"));
    if lines.first().is_some_and(|first| csv::is_header(first)) {
        let rename = "or give the column of times a name with its unit, such as time_ns";
        return format!("the header does not state the unit of time{spans}; give --format csv --time-unit s|ms|us|ticks|ns, {rename}");
    }
    let choices: Vec<String> = fitting.iter().map(|format| format!("{} ({})", format.name, shown_units(format))).collect();
    let counted = fitting.iter().any(|format| format.counts_units());
    let units = if counted { ", --unit-bytes N for other units of address and size" } else { "" };
    let header = if fitting.iter().any(|format| format.id == TraceFormat::Csv) {
        format!("; or write the header {} in front (us, bytes)", csv::HEADER)
    } else {
        String::new()
    };
    let list = choices.join(" or ");
    format!(
        "nothing in the file states its units{spans}; give --format {list}, --time-unit s|ms|us|ticks|ns for another unit of time{units}{header}"
    )
}

/// Units of a format by its definition, for messages.
fn shown_units(format: &Format) -> String {
    let time = match format.meaning.time {
        Time::Fixed(unit) | Time::Open(unit) | Time::OpenWhole(unit) => unit.name(),
        Time::Waits => "no times",
    };
    let measure = |measure: Measure| match measure {
        Measure::Bytes | Measure::BytesOrUnits => "bytes",
        Measure::Sectors | Measure::Units => "512-byte sectors",
        Measure::Pages => "pages of 4096 bytes",
        Measure::Blocks => "logical blocks",
    };
    let (address, size) = (measure(format.meaning.address), measure(format.meaning.size));
    if address == size { format!("{time}, {address}") } else { format!("{time}, {address}, size in {size}") }
}

/// Time span of the requests in `lines`, in each unit of time: `60 ms as us, 60 us as ns`.
fn spans(fitting: &[&Format], lines: &[&[u8]]) -> Option<String> {
    // Read as ms, large numbers overflow; they are read as ns, without decimals.
    let (unit, span) = [TimeUnit::Ms, TimeUnit::Ns].into_iter().find_map(|unit| {
        let reading = Reading { time_unit: Some(unit), ..Reading::default() };
        let mut parser = fitting.first()?.parser(&reading)?;
        let times: Vec<u64> = lines.iter().filter_map(|line| parser.parse(line).ok().flatten()).map(|record| record.time_ns).collect();
        let span = times.iter().max()? - times.iter().min()?;
        (times.len() > 1 && span > 0).then_some((unit, span as f64))
    })?;
    let number = span / 10f64.powi(unit.places() as i32);
    let all = TimeUnit::ALL.into_iter().map(|unit| format!("{} as {}", duration(number * 10f64.powi(unit.places() as i32)), unit.name()));
    Some(all.collect::<Vec<_>>().join(", "))
}

/// Nanoseconds with three significant digits, in the unit that reads best.
pub(crate) fn duration(ns: f64) -> String {
    const DAY_NS: f64 = 86_400e9;
    let units = [(2.0 * DAY_NS, DAY_NS, "days"), (1e9, 1e9, "s"), (1e6, 1e6, "ms"), (1e3, 1e3, "us")];
    // A value that rounds up to the next unit is shown in that.
    let (divisor, name) = units.into_iter().find(|(least, _, _)| ns >= least * 0.9995).map_or((1.0, "ns"), |(_, by, name)| (by, name));
    format!("{} {name}", significant(ns / divisor))
}

/// A number with three significant digits: `0.0123`, `1.23`, `12.3`, `123`, `1,235`.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let places = (2 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let (whole, fraction) = text.split_once('.').map_or((text, ""), |(whole, fraction)| (whole, fraction));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if fraction.is_empty() { grouped } else { format!("{grouped}.{fraction}") }
}

fn names(formats: &[&Format]) -> String {
    formats.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// The complete lines of the sample that are not blank.
pub(crate) fn sample_lines(sample: &[u8], is_all: bool) -> Vec<&[u8]> {
    let sample = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample);
    let mut lines: Vec<&[u8]> = sample.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    if !is_all && lines.len() > 1 {
        lines.pop();
    }
    lines.retain(|line| !line.trim_ascii().is_empty());
    lines
}

/// The formats that can read the most of these lines. Some lines may be damaged, and the message for those should name line and column.
/// `skipping`: formats that find only other events count as well.
fn fitting(lines: &[&[u8]], skipping: bool) -> Vec<&'static Format> {
    let scores: Vec<(Score, &Format)> = REGISTRY.iter().map(|format| (readable(format, lines, skipping), *format)).collect();
    let best_of = |with_requests: bool| {
        let scores = scores.iter().map(|(score, _)| *score).filter(|score| score.has_requests || !with_requests);
        scores.max().unwrap_or_default()
    };
    // A format that finds requests and a damaged line is better than one that reads all lines and finds no request.
    let (with_requests, any) = (best_of(true), best_of(false));
    let best = if with_requests.lines * 2 > any.lines { with_requests } else { any };
    let is_disksim = scores.iter().any(|(score, format)| *score == best && format.id == TraceFormat::Disksim);
    // Where most times are whole numbers, a few with a point may be damage: that alone does not make nanoseconds milliseconds.
    let is_mixed = |score: &Score, id| is_disksim && matches!(id, TraceFormat::Mqsim | TraceFormat::Ssdsim) && score.lines * 2 > best.lines;
    let fits = |(score, format): &(Score, &Format)| score.lines > 0 && (*score == best || is_mixed(score, format.id));
    scores.into_iter().filter(fits).map(|(_, format)| format).collect()
}

/// How well a format reads lines.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Number of lines that the format can read; 0 if none is a request, unless all are valid without one (a header alone, other events).
    lines: usize,
    has_requests: bool,
}

fn readable(format: &Format, lines: &[&[u8]], skipping: bool) -> Score {
    let Some(mut parser) = format.parser(&Reading::default()) else { return Score::default() };
    let (mut requests, mut others) = (0, 0);
    for line in lines {
        match parser.parse(line) {
            Ok(Some(_)) => requests += 1,
            Ok(None) => others += 1,
            Err(_) => {}
        }
    }
    let is_right = requests > 0 || others == lines.len() && (skipping || parser.skipped().is_empty());
    Score { lines: if is_right { requests + others } else { 0 }, has_requests: requests > 0 }
}

/// Whether `is` holds for at least half of the lines but one. A header, comments and damage may be among them.
pub(super) fn most(lines: &[&[u8]], is: impl Fn(&[u8]) -> bool) -> bool {
    let count = lines.iter().filter(|line| is(line)).count();
    count > 0 && count * 2 >= lines.len().saturating_sub(1)
}

/// Column `index` of a line, from 0, without spaces around it; empty if there are fewer columns.
pub(super) fn column(line: &[u8], separator: u8, index: usize) -> &[u8] {
    let mut columns = Columns::new(line, separator);
    for _ in 0..index {
        let _: std::result::Result<&[u8], Bad> = columns.take("");
    }
    columns.take("").unwrap_or_default()
}

/// Whether the whole part of a number is at least `least` and below `most`.
pub(super) fn is_between(field: &[u8], (least, most): (u64, u64)) -> bool {
    let whole = field.split(|&byte| byte == b'.').next().unwrap_or_default();
    super::integer(whole, "").is_ok_and(|value| (least..most).contains(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str, text: &str) -> TraceFormat {
        recognise(Path::new(name), text.as_bytes(), true).unwrap().format.id
    }

    fn message(name: &str, bytes: &[u8]) -> String {
        recognise(Path::new(name), bytes, true).err().unwrap().to_string()
    }

    #[test]
    fn five_columns_of_numbers_do_not_state_their_units() {
        // 60000 counts are 60 ms of us, 60 us of ns: as the message must show.
        let text = "0 0 80 8 1\n20000 0 160 8 0\n41000 0 800 8 1\n60000 0 240 8 0\n";
        let told = message("x.txt", text.as_bytes());
        for part in [
            "60 s as ms",
            "60 ms as us",
            "60 us as ns",
            "--format disksim (ms, 512-byte sectors)",
            "mqsim (ns",
            "--time-unit",
            "--unit-bytes",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        // A decimal point does not state the unit, either: DiskSim's columns have been written in seconds and in microseconds.
        assert!(message("x.txt", b"0.5 0 80 8 1\n1.5 0 160 8 0\n").contains("1 s as s"));
        assert_eq!(id("x.mqsim.txt", text), TraceFormat::Mqsim);
        let by_name = recognise(Path::new("x.disksim-pages.gz"), text.as_bytes(), true).unwrap();
        assert_eq!((by_name.format.id, by_name.unit_bytes), (TraceFormat::Disksim, Some(4096)));
    }

    #[test]
    fn a_header_without_the_unit_of_time_asks_for_that_alone() {
        let told = message("x", b"ts,rwbs,sector,nr_sector\n0,W,0,8\n60000,W,8,8\n");
        for part in ["does not state the unit of time", "60 ms as us", "60 us as ns", "--time-unit"] {
            assert!(told.contains(part) && !told.contains("--unit-bytes"), "{part}: {told}");
        }
        assert_eq!(id("x", "ts,rwbs,sector,nr_sector\n1732780000000001000,WS,0,8\n"), TraceFormat::Csv);
        assert!(message("x", b"ns\trwbs\tsector\tnr_sector\n0\tW\t0\t8\n").contains("tr -s"));
    }

    #[test]
    fn text_without_a_header_does_not_state_its_units() {
        let told = message("x.csv", b"0.000001,R,2048,8\n0.000901,W,4096,16\n1.000001,R,8192,8\n");
        for part in ["1 s as s", "1 us as us", "--format csv (us, bytes)", "timestamp_us,op,offset_bytes,size_bytes", "--unit-bytes"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }

    #[test]
    fn columns_of_a_format_with_other_times_do_not_state_their_units() {
        for (text, name) in [
            ("0,hm,0,Write,0,512,3\n1000,hm,0,Write,512,512,3\n", "msr (ticks, bytes)"),
            ("0\tRead\t0\t512\n1000\tRead\t0\t512\n", "msr-reduced (ticks, bytes)"),
            ("0,20941264,8192,W,551706\n0,20941264,8192,W,651706\n", "spc (s, 512-byte sectors, size in bytes)"),
            ("419,W,8792731648,16384,24\n419,W,8792731648,16384,28\n", "alibaba (us, bytes)"),
            ("0,4247200,128,1,1058\n1,4247200,128,1,1058\n", "tencent (s, 512-byte sectors)"),
            ("Timestamp,Response,IOType,LUN,Offset,Size\n5133.5,0.1,R,0,0,512\n5134.5,0.1,R,0,0,512\n", "systor (s, bytes)"),
            ("0\t5\t0\t0\tRead\t8\t8\n1\t6\t0\t0\tRead\t8\t8\n", "diskmon (s, 512-byte sectors)"),
            ("1,4096,1,read,8,1000\n2,4096,1,read,8,2000\n", "vscsi-text (us, 512-byte sectors, size in bytes)"),
        ] {
            let told = message("x", text.as_bytes());
            assert!(told.contains("nothing in the file states its units") && told.contains(name) && told.contains("--time-unit"), "{told}");
        }
    }

    #[test]
    fn one_damaged_time_leaves_the_named_format_in_force() {
        let text = "11413000 0 8 8 1\n115.65 0 8 8 0\n12565000 1 8 8 0\n13565000 1 8 8 0";
        assert_eq!(id("x.mqsim.txt", text), TraceFormat::Mqsim);
    }

    #[test]
    fn what_is_no_trace_gets_one_clear_message() {
        assert!(message("x", b"").contains("empty"));
        assert!(message("x", b"\n \r\n\n").contains("empty"));
        assert!(message("x", b"Total price\nplease do it\nCPU0 x\n").contains("known formats"));
        assert!(message("x", b"hello\nworld\n").contains("known formats"));
        assert!(message("x", b"a\0b").contains("binary"));
        assert!(message("x", &[7, b't', b'a', b'e', 1]).contains("blkparse"));
        assert!(message("x.spc", b"1.5 0 3 2 1").contains("named like the format spc"));
    }

    #[test]
    fn one_good_line_is_enough_to_be_recognised() {
        assert_eq!(id("x", "128166372000000000,hm,0,Write,0,512,3\n128166372000000000,hm,0,Write,x,512,3\n1,hm\n"), TraceFormat::Msr);
        let header = "timestamp_us,op,offset_bytes,size_bytes\n";
        assert_eq!(id("x", &format!("{header}0,R,0,512\n0,R,x,512\nx\n")), TraceFormat::Csv);
        assert_eq!(id("x", header), TraceFormat::Csv);
    }

    #[test]
    fn durations_have_three_digits() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (60_000.0, "60 us"),
            (1_234.5, "1.23 us"),
            (999_999.0, "1 ms"),
            (13.7e9, "13.7 s"),
            (41e9, "41 s"),
            (86_400e9, "86,400 s"),
            (41e6 * 1e9, "475 days"),
        ] {
            assert_eq!(duration(ns), text);
        }
        assert_eq!([0.01234, 1.0, 12_345.0].map(significant), ["0.0123", "1", "12,345"]);
    }
}
