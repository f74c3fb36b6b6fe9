"""A checked point of a sweep: its run, and the description of its inputs in the result."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ssdlab import _core
from ssdlab.asking.imported import imported
from ssdlab.asking.plans import Setup, requests_of, value_text, warm_up_of
from ssdlab.errors import FileError, UsageError
from ssdlab.experiments.sweeping.definition import Point
from ssdlab.runs.batch import RESULT_FILE, Job
from ssdlab.runs.result import Result
from ssdlab.system.checksums import is_sealed
from ssdlab.system.inputs import place
from ssdlab.system.json_text import read_json

__all__ = ["ENTRY", "Task", "difference"]

ENTRY = "sweep"
"""Entry of a point's result that describes its inputs: values, requests, and hashes of the files that it read."""


@dataclass(frozen=True)
class Task:
    """A point that was checked and can be run."""

    point: Point
    job: Job
    asked: Mapping[str, Any]
    """Description of the inputs in the result; runs with equal descriptions are the same run."""

    @classmethod
    def of(cls, point: Point, folder: Path | None) -> Task:
        """Checks a point as far as possible before its run; `folder` is the sweep's.

        Raises:
            ssdlab.Error: the point cannot be simulated.
        """
        options = {key: value for key, value in point.options.items() if key != "scheme"}
        setup = Setup(**options, shared=True, series=point.series, set=tuple((key, value_text(value)) for key, value in point.set.items()))
        job = Job.prepare(point.folder, setup, point.options.get("scheme"), folder=folder and folder / point.folder)
        config = _without_absent(json.loads(job.plan.config_of_result()))
        entry = {
            "point": dict(point.values),
            "requests": requests_of(job.plan.config, setup.options["requests"]),
            "warm_up": _listed(warm_up_of(setup.options["warm_up"])),
            "alone": setup.options["alone"] or None,
            "inputs": {name: _hash_of(Path(file)) for name, file in _inputs(config, setup).items()} | _hashes_of_policies(setup),
        }
        asked = {"version": _core.version(), "seed": setup.options["seed"], "config": config, ENTRY: _without_absent(entry)}
        return cls(point, replace(job, entries={**job.entries, ENTRY: asked[ENTRY]}), asked)

    @property
    def file(self) -> Path:
        """The path of the point's result file."""
        assert self.job.folder is not None
        return self.job.folder / RESULT_FILE

    def there(self) -> Result | None:
        """The existing result of the point; `None` without one, or if it is incomplete or was changed.

        Raises:
            UsageError: the existing result has other inputs.
        """
        file = self.file
        try:
            data = read_json(file)
        except FileError as reason:
            if reason.errno == errno.ENOENT:
                return None
            raise
        except UsageError:
            return None
        other = difference(self.asked, data)
        if other is not None:
            raise UsageError(f"{file} is the result of another run ({other}): delete it, or choose another folder")
        return Result(data, title=self.job.title) if is_sealed(data) else None


def difference(asked: Any, found: Any, path: str = "") -> str | None:
    """The first difference between the inputs of a point and those in a result; `None` if they are equal."""
    if not isinstance(asked, Mapping) or not isinstance(found, Mapping):
        return None if asked == found else f"{path or 'all'} is {_shown(found)} there, {_shown(asked)} here"
    names = asked if not path else {**asked, **found}  # a result has other entries too
    differences = (difference(asked.get(name), found.get(name), f"{path}.{name}".lstrip(".")) for name in names)
    return next((entry for entry in differences if entry is not None), None)


def _shown(value: Any) -> str:
    return "absent" if value is None else json.dumps(value)


def _inputs(config: Mapping[str, Any], setup: Setup) -> dict[str, str | os.PathLike[str]]:
    """Files that affect the results of a run, besides its configuration."""
    files = {
        "trace": config["workload"].get("trace"),
        "prefill": config["ftl"]["precondition"].get("prefill"),
        "state": setup.options["state"],
        "fio": setup.options["fio"],
    }
    return {name: file for name, file in files.items() if file is not None}


def _hashes_of_policies(setup: Setup) -> dict[str, str]:
    """Hashes of the policies, each with the modules of the user's own that it imports."""
    policies = {kind: policy for kind, policy in setup.policies.items() if policy is not None}
    texts = {kind: [policy.source, *itertools.chain(*sorted(imported(policy).items()))] for kind, policy in policies.items()}
    return {kind: hashlib.sha256("\0".join(parts).encode()).hexdigest() for kind, parts in texts.items()}


def _hash_of(file: Path) -> str:
    """The hash of a file's content; it is computed once for all points."""
    try:
        status = place(file).stat()
        return _hash_at(file, status.st_mtime_ns, status.st_size)
    except OSError as reason:
        raise FileError(f"{file}: cannot read: {reason.strerror}", reason.errno, str(file)) from reason


@lru_cache(maxsize=1024)
def _hash_at(file: Path, changed_ns: int, size: int) -> str:  # noqa: ARG001
    with place(file).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _listed(values: tuple[int, str] | None) -> list[int | str] | None:
    """A tuple as the list that JSON gives back."""
    return None if values is None else list(values)


def _without_absent(value: Any) -> Any:
    """A value without `None` entries, which results leave out."""
    if isinstance(value, Mapping):
        return {key: _without_absent(entry) for key, entry in value.items() if entry is not None}
    return value
