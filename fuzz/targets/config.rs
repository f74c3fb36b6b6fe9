//! Configurations. The first byte chooses the way in: a TOML file, keys set by hand (a line each, `key=value`), the names of presets, JSON.
//!
//! A configuration is built or refused. One that was built is valid, and reads back from its JSON as itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab::config::{Config, Layers, validate};
use ssdlab::geometry::Geometry;

fn built(way: u8, text: &str) -> Option<Config> {
    let device = (way & 4 != 0).then(|| "demo-4g".to_string());
    let empty = Layers { device, ..Layers::default() };
    let layers = match way & 3 {
        0 => Layers { file: Some(("fuzz.toml".to_string(), text.to_string())), ..empty },
        1 => Layers {
            set: text.lines().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.to_string(), v.to_string())).collect(),
            ..empty
        },
        // A path would be read from the disk.
        2 if !text.contains('/') && !text.contains(".toml") => Layers { schemes: text.lines().map(str::to_string).collect(), ..empty },
        _ => return Config::from_json(text).ok(),
    };
    layers.build().ok()
}

fuzz_target!(init: ssdlab_fuzz::let_panics_be_caught(), |data: &[u8]| {
    let [way, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Some(config) = built(*way, text) else { return };
    validate(&config).expect("what was built is valid");
    assert_eq!(Config::from_json(&config.to_json()).expect("its own JSON is read"), config, "its JSON says something else");
    assert!(Geometry::new(&config).exported_bytes() > 0, "a drive without room");
});
