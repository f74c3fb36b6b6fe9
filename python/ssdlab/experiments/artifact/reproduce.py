#!/usr/bin/env python3
"""Runs the parts of this kit again with ssdlab, studies and other results, and compares the results with those in `expected`.

It needs Python 3.11 or newer and no package: it uses an installed ssdlab of the kit's version, or installs one into a virtual environment
of its own. The same version, built from the same commit, must give the same digests and numbers; another must agree within intervals.

Exit codes: 0 all agree, 1 something differs or a run failed, 2 the kit was changed or lacks something, 130 interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KIT = Path(__file__).resolve().parent
AGREE, DIFFER, UNUSABLE, INTERRUPTED = 0, 1, 2, 130
SHOWN = 20
"""Maximum number of differences, and of rows of the table, printed per part; `comparison.json` has all differences."""
LARGE = 1000
"""Number from which on the table has no decimals."""
ASK_VERSION = "import ssdlab; print(ssdlab.__version__)"


class UnusableError(Exception):
    """The kit cannot be used as it is. The message says what to do."""


@dataclass
class Compared:
    """The outcome of comparing one part."""

    name: str
    agree: int = 0
    left_out: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Rule:
    """The conditions under which two numbers agree."""

    exact: bool
    """Whether ssdlab has the kit's version: then digests and the numbers of every seed are compared too."""
    relative: float
    """Maximum relative difference from the expected number."""

    def differs(self, expected: Mapping[str, Any], measured: Mapping[str, Any]) -> str | None:
        """The difference between two estimates (`mean`, `values` and perhaps `interval`, half its width); `None` if they agree."""
        if self.exact:
            old, new = list(expected["values"]), list(measured["values"])
            if len(old) == len(new) and all(abs(a - b) <= self.relative * abs(a) for a, b in zip(old, new, strict=True)):
                return None
            return f"expected {_numbers(old)}, measured {_numbers(new)} (the same version gives the same numbers)"
        old, new = expected["mean"], measured["mean"]
        reach = max(expected.get("interval", 0.0) + measured.get("interval", 0.0), self.relative * abs(old))
        if abs(new - old) <= reach:
            return None
        return f"expected {old:.10g}, measured {new:.10g}: {abs(new - old):.3g} apart, at most {reach:.3g} is agreement"


def compare(name: str, expected: Mapping[str, Any], measured: Mapping[str, Any], rule: Rule, *, partial: bool = False) -> Compared:
    """Compares the expected results of a part with the measured ones, both in the form of `study.json`.

    Args:
        name: name of the part.
        expected: content of the kit's file.
        measured: content of the new one.
        rule: conditions under which numbers agree.
        partial: whether a number that was not measured counts as left out rather than as a difference.
    """
    result = Compared(name)
    for what, old, new in _pairs(expected, measured, exact=rule.exact):
        if new is None and partial:
            result.left_out += 1
        elif new is None:
            result.differences.append(f"{what}: is not in the new results")
        else:
            wrong = _wrong_digest(old, new) if isinstance(old, str) else rule.differs(old, new)
            if wrong is None:
                result.agree += 1
            else:
                result.differences.append(f"{what}: {wrong}")
    found = {row["what"]: row for row in measured["rows"]}
    for row in expected["rows"]:
        new = found.get(row["what"], {})
        changed = [f"{key} was {row.get(key)}, is {new[key]}" for key in ("reproduced", "grade") if key in new and new[key] != row.get(key)]
        if changed and "measured" in row and "measured" in new:
            (result.differences if rule.exact else result.notes).append(f'row "{row["what"]}": {"; ".join(changed)}')
    return result


def _pairs(expected: Mapping[str, Any], measured: Mapping[str, Any], *, exact: bool) -> Iterator[tuple[str, Any, Any]]:
    """The compared items: name, expected digest or estimate, and the new one or `None`."""
    if exact:
        digests = {_place(run): run["digest"] for run in measured["runs"]}
        for run in expected["runs"]:
            yield f"run of {_place(run)}", run["digest"], digests.get(_place(run))
    points = {_place(point): point["metrics"] for point in measured["points"]}
    for point in expected["points"]:
        new = points.get(_place(point), {})
        yield from ((f"{metric} of {_place(point)}", old, new.get(metric)) for metric, old in point["metrics"].items())
    rows = {row["what"]: row.get("measured") for row in measured["rows"]}
    yield from ((f'row "{row["what"]}"', row["measured"], rows.get(row["what"])) for row in expected["rows"] if "measured" in row)


