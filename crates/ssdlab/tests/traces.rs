//! Real traces: each file of the collection beside the repository is recognised without help and holds exactly what its README states.
//! And for anything else that calls itself a trace: an answer or an error, never a panic.

use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ssdlab::config::{RangePolicy, TimeOrder, TraceFormat, Workload};
use ssdlab::request::{Request, RequestKind};
use ssdlab::workload::{ConvertOptions, Reading, RequestSource, TraceInfo, TraceReader, convert, read_prefill, trace_formats, trace_info};

/// The collection, or the reason why it cannot be tested with.
fn collection() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/traces");
    let directory = std::env::var_os("SSDLAB_TRACES").map_or(beside, PathBuf::from);
    if !directory.is_dir() {
        println!("skipped: {} is absent; SSDLAB_TRACES may name another place", directory.display());
        return None;
    }
    Some(directory)
}

/// The traces that the repository ships.
fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../traces")
}

fn info(path: &Path) -> TraceInfo {
    trace_info(path, &Reading::default(), None).unwrap_or_else(|e| panic!("{e}"))
}

fn replay(config: &Workload, exported_bytes: u64) -> ssdlab::error::Result<Vec<Request>> {
    let mut reader = TraceReader::new(config, exported_bytes)?;
    let mut all = Vec::new();
    while let Some(request) = reader.next_request()? {
        all.push(request);
    }
    Ok(all)
}

fn workload(path: &Path) -> Workload {
    Workload { trace: Some(path.to_str().unwrap().into()), ..Workload::default() }
}

/// File, format, readable requests, unreadable lines, devices.
const EXPECTED: [(&str, TraceFormat, u64, u64, usize); 14] = [
    ("financial1-first-10000.ssdsim.ascii", TraceFormat::Ssdsim, 10_000, 0, 22),
    ("financial1-first-50000.disksim-pages.ascii", TraceFormat::Disksim, 50_000, 0, 1),
    ("websearch1-first-24783.mqsim.ascii", TraceFormat::Mqsim, 24_783, 0, 6),
    ("tpcc-137ms.mqsim.ascii", TraceFormat::Mqsim, 6_999, 0, 16),
    ("msr-wdev_1.csv", TraceFormat::Msr, 1_055, 0, 1),
    ("msr-wdev_3.csv", TraceFormat::Msr, 682, 0, 1),
    ("msr-hm_0-first-1000.csv", TraceFormat::Msr, 1_000, 0, 1),
    ("msr-rsrch_1.reduced.txt", TraceFormat::MsrReduced, 13_780, 0, 0),
    ("msr-web_3.reduced.txt", TraceFormat::MsrReduced, 31_294, 86, 0),
    ("systor17-first-999.csv.gz", TraceFormat::Systor, 999, 0, 1),
    ("tencent-cbs-1s.csv.bz2", TraceFormat::Tencent, 50_000, 0, 0),
    ("postmark.disksim.ascii", TraceFormat::Disksim, 62_257, 0, 1),
    ("hdfs.blkparse.txt", TraceFormat::Blkparse, 3_794, 0, 1),
    ("captured/mariadb_oltp_write_only_paced.csv.zst", TraceFormat::Csv, 354_147, 0, 0),
];

#[test]
fn every_trace_of_the_collection_holds_what_its_readme_states() {
    let Some(directory) = collection() else { return };
    for (name, format, requests, bad_lines, devices) in EXPECTED {
        let info = info(&directory.join(name));
        assert_eq!((info.format, info.requests.total(), info.bad_lines), (format, requests, bad_lines), "{name}");
        assert_eq!(info.bad.len() as u64, bad_lines.min(100), "{name}");
        // 0: many, or none: not stated.
        assert!(devices == 0 || info.devices.len() == devices, "{name}: {} devices", info.devices.len());
        let json = serde_json::to_string(&info).unwrap();
        assert!(!json.contains("null"), "{name}: {json}");
    }
}

#[test]
fn every_file_of_the_collection_is_recognised_by_itself() {
    let Some(directory) = collection() else { return };
    let is_trace = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        path.is_file() && ![".md", ".json", ".prefill.csv"].iter().any(|ending| name.ends_with(ending))
    };
    for directory in [directory.clone(), directory.join("captured")] {
        let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).filter(is_trace);
        for path in files {
            assert!(info(&path).requests.total() > 0, "{}", path.display());
        }
    }
}

