//! The mount, in the drive's thread.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use fuser::{BackgroundSession, Config, Errno, MountOption, Session};
use rustix::process::{configure_io_flusher_behavior, getgid, getuid};
use ssdlab::error::{Error, Result};

use super::file_system::{FileSystem, NAME};
use super::folder::{self, SOURCE, check_outside, checked, one_line};
use super::queue::{Exit, Reply, Wanted, queue};
use crate::drive::{Answer, Ask, Asker};

/// Client number of the kernel, which is one client; no connection has this number.
pub const CLIENT: u64 = u64::MAX;

/// Maximum time to wait for the session's end, which may never come: a program that has the file open keeps the session.
const PATIENCE: Duration = Duration::from_secs(1);

/// A mount with the file of a drive. It is unmounted when it is dropped.
pub struct Mount {
    folder: PathBuf,
    uri: String,
    requests: Exit,
    /// Replies that the drive owes, by the cookies of their requests.
    replies: HashMap<u64, Reply>,
    /// Number of requests so far.
    count: u64,
    session: Option<BackgroundSession>,
}

impl Mount {
    /// Mounts the file of a drive of `bytes` bytes. `block`: preferred granularity of requests, bytes; `files`: files that the server uses.
    ///
    /// # Errors
    /// [`Error::Usage`] for a folder that cannot be a mount point, or where this process may not mount; [`Error::Io`].
    pub fn open(folder: &Path, bytes: u64, block: u32, files: &[&Path]) -> Result<Self> {
        let place = checked(folder)?;
        files.iter().try_for_each(|file| check_outside(&place, file))?;
        // Lets writes of these threads reach the disk even while the system waits for the drive to free memory. Only root may request that.
        let _ = configure_io_flusher_behavior(true);
        let (entrance, requests) = queue().map_err(|reason| Error::io("mount at", folder, reason))?;
        let owner = (getuid().as_raw(), getgid().as_raw());
        let file_system = FileSystem { bytes, block, owner, began: SystemTime::now(), drive: entrance };
        let mut options = Config::default();
        options.mount_options = vec![
            MountOption::FSName(SOURCE.into()),
            MountOption::Subtype(SOURCE.into()),
            MountOption::DefaultPermissions,
            MountOption::NoAtime,
        ];
        let session = Session::new(file_system, &place, &options).and_then(Session::spawn).map_err(|reason| refusal(folder, &reason))?;
        let uri = folder.join(NAME).display().to_string();
        Ok(Mount { folder: place, uri, requests, replies: HashMap::new(), count: 0, session: Some(session) })
    }

    /// Path of the file of the drive.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// File descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.requests.fd()
    }

    /// Whether the file has been unmounted.
    pub fn is_over(&self) -> bool {
        self.requests.is_over()
    }

    /// Number of open handles of the file.
    pub fn clients(&self) -> u64 {
        self.requests.open()
    }

    /// Adds the requests that have come to `asks`.
    pub fn read(&mut self, asks: &mut Vec<Ask>) {
        for (came, wanted, reply) in self.requests.take() {
            let asker = Asker { client: CLIENT, cookie: self.count };
            self.count += 1;
            self.replies.insert(asker.cookie, reply);
            let Wanted { action, offset, length, force } = wanted;
            asks.push(Ask { asker, action, offset, length, force, handle: None, came: Some(came) });
        }
    }

    /// Answers one of the requests.
    pub fn answer(&mut self, answer: &Answer) {
        let Some(reply) = self.replies.remove(&answer.asker.cookie) else { return };
        match &answer.outcome {
            Ok(bytes) => reply.ok(bytes),
            Err(reason) => reply.error(code(reason)),
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        let _ = folder::unmount(&self.folder); // it may have been unmounted already
        // Requests without an answer end with an error now, not when the session ends.
        self.replies.clear();
        let began = Instant::now();
        while !session.guard.is_finished() && began.elapsed() < PATIENCE {
            for (_, _, reply) in self.requests.take() {
                reply.error(Errno::EIO);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if !session.guard.is_finished() {
            // Dropped, it would unmount whatever is at this path by then.
            std::mem::forget(session);
        }
    }
}

/// The error for a failed mount, with what to do.
fn refusal(folder: &Path, reason: &io::Error) -> Error {
    let why = match reason.kind() {
        ErrorKind::NotFound => "this user needs fusermount3 for it, which is not installed (package fuse3)".to_string(),
        _ => one_line(&reason.to_string()),
    };
    Error::Usage(format!("{}: cannot mount there: {why}; where mounting is not permitted, take --nbd", folder.display()))
}

/// The kernel's code for an I/O error.
fn code(reason: &io::Error) -> Errno {
    match (reason.raw_os_error(), reason.kind()) {
        (Some(code), _) if code > 0 => Errno::from_i32(code),
        (_, ErrorKind::StorageFull) => Errno::ENOSPC,
        _ => Errno::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_data_is_the_one_that_programs_see() {
        assert_eq!(code(&io::Error::from_raw_os_error(28)), Errno::ENOSPC);
        assert_eq!(code(&ErrorKind::StorageFull.into()), Errno::ENOSPC);
        assert_eq!(code(&io::Error::other("?")), Errno::EIO);
        assert_eq!(code(&io::Error::from_raw_os_error(122)), Errno::from_i32(122));
    }

    #[test]
    fn who_may_not_mount_is_told_what_to_do() {
        let said = |reason: io::Error| refusal(Path::new("mnt"), &reason).to_string();
        assert!(said(ErrorKind::NotFound.into()).contains("fuse3"));
        let told = said(io::Error::other("fusermount3: mount failed:\nOperation not permitted\n"));
        assert!(told.starts_with("mnt: cannot mount there: fusermount3: mount failed: Operation not permitted; "));
    }
}
