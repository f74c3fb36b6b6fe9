"""Victim policies written in Python."""

from __future__ import annotations

import functools
import operator
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import PATIENCE_S, ROOT, SMALL, UNTIL_NOTHING_WORKS

# Preconditioning collects, and so does the run.
STEADY = SMALL | {"ftl.precondition.kind": "steady"}


def greedy(candidates: ssdlab.Candidates) -> int:
    best = min(range(len(candidates)), key=candidates.valid_pages.__getitem__)
    return candidates.blocks[best]


def oldest(candidates: ssdlab.Candidates) -> int:
    return candidates.blocks[max(range(len(candidates)), key=candidates.ages.__getitem__)]


def fails(candidates: ssdlab.Candidates) -> int:
    raise ValueError("out of ideas")


class EveryThird:
    """Greedy, but every third time the least worn block: its state must be separate in each run."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, candidates: ssdlab.Candidates) -> int:
        self.calls += 1
        if self.calls % 3:
            return greedy(candidates)
        return candidates.blocks[min(range(len(candidates)), key=candidates.erases.__getitem__)]


def run(victim: Any = None, **more: Any) -> ssdlab.Result:
    return ssdlab.run(**{"set": STEADY, "requests": 3000, "victim": victim, **more})


def test_a_greedy_in_python_is_the_built_in_greedy() -> None:
    built_in, ours = run(), run(greedy)
    assert built_in.gc.jobs > 100
    assert ours.digest == built_in.digest
    assert ours["precondition"].to_dict() == built_in["precondition"].to_dict()
    assert ours.counters.victim_fallbacks == 0
    assert (ours.config.gc.victim, built_in.config.gc.victim) == ("custom", "greedy")


def test_another_choice_gives_another_result() -> None:
    assert run(oldest).digest == run(oldest).digest != run().digest


def test_what_the_policy_is_shown() -> None:
    seen: list[ssdlab.Candidates] = []

    def look(candidates: ssdlab.Candidates) -> None:
        seen.append(candidates)

    result = run(look, set=SMALL)
    assert len(seen) == result.gc.jobs
    assert {candidates.pool for candidates in seen} == {0, 1}
    for candidates in seen:  # they outlive the call
        blocks, valid, ages = candidates.blocks.tolist(), candidates.valid_pages.tolist(), candidates.ages.tolist()
        assert len(candidates) == len(blocks) == len(valid) == len(ages) == len(candidates.erases) > 0
        assert all(block // 32 == candidates.pool for block in blocks)
        assert valid == sorted(valid)
        assert max(valid) < candidates.pages_per_block == 16
        assert len(set(ages)) == len(ages)
        assert candidates.blocks.readonly
        assert "blocks of pool" in repr(candidates)
    assert (seen[0].blocks.format, seen[0].ages.format) == ("I", "Q")


@pytest.mark.parametrize("answer", [None, 0])
def test_a_bad_policy_ends_and_is_counted(answer: int | None) -> None:
    result = run(lambda _: answer)
    assert result.counters.victim_fallbacks > result.gc.jobs / 2
    if answer is None:
        assert result.digest == run().digest


def test_an_exception_ends_the_run_and_is_the_cause() -> None:
    for kind in ("fill", "steady"):
        with pytest.raises(ssdlab.PolicyError, match=r"test_victims\.fails .*: ValueError: out of ideas \(line \d+\)$") as caught:
            run(fails, set=SMALL | {"ftl.precondition.kind": kind})
        assert isinstance(caught.value.__cause__, ValueError)
        assert caught.value.__cause__.__traceback__ is not None


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("x", "returned 'x', of type str; expected the number of a block of the drive, or None"),
        (1.0, "returned 1.0, of type float; expected"),
        (True, "returned True, of type bool; expected"),
        ([1], "returned [1], of type list; expected"),
        (-1, "returned -1; expected"),
        (10**30, f"returned {10**30}; expected"),
        (64, "named block 64; the drive's blocks are 0 to 63"),
    ],
)
def test_an_answer_that_names_no_block(answer: object, message: str) -> None:
    with pytest.raises(ssdlab.PolicyError) as caught:
        run(lambda _: answer)
    assert message in str(caught.value)
    assert "<lambda>" in str(caught.value)


def test_a_number_may_be_of_any_whole_type() -> None:
    class Whole:
        def __init__(self, value: int) -> None:
            self.value = value

        def __index__(self) -> int:
            return self.value

    assert run(lambda candidates: Whole(greedy(candidates))).digest == run().digest


@pytest.mark.parametrize("victim", [7, "fifo", int, object()])
def test_what_cannot_be_called_is_refused(victim: Any) -> None:
    with pytest.raises(ssdlab.UsageError, match=r"victim = .*gc\.victim"):
        run(victim)


def test_a_built_in_policy_beside_it_is_refused() -> None:
    with pytest.raises(ssdlab.UsageError, match="both given"):
        run(greedy, set=SMALL | {"gc.victim": "fifo"})


def test_a_class_is_made_anew_for_each_run(tmp_path: Path) -> None:
    first = run(EveryThird)
    assert first.digest == run(EveryThird).digest
    shared = EveryThird()
    run(shared)
    assert shared.calls > 100
    # ... and for preconditioning, so that a saved state is as good.
    report = ssdlab.precondition(tmp_path / "steady.state", set=STEADY, victim=EveryThird)
    assert report["write_amplification"] == first["precondition"].write_amplification
    assert run(EveryThird, state=tmp_path / "steady.state").digest == first.digest

    class Broken:
        def __init__(self) -> None:
            raise OSError("no licence")

        def __call__(self, candidates: ssdlab.Candidates) -> None: ...

    with pytest.raises(ssdlab.PolicyError, match=r"Broken \(test_victims\.py, line \d+\): OSError: no licence"):
        run(Broken)


def test_the_hash_is_of_the_source() -> None:
    def source(victim: Any) -> str:
        return str(run(victim, requests=1500, set=SMALL).gc.victim_source)

    function, partial, built_in = source(greedy), source(functools.partial(greedy)), source(operator.length_hint)
    cls, instance = source(EveryThird), source(EveryThird())
    assert (partial, instance) == (function, cls)
    assert len({function, cls, built_in}) == 3
    assert all(len(bytes.fromhex(text)) == 32 for text in (function, cls, built_in))
    assert "victim_source" not in run()["gc"]


def test_compare_in_several_threads() -> None:
    threads = set()

    def choose(candidates: ssdlab.Candidates) -> int:
        threads.add(threading.get_ident())
        return greedy(candidates)

    ours = ssdlab.compare(schemes=["npgc", "rwp", "cep"], set=SMALL, requests=2000, victim=choose, jobs=3)
    built_in = ssdlab.compare(schemes=["npgc", "rwp", "cep"], set=SMALL, requests=2000)
    assert {name: result.digest for name, result in ours.items()} == {name: result.digest for name, result in built_in.items()}
    assert threads == {threading.get_ident()}, "it is called where the caller is"
    stateful = [ssdlab.compare(schemes=["npgc", "rwp"], set=SMALL, requests=2000, victim=EveryThird, jobs=jobs) for jobs in (1, 2)]
    assert stateful[0]["rwp"].digest == stateful[1]["rwp"].digest
    with pytest.raises(ssdlab.PolicyError, match="out of ideas"):
        ssdlab.compare(schemes=["npgc", "rwp"], set=SMALL, requests=2000, victim=fails)


def simulator(victim: Any) -> ssdlab.Simulator:
    """A simulator with outstanding requests that cause GC."""
    sim = ssdlab.Simulator(set=SMALL, victim=victim)
    pages = len(sim.mapping())
    for index in range(2000):
        sim.submit(ssdlab.Request(op="write", offset=index * 7919 % pages * 4096, length=4096, arrival_ns=index * 1_000_000))
    return sim


def test_simulator() -> None:
    results = []
    for victim in (None, greedy):
        sim = simulator(victim)
        sim.run_until(1_000_000_000)
        sim.run_to_idle()
        results.append(sim.finish())
    assert results[0].gc.jobs > 10
    assert results[0].digest == results[1].digest


@pytest.mark.parametrize("method", ["run_until", "run_to_idle", "finish"])
def test_simulator_of_a_failing_policy(method: str) -> None:
    sim = simulator(fails)
    arguments = (10**12,) if method == "run_until" else ()
    with pytest.raises(ssdlab.PolicyError, match="out of ideas") as caught:
        getattr(sim, method)(*arguments)
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(ssdlab.UsageError, match="ended with an error"):
        sim.run_to_idle()


def test_a_policy_that_uses_its_own_simulator() -> None:
    sim: ssdlab.Simulator

    def meddle(_: ssdlab.Candidates) -> None:
        sim.run_until(10)

    sim = simulator(meddle)
    with pytest.raises(ssdlab.PolicyError, match="in use"):
        sim.run_until(10**12)


def test_a_policy_may_run_simulations() -> None:
    def think(candidates: ssdlab.Candidates) -> int:
        ssdlab.run(set=SMALL, requests=10)
        return greedy(candidates)

    assert run(think, set=SMALL, requests=500).digest == run(set=SMALL, requests=500).digest


def test_exit_in_a_policy_is_an_error_of_the_policy() -> None:
    """As an exit it would end the command without a word, and without the runs that were still to come."""

    def leave(_: ssdlab.Candidates) -> None:
        sys.exit(3)

    with pytest.raises(ssdlab.PolicyError, match="SystemExit: 3"):
        run(leave)
    with pytest.raises(ssdlab.PolicyError, match="SystemExit: 3"):
        simulator(leave).run_until(10**12)


@pytest.mark.parametrize("policy", ["while True: pass", "time.sleep(10**6)", "time.sleep(0.01)"])
@pytest.mark.parametrize("call", ["run", "run_until", "run_to_idle"])
def test_ctrl_c(policy: str, call: str, tmp_path: Path) -> None:
    """In the policy or between two calls of it, it ends the run within a moment, and Python ends cleanly."""
    script = tmp_path / "policy.py"
    calls = {
        "run": "ssdlab.run(set=SMALL, requests=10**9, victim=policy)",
        "run_until": "simulator(policy).run_until(10**13)",
        "run_to_idle": "simulator(policy).run_to_idle()",
    }
    script.write_text(
        textwrap.dedent(f"""
            import sys, time
            sys.path.insert(0, {str(ROOT / "tests")!r})
            import ssdlab
            from test_victims import SMALL, simulator

            def policy(candidates):
                print("called", flush=True)
                {policy}

            try:
                {calls[call]}
            except KeyboardInterrupt as end:
                print("ended", flush=True)
        """)
        + UNTIL_NOTHING_WORKS
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "called\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, "")
    assert out.splitlines()[-1] == "ended"
