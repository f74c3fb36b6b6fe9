//! Addresses: how channels, chips, dies, planes, blocks and pages are numbered, and where static allocation puts a page.
//!
//! A *unit* is what the map has an entry for: a flash page, or, with `ftl.map_unit_bytes`, a part of it, of which a flash page holds
//! [`Geometry::units_per_flash_page`]. Addresses of the host ([`Lpn`]) and places in the flash ([`Ppn`]) count units.

use crate::config::{Allocation, Config, Dimension, MODES, Mode, PoolScope, SlcShape};
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, ChannelId, ChipId, DieId, Lpn, PlaneId, PoolId, Ppn};

/// What the array time of a page depends on. `flash::Timing` is the one place that turns it into times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageFacts {
    /// Offset of the flash page in its block, parity pages counted.
    pub offset: u32,
    /// The mode of its block.
    pub mode: Mode,
}

pub use crate::config::WHOLE;

/// What the age of a block and its wear depend on. `flash::Cells` and `flash::Failures` are the places that turn it into errors and failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// Number of its erases, in preparation and run.
    pub erases: u32,
    /// Wear that those in other modes than native have spared it, in units of 1 / [`WHOLE`] erases.
    pub spared: u64,
    /// Wear by its next erase, if its pulses are whole, in units of 1 / [`WHOLE`] erases.
    pub each: u64,
    /// Its mode.
    pub mode: Mode,
}

impl BlockFacts {
    /// A block after this number of erases, all of them in native mode, as is the next.
    pub fn after(erases: u32) -> Self {
        BlockFacts { erases, spared: 0, each: WHOLE, mode: Mode::Native }
    }

    /// The block after one more erase in its mode.
    #[must_use]
    pub fn erased(self) -> Self {
        BlockFacts { erases: self.erases + 1, spared: self.spared + WHOLE - self.each, ..self }
    }

    /// Wear that its next erase spares it beside what its mode does, if it wears by this share of one with whole pulses; both in units of 1 /
    /// [`WHOLE`] erases.
    pub fn spared_by_pulses(&self, wear: u64) -> u64 {
        (WHOLE - wear) * self.each / WHOLE
    }
}

/// Division by a fixed number through one multiplication (Lemire, Kaser, Kurz 2019): exact for every `u32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divisor {
    magic: u64,
    divisor: u32,
}

impl Divisor {
    /// Prepares division by `divisor`, which must not be 0.
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "division by zero");
        // For 1 the magic number would be 2^64; `split` treats it apart.
        Divisor { magic: if divisor == 1 { 0 } else { u64::MAX / u64::from(divisor) + 1 }, divisor }
    }

    /// Quotient and remainder of `n`.
    #[inline(always)]
    pub fn split(self, n: u32) -> (u32, u32) {
        if self.magic == 0 {
            return (n, 0);
        }
        let quotient = (u128::from(self.magic).wrapping_mul(u128::from(n)) >> 64) as u32;
        // The quotient is exact, so that nothing wraps.
        (quotient, n.wrapping_sub(quotient.wrapping_mul(self.divisor)))
    }

    /// Quotient of `n`.
    #[inline(always)]
    pub fn quotient(self, n: u32) -> u32 {
        self.split(n).0
    }

    /// The divisor itself.
    #[inline(always)]
    pub fn get(self) -> u32 {
        self.divisor
    }
}

