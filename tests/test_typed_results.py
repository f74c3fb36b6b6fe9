"""The classes of a result: made from the core's schema, known to type checkers by a stub, and mappings at run time."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import ssdlab
from conftest import SMALL
from ssdlab import _core, run_statistics
from ssdlab.section import Section, UntypedSection

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import statistics_classes  # noqa: E402 (the tool that writes the classes)

RIGHT = """
import ssdlab
from typing import assert_type
from ssdlab.run_statistics import LatencyClass
from ssdlab.section import UntypedSection

r = ssdlab.run(requests=10)
assert_type(r.latency.read, LatencyClass)
assert_type(r.latency.read.p99, int)
assert_type(r.latency_ns.read.p99, int)
assert_type(r.latency.read.mean, float)
assert_type(r.gc.write_amplification, float)
assert_type(r.gc.duration.max, int)
assert_type(r.gc.state.s3, int)
assert_type(r.counters.copybacks, int)
assert_type(r.request_counts.read, int)
assert_type(r.simulated_ns, int)
assert_type(r.digest, str)
assert_type(r.idle_keys[0]["key"], str)
assert_type(r.series.latency.read.mean, list[float])
assert_type(r.config, UntypedSection)
r.config.device.channels
r.paired.all.faster
r["latency_ns"]["read"]["p99"]
r.latency.get("trim")
comparison = ssdlab.compare(schemes=["npgc"])
assert_type(comparison["npgc"].latency.all.p50, int)
"""
WRONG = {
    "r.latency.raed": '"Latency" has no attribute "raed"',
    "r.latency.read.p98": '"LatencyClass" has no attribute "p98"',
    "r.gc.wirte_amplification": '"Gc" has no attribute "wirte_amplification"',
    "r.request_counts.reads": '"Requests" has no attribute "reads"',
    "r.counters.copy_backs": '"Counters" has no attribute "copy_backs"',
    "r.latencies": '"Result" has no attribute "latencies"',
    "r.latency.read.p99 = 3": "is read-only",
    "r.digest + 1": "Unsupported operand types",
}
"""Lines that a type checker refuses, with its messages."""


def check(path: Path, text: str) -> list[str]:
    """The output of mypy for a file."""
    path.write_text(text)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_the_classes_are_those_of_the_schema() -> None:
    file = statistics_classes.FILE
    assert file.read_text() == statistics_classes.text(), f"{file.name} is out of date: run `{statistics_classes.COMMAND}`"


def test_the_classes_are_made_when_one_is_used() -> None:
    script = """
import ssdlab.runs.result, ssdlab.run_statistics
assert "Gc" not in vars(ssdlab.run_statistics)
from ssdlab.run_statistics import *
assert Gc is ssdlab.run_statistics.Gc and issubclass(Gc, ssdlab.Section)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_class_describes_its_entries() -> None:
    documented = inspect.getdoc(run_statistics.LatencyClass) or ""
    assert documented.startswith("`latency_ns.{all, read, write, seq_read, rand_read, flush}` of a result.")
    assert re.search(r"^    p50: .*\. Unit: ns\.$", documented, re.MULTILINE)
    assert re.search(r"^    cv: .*\. Unit: ratio\.$", documented, re.MULTILINE)
    schema = json.loads(_core.statistics_schema())["properties"]["gc"]
    for name, entry in schema["properties"].items():
        assert f"    {name}: {' '.join(entry['description'].split())}" in (run_statistics.Gc.__doc__ or "")


def test_a_type_checker_knows_the_entries(tmp_path: Path) -> None:
    assert check(tmp_path / "right.py", RIGHT) == []


def test_a_type_checker_refuses_wrong_names(tmp_path: Path) -> None:
    said = check(tmp_path / "wrong.py", "\n".join(["import ssdlab", "r = ssdlab.run(requests=10)", *WRONG]))
    assert len(said) == len(WRONG), said
    for place, (line, reason), message in zip(range(3, 3 + len(WRONG)), WRONG.items(), said, strict=True):
        assert f"wrong.py:{place}: error: " in message, (line, said)
        assert reason in message, (line, said)


