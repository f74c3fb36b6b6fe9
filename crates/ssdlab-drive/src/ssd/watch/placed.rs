//! Verify mode: every page lies in a stream of its handle (`ftl.placement = "handles"`).

use crate::ftl::Ftl;
use crate::rules::HandleRules;
use ssdlab_base::units::{BlockId, Ppn};
use ssdlab_keys::config::Stream;
use ssdlab_result::stats::NO_STREAM;

/// Handles of data, and the streams that they belong to.
#[derive(Debug)]
pub(in crate::ssd) struct Placed {
    rules: HandleRules,
    /// By version: the handle of its write.
    of_version: Vec<u8>,
    /// By physical page: the handle under which its data lie. That of the stream for data that a write gave to the move of their page, or
    /// that a move took elsewhere for lack of a block.
    of_page: Vec<u8>,
    /// Moves to another stream than the policy's, so far; and those of them that have not been checked. A program may have several.
    displaced: u64,
    unchecked: u64,
}

impl Placed {
    /// The state of a drive.
    pub fn new(rules: HandleRules, ftl: &Ftl) -> Self {
        let HandleRules { count, default, .. } = rules;
        let geometry = ftl.geometry();
        let mut of_page = vec![default; geometry.units as usize];
        for block in (0..geometry.blocks).map(BlockId) {
            let stream = ftl.stream_outside_cache(block);
            let first = geometry.page(block, 0).index();
            if stream != NO_STREAM {
                of_page[first..first + geometry.units_per_block.get() as usize].fill(stream % count);
            }
        }
        Placed { rules, of_version: vec![default], of_page, displaced: ftl.displaced_moves(), unchecked: 0 }
    }

    /// Notes the handle of a new version, the next one.
    pub fn new_version(&mut self, handle: Option<u8>) {
        self.of_version.push(handle.unwrap_or(self.rules.default));
    }

    /// Checks a program of the host's data.
    pub fn host(&mut self, ftl: &Ftl, ppn: Ppn, version: u32) -> Result<(), String> {
        let (stream, handle) = (self.stream(ftl, ppn), self.of_version[version as usize]);
        let HandleRules { count, moves, merges, .. } = self.rules;
        self.of_page[ppn.index()] = stream % count;
        // Redirected writes fill streams behind those of the host, which page moves then share with it.
        let of_host = (stream < count || moves == 0) && stream % count == handle;
        // The data may go along with the move of their page.
        if of_host || merges && self.takes_moves(stream) { Ok(()) } else { Err(wrong("data of the host", ppn, handle, stream)) }
    }

    /// Checks the program of a page move.
    pub fn moved(&mut self, ftl: &Ftl, from: Ppn, to: Ppn) -> Result<(), String> {
        let (stream, handle) = (self.stream(ftl, to), self.of_page[from.index()]);
        let wanted = self.rules.moves + if self.rules.persistent { handle } else { 0 };
        self.of_page[to.index()] = if self.rules.persistent { stream % self.rules.count } else { handle };
        self.unchecked += ftl.displaced_moves() - std::mem::replace(&mut self.displaced, ftl.displaced_moves());
        if stream == wanted {
            return Ok(());
        }
        let displaced = self.unchecked > 0 && self.takes_moves(stream);
        self.unchecked = self.unchecked.saturating_sub(1);
        if displaced { Ok(()) } else { Err(wrong("moved data", to, handle, stream)) }
    }

    /// Page moves fill this stream.
    fn takes_moves(&self, stream: Stream) -> bool {
        let HandleRules { count, moves, persistent, .. } = self.rules;
        (moves..moves + if persistent { count } else { 1 }).contains(&stream)
    }

    /// The stream of a page outside of a cache in SLC mode: that of the default handle in the block that the first fill has left open.
    fn stream(&self, ftl: &Ftl, ppn: Ppn) -> Stream {
        match ftl.stream_outside_cache(ftl.geometry().split_page(ppn).0) {
            NO_STREAM => self.rules.default,
            stream => stream,
        }
    }
}

fn wrong(what: &str, ppn: Ppn, handle: u8, stream: Stream) -> String {
    format!("{what} at page {ppn} have handle {handle} and lie in stream {stream}")
}
