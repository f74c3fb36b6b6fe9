//! Write amplification in bytes, worked by hand: bytes written to flash for each byte of the host, whatever comes in between.

use crate::common::pages::{PAGE, read, write};
use crate::common::{one_die, plan, protected_buffer, simulation};
use crate::timelines::changed;
use ssdlab::config::{ArrayLevel, CachePolicy, Config};
use ssdlab::request::Request;
use ssdlab::simulation::{Control, Simulation, WarmUp};
use ssdlab::stats::{BytesWritten, RunResult};

const MS: u64 = 1_000_000;

fn part(at: u64, offset: u64, length: u64) -> Request {
    Request { offset, length, ..write(at, 0) }
}

fn result(config: &Config, requests: &[Request]) -> RunResult {
    let mut simulation = simulation(config);
    requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
    simulation.finish().unwrap()
}

/// Both ratios, by bytes and by units.
fn ratios(result: &RunResult) -> (Option<f64>, Option<f64>) {
    (result.gc.write_amplification, result.gc.page_write_amplification)
}

/// 16 writes of 512 bytes program 16 pages of 8 KiB; 8 writes of 4 KiB program 8 pages of 16 KiB, half of them again.
#[test]
fn a_write_smaller_than_a_page_costs_a_page() {
    for (page_bytes, length, count, expected) in
        [(8192, 512, 16, 16.0), (16_384, 4096, 8, 4.0), (4096, 4096, 8, 1.0), (4096, 6144, 4, 4.0 / 3.0)]
    {
        let config = changed(one_die(), |c| c.device.page_bytes = page_bytes);
        let step = if length < 4096 { u64::from(page_bytes) } else { u64::next_multiple_of(length, 4096) };
        let requests: Vec<_> = (0..count).map(|number| part(10 * MS * number, step * number, length)).collect();
        let result = result(&config, &requests);
        assert_eq!(ratios(&result), (Some(expected), Some(1.0)), "{length} bytes on pages of {page_bytes}");
        assert_eq!(result.bytes_written.host, count * length);
    }
}

/// A write of one unit fills a quarter of its page; the rest is padding, which is in no denominator.
#[test]
fn padding_is_written_and_is_no_data() {
    let config = changed(one_die(), |c| (c.device.page_bytes, c.ftl.map_unit_bytes) = (16_384, Some(4096)));
    let requests: Vec<_> = (0..8).map(|number| part(10 * MS * number, 16_384 * number, 2048)).collect();
    let result = result(&config, &requests);
    let expected = BytesWritten { host: 16_384, flash: 131_072, data: 32_768, padding: 98_304, ..BytesWritten::default() };
    assert_eq!((result.bytes_written, ratios(&result)), (expected, (Some(8.0), Some(4.0))));
}

/// Three drives, of which one has parity of each stripe: 8 pages of the host are 12 of the drives.
#[test]
fn what_an_array_adds_is_written_below_it() {
    let config = changed(one_die(), |c| {
        (c.array.level, c.array.drives, c.array.stripe_kb) = (ArrayLevel::Rais5, 3, 4.0);
    });
    let requests: Vec<_> = (0..4).map(|row| part(10 * MS * row, 2 * PAGE * row, 2 * PAGE)).collect();
    let result = result(&config, &requests);
    assert_eq!((result.bytes_written.host, result.bytes_written.flash), (8 * PAGE, 12 * PAGE));
    assert_eq!(ratios(&result), (Some(1.5), Some(1.0)));
}

fn buffered() -> Config {
    changed(one_die(), |c| {
        c.ftl.map_unit_bytes = Some(1024);
        c.buffer = protected_buffer(64 * 1024, 1_000);
    })
}

/// Five writes of one unit each, of which one replaces another in the buffer: one program of four units.
#[test]
fn data_replaced_in_a_buffer_are_of_the_host_and_not_of_the_flash() {
    let units = [0, 0, 1, 2, 3].map(|unit| part(0, 1024 * unit, 1024));
    let result = result(&buffered(), &[&units[..], &[read(5 * MS, 12)]].concat());
    assert_eq!(ratios(&result), (Some(0.8), Some(1.0)));
    assert_eq!((result.bytes_written.held, result.bytes_written.remark(false, false)), (0, None));
}

#[test]
fn data_that_stay_in_a_buffer_are_told() {
    let units = [0, 1].map(|unit| part(0, 1024 * unit, 512));
    let result = result(&buffered(), &[&units[..], &[read(5 * MS, 12)]].concat());
    let expected = BytesWritten { host: 1024, held: 2048, ..BytesWritten::default() };
    assert_eq!((result.bytes_written, ratios(&result)), (expected, (Some(0.0), None)));
    let remark = result.bytes_written.remark(false, false).expect("all of it is in the buffer");
    assert_eq!((remark.code.as_str(), remark.about.as_str()), ("held-data", "gc.write_amplification"));
}

/// A cache of eight pages keeps what is written twice.
#[test]
fn dirty_pages_of_a_cache_are_in_no_flash() {
    let config = changed(one_die(), |c| (c.cache.policy, c.cache.bytes) = (CachePolicy::Lru, 8 * PAGE));
    let result = result(&config, &[write(0, 0), write(MS, 0), write(2 * MS, 1)]);
    let expected = BytesWritten { host: 3 * PAGE, held: 2 * PAGE as i64, ..BytesWritten::default() };
    assert_eq!(result.bytes_written, expected);
}

/// Three pages written at once take 302.4 us each. What is under way when a warm-up ends counts on both sides.
#[test]
fn a_warm_up_leaves_out_the_same_writes_on_both_sides() {
    let requests = [write(0, 0), write(0, 1), write(0, 2), write(500_000, 3)];
    // At 400 us one of them has ended. The request that arrives at 604.8 us does so after the second has ended.
    let late = [write(0, 0), write(0, 1), write(0, 2), write(604_800, 3)];
    for (requests, warm_up, measured) in
        [(requests, WarmUp::Time(400_000), 3), (late, WarmUp::Requests(3), 2), (requests, WarmUp::Time(302_400), 4)]
    {
        let plan = ssdlab::simulation::Plan { warm_up: Some(warm_up), ..plan(one_die()) };
        let mut simulation = Simulation::new(&plan, &Control::default()).unwrap();
        requests.iter().for_each(|request| _ = simulation.submit(*request).unwrap());
        let result = simulation.finish().unwrap();
        let BytesWritten { host, flash, .. } = result.bytes_written;
        assert_eq!((host, flash), (measured * PAGE, measured * PAGE), "{warm_up}");
        assert_eq!(ratios(&result), (Some(1.0), Some(1.0)));
    }
}

#[test]
fn without_a_write_there_is_no_ratio() {
    let result = result(&one_die(), &[read(0, 0)]);
    assert_eq!((result.bytes_written, ratios(&result)), (BytesWritten::default(), (None, None)));
}
