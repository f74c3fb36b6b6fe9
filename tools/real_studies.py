"""Writes the studies of real drives: measured values beside those of their device presets at the same operating points.

    python tools/real_studies.py

From `measurements/ssd-iq` and `presets/devices` it writes `studies/real/DRIVE-KIND.toml`. The runs equal those of the calibration, so a
study reproduces its rows exactly. Drives without a preset have no studies.
"""

from __future__ import annotations

import re
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.asking.plans import value_text
from ssdlab.experiments.calibration import csv_tables
from ssdlab.experiments.calibration.api import SCHEME
from ssdlab.experiments.calibration.measurements import (
    QUANTITIES,
    FullSpeed,
    Measurement,
    Measurements,
    Pattern,
    Point,
    Probe,
    QuantityName,
)
from ssdlab.experiments.calibration.rule import bound, fitted_rows, highest_rate
from ssdlab.experiments.calibration.runs import LATENCIES, Candidate, run_at

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from calibrated_drives import DRIVES, PRESETS, TABLES  # noqa: E402 (beside this file)

FOLDER = ROOT / "studies" / "real"
DEVICES = ROOT / "presets" / "devices"
RESIZED = ("channels", "chips_per_channel", "pages_per_block", "page_bytes")
SEED = 1
"""Seed of the studies, which is the default seed of calibrations."""
WIDTH = 140
PLACE = "as measured by SSD-iq (PVLDB 18(11), 2025): gabriel-haas/ssdiq-pub at commit 8a0a3f4, collected in {}"
HEAD = "# Written by tools/real_studies.py from {} and the device {}. Change those, and run it again.\n"
FITTED = (
    "The device was fitted to the rows that are marked as calibrated; the others are predictions. What is expected is the tolerance of the "
    "fit, or the bound of the prediction. A row without either is only reported (docs/calibration.md)."
)
OPEN = (
    "Measurements do not determine the number of dies apart from the program time, the size of the buffer above two programs for each die, "
    "the erase time, channels and link, or the host's part of a read. These values are those of the device that calibration begins with."
)
STEADY = (
    "The simulated drive is prepared as steady. A tenth of what is in use is written before counting begins, and a fifth of it is counted; "
    "the measured one was written until its rate was steady."
)
FILLED = (
    "The simulated drive is filled in order, and then written at random: twice what is in use, or eight times if both of two zones are "
    "written, the end of it counted. Uniform writes and those by Zipf's law begin on a drive that is prepared as steady."
)
EMPTY = "Half of what is in use is written, a third of that before counting begins. The measured writes went on to its end."
LOADED = (
    "The simulated drive is prepared as steady. 4,000 reads of the probe are counted, forty of them above the 99th percentile. "
    "Response times were measured in whole microseconds."
)
WAITING = (
    "The simulated drive is prepared as steady. Its writes wait at times for collection, so the load has the threads that it was measured "
    "with; each has 64 requests in the drive at most, others wait on the host, which is part of their response times. 10,000 reads of the "
    "probe are counted, since times in which writes wait are few. With shorter blocks such times are shorter and come more often, in the "
    "same proportion. Response times were measured in whole microseconds."
)


@dataclass(frozen=True)
class Metric:
    """A quantity in the studies: name of its metric, and its descriptions in axes and rows, and unit."""

    name: str
    title: str
    what: str
    unit: str = ""


METRICS: Mapping[QuantityName, Metric] = {
    "write_amplification": Metric("amplification", "Write amplification", "write amplification"),
    "write_iops": Metric("rate", "Writes a second", "writes a second", "1/s"),
    "iops": Metric("rate", "Requests a second", "requests a second of probe and load", "1/s"),
    "read_p50_us": Metric("read_p50", "Reads, median (us)", "reads, median", "us"),
    "read_p99_us": Metric("read_p99", "Reads, 99th percentile (us)", "reads, 99th percentile", "us"),
    "write_p50_us": Metric("write_p50", "Writes, median (us)", "writes, median", "us"),
    "load_write_mean_us": Metric("load_write", "Writes of the load, mean (us)", "writes of the load, mean", "us"),
}
"""Quantities in the studies. Means below saturation and the 99th percentile of writes are on the page of calibrated drives."""


@dataclass(frozen=True)
class Kind:
    """A kind of study.

    Attributes:
        name: end of the study's name.
        title: title of the study.
        about: the comparison, in a sentence or two.
        axis: the parameter that varies between operating points.
        label: returns an operating point's label on the axis.
        what: returns an operating point's description in rows.
        order: sort key of operating points.
        quantities: quantities in the study.
        deviation: difference between its runs and the measured ones.
    """

    name: str
    title: str
    about: str
    axis: str
    label: Callable[[Any], str]
    what: Callable[[Any], str]
    order: Callable[[Any], Any]
    quantities: tuple[QuantityName, ...]
    deviation: str


