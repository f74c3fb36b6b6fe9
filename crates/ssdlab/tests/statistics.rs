//! The reference of a result has what a result has. A test of the Python package compares it with results.

use ssdlab::config::Config;
use ssdlab::reference::statistics;
use ssdlab::remark::CODES;
use ssdlab::simulation::{Control, Plan, run};
use ssdlab::stats::COUNTERS;

#[test]
fn the_reference_of_statistics_has_all_counters_and_remarks() {
    let page = statistics();
    let names: Vec<_> = COUNTERS.iter().map(|(name, _)| format!("counters.{name}")).collect();
    for name in names.iter().map(String::as_str).chain(CODES.iter().map(|code| code.name)) {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}

#[test]
fn the_counters_are_those_that_are_described() {
    let mut config = Config::default();
    config.device.blocks_per_plane = 64;
    let result = run(&Plan { requests: Some(10), ..Plan::new(config, 1) }, &Control::default()).expect("it can be run");
    assert!(result.counters.keys().map(String::as_str).eq(COUNTERS.iter().map(|&(name, _)| name)), "{:?}", result.counters.keys());
}
