//! Requests and replies of the NBD protocol.

use std::io;

use crate::drive::{Action, Answer, Ask, Asker};

const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;
const HEADER: usize = 28;

const FUA: u16 = 1;
const NO_HOLE: u16 = 2;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const WRITE_ZEROES: u16 = 6;

const EPERM: u32 = 1;
const EIO: u32 = 5;
const ENOMEM: u32 = 12;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;

/// A message of a client.
#[derive(Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A request for the drive.
    Request(Ask),
    /// A request that cannot be met, and its reply.
    Refused(Vec<u8>),
    /// The client disconnects.
    Disconnect,
    /// The bytes are not a request: nothing that follows can be understood.
    Invalid,
}

/// Parses the requests of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Number of the client.
    pub client: u64,
    /// Size of the drive, bytes.
    pub bytes: u64,
    /// Maximum length of a read or write, bytes.
    pub longest: u32,
}

impl Wire {
    /// The first message in what a client sent, and its length; `None` if it is not whole yet.
    pub fn next(&self, input: &[u8]) -> Option<(Incoming, usize)> {
        let header: &[u8; HEADER] = input.first_chunk()?;
        let number = |at: usize| u64::from_be_bytes(*header[at..].first_chunk().expect("the header is long enough"));
        let (flags, kind) = (number(4) >> 48, number(6) >> 48);
        let (cookie, offset) = (number(8), number(16));
        let length = u32::from_be_bytes(*header[24..].first_chunk().expect("the header ends there"));
        if header[..4] != REQUEST_MAGIC.to_be_bytes() {
            return Some((Incoming::Invalid, 0));
        }
        let (flags, kind) = (flags as u16, kind as u16);
        let payload = if kind == WRITE { length as usize } else { 0 };
        if payload > self.longest as usize {
            return Some((Incoming::Invalid, 0)); // longer than announced, and it would have to be read to get behind it
        }
        let data = input.get(HEADER..HEADER + payload)?;
        let asked = match kind {
            DISCONNECT => Incoming::Disconnect,
            _ => match self.action(kind, flags, offset, length, data) {
                Ok(action) => {
                    let asker = Asker { client: self.client, cookie };
                    let (offset, length) = if kind == FLUSH { (0, 0) } else { (offset, length.into()) };
                    Incoming::Request(Ask { asker, action, offset, length, force: flags & FUA != 0, handle: None, came: None })
                }
                Err(reason) => Incoming::Refused(refusal(cookie, reason)),
            },
        };
        Some((asked, HEADER + payload))
    }

