"""A checked point of a sweep: its run, and the description of its inputs in the result."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssdlab import _core
from ssdlab.asking.plans import Setup, requests_of, value_text, warm_up_of
from ssdlab.errors import FileError, UsageError
from ssdlab.experiments.sweeping.definition import Point
from ssdlab.experiments.sweeping.points import counted
from ssdlab.runs.batch import RESULT_FILE, Job
from ssdlab.runs.identity import hashes_of_inputs, listed, without_absent
from ssdlab.runs.result import Result
from ssdlab.system.checksums import is_sealed
from ssdlab.system.json_text import read_json

__all__ = ["ENTRY", "Task", "difference", "setup_of"]

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
        setup = setup_of(point)
        job = Job.prepare(point.folder, setup, point.options.get("scheme"), folder=folder and folder / point.folder)
        config = without_absent(json.loads(job.plan.config_of_result()))
        entry = {
            "point": dict(point.values),
            "requests": requests_of(job.plan.config, setup.options["requests"]),
            "warm_up": listed(warm_up_of(setup.options["warm_up"])),
            "alone": setup.options["alone"] or None,
            "inputs": hashes_of_inputs(config, setup),
        }
        asked = {"version": _core.version(), "seed": setup.options["seed"], "config": config, ENTRY: without_absent(entry)}
        reduced = counted if point.counted and not point.series else None
        return cls(point, replace(job, entries={**job.entries, ENTRY: asked[ENTRY]}, reduced=reduced), asked)

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


def setup_of(point: Point) -> Setup:
    """The options of a point's run.

    Raises:
        ssdlab.Error: an option is invalid.
    """
    options = {key: value for key, value in point.options.items() if key != "scheme"}
    keys = tuple((key, value_text(value)) for key, value in point.set.items())
    return Setup(**options, shared=True, series=point.series or point.counted, set=keys, loaded_as=point.loaded)


def difference(asked: Any, found: Any, path: str = "") -> str | None:
    """The first difference between the inputs of a point and those in a result; `None` if they are equal."""
    if not isinstance(asked, Mapping) or not isinstance(found, Mapping):
        return None if asked == found else f"{path or 'all'} is {_shown(found)} there, {_shown(asked)} here"
    names = asked if not path else {**asked, **found}  # a result has other entries too
    differences = (difference(asked.get(name), found.get(name), f"{path}.{name}".lstrip(".")) for name in names)
    return next((entry for entry in differences if entry is not None), None)


def _shown(value: Any) -> str:
    return "absent" if value is None else json.dumps(value)