/// The drive's shape. All numberings are dense and device-wide: chip = channel x chips + way, die = chip x dies + die, and so on down to pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Geometry {
    /// Number of channels.
    pub channels: u32,
    /// Number of chips.
    pub chips: u32,
    /// Number of dies.
    pub dies: u32,
    /// Number of planes.
    pub planes: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// Number of units that the flash holds (below 2^31 - 2: the map keeps a flag and two special values).
    pub units: u32,
    /// Mapping units in one flash page: 1 unless `ftl.map_unit_bytes` is set.
    pub units_per_flash_page: u32,
    /// Units that a program of a plane writes: those of one flash page, or of `device.pages_per_program`.
    pub units_per_program: u32,
    /// Binary logarithm of `units_per_flash_page`.
    unit_shift: u32,
    /// Number of units that the host can address.
    pub exported_units: u32,
    /// Number of units with an address: those of the host, and behind them those of the mapping table, where part of it is in flash only
    /// (`ftl.map_cache_bytes`).
    pub logical_units: u32,
    /// User bytes of a unit.
    pub unit_bytes: u32,
    /// Binary logarithm of `unit_bytes`; `None` if that is not a power of two.
    bytes_shift: Option<u32>,
    /// Dies on one channel.
    pub dies_per_channel: Divisor,
    /// Dies in one chip.
    pub dies_per_chip: Divisor,
    /// Dies of a station, from whose queue they take writes under dynamic allocation: those of a chip, or one where superblocks of several
    /// pools are filled die after die.
    pub dies_per_station: Divisor,
    /// Planes in one die.
    pub planes_per_die: Divisor,
    /// Blocks in one plane.
    pub blocks_per_plane: Divisor,
    /// Units in one block that hold data. Pages of parity have no numbers: they are programmed with the page before.
    pub units_per_block: Divisor,
    /// Places of the pages of parity; `None` without parity.
    parity: Option<Parity>,
    /// The cache of blocks in SLC mode; `None` without one.
    pub slc: Option<SlcShape>,
    /// By mode: units of a block that hold no data, those in front.
    pub skipped: [u32; MODES],
    /// By mode: wear of a block by an erase, in units of 1 / [`WHOLE`] erases.
    pub wear: [u64; MODES],
    /// Pools: their number, planes in each, and the striping of addresses over them.
    pub pools: Pools,
}

/// Places of the programs of parity in each block (`ftl.parity_stripe`): one in each stripe, never the first of a block, and at a place of
/// the stripe that differs from die to die, as if stripes went over dies.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Parity {
    /// Programs of data per stripe.
    data: Divisor,
    /// Whole stripes per block. The rest of a block has no parity.
    stripes: u32,
    /// Pages per program.
    program: Divisor,
}

impl Parity {
    fn new(config: &Config) -> Option<Self> {
        let (stripes, stripe) = (config.parity_programs(), config.ftl.parity_stripe);
        let program = Divisor::new(config.units_per_program());
        (stripes > 0).then(|| Parity { data: Divisor::new(stripe - 1), stripes, program })
    }

    /// Number of programs of parity in front of the data program number `program`, in a block of `die`.
    #[inline(always)]
    fn before(&self, die: DieId, program: u32) -> u32 {
        let (stripe, place) = self.data.split(program);
        if stripe < self.stripes { stripe + u32::from(place >= self.place(die)) } else { self.stripes }
    }

    /// A program of parity comes right behind the data program number `program`, in a block of `die`.
    #[inline(always)]
    fn follows(&self, die: DieId, program: u32) -> bool {
        let (stripe, place) = self.data.split(program);
        stripe < self.stripes && place + 1 == self.place(die)
    }

    /// Programs of data in front of that of parity in each stripe of the blocks of `die`.
    #[inline(always)]
    fn place(&self, die: DieId) -> u32 {
        1 + self.data.split(die.0).1
    }
}

/// The translation pages, by which the mapping table is stored in flash (`ftl.map_cache_bytes`).
#[derive(Clone, Copy, Debug)]
pub struct MapPages {
    /// Entries per translation page.
    entries: Divisor,
    /// Mapping units per translation page.
    units_each: u32,
    /// First logical page of the mapping table: the number of pages of the host.
    exported: u32,
}

impl MapPages {
    /// The translation pages of a checked configuration, which map all pages of the host.
    pub fn new(config: &Config, geometry: &Geometry) -> Self {
        MapPages {
            entries: Divisor::new(config.entries_per_map_page()),
            units_each: config.map_page_bytes() / config.map_unit_bytes(),
            exported: geometry.exported_units,
        }
    }

    /// Number of translation pages.
    pub fn count(&self) -> u32 {
        self.page_of(self.exported - 1) + 1
    }

    /// The translation page with the entry of page `lpn` of the host.
    #[inline(always)]
    pub fn page_of(&self, lpn: u32) -> u32 {
        self.entries.quotient(lpn)
    }

    /// The pages of the host whose entries translation page `page` has.
    pub fn mapped_by(&self, page: u32) -> std::ops::Range<u32> {
        let first = page * self.entries.get();
        first..(first + self.entries.get()).min(self.exported)
    }

