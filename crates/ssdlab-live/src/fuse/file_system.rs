//! A file system of one file, in the session's thread. Requests for the file's bytes go to the drive; all others are answered here.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{FallocateFlags, OFlags};

use super::queue::{Entrance, Reply, Wanted};
use crate::drive::Action;

/// Name of the file.
pub const NAME: &str = "drive";

const FILE: INodeNo = INodeNo(2);
/// Validity of attributes in the kernel's cache: nothing about the file ever changes.
const FOREVER: Duration = Duration::from_secs(1 << 30);
/// Maximum length of a request, bytes: the kernel's own limit, unless its administrator has raised that.
const LONGEST: u32 = 1 << 20;
/// Maximum number of background requests under way, such as those of a loop device. The kernel's default is 12, less than a drive works on.
const MOST_OUTSTANDING: u16 = 4096;

/// The file, and the way to the drive.
pub struct FileSystem {
    /// Size of the drive, bytes.
    pub bytes: u64,
    /// Preferred granularity of requests, bytes.
    pub block: u32,
    /// User and group that own the file.
    pub owner: (u32, u32),
    /// All times of the file: when it was mounted.
    pub began: SystemTime,
    /// The queue to the drive.
    pub drive: Entrance,
}

impl FileSystem {
    fn about(&self, inode: INodeNo) -> FileAttr {
        let is_file = inode == FILE;
        let size = if is_file { self.bytes } else { 0 };
        FileAttr {
            ino: inode,
            size,
            blocks: size.div_ceil(512),
            atime: self.began,
            mtime: self.began,
            ctime: self.began,
            crtime: self.began,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o600 } else { 0o500 },
            nlink: if is_file { 1 } else { 2 },
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: self.block,
            flags: 0,
        }
    }
}

impl Filesystem for FileSystem {
    fn init(&mut self, _: &Request, kernel: &mut KernelConfig) -> io::Result<()> {
        // Requests of asynchronous programs are asynchronous here, too. A kernel that cannot do that serves them one by one.
        let _ = kernel.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = kernel.set_max_write(LONGEST);
        let _ = kernel.set_max_background(MOST_OUTSTANDING);
        Ok(())
    }