    fn action(&self, kind: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> Result<Action, u32> {
        let allowed = match kind {
            WRITE_ZEROES => FUA | NO_HOLE,
            // The specification allows FUA with any command.
            _ => FUA,
        };
        if flags & !allowed != 0 {
            return Err(EINVAL);
        }
        if kind == FLUSH {
            return if offset == 0 && length == 0 { Ok(Action::Flush) } else { Err(EINVAL) };
        }
        let fits = offset.checked_add(length.into()).is_some_and(|end| end <= self.bytes);
        match kind {
            READ if length > self.longest => Err(EINVAL),
            READ if fits => Ok(Action::Read),
            TRIM if fits => Ok(Action::Trim),
            WRITE if fits => Ok(Action::Write(data.to_vec())),
            WRITE_ZEROES if fits => Ok(Action::Zero { holes: flags & NO_HOLE == 0 }),
            WRITE | WRITE_ZEROES => Err(ENOSPC),
            _ => Err(EINVAL),
        }
    }
}

/// Appends the reply to a request.
pub fn reply(answer: &Answer, output: &mut Vec<u8>) {
    match &answer.outcome {
        Ok(bytes) => {
            output.extend(header(answer.asker.cookie, 0));
            output.extend(bytes);
        }
        Err(reason) => output.extend(header(answer.asker.cookie, code(reason))),
    }
}

fn refusal(cookie: u64, code: u32) -> Vec<u8> {
    header(cookie, code).to_vec()
}

fn header(cookie: u64, code: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
    bytes[4..8].copy_from_slice(&code.to_be_bytes());
    bytes[8..].copy_from_slice(&cookie.to_be_bytes());
    bytes
}

/// The protocol's code for an I/O error.
fn code(reason: &io::Error) -> u32 {
    match reason.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => ENOSPC,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => EPERM,
        io::ErrorKind::OutOfMemory => ENOMEM,
        _ => EIO,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WIRE: Wire = Wire { client: 3, bytes: 1 << 20, longest: 1 << 16 };

    fn message(flags: u16, kind: u16, offset: u64, length: u32, data: &[u8]) -> Vec<u8> {
        let numbers = [&REQUEST_MAGIC.to_be_bytes()[..], &flags.to_be_bytes(), &kind.to_be_bytes(), &7_u64.to_be_bytes()].concat();
        [&numbers[..], &offset.to_be_bytes(), &length.to_be_bytes(), data].concat()
    }

    fn ask(action: Action, offset: u64, length: u64, force: bool) -> Incoming {
        Incoming::Request(Ask { asker: Asker { client: 3, cookie: 7 }, action, offset, length, force, handle: None, came: None })
    }

    #[test]
    fn each_command_is_understood() {
        let read = |flags, kind, offset, length, data: &[u8]| {
            let bytes = message(flags, kind, offset, length, data);
            let (asked, used) = WIRE.next(&bytes).expect("whole");
            assert_eq!(used, bytes.len());
            asked
        };
        assert_eq!(read(0, READ, 4096, 512, &[]), ask(Action::Read, 4096, 512, false));
        assert_eq!(read(FUA, WRITE, 1, 3, b"abc"), ask(Action::Write(b"abc".to_vec()), 1, 3, true));
        assert_eq!(read(0, FLUSH, 0, 0, &[]), ask(Action::Flush, 0, 0, false));
        assert_eq!(read(0, TRIM, 0, 1 << 20, &[]), ask(Action::Trim, 0, 1 << 20, false));
        assert_eq!(read(NO_HOLE, WRITE_ZEROES, 8, 8, &[]), ask(Action::Zero { holes: false }, 8, 8, false));
        assert_eq!(read(0, WRITE_ZEROES, 8, 8, &[]), ask(Action::Zero { holes: true }, 8, 8, false));
        assert_eq!(read(0, DISCONNECT, 0, 0, &[]), Incoming::Disconnect);
    }

    #[test]
    fn what_cannot_be_met_is_refused_with_a_reason() {
        let end = 1 << 20;
        let cases = [
            (0, READ, end, 1, EINVAL),
            (0, READ, u64::MAX, 1, EINVAL),
            (0, READ, 0, (1 << 16) + 1, EINVAL),
            (0, WRITE, end, 0, 0),
            (0, WRITE_ZEROES, end, 1, ENOSPC),
            (0, TRIM, end, 1, EINVAL),
            (0, FLUSH, 1, 0, EINVAL),
            (NO_HOLE, READ, 0, 1, EINVAL),
            (1 << 9, READ, 0, 1, EINVAL),
            (0, 99, 0, 0, EINVAL),
        ];
        for (flags, kind, offset, length, code) in cases {
            let (asked, _) = WIRE.next(&message(flags, kind, offset, length, &[])).expect("whole");
            match asked {
                Incoming::Refused(reply) => assert_eq!(reply, header(7, code), "command {kind}"),
                other => assert_eq!((code, other), (0, ask(Action::Write(vec![]), end, 0, false))),
            }
        }
        let (asked, used) = WIRE.next(&message(0, WRITE, end - 1, 2, b"ab")).expect("whole");
        assert_eq!((asked, used), (Incoming::Refused(header(7, ENOSPC).to_vec()), HEADER + 2));
    }

    #[test]
    fn nothing_is_read_beyond_what_makes_no_sense() {
        assert_eq!(WIRE.next(&[0; HEADER]), Some((Incoming::Invalid, 0)));
        assert_eq!(WIRE.next(&message(0, WRITE, 0, (1 << 16) + 1, &[])), Some((Incoming::Invalid, 0)));
    }

    #[test]
    fn a_full_disk_is_no_space() {
        let mut output = Vec::new();
        let asker = Asker { client: 3, cookie: 7 };
        reply(&Answer { asker, outcome: Err(io::ErrorKind::StorageFull.into()) }, &mut output);
        reply(&Answer { asker, outcome: Ok(b"data".to_vec()) }, &mut output);
        assert_eq!(output, [&header(7, ENOSPC)[..], &header(7, 0), b"data"].concat());
    }

    proptest! {
        /// No bytes make it fail; a message is taken only when it is whole, and is then the same.
        #[test]
        fn any_bytes_are_a_message_or_not(
            noise in prop::collection::vec(any::<u8>(), 0..64), flags in 0..4_u16, kind in 0..8_u16, offset in 0..1_u64 << 21, length in 0..40_u32,
        ) {
            let _ = WIRE.next(&noise);
            let bytes = message(flags, kind, offset, length, &vec![1; if kind == WRITE { length as usize } else { 0 }]);
            let (asked, used) = WIRE.next(&bytes).expect("whole");
            prop_assert_eq!(used, bytes.len());
            for end in 0..bytes.len() {
                prop_assert!(WIRE.next(&bytes[..end]).is_none());
            }
            let more = [&bytes[..], &noise].concat();
            prop_assert_eq!(WIRE.next(&more), Some((asked, used)));
        }
    }
}