#[test]
fn damaged_offsets_are_bad_lines_with_their_number() {
    let Some(directory) = collection() else { return };
    let info = info(&directory.join("msr-web_3.reduced.txt"));
    assert_eq!(info.bad[0].line, 2);
    assert!(info.bad[0].message.ends_with("msr-web_3.reduced.txt:2: expected an offset in bytes, found \"1.82083E+11\""));
    let mut config =
        Workload { range: RangePolicy::Wrap, time_order: TimeOrder::Clamp, ..workload(&directory.join("msr-web_3.reduced.txt")) };
    config.bad_lines = 85;
    assert!(replay(&config, 1 << 34).unwrap_err().to_string().contains("(85 unreadable lines before it were tolerated)"));
    config.bad_lines = 86;
    assert!(replay(&config, 1 << 40).unwrap().len() >= 31_294);
}

#[test]
fn known_shares_of_real_traces() {
    let Some(directory) = collection() else { return };
    let financial = info(&directory.join("financial1-first-10000.ssdsim.ascii"));
    assert_eq!((financial.requests.read, financial.unit_bytes), (4_077, Some(512)));
    assert_eq!(info(&directory.join("financial1-first-50000.disksim-pages.ascii")).unit_bytes, Some(4096));
    assert!(info(&directory.join("tencent-cbs-1s.csv.bz2")).time_goes_back > 0);
    assert!(info(&directory.join("websearch1-first-24783.mqsim.ascii")).read_share.unwrap() > 0.99);
}

/// The JSON beside a captured trace was computed by other code, from the kernel's events.
#[test]
fn the_shipped_trace_has_the_statistics_that_came_with_it() {
    let name = "mariadb_oltp_write_only_paced";
    let stated: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(shipped().join(format!("{name}.json"))).unwrap()).unwrap();
    let (stated, exported_bytes) = (&stated["stats"], stated["device_bytes"].as_u64().unwrap());
    let path = shipped().join(format!("{name}.csv.zst"));
    let info = info(&path);
    for (found, key) in [(info.requests.read, "reads"), (info.requests.write, "writes"), (info.requests.trim, "trims")] {
        assert_eq!(stated[key], found, "{key}");
    }
    let close = |found: f64, key: &str, tolerance: f64| {
        let stated = stated[key].as_f64().unwrap();
        assert!((found - stated).abs() <= tolerance, "{key}: {found}, stated {stated}");
    };
    close(info.sequential_share.unwrap(), "sequential_share", 5e-5);
    close(info.bursty_write_share.unwrap(), "bursty_write_share_1500us", 5e-5);
    close(info.mean_kb.read.unwrap() * 1024.0, "mean_read_bytes", 0.5);
    close(info.mean_kb.write.unwrap() * 1024.0, "mean_write_bytes", 0.5);
    close(info.span_s, "duration_s", 5e-4);
    close(info.arrival_rate_per_s.unwrap(), "requests_per_s", 0.05);
    assert_eq!(replay(&workload(&path), exported_bytes).unwrap().len(), 354_147);
    let ranges = read_prefill(&shipped().join(format!("{name}.prefill.csv")), exported_bytes).unwrap();
    assert_eq!(ranges[..2], [(0, 2_105_344), (2_162_688, 8_192)]);
}

/// Converts, converts back, and compares every request.
#[test]
fn real_traces_survive_conversion() {
    let Some(directory) = collection() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let options = ConvertOptions { bad_lines: 100, time_order: TimeOrder::Sort, ..ConvertOptions::default() };
    for (name, ..) in EXPECTED.iter().filter(|(name, ..)| !name.contains("captured")) {
        let config = Workload { bad_lines: 100, time_order: TimeOrder::Sort, ..workload(&directory.join(name)) };
        let expected = replay(&config, 1 << 62).unwrap();
        for ending in ["csv.zst", "parquet"] {
            let to = scratch.path().join(format!("trace.{ending}"));
            convert(&directory.join(name), &to, &options).unwrap();
            assert_eq!(replay(&workload(&to), 1 << 62).unwrap(), expected, "{name} as {ending}");
        }
    }
}

/// Reads a file in every way; the result does not matter.
fn read_in_every_way(path: &Path) {
    let _ = trace_info(path, &Reading::default(), None);
    let _ = read_prefill(path, 1 << 40);
    for (index, format) in trace_formats().enumerate() {
        let _ = trace_info(path, &Reading::of(format), None);
        let policies = [RangePolicy::Error, RangePolicy::Wrap, RangePolicy::Clip, RangePolicy::Compact];
        let orders = [TimeOrder::Error, TimeOrder::Clamp, TimeOrder::Sort];
        let config = Workload {
            format: Some(format),
            range: policies[index % policies.len()],
            time_order: orders[index % orders.len()],
            bad_lines: 1000,
            ..workload(path)
        };
        for request in replay(&config, 3 << 20).unwrap_or_default() {
            assert!(request.offset + request.length <= 3 << 20);
        }
    }
}

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Text that is nearly a trace: the alphabet of all formats, in lines.
fn nearly_a_trace() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "0",
        "1",
        "4096",
        "512",
        "99999999999999999999",
        "-1",
        "1.5",
        "1.82083E+11",
        "R",
        "W",
        "Read",
        "Write",
        "T",
        "F",
        "Q",
        "FWS",
        "+",
        "8,16",
        "hm",
        "read",
        "sync",
        "add",
        "wait",
        "CPU0",
        "fio version 2 iolog",
        "timestamp_us,op,offset_bytes,size_bytes",
        "\u{1f4be}",
        "",
        "9223372036854775807",
        "18446744073709551615",
    ]);
    let separators = prop::sample::select(vec![",", "\t", " ", "\n", "\r\n", "\n\n"]);
    prop::collection::vec((words, separators), 0..120).prop_map(|parts| parts.into_iter().flat_map(|(word, after)| [word, after]).collect())
}