    /// The logical pages that translation page `page` takes.
    pub fn units_of(&self, page: u32) -> std::ops::Range<u32> {
        let first = self.exported + page * self.units_each;
        first..first + self.units_each
    }
}

/// Pools and the static striping of logical pages over them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pools {
    /// Number of pools.
    pub count: Divisor,
    /// Planes that share one pool: 1, or all of a die.
    pub planes_each: Divisor,
    /// Blocks in one pool.
    pub blocks_each: u32,
    /// Blocks in one pool, as a divisor: the pool of a block is its number divided by this.
    blocks_divisor: Divisor,
    /// Pools on one die: 1, or its planes.
    pub per_die: Divisor,
    /// Pools of a group, whose blocks form superblocks: 1 without superblocks.
    pub per_group: Divisor,
    /// Pool of each residue of the logical page number (that of the flash page).
    of_stripe: Vec<PoolId>,
    /// The inverse of `of_stripe`.
    stripe_of: Vec<u32>,
    /// The parts of the addresses that have dies of their own; `None` without namespaces.
    namespaces: Option<Box<Namespaces>>,
}

/// Namespaces (`ftl.namespaces`): each stripes its part of the host's flash pages over its own pools. Every pool holds the same number of flash
/// pages of the host, so that addresses behind those of the host are striped over all pools, as without namespaces.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Namespaces {
    /// Flash pages of the host in each pool.
    rows: u32,
    /// By namespace: its first flash page.
    firsts: Vec<u32>,
    /// By namespace: its number of pools.
    counts: Vec<Divisor>,
    /// By namespace: the pool of each residue of the flash page in it.
    of_stripe: Vec<Vec<PoolId>>,
    /// By pool: its namespace, and its place there in `of_stripe`.
    of_pool: Vec<(u32, u32)>,
}

impl Namespaces {
    /// The namespaces of a checked configuration, which take the pools in the order of `of_stripe`. `rows`: flash pages of the host in each pool.
    fn new(config: &Config, of_stripe: &[PoolId], per_die: u32, rows: u32) -> Option<Box<Self>> {
        let of_dies = config.namespace_of_dies();
        if of_dies.is_empty() {
            return None;
        }
        let mut pools = vec![Vec::new(); config.ftl.namespaces.len()];
        let mut of_pool = vec![(0, 0); of_stripe.len()];
        for &pool in of_stripe {
            let namespace = of_dies[(pool.0 / per_die) as usize];
            let own: &mut Vec<PoolId> = &mut pools[namespace as usize];
            of_pool[pool.index()] = (namespace, own.len() as u32);
            own.push(pool);
        }
        let counts = pools.iter().map(|own| own.len() as u32);
        let firsts = counts.clone().scan(0, |first, count| Some(std::mem::replace(first, *first + rows * count)));
        Some(Box::new(Namespaces { rows, firsts: firsts.collect(), counts: counts.map(Divisor::new).collect(), of_stripe: pools, of_pool }))
    }

    /// The pool of a flash page of the host, and its place among the flash pages of that pool.
    fn home(&self, page: u32) -> (PoolId, u32) {
        let namespace = self.firsts.partition_point(|&first| first <= page) - 1;
        let (row, stripe) = self.counts[namespace].split(page - self.firsts[namespace]);
        (self.of_stripe[namespace][stripe as usize], row)
    }

    /// The flash page of the host at place `row` of a pool: the inverse of [`Namespaces::home`].
    fn page_at(&self, pool: PoolId, row: u32) -> u32 {
        let (namespace, stripe) = self.of_pool[pool.index()];
        self.firsts[namespace as usize] + row * self.counts[namespace as usize].get() + stripe
    }
}

