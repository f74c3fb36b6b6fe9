//! From the session's thread to the drive's: requests, and a bell to wait on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};
use rustix::event::{EventfdFlags, eventfd};

use crate::drive::Action;

/// What a request is answered with.
#[derive(Debug)]
pub enum Reply {
    /// Bytes.
    Read(ReplyData),
    /// So many bytes were written.
    Written(ReplyWrite, u32),
    /// It is done.
    Done(ReplyEmpty),
}

impl Reply {
    /// It was done; `bytes`: what was read.
    pub fn ok(self, bytes: &[u8]) {
        match self {
            Reply::Read(reply) => reply.data(bytes),
            Reply::Written(reply, length) => reply.written(length),
            Reply::Done(reply) => reply.ok(),
        }
    }

    /// It was not.
    pub fn error(self, reason: Errno) {
        match self {
            Reply::Read(reply) => reply.error(reason),
            Reply::Written(reply, _) => reply.error(reason),
            Reply::Done(reply) => reply.error(reason),
        }
    }
}

/// A request for the drive.
#[derive(Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What.
    pub action: Action,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub length: u64,
    /// It is to outlive a power failure when it is answered.
    pub force: bool,
}

/// What both threads see.
struct Shared {
    bell: OwnedFd,
    /// The bell rang, and nobody has looked since.
    rung: AtomicBool,
    /// How often the file is open.
    open: AtomicU64,
    /// The session is over: somebody unmounted it.
    over: AtomicBool,
}

/// The session's end.
pub struct Entrance {
    sender: Sender<(Instant, Wanted, Reply)>,
    shared: Arc<Shared>,
}

/// The drive's end.
pub struct Exit {
    receiver: Receiver<(Instant, Wanted, Reply)>,
    shared: Arc<Shared>,
}

/// A queue.
///
/// # Errors
/// Those of the system: too many open files.
pub fn queue() -> io::Result<(Entrance, Exit)> {
    let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let shared = Arc::new(Shared { bell, rung: AtomicBool::new(false), open: AtomicU64::new(0), over: AtomicBool::new(false) });
    let (sender, receiver) = channel();
    Ok((Entrance { sender, shared: Arc::clone(&shared) }, Exit { receiver, shared }))
}

impl Entrance {
    /// A request that came just now goes to the drive; one that no drive takes any more is answered with an error.
    pub fn send(&self, wanted: Wanted, reply: Reply) {
        match self.sender.send((Instant::now(), wanted, reply)) {
            Ok(()) => self.ring(),
            Err(back) => back.0.2.error(Errno::EIO),
        }
    }

    /// The file was opened.
    pub fn opened(&self) {
        self.shared.open.fetch_add(1, Ordering::Relaxed);
    }

    /// It was closed.
    pub fn closed(&self) {
        self.shared.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Nothing follows.
    pub fn end(&self) {
        self.shared.over.store(true, Ordering::Release);
        self.ring();
    }

    /// Once for all that has come since the drive's thread looked: of many requests at a time only the first costs a system call.
    fn ring(&self) {
        if !self.shared.rung.swap(true, Ordering::AcqRel) {
            // It cannot fail: the counter would have to be full.
            let _ = rustix::io::write(&self.shared.bell, &1_u64.to_ne_bytes());
        }
    }
}

impl Exit {
    /// What to wait on.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.shared.bell.as_fd()
    }

    /// What has come and when, in its order.
    pub fn take(&self) -> impl Iterator<Item = (Instant, Wanted, Reply)> + '_ {
        if self.shared.rung.load(Ordering::Acquire) {
            let _ = rustix::io::read(&self.shared.bell, &mut [0; 8]);
            // Before the queue is looked at: what comes later rings again.
            self.shared.rung.store(false, Ordering::Release);
        }
        self.receiver.try_iter()
    }

    /// How often the file is open.
    pub fn open(&self) -> u64 {
        self.shared.open.load(Ordering::Relaxed)
    }

    /// Nothing follows.
    pub fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Acquire)
    }
}
