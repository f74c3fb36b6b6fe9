//! Before the first request: client and server agree on the export ("fixed newstyle" negotiation).

/// First bytes of the server: `NBDMAGIC`, `IHAVEOPT`, and flags for the fixed newstyle and for leaving out zeros.
pub const HELLO: [u8; 18] = *b"NBDMAGICIHAVEOPT\x00\x03";
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
const NO_ZEROES: u32 = 2;
const KNOWN_CLIENT_FLAGS: u32 = 3;
/// Maximum length of an option, bytes; an honest client sends none that is longer.
const LONGEST_OPTION: usize = 64 * 1024;

const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;

const ACK: u32 = 1;
const SERVER: u32 = 2;
const INFORMATION: u32 = 3;
const UNSUPPORTED: u32 = 0x8000_0001;
const INVALID: u32 = 0x8000_0003;
const UNKNOWN: u32 = 0x8000_0006;

/// Flags of what the drive is capable of: flush, FUA, trim, zeros, and several connections that see each other's writes at once.
const FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8;

/// Description of the export for a client.
#[derive(Clone, Copy, Debug)]
pub struct Greeting {
    /// Size of the export, bytes.
    pub bytes: u64,
    /// Preferred granularity of requests, bytes.
    pub preferred: u32,
    /// Maximum length of a request, bytes.
    pub longest: u32,
    /// Number of placement handles of the drive, each of which has an export of its own, named by its number; 0: it has none.
    pub handles: u8,
}

impl Greeting {
    /// The placement handle, if any, that the requests of an export name. `None`: there is no export of this name.
    fn handle_of(&self, export: &[u8]) -> Option<Option<u8>> {
        if export.is_empty() {
            return Some(None);
        }
        (0..self.handles).find(|handle| handle.to_string().as_bytes() == export).map(Some)
    }

    /// The names of all exports.
    fn names(&self) -> impl Iterator<Item = String> {
        std::iter::once(String::new()).chain((0..self.handles).map(|handle| handle.to_string()))
    }

    /// What to tell a client that asks for an export that there is not.
    fn exports(&self) -> String {
        match self.handles {
            0 => "there is one export, whose name is empty; exports by placement handle need ftl.placement = handles".into(),
            1 => "expected an empty name, or 0, the placement handle".into(),
            count => format!("expected an empty name, or the number of a placement handle, 0 to {}", count - 1),
        }
    }
}

/// Progress of a negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Flags,
    Options,
    Over,
    Ended,
}

/// One client's negotiation: bytes in, bytes out.
#[derive(Debug)]
pub struct Handshake {
    greeting: Greeting,
    stage: Stage,
    no_zeroes: bool,
    /// Placement handle that the requests name.
    handle: Option<u8>,
}

impl Handshake {
    /// A negotiation about an export. [`HELLO`] must be sent first.
    pub fn new(greeting: Greeting) -> Self {
        Handshake { greeting, stage: Stage::Flags, no_zeroes: false, handle: None }
    }

