"""ssdlab: a trace-driven SSD simulator.

import ssdlab

r = ssdlab.run(device="lee2013", scheme="npgc", workload="lee2013-synthetic", requests=200_000)
r.latency.read.p99, r.gc.write_amplification
"""

from importlib import import_module
from types import ModuleType

from ssdlab._core import Candidates, Completion, EvictionCandidates, version
from ssdlab.api import (
    Request,
    Simulator,
    compare,
    config_keys,
    config_schema,
    precondition,
    preset_text,
    presets,
    run,
    trace_convert,
    trace_info,
)
from ssdlab.caching import CacheReplay, replay_cache
from ssdlab.errors import (
    ConfigError,
    Error,
    FileError,
    IdleKeyWarning,
    InternalError,
    Interrupted,
    PolicyError,
    SimulationError,
    StoppedError,
    TraceError,
    UsageError,
)
from ssdlab.loading import load
from ssdlab.policies import EvictionPolicy, VictimPolicy
from ssdlab.result import Comparison, Result, Section
from ssdlab.seeds import SeedRuns
from ssdlab.study.api import run_study, studies, study_report
from ssdlab.sweeping.api import sweep
from ssdlab.sweeping.result import SweepMean, SweepPoint, SweepResult
from ssdlab.uncertainty import Estimate, batch_means

__version__ = version()


def __getattr__(name: str) -> ModuleType:
    """`ssdlab.queueing`, imported when it is first asked for: NumPy takes longer than many a run."""
    if name == "queueing":
        return import_module("ssdlab.queueing")
    raise AttributeError(f"module 'ssdlab' has no attribute '{name}'")


__all__ = [
    "CacheReplay",
    "Candidates",
    "Comparison",
    "Completion",
    "ConfigError",
    "Error",
    "Estimate",
    "EvictionCandidates",
    "EvictionPolicy",
    "FileError",
    "IdleKeyWarning",
    "InternalError",
    "Interrupted",
    "PolicyError",
    "Request",
    "Result",
    "Section",
    "SeedRuns",
    "SimulationError",
    "Simulator",
    "StoppedError",
    "SweepMean",
    "SweepPoint",
    "SweepResult",
    "TraceError",
    "UsageError",
    "VictimPolicy",
    "__version__",
    "batch_means",
    "compare",
    "config_keys",
    "config_schema",
    "load",
    "precondition",
    "preset_text",
    "presets",
    "replay_cache",
    "run",
    "run_study",
    "studies",
    "study_report",
    "sweep",
    "trace_convert",
    "trace_info",
]
