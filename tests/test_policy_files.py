"""Policies in files, as `ours.py:Ours`: on the command line, in sweeps, also on Ray, in studies, kits and reports."""

from __future__ import annotations

import html
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import SMALL, Ssdlab
from ssdlab.asking.imported import imported
from ssdlab.asking.policies import Policy
from ssdlab.experiments.sweeping import remote
from ssdlab.experiments.sweeping.definition import load

OURS = '''\
class Ours:
    """Reads go first."""

    def __call__(self, choices):
        return next((i for i, kind in enumerate(choices.kinds) if kind == choices.READ), 0)


class LeastWorn:
    def __call__(self, candidates):
        return min(zip(candidates.erases, candidates.blocks))[1]


def oldest_page(candidates):
    return candidates.pages[0]


NUMBER = 7
'''
DRIVE = SMALL | {"ftl.precondition.kind": "steady", "workload.read_share": 0.5, "workload.interarrival_us": 300}
KEYS = "".join(f"{key} = {json.dumps(value)}\n" for key, value in DRIVE.items())
SETTINGS = [word for key, value in DRIVE.items() for word in ("--set", f"{key}={json.dumps(value)}")]
SWEEP = f"""\
requests = 400
victim = "ours.py:LeastWorn"
[set]
{KEYS}
[grid]
order = ["ours.py:Ours"]
seed = [1, 2]
"""
STUDY = f"""\
title = "Ours"
schemes = ["npgc"]
requests = 400
victim = "ours.py:LeastWorn"
[set]
{KEYS}
[[vary]]
name = "order"
points = [{{ label = "fcfs" }}, {{ label = "ours", order = "ours.py:Ours" }}]
[metrics]
mean = "latency_ns.read.mean"
"""


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A file with policies, in the folder of the command."""
    (tmp_path / "ours.py").write_text(OURS)
    return tmp_path / "ours.py"


def expected(seed: int = 1) -> str:
    """The digest of 400 requests under the two policies of the file."""
    names: dict[str, Any] = {}
    exec(OURS, names)
    return ssdlab.run(set=DRIVE, requests=400, seed=seed, victim=names["LeastWorn"], order=names["Ours"]).digest


def test_a_command_takes_policies_and_is_repeated_by_its_report(ours: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    words = ["--victim", "ours.py:LeastWorn", "--order", "ours.py:Ours", "--requests", "400", *SETTINGS]
    done = ssdlab_command("run", *words, "--out", "out", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json()["digest"] == expected()
    command = shlex.split(done.json()["command"])
    assert "--order ours.py:Ours" in shlex.join(command)
    assert f'<code id="command">{html.escape(done.json()["command"])}</code>' in (tmp_path / "out" / "report.html").read_text()
    assert ssdlab_command(*command[1:], "--json").json()["digest"] == done.json()["digest"]
    compared = ssdlab_command("compare", "--scheme", "npgc", "--scheme", "pgc", *words, "--json").json()
    assert all(run["config"]["scheduler"]["order"].startswith("custom, else ") for run in compared["runs"].values())


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("ours", 'order = "ours": expected FILE.py:CLASS, such as ours.py:Ours; a built-in policy is chosen by the key scheduler.order'),
        ("ours.py", "expected FILE.py:CLASS"),
        ("ours.txt:Ours", "expected FILE.py:CLASS"),
        ("none.py:Ours", 'order = "none.py:Ours": cannot read none.py: No such file or directory'),
        ("ours.py:Our", 'ours.py defines no Our; did you mean "Ours"? (it defines Ours, LeastWorn, oldest_page)'),
        ("ours.py:NUMBER", "NUMBER (ours.py, line 17) cannot be called: expected a class with a method __call__, or a function"),
        ("bad.py:Ours", "bad.py, line 3: ZeroDivisionError: division by zero"),
        ("wrong.py:Ours", "wrong.py, line 2: SyntaxError: "),
        ("exits.py:Ours", "exits.py, line 1: SystemExit: 3"),
        ("imports.py:Ours", "imports.py, line 1: ModuleNotFoundError: No module named 'beside_it'"),
        ("empty.py:Ours", "empty.py defines no Ours (it defines no class and no function)"),
        (
            "later.py:later",
            "later (later.py, line 2) is an async function, whose call returns no choice: expected a plain function or method",
        ),
        ("later.py:Later", "Later (later.py, line 6) is an async function"),
        ("later.py:one_by_one", "one_by_one (later.py, line 11) is a generator"),
        ("pipe.py:Ours", 'order = "pipe.py:Ours": pipe.py is not a regular file: expected a file of Python code'),
        ("folder.py:Ours", "folder.py is not a regular file"),
    ],
)
def test_a_file_that_has_no_policy_is_one_line(policy: str, message: str, ours: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    for name, text in {
        "bad.py": "def f():\n    pass\n1 / 0\n",
        "wrong.py": "\nclass Ours\n",
        "exits.py": "raise SystemExit(3)\n",
        "imports.py": "import beside_it\n",
        "empty.py": "",
        "later.py": "\nasync def later(c):\n    return 0\n\n\nclass Later:\n    async def __call__(self, c):\n        return 0\n\n\n"
        "def one_by_one(c):\n    yield 0\n",
    }.items():
        (tmp_path / name).write_text(text)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    assert message in ssdlab_command("run", "--order", policy, "--requests", "10").failed(2)
    assert not list(tmp_path.rglob("*.pyc"))


def test_a_policy_that_fails_names_file_class_and_line(ours: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "\nclass Ours:\n    def __call__(self, choices):\n        return [0][5]\n\n\ndef far(choices):\n    return 99\n"
    )
    line = ssdlab_command("run", "--order", "bad.py:Ours", "--requests", "400", *SETTINGS).failed(1)
    assert line == "order policy bad.py:Ours (line 2): IndexError: list index out of range (line 4)"
    line = ssdlab_command("run", "--order", "bad.py:far", "--requests", "400", *SETTINGS).failed(1)
    assert line.startswith("order policy bad.py:far (line 7): chose operation 99 of ")


def test_an_eviction_policy_and_a_key_beside_a_policy(ours: Path, ssdlab_command: Ssdlab) -> None:
    words = [
        "--eviction",
        "ours.py:oldest_page",
        "--requests",
        "200",
        "--set",
        "cache.policy=lru",
        "--set",
        "cache.bytes=262144",
        *SETTINGS,
    ]
    assert ssdlab_command("run", *words, "--json").json()["config"]["cache"]["policy"] == "custom"
    both = ["--victim", "ours.py:LeastWorn", "--set", "gc.victim=fifo", "--requests", "10"]
    assert "victim and gc.victim were both given" in ssdlab_command("run", *both).failed(2)


def test_a_sweep_has_policies_beside_its_file(ours: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    ours.rename(folder / "ours.py")
    (folder / "sweep.toml").write_text(SWEEP)
    done = ssdlab_command("sweep", "mine/sweep.toml", "--out", "out", "--json")
    assert (done.code, done.err) == (0, "")
    assert [point["result"]["digest"] for point in done.json()["points"]] == [expected(1), expected(2)]
    assert ssdlab_command("sweep", "mine/sweep.toml", "--out", "out", "--resume", "--json").json()["points"] == done.json()["points"]
    command = shlex.split(done.json()["points"][1]["result"]["command"])
    assert ssdlab_command(*command[1:], "--json").json()["digest"] == expected(2)
    (folder / "ours.py").write_text(OURS.replace("Reads go first", "Reads go first!"))
    assert "is the result of another run (sweep.inputs." in ssdlab_command("sweep", "mine/sweep.toml", "--out", "out", "--resume").failed(2)


def test_a_task_of_ray_needs_no_file(ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    point = next(load(Path("sweep.toml")).points())
    sources = remote.sources_of(point.options)
    assert sources == {"ours.py": OURS}
    ours.unlink()
    monkeypatch.chdir(elsewhere)
    outcome = remote._simulate(str(elsewhere), point, sources)
    assert isinstance(outcome, dict), outcome
    assert outcome["digest"] == expected()
    assert outcome["command"].count("ours.py:") == 2
    failed = remote._simulate(str(elsewhere), point, {})
    assert failed == ("UsageError", 'victim = "ours.py:LeastWorn": cannot read ours.py: No such file or directory')


@pytest.mark.full
def test_two_nodes_of_ray_give_the_same_results(ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.toml").write_text(SWEEP.replace("[1, 2]", "[1, 2, 3, 4]"))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        keys: dict[str, Any] = {"set": DRIVE, "requests": 400, "victim": "ours.py:LeastWorn"}
        grid = {"order": ["ours.py:Ours"], "seed": [1, 2, 3, 4]}
        there, here = ssdlab.sweep(grid, **keys, engine="ray"), ssdlab.sweep(grid, **keys)
        assert not there.failed
        assert [point.result.digest for point in there] == [point.result.digest for point in here]
    finally:
        cluster.shutdown()


def test_a_study_and_its_kit_have_the_policy(ours: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    author = tmp_path / "author"
    (author / "own").mkdir(parents=True)
    ours.rename(author / "own" / "ours.py")
    (author / "own" / "mine.toml").write_text(STUDY)
    done = ssdlab_command("study", "run", "own/mine.toml", "--out", "results", "--json", cwd=author)
    assert done.code == 0, done.err
    runs = {tuple(run["values"]): run["digest"] for run in done.json()["studies"]["own/mine"]["runs"]}
    assert runs["ours",] == expected()
    assert runs["fcfs",] != expected()
    done = ssdlab_command("artifact", "own/mine.toml", "--results", "results", "--out", tmp_path / "kit", cwd=author)
    assert done.code == 0, done.err
    kit = tmp_path / "kit"
    assert (kit / "ours.py").read_text() == OURS
    assert [own["name"] for own in json.loads((kit / "artifact.json").read_text())["own_files"]] == ["ours.py"]
    shutil.rmtree(author)
    elsewhere = (tmp_path / "reviewer").absolute()
    kit.rename(elsewhere)
    again = subprocess.run([sys.executable, elsewhere / "reproduce.py"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (again.returncode, again.stderr) == (0, ""), again.stdout
    assert "own/mine: agrees" in again.stdout


def test_a_policy_that_ends_the_program_is_an_error(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import sys\n\n\ndef leaves(choices):\n    sys.exit(0)\n")
    done = ssdlab_command("run", "--order", "bad.py:leaves", "--requests", "400", *SETTINGS)
    assert done.code != 0
    assert done.out == ""
    assert "bad.py" in done.err
    assert "SystemExit" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_file_may_begin_with_a_byte_order_mark(ours: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "marked.py").write_text(ours.read_text(), encoding="utf-8-sig")
    words = ["--requests", "400", *SETTINGS, "--json"]
    marked, plain = (ssdlab_command("run", "--order", f"{name}.py:Ours", *words).json() for name in ("marked", "ours"))
    assert marked["digest"] == plain["digest"]


def test_what_an_order_leaves_open_is_a_difference(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text("def nothing(choices):\n    return None\n")
    orders = [f"{order}: --order none.py:nothing scheduler.order={order}" for order in ("fcfs", "fr-fcfs")]
    words = [word for order in orders for word in ("--variant", order)]
    done = ssdlab_command("compare", *words, "--requests", "400", *SETTINGS)
    assert "scheduler.order custom, else fr-fcfs instead of custom, else fcfs" in done.out


TALKS = """\
print("loaded")


