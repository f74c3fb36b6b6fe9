//! Names the commit that the core is built from, and tells cargo what the compiler cannot see: the studies are built in as a whole folder, so
//! that a file dropped into it counts.

use std::path::Path;
use std::process::Command;

/// What the core is compiled from, from the root of the workspace.
const SOURCES: [&str; 5] = ["crates", "presets", "studies", "Cargo.toml", "Cargo.lock"];
/// Another commit changes these.
const HEADS: [&str; 2] = ["HEAD", "logs/HEAD"];

fn main() {
    println!("cargo::rerun-if-changed=studies");
    let package = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&package).join("../..");
    println!("cargo::rustc-env=SSDLAB_COMMIT={}", label(&root).unwrap_or_default());
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
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let changes = git(&[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    Some(format!("g{commit}{}", if changes.is_empty() { "" } else { ".dirty" }))
}
