//! A live drive: a simulated drive, served to real programs as a block device. Linux only: on other systems the crate is empty.
//!
//! | file | holds |
//! |---|---|
//! | `serve` | the loop: waits for whichever comes first, a client or the simulated drive |
//! | `drive` | requests in, answers when the simulated drive has completed them |
//! | `clock` | real time and simulated time |
//! | `contents` | the bytes of the drive, in memory or in a sparse file |
//! | `listener`, `connection` | sockets |
//! | `nbd` | the protocol of sockets |
//! | `fuse` | a file in a mount |
//! | `record` | the requests as a trace |
//! | `late` | how much later than due requests were answered |
//! | `undo` | what a power failure takes back |
//!
//! One thread does all: what a request costs beyond its simulated time is then two wake-ups, the server's and the client's. A file needs one
//! more, that of the thread which waits for the kernel. As it notes when a request came, the drive works on it from then on, and a hand-over
//! that takes longer than the drive does counts as late.

#![cfg(target_os = "linux")]
#![deny(missing_docs, unsafe_code)]

mod clock;
mod connection;
mod contents;
mod drive;
mod fuse;
mod late;
mod listener;
mod nbd;
mod record;
mod serve;
mod undo;

pub use drive::PowerCut;
pub use listener::Address;
pub use serve::{Options, Place, Status, serve};
#[doc(hidden)]
pub use {
    contents::Memory,
    drive::{Action, Answer, Ask, Drive},
    nbd::{Greeting, Session},
};
