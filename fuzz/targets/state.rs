//! Saved drives. The first byte chooses: the bytes after the two lines of a true state as they are, or changes of a true state's numbers
//! (6 bytes each: which of them, and what it becomes) under a hash that fits, as a careless tool might write it.
//!
//! A state is loaded or refused. One that was loaded obeys the rules of the translation layer, is the same once it is saved and loaded,
//! and the drive can go on from there: every page can be written, with the collection that this takes.

#![no_main]

use std::io::{Read, Write};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ssdlab::config::{Config, Layers};
use ssdlab::ftl::Ftl;
use ssdlab::gc::untimed::{self, UntimedCounts};
use ssdlab::gc::victim::Picker;
use ssdlab::units::Lpn;

const DRIVE: [(&str, &str); 11] = [
    ("device.channels", "1"),
    ("device.chips_per_channel", "2"),
    ("device.dies_per_chip", "1"),
    ("device.planes_per_die", "1"),
    ("device.blocks_per_plane", "12"),
    ("device.pages_per_block", "4"),
    ("device.page_bytes", "4096"),
    ("device.spare_bytes", "0"),
    ("device.overprovisioning", "0.5"),
    ("ftl.precondition.kind", "none"),
    ("gc.soft", "0.1"),
];

/// The drive, its two lines, and the numbers of a state in which some pages have been written twice.
static TRUE: LazyLock<(Config, Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let set = DRIVE.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
    let config = Layers { set, ..Layers::default() }.build().expect("the drive is possible");
    let mut ftl = Ftl::new(&config);
    ftl.fill(24);
    let mut saved = Vec::new();
    ftl.save(&config, &mut saved).expect("memory does not fail");
    let second = saved.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').nth(1).expect("two lines").0;
    let mut numbers = zstd::decode_all(&saved[second + 1..]).expect("compressed");
    numbers.truncate(numbers.len() - 32);
    (config, saved[..=second].to_vec(), numbers)
});

/// A file with `numbers` and their hash.
fn file(lines: &[u8], numbers: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(lines.to_vec(), 1).expect("memory does not fail");
    encoder.write_all(numbers).expect("memory does not fail");
    encoder.write_all(blake3::hash(numbers).as_bytes()).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}

/// What a file holds once it is decompressed.
fn contents(file: &[u8]) -> Vec<u8> {
    let second = file.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').nth(1).expect("two lines").0;
    let mut bytes = Vec::new();
    zstd::Decoder::new(&file[second + 1..])
        .and_then(|mut decoder| decoder.read_to_end(&mut bytes))
        .expect("it has just been read or written");
    bytes
}

fuzz_target!(init: ssdlab_fuzz::let_panics_be_caught(), |data: &[u8]| {
    let [way, rest @ ..] = data else { return };
    let (config, lines, numbers) = &*TRUE;
    let bytes = if way % 2 == 0 {
        [lines.as_slice(), rest].concat()
    } else {
        let mut changed = numbers.clone();
        for change in rest.chunks_exact(6) {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % (changed.len() / 4) * 4;
            changed[at..at + 4].copy_from_slice(&change[2..]);
        }
        file(lines, &changed)
    };
    let Some(first) = saved_again(config, &bytes) else { return };
    let second = saved_again(config, &first).expect("what was saved can be loaded");
    // Numbers that mean nothing, such as the age of a free block, are not kept.
    assert!(contents(&first) == contents(&second), "it is saved as something else");
    goes_on(config, &first);
});

/// Writes every page of a loaded drive twice.
fn goes_on(config: &Config, bytes: &[u8]) {
    let mut ftl = Ftl::load(config, bytes).expect("it has just been loaded");
    let (mut victims, mut counts) = (Picker::new(&config.gc, 1, "fuzz"), UntimedCounts::default());
    let exported = ftl.geometry().exported_units;
    for lpn in (0..exported).chain(0..exported).map(Lpn) {
        let pool = ftl.geometry().home(lpn).0;
        assert!(untimed::write(&mut ftl, &mut victims, pool, &[lpn], &mut counts), "page {lpn} finds no room");
    }
    ftl.check().expect("the drive obeys the rules after it was written");
    assert!(ftl.mapped_pages() == u64::from(exported), "every page has data");
}

/// A file loaded and saved, or `None` where it is refused.
fn saved_again(config: &Config, bytes: &[u8]) -> Option<Vec<u8>> {
    let ftl = Ftl::load(config, bytes).ok()?;
    ftl.check().expect("a loaded drive obeys the rules");
    let mut saved = Vec::new();
    ftl.save(config, &mut saved).expect("memory does not fail");
    Some(saved)
}
