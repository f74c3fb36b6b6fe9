"""The arena: ranks of policies on a fixed field."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import Ssdlab
from ssdlab.asking.policies import KINDS
from ssdlab.experiments.contest import api
from ssdlab.experiments.contest.field import contests
from ssdlab.experiments.contest.kinds import kind_of, policies_in
from ssdlab.experiments.contest.ranking import Arena, ranked
from ssdlab.pages.tables.arena import arena_tables
from ssdlab.pages.tables.layout import as_text

ROOT = Path(__file__).parent.parent
VICTIM = """
def emptiest(candidates):
    return candidates.blocks[0]
"""
ORDER = """
import math

class Patient:
    def __init__(self):
        self.calls = 0

    def __call__(self, choices):
        self.calls += 1
        return min(range(len(choices)), key=lambda i: (choices.ready_ns[i], choices.serials[i]))
"""


def test_every_kind_of_policy_has_a_contest() -> None:
    assert set(contests()) == set(KINDS)
    for kind, contest in contests().items():
        assert contest.key == KINDS[kind].key
        assert len({case.name for case in contest.cases}) == len(contest.cases) >= 3


def test_all_built_in_policies_are_in_the_contest() -> None:
    values = ssdlab.config_schema()["$defs"]
    for name, kind, left_out in [
        ("Victim", "victim", ()),
        ("CachePolicy", "eviction", ("none",)),
        ("Placement", "placement", ("handles", "custom", "zones")),
    ]:
        known = {one["const"] for one in values[name]["oneOf"]}
        assert set(contests()[kind].entries) == known - set(left_out), name


def result(p99_9: float, mean: float, wa: float, digest: str) -> dict[str, Any]:
    return {"latency_ns": {"all": {"p99_9": p99_9, "mean": mean}}, "gc": {"write_amplification": wa}, "digest": digest}


def test_ranks_follow_from_geometric_means_of_ratios() -> None:
    runs = {
        "base": {"a": [result(100, 10, 2, "1")], "b": [result(400, 40, 4, "2")]},
        "ours": {"a": [result(50, 20, 2, "3")], "b": [result(400, 40, 1, "4")]},
        "same": {"a": [result(100, 10, 2, "1")], "b": [result(400, 40, 4, "2")]},
    }
    ours, base, same = ranked(runs, "ours", "p99.9")
    assert [(one.name, one.rank, one.is_own) for one in (ours, base, same)] == [("ours", 1, True), ("base", 2, False), ("same", 2, False)]
    means = {figure: ratio.mean for figure, ratio in ours.ratios.items()}
    assert means == pytest.approx({"p99.9": math.sqrt(0.5), "mean": math.sqrt(2), "wa": math.sqrt(0.25)})
    tail = ours.ratios["p99.9"]
    assert (tail.low, tail.high, tail.best, tail.worst) == pytest.approx((tail.mean, tail.mean, 0.5, 1))
    assert ours.by_case["b"] == {"p99.9": 400, "mean": 40, "wa": 1}
    assert base.digest == same.digest != ours.digest
    assert [one.name for one in ranked(runs, None, "mean")][-1] == "ours"


def test_a_difference_that_may_be_chance_is_a_tie_and_the_bound_has_no_rank() -> None:
    tails = {"base": [100, 110, 95], "tied": [99, 112, 94], "better": [50, 55, 48], "bound": [5, 5, 5]}
    runs = {name: {"a": [result(tail, 1, 1, f"{name}{tail}") for tail in of]} for name, of in tails.items()}
    standings = {one.name: one for one in ranked(runs, None, "p99.9", "bound")}
    assert [standings[name].rank for name in tails] == [2, 2, 1, None]
    ratio = standings["tied"].ratios["p99.9"]
    logs = [math.log(99 / 100), math.log(112 / 110), math.log(94 / 95)]
    mean = sum(logs) / 3
    half = 4.302653 * math.sqrt(sum((log - mean) ** 2 for log in logs) / 2 / 3)
    assert (ratio.mean, ratio.low, ratio.high) == pytest.approx([math.exp(mean + by) for by in (0, -half, half)], rel=1e-5)


def test_a_rank_before_that_of_a_better_mean_is_explained() -> None:
    """C is worse than B on average, but differs so much between seeds that it may be as good as A, of which B is worse for sure."""
    tails = {"A": [0.0, 0.001, -0.001, 0.0, 0.0], "B": [0.05, 0.051, 0.05, 0.049, 0.05], "C": [0.0, 0.3, 0.5, -0.1, 0.1]}
    runs = {name: {"a": [result(math.exp(tail), 1, 1, f"{name}{tail}") for tail in of]} for name, of in tails.items()}

    def told(names: str) -> str:
        found = ranked({name: runs[name] for name in names}, None, "p99.9")
        return as_text(arena_tables(Arena("victim", 1, "p99.9", "A", found, {}, 5, None).to_dict()))

    assert [one.rank for one in ranked(runs, None, "p99.9")] == [1, 2, 1]
    assert "Seeds of C differ so much" in told("ABC")
    assert "differ so much" not in told("AB")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("candidates.valid_pages[0]", "victim"),
        ("candidates.dirty", "eviction"),
        ("choices.ready_ns", "order"),
        ("placing.handle", "placement"),
    ],
)
def test_the_kind_is_seen_from_what_a_policy_asks(body: str, kind: str) -> None:
    source = f"import os\n\ndef other(x):\n    return os.path\n\ndef ours({body.split('.', maxsplit=1)[0]}):\n    return {body}\n"
    assert policies_in(source) == ["other", "ours"]
    assert kind_of(source, "ours") == kind


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (
            "def ours(c):\n    return c.ages[0]\n",
            [],
            "ours: of its argument it uses ages, which victim and eviction policies have: name the kind with --kind",
        ),
        ("def ours(c):\n    return c.dirty, c.erases\n", [], "ours: of its argument it uses dirty, erases, which no kind of policies has"),
        (
            "def one(c):\n    return c.dirty\ndef two(c):\n    return c.dirty\n",
            [],
            "ours.py: it defines one, two: expected one, or FILE.py:NAME",
        ),
        ("x = 1\n", [], "ours.py: it defines no policy"),
        ("def (\n", [], "ours.py, line 1: invalid syntax"),
        ("x = '\0'\n", [], "ours.py, line 1: source code string cannot contain null bytes"),
        (
            "class Base:\n    def __call__(self, c):\n        return c.dirty\nclass Ours(Base):\n    pass\n",
            [],
            "it defines Base, Ours: expected one",
        ),
        (VICTIM, ["--kind", "victims"], "'victims' is not one of"),
        (VICTIM, ["--by", "p99"], "'p99' is not one of"),
    ],
)
def test_what_cannot_be_ranked_is_said(ssdlab_command: Ssdlab, tmp_path: Path, text: str, words: list[str], said: str) -> None:
    (tmp_path / "ours.py").write_text(text)
    assert said in ssdlab_command("arena", "run", "ours.py", *words).failed(2)


def test_nothing_to_rank_and_no_such_file(ssdlab_command: Ssdlab) -> None:
    assert "nothing to rank: name a file with a policy, or a kind of policies" in ssdlab_command("arena", "run").failed(2)
    assert "none.py: cannot be read as Python code: No such file" in ssdlab_command("arena", "run", "none.py").failed(2)
    with pytest.raises(ssdlab.UsageError, match=r"by = 'p99': expected one of p99\.9, mean, wa"):
        ssdlab.arena(kind="order", by="p99")


@pytest.mark.parametrize("words", [["--quick"], pytest.param([], marks=pytest.mark.full, id="whole")])
def test_a_policy_of_ones_own_is_ranked(words: list[str], ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text(ORDER)
    found = ssdlab_command("arena", "run", "ours.py", "--json", *words).json()
    assert (found["kind"], found["by"], found["baseline"]) == ("order", "p99.9", "fcfs")
    by_name = {one["name"]: one for one in found["standings"]}
    assert set(by_name) == {"fcfs", "fr-fcfs", "ours.py:Patient"}
    assert all(set(ratio.values()) == {1} for ratio in by_name["fcfs"]["ratios"].values())
    assert found["repeats"] is True
    assert by_name["ours.py:Patient"]["is_own"]
    assert len({one["digest"] for one in found["standings"]}) == 3
    tails = [one["ratios"]["p99.9"]["mean"] for one in found["standings"]]
    assert tails == sorted(tails)
    page = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
    built_in = [f"`{by_name[name]['digest']}`" in page and f"| `{name}` | " in page for name in ("fcfs", "fr-fcfs")]
    assert all(built_in) or words == ["--quick"], "run tools/arena.py"


def test_a_policy_is_asked_for_as_what_it_is(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text(VICTIM)
    (tmp_path / "ours.txt").write_text(VICTIM)
    os.mkfifo(tmp_path / "pipe.py")
    for policy, said in [
        ("ours.py:emptyest", 'ours.py defines no policy emptyest; did you mean "emptiest"?'),
        ("ours.txt", 'policy = "ours.txt": expected FILE.py or FILE.py:NAME'),
        ("pipe.py", "pipe.py is not a regular file"),
    ]:
        assert said in ssdlab_command("arena", "run", policy).failed(2)
    with pytest.raises(ssdlab.UsageError, match="policy = 3: expected a class, a function, or a text"):
        ssdlab.arena(3)  # type: ignore[arg-type]
    with pytest.raises(ssdlab.UsageError, match="its source cannot be read: name its kind"):
        ssdlab.arena(len)  # type: ignore[arg-type]


def test_a_policy_that_inherits_its_method_is_known_by_it() -> None:
    source = "class Base:\n    def __call__(self, c):\n        return c.dirty\nclass Ours(Base):\n    pass\n"
    assert (policies_in(source), kind_of(source, "Ours")) == (["Base", "Ours"], "eviction")
    assert policies_in("class A(B):\n    pass\nclass B(A):\n    pass\n") == []


class Counting:
    """Has a state that runs at the same time would share."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, choices: Any) -> int:
        self.calls += 1
        return int(self.calls % 7 == 0 and len(choices.ready_ns) > 1)


