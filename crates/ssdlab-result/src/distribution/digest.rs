//! Digest of a sequence of times.

use ssdlab_base::units::Ns;

/// Bytes collected before they are hashed: enough for BLAKE3 to work on several of its chunks at once.
const HASHED_AT_ONCE: usize = 16 * 1024;

/// BLAKE3 over a sequence of times, each as eight bytes, least significant first.
#[derive(Debug)]
pub struct Digest {
    hasher: blake3::Hasher,
    bytes: Vec<u8>,
}

impl Default for Digest {
    fn default() -> Self {
        Digest::new()
    }
}

impl Digest {
    /// The digest of an empty sequence.
    pub fn new() -> Self {
        Digest { hasher: blake3::Hasher::new(), bytes: Vec::with_capacity(HASHED_AT_ONCE) }
    }

    /// Adds the next time, ns.
    #[inline]
    pub fn take(&mut self, ns: Ns) {
        self.bytes.extend_from_slice(&ns.to_le_bytes());
        if self.bytes.len() == HASHED_AT_ONCE {
            self.hasher.update(&self.bytes);
            self.bytes.clear();
        }
    }

    /// The digest as 64 hexadecimal digits.
    pub fn finish(mut self) -> String {
        self.hasher.update(&self.bytes);
        self.hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_all_bytes_at_once() {
        for count in [0, 1, 2047, 2048, 2049, 10_000_u64] {
            let mut digest = Digest::new();
            (0..count).for_each(|ns| digest.take(ns * 7919));
            let bytes: Vec<u8> = (0..count).flat_map(|ns| (ns * 7919).to_le_bytes()).collect();
            assert_eq!(digest.finish(), blake3::hash(&bytes).to_hex().to_string());
        }
    }
}
