"""Write amplification of uniform random writes in steady state, in closed form, by victim policy.

In each, `pages` are the mapping units of a block or superblock, `total` the blocks that can be victims or hold data, and `user` those that
the data fill. They hold for many blocks; the tests compare them with simulated runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ssdlab.asking.sheet.drive import Drive

__all__ = ["Amplification", "amplification_of", "d_choices", "fifo", "greedy", "random"]

STEPS = 60
"""Bisections of an interval."""
MOST_PAGES = 4096
"""Units of a block up to which the mean field of d choices is solved; with more it takes seconds, and greedy's is near."""
LEAST_PADDING = 1 / 8
"""Share of a program: with less padding victims hold too many units now and then. It is a guess, which 14 small drives bear out."""
LITTLE = 0.001
"""Share of a block up to which padding is taken for that of any number of units."""


def greedy(pages: int, total: float, user: float) -> float:
    """Greedy collection (Desnoyers 2014).

    With f blocks filled for each page written, the blocks with i valid pages number f pages user / i, down to a level j from which victims
    come. Blocks and valid pages add up to `total` and `pages` x `user`: two linear equations in f and the number of blocks of level j. The
    level is the one for which that number is not negative, and no more blocks fall out of it than come in.
    """
    harmonic = 0.0
    for level in range(pages - 1, -1, -1):
        harmonic += 1 / (level + 1)
        flow = (1 - level * total / (pages * user)) / max(pages - level - level * harmonic, 1e-12)
        waiting = total - flow * pages * user * harmonic
        if flow > 0 and waiting >= 0 and level * waiting <= flow * pages * user:
            return pages * flow
    return math.inf


def fifo(total: float, user: float) -> float:
    """Collection in the order of filling (Luojie and Kurkoski 2012): A = 1 / (1 - v), v = exp(-total / (A user)), v below user / total."""
    low, high = 0.0, user / total
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if middle < math.exp(-(1 - middle) * total / user) else (low, middle)
    return 1 / (1 - high)


def random(pages: int, total: float, user: float) -> float:
    """Victims drawn from the blocks with an invalid page (mean field of Van Houdt 2013)."""
    share = user / total
    return 1 / (1 - share + share / pages)


def d_choices(pages: int, total: float, user: float, choices: int) -> float:
    """The emptiest of some blocks drawn at random (mean field of Van Houdt 2013).

    G_i, the share of blocks with at least i valid pages, satisfies i (G_i - G_(i+1)) = x (1 - G_i^choices); x is such that the G_i
    add up to the valid pages of a block.
    """

    def shares(x: float) -> list[float]:
        found, above = [], 0.0
        for valid in range(pages, 0, -1):
            above = _root(lambda share, valid=valid, above=above: x * (1 - share**choices) - valid * (share - above), above, 1.0)  # type: ignore[misc]
            found.append(above)
        return found

    top = 1.0
    while sum(shares(top)) < pages * user / total:
        top *= 2
    rate = _root(lambda x: pages * user / total - sum(shares(x)), 0.0, top)
    moved = sum(share**choices for share in shares(rate))
    return pages / (pages - moved)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """The root of a falling function."""
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return high


class Amplification(NamedTuple):
    """Write amplification: flash bytes over host bytes of random writes of a mapping unit, in steady state."""

    low: float
    high: float
    form: str
    """The closed form; why there is none, if `high` is 0."""
    in_programs: bool = False
    """Jobs gain a whole number of programs."""


