"""ssdlab: a trace-driven SSD simulator.

import ssdlab

r = ssdlab.run(device="lee2013", scheme="npgc", workload="lee2013-synthetic", requests=200_000)
r.latency.read.p99, r.gc.write_amplification
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # replaces that of `typing`, whose import takes as long as all that the command imports before it takes over Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from ssdlab._core import Candidates, Completion, EvictionCandidates, OrderChoices, Placing
    from ssdlab.analysis.remarks import Remark
    from ssdlab.analysis.uncertainty import Estimate, batch_means
    from ssdlab.asking.importing.api import Import, import_configuration
    from ssdlab.asking.importing.ledger import Imported
    from ssdlab.asking.policies import EvictionPolicy, OrderPolicy, PlacementPolicy, VictimPolicy
    from ssdlab.asking.sheet.api import DriveCheck, check
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
    from ssdlab.experiments.calibration.api import calibrate
    from ssdlab.experiments.calibration.result import Calibration
    from ssdlab.experiments.contest.api import arena
    from ssdlab.experiments.contest.ranking import Arena, Standing
    from ssdlab.experiments.explaining import SlowRequest, SlowRequests, slow_requests
    from ssdlab.experiments.loading import load
    from ssdlab.experiments.study.api import run_study, studies, study_report
    from ssdlab.experiments.sweeping.api import sweep
    from ssdlab.experiments.sweeping.points import SweepMean, SweepPoint
    from ssdlab.experiments.sweeping.result import SweepResult
    from ssdlab.runs.api import (
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
    from ssdlab.runs.caching import CacheReplay, replay_cache
    from ssdlab.runs.comparison import Comparison
    from ssdlab.runs.result import Result
    from ssdlab.runs.seeds import SeedRuns
    from ssdlab.runs.serving import DriveState, serve
    from ssdlab.section import Section

    __version__: str

_HOMES = {
    "_core": "Candidates Completion EvictionCandidates OrderChoices Placing",
    "runs.api": "Request Simulator compare config_keys config_schema precondition preset_text presets run trace_convert trace_info",
    "experiments.contest.api": "arena",
    "experiments.contest.ranking": "Arena Standing",
    "experiments.calibration.api": "calibrate",
    "experiments.calibration.result": "Calibration",
    "runs.caching": "CacheReplay replay_cache",
    "runs.comparison": "Comparison",
    "errors": (
        "ConfigError Error FileError IdleKeyWarning InternalError Interrupted "
        "PolicyError SimulationError StoppedError TraceError UsageError"
    ),
    "experiments.explaining": "SlowRequest SlowRequests slow_requests",
    "asking.importing.api": "Import import_configuration",
    "asking.importing.ledger": "Imported",
    "experiments.loading": "load",
    "asking.policies": "EvictionPolicy OrderPolicy PlacementPolicy VictimPolicy",
    "analysis.remarks": "Remark",
    "runs.result": "Result",
    "section": "Section",
    "runs.seeds": "SeedRuns",
    "runs.serving": "DriveState serve",
    "asking.sheet.api": "DriveCheck check",
    "experiments.study.api": "run_study studies study_report",
    "experiments.sweeping.api": "sweep",
    "experiments.sweeping.points": "SweepMean SweepPoint",
    "experiments.sweeping.result": "SweepResult",
    "analysis.uncertainty": "Estimate batch_means",
}
"""Names that each module exports, separated by spaces."""
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Imports the module of a public name on first use: importing all of them takes longer than many runs."""
    if name == "__version__":
        value: Any = import_module("ssdlab._core").version()
    elif name in _HOME:
        value = getattr(import_module(f"ssdlab.{_HOME[name]}"), name)
    else:
        try:
            value = import_module(f"ssdlab.{name}")
        except ModuleNotFoundError as absent:
            if absent.name != f"ssdlab.{name}":
                raise
            raise AttributeError(f"module 'ssdlab' has no attribute '{name}'") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Arena",
    "CacheReplay",
    "Calibration",
    "Candidates",
    "Comparison",
    "Completion",
    "ConfigError",
    "DriveCheck",
    "DriveState",
    "Error",
    "Estimate",
    "EvictionCandidates",
    "EvictionPolicy",
    "FileError",
    "IdleKeyWarning",
    "Import",
    "Imported",
    "InternalError",
    "Interrupted",
    "OrderChoices",
    "OrderPolicy",
    "PlacementPolicy",
    "Placing",
    "PolicyError",
    "Remark",
    "Request",
    "Result",
    "Section",
    "SeedRuns",
    "SimulationError",
    "Simulator",
    "SlowRequest",
    "SlowRequests",
    "Standing",
    "StoppedError",
    "SweepMean",
    "SweepPoint",
    "SweepResult",
    "TraceError",
    "UsageError",
    "VictimPolicy",
    "__version__",
    "arena",
    "batch_means",
    "calibrate",
    "check",
    "compare",
    "config_keys",
    "config_schema",
    "import_configuration",
    "load",
    "precondition",
    "preset_text",
    "presets",
    "replay_cache",
    "run",
    "run_study",
    "serve",
    "slow_requests",
    "studies",
    "study_report",
    "sweep",
    "trace_convert",
    "trace_info",
]
