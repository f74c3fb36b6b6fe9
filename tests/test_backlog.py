"""Whether a drive keeps up with arrivals, against queues whose capacity is known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from ssdlab.analysis.backlog import Backlog, backlog

SERVICE_NS = 1000
COUNT = 20_000


def served(load: float, seed: int, services: np.ndarray | None = None, servers: np.ndarray | None = None) -> Backlog:
    """A Poisson process at single servers, each in order of arrival. `servers`: the server of each request."""
    rng = np.random.default_rng(seed)
    arrivals = np.cumsum(rng.exponential(SERVICE_NS / load, COUNT)).astype(np.int64)
    services = np.full(COUNT, SERVICE_NS) if services is None else services
    servers = np.zeros(COUNT, int) if servers is None else servers
    free, ends = dict.fromkeys(np.unique(servers), 0), np.empty(COUNT, np.int64)
    for index, (arrival, service, server) in enumerate(zip(arrivals, services, servers, strict=True)):
        free[server] = ends[index] = max(arrival, free[server]) + service
    return backlog(arrivals, ends - arrivals)


@pytest.mark.parametrize("seed", range(10))
def test_a_single_server_keeps_up_below_a_load_of_one_only(seed: int) -> None:
    assert [served(load, seed).grows for load in (0.5, 0.8, 0.95, 1.05, 1.5)] == [False, False, False, True, True]


@pytest.mark.parametrize("load", [1.05, 1.2, 3.0])
def test_an_overloaded_server_works_at_its_capacity_whatever_the_arrivals(load: float) -> None:
    found = served(load, 1)
    assert found.served == pytest.approx(1e9 / SERVICE_NS, rel=1e-4)
    assert found.growth == pytest.approx(found.offered * SERVICE_NS / 1e9 - 1, abs=1e-4)


def test_the_interval_of_random_service_times_covers_their_mean() -> None:
    covered = 0
    for seed in range(40):
        services = np.random.default_rng(1000 + seed).exponential(SERVICE_NS, COUNT).astype(np.int64)
        found = served(1.2, seed, services)
        covered += abs(found.served - 1e9 / SERVICE_NS) <= found.served_half
        assert found.served_half < 0.05 * found.served
    assert covered >= 35  # of 40 at 95 %: fewer has a probability of 2 %


def test_a_server_that_becomes_faster_drifts_and_a_random_one_does_not() -> None:
    """Service times fall by a third over the run; of the parts from a tenth on, the second half has a mean of 0.742, the first of 0.892."""
    faster = served(1.5, 1, np.linspace(SERVICE_NS, SERVICE_NS * 2 / 3, COUNT).astype(np.int64))
    assert faster.drift == pytest.approx(0.892 / 0.742 - 1, abs=0.005)
    for seed in range(40):
        assert served(1.2, seed, np.random.default_rng(seed).exponential(SERVICE_NS, COUNT).astype(np.int64)).drift == 0


def test_one_busy_server_among_idle_ones_is_enough() -> None:
    """Sixteen servers, of which one gets a fifth of the requests: 1.2 times what it can serve, while all others are nearly idle."""
    servers = np.where(np.random.default_rng(7).random(COUNT) < 0.2, 0, np.random.default_rng(8).integers(1, 16, COUNT))
    assert served(6.0, 3, servers=servers).grows
    assert not served(4.0, 3, servers=servers).grows


def test_requests_that_arrive_at_once_are_served_at_the_capacity() -> None:
    found = backlog(np.zeros(COUNT, np.int64), np.arange(1, COUNT + 1) * SERVICE_NS)
    assert found.offered == float("inf")
    assert found.grows
    assert found.served == pytest.approx(1e6)


def test_a_drive_that_answers_at_once_does_not_grow() -> None:
    arrivals = np.arange(COUNT) * 10
    assert not backlog(arrivals, np.zeros(COUNT, np.int64)).grows


def last_come_first_served(load: float) -> Backlog:
    """A Poisson process at a single server that takes the youngest request."""
    arrivals = np.cumsum(np.random.default_rng(2).exponential(SERVICE_NS / load, COUNT)).astype(np.int64)
    ends, waiting, now, index = np.empty(COUNT, np.int64), list[int](), 0, 0
    while index < COUNT or waiting:
        if not waiting:
            now = max(now, int(arrivals[index]))
        while index < COUNT and arrivals[index] <= now:
            waiting.append(index)
            index += 1
        now += SERVICE_NS
        ends[waiting.pop()] = now
    return backlog(arrivals, ends - arrivals)


def test_an_overload_shows_where_the_oldest_requests_are_never_done() -> None:
    found = last_come_first_served(1.5)
    assert found.grows
    assert found.rate == pytest.approx(1e9 / SERVICE_NS, rel=0.01)
    assert found.excess == pytest.approx(0.5, rel=0.05)
    assert not last_come_first_served(0.9).grows