fn a_parquet_file() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("a.csv"), directory.path().join("a.parquet"));
    let rows: String = (0..300).map(|i| format!("{i},{},{},512,d{}\n", ["R", "W", "T", "F"][i % 4], i * 512, i % 3)).collect();
    std::fs::write(&from, format!("timestamp_us,op,offset_bytes,size_bytes,device\n{rows}")).unwrap();
    convert(&from, &to, &ConvertOptions::default()).unwrap();
    std::fs::read(to).unwrap()
}

/// The Parquet library panics on some damaged pages (a length in too many bytes was the first that was found): never to be seen outside.
#[test]
fn each_byte_of_a_parquet_file_may_be_damaged() {
    let whole = a_parquet_file();
    let damaged = (0..whole.len()).filter(|&at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x80;
        trace_info(file_of(&bytes).path(), &Reading::default(), None).is_err()
    });
    assert!(damaged.count() > whole.len() / 10, "damage goes unnoticed");
}

/// A record of vscsiStats, version 1 or 2.
fn vscsi_record(version: u16, command: u16, bytes: u32, sector: u64, us: u64) -> Vec<u8> {
    let head = [command.to_le_bytes(), (version << 8 | 3).to_le_bytes()].concat();
    let (serial, elements) = (77u32.to_le_bytes(), 1u32.to_le_bytes());
    let record = match version {
        1 => [&serial[..], &bytes.to_le_bytes(), &elements, &head, &sector.to_le_bytes(), &us.to_le_bytes()].concat(),
        _ => [&head[..], &serial, &bytes.to_le_bytes(), &elements, &sector.to_le_bytes(), &us.to_le_bytes(), &[9; 8]].concat(),
    };
    assert_eq!(record.len(), if version == 1 { 32 } else { 40 });
    record
}

/// (file name, content, requests) of each format that is not the project's own and has no file in the collection.
fn published_samples() -> Vec<(&'static str, Vec<u8>, TraceFormat)> {
    let vscsi = |version| {
        let records =
            [(0x28, 4096, 8, 1_000), (0x12, 36, 0, 1_001), (0x2a, 8192, 16, 1_002), (0x35, 0, 0, 1_003), (0x8a, 512, 1 << 33, 1_004)];
        records.map(|(command, bytes, sector, us)| vscsi_record(version, command, bytes, sector, us)).concat()
    };
    let digest = "56f11b711d91a065a2b6458eca924523";
    let fiu = format!("10 7 gzip 8 8 R 6 0 {digest}\n20 7 cp 16 16 W 6 0 {digest}\n30 7 kjournald 8589934592 8 W 8 1 {digest}\n");
    vec![
        ("w32_vscsi1.vscsitrace", vscsi(1), TraceFormat::Vscsi),
        ("w40_vscsi2.vscsitrace", vscsi(2), TraceFormat::Vscsi),
        (
            "vm.csv",
            b"#Vscsi Cmd Trace.\n1,4096,1,read,8,1000\n2,8192,2,write,16,1002\n3,512,1,write,8589934592,1004\n".into(),
            TraceFormat::VscsiText,
        ),
        ("homes.1.blkparse", fiu.into_bytes(), TraceFormat::Fiu),
        ("Diskmon.LOG", b"0\t0.5\t0.00001\t0\tRead\t8\t8\r\n1\t0.6\t0\t1\tWrite\t16\t16\r\n".into(), TraceFormat::Diskmon),
    ]
}

#[test]
fn samples_of_published_formats_are_recognised_and_survive_conversion() {
    let directory = tempfile::tempdir().unwrap();
    for (name, content, format) in published_samples() {
        let from = directory.path().join(name);
        std::fs::write(&from, &content).unwrap();
        let found = info(&from);
        assert_eq!((found.format, found.bad_lines), (format, 0), "{name}");
        let requests = replay(&workload(&from), 1 << 62).unwrap();
        let places: Vec<_> = requests.iter().filter(|r| r.length > 0).map(|r| (r.kind, r.offset, r.length)).collect();
        assert_eq!(places[..2], [(RequestKind::Read, 4096, 4096), (RequestKind::Write, 8192, 8192)], "{name}");
        for ending in ["csv", "csv.zst", "parquet"] {
            let to = directory.path().join(format!("to.{ending}"));
            convert(&from, &to, &ConvertOptions::default()).unwrap();
            assert_eq!(replay(&workload(&to), 1 << 62).unwrap(), requests, "{name} as {ending}");
        }
        let compressed = directory.path().join(format!("{name}.zst"));
        std::fs::write(&compressed, zstd::encode_all(&content[..], 1).unwrap()).unwrap();
        assert_eq!(replay(&workload(&compressed), 1 << 62).unwrap(), requests, "{name} compressed");
    }
}