def amplification_of(drive: Drive) -> Amplification:
    """The write amplification of a drive.

    It depends on how many blocks are free when a victim is picked: between the reserve and T_soft - 1. The lower bound is with the reserve,
    down to which writes run where they go before GC, the upper one with T_soft - 1, where GC goes first.
    """
    if drive.zones:
        return _none("zones are written in order: the drive moves no data for space")
    if drive.units_per_program > 1 and not drive.buffer["bytes"]:
        return _none("random writes below a program fill a part of it: no closed form without a write buffer")
    if drive.has_slc:
        return _none("blocks in SLC mode (slc): part of the data is written twice, and there is no closed form")
    if drive.gc["trigger"] == "invalid-share":
        return _none("the trigger invalid-share has no closed form")
    free_most, free_least = (max(drive.reserve_blocks, blocks - 1) for blocks in (drive.soft_blocks, drive.hard_blocks))
    gc, several = drive.gc, drive.pools_per_scope > 1
    if gc["priority"] == "host" and gc["pace"] == "none":
        free_most = free_least
    elif not several:
        free_least = free_most
    if drive.user_blocks >= drive.blocks_per_pool - free_most - drive.open_blocks:
        return _none("the data fill all blocks beside the free and open ones")
    low, form = _form(drive, free_least)
    high, _ = _form(drive, free_most)
    return (
        Amplification(low, high, form, _is_in_programs(drive))
        if math.isfinite(high)
        else _none("the data and the padding of programs leave no room for moves")
    )


def _none(why: str) -> Amplification:
    return Amplification(0.0, 0.0, why)


def _form(drive: Drive, free: int) -> tuple[float, str]:
    """The write amplification for a number of free blocks when a victim is picked, and the name of its closed form.

    The padding of the last program of a job takes room from data as parity does, and each block has that of one job.
    """
    pages, program = drive.units_per_reclaim, drive.units_per_program
    # an own open block of GC is half full of moved pages on average
    user = drive.user_blocks - (0.5 if drive.ftl["frontier"] == "separate" else 0.0)
    total = drive.blocks_per_pool - free - drive.open_blocks
    form, name, _ = _policy(drive)
    padding = (program - 1) / 2
    if not _is_in_programs(drive):
        value = form(pages, total, user * pages / (pages - padding)) * pages / (pages - padding)
    else:
        value = _in_programs(lambda used: form(pages, total, user * pages / used), pages, program)
    return value * drive.parity, name


def _is_in_programs(drive: Drive) -> bool:
    """Whether jobs gain a whole number of programs: victims hold nearly the same, and padding is not next to nothing."""
    return not _policy(drive)[2] and (drive.units_per_program - 1) / 2 / drive.units_per_reclaim >= LITTLE


def _in_programs(form: Callable[[float], float], pages: int, program: int) -> float:
    """The write amplification if victims hold nearly the same number of valid units, as those of `greedy` do.

    Then jobs move a whole number of programs. It is the least with which the data fit; if the padding is next to nothing, some victims hold
    more, which makes all hold more: then it is the next one.

    Args:
        form: the closed form for blocks that hold this many units beside the padding.
        pages: units of a block.
        program: units of a program.
    """
    least = form(pages)
    if not math.isfinite(least):
        return math.inf
    for programs in range(int((pages - pages / least) / program), pages // program):
        host = pages - programs * program
        used = _root(lambda used, host=host: form(used) - used / host, pages - program, pages)  # type: ignore[misc]
        if pages - used >= program * LEAST_PADDING:
            return pages / host
    return math.inf


def _policy(drive: Drive) -> tuple[Callable[[int, float, float], float], str, bool]:
    """The closed form of a victim policy, its name, and whether victims differ much in what they hold."""
    policy = drive.gc["victim"]
    if policy == "fifo":
        return lambda _, total, user: fifo(total, user), "FIFO, Luojie and Kurkoski 2012", True
    if policy == "random":
        return random, "random victims, mean field", True
    if policy == "d-choices" and drive.units_per_reclaim <= MOST_PAGES:
        choices = int(drive.gc["choices"])
        return lambda pages, total, user: d_choices(pages, total, user, choices), "d choices, mean field of Van Houdt 2013", True
    near = "" if policy == "greedy" else f"; {policy} is near it under uniform writes"
    return greedy, f"greedy, Desnoyers 2014{near}", False
