//! How old the cells of each block are, and how the reads of a block go (`errors.retry`).
//!
//! Time 0 is the start of the run; blocks that hold data by then were opened before.

use super::errors::{Age, DAY_NS, ErrorModel, Need};
use super::retry::{self, Pace, Steps};
use ssdlab_base::rng::Rng;
use ssdlab_base::units::{BlockId, Ns};
use ssdlab_keys::config::{Config, MODES, RetryPolicy};
use ssdlab_keys::geometry::{BlockFacts, Geometry, WHOLE};

/// The age of a block.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Erases before the preparation of the drive.
    base_cycles: u32,
    /// The step that was good for the last read.
    good: u8,
    /// The block is to be moved, and listed for that.
    is_due: bool,
    need: Need,
    /// Time by which the block was older than the run when it was opened, or else when it was opened, ns.
    older_ns: Ns,
    opened_ns: Ns,
    /// Array reads since it was opened.
    reads: u64,
    factor: f64,
}

/// No step holds: the next read computes it.
const UNKNOWN: Need = Need { step: 0, until_ns: 0, until_reads: 0 };

/// By block: erases before the preparation of the drive (`ftl.precondition.pe_cycles`).
pub(super) fn cycles_before(config: &Config, blocks: u32, seed: u64) -> Vec<u32> {
    let precondition = &config.ftl.precondition;
    let (least, most) = (precondition.pe_cycles, precondition.pe_cycles_max.unwrap_or(precondition.pe_cycles));
    let mut draws = Rng::new(seed, "errors/cycles");
    (0..blocks).map(|_| least + draws.below(u64::from(most - least) + 1) as u32).collect()
}

/// The cells of a drive.
#[derive(Clone, Debug)]
pub struct Cells {
    policy: RetryPolicy,
    /// By mode of the block.
    models: [ErrorModel; MODES],
    cells: Vec<Cell>,
    /// Array reads of a block at which it is moved.
    reclaim_reads: u64,
    /// Age of a block at which it is moved, ns.
    refresh_ns: Ns,
    /// The block whose last good step is taken for that of the next one: a planted defect.
    mixes_blocks: bool,
}

impl Cells {
    /// The cells of a drive, as old as configured. `None` if reads have no errors.
    pub fn new(config: &Config, geometry: &Geometry, seed: u64) -> Option<Box<Self>> {
        let errors = &config.errors;
        if !errors.is_on() {
            return None;
        }
        let precondition = &config.ftl.precondition;
        let mut draws = ["retention", "spread"].map(|of| Rng::new(seed, &format!("errors/{of}")));
        let days = [precondition.retention_days, precondition.retention_days_max.unwrap_or(precondition.retention_days)];
        let mut cell = |base_cycles| Cell {
            base_cycles,
            good: 0,
            is_due: false,
            need: UNKNOWN,
            older_ns: ((days[0] + (days[1] - days[0]) * draws[0].unit()) * DAY_NS) as Ns,
            opened_ns: 0,
            reads: 0,
            factor: 1.0 + errors.spread * (2.0 * draws[1].unit() - 1.0),
        };
        let pages = |skipped: u32| (geometry.units_per_block.get() - skipped) / geometry.units_per_flash_page;
        Some(Box::new(Cells {
            policy: errors.retry,
            models: config.modes().map(|mode| ErrorModel::new(errors, pages(mode.skipped), mode.errors)),
            cells: cycles_before(config, geometry.blocks, seed).into_iter().map(&mut cell).collect(),
            reclaim_reads: if errors.reclaim_reads == 0 { u64::MAX } else { errors.reclaim_reads },
            refresh_ns: if errors.refresh_days == 0.0 { Ns::MAX } else { (errors.refresh_days * DAY_NS) as Ns },
            mixes_blocks: false,
        }))
    }

    /// The first page of a block since its erase is about to be programmed.
    #[inline]
    pub fn opened(&mut self, now: Ns, block: BlockId) {
        let cell = &mut self.cells[block.index()];
        (cell.older_ns, cell.opened_ns, cell.reads, cell.good, cell.is_due, cell.need) = (0, now, 0, 0, false, UNKNOWN);
    }

    #[inline(always)]
    fn age_ns(cell: &Cell, now: Ns) -> Ns {
        cell.older_ns + (now - cell.opened_ns)
    }

    fn model(&self, facts: BlockFacts) -> &ErrorModel {
        &self.models[facts.mode as usize]
    }