#[test]
fn a_record_of_vscsi_that_is_cut_short_or_unknown_is_named_by_its_number() {
    let records = [0x28, 0x2a, 0x99].map(|command| vscsi_record(1, command, 512, 0, 5)).concat();
    let message = |bytes: &[u8]| replay(&workload(file_of(bytes).path()), 1 << 20).unwrap_err().to_string();
    assert!(
        message(&records).contains(":3: expected a SCSI command that reads, writes or flushes, found \"0x99\""),
        "{}",
        message(&records)
    );
    assert!(message(&records[..70]).contains(":3: expected a record of 32 bytes, found \"6 bytes\""), "{}", message(&records[..70]));
    let other = [&records[..64], &vscsi_record(2, 0x28, 512, 0, 5)].concat();
    assert!(trace_info(file_of(&other).path(), &Reading::default(), None).is_err(), "records of two versions");
    let given = trace_info(file_of(b"0,R,0,512\n").path(), &Reading::of(TraceFormat::Vscsi), None).unwrap_err().to_string();
    assert!(given.contains("expected records of the format vscsi"), "{given}");
}

/// A damaged file is an error, a bad line, or other requests: never a panic, and never more requests than lines or records.
#[test]
fn each_byte_of_a_published_format_may_be_damaged() {
    for (name, content, format) in published_samples() {
        for at in 0..content.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = content.clone();
                bytes[at] ^= flip;
                let path = file_of(&bytes);
                read_in_every_way(path.path());
                if let Ok(found) = trace_info(path.path(), &Reading::of(format), None) {
                    assert!(found.requests.total() <= 5, "{name}: byte {at} ^ {flip:#x}");
                }
            }
        }
    }
}

fn kinds() -> impl Strategy<Value = RequestKind> {
    prop::sample::select(vec![RequestKind::Read, RequestKind::Write, RequestKind::Trim, RequestKind::Flush])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(head in prop::sample::select(vec![&b""[..], b"PAR1", b"\x1f\x8b", b"BZh91AY", b"\x28\xb5\x2f\xfd"]),
                                bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        read_in_every_way(file_of(&[head, &bytes[..]].concat()).path());
    }

    #[test]
    fn nearly_right_text_never_panics(text in nearly_a_trace()) {
        read_in_every_way(file_of(text.as_bytes()).path());
    }

    #[test]
    fn damaged_parquet_never_panics(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        let mut bytes = a_parquet_file();
        for (at, value) in &flips {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        let _ = trace_info(file_of(&bytes).path(), &Reading::default(), None);
        bytes.truncate(cut.index(bytes.len()));
        let _ = trace_info(file_of(&bytes).path(), &Reading::default(), None);
    }

    #[test]
    fn what_is_written_reads_back(rows in prop::collection::vec((0u64..1_000_000, kinds(), 0u64..1 << 50, 1u64..1 << 40), 1..200)) {
        let directory = tempfile::tempdir().unwrap();
        let mut now_ns = 0;
        let mut text = String::from("timestamp_us,op,offset_bytes,size_bytes\n");
        let mut expected = Vec::new();
        for (index, &(gap_ns, kind, offset, length)) in rows.iter().enumerate() {
            // The first request is time 0.
            now_ns += if index == 0 { 0 } else { gap_ns };
            let letter = match kind { RequestKind::Read => "R", RequestKind::Write => "W", RequestKind::Trim => "T", _ => "F" };
            text += &format!("{}.{:03},{letter},{offset},{length}\n", now_ns / 1000, now_ns % 1000);
            let (offset, length) = if kind == RequestKind::Flush { (0, 0) } else { (offset, length) };
            expected.push(Request { arrival_ns: now_ns, kind, offset, length, high_priority: false, flow: 0, handle: None });
        }
        let from = directory.path().join("in.csv");
        std::fs::write(&from, text).unwrap();
        for name in ["out.csv", "out.csv.zst", "out.parquet"] {
            let to = directory.path().join(name);
            convert(&from, &to, &ConvertOptions::default()).unwrap();
            prop_assert_eq!(&replay(&workload(&to), 1 << 62).unwrap(), &expected);
        }
    }
}
