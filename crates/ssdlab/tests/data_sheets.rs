//! The device `nvme-tlc-2023` against data sheets of its class, Micron 7450 PRO 960 GB and SK Hynix PE8110 960 GB, and reads under load
//! against measurements of both, all as collected in SSD-iq (docs/validity.md has the tables). Blocks have a twelfth of their pages here, and
//! erase in a twelfth of the time, so that preparing a drive which has been in use takes a second; the shares of everything are the same.

use std::path::Path;

use crate::common::cases::is_full;
use ssdlab::config::{Config, Layers, PreconditionKind, SuspendedForReads};
use ssdlab::simulation::{Control, Plan, precondition, run};
use ssdlab::stats::RunResult;

/// A drive of the preset, and requests of `request_kb` KiB, a share of `read_share` of them reads.
fn drive(read_share: f64, request_kb: f64) -> Config {
    let layers = Layers { device: Some("nvme-tlc-2023".into()), schemes: vec!["nvme".into()], ..Layers::default() };
    let mut config = layers.build().expect("a preset");
    config.device.pages_per_block /= 12;
    config.device.erase_ns /= 12;
    (config.workload.read_share, config.workload.request_kb) = (read_share, request_kb);
    config
}

/// Runs `requests` requests, `queue_depth` of them outstanding.
fn saturated(mut config: Config, queue_depth: u32, requests: u64) -> RunResult {
    config.workload.queue_depth = queue_depth;
    run(&Plan { requests: Some(requests), ..Plan::new(config, 1) }, &Control::default()).expect("it runs")
}

fn used(mut config: Config) -> Config {
    config.ftl.precondition.kind = PreconditionKind::Steady;
    config
}

/// Within a fifth of the mean of the two data sheets.
fn assert_near(what: &str, value: f64, sheets: [f64; 2]) {
    let mean = (sheets[0] + sheets[1]) / 2.0;
    println!("{what}: {value:.1}, data sheets {sheets:?}: {:+.0} %", (value / mean - 1.0) * 100.0);
    assert!((value / mean - 1.0).abs() < 0.2, "{what}: {value}, and not {sheets:?}");
}

#[test]
fn saturated_rates_are_those_of_data_sheets() {
    let megabytes = |result: &RunResult, kib: f64| result.iops.expect("a run has a rate") * kib * 1024.0 / 1e6;
    let iops = |result: &RunResult| result.iops.expect("a run has a rate") / 1e3;
    assert_near("random reads of 4 KiB, thousands a second", iops(&saturated(drive(1.0, 4.0), 512, 200_000)), [530.0, 900.0]);
    let writes = saturated(used(drive(0.0, 4.0)), 128, 2_000_000);
    assert_near("random writes of 4 KiB, thousands a second", iops(&writes), [85.0, 70.0]);
    for (what, read_share, sheets) in [("reads", 1.0, [6_800.0, 6_500.0]), ("writes", 0.0, [1_400.0, 1_700.0])] {
        let mut config = drive(read_share, 128.0);
        config.workload.sequential_share = 1.0;
        assert_near(&format!("sequential {what} of 128 KiB, MB/s"), megabytes(&saturated(config, 64, 30_000), 128.0), sheets);
    }
}

#[test]
fn latencies_of_single_requests_are_those_of_data_sheets() {
    let mean_us = |read_share| saturated(drive(read_share, 4.0), 1, 2_000).latency_ns.all.expect("there are some").mean / 1e3;
    assert_near("a read of 4 KiB at depth 1, us", mean_us(1.0), [80.0, 75.0]);
    // Only one of the two states it.
    assert_near("a write of 4 KiB at depth 1, us", mean_us(0.0), [15.0, 15.0]);
}

/// The p99 of 5,000 reads a second beside this share of the writes that the drive can do, us; `state`: a drive that has been in use.
fn read_p99_us(share: f64, suspend: &[SuspendedForReads], state: &Path) -> f64 {
    let (reads, writes) = (5_000.0, share * 86_800.0);
    let mut config = used(drive(reads / (reads + writes), 4.0));
    config.workload.interarrival_us = 1e6 / (reads + writes);
    config.scheduler.suspend = suspend.to_vec();
    let plan = Plan { requests: Some(400_000), state: Some(state.into()), ..Plan::new(config, 1) };
    run(&plan, &Control::default()).expect("it runs").latency_ns.read.expect("there are some").p99 as f64 / 1e3
}

/// SSD-iq measured the PE8110 beside 50 % and 75 % of what it can write, and the 7450 PRO beside 29 %. Suspension explains what reads wait:
/// without, they wait for programs.
#[test]
fn reads_under_load_wait_as_measured_only_with_suspension() {
    let measured = [(0.5, 411.0, 1.2), (0.29, 337.0, 2.0), (0.75, 431.0, 1.2)];
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let state = folder.path().join("used.state");
    precondition(&Plan::new(used(drive(0.0, 4.0)), 1), &state, &Control::default()).expect("a drive can be prepared");
    let tried = if is_full() { measured.len() } else { 1 };
    for (share, measured_us, within) in measured.into_iter().take(tried) {
        let with = read_p99_us(share, &[SuspendedForReads::Program, SuspendedForReads::Erase], &state);
        let without = read_p99_us(share, &[], &state);
        println!("read p99 beside {share} of the writes: {with:.0} us with suspension, {without:.0} us without, measured {measured_us} us");
        assert!((measured_us / within..measured_us * within).contains(&with) && without > 5.0 * measured_us, "{with} and {without} us");
    }
}
