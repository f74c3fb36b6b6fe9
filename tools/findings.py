"""The findings across papers: what attacks leave of them, and which published ones hold today. `make docs` makes the page of it.

A finding is a sum of logarithms of a figure under several schemes, with signs, as `tools/cross.py` compares them. What is said of each
is in `sweeps/cross/findings.toml`.
"""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cross
from cross import Runs

FOLDER = cross.STORED.parent
ATTACKS = ("another seed", "another load", "another part", "a larger drive")
SETTLED = {"uniform 32 KiB": "uniform", "zipf 4 KiB": "Zipf"}
"""Workloads of the runs on settled drives, as they are called in a cell."""
PAPER = "scheme of a paper"
NEW = ("nvme", "nvme worn", "pe8110-like")
"""Drives of today on which static placement is possible, and on which GC ran."""


def scheme(**values: str) -> tuple[str, ...]:
    """A scheme: the baseline with some values changed."""
    return tuple({**cross.BASELINE, **values}.values())


def against(figure: str, one: tuple[str, ...], other: tuple[str, ...]) -> dict[str, Any]:
    """One scheme against another."""
    return {"figure": figure, "terms": ((1, one), (-1, other))}


def beside(figure: str, one: dict[str, str], other: dict[str, str], base: dict[str, str] | None = None) -> dict[str, Any]:
    """The interaction of two mechanisms: both against the product of each."""
    start = base or {}
    both = scheme(**start, **one, **other)
    return {"figure": figure, "terms": ((1, both), (-1, scheme(**start, **one)), (-1, scheme(**start, **other)), (1, scheme(**start)))}


def shared(one: dict[str, str], other: dict[str, str]) -> dict[str, Any]:
    """Fairness between flows under one scheme against another."""
    points = [tuple({**cross.SHARED, **values}.values()) for values in (one, other)]
    terms = ((1, points[0]), (-1, points[1]))
    return {"figure": "fairness", "terms": terms, "factors": tuple(cross.SHARED), "drives": (*OLD, "nvme", "pe8110-like", *SUPERBLOCKS)}


@dataclass(frozen=True)
class Claim:
    """A number of a finding, on one drive or several."""

    number: int
    what: str
    figure: str
    terms: tuple[tuple[int, tuple[str, ...]], ...]
    drives: Sequence[str] = field(default=NEW)
    factors: Sequence[str] = cross.FACTORS


RWP, READS, CACHE, IDLE, DYNAMIC = {"gc": "rwp"}, {"order": "reads first"}, {"cache": "gcar-lru"}, {"idle": "on"}, {"placement": "dynamic"}
SUPERBLOCKS = ("nvme superblocks",)
OLD = ("lee2013",)
EVERY = (*OLD, *NEW)
FAIRNESS = 12
"""Number of the finding about several flows."""
CLAIMS = (
    Claim(1, "p99.9, rwp against npgc", **against("p99.9", scheme(**RWP), scheme()), drives=EVERY),
    Claim(2, "mean, pgc against rwp", **against("mean", scheme(gc="pgc"), scheme(**RWP)), drives=EVERY),
    Claim(3, "p99 of reads, pgc against rwp", **against("read p99", scheme(gc="pgc"), scheme(**RWP)), drives=EVERY),
    Claim(4, "p99 of reads, reads first, under npgc", **against("read p99", scheme(**READS), scheme()), drives=EVERY),
    Claim(4, "p99 of reads, reads first, under rwp", **against("read p99", scheme(**RWP, **READS), scheme(**RWP)), drives=EVERY),
    Claim(4, "interaction", **beside("read p99", RWP, READS), drives=EVERY),
    Claim(5, "mean, cache, under npgc", **against("mean", scheme(**CACHE), scheme()), drives=EVERY),
    Claim(5, "mean, cache, under rwp", **against("mean", scheme(**RWP, **CACHE), scheme(**RWP)), drives=EVERY),
    Claim(5, "interaction", **beside("mean", RWP, CACHE), drives=EVERY),
    Claim(6, "mean, idle-time GC", **against("mean", scheme(**IDLE), scheme()), drives=EVERY),
    Claim(6, "write amplification, idle-time GC", **against("write amplification", scheme(**IDLE), scheme()), drives=EVERY),
    Claim(7, "mean, dynamic placement, under npgc", **against("mean", scheme(**DYNAMIC), scheme()), drives=EVERY),
    Claim(7, "mean, dynamic placement, under rwp", **against("mean", scheme(**RWP, **DYNAMIC), scheme(**RWP)), drives=EVERY),
    Claim(
        7, "write amplification, dynamic placement, under npgc", **against("write amplification", scheme(**DYNAMIC), scheme()), drives=EVERY
    ),
    Claim(
        7,
        "write amplification, dynamic placement, under rwp",
        **against("write amplification", scheme(**RWP, **DYNAMIC), scheme(**RWP)),
        drives=EVERY,
    ),
    Claim(8, "write amplification, rwp against npgc", **against("write amplification", scheme(**RWP), scheme()), drives=EVERY),
    Claim(9, "p99 of reads, rwp against npgc", **against("read p99", scheme(**RWP), scheme()), drives=("nvme", "nvme worn")),
    Claim(10, "energy for a byte, rwp against npgc", **against("energy", scheme(**RWP), scheme()), drives=EVERY),
    Claim(
        11,
        "p99.9, rwp against npgc",
        **against("p99.9", scheme(**RWP, **DYNAMIC), scheme(**DYNAMIC)),
        drives=("nvme", *SUPERBLOCKS),
    ),
    Claim(FAIRNESS, "fairness, rwp against npgc", **shared({"gc": "rwp"}, {})),
    Claim(FAIRNESS, "fairness, queues in turns, under npgc", **shared({"queues": "in turns"}, {})),
    Claim(FAIRNESS, "fairness, queues in turns, under rwp", **shared({"gc": "rwp", "queues": "in turns"}, {"gc": "rwp"})),
)


