//! The plain C loop, the yardstick: compiled once with the system's C compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use ssdlab::ftl::Ftl;

/// Overwrites before the loop is timed, at most: its own steady state.
const MOST_OVERWRITES: u64 = 20_000_000;

/// The compiled program, in a folder that goes with it.
pub struct PlainLoop {
    program: PathBuf,
    _folder: tempfile::TempDir,
}

impl PlainLoop {
    /// Compiles `benches/plain.c`. `None` without a C compiler.
    pub fn compile() -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let program = folder.path().join("plain");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/plain.c");
        let compiled = Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(&source).status().ok()?.success();
        compiled.then_some(PlainLoop { program, _folder: folder })
    }

    /// Host writes a second, on a drive of this geometry, after `warm` overwrites.
    pub fn rate(&self, ftl: &Ftl, warm: u64, writes: u64) -> Option<f64> {
        let geometry = ftl.geometry();
        let arguments = [
            u64::from(geometry.pools.count.get()),
            u64::from(geometry.pools.blocks_each),
            u64::from(geometry.units_per_block.get()),
            u64::from(geometry.exported_units),
            warm.min(MOST_OVERWRITES),
            writes,
        ];
        let output = Command::new(&self.program).args(arguments.map(|n| n.to_string())).output().ok()?;
        String::from_utf8(output.stdout).ok()?.split_whitespace().next()?.parse().ok()
    }
}
