"""Remarks that qualify the numbers of a result. The core makes those of a run; this module makes those of several runs, and formats all."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from ssdlab import _core
from ssdlab.checks import few

__all__ = [
    "NOTE",
    "NOT_SETTLED",
    "WARNING",
    "Remark",
    "Shown",
    "as_dicts",
    "from_dict",
    "gc_ran",
    "listed",
    "named",
    "of_capacity",
    "of_comparison",
    "of_fio",
    "of_fit",
    "of_named",
    "of_pacing",
    "of_preparation",
    "of_run",
    "of_runs",
    "of_sweep",
    "preparing",
    "replays",
    "shown",
]

NOTE, WARNING = "note", "warning"

RunData = Mapping[str, Any]
"""A result by the names of its entries."""


@dataclass(frozen=True)
class Remark:
    """A condition or fact to know beside a number of a result.

    Attributes:
        code: kind of the remark, as listed on the page of statistics.
        severity: `"warning"` if the number holds only under a condition, `"note"` if it holds.
        about: path of the number in the result, such as `gc.write_amplification`, or of a part, such as `latency_ns`; empty for the whole
            result.
        sentence: the condition or fact.
        remedy: recommended action.
        where: names of the runs that the remark applies to; empty for all runs, and for a single run.
        among: these runs in words, if values of a sweep's axes tell them from the others.
        why: the reason, and what else follows; empty if the sentence says it all.
    """

    code: str
    severity: str
    about: str
    sentence: str
    remedy: str
    where: tuple[str, ...] = ()
    among: str = ""
    why: str = ""

    @property
    def is_warning(self) -> bool:
        """Whether the remark is a warning: the number holds only under a condition."""
        return self.severity == WARNING

    def concerns(self, place: str) -> bool:
        """Whether the remark is about the number at a path of the result, or about a part that contains it."""
        return not self.about or f"{place}.".startswith(f"{self.about}.")

    def __str__(self) -> str:
        """The runs, sentence, remedy and code of the remark."""
        return f"{self.headed} {self.remedy} ({self.code})"

    @property
    def headed(self) -> str:
        """The runs, and the sentence."""
        return f"{f'{self.among}: ' if self.among else listed(self.where)}{self.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary, as printed by `--json`."""
        parts: dict[str, Any] = {
            "code": self.code,
            "severity": self.severity,
            "about": self.about,
            "sentence": self.sentence,
            "remedy": self.remedy,
        }
        parts |= {"why": self.why, "where": list(self.where), "among": self.among}
        return {key: value for key, value in parts.items() if value or key not in ("about", "why", "where", "among")}


def as_dicts(remarks: Iterable[Remark]) -> list[dict[str, Any]]:
    """Copies of remarks as dictionaries, as printed by `--json`."""
    return [remark.to_dict() for remark in remarks]


MOST_NAMED = 3
"""Maximum number of runs that a remark names."""


def listed(where: Sequence[str]) -> str:
    """The runs that a remark applies to, as the beginning of its line; empty for all."""
    if not where:
        return ""
    return f"{few(where, MOST_NAMED, '; ' if any(', ' in name for name in where) else ', ')}: "


# ---- remarks of one run ----------------------------------------------------------------------------------------------

UNREAD = ("series", "histograms", "remarks")
"""Entries of a result that remarks do not depend on."""


def of_run(result: RunData) -> list[Remark]:
    """The remarks of a result. For a result of version 1.0, they are derived from its other entries."""
    entries = result.get("remarks")
    if entries is None:
        rest = {key: entry for key, entry in _plain(result).items() if key not in UNREAD}
        entries = json.loads(_core.remarks_of_result(json.dumps(rest)))
    return [from_dict(entry) for entry in entries]


def of_fio(file: str, ignored: Sequence[str], differs: Sequence[str]) -> Iterator[Remark]:
    """The remarks on a job file of fio: options without effect, and what fio does in another way."""
    for sentence in differs:
        yield Remark("fio-differs", WARNING, "", f"{file}: {sentence}.", "Compare the requests with those of fio (--write_iolog).")
    if ignored:
        sentence = f"{file}: ignored, since they are about the host alone: {few(ignored, KEYS_NAMED)}."
        why = f"All: {', '.join(ignored)}." if len(ignored) > KEYS_NAMED else ""
        yield Remark("fio-ignored", NOTE, "", sentence, "The simulated host takes no time of its own.", why=why)


