//! The Python module `ssdlab._core`: conversions between Python and the core, and its errors as Python exceptions. No logic.
//!
//! | file | holds |
//! |---|---|
//! | `caching` | a cache without a drive |
//! | `errors` | core errors and panics as Python exceptions |
//! | `choices` | what an order of operations written in Python sees |
//! | `placing` | what a placement policy written in Python sees |
//! | `policies` | victim, eviction and placement policies, and orders of operations, written in Python |
//! | `live` | a drive that is served to programs; on other systems than Linux `not_live`, which refuses |
//! | `queueing` | the single die as a queueing model: formulas and simulation |
//! | `runs` | configurations, plans, runs |
//! | `simulator` | co-simulation step by step |
//! | `tools` | traces, presets, studies, the schemas |
//! | `workers` | long tasks in worker threads without the GIL, with Ctrl-C and progress |

#![deny(missing_docs, unsafe_code)]

mod caching;
mod choices;
mod errors;
mod inputs;
#[cfg(target_os = "linux")]
mod live;
#[cfg(not(target_os = "linux"))]
#[path = "not_live.rs"]
mod live;
mod placing;
mod policies;
mod queueing;
mod runs;
mod simulator;
mod tools;
mod workers;

use pyo3::prelude::*;

/// The Rust core of ssdlab.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use caching::replay_cache;
    #[pymodule_export]
    use choices::PyChoices;
    #[pymodule_export]
    use inputs::PyStandIn;
    #[pymodule_export]
    use live::serve;
    #[pymodule_export]
    use placing::PyPlacing;
    #[pymodule_export]
    use queueing::{PyTraffic, queueing_die, queueing_formula, queueing_formulas, queueing_simulate};
    #[pymodule_export]
    use runs::{PyConfig, PyPlan, build_config, fit_device, idle_by_hand, precondition, run_many};
    #[pymodule_export]
    use simulator::{PyCompletion, PySimulator};
    #[pymodule_export]
    use tools::{
        abandon_files, amount, configuration_reference, keys, prefill_end, preset_text, presets, remarks_of_result, schema,
        statistics_reference, statistics_schema, studies, trace_convert, trace_info, triggers, version, write_file,
    };

    #[pymodule_export]
    use policies::{PyCandidates, PyEvictionCandidates};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        ssdlab::version::built_from(env!("SSDLAB_COMMIT"));
        errors::keep_panics_quiet();
        module.py().import("atexit")?.call_method1("register", (module.getattr("abandon_files")?,))?;
        Ok(())
    }
}
