//! Bytes of the drive, in memory.

use std::collections::HashMap;
use std::io;

use super::Contents;

/// Size of a chunk, bytes: memory is taken chunk by chunk.
const CHUNK: usize = 64 * 1024;

/// Chunks that were written to, by number.
#[derive(Default)]
pub struct Memory(HashMap<u64, Box<[u8]>>);

impl Memory {
    /// Parts of a range, by chunk: the chunk's number, the first byte of the part in it, and the part's length.
    fn parts(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize, usize)> {
        let end = offset + length;
        let mut at = offset;
        std::iter::from_fn(move || {
            let from = (at % CHUNK as u64) as usize;
            let part = (CHUNK - from).min(usize::try_from(end - at).unwrap_or(usize::MAX));
            let chunk = at / CHUNK as u64;
            at += part as u64;
            (part > 0).then_some((chunk, from, part))
        })
    }
}

impl Contents for Memory {
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut rest = bytes;
        for (chunk, from, length) in Self::parts(offset, rest.len() as u64) {
            let (part, others) = rest.split_at_mut(length);
            match self.0.get(&chunk) {
                Some(chunk) => part.copy_from_slice(&chunk[from..from + length]),
                None => part.fill(0),
            }
            rest = others;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        for (chunk, from, length) in Self::parts(offset, bytes.len() as u64) {
            let (part, others) = rest.split_at(length);
            let chunk = self.0.entry(chunk).or_insert_with(|| vec![0; CHUNK].into_boxed_slice());
            chunk[from..from + length].copy_from_slice(part);
            rest = others;
        }
        Ok(())
    }

    fn clear(&mut self, offset: u64, length: u64) -> io::Result<()> {
        let end = offset + length;
        let whole = offset.div_ceil(CHUNK as u64)..end / CHUNK as u64;
        // A range may be far larger than what was written.
        if whole.end.saturating_sub(whole.start) > self.0.len() as u64 {
            self.0.retain(|chunk, _| !whole.contains(chunk));
        } else {
            whole.clone().for_each(|chunk| drop(self.0.remove(&chunk)));
        }
        let ends = if whole.is_empty() {
            [(offset, end), (end, end)]
        } else {
            [(offset, whole.start * CHUNK as u64), (whole.end * CHUNK as u64, end)]
        };
        for (from, to) in ends {
            for (chunk, from, length) in Self::parts(from, to - from) {
                if let Some(chunk) = self.0.get_mut(&chunk) {
                    chunk[from..from + length].fill(0);
                }
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Sparse;
    use super::*;

    const SIZE: u64 = 5 * CHUNK as u64;

    #[derive(Clone, Debug)]
    enum Action {
        Write(u64, usize, u8),
        Clear(u64, u64),
    }

    fn actions() -> impl Strategy<Value = Vec<Action>> {
        let write = (0..SIZE, 1..2 * CHUNK, 1..255_u8).prop_map(|(offset, length, byte)| Action::Write(offset, length, byte));
        let clear = (0..SIZE, 1..SIZE).prop_map(|(offset, length)| Action::Clear(offset, length));
        prop::collection::vec(prop_oneof![write, clear], 1..20)
    }

    proptest! {
        /// Both kinds of contents behave as an array of bytes.
        #[test]
        fn bytes_are_what_was_written(actions in actions()) {
            let folder = tempfile::tempdir().unwrap();
            let mut all: Vec<Box<dyn Contents>> =
                vec![Box::new(Memory::default()), Box::new(Sparse::open(&folder.path().join("data"), SIZE).unwrap())];
            let mut expected = vec![0; SIZE as usize];
            for action in actions {
                match action {
                    Action::Write(offset, length, byte) => {
                        let length = length.min((SIZE - offset) as usize);
                        expected[offset as usize..offset as usize + length].fill(byte);
                        all.iter_mut().for_each(|one| one.write(offset, &vec![byte; length]).unwrap());
                    }
                    Action::Clear(offset, length) => {
                        let length = length.min(SIZE - offset);
                        expected[offset as usize..(offset + length) as usize].fill(0);
                        all.iter_mut().for_each(|one| one.clear(offset, length).unwrap());
                    }
                }
            }
            for one in &all {
                let mut bytes = vec![9; SIZE as usize];
                one.read(0, &mut bytes).unwrap();
                prop_assert!(bytes == expected);
                let mut part = vec![9; CHUNK];
                one.read(CHUNK as u64 / 2, &mut part).unwrap();
                prop_assert!(part == expected[CHUNK / 2..CHUNK / 2 + CHUNK]);
            }
        }
    }

    #[test]
    fn room_is_taken_by_what_was_written_alone() {
        let mut memory = Memory::default();
        memory.write(1 << 45, &[1; 100]).unwrap();
        assert_eq!(memory.0.len(), 1);
        memory.clear(0, 1 << 46).unwrap();
        assert!(memory.0.is_empty());
    }
}
