//! Every test of the core from outside, as one binary: each further one would compile and link the core's generic code again.
//!
//! A new file needs a `mod` line here; `every_file_is_a_module` notices one that has none.

mod common;

mod ageing;
mod arrays;
mod begin_and_advance;
mod blocking;
mod blocks;
mod bursts;
mod caching;
mod closed_loops;
mod data_sheets;
mod defects;
mod end_of_life;
mod energy;
mod even_dies;
mod fair;
mod floors;
mod flow_times;
mod flows;
mod heat;
mod host_interface;
mod host_log;
mod idle;
mod interface_reference;
mod learned_mapping;
mod log_blocks;
mod long_times;
mod mapping_cache;
mod memory;
mod metamorphic;
mod namespaces;
mod one_shot;
mod orders;
mod overload;
mod pacing;
mod parity;
mod parted;
mod partial_reads;
mod perfetto;
mod placement;
mod planes;
mod power;
mod power_states;
mod preemption;
mod queue_order;
mod read_commands;
mod readings;
mod remarks;
mod rotation;
mod schemes;
mod scopes;
mod series;
mod settling;
mod slack;
mod slc;
mod slc_wear;
mod state_cache;
mod statistics;
mod superblocks;
mod suspension;
mod swarm;
mod timelines;
mod traces;
mod units;
mod victims;
mod wait_reasons;
mod warm_up;
mod wear;
mod write_amplification;
mod write_buffer;
mod zones;

/// A file without its line would never be compiled, so its tests would pass.
#[test]
fn every_file_is_a_module() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let declared = include_str!("main.rs");
    let names = std::fs::read_dir(folder).expect("the folder of tests can be listed").map(|entry| entry.expect("an entry").path());
    for path in names.filter(|path| path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("main.rs")) {
        let name = path.file_stem().expect("a file has a name").to_string_lossy();
        assert!(
            declared.lines().any(|line| line == format!("mod {name};")),
            "tests/{name}.rs is not compiled: add `mod {name};` to main.rs"
        );
    }
}
