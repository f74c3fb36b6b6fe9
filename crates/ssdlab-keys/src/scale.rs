//! Remarks on what a drive that is smaller than those on sale distorts, from its configuration alone.
//!
//! A simulated drive is often scaled down so that a short trace fills it. Collection keeps its ratios if the number of blocks in a pool,
//! the spare share and the free blocks kept stay as they are, and blocks become smaller instead. `docs/howto/scale-a-drive.md` says how.

use crate::config::capacity::RESERVE;
use crate::config::{Capacity, Config, Frontier, Placement, Trigger};
use crate::remark::Remark;

/// Share of the spare blocks that the soft threshold may keep free without a remark. Collection cannot use free blocks as spare.
const THRESHOLD_SHARE: f64 = 0.25;
/// Blocks per pool below which the choice of victims, frontiers and rounding to whole blocks show.
const FEW_BLOCKS: u64 = 100;
/// Share of the spare blocks that the blocks being filled may be without a remark.
const FRONTIER_SHARE: f64 = 0.25;
/// Page size of planar flash, bytes, from which on a block is compared with those of 3D flash.
const LARGE_PAGE_BYTES: u32 = 16_384;
/// Fewest pages of a block of 3D flash: a part of 2020 has 1,152, half as many as its successors.
const PAGES_OF_3D_BLOCK: u32 = 1_152;
/// Share of the exported bytes above which a write buffer is far larger than those of drives, which have some MiB for a terabyte.
const BUFFER_SHARE: f64 = 0.01;
/// The figure that most of these remarks are about.
const AMPLIFICATION: &str = "gc.write_amplification";

/// Keys that say how many blocks a pool has, and of how many pages.
const BLOCKS: [&str; 4] = ["device.blocks_per_plane", "device.pages_per_block", "device.planes_per_die", "ftl.pool"];

/// Remarks on what the size of the drive distorts, in the order of their weight. None for a configuration that cannot be built.
///
/// `written`: keys that the user wrote, and `fit` for a drive that was fitted. What a preset is, its own description says.
pub fn remarks(config: &Config, written: &[String]) -> Vec<Remark> {
    let Ok(capacity) = Capacity::of(config) else { return Vec::new() };
    let any = |keys: &[&str]| written.iter().any(|key| keys.contains(&key.as_str()));
    let section = |name: &str| written.iter().any(|key| key.starts_with(name));
    let of_blocks = any(&BLOCKS);
    let of_open_blocks = of_blocks || any(&["device.overprovisioning"]) || section("ftl.") || section("slc.");
    let of_threshold = of_blocks || any(&["device.overprovisioning", "gc.soft", "gc.forced", "gc.trigger"]);
    // A share of the blocks remains one when a drive is fitted.
    let keeps_blocks = watched(config).1 >= 1.0;
    let all = [
        threshold(config, &capacity).filter(|_| of_threshold || keeps_blocks && any(&["fit"])),
        few_blocks(&capacity).filter(|_| of_blocks || any(&["gc.victim"])),
        frontiers(config, &capacity).filter(|_| of_open_blocks),
        small_blocks(config).filter(|_| any(&["device.pages_per_block", "device.page_bytes"])),
        buffer(config, &capacity).filter(|_| of_blocks || any(&["buffer.bytes"])),
    ];
    all.into_iter().flatten().collect()
}

/// The remark for a soft threshold that keeps a large part of the spare blocks free.
fn threshold(config: &Config, capacity: &Capacity) -> Option<Remark> {
    let (key, value) = watched(config);
    let (spare, kept) = (capacity.spare_blocks(), capacity.soft_blocks(value).max(u64::from(RESERVE) + 1));
    if config.has_zones() || kept as f64 <= THRESHOLD_SHARE * spare as f64 {
        return None;
    }
    let percent = percent(kept, spare);
    let (all, pages) = (capacity.blocks_per_pool, config.device.pages_per_block);
    let smaller = format!("ore and smaller blocks: device.pages_per_block below {pages}, device.blocks_per_plane higher.");
    let unit = if value < 1.0 { " (a number of blocks; values below 1 are shares)" } else { "" };
    let (remedy, otherwise) = match most_kept(spare) {
        None => (format!("Have m{smaller}"), String::new()),
        Some(most) => (format!("Set {key} = {most}{unit}."), format!(" Or have m{smaller}")),
    };
    let sentence =
        format!("{key} keeps {kept} of the {spare} spare blocks of a pool free ({percent} %), so write amplification is higher.");
    let why = format!(
        "A pool has {all} blocks. Unless writes outpace collection, write amplification is that of a drive with less over-provisioning.{otherwise}"
    );
    Some(Remark::warning("threshold-takes-spare", AMPLIFICATION, sentence, remedy).because(why))
}

