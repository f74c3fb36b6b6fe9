//! How fast traces are read: a plain MSR file of about 100 MB, made for the occasion, through the whole reader, in bytes of text a second.

use std::hint::black_box;
use std::io::Write;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ssdlab::config::Workload;
use ssdlab::rng::Rng;
use ssdlab::workload::{ConvertOptions, RequestSource, TraceReader, convert, trace_info};

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

fn read_all(path: &Path) -> u64 {
    let config = Workload { trace: Some(path.to_string_lossy().into_owned()), ..Workload::default() };
    let mut reader = TraceReader::new(&config, EXPORTED_BYTES).expect("a readable trace");
    let mut sum = 0u64;
    while let Some(request) = reader.next_request().expect("readable lines") {
        sum = sum.wrapping_add(black_box(request).offset);
    }
    sum
}

fn benchmark(c: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let msr = directory.path().join("trace.msr.csv");
    write_msr(&msr);
    let mut group = c.benchmark_group("trace_read");
    // Throughput of all is in bytes of the MSR text, so that the formats can be compared request by request.
    group.sample_size(10).throughput(Throughput::Bytes(std::fs::metadata(&msr).expect("the file just written").len()));
    group.bench_with_input(BenchmarkId::new("replay", "msr"), &msr, |b, path| b.iter(|| read_all(path)));
    group.bench_with_input(BenchmarkId::new("info", "msr"), &msr, |b, path| b.iter(|| trace_info(path, None, None, None)));
    for name in ["trace.csv", "trace.csv.zst", "trace.parquet"] {
        let path = directory.path().join(name);
        convert(&msr, &path, &ConvertOptions::default()).expect("a conversion");
        group.bench_with_input(BenchmarkId::new("replay", name), &path, |b, path| b.iter(|| read_all(path)));
    }
    group.finish();
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
