//! Recognises files that ssdlab cannot read, for messages that say how to convert them. docs/trace-formats.md has the commands at length.

use std::path::Path;

use super::csv::HEADER;
use super::recognise::most;
use super::text::{Columns, Words, integer};
use super::{json, kinds, own};

/// Message about a file that is often mistaken for a trace, recognised by its first bytes. `sample`: its beginning, decompressed; `is_all`:
/// its whole content.
pub(super) fn binary(path: &Path, sample: &[u8], is_all: bool) -> Option<String> {
    let file = path.display();
    // blktrace's 32-bit magic number 0x65617407, in either byte order (blktrace_api.h: BLK_IO_TRACE_MAGIC and version).
    if matches!(sample, [0x07, b't', b'a', b'e', ..] | [b'e', b'a', b't', 0x07, ..]) {
        return Some("a binary blktrace file; turn it into text first: blkparse -i FILE > FILE.blkparse.txt".into());
    }
    if sample.starts_with(super::parquet::MAGIC) {
        let how = "decompress it first, or name the file where it comes through a pipe";
        return Some(format!("a Parquet file that is compressed as a whole or comes through a pipe; {how}"));
    }
    if let Some(member) = tar_member(sample) {
        let inside = format!("tar -xOf {file} {member} | ssdlab run --trace -");
        return Some(format!("a tar archive; unpack it (tar -xf {file}), or replay one of its files: {inside}"));
    }
    if let Some((kind, unpack)) = archive(sample) {
        return Some(format!("{kind}; unpack it first: {unpack} {file}"));
    }
    if is_utf16(sample) {
        return Some(format!("text in UTF-16; expected UTF-8 or ASCII: iconv -f UTF-16 -t UTF-8 {file} > NEW"));
    }
    if is_oracle_general(sample, is_all) {
        let lacks = "objects' numbers and times in whole seconds, no addresses and no writes";
        return Some(format!("a libCacheSim trace (oracleGeneral), which has {lacks}; use the block trace that it was made of"));
    }
    sample.contains(&0).then(|| "a binary file of unknown format; expected text, Parquet or vscsi records".into())
}

/// Message about text found in place of a trace: a Git LFS or git-annex pointer, a web page, or JSON of another format.
pub(super) fn page(lines: &[&[u8]]) -> Option<String> {
    let first = lines.first()?.trim_ascii_start().to_ascii_lowercase();
    let begins = |start: &str| first.starts_with(start.as_bytes());
    if begins("version https://git-lfs.github.com/spec/") {
        return Some("a Git LFS pointer, not the file itself; fetch it first: git lfs pull".into());
    }
    if begins("version https://hawser.github.com/spec/") || begins("/annex/objects/") || begins(".git/annex/objects/") {
        return Some("a pointer of git-annex or Git LFS, not the file itself; fetch it first: git annex get, or git lfs pull".into());
    }
    if begins("<!doctype html")
        || begins("<html")
        || begins("<head")
        || begins("<?xml")
        || begins("<error>")
        || begins("<results>")
        || begins("<event")
    {
        if let Some(what) = kinds::message(lines) {
            return Some(what);
        }
        return Some("a web page (or the error of a server), not the file itself; download the file that the page links to".into());
    }
    let is_iotrace = || lines.iter().any(|line| memchr::memmem::find(line, b"\"header\"").is_some());
    (json::is_json(lines) && !is_iotrace()).then(|| json::message(lines))
}