def main() -> None:
    """Writes the studies."""
    FOLDER.mkdir(exist_ok=True)
    texts = studies()
    for old in FOLDER.glob("*.toml"):
        if old.stem not in texts:
            old.unlink()
    for name, text in texts.items():
        (FOLDER / f"{name}.toml").write_text(text, encoding="utf-8")
    print(f"{len(texts)} studies with {sum(text.count('[[rows]]') for text in texts.values())} rows in {FOLDER.relative_to(ROOT)}")


def studies() -> dict[str, str]:
    """The texts of all studies of drives with a preset, by name without the group."""
    texts: dict[str, str] = {}
    for drive, preset in PRESETS.items():
        if (file := DEVICES / f"{preset}.toml").is_file():
            texts |= studies_of(drive, preset, Candidate(str(file), SCHEME))
    return texts


def studies_of(drive: str, device: str, candidate: Candidate) -> dict[str, str]:
    """The texts of a drive's studies, by name without the group.

    Args:
        drive: name of the drive in the tables.
        device: name of the simulated drive in the studies: a preset, or the path of a file.
        candidate: the same device for the calibration's functions.
    """
    found = csv_tables.read(sorted(TABLES.glob("*.csv")), drive)
    name = drive.removesuffix("-b")
    return {f"{name}-{kind.name}": text_of(drive, device, candidate, found, kind, points) for kind, points in kinds(found)}


def kinds(found: Measurements) -> Iterator[tuple[Kind, list[Point]]]:
    """The kinds of studies that a drive has measurements for, with their operating points in order."""
    points = list(dict.fromkeys(row.point for row in found.rows))
    writes = [point for point in points if isinstance(point, FullSpeed)]
    random = [point for point in writes if point.pattern.kind != "sequential"]
    depths = Counter(point.depth for point in random)
    usual = depths.most_common(1)[0][0]
    uniform, skewed, zoned = ([point for point in random if point.pattern.kind == kind and point.depth == usual] for kind in RANDOM)
    together = len(uniform) == 1  # a single used capacity needs no study over used capacities
    of: list[tuple[Kind, Iterable[Point]]] = [
        (SEQUENTIAL, [point for point in writes if point.pattern.kind == "sequential"]),
        (USE, [] if together else uniform),
        (ZIPF, [*(uniform if together else []), *skewed]),
        (ZONES, zoned),
        (LOAD, [point for point in points if isinstance(point, Probe) and not point.is_saturated]),
        (SATURATED, [point for point in points if isinstance(point, Probe) and point.is_saturated]),
    ]
    of += [(depth_kind(depth), [point for point in random if point.depth == depth]) for depth in sorted(set(depths) - {usual})]
    yield from ((kind, sorted(chosen, key=kind.order)) for kind, chosen in of if chosen)


def used(point: Point) -> str:
    """The used capacity of a point, GB, as text."""
    return f"{point.used_bytes / 1e9:.0f}"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:g}"


def zones_text(pattern: Pattern) -> str:
    """A description of the writes to two zones."""
    return f"{percent(pattern.hot_access)} % of writes to {percent(pattern.hot_share)} % of the addresses"


def pattern_text(pattern: Pattern) -> str:
    """The description of a pattern in rows."""
    if pattern.kind == "zones":
        return zones_text(pattern)
    return f"Zipf's law with exponent {pattern.theta:g}" if pattern.kind == "zipf" else f"{pattern.kind} writes"


def offered(point: Probe) -> str:
    """The offered rate, thousands per second, as text."""
    assert point.offered_per_s is not None
    return f"{point.offered_per_s / 1e3:g}"


