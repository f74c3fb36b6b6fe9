//! Traces are read for what they state, and refused, or read with a remark, where they do not state it. Expected values are worked out by
//! hand from the definitions of the formats.

use std::io::Write;
use std::path::Path;

use ssdlab::config::{FioWait, TimeUnit, TraceEvent, TraceFormat, Workload};
use ssdlab::request::RequestKind::{self, Flush, Read, Trim, Write as W};
use ssdlab::workload::{ConvertOptions, Reading, RequestSource, TraceInfo, TraceReader, convert, trace_info};

/// A file of that name in a folder of its own.
struct File(tempfile::TempDir, std::path::PathBuf);

fn file(name: &str, text: &str) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    File(folder, path)
}

type Rows = Vec<(u64, RequestKind, u64, u64)>;

/// Arrival, kind, offset and length of each request, as a run gets them.
fn replay(path: &Path, reading: &Reading) -> Result<Rows, String> {
    let config = Workload {
        trace: Some(path.to_str().unwrap().into()),
        format: reading.format,
        unit_bytes: reading.unit_bytes,
        time_unit: reading.time_unit,
        event: reading.event,
        fio_wait: reading.fio_wait,
        ..Workload::default()
    };
    let mut reader = TraceReader::new(&config, 1 << 62).map_err(|e| e.to_string())?;
    let mut rows = Rows::new();
    while let Some(request) = reader.next_request().map_err(|e| e.to_string())? {
        rows.push((request.arrival_ns, request.kind, request.offset, request.length));
    }
    Ok(rows)
}

fn rows(text: &str, reading: &Reading) -> Rows {
    let File(_folder, path) = file("trace.txt", text);
    replay(&path, reading).unwrap()
}

fn info(text: &str, reading: &Reading) -> TraceInfo {
    let File(_folder, path) = file("trace.txt", text);
    trace_info(&path, reading, None).unwrap_or_else(|e| panic!("{e}"))
}

/// The message of `trace info`, a run and a conversion, which all refuse the file.
fn refused(name: &str, text: &str, reading: &Reading) -> String {
    let File(folder, path) = file(name, text);
    let by_info = trace_info(&path, reading, None).map(|info| panic!("{name} is described as {info:?}")).unwrap_err().to_string();
    assert!(replay(&path, reading).is_err(), "{name} is replayed");
    let options = ConvertOptions { reading: reading.clone(), ..ConvertOptions::default() };
    assert!(convert(&path, &folder.path().join("to.csv"), &options).is_err(), "{name} is converted");
    assert!(!by_info.contains('\n') && by_info.contains(name), "{by_info}");
    by_info
}

fn codes(info: &TraceInfo) -> Vec<&str> {
    info.remarks.iter().map(|remark| remark.code.as_str()).collect()
}

fn no() -> Reading {
    Reading::default()
}

fn of(format: TraceFormat) -> Reading {
    Reading::of(format)
}

const SECONDS_AND_SECTORS: &str = "0.000001,R,2048,8\n0.000901,W,4096,16\n1.000001,R,8192,8\n";

#[test]
fn text_without_a_header_is_read_in_the_units_that_are_stated() {
    let told = refused("t.csv", SECONDS_AND_SECTORS, &no());
    assert!(told.contains("1 s as s") && told.contains("--time-unit"), "{told}");
    let reading = Reading { time_unit: Some(TimeUnit::S), unit_bytes: Some(512), ..of(TraceFormat::Csv) };
    let expected = [(0, Read, 2048 * 512, 4096), (900_000, W, 4096 * 512, 8192), (1_000_000_000, Read, 8192 * 512, 4096)];
    assert_eq!(rows(SECONDS_AND_SECTORS, &reading), expected);
    let found = info(SECONDS_AND_SECTORS, &reading);
    assert_eq!((found.span_s, found.mean_kb.read, found.max_end_bytes), (1.0, Some(4.0), 8200 * 512));
    assert_eq!((found.units.time.as_str(), found.units.size.as_str(), found.without_header), ("s", "512 bytes", true));
    // As the columns of the project, the same file is hardly right, and it is said.
    assert_eq!(codes(&info(SECONDS_AND_SECTORS, &of(TraceFormat::Csv))), ["short-span", "unaligned"]);
}

