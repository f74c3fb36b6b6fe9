//! Bytes of the drive in a sparse file: it is as long as the drive, and takes as much of the disk as was written. If the drive is longer
//! than file systems allow a file to be, later parts are in files beside it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use ssdlab::error::{Error, Result};

use super::Contents;

/// Maximum length of a file, bytes: half of what ext4 allows with blocks of 4 KiB.
const PART: u64 = 8 << 40;

/// The sparse file (or several) of a drive, locked for this process.
pub struct Sparse {
    files: Vec<File>,
    part: u64,
}

impl Sparse {
    /// Opens or creates the files of a drive of `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] for the file of a drive of another size, or one that another process has open.
    pub fn open(path: &Path, bytes: u64) -> Result<Self> {
        Self::in_parts(path, bytes, PART)
    }

    fn in_parts(path: &Path, bytes: u64, part: u64) -> Result<Self> {
        let files = (0..bytes.div_ceil(part)).map(|number| {
            let length = part.min(bytes - number * part);
            if number == 0 { open(path, length, bytes) } else { open(&part_of(path, number), length, bytes) }
        });
        Ok(Sparse { files: files.collect::<Result<_>>()?, part })
    }

    /// Parts of a range, by file: the file, the offset in it, and the length.
    fn parts(&self, offset: u64, length: u64) -> impl Iterator<Item = (&File, u64, u64)> {
        let (end, part) = (offset + length, self.part);
        let mut at = offset;
        std::iter::from_fn(move || {
            let (file, from) = (&self.files[(at / part) as usize..], at % part);
            let length = (part - from).min(end - at);
            at += length;
            (length > 0).then(|| (&file[0], from, length))
        })
    }
}

/// Path of the file with a later part.
fn part_of(path: &Path, number: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".part{number}"));
    PathBuf::from(name)
}

/// Opens or creates a file of `bytes` bytes, which belongs to a drive of `all` bytes.
fn open(path: &Path, bytes: u64, all: u64) -> Result<File> {
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
                "{}: it holds the data of a drive of {length} bytes, and for this one of {all} it would have {bytes}: take the same device and \
                 size, or another file",
                path.display()
            )));
        }
    }
    Ok(file)
}

impl Contents for Sparse {
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut rest = bytes;
        for (file, from, length) in self.parts(offset, rest.len() as u64) {
            let (now, later) = rest.split_at_mut(length as usize);
            file.read_exact_at(now, from)?;
            rest = later;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        for (file, from, length) in self.parts(offset, rest.len() as u64) {
            let (now, later) = rest.split_at(length as usize);
            file.write_all_at(now, from)?;
            rest = later;
        }
        Ok(())
    }

    fn clear(&mut self, offset: u64, length: u64) -> io::Result<()> {
        for (file, from, length) in self.parts(offset, length) {
            match fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, from, length) {
                Err(rustix::io::Errno::OPNOTSUPP) => write_zeros(file, from, length)?,
                other => other?,
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.files.iter().try_for_each(File::sync_data)
    }
}

/// Writes zeros, for file systems without holes.
fn write_zeros(file: &File, offset: u64, length: u64) -> io::Result<()> {
    static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
    let end = offset + length;
    let mut at = offset;
    while at < end {
        let part = (end - at).min(ZEROS.len() as u64);
        file.write_all_at(&ZEROS[..part as usize], at)?;
        at += part;
    }
    Ok(())
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

    #[test]
    fn a_long_drive_is_in_several_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let mut sparse = Sparse::in_parts(&path, 1000, 400).unwrap();
        let all: Vec<u8> = (1..=200).cycle().take(1000).collect();
        sparse.write(0, &all).unwrap();
        sparse.clear(390, 420).unwrap();
        drop(sparse);
        let lengths = ["data", "data.part1", "data.part2"].map(|name| folder.path().join(name).metadata().unwrap().len());
        assert_eq!(lengths, [400, 400, 200]);
        let again = Sparse::in_parts(&path, 1000, 400).unwrap();
        let mut bytes = vec![9; 1000];
        again.read(0, &mut bytes).unwrap();
        let expected: Vec<u8> = all.iter().zip(0..).map(|(&byte, at)| if (390..810).contains(&at) { 0 } else { byte }).collect();
        assert!(bytes == expected);
        again.read(1000, &mut []).unwrap();
    }
}
