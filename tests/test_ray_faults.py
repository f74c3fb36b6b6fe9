"""Sweeps on Ray with two nodes, one of which is lost or slow: the results are those of this machine alone."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import PATIENCE_S, SMALL
from ssdlab.sweeping import remote

GRID = {"scheme": ["npgc", "pgc"], "seed": [1, 2, 3]}
OPTIONS: dict[str, Any] = {"set": SMALL, "requests": 2000}
HEAD, OTHER = {"num_cpus": 1}, {"num_cpus": 2}
IN_STORES = {"max_direct_call_object_size": 100}
"""Results lie in the store of the node that made them, however small they are, and are lost with it."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Ray with one node, to which tests add a second."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster  # noqa: PLC0415 (it need not be installed)

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    started = Cluster(initialize_head=True, head_node_args={**HEAD, "include_dashboard": False, "_system_config": IN_STORES})
    ray.init(address=started.address, log_to_driver=False, logging_level="error")
    yield started
    ray.shutdown()
    started.shutdown()


@pytest.fixture(scope="module")
def expected() -> list[str]:
    """The digests of the same sweep on this machine alone."""
    return digests(ssdlab.sweep(GRID, **OPTIONS))


def second_node(cluster: Any) -> Any:
    """A second node; a busy machine may not start it in the time that Ray gives it."""
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


def digests(result: Any) -> list[str]:
    assert not result.failed, result.failed
    return [point.result["digest"] for point in result]


def below(process: int) -> Iterator[int]:
    """The processes that a process started, and theirs."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            yield child
            yield from below(child)


def raylet_of(node: Any) -> int:
    return int(node.all_processes["raylet"][0].process.pid)


def once_busy(node: Any) -> list[int]:
    """The processes of a node's workers, once there are some at work."""
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
    killed = []

    def kill() -> None:
        killed.extend(once_busy(node))
        cluster.remove_node(node, allow_graceful=False)

    thread = threading.Thread(target=kill)
    thread.start()
    result = ssdlab.sweep(GRID, **{**OPTIONS, "requests": 2000}, out=tmp_path / "out", engine="ray")
    thread.join()
    assert killed
    assert digests(result) == expected
    assert len(list((tmp_path / "out").glob("*/result.json"))) == 6


def test_a_result_that_is_lost_with_its_node_is_made_again(cluster: Any, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The node goes between the news that a point is done and the fetching of its result."""
    node = second_node(cluster)
    fetch, lost = remote._outcome, []

    def lose(ray: Any, reference: Any) -> Any:
        places = ray.experimental.get_object_locations([reference])[reference]["node_ids"]
        if not lost and node.node_id in places:
            lost.append(reference)
            cluster.remove_node(node, allow_graceful=False)
        return fetch(ray, reference)

    monkeypatch.setattr(remote, "_outcome", lose)
    assert digests(ssdlab.sweep(GRID, **OPTIONS, engine="ray")) == expected
    assert lost, "no result lay on the second node"


def test_a_node_that_stands_still_for_a_while_only_takes_longer(cluster: Any, expected: list[str]) -> None:
    node = second_node(cluster)
    stopped = []

    def stop() -> None:
        for process in once_busy(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
                stopped.append(process)
        time.sleep(2)
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)

    thread = threading.Thread(target=stop)
    thread.start()
    result = ssdlab.sweep(GRID, **OPTIONS, engine="ray")
    thread.join()
    assert stopped
    assert digests(result) == expected
    cluster.remove_node(node)
