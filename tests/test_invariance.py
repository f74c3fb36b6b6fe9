"""Quantities that must not depend on the GC scheme."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

import ssdlab
from conftest import SMALL
from shares import FULL

SCHEMES: dict[str, dict[str, Any]] = {
    f"{scope} {priority}": {"gc.scope": scope, "gc.priority": priority}
    for scope, priority in product(["device", "channel", "chip", "die", "plane", "none"], ["gc", "fifo", "host"])
}


def digest(requests: int, *, scheme: str | None = None, collects: bool, **keys: Any) -> str:
    settings = SMALL | {"workload.interarrival_us": 300, "device.dies_per_chip": 2, "ftl.frontier": "shared"} | keys
    result = ssdlab.run(scheme=scheme, set=settings, requests=requests)
    assert (result.gc.jobs > 0) == collects
    return str(result.digest)


def test_without_collection_all_schemes_give_the_same_digest() -> None:
    digests = {scheme: digest(300, scheme=scheme, collects=False) for scheme in ("npgc", "cep", "rwp")}
    digests |= {name: digest(300, collects=False, **axes) for name, axes in SCHEMES.items()}
    digests |= {f"soft {soft}": digest(300, collects=False, **{"gc.soft": soft}) for soft in (0.0, 0.05, 1, 2)}
    assert len(set(digests.values())) == 1, digests


def test_with_collection_they_do_not() -> None:
    """With collection the schemes differ, so that a test of equal digests can fail."""
    digests = {digest(3000, scheme=scheme, collects=True) for scheme in ("npgc", "cep", "rwp")}
    assert len(digests) == 3


# Unfinished work
#
# bux2011, section 7: in a single-server queue that never idles while there is work, the work left at any time does not depend on the
# order of service. Collection is work that host writes bring along, so this holds exactly where the order cannot change what they bring: no
# valid page of a victim is overwritten while it waits to be moved, no read is answered from a write in a queue. Hence the workload: of each
# block, a quarter of the pages are cold, the others hot; each hot page is written at most once, in address order, cold pages are only
# read. When a block is collected, all of its hot pages are invalid and its cold ones valid under any scheme. Collection begins when a write
# takes a block, within a busy period under any scheme, so that busy periods end at the same nanosecond.
#
# The work left at time t is how long the drive would go on if no further requests arrived after t. It is measured just so.

PAGES, BLOCKS, COLD = 16, 40, 4
ONE_DIE: dict[str, Any] = {
    "device.channels": 1,
    "device.chips_per_channel": 1,
    "device.dies_per_chip": 1,
    "device.planes_per_die": 1,
    "device.blocks_per_plane": BLOCKS,
    "device.pages_per_block": PAGES,
    "device.overprovisioning": 0.2,
    "gc.soft": 2,
}
HORIZON_NS = 10**10
CONSERVING: dict[str, dict[str, Any]] = {
    "cep": {"gc.scope": "none", "gc.priority": "gc"},
    "rwp": {"gc.scope": "none", "gc.priority": "host"},
    "fifo": {"gc.scope": "none", "gc.priority": "fifo"},
    # On one die, excluding the host during a job leaves nothing idle either.
    "npgc": {"gc.scope": "chip", "gc.priority": "gc"},
}


def arrivals(seed: int, load: float) -> list[ssdlab.Request]:
    """Poisson arrivals: hot pages written in order, and the same number of reads of cold pages."""
    dice = random.Random(seed)
    exported = int(BLOCKS * PAGES * 0.8)
    hot = [lpn for lpn in range(exported) if lpn % PAGES >= COLD]
    cold = [lpn for lpn in range(exported) if lpn % PAGES < COLD]
    # A write takes 302 us, and once collection has begun 268 us for a third of a move (430 us) and a twelfth of an erase (1500 us); a read
    # takes 127 us. On average 349 us.
    gap_ns = 349_000 / load
    requests, time_ns = [], 0.0
    while hot:
        time_ns += dice.expovariate(1.0 / gap_ns)
        op, lpn = ("write", hot.pop(0)) if dice.random() < 0.5 else ("read", dice.choice(cold))
        requests.append(ssdlab.Request(op=op, offset=4096 * lpn, length=4096, arrival_ns=int(time_ns)))  # type: ignore[arg-type]
    return requests


class Drained:
    """A drive with a fixed list of requests."""

    def __init__(self, axes: dict[str, Any], requests: list[ssdlab.Request]) -> None:
        self.axes, self.requests = axes, requests
        _, self.erases, self.responses = self.until(HORIZON_NS)

    def until(self, time_ns: int) -> tuple[int, int, list[int]]:
        """Completions, erases and response times up to a time."""
        drive = ssdlab.Simulator(set=ONE_DIE | self.axes)
        for request in self.requests:
            drive.submit(request)
        drive.run_until(time_ns)
        responses = [done.response_ns for done in drive.completions()]
        return len(responses), sum(drive.erase_counts()), responses

    def end_ns(self) -> int:
        """The first instant without remaining work."""
        low, high = 0, HORIZON_NS
        while high - low > 1:
            middle = (low + high) // 2
            completed, erases, _ = self.until(middle)
            if (completed, erases) == (len(self.requests), self.erases):
                high = middle
            else:
                low = middle
        return high


@pytest.mark.parametrize("load", [0.6, 0.9])
def test_unfinished_work_over_time_does_not_depend_on_priorities(load: float) -> None:
    requests = arrivals(seed=1, load=load)
    backlogs = set()
    for count in range(len(requests), 150, -97 if FULL else -211):
        drained = {name: Drained(axes, requests[:count]) for name, axes in CONSERVING.items()}
        ends = {name: drive.end_ns() for name, drive in drained.items()}
        assert len(set(ends.values())) == 1, (count, ends)
        assert len({drive.erases for drive in drained.values()}) == 1
        backlogs.add(ends["cep"] - (requests[count - 1].arrival_ns or 0))
    assert len(backlogs) > 3
    # The schemes did serve in different orders, and there was something to collect.
    drained = {name: Drained(axes, requests) for name, axes in CONSERVING.items()}
    means = [sum(drive.responses) / len(requests) for drive in drained.values()]
    assert drained["cep"].erases > 10
    assert len(set(means)) == len(means)
    assert sum(drained["rwp"].responses) < 0.9 * sum(drained["cep"].responses)


def test_unfinished_work_depends_on_priorities_if_victims_are_overwritten() -> None:
    """With writes anywhere, the pages that a job moves depend on its time, so that a test of equal work can fail."""
    dice = random.Random(1)
    anywhere = [replace(request, op="write", offset=4096 * dice.randrange(PAGES * 30)) for request in arrivals(seed=1, load=0.7)]
    ends = {name: Drained(axes, anywhere).end_ns() for name, axes in CONSERVING.items()}
    assert len(set(ends.values())) > 1
