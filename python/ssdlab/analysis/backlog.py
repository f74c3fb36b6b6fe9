"""How the backlog of a drive develops during a run: whether it keeps up with arrivals, and how fast it works while it does not.

The backlog at an instant is the time until all requests that have arrived are completed. A drive that keeps up has a backlog that comes and
goes. One that does not has a backlog that grows by the same amount in each second: by the work that arrives in a second, less a second. The
instant until which the drive has work (the arrival plus the backlog) then advances only as fast as the drive works, so that the number of
requests over that advance is the highest rate that it sustains, however irregular arrivals are. With a queue in front of one server this is
1 over the mean service time.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.analysis.uncertainty import student_t

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FEWEST", "RESOLUTION", "Backlog", "backlog"]

PARTS = 20
"""Number of parts of a run, of equal numbers of requests. Changes of the backlog from one to the next are nearly independent."""
BEGINNING = 2
"""Number of parts at the beginning that are left out, in which the backlog of an overloaded drive is still short."""
RESOLUTION = MATERIAL = 0.005
"""Growth of the backlog, in seconds for each second of arrivals, that counts as none; also the resolution of a rate."""
DRIFT = 0.05
"""Relative change of the rate within a run below which the rate is one of any length."""
LATE = 0.1
"""Share of the time of arrivals by which all requests may be completed later than the last one arrives."""
FEWEST = 1000
"""Minimum number of requests, 50 for each part."""


@dataclass(frozen=True)
class Backlog:
    """The backlog during a run, between the beginning and the end of the parts that are considered."""

    offered: float
    """Requests that arrived per second; infinite if all arrived at once."""
    served: float
    """Requests per second by which the work advanced: the rate that the drive sustains, if the backlog grows."""
    served_half: float
    """Half width of the 95 % interval of `served`."""
    growth: float
    """Seconds by which the backlog grew for each second of arrivals."""
    growth_half: float
    """Half width of the 95 % interval of `growth`."""
    drift: float
    """Relative change of `served` from the first half to the second; 0 if it is below 5 %, or 3 standard errors."""
    overall: float
    """Requests per second from the first arrival until all are completed."""
    rises: bool
    """Whether the drive never caught up again: see `_rises`. It tells an overload by bursts, whose growth has a wide interval."""

    late: float
    """Time from the first arrival until all requests are completed, over the time until the last arrival, less 1."""

    @property
    def steadily(self) -> bool:
        """Whether the backlog grew by more than chance explains, and by more than 0.5 % of the time."""
        return self.growth > MATERIAL and (self.growth > self.growth_half or self.rises)

    @property
    def grows(self) -> bool:
        """Whether the drive did not keep up: the backlog grew steadily, or all requests took 10 % longer to complete than to arrive.

        The latter tells an overload of a drive that serves later requests first, whose oldest work is never done.
        """
        return self.steadily or self.late > LATE

    @property
    def excess(self) -> float:
        """The offered rate over what the drive sustains, less 1, if the backlog grows."""
        return self.growth if self.steadily else self.late

    @property
    def rate(self) -> float:
        """The rate that the drive sustains, if the backlog grows, requests per second."""
        return self.served if self.steadily else self.overall

    @property
    def rate_half(self) -> float:
        """Half width of the 95 % interval of `rate`."""
        return self.served_half if self.steadily else max(self.served_half / self.served, RESOLUTION) * self.overall


def backlog(arrivals_ns: NDArray[np.int64], responses_ns: NDArray[np.int64]) -> Backlog:
    """The backlog during a run.

    Args:
        arrivals_ns: arrivals of the requests in their order, at least `FEWEST`.
        responses_ns: their response times.
    """
    busy_until = np.maximum.accumulate(arrivals_ns + responses_ns)
    length = len(arrivals_ns) // PARTS
    ends = np.arange(BEGINNING, PARTS + 1) * length - 1
    arrived, advanced = np.diff(arrivals_ns[ends]) / 1e9, np.diff(busy_until[ends]) / 1e9
    span, worked, requests = float(arrived.sum()), float(advanced.sum()), length * len(arrived)
    growths = advanced - arrived
    return Backlog(
        offered=requests / span if span else math.inf,
        served=requests / worked if worked else math.inf,
        served_half=max(_half(advanced) / worked, MATERIAL) * requests / worked if worked else math.inf,
        drift=_drift(advanced),
        growth=worked / span - 1 if span else math.inf,
        growth_half=_half(growths) / span if span else 0.0,
        late=(int(busy_until[-1]) - int(arrivals_ns[-1])) / max(1, int(arrivals_ns[-1] - arrivals_ns[0])),
        overall=len(arrivals_ns) * 1e9 / max(1, int(busy_until[-1] - arrivals_ns[0])),
        rises=_rises(busy_until - arrivals_ns, worked * 1e9),
    )


def _rises(backlogs_ns: NDArray[np.int64], worked_ns: float) -> bool:
    """Whether the shortest backlog of the last quarter of the requests is longer than those before, and than chance makes it.

    It must be longer than that of the third quarter, 1.5 times that of the second, and the work of as many requests as the square root of
    their number, by which a Poisson process scatters.
    """
    second, third, fourth = (int(part.min()) for part in np.array_split(backlogs_ns, 4)[1:])
    return fourth > third and fourth >= 1.5 * second and fourth * math.sqrt(len(backlogs_ns)) >= worked_ns


def _drift(advanced: NDArray[np.float64]) -> float:
    """The change of the rate at which work advances, if it is more than 3 standard errors, and than `DRIFT`."""
    first, second = np.array_split(advanced, 2)
    one, other = float(first.sum()), float(second.sum())
    error = math.sqrt(len(first) * statistics.variance(first.tolist()) + len(second) * statistics.variance(second.tolist()))
    is_chance = abs(one - other) <= 3 * error
    return 0.0 if is_chance or not other or abs(one / other - 1) < DRIFT else one / other - 1


def _half(changes: NDArray[np.float64]) -> float:
    """Half width of the 95 % interval of the sum of independent changes."""
    return float(student_t(len(changes) - 1) * statistics.stdev(changes.tolist()) * math.sqrt(len(changes)))