MORE_SPARE = 1.05
"""Ratio of over-provisioning of a fitted drive to the configured one, above which there is a remark."""
MUCH_LARGER = 1.5
"""Ratio of exported to needed bytes of a fitted drive, above which there is a remark."""


def of_fit(fit: RunData, *, alike: bool = False) -> Iterator[Remark]:
    """The remarks on a fitted device, from the entry `fit` of a result.

    Args:
        fit: the entry.
        alike: whether the drive was given the size of others that it is compared with.
    """
    asked, spare = fit["overprovisioning_before"], fit["overprovisioning"]
    if spare > asked * MORE_SPARE:
        sentence = f"The fitted drive has {spare:.1%} over-provisioning, not {asked:.1%}."
        remedy = "Smaller blocks (device.pages_per_block) or a lower gc.soft come closer."
        why = "Whole blocks, thresholds or the size of the drives that it is compared with" if alike else "Whole blocks or thresholds"
        yield Remark("fit-spare", WARNING, "gc.write_amplification", sentence, remedy, why=f"{why} need more.")
    needed, exported = fit["needed_bytes"], fit["exported_bytes"]
    if needed * MUCH_LARGER < exported:
        sentence = f"The fitted drive exports {exported:,} bytes, and only {needed:,} are needed."
        remedy = "Smaller blocks (device.pages_per_block), a lower gc.soft or more device.overprovisioning come closer."
        why = f"With fewer blocks it could not collect at {asked:.1%} over-provisioning."
        why = "A drive that it is compared with cannot be smaller." if alike else why
        rest = "A trace never writes the rest after the preparation. A generated workload uses all of it."
        yield Remark("fit-larger", WARNING, "gc.write_amplification", sentence, remedy, why=f"{why} {rest}")


FULL = 0.9
"""Share of the exported addresses with data below which a drive is partly full."""


def of_preparation(result: RunData, *, spare_is_set: bool) -> Iterator[Remark]:
    """The remark on a drive that was prepared partly full, so that GC has more spare than its over-provisioning.

    Args:
        result: the result.
        spare_is_set: whether the caller set the over-provisioning. There is a remark with a prefill file, too.
    """
    held, spare = _at(result, "precondition.valid_share"), _at(result, "config.device.overprovisioning")
    is_asked = spare_is_set or _at(result, "config.ftl.precondition.prefill") is not None
    if held is None or spare is None or not is_asked or not 0 < held < FULL or not gc_ran(result):
        return
    real = 1 - held * (1 - spare)
    sentence = f"When the run began, {held:.0%} of the exported addresses held data: GC had {real:.0%} spare, not {spare:.0%}."
    remedy = 'For the spare that was set: ftl.precondition.kind = "steady", without a prefill file.'
    yield Remark("partly-full", WARNING, "gc.write_amplification", sentence, remedy)


WIDE = 0.1
"""Half width of the interval of a capacity, relative to it, above which there is a warning."""


def of_capacity(capacity: RunData) -> Iterator[Remark]:
    """The remarks on a load that is a share of a capacity, from the entry `capacity` of a result."""
    share, low, high = capacity["load"], capacity["low_iops"], capacity["high_iops"]
    of = f"{capacity['of']} sustains" if "of" in capacity else "the drive sustains"
    if share > 1:
        sentence = f"Overload: requests come at {share:g} times the rate that {of}; response times depend on the length of the run."
        yield Remark("load-above-capacity", WARNING, "latency_ns", sentence, "Compare only what the drive completes per second.")
    if high - low > 2 * WIDE * capacity["iops"]:
        sentence = f"The rate that {of} is only known to be between {low:,.0f} and {high:,.0f} requests/s."
        yield Remark("capacity-uncertain", WARNING, "capacity", sentence, "Run more requests, which the search takes as well.")
    if drift := capacity["drift"]:
        change = f"{abs(drift):.0%} {'more' if drift > 0 else 'fewer'} requests/s in its second half than in its first"
        sentence = f"The rate that {of} depends on the length of the run: the one that shows it has {change}."
        yield Remark("capacity-uncertain", WARNING, "capacity", sentence, "Run more requests, which the search takes as well.")


