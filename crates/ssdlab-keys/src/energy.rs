//! Energy: what draws it in a drive, and how much each part takes.
//!
//! All sums are integers of femtojoules, so that the parts of a run add up exactly: 1 uW in 1 ns is 1 fJ.

use crate::config::{Config, Energy, POWER_STATES_MAX, PowerSource};
use ssdlab_base::units::Ns;

/// Array times of a drive or of several, each plane by itself, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayTimes {
    /// Reads: of the host (`[0]`) and of GC (`[1]`).
    pub read: [Ns; 2],
    /// Programs.
    pub program: [Ns; 2],
    /// Erases. All are of GC.
    pub erase: Ns,
}

/// What the parts of a drive draw, in integers: uW, which are fJ in a ns, and fJ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergyRates {
    read_uw: u64,
    program_uw: u64,
    erase_uw: u64,
    bus_uw: u64,
    dram_fj_per_byte: u64,
    link_fj_per_byte: u64,
    command_fj: u64,
    idle_uw: u64,
    /// In each power state, in place of `idle_uw`.
    state_uw: [u64; POWER_STATES_MAX],
    /// Where the powers are from.
    pub source: PowerSource,
    /// Time of a byte on a channel; 0: transfers take no time, and no byte counts.
    bus_ps_per_byte: u64,
}

impl EnergyRates {
    /// The rates of a checked configuration; `None` without `energy`.
    pub fn new(config: &Config) -> Option<Self> {
        let Energy { read_mw, program_mw, erase_mw, bus_mw, dram_pj_per_bit, link_pj_per_bit, command_nj, idle_mw, cap_w: _, source } =
            config.energy;
        let thousand = |value: f64| (value * 1e3).round() as u64;
        let fj_per_byte = |pj_per_bit: f64| (pj_per_bit * 8e3).round() as u64;
        let mut state_uw = [0; POWER_STATES_MAX];
        state_uw.iter_mut().zip(config.power_states.states()).for_each(|(uw, state)| *uw = state.power_uw);
        config.energy.is_on().then(|| EnergyRates {
            read_uw: thousand(read_mw),
            program_uw: thousand(program_mw),
            erase_uw: thousand(erase_mw),
            bus_uw: thousand(bus_mw),
            dram_fj_per_byte: fj_per_byte(dram_pj_per_bit),
            link_fj_per_byte: fj_per_byte(link_pj_per_bit),
            command_fj: (command_nj * 1e6).round() as u64,
            idle_uw: thousand(idle_mw),
            state_uw,
            source,
            bus_ps_per_byte: config.device.transfer_ps_per_byte,
        })
    }
}

/// What has drawn energy in all drives since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Array times of all planes.
    pub arrays: ArrayTimes,
    /// Time of transfers, summed over channels, ns.
    pub bus_ns: u128,
    /// Commands that hosts or arrays sent to drives.
    pub commands: u64,
    /// Bytes that these read and wrote.
    pub link_bytes: u64,
    /// Time, summed over drives, ns.
    pub on_ns: u128,
    /// Time in each power state, which is part of `on_ns`.
    pub state_ns: [u128; POWER_STATES_MAX],
}

impl Drawn {
    /// What both have drawn.
    #[must_use]
    pub fn joined(self, other: Drawn) -> Self {
        self.each(other, |a, b| a + b, |a, b| a + b)
    }

    /// What was drawn since `before`.
    #[must_use]
    pub fn since(self, before: Drawn) -> Self {
        self.each(before, |now, then| now - then, |now, then| now - then)
    }

    fn each(self, other: Drawn, sum: impl Fn(u64, u64) -> u64, long: impl Fn(u128, u128) -> u128) -> Self {
        let (a, b) = (self.arrays, other.arrays);
        let both = |a: [Ns; 2], b: [Ns; 2]| [sum(a[0], b[0]), sum(a[1], b[1])];
        Drawn {
            arrays: ArrayTimes { read: both(a.read, b.read), program: both(a.program, b.program), erase: sum(a.erase, b.erase) },
            bus_ns: long(self.bus_ns, other.bus_ns),
            commands: sum(self.commands, other.commands),
            link_bytes: sum(self.link_bytes, other.link_bytes),
            on_ns: long(self.on_ns, other.on_ns),
            state_ns: std::array::from_fn(|state| long(self.state_ns[state], other.state_ns[state])),
        }
    }
}

/// Energy by part, fJ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergyParts {
    /// Reads in the arrays.
    pub read: u128,
    /// Programs in the arrays.
    pub program: u128,
    /// Erases in the arrays.
    pub erase: u128,
    /// Transfers on the channels.
    pub bus: u128,
    /// The controller's memory.
    pub dram: u128,
    /// The link to the host.
    pub link: u128,
    /// The controller, for commands.
    pub controller: u128,
    /// What is drawn at any time outside of power states.
    pub idle: u128,
    /// What is drawn in power states.
    pub states: u128,
}

impl EnergyRates {
    /// What each part took, fJ.
    pub fn parts(&self, drawn: &Drawn) -> EnergyParts {
        let of = |rate: u64, count: u128| u128::from(rate) * count;
        let all = |[host, gc]: [Ns; 2]| u128::from(host) + u128::from(gc);
        let on_channels = if self.bus_ps_per_byte == 0 { 0 } else { drawn.bus_ns * 1000 / u128::from(self.bus_ps_per_byte) };
        EnergyParts {
            read: of(self.read_uw, all(drawn.arrays.read)),
            program: of(self.program_uw, all(drawn.arrays.program)),
            erase: of(self.erase_uw, drawn.arrays.erase.into()),
            bus: of(self.bus_uw, drawn.bus_ns),
            dram: of(self.dram_fj_per_byte, on_channels + u128::from(drawn.link_bytes)),
            link: of(self.link_fj_per_byte, drawn.link_bytes.into()),
            controller: of(self.command_fj, drawn.commands.into()),
            idle: of(self.idle_uw, drawn.on_ns - drawn.state_ns.iter().sum::<u128>()),
            states: self.of_states(drawn).into_iter().sum(),
        }
    }

    /// What was drawn in each power state, fJ.
    pub fn of_states(&self, drawn: &Drawn) -> [u128; POWER_STATES_MAX] {
        std::array::from_fn(|state| u128::from(self.state_uw[state]) * drawn.state_ns[state])
    }

    /// All that was drawn, fJ.
    pub fn total_fj(&self, drawn: &Drawn) -> u128 {
        self.parts(drawn).total()
    }
}

impl EnergyParts {
    /// What all parts took.
    pub fn total(&self) -> u128 {
        let EnergyParts { read, program, erase, bus, dram, link, controller, idle, states } = *self;
        [read, program, erase, bus, dram, link, controller, idle, states].into_iter().sum()
    }
}