/// Key and value of the threshold that keeps blocks free. With the trigger `both` other victims wait for the lower one.
fn watched(config: &Config) -> (&'static str, f64) {
    if config.gc.trigger == Trigger::Both { ("gc.forced", config.gc.forced) } else { ("gc.soft", config.gc.soft) }
}

/// Highest threshold in blocks without a remark; `None` if there is none, since the reserve and one block more stay free in any case.
fn most_kept(spare: u64) -> Option<u64> {
    let most = (THRESHOLD_SHARE * spare as f64) as u64;
    (most > u64::from(RESERVE)).then_some(most)
}

/// The remark for a pool of few blocks.
fn few_blocks(capacity: &Capacity) -> Option<Remark> {
    let blocks = capacity.blocks_per_pool;
    (blocks < FEW_BLOCKS).then(|| {
        let each = 100.0 / blocks as f64;
        let sentence = format!("A pool has {blocks} blocks, on drives on sale 500 and more: victim policies differ less than they would.");
        let remedy = "Have more and smaller blocks, or use the device nvme-tlc-scaled-5g.";
        let why = format!(
            "Each block is {each:.1} % of its pool, so victims are chosen from few. Lower device.pages_per_block and raise \
             device.blocks_per_plane. nvme-tlc-scaled-5g has 8 dies, an eighth of a drive of the 960 GB class, and carries an eighth of its \
             load (workload.time_scale = 0.125)."
        );
        Remark::note("few-blocks", AMPLIFICATION, sentence, remedy).because(why)
    })
}

/// The remark for blocks being filled that are a large part of the spare blocks.
fn frontiers(config: &Config, capacity: &Capacity) -> Option<Remark> {
    let (spare, open) = (capacity.spare_blocks(), capacity.frontiers);
    let may_share = config.ftl.frontier == Frontier::Separate
        && config.ftl.placement == Placement::None
        && !config.slc.is_on()
        && config.pools_per_group() == 1;
    let remedy = match may_share {
        true => "Have more and smaller blocks, raise device.overprovisioning, or set ftl.frontier = \"shared\".",
        false => "Have more and smaller blocks, or raise device.overprovisioning.",
    };
    // The host collects zones.
    (open as f64 > FRONTIER_SHARE * spare as f64 && !config.has_zones()).then(|| {
        let percent = percent(open, spare);
        let sentence =
            format!("The {open} blocks of a pool that are being filled are {percent} % of its {spare} spare blocks, which GC cannot use.");
        Remark::note("frontiers-take-spare", AMPLIFICATION, sentence, remedy)
    })
}

/// The remark for blocks with far fewer pages than those of flash with pages of this size.
fn small_blocks(config: &Config) -> Option<Remark> {
    let device = &config.device;
    (device.page_bytes >= LARGE_PAGE_BYTES && device.pages_per_block < PAGES_OF_3D_BLOCK && !config.has_zones()).then(|| {
        let pages = device.pages_per_block;
        let times = f64::from(PAGES_OF_3D_BLOCK) / f64::from(pages);
        let sentence = format!("A block has {pages} pages, 3D flash {PAGES_OF_3D_BLOCK} and more: GC jobs are {times:.0} times shorter.");
        let remedy = "Do not read durations of jobs, or waits for whole jobs, as those of a large drive.";
        let why = "Jobs are as many times more frequent, and an erase weighs as much more beside the pages moved: scale device.erase_ns with \
                   the block to keep its weight.";
        Remark::note("small-blocks", "gc.duration_ns", sentence, remedy).because(why)
    })
}

/// The remark for a write buffer that holds a large part of the drive.
fn buffer(config: &Config, capacity: &Capacity) -> Option<Remark> {
    let (buffer, exported) = (config.buffer.bytes, capacity.exported_bytes());
    (buffer as f64 > BUFFER_SHARE * exported as f64).then(|| {
        let percent = percent(buffer, exported);
        Remark::note(
            "large-buffer",
            "latency_ns.write",
            format!("The write buffer holds {percent} % of what the drive exports; drives on sale have a hundred times less."),
            "Lower buffer.bytes, but to no less than a few programs for each die.",
        )
    })
}

