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
from ssdlab.study.api import run_study, studies, study_report
from ssdlab.sweeping.api import sweep
from ssdlab.sweeping.result import SweepPoint, SweepResult

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
    "EvictionCandidates",
    "EvictionPolicy",
    "FileError",
    "InternalError",
    "Interrupted",
    "PolicyError",
    "Request",
    "Result",
    "Section",
    "SimulationError",
    "Simulator",
    "StoppedError",
    "SweepPoint",
    "SweepResult",
    "TraceError",
    "UsageError",
    "VictimPolicy",
    "__version__",
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