    /// The bytes to send first.
    pub fn hello() -> &'static [u8] {
        &HELLO
    }

    /// Whether the negotiation is over, so that requests may follow.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// The placement handle that the requests name, once the negotiation is over.
    pub fn handle(&self) -> Option<u8> {
        self.handle
    }

    /// Whether the client left, or does not speak NBD.
    pub fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// Takes bytes of the client and appends the answers to `output`. Returns the number of bytes used; the rest must be given again with
    /// more behind it.
    pub fn feed(&mut self, input: &[u8], output: &mut Vec<u8>) -> usize {
        let mut used = 0;
        while let Some(length) = self.step(&input[used..], output) {
            used += length;
        }
        used
    }

    /// Processes one message, if it is whole, and returns its length.
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Option<usize> {
        match self.stage {
            Stage::Flags => {
                let flags = u32::from_be_bytes(*input.first_chunk()?);
                self.no_zeroes = flags & NO_ZEROES != 0;
                self.stage = if flags & !KNOWN_CLIENT_FLAGS == 0 { Stage::Options } else { Stage::Ended };
                Some(4)
            }
            Stage::Options => {
                let header: [u8; 16] = *input.first_chunk()?;
                let magic = u64::from_be_bytes(*header.first_chunk()?);
                let option = u32::from_be_bytes(*header[8..].first_chunk()?);
                let length = u32::from_be_bytes(*header[12..].first_chunk()?) as usize;
                if magic != OPTION_MAGIC || length > LONGEST_OPTION {
                    self.stage = Stage::Ended;
                    return None;
                }
                let data = input.get(16..16 + length)?;
                self.option(option, data, output);
                Some(16 + length)
            }
            Stage::Over | Stage::Ended => None,
        }
    }

    fn option(&mut self, option: u32, data: &[u8], output: &mut Vec<u8>) {
        match option {
            EXPORT_NAME => match self.greeting.handle_of(data) {
                Some(handle) => {
                    self.handle = handle;
                    output.extend(self.greeting.bytes.to_be_bytes());
                    output.extend(FLAGS.to_be_bytes());
                    output.extend(std::iter::repeat_n(0, if self.no_zeroes { 0 } else { 124 }));
                    self.stage = Stage::Over;
                }
                // This option has no reply that refuses.
                None => self.stage = Stage::Ended,
            },
            ABORT => {
                answer(option, ACK, &[], output);
                self.stage = Stage::Ended;
            }
            LIST if data.is_empty() => {
                for name in self.greeting.names() {
                    answer(option, SERVER, &[&(name.len() as u32).to_be_bytes()[..], name.as_bytes()].concat(), output);
                }
                answer(option, ACK, &[], output);
            }
            LIST => answer(option, INVALID, b"a list of exports takes no data", output),
            INFO | GO => self.information(option, data, output),
            _ => answer(option, UNSUPPORTED, &[], output),
        }
    }

    /// Answers a request for information on the export; with [`GO`], requests may follow.
    fn information(&mut self, option: u32, data: &[u8], output: &mut Vec<u8>) {
        let name = export_name(data);
        match name.map(|name| self.greeting.handle_of(name)) {
            None => answer(option, INVALID, b"expected the length of a name, the name, and what is asked for", output),
            Some(None) => answer(option, UNKNOWN, self.greeting.exports().as_bytes(), output),
            Some(Some(handle)) => {
                let export = [&0_u16.to_be_bytes()[..], &self.greeting.bytes.to_be_bytes(), &FLAGS.to_be_bytes()].concat();
                answer(option, INFORMATION, &export, output);
                let sizes = [1, self.greeting.preferred, self.greeting.longest].map(u32::to_be_bytes).concat();
                answer(option, INFORMATION, &[&3_u16.to_be_bytes()[..], &sizes].concat(), output);
                answer(option, ACK, &[], output);
                if option == GO {
                    self.handle = handle;
                    self.stage = Stage::Over;
                }
            }
        }
    }
}

/// The export name in the data of an option; `None` if the data are malformed.
fn export_name(data: &[u8]) -> Option<&[u8]> {
    let length = u32::from_be_bytes(*data.first_chunk()?) as usize;
    let name = data.get(4..4 + length)?;
    let rest = &data[4 + length..];
    let wanted = usize::from(u16::from_be_bytes(*rest.first_chunk()?));
    (rest.len() == 2 + 2 * wanted).then_some(name)
}

