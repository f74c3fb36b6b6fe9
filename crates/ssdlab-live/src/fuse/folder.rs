//! The mount point.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use ssdlab::error::{Error, Result};

/// Source of ssdlab's mounts in the system's table of mounts.
pub const SOURCE: &str = "ssdlab";

const DEVICE: &str = "/dev/fuse";

/// Checks that a folder can be a mount point, and returns its absolute path. Unmounts what a killed server left there.
///
/// # Errors
/// [`Error::Usage`] or [`Error::Io`] if the folder cannot be a mount point.
pub fn checked(folder: &Path) -> Result<PathBuf> {
    let about = match fs::metadata(folder) {
        Err(reason) if reason.raw_os_error() == Some(Errno::NOTCONN.raw_os_error()) => {
            clear(folder)?;
            fs::metadata(folder)
        }
        other => other,
    };
    let refused = |why: &str| Err(Error::Usage(format!("{}: {why}", folder.display())));
    match about {
        Err(reason) if reason.kind() == ErrorKind::NotFound => refused("there is no such folder; make it, empty"),
        Err(reason) => Err(Error::io("mount at", folder, reason)),
        Ok(about) if !about.is_dir() => refused("not a folder; expected an empty one, in which the file of the drive appears"),
        Ok(about) if is_mounted(folder, &about)? => refused("something is mounted there already; unmount it, or take another folder"),
        Ok(_) if !is_empty(folder)? => refused("not an empty folder; expected one, in which the file of the drive appears"),
        Ok(_) if !Path::new(DEVICE).exists() => {
            Err(Error::Usage(format!("{DEVICE} is missing: this system has no FUSE, or keeps it from this process; take --nbd")))
        }
        Ok(_) => folder.canonicalize().map_err(|reason| Error::io("mount at", folder, reason)),
    }
}

/// Checks that a file which the server itself uses is not in its own mount: the server would wait for itself.
///
/// # Errors
/// [`Error::Usage`] if the file is in the mount.
pub fn check_outside(folder: &Path, file: &Path) -> Result<()> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if parent.canonicalize().is_ok_and(|parent| parent.starts_with(folder)) {
        return Err(Error::Usage(format!("{}: it would be inside the mount; take a place outside {}", file.display(), folder.display())));
    }
    Ok(())
}

/// Unmounts a folder at once. A program that still has the file open keeps it until the session's end.
///
/// # Errors
/// Errors of the system.
pub fn unmount(folder: &Path) -> io::Result<()> {
    match rustix::mount::unmount(folder, UnmountFlags::DETACH) {
        Ok(()) => Ok(()),
        // Where the system does not permit unmounting, fusermount3 unmounts the user's own mounts.
        Err(Errno::PERM) => {
            let done = Command::new("fusermount3").args(["-u", "-z", "-q", "--"]).arg(folder).output()?;
            if done.status.success() { Ok(()) } else { Err(io::Error::other(one_line(&String::from_utf8_lossy(&done.stderr)))) }
        }
        Err(reason) => Err(reason.into()),
    }
}

/// Joins the lines of a text into one.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Unmounts what a killed server left, and no other mount.
fn clear(folder: &Path) -> Result<()> {
    let failed = |why: &str| {
        let place = folder.display();
        Error::Usage(format!(
            "{place}: the program that served this mount is gone{why}; unmount it (fusermount3 -u {place}), or take another folder"
        ))
    };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let place = place_of(folder).ok_or_else(|| failed(""))?;
    if !is_ours(&mounts, &place) {
        return Err(failed(""));
    }
    unmount(&place).map_err(|reason| failed(&format!(", and it cannot be unmounted: {reason}")))
}

/// Absolute path of a folder about which nothing can be read, since its server is gone.
fn place_of(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    Some(folder.parent()?.canonicalize().ok()?.join(folder.file_name()?))
}

