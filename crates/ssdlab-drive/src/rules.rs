//! Rules of a drive, worked out once from its configuration (such as whether two operations may share a die), so that no code combines
//! configuration keys while a run goes on.

use ssdlab_base::units::Ns;
use ssdlab_keys::config::{
    Advance, Allocation, Begin, Config, Isolation, Leftover, MapModels, Order, PartialWrite, Placement, Priority, Scope, Stream, Streams,
    Suspendable, SuspendedForReads, Turns, UnmappedRead,
};
use ssdlab_keys::energy::EnergyRates;
use ssdlab_keys::geometry::Geometry;

/// What a mechanism says of bursts (page moves of a job as one event): whether results remain those of move after move with it. Each mechanism
/// has one, beside what it does; all must agree, and a key that differs from its default and is in no rule refuses bursts.
#[derive(Clone, Copy, Debug)]
pub struct BurstRule {
    /// Keys of the mechanism; a name that ends with a dot is a section.
    pub keys: &'static [&'static str],
    /// Bursts remain exact with these values.
    pub exact: fn(&Config) -> bool,
}

/// All rules of one drive.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Rules of operations on dies and buses.
    pub flash: FlashRules,
    /// Rules of GC, and of what it keeps waiting.
    pub gc: GcRules,
    /// Order in which host operations go.
    pub order: Order,
    /// Writes have classes: those of a placement policy (`ftl.placement`), or that of translation pages (`slc.map_mode`).
    pub places: bool,
    /// The rules of placement handles; `None` with another placement policy or none.
    pub handles: Option<HandleRules>,
    /// Dynamic allocation (`ftl.allocation = "dynamic"`): the address of a page does not determine where it is written.
    pub dynamic: bool,
    /// Writes that come to the drive name the flow that sent them: no write buffer or cache holds them back.
    pub writes_have_flows: bool,
    /// Operations of one kind on several planes of a die begin together.
    pub multiplane: bool,
    /// Programs on several planes begin together only if they have the same page offset.
    pub multiplane_aligned: bool,
    /// Reads on several planes begin together only if they have the same page offset.
    pub multiplane_aligned_reads: bool,
    /// Reads transfer only the parts of their page that they are for.
    pub partial_reads: bool,
    /// Number of parts of a page: its mapping units, or more where the unit is the page.
    pub parts_per_page: u32,
    /// A partial write is programmed without reading its page first.
    pub skip_partial_read: bool,
    /// Treatment of a read of a page without data.
    pub unmapped_read: UnmappedRead,
    /// Units that GC has moved are noted, for updates of the mapping table in flash.
    pub notes_moves: bool,
    /// Units whose place has changed are noted, for models of the mapping table.
    pub notes_changes: bool,
    /// Host operations wait by plane, not by die.
    pub waits_by_plane: bool,
    /// Page moves of a job, if nothing can come between them, may be simulated as one event ([`BurstRule`]). Set by the drive.
    pub bursts: bool,
    /// `bursts` was true before a timeline began, and is again once that has ended.
    pub bursts_after_timeline: bool,
    /// The drive has blocks in SLC mode (`slc`).
    pub slc: bool,
    /// What the parts of the drive draw; `None` without `energy`.
    pub energy: Option<EnergyRates>,
}