impl Geometry {
    /// The geometry of a checked configuration.
    pub fn new(config: &Config) -> Self {
        let device = &config.device;
        let chips = device.channels * device.chips_per_channel;
        let dies = chips * device.dies_per_chip;
        let planes = dies * device.planes_per_die;
        let blocks = planes * device.blocks_per_plane;
        let units_per_page = config.units_per_page();
        let pages_per_block = config.data_units_per_block();
        let pages = blocks * pages_per_block;
        let counted_per_block = if config.ftl.parity_in_spare { device.pages_per_block * units_per_page } else { pages_per_block };
        let page_bytes = device.page_bytes / units_per_page;
        let mut pools = Pools::new(config);
        let exported = (f64::from(blocks * counted_per_block) * (1.0 - device.overprovisioning)).floor() as u32;
        let exported = exported - exported % config.exported_in(pools.count.get().into()) as u32;
        let rows = exported / units_per_page / pools.count.get();
        pools.namespaces = Namespaces::new(config, &pools.of_stripe, pools.per_die.get(), rows);
        Geometry {
            channels: device.channels,
            chips,
            dies,
            planes,
            blocks,
            units: pages,
            units_per_flash_page: units_per_page,
            units_per_program: config.units_per_program(),
            unit_shift: units_per_page.trailing_zeros(),
            exported_units: exported,
            logical_units: exported + config.map_units(exported.into(), pools.count.get().into()) as u32,
            unit_bytes: page_bytes,
            bytes_shift: page_bytes.is_power_of_two().then(|| page_bytes.trailing_zeros()),
            dies_per_channel: Divisor::new(dies / device.channels),
            dies_per_chip: Divisor::new(device.dies_per_chip),
            dies_per_station: Divisor::new(if pools.per_group.get() > 1 { 1 } else { device.dies_per_chip }),
            planes_per_die: Divisor::new(device.planes_per_die),
            blocks_per_plane: Divisor::new(device.blocks_per_plane),
            units_per_block: Divisor::new(pages_per_block),
            parity: Parity::new(config),
            slc: SlcShape::new(config),
            skipped: config.modes().map(|mode| mode.skipped),
            wear: config.modes().map(|mode| mode.wear),
            pools,
        }
    }

    /// Bytes that the host can address.
    pub fn exported_bytes(&self) -> u64 {
        u64::from(self.exported_units) * u64::from(self.unit_bytes)
    }

    /// Bytes of all logical units, including those of the mapping table.
    #[inline]
    pub fn logical_bytes(&self) -> u64 {
        u64::from(self.logical_units) * u64::from(self.unit_bytes)
    }

    /// Whether a logical page belongs to the mapping table.
    #[inline(always)]
    pub fn is_of_map(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.exported_units
    }

    /// Number of whole units in `bytes`.
    #[inline(always)]
    pub fn units_in(&self, bytes: u64) -> u64 {
        match self.bytes_shift {
            Some(shift) => bytes >> shift,
            None => bytes / u64::from(self.unit_bytes),
        }
    }

    /// Number of units that `bytes` touch if they begin at the start of a unit.
    #[inline(always)]
    pub fn units_over(&self, bytes: u64) -> u64 {
        self.units_in(bytes + u64::from(self.unit_bytes - 1))
    }

    /// Block of a physical page, and the page's offset in it.
    #[inline(always)]
    pub fn split_page(&self, ppn: Ppn) -> (BlockId, u32) {
        let (block, page) = self.units_per_block.split(ppn.0);
        (BlockId(block), page)
    }

    /// The physical page at an offset of a block.
    #[inline(always)]
    pub fn page(&self, block: BlockId, offset: u32) -> Ppn {
        Ppn(block.0 * self.units_per_block.get() + offset)
    }

    /// Offset, in its block, of the flash page that a physical page lies in.
    #[inline(always)]
    pub fn flash_page(&self, ppn: Ppn) -> u32 {
        let (block, offset) = self.split_page(ppn);
        let page = offset >> self.unit_shift;
        match &self.parity {
            None => page,
            Some(parity) => page + self.parity_before(parity, block, offset) * (self.units_per_program >> self.unit_shift),
        }
    }

    /// Offset of the flash page of parity that is programmed with the data program beginning at `first`; `None` if that does not complete a
    /// stripe.
    #[inline(always)]
    pub fn parity_with(&self, first: Ppn) -> Option<u32> {
        let parity = self.parity.as_ref()?;
        let (block, offset) = self.split_page(first);
        let completes = parity.follows(self.die_of_pool(self.pool_of_block(block)), parity.program.quotient(offset));
        completes.then(|| self.flash_page(first) + (self.units_per_program >> self.unit_shift))
    }

