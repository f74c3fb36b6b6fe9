//! The presets: devices, schemes and workloads that are known by name, one TOML file each, built into the library.
//!
//! A file dropped into `presets/devices`, `presets/schemes` or `presets/workloads` is a preset; nothing else lists them. It begins
//! with `description = "..."` and `source = "..."`.

use include_dir::{Dir, include_dir};

use crate::error::{Error, Result};

use super::{names, text};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/presets");

/// What a preset describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A drive.
    Device,
    /// Garbage collection and scheduling.
    Scheme,
    /// The requests.
    Workload,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 3] = [Kind::Device, Kind::Scheme, Kind::Workload];

    /// The kind in a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Device => "device",
            Kind::Scheme => "scheme",
            Kind::Workload => "workload",
        }
    }

    /// The word for several, which is also the folder's name.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Device => "devices",
            Kind::Scheme => "schemes",
            Kind::Workload => "workloads",
        }
    }

    /// Whether a preset of this kind may set a key.
    ///
    /// The GC thresholds belong to the device, as papers give them with the drive. The trigger is published both with a drive (ae2022) and
    /// as a scheme (lee2013's idle-time GC), and so is page allocation (elyasi2017's DynAlloc): either may set
    /// `gc.trigger` and `ftl.allocation`. Whether jobs take turns follows from how a die is accessed (ae2022 section 4.1), and is an axis:
    /// either may set `gc.turns`. So is suspending for reads, an ability of a drive: either may set `scheduler.suspend`. The victim
    /// policy of a drive that was calibrated is a part of what was found of it, and so is how far its writes may be ahead of collection:
    /// either may set `gc.victim`, `gc.choices` and `gc.pace_window`, and a scheme's go first.
    pub fn may_set(self, key: &str) -> bool {
        const BY_DEVICE: [&str; 2] = ["gc.soft", "gc.invalid_share"];
        const BY_EITHER: [&str; 6] = ["gc.trigger", "gc.turns", "gc.victim", "gc.choices", "gc.pace_window", "scheduler.suspend"];
        let in_section = |sections: &[&str]| sections.contains(&key.split('.').next().unwrap_or(key));
        match self {
            Kind::Device => in_section(&["device", "ftl", "buffer", "host"]) || BY_DEVICE.contains(&key) || BY_EITHER.contains(&key),
            Kind::Scheme => (in_section(&["gc", "scheduler", "cache"]) && !BY_DEVICE.contains(&key)) || key == "ftl.allocation",
            Kind::Workload => in_section(&["workload"]),
        }
    }

    /// [`Kind::may_set`] in words.
    pub fn scope(self) -> &'static str {
        match self {
            Kind::Device => {
                "device, ftl, buffer, host, gc.trigger, gc.turns, gc.victim, gc.choices, gc.soft, gc.invalid_share, gc.pace_window and \
                 scheduler.suspend"
            }
            Kind::Scheme => "gc (but not soft and invalid_share), scheduler, cache and ftl.allocation",
            Kind::Workload => "workload",
        }
    }
}

/// A preset in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Its name, as given to `--device`, `--scheme` or `--workload`.
    pub name: String,
    /// A sentence.
    pub description: String,
    /// Where its values come from.
    pub source: String,
}

/// The presets of a kind, by name.
pub fn list(kind: Kind) -> Vec<PresetInfo> {
    let info = |name: &'static str| {
        let mut table = text::parse(name, text(kind, name).expect("it is listed")).expect("a test parses every preset");
        let (description, source) = take_head(&mut table);
        PresetInfo { name: name.to_string(), description, source }
    };
    preset_names(kind).into_iter().map(info).collect()
}

/// The TOML text of a preset.
///
/// # Errors
/// [`Error::Config`] if there is none of this name, with the nearest and the list of all.
pub fn text(kind: Kind, name: &str) -> Result<&'static str> {
    let path = format!("{}/{name}.toml", kind.plural());
    let found = FILES.get_file(path).and_then(|file| file.contents_utf8());
    found.ok_or_else(|| Error::Config(unknown(kind, name)))
}

/// Takes `description` and `source` out of a preset, which are no configuration keys.
pub(super) fn take_head(table: &mut toml::Table) -> (String, String) {
    let mut take = |key: &str| match table.get(key) {
        Some(toml::Value::String(text)) => {
            let text = text.clone();
            table.remove(key);
            text
        }
        _ => String::new(),
    };
    (take("description"), take("source"))
}

fn preset_names(kind: Kind) -> Vec<&'static str> {
    let files = FILES.get_dir(kind.plural()).into_iter().flat_map(Dir::files);
    let toml = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "toml"));
    let mut names: Vec<_> = toml.filter_map(|file| file.path().file_stem()?.to_str()).collect();
    names.sort_unstable();
    names
}

fn unknown(kind: Kind, name: &str) -> String {
    let all = preset_names(kind);
    let near = names::nearest(name, all.iter().copied()).map_or_else(|| "the".into(), |near| format!("did you mean \"{near}\"? The"));
    let (kind, plural) = (kind.name(), kind.plural());
    format!("{kind} \"{name}\": no such preset; {near} {plural} are {}; a file is given by a path ending in .toml", all.join(", "))
}