/// Rules of operations on dies and buses.
#[derive(Clone, Copy, Debug)]
pub struct FlashRules {
    /// Array times are added up, for energy.
    pub energy: bool,
    /// The dies of a chip work side by side.
    pub interleave: bool,
    /// Two host operations of one kind may share a die: one on the bus, one in the array.
    pub pipeline: bool,
    /// A page move and a host operation may share a die (lee2013 III-C).
    pub gc_pipeline: bool,
    /// A page in a register can be read from there while the array is at work (lee2013 Table III).
    pub register_reads: bool,
    /// Programs of the host pause for reads that leave them slack.
    pub write_pausing: bool,
    /// Operations that are suspended for reads.
    pub for_reads: ForReads,
    /// `write_pausing` or `for_reads` is on.
    pub pauses: bool,
    /// A die at work may begin another operation: two may share it, or one may be suspended for another.
    pub shares_dies: bool,
    /// Two operations may share a die: one on the bus, one in the array.
    pub overlaps: bool,
    /// Page moves stop before their program, so that something may come between.
    pub stop_before_program: bool,
    /// Page moves stop before their transfers.
    pub stop_before_transfers: bool,
    /// GC operations may be suspended or overlapped, or program plane by plane: each of their stages is an event.
    pub staged: bool,
    /// Number of planes of a page that are programmed one after the other while there is time; 1: all are programmed at once.
    pub plane_programs: u32,
    /// The command of a read needs the bus.
    pub read_commands: bool,
    /// Reads have errors (`errors.retry`).
    pub errors: bool,
    /// A channel has one die, and nothing overlaps: an operation has die and bus together, and is one event.
    pub solo: bool,
    /// Time that it takes to suspend an operation in the array, ns.
    pub suspend_ns: Ns,
    /// Number of steps of a program, which can pause after each step.
    pub ispp_steps: u64,
    /// Dies per chip.
    pub dies_per_chip: u32,
}

/// Operations that are suspended for reads (`scheduler.suspend`), and how often.
#[derive(Clone, Copy, Debug)]
pub struct ForReads {
    /// Programs of the host are suspended.
    pub host_programs: bool,
    /// Programs of GC are suspended.
    pub gc_programs: bool,
    /// Erases are suspended.
    pub erases: bool,
    /// Array time lost by each suspension, ns.
    pub resume_ns: Ns,
    /// Minimum array time before the first suspension, and between two, ns.
    pub min_run_ns: Ns,
    /// Maximum number of suspensions of an operation.
    pub most: u32,
}

impl ForReads {
    /// The suspensions for reads of a checked configuration.
    pub fn new(config: &Config) -> Self {
        ForReads {
            host_programs: config.suspends_host_programs(),
            gc_programs: config.suspends_gc(SuspendedForReads::Program),
            erases: config.suspends_gc(SuspendedForReads::Erase),
            resume_ns: config.device.resume_ns,
            min_run_ns: config.device.min_run_ns,
            most: if config.device.max_suspends == 0 { u32::MAX } else { config.device.max_suspends },
        }
    }

    /// Whether operations of GC are suspended for reads.
    pub fn of_gc(&self) -> bool {
        self.gc_programs || self.erases
    }

    /// Whether any operation is suspended for reads.
    pub fn any(&self) -> bool {
        self.host_programs || self.of_gc()
    }
}

/// Rules of GC, and of what it keeps waiting.
#[derive(Clone, Copy, Debug)]
pub struct GcRules {
    /// Which event starts GC in a pool where it is triggered.
    pub begin: Begin,
    /// Free blocks above the threshold at which an episode of GC ends; 0: GC goes block by block.
    pub until: u32,
    /// Each step of a GC job needs a host operation that lets it begin.
    pub with_requests: bool,
    /// A step that a host operation has let begin goes before the next host operation.
    pub in_turns: bool,
    /// Priority between a host operation and a GC step that are both ready.
    pub priority: Priority,
    /// Scope from which a GC job excludes the host.
    pub scope: Scope,
    /// Page moves of a job that may be in flight: above 1, moves pass through the controller's buffer.
    pub moves_in_flight: u32,
    /// Mapping units of a program: above 1 a job gathers them in the controller's buffer until they fill one.
    pub units_per_program: u32,
    /// Units that fill no program wait for the next job of their pool.
    pub carries: bool,
    /// The page moves of a job go from die to die: superblocks have blocks of several pools.
    pub spreads: bool,
    /// Page moves within a plane need no bus.
    pub copyback: bool,
    /// Host operations merge with page moves.
    pub merge: bool,
    /// Time that the controller takes to look for host operations between the stages of a move, ns.
    pub poll_ns: Ns,
    /// Which GC operations can be suspended.
    pub suspends: Suspends,
    /// A GC job excludes reads of its plane, or of its blocks, while other reads of its pool go on.
    pub excludes_reads: bool,
    /// A GC job excludes only its victim's plane, in a pool of several planes.
    pub plane_in_pool: bool,
    /// The planes of a die have one GC job at a time, although their jobs could share the die.
    pub jobs_in_turn: bool,
    /// Writes are complete before they reach a die, since the drive has a write buffer.
    pub writes_are_complete: bool,
}