def _place(entry: Mapping[str, Any]) -> str:
    seed = [f"seed {entry['seed']}"] if "seed" in entry else []
    scheme = [entry["scheme"]] if "scheme" in entry else []
    return ", ".join([*scheme, *entry["values"], *seed])


def _wrong_digest(expected: str, measured: str) -> str | None:
    if expected == measured:
        return None
    return f"digest {measured[:12]}..., expected {expected[:12]}... (the same version gives the same digest)"


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.10g}" for value in values)


# ---- The kit -----------------------------------------------------------------------------------------------------------------


def read_json(file: Path) -> Any:
    """The content of a JSON file of the kit or of the results."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as reason:
        raise UnusableError(f"{file}: cannot read: {reason}") from reason


def hash_of(file: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as reason:
        raise UnusableError(f"{file}: cannot read: {reason.strerror}") from reason


def check_files(kit: Path, manifest: Mapping[str, Any]) -> None:
    """Raises an error unless every file of the kit is unchanged since the kit was made."""
    for name, expected in manifest["files"].items():
        if not (kit / name).is_file():
            raise UnusableError(f"{name}: is missing from the kit: unpack the kit again")
        if hash_of(kit / name) != expected:
            raise UnusableError(f"{name}: was changed after the kit was made: unpack the kit again")


def check_traces(manifest: Mapping[str, Any], folder: Path, wanted: Sequence[str], *, partial: bool) -> set[str]:
    """Checks that a folder has the unchanged traces of the wanted parts.

    Returns the names of missing traces, which are an error unless `partial` is true.
    """
    missing, absent = [], set()
    for trace in manifest["traces"]:
        if not set(trace["used_by"]) & set(wanted):
            continue
        file = folder / trace["name"]
        if not file.is_file():
            absent.add(trace["name"])
            missing.append(f"{trace['name']} (SHA-256 {trace['sha256']}; {trace.get('source', 'ask the authors of this kit')})")
        elif hash_of(file) != trace["sha256"]:
            raise UnusableError(f"{file}: is not the trace that the kit was made with: expected SHA-256 {trace['sha256']}")
    if missing and not partial:
        every = "\n  ".join(missing)
        raise UnusableError(f"traces are not in {folder}: put them there, or leave out what needs them by --partial:\n  {every}")
    return absent


# ---- ssdlab ------------------------------------------------------------------------------------------------------------------


def version_of(python: str | Path) -> str | None:
    """The version of ssdlab that a Python interpreter can import; `None` if it has none."""
    try:
        done = subprocess.run([python, "-c", ASK_VERSION], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def find_ssdlab(manifest: Mapping[str, Any], kit: Path, out: Path, asked: str | None) -> tuple[str, str]:
    """Finds a Python interpreter with ssdlab; returns it and the version.

    That is the interpreter `asked`, or else one with the kit's version, of this or another commit, which is installed if necessary.
    """
    wanted = _release(manifest["made_by"]["version"])
    if asked is not None:
        # Runs begin in another folder. Links are not followed: the interpreter's link in a virtual environment leads out of it.
        path = str(Path(asked).absolute()) if os.sep in asked else asked
        version = version_of(path)
        if version is None:
            raise UnusableError(f"--python {asked}: this Python cannot import ssdlab: install it there, or leave the option out")
        return path, version
    own = version_of(sys.executable)
    if own is not None and _release(own) == wanted:
        return sys.executable, own
    python = out / "venv" / "bin" / "python"
    installed = version_of(python)
    if installed is None or _release(installed) != wanted:
        installed = _install(wanted, kit, out / "venv")
    return str(python), installed


def _release(version: str) -> str:
    """A version without the commit."""
    return version.partition("+")[0]


def _install(version: str, kit: Path, environment: Path) -> str:
    """Installs a version of ssdlab into a virtual environment; returns the version with its commit."""
    print(f"installing ssdlab {version} into {environment}", flush=True)
    venv.create(environment, clear=True, with_pip=True)
    python = str(environment / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--find-links", str(kit / "wheels")]
    done = subprocess.run([*pip, f"ssdlab=={version}"], stderr=subprocess.PIPE, text=True, check=False)
    installed = None if done.returncode else version_of(python)
    if installed is None or _release(installed) != version:
        reason = (done.stderr.strip().splitlines() or ["it cannot be imported"])[-1]
        raise UnusableError(
            f"ssdlab {version} could not be installed ({reason}): install it as README.md says, and name its Python by --python PATH"
        )
    return installed


@dataclass(frozen=True)
class Again:
    """How parts are run again."""

    python: str
    kit: Path
    out: Path
    traces: Path
    absent: set[str]
    """Names of traces that are missing; what needs them is left out."""
    options: Sequence[str]

    def run(self, part: Mapping[str, Any], expected: Mapping[str, Any]) -> tuple[dict[str, Any] | None, bool]:
        """Runs a part; returns its results in the form of `study.json` (`None` if ssdlab reported a failure), and whether any run began."""
        return self._study(part) if part["kind"] == "study" else self._runs(part, expected)

    def _study(self, part: Mapping[str, Any]) -> tuple[dict[str, Any] | None, bool]:
        paper, _, name = part["name"].partition("/")
        folder = self.out / "results" / paper
        quick = ["--quick"] if part["quick"] else []
        file = folder / "own" / name / "study.json"
        before = _written(file)
        done = self._ssdlab(["study", "run", self.kit / part["file"], *quick, "--out", folder, "--traces", self.traces])
        return (read_json(file) if done else None), _written(file) != before

    def _runs(self, part: Mapping[str, Any], expected: Mapping[str, Any]) -> tuple[dict[str, Any] | None, bool]:
        """Runs all as a sweep over one axis, whose values are the runs."""
        given = read_json(self.kit / part["file"])
        wanted = {name: run for name, run in given["runs"].items() if self.absent.isdisjoint(run["traces"])}
        if not wanted:
            return None, False
        folder = self.out / "results" / part["name"]
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier comparison
        folder.parent.mkdir(parents=True, exist_ok=True)
        file = folder.with_name(f"{folder.name}.toml")
        file.write_text(sweep_of(wanted, alone="alone" in given, traces=self.traces), encoding="utf-8")
        if not self._ssdlab(["sweep", file, "--out", folder]):
            return None, True
        results = map(read_json, folder.glob("*/result.json"))
        return measured_of(expected, {result["sweep"]["point"]["run"]: result for result in results}), True

    def _ssdlab(self, words: Sequence[Any]) -> bool:
        """Runs a command of ssdlab in the kit's folder; returns whether it succeeded."""
        command = [self.python, "-m", "ssdlab", *map(str, words), "--quiet", *self.options]
        return subprocess.run(command, cwd=self.kit, check=False).returncode == 0