#[test]
fn a_header_that_states_units_is_not_overruled() {
    let text = "timestamp_us,op,offset_bytes,size_bytes\n0,R,0,512\n";
    let told = refused("t.csv", text, &Reading { time_unit: Some(TimeUnit::S), ..no() });
    assert!(told.contains("time_unit is given, but the header of the file states it"), "{told}");
    let told = refused("t.csv", text, &Reading { unit_bytes: Some(512), ..of(TraceFormat::Csv) });
    assert!(told.contains("unit_bytes is given, but the header"), "{told}");
    let told = refused("t.csv", text, &Reading { event: Some(TraceEvent::Issue), ..no() });
    assert!(told.contains("event is given, but the format csv has one kind of request"), "{told}");
}

#[test]
fn five_columns_of_numbers_are_read_in_the_unit_that_is_stated() {
    let microseconds = "0 0 80 8 1\n20000 0 160 8 0\n41000 0 800 8 1\n60000 0 240 8 0\n";
    let told = refused("t.trace", microseconds, &no());
    assert!(told.contains("60 ms as us, 6 ms as ticks, 60 us as ns"), "{told}");
    let reading = Reading { time_unit: Some(TimeUnit::Us), ..of(TraceFormat::Mqsim) };
    assert_eq!(info(microseconds, &reading).span_s, 0.060);
    assert_eq!(rows(microseconds, &reading)[1], (20_000_000, W, 160 * 512, 4096));
    // By MQSim's own definition: nanoseconds, and a remark.
    let by_definition = info(microseconds, &of(TraceFormat::Mqsim));
    assert_eq!((by_definition.span_s, codes(&by_definition)), (60e-6, vec!["short-span"]));

    let sparse = "0 0 2048 8 1\n14000 0 4096 16 0\n27500 0 8192 8 1\n41000 0 6144 8 0\n";
    refused("t.trace", sparse, &no());
    assert_eq!(info(sparse, &of(TraceFormat::Disksim)).span_s, 41.0);

    let fast: String = (0..12).map(|i| format!("{} 0 {} 8 {}\n", 4_851_300 + 5000 * i, 64 * i, i % 2)).collect();
    let told = refused("t.trace", &fast, &no());
    assert!(
        told.contains("disksim (ms") && told.contains("mqsim (ns") && told.contains("55 s as ms") && told.contains("55 us as ns"),
        "{told}"
    );
}

#[test]
fn sizes_that_are_no_sectors_are_told() {
    let found = info("timestamp_us,op,offset_bytes,size_bytes\n0,W,1,1\n10,R,3,5\n", &no());
    assert_eq!(codes(&found), ["short-span", "unaligned"]);
    assert!(found.remarks[1].sentence.starts_with("2 of 2 requests") && found.remarks[1].sentence.contains("line 2"));
}

#[test]
fn requests_without_times_are_told() {
    let text = "fio version 2 iolog\n/data/t add\n/data/t open\n/data/t read 2490368 4096\n/data/t write 1245184 4096\n/data/t close\n";
    let found = info(text, &no());
    assert_eq!(codes(&found), ["no-times"]);
    assert!(found.remarks[0].remedy.contains("workload.queue_depth"));
    let File(_folder, path) = file("t.log", text);
    let remarks = |queue_depth| {
        let config = Workload { trace: Some(path.to_str().unwrap().into()), queue_depth, ..Workload::default() };
        let mut reader = TraceReader::new(&config, 1 << 40).unwrap();
        while reader.next_request().unwrap().is_some() {}
        reader.report().remarks.into_iter().map(|remark| remark.code).collect::<Vec<_>>()
    };
    assert_eq!((remarks(0), remarks(8)), (vec!["no-times".to_string()], vec![]));
}