impl GcRules {
    /// Whether several page moves of a job, or several units of one move, may be in flight: they pass through the controller's buffer.
    #[inline(always)]
    pub fn several_moves(&self) -> bool {
        self.moves_in_flight > 1 || self.gathers()
    }

    /// Whether jobs gather mapping units until they fill a program.
    #[inline(always)]
    pub fn gathers(&self) -> bool {
        self.units_per_program > 1 || self.spreads
    }

    /// Whether a move gets its target page only when its transfer in begins, since it can be suspended before.
    #[inline(always)]
    pub fn places_late(&self) -> bool {
        self.suspends.read || self.suspends.program
    }

    /// Whether a job excludes the host from whole dies.
    #[inline(always)]
    pub fn excludes_dies(&self) -> bool {
        !matches!(self.scope, Scope::Plane | Scope::Block | Scope::None)
    }
}

/// GC operations that can be suspended, and the conditions.
#[derive(Clone, Copy, Debug)]
pub struct Suspends {
    /// Reads of page moves can be suspended.
    pub read: bool,
    /// Programs of page moves can be suspended, and moves between their stages.
    pub program: bool,
    /// Erases can be suspended.
    pub erase: bool,
    /// Time that a suspension takes, ns: an operation that ends sooner is not suspended.
    pub ns: Ns,
    /// A plane has one page register, which a suspended operation holds.
    pub one_register: bool,
}

impl Suspends {
    fn new(config: &Config) -> Self {
        let has = |kind| config.gc.suspend.contains(&kind);
        Suspends {
            read: has(Suspendable::Read),
            program: has(Suspendable::Program),
            erase: has(Suspendable::Erase),
            ns: config.device.suspend_ns,
            one_register: config.device.page_registers == 1,
        }
    }

    /// Whether any GC operation can be suspended.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.read || self.program || self.erase
    }
}

/// Rules of placement handles (`ftl.placement = "handles"`).
#[derive(Clone, Copy, Debug)]
pub struct HandleRules {
    /// Number of handles.
    pub count: u8,
    /// The handle of requests that name none.
    pub default: u8,
    /// Moved pages stay with their handle.
    pub persistent: bool,
    /// The first stream of page moves.
    pub moves: Stream,
    /// Host writes may take the place of moves of their page.
    pub merges: bool,
}

impl Rules {
    /// The rules of a checked configuration.
    pub fn new(config: &Config, geometry: &Geometry) -> Self {
        let pool_is_plane = geometry.pools.planes_each.get() == 1;
        let by_plane = config.gc.scope == Scope::Plane;
        let flash = FlashRules::new(config, geometry);
        let gc = GcRules::new(config, by_plane && !pool_is_plane);
        Rules {
            energy: EnergyRates::new(config),
            slc: config.slc.is_on(),
            bursts: false,
            bursts_after_timeline: false,
            flash,
            gc,
            order: config.scheduler.order,
            places: config.ftl.placement != Placement::None || Streams::new(config).map.is_some(),
            handles: (config.ftl.placement == Placement::Handles).then(|| HandleRules {
                count: config.ftl.handles,
                default: config.ftl.default_handle,
                persistent: config.ftl.isolation == Isolation::Persistent,
                moves: Streams::new(config).moves,
                merges: gc.merge,
            }),
            dynamic: config.ftl.allocation == Allocation::Dynamic,
            writes_have_flows: !config.buffer.is_on() && !config.caches_writes(),
            multiplane: config.device.multiplane,
            multiplane_aligned: config.device.multiplane_aligned,
            multiplane_aligned_reads: config.device.multiplane_aligned_reads,
            partial_reads: config.reads_parts(),
            parts_per_page: config.parts_per_page(),
            skip_partial_read: config.ftl.partial_write == PartialWrite::Program,
            unmapped_read: config.ftl.unmapped_read,
            notes_moves: config.caches_map(),
            notes_changes: config.ftl.map_models != MapModels::None,
            waits_by_plane: by_plane && pool_is_plane && geometry.planes > geometry.dies,
        }
    }

