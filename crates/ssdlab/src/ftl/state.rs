//! A translation layer saved to a file and loaded again, so that a drive is warmed once and used often.
//!
//! Format: the line `ssdlab-state 2`, a line with the BLAKE3 hash of the device and translation keys that shape it, then (zstd-compressed)
//! little-endian 32-bit integers: each array preceded by its length. A BLAKE3 hash of these ends the stream.

use std::io::{Read, Write};

use super::Ftl;
use super::blocks::Blocks;
use super::mapping::Mapping;
use super::pool::{Frontier, Frontiers, Pool};
use crate::config::Config;
use crate::units::BlockId;

/// The first line of a saved state.
const MAGIC: &str = "ssdlab-state 2";

/// A hash of everything in the configuration that a saved state depends on: geometry, over-provisioning, pools, allocation and frontiers.
pub fn shape_hash(config: &Config) -> String {
    let device = &config.device;
    let shape = format!(
        "{} {} {} {} {} {} {} {} {} {:?} {:?}",
        device.channels,
        device.chips_per_channel,
        device.dies_per_chip,
        device.planes_per_die,
        device.blocks_per_plane,
        device.pages_per_block,
        device.page_bytes,
        device.overprovisioning,
        config.ftl.allocation,
        config.ftl.pool,
        config.ftl.frontier,
    );
    blake3::hash(shape.as_bytes()).to_hex().to_string()
}

impl Ftl {
    /// Writes the state.
    ///
    /// # Errors
    /// Whatever the writer reports.
    pub fn save(&self, config: &Config, writer: impl Write) -> std::io::Result<()> {
        let mut writer = writer;
        writeln!(writer, "{MAGIC}\n{}", shape_hash(config))?;
        let mut encoder = Encoder { inner: zstd::Encoder::new(writer, 3)?, hash: blake3::Hasher::new() };
        let (forward, backward, filled) = self.map.parts();
        encoder.array(forward)?;
        encoder.array(backward)?;
        let pools: Vec<u32> = self.pools.iter().flat_map(|p| p.frontiers).flat_map(|f| [f.block.0, f.next_page]).collect();
        encoder.array(&pools)?;
        encoder.array(&[filled])?;
        for array in self.blocks.parts() {
            encoder.array(&array)?;
        }
        let hash = encoder.hash.finalize();
        encoder.inner.write_all(hash.as_bytes())?;
        encoder.inner.finish()?.flush()
    }

    /// A second block left open by redirected writes would stay so for ever where there is no redirecting.
    fn every_open_block_is_used(&self) -> Result<(), String> {
        let pages = self.geometry.pages_per_block.get();
        let unused = |pool: &Pool| self.frontiers == Frontiers::Shared && pool.frontiers[1].next_page < pages;
        match self.pools.iter().any(unused) {
            true => Err("the state was saved with blocks open for redirected writes, which only gc.scope = \"block\" has".to_string()),
            false => Ok(()),
        }
    }

    /// Reads a state saved under a configuration of the same shape. Thresholds and policies may differ.
    ///
    /// # Errors
    /// A sentence that says why the bytes are not such a state.
    pub fn load(config: &Config, reader: impl Read) -> Result<Self, String> {
        let mut reader = std::io::BufReader::new(reader);
        let mut line = || {
            let mut text = String::new();
            std::io::BufRead::read_line(&mut std::io::Read::by_ref(&mut reader).take(100), &mut text).map_err(|e| e.to_string())?;
            Ok::<_, String>(text.trim_end().to_string())
        };
        if line()? != MAGIC {
            return Err("this is not a drive state saved by ssdlab (or one of another version)".to_string());
        }
        if line()? != shape_hash(config) {
            return Err("the state was saved for a drive of another shape: geometry, over-provisioning, ftl.allocation, ftl.pool \
                        and ftl.frontier must be the same"
                .to_string());
        }
        let mut ftl = Ftl::new(config);
        let inner = zstd::Decoder::with_buffer(reader).map_err(|e| e.to_string())?;
        let mut decoder = Decoder { inner, hash: blake3::Hasher::new() };
        let forward = decoder.array(ftl.geometry.exported_pages as usize)?;
        let backward = decoder.array(ftl.geometry.pages as usize)?;
        let pools = decoder.array(4 * ftl.pools.len())?;
        let filled = decoder.array(1)?[0];
        ftl.map = Mapping::from_parts(forward, backward, filled);
        for (pool, stored) in ftl.pools.iter_mut().zip(pools.chunks_exact(4)) {
            let frontier = |block, next_page| Frontier { block: BlockId(block), next_page };
            pool.frontiers = [frontier(stored[0], stored[1]), frontier(stored[2], stored[3])];
        }
        ftl.every_open_block_is_used()?;
        let lengths: Vec<usize> = ftl.blocks.parts().iter().map(Vec::len).collect();
        let arrays = lengths.into_iter().map(|length| decoder.array(length)).collect::<Result<Vec<_>, _>>()?;
        ftl.blocks = Blocks::from_parts(&ftl.geometry, &arrays)?;
        decoder.finish()?;
        ftl.recount_mapped();
        Ok(ftl)
    }
}

struct Encoder<W: Write> {
    inner: zstd::Encoder<'static, W>,
    hash: blake3::Hasher,
}

impl<W: Write> Encoder<W> {
    fn array(&mut self, values: &[u32]) -> std::io::Result<()> {
        self.bytes(&(values.len() as u64).to_le_bytes())?;
        let mut buffer = Vec::with_capacity(1 << 16);
        for chunk in values.chunks(1 << 14) {
            buffer.clear();
            buffer.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
            self.bytes(&buffer)?;
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.hash.update(bytes);
        self.inner.write_all(bytes)
    }
}

struct Decoder<R: Read> {
    inner: R,
    hash: blake3::Hasher,
}

impl<R: Read> Decoder<R> {
    fn array(&mut self, expected: usize) -> Result<Vec<u32>, String> {
        let mut length = [0; 8];
        self.bytes(&mut length)?;
        if u64::from_le_bytes(length) != expected as u64 {
            return Err("the file is damaged (an array has the wrong length)".to_string());
        }
        let mut values = vec![0u32; expected];
        let mut buffer = vec![0u8; 1 << 16];
        for chunk in values.chunks_mut(1 << 14) {
            let bytes = &mut buffer[..4 * chunk.len()];
            self.bytes(bytes)?;
            for (value, bytes) in chunk.iter_mut().zip(bytes.chunks_exact(4)) {
                let stored = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
                // Untouched memory stays untouched: a zero is not written over a zero.
                if stored != 0 {
                    *value = stored;
                }
            }
        }
        Ok(values)
    }

    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        self.inner.read_exact(bytes).map_err(|_| "the file is truncated or damaged".to_string())?;
        self.hash.update(bytes);
        Ok(())
    }

    fn finish(mut self) -> Result<(), String> {
        let mut stored = [0; 32];
        self.inner.read_exact(&mut stored).map_err(|_| "the file is truncated or damaged".to_string())?;
        if !matches!(self.inner.read(&mut [0]), Ok(0)) {
            return Err("the file is damaged (there is more in it than a state)".to_string());
        }
        if *self.hash.finalize().as_bytes() == stored { Ok(()) } else { Err("the file is damaged (its hash differs)".to_string()) }
    }
}