RANDOM = ("uniform", "zipf", "zones")
FULL_SPEED: tuple[QuantityName, ...] = ("write_amplification", "write_iops")
SEQUENTIAL = Kind(
    "sequential",
    "Sequential writes",
    "Writes of 512 KiB in order to an empty drive, one at a time.",
    "used (GB)",
    used,
    lambda point: f"{used(point)} GB used",
    lambda point: point.used_bytes,
    FULL_SPEED,
    EMPTY,
)
USE = Kind(
    "use",
    "Uniform writes, by how much of the drive is in use",
    "Uniform random writes of 4 KiB at full speed, while a part of the drive is used and the rest is empty.",
    "used (GB)",
    used,
    lambda point: f"{used(point)} GB used",
    lambda point: point.used_bytes,
    FULL_SPEED,
    STEADY,
)
ZIPF = Kind(
    "zipf",
    "Writes by Zipf's law",
    "Random writes of 4 KiB at full speed to the whole drive, some addresses more often than others; 0 is uniform. What is popular is "
    "scattered over the addresses.",
    "exponent of Zipf's law",
    lambda point: f"{point.pattern.theta:g}",
    lambda point: pattern_text(point.pattern),
    lambda point: point.pattern.theta,
    FULL_SPEED,
    FILLED,
)
ZONES = Kind(
    "zones",
    "Writes to two zones",
    "Random writes of 4 KiB at full speed to the whole drive, whose addresses are two zones: `100 to 60` sends 100 % of the writes to 60 % "
    "of the addresses. Zones are scattered over the addresses.",
    "writes to addresses (%)",
    lambda point: f"{percent(point.pattern.hot_access)} to {percent(point.pattern.hot_share)}",
    lambda point: zones_text(point.pattern),
    lambda point: (-point.pattern.hot_access if point.pattern.hot_access == 1 else point.pattern.hot_access, -point.pattern.hot_share),
    FULL_SPEED,
    FILLED,
)
LOAD = Kind(
    "load",
    "Response times under load",
    "A probe of 10,000 requests a second, half of them reads, beside a load of random requests of which 99 % are writes; 4 KiB each, to "
    "uniform random addresses. The load grows until the drive takes no more.",
    "requests offered (thousands a second)",
    offered,
    lambda point: f"{offered(point)},000 requests a second",
    lambda point: point.offered_per_s,
    ("read_p50_us", "read_p99_us", "write_p50_us"),
    LOADED,
)
SATURATED = Kind(
    "saturated",
    "Response times of a saturated drive",
    "A probe of 10,000 requests a second, half of them reads, beside as many random requests as the drive takes, of which 99 % are writes; "
    "4 KiB each, to uniform random addresses.",
    "load",
    lambda _: "saturated",
    lambda _: "saturated",
    lambda _: 0,
    ("iops", "read_p50_us", "read_p99_us", "write_p50_us", "load_write_mean_us"),
    LOADED,
)


def depth_kind(depth: int) -> Kind:
    """The kind of study for random writes at another depth than the drive's other ones."""
    return Kind(
        f"depth-{depth}",
        f"Random writes, {depth} outstanding",
        f"Random writes of 4 KiB at full speed to the whole drive, of which {depth} are outstanding.",
        "addresses",
        lambda point: str(point.pattern),
        lambda point: pattern_text(point.pattern),
        lambda point: (point.pattern.theta, str(point.pattern)),
        FULL_SPEED,
        FILLED,
    )


def text_of(drive: str, device: str, candidate: Candidate, found: Measurements, kind: Kind, points: Sequence[Point]) -> str:
    """The text of a study."""
    rows = ordered(found.rows, kind.quantities, points)
    tables = " and ".join(dict.fromkeys(f"measurements/ssd-iq/{row.source.partition(':')[0]}" for row in rows))
    runs = {point: run_at(candidate, point, SEED)[0] for point in points}
    _, parts = run_at(candidate, points[0], SEED)
    settings = {point: dict(run.set) for point, run in runs.items()}
    common = {key: text for key, text in settings[points[0]].items() if all(given.get(key) == text for given in settings.values())}
    tree = candidate.tree()
    deviation = WAITING if "host.queue_depth" in common else kind.deviation
    lines = [
        HEAD.format(tables, device),
        f"title = {value_text(f'{DRIVES[drive]}: {lowered(kind.title)}')}",
        f"place = {value_text(f'{DRIVES[drive]}, {PLACE.format(tables)}')}",
        f'about = """\n{wrapped(kind.about)}\n"""',
        "deviations = [",
        *(f"  {value_text(deviation)}," for deviation in (smaller(tree, settings[points[0]]), deviation, OPEN, FITTED)),
        "]\n",
        f"device = {value_text(device)}",
        f"schemes = [{value_text(candidate.scheme)}]",
        f"seeds = [{SEED}]\n",
        "[set]",
        *(f"{key} = {bare(text)}" for key, text in common.items()),
        "\n[[vary]]",
        f"name = {value_text(kind.axis)}",
        "points = [",
        *(f"  {point_text(kind.label(point), runs[point].options, settings[point], common)}," for point in points),
        "]\n",
        "[metrics]",
        *metrics(dict.fromkeys(row.quantity for row in rows), parts, flows="workload.flows" in settings[points[0]]),
    ]
    marked, highest = set(fitted_rows(found)), highest_rate(found.rows)
    for row in rows:
        lines += ["", *row_lines(row, kind, candidate.scheme, is_fitted=row in marked, highest=highest)]
    if len(points) > 1:
        panels = ", ".join(f'"{METRICS[quantity].name}"' for quantity in dict.fromkeys(row.quantity for row in rows))
        lines += ["\n[figure]", f"panels = [{panels}]", "published = true", *(["log = true"] if kind is LOAD else [])]
    return "\n".join(lines) + "\n"


