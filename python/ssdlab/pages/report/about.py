"""Describes the runs in words: drive, workload and keys set by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ssdlab.pages.report.runs import Run, Runs, words_of
from ssdlab.pages.report.summary import shown
from ssdlab.pages.tables import three
from ssdlab.pages.tables.runs import capacity_line

__all__ = ["facts"]

ELSEWHERE = ("--device", "--scheme", "--workload", "--trace", "--fio", "--seed", "--requests")
"""Options that other facts describe."""
FITTED = ("device.blocks_per_plane=", "device.overprovisioning=")
"""Keys that `fit` sets."""
BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "bytes"))


def facts(runs: Runs) -> list[tuple[str, str]]:
    """Names and texts of the facts, the most important first. A fact that differs between the runs is that of the first."""
    seeds = runs.seeds.get("seeds")
    known = [
        *_of_each(runs, "Drive", _drive),
        *_of_each(runs, "Array", _array),
        ("Cache", _cache(runs)),
        ("Workload" if _is_common(runs, "config.workload") else f"Workload, {runs[0].label}", _workload(runs[0])),
        ("Set by hand for all" if runs.variants else "Set by hand", _overrides(runs)),
        *_of_each(runs, "Load", _load),
        *([("Seeds", ", ".join(map(str, seeds)))] if seeds else _of_each(runs, "Seed", lambda run: str(run.data["seed"]))),
    ]
    return [(name, text) for name, text in known if text]


def _of_each(runs: Runs, name: str, text: Callable[[Run], str]) -> Iterator[tuple[str, str]]:
    """A fact of all runs, or of the first if others differ by their definition."""
    texts = [text(run) for run in runs]
    differ = bool(runs.variants) and len(set(texts)) > 1
    yield f"{name}, {runs[0].label}" if differ else name, texts[0]


def _is_common(runs: Runs, place: str) -> bool:
    """Whether all variants have the same entry."""
    return not runs.variants or all(run.at(place) == runs[0].at(place) for run in runs)


def _drive(run: Run) -> str:
    device = run.at("config.device")
    name = _option(run, "--device")
    counts = [("channel", device["channels"]), ("chip", device["chips_per_channel"]), ("die", device["dies_per_chip"])]
    shape = " \N{MULTIPLICATION SIGN} ".join(_counted(count, thing) for thing, count in counts)
    pages = device["planes_per_die"] * device["blocks_per_plane"] * device["pages_per_block"]
    for _, count in counts:
        pages *= count
    flash = f"{binary(pages * device['page_bytes'])} of flash in pages of {binary(device['page_bytes'])}"
    times = ", ".join(f"{what} {_time(device, what)}" for what in ("read", "program", "erase"))
    spare = f"over-provisioning {device['overprovisioning'] * 100:g} %"
    each = "each drive: " if run.drives > 1 else ""
    return f"{f'{name}, ' if name else ''}{each}{shape}, {flash}, {spare}; {times}"


def _time(device: Mapping[str, Any], what: str) -> str:
    """The time of a flash operation, or its range if it depends on the page."""
    by_page = device.get(f"{what}_ns_by_page") or [device[f"{what}_ns"]]
    ends = sorted({min(by_page), max(by_page)})
    return " to ".join(shown(ns, "ns") for ns in ends)


def _array(run: Run) -> str:
    array = run.at("config.array") or {}
    if run.drives < 2:
        return ""
    return f"{array['level'].upper()} of {array['drives']} drives, stripes of {array['stripe_kb']:g} KiB"


def _cache(runs: Runs) -> str:
    """The caches of the runs; empty without any."""
    found = {run.label: run.at("config.cache") for run in runs}
    texts = {label: _one_cache(cache) for label, cache in found.items() if cache and cache.get("policy", "none") != "none"}
    if len(set(texts.values())) == 1 and len(texts) == len(found):
        return next(iter(texts.values()))
    return "; ".join(f"{label}: {texts.get(label, 'none')}" for label in found) if texts else ""


def _one_cache(cache: dict[str, Any]) -> str:
    aware = ", aware of collection" if cache["gc_aware"] else ""
    return f"{cache['policy']} of {binary(cache['bytes'])}{aware}, in front of the {cache['place']}"


def _workload(run: Run) -> str:
    trace, preset = run.at("config.workload.trace"), _option(run, "--workload")
    jobs = _option(run, "--fio")
    name = f"trace {Path(trace).name}" if trace else f"jobs {Path(jobs).name}" if jobs else preset or "generated"
    requests = run.data["requests"]
    count = sum(requests.values())
    if not count:
        return name
    measured = run.data["simulated_ns"] - (run.at("warm_up.ns") or 0)  # without the warm-up, as for the requests
    seconds = f" in {shown(measured, 'ns')}"
    percent = requests.get("read", 0) / count * 100
    whole = f"{percent:.0f}" if percent >= 1 else three(percent)
    reads = f", {whole} % reads" if requests.get("read", 0) or requests.get("write", 0) else ""
    return f"{name}: {_counted(count, 'request')}{seconds}{reads}"


def _load(run: Run) -> str:
    """The load as a share of what a drive sustains; empty without one."""
    return "".join(capacity_line(run.data)).removeprefix("Load ")


def _overrides(runs: Runs) -> str:
    """The options in the commands of all runs other than device, scheme and workload; for sizes that `fit` chose, `fit` itself."""
    found = [_given(run) for run in runs]
    return ", ".join(
        value.replace("=", " = ", 1).replace('"', "") if option == "--set" else f"{option.removeprefix('--')} {value}"
        for option, value in found[0]
        if option not in ELSEWHERE and all((option, value) in others for others in found)
    )


def _given(run: Run) -> list[tuple[str, str]]:
    """The options in the command of a run, with `--fit` in place of the keys that it set."""
    words = words_of(run.data.get("command"))[2:]
    pairs = list(zip(words[::2], words[1::2], strict=False))
    fit = run.data.get("fit")
    if fit is None:
        return pairs
    kept = [(option, value) for option, value in pairs if option != "--set" or not value.startswith(FITTED)]
    return kept if any(option == "--fit" for option, _ in kept) else [*kept, ("--fit", str(fit["to"]))]


def _option(run: Run, name: str) -> str | None:
    words = words_of(run.data.get("command"))
    return words[words.index(name) + 1] if name in words else None


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def binary(count: int) -> str:
    """Formats bytes in a binary unit."""
    size, unit = next((entry for entry in BINARY if count >= entry[0]), BINARY[-1])
    return f"{count / size:,.4g} {unit}"