    /// Number of programs of parity for data programs of a block from page `from` to before page `end`; both must begin programs.
    #[inline(always)]
    pub fn parity_between(&self, block: BlockId, from: u32, end: u32) -> u32 {
        let Some(parity) = &self.parity else { return 0 };
        self.parity_before(parity, block, end) - self.parity_before(parity, block, from)
    }

    /// Number of programs of parity in a block before the data program that page `offset` lies in.
    #[inline]
    fn parity_before(&self, parity: &Parity, block: BlockId, offset: u32) -> u32 {
        parity.before(self.die_of_pool(self.pool_of_block(block)), parity.program.quotient(offset))
    }

    /// The first of the pages in the same flash page.
    #[inline(always)]
    pub fn first_in_flash_page(&self, ppn: Ppn) -> Ppn {
        Ppn(ppn.0 & !(self.units_per_flash_page - 1))
    }

    /// Units of a block that hold data in a mode.
    #[inline(always)]
    pub fn units_in_mode(&self, mode: Mode) -> u32 {
        self.units_per_block.get() - self.skipped[mode as usize]
    }

    /// A block is always in SLC mode.
    pub fn is_static(&self, block: BlockId) -> bool {
        self.slc.is_some_and(|slc| self.blocks_per_plane.split(block.0).1 >= slc.static_from)
    }

    /// The plane of a block.
    #[inline(always)]
    pub fn plane_of_block(&self, block: BlockId) -> PlaneId {
        PlaneId(self.blocks_per_plane.quotient(block.0))
    }

    /// The pool of a block.
    #[inline(always)]
    pub fn pool_of_block(&self, block: BlockId) -> PoolId {
        PoolId(self.pools.blocks_divisor.quotient(block.0))
    }

    /// The pool of a physical page.
    #[inline(always)]
    pub fn pool_of_page(&self, ppn: Ppn) -> PoolId {
        self.pool_of_block(self.split_page(ppn).0)
    }

    /// The die of a pool.
    #[inline(always)]
    pub fn die_of_pool(&self, pool: PoolId) -> DieId {
        DieId(self.pools.per_die.quotient(pool.0))
    }

    /// The pools of a die.
    #[inline(always)]
    pub fn pools_of_die(&self, die: DieId) -> std::ops::Range<u32> {
        let each = self.pools.per_die.get();
        die.0 * each..(die.0 + 1) * each
    }

    /// What is filled, collected and erased as one has blocks of several pools.
    #[inline(always)]
    pub fn spans_pools(&self) -> bool {
        self.pools.per_group.get() > 1
    }

    /// Number of the group of a pool: the pools whose blocks form superblocks. Without superblocks each pool is a group.
    #[inline(always)]
    pub fn group_of_pool(&self, pool: PoolId) -> u32 {
        self.pools.per_group.quotient(pool.0)
    }

    /// The first pool of the group of `pool`, which stands for the group.
    #[inline(always)]
    pub fn lead_pool(&self, pool: PoolId) -> PoolId {
        PoolId(self.group_of_pool(pool) * self.pools.per_group.get())
    }

    /// The pools of the group of `pool`.
    #[inline(always)]
    pub fn pools_of_group(&self, pool: PoolId) -> std::ops::Range<u32> {
        let lead = self.lead_pool(pool).0;
        lead..lead + self.pools.per_group.get()
    }

    /// Units of what is filled, collected and erased as one that hold data.
    #[inline(always)]
    pub fn units_per_reclaim(&self) -> u32 {
        self.units_per_block.get() * self.pools.per_group.get()
    }

    /// The chip of a die.
    #[inline(always)]
    pub fn chip_of_die(&self, die: DieId) -> ChipId {
        ChipId(self.dies_per_chip.quotient(die.0))
    }

    /// The station from which a die takes writes under dynamic allocation.
    #[inline(always)]
    pub fn station_of_die(&self, die: DieId) -> u32 {
        self.dies_per_station.quotient(die.0)
    }

    /// The dies of a station.
    #[inline(always)]
    pub fn dies_of_station(&self, station: u32) -> std::ops::Range<u32> {
        let each = self.dies_per_station.get();
        station * each..(station + 1) * each
    }

    /// Number of stations.
    pub fn stations(&self) -> u32 {
        self.dies_per_station.quotient(self.dies)
    }

