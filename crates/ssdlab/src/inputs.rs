//! Files that are read. What can be read only once, such as a pipe, is read from a copy of it where its owner has made one.
//!
//! A run may need its inputs more than once: each of several schemes replays the trace, and a drive that is fitted to a trace needs to
//! know its extent first. The outermost layer copies a pipe to a temporary file and stands it in for the pipe ([`stand_in`]); everything
//! that reads goes through [`open`], so that names, messages and results keep the name that the user gave.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a file is, whatever its name: `/dev/stdin` and `/proc/self/fd/0` are the same pipe.
type Identity = (u64, u64);

static COPIES: Mutex<BTreeMap<Identity, File>> = Mutex::new(BTreeMap::new());

/// As long as it lives, a copy is read in place of what was copied.
#[derive(Debug)]
pub struct StandIn(Identity);

impl Drop for StandIn {
    fn drop(&mut self) {
        copies().remove(&self.0);
    }
}

/// Has `copy` read wherever `path`, or another name of the same file, is opened by [`open`]. The copy need not have a name any more.
///
/// # Errors
/// Those of the operating system where there is no `path`.
pub fn stand_in(path: &Path, copy: File) -> io::Result<StandIn> {
    let identity = identity(&std::fs::metadata(path)?);
    copies().insert(identity, copy);
    Ok(StandIn(identity))
}

/// Opens a file for reading from its beginning, or the copy that stands in for it.
///
/// # Errors
/// Those of the operating system.
pub fn open(path: &Path) -> io::Result<File> {
    // Looked at by its name: to open a pipe whose writer has gone would wait for ever.
    match copies().get(&identity(&std::fs::metadata(path)?)) {
        Some(copy) => again(copy),
        None => File::open(path),
    }
}

/// Whether each [`open`] gives the same from its beginning: true of a regular file and of what a copy stands in for.
///
/// # Errors
/// Those of the operating system.
pub fn is_repeatable(path: &Path) -> io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    Ok(metadata.is_file() || copies().contains_key(&identity(&metadata)))
}

/// The text of a file, or of the copy that stands in for it.
///
/// # Errors
/// Those of the operating system, and [`io::ErrorKind::InvalidData`] for what is not UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

/// An open file once more, with a position of its own, even where it has no name any more.
fn again(file: &File) -> io::Result<File> {
    use std::os::fd::AsRawFd;
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// No code panics while it holds the lock, so that what it guards is whole.
fn copies() -> MutexGuard<'static, BTreeMap<Identity, File>> {
    COPIES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_copy_is_read_from_its_beginning_each_time_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("original");
        std::fs::write(&path, "original").unwrap();
        let mut copy = tempfile::tempfile().unwrap();
        copy.write_all(b"copy").unwrap();
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
