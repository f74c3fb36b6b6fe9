//! Every trace reader. The first byte chooses the format (or to recognise it), the second how strict the reading is; the rest is the file.
//!
//! A file is read or refused. What was read, written as CSV and (one file in 16) as Parquet, reads back as the same requests.

#![no_main]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use ssdlab::config::{RangePolicy, TimeOrder, Workload};
use ssdlab::request::RequestKind;
use ssdlab::workload::{ConvertOptions, Reading, RequestSource, TraceReader, convert, trace_formats, trace_info};
use ssdlab_fuzz::Scratch;

const RANGES: [RangePolicy; 3] = [RangePolicy::Wrap, RangePolicy::Clip, RangePolicy::Compact];
/// Larger than any address, so that none is changed.
const WHOLE: u64 = 1 << 62;
const RECOGNISED: usize = 18;
const MEGABYTE: u64 = 1 << 20;
/// Megabytes of the small drive.
const ROOM: usize = 16;
const SMALL: u64 = ROOM as u64 * MEGABYTE;

thread_local! {
    static FILES: RefCell<[Scratch; 3]> = RefCell::new([Scratch::new(".trace"), Scratch::new(".csv"), Scratch::new(".parquet")]);
}

type Rows = Vec<(u64, RequestKind, u64, u64)>;

/// The requests of a trace, or `None` where it is refused.
fn rows(workload: &Workload, exported_bytes: u64) -> Option<Rows> {
    let mut reader = TraceReader::new(workload, exported_bytes).ok()?;
    let mut rows = Rows::new();
    while let Some(request) = reader.next_request().ok()? {
        assert!(request.length <= exported_bytes && request.offset <= exported_bytes - request.length, "a request beyond the drive");
        assert!(rows.last().is_none_or(|&(before, ..)| before <= request.arrival_ns), "time goes back");
        assert!(request.length > 0 || request.kind == RequestKind::Flush, "a request of nothing");
        rows.push((request.arrival_ns, request.kind, request.offset, request.length));
    }
    Some(rows)
}

/// Whether all megabytes that are read or written find room on the small drive, which is all that `compact` asks.
fn fits(rows: &Rows) -> bool {
    let mut used = BTreeSet::new();
    for &(_, kind, offset, length) in rows.iter().filter(|row| row.3 > 0) {
        let megabytes = offset / MEGABYTE..=(offset + length - 1) / MEGABYTE;
        if matches!(kind, RequestKind::Read | RequestKind::Write) {
            used.extend(megabytes.take(ROOM + 1));
        }
    }
    used.len() <= ROOM
}

fn workload(path: &Path, strictness: u8) -> Workload {
    Workload {
        trace: Some(path.to_string_lossy().into_owned()),
        bad_lines: u64::from(strictness & 3),
        time_order: [TimeOrder::Error, TimeOrder::Clamp, TimeOrder::Sort][usize::from(strictness >> 2) % 3],
        ..Workload::default()
    }
}

fn check_converted(options: &ConvertOptions, from: &Path, to: &Path, expected: &Rows) {
    match convert(from, to, options) {
        Ok(_) => {
            let again = rows(&workload(to, 0), WHOLE);
            assert_eq!(again.as_ref(), Some(expected), "what was written reads back as something else");
        }
        Err(error) => panic!("what can be read cannot be converted: {error}"),
    }
}

fuzz_target!(init: ssdlab_fuzz::let_panics_be_caught(), |data: &[u8]| {
    let [choice, strictness, text @ ..] = data else { return };
    FILES.with_borrow(|[input, csv, parquet]| {
        input.write(text);
        let mut asked = workload(input.path(), *strictness);
        // Corpora name formats by their place in the registry, which only grows; place 18 has the format recognised.
        asked.format = match usize::from(*choice) % (trace_formats().len() + 1) {
            RECOGNISED => None,
            place => trace_formats().nth(place - usize::from(place > RECOGNISED)),
        };
        let whole = rows(&asked, WHOLE);
        let cut = Workload { range: RANGES[usize::from(*strictness >> 4) % 3], ..asked.clone() };
        let small = rows(&cut, SMALL);
        if let Some(whole) = &whole {
            assert!(small.is_some() || cut.range == RangePolicy::Compact && !fits(whole), "a trace that fits cannot be read");
        }
        let info = trace_info(input.path(), &Reading::from_config(&asked), None);
        let Some(expected) = whole.filter(|rows| !rows.is_empty()) else { return };
        if asked.bad_lines == 0 && asked.time_order == TimeOrder::Error {
            info.expect("what can be read can be described");
        }
        let options = ConvertOptions { reading: Reading::from_config(&asked), bad_lines: asked.bad_lines, time_order: asked.time_order, ..Default::default() };
        check_converted(&options, input.path(), csv.path(), &expected);
        if strictness >> 4 == 15 {
            check_converted(&options, input.path(), parquet.path(), &expected);
        }
    });
});
