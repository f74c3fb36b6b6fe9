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

    from ssdlab._core import Candidates as Candidates
    from ssdlab._core import Completion as Completion
    from ssdlab._core import EvictionCandidates as EvictionCandidates
    from ssdlab._core import OrderChoices as OrderChoices
    from ssdlab._core import Placing as Placing
    from ssdlab.analysis.fan_in import FanIn as FanIn
    from ssdlab.analysis.fan_in import Times as Times
    from ssdlab.analysis.fan_in import fan_in as fan_in
    from ssdlab.analysis.remarks import Remark as Remark
    from ssdlab.analysis.uncertainty import Estimate as Estimate
    from ssdlab.analysis.uncertainty import batch_means as batch_means
    from ssdlab.asking.importing.api import Import as Import
    from ssdlab.asking.importing.api import import_configuration as import_configuration
    from ssdlab.asking.importing.ledger import Imported as Imported
    from ssdlab.asking.policies import EvictionPolicy as EvictionPolicy
    from ssdlab.asking.policies import OrderPolicy as OrderPolicy
    from ssdlab.asking.policies import PlacementPolicy as PlacementPolicy
    from ssdlab.asking.policies import VictimPolicy as VictimPolicy
    from ssdlab.asking.sheet.api import DriveCheck as DriveCheck
    from ssdlab.asking.sheet.api import check as check
    from ssdlab.errors import ConfigError as ConfigError
    from ssdlab.errors import Error as Error
    from ssdlab.errors import FileError as FileError
    from ssdlab.errors import IdleKeyWarning as IdleKeyWarning
    from ssdlab.errors import InternalError as InternalError
    from ssdlab.errors import Interrupted as Interrupted
    from ssdlab.errors import PolicyError as PolicyError
    from ssdlab.errors import SimulationError as SimulationError
    from ssdlab.errors import StoppedError as StoppedError
    from ssdlab.errors import TraceError as TraceError
    from ssdlab.errors import UsageError as UsageError
    from ssdlab.experiments.calibration.api import calibrate as calibrate
    from ssdlab.experiments.calibration.result import Calibration as Calibration
    from ssdlab.experiments.contest.api import arena as arena
    from ssdlab.experiments.contest.ranking import Arena as Arena
    from ssdlab.experiments.contest.ranking import Standing as Standing
    from ssdlab.experiments.explaining import SlowRequest as SlowRequest
    from ssdlab.experiments.explaining import SlowRequests as SlowRequests
    from ssdlab.experiments.explaining import slow_requests as slow_requests
    from ssdlab.experiments.loading import load as load
    from ssdlab.experiments.study.api import run_study as run_study
    from ssdlab.experiments.study.api import studies as studies
    from ssdlab.experiments.study.api import study_report as study_report
    from ssdlab.experiments.sweeping.api import sweep as sweep
    from ssdlab.experiments.sweeping.points import SweepMean as SweepMean
    from ssdlab.experiments.sweeping.points import SweepPoint as SweepPoint
    from ssdlab.experiments.sweeping.result import SweepResult as SweepResult
    from ssdlab.runs.api import Request as Request
    from ssdlab.runs.api import Simulator as Simulator
    from ssdlab.runs.api import Zone as Zone
    from ssdlab.runs.api import compare as compare
    from ssdlab.runs.api import config_keys as config_keys
    from ssdlab.runs.api import config_schema as config_schema
    from ssdlab.runs.api import precondition as precondition
    from ssdlab.runs.api import preset_text as preset_text
    from ssdlab.runs.api import presets as presets
    from ssdlab.runs.api import run as run
    from ssdlab.runs.api import trace_convert as trace_convert
    from ssdlab.runs.api import trace_info as trace_info
    from ssdlab.runs.caching import CacheReplay as CacheReplay
    from ssdlab.runs.caching import replay_cache as replay_cache
    from ssdlab.runs.comparison import Comparison as Comparison
    from ssdlab.runs.result import Result as Result
    from ssdlab.runs.seeds import SeedRuns as SeedRuns
    from ssdlab.runs.serving import DriveState as DriveState
    from ssdlab.runs.serving import serve as serve
    from ssdlab.section import Section as Section

    __version__: str

_HOMES = {
    "_core": "Candidates Completion EvictionCandidates OrderChoices Placing",
    "runs.api": "Request Simulator Zone compare config_keys config_schema precondition preset_text presets run trace_convert trace_info",
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
    "analysis.fan_in": "FanIn Times fan_in",
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
__all__ = sorted([*_HOME, "__version__"])  # noqa: PLE0605 (type checkers see the imports above)


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