    /// The dies of a chip.
    #[inline(always)]
    pub fn dies_of_chip(&self, chip: ChipId) -> std::ops::Range<u32> {
        let each = self.dies_per_chip.get();
        chip.0 * each..(chip.0 + 1) * each
    }

    /// The channel of a die.
    #[inline(always)]
    pub fn channel_of_die(&self, die: DieId) -> ChannelId {
        ChannelId(self.dies_per_channel.quotient(die.0))
    }

    /// The dies of a channel.
    #[inline(always)]
    pub fn dies_of_channel(&self, channel: ChannelId) -> std::ops::Range<u32> {
        let each = self.dies_per_channel.get();
        channel.0 * each..(channel.0 + 1) * each
    }

    /// The `index`-th block of a pool in its initial order: for a pool of several planes, block by block over the planes.
    #[inline(always)]
    pub fn block_of_pool(&self, pool: PoolId, index: u32) -> BlockId {
        let (row, plane) = self.pools.planes_each.split(index);
        BlockId((pool.0 * self.pools.planes_each.get() + plane) * self.blocks_per_plane.get() + row)
    }

    /// Pool of a block and the block's index in it: the inverse of [`Geometry::block_of_pool`].
    #[inline(always)]
    fn index_in_pool(&self, block: BlockId) -> (PoolId, u32) {
        let (plane, row) = self.blocks_per_plane.split(block.0);
        let (pool, plane_in_pool) = self.pools.planes_each.split(plane);
        (PoolId(pool), row * self.pools.planes_each.get() + plane_in_pool)
    }

    /// The pool to which static allocation sends a logical page, and its rank among that pool's pages.
    #[inline(always)]
    pub fn home(&self, lpn: Lpn) -> (PoolId, u32) {
        let (pool, row) = match &self.pools.namespaces {
            Some(namespaces) if lpn.0 < self.exported_units => namespaces.home(lpn.0 >> self.unit_shift),
            _ => {
                let (row, stripe) = self.pools.count.split(lpn.0 >> self.unit_shift);
                (self.pools.of_stripe[stripe as usize], row)
            }
        };
        (pool, row << self.unit_shift | lpn.0 & (self.units_per_flash_page - 1))
    }

    /// The namespace of a pool, from 0; `None` without namespaces.
    pub fn namespace_of_pool(&self, pool: PoolId) -> Option<u32> {
        self.pools.namespaces.as_ref().map(|namespaces| namespaces.of_pool[pool.index()].0)
    }

    /// Number of units of a pool that a sequential fill of the first `units` units, whole flash pages, has filled.
    pub fn filled_units(&self, pool: PoolId, units: u32) -> u32 {
        let pages = units >> self.unit_shift;
        let striped = |pages: u32| (pages.saturating_sub(self.pools.stripe_of[pool.index()])).div_ceil(self.pools.count.get());
        let rows = match &self.pools.namespaces {
            Some(namespaces) if units < self.exported_units => {
                let (namespace, stripe) = namespaces.of_pool[pool.index()];
                let count = namespaces.counts[namespace as usize].get();
                let own = pages.saturating_sub(namespaces.firsts[namespace as usize]).saturating_sub(stripe);
                own.div_ceil(count).min(namespaces.rows)
            }
            _ => striped(pages),
        };
        rows << self.unit_shift
    }

    /// The pool to which static allocation sends a logical page.
    #[inline(always)]
    pub fn static_pool(&self, lpn: Lpn) -> PoolId {
        self.home(lpn).0
    }

    /// Where a sequential fill puts a logical page.
    #[inline]
    pub fn filled_place(&self, lpn: Lpn) -> Ppn {
        let (pool, rank) = self.home(lpn);
        let (index, offset) = self.units_per_block.split(rank);
        self.page(self.block_of_pool(pool, index), offset)
    }

    /// Which logical page a sequential fill puts at a physical page: the inverse of [`Geometry::filled_place`].
    #[inline]
    pub fn filled_content(&self, ppn: Ppn) -> Lpn {
        let (block, offset) = self.split_page(ppn);
        let (pool, index) = self.index_in_pool(block);
        let rank = index * self.units_per_block.get() + offset;
        let row = rank >> self.unit_shift;
        let flash_page = match &self.pools.namespaces {
            Some(namespaces) if row < namespaces.rows => namespaces.page_at(pool, row),
            _ => row * self.pools.count.get() + self.pools.stripe_of[pool.index()],
        };
        Lpn(flash_page << self.unit_shift | rank & (self.units_per_flash_page - 1))
    }
}