@pytest.fixture(scope="module")
def results() -> list[ssdlab.Result]:
    """Runs that together have all parts."""
    full = {**SMALL, "ftl.precondition.kind": "fill", "workload.read_share": 0.5}
    cached = {**full, "cache.policy": "lru", "cache.bytes": 65536, "cache.place": "drive"}
    return [
        ssdlab.run(scheme="npgc", set=full, requests=2000, series=True, warm_up=100),
        ssdlab.run(set=cached, requests=500),
        ssdlab.run(set={**SMALL, "array.level": "rais5", "array.drives": 3}, requests=200),
    ]


def parts(section: Section) -> Iterator[Section]:
    """A part of a result, and all parts in it with known entries."""
    yield section
    for key in section:
        if isinstance(section[key], Section) and not isinstance(section[key], UntypedSection):
            yield from parts(section[key])


def test_every_entry_of_a_result_is_in_its_class(results: list[ssdlab.Result]) -> None:
    unknown = set()
    met = set()
    for part in (part for result in results for part in parts(result)):
        hints = get_type_hints(type(part))
        met.add(type(part).__name__)
        for key, value in part.items():
            if key not in hints and not (isinstance(part, ssdlab.Result) and key in run_statistics.NOT_ATTRIBUTES):
                unknown.add(f"{type(part).__name__}.{key}")
            elif key in hints and isinstance(hints[key], type):
                kind = (int, float) if hints[key] is float else hints[key]
                assert isinstance(value, kind), (type(part).__name__, key, value, hints[key])
    assert unknown == set()
    assert met >= {"Result", "LatencyClass", "GcState", "SeriesGc", "Cache", "Array", "Histograms", "Counters", "Precondition", "WarmUp"}


def test_a_part_is_the_mapping_that_it_was(results: list[ssdlab.Result]) -> None:
    result = results[0]
    read = result.latency.read
    assert isinstance(result.latency_ns, Section)
    assert isinstance(result.latency_ns, run_statistics.Latency)
    assert isinstance(result.config, UntypedSection)
    assert read.p99 == result["latency_ns"]["read"]["p99"] == result.to_dict()["latency_ns"]["read"]["p99"]
    assert dict(read) == result.to_dict()["latency_ns"]["read"]
    assert list(result.latency) == list(result.to_dict()["latency_ns"])
    assert repr(read) == f"<latency_ns.read: {json.dumps(dict(read))}>"
    assert {"p99", "mean"} <= set(dir(read))
    with pytest.raises(AttributeError, match=r"latency_ns has no trim; it has all, read, "):
        result.latency.trim  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(results[0], "cache")
    assert "cache" not in dir(results[0])


def test_copies_and_pickles_keep_classes_and_values(results: list[ssdlab.Result]) -> None:
    for again in (pickle.loads(pickle.dumps(results[0])), copy.deepcopy(results[0]), copy.copy(results[0])):
        assert isinstance(again, ssdlab.Result)
        assert again.to_dict() == results[0].to_dict()
        assert isinstance(again.latency.read, run_statistics.LatencyClass)
        assert isinstance(pickle.loads(pickle.dumps(again.gc)), run_statistics.Gc)


def test_a_saved_result_may_have_more_or_less_than_the_classes(tmp_path: Path, results: list[ssdlab.Result]) -> None:
    """Results of other versions have more or fewer entries."""
    data: dict[str, Any] = results[0].to_dict()
    data["gc"] |= {"of_another_version": {"count": 3}}
    del data["counters"]["copybacks"], data["flash"]["erases"]
    (tmp_path / "result.json").write_text(json.dumps(data))
    saved = ssdlab.load(tmp_path)
    assert isinstance(saved, ssdlab.Result)
    other = saved["gc"]["of_another_version"]
    assert isinstance(other, Mapping)
    assert other["count"] == 3
    assert "erases" not in saved.flash
    with pytest.raises(AttributeError, match="flash has no erases; it has"):
        saved.flash.erases  # noqa: B018
