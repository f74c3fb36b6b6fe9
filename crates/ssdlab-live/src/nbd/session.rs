//! What a client and the server say to each other, without the connection that carries it.

use super::{Asked, Greeting, Handshake, Wire, reply};
use crate::drive::{Answer, Ask};

/// One client's conversation.
pub struct Session {
    wire: Wire,
    handshake: Handshake,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Of the output, what has been sent.
    sent: usize,
    /// No more requests come.
    closed: bool,
    /// Requests under way.
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

    /// The client, as requests name it.
    pub fn client(&self) -> u64 {
        self.wire.client
    }

    /// The client says this; `asks` gets the requests in it. What comes after it has left, or after what makes no sense, is not looked at.
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

    /// The client says nothing any more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// It has said all that is listened to.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// It has, and has had all answers.
    pub fn is_over(&self) -> bool {
        self.closed && self.outstanding == 0 && self.unsent().is_empty()
    }

    /// An answer to one of its requests.
    pub fn answer(&mut self, answer: &Answer) {
        self.outstanding -= 1;
        reply(answer, &mut self.output);
    }

    /// What is to be sent.
    pub fn unsent(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// So much of it has been sent. What has gone is let go of when all is, or when it is more than `kept` bytes.
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
