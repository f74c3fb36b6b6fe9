//! A translation layer saved to a file and loaded again, so that a drive is warmed once and used often.
//!
//! Format: the line `ssdlab-state 3` with the names of the blocks' columns that it has, a line with the BLAKE3 hash of the device and
//! translation keys that shape it, then (zstd-compressed) arrays of little-endian 32-bit integers, each preceded by its length in 64 bits.
//! A BLAKE3 hash of these ends the stream.

use std::io::{BufRead, Read, Write};

use super::blocks::{Blocks, Columns};
use super::mapping::Mapping;
use super::pool::{Frontier, Pool};
use super::{BlockState, Ftl};
use ssdlab_base::units::{BlockId, Lpn, PoolId};
use ssdlab_keys::config::capacity::RESERVE;
use ssdlab_keys::config::{Allocation, Config, Ftl as Keys, Placement};
use ssdlab_result::stats::NO_STREAM;

/// The first line of a saved state.
fn magic() -> String {
    format!("ssdlab-state 3 {}", Columns::saved().join(" "))
}
const TRUNCATED: &str = "the file is truncated or damaged";

/// A hash of everything in the configuration that a saved state depends on: geometry, over-provisioning, pools, allocation, frontiers,
/// data placement, superblocks, mapping units, pages of a program, parity, and the mapping table in flash.
pub fn shape_hash(config: &Config) -> String {
    let device = &config.device;
    let mut shape = format!(
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
    if config.units_per_program() > 1 {
        shape += &format!(" {}", config.units_per_page());
    }
    if config.device.pages_per_program > 1 {
        shape += &format!(" x {}", config.device.pages_per_program);
    }
    if config.ftl.parity_stripe > 0 {
        shape += &format!(" parity {}", config.ftl.parity_stripe);
        if !config.ftl.parity_in_spare {
            shape += " beside the spare";
        }
    }
    if config.caches_map() {
        shape += &format!(" map {} {}", config.map_page_bytes(), config.ftl.map_entry_bytes);
    }
    if config.pools_per_group() > 1 {
        shape += &format!(" superblocks of {}", config.pools_per_group());
    }
    if !config.ftl.namespaces.is_empty() {
        shape += &format!(" namespaces {:?} {:?}", config.ftl.namespaces, config.ftl.namespace_layout);
    }
    if config.ftl.placement != Placement::None {
        let Keys { placement, handles, isolation, .. } = &config.ftl;
        shape += &format!(" placement {placement:?} {handles} {isolation:?}");
        if *placement == Placement::Oracle {
            shape += &format!(" {}", config.ftl.groups);
        }
        if config.has_zones() {
            shape += &format!(" {} {}", config.zones.blocks, config.zones.max_active);
        }
    }
    shape += &config.slc_shape();
    blake3::hash(shape.as_bytes()).to_hex().to_string()
}

impl Ftl {
    /// Writes the state. Only when no operation is under way.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn save(&self, config: &Config, writer: impl Write) -> std::io::Result<()> {
        let mut writer = writer;
        writeln!(writer, "{}\n{}", magic(), shape_hash(config))?;
        let mut encoder = Encoder::new(writer, blake3::Hasher::new())?;
        let (forward, backward, filled) = self.map.parts();
        encoder.array(forward)?;
        encoder.array(backward)?;
        let pools: Vec<u32> =
            self.pools.iter().flat_map(|p| &p.open[..self.streams.saved()]).flat_map(|f| [f.block.0, f.next_page]).collect();
        encoder.array(&pools)?;
        encoder.array(&[filled])?;
        for array in [self.blocks.parts(), self.superblock_arrays(), self.placer.parts()].concat() {
            encoder.array(&array)?;
        }
        encoder.finish()
    }

    /// Checks the streams that have filled the blocks, and their modes. Without a placement policy and a cache in SLC mode streams may differ from
    /// those of the drive that was saved, and nothing asks for them: blocks count as filled before the run.
    fn restore_streams(&mut self) -> Result<(), String> {
        let asks = !self.placer.placed().counts.is_empty() || self.geometry.slc.is_some();
        for block in (0..self.geometry.blocks).map(BlockId) {
            let stream = self.blocks.stream(block);
            if !asks {
                self.blocks.columns.stream[block.index()] = NO_STREAM;
            } else if stream >= self.streams.noted() && stream != NO_STREAM {
                return Err(format!("block {block} was filled by stream {stream}, which there is not"));
            }
            if self.blocks.in_cache(block) != self.streams.is_of_cache(self.blocks.stream(block)) {
                return Err(format!("block {block}, filled by stream {stream}, is in {:?} mode, and cannot be", self.blocks.mode(block)));
            }
        }
        Ok(())
    }

    /// Checks that no block is open for redirected writes where there are none: it would stay open for ever.
    fn every_open_block_is_used(&self) -> Result<(), String> {
        let pages = self.geometry.units_per_block.get();
        let unused = |pool: &Pool| pool.open[usize::from(self.streams.count)..].iter().any(|frontier| frontier.next_page < pages);
        match self.pools.iter().any(unused) {
            true => Err("the state was saved with blocks open for redirected writes, which only gc.scope = \"block\" has; save one with the same gc.scope".to_string()),
            false => Ok(()),
        }
    }

    /// Checks that no program is under way: the open blocks are the write frontiers, each programmed up to its next page.
    fn nothing_is_under_way(&self) -> Result<(), String> {
        let pages = self.geometry.units_per_block.get();
        let filled = || self.pools.iter().flat_map(|pool| pool.open).filter(|frontier| frontier.next_page < pages);
        let unfilled = |&block: &BlockId| self.blocks.state(block) == BlockState::Open && self.blocks.programmed(block) < pages;
        let open = (0..self.geometry.blocks).map(BlockId).filter(unfilled).count();
        match filled().count() != open || filled().any(|at| self.blocks.programmed(at.block) != at.next_page) {
            true => Err("blocks are open that nothing fills, or filled with gaps".to_string()),
            false => Ok(()),
        }
    }

    /// Checks, but for dynamic allocation, that pages lie in the pools of their addresses: else a pool could fill up so that no block can
    /// be freed.
    fn every_page_is_in_its_pool(&self, allocation: Allocation) -> Result<(), String> {
        let elsewhere = |&lpn: &Lpn| self.lookup(lpn).is_some_and(|ppn| self.geometry.pool_of_page(ppn) != self.geometry.static_pool(lpn));
        let mut all = (0..self.geometry.logical_units).map(Lpn);
        match all.find(elsewhere).filter(|_| allocation != Allocation::Dynamic) {
            Some(lpn) => Err(format!("page {lpn} lies in another pool than ftl.allocation sends it to")),
            None => Ok(()),
        }
    }

    /// Checks that each pool has its reserve of free blocks, as it always has between jobs: a job could not begin without it.
    fn every_pool_has_its_reserve(&self) -> Result<(), String> {
        let mut pools = (0..self.geometry.pools.count.get()).map(PoolId);
        match pools.find(|&pool| self.blocks.free_count(pool) < RESERVE) {
            Some(pool) => Err(format!("pool {pool} has no free block, so nothing can be collected there")),
            None => Ok(()),
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
            std::io::BufRead::read_line(&mut std::io::Read::by_ref(&mut reader).take(1_000), &mut text).map_err(|e| e.to_string())?;
            Ok::<_, String>(text.trim_end().to_string())
        };
        if line()? != magic() {
            return Err("this is not a drive state saved by ssdlab (or one of another version)".to_string());
        }
        if line()? != shape_hash(config) {
            return Err(format!(
                "the state was saved for a drive of another shape: geometry, over-provisioning, ftl.allocation, ftl.pool, ftl.frontier, \
                 ftl.reclaim_unit, ftl.namespaces, ftl.placement with its handles, ftl.map_unit_bytes, ftl.parity_stripe, {}, and whether and by which \
                 ftl.map_page_bytes and ftl.map_entry_bytes part of the mapping table is in flash (ftl.map_cache_bytes) must be the same",
                Config::SHAPE_OF_SLC
            ));
        }
        let mut ftl = Ftl::new(config);
        let mut decoder = Decoder::new(reader, blake3::Hasher::new())?;
        let forward = decoder.array(ftl.geometry.logical_units as usize)?;
        let backward = decoder.array(ftl.geometry.units as usize)?;
        let saved = ftl.streams.saved();
        let pools = decoder.array(2 * saved * ftl.pools.len())?;
        let filled = decoder.array(1)?[0];
        ftl.map = Mapping::from_parts(&ftl.geometry, forward, backward, filled)?;
        for (pool, stored) in ftl.pools.iter_mut().zip(pools.chunks_exact(2 * saved)) {
            for (open, stored) in pool.open.iter_mut().zip(stored.chunks_exact(2)) {
                *open = Frontier { block: BlockId(stored[0]), next_page: stored[1] };
            }
        }
        ftl.every_open_block_is_used()?;
        let mut next = |like: Vec<Vec<u32>>| like.iter().map(|array| decoder.array(array.len())).collect::<Result<Vec<_>, _>>();
        ftl.blocks = Blocks::from_parts(&ftl.geometry, &next(ftl.blocks.parts())?)?;
        let superblocks = next(ftl.superblock_arrays())?;
        let placed = next(ftl.placer.parts())?;
        decoder.finish()?;
        ftl.restore_streams()?;
        ftl.placer.restore(&placed)?;
        ftl.restore_superblocks(&superblocks)?;
        ftl.blocks.restore_slc(&ftl.geometry)?;
        ftl.recount_mapped();
        // The hash detects damage; a file that another program wrote may have the right hash and contradict itself.
        ftl.check()
            .and_then(|()| ftl.nothing_is_under_way())
            .and_then(|()| ftl.every_page_is_in_its_pool(config.ftl.allocation))
            .and_then(|()| ftl.every_pool_has_its_reserve())
            .map_err(|reason| format!("the file contradicts itself: {reason}"))?;
        Ok(ftl)
    }
}

