//! The memory that a run takes, as the operating system counts it.

#![cfg(target_os = "linux")]

use std::process::Command;

use ssdlab::config::{Config, Layers};
use ssdlab::simulation::{Control, Plan, run};

/// Set in the process that makes the run.
const OF_ITS_OWN: &str = "SSDLAB_TEST_MEMORY";
/// Bytes for each physical page that holds data: the two entries of the map, the invalid bit, its part of what is kept of a block, and some room.
const BYTES_PER_PAGE: u64 = 12;
/// Bytes for all else.
const BYTES_BESIDE: u64 = 64 << 20;

/// The drive of lee2013: 8.4 million pages, of which 7.1 million hold data, and GC from the first request on.
fn config() -> Config {
    let layers = Layers {
        device: Some("lee2013".into()),
        schemes: vec!["pgc".into()],
        workload: Some("uniform-4k-write".into()),
        ..Layers::default()
    };
    layers.build().unwrap()
}

/// The most memory that this process has had at once, bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn a_run_takes_at_most_twelve_bytes_a_page_and_64_megabytes() {
    if std::env::var_os(OF_ITS_OWN).is_some() {
        return print_pages_and_peak();
    }
    // Other tests of this process would be counted too. The path of a test leaves out the name of the program, with which that of a module begins.
    let module = module_path!().split_once("::").map_or(String::new(), |(_, module)| format!("{module}::"));
    let test = format!("{module}a_run_takes_at_most_twelve_bytes_a_page_and_64_megabytes");
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args([&test, "--exact", "--nocapture"]).env(OF_ITS_OWN, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let figures = text.lines().find_map(|line| line.split_once("pages and peak: ")).unwrap_or_else(|| panic!("{output:?}")).1;
    let (pages, peak) = figures.split_once(' ').unwrap();
    let (pages, peak): (u64, u64) = (pages.parse().unwrap(), peak.parse().unwrap());
    assert!(pages > 7_000_000, "{pages}");
    let most = BYTES_PER_PAGE * pages + BYTES_BESIDE;
    assert!(peak <= most, "{peak} bytes for {pages} pages: expected at most {most}");
    // The measured process had a drive: the map alone takes this much.
    assert!(peak >= 4 * pages, "{peak} bytes for {pages} pages");
}

fn print_pages_and_peak() {
    let plan = Plan { requests: Some(100_000), ..Plan::new(config(), 1) };
    let result = run(&plan, &Control::default()).unwrap();
    assert!(result.gc.jobs > 1000, "GC took place: {}", result.gc.jobs);
    println!("pages and peak: {} {}", result.precondition.unwrap().pages_mapped, peak_bytes());
}
