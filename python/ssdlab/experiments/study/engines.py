"""The runs of a study: of the drive, or of the queueing model of a single die."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdlab.asking.keys import QUEUEING
from ssdlab.asking.plans import Loaded, Setup, value_text
from ssdlab.asking.policies import KINDS
from ssdlab.errors import ConfigError
from ssdlab.runs.batch import AnyJob, Job, Log, QueueingJob

__all__ = ["job", "setup_of"]

WORKLOAD = "workload."
DRIVE_ONLY = ("prefill", "warm_up", "load", "load_of", *KINDS)


def job(
    label: str,
    setup: Mapping[str, Any],
    scheme: str,
    seed: int,
    *,
    folder: Path | None,
    series: bool,
    paired: str | None = None,
    tolerance: float = 0.0,
    loaded: Loaded | None = None,
) -> AnyJob:
    """Builds and checks the run for a study's setup.

    Args:
        label: name of the run.
        setup: keys of the study and its point, with paths of traces.
        scheme: scheme of the drive, or priority of the queueing model.
        seed: seed of all random streams.
        folder: folder of the result.
        series: whether to keep series for quantities over time.
        paired: label of the run whose requests this run's are compared with; its own label if others are compared with it.
        tolerance: relative change of a response time that counts as no change in that comparison.
        loaded: the rate that its load stands for, if it has one.

    Raises:
        ConfigError: the setup has a key that its engine does not have.
        ssdlab.Error: the run cannot be simulated.
    """
    fields = _fields(setup, seed)
    if setup["engine"] == QUEUEING:
        # imported here because NumPy takes longer than many runs
        from ssdlab import queueing  # noqa: PLC0415

        _check_known(setup)
        return QueueingJob.prepare(label, queueing.Experiment(**fields, **setup[QUEUEING]), scheme, folder=folder, series=series)
    if setup[QUEUEING]:
        raise ConfigError(f'{QUEUEING}.{next(iter(setup[QUEUEING]))}: only runs with engine = "{QUEUEING}" have such options')
    log: Log = "kept" if series else None if paired is None else "temporary"
    base = None if paired == label else paired
    return Job.prepare(label, setup_of(setup, seed, loaded), scheme, folder=folder, log=log, base=base, tolerance=tolerance)


def setup_of(setup: Mapping[str, Any], seed: int, loaded: Loaded | None = None) -> Setup:
    """The options of a run of the drive.

    Args:
        setup: keys of the study and its point, with paths of traces.
        seed: seed of all random streams.
        loaded: the rate that its load stands for, if it has one.
    """
    return Setup(**_fields(setup, seed), shared=True, loaded_as=loaded)


def _fields(setup: Mapping[str, Any], seed: int) -> dict[str, Any]:
    fields = {key: value for key, value in setup.items() if key not in ("engine", "set", "quick", QUEUEING)}
    if "trace" in fields or "fio" in fields:
        fields.pop("workload", None)
    return fields | {"seed": seed, "set": tuple((key, value_text(value)) for key, value in setup["set"].items())}


def _check_known(setup: Mapping[str, Any]) -> None:
    """Refuses keys that only the drive has."""
    foreign = [key for key in setup if key in DRIVE_ONLY] + [key for key in setup["set"] if not key.startswith(WORKLOAD)]
    if foreign:
        raise ConfigError(f'{foreign[0]}: engine = "{QUEUEING}" uses only the keys {WORKLOAD}* of a drive: leave it out')
