//! The conversation between a client and the server, without the connection that carries it.

use super::{Greeting, Handshake, Incoming, Wire, reply};
use crate::drive::{Answer, Ask};

/// The conversation with one client.
pub struct Session {
    wire: Wire,
    handshake: Handshake,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Number of bytes of `output` that have been sent.
    sent: usize,
    /// No more requests are accepted.
    closed: bool,
    /// Number of requests under way.
    outstanding: usize,
}

impl Session {
    /// A conversation that begins with the negotiation.
    pub fn new(client: u64, greeting: Greeting) -> Self {
        Session {
            wire: Wire { client, bytes: greeting.bytes, longest: greeting.longest },
            handshake: Handshake::new(greeting),
            input: Vec::new(),
            output: Handshake::hello().to_vec(),
            sent: 0,
            closed: false,
            outstanding: 0,
        }
    }

    /// Number of the client, as requests name it.
    pub fn client(&self) -> u64 {
        self.wire.client
    }

    /// Takes bytes of the client and adds the requests in them to `asks`. Ignores bytes after the client has left, or after a malformed
    /// message.
    pub fn hear(&mut self, bytes: &[u8], asks: &mut Vec<Ask>) {
        if self.closed {
            return;
        }
        self.input.extend_from_slice(bytes);
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
                Incoming::Request(ask) => {
                    self.outstanding += 1;
                    asks.push(Ask { handle: self.handshake.handle(), ..ask });
                }
                Incoming::Refused(reply) => self.output.extend(reply),
                Incoming::Disconnect | Incoming::Invalid => self.closed = true,
            }
        }
        self.input.drain(..used);
    }

    /// Notes that the client sends nothing any more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether no more requests are accepted.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether no more requests are accepted and all answers have been sent.
    pub fn is_over(&self) -> bool {
        self.closed && self.outstanding == 0 && self.unsent().is_empty()
    }

    /// Takes the answer to one of the client's requests.
    pub fn answer(&mut self, answer: &Answer) {
        self.outstanding -= 1;
        reply(answer, &mut self.output);
    }

    /// The bytes to send.
    pub fn unsent(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// Notes that `length` more bytes have been sent. Sent bytes are dropped once all are sent, or once they are more than `kept`.
    pub fn sent(&mut self, length: usize, kept: usize) {
        self.sent += length;
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
        } else if self.sent > kept {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
    }
}
