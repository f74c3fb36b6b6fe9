//! A client's connection: bytes in and out without waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::event::PollFlags;

use crate::drive::{Answer, Ask};
use crate::nbd::{Asked, Greeting, Handshake, Wire, reply};

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
    wire: Wire,
    handshake: Handshake,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Of the output, what has been sent.
    sent: usize,
    /// No more requests come: the client left, or its connection broke.
    closed: bool,
    /// It cannot be written to.
    broken: bool,
    /// Requests under way.
    outstanding: usize,
}

impl Connection {
    /// A connection that begins with the negotiation.
    pub fn new(stream: Stream, client: u64, greeting: Greeting) -> Self {
        Connection {
            stream,
            wire: Wire { client, bytes: greeting.bytes, longest: greeting.longest },
            handshake: Handshake::new(greeting),
            input: Vec::new(),
            output: Handshake::hello().to_vec(),
            sent: 0,
            closed: false,
            broken: false,
            outstanding: 0,
        }
    }

    /// The client, as requests name it.
    pub fn client(&self) -> u64 {
        self.wire.client
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
        !self.closed && !self.broken && self.unsent() < MOST_UNSENT
    }

    /// There is something to send.
    fn wants_output(&self) -> bool {
        !self.broken && self.unsent() > 0
    }

    /// Nothing is left to do: the client has gone, and what it asked for is answered or cannot be.
    pub fn is_over(&self) -> bool {
        self.broken || (self.closed && self.outstanding == 0 && self.unsent() == 0)
    }

    fn unsent(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Reads what there is, by way of `room`; `asks` gets the requests in it.
    pub fn read(&mut self, room: &mut [u8], asks: &mut Vec<Ask>) {
        match self.stream.read(room) {
            Ok(0) => self.closed = true,
            Ok(length) => {
                self.input.extend_from_slice(&room[..length]);
                self.understand(asks);
            }
            Err(reason) if matches!(reason.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => (),
            Err(_) => self.broken = true,
        }
    }

    fn understand(&mut self, asks: &mut Vec<Ask>) {
        let mut used = 0;
        if !self.handshake.is_over() {
            used = self.handshake.feed(&self.input, &mut self.output);
            self.closed |= self.handshake.has_ended();
        }
        while self.handshake.is_over()
            && !self.closed
            && let Some((asked, length)) = self.wire.next(&self.input[used..])
        {
            used += length;
            match asked {
                Asked::Ask(ask) => {
                    self.outstanding += 1;
                    asks.push(ask);
                }
                Asked::Refused(reply) => self.output.extend(reply),
                Asked::Leaves | Asked::Nonsense => self.closed = true,
            }
        }
        self.input.drain(..used);
    }

    /// An answer to one of its requests.
    pub fn answer(&mut self, answer: &Answer) {
        self.outstanding -= 1;
        if !self.broken {
            reply(answer, &mut self.output);
        }
    }

    /// Sends what it can.
    pub fn write(&mut self) {
        while self.wants_output() {
            match self.stream.write(&self.output[self.sent..]) {
                Ok(0) => self.broken = true,
                Ok(length) => self.sent += length,
                Err(reason) if reason.kind() == ErrorKind::WouldBlock => break,
                Err(reason) if reason.kind() == ErrorKind::Interrupted => (),
                Err(_) => self.broken = true,
            }
        }
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
        } else if self.sent > MOST_UNSENT {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
    }
}