#[test]
fn cloudphysics_text_has_seconds_scsi_codes_bytes_and_sectors() {
    let text = "1,5633898,2a,512,42932745\n1,5633898,28,4096,42932746\n1,5633899,28,4096,42932747\n";
    let found = info(text, &no());
    assert_eq!((found.format, found.requests.read, found.requests.write), (TraceFormat::Cloudphysics, 2, 1));
    assert_eq!((found.max_end_bytes, found.span_s), (42_932_747 * 512 + 4096, 1.0));
    assert_eq!(codes(&found), ["coarse-times"]);
    assert!(found.remarks[0].sentence.contains("whole seconds"));
}

const ISSUED_ONLY: &str = "259,2    0        2     0.000001200  4020  D   R 282624 + 8 [java]
259,2    0        5     0.000093141  4020  D   R 282632 + 248 [java]
259,2    3        9     0.000201500  4101  D  WS 900096 + 1024 [rocksdb:low0]
259,2    3       12     0.001301500  4101  D  WS 901120 + 1024 [rocksdb:low0]
";
const MERGED: &str = "8,0 1 1 0.000000000 100 Q WS 2048 + 8 [dd]
8,0 1 2 0.000001000 100 G WS 2048 + 8 [dd]
8,0 1 3 0.000002000 100 Q WS 2056 + 8 [dd]
8,0 1 4 0.000003000 100 M WS 2056 + 8 [dd]
8,0 1 5 0.000004000 100 Q WS 2064 + 8 [dd]
8,0 1 6 0.000005000 100 M WS 2064 + 8 [dd]
8,0 1 7 0.000006000 100 Q WS 2072 + 8 [dd]
8,0 1 8 0.000007000 100 M WS 2072 + 8 [dd]
8,0 1 9 0.000100000 100 D WS 2048 + 32 [dd]
8,0 1 10 0.000500000 0 C WS 2048 + 32 [0]
";

#[test]
fn blkparse_takes_the_event_that_there_is_or_that_is_stated() {
    let found = info(ISSUED_ONLY, &no());
    assert_eq!((found.requests.read, found.requests.write, found.units.event.as_deref()), (2, 2, Some("issue")));
    assert_eq!((found.mean_kb.read, found.mean_kb.write), (Some(64.0), Some(512.0)));
    let told = refused("t.txt", ISSUED_ONLY, &Reading { event: Some(TraceEvent::Queue), ..no() });
    assert!(told.contains("4 lines of action D (issued)") && told.contains("--event queue"), "{told}");

    let queued: Vec<_> = (0..4).map(|i| (2000 * i, W, (2048 + 8 * i) * 512, 4096)).collect();
    assert_eq!(rows(MERGED, &no()), queued);
    assert_eq!(rows(MERGED, &Reading { event: Some(TraceEvent::Queue), ..no() }), queued);
    let issue = Reading { event: Some(TraceEvent::Issue), ..no() };
    assert_eq!(rows(MERGED, &issue), [(0, W, 2048 * 512, 16_384)]);
    let skipped = info(MERGED, &issue).skipped_lines;
    let skipped: Vec<_> = skipped.iter().map(|skipped| (skipped.what.as_str(), skipped.lines)).collect();
    assert_eq!(
        skipped,
        [("action C (completed)", 1), ("action G (request allocated)", 1), ("action M (merged)", 3), ("action Q (queued)", 4)]
    );
}

#[test]
fn a_trace_without_requests_is_refused_with_the_reason() {
    let completed = "8,0 1 10 0.000500000 0 C WS 2048 + 32 [0]\n8,0 1 11 0.000600000 0 C WS 2048 + 32 [0]\n";
    assert!(refused("t.txt", completed, &no()).contains("2 lines of action C (completed)"));
    let header = "timestamp_us,op,offset_bytes,size_bytes\n";
    assert!(refused("t.csv", header, &no()).contains("holds no requests"));
    assert!(refused("t.csv", &format!("{header}0,X,0,512\n"), &no()).contains(":2: expected the op"));
    assert!(refused("t.log", "fio version 3 iolog\n1 /dev/sda add\n", &no()).contains("holds no requests"));
    let others = "  sh-1 [000] d..1. 10.000001: sched_switch: prev_comm=sh\n";
    assert!(refused("t.txt", others, &of(TraceFormat::Ftrace)).contains("1 lines of event sched_switch"));
}

