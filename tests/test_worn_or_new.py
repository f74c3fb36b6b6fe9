"""What of schemes is left on a worn drive: the stored results are what runs of the studies give."""

from __future__ import annotations

import sys
import tomllib
from typing import Any

import pytest

import ssdlab
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import stored_studies


def changes(study: str) -> dict[str, tuple[float, float]]:
    """The stored changes of a study, by finding, with the half widths of their intervals."""
    rows = [row for row in stored_studies.read("worn-or-new") if row["study"] == f"worn-or-new/{study}"]
    return {row["finding"]: (float(row["simulated"]), float(row["interval"])) for row in rows}


def run(study: str, scheme: str, chosen: dict[str, str]) -> ssdlab.Result:
    """A run of a study under its first seed, at the points `chosen`."""
    read = tomllib.loads((ROOT / "studies" / "worn-or-new" / f"{study}.toml").read_text())
    layers: list[dict[str, Any]] = [read["set"]]
    for parameter in read["vary"]:
        label = chosen[parameter["name"]]
        if "points" in parameter:
            layers.append(next(point for point in parameter["points"] if point["label"] == label).get("set", {}))
        else:
            section, key = parameter["key"].split(".")
            layers.append({section: {key: parameter["values"][parameter["labels"].index(label)]}})
    names = ("device", "workload", "requests", "warm_up")
    options: dict[str, Any] = {name: read[name] for name in names if name in read}
    if "trace" in read:
        options["trace"] = ROOT / "traces" / read["trace"]
    return ssdlab.run(**options, scheme=scheme, seed=1, set=flat(layers))


def flat(layers: list[dict[str, Any]], prefix: str = "") -> dict[str, Any]:
    """The keys of nested tables by their full names."""
    found: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            found |= flat([value], f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


def near(measured: float, stored: tuple[float, float]) -> None:
    """A seed lies within twice the interval of three; 1 % beside it where seeds hardly differ."""
    mean, half = stored
    assert measured == pytest.approx(mean, abs=2 * half + 0.01 * abs(mean))


@pytest.mark.parametrize("age", ["new", "year-in-order"])
def test_gains_of_a_scheme(age: str) -> None:
    gains = changes("bux2011")
    runs = [run("bux2011", scheme, {"age": age}) for scheme in ("rwp", "cep")]
    mean, base = (result.latency_ns.all.mean for result in runs)
    near(100 * (mean / base - 1), gains[f"mean, rwp against cep, {age}"])
    mean, base = (result.latency_ns.read.mean for result in runs)
    near(100 * (mean / base - 1), gains[f"mean of reads, rwp against cep, {age}"])


def test_gains_of_suspension() -> None:
    with_it, without = (
        run("suspension", "nvme", {"drive": "last-good", "suspends": label}) for label in ("programs-and-erases", "nothing")
    )
    change = 100 * (with_it.latency_ns.read.mean / without.latency_ns.read.mean - 1)
    near(change, changes("suspension")["mean of reads, last-good: with suspension against without"])


def test_levers_against_bursts() -> None:
    result = run("bursts", "npgc", {"lever": "slc"})
    (bursts,) = (stored for stored in stored_studies.stored("worn-or-new") if stored.study.name == "worn-or-new/bursts")
    for name, of in (("p99", result.latency_ns.all), ("read", result.latency_ns.read), ("write", result.latency_ns.write)):
        stored = bursts.points[name, "npgc", ("slc",)]
        near(of.p99 / 1e6, (stored.mean, stored.half or 0.0))


@pytest.mark.parametrize("study", ["bux2011", "lee2013", "elyasi2017", "wu2017", "ae2022"])
def test_all_schemes_survive_as_the_page_says(study: str) -> None:
    means = {name: change for name, change in changes(study).items() if name.startswith("mean")}
    assert len(means) == 8
    assert all(mean + half < 0 for mean, half in means.values()), means
