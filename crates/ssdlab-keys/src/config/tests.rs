//! Tests of the configuration as users see it: every class of error with its exact message, every preset, layers, round trips.

use serde_json::json;

use super::presets::{self, Kind};
use super::*;
use ssdlab_base::error::Error;

fn set(pairs: &[(&str, &str)]) -> Layers {
    Layers { set: pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(), ..Layers::default() }
}

fn messages(layers: &Layers) -> String {
    match layers.build() {
        Err(Error::Config(message)) => message,
        other => panic!("expected a configuration error, got {other:?}"),
    }
}

#[test]
fn config_check_says_what_is_wrong_with_a_key() {
    let cases = [
        (json!({"gc": {"sfot": 1}}), "gc.sfot: unknown key; did you mean gc.soft?"),
        (json!({"gc.soft": 1}), "gc.soft: a name may not have dots here; put soft into the section gc"),
        (json!({"gc_soft": 1}), "gc_soft: unknown key; did you mean gc.soft?"),
        (json!({"garbage": {"soft": 1}}), "garbage.soft: unknown key; did you mean gc.soft?"),
        (json!({"devices": {"channels": 1, "page_bytes": 5}}), "devices: unknown section; did you mean device?"),
        (
            json!({"gc": {"soft": "high"}}),
            "gc.soft = \"high\": must be a number from 0 to 1000000, not a string (Soft threshold T_soft: a pool with fewer \
             free blocks triggers GC)",
        ),
        (
            json!({"device": {"read_ns": 0}}),
            "device.read_ns = 0: must be a whole number from 1 to 1000000000000 (Array time of a page read, ns)",
        ),
        (
            json!({"device": {"read_ns": 2.5}}),
            "device.read_ns = 2.5: must be a whole number from 1 to 1000000000000 (Array time of a page read, ns)",
        ),
        (
            json!({"device": {"read_ns": null}}),
            "device.read_ns = null: must be a whole number from 1 to 1000000000000, not null (Array time of a page read, ns)",
        ),
        (
            json!({"device": {"page_bytes": 1000}}),
            "device.page_bytes = 1000: must be a whole number from 512 to 1048576, a multiple of 512 (User bytes of a page: a multiple \
             of 512)",
        ),
        (
            json!({"gc": {"scope": "chp"}}),
            "gc.scope = \"chp\": must be one of \"device\", \"channel\", \"chip\", \"die\", \"plane\", \"block\", \"none\"; did you mean \
             \"chip\"? (The scope of blocking: where host operations wait while a GC job is active)",
        ),
        (
            json!({"ftl": {"allocation": "CWPP"}}),
            "ftl.allocation = \"CWPP\": must be one of \"dynamic\", \"CWDP\", \"CWPD\", \"CDWP\", ... (25 in all); did you mean \"CWDP\"? \
             (Page allocation)",
        ),
        (
            json!({"gc": {"merge": "yes"}}),
            "gc.merge = \"yes\": must be true or false, not a string (Host requests merge with a page move of the same page, where the \
             scope does not block them)",
        ),
        (
            json!({"gc": {"suspend": ["read", "writes"]}}),
            "gc.suspend[1] = \"writes\": must be one of \"read\", \"program\", \"erase\" (GC operations in service that a host \
             operation may suspend)",
        ),
        (
            json!({"gc": {"suspend": "erase"}}),
            "gc.suspend = \"erase\": must be a list, each entry one of \"read\", \"program\", \"erase\", not a string (GC operations in \
             service that a host operation may suspend)",
        ),
        (
            json!({"device": {"read_ns_by_page": [1, 0]}}),
            "device.read_ns_by_page[1] = 0: must be a whole number from 1 to 1000000000000 (Read times by page type (LSB, CSB, MSB \
             ...), ns: page `i` of a block takes entry `i mod length`)",
        ),
        (
            json!({"workload": {"size_table": [[1, 2, 3]]}}),
            "workload.size_table[0] = [1,2,3]: must be a list of 2 entries: a number, a number (Generated, for `request_size = \"table\"`: \
             pairs of size in KiB (0.5 to 1048576) and relative weight (from 0))",
        ),
        (json!({"gc": 5}), "gc = 5: must be a section of keys, not a number"),
        (json!([]), "the configuration must be a table of sections, not a list"),
        (
            json!({"workload": {"flows": [{"read_share": 2}]}}),
            "workload.flows[0].read_share = 2: must be a number from 0 to 1 (Generated: probability that a request is a read)",
        ),
        (json!({"workload": {"flows": [{"raed_share": 1}]}}), "workload.flows[0].raed_share: unknown key; did you mean read_share?"),
    ];
    for (tree, message) in cases {
        let found: Vec<_> = check(&tree).into_iter().map(|problem| problem.message).collect();
        assert_eq!(found, [message], "{tree}");
    }
    let flow = |flow: serde_json::Value| {
        check(&json!({"workload": {"flows": [flow]}})).into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    let nameless = "workload.flows[0].trace: only a flow with a name of its own may have this key; give it one (name = \"backup\")";
    assert_eq!(flow(json!({"trace": "x"})), [nameless]);
    assert_eq!(flow(json!({"name": "a", "trace": "x", "queue": 1, "preset": "wdev_0-like"})), Vec::<String>::new());
    assert_eq!(flow(json!({"name": "a", "only": "b"}))[0].split(';').next().unwrap(), "workload.flows[0].only: a flow has no such key");
    assert_eq!(flow(json!({"name": "a", "preset": 5})), ["workload.flows[0].preset: must be a string, the name of a workload preset"]);
    let inner = flow(json!({"name": "a", "flows": [{"read_share": 2.0}]}));
    assert!(inner[0].starts_with("workload.flows[0].flows[0].read_share = 2: must be"), "{inner:?}");
}

#[test]
fn config_every_problem_is_reported_at_once() {
    let layers = Layers {
        file: Some(("my.toml".into(), "[gc]\nsfot = 1\nhard = 2\n\n[device]\nread_ns = nan\n".into())),
        ..set(&[("gc.scop", "none"), ("", "5")])
    };
    let expected = "my.toml:2: gc.sfot: unknown key; did you mean gc.soft?\n\
                    my.toml:3: gc.hard = 2: must be a number from 0 to 1 (Hard threshold T_hard as a share of T_soft: below it host writes wait)\n\
                    my.toml:6: device.read_ns = NaN: must be a finite number\n\
                    gc.scop: unknown key; did you mean gc.scope?\n\
                    \"=5\": a key is missing; write KEY=VALUE";
    assert_eq!(messages(&layers), expected);
}

#[test]
fn config_relations_between_keys() {
    let small: &[(&str, &str)] = &[("device.channels", "1"), ("device.blocks_per_plane", "100")];
    let cases: &[(&[(&str, &str)], &str)] = &[
        (
            &[("device.channels", "1024"), ("device.blocks_per_plane", "1048576")],
            "device: channels 1024 x chips_per_channel 1 x dies_per_chip 1 x planes_per_die 1 x blocks_per_plane 1048576 x \
             pages_per_block 64 pages are too many; at most 2147483647 in all can be simulated; lower one of them",
        ),
        (
            &[("device.blocks_per_plane", "4"), ("device.pages_per_block", "2"), ("device.overprovisioning", "0.95")],
            "device.overprovisioning = 0.95: leaves no page for the host on each of the drive's pools; lower it, or make the drive larger",
        ),
        (
            &[("device.multiplane", "true"), ("ftl.pool", "die")],
            "device.multiplane = true: needs ftl.pool = \"plane\", not \"die\", since each plane must fill a block of its own; change \
             one of them",
        ),
        (
            &[("cache.policy", "bplru"), ("cache.gc_aware", "true"), ("cache.group", "contiguous")],
            "cache.gc_aware = true: the pages of a group of contiguous addresses lie on several chips, so that bplru and fab cannot tell \
             whether the group is in GC; set cache.group = \"chip\", or cache.gc_aware = false",
        ),
        (
            &[("ftl.map_unit_bytes", "3072")],
            "ftl.map_unit_bytes = 3072: a page (device.page_bytes = 4096) must hold 1, 2, 4, 8 or 16 units; set it to 4096",
        ),
        (
            &[("ftl.map_unit_bytes", "512"), ("device.page_bytes", "16384")],
            "ftl.map_unit_bytes = 512: a page (device.page_bytes = 16384) must hold 1, 2, 4, 8 or 16 units; set it to 1024",
        ),
        (
            &[("ftl.map_unit_bytes", "512"), ("device.pages_per_block", "10000")],
            "ftl.map_unit_bytes = 512: a block of device.pages_per_block = 10000 pages holds 80000 units, more than 65535; raise it, or lower \
             device.pages_per_block",
        ),
        (
            &[
                ("device.partial_reads", "true"),
                ("ftl.map_unit_bytes", "1024"),
                ("device.multiplane", "true"),
                ("ftl.pool", "plane"),
                ("device.planes_per_die", "32"),
            ],
            "device.partial_reads = true: a multi-plane read can transfer parts of at most 16 pages, and a die has device.planes_per_die = 32; \
             set device.partial_reads or device.multiplane to false",
        ),
        (
            &[("ftl.map_unit_bytes", "1024"), ("device.overprovisioning", "0.05")],
            "gc.soft = 0.05: 5 of the 100 blocks of a pool, but 5 are spare, of which 2 are being filled and 2 may be held by invalid units \
             too few for a program (ftl.map_unit_bytes, device.pages_per_program), and the threshold must lie below the rest; set device.overprovisioning to at least 0.1",
        ),
        (
            &[("scheduler.suspend", "[\"program\"]"), ("device.page_registers", "1")],
            "scheduler.suspend = [\"program\"]: needs device.page_registers = 2, as a suspended program keeps its data in one; change one of \
             them",
        ),
        (
            &[("scheduler.suspend", "[\"erase\"]"), ("device.resume_ns", "9000"), ("device.min_run_ns", "9000")],
            "device.resume_ns = 9000: an operation that is suspended after each device.min_run_ns = 9000 would never end; set \
             device.min_run_ns above 9000, or device.max_suspends",
        ),
        (
            &[("gc.pace", "proportional"), ("gc.scope", "device")],
            "gc.pace = \"proportional\": with gc.scope = \"device\" no write is served while a job is active, so that there is none to \
             pace; choose another scope, or \"none\"",
        ),
        (&[("ftl.parity_stripe", "1")], "ftl.parity_stripe = 1: leaves no page for data; set it to at least 2, or to 0 for no parity"),
        (&[("ftl.parity_stripe", "65")], "ftl.parity_stripe = 65: a block has 64 programs; set it to at most that, or to 0 for no parity"),
        (
            &[("ftl.parity_stripe", "8"), ("device.overprovisioning", "0.1")],
            "device.overprovisioning = 0.1: leaves 0 spare of the 100 blocks of a pool, since parity takes a part (ftl.parity_stripe); \
             ftl.frontier = \"separate\" needs at least 3; set device.overprovisioning to at least 0.1513; or keep 0.1 with \
             ftl.parity_in_spare = false",
        ),
        (
            // 6,400 pages, of which 192 are three blocks: 9/8 of 5,516 and rounding fit into the rest. The table is that of those 5,516
            // pages, not of the 5,760 of the given over-provisioning.
            &[("ftl.map_cache_bytes", "4096"), ("ftl.map_entry_bytes", "512"), ("device.overprovisioning", "0.1")],
            "device.overprovisioning = 0.1: leaves 0 spare of the 100 blocks of a pool, since the mapping table takes a part \
             (ftl.map_cache_bytes); ftl.frontier = \"separate\" needs at least 3; set device.overprovisioning to at least 0.1382",
        ),
        (
            &[("device.pages_per_program", "3"), ("device.pages_per_block", "64")],
            "device.pages_per_block = 64: must be a multiple of device.pages_per_program = 3; set it to 63",
        ),
        (
            &[
                ("device.pages_per_program", "2"),
                ("device.pages_per_block", "4"),
                ("device.overprovisioning", "0.5"),
                ("device.program_ns_by_page", "[1, 2, 3]"),
            ],
            "device.program_ns_by_page: has 3 entries for device.pages_per_block = 4 and device.pages_per_program = 2; leave out those beyond",
        ),
        (
            &[("buffer.bytes", "8192"), ("device.pages_per_program", "4"), ("device.overprovisioning", "0.5")],
            "buffer.bytes = 8192: must hold the 16384 bytes of a program (device.page_bytes x device.pages_per_program), or none would ever be \
             filled; set it to 16384 or more, or to 0 for no write buffer",
        ),
        (&[("scheduler.pipeline", "true")], "scheduler.pipeline = true: needs device.cache_register = true; change one of them"),
        (
            &[("device.overprovisioning", "0.02")],
            "device.overprovisioning = 0.02: leaves 2 spare of the 100 blocks of a pool; ftl.frontier = \"separate\" needs at least 3; set \
             device.overprovisioning to at least 0.03",
        ),
        (
            &[("device.overprovisioning", "0"), ("ftl.frontier", "shared")],
            "device.overprovisioning = 0: leaves 0 spare of the 100 blocks of a pool; ftl.frontier = \"shared\" needs at least 2; set \
             device.overprovisioning to at least 0.02",
        ),
        (
            &[("gc.soft", "0.2")],
            "gc.soft = 0.2: 20 of the 100 blocks of a pool, but 15 are spare, of which 2 are being filled, and the threshold must lie \
             below the rest; lower it to at most 12 blocks; set device.overprovisioning to at least 0.23",
        ),
        (
            &[("gc.soft", "99")],
            "gc.soft = 99: 99 of the 100 blocks of a pool, but 15 are spare, of which 2 are being filled, and the threshold must lie below \
             the rest; lower it to at most 12 blocks",
        ),
        (
            &[("ftl.map_unit_bytes", "1024"), ("buffer.bytes", "8388608"), ("wear.endurance", "3"), ("gc.soft", "2")],
            "gc.soft = 2: 132 of the 100 blocks of a pool, with 130 for accepted data that may fail to be written (wear), but 15 are spare, \
             of which 2 are being filled and 2 may be held by invalid units too few for a program (ftl.map_unit_bytes, \
             device.pages_per_program), and the threshold must lie below the rest; no device.overprovisioning leaves 137 blocks spare: \
             raise device.blocks_per_plane, lower buffer.bytes, or raise device.channels, since each pool takes a share of a full buffer",
        ),
        (&[("gc.soft", "1.5")], "gc.soft = 1.5: must be a share below 1, or a whole number of blocks, for example 1 or 2"),
        (
            &[("device.pages_per_block", "2"), ("device.read_ns_by_page", "[1, 2, 3]")],
            "device.read_ns_by_page: has 3 entries for device.pages_per_block = 2; leave out those beyond",
        ),
        (
            &[("ftl.precondition.kind", "ranges")],
            "ftl.precondition.kind = \"ranges\": needs ftl.precondition.prefill, a CSV file offset_bytes,size_bytes; name one, or \
             choose another kind",
        ),
        (
            &[("ftl.precondition.prefill", "x.csv")],
            "ftl.precondition.prefill = \"x.csv\": is not used by ftl.precondition.kind = \"fill\"; choose \"ranges\", \"soft\", \
             \"steady\" or \"trace\"",
        ),
        (
            &[("workload.footprint", "0.0001")],
            "workload.footprint = 0.0001: is less than one of the 5440 exported pages; raise it to at least 1.8e-4",
        ),
        (
            &[("workload.request_size", "table")],
            "workload.size_table = []: workload.request_size = \"table\" needs pairs of a size in KiB and a weight, as [[4, 3], [64, 1]]",
        ),
        (
            &[("workload.request_size", "table"), ("workload.size_table", "[[4, 0]]")],
            "workload.size_table: at least one weight must be greater than 0",
        ),
        (
            &[("workload.request_size", "table"), ("workload.size_table", "[[0, 1]]")],
            "workload.size_table[0]: the size 0 KiB must be from 0.5 to 1048576",
        ),
        (
            &[("workload.address", "hot-cold"), ("workload.hot_share", "1")],
            "workload.hot_share = 1: must be greater than 0 and less than 1 for workload.address = \"hot-cold\"; for one part alone choose \
             \"uniform\"",
        ),
        (
            &[("workload.flows", "[{ address = \"hot-cold\", hot_share = 0 }]")],
            "workload.flows[0].hot_share = 0: must be greater than 0 and less than 1 for workload.flows[0].address = \"hot-cold\"; for \
             one part alone choose \"uniform\"",
        ),
        (&[("workload.align_kb", "0.7")], "workload.align_kb = 0.7: must be whole sectors of 512 bytes, a multiple of 0.5"),
        (&[("workload.align_large_kb", "64.2")], "workload.align_large_kb = 64.2: must be whole sectors of 512 bytes, a multiple of 0.5"),
        (
            &[("array.rebuild_reads", "refused")],
            "array.rebuild_reads = \"refused\": needs parity; set array.level = \"rais5\", or leave it out",
        ),
        (
            &[("array.level", "rais0"), ("array.window_us", "100")],
            "array.window_us = 100: needs parity; set array.level = \"rais5\", or leave it out",
        ),
        (
            &[("array.level", "rais5"), ("array.stripe_kb", "4"), ("array.degraded", "0"), ("array.rebuild_reads", "shortest")],
            "array.rebuild_reads = \"shortest\": with array.degraded there is no parity to read around GC; leave one of them out",
        ),
        (
            &[("array.level", "rais5"), ("array.stripe_kb", "4"), ("array.rebuild_reads", "window")],
            "array.rebuild_reads = \"window\": there are no windows; set array.window_us above 0",
        ),
        (
            &[("array.level", "rais5"), ("array.stripe_kb", "4"), ("array.window_us", "100"), ("gc.trigger", "idle")],
            "array.window_us = 100: needs gc.trigger = \"soft\", whose threshold windows change",
        ),
        (
            &[("array.level", "rais5"), ("array.stripe_kb", "4"), ("array.window_us", "100"), ("array.window_tail_us", "100")],
            "array.window_tail_us = 100: must be less than array.window_us, so that jobs can begin",
        ),
        (
            &[("array.level", "rais0"), ("array.stripe_kb", "4"), ("array.rotation", "pool")],
            "array.rotation = \"pool\": needs parity; set array.level = \"rais5\", or leave it out",
        ),
        (
            &[("array.level", "rais5"), ("array.stripe_kb", "4"), ("array.degraded", "0"), ("array.rotation", "die")],
            "array.rotation = \"die\": with array.degraded there is no parity to read around GC; leave one of them out",
        ),
        (
            &[("array.level", "rais5"), ("array.stripe_kb", "4"), ("array.rotation", "drive"), ("gc.trigger", "idle")],
            "array.rotation = \"drive\": with gc.trigger = \"idle\" a job pauses in its turn, for which other drives wait; choose another \
             trigger",
        ),
        (
            &[
                ("array.level", "rais5"),
                ("array.stripe_kb", "4"),
                ("array.rotation", "drive"),
                ("gc.scope", "none"),
                ("gc.advance", "in-turns"),
            ],
            "array.rotation = \"drive\": with gc.advance a job waits in its turn for requests, which may wait for other drives' turns; set \
             gc.advance = \"alone\" or array.rotation_forced = true",
        ),
        (
            &[("array.level", "rais5"), ("array.stripe_kb", "4"), ("array.rotation", "pool"), ("ftl.allocation", "dynamic")],
            "array.rotation = \"pool\": with ftl.allocation = \"dynamic\" the pages of a stripe are in pools of any number; set \
             array.rotation = \"drive\", or another allocation",
        ),
        (
            &[("array.level", "rais5"), ("array.stripe_kb", "4"), ("array.rotation", "pool"), ("wear.endurance", "3000")],
            "array.rotation = \"pool\": blocks that fail may take the places kept for accepted data from a pool that waits; leave it out, or \
             the keys of wear",
        ),
        (&[("workload.trace", "")], "workload.trace = \"\": must name a file; leave it out to generate requests"),
    ];
    for (pairs, message) in cases {
        let pairs: Vec<_> = small.iter().chain(*pairs).copied().collect();
        assert_eq!(messages(&set(&pairs)), *message, "{pairs:?}");
    }
}

#[test]
fn config_numbers_that_are_not_finite_are_refused() {
    for value in ["nan", "inf", "-inf"] {
        let number: f64 = value.parse().expect("a float");
        assert_eq!(messages(&set(&[("gc.soft", value)])), format!("gc.soft = {number}: must be a finite number"));
    }
    let mut config = Config::default();
    config.ftl.precondition.range = Some(f64::NAN);
    config.device.overprovisioning = f64::INFINITY;
    let message = validate(&config).expect_err("NaN").to_string();
    assert!(
        message.starts_with("device.overprovisioning = inf: must be a finite number\nftl.precondition.range = NaN: must be"),
        "{message}"
    );
}

#[test]
fn config_toml_errors_have_line_and_column() {
    let file = |text: &str| Layers { file: Some(("my.toml".into(), text.into())), ..Layers::default() };
    assert_eq!(messages(&file("[gc]\nsoft = = 1\n")), "my.toml:2:8: not valid TOML: extra `=`, expected nothing");
    assert_eq!(messages(&file("[gc]\nsoft = 1\nsoft = 2\n")), "my.toml:3:1: not valid TOML: duplicate key");
    assert_eq!(
        messages(&file("gc.scope = 1979-05-27")),
        "my.toml:1: gc.scope = 1979-05-27: no key takes a date; put it in quotes if it is a name"
    );
}

#[test]
fn config_later_layers_win_key_by_key() {
    let layers = Layers {
        device: Some("lee2013".into()),
        schemes: vec!["rwp".into(), "fr-fcfs".into()],
        workload: Some("lee2013-synthetic".into()),
        file: Some(("my.toml".into(), "[gc]\nsoft = 0.04\n[workload]\nread_share = 0.3\nrequest_kb = 8\n".into())),
        set: vec![("workload.read_share".into(), "0.1".into()), ("workload.read_share".into(), "0.2".into())],
    };
    let config = layers.build().expect("a valid configuration");
    assert_eq!(config.device.channels, 8, "from the device");
    assert_eq!((config.gc.scope, config.gc.priority), (Scope::None, Priority::Host), "from the first scheme");
    assert_eq!(config.scheduler.order, Order::FrFcfs, "from the second scheme");
    assert_eq!(config.workload.sequential_share, 0.4, "from the workload");
    assert_eq!((config.gc.soft, config.workload.request_kb), (0.04, 8.0), "from the file");
    assert_eq!(config.workload.read_share, 0.2, "the last one by hand");
    assert_eq!(config.gc.moves_in_flight, 1, "the default");
    let joined = Layers { schemes: vec!["rwp + fr-fcfs".into()], ..layers };
    assert_eq!(joined.build().expect("the same"), config);
}

#[test]
fn config_schemes_that_disagree_are_refused() {
    let schemes = |names: &[&str]| Layers { schemes: names.iter().map(|name| name.to_string()).collect(), ..Layers::default() };
    let expected = "gc.priority: scheme cep sets \"gc\" and scheme rwp sets \"host\"; leave out one of the schemes";
    assert_eq!(messages(&schemes(&["cep", "rwp"])), expected);
    assert_eq!(messages(&schemes(&["cep+fcfs+rwp"])), expected);
    assert!(schemes(&["npgc", "npgc"]).build().is_ok(), "one scheme twice agrees with itself");
    assert_eq!(messages(&schemes(&["cep+"])), "scheme \"\": expected the name of a preset, or the path of a TOML file");
}

#[test]
fn config_unknown_presets_name_the_nearest() {
    let device = |name: &str| Layers { device: Some(name.into()), ..Layers::default() };
    assert_eq!(
        messages(&device("lee2014")),
        "device \"lee2014\": no such preset; did you mean \"lee2013\"? The devices are 7450-max-like, 7450-pro-like, ae2022, bux2011, consumer-qlc, consumer-qlc-scaled-4g, consumer-tlc, consumer-tlc-scaled-4g, \
         d7-p5520-like, demo-4g, elyasi2017, lee2013, nvme-4g, nvme-qlc-2023, nvme-tlc-2023, nvme-tlc-2023-superblock, nvme-tlc-scaled-5g, nvme-tlc-superpage-2023, pe8110-like, whole-consumer-qlc, whole-consumer-qlc-scaled-4g, whole-consumer-tlc, whole-consumer-tlc-scaled-4g, whole-datacentre-tlc, whole-datacentre-tlc-scaled-5g, wu2017; a file is given by a path ending in .toml"
    );
    assert!(messages(&device("x")).starts_with("device \"x\": no such preset; the devices are 7450-max-like, 7450-pro-like, ae2022, "));
    assert!(matches!(device("no/such.toml").build(), Err(Error::Io { .. })));
}

#[test]
fn config_presets_set_only_what_is_theirs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("mine.toml");
    let write = |text: &str| std::fs::write(&path, text).expect("a preset");
    let name = path.to_str().expect("UTF-8").to_string();
    let scheme = Layers { schemes: vec![name.clone()], ..Layers::default() };
    write("description = \"x\"\nsource = \"y\"\ngc.scope = \"die\"\nftl.allocation = \"dynamic\"\n");
    assert_eq!(scheme.build().expect("a scheme from a file").gc.scope, Scope::Die);
    write("[device]\nread_ns = 5\n[gc]\nsoft = 0.1\n");
    let only =
        "a scheme preset sets only gc (but not soft and invalid_share), scheduler, cache and ftl.allocation; put it into a device preset";
    assert_eq!(messages(&scheme), format!("{name}:2: device.read_ns: {only}\n{name}:4: gc.soft: {only}"));
    assert_eq!(
        messages(&Layers { workload: Some(name.clone()), ..Layers::default() }),
        format!(
            "{name}:2: device.read_ns: a workload preset sets only workload; put it into a device preset\n\
             {name}:4: gc.soft: a workload preset sets only workload; put it into a device preset"
        )
    );
}

