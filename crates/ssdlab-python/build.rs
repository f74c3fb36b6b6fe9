//! Names the commit and the sources that the core is built from, and tells cargo what the compiler cannot see: the studies are built in as a
//! whole folder, so that a file dropped into it counts.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// What the core is compiled from, from the root of the workspace.
const SOURCES: [&str; 5] = ["crates", "presets", "studies", "Cargo.toml", "Cargo.lock"];
/// Folders of crates that are not built into the core.
const BESIDE: [&str; 4] = ["tests", "benches", "examples", "fuzz"];
/// Another commit changes these.
const HEADS: [&str; 2] = ["HEAD", "logs/HEAD"];

fn main() {
    let package = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&package).join("../..");
    println!("cargo::rerun-if-changed=studies");
    let mut code = DefaultHasher::new();
    for source in SOURCES.map(|source| root.join(source)).iter().filter(|source| source.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
        add(source, &mut code);
    }
    println!("cargo::rustc-env=SSDLAB_CODE={:016x}", code.finish());
    println!("cargo::rustc-env=SSDLAB_COMMIT={}", label(&root).unwrap_or_default());
}

/// Adds a file, or all files below a folder, to what identifies the code: two builds may have the same commit and changes of their own.
fn add(path: &Path, code: &mut DefaultHasher) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Ok(entries) = fs::read_dir(path) {
        let mut below: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        below.sort();
        below.iter().filter(|_| !BESIDE.contains(&&*name)).for_each(|path| add(path, code));
    } else if let Ok(bytes) = fs::read(path) {
        (&*name, bytes).hash(code);
    }
}

/// The commit of the workspace, `g1a2b3c4d5e`, with `.dirty` if a source differs from it. `None` outside of the project's own repository:
/// sources from an archive may lie in another one.
fn label(root: &Path) -> Option<String> {
    let git = |words: &[&str]| {
        let done = Command::new("git").arg("-C").arg(root).args(words).output().ok()?;
        let text = String::from_utf8(done.stdout).ok()?;
        done.status.success().then(|| text.trim_end().to_string())
    };
    let own = git(&["rev-parse", "--show-prefix"])?.is_empty()
        && git(&["ls-files", "--", "crates/ssdlab-python/build.rs"]) != Some(String::new());
    let commit = own.then(|| git(&["rev-parse", "--short=10", "HEAD"])).flatten()?;
    for head in HEADS {
        let file = root.join(git(&["rev-parse", "--git-path", head])?);
        if file.exists() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    let changes = git(&[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    Some(format!("g{commit}{}", if changes.is_empty() { "" } else { ".dirty" }))
}