#[test]
fn devices_that_hand_their_requests_on_are_named() {
    let raid = "9,0 1 1 0.000000000 100 Q WS 2048 + 16 [dd]
8,0 1 2 0.000001000 100 A WS 2048 + 8 <- (9,0) 2048
8,0 1 3 0.000002000 100 Q WS 2048 + 8 [dd]
8,16 1 4 0.000003000 100 A WS 2048 + 8 <- (9,0) 2056
8,16 1 5 0.010000000 100 Q WS 2048 + 8 [dd]
9,0 1 6 0.020000000 100 Q R 4096 + 8 [dd]
";
    let found = info(raid, &no());
    assert_eq!(codes(&found), ["stacked-devices"]);
    assert!(found.remarks[0].sentence.contains("9,0 over 8,0 and 8,16"), "{}", found.remarks[0].sentence);
    let File(_folder, path) = file("t.txt", raid);
    assert!(trace_info(&path, &no(), Some("8,0")).unwrap().remarks.is_empty());
    let without_remaps: String = raid.lines().filter(|line| !line.contains(" A ")).map(|line| format!("{line}\n")).collect();
    assert_eq!(codes(&info(&without_remaps, &no())), ["stacked-devices"]);
    // A partition is only remapped: its requests are there once.
    let partition = "8,0 1 1 0.0 100 A WS 2048 + 8 <- (8,1) 0\n8,0 1 2 0.000002000 100 Q WS 2048 + 8 [dd]\n8,0 1 3 0.2 1 Q R 0 + 8 [a]\n";
    assert!(info(partition, &no()).remarks.is_empty());
}

#[test]
fn waits_of_fio_are_read_as_its_program_or_its_manual_says() {
    let text = "fio version 2 iolog\n/dev/n add\n/dev/n open\n/dev/n read 944128 512\n/dev/n wait 1000 0\n/dev/n wait 1000 1
/dev/n read 944640 512\n/dev/n wait 3000 0\n/dev/n read 945152 512\n/dev/n close\n";
    let arrivals = |reading: &Reading| rows(text, reading).iter().map(|row| row.0 / 1_000_000).collect::<Vec<_>>();
    assert_eq!(arrivals(&no()), [0, 1000, 3000], "ms after the start");
    let manual = Reading { fio_wait: FioWait::Manual, ..no() };
    assert_eq!(arrivals(&manual), [0, 2, 5], "us after the wait before");
    assert_eq!(codes(&info(text, &no())), ["fio-waits", "whole-seconds"]);
    assert!(info(text, &no()).remarks[0].sentence.contains("program"));
    assert!(info(text, &manual).remarks[0].sentence.contains("manual"));
    assert_eq!((info(text, &no()).units.time.as_str(), info(text, &manual).units.time.as_str()), ("ms, by wait", "us, by wait"));
    let third = "fio version 3 iolog\n10 n1 add\n10 n1 open\n20 n1 read 0 512\n30 n1 close\n";
    assert!(refused("t.log", third, &manual).contains("fio_wait is for fio logs of version 2"));
}

#[test]
fn logs_of_fio_need_their_first_line_and_hold_one_log() {
    assert!(refused("t.txt", "0.000100 zone_append 0 524288\n0.000200 zone_reset 0 0\n0.000300 read 0 4096\n", &no()).contains("zoned"));
    assert!(refused("t.log", "/data/t add\n/data/t open\n/data/t read 0 4096\n/data/t close\n", &no()).contains("without its first line"));
    let twice = "fio version 3 iolog\n10 n1 add\n20 n1 read 0 512\nfio version 3 iolog\n10 n1 add\n20 n1 read 0 512\n";
    let File(_folder, path) = file("t.log", twice);
    assert!(replay(&path, &no()).unwrap_err().contains(":4: expected one log"), "{:?}", replay(&path, &no()));
}

