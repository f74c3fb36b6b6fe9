//! The list of ranges that held data when a trace began.

#![no_main]

use std::cell::RefCell;
use std::fmt::Write;

use libfuzzer_sys::fuzz_target;
use ssdlab::workload::read_prefill;
use ssdlab_fuzz::Scratch;

const EXPORTED: u64 = 1 << 40;

thread_local! {
    static FILE: RefCell<Scratch> = RefCell::new(Scratch::new(".prefill"));
}

fuzz_target!(init: ssdlab_fuzz::let_panics_be_caught(), |data: &[u8]| {
    FILE.with_borrow(|file| {
        file.write(data);
        let Ok(ranges) = read_prefill(file.path(), EXPORTED) else { return };
        let mut text = String::new();
        for &(offset, size) in &ranges {
            assert!(size > 0 && offset <= EXPORTED - size, "a range beyond the drive");
            writeln!(text, "{offset},{size}").unwrap();
        }
        file.write(text.as_bytes());
        assert_eq!(read_prefill(file.path(), EXPORTED).ok(), Some(ranges), "what was written reads back as something else");
    });
});