impl Pools {
    /// The pools in the order in which addresses are striped over them, without namespaces.
    pub fn striped(&self) -> &[PoolId] {
        &self.of_stripe
    }

    fn new(config: &Config) -> Self {
        let device = &config.device;
        let dies = device.channels * device.chips_per_channel * device.dies_per_chip;
        let per_die = match config.ftl.pool {
            PoolScope::Plane => device.planes_per_die,
            PoolScope::Die => 1,
        };
        let planes_each = device.planes_per_die / per_die;
        let count = dies * per_die;
        let order = match config.ftl.allocation {
            Allocation::Static(order) => order,
            // Without an address rule, pages filled in order still have to lie somewhere: as under the default permutation.
            Allocation::Dynamic => match Allocation::default() {
                Allocation::Static(order) => order,
                Allocation::Dynamic => unreachable!("the default allocation is static"),
            },
        };
        let of_stripe: Vec<PoolId> = (0..count).map(|stripe| stripe_to_pool(config, order, per_die, stripe)).collect();
        let mut stripe_of = vec![0; count as usize];
        for (stripe, pool) in of_stripe.iter().enumerate() {
            stripe_of[pool.index()] = stripe as u32;
        }
        Pools {
            count: Divisor::new(count),
            planes_each: Divisor::new(planes_each),
            blocks_each: planes_each * device.blocks_per_plane,
            blocks_divisor: Divisor::new(planes_each * device.blocks_per_plane),
            per_die: Divisor::new(per_die),
            per_group: Divisor::new(config.pools_per_group()),
            of_stripe,
            stripe_of,
            namespaces: None,
        }
    }
}

