"""Reads that are repeated (`errors.retry`): the mean time of a read over the ages of blocks (docs/model/ageing.md)."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from ssdlab.asking.sheet.drive import Drive

__all__ = ["ReadTime", "failed_steps", "read_time", "with_failed"]

DRAWS = 16
"""Equal parts of each range (erases, days, spread), of which the middles are computed."""


class ReadTime(NamedTuple):
    """Mean times of a read of some planes, ns."""

    array: float
    bus: float
    """Of each plane."""
    die: float
    """Until the die is free."""
    response: float
    """Until the data are decoded."""


def failed_steps(drive: Drive, *, aged: bool) -> Mapping[int, float]:
    """Share of reads by the number of steps that fail. `aged`: data as old as configured; if not, just written."""
    errors, before = drive.errors, drive.ftl["precondition"]
    if errors["retry"] in ("off", "none"):
        return {0: 1.0}
    limits = [errors["correctable_bits"] / (8 * errors["codeword_bytes"]) / left for left in (1.0, *errors["retry_table"])]
    days = _middles(before["retention_days"], before["retention_days_max"]) if aged else [0.0]
    cycles = _middles(before["pe_cycles"], before["pe_cycles_max"])
    factors = _middles(1 - errors["spread"], 1 + errors["spread"])
    found: Counter[int] = Counter()
    for erases, old, factor in itertools.product(cycles, days, factors):
        c = max(1.0, erases)
        rate = errors["epsilon"] + errors["alpha"] * c ** errors["k"] + errors["beta"] * c ** errors["m"] * old ** errors["n"]
        found[min(bisect_left(limits, rate * factor), len(limits) - 1)] += 1
    # a block's last good step is tried first, so that only the first of its reads fails
    if errors["retry"] == "last-good":
        return {0: 1.0}
    return {step: count / found.total() for step, count in found.items()}


def read_time(drive: Drive, transfer: float, *, planes: int = 1, pages: int = 1, aged: bool = True, overlaps: bool = False) -> ReadTime:
    """The mean read.

    Args:
        drive: the drive.
        transfer: time of a plane on the channel, ns.
        planes: planes that are read together.
        pages: number of pages at random among these; the array takes as long as the slowest.
        aged: whether the data are as old as configured; if not, they were just written.
        overlaps: whether the array works during the transfer of another read.
    """
    array, shares = drive.slowest_ns("read_ns", pages), failed_steps(drive, aged=aged)
    times = [(share, with_failed(drive, failed, array, transfer, planes, overlaps=overlaps)) for failed, share in shares.items()]
    return ReadTime(*(sum(share * time[place] for share, time in times) for place in range(4)))


def with_failed(drive: Drive, failed: int, array: float, transfer: float, planes: int, *, overlaps: bool) -> ReadTime:
    """The read of which `failed` steps fail before the last. `array`, `transfer`: times of a step, of one plane, ns."""
    errors, moved = drive.errors, planes * transfer
    decode = int(errors["decode_ns"]) if errors["retry"] != "off" else 0
    last = max(array, moved) if overlaps else array + moved
    if not failed or errors["retry"] not in ("pr2", "ar2"):
        before = failed * (array + moved + decode)
        return ReadTime((failed + 1) * array, (failed + 1) * transfer, before + last, before + array + moved + decode)
    adapts = errors["retry"] == "ar2"
    step = array * errors["short_read"] if adapts else array
    first = array + moved + decode + (int(errors["set_ns"]) if adapts else 0)
    response = first + step + (failed - 1) * max(step, moved) + moved + decode
    # the read ahead behind the last step is stopped, unless the table ends
    has_more = failed < len(errors["retry_table"])
    die = response + int(errors["reset_ns"]) if has_more else response - decode
    return ReadTime(array + (failed + has_more) * step, (failed + 1) * transfer, die, response)


def _middles(low: float, high: float | None) -> list[float]:
    """The middles of the equal parts of a range; its one value, if it has no more."""
    if high is None or high == low:
        return [low]
    return [low + (high - low) * (part + 0.5) / DRAWS for part in range(DRAWS)]
