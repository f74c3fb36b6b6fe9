//! Bytes in a sparse file: it is as long as the drive, and takes as much of the disk as was written.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use ssdlab::error::{Error, Result};

use super::Contents;

/// A file, for this process alone.
pub struct Sparse(File);

impl Sparse {
    /// Opens the file of a drive of so many bytes, or makes it.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] for the file of a drive of another size, or one that another process has open.
    pub fn open(path: &Path, bytes: u64) -> Result<Self> {
        let failed = |source| Error::io("open", path, source);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if !about.is_file() {
            return Err(Error::Usage(format!("{}: not a regular file, which the data of a drive need", path.display())));
        }
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| Error::Usage(format!("{}: another process serves this data; end that first", path.display())))?;
        match about.len() {
            0 => file.set_len(bytes).map_err(failed)?,
            length if length == bytes => (),
            length => {
                return Err(Error::Usage(format!(
                    "{}: it holds the data of a drive of {length} bytes, and this one has {bytes}: take the same device and size, or \
                     another file",
                    path.display()
                )));
            }
        }
        Ok(Sparse(file))
    }
}

impl Contents for Sparse {
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(bytes, offset)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn clear(&mut self, offset: u64, length: u64) -> io::Result<()> {
        if length == 0 {
            return Ok(());
        }
        let punched = fallocate(&self.0, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length);
        match punched {
            Err(rustix::io::Errno::OPNOTSUPP) => self.write_zeros(offset, length),
            other => Ok(other?),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

impl Sparse {
    /// Where the file system knows no holes.
    fn write_zeros(&self, offset: u64, length: u64) -> io::Result<()> {
        static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
        let end = offset + length;
        let mut at = offset;
        while at < end {
            let part = (end - at).min(ZEROS.len() as u64);
            self.0.write_all_at(&ZEROS[..part as usize], at)?;
            at += part;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_one_drive_and_keeps_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let mut sparse = Sparse::open(&path, 1 << 30).unwrap();
        sparse.write(12_345, b"kept").unwrap();
        let said = |bytes| Sparse::open(&path, bytes).err().expect("refused").to_string();
        assert!(said(1 << 30).contains("another process"));
        drop(sparse);
        assert!(said(1 << 31).contains("1073741824 bytes"));
        let again = Sparse::open(&path, 1 << 30).unwrap();
        let mut bytes = [0; 4];
        again.read(12_345, &mut bytes).unwrap();
        assert_eq!(&bytes, b"kept");
        assert!(Sparse::open(folder.path(), 1).is_err());
    }
}