/// The pool of residue `stripe` of the page number. `order`: fastest-changing dimension first; planes are not striped over if a die has one
/// pool.
fn stripe_to_pool(config: &Config, order: [Dimension; 4], pools_per_die: u32, stripe: u32) -> PoolId {
    let device = &config.device;
    let (mut channel, mut way, mut die, mut plane) = (0, 0, 0, 0);
    let mut rest = stripe;
    for dimension in order {
        let (slot, size) = match dimension {
            Dimension::Channel => (&mut channel, device.channels),
            Dimension::Way => (&mut way, device.chips_per_channel),
            Dimension::Die => (&mut die, device.dies_per_chip),
            Dimension::Plane => (&mut plane, pools_per_die),
        };
        *slot = rest % size;
        rest /= size;
    }
    let chip = channel * device.chips_per_channel + way;
    PoolId((chip * device.dies_per_chip + die) * pools_per_die + plane)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(allocation: &str, pool: PoolScope) -> Geometry {
        small_with_units(allocation, pool, 1)
    }

    fn small_with_units(allocation: &str, pool: PoolScope, units_per_page: u32) -> Geometry {
        let mut config = Config::default();
        config.device.channels = 2;
        config.device.chips_per_channel = 3;
        config.device.dies_per_chip = 2;
        config.device.planes_per_die = 2;
        config.device.blocks_per_plane = 8;
        config.device.pages_per_block = 4;
        config.ftl.allocation = allocation.parse().unwrap();
        config.ftl.pool = pool;
        config.ftl.map_unit_bytes = Some(config.device.page_bytes / units_per_page);
        Geometry::new(&config)
    }

    #[test]
    fn division_by_multiplication_is_exact() {
        for divisor in [1, 2, 3, 7, 64, 1000, 65_537, u32::MAX] {
            for n in [0, 1, 2, 6, 7, 63, 64, 65_536, u32::MAX - 1, u32::MAX] {
                assert_eq!(Divisor::new(divisor).split(n), (n / divisor, n % divisor));
            }
        }
    }

    #[test]
    fn cwdp_changes_channel_first_then_way_die_plane() {
        let geometry = small("CWDP", PoolScope::Plane);
        let pools: Vec<u32> = (0..8).map(|lpn| geometry.home(Lpn(lpn)).0.0).collect();
        // plane = ((channel * 3 + way) * 2 + die) * 2 + plane
        assert_eq!(pools, [0, 12, 4, 16, 8, 20, 2, 14]);
    }

    #[test]
    fn pdwc_changes_plane_first() {
        let geometry = small("PDWC", PoolScope::Plane);
        let pools: Vec<u32> = (0..5).map(|lpn| geometry.home(Lpn(lpn)).0.0).collect();
        assert_eq!(pools, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn units_of_one_flash_page_go_to_one_pool() {
        let geometry = small_with_units("CWDP", PoolScope::Plane, 4);
        let pools: Vec<u32> = (0..12).map(|lpn| geometry.home(Lpn(lpn)).0.0).collect();
        assert_eq!(pools, [0, 0, 0, 0, 12, 12, 12, 12, 4, 4, 4, 4]);
        assert_eq!((geometry.unit_bytes, geometry.units_per_block.get()), (1024, 16));
        assert_eq!((geometry.flash_page(Ppn(16 + 7)), geometry.first_in_flash_page(Ppn(16 + 7))), (1, Ppn(16 + 4)));
    }

    /// Every flash page of a block has either data or parity; each whole stripe has one program of parity, not always at one place.
    #[test]
    fn data_and_parity_share_the_flash_pages_of_a_block() {
        for (pages, together, units, stripe) in [(8, 1, 1, 2), (24, 1, 1, 5), (24, 3, 1, 4), (18, 3, 2, 5), (7, 1, 4, 7), (9, 1, 1, 4)] {
            let mut config = Config::default();
            (config.device.channels, config.device.pages_per_block, config.device.pages_per_program) = (4, pages, together);
            config.ftl.map_unit_bytes = Some(config.device.page_bytes / units);
            config.ftl.parity_stripe = stripe;
            let geometry = Geometry::new(&config);
            let data = geometry.units_per_block.get();
            let mut places = std::collections::BTreeSet::new();
            for pool in 0..geometry.pools.count.get() {
                let block = geometry.block_of_pool(PoolId(pool), 3);
                let mut of_page = vec![None; pages as usize];
                for offset in 0..data {
                    of_page[geometry.flash_page(geometry.page(block, offset)) as usize].get_or_insert(false);
                }
                let programs: Vec<u32> = (0..data).step_by(geometry.units_per_program as usize).collect();
                let mut counted = 0;
                for &first in &programs {
                    assert_eq!(geometry.parity_between(block, 0, first), counted);
                    let Some(page) = geometry.parity_with(geometry.page(block, first)) else { continue };
                    counted += 1;
                    places.insert(page / together % stripe);
                    for page in page..page + together {
                        assert_eq!(of_page[page as usize].replace(true), None, "page {page} has data");
                    }
                }
                let of_stripe = |at: &[Option<bool>]| at.iter().filter(|has| **has == Some(true)).count() as u32;
                for whole in of_page.chunks((stripe * together) as usize) {
                    let expected = if whole.len() as u32 == stripe * together { together } else { 0 };
                    assert_eq!(of_stripe(whole), expected, "{of_page:?}");
                }
                assert!(of_page.iter().all(Option::is_some), "{of_page:?}");
                assert_eq!(of_page[0], Some(false), "a block begins with data");
            }
            assert!(stripe == 2 || places.len() > 1, "{places:?}");
        }
    }

    #[test]
    fn a_sequential_fill_is_a_bijection_for_every_permutation_and_pool() {
        for allocation in Allocation::names() {
            for (pool, units) in [(PoolScope::Plane, 1), (PoolScope::Die, 1), (PoolScope::Plane, 4), (PoolScope::Die, 2)] {
                let geometry = small_with_units(&allocation, pool, units);
                let mut seen = vec![false; geometry.units as usize];
                for lpn in 0..geometry.exported_units {
                    let ppn = geometry.filled_place(Lpn(lpn));
                    assert!(!std::mem::replace(&mut seen[ppn.index()], true));
                    assert_eq!(geometry.filled_content(ppn), Lpn(lpn));
                    assert_eq!(geometry.pool_of_page(ppn), geometry.home(Lpn(lpn)).0);
                }
            }
        }
    }
}