def of_pacing(config: RunData) -> Iterator[Remark]:
    """The remark on pacing by room where it is known to fall short (docs/model/pacing.md), from the configuration of a result."""
    gc, ftl, slc = config.get("gc", {}), config.get("ftl", {}), config.get("slc", {})
    if gc.get("pace") != "room":
        return
    can_fail = any(config["wear"][key] > 0 for key in ("endurance", "program_fails_ppm", "erase_fails_ppm"))
    short = {
        "superblocks": ftl["reclaim_unit"] != "block",
        "writes to blocks in SLC mode": slc["static_blocks"] + slc["dynamic_blocks"] > 0,
        "a write buffer on blocks that can fail": config["buffer"]["bytes"] > 0 and can_fail,
        "scheduler.order = fcfs": config["scheduler"]["order"] == "fcfs",
    }
    if found := [what for what, holds in short.items() if holds]:
        waits = "writes, or with fcfs reads, may wait for longer than with gc.pace = proportional."
        sentence = f"gc.pace = room falls short with {' and '.join(found)}: {waits}"
        yield Remark("room-falls-short", WARNING, "latency_ns", sentence, "Compare with gc.pace = proportional.")


def from_dict(entry: Mapping[str, Any]) -> Remark:
    """Builds a remark from its `--json` form. Entries of later versions are ignored."""
    texts = {key: str(entry.get(key, "")) for key in ("code", "severity", "about", "sentence", "remedy", "among", "why")}
    return Remark(**texts, where=tuple(entry.get("where", ())))


def _plain(value: Any) -> Any:
    """A copy of a result or a part of it as dictionaries."""
    if isinstance(value, Mapping):
        return {key: _plain(value[key]) for key in value if key not in UNREAD}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


# ---- remarks of several runs -----------------------------------------------------------------------------------------

NO_COLLECTION = "no-collection"
NOT_SETTLED = "not-settled"
FEW_BLOCKS = "few-blocks"
MANY_BLOCKS = 100
"""Number of blocks of a pool from which on victim policies differ as on a large drive."""


def of_runs(runs: Mapping[str, RunData], *, each: bool = False) -> list[Remark]:
    """The remarks of several runs by name.

    Remarks of one condition are merged to one, with the range of its numbers. It names its runs unless it applies to all. With `each`,
    write amplifications that differ are given one by one.
    """
    own = {name: of_run(result) for name, result in runs.items()}
    return of_named({name: [*remarks, *_few_blocks(runs, name, remarks)] for name, remarks in own.items()}, each=each)


def _few_blocks(runs: Mapping[str, RunData], name: str, own: Sequence[Remark]) -> Iterator[Remark]:
    """A remark on a run whose pools have few blocks, if runs differ in the victim policy, unless it has one."""
    victims = {str(_at(result, "config.gc.victim")) for result in runs.values()}
    shape = [_at(runs[name], f"config.{key}") for key in ("device.blocks_per_plane", "device.planes_per_die", "ftl.pool")]
    if len(victims) < 2 or None in shape or any(remark.code == FEW_BLOCKS for remark in own):
        return
    blocks = shape[0] * (1 if shape[2] == "plane" else shape[1])
    if blocks < MANY_BLOCKS:
        sentence = f"A pool has {blocks} blocks, on drives on sale 500 and more: victim policies differ less than they would."
        remedy = "Have more and smaller blocks, or use the device nvme-tlc-scaled-5g."
        yield Remark(FEW_BLOCKS, NOTE, "gc.write_amplification", sentence, remedy)


NUMBER = re.compile(r"(?<![\w.,-])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])")
"""A number in a sentence, not a part of a name."""
AMPLIFICATION = re.compile(r"\d+\.\d{3}")
"""A write amplification, as the remark `not-settled` has it."""
AS_GOOD_AS = 0.005
"""Relative difference up to which write amplifications are as good as one: the rate of change up to which the core takes one as settled."""


