"""Sweeps on Ray with two nodes, one of which is lost or slow: the results equal those of this machine alone."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import PATIENCE_S, SMALL
from ssdlab.experiments.sweeping import remote

GRID = {"scheme": ["npgc", "pgc"], "seed": [1, 2, 3]}
OPTIONS: dict[str, Any] = {"set": SMALL, "requests": 100_000}
"""Options of points that take long enough to be observed at work."""
HEAD, OTHER = {"num_cpus": 1}, {"num_cpus": 2}
IN_STORES = {"max_direct_call_object_size": 100}
"""Settings with which even small results are kept in the store of their node, and are lost with it."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Ray with one node, to which tests add a second."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    started = Cluster(initialize_head=True, head_node_args={**HEAD, "include_dashboard": False, "_system_config": IN_STORES})
    ray.init(address=started.address, log_to_driver=False, logging_level="error")
    yield started
    ray.shutdown()
    started.shutdown()


@pytest.fixture(scope="module")
def expected() -> list[str]:
    """The digests of the sweep on this machine alone."""
    return digests(ssdlab.sweep(GRID, **OPTIONS))


def second_node(cluster: Any) -> Any:
    """A second node; on a busy machine it may not start within Ray's time limit."""
    for patience in (True, True, False):
        try:
            node = cluster.add_node(**OTHER)
            cluster.wait_for_nodes()
        except Exception:
            if not patience:
                raise
        else:
            return node
    raise AssertionError


@contextlib.contextmanager
def head_is_busy(cluster: Any, folder: Path) -> Iterator[Callable[[], None]]:
    """Occupies the first node's only processor until the yielded function is called: points can then only run on the second node.

    Otherwise the node would be left to chance: the first node's worker may finish all points before the second node has a worker.
    """
    ray = pytest.importorskip("ray")
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def wait(started: str, free: str) -> None:
        Path(started).touch()
        deadline = time.monotonic() + PATIENCE_S
        while not Path(free).exists() and time.monotonic() < deadline:
            time.sleep(0.01)

    started, free = folder / "started", folder / "free"
    there = NodeAffinitySchedulingStrategy(cluster.head_node.node_id, soft=False)
    waiting = ray.remote(num_cpus=1, max_retries=0)(wait).options(scheduling_strategy=there).remote(str(started), str(free))
    deadline = time.monotonic() + PATIENCE_S
    while not started.exists():
        assert time.monotonic() < deadline, "the first node does not begin to wait"
        time.sleep(0.01)
    try:
        yield free.touch
    finally:
        free.touch()
        ray.get(waiting)


def digests(result: Any) -> list[str]:
    assert not result.failed, result.failed
    return [point.result["digest"] for point in result]


def below(process: int) -> Iterator[int]:
    """The descendants of a process; threads and processes may end meanwhile."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        children = ""
        with contextlib.suppress(OSError):
            children = task.read_text()
        for child in map(int, children.split()):
            yield child
            yield from below(child)


def raylet_of(node: Any) -> int:
    return int(node.all_processes["raylet"][0].process.pid)


def once_busy(node: Any) -> list[int]:
    """The processes of a node's workers, once some are running."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = []
        for process in below(raylet_of(node)):
            with contextlib.suppress(OSError):
                title = Path(f"/proc/{process}/cmdline").read_bytes()
                found += [process] if b"ray::_simulate" in title else []
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("no point went to the second node")


def test_a_node_that_is_killed_loses_no_point(cluster: Any, expected: list[str], tmp_path: Path) -> None:
    node = second_node(cluster)

    def kill() -> None:
        once_busy(node)
        cluster.remove_node(node, allow_graceful=False)
        go_on()

    with head_is_busy(cluster, tmp_path) as go_on, ThreadPoolExecutor() as threads:
        killing = threads.submit(kill)
        result = ssdlab.sweep(GRID, **OPTIONS, out=tmp_path / "out", engine="ray")
        killing.result()
    assert digests(result) == expected
    assert len(list((tmp_path / "out").glob("*/result.json"))) == 6


@pytest.mark.full
def test_a_result_that_is_lost_with_its_node_is_made_again(
    cluster: Any, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node goes between the news that a point is done and the fetching of its result."""
    node = second_node(cluster)
    fetch, lost = remote._outcome, []

    def lose(ray: Any, reference: Any) -> Any:
        places = ray.experimental.get_object_locations([reference])[reference]["node_ids"]
        if not lost and node.node_id in places:
            lost.append(reference)
            cluster.remove_node(node, allow_graceful=False)
            go_on()
        return fetch(ray, reference)

    monkeypatch.setattr(remote, "_outcome", lose)
    with head_is_busy(cluster, tmp_path) as go_on:
        assert digests(ssdlab.sweep(GRID, **OPTIONS, engine="ray")) == expected
    assert lost, "no result lay on the second node"


@pytest.mark.full
def test_a_node_that_stands_still_for_a_while_only_takes_longer(cluster: Any, expected: list[str], tmp_path: Path) -> None:
    node = second_node(cluster)
    stopped = []

    def stop() -> None:
        for process in once_busy(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
                stopped.append(process)
        go_on()
        time.sleep(2)
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)

    with head_is_busy(cluster, tmp_path) as go_on, ThreadPoolExecutor() as threads:
        stopping = threads.submit(stop)
        result = ssdlab.sweep(GRID, **OPTIONS, engine="ray")
        stopping.result()
    assert stopped
    assert digests(result) == expected
    cluster.remove_node(node)