/// Message about text that is often mistaken for a trace, and that no format can read.
pub(super) fn text(lines: &[&[u8]]) -> Option<String> {
    let first = *lines.first()?;
    let has_action = |line: &[u8]| second_word(line).is_some_and(|word| matches!(word, b"add" | b"open" | b"read" | b"write"));
    if lines.iter().any(|line| second_word(line) == Some(b"add")) && all(lines, |line| has_action(line) || line.ends_with(b" close")) {
        return Some("a log of fio without its first line (\"fio version 2 iolog\"), which states its version; put it in front".into());
    }
    if let Some(what) = kinds::message(lines).or_else(|| not_of_a_device(lines)) {
        return Some(what);
    }
    let spaced: Vec<&[u8]> = first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    if !first.contains(&b',') && super::csv::is_header(&spaced.join(&b',')) {
        return Some("ssdlab's columns with another separator; expected commas: tr -s ' \\t' ',' < FILE > NEW".into());
    }
    if most(lines, is_zoned) {
        return Some(
            "a trace of a zoned device (zone appends, resets) in a format without them; make a CSV with the ops append, zone-reset, zone-finish"
                .into(),
        );
    }
    if let Some(what) = own::message(lines) {
        return Some(what);
    }
    if first.trim_ascii() == b"BeginHeader" {
        return Some(
            "a trace of Event Tracing for Windows (xperf), as Microsoft's servers in SNIA's repository; make a CSV of its DiskRead and \
                     DiskWrite lines: docs/trace-formats.md has the command"
                .into(),
        );
    }
    if all(lines, is_fio_log) {
        return Some("a log of fio's latencies, bandwidth or IOPS, which has no requests; record those with write_iolog=FILE".into());
    }
    if all(lines, is_arc) {
        let make = format!("awk 'BEGIN{{print \"{HEADER}\"}}{{print NR*1000 \",R,\" $1*512 \",\" $2*512}}'");
        return Some(format!(
            "a trace of the ARC paper, blocks of 512 bytes in order without times and types; as reads each a millisecond after the one before: {make}"
        ));
    }
    if all(lines, |line| fields(line, b';') >= 4) {
        let change = if lines.iter().any(|line| line.contains(&b',')) { "sed 's/,/./g; s/;/,/g'" } else { "sed 's/;/,/g'" };
        return Some(format!("columns separated by semicolons; expected commas (and decimal points): {change}"));
    }
    own_csv(first)
}

/// Column names of traces of files, objects or keys, which have no addresses on a block device.
const NO_ADDRESS: [&str; 14] = [
    "filename",
    "file_offset",
    "inode",
    "path",
    "key",
    "cachekey",
    "key_size",
    "obj_id",
    "object_id",
    "objectid",
    "block_id",
    "photo_id",
    "hashed_path_query",
    "uri",
];

/// Message about a trace of files, objects or keys.
fn not_of_a_device(lines: &[&[u8]]) -> Option<String> {
    let names: Vec<Vec<u8>> =
        lines.first()?.split(|byte| b", \t".contains(byte)).map(|name| name.trim_ascii().to_ascii_lowercase()).collect();
    let found = NO_ADDRESS.iter().find(|word| names.iter().any(|name| name.as_slice() == word.as_bytes()));
    if let Some(word) = found.filter(|_| names.len() >= 3) {
        return Some(format!(
            "a trace of files, objects or keys (column {word}), which has no addresses on a device; record the block requests below them: \
             ssdlab trace record, or blktrace"
        ));
    }
    let has = |words: &'static [&'static str]| {
        move |line: &[u8]| {
            line.split(|byte| b", \t".contains(byte)).any(|word| words.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes())))
        }
    };
    const KEYS: &[&str] = &[
        "get",
        "gets",
        "set",
        "cas",
        "incr",
        "decr",
        "delete",
        "insert",
        "update",
        "scan",
        "REST.GET.OBJECT",
        "REST.PUT.OBJECT",
        "REST.HEAD.OBJECT",
        "REST.DELETE.OBJECT",
    ];
    const CALLS: &[&str] =
        &["open", "openat", "close", "lseek", "stat", "fstat", "mmap", "unlink", "rename", "mkdir", "getattr", "lookup", "readdir"];
    if most(lines, has(KEYS)) {
        return Some("a trace of keys or objects (get, set, ...), which has no addresses on a device; record the block requests below it: ssdlab trace record, or blktrace".into());
    }
    let is_call = |line: &[u8]| memchr::memmem::find(line, b"(").is_some() && memchr::memmem::find(line, b") = ").is_some();
    if lines.iter().any(|line| has(CALLS)(line)) || most(lines, is_call) {
        return Some("a trace of file operations (open, close, ...), which has no addresses on a device; record the block requests below it: ssdlab trace record, or blktrace".into());
    }
    None
}