def of_named(runs: Mapping[str, Sequence[Remark]], *, each: bool = False) -> list[Remark]:
    """Merges the remarks of several runs by name; see `of_runs`."""
    found: dict[tuple[str, ...], dict[str, Remark]] = {}
    for name, own in runs.items():
        for remark in own:
            found.setdefault(_condition(remark), {}).setdefault(name, remark)
    by_code: dict[tuple[str, str], list[Remark]] = {}
    for alike in found.values():
        where = () if len(alike) == len(runs) else tuple(alike)
        remark = replace(_merged(alike, names_told=bool(where), each=each), where=where)
        by_code.setdefault((remark.code, remark.about), []).append(remark)
    return [remark for remarks in by_code.values() for remark in remarks]


def _condition(remark: Remark) -> tuple[str, ...]:
    """What equal conditions of several runs have in common: all but their numbers."""
    return (remark.code, remark.severity, remark.about, *(NUMBER.sub("#", text) for text in (remark.sentence, remark.remedy)))


def _merged(alike: Mapping[str, Remark], *, names_told: bool, each: bool) -> Remark:
    """One remark for several of one condition, by run. Reasons that differ in more than numbers name their runs.

    With `each`, write amplifications that differ are given one by one: with the names of their runs, unless these are before the sentence.
    """
    first, *_ = alike.values()
    names = () if names_told else tuple(alike)
    written = partial(_one_by_one, names=names) if each and first.code == NOT_SETTLED else _range
    sentence = _over_all([remark.sentence for remark in alike.values()], written)
    remedy = _over_all([remark.remedy for remark in alike.values()])
    reasons: dict[str, list[str]] = {}
    for name, remark in alike.items():
        reasons.setdefault(NUMBER.sub("#", remark.why), []).append(name)
    told = [(listed(names) if len(reasons) > 1 else "", _over_all([alike[name].why for name in names])) for names in reasons.values()]
    return replace(first, sentence=sentence, remedy=remedy, why=" ".join(f"{names}{why}" for names, why in told if why))


def _range(numbers: Sequence[str]) -> str:
    """The least and the greatest of numbers, as text; one number if all are equal."""
    low, high = (choose(numbers, key=lambda text: float(text.replace(",", ""))) for choose in (min, max))
    return low if low == high else f"{low} to {high}"


def _over_all(texts: Sequence[str], written: Callable[[Sequence[str]], str] = _range) -> str:
    """Texts that differ in numbers as one, with each number over all of them `written` in words, by default its range."""
    columns = zip(*(NUMBER.findall(text) for text in texts), strict=True)
    ranges = iter([written(column) for column in columns])
    return NUMBER.sub(lambda _: next(ranges), texts[0])


def _one_by_one(numbers: Sequence[str], names: Sequence[str]) -> str:
    """Write amplifications that differ, with the names of their runs, if any; other numbers as a range."""
    if not all(map(AMPLIFICATION.fullmatch, numbers)) or max(map(float, numbers)) <= min(map(float, numbers)) * (1 + AS_GOOD_AS):
        return _range(numbers)
    told = [f"{number} ({name})" for number, name in zip(numbers, names, strict=True)] if names else numbers
    return few(told, MOST_NAMED)


