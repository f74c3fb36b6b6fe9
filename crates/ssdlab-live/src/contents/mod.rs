//! The bytes of the drive: what was written, zeros elsewhere. They are in memory or in a sparse file; both take as much room as was
//! written.

mod memory;
mod sparse;

use std::io;

pub use memory::Memory;
pub use sparse::Sparse;

/// Storage for the bytes of the drive.
pub trait Contents: Send {
    /// Reads bytes from an offset on. What was never written is zeros.
    ///
    /// # Errors
    /// Errors of the file.
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Writes bytes from an offset on.
    ///
    /// # Errors
    /// Errors of the file, such as a full disk.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Sets a range to zeros, and frees the room that it takes.
    ///
    /// # Errors
    /// Errors of the file.
    fn clear(&mut self, offset: u64, length: u64) -> io::Result<()>;

    /// Brings what was written to the disk, so that it survives a crash of the system.
    ///
    /// # Errors
    /// Errors of the file.
    fn sync(&mut self) -> io::Result<()>;
}
