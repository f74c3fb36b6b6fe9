//! Files that are written whole or not at all.
//!
//! Results go to a temporary file beside their target, which takes the target's place once everything is on the disk. A
//! run that is killed, or a disk that fills up, therefore never leaves half a result under the name of a whole one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use tempfile::{Builder, TempPath};

use crate::caller::Caller;
use crate::error::{Error, Result};

/// What the messages of this module say was attempted.
const WRITE: &str = "write";

/// A file under construction: it appears under its name on [`WholeFile::commit`]; dropped before that, it leaves nothing.
///
/// Devices and pipes (`/dev/stdout`, `/dev/full`, a FIFO) cannot be replaced by a rename, so they are written as they are.
#[derive(Debug)]
pub struct WholeFile {
    target: PathBuf,
    file: BufWriter<File>,
    /// The temporary file, removed on drop. `None` where the target is written directly.
    temporary: Option<TempPath>,
}

impl WholeFile {
    /// Begins the file `path`. A symbolic link is followed: the file that it names is replaced, the link stays.
    ///
    /// # Errors
    /// [`Error::Io`] naming `path` if its folder is missing or cannot be written, or if `path` is a folder.
    pub fn create(path: &Path) -> Result<Self> {
        let error = |source| Error::io(WRITE, path, source);
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Err(error(io::Error::from(io::ErrorKind::IsADirectory))),
            Ok(metadata) if !metadata.is_file() || is_special(path) => {
                let file = OpenOptions::new().append(true).open(path).map_err(error)?;
                Ok(WholeFile { target: path.to_path_buf(), file: BufWriter::new(file), temporary: None })
            }
            Ok(_) => Self::beside(fs::canonicalize(path).map_err(error)?),
            // Whatever else is wrong with the path is met, and reported, when the temporary file is made.
            Err(_) => Self::beside(path.to_path_buf()),
        }
    }

    /// Begins a temporary file in the folder of `target`.
    fn beside(target: PathBuf) -> Result<Self> {
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(target.file_name().unwrap_or_default());
        // The operating system's own reason, which `tempfile` wraps with the name of the temporary file.
        let mut reason = None;
        let made = Builder::new().prefix(&prefix).suffix(".partial").make_in(folder, |path| {
            let opened = OpenOptions::new().write(true).create_new(true).open(path);
            reason = opened.as_ref().err().and_then(io::Error::raw_os_error);
            opened
        });
        match made {
            Ok(named) => {
                let (file, temporary) = named.into_parts();
                Ok(WholeFile { target, file: BufWriter::new(file), temporary: Some(temporary) })
            }
            Err(error) => Err(Error::io(WRITE, &target, reason.map_or(error, io::Error::from_raw_os_error))),
        }
    }

    /// Where the file will be (after symbolic links).
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// Puts the file in its place, replacing what was there, after its bytes have reached the disk.
    ///
    /// # Errors
    /// [`Error::Io`] naming the file, with nothing left behind, if the last bytes cannot be written or the file not renamed.
    pub fn commit(self) -> Result<()> {
        let WholeFile { target, file, temporary } = self;
        finish(file, temporary, &target).map_err(|source| Error::io(WRITE, &target, source))
    }
}

/// Flushes `file` and renames it to `target` if it is a temporary one.
fn finish(mut file: BufWriter<File>, temporary: Option<TempPath>, target: &Path) -> io::Result<()> {
    file.flush()?;
    let Some(temporary) = temporary else { return Ok(()) };
    // Some file systems report a full disk only here.
    file.get_ref().sync_data()?;
    temporary.persist(target).map_err(|failed| failed.error)
}

/// True for the names under which a process finds its own open files: `/dev/stdout` is written, never replaced, even
/// where the shell has sent it to a regular file.
fn is_special(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A large file takes a while to write: that ends with an error once the caller asked to stop.
pub struct Cancellable<'a> {
    /// The file.
    pub file: &'a mut WholeFile,
    /// Who asks.
    pub caller: &'a Caller,
}

impl Write for Cancellable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.caller.check().map_err(io::Error::other)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The file system's error from inside the Parquet library's, as the user needs to see it.
pub(crate) fn io_reason(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => inner.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error),
        other => io::Error::other(other),
    }
}

/// Writes `bytes` as the file `path`, whole or not at all.
///
/// # Errors
/// [`Error::Io`] naming `path`.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes).map_err(|source| Error::io(WRITE, path, source))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_committed_file_replaces_the_old_one_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        write_whole(&path, b"old").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["result.json"]);
    }

    #[test]
    fn an_uncommitted_file_leaves_the_old_one_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        write_whole(&path, b"old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["result.json"]);
    }

    #[test]
    fn a_missing_folder_and_a_folder_as_target_are_errors_that_name_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join("result.json");
        let message = write_whole(&path, b"x").unwrap_err().to_string();
        assert!(message.starts_with(&format!("{}: cannot write: No such file", path.display())), "{message}");
        let message = write_whole(folder.path(), b"x").unwrap_err().to_string();
        assert!(message.contains(&folder.path().display().to_string()) && message.contains("directory"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_stays_and_its_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        write_whole(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_gives_the_systems_error_and_stays_a_device() {
        use std::os::unix::fs::FileTypeExt;
        let full = Path::new("/dev/full");
        let message = write_whole(full, b"x").unwrap_err().to_string();
        assert!(message.starts_with("/dev/full: cannot write: No space left"), "{message}");
        assert!(fs::metadata(full).unwrap().file_type().is_char_device());
        write_whole(Path::new("/dev/null"), b"x").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[cfg(unix)]
    #[test]
    fn a_result_is_as_readable_as_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, plain) = (folder.path().join("result.json"), folder.path().join("plain"));
        write_whole(&path, b"x").unwrap();
        fs::write(&plain, b"x").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode(), fs::metadata(&plain).unwrap().permissions().mode());
    }
}