def of_comparison(
    runs: Mapping[str, RunData], *, seeds_differ: bool | None = None, of_seeds: Mapping[str, Mapping[int, RunData]] | None = None
) -> list[Remark]:
    """The remarks of the runs of a comparison, and remarks on the comparison as a whole.

    Args:
        runs: results by label; with several seeds, results of the first.
        seeds_differ: whether results differ between seeds; `None` for one seed.
        of_seeds: with several seeds, the results by label and seed. What is said of runs must then hold under each seed, and remarks
            that only runs of later seeds have are added, with the seed.
    """
    later = _later_seeds(of_seeds or {}, runs)
    never = list(_no_collection(runs)) if all(any(_no_collection(other)) for other in later.values()) else []
    together = [*never, *_same(runs, list(later.values())), *_seeds(runs, seeds_differ)]
    own = of_runs(_without_false_notes(runs, later) if later else runs, each=True)
    known = {(remark.code, remark.about, name) for remark in own for name in remark.where or runs}
    for seed, other in later.items():
        more = {
            name: [remark for remark in of_run(result) if remark.is_warning and (remark.code, remark.about, name) not in known]
            for name, result in other.items()
        }
        known |= {(remark.code, remark.about, name) for name, remarks in more.items() for remark in remarks}
        own += [replace(remark, sentence=f"Under seed {seed}: {remark.sentence}") for remark in of_named(more, each=True)]
    codes = {remark.code for remark in together}
    return [*together, *(remark for remark in own if remark.code != NO_COLLECTION or NO_COLLECTION not in codes)]


def _later_seeds(of_seeds: Mapping[str, Mapping[int, RunData]], first: Mapping[str, RunData]) -> dict[int, dict[str, RunData]]:
    """Results by seed and label, of the seeds after the first that all variants have."""
    seeds = list(dict.fromkeys(seed for results in of_seeds.values() for seed in results))[1:]
    return {
        seed: {label: of_seeds[label][seed] for label in first} for seed in seeds if all(seed in of_seeds.get(label, ()) for label in first)
    }


def _without_false_notes(runs: Mapping[str, RunData], later: Mapping[int, Mapping[str, RunData]]) -> dict[str, RunData]:
    """The runs of the first seed, without the remark that GC did not run where it ran under a later seed."""

    def ran(name: str) -> bool:
        return any(gc_ran(other[name]) for other in later.values())

    def kept(name: str, result: RunData) -> RunData:
        if not ran(name):
            return result
        return {**result, "remarks": as_dicts(remark for remark in of_run(result) if remark.code != NO_COLLECTION)}

    return {name: kept(name, result) for name, result in runs.items()}


def _no_collection(runs: Mapping[str, RunData]) -> Iterator[Remark]:
    """A remark if no scheme collected and the schemes differ in collection: their differences then say nothing about it."""
    collection = [_plain(_at(result, "config.gc")) for result in runs.values()]
    alike = None not in collection and all(other == collection[0] for other in collection)
    if len(runs) < 2 or alike or any(gc_ran(result) is not False for result in runs.values()):
        return
    after = " after the warm-up" if any(result.get("warm_up") for result in runs.values()) else ""
    sentence = f"Garbage collection did not run under any scheme{after}: schemes of collection cannot differ."
    yield Remark(NO_COLLECTION, WARNING, "gc", sentence, f"Write more, or {preparing(runs.values())}.")


def preparing(runs: Iterable[RunData]) -> str:
    """How to prepare the drive of runs in which GC did not run, as the end of a sentence."""
    if any(_at(result, "config.ftl.precondition.kind") == "ranges" for result in runs):
        return 'set ftl.precondition.kind = "steady" beside --prefill, which alone writes its ranges once'
    return 'prepare the drive (ftl.precondition.kind = "steady")'


COLLECTED = ("gc.jobs", "gc.pages_moved", "gc.time_share")
"""Entries of which one is above 0 if GC ran. A job is counted when it ends."""


def gc_ran(result: RunData) -> bool | None:
    """Whether GC ran, including a job that has not ended; `None` for a result without these entries."""
    return None if _at(result, "gc.jobs") is None else any(_at(result, place) for place in COLLECTED)


NOTHING_RANDOM = "All seeds gave the same runs: nothing here is random, and intervals of ± 0 say nothing."
SEEDS_OF_A_TRACE = "Intervals are over seeds of the drive, not over traces."
SEEDS_OF_A_STATE = "Intervals are over seeds of the drive, not over traces or saved states."
CHANGED_BY_SEEDS = "A seed changes the drive's preparation and its random choices."
CHANGED_FROM_A_STATE = "A seed changes the drive's random choices."