/// GC-aware caches by groups of pages are refused on drives with dynamic allocation.
#[test]
fn config_every_combination_of_presets_loads() {
    // A thread for each device: all combinations take a minute of processor time.
    std::thread::scope(|threads| {
        for (at, device) in names(Kind::Device).into_iter().enumerate() {
            threads.spawn(move || loads_with_every_scheme(at, device.as_deref()));
        }
    });
}

/// The names of all presets of a kind, and none.
fn names(kind: Kind) -> Vec<Option<String>> {
    presets::list(kind).into_iter().map(|preset| Some(preset.name)).chain([None]).collect()
}

/// Combines the device at this place of the list with every scheme and workload. Without `FULL=1` each pair has one workload.
fn loads_with_every_scheme(at: usize, device: Option<&str>) {
    let full = std::env::var("FULL").is_ok_and(|full| !full.is_empty());
    let workloads = names(Kind::Workload);
    let is = |ends: &str| device.is_some_and(|name| name.ends_with(ends));
    let spreads = is("-like") || is("-superpage-2023") || is("-superblock") || device.is_some_and(|name| name.starts_with("whole-"));
    for (and, scheme) in names(Kind::Scheme).into_iter().enumerate() {
        let refused = match scheme.as_deref() {
            Some("gcar-bplru" | "gcar-fab") if spreads => Some("cache.gc_aware = true: with ftl.allocation = \"dynamic\""),
            _ => None,
        };
        for workload in workloads.iter().cycle().skip((at + and) % workloads.len()).take(if full { workloads.len() } else { 1 }) {
            let layers = Layers {
                device: device.map(Into::into),
                schemes: scheme.clone().into_iter().collect(),
                workload: workload.clone(),
                ..Layers::default()
            };
            if let Some(words) = refused {
                assert!(messages(&layers).starts_with(words), "{layers:?}");
                continue;
            }
            let config = layers.build().unwrap_or_else(|error| panic!("{layers:?}: {error}"));
            assert_eq!(Config::from_json(&config.to_json()).expect("it was valid"), config);
        }
    }
}