/// Whether a line has an operation of a zoned device.
fn is_zoned(line: &[u8]) -> bool {
    // Codes in capitals are those of the kernel's block events.
    const OPERATIONS: [&str; 15] = [
        "zone_append",
        "zone_reset",
        "zone_finish",
        "zone_open",
        "zone_close",
        "zone_mgmt_send",
        "reset_zone",
        "append",
        "finish_zone",
        "ZA",
        "ZR",
        "ZRA",
        "ZO",
        "ZC",
        "ZF",
    ];
    line.split(|byte| b", \t".contains(byte)).any(|word| OPERATIONS.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes())))
}

/// Message about a first line that names other columns than ssdlab's; `None` if it does not name columns.
pub(super) fn header(first: &[u8]) -> Option<String> {
    let is_name = |column: &[u8]| column.trim_ascii().first().is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'"');
    if first.split(|&byte| byte == b',').all(is_name) { own_csv(first) } else { None }
}

/// Message about a user's own CSV file, which needs a header that names its columns.
fn own_csv(first: &[u8]) -> Option<String> {
    let needed = format!(
        "expected a first line with the header {HEADER} (any order, further columns are ignored; us; op R, W, T or F, or words; bytes)"
    );
    let columns = fields(first, b',');
    if let Some(name) = super::csv::named_twice(first) {
        return Some(format!("a header that names the column {name} twice; name each of {HEADER} once"));
    }
    let shown = String::from_utf8_lossy(&first[..first.len().min(60)]).escape_debug().to_string();
    let starts_with_number = first.trim_ascii_start().first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
    (columns >= 3).then(|| {
        let what =
            if starts_with_number { "columns with commas of no known format, without a header" } else { "a CSV file with another header" };
        format!("{what}; {needed}, found \"{shown}\"")
    })
}

fn second_word(line: &[u8]) -> Option<&[u8]> {
    let mut words = Words::new(line);
    words.word();
    words.word()
}

fn all(lines: &[&[u8]], is: impl Fn(&[u8]) -> bool) -> bool {
    lines.iter().all(|line| is(line))
}

fn fields(line: &[u8], separator: u8) -> usize {
    line.split(|&byte| byte == separator).count()
}