    fn destroy(&mut self) {
        self.drive.end();
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == NAME {
            reply.entry(&FOREVER, &self.about(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &self.about(inode));
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        user: Option<u32>,
        group: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // The size of a drive is fixed. Setting times succeeds without effect.
        if size.is_some_and(|size| size != self.bytes) || mode.is_some() || user.is_some() || group.is_some() {
            reply.error(Errno::EPERM);
        } else {
            reply.attr(&FOREVER, &self.about(inode));
        }
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let entries =
            [(INodeNo::ROOT, FileType::Directory, "."), (INodeNo::ROOT, FileType::Directory, ".."), (FILE, FileType::RegularFile, NAME)];
        for (next, (inode, kind, name)) in (1..).zip(entries).skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(self.bytes / u64::from(self.block), 0, 0, 1, 0, self.block, NAME.len() as u32, self.block);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.drive.opened();
        // Past the kernel's page cache, which would answer for the drive; writes in parallel; nothing to do at close(2).
        let how = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(FileHandle(0), how);
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(&self, _: &Request, _: INodeNo, _: FileHandle, _: OpenFlags, _: Option<LockOwner>, _: bool, reply: ReplyEmpty) {
        self.drive.closed();
        reply.ok();
    }

    fn read(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, length: u32, _: OpenFlags, _: Option<LockOwner>, reply: ReplyData) {
        let length = u64::from(length).min(self.bytes.saturating_sub(offset));
        self.drive.send(Wanted { action: Action::Read, offset, length, force: false }, Reply::Read(reply));
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let length = data.len() as u64;
        if !fits(self.bytes, offset, length) {
            return reply.error(Errno::ENOSPC);
        }
        let force = is_synchronous(flags);
        self.drive.send(Wanted { action: Action::Write(data.to_vec()), offset, length, force }, Reply::Written(reply, data.len() as u32));
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.drive.send(Wanted { action: Action::Flush, offset: 0, length: 0, force: false }, Reply::Done(reply));
    }

    fn fallocate(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, length: u64, mode: i32, reply: ReplyEmpty) {
        match allocation(self.bytes, offset, length, mode) {
            Ok(Some(wanted)) => self.drive.send(wanted, Reply::Done(reply)),
            Ok(None) => reply.ok(),
            Err(reason) => reply.error(reason),
        }
    }

    // There is one file, and it stays.
    fn create(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        reply.error(Errno::EPERM);
    }

    fn mknod(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn mkdir(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn symlink(&self, _: &Request, _: INodeNo, _: &OsStr, _: &Path, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn link(&self, _: &Request, _: INodeNo, _: INodeNo, _: &OsStr, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn unlink(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(Errno::EPERM);
    }

    fn rename(&self, _: &Request, _: INodeNo, _: &OsStr, _: INodeNo, _: &OsStr, _: RenameFlags, reply: ReplyEmpty) {
        reply.error(Errno::EPERM);
    }
}

fn fits(bytes: u64, offset: u64, length: u64) -> bool {
    offset.checked_add(length).is_some_and(|end| end <= bytes)
}

/// Whether the program opened the file, or wrote, with `O_SYNC` or `O_DSYNC`.
fn is_synchronous(flags: OpenFlags) -> bool {
    OFlags::from_bits_retain(flags.0.cast_unsigned()).intersects(OFlags::SYNC | OFlags::DSYNC)
}

/// The request to the drive that fallocate(2) makes; `None` if there is nothing to do.
fn allocation(bytes: u64, offset: u64, length: u64, mode: i32) -> Result<Option<Wanted>, Errno> {
    let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
    let within = length.min(bytes.saturating_sub(offset));
    let keeps_size = mode.contains(FallocateFlags::KEEP_SIZE);
    let wanted = |action, length| Ok((length > 0).then_some(Wanted { action, offset, length, force: false }));
    let others = mode.difference(FallocateFlags::KEEP_SIZE);
    if others == FallocateFlags::PUNCH_HOLE && keeps_size {
        wanted(Action::Trim, within)
    } else if (others.is_empty() || others == FallocateFlags::ZERO_RANGE) && !keeps_size && !fits(bytes, offset, length) {
        Err(Errno::ENOSPC) // the file cannot become longer
    } else if others == FallocateFlags::ZERO_RANGE {
        wanted(Action::Zero { holes: false }, within)
    } else if others.is_empty() {
        Ok(None) // all of the drive is allocated
    } else {
        Err(Errno::EOPNOTSUPP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_trims_and_ranges_of_zeros_are_writes() {
        let of = |offset, length, mode: FallocateFlags| {
            allocation(1000, offset, length, mode.bits().cast_signed()).map(|wanted| wanted.map(|one| (one.action, one.offset, one.length)))
        };
        let (keep, punch, zero) = (FallocateFlags::KEEP_SIZE, FallocateFlags::PUNCH_HOLE, FallocateFlags::ZERO_RANGE);
        let (trim, zeros) = (Action::Trim, Action::Zero { holes: false });
        assert_eq!(of(100, 50, punch | keep), Ok(Some((trim.clone(), 100, 50))));
        assert_eq!(of(900, 500, punch | keep), Ok(Some((trim, 900, 100))));
        assert_eq!(of(1000, 500, punch | keep), Ok(None));
        assert_eq!(of(u64::MAX, u64::MAX, punch | keep), Ok(None));
        assert_eq!(of(0, 1000, zero), Ok(Some((zeros.clone(), 0, 1000))));
        assert_eq!(of(1, 1000, zero), Err(Errno::ENOSPC));
        assert_eq!(of(1, 1000, zero | keep), Ok(Some((zeros, 1, 999))));
        assert_eq!(of(0, 1000, FallocateFlags::empty()), Ok(None));
        assert_eq!(of(2, u64::MAX, FallocateFlags::empty()), Err(Errno::ENOSPC));
        assert_eq!(of(0, 1001, keep), Ok(None));
        assert_eq!(of(0, 10, FallocateFlags::COLLAPSE_RANGE), Err(Errno::EOPNOTSUPP));
        assert_eq!(of(0, 10, punch | zero | keep), Err(Errno::EOPNOTSUPP));
    }

    #[test]
    fn synchronous_writes_are_told_by_their_flags() {
        let told = |flags: OFlags| is_synchronous(OpenFlags(flags.bits().cast_signed()));
        assert!(told(OFlags::SYNC | OFlags::RDWR) && told(OFlags::DSYNC | OFlags::WRONLY));
        assert!(!told(OFlags::RDWR | OFlags::DIRECT));
    }
}
