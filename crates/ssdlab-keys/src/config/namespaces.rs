//! Namespaces: parts of a drive's addresses, each with dies of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Allocation, ArrayLevel, Config};

/// The order in which namespaces take dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NamespaceLayout {
    /// Channel by channel: a namespace of as many dies as a channel has shares no bus with others.
    Channels,
    /// Die by die, one of each channel in turn: each namespace uses as many channels as it can.
    Dies,
}

/// The addresses of storage: its bytes, and the part of each namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Number of bytes that the host can address.
    pub bytes: u64,
    /// First byte and number of bytes of each namespace; empty without namespaces.
    pub namespaces: Vec<(u64, u64)>,
}

impl From<u64> for Exported {
    /// Storage of this many bytes without namespaces.
    fn from(bytes: u64) -> Self {
        Exported { bytes, namespaces: Vec::new() }
    }
}

impl Exported {
    /// The addresses of the storage of a checked configuration.
    ///
    /// # Errors
    /// As [`Config::exported_bytes`].
    pub fn of(config: &Config) -> ssdlab_base::error::Result<Self> {
        let bytes = config.exported_bytes()?;
        let each = bytes / config.dies();
        let dies = config.ftl.namespaces.iter().map(|&dies| u64::from(dies));
        let namespaces = dies.scan(0, |begin, dies| {
            let range = (*begin, each * dies);
            *begin += range.1;
            Some(range)
        });
        Ok(Exported { bytes, namespaces: namespaces.collect() })
    }
}

impl Config {
    /// Number of dies of the drive.
    fn dies(&self) -> u64 {
        let device = &self.device;
        [device.channels, device.chips_per_channel, device.dies_per_chip].map(u64::from).iter().product()
    }

    /// The namespace of each die, by die; empty without namespaces. For a checked configuration.
    pub fn namespace_of_dies(&self) -> Vec<u32> {
        if self.ftl.namespaces.is_empty() {
            return Vec::new();
        }
        let device = &self.device;
        let of_channel = device.chips_per_channel * device.dies_per_chip;
        let mut order: Vec<u32> = (0..self.dies() as u32).collect();
        if self.ftl.namespace_layout == NamespaceLayout::Dies {
            order.sort_by_key(|&die| (die % of_channel, die));
        }
        let numbers = (0..).zip(&self.ftl.namespaces).flat_map(|(number, &dies)| std::iter::repeat_n(number, dies as usize));
        let mut of_dies = vec![0; order.len()];
        order.iter().zip(numbers).for_each(|(&die, number)| of_dies[die as usize] = number);
        of_dies
    }
}

/// Checks that namespaces have all dies of one drive that allocates by address, and that flows name namespaces of it.
pub(super) fn check(config: &Config, messages: &mut Vec<String>) {
    let namespaces = &config.ftl.namespaces;
    for flow in config.workload.separate_flows().unwrap_or_default() {
        let Some(number) = flow.workload.namespace else { continue };
        let key = format!("{}.namespace = {number}", flow.path);
        if namespaces.is_empty() {
            messages.push(format!("{key}: the drive has no namespaces; set ftl.namespaces, or leave this out"));
        } else if number as usize >= namespaces.len() {
            messages.push(format!("{key}: expected 0 to {}, as ftl.namespaces has {}", namespaces.len() - 1, namespaces.len()));
        }
    }
    if namespaces.is_empty() {
        return;
    }
    let mut wrong = |what: &str| messages.push(format!("ftl.namespaces = {namespaces:?}: {what}"));
    let (given, dies) = (namespaces.iter().map(|&dies| u64::from(dies)).sum::<u64>(), config.dies());
    if given != dies {
        wrong(&format!("are {given} dies, and the drive has {dies}; each die must be of one namespace"));
    }
    if config.ftl.allocation == Allocation::Dynamic {
        wrong("ftl.allocation = \"dynamic\" chooses among all chips by load, not by address; set it to \"CWDP\" or another order");
    }
    if config.array.level != ArrayLevel::None {
        wrong("the addresses of an array are striped over its drives; set array.level = \"none\"");
    }
    if config.has_zones() {
        wrong("a zone has blocks of all dies; choose another ftl.placement than \"zones\"");
    }
    if config.cache.evicts_groups() && config.cache.group == super::CacheGroup::Chip {
        wrong("cache.group = \"chip\" takes addresses to be striped over all chips; set it to \"contiguous\"");
    }
}
