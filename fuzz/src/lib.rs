//! What the targets share: a file in memory for what reads files.

use std::path::{Path, PathBuf};

/// A panic is a finding only where it is not caught: the Parquet library's on damaged files are caught and become errors.
/// (libFuzzer's own hook ends the process before that. What reaches the target's end still does.)
pub fn let_panics_be_caught() {
    std::panic::set_hook(Box::new(|panic| {
        if panic.location().is_none_or(|place| !place.file().contains("/parquet-")) {
            eprintln!("{panic}");
        }
    }));
}

/// A file name of this process, in memory where the system has a file system there. Removed in the end.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A name that ends in `ending`; nothing is written.
    pub fn new(ending: &str) -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        Scratch(folder.join(format!("ssdlab-fuzz-{}{ending}", std::process::id())))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Replaces what is in it.
    pub fn write(&self, bytes: &[u8]) {
        std::fs::write(&self.0, bytes).expect("the scratch file can be written");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
