//! How fast traces are read: a plain MSR file of about 100 MB, made for the occasion, through the whole reader, in bytes of text a second.
//! Files given as arguments are read instead, and their requests a second are shown.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use ssdlab::config::Workload;
use ssdlab::rng::Rng;
use ssdlab::workload::{ConvertOptions, Reading, RequestSource, TraceReader, convert, trace_info};

/// Number of turns, the best of which counts: other work on the machine only ever makes a turn slower.
const TURNS: u32 = 5;
const FILE_BYTES: u64 = 100_000_000;
const EXPORTED_BYTES: u64 = 1 << 40;

/// Lines as in the MSR Cambridge traces, until the file is large enough.
fn write_msr(path: &Path) {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).expect("a temporary file"));
    let mut rng = Rng::new(1, "bench/msr");
    let (mut ticks, mut written) = (128_166_372_003_061_629_u64, 0);
    while written < FILE_BYTES {
        ticks += rng.below(200_000);
        let kind = if rng.chance(0.4) { "Read" } else { "Write" };
        let (offset, size) = (rng.below(30_000_000) * 4096, (1 + rng.below(16)) * 4096);
        let line = format!("{ticks},prn,0,{kind},{offset},{size},{}\n", rng.below(100_000));
        out.write_all(line.as_bytes()).expect("room for 100 MB");
        written += line.len() as u64;
    }
    out.flush().expect("room for 100 MB");
}

/// Reads a trace to its end. Returns the number of its requests.
fn read_all(path: &Path) -> u64 {
    let config = Workload { trace: Some(path.to_string_lossy().into_owned()), ..Workload::default() };
    let mut reader = TraceReader::new(&config, EXPORTED_BYTES).expect("a readable trace");
    let mut requests = 0;
    while let Some(request) = reader.next_request().expect("readable lines") {
        black_box(request);
        requests += 1;
    }
    requests
}

fn main() {
    // Cargo adds --bench.
    let files: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    for file in &files {
        let requests = read_all(Path::new(file));
        println!(
            "{file}: {:.2} million requests a second",
            requests as f64
                / 1e6
                / least_seconds(&|| {
                    black_box(read_all(Path::new(file)));
                })
        );
    }
    if files.is_empty() {
        made_for_the_occasion();
    }
}

fn made_for_the_occasion() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let msr = directory.path().join("trace.msr.csv");
    write_msr(&msr);
    let text_bytes = std::fs::metadata(&msr).expect("the file just written").len();
    println!(
        "An MSR trace of {} MB and the same requests in other formats, best of {TURNS} turns, in MB of the MSR text",
        text_bytes / 1_000_000
    );
    let report = |what: &str, work: &dyn Fn()| {
        println!("  {what:<24} {:>6.0} MB/s", text_bytes as f64 / 1e6 / least_seconds(work));
    };
    report("info of trace.msr.csv", &|| {
        black_box(trace_info(&msr, &Reading::default(), None).expect("a readable trace"));
    });
    for name in ["trace.msr.csv", "trace.csv", "trace.csv.zst", "trace.parquet"] {
        let path = directory.path().join(name);
        if path != msr {
            convert(&msr, &path, &ConvertOptions::default()).expect("a conversion");
        }
        report(&format!("replay of {name}"), &|| {
            black_box(read_all(&path));
        });
    }
}

fn least_seconds(work: &dyn Fn()) -> f64 {
    (0..TURNS).map(|_| seconds_of(work)).fold(f64::INFINITY, f64::min)
}

fn seconds_of(work: &dyn Fn()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}