const FTRACE: &str = "# tracer: nop
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
             fio-1234    [001] .....  1234.100001: block_rq_insert: 259,0 R 4096 () 2097152 + 8 none,0,0 [fio]
             fio-1234    [001] .....  1234.100012: block_rq_issue: 259,0 R 4096 () 2097152 + 8 none,0,0 [fio]
          <idle>-0       [001] d.h1.  1234.100318: block_rq_complete: 259,0 R () 2097152 + 8 none,0,0 [0]
             fio-1234    [001] .....  1234.100401: block_rq_issue: 259,0 WS 65536 () 64 + 128 none,0,0 [fio]
             fio-1234    [001] .....  1234.100501: block_rq_issue: 259,0 WFSU 16384 () 768 + 32 none,0,0 [fio]
          <idle>-0       [003] d.h1.  1234.100918: block_rq_complete: 259,0 WS () 64 + 128 none,0,0 [0]
";

#[test]
fn ftrace_perf_and_trace_cmd_hold_issued_requests() {
    let expected = [(0, Read, 2_097_152 * 512, 4096), (389_000, W, 64 * 512, 65_536), (489_000, W, 768 * 512, 16_384)];
    assert_eq!(rows(FTRACE, &no()), expected);
    let found = info(FTRACE, &no());
    assert_eq!((found.format, found.skipped_lines[1].what.as_str(), found.bad_lines), (TraceFormat::Ftrace, "event block_rq_insert", 0));
    let perf = "    kworker/u16:3 25003 [004] 543348.164811:   block:block_rq_insert: 259,0 RM 4096 () 2564656 + 8 [kworker/u16:3]
     kworker/4:1H   533 [004] 543348.164815:    block:block_rq_issue: 259,0 RM 4096 () 2564656 + 8 [kworker/4:1H]
          swapper     0 [004] 543348.164887: block:block_rq_complete: 259,0 RM () 2564656 + 8 [0]
               dd 25337 [001] 543348.165050:    block:block_rq_issue: 259,0 R 131072 () 3191272 + 256 [dd]
";
    assert_eq!(rows(perf, &no()), [(0, Read, 2_564_656 * 512, 4096), (235_000, Read, 3_191_272 * 512, 131_072)]);
    let trace_cmd = "cpus=2\n   fio-12 [001]  12.100012: block_rq_issue:       259,0 FF 0 () 0 + 0 [fio]
   fio-12 [001]  12.100013: block_rq_issue:       259,0 D 4096 () 8 + 8 [fio]
   my app-13 [000]  12.100014: block_bio_queue:      259,0 W 16 + 8 [my app]
CPU:1 [LOST 42 EVENTS]
";
    assert_eq!(rows(trace_cmd, &no()), [(0, Flush, 0, 0), (1000, Trim, 4096, 4096)]);
    let File(_folder, path) = file("t.txt", &format!("{FTRACE}{FTRACE}"));
    assert!(replay(&path, &no()).unwrap_err().contains("a second header begins another"));
    assert_eq!(rows(trace_cmd, &Reading { event: Some(TraceEvent::Queue), ..no() }), [(0, W, 8192, 4096)]);
    let found = info(trace_cmd, &no());
    assert!(codes(&found).contains(&"lost-events") && found.remarks[0].sentence.contains("42"), "{:?}", found.remarks);
}

#[test]
fn commands_of_nvme_count_blocks_whose_size_must_be_stated() {
    let text = "   fio-3780 [001] .... 9904.831153: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=1, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_write slba=498455480, len=7, ctrl=0x0, dsmgmt=0, reftag=0)
   fio-3780 [001] .... 9904.831200: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=2, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_read slba=1000, len=31, ctrl=0x0, dsmgmt=0, reftag=0)
   fio-3780 [001] .... 9904.831300: nvme_complete_rq: nvme0: disk=nvme0n1, qid=4, cmdid=2, res=0x0, retries=0, flags=0x0, status=0x0