def ordered(rows: Iterable[Measurement], quantities: Sequence[QuantityName], points: Sequence[Point]) -> list[Measurement]:
    """The rows of a study: quantity by quantity, each in the order of the operating points."""
    places = {point: place for place, point in enumerate(points)}
    chosen = [row for row in rows if row.point in places and row.quantity in quantities]
    return sorted(chosen, key=lambda row: (quantities.index(row.quantity), places[row.point]))


def lowered(title: str) -> str:
    """A title with a lower-case first letter, for use within another text."""
    return title[:1].lower() + title[1:]


def wrapped(text: str) -> str:
    """Breaks a text into lines."""
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False))


def bare(text: str) -> str:
    """TOML text with unquoted keys where possible."""
    return re.sub(r'"(\w+)" = ', r"\1 = ", text)


def smaller(tree: Mapping[str, Any], settings: Mapping[str, str]) -> str:
    """A description of the reduction of the simulated drive."""
    device = tree["device"]
    now = {key: tomllib.loads(f"value = {settings.get(f'device.{key}', device[key])}")["value"] for key in device if key in RESIZED}
    kept, of = (one["channels"] * one["chips_per_channel"] * device["dies_per_chip"] for one in (now, device))
    blocks = f"blocks of {now['pages_per_block']:,} pages instead of {device['pages_per_block']:,}"
    pages = f"pages of {now['page_bytes'] // 1024} KiB instead of {device['page_bytes'] // 1024}"
    size = (
        f"{kept} of {of} dies, {blocks}, and {pages}" if now["page_bytes"] < device["page_bytes"] else f"{kept} of {of} dies, and {blocks}"
    )
    return (
        f"The simulated drive is smaller: it has {size}. Load, buffer and cores are smaller in proportion, and written bytes as pages are. "
        "What happens on a die stays as it is: its programs and reads a second, its spare blocks, the blocks that victims are chosen from. "
        "Rates are those of the whole drive."
    )


def point_text(label: str, options: Mapping[str, Any], settings: Mapping[str, str], common: Mapping[str, str]) -> str:
    """A value of the parameter: settings of an operating point's run that differ from the common ones."""
    own = ", ".join(f"{key} = {bare(text)}" for key, text in settings.items() if key not in common)
    lengths = f"requests = {options['requests']:_}, warm_up = {options['warm_up']:_}"
    return f'{{ label = "{label}", {lengths}' + (f", set = {{ {own} }} }}" if own else " }")


def metrics(quantities: Iterable[QuantityName], parts: Mapping[str, float], *, flows: bool) -> Iterator[str]:
    """The lines of the metrics.

    `parts`: the part of the measured rate that each flow has.
    """
    alike = len(parts) - 1  # threads of the load, whose rates hardly differ
    load = f"{f'{alike} * ' if alike > 1 else ''}flows.load.iops / {parts['load']}" if flows else ""
    whole = f"iops / {next(iter(parts.values()))}"
    formulas = {
        "write_amplification": "gc.write_amplification",
        "write_iops": whole,
        "iops": f"{load} + flows.probe.iops / {parts['probe']}" if flows else whole,
    }
    for quantity in quantities:
        metric = METRICS[quantity]
        if quantity in LATENCIES:
            flow, kind, number = LATENCIES[quantity]
            formulas[quantity] = f"{f'flows.{flow}.' if flows else ''}latency_ns.{kind}.{number} / 1e3"
        yield f'{metric.name} = {{ of = "{formulas[quantity]}", title = "{metric.title}" }}'


def row_lines(row: Measurement, kind: Kind, scheme: str, *, is_fitted: bool, highest: float | None) -> Iterator[str]:
    """The lines of a row."""
    metric = METRICS[row.quantity]
    yield "[[rows]]"
    yield f"what = {value_text(f'{metric.what}: {kind.what(row.point)}')}"
    yield f'value = "{metric.name}[{scheme}, {kind.label(row.point)}]"'
    if metric.unit:
        yield f'unit = "{metric.unit}"'
    yield f"paper = {round(row.value, 3)}"
    allowed = allowance(row, is_fitted=is_fitted, highest=highest)
    if allowed is not None:
        yield f"at_least = {rounded(row.value - allowed)}"
        yield f"at_most = {rounded(row.value + allowed)}"
    if is_fitted:
        yield "calibrated = true"
    if row.repeats > 1:
        yield f'note = "measured {row.repeats} times"'


def allowance(row: Measurement, *, is_fitted: bool, highest: float | None) -> float | None:
    """Maximum error of a simulated value: tolerance of a fitted row, bound of a prediction; `None` for a reported row."""
    quantity = QUANTITIES[row.quantity]
    limit = (quantity.tolerance, quantity.floor) if is_fitted else bound(row, highest)
    return None if limit is None else max(limit[0] * row.value, limit[1])


def rounded(value: float) -> float:
    """Rounds to six significant digits; tables show no more."""
    return float(f"{value:.6g}")


if __name__ == "__main__":
    main()