    /// The age of a block.
    pub fn age(&self, now: Ns, block: BlockId, facts: BlockFacts) -> Age {
        let cell = &self.cells[block.index()];
        let cycles = u64::from(cell.base_cycles) + u64::from(facts.erases) - facts.spared.div_ceil(WHOLE);
        Age { cycles, ns: Cells::age_ns(cell, now), reads: cell.reads, factor: cell.factor }
    }

    /// The raw bit error rate of a block.
    pub fn rate(&self, now: Ns, block: BlockId, facts: BlockFacts) -> f64 {
        self.model(facts).rate(self.age(now, block, facts))
    }

    /// The first retry step that corrects the expected errors of a block now, from the power law.
    pub fn step_needed(&self, now: Ns, block: BlockId, facts: BlockFacts) -> u8 {
        self.model(facts).step(self.age(now, block, facts))
    }

    /// A read of a block begins: its steps. Counts its array reads.
    #[inline]
    pub fn read(&mut self, now: Ns, block: BlockId, facts: BlockFacts) -> Steps {
        let cell = &self.cells[block.index()];
        if Cells::age_ns(cell, now) > cell.need.until_ns || cell.reads > cell.need.until_reads || cell.need == UNKNOWN {
            self.cells[block.index()].need = self.model(facts).need(self.age(now, block, facts));
        }
        let table = self.models[0].table();
        let needed = self.cells[block.index()].need.step;
        let good = if self.mixes_blocks { (block.index() + 1) % self.cells.len() } else { block.index() };
        let steps = retry::steps(self.policy, needed, table, &mut self.cells[good].good);
        self.cells[block.index()].reads += 1 + u64::from(steps.failed);
        steps
    }

    /// Plants a defect: reads begin with the last good step of another block.
    #[doc(hidden)]
    pub fn mix_blocks(&mut self) {
        self.mixes_blocks = true;
    }

    /// The step that was good for the last read of a block; 0 after its erase.
    pub fn last_good(&self, block: BlockId) -> u8 {
        self.cells[block.index()].good
    }

    /// A block has been read so often that it is to be moved.
    #[inline]
    pub fn is_read_out(&self, block: BlockId) -> bool {
        self.cells[block.index()].reads >= self.reclaim_reads
    }

    /// Notes that a block is to be moved. True once until it is opened again.
    pub fn becomes_due(&mut self, block: BlockId) -> bool {
        !std::mem::replace(&mut self.cells[block.index()].is_due, true)
    }

    /// How retry steps follow each other.
    pub fn pace(&self) -> Pace {
        retry::pace(self.policy)
    }

    /// Number of steps that would fail in a read of a block that is the first of it.
    pub fn steps_expected(&self, now: Ns, block: BlockId, facts: BlockFacts) -> u8 {
        retry::steps(self.policy, self.step_needed(now, block, facts), self.models[0].table(), &mut 0).failed
    }

    /// Checks the retry steps of a read that has just begun against those that the power law asks for at the age of its block.
    ///
    /// # Errors
    /// A sentence if these are not the steps that the read has to take.
    pub fn check(&self, now: Ns, block: BlockId, facts: BlockFacts, steps: Steps) -> Result<(), String> {
        let cell = &self.cells[block.index()];
        let age = self.age(now, block, facts);
        let array_reads = 1 + u64::from(steps.failed);
        let before = Age { reads: age.reads.saturating_sub(array_reads), ..age };
        let (needed, table, last) = (self.model(facts).step(before), self.models[0].table(), steps.first + steps.failed);
        let may_retry = self.policy != RetryPolicy::None;
        let right = if !may_retry {
            last == 0 && steps.uncorrectable == (needed > 0)
        } else if needed > table {
            last == table && steps.uncorrectable
        } else {
            !steps.uncorrectable && last >= needed && (last == needed || steps.failed == 0)
        };
        let begins = steps.first == 0 || self.policy == RetryPolicy::LastGood && (steps.first <= cell.good || steps.uncorrectable);
        let keeps = self.policy != RetryPolicy::LastGood || steps.uncorrectable || cell.good == last;
        if right && begins && keeps {
            return Ok(());
        }
        Err(format!(
            "at {now} ns a read of block {block} takes {steps:?}, where step {needed} of {table} is needed and step {} was good for the block",
            cell.good
        ))
    }

    /// Blocks are moved at some age.
    pub fn refreshes(&self) -> bool {
        self.refresh_ns < Ns::MAX
    }

    /// When a block reaches the age at which it is moved, ns.
    pub fn refresh_at(&self, block: BlockId) -> Ns {
        let cell = &self.cells[block.index()];
        (cell.opened_ns + self.refresh_ns).saturating_sub(cell.older_ns)
    }
}