def sweep_of(runs: Mapping[str, Any], *, alone: bool, traces: Path) -> str:
    """The file of a sweep over some runs, each with its options and keys."""
    lines = ["series = false", *(["alone = true"] if alone else []), "[grid]", "run = ["]
    for name, run in runs.items():
        options = {key: str(traces / value) if key in ("trace", "prefill", "fio") else value for key, value in run["options"].items()}
        words = [f"{key} = {_toml(value)}" for key, value in {"label": name, **options}.items()]
        keys = ", ".join(f"{_toml(key)} = {text}" for key, text in run["set"].items())
        lines.append(f"  {{ {', '.join([*words, *([f'set = {{ {keys} }}'] if keys else [])])} }},")
    return "\n".join([*lines, "]", ""])


def _toml(value: Any) -> str:
    """A text, number or truth value as TOML, which writes them as JSON does, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def measured_of(expected: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    """New results, by the names of the runs, in the form of the expected ones."""
    there = [run for run in expected["runs"] if run["name"] in results]
    groups: dict[str, list[Any]] = {}
    for run in there:
        groups.setdefault(_place({"values": run["values"]}), []).append(results[run["name"]])
    return {
        "runs": [{**run, "digest": results[run["name"]]["digest"]} for run in there],
        "points": [
            {**point, "metrics": _metrics(point, expected["figures"], groups.get(_place(point), []))} for point in expected["points"]
        ],
        "rows": [],
    }


def _metrics(point: Mapping[str, Any], figures: Mapping[str, str], results: Sequence[Any]) -> dict[str, Any]:
    """The figures of a point, with intervals; none if a seed is missing."""
    found = {}
    for name, expected in point["metrics"].items():
        values = [value for result in results if (value := _at(result, figures[name])) is not None]
        if len(values) != len(expected["values"]):
            continue
        found[name] = {"mean": math.fsum(values) / len(values), "values": values}
        if "student_t" in point:
            found[name]["interval"] = point["student_t"] * statistics.stdev(values) / math.sqrt(len(values))
    return found


def _at(result: Any, path: str) -> Any:
    """The entry of a result at a path, such as `gc.jobs`; `None` if there is none."""
    for part in path.split("."):
        result = result.get(part) if isinstance(result, dict) else None
    return result


def _written(file: Path) -> int | None:
    """The time of the last write to a file, ns; `None` if it does not exist."""
    return file.stat().st_mtime_ns if file.exists() else None


# ---- The command -------------------------------------------------------------------------------------------------------------


def chosen(manifest: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """The parts with these names; all parts if `names` is empty."""
    known = {part["name"]: part for part in manifest["parts"]}
    for name in names:
        if name not in known:
            raise UnusableError(f"{name}: no such part of this kit: there are {', '.join(known)}")
    return [known[name] for name in names or known]


def print_compared(compared: Compared) -> None:
    """Prints the outcome of one part."""
    outcome = "DIFFERS" if compared.differences else "agrees" if compared.agree else "LEFT OUT"
    counts = f"{compared.agree} digests and numbers agree"
    more = [f"{len(compared.differences)} differ"] if compared.differences else []
    more += [f"{compared.left_out} left out"] if compared.left_out else []
    print(f"{compared.name}: {outcome}: {', '.join([counts, *more])}")
    for line in compared.differences[:SHOWN]:
        print(f"  {line}")
    if len(compared.differences) > SHOWN:
        print(f"  ... and {len(compared.differences) - SHOWN} more")
    for line in compared.notes:
        print(f"  note: {line}")
    sys.stdout.flush()


def print_table(expected: Mapping[str, Any], measured: Mapping[str, Any], rule: Rule) -> None:
    """Prints the new figures of runs, those that differ beside the expected ones."""
    names = list(dict.fromkeys(name for point in expected["points"] for name in point["metrics"]))
    rows = [["", *(f"{name} (us)" if _is_time(expected, name) else name for name in names)]]
    for old, new in zip(expected["points"], measured["points"], strict=True):
        rows.append([_place(old), *(_cell(old["metrics"].get(name), new["metrics"].get(name), rule, expected, name) for name in names)])
    hidden = len(rows) - 1 - SHOWN
    widths = [max(map(len, column)) for column in zip(*rows[: SHOWN + 1], strict=True)]
    for row in rows[: SHOWN + 1]:
        print("  ".join(["", row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]))
    if hidden > 0:
        print(f"  ... and {hidden} more")


def _is_time(expected: Mapping[str, Any], name: str) -> bool:
    return str(expected["figures"][name]).partition(".")[0].endswith("_ns")


def _cell(old: Any, new: Any, rule: Rule, expected: Mapping[str, Any], name: str) -> str:
    scale = 1000 if _is_time(expected, name) else 1
    if old is None or new is None:
        return "-"
    beside = f" (not {_short(old['mean'] / scale)})" if rule.differs(old, new) else ""
    return f"{_short(new['mean'] / scale)}{beside}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= LARGE else f"{value:.4g}"


def reproduce(arguments: argparse.Namespace, kit: Path = KIT) -> int:
    """Checks the kit, runs its parts and compares the results; returns the exit code."""
    manifest = read_json(kit / "artifact.json")
    check_files(kit, manifest)
    parts = chosen(manifest, arguments.parts)
    out, traces = arguments.out.resolve(), arguments.traces.resolve()
    absent = check_traces(manifest, traces, [part["name"] for part in parts], partial=arguments.partial)
    python, version = find_ssdlab(manifest, kit, out, arguments.python)
    wanted = manifest["made_by"]["version"]
    exact = version == wanted and not arguments.intervals
    rule = Rule(exact, manifest["tolerances"]["same_version" if exact else "other_version"])
    how = "digests and numbers must be the same" if exact else "numbers must agree within their intervals"
    print(f"ssdlab {version} ({python}); the kit is of {wanted}: {how}")
    seconds = sum(part["processor_s"] for part in parts)
    runs = sum(part["runs"] for part in parts)
    print(f"{runs} runs, which took {max(seconds, 1):.0f} s of processor time where the kit was made", flush=True)
    again = Again(python, kit, out, traces, absent, [] if arguments.jobs is None else ["--jobs", str(arguments.jobs)])
    begin, results = time.monotonic(), []
    for part in parts:
        expected = read_json(kit / part["expected"])
        measured, began = again.run(part, expected)
        lacks = not absent.isdisjoint(part["traces"])
        if measured is not None:
            compared = compare(part["name"], expected, measured, rule, partial=lacks)
        elif lacks and not began:
            compared = Compared(part["name"], left_out=part["runs"])
        else:
            compared = Compared(part["name"], differences=["could not be run: ssdlab says why, above"])
        results.append(compared)
        print_compared(compared)
        if measured is not None and "figures" in expected:
            print_table(expected, measured, rule)
    _write(out / "comparison.json", {"version": version, "kit": wanted, "exact": exact, "parts": [vars(one) for one in results]})
    print(f"{_outcome(results)} ({time.monotonic() - begin:.0f} s; {out / 'comparison.json'} has everything)")
    return AGREE if any(one.agree for one in results) and not any(one.differences for one in results) else DIFFER


def _outcome(results: Sequence[Compared]) -> str:
    """The outcome of all parts, in one line."""
    differ = [one.name for one in results if one.differences]
    left_out = [one.name for one in results if one.left_out]
    if differ:
        return f"DIFFERENT: {', '.join(differ)}"
    if not any(one.agree for one in results):
        return "NOTHING WAS RUN"
    return "REPRODUCED" + (f", but for what was left out of {', '.join(left_out)}" if left_out else "")


def _write(file: Path, value: Mapping[str, Any]) -> None:
    """Writes a JSON file completely or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    os.replace(partial, file)  # noqa: PTH105 (needs no pathlib)


def main(words: Sequence[str] | None = None) -> int:
    """Parses the command line and runs the comparison; returns the exit code."""
    parser = argparse.ArgumentParser(description="Run the parts of this kit again, and compare the results with the expected ones.")
    parser.add_argument("parts", nargs="*", metavar="NAME", help="only these parts, as README.md lists them (default: all)")
    parser.add_argument("--out", type=Path, default=KIT / "reproduced", metavar="DIR", help="folder for the results (default: reproduced)")
    parser.add_argument("--traces", type=Path, default=KIT / "traces", metavar="DIR", help="folder that has the traces (default: traces)")
    parser.add_argument("--python", metavar="PATH", help="a Python with ssdlab, of the kit's version or another")
    parser.add_argument("--jobs", type=int, metavar="N", help="runs at once (default: one for each processor)")
    parser.add_argument("--partial", action="store_true", help="leave out runs whose traces are missing")
    parser.add_argument("--intervals", action="store_true", help="compare intervals, as with another version")
    arguments = parser.parse_args(words)
    try:
        return reproduce(arguments)
    except (UnusableError, OSError) as reason:
        print(f"error: {reason}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("error: interrupted: the same command begins again", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