fn answer(option: u32, kind: u32, data: &[u8], output: &mut Vec<u8>) {
    output.extend(REPLY_MAGIC.to_be_bytes());
    output.extend(option.to_be_bytes());
    output.extend(kind.to_be_bytes());
    output.extend((data.len() as u32).to_be_bytes());
    output.extend(data);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GREETING: Greeting = Greeting { bytes: 1 << 30, preferred: 4096, longest: 32 << 20, handles: 0 };

    fn option(number: u32, data: &[u8]) -> Vec<u8> {
        [&OPTION_MAGIC.to_be_bytes()[..], &number.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data].concat()
    }

    fn asked(name: &[u8]) -> Vec<u8> {
        [&(name.len() as u32).to_be_bytes()[..], name, &[0, 0]].concat()
    }

    /// The kinds of the replies to a whole conversation.
    fn kinds(messages: &[Vec<u8>]) -> (Handshake, Vec<u32>) {
        kinds_of(GREETING, messages)
    }

    fn kinds_of(greeting: Greeting, messages: &[Vec<u8>]) -> (Handshake, Vec<u32>) {
        let mut handshake = Handshake::new(greeting);
        let input = [&3_u32.to_be_bytes()[..], &messages.concat()].concat();
        let mut output = Vec::new();
        assert_eq!(handshake.feed(&input, &mut output), input.len());
        let mut found = Vec::new();
        let mut rest = &output[..];
        while rest.len() >= 20 {
            assert_eq!(rest[..8], REPLY_MAGIC.to_be_bytes());
            found.push(u32::from_be_bytes(*rest[12..].first_chunk().unwrap()));
            let length = u32::from_be_bytes(*rest[16..].first_chunk().unwrap()) as usize;
            rest = &rest[20 + length..];
        }
        assert!(rest.is_empty());
        (handshake, found)
    }

    #[test]
    fn a_client_is_told_what_there_is_and_begins() {
        let (handshake, replies) = kinds(&[option(8, &[]), option(LIST, &[]), option(INFO, &asked(b"")), option(GO, &asked(b""))]);
        assert_eq!(replies, [UNSUPPORTED, SERVER, ACK, INFORMATION, INFORMATION, ACK, INFORMATION, INFORMATION, ACK]);
        assert!(handshake.is_over());
    }

    #[test]
    fn what_is_not_there_is_refused_and_the_client_may_go_on() {
        let bad = [&9_u32.to_be_bytes()[..], b"short"].concat();
        let (handshake, replies) = kinds(&[option(GO, &asked(b"other")), option(GO, &bad), option(LIST, b"x"), option(GO, &asked(b""))]);
        assert_eq!(replies[..3], [UNKNOWN, INVALID, INVALID]);
        assert!(handshake.is_over());
    }

    #[test]
    fn an_export_names_a_handle() {
        let with_handles = |messages: &[Vec<u8>]| kinds_of(Greeting { handles: 8, ..GREETING }, messages);
        let (handshake, replies) = with_handles(&[option(LIST, &[]), option(INFO, &asked(b"3")), option(GO, &asked(b"7"))]);
        assert_eq!(replies[..10], [[SERVER; 9].as_slice(), &[ACK]].concat());
        assert_eq!((handshake.is_over(), handshake.handle()), (true, Some(7)), "what was only asked about does not count");
        for none in [&b"8"[..], b"07", b"-1", b"+1", b" 1", b"1\0", b"x"] {
            assert_eq!(with_handles(&[option(GO, &asked(none))]).1, [UNKNOWN]);
        }
        let mut old = Handshake::new(Greeting { handles: 8, ..GREETING });
        old.feed(&[&3_u32.to_be_bytes()[..], &option(EXPORT_NAME, b"5")].concat(), &mut Vec::new());
        assert_eq!((old.is_over(), old.handle()), (true, Some(5)));
        assert_eq!(with_handles(&[option(GO, &asked(b""))]).0.handle(), None);
    }

    #[test]
    fn an_old_client_gets_the_size_with_or_without_zeros() {
        for (flags, length) in [(3_u32, 10), (1, 134)] {
            let mut handshake = Handshake::new(GREETING);
            let mut output = Vec::new();
            handshake.feed(&[&flags.to_be_bytes()[..], &option(EXPORT_NAME, &[])].concat(), &mut output);
            assert!(handshake.is_over());
            assert_eq!(output.len(), length);
            assert_eq!(output[..8], GREETING.bytes.to_be_bytes());
        }
    }

    #[test]
    fn who_does_not_speak_nbd_is_left() {
        for input in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]] {
            let mut handshake = Handshake::new(GREETING);
            handshake.feed(input, &mut Vec::new());
            assert!(handshake.has_ended());
        }
        for last in [option(ABORT, &[]), option(EXPORT_NAME, b"other"), [&option(INFO, &[])[..12], &u32::MAX.to_be_bytes()].concat()] {
            let mut handshake = Handshake::new(GREETING);
            handshake.feed(&[&3_u32.to_be_bytes()[..], &last].concat(), &mut Vec::new());
            assert!(handshake.has_ended());
        }
    }

    proptest! {
        /// However the bytes are cut, the answers are the same; and no bytes make it fail.
        #[test]
        fn pieces_are_as_good_as_the_whole(
            messages in prop::collection::vec((1..9_u32, prop::collection::vec(any::<u8>(), 0..12)), 0..6), cut in 1..40_usize, noise in any::<bool>(),
        ) {
            let mut input = 3_u32.to_be_bytes().to_vec();
            for (number, data) in &messages {
                input.extend(if noise { data.clone() } else { option(*number, data) });
            }
            let (mut whole, mut pieces) = (Handshake::new(GREETING), Handshake::new(GREETING));
            let (mut expected, mut output) = (Vec::new(), Vec::new());
            whole.feed(&input, &mut expected);
            let mut waiting = Vec::new();
            for piece in input.chunks(cut) {
                waiting.extend(piece);
                let used = pieces.feed(&waiting, &mut output);
                waiting.drain(..used);
            }
            prop_assert_eq!(output, expected);
            prop_assert_eq!((whole.is_over(), whole.has_ended()), (pieces.is_over(), pieces.has_ended()));
        }
    }
}