/// Whether the last mount at `place` is one of ssdlab's.
fn is_ours(mounts: &str, place: &Path) -> bool {
    let last = mounts.lines().filter_map(parsed).rfind(|(at, _, _)| at == place);
    last.is_some_and(|(_, kind, source)| kind.split('.').next() == Some("fuse") && source == SOURCE)
}

/// Mount point, kind and source in a line of /proc/self/mountinfo.
fn parsed(line: &str) -> Option<(PathBuf, &str, &str)> {
    let (before, behind) = line.split_once(" - ")?;
    let mut behind = behind.split(' ');
    Some((unescaped(before.split(' ').nth(4)?), behind.next()?, behind.next()?))
}

/// Decodes a path of mountinfo, in which spaces and some other characters are `\` and three octal digits.
fn unescaped(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        let number = (first == b'\\').then(|| others.first_chunk::<3>()).flatten().and_then(|digits| octal(digits));
        bytes.push(number.unwrap_or(first));
        rest = if number.is_some() { &others[3..] } else { others };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

fn is_mounted(folder: &Path, about: &Metadata) -> Result<bool> {
    let above = fs::metadata(folder.join("..")).map_err(|reason| Error::io("look above", folder, reason))?;
    // The root is its own parent.
    Ok(above.dev() != about.dev() || above.ino() == about.ino())
}

fn is_empty(folder: &Path) -> Result<bool> {
    let mut entries = fs::read_dir(folder).map_err(|reason| Error::io("read", folder, reason))?;
    Ok(entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(folder: &Path) -> String {
        checked(folder).expect_err("refused").to_string()
    }

    #[test]
    fn a_mount_point_is_an_empty_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (file, empty) = (folder.path().join("file"), folder.path().join("empty"));
        fs::write(&file, "").unwrap();
        fs::create_dir(&empty).unwrap();
        assert!(said(&folder.path().join("none")).contains("no such folder"));
        assert!(said(&file).contains("not a folder"));
        assert!(said(folder.path()).contains("not an empty folder"));
        assert!(said(Path::new("/proc")).contains("mounted there already"));
        assert!(said(Path::new("/")).contains("mounted there already"));
        if Path::new(DEVICE).exists() {
            assert_eq!(checked(&empty).unwrap(), empty.canonicalize().unwrap());
        } else {
            assert!(said(&empty).contains(DEVICE));
        }
    }

    #[test]
    fn what_the_server_uses_lies_outside() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("mount");
        fs::create_dir(&inside).unwrap();
        let place = inside.canonicalize().unwrap();
        assert!(check_outside(&place, &inside.join("drive")).is_err());
        assert!(check_outside(&place, &folder.path().join("mount/../mount/drive")).is_err());
        assert!(check_outside(&place, &folder.path().join("drive")).is_ok());
        assert!(check_outside(&place, Path::new("drive")).is_ok());
        assert!(check_outside(&place, &folder.path().join("none/drive")).is_ok());
    }

    #[test]
    fn only_mounts_of_drives_are_ours() {
        let mounts = "22 1 0:20 / /proc rw - proc proc rw\n\
                      60 1 0:50 / /mnt/my\\040drive rw,nosuid - fuse ssdlab rw,user_id=0\n\
                      61 1 0:51 / /mnt/b rw - fuse.ssdlab ssdlab rw\n\
                      62 1 0:52 / /mnt/c rw - fuse.sshfs ssdlab@host: rw\n\
                      63 1 0:53 / /mnt/d rw - fuse ssdlab rw\n\
                      64 1 0:54 / /mnt/d rw - ext4 /dev/sda rw\n";
        assert!(is_ours(mounts, Path::new("/mnt/my drive")));
        assert!(is_ours(mounts, Path::new("/mnt/b")));
        assert!(!is_ours(mounts, Path::new("/mnt/c")));
        assert!(!is_ours(mounts, Path::new("/mnt/d")), "something is on top of it");
        assert!(!is_ours(mounts, Path::new("/mnt")));
    }
}