/// Writes arrays, compressed, and a hash of them at the end.
pub(super) struct Encoder<W: Write> {
    inner: zstd::Encoder<'static, W>,
    hash: blake3::Hasher,
}

impl<W: Write> Encoder<W> {
    pub(super) fn new(writer: W, hash: blake3::Hasher) -> std::io::Result<Self> {
        Ok(Encoder { inner: zstd::Encoder::new(writer, 3)?, hash })
    }

    pub(super) fn array(&mut self, values: &[u32]) -> std::io::Result<()> {
        self.bytes(&(values.len() as u64).to_le_bytes())?;
        let mut buffer = Vec::with_capacity(1 << 16);
        for chunk in values.chunks(1 << 14) {
            buffer.clear();
            buffer.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
            self.bytes(&buffer)?;
        }
        Ok(())
    }

    /// Writes bytes behind their number.
    pub(super) fn text(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.bytes(&(bytes.len() as u64).to_le_bytes())?;
        self.bytes(bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.hash.update(bytes);
        self.inner.write_all(bytes)
    }

    pub(super) fn finish(mut self) -> std::io::Result<()> {
        self.inner.write_all(self.hash.finalize().as_bytes())?;
        self.inner.finish()?.flush()
    }
}

/// Reads what [`Encoder`] has written.
pub(super) struct Decoder<R: BufRead> {
    inner: zstd::Decoder<'static, R>,
    hash: blake3::Hasher,
}

impl<R: BufRead> Decoder<R> {
    pub(super) fn new(reader: R, hash: blake3::Hasher) -> Result<Self, String> {
        Ok(Decoder { inner: zstd::Decoder::with_buffer(reader).map_err(|error| error.to_string())?, hash })
    }