@dataclass(frozen=True)
class Stored:
    """The stored runs that a finding is about."""

    runs: Runs
    attacked: Runs
    settled: Runs

    @property
    def loads(self) -> int:
        """Number of loads under which all schemes were run."""
        return len(self.runs.values("load"))


def claim_rows(number: int, stored: Stored) -> Iterator[list[str]]:
    """A row for each number of a finding and each drive: all loads, then 60 %, then each attack, then settled drives."""
    for claim in (claim for claim in CLAIMS if claim.number == number):
        for drive in claim.drives:
            of = stored.runs.where(drive=drive)
            columns = [of if stored.loads > 1 else Runs([]), of.where(load="60")]
            columns += [stored.attacked.where(attack=attack, drive=drive) for attack in ATTACKS]
            cells = [cross.percent(cross.contrast(one, claim.figure, claim.terms, claim.factors)) for one in columns]
            yield [f"{claim.what}, {drive}", *cells, *([settled_cell(claim, drive, stored)] if stored.settled.rows else [])]


def settled_cell(claim: Claim, drive: str, stored: Stored) -> str:
    """The change on a settled drive under each workload, and in parentheses that of the short runs at the same load."""
    cells = []
    for workload, name in SETTLED.items():
        rows = stored.settled.where(drive=drive, workload=workload)
        long = cross.contrast(rows, claim.figure, claim.terms)
        if long is None:
            continue
        schemes = {scheme for _, scheme in claim.terms}
        if not all(cross.is_settled(row) for row in rows.rows if tuple(row[factor] for factor in claim.factors) in schemes):
            cells.append(f"{name}: not settled")
            continue
        load = rows.values("load")[0]
        short = cross.contrast(stored.runs.where(drive=drive, workload=workload, load=load), claim.figure, claim.terms)
        assert short is not None
        cells.append(f"{name} {change(long.mean)} ({change(short.mean)})")
    return "; ".join(cells) or "-"


def change(logarithm: float) -> str:
    """A difference of logarithms as a change in percent."""
    return cross.signed(100 * math.expm1(logarithm))


def of_attacks(file: Path) -> Runs:
    """The runs of the attacks, with drives and workloads under their plain names."""
    rows = Runs.read(file).rows
    return Runs([{**row, "drive": row["drive"].split(", ")[0], "workload": row["workload"].split(", ")[0]} for row in rows])


@dataclass(frozen=True)
class Published:
    """A published comparison of two schemes, and what is said about it here."""

    what: str
    figure: str
    one: str
    other: str
    verdict: str
    reason: str


