//! Random input is refused with a message, or gives a valid configuration.

use proptest::prelude::*;
use serde_json::Value;

use super::schema::{KeyInfo, Kind};
use super::*;
use ssdlab_base::error::Error;

/// A value of any kind, often one that some key accepts.
fn any_value() -> impl Strategy<Value = Value> {
    let words: Vec<String> = schema::keys().into_iter().flat_map(|key| key.choices).map(|choice| choice.name).collect();
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0_u32..5000).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0.0..1.0).prop_map(Value::from),
        prop::sample::select(words).prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(any_name(), inner, 0..3).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// A name, often of a key or a section.
fn any_name() -> impl Strategy<Value = String> {
    let parts: Vec<String> = schema::keys().iter().flat_map(|key| key.name.split('.')).map(str::to_string).collect();
    prop_oneof![4 => prop::sample::select(parts), 1 => "[a-z_.]{0,8}"]
}

fn any_key() -> impl Strategy<Value = KeyInfo> {
    prop::sample::select(schema::keys())
}

/// A value that the key accepts by itself, though not with every other key.
fn fitting_value(key: &KeyInfo) -> BoxedStrategy<Value> {
    let (least, most) = (key.minimum.unwrap_or(0.0), key.maximum.unwrap_or(1e6));
    match key.kind {
        Kind::Boolean => any::<bool>().prop_map(Value::from).boxed(),
        Kind::Integer => prop_oneof![least..=most, least..=(least + 64.0).min(most)].prop_map(|value| value.round().into()).boxed(),
        Kind::Number => prop_oneof![least..=most, least..=1.0_f64.min(most)].prop_map(Value::from).boxed(),
        Kind::Text => "[a-z./]{1,8}".prop_map(Value::from).boxed(),
        Kind::Choice => prop::sample::select(key.choices.clone()).prop_map(|choice| choice.name.into()).boxed(),
        Kind::List => Just(key.default.clone()).boxed(),
    }
}

/// A key with a value that often fits it.
fn any_setting() -> impl Strategy<Value = (String, Value)> {
    any_key().prop_flat_map(|key| (Just(key.name.clone()), prop_oneof![3 => fitting_value(&key), 1 => any_value().boxed()]))
}

fn holds_what_it_promises(result: ssdlab_base::error::Result<Config>) -> std::result::Result<(), TestCaseError> {
    match result {
        Err(Error::Config(message) | Error::Usage(message)) => prop_assert!(!message.is_empty()),
        Err(other) => prop_assert!(false, "{other}"),
        Ok(config) => {
            prop_assert!(validate(&config).is_ok());
            prop_assert_eq!(Config::from_json(&config.to_json()).expect("it was valid"), config.clone());
            let capacity = Capacity::of(&config).expect("it was valid");
            prop_assert!(capacity.soft_blocks(config.gc.soft) + capacity.frontiers < capacity.spare_blocks());
        }
    }
    Ok(())
}

/// A configuration with these keys as a message names them: `a.b = 1, c.d = 2`.
fn with_keys(config: &Config, keys: &str) -> Config {
    let mut tree = serde_json::to_value(config).expect("an object");
    for (key, value) in keys.split(", ").filter_map(|pair| pair.split_once(" = ")) {
        *key.split('.').fold(&mut tree, |tree, name| &mut tree[name]) = serde_json::from_str(value).expect("a number or a flag");
    }
    Config::from_value(tree).expect("ranges hold")
}

proptest! {
    #[test]
    fn config_random_trees_are_refused_or_valid(tree in any_value()) {
        holds_what_it_promises(Config::from_value(tree))?;
    }

    #[test]
    fn config_random_keys_are_refused_or_valid(pairs in prop::collection::vec(any_setting(), 1..5)) {
        let mut tree = serde_json::to_value(Config::default()).expect("an object");
        for (key, value) in pairs {
            *key.split('.').fold(&mut tree, |tree, name| &mut tree[name]) = value;
        }
        holds_what_it_promises(Config::from_value(tree))?;
    }

    #[test]
    fn config_random_overrides_are_refused_or_valid(
        key in prop_oneof![any_key().prop_map(|key| key.name), "[a-z_.]{0,12}"],
        value in prop_oneof!["\\PC{0,12}", "[0-9]{1,3}", "\\[[a-z, ]{0,8}\\]"],
    ) {
        let set = vec![(key, value)];
        holds_what_it_promises(Layers { set, ..Layers::default() }.build())?;
    }

    #[test]
    fn config_random_text_is_refused_or_valid(text in "(\\[[a-z]{1,6}\\]\n)?[a-z]{1,6} ?= ?[\\PC\n]{0,12}") {
        holds_what_it_promises(Layers { file: Some(("x".into(), text)), ..Layers::default() }.build())?;
    }

    #[test]
    fn config_the_overprovisioning_that_a_message_names_will_do(
        planes in 1_u32..5,
        blocks in 4_u32..3000,
        pages in 2_u32..300,
        share in 0.0..0.3_f64,
        soft in prop_oneof![0.0..0.3, (1_u32..90).prop_map(f64::from)],
        die in any::<bool>(),
        shared in any::<bool>(),
        map_entry_bytes in prop_oneof![Just(None), (4_u32..513).prop_map(Some)],
        map_page in 1_u32..40,
        parity_stripe in prop_oneof![Just(0), 2_u32..20],
    ) {
        let mut config = Config::default();
        config.ftl.parity_stripe = parity_stripe;
        if let Some(bytes) = map_entry_bytes {
            (config.ftl.map_entry_bytes, config.ftl.map_page_bytes) = (bytes, Some(map_page * config.device.page_bytes));
            config.ftl.map_cache_bytes = 1 << 20;
        }
        config.device.planes_per_die = planes;
        config.device.blocks_per_plane = blocks;
        config.device.pages_per_block = pages;
        config.device.overprovisioning = share;
        config.ftl.pool = if die { PoolScope::Die } else { PoolScope::Plane };
        config.ftl.frontier = if shared { Frontier::Shared } else { Frontier::Separate };
        config.gc.soft = soft;
        for _ in 0..3 {
            let Err(error) = validate(&config) else { return Ok(()) };
            let message = error.to_string();
            let Some((_, advice)) = message.rsplit_once("overprovisioning to at least ") else { break };
            let (share, keep) = advice.split_once("; or keep ").unwrap_or((advice, ""));
            if let Some((_, keys)) = keep.split_once(" with ") {
                prop_assert!(validate(&with_keys(&config, keys)).is_ok(), "{}", message);
            }
            config.device.overprovisioning = share.parse().expect("a number");
        }
        // The first advice solves the spare blocks, the second the threshold; if no third is needed, the test has returned above.
        let message = validate(&config).expect_err("it was wrong").to_string();
        prop_assert!(!message.contains("overprovisioning to at least"), "{}", message);
    }
}
