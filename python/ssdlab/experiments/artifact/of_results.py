"""The results of a run, a comparison or a sweep as a part of a kit.

The kit has the options of each run, from the command in its result. `reproduce.py` runs them as one sweep over an axis of runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ssdlab import _core
from ssdlab.analysis.uncertainty import Estimate, student_t
from ssdlab.asking.commands import Asked, asked_by
from ssdlab.asking.plans import files_of, value_text
from ssdlab.asking.policies import KINDS
from ssdlab.errors import Error, UsageError
from ssdlab.experiments.artifact.inputs import hash_of, inputs_of
from ssdlab.experiments.artifact.own_files import own_files, policies_in, presets_in
from ssdlab.experiments.artifact.parts import RUNS, TRACES, Part, Reads, seconds_of, setup_of, without_folders
from ssdlab.experiments.loading import load
from ssdlab.experiments.study.result import estimate_dict
from ssdlab.experiments.sweeping.definition import Point
from ssdlab.experiments.sweeping.points import SEED
from ssdlab.experiments.sweeping.result import SweepResult
from ssdlab.experiments.sweeping.tasks import ENTRY, Task, difference
from ssdlab.pages.report.leader import SHORT
from ssdlab.pages.report.runs import title_parts
from ssdlab.runs.batch import Job
from ssdlab.runs.comparison import Comparison
from ssdlab.runs.result import Result
from ssdlab.runs.seeds import label_of
from ssdlab.runs.variants import common_title
from ssdlab.system.checksums import is_changed
from ssdlab.system.folders import COMPARISON_FILE, DEFINITION_FILE, RESULT_FILE
from ssdlab.system.json_text import read_json

__all__ = ["check_jobs", "is_results", "part_of"]

NO_COMMAND = (
    "no command repeats this run, since a policy was given as an object of Python, or an input was a pipe: "
    "give files (victim = ours.py:Ours, --trace FILE), and run again"
)
ELSEWHERE = ("alone", "verify")
"""Options that a point of a sweep does not have: one for all points, and one that changes no result."""


class _Run(NamedTuple):
    """A run in a folder of results."""

    name: str
    values: tuple[str, ...]
    """What it has in common with the runs under other seeds."""
    result: Mapping[str, Any]


INDEX = (COMPARISON_FILE, RESULT_FILE, DEFINITION_FILE)


def is_results(folder: Path) -> bool:
    """Whether a folder holds the results of a run, a comparison or a sweep."""
    return any((folder / file).is_file() for file in INDEX)


def part_of(folder: Path) -> Part:
    """Reads and checks the results in a folder.

    Raises:
        ssdlab.Error: the results are incomplete, changed or from another version; a run has no command that repeats it; or a file that it
            reads has changed or is missing.
    """
    name = f"runs/{folder.resolve().name}"
    found = load(folder)
    runs = list(_runs(found, folder))
    checked = {run.name: _checked(folder, run) for run in runs}
    configurations = {run.name: _entry(*checked[run.name]) for run in runs}
    alone = {"alone": True} if any("alone" in asked.options for asked, _ in checked.values()) else {}
    file, expected = f"runs/{name.partition('/')[2]}.json", f"expected/{name}/results.json"
    index = next(folder / one for one in INDEX if (folder / one).is_file())
    definition = {f"expected/{name}/{DEFINITION_FILE}": _sweep_file(folder, checked.values())} if isinstance(found, SweepResult) else {}
    return Part(
        kind=RUNS,
        name=name,
        title=_title(found, runs),
        made=index.stat().st_mtime,
        runs={run.name: {"values": list(run.values), "seed": run.result["seed"], **setup_of(run.result)} for run in runs},
        seconds=tuple(seconds_of(run.result) for run in runs),
        reads=Reads.together([reads for _, reads in checked.values()]),
        file=file,
        expected=expected,
        files={file: {**alone, "runs": configurations}, expected: _expected(runs), **definition},
    )


def check_jobs(jobs: Iterable[Job]) -> None:
    """Checks before runs that their results can be put into a kit, with its traces.

    Raises:
        UsageError: no command repeats a run, or a kit cannot have a file that it reads.
    """
    found = []
    for job in jobs:
        if "command" not in job.entries:
            raise UsageError(f"{job.label}: {NO_COMMAND}")
        found.append(_reads_of(asked_by(job.entries["command"]), job.plan.config))
    reads = {"the kit": Reads.together(found)}
    own_files(reads, inputs_of(reads), with_traces=True)


def _title(found: Result | Comparison | SweepResult, runs: Sequence[_Run]) -> str:
    """Device, scheme and workload that all runs have in common, without the folders of traces."""
    if isinstance(found, SweepResult):
        return f"a sweep of {len(found):,} points"
    commands = ({**run.result, "command": without_folders(run.result["command"])} for run in runs)
    return common_title([title_parts(data)[:3] for data in commands])


# ---- The runs in a folder --------------------------------------------------------------------------------------------------------


def _runs(found: Result | Comparison | SweepResult, folder: Path) -> Iterator[_Run]:
    if isinstance(found, SweepResult):
        _check_whole(found, folder)
        for point in found:
            named = tuple(f"{axis} = {_text(value)}" for axis, value in point.values.items() if axis != SEED)
            assert point.folder is not None
            yield _Run(point.folder.name, named or ("the point",), point.result.to_dict())
    elif isinstance(found, Comparison):
        failed = read_json(folder / COMPARISON_FILE).get("failed")
        if failed:
            raise UsageError(f"{folder}: runs failed ({', '.join(failed)}): a kit needs complete results: run it again")
        seeds = found.seeds.seeds if found.seeds else ()
        for label, result in found.items():
            of_label = found.seeds.runs[label] if found.seeds else {result["seed"]: result}
            missing = [str(seed) for seed in seeds if seed not in of_label]
            if missing:
                raise UsageError(f"{folder}: {label}: no result of seed {', '.join(missing)}: a kit needs complete results: run it again")
            for seed, run in of_label.items():
                yield _Run(label_of(label, seed, [*of_label]), (label,), run.to_dict())
    else:
        yield _Run("run", ("run",), found.to_dict())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else value_text(value)


def _check_whole(found: SweepResult, folder: Path) -> None:
    """Raises an error for a point that should have a result and has none."""
    if found.sweep.screen is not None:
        return  # points that were dropped have none
    missing = [point for point in found.left if not (found.sweep.leave_out_refused and _is_refused(point))]
    if missing:
        raise UsageError(
            f"{folder}: {len(missing):,} points have no result ({missing[0].label}): a kit needs complete results: "
            f"`ssdlab sweep {folder / DEFINITION_FILE} --out {folder} --resume` makes them"
        )


def _is_refused(point: Point) -> bool:
    """Whether a point cannot be simulated."""
    try:
        options = {key: value for key, value in point.options.items() if key not in ("load", "load_of")}  # its rate is found by runs
        Task.of(replace(point, series=False, options=options), None)
    except Error:
        return True
    return False


def _checked(folder: Path, run: _Run) -> tuple[Asked, Reads]:
    """What a run was asked to do, and the files that it reads.

    Raises:
        ssdlab.Error: the run cannot be repeated with the files that are there now.
    """
    where, result = f"{folder}: {run.name}", run.result
    if result["version"] != _core.version():
        raise UsageError(f"{where}: the result is of ssdlab {result['version']}, this is {_core.version()}: run it again")
    if is_changed(result):
        raise UsageError(f"{where}: the result was changed after ssdlab wrote it: run it again")
    if "command" not in result:
        raise UsageError(f"{where}: {NO_COMMAND}")
    asked = asked_by(result["command"])
    try:
        config = asked.setup().plan(asked.scheme)
    except Error as error:
        raise UsageError(f"{where}: it cannot be repeated here: {error}") from error
    other = difference(setup_of({"config": json.loads(config.config_of_result())}), setup_of(result)) or _changed_file(asked, result)
    if other is not None:
        raise UsageError(f"{where}: a file has changed since: {other}: run it again")
    return asked, _reads_of(asked, config.config)


def _changed_file(asked: Asked, result: Mapping[str, Any]) -> str | None:
    """The first file that is not what a point of a sweep has read, by its hash; `None` for other results, which have no hashes."""
    before = result.get(ENTRY, {}).get("inputs", {})
    files = {key: asked.options[key] for key in before if key in asked.options and key not in KINDS}
    return next((file for key, file in files.items() if _hash(file) != before[key]), None)


@lru_cache(maxsize=1024)
def _hash(file: str) -> str:
    return hash_of(Path(file))


def _reads_of(asked: Asked, config: _core.Config) -> Reads:
    """The files that a run reads."""
    options = asked.options
    schemes = () if asked.scheme is None else (asked.scheme,)
    plain = ((options[key], Path(options[key])) for key in ("config", "state") if key in options)
    traces = tuple((Path(options[key]).name, Path(options[key])) for key in TRACES if key in options)
    given = {str(file) for _, file in traces}
    return Reads(
        traces,
        (*presets_in(options.get("device"), options.get("workload"), schemes, asked.set), *plain, *policies_in(options)),
        tuple(file for file in files_of(config) if file not in given),
    )


# ---- The files of the part -------------------------------------------------------------------------------------------------------


def _entry(asked: Asked, reads: Reads) -> dict[str, Any]:
    """How `reproduce.py` repeats a run: its options, without the folders of traces, and its keys as TOML texts."""
    options = {**asked.options, **({} if asked.scheme is None else {"scheme": asked.scheme})}
    return {
        "options": {key: Path(value).name if key in TRACES else value for key, value in options.items() if key not in ELSEWHERE},
        "set": {key: value_text(value) for key, value in asked.set.items()},
        "traces": [name for name, _ in reads.traces],
    }


def _expected(runs: Sequence[_Run]) -> dict[str, Any]:
    """The digest of each run, and figures over the seeds, in the form of `study.json`."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for run in runs:
        groups.setdefault(run.values, []).append(run.result)
    return {
        "figures": SHORT,
        "runs": [
            {"name": run.name, "values": list(run.values), "seed": run.result["seed"], "digest": run.result["digest"]} for run in runs
        ],
        "points": [_point(values, results) for values, results in groups.items()],
        "rows": [],
    }


def _point(values: Sequence[str], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of one run under all seeds."""
    figures = {name: [at for result in results if (at := _at(result, path)) is not None] for name, path in SHORT.items()}
    metrics = {name: estimate_dict(Estimate.of(found)) for name, found in figures.items() if len(found) == len(results)}
    return {"values": list(values), "metrics": metrics, **({"student_t": student_t(len(results) - 1)} if len(results) > 1 else {})}


def _at(result: Mapping[str, Any], path: str) -> float | None:
    found: Any = result
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found if isinstance(found, int | float) else None


def _sweep_file(folder: Path, runs: Any) -> str:
    """The sweep's file, with its traces in the kit's folder."""
    text = (folder / DEFINITION_FILE).read_text(encoding="utf-8")
    for file in dict.fromkeys(file for _, reads in runs for _, file in reads.traces):
        text = text.replace(value_text(str(file)), value_text(f"traces/{file.name}"))
    return text