";
    let told = refused("t.txt", text, &no());
    assert!(told.contains("--unit-bytes 512 or 4096"), "{told}");
    let with = |bytes| rows(text, &Reading { unit_bytes: Some(bytes), ..no() });
    assert_eq!(with(512), [(0, W, 498_455_480 * 512, 8 * 512), (47_000, Read, 1000 * 512, 32 * 512)]);
    assert_eq!(with(4096)[1], (47_000, Read, 1000 * 4096, 32 * 4096));
}

#[test]
fn biosnoop_prints_requests_when_they_end() {
    let text = "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)
0.000000    mount          163467  sde       R 41944043   4096      1.42
0.004000    kworker/u16:4  2784813 sde       W 41945067   524288    1.43
0.007000    IPC I/O Parent 422     sde       W 41946091   8192      0.68
";
    // Issued at -1.42, 2.57 and 6.32 ms.
    let expected = [(0, Read, 41_944_043 * 512, 4096), (3_990_000, W, 41_945_067 * 512, 524_288), (7_740_000, W, 41_946_091 * 512, 8192)];
    assert_eq!(rows(text, &no()), expected);
    assert_eq!(info(text, &no()).devices[0].name, "sde");
    let queued =
        text.replace("LAT(ms)", "QUE(ms) LAT(ms)").replace("1.42", "9.99 1.42").replace("1.43", "9.99 1.43").replace("0.68", "9.99 0.68");
    assert_eq!(rows(&queued, &no()), expected);
    refused("t.txt", &text[text.find('\n').unwrap() + 1..], &no());
}

