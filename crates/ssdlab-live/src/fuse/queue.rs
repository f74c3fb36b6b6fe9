//! Queue of requests from the session's thread to the drive's, with a file descriptor (the bell) to wait on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};
use rustix::event::{EventfdFlags, eventfd};

use crate::drive::Action;

/// A reply to a request of the kernel.
#[derive(Debug)]
pub enum Reply {
    /// Replies with the bytes that were read.
    Read(ReplyData),
    /// Replies that this many bytes were written.
    Written(ReplyWrite, u32),
    /// Replies that the request is done.
    Done(ReplyEmpty),
}

impl Reply {
    /// Replies that the request succeeded. `bytes`: the bytes that were read.
    pub fn ok(self, bytes: &[u8]) {
        match self {
            Reply::Read(reply) => reply.data(bytes),
            Reply::Written(reply, length) => reply.written(length),
            Reply::Done(reply) => reply.ok(),
        }
    }

    /// Replies that the request failed.
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
    /// Kind of the request.
    pub action: Action,
    /// First byte.
    pub offset: u64,
    /// Length in bytes; 0 for a flush.
    pub length: u64,
    /// Once the request is answered, what it writes must survive a power failure.
    pub force: bool,
}

/// State that both threads share.
struct Shared {
    bell: OwnedFd,
    /// The bell has rung, and the drive's thread has not looked since.
    rung: AtomicBool,
    /// Number of open handles of the file.
    open: AtomicU64,
    /// The session is over: the file has been unmounted.
    over: AtomicBool,
}

/// The session's end of the queue.
pub struct Entrance {
    sender: Sender<(Instant, Wanted, Reply)>,
    shared: Arc<Shared>,
}

/// The drive's end of the queue.
pub struct Exit {
    receiver: Receiver<(Instant, Wanted, Reply)>,
    shared: Arc<Shared>,
}

/// Creates a queue.
///
/// # Errors
/// Errors of the system, such as too many open files.
pub fn queue() -> io::Result<(Entrance, Exit)> {
    let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let shared = Arc::new(Shared { bell, rung: AtomicBool::new(false), open: AtomicU64::new(0), over: AtomicBool::new(false) });
    let (sender, receiver) = channel();
    Ok((Entrance { sender, shared: Arc::clone(&shared) }, Exit { receiver, shared }))
}

impl Entrance {
    /// Sends a request, which came just now, to the drive; answers it with an error if the drive takes none any more.
    pub fn send(&self, wanted: Wanted, reply: Reply) {
        match self.sender.send((Instant::now(), wanted, reply)) {
            Ok(()) => self.ring(),
            Err(back) => back.0.2.error(Errno::EIO),
        }
    }

    /// Counts that the file was opened.
    pub fn opened(&self) {
        self.shared.open.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts that the file was closed.
    pub fn closed(&self) {
        self.shared.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Ends the queue: no requests follow.
    pub fn end(&self) {
        self.shared.over.store(true, Ordering::Release);
        self.ring();
    }

    /// Rings the bell once for all requests since the drive's thread looked: of many requests at a time only the first costs a system call.
    fn ring(&self) {
        if !self.shared.rung.swap(true, Ordering::AcqRel) {
            // It cannot fail: the counter would have to be full.
            let _ = rustix::io::write(&self.shared.bell, &1_u64.to_ne_bytes());
        }
    }
}

impl Exit {
    /// File descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.shared.bell.as_fd()
    }

    /// The requests that have come, in order, and when they came.
    pub fn take(&self) -> impl Iterator<Item = (Instant, Wanted, Reply)> + '_ {
        if self.shared.rung.load(Ordering::Acquire) {
            let _ = rustix::io::read(&self.shared.bell, &mut [0; 8]);
            // Before the queue is read, so that requests which come later ring again.
            self.shared.rung.store(false, Ordering::Release);
        }
        self.receiver.try_iter()
    }

    /// Number of open handles of the file.
    pub fn open(&self) -> u64 {
        self.shared.open.load(Ordering::Relaxed)
    }

    /// Whether the queue has ended: no requests follow.
    pub fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Acquire)
    }
}