def _seeds(runs: Mapping[str, RunData], differ: bool | None) -> Iterator[Remark]:
    if differ is False:
        yield Remark("nothing-random", WARNING, "", NOTHING_RANDOM, "One seed is enough.")
    elif differ and any(map(replays, runs.values())):
        from_state = any(_at(result, "precondition.kind") == "state" for result in runs.values())
        sentence, why = (SEEDS_OF_A_STATE, CHANGED_FROM_A_STATE) if from_state else (SEEDS_OF_A_TRACE, CHANGED_BY_SEEDS)
        yield Remark("seeds-of-a-trace", NOTE, "", sentence, "Compare on several traces.", why=why)


def replays(result: RunData) -> bool:
    """Whether the run replayed a trace, alone or in one of its flows: another seed does not change these requests."""
    flows = _at(result, "config.workload.flows") or ()
    return any(_at(workload, "trace") for workload in (_at(result, "config.workload"), *flows) if workload is not None)


class _Reason(NamedTuple):
    """A reason why the keys of a section had no effect: entries that are 0 in both runs."""

    section: str
    places: tuple[str, ...]
    sentence: str


REASONS = (
    _Reason("gc", COLLECTED, "garbage collection did not run"),
    _Reason("buffer", ("buffer.full_waits",), "no request waited for room in the write buffer"),
    _Reason("cache", ("cache.evictions",), "the cache evicted nothing"),
)
CHOOSE = "Leave one out, or choose a load and a drive under which they can differ."
ONE_DIGEST = "Every request took the same time (one digest)."
ONE_FIGURE = "All figures are equal to the last digit."
KEYS_NAMED = 5
"""Maximum number of differing keys that a remark names."""


def _same(runs: Mapping[str, RunData], later: Sequence[Mapping[str, RunData]] = ()) -> Iterator[Remark]:
    """A remark for each group of runs with the same result; with several seeds, the same under each of them."""
    every = (runs, *later)
    alike: list[list[str]] = []
    for name in runs:
        group = next((names for names in alike if all(_is_same(of_seed[names[0]], of_seed[name]) for of_seed in every)), None)
        if group is None:
            alike.append([name])
        else:
            group.append(name)
    for names in alike:
        if len(names) > 1:
            yield _same_result([[of_seed[name] for name in names] for of_seed in every], tuple(names))


def _is_same(one: RunData, other: RunData) -> bool:
    """Whether the same requests were measured and took the same time in two runs, or all figures are equal."""
    measured = _at(one, "warm_up.requests") == _at(other, "warm_up.requests")
    return (measured and _digest(one) == _digest(other) != "") or _figures(one) == _figures(other) != ""


def _digest(result: RunData) -> str:
    return str(result.get("digest", ""))


def _figures(result: RunData) -> str:
    """Figures of response times, GC and flash as text; empty for a result that lacks some."""
    figures = [_plain(result.get(key)) for key in ("latency_ns", "gc", "flash")]
    return json.dumps(figures, sort_keys=True) if all(figures) else ""


def _same_result(by_seed: Sequence[Sequence[RunData]], names: tuple[str, ...]) -> Remark:
    """The remark for runs with the same result: for each seed, the results of all of them."""
    first, every = by_seed[0], [result for results in by_seed for result in results]
    keys = list(dict.fromkeys(key for other in first[1:] for key in _differing(first[0], other)))
    if not keys:
        return Remark("same-result", WARNING, "", "They have the same configuration, and the same result.", "Leave one out.", names)
    one_digest, one_figure = (all(len({of(result) for result in results}) == 1 for results in by_seed) for of in (_digest, _figures))
    what = "nothing" if one_figure else "no response time"
    sentence = f"{few(keys, KEYS_NAMED)} changed {what}{_reasons(keys, every)}."
    return Remark("same-result", WARNING, "", sentence, CHOOSE, names, why=ONE_DIGEST if one_digest else ONE_FIGURE)


def _reasons(keys: Sequence[str], results: Sequence[RunData]) -> str:
    """The known reasons why these keys had no effect, as text; empty if there are none."""
    sections = {key.partition(".")[0] for key in keys}
    happened = {place for reason in REASONS for place in reason.places if any(_at(result, place) for result in results)}
    found = [reason.sentence for reason in REASONS if reason.section in sections and happened.isdisjoint(reason.places)]
    return f" ({'; '.join(found)})" if found else ""


