//! The layers of the drive: a module uses only lower layers. This test reads the table in the `lib.rs` of crate `ssdlab-drive`, so that the table
//! cannot drift. Between crates the compiler checks the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// By module: its layer, and its place in the list of the layer. The place counts only in the lowest layer.
type Places = BTreeMap<String, (u32, usize)>;

const LOWEST: u32 = 0;

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ssdlab-drive/src")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows `//! | 3 | [`ftl`] |` of the table in `lib.rs`.
fn table(text: &str) -> Places {
    let mut places = Places::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("//! |")) {
        let mut cells = line.split('|').map(str::trim);
        let Some(layer) = cells.next().and_then(|cell| cell.parse().ok()) else { continue };
        let modules = cells.next().expect("a row has a cell of modules");
        for (place, name) in modules.split(',').enumerate() {
            let name = name.trim().trim_matches(['[', ']', '`']).to_string();
            let known = places.insert(name.clone(), (layer, place));
            assert_eq!(known, None, "{name} is twice in the table of lib.rs");
        }
    }
    places
}

/// Every source file of a module: its own, or all below its folder.
fn files_of(module: &str) -> Vec<PathBuf> {
    let file = source_folder().join(format!("{module}.rs"));
    if file.is_file() {
        return vec![file];
    }
    let mut folders = vec![source_folder().join(module)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// The modules that a text names as `crate::module` or `crate::{module, ...}`, and where. Comments may name what they like.
fn uses(text: &str) -> Vec<(usize, String)> {
    const ROOT: &str = "crate::";
    let mut found = Vec::new();
    // Line ends stay, so that a group of several lines is read as one.
    let code: String = text.split_inclusive('\n').map(|line| if line.trim_start().starts_with("//") { "\n" } else { line }).collect();
    for (start, _) in code.match_indices(ROOT) {
        let line = code[..start].matches('\n').count() + 1;
        let rest = &code[start + ROOT.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            found.extend(group_of(group).into_iter().map(|name| (line, name)));
        } else {
            found.push((line, first_name(rest)));
        }
    }
    found
}

fn first_name(path: &str) -> String {
    path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The first names of `a::b, c::{d, e}, ...}`: those at depth 0.
fn group_of(text: &str) -> Vec<String> {
    let (mut depth, mut names, mut at_start) = (0, Vec::new(), true);
    for (index, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => at_start = true,
            c if depth == 0 && at_start && !c.is_whitespace() => {
                names.push(first_name(&text[index..]));
                at_start = false;
            }
            _ => {}
        }
    }
    names
}

/// Why `module` may not use `other`, if it may not.
fn objection(places: &Places, module: &str, other: &str) -> Option<String> {
    let (own, used) = (places[module], *places.get(other)?);
    let allowed = module == other || used.0 < own.0 || own.0 == LOWEST && used.0 == LOWEST && used.1 < own.1;
    (!allowed).then(|| format!("{module} (layer {}) uses {other} (layer {})", own.0, used.0))
}

#[test]
fn a_module_uses_only_lower_layers() {
    let places = table(&read(&source_folder().join("lib.rs")));
    let mut objections = Vec::new();
    let mut count = 0;
    for module in places.keys() {
        for file in files_of(module) {
            for (line, other) in uses(&read(&file)) {
                count += 1;
                let place = file.strip_prefix(source_folder()).expect("a file of the sources").display().to_string();
                objections.extend(objection(&places, module, &other).map(|what| format!("{place}:{line}: {what}")));
            }
        }
    }
    assert!(count > 100, "only {count} uses found: the pattern no longer fits the sources");
    assert!(
        objections.is_empty(),
        "a module uses only lower layers (layer 0: modules listed before it in the table of lib.rs); move code, or pass what is \
         needed as data:\n{}",
        objections.join("\n")
    );
}

#[test]
fn the_table_names_every_module() {
    let lib = read(&source_folder().join("lib.rs"));
    let listed: BTreeSet<String> = table(&lib).into_keys().collect();
    let declared: BTreeSet<String> = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "))
        .map(|rest| rest.trim_end_matches(';').to_string())
        .collect();
    let present: BTreeSet<String> = fs::read_dir(source_folder())
        .expect("the folder of the sources")
        .map(|entry| entry.expect("a folder can be listed").path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()))
        .filter(|name| name != "lib")
        .collect();
    assert_eq!(listed, present, "the table of lib.rs (left) and the files of the folder (right) name different modules");
    assert_eq!(listed, declared, "the table of lib.rs (left) and its `mod` lines (right) name different modules");
}

/// The canary: what is forbidden is found, in every way of writing it.
#[test]
fn a_use_of_a_higher_layer_is_found() {
    let places = table("//! | 5 | [`ssd`] |\n//! | 4 | [`gc`], [`sched`] |\n//! | 0 | [`units`], [`error`] |\n");
    let text =
        "// crate::ssd is only a comment\nuse crate::{\n    units::Ns,\n    sched::{self, Line},\n};\nfn f() -> crate::ssd::Ssd {}\n";
    assert_eq!(uses(text), [(2, "units".to_string()), (2, "sched".to_string()), (6, "ssd".to_string())]);
    let found = |module: &str, other: &str| objection(&places, module, other).is_some();
    assert!(found("gc", "ssd") && found("gc", "sched") && found("units", "error"));
    assert!(!found("ssd", "gc") && !found("gc", "gc") && !found("error", "units"));
}