/// Share of `part` in `whole` in per cent, rounded to the nearest; 100 if `whole` is 0.
fn percent(part: u64, whole: u64) -> u64 {
    (200 * part + whole).checked_div(2 * whole).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, presets};

    /// The configuration of a device with keys set by hand, and its remarks.
    fn told(device: &str, pairs: &[(&str, &str)]) -> Vec<Remark> {
        let set = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let built = Layers { device: Some(device.into()), set, ..Layers::default() }.build_noting_keys().unwrap();
        remarks(&built.config, &built.written)
    }

    fn codes(device: &str, pairs: &[(&str, &str)]) -> Vec<String> {
        told(device, pairs).into_iter().map(|remark| remark.code).collect()
    }

    /// Of 40 blocks 20 % are spare, of which 0.05 x 40 are kept and two are being filled: 2 of 8 is a quarter, which is no more than that.
    #[test]
    fn a_threshold_that_takes_more_than_a_quarter_of_the_spare_is_told() {
        let forty = ("device.blocks_per_plane", "40");
        let large = ("device.pages_per_block", "256");
        assert!(!codes("demo-4g", &[forty, large, ("gc.soft", "2")]).contains(&"threshold-takes-spare".to_string()));
        assert!(codes("demo-4g", &[forty, large, ("gc.soft", "3")]).contains(&"threshold-takes-spare".to_string()));
        // 5 of 7 points of a drive with 7 % spare: 50 of the 70 spare blocks of 1000.
        let spare = [("device.blocks_per_plane", "1000"), ("device.overprovisioning", "0.07"), ("gc.soft", "0.05")];
        let config = codes("lee2013", &[spare.as_slice(), &[("ftl.pool", "plane")]].concat());
        assert_eq!(config, ["threshold-takes-spare"]);
    }

    /// Of the 57 blocks of a pool 11 are spare, a quarter of which is 2: a threshold of 4 has a remark, and what the remark names has none.
    #[test]
    fn the_threshold_that_the_remark_names_has_no_remark() {
        let of = |pairs: &[(&str, &str)]| {
            told("nvme-4g", pairs).into_iter().find(|remark| remark.code == "threshold-takes-spare").map(|remark| remark.remedy)
        };
        assert_eq!(of(&[("gc.soft", "4")]).unwrap(), "Set gc.soft = 2.");
        assert_eq!(of(&[("gc.soft", "0.07")]).unwrap(), "Set gc.soft = 2 (a number of blocks; values below 1 are shares).");
        assert_eq!(of(&[("gc.soft", "2")]), None);
        assert!(of(&[("device.blocks_per_plane", "30"), ("gc.soft", "2")]).unwrap().starts_with("Have more and smaller blocks: "));
    }

    /// The remedy is one that the drive can have: blocks in SLC mode, and superblocks of several pools, need a frontier of their own for moves.
    #[test]
    fn a_shared_frontier_is_a_remedy_only_where_it_can_be_set() {
        let remedy = |pairs: &[(&str, &str)]| {
            let small =
                [("device.blocks_per_plane", "40"), ("gc.soft", "2"), ("ftl.frontier", "separate"), ("device.overprovisioning", "0.3")];
            let pairs: Vec<_> = small.iter().chain(pairs).copied().collect();
            let remedy =
                told("demo-4g", &pairs).into_iter().find(|remark| remark.code == "frontiers-take-spare").map(|remark| remark.remedy);
            remedy.is_some_and(|remedy| remedy.contains("shared"))
        };
        let spare = ("device.overprovisioning", "0.15");
        assert!(remedy(&[spare]));
        assert!(!remedy(&[spare, ("ftl.frontier", "shared")]));
        assert!(!remedy(&[("slc.static_blocks", "5")]));
    }

    #[test]
    fn few_blocks_name_the_load_of_the_drive_that_is_recommended() {
        let config = |device: &str| Layers { device: Some(device.into()), ..Layers::default() }.build().unwrap();
        let (scaled, full) = (Capacity::of(&config("nvme-tlc-scaled-5g")).unwrap(), Capacity::of(&config("nvme-tlc-2023")).unwrap());
        assert_eq!((scaled.pools, full.pools), (8, 64));
        let why = few_blocks(&Capacity::of(&config("nvme-4g")).unwrap()).unwrap().why;
        assert!(why.contains("8 dies") && why.contains("an eighth of its load (workload.time_scale = 0.125)"), "{why}");
    }

    /// What a preset is, is no news: it is said where it is described.
    #[test]
    fn a_preset_as_it_is_has_no_remark() {
        for preset in presets::list(presets::Kind::Device) {
            assert_eq!(codes(&preset.name, &[]), Vec::<String>::new(), "{}", preset.name);
        }
        assert_eq!(codes("elyasi2017", &[("gc.soft", "4")]), Vec::<String>::new());
        assert_eq!(codes("nvme-tlc-scaled-5g", &[("device.pages_per_block", "96")]), ["small-blocks"]);
        assert_eq!(codes("nvme-4g", &[("gc.victim", "fifo")]), ["few-blocks"]);
        let config =
            Layers { device: Some("nvme-4g".into()), set: vec![("gc.soft".into(), "4".into())], ..Layers::default() }.build().unwrap();
        assert_eq!(remarks(&config, &[]), []);
        assert_eq!(remarks(&config, &["fit".into()])[0].code, "threshold-takes-spare");
    }

    #[test]
    fn few_blocks_and_a_large_buffer_are_told() {
        let found = codes("nvme-4g", &[("device.pages_per_block", "384"), ("device.blocks_per_plane", "57"), ("buffer.bytes", "67108864")]);
        assert!(found.contains(&"few-blocks".to_string()) && found.contains(&"large-buffer".to_string()), "{found:?}");
    }
}
