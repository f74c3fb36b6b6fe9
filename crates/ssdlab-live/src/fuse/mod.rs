//! A file in a FUSE mount (file system in user space), as long as the drive.
//!
//! The protocol and the mount are the crate `fuser`'s: it mounts without libfuse, so that a built package needs no library of the system,
//! and its replies may be sent from any thread at any time. Its session waits for the kernel in a thread of its own. What concerns the bytes
//! goes from there to the thread that has drive and clock, which sends the reply; all else the session answers itself.
//!
//! | file | holds |
//! |---|---|
//! | `folder` | the mount point: what may be one, what a killed server left, unmounting |
//! | `file_system` | what the kernel asks, in the session's thread |
//! | `queue` | from the session's thread to the drive's |
//! | `mount` | the mount, in the drive's thread |

mod file_system;
mod folder;
mod mount;
mod queue;

pub use mount::{CLIENT, Mount};