    /// The inverse of [`Encoder::text`].
    pub(super) fn text(&mut self) -> Result<Vec<u8>, String> {
        let mut length = [0; 8];
        self.bytes(&mut length)?;
        let (length, mut text) = (u64::from_le_bytes(length), Vec::new());
        // Damaged, the length may be any number: room is made as bytes come.
        let read = self.inner.by_ref().take(length).read_to_end(&mut text).map_err(|_| TRUNCATED.to_string())?;
        self.hash.update(&text);
        if read as u64 == length { Ok(text) } else { Err(TRUNCATED.to_string()) }
    }

    /// Reads an array of the length that it must have.
    pub(super) fn array(&mut self, expected: usize) -> Result<Vec<u32>, String> {
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
        self.inner.read_exact(bytes).map_err(|_| TRUNCATED.to_string())?;
        self.hash.update(bytes);
        Ok(())
    }

    /// Checks the hash, and that nothing comes after it.
    pub(super) fn finish(mut self) -> Result<(), String> {
        let mut stored = [0; 32];
        self.inner.read_exact(&mut stored).map_err(|_| TRUNCATED.to_string())?;
        if !matches!(self.inner.read(&mut [0]), Ok(0)) {
            return Err("the file is damaged (there is more in it than a state)".to_string());
        }
        if *self.hash.finalize().as_bytes() == stored { Ok(()) } else { Err("the file is damaged (its hash differs)".to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use serde_json::{Value, json};
    use ssdlab_keys::config::schema::{KeyInfo, Kind, keys};
    use ssdlab_keys::config::{Frontier as Frontiers, ReclaimUnit, Streams, validate};

    /// A small drive, half of which is written once.
    fn drive() -> (Config, Ftl) {
        let mut config = Config::default();
        config.device.blocks_per_plane = 8;
        config.device.pages_per_block = 4;
        config.device.overprovisioning = 0.5;
        let mut ftl = Ftl::new(&config);
        ftl.fill(ftl.geometry.exported_units / 2);
        (config, ftl)
    }

    fn loaded(config: &Config, ftl: &Ftl) -> Result<Ftl, String> {
        let mut saved = Vec::new();
        ftl.save(config, &mut saved).unwrap();
        Ftl::load(config, saved.as_slice())
    }

    #[test]
    fn a_state_is_of_one_shape() {
        let (config, ftl) = drive();
        let mut saved = Vec::new();
        ftl.save(&config, &mut saved).unwrap();
        let changes: [fn(&mut Config); 5] = [
            |c| c.device.overprovisioning += 0.1,
            |c| c.ftl.map_unit_bytes = Some(c.device.page_bytes / 2),
            |c| c.device.pages_per_program = 2,
            |c| c.ftl.parity_stripe = 4,
            |c| c.ftl.map_cache_bytes = 4_096,
        ];
        for change in changes {
            let mut other = config.clone();
            change(&mut other);
            let error = Ftl::load(&other, saved.as_slice()).expect_err("it is of another shape");
            assert!(error.starts_with("the state was saved for a drive of another shape"), "{error}");
        }
    }

    #[test]
    fn arrays_longer_than_a_buffer_read_back_the_same() {
        let mut config = Config::default();
        config.device.channels = 1;
        config.device.blocks_per_plane = 8;
        config.device.pages_per_block = 1 << 13;
        config.device.overprovisioning = 0.5;
        let mut ftl = Ftl::new(&config);
        let exported = ftl.geometry.exported_units;
        assert!(exported > 1 << 14, "{exported}");
        ftl.fill(exported - 1);
        let again = loaded(&config, &ftl).unwrap();
        assert_eq!((0..exported).map(Lpn).find(|&lpn| again.lookup(lpn) != ftl.lookup(lpn)), None);
    }

    #[test]
    fn a_state_with_the_right_hash_that_contradicts_itself_is_refused() {
        let (config, ftl) = drive();
        loaded(&config, &ftl).unwrap().check().unwrap();
        let nowhere = {
            let mut ftl = ftl.clone();
            let pages = ftl.geometry.units;
            ftl.map.set(&ftl.geometry, Lpn(0), ssdlab_base::units::Ppn(pages));
            ftl
        };
        assert!(loaded(&config, &nowhere).unwrap_err().contains("pages that the drive does not have"));
        let elsewhere = {
            let mut ftl = ftl.clone();
            ftl.map.set(&ftl.geometry, Lpn(0), ftl.lookup(Lpn(1)).unwrap());
            ftl
        };
        assert!(loaded(&config, &elsewhere).unwrap_err().contains("contradicts itself: page 0"));
        let with_a_gap = {
            let mut ftl = ftl.clone();
            ftl.pools[0].open[0].next_page = 2;
            ftl
        };
        assert!(loaded(&config, &with_a_gap).unwrap_err().contains("contradicts itself"));
    }

    /// A saved state: its first two lines, and the rest decompressed.
    fn unpacked(config: &Config, ftl: &Ftl) -> (Vec<u8>, Vec<u8>) {
        let mut saved = Vec::new();
        ftl.save(config, &mut saved).unwrap();
        let ends: Vec<usize> = (0..saved.len()).filter(|&at| saved[at] == b'\n').collect();
        let packed = saved.split_off(ends[1] + 1);
        (saved, zstd::decode_all(packed.as_slice()).unwrap())
    }

    #[test]
    fn damage_is_found_whatever_the_compression_says() {
        let (config, ftl) = drive();
        let (head, whole) = unpacked(&config, &ftl);
        let load = |content: &[u8]| {
            let bytes = [head.clone(), zstd::encode_all(content, 3).unwrap()].concat();
            Ftl::load(&config, bytes.as_slice()).map(|_| ())
        };
        load(&whole).unwrap();
        let refused = |reason: &str, damage: fn(&mut Vec<u8>)| {
            let mut content = whole.clone();
            damage(&mut content);
            let found = load(&content).expect_err(reason);
            assert!(found.contains(reason), "{reason}: {found}");
        };
        refused("its hash differs", |content| *content.last_mut().unwrap() ^= 1);
        refused("more in it than a state", |content| content.push(0));
        refused("truncated", |content| _ = content.pop());
        // The first eight bytes are the length of the first array.
        refused("an array has the wrong length", |content| content[0] ^= 1);
    }

    /// A state saved after a run: what erases in SLC mode have spared a block is known in the next.
    #[test]
    fn wear_of_erases_in_slc_mode_is_loaded() {
        let (mut config, _) = drive();
        (config.device.blocks_per_plane, config.device.pages_per_block) = (32, 8);
        (config.slc.static_blocks, config.slc.wear, config.ftl.frontier) = (1, 0.5, Frontiers::Separate);
        validate(&config).expect("a drive");
        let mut ftl = Ftl::new(&config);
        ftl.blocks.columns.spared[0] = 1_500_000;
        let facts = loaded(&config, &ftl).unwrap().block_facts(BlockId(0));
        assert_eq!((facts, facts.spared), (ftl.block_facts(BlockId(0)), 1_500_000));
    }

    #[test]
    fn a_drive_on_which_host_and_jobs_fill_one_block_is_loaded() {
        let (mut config, _) = drive();
        config.ftl.frontier = Frontiers::Shared;
        let mut ftl = Ftl::new(&config);
        ftl.fill(ftl.geometry.exported_units - 1);
        loaded(&config, &ftl).unwrap().check().unwrap();
    }

    /// Values that a key may have in place of `current`, some of them perhaps not valid.
    fn others(key: &KeyInfo, current: &Value) -> Vec<Value> {
        let choices = key.choices.iter().map(|choice| json!(choice.name));
        let whole = [1, 2, 4, 512, 2_048].map(|n| json!(n));
        let values: Vec<Value> = match key.kind {
            Kind::Boolean => vec![json!(current == &json!(false))],
            Kind::Choice => choices.collect(),
            Kind::Integer => whole.into_iter().chain(current.as_u64().into_iter().flat_map(|n| [json!(n + 1), json!(2 * n)])).collect(),
            Kind::Number => [0.5, 1.0, 2.0].map(|factor| json!(factor * current.as_f64().unwrap_or(1.0))).to_vec(),
            Kind::List => choices.chain(whole).map(|entry| json!([entry])).collect(),
            Kind::Text => ["dynamic", "PDWC"].map(|text| json!(text)).to_vec(),
        };
        values.into_iter().filter(|value| value != current).collect()
    }

    /// The shape of a drive and its streams, without what may differ: blocks that can turn to SLC mode, and streams for redirected writes.
    fn shape(ftl: &Ftl) -> String {
        let mut geometry = ftl.geometry.clone();
        let always_in_cache = geometry.slc.take().map(|slc| (slc.static_from, slc.static_each));
        let Streams { host, moves, host_classes, move_classes, slc, map, .. } = ftl.streams;
        format!("{geometry:?} {always_in_cache:?} {:?}", (ftl.streams.saved(), host, moves, host_classes, move_classes, slc, map))
    }

    /// A key that shapes a state and is missing in [`shape_hash`] would let a run begin with the state of another drive.
    #[test]
    fn every_key_that_shapes_a_state_changes_the_hash() {
        let mechanisms: [fn(&mut Config); 9] = [
            |_| (),
            |c| (c.ftl.map_unit_bytes, c.device.pages_per_program) = (Some(c.device.page_bytes / 2), 2),
            |c| c.ftl.parity_stripe = 4,
            |c| (c.ftl.map_cache_bytes, c.ftl.map_page_bytes) = (65_536, Some(2 * c.device.page_bytes)),
            |c| (c.ftl.reclaim_unit, c.ftl.allocation) = (ReclaimUnit::Superblock, Allocation::Dynamic),
            |c| (c.ftl.placement, c.ftl.handles) = (Placement::Handles, 2),
            |c| (c.ftl.placement, c.ftl.groups) = (Placement::Oracle, 2),
            |c| c.slc.static_blocks = 1,
            |c| (c.slc.static_blocks, c.ftl.map_cache_bytes) = (1, 65_536),
        ];
        let mut shaping = BTreeSet::new();
        for mechanism in mechanisms {
            let mut base = Config::default();
            (base.device.channels, base.device.chips_per_channel, base.device.dies_per_chip, base.device.planes_per_die) = (2, 2, 1, 2);
            (base.device.blocks_per_plane, base.device.pages_per_block, base.device.overprovisioning) = (32, 8, 0.5);
            base.ftl.frontier = Frontiers::Separate;
            mechanism(&mut base);
            validate(&base).expect("a drive");
            let (hash, mut ftl, mut saved) = (shape_hash(&base), Ftl::new(&base), Vec::new());
            ftl.fill(ftl.geometry.exported_units);
            ftl.save(&base, &mut saved).unwrap();
            for key in keys() {
                for value in others(&key, &base.at(&key.name).expect("a key")) {
                    let mut tree = base.to_value();
                    let (section, name) = key.name.rsplit_once('.').expect("a section");
                    tree.pointer_mut(&format!("/{}", section.replace('.', "/"))).expect("a section")[name] = value.clone();
                    let Ok(config) = serde_json::from_value::<Config>(tree) else { continue };
                    if validate(&config).is_err() {
                        continue;
                    }
                    if shape_hash(&config) != hash {
                        shaping.insert(key.name.clone());
                        continue;
                    }
                    let same =
                        Ftl::load(&config, saved.as_slice()).is_ok_and(|other| other.check().is_ok() && shape(&other) == shape(&ftl));
                    assert!(same, "{} = {value} shapes a saved state: add it to shape_hash", key.name);
                }
            }
        }
        assert!(shaping.len() > 20, "{shaping:?}");
    }

    /// States that were saved before there were mapping units stay valid, for drives whose unit is the page.
    #[test]
    fn the_shape_of_a_drive_without_units_is_known_by_the_hash_it_always_had() {
        let (mut config, _) = drive();
        let pages = shape_hash(&config);
        assert_eq!(pages, "79a1c96b157002cd16b20c033fe6aebdd13900b1fc5899547d287b000c132aaa");
        config.ftl.map_unit_bytes = Some(config.device.page_bytes);
        assert_eq!(shape_hash(&config), pages, "a unit is a page");
        config.ftl.map_unit_bytes = Some(config.device.page_bytes / 2);
        let halves = shape_hash(&config);
        config.ftl.map_unit_bytes = Some(config.device.page_bytes / 4);
        assert!(halves != pages && shape_hash(&config) != halves);
    }

    /// Runs from the first two states would end with a panic. In the others a pool may fill up so that no write finds a page.
    #[test]
    fn a_state_that_no_run_could_go_on_from_is_refused() {
        let pool = PoolId(0);
        let refused = |spoil: &dyn Fn(&mut Ftl), reason: &str| {
            let (config, mut ftl) = drive();
            spoil(&mut ftl);
            let found = loaded(&config, &ftl).err().unwrap_or_else(|| panic!("it is loaded, and: {reason}"));
            assert!(found.contains(reason), "{found}");
        };
        let beyond = |ftl: &mut Ftl| ftl.pools[0].open[1].next_page = ftl.geometry.units_per_block.get() + 1;
        refused(&beyond, "fills block 0 from page 5 on, which cannot be");
        let twice = |ftl: &mut Ftl| {
            ftl.blocks.take_free(pool);
            let block = ftl.blocks.take_free(pool);
            ftl.pools[0].open[..2].fill(Frontier { block, next_page: 0 });
        };
        refused(&twice, "twice at a time");
        let swapped = |ftl: &mut Ftl| {
            let [zero, one] = [0, 1].map(|lpn| ftl.lookup(Lpn(lpn)).unwrap());
            for (lpn, ppn) in [(Lpn(0), one), (Lpn(1), zero)] {
                ftl.map.set(&ftl.geometry, lpn, ppn);
                ftl.map.program(ppn, lpn);
            }
        };
        refused(&swapped, "page 0 lies in another pool");
        let full = |ftl: &mut Ftl| {
            let pages = ftl.geometry.units_per_block.get();
            while ftl.blocks.free_count(pool) > 0 {
                let block = ftl.blocks.take_free(pool);
                ftl.blocks.programs_ended(pool, block, pages, pages);
                (0..pages).for_each(|page| ftl.blocks.invalidate(pool, block, page));
            }
        };
        refused(&full, "pool 0 has no free block");
    }
}