#[test]
fn config_presets_have_a_description_and_a_source() {
    for kind in Kind::ALL {
        assert!(!presets::list(kind).is_empty());
        for preset in presets::list(kind) {
            let text = presets::text(kind, &preset.name).expect("it is listed");
            assert!(text.starts_with("description = \""), "{}: its first line must be the description", preset.name);
            assert!(!preset.description.is_empty() && !preset.source.is_empty(), "{}", preset.name);
            assert!(preset.description.ends_with('.'), "{}: a description is a sentence", preset.name);
        }
    }
}

fn device(name: &str) -> Config {
    Layers { device: Some(name.into()), ..Layers::default() }.build().expect(name)
}

#[test]
fn config_devices_have_their_published_sizes() {
    let gib = |name: &str| {
        let capacity = Capacity::of(&device(name)).expect(name);
        (capacity.physical_pages() * capacity.unit_bytes) >> 30
    };
    assert_eq!([gib("lee2013"), gib("wu2017"), gib("elyasi2017"), gib("ae2022")], [32, 28, 1024, 32]);
    assert_eq!(Capacity::of(&device("demo-4g")).expect("valid").exported_bytes(), 4_294_967_296);
}

#[test]
fn config_the_transfers_of_bux2011_take_26_us() {
    let device = device("bux2011").device;
    let page = u64::from(device.page_bytes + device.spare_bytes);
    assert_eq!(page, 4320);
    let transfer_ns = page * device.transfer_ps_per_byte / 1000 + device.command_ns;
    assert_eq!(transfer_ns, 26_000);
    assert_eq!((device.read_ns + transfer_ns, device.program_ns + transfer_ns), (76_300, 926_400));
    assert_eq!(device.read_ns + device.program_ns, 950_700);
}