#[test]
fn iotrace_and_io_tracer_are_read() {
    let text = "{\"header\":{\"sid\":\"1\",\"timestamp\":\"253654431680\"},\"deviceDescription\":{\"id\":\"1\",\"name\":\"sda\",\"size\":62914560}}
{\"header\":{\"sid\":\"3\",\"timestamp\":\"254719353975\"},\"io\":{\"lba\":\"29664032\",\"len\":8,\"ioClass\":1,\"deviceId\":\"1\",\"operation\":\"Write\",\"flush\":false,\"fua\":false}}
{\"header\":{\"sid\":\"4\",\"timestamp\":\"254819353975\"},\"io\":{\"lba\":\"29664040\",\"len\":16,\"ioClass\":1,\"deviceId\":1,\"operation\":\"Read\",\"flush\":false,\"fua\":false}}
";
    assert_eq!(rows(text, &no()), [(0, W, 29_664_032 * 512, 4096), (100_000_000, Read, 29_664_040 * 512, 8192)]);
    assert_eq!(info(text, &no()).devices.len(), 1);
    let text = "2024-01-15 10:30:45.123456,1234,python3,2048000,write,8192,1.234,1235,16,0,1233
2024-01-15 10:30:45.234567,1234,python3,2048016,read,4096,0.567,1235,8,1,1233
2024-01-15 10:30:45.345678,1234,python3,0,flush,0,2.345,1235,0,2,1233
";
    // 123456 - 1234, 234567 - 567 and 345678 - 2345 us.
    assert_eq!(rows(text, &no()), [(0, W, 2_048_000 * 512, 8192), (111_778_000, Read, 2_048_016 * 512, 4096), (221_111_000, Flush, 0, 0)]);
}

#[test]
fn the_own_text_takes_words_quotation_marks_and_whole_numbers_with_a_point() {
    let header = "timestamp_us,op,offset_bytes,size_bytes\n";
    let words = info(&format!("{header}0,READ,0,4096\n10,write,4096,8192\n20,Discard,4096,8192\n"), &no()).requests;
    assert_eq!((words.read, words.write, words.trim), (1, 1, 1));
    let quoted = "\"timestamp_us\",\"op\",\"offset_bytes\",\"size_bytes\"\n\"0\",\"R\",\"0\",\"4096\"\n\"10\",\"W\",\"4096\",\"8192\"\n";
    assert_eq!(rows(quoted, &no()), [(0, Read, 0, 4096), (10_000, W, 4096, 8192)]);
    assert_eq!(rows(&format!("{header}0.0,R,4096.0,8192.00\n"), &no()), [(0, Read, 4096, 8192)]);
    assert_eq!(rows("size_bytes,OP,\"timestamp_us\",offset_bytes\n512,unmap,7,1024\n", &no()), [(0, Trim, 1024, 512)]);
    for (bad, told) in [
        ("0,R,4096.5,8192\n", "an offset in bytes, found \"4096.5\""),
        ("0,1,4096,8192\n", "the op R, W, T or F (or the words"),
        ("0,R,0,512\ntimestamp_us,op,offset_bytes,size_bytes\n0,R,0,512\n", "a second header"),
    ] {
        let File(_folder, path) = file("t.csv", &format!("{header}{bad}"));
        assert!(replay(&path, &no()).unwrap_err().contains(told), "{bad}: {:?}", replay(&path, &no()));
    }
    assert!(refused("t.csv", "timestamp_us,op,op,offset_bytes,size_bytes\n0,R,W,0,512\n", &no()).contains("once"));
}

#[test]
fn what_is_no_trace_of_a_block_device_is_named_for_what_it_is() {
    for (name, text, told) in [
        ("a.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 136619956\n", "git lfs pull"),
        ("b.csv", "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", "a web page"),
        ("c.xml", "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>\n", "a web page"),
        ("d.json", "{\n \"message\": \"Not Found\"\n}\n", "JSON"),
        (
            "e.csv",
            "filename,file_offset,application,c_time,io_zone,redundancy_type,op_type\nab12,0,bigtable,1700000000,WARM,REPLICATED,READ\n",
            "column filename",
        ),
        ("f.csv", "0,yDqF-3BnHvbPJ9k,17,213,4,get,0\n1,yDqF-3BnHvbPJ9k,17,213,4,set,3600\n", "keys or objects"),
        ("g.csv", "op_time,key,key_size,op,op_count,size,cache_hits,ttl\n1,a,7,GET,1,100,1,0\n", "column key"),
        ("h.txt", "1219008 REST.PUT.OBJECT 8d4fcda3d675bac9 1056\n1221974 REST.HEAD.OBJECT 39d177fb735ac5df 528\n", "keys or objects"),
        ("i.txt", "openat(AT_FDCWD, \"x\", O_RDONLY) = 3\nread(3, \"a\", 4096) = 4096\n", "file operations"),
        ("j.txt", "0.000000 R 2048 8\n0.000901 W 4096 16\n", "blkparse -f"),
        ("l.tsv", "timestamp_us\top\toffset_bytes\tsize_bytes\n0\tR\t0\t512\n", "another separator"),
        ("k.txt", "0.000000 2048 + 8 RS\n0.000901 4096 + 16 WS\n", "blkparse -f"),
    ] {
        let message = refused(name, text, &no());
        assert!(message.contains(told), "{name}: {message}");
    }
}

#[test]
fn as_many_volumes_as_requests_are_told() {
    let text = "timestamp_us,op,offset_bytes,size_bytes,device\n0,R,0,512,7\n1000,R,0,512,9\n2000,R,0,512,11\n";
    assert_eq!(codes(&info(text, &no())), ["volumes"]);
}

#[test]
fn units_are_in_the_report_of_a_run() {
    let File(_folder, path) = file("t.mqsim.txt", "0 0 8 8 1\n5000000 0 16 8 0\n");
    let config = Workload { trace: Some(path.to_str().unwrap().into()), ..Workload::default() };
    let mut reader = TraceReader::new(&config, 1 << 40).unwrap();
    while reader.next_request().unwrap().is_some() {}
    let report = serde_json::to_value(reader.report()).unwrap();
    assert_eq!(report["trace"]["units"]["time"], "ns");
    assert_eq!(report["trace"]["units"]["address"], "512 bytes");
    assert_eq!(report["trace"]["units"]["operations"], "1 = read, 0 = write");
    assert_eq!(report["trace"]["format"], "mqsim");
    assert!(report.get("remarks").is_none());
}
