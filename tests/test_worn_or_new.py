"""The page that asks what of schemes is left on a worn drive: its tables are what runs of the studies give."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

import ssdlab
from conftest import ROOT

PAGE = (ROOT / "docs" / "worn-or-new.md").read_text()
Numbers = list[tuple[float, float]]


def table(heading: str) -> dict[str, Numbers]:
    """By the cells of a row before its first number, the means and half widths of that row; an empty cell is that of the row above."""
    found: dict[str, Numbers] = {}
    above: list[str] = []
    for line in PAGE.split(f"## {heading}")[1].split("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if " ± " in line else []
        words = [cell for cell in cells if not re.match(r"^-?[\d.,]+( |$)", cell)]
        above = [cell or (above[index] if index < len(above) else "") for index, cell in enumerate(words)]
        if cells:
            numbers = [cell.split(" ± ") for cell in cells[len(words) :] if " ± " in cell]
            found[", ".join(above)] = [(float(mean), float(half)) for mean, half in numbers]
    return found


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


def near(measured: float, of_page: tuple[float, float]) -> None:
    """A seed lies within twice the interval of three; half of the last digit covers rounding."""
    mean, half = of_page
    assert measured == pytest.approx(mean, abs=2 * half + 0.01 * abs(mean) + 0.06)


@pytest.mark.parametrize("age", ["new", "year-in-order"])
def test_gains_of_a_scheme(age: str) -> None:
    gains = table("Which schemes")
    runs = [run("bux2011", scheme, {"age": age}) for scheme in ("rwp", "cep")]
    column = 0 if age == "new" else 1
    mean, base = (result.latency_ns.all.mean for result in runs)
    near(100 * (mean / base - 1), gains["bux2011, `rwp`, `cep`, mean"][column])
    mean, base = (result.latency_ns.read.mean for result in runs)
    near(100 * (mean / base - 1), gains["bux2011, `rwp`, `cep`, mean of reads"][column])


def test_gains_of_suspension() -> None:
    with_it, without = (
        run("suspension", "nvme", {"drive": "last-good", "suspends": label}) for label in ("programs-and-erases", "nothing")
    )
    change = 100 * (with_it.latency_ns.read.mean / without.latency_ns.read.mean - 1)
    near(change, table("Does suspension")["worn, from the last good step"][0])


def test_levers_against_bursts() -> None:
    result = run("bursts", "npgc", {"lever": "slc"})
    p99, reads, writes = table("SLC cache")["SLC cache of 96 MiB, npgc"]
    near(result.latency_ns.all.p99 / 1e6, p99)
    near(result.latency_ns.read.p99 / 1e6, reads)
    near(result.latency_ns.write.p99 / 1e6, writes)


def test_all_schemes_survive_as_the_page_says() -> None:
    for name, changes in table("Which schemes").items():
        if "p99" not in name:
            assert all(mean + half < 0 for mean, half in changes), name