def _differing(one: RunData, other: RunData) -> list[str]:
    """The configuration keys in which two runs differ."""
    configs = [dict(_leaves(_plain(result.get("config", {})))) for result in (one, other)]
    return [key for key in dict.fromkeys([*configs[0], *configs[1]]) if configs[0].get(key) != configs[1].get(key)]


def _leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        place = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            yield from _leaves(value, place)
        else:
            yield place, value


def _at(result: RunData, place: str) -> Any:
    """An entry by its path; `None` if it does not exist."""
    found: Any = result
    for part in place.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


SEED = "seed"
"""The axis of a sweep over which means are taken."""


def of_sweep(axes: Mapping[str, Sequence[Any]], points: Sequence[tuple[Mapping[str, Any], RunData]]) -> list[Remark]:
    """The remarks of the runs of a sweep, and remarks on the sweep as a whole.

    Args:
        axes: values of each axis.
        points: values by axis, and result, of each point that was run.
    """
    names = {named(values): values for values, _ in points}
    own = of_runs({named(values): result for values, result in points})
    return [*_idle_axes(axes, points), *(replace(remark, among=_among(axes, names, remark.where)) for remark in own)]


VALUES_NAMED = 4
"""Maximum number of values of an axis by which points are named."""


def _among(axes: Mapping[str, Sequence[Any]], names: Mapping[str, Mapping[str, Any]], where: Sequence[str]) -> str:
    """The points of a sweep in words, if values of its axes tell them from all others; empty if not, and for all points."""
    if len(where) < 2:
        return ""
    having = {axis: {json.dumps(names[name][axis]) for name in where} for axis in axes}
    every = {axis: {json.dumps(values[axis]) for values in names.values()} for axis in axes}
    apart = {axis: found for axis, found in having.items() if found != every[axis]}
    inside = {name for name, values in names.items() if all(json.dumps(values[axis]) in found for axis, found in apart.items())}
    if inside != set(where) or any(len(found) > VALUES_NAMED for found in apart.values()):
        return ""
    told = (f"{axis} = {' or '.join(str(value) for value in axes[axis] if json.dumps(value) in found)}" for axis, found in apart.items())
    return f"all points with {', '.join(told)}"


def named(values: Mapping[str, Any]) -> str:
    """The name of a point of a sweep: its values."""
    return ", ".join(f"{axis} = {value}" for axis, value in values.items())


def _idle_axes(axes: Mapping[str, Sequence[Any]], points: Sequence[tuple[Mapping[str, Any], RunData]]) -> Iterator[Remark]:
    """A remark for each axis along which neighbouring points have the same result."""
    for axis, values in axes.items():
        rows: dict[str, dict[str, tuple[Mapping[str, Any], RunData]]] = {}
        for at, result in points:
            rest = named({other: value for other, value in at.items() if other != axis})
            rows.setdefault(rest, {})[json.dumps(at[axis])] = (at, result)
        steps = [
            (row[json.dumps(one)], row[json.dumps(other)])
            for row in rows.values()
            for one, other in itertools.pairwise(values)
            if json.dumps(one) in row and json.dumps(other) in row
        ]
        same = [(one, other) for one, other in steps if _is_same(one[1], other[1])]
        if not same:
            continue
        if axis == SEED:
            if len(same) == len(steps) and all(_figures(one[1]) == _figures(other[1]) for one, other in same):
                yield Remark("nothing-random", WARNING, "", NOTHING_RANDOM, "One seed is enough.")
            continue
        yield _idle_axis(axis, same, len(steps))


_Step = tuple[tuple[Mapping[str, Any], RunData], tuple[Mapping[str, Any], RunData]]


def _idle_axis(axis: str, same: Sequence[_Step], steps: int) -> Remark:
    (at, result), (after, other) = same[0]
    others = {key: value for key, value in at.items() if key != axis}
    place = f", {named(others)}" if others else ""
    reasons = _reasons(_differing(result, other), [result, other])
    what = "nothing" if all(_figures(one[1]) == _figures(next_one[1]) for one, next_one in same) else "no response time"
    sentence = f"{axis} changed {what} at {len(same):,} of {steps:,} steps along it{reasons}."
    return Remark("same-result", WARNING, "", sentence, CHOOSE, why=f"The first step is from {at[axis]} to {after[axis]}{place}.")


