//! A client's connection: bytes in and out without waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::event::PollFlags;

use crate::drive::{Answer, Ask};
use crate::nbd::{Greeting, Session};

/// While replies of more bytes wait to be sent, no requests are read: a client that does not read its replies must not fill memory.
const MOST_UNSENT: usize = 64 << 20;

/// A connected socket.
pub enum Stream {
    /// A Unix socket.
    Unix(UnixStream),
    /// A TCP socket.
    Tcp(TcpStream),
}

impl Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(bytes),
            Stream::Tcp(stream) => stream.read(bytes),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(bytes),
            Stream::Tcp(stream) => stream.write(bytes),
        }
    }
}

/// A connection to a client.
pub struct Connection {
    stream: Stream,
    session: Session,
    /// Reading or writing has failed.
    broken: bool,
}

impl Connection {
    /// A connection that begins with the negotiation.
    pub fn new(stream: Stream, client: u64, greeting: Greeting) -> Self {
        Connection { stream, session: Session::new(client, greeting), broken: false }
    }

    /// Number of the client, as requests name it.
    pub fn client(&self) -> u64 {
        self.session.client()
    }

    /// File descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }

    /// Events to poll for.
    pub fn wanted(&self) -> PollFlags {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, self.wants_input());
        flags.set(PollFlags::OUT, self.wants_output());
        flags
    }

    /// Whether to read from the client.
    pub fn wants_input(&self) -> bool {
        !self.session.is_closed() && !self.broken && self.session.unsent().len() < MOST_UNSENT
    }

    /// Whether there are bytes to send.
    fn wants_output(&self) -> bool {
        !self.broken && !self.session.unsent().is_empty()
    }

    /// Whether the connection is over: the client has gone, and its requests are answered or cannot be.
    pub fn is_over(&self) -> bool {
        self.broken || self.session.is_over()
    }

    /// Reads the available bytes into `room`, and adds the requests in them to `asks`.
    pub fn read(&mut self, room: &mut [u8], asks: &mut Vec<Ask>) {
        match self.stream.read(room) {
            Ok(0) => self.session.close(),
            Ok(length) => self.session.hear(&room[..length], asks),
            Err(reason) if matches!(reason.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => (),
            Err(_) => self.broken = true,
        }
    }

    /// Takes the answer to one of the client's requests.
    pub fn answer(&mut self, answer: &Answer) {
        self.session.answer(answer);
    }

    /// Sends as many bytes as the socket takes.
    pub fn write(&mut self) {
        while self.wants_output() {
            match self.stream.write(self.session.unsent()) {
                Ok(0) => self.broken = true,
                Ok(length) => self.session.sent(length, MOST_UNSENT),
                Err(reason) if reason.kind() == ErrorKind::WouldBlock => break,
                Err(reason) if reason.kind() == ErrorKind::Interrupted => (),
                Err(_) => self.broken = true,
            }
        }
    }
}
