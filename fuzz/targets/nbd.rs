//! What clients send to a drive that is served by NBD. The first byte chooses whether the negotiation is the input's or a true one, after
//! which the input is requests; the second, in which pieces the bytes arrive.
//!
//! Whatever comes, the server answers each request once, reads find what was written, and its messages have the form that clients expect.

#![no_main]

use std::collections::HashMap;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ssdlab::config::{Config, Layers};
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab_live::{Ask, Drive, Greeting, Memory, Session};

/// A drive of about sixteen pages, which each input starts from.
static SMALL: LazyLock<Config> = LazyLock::new(|| {
    let keys = [
        ("device.channels", "1"),
        ("device.chips_per_channel", "1"),
        ("device.blocks_per_plane", "8"),
        ("device.pages_per_block", "4"),
        ("device.page_bytes", "512"),
        ("device.spare_bytes", "0"),
        ("device.overprovisioning", "0.5"),
        ("ftl.precondition.kind", "none"),
        ("gc.soft", "0.1"),
    ];
    let set = keys.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
    Layers { set, ..Layers::default() }.build().expect("the drive is possible")
});

/// The beginning of a true negotiation: the client's flags, and a request for the export without a name.
const AGREED: &[u8] = b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0";
/// What the server says to that: its hello, what the export is and its sizes, and that it is the one.
const WELCOME: usize = 18 + (20 + 12) + (20 + 14) + 20;
const LONGEST: u32 = 4096;
const REPLY: u32 = 0x6744_6698;

/// Requests that have been heard and not answered: by their name, how many, and the bytes that their answers have.
type Expected = HashMap<u64, Vec<usize>>;

fuzz_target!(|data: &[u8]| {
    let [way, piece, input @ ..] = data else { return };
    let plan = Plan::new(SMALL.clone(), 1);
    let simulation = Simulation::new(&plan, &Control::default()).expect("a drive");
    let bytes = simulation.exported_bytes();
    let mut drive = Drive::new(simulation, 1.0, Box::new(Memory::default()), None, None);
    let mut session = Session::new(0, Greeting { bytes, preferred: 512, longest: LONGEST, handles: 0 });
    let mut model = vec![0; bytes as usize];
    let (mut asks, mut expected) = (Vec::new(), Expected::new());
    let agreed = way % 2 == 0;
    if agreed {
        session.hear(AGREED, &mut asks);
        assert_eq!(session.unsent().len(), WELCOME);
        session.sent(WELCOME, 0);
    }
    for part in input.chunks(usize::from(*piece) + 1) {
        session.hear(part, &mut asks);
        for ask in asks.drain(..) {
            serve(&mut drive, &mut session, &mut model, &mut expected, ask);
        }
    }
    let said = session.unsent().to_vec();
    session.sent(said.len(), 0);
    session.close();
    assert!(session.is_over(), "all is answered");
    if agreed {
        replies(&said, &mut expected);
    }
});

/// One request, answered before the next: what it reads is what was written.
fn serve(drive: &mut Drive, session: &mut Session, model: &mut [u8], expected: &mut Expected, ask: Ask) {
    let (cookie, range) = (ask.asker.cookie, ask.offset as usize..(ask.offset + ask.length) as usize);
    let reads = match &ask.action {
        ssdlab_live::Action::Read => Some(model[range].to_vec()),
        ssdlab_live::Action::Write(bytes) => {
            model[range].copy_from_slice(bytes);
            None
        }
        ssdlab_live::Action::Zero { .. } | ssdlab_live::Action::Trim => {
            model[range].fill(0);
            None
        }
        ssdlab_live::Action::Flush => None,
    };
    expected.entry(cookie).or_default().push(reads.as_ref().map_or(0, Vec::len));
    drive.take(ask).expect("the drive takes it");
    let answers = drive.drain().expect("the drive answers");
    let [answer] = &answers[..] else { panic!("{} answers to one request", answers.len()) };
    assert_eq!(answer.asker.cookie, cookie);
    assert_eq!(answer.outcome.as_ref().expect("memory does not fail"), &reads.unwrap_or_default());
    session.answer(answer);
}

/// Replies are whole: each names a request that was sent, or answers one that was refused.
fn replies(mut said: &[u8], expected: &mut Expected) {
    while !said.is_empty() {
        let header: &[u8; 16] = said.first_chunk().expect("a reply is whole");
        assert_eq!(header[..4], REPLY.to_be_bytes());
        let refused = header[4..8] != [0; 4];
        let cookie = u64::from_be_bytes(*header[8..].first_chunk().expect("eight bytes"));
        // Refusals are said as soon as a request is heard, answers when the drive has them.
        let length = if refused { 0 } else { expected.get_mut(&cookie).filter(|all| !all.is_empty()).expect("it was asked for").remove(0) };
        said = &said[16 + length..];
    }
    assert!(expected.values().all(Vec::is_empty), "all is answered");
}
