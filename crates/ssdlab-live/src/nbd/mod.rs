//! The NBD protocol (network block device), as its specification has it: `doc/proto.md` of github.com/NetworkBlockDevice/nbd.
//!
//! Written here because no kept library serves it from one thread that also keeps simulated time: `nbdkit` wants a thread for each request
//! under way, and the hand-over between threads costs as much as a request to the drive.

mod handshake;
mod requests;
mod session;

pub use handshake::Greeting;
use handshake::Handshake;
use requests::{Incoming, Wire, reply};
pub use session::Session;