/// Magic numbers of archives and compressions, and what unpacks them.
fn archive(sample: &[u8]) -> Option<(&'static str, &'static str)> {
    Some(match sample {
        [b'P', b'K', 3, 4, ..] => ("a zip archive", "unzip"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => ("a 7-Zip archive", "7z x"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => ("a file compressed with xz", "unxz -k"),
        [0x04, 0x22, 0x4d, 0x18, ..] => ("a file compressed with lz4", "lz4 -d"),
        [0x1f, 0x9d, ..] => ("a file compressed with compress", "gunzip -k"),
        [b'R', b'a', b'r', b'!', 0x1a, 7, ..] => ("a RAR archive", "unrar x"),
        _ => return None,
    })
}

/// Name of the first regular file in a tar archive (`NAME` if none is in `sample`); `None` for other files. The magic is at byte 257 of a
/// header, the kind of file at 156.
fn tar_member(sample: &[u8]) -> Option<String> {
    const BLOCK: usize = 512;
    let mut at = 0;
    while sample.get(at + 257..at + 262) == Some(b"ustar".as_slice()) {
        let header = &sample[at..];
        let until_nul = |field: &[u8]| String::from_utf8_lossy(field.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned();
        if matches!(header[156], b'0' | 0) {
            return Some(until_nul(&header[..100]));
        }
        let size = usize::from_str_radix(until_nul(&header[124..136]).trim(), 8).unwrap_or(0);
        at = at.saturating_add(BLOCK).saturating_add(size.div_ceil(BLOCK).saturating_mul(BLOCK));
    }
    (at > 0).then(|| "NAME".into())
}

/// Whether text is UTF-16: it has a byte order mark, or every other byte is 0.
fn is_utf16(sample: &[u8]) -> bool {
    let zeros = |at: usize| sample.len() >= 8 && sample.iter().skip(at).step_by(2).all(|&byte| byte == 0);
    matches!(sample, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) || zeros(0) || zeros(1)
}

/// Whether `sample` is of libCacheSim's oracleGeneral: records of 24 bytes: seconds (32 bits), object (64), size (32), next access (64; -1
/// or the largest number: never). Times never go back, and each object's next access comes later.
fn is_oracle_general(sample: &[u8], is_all: bool) -> bool {
    const BYTES: usize = 24;
    if sample.len() < 2 * BYTES || !sample.contains(&0) || (is_all && !sample.len().is_multiple_of(BYTES)) {
        return false;
    }
    let mut before = 0;
    sample.chunks_exact(BYTES).zip(1..).all(|(record, number): (&[u8], i64)| {
        let part = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().expect("four bytes of a record"));
        let next = i64::from_le_bytes(record[16..].try_into().expect("the last eight bytes of a record"));
        let in_order = part(0) >= before;
        before = part(0);
        in_order && part(12) > 0 && (next == -1 || next >= number)
    })
}

/// Whether a line is of a log of fio's latencies, bandwidth or IOPS: `ms, value, direction, bytes[, offset[, priority[, ...]]]` (fio's
/// documentation, "Log File Formats"), direction 0 to 3. fio writes a space after each comma; without, the numbers may be anything.
fn is_fio_log(line: &[u8]) -> bool {
    let commas = fields(line, b',') - 1;
    if !(3..=6).contains(&commas) || line.windows(2).filter(|pair| pair == b", ").count() != commas {
        return false;
    }
    let mut columns = Columns::new(line, b',');
    let mut number = || columns.take("").ok().and_then(|column| integer(column, "").ok());
    let (time, value, direction, bytes) = (number(), number(), number(), number());
    time.is_some() && value.is_some() && direction.is_some_and(|is| is <= 3) && bytes.is_some_and(|bytes| bytes % 512 == 0)
}

/// Whether a line is of an ARC trace: `first_block blocks 0 number` (the README of the traces of Megiddo and Modha, FAST 2003).
fn is_arc(line: &[u8]) -> bool {
    let mut words = Words::new(line);
    let numbers: Vec<_> = std::iter::from_fn(|| words.word()).map(|word| integer(word, "").ok()).collect();
    matches!(numbers[..], [Some(_), Some(blocks), Some(0), Some(_)] if blocks > 0)
}

#[cfg(test)]
mod tests {
    use super::super::recognise;
    use super::*;

    fn message(bytes: &[u8]) -> String {
        let message = recognise(Path::new("x"), bytes, true).err().unwrap().to_string();
        assert!(message.starts_with("x: ") && !message.contains('\n'), "{message}");
        message
    }

    fn tar(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut block = vec![0; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        block[156] = kind;
        block[257..262].copy_from_slice(b"ustar");
        block.extend(content);
        block.resize(block.len().next_multiple_of(512), 0);
        block
    }

    #[test]
    fn archives_are_named_with_what_unpacks_them() {
        let archive = [tar("traces/", b'5', b""), tar("traces/a.csv", b'0', b"1,R,0,512\n")].concat();
        let told = message(&archive);
        assert!(told.contains("a tar archive") && told.contains("tar -xOf x traces/a.csv | ssdlab run --trace -"), "{told}");
        assert!(message(&tar("traces/", b'5', b"")).contains("a tar archive"));
        for (bytes, kind, unpack) in [
            (&b"PK\x03\x04\x14\0\0\0"[..], "a zip archive", "unzip x"),
            (b"\xfd7zXZ\0\0\0", "xz", "unxz -k x"),
            (b"7z\xbc\xaf\x27\x1c\0\0", "7-Zip", "7z x x"),
            (b"\x04\x22\x4d\x18\0\0\0\0", "lz4", "lz4 -d x"),
            (b"\x1f\x9d\0\0\0\0\0\0", "compress", "gunzip -k x"),
            (b"Rar!\x1a\x07\x01\0", "RAR", "unrar x x"),
        ] {
            let told = message(bytes);
            assert!(told.contains(kind) && told.contains(unpack), "{told}");
        }
    }

    #[test]
    fn utf_16_names_iconv() {
        let text = "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,512\n";
        let wide = |mark: &[u16], order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            mark.iter().copied().chain(text.encode_utf16()).flat_map(order).collect()
        };
        for bytes in [wide(&[0xfeff], u16::to_le_bytes), wide(&[0xfeff], u16::to_be_bytes), wide(&[], u16::to_le_bytes)] {
            assert!(message(&bytes).contains("iconv -f UTF-16 -t UTF-8 x"));
        }
    }

    #[test]
    fn a_libcachesim_trace_is_no_block_trace() {
        let record = |seconds: u32, object: u64, next: i64| {
            [&seconds.to_le_bytes()[..], &object.to_le_bytes(), &4096u32.to_le_bytes(), &next.to_le_bytes()].concat()
        };
        let told = message(&[record(0, 7, 3), record(0, 1 << 40, -1), record(5, 7, i64::MAX)].concat());
        assert!(told.contains("oracleGeneral") && told.contains("no writes"), "{told}");
        assert!(message(&[record(9, 7, 3), record(0, 1 << 40, -1)].concat()).contains("binary file of unknown format"));
    }

    #[test]
    fn logs_of_fio_are_told_apart_from_its_iologs() {
        for log in ["1, 104000, 0, 4096\n2, 99, 1, 4096\n", "1, 104000, 1, 4096, 0\n", "1, 104000, 0, 4096, 8192, 0x0001\n"] {
            assert!(message(log.as_bytes()).contains("write_iolog"), "{log}");
        }
    }

    #[test]
    fn traces_without_times_or_in_events_say_how_to_convert_them() {
        let told = message(b"0 64 0 1\n4096 8 0 2\n");
        assert!(told.contains("ARC") && told.contains("awk"), "{told}");
        let told = message(b"BeginHeader\n  DiskRead,  TimeStamp,  Process Name ( PID)\nEndHeader\n");
        assert!(told.contains("Event Tracing for Windows") && told.contains("docs/trace-formats.md"), "{told}");
    }

    #[test]
    fn zone_commands_of_the_kernel_are_read() {
        let text =
            "fio-1 [000] 10.5: block_rq_issue: 259,0 ZR 0 () 0 + 8 [fio]\nfio-1 [000] 10.6: block_rq_issue: 259,0 ZR 0 () 8 + 8 [fio]\n";
        assert!(recognise(Path::new("x"), text.as_bytes(), true).is_ok());
    }

    #[test]
    fn ones_own_csv_whose_columns_fit_a_format_is_told_the_header_that_it_needs() {
        let told = message(b"device,op,lba,len,ts\n1,R,4096,4096,5\n2,W,8192,4096,9\n");
        assert!(told.contains("a CSV file with another header"), "{told}");
    }

    #[test]
    fn ones_own_csv_is_told_the_header_that_it_needs() {
        for text in [
            "1000,8,0,4096\n2000,16,1,4096\n",
            "time,op,offset,size\n0,R,0,512\n",
            "0,read,0,512\n1,write,0,512\n",
            "0.5,1,2,3,4,5,6,7,8\n",
            "id,ts,kind,lba\n",
        ] {
            assert!(message(text.as_bytes()).contains(HEADER), "{text}");
        }
        assert!(message(b"0,1;R;0;512\n0,2;W;0;512\n").contains("sed 's/,/./g; s/;/,/g'"));
        assert!(message(b"time;op;offset;size\n1;R;0;512\n").contains("sed 's/;/,/g'"));
    }
}
