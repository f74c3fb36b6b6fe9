//! The bytes of the drive: what was written, zeros elsewhere. In memory or in a sparse file, either of which takes as much room as was
//! written.

mod memory;
mod sparse;

use std::io;

pub use memory::Memory;
pub use sparse::Sparse;

/// Where the bytes are.
pub trait Contents: Send {
    /// Reads bytes from an offset on. What was never written is zeros.
    ///
    /// # Errors
    /// Those of the file.
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Writes bytes from an offset on.
    ///
    /// # Errors
    /// Those of the file: it may be on a full disk.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes a range zeros, and frees the room that it takes.
    ///
    /// # Errors
    /// Those of the file.
    fn clear(&mut self, offset: u64, length: u64) -> io::Result<()>;

    /// What was written outlives the system.
    ///
    /// # Errors
    /// Those of the file.
    fn sync(&mut self) -> io::Result<()>;
}
