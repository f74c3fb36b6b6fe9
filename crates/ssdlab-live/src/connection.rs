//! A client's connection: bytes in and out without waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::event::PollFlags;

use crate::drive::{Answer, Ask};
use crate::nbd::{Greeting, Session};

/// While replies of more bytes wait to be sent, no more requests are read: a client that does not read its replies shall not fill memory.
const MOST_UNSENT: usize = 64 << 20;

/// A stream of either kind.
pub enum Stream {
    /// Of a Unix socket.
    Unix(UnixStream),
    /// Of TCP.
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

/// A connection.
pub struct Connection {
    stream: Stream,
    session: Session,
    /// It cannot be written to.
    broken: bool,
}

impl Connection {
    /// A connection that begins with the negotiation.
    pub fn new(stream: Stream, client: u64, greeting: Greeting) -> Self {
        Connection { stream, session: Session::new(client, greeting), broken: false }
    }

    /// The client, as requests name it.
    pub fn client(&self) -> u64 {
        self.session.client()
    }

    /// What to wait on.
    pub fn fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }

    /// What there is to wait for.
    pub fn wanted(&self) -> PollFlags {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, self.wants_input());
        flags.set(PollFlags::OUT, self.wants_output());
        flags
    }

    /// It may be read from.
    pub fn wants_input(&self) -> bool {
        !self.session.is_closed() && !self.broken && self.session.unsent().len() < MOST_UNSENT
    }

    /// There is something to send.
    fn wants_output(&self) -> bool {
        !self.broken && !self.session.unsent().is_empty()
    }

    /// Nothing is left to do: the client has gone, and what it asked for is answered or cannot be.
    pub fn is_over(&self) -> bool {
        self.broken || self.session.is_over()
    }

    /// Reads what there is, by way of `room`; `asks` gets the requests in it.
    pub fn read(&mut self, room: &mut [u8], asks: &mut Vec<Ask>) {
        match self.stream.read(room) {
            Ok(0) => self.session.close(),
            Ok(length) => self.session.hear(&room[..length], asks),
            Err(reason) if matches!(reason.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => (),
            Err(_) => self.broken = true,
        }
    }

    /// An answer to one of its requests.
    pub fn answer(&mut self, answer: &Answer) {
        self.session.answer(answer);
    }

    /// Sends what it can.
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