PUBLISHED = (
    Published(
        "bux2011: the host before GC shortens responses", "mean", "rwp", "npgc", "holds", "else a read waits for a job of 21 to 56 ms"
    ),
    Published("lee2013: preemptible GC shortens the mean", "mean", "pgc", "npgc", "holds", "as rwp, which is most of it"),
    Published("lee2013: and the tail", "p99.9", "pgc", "npgc", "holds", "more today: a job is longer, and holds more dies"),
    Published(
        "lee2013: merging helps beside preemption", "mean", "pgc-merge", "pgc-none", "does not hold", "few merge; GC is no longer suspended"
    ),
    Published(
        "lee2013: pipelining helps beside preemption", "mean", "pgc-pipeline", "pgc-none", "does not hold", "as merging; no cache register"
    ),
    Published("lee2013: GC that can be suspended gains more", "mean", "fpgc", "pgc", "holds", "reads need not wait for programs of GC"),
    Published("lee2013: GC in idle time helps", "mean", "npgc-idle", "npgc", "not seen", "36 of 9,569 jobs begin in idle time"),
    Published(
        "elyasi2017: slack-aware beats reads first",
        "mean",
        "slacker",
        "fr-fcfs",
        "not seen",
        "today a request uses one chip, so that few pages pass others",
    ),
    Published("elyasi2017: dynamic allocation helps", "mean", "dynalloc", "fr-fcfs", "not seen", "the sign differs between workloads"),
    Published(
        "wu2017: a cache that knows of GC beats LRU",
        "mean",
        "gcar-lru",
        "lru",
        "not seen",
        "the sign differs between workloads, with 16 MiB too",
    ),
    Published("ae2022: blocking a block beats blocking a channel", "mean", "bbgc-dqgc", "cbgc", "holds", "the host goes first, as in rwp"),
    Published(
        "SepBIT (2022): separating lifetimes lowers write amplification",
        "write amplification",
        "sepbit",
        "npgc",
        "not testable",
        "refused with programs of several units; runs are too short on lee2013",
    ),
    Published(
        "suspension (2012): suspending programs and erases shortens reads",
        "read p99",
        "suspension",
        "no suspension",
        "holds",
        "retries leave less to gain on a worn drive",
    ),
)


def published_rows(singles: Runs) -> Iterator[list[str]]:
    """A row for each published comparison: verdict, a column for each drive, and the reason."""
    for one in PUBLISHED:
        terms = ((1, (one.one,)), (-1, (one.other,)))
        cells = [cross.percent(cross.contrast(singles.where(drive=drive), one.figure, terms, (PAPER,))) for drive in (*OLD, *NEW)]
        yield [f"{one.what}: {cross.FIGURES[one.figure][1]}, `{one.one}` against `{one.other}`", one.verdict, *cells, one.reason]


def tables() -> dict[int, list[str]]:
    """The table of each finding, as lines."""
    short = Stored(Runs.read(cross.STORED), of_attacks(FOLDER / "attacks.parquet"), Runs.read(cross.SETTLED))
    flows = Stored(Runs.read(cross.FLOWS), of_attacks(FOLDER / "flows-attacks.parquet"), Runs([]))
    found = {}
    for number in dict.fromkeys(claim.number for claim in CLAIMS):
        stored = flows if number == FAIRNESS else short
        head = ["change in %, drive", "all loads", "60 %", *ATTACKS, *(["settled"] if stored.settled.rows else [])]
        found[number] = list(cross.table(head, list(claim_rows(number, stored))))
    return found


def page() -> str:
    """The page: texts and tables."""
    texts = tomllib.loads((FOLDER / "findings.toml").read_text(encoding="utf-8"))
    rows = tables()
    parts = ["# Findings across papers, in full", texts["introduction"], "## How to read the tables", texts["reading"]]
    for one in texts["findings"]:
        number = one["number"]
        parts += [f"## {number}. {one['title']}", one["question"], "\n".join(rows[number]), one.get("note", "")]
        parts += [f"**Why.** {one['why']}", f"**What contradicts it.** {one['contradicts']}", f"**What remained.** {one['remained']}"]
    published = texts["published"]
    lines = cross.table(["published", "today", *OLD, *NEW, "reason"], list(published_rows(Runs.read(FOLDER / "singles.parquet"))))
    parts += [f"## {published['title']}", published["reading"], "\n".join(lines), published["reasons"]]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"
