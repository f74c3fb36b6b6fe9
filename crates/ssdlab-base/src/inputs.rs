//! Opens input files. A file that can be read only once, such as a pipe, is read from a copy if one is registered for it.
//!
//! A run may need its inputs more than once: each of several schemes replays the trace, and a drive that is fitted to a trace needs to know
//! its extent first. The outermost layer copies a pipe to a temporary file and registers the copy ([`stand_in`]); all other code opens
//! files with [`open`], so that names, messages and results keep the name that the user gave.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Device and inode, which identify a file whatever its name: `/dev/stdin` and `/proc/self/fd/0` are the same pipe.
type Identity = (u64, u64);

/// Paths of the copies.
static COPIES: Mutex<BTreeMap<Identity, PathBuf>> = Mutex::new(BTreeMap::new());

/// Registration of a copy: while this lives, the copy is read in place of the file.
#[derive(Debug)]
pub struct StandIn(Identity);

impl Drop for StandIn {
    fn drop(&mut self) {
        copies().remove(&self.0);
    }
}

/// Registers `copy` to be read wherever `path`, or another name of the same file, is opened by [`open`]. The copy has to exist while the
/// registration lives; on Linux it may be an open file without a name, `/proc/self/fd/N`.
///
/// # Errors
/// Errors of the operating system, such as a missing `path`; [`io::ErrorKind::Unsupported`] where files have no inodes, as on Windows.
pub fn stand_in(path: &Path, copy: PathBuf) -> io::Result<StandIn> {
    let identity = identity(&std::fs::metadata(path)?).ok_or(io::ErrorKind::Unsupported)?;
    copies().insert(identity, copy);
    Ok(StandIn(identity))
}

/// Opens a file, or the copy registered for it, for reading from its beginning.
///
/// # Errors
/// Errors of the operating system.
pub fn open(path: &Path) -> io::Result<File> {
    // Identified by name: to open a pipe whose writer has gone would block forever.
    match copy_of(&std::fs::metadata(path)?) {
        Some(copy) => File::open(copy),
        None => File::open(path),
    }
}

/// Whether [`open`] can read the same content again: true for a regular file, and for a file with a registered copy.
///
/// # Errors
/// Errors of the operating system.
pub fn is_repeatable(path: &Path) -> io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    Ok(metadata.is_file() || copy_of(&metadata).is_some())
}

/// The text of a file, or of the copy registered for it.
///
/// # Errors
/// Errors of the operating system; [`io::ErrorKind::InvalidData`] for text that is not UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

fn copy_of(metadata: &Metadata) -> Option<PathBuf> {
    copies().get(&identity(metadata)?).cloned()
}

/// Device and inode; `None` where the standard library has neither.
fn identity(metadata: &Metadata) -> Option<Identity> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

/// The registered copies. A poisoned lock is fine: no code panics while it holds the lock.
fn copies() -> MutexGuard<'static, BTreeMap<Identity, PathBuf>> {
    COPIES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[cfg(unix)]
    #[test]
    fn a_copy_is_read_from_its_beginning_each_time_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("original");
        std::fs::write(&path, "original").unwrap();
        let copy = folder.path().join("copy");
        std::fs::write(&copy, "copy").unwrap();
        let held = stand_in(&path, copy).unwrap();
        let (mut first, mut second) = (open(&path).unwrap(), open(&path).unwrap());
        let mut byte = [0];
        first.read_exact(&mut byte).unwrap();
        assert_eq!((byte, io::read_to_string(&mut second).unwrap().as_str()), ([b'c'], "copy"));
        assert_eq!(io::read_to_string(first).unwrap(), "opy");
        drop(held);
        assert_eq!(text(&path).unwrap(), "original");
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert_eq!(open(Path::new("/nonexistent/file")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(text(Path::new("/")).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }
}