# ---- display ---------------------------------------------------------------------------------------------------------


FOOTNOTES = ("left-out",)
"""Codes of remarks that no number refers to: plain lines below all others."""


@dataclass(frozen=True)
class Shown:
    """Remarks for tables and pages: warnings first, each with a letter by which numbers refer to it, and footnotes."""

    remarks: tuple[Remark, ...]
    footnotes: tuple[Remark, ...] = ()

    def lettered(self) -> Iterator[tuple[str, Remark]]:
        """The remarks with their letters."""
        for number, remark in enumerate(self.remarks):
            yield _letter(number), remark

    def of(self, place: str, *names: str) -> list[tuple[str, Remark]]:
        """The warnings about the number at a path of the result; with `names`, only warnings that apply to these runs."""
        return [(letter, remark) for letter, remark in self.about(place, *names) if remark.is_warning]

    def about(self, place: str, *names: str) -> list[tuple[str, Remark]]:
        """The warnings and notes about the number at a path of the result; with `names`, only those that apply to these runs."""
        return [(letter, remark) for letter, remark in self._of_runs(*names) if remark.about and remark.concerns(place)]

    def of_whole(self, *names: str) -> list[tuple[str, Remark]]:
        """The warnings about whole results, not about a number of them; with `names`, only those that apply to these runs."""
        return [(letter, remark) for letter, remark in self._of_runs(*names) if remark.is_warning and not remark.about]

    @functools.cached_property
    def _wheres(self) -> list[frozenset[str]]:
        """The runs to which each remark applies: of a large sweep it has thousands, and is asked about each cell."""
        return [frozenset(remark.where) for remark in self.remarks]

    def _of_runs(self, *names: str) -> Iterator[tuple[str, Remark]]:
        for (letter, remark), where in zip(self.lettered(), self._wheres, strict=True):
            if not names or not where or not where.isdisjoint(names):
                yield letter, remark

    def mark(self, place: str, *names: str) -> str:
        """The reference after a number: ` [a]`; empty without a warning."""
        return _mark(letter for letter, _ in self.of(place, *names))

    def marks_of(self, codes: Iterable[str]) -> str:
        """The reference after a number that remarks with these codes are about."""
        known = set(codes)
        return _mark(letter for letter, remark in self.lettered() if remark.code in known)

    def row(self, part: str) -> str:
        """The reference after the name of a part of the result: letters of the remarks about the part itself."""
        return _mark(letter for letter, remark in self.lettered() if remark.about == part)

    def heading(self, part: str) -> str:
        """The reference after the heading of a part of the result: as for a row, and letters of the warnings about the whole result."""
        whole = [letter for letter, _ in self.of_whole()]
        return _mark(letter for letter, remark in self.lettered() if remark.about == part or letter in whole)

    def lines(self) -> list[tuple[str, bool]]:
        """A line for each remark, and whether it is a warning."""
        told = [(f"[{letter}] {'Warning: ' if remark.is_warning else ''}{remark}", remark.is_warning) for letter, remark in self.lettered()]
        return [*told, *((remark.headed, False) for remark in self.footnotes)]


def shown(remarks: Iterable[Remark]) -> Shown:
    """Orders remarks for display, warnings first."""
    ordered = sorted(remarks, key=lambda remark: not remark.is_warning)
    notes = tuple(remark for remark in ordered if remark.code in FOOTNOTES)
    return Shown(tuple(remark for remark in ordered if remark.code not in FOOTNOTES), notes)


def _mark(letters: Iterable[str]) -> str:
    joined = ", ".join(letters)
    return f" [{joined}]" if joined else ""


ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def _letter(number: int) -> str:
    """The letter of a remark: a to z, then aa, ab, ..."""
    before, last = divmod(number, len(ALPHABET))
    return (_letter(before - 1) if before else "") + ALPHABET[last]
