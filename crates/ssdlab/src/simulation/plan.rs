//! What a run is: its plan, and how it is observed and stopped from outside.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use super::prepare::only_of_one_drive;
use super::state_cache::StateCache;
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::units::Ns;
use ssdlab_drive::cache::CustomEviction;
use ssdlab_drive::ftl::CustomPlacement;
use ssdlab_drive::gc::victim::CustomVictim;
use ssdlab_drive::sched::CustomOrder;
use ssdlab_drive::storage::Storage;
use ssdlab_keys::config::{CachePolicy, Config, Placement};
use ssdlab_result::stats::Extra;
use ssdlab_result::{slowest, timeline};

/// Name of a user-defined policy in the result's configuration.
const CUSTOM: &str = "custom";

/// Extent of the checks during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Verify {
    /// Nothing beyond the always-on assertions.
    #[default]
    Off,
    /// Data and overlaps during the run, all invariants at its end.
    End,
    /// All invariants after every event: for small devices.
    Every,
}

/// The first part of a run, which is simulated and left out of statistics. A request belongs to the part in which it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// A number of requests: measurement begins with the arrival of the next one.
    Requests(u64),
    /// A simulated time, ns: measurement begins at that instant.
    Time(Ns),
}

impl std::fmt::Display for WarmUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WarmUp::Requests(count) => write!(f, "warm_up = {count} requests"),
            WarmUp::Time(ns) => write!(f, "warm_up = {} s", *ns as f64 / 1e9),
        }
    }
}

/// Everything that determines a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The effective configuration.
    pub config: Config,
    /// The seed of all random streams.
    pub seed: u64,
    /// Maximum number of requests. `None`: the whole trace (a generated workload needs a number).
    pub requests: Option<u64>,
    /// First part of the run, which is left out of statistics. `None`, or a length of 0: nothing is.
    pub warm_up: Option<WarmUp>,
    /// Extent of the checks during the run.
    pub verify: Verify,
    /// File for a Parquet log of the requests.
    pub request_log: Option<PathBuf>,
    /// Timeline to write for the Perfetto viewer.
    pub timeline: Option<timeline::Wanted>,
    /// Slowest requests to explain.
    pub slowest: Option<slowest::Wanted>,
    /// File for a Parquet table of the states of all blocks over time.
    pub blocks: Option<PathBuf>,
    /// Keys that the user set, in a file or by hand; the result names those without effect.
    pub written: Vec<String>,
    /// Record the run over time, and the distribution of response times.
    pub series: bool,
    /// Also run each of several flows alone, with the same requests, and report how much the others slow it down.
    pub alone: bool,
    /// Saved state to begin with, in place of preconditioning.
    pub state: Option<PathBuf>,
    /// Folder from which the states of drives are taken that an earlier run has prepared with this configuration and seed, and where those are
    /// stored whose preparation took long; `None`: each run prepares its drives.
    pub state_cache: Option<StateCache>,
    /// File to save the state of the drive to, once the run has ended and the drive has come to rest, which is not part of the run.
    pub save_state: Option<PathBuf>,
    /// User-defined victim policy in place of `gc.victim`, for which the result shows `custom`.
    pub victim: Option<CustomVictim>,
    /// User-defined eviction policy in place of `cache.policy`, which must be `lru` and for which the result shows `custom`.
    pub eviction: Option<CustomEviction>,
    /// User-defined order of operations in place of `scheduler.order` and `gc.priority`; the result shows `custom, else` the
    /// configured order for the former.
    pub order: Option<CustomOrder>,
    /// User-defined placement policy, with `ftl.placement = "custom"`.
    pub placement: Option<CustomPlacement>,
}

impl Plan {
    /// Checks that the parts of the plan go together. The configuration itself is checked where it is built; after a change, call
    /// [`ssdlab_keys::config::validate`]. A drive that breaks its rules may come to a stop.
    ///
    /// # Errors
    /// [`Error::Config`] for an eviction policy without an LRU cache, whose place it takes; [`Error::Usage`] for a warm-up that leaves no
    /// request, and for saving the state of an array.
    pub fn check(&self) -> Result<()> {
        if let (Some(warm_up @ WarmUp::Requests(left_out)), Some(requests)) = (self.warm_up, self.requests)
            && left_out >= requests
        {
            return Err(Error::Usage(format!("{warm_up}: the run has {requests}, so that none would be measured; take a shorter one")));
        }
        if self.save_state.is_some() {
            only_of_one_drive(&self.config)?;
        }
        self.check_placement()?;
        if self.eviction.is_none() || self.config.cache.policy == CachePolicy::Lru {
            return Ok(());
        }
        let policy = serde_json::to_value(self.config.cache.policy).unwrap_or_default();
        Err(Error::Config(format!(
            "cache.policy = {policy}: a user-defined eviction policy needs \"lru\", which it replaces; set cache.policy to that"
        )))
    }

