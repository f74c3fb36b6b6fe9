"""Writes the tables of docs/findings.md: the findings, what attacks leave of them, and which published ones hold today.

    python tools/findings.py

A finding is a sum of logarithms of a figure under several schemes, with signs, as `tools/cross.py` compares them. The tables go between the
comments of the page; the text around them is written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cross
from cross import Runs

PAGE = cross.ROOT / "docs" / "findings.md"
FOLDER = cross.STORED.parent
ATTACKS = ("another seed", "another load", "another part", "a larger drive")
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


@dataclass(frozen=True)
class Claim:
    """A number of a finding, on one drive or several."""

    number: int
    what: str
    figure: str
    terms: tuple[tuple[int, tuple[str, ...]], ...]
    drives: Sequence[str] = field(default=NEW)


RWP, READS, CACHE, IDLE, DYNAMIC = {"gc": "rwp"}, {"order": "reads first"}, {"cache": "gcar-lru"}, {"idle": "on"}, {"placement": "dynamic"}
SUPERBLOCKS = ("nvme superblocks",)
OLD = ("lee2013",)
EVERY = (*OLD, *NEW)
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
    Claim(7, "write amplification, dynamic placement", **against("write amplification", scheme(**DYNAMIC), scheme()), drives=EVERY),
    Claim(8, "write amplification, rwp against npgc", **against("write amplification", scheme(**RWP), scheme()), drives=EVERY),
    Claim(9, "p99 of reads, rwp against npgc", **against("read p99", scheme(**RWP), scheme()), drives=("nvme", "nvme worn")),
    Claim(10, "energy for a byte, rwp against npgc", **against("energy", scheme(**RWP), scheme()), drives=EVERY),
    Claim(
        11,
        "p99.9, rwp against npgc",
        **against("p99.9", scheme(**RWP, **DYNAMIC), scheme(**DYNAMIC)),
        drives=("nvme", *SUPERBLOCKS),
    ),
)


def claim_rows(number: int, runs: Runs, attacked: Runs) -> Iterator[list[str]]:
    """A row for each number of a finding and each drive: all loads, then 60 %, then each attack."""
    for claim in (claim for claim in CLAIMS if claim.number == number):
        for drive in claim.drives:
            of = runs.where(drive=drive)
            cells = [cross.percent(cross.contrast(of, claim.figure, claim.terms)) for of in (of, of.where(load="60"))]
            attacks = [attacked.where(attack=attack, drive=drive) for attack in ATTACKS]
            cells += [cross.percent(cross.contrast(one, claim.figure, claim.terms)) for one in attacks]
            yield [f"{claim.what}, {drive}", *cells]


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
    Published("lee2013: GC in idle time helps", "mean", "npgc-idle", "npgc", "not seen", "guess: pauses of 10 ms are rare at this load"),
    Published(
        "elyasi2017: slack-aware beats reads first",
        "mean",
        "slacker",
        "fr-fcfs",
        "not seen",
        "guess: requests of one or few pages have no slack",
    ),
    Published("elyasi2017: dynamic allocation helps", "mean", "dynalloc", "fr-fcfs", "not seen", "the sign differs between workloads"),
    Published("wu2017: a cache that knows of GC beats LRU", "mean", "gcar-lru", "lru", "not seen", "guess: 1 MiB holds few of the pages"),
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


def inserted(text: str, name: str, lines: Sequence[str]) -> str:
    """A page with other lines between the comments of a name."""
    begin, end = f"<!-- {name}: written by tools/findings.py -->", f"<!-- end of {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    assert len(pattern.findall(text)) == 1, name
    return pattern.sub(lambda _: "\n".join([begin, "", *lines, "", end]), text)


def written(text: str) -> str:
    """The page with its tables as the stored results have them."""
    runs, attacked, singles = Runs.read(cross.STORED), of_attacks(FOLDER / "attacks.parquet"), Runs.read(FOLDER / "singles.parquet")
    head = ["change in %, drive", "all loads", "60 %", *ATTACKS]
    for number in dict.fromkeys(claim.number for claim in CLAIMS):
        text = inserted(text, f"finding {number}", list(cross.table(head, list(claim_rows(number, runs, attacked)))))
    return inserted(text, "published", list(cross.table(["published", "today", *OLD, *NEW, "reason"], list(published_rows(singles)))))


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