#[test]
fn config_capacity_counts_blocks_as_documented() {
    let capacity = Capacity::of(&device("lee2013")).expect("valid");
    assert_eq!((capacity.pools, capacity.blocks_per_pool), (8, 16_384));
    assert_eq!(capacity.exported_units, 7_130_312, "85 % of 8,388,608 pages, rounded down to a multiple of 8");
    assert_eq!((capacity.spare_blocks(), capacity.soft_blocks(0.05)), (2457, 819));
    assert_eq!((capacity.soft_blocks(0.0), capacity.soft_blocks(7.0)), (1, 7));
}

#[test]
fn config_one_number_has_one_form() {
    let config = Config::from_json(r#"{"device": {"channels": 2.0}, "gc": {"soft": 3}}"#).expect("whole numbers are integers");
    assert_eq!((config.device.channels, config.gc.soft), (2, 3.0));
    assert!(Config::from_json("{").expect_err("not JSON").to_string().starts_with("the configuration is not valid JSON: "));
    assert_eq!(Config::from_json("{}").expect("all defaults"), Config::default());
    assert!(validate(&Config::default()).is_ok());
}

#[test]
fn config_keys_without_effect_are_refused_by_hand_only() {
    let message = |layers: &Layers| match layers.build() {
        Err(ssdlab_base::error::Error::Usage(message)) => message,
        other => panic!("{other:?}"),
    };
    assert!(
        message(&set(&[("workload.trace", "a.csv"), ("workload.read_share", "0.5")])).starts_with("workload.read_share: for generated")
    );
    assert!(message(&set(&[("workload.skip", "5")])).starts_with("workload.skip: for traces only"));
    // A cleared key is not set.
    assert!(set(&[("workload.device", "null")]).build().is_ok());
    // Keys that a trace replaces, and keys that wait for one.
    let replaced = Layers { workload: Some("lee2013-synthetic".into()), ..set(&[("workload.trace", "a.csv"), ("workload.skip", "5")]) };
    assert!(replaced.build().is_ok());
    let text = "[workload]\nskip = 5\nread_share = 0.5\n".to_string();
    assert!(Layers { file: Some(("my.toml".into(), text)), ..Layers::default() }.build().is_ok());
}

#[test]
fn the_value_of_a_key_or_section_is_found_by_its_name() {
    let config = Config::default();
    assert_eq!(config.at("gc.soft").unwrap(), serde_json::json!(config.gc.soft));
    assert_eq!(config.at("workload").unwrap()["queue_depth"], serde_json::json!(0));
    assert_eq!(config.at("workload.trace").unwrap(), serde_json::Value::Null, "not set");
    assert_eq!(config.at("gc.softs").unwrap_err(), "gc.softs: unknown key; did you mean gc.soft?");
}