    /// Each page move is an event of its own from now on.
    pub fn never_bursts(&mut self) {
        (self.bursts, self.bursts_after_timeline) = (false, false);
    }

    /// Each page move is an event of its own until the timeline ends.
    pub fn timeline_begins(&mut self) {
        (self.bursts, self.bursts_after_timeline) = (false, self.bursts);
    }

    /// The timeline has ended.
    pub fn timeline_ends(&mut self) {
        self.bursts |= self.bursts_after_timeline;
    }
}

impl FlashRules {
    /// The flash rules of a checked configuration.
    pub fn new(config: &Config, geometry: &Geometry) -> Self {
        let cache_register = config.device.cache_register;
        let pipeline = config.scheduler.pipeline && cache_register;
        let gc_pipeline = config.gc.pipeline && cache_register;
        let suspends_programs = config.gc.suspend.contains(&Suspendable::Program);
        let (write_pausing, for_reads) = (config.scheduler.write_pausing, ForReads::new(config));
        let pauses = write_pausing || for_reads.any();
        let read_commands = config.device.read_command_ns > 0;
        // The steps of a move are its stages before and after preemption point A.
        let with_requests = config.gc.advances_with_requests();
        let plane_programs = config.device.plane_programs;
        let staged =
            gc_pipeline || config.gc.merge || !config.gc.suspend.is_empty() || with_requests || for_reads.of_gc() || plane_programs > 1;
        let register_reads = config.gc.merge && cache_register;
        FlashRules {
            energy: config.energy.is_on(),
            interleave: config.device.die_interleave,
            pipeline,
            gc_pipeline,
            register_reads,
            overlaps: pipeline || gc_pipeline || register_reads,
            write_pausing,
            for_reads,
            pauses,
            shares_dies: config.scheduler.pipeline || pauses || staged,
            stop_before_program: gc_pipeline || suspends_programs || with_requests,
            stop_before_transfers: suspends_programs,
            staged,
            plane_programs,
            read_commands,
            errors: config.errors.is_on(),
            solo: geometry.dies_per_channel.get() == 1 && !pipeline && !staged && !pauses && !read_commands && !config.errors.is_on(),
            suspend_ns: config.device.suspend_ns,
            ispp_steps: u64::from(config.device.ispp_steps),
            dies_per_chip: config.device.dies_per_chip,
        }
    }
}

impl GcRules {
    fn new(config: &Config, plane_in_pool: bool) -> Self {
        let gc = &config.gc;
        GcRules {
            begin: gc.begin,
            until: gc.until,
            with_requests: gc.advances_with_requests(),
            in_turns: gc.advances_with_requests() && gc.advance == Advance::InTurns,
            priority: gc.priority,
            scope: gc.scope,
            moves_in_flight: gc.moves_in_flight,
            units_per_program: config.units_per_program(),
            carries: gc.leftover == Leftover::Carry && config.units_per_program() > 1,
            spreads: config.pools_per_group() > 1,
            // Merging needs the page's data on the bus (lee2013 III-B); several moves in flight, and units, need the controller's buffer, and
            // parity of what the controller has not seen cannot be computed.
            copyback: config.device.copyback
                && !gc.merge
                && gc.moves_in_flight == 1
                && config.units_per_program() == 1
                && config.pools_per_group() == 1
                && config.ftl.parity_stripe == 0,
            merge: gc.merges(),
            poll_ns: gc.poll_ns,
            suspends: Suspends::new(config),
            excludes_reads: gc.scope == Scope::Plane || gc.excludes_block_reads(),
            plane_in_pool,
            writes_are_complete: config.buffer.is_on(),
            // ae2022 section 4.1: several parts of a die cannot be accessed at once. With larger scopes a die has one job anyway.
            jobs_in_turn: gc.turns == Turns::Job && matches!(gc.scope, Scope::Plane | Scope::Block | Scope::None),
        }
    }
}
