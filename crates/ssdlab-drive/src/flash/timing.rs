//! How long each stage of an operation takes.

use super::op::{Op, OpKind, Parts};
use crate::rules::BurstRule;
use ssdlab_base::units::{Ns, part_transfer_ns, transfer_ns};
use ssdlab_keys::config::{Config, MODES, Mode, ModeFacts};
use ssdlab_keys::geometry::PageFacts;

/// Bursts: all moves take the same time.
pub const TIMING_BURSTS: BurstRule = BurstRule {
    keys: &["device.read_ns", "device.program_ns", "device.erase_ns", "device.read_ns_by_page", "device.program_ns_by_page"],
    exact: |config| config.device.read_ns_by_page.len() <= 1 && config.device.program_ns_by_page.len() <= 1,
};

/// Parts of a share.
const MILLION: u128 = 1_000_000;

/// How long the operations and transfers of a device take.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Array times by mode of the block.
    modes: [ModeFacts; MODES],
    /// Pages that one program writes.
    pages_per_program: u32,
    /// A transfer of one page with its spare bytes, command overhead included.
    pub transfer_ns: Ns,
    /// A transfer of this many mapping units of a page, each with its part of the spare bytes; at 0: of the whole page.
    out_ns: [Ns; Parts::NUMBERS],
    /// The transfers of all pages of a program of one plane, one after the other.
    pub program_transfer_ns: Ns,
    /// The command of a page read on the bus; 0: reads begin without the bus.
    pub read_command_ns: Ns,
    /// The decoding of the data of a read; 0 if reads have no errors.
    pub decode_ns: Ns,
    /// The stop of an array read that was begun ahead.
    pub reset_ns: Ns,
    /// The change of the read time of a die, before the first of shorter retry steps.
    pub set_ns: Ns,
    /// Array time of a shorter retry step, as a share of that of a first read, in millionths.
    short_read: u64,
    /// Mean time that retries add to a read, for estimates.
    pub mean_retry_ns: Ns,
}

impl Timing {
    /// The times of a checked configuration.
    pub fn new(config: &Config) -> Self {
        let (device, errors) = (&config.device, &config.errors);
        let bytes = u64::from(device.page_bytes) + u64::from(device.spare_bytes);
        let transfer_ns = transfer_ns(bytes, device.transfer_ps_per_byte) + device.command_ns;
        let mut out_ns = [transfer_ns; Parts::NUMBERS];
        let parts_per_page = config.parts_per_page();
        for (parts, ns) in (1..).zip(&mut out_ns[1..]).take(parts_per_page as usize - 1) {
            *ns = part_transfer_ns(bytes, parts, parts_per_page.into(), device.transfer_ps_per_byte) + device.command_ns;
        }
        Timing {
            modes: config.modes(),
            pages_per_program: device.pages_per_program,
            transfer_ns,
            out_ns,
            program_transfer_ns: Ns::from(device.pages_per_program) * transfer_ns,
            read_command_ns: device.read_command_ns,
            decode_ns: if errors.is_on() { errors.decode_ns } else { 0 },
            reset_ns: errors.reset_ns,
            set_ns: errors.set_ns,
            short_read: libm::round(errors.short_read * MILLION as f64) as u64,
            mean_retry_ns: 0,
        }
    }

    /// Array time of a read of a page, ns.
    #[inline(always)]
    pub fn read(&self, page: &PageFacts) -> Ns {
        Self::of_page(&self.modes[page.mode as usize].read_ns, page.offset)
    }

    /// Array time of a retry step of a page, ns, with its command; rounded up if it is shorter than a first read.
    pub fn retry(&self, page: &PageFacts, shortened: bool) -> Ns {
        let whole = self.read(page);
        let array = if shortened { (u128::from(whole) * u128::from(self.short_read)).div_ceil(MILLION) as Ns } else { whole };
        array + self.read_command_ns
    }

    /// Array time of the program that begins with a page, ns.
    #[inline(always)]
    pub fn program(&self, first: &PageFacts) -> Ns {
        let (table, offset) = (&self.modes[first.mode as usize].program_ns, first.offset);
        Self::of_page(table, if self.pages_per_program == 1 { offset } else { offset / self.pages_per_program })
    }

    /// Time of an erase of a block in this mode, ns.
    pub fn erase(&self, mode: Mode) -> Ns {
        self.modes[mode as usize].erase_ns
    }

    /// Expected service time of a page read that nothing keeps waiting, transfer included, ns. `mode`: that of its block.
    pub fn expected_read(&self, mode: Mode) -> Ns {
        self.with_array(self.modes[mode as usize].mean_ns[0])
    }

    /// The least expected service time of a page read that nothing keeps waiting, whatever the mode of its block, ns.
    pub fn least_expected_read(&self) -> Ns {
        self.with_array(self.modes.iter().map(|mode| mode.mean_ns[0]).min().unwrap_or(0))
    }

    /// Service time of a page read that nothing keeps waiting with this array time, ns.
    fn with_array(&self, array_ns: Ns) -> Ns {
        self.read_command_ns + array_ns + self.transfer_ns + self.decode_ns + self.mean_retry_ns
    }

    /// Expected service time of a program of one plane that nothing keeps waiting, transfers included, ns. `mode`: that of its block.
    pub fn expected_program(&self, mode: Mode) -> Ns {
        self.program_transfer_ns + self.modes[mode as usize].mean_ns[1]
    }

    /// Expected service time of a page move inside the die that nothing keeps waiting, ns. `mode`: that of its block.
    pub fn expected_copyback(&self, mode: Mode) -> Ns {
        self.modes[mode as usize].mean_ns.iter().sum()
    }

    /// Transfer time of a page of an operation that reads, by its number in the operation.
    #[inline(always)]
    pub fn out(&self, op: &Op, page: u32) -> Ns {
        self.out_ns[op.parts.of(page)]
    }

    /// Bus time of an operation on one plane, ns.
    #[inline(always)]
    pub(super) fn on_bus(&self, op: &Op) -> Ns {
        match op.kind {
            OpKind::Erase | OpKind::CopybackMove => 0,
            OpKind::Read | OpKind::RegisterRead => self.out(op, 0),
            OpKind::Program => self.program_transfer_ns,
            OpKind::Move => 2 * self.transfer_ns,
        }
    }

    #[inline(always)]
    fn of_page(table: &[Ns], offset: u32) -> Ns {
        if table.len() == 1 { table[0] } else { table[offset as usize % table.len()] }
    }
}
