//! Files that are written whole or not at all.
//!
//! Results go to a temporary file beside their target, which takes the target's place once everything is on the disk. A
//! run that is killed, or a disk that fills up, therefore never leaves half a result under the name of a whole one. A process that
//! ends while other threads still write calls [`abandon`], which takes their temporary files away.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, TempPath};

use crate::caller::Caller;
use crate::error::{Error, Result};

/// The action that error messages of this module name.
const WRITE: &str = "write";

/// A file under construction: it appears under its name on [`WholeFile::commit`]; dropped before that, it leaves nothing.
///
/// Devices, pipes, sockets and the files that a process has open (`/dev/full`, a FIFO, `/dev/stdout`, `/dev/fd/3`, also by way of symbolic
/// links) cannot be replaced by a rename, so they are written directly.
#[derive(Debug)]
pub struct WholeFile {
    target: PathBuf,
    file: BufWriter<File>,
    /// The temporary file, removed on drop. `None` where the target is written directly.
    temporary: Option<Temporary>,
}

/// Maximum number of symbolic links in a row that are followed, as in Linux.
const MOST_LINKS: usize = 40;

impl WholeFile {
    /// Begins the file `path`. A symbolic link is followed: the file that it names is replaced, the link stays.
    ///
    /// # Errors
    /// [`Error::Io`] naming `path` if its folder is missing or cannot be written, or if `path` is a folder.
    pub fn create(path: &Path) -> Result<Self> {
        let error = |source| Error::io(WRITE, path, source);
        let replaceable = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(error(io::Error::from(io::ErrorKind::IsADirectory))),
            Ok(metadata) => metadata.is_file(),
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => true,
            Err(reason) => return Err(error(reason)),
        };
        let file = match resolve(path).map_err(error)? {
            Target::Path(target) if replaceable => return Self::beside(target),
            Target::Path(target) => OpenOptions::new().append(true).open(target),
            Target::Open(file) => file.open(path),
        };
        Ok(WholeFile { target: path.to_path_buf(), file: BufWriter::new(file.map_err(error)?), temporary: None })
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
        let mut unfinished = unfinished();
        if unfinished.abandoned {
            return Err(Error::Interrupted);
        }
        let made = Builder::new().prefix(&prefix).suffix(".partial").make_in(folder, |path| {
            let opened = OpenOptions::new().write(true).create_new(true).open(path);
            reason = opened.as_ref().err().and_then(io::Error::raw_os_error);
            opened
        });
        match made {
            Ok(named) => {
                let (file, path) = named.into_parts();
                unfinished.files.insert(path.to_path_buf(), process::id());
                Ok(WholeFile { target, file: BufWriter::new(file), temporary: Some(Temporary(Some(path))) })
            }
            Err(error) => Err(Error::io(WRITE, &target, reason.map_or(error, io::Error::from_raw_os_error))),
        }
    }

    /// Path of the finished file, after symbolic links; as given if the file is written directly.
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
fn finish(mut file: BufWriter<File>, temporary: Option<Temporary>, target: &Path) -> io::Result<()> {
    file.flush()?;
    let Some(temporary) = temporary else { return Ok(()) };
    // Some file systems report a full disk only here.
    file.get_ref().sync_data()?;
    temporary.persist(target)
}

/// A temporary file, known to [`abandon`] as long as it is there; removed on drop.
#[derive(Debug)]
struct Temporary(Option<TempPath>);

impl Temporary {
    fn persist(mut self, target: &Path) -> io::Result<()> {
        let Some(path) = self.0.take() else { return Ok(()) };
        let name = path.to_path_buf();
        let moved = path.persist(target).map_err(|failed| failed.error);
        unfinished().files.remove(&name);
        moved
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            unfinished().files.remove(&*path);
        }
    }
}

/// The temporary files of all threads.
struct Unfinished {
    /// Temporary files and the processes that made them: a forked process leaves those of its parent alone.
    files: BTreeMap<PathBuf, u32>,
    abandoned: bool,
}

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished { files: BTreeMap::new(), abandoned: false });

fn unfinished() -> MutexGuard<'static, Unfinished> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all threads, and lets no thread begin another: for a process that is about to end without waiting for
/// its threads.
pub fn abandon() {
    let mut unfinished = unfinished();
    unfinished.abandoned = true;
    for (path, maker) in std::mem::take(&mut unfinished.files) {
        if maker == process::id() {
            // No caller is left to report to.
            let _ = fs::remove_file(path);
        }
    }
}

/// Target of a path, after symbolic links.
enum Target {
    /// The path of a file that exists or can be made.
    Path(PathBuf),
    /// A file that a process has open.
    Open(OpenFile),
}