class Talks:
    def __call__(self, candidates):
        print("called")
        return candidates.blocks[0]


def first_of_all(candidates):
    return 0


def many(candidates):
    return list(range(100_000))


def fails(candidates):
    raise ValueError
"""


def test_what_a_policy_prints_is_not_among_the_results(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "talks.py").write_text(TALKS)
    done = ssdlab_command("run", "--victim", "talks.py:Talks", "--requests", "400", *SETTINGS, "--json")
    assert done.json()["counters"]["victim_choices"] > 0
    assert done.err.splitlines()[:2] == ["loaded", "called"]
    (tmp_path / "sweep.toml").write_text(SWEEP.replace("ours.py:LeastWorn", "talks.py:Talks").replace('order = ["ours.py:Ours"]\n', ""))
    assert len(ssdlab_command("sweep", "sweep.toml", "--out", "out", "--json").json()["points"]) == 2


def test_a_policy_that_chooses_what_is_no_candidate_is_said_with_how_often(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "talks.py").write_text(TALKS)
    result = ssdlab_command("run", "--victim", "talks.py:first_of_all", "--requests", "400", *SETTINGS, "--json").json()
    (remark,) = [remark for remark in result["remarks"] if remark["code"] == "policy-fallbacks"]
    fallbacks, choices = (result["counters"][f"victim_{name}"] for name in ("fallbacks", "choices"))
    assert 0 < fallbacks <= choices
    assert remark["sentence"] == (
        f"The policy named no block that can be collected in {fallbacks} of {choices} choices: "
        "the block with the fewest valid pages was collected instead."
    )
    assert (remark["severity"], remark["about"]) == ("warning", "gc")
    fine = ssdlab_command("run", "--victim", "talks.py:Talks", "--requests", "400", *SETTINGS, "--json").json()
    assert "policy-fallbacks" not in [remark["code"] for remark in fine["remarks"]]


def test_evictions_that_a_policy_left_to_lru_are_said() -> None:
    settings = DRIVE | {"cache.policy": "lru", "cache.bytes": 262144}
    result = ssdlab.run(set=settings, requests=400, eviction=lambda _: None)
    (remark,) = [remark for remark in result.remarks if remark.code == "policy-fallbacks"]
    assert f"in {result.cache.policy_fallbacks} of {result.cache.evictions} choices: the least recently used page" in remark.sentence
    assert result.cache.policy_fallbacks == result.cache.evictions


def test_values_and_exceptions_are_shown_short(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "talks.py").write_text(TALKS)
    with pytest.raises(ssdlab.PolicyError) as found:
        ssdlab.run(set=DRIVE, requests=400, victim=str(tmp_path / "talks.py:many"))
    assert "returned [0, 1, 2, 3, 4, 5, …], of type list; expected the number of a block" in str(found.value)
    done = ssdlab_command("run", "--victim", "talks.py:fails", "--requests", "400", *SETTINGS)
    assert done.err.splitlines()[-1] == "error: victim policy talks.py:fails (line 18): ValueError (line 19)"


def test_a_study_says_at_its_beginning_what_no_kit_can_have(ours: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.toml").write_text(STUDY.replace('"ours.py:LeastWorn"', '"../ours.py:LeastWorn"'))
    done = ssdlab_command("study", "run", "own/mine.toml", "--out", "results", "--json")
    assert done.code == 0
    assert done.err == "warning: own/mine: ../ours.py is not below the current folder: `ssdlab artifact` cannot put it into a kit\n"
    refused = ssdlab_command("artifact", "own/mine.toml", "--results", "results", "--out", tmp_path / "kit").failed(2)
    assert "../ours.py is not below the current folder" in refused


@pytest.mark.parametrize("changed", ["ours.py", "own_rules/__init__.py", "own_rules/worn.py"])
def test_a_sweep_does_not_go_on_with_another_policy(changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor with another module of those that the policy imports, also indirectly."""
    texts = {
        "ours.py": "import json\nimport own_rules as rules\n\n\ndef ours(candidates):\n    return rules.least(candidates)\n",
        "own_rules/__init__.py": "from .worn import least\n",
        "own_rules/worn.py": "import math\n\n\ndef least(candidates):\n    return min(zip(candidates.erases, candidates.blocks))[1]\n",
        "own_rules/other.py": "",
    }
    (tmp_path / "own_rules").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("own_rules", "own_rules.worn"):  # of another case
        monkeypatch.delitem(sys.modules, name, raising=False)

    def sweep(**more: Any) -> ssdlab.SweepResult:
        return ssdlab.sweep({"seed": [1]}, set=DRIVE, requests=100, victim=f"{tmp_path}/ours.py:ours", out=tmp_path / "out", **more)

    sweep()
    (tmp_path / "own_rules/other.py").write_text("# no policy imports it\n")
    assert len(sweep(resume=True)) == 1
    (tmp_path / changed).write_text(f"{texts[changed]}# changed\n")
    with pytest.raises(ssdlab.UsageError, match=r"sweep\.inputs\.victim is"):
        sweep(resume=True)


def test_only_modules_of_ones_own_are_those_of_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_helper.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    source = "import json, numpy.linalg, own_helper, not_there\nfrom os.path import join\nfrom ssdlab import queueing\n"
    assert set(imported(Policy(print, "ours.py:ours", source, None))) == {"own_helper"}
    assert imported(Policy(print, "a.function", source, None)) == {}
