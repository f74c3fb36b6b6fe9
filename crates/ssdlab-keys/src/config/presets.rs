//! The presets: named devices, schemes and workloads, one TOML file each, built into the library.
//!
//! Every file in `presets/devices`, `presets/schemes` and `presets/workloads` is a preset; nothing else lists them. It begins with
//! `description = "..."` and `source = "..."`.

use include_dir::{Dir, include_dir};

use ssdlab_base::error::{Error, Result};

use super::{names, text};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/presets");

/// Part of the configuration that a preset describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A drive.
    Device,
    /// A scheme: garbage collection, scheduling and caching.
    Scheme,
    /// The requests of the host.
    Workload,
}

impl Kind {
    /// Every kind of preset.
    pub const ALL: [Kind; 3] = [Kind::Device, Kind::Scheme, Kind::Workload];

    /// Name of the kind: `device`, `scheme` or `workload`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Device => "device",
            Kind::Scheme => "scheme",
            Kind::Workload => "workload",
        }
    }

    /// Name of several presets of the kind, and of their folder: `devices`, `schemes` or `workloads`.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Device => "devices",
            Kind::Scheme => "schemes",
            Kind::Workload => "workloads",
        }
    }

    /// A preset of this kind may set `key`.
    ///
    /// - A device sets `errors` and `wear`: a policy of reading again or of levelling comes with the flash that it is for.
    /// - A device sets `gc.soft` and `gc.invalid_share`: papers give these thresholds with the drive.
    /// - A device or a scheme sets `gc.trigger`, which is published with drives (ae2022) and as a scheme (lee2013's idle-time GC), and
    ///   `ftl.allocation` (elyasi2017's DynAlloc).
    /// - A device or a scheme sets `gc.turns`, which follows from how a die is accessed (ae2022 section 4.1) and is an axis, and
    ///   `scheduler.suspend`, an ability of a drive.
    /// - A device or a scheme sets `gc.victim`, `gc.choices` and `gc.pace_window`: calibration of a drive finds them. The values of a
    ///   scheme replace those of a device.
    pub fn may_set(self, key: &str) -> bool {
        const BY_DEVICE: [&str; 2] = ["gc.soft", "gc.invalid_share"];
        const BY_EITHER: [&str; 6] = ["gc.trigger", "gc.turns", "gc.victim", "gc.choices", "gc.pace_window", "scheduler.suspend"];
        let in_section = |sections: &[&str]| sections.contains(&key.split('.').next().unwrap_or(key));
        match self {
            Kind::Device => {
                in_section(&["device", "ftl", "slc", "errors", "wear", "zones", "buffer", "host", "energy", "power_states", "thermal"])
                    || BY_DEVICE.contains(&key)
                    || BY_EITHER.contains(&key)
            }
            Kind::Scheme => (in_section(&["gc", "scheduler", "cache"]) && !BY_DEVICE.contains(&key)) || key == "ftl.allocation",
            Kind::Workload => in_section(&["workload"]),
        }
    }

    /// The sections and keys that a preset of this kind may set ([`Kind::may_set`]), as text.
    pub fn scope(self) -> &'static str {
        match self {
            Kind::Device => {
                "device, ftl, slc, errors, wear, zones, buffer, host, energy, power_states, thermal, gc.trigger, gc.turns, gc.victim, gc.choices, gc.soft, gc.invalid_share, gc.pace_window and \
                 scheduler.suspend"
            }
            Kind::Scheme => "gc (but not soft and invalid_share), scheduler, cache and ftl.allocation",
            Kind::Workload => "workload",
        }
    }
}

/// Name and description of a preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Name of the preset, as given to `--device`, `--scheme` or `--workload`.
    pub name: String,
    /// Description of the preset: one sentence.
    pub description: String,
    /// Source of the preset's values: a paper, a measurement, or none.
    pub source: String,
}

/// All presets of a kind, sorted by name.
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
/// [`Error::Config`] if no preset has this name, with the nearest name and all names.
pub fn text(kind: Kind, name: &str) -> Result<&'static str> {
    let path = format!("{}/{name}.toml", kind.plural());
    let found = FILES.get_file(path).and_then(|file| file.contents_utf8());
    found.ok_or_else(|| Error::Config(unknown(kind, name)))
}

/// Takes `description` and `source`, which are not configuration keys, out of a preset; a missing one is empty.
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