/// Follows the symbolic links of `path` one by one, as the final target of `/proc/self/fd/1` does not show that it is an open file.
fn resolve(path: &Path) -> io::Result<Target> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => fs::canonicalize(folder)?,
            _ => fs::canonicalize(".")?,
        };
        let Some(name) = path.file_name() else { return fs::canonicalize(&path).map(Target::Path) };
        if let Some(file) = OpenFile::named(&folder, name) {
            return Ok(Target::Open(file));
        }
        let place = folder.join(name);
        match fs::read_link(&place) {
            Ok(link) => path = folder.join(link),
            Err(_) => return Ok(Target::Path(place)),
        }
    }
    // The operating system has reported such a loop before.
    Err(io::Error::other("too many symbolic links"))
}

/// A file that a process has open: `/dev/stdout` is written, never replaced, even where the shell has sent it to a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenFile {
    /// Standard output of this process.
    Output,
    /// Standard error of this process.
    Messages,
    /// Any other open file.
    Other,
}

impl OpenFile {
    /// The open file that `name` in `folder` is, if it is one. `folder` has no symbolic links left, so it is `/proc/PID/fd`,
    /// `/proc/PID/task/TID/fd`, or, not on Linux, `/dev/fd`.
    fn named(folder: &Path, name: &OsStr) -> Option<Self> {
        let number = name.to_str()?.parse::<u32>().ok()?;
        let mut parts = folder.iter().skip(1);
        let process = match (parts.next()?.to_str()?, parts.next()?.to_str()?) {
            ("proc", process) if folder.ends_with("fd") => process.parse::<u32>().ok()?,
            ("dev", "fd") => process::id(),
            _ => return None,
        };
        Some(match number {
            1 if process == process::id() => OpenFile::Output,
            2 if process == process::id() => OpenFile::Messages,
            _ => OpenFile::Other,
        })
    }

    /// Opens the file for writing. Standard output is duplicated, so that later output comes behind; opened by name, it would have its own
    /// position.
    fn open(self, path: &Path) -> io::Result<File> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            match self {
                OpenFile::Output => return io::stdout().as_fd().try_clone_to_owned().map(File::from),
                OpenFile::Messages => return io::stderr().as_fd().try_clone_to_owned().map(File::from),
                OpenFile::Other => {}
            }
        }
        OpenOptions::new().append(true).open(path)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes to a file until a stop is requested, then fails: a large file takes a while to write.
pub struct Cancellable<'a> {
    /// File to write.
    pub file: &'a mut WholeFile,
    /// Cancel flag of the writing task.
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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_regular_file_under_dev_or_proc_is_replaced_whole() {
        // A file system in memory, below /dev as in every Linux.
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = folder.path().join("out.csv");
        write_whole(&path, b"a longer text than the second").unwrap();
        write_whole(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        let by_proc = PathBuf::from(format!("/proc/self/root{}", path.display()));
        write_whole(&by_proc, b"third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_file_is_written_and_never_replaced_whatever_it_is_called() {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let file = OpenOptions::new().create_new(true).write(true).open(&path).unwrap();
        let number = file.as_raw_fd();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(format!("/dev/fd/{number}"), &link).unwrap();
        let before = fs::metadata(&path).unwrap().ino();
        let thread = format!("/proc/thread-self/fd/{number}");
        for name in [&format!("/dev/fd/{number}"), &format!("/proc/self/fd/{number}"), &thread, &link.display().to_string()] {
            write_whole(Path::new(name), b"x").unwrap();
        }
        assert_eq!(fs::read(&path).unwrap(), b"xxxx");
        assert_eq!(fs::metadata(&path).unwrap().ino(), before);
        assert_eq!(names(folder.path()), ["link", "out"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn open_files_are_told_by_their_names() {
        let own = process::id();
        let named = |folder: String, name: &str| OpenFile::named(Path::new(&folder), OsStr::new(name));
        assert_eq!(named(format!("/proc/{own}/fd"), "1"), Some(OpenFile::Output));
        assert_eq!(named(format!("/proc/{own}/task/{own}/fd"), "2"), Some(OpenFile::Messages));
        assert_eq!(named(format!("/proc/{own}/fd"), "17"), Some(OpenFile::Other));
        assert_eq!(named("/proc/1/fd".into(), "1"), if own == 1 { Some(OpenFile::Output) } else { Some(OpenFile::Other) });
        for (folder, name) in [("/dev/shm", "1"), ("/dev", "1"), ("/proc/1", "1"), ("/tmp/fd", "1"), ("/dev/fd", "x"), ("/", "1")] {
            assert_eq!(named(folder.into(), name), None, "{folder}/{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_file_that_is_not_there_yet_stays_and_a_loop_of_links_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link, round) = (folder.path().join("real"), folder.path().join("link"), folder.path().join("round"));
        std::os::unix::fs::symlink("real", &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        std::os::unix::fs::symlink("round", &round).unwrap();
        let message = write_whole(&round, b"x").unwrap_err().to_string();
        assert!(message.contains("round: cannot write") && message.contains("symbolic links"), "{message}");
        assert!(fs::symlink_metadata(&round).unwrap().is_symlink());
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