    /// The columns that the log of requests has besides those that it always has.
    pub(super) fn columns_of_log(&self) -> Extra {
        Extra {
            errors: self.config.errors.is_on(),
            wear: self.config.wear.is_on() || self.config.has_zones(),
            handles: self.config.handles() > 0,
        }
    }

    /// Checks that a user-defined placement policy and its key come together, and that no state is saved or loaded without the policy's.
    fn check_placement(&self) -> Result<()> {
        let custom = self.config.ftl.placement == Placement::Custom;
        match &self.placement {
            None if custom => Err(Error::Config(
                "ftl.placement = \"custom\": needs a placement policy of your own (placement, --placement FILE.py:CLASS); give one, or choose \
                 another placement"
                    .into(),
            )),
            Some(_) if !custom => {
                let chosen = serde_json::to_value(self.config.ftl.placement).unwrap_or_default();
                Err(Error::Config(format!(
                    "ftl.placement = {chosen}: a user-defined placement policy needs \"custom\"; set ftl.placement to that, and \
                     ftl.host_streams and ftl.move_streams to the numbers of its streams"
                )))
            }
            Some(_) if self.state.is_some() || self.save_state.is_some() => Err(Error::Usage(
                "a saved state does not have what a user-defined placement policy remembers; leave out the state, or the policy".into(),
            )),
            _ => Ok(()),
        }
    }

    /// Gives the storage its user-defined policies. In verify mode they must be deterministic.
    pub(super) fn give_policies(&self, storage: &mut Storage) {
        let twice = self.verify != Verify::Off;
        if let Some(victim) = &self.victim {
            storage.use_victim_policy(&victim.checked(twice));
        }
        if let Some(eviction) = &self.eviction {
            storage.use_eviction_policy(&eviction.checked(twice));
        }
        if let Some(order) = &self.order {
            storage.use_order_policy(&order.checked(twice));
        }
    }

    /// The configuration as the result has it: where a user-defined policy takes the place of a key, that is `custom`, and if the configured
    /// policy still decides what the user's own leaves open, `custom, else` that policy.
    pub fn config_of_result(&self) -> serde_json::Value {
        let mut config = self.config.to_value();
        let policies = [
            (self.victim.is_some(), "/gc/victim", false),
            (self.eviction.is_some(), "/cache/policy", false),
            (self.order.is_some(), "/scheduler/order", true),
        ];
        for (_, key, decides_too) in policies.into_iter().filter(|(given, ..)| *given) {
            let value = config.pointer_mut(key).expect("the key is in every configuration");
            let configured = value.as_str().filter(|_| decides_too);
            *value = configured.map_or_else(|| CUSTOM.into(), |name| format!("{CUSTOM}, else {name}").into());
        }
        config
    }

    /// A user-defined policy decides something.
    pub fn asks_policies(&self) -> bool {
        self.victim.is_some() || self.eviction.is_some() || self.order.is_some() || self.placement.is_some()
    }

    /// A plan to run the whole workload of a configuration, without further options.
    pub fn new(config: Config, seed: u64) -> Self {
        Plan {
            config,
            seed,
            requests: None,
            warm_up: None,
            verify: Verify::Off,
            request_log: None,
            timeline: None,
            slowest: None,
            blocks: None,
            written: Vec::new(),
            series: false,
            alone: false,
            state: None,
            state_cache: None,
            save_state: None,
            victim: None,
            eviction: None,
            order: None,
            placement: None,
        }
    }
}

/// Progress and cancellation of a run, shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Cancel flag, which ends the run with [`Error::Interrupted`] at the next check, and the share of the input consumed.
    pub caller: Caller,
    /// Requests completed so far; while a drive is prepared, pages written so far.
    pub completed: AtomicU64,
    /// Total number of requests, or, while a drive is prepared, of pages; 0 while unknown.
    pub expected: AtomicU64,
    /// Phase of the run: 0 preconditioning, 1 simulating, 2 done.
    pub phase: AtomicU64,
}

impl Control {
    /// Whether a stop was requested.
    pub fn cancelled(&self) -> bool {
        self.caller.stop_requested()
    }
}