def greedy(candidates: Any) -> int:
    """Named as a built-in policy."""
    return int(candidates.blocks[len(candidates.valid_pages) - 1])


def small(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Leaves two short cases of a contest."""
    contest = contests()[kind]
    cases = tuple(replace(case, options={**case.options, "requests": 3_000, "warm_up": 500}) for case in contest.cases[:2])
    monkeypatch.setattr(api, "contests", lambda: {**contests(), kind: replace(contest, cases=cases)})


def test_each_run_has_a_copy_of_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, "order")
    ours = Counting()
    first, second = (next(one.digest for one in ssdlab.arena(ours).standings if one.is_own) for _ in range(2))
    assert first == second
    assert ours.calls == 0


def test_a_policy_named_as_a_built_in_one_does_not_take_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, "victim")

    def greedy_inside(candidates: Any) -> int:
        return int(candidates.blocks[len(candidates.valid_pages) - 1])

    assert api.located(greedy_inside, None)[0] == "victim"
    found = {one.name: one for one in ssdlab.arena(greedy).standings}
    assert set(found) == {*contests()["victim"].entries, "own greedy"}
    assert (found["greedy"].ratios["p99.9"].mean, found["greedy"].is_own, found["own greedy"].is_own) == (1.0, False, True)


def test_a_quick_arena_says_that_its_ranks_do_not_count(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text(ORDER)
    found = ssdlab_command("arena", "run", "ours.py", "--quick")
    assert "Quick runs, whose ranks say nothing" in found.out
    assert "ours.py:Patient*" in found.out
    assert "warning" not in found.out


def test_a_policy_that_draws_by_a_clock_is_told(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    drawn = "import random\n\ndef drawn(choices):\n    return random.SystemRandom().randrange(len(choices.ready_ns))\n"
    (tmp_path / "drawn.py").write_text(drawn)
    found = ssdlab_command("arena", "run", "drawn.py", "--quick")
    assert "warning: drawn.py:drawn decided otherwise when a run was done again" in found.out
