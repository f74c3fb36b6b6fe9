"""Placement policies written in Python."""

from __future__ import annotations

import html
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import Ssdlab
from test_placement import PAGES, drive

OWN = {"ftl.placement": "custom", "ftl.host_streams": 2, "ftl.move_streams": 2}
OF_SEPBIT = OWN | {"ftl.move_streams": 4}
SETTLED = {"ftl.precondition.kind": "steady", "workload.address": "zipf", "workload.zipf_exponent": 1.0}


class Ages:
    """When each page was last written, in pages that the host has written, on a drive that was filled in order."""

    def __init__(self) -> None:
        self.last = list(range(PAGES))
        self.now = PAGES

    def age(self, page: int) -> int:
        return self.now - self.last[page]

    def written(self, page: int) -> None:
        self.last[page] = self.now
        self.now += 1


class HotCold(Ages):
    """The built-in `hot-cold`."""

    def __call__(self, placing: ssdlab.Placing) -> int:
        for what, *about in placing.events:
            if what == placing.WRITTEN:
                self.written(about[0])
        return int(placing.is_new or self.age(placing.page) >= placing.pages // 4)


class SepBit(Ages):
    """The built-in `sepbit`, from algorithm 1 of the paper."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: dict[int, int] = {}
        self.life: int | None = None
        self.lives: list[int] = []

    def __call__(self, placing: ssdlab.Placing) -> int:
        for what, number, *about in placing.events:
            if what == placing.WRITTEN:
                self.written(number)
            elif what == placing.OPENED:
                self.opened[number] = self.now
            elif about[0] == 0:
                self.collected(number)
        age = self.age(placing.page)
        if not placing.moved:
            return int(placing.is_new or (self.life is not None and age >= self.life))
        if placing.stream == 0:
            return 0
        return 1 if self.life is None else 1 + (age >= 4 * self.life) + (age >= 16 * self.life)

    def collected(self, block: int) -> None:
        self.lives.append(self.now - self.opened.get(block, 0))
        if len(self.lives) == 16:
            self.life, self.lives = sum(self.lives) // 16, []


def run(policy: Any, keys: dict[str, Any], **options: Any) -> ssdlab.Result:
    return ssdlab.run(set=drive("separate", **SETTLED, **keys), requests=2 * PAGES, placement=policy, seed=1, **options)


@pytest.mark.parametrize(("policy", "keys", "name"), [(HotCold, OWN, "hot-cold"), (SepBit, OF_SEPBIT, "sepbit")])
def test_a_policy_that_repeats_a_built_in_one_is_equal_to_it(policy: Any, keys: dict[str, Any], name: str) -> None:
    built_in, ours = run(None, {"ftl.placement": name}), run(policy, keys)
    assert ours.digest == built_in.digest
    assert ours.precondition == built_in.precondition
    assert ours["streams"] == built_in["streams"]
    assert min(stream["blocks_collected"] for stream in ours["streams"]) > 0
    assert (ours.config.ftl.placement, built_in.config.ftl.placement) == ("custom", name)
    assert len(ours.placement_source) == 64
    assert "placement_source" not in built_in


def test_the_policy_sees_what_the_core_sees() -> None:
    seen: list[tuple[Any, ...]] = []
    happened: list[tuple[int, ...]] = []

    def look(placing: ssdlab.Placing) -> int:
        seen.append((placing.page, placing.moved, placing.handle, placing.is_new, placing.stream, repr(placing)))
        happened.extend(placing.events)
        assert (placing.pages, placing.blocks, placing.pages_per_block) == (PAGES, 320, 32)
        assert (placing.host_streams, placing.move_streams) == (2, 3)
        return placing.page % 2

    keys = drive("separate", **OWN | {"ftl.move_streams": 3}, **{"workload.handle": 5})
    result = ssdlab.run(set=keys, requests=3 * PAGES, placement=look, seed=1)
    host, moved = ([one for one in seen if one[1] == by] for by in (False, True))
    assert len(host) == result.flash.host_programs == 3 * PAGES
    # A job and a move of it may be under way at the end.
    assert len(moved) - result.gc.pages_moved in {0, 1}
    assert result.gc.pages_moved > 0
    assert {one[2:5] for one in host} == {(5, False, -1)}
    assert {one[2:4] for one in moved} == {(None, False)}
    # Filled before streams were noted, by host writes, and by page moves of even and of odd pages.
    assert {one[4] for one in moved} == {-1, 0, 1, 2, 3}
    assert f"<Placing: page {host[0][0]}, of the host, 0 events>" == host[0][5]
    kinds = [what for what, *_ in happened]
    assert kinds.count(ssdlab.Placing.WRITTEN) in {3 * PAGES - 1, 3 * PAGES}
    assert kinds.count(ssdlab.Placing.COLLECTED) - result.gc.jobs in {0, 1}
    streams = {stream["class"]: stream["host_units"] for stream in result["streams"] if stream["writer"] == "host"}
    assert set(streams) == {0, 1}
    assert sum(streams.values()) == 3 * PAGES


def raises(_: ssdlab.Placing) -> int:
    raise ValueError("no idea")


class Counts:
    """Not repeatable: every instance begins with another number."""

    made = 0

    def __init__(self) -> None:
        Counts.made += 1
        self.own = Counts.made % 2

    def __call__(self, _: ssdlab.Placing) -> int:
        return self.own


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (raises, "ValueError: no idea"),
        (lambda _: None, "returned None; expected the number of a stream, 0 to 1"),
        (lambda _: "hot", "returned 'hot', of type str; expected the number of a stream, 0 to 1"),
        (lambda _: True, "returned True, of type bool; expected the number of a stream, 0 to 1"),
        (lambda _: -1, "returned -1; expected the number of a stream, 0 to 1"),
        (lambda _: 2, "chose stream 2 for a page; expected 0 to 1, the streams of host writes"),
        (lambda _: 1000, "chose stream 255 for a page; expected 0 to 1, the streams of host writes"),
    ],
)
def test_a_policy_that_fails_ends_the_run_with_one_line(policy: Any, message: str) -> None:
    with pytest.raises(ssdlab.PolicyError, match="placement policy") as failed:
        run(policy, OWN)
    assert message in str(failed.value)
    assert "\n" not in str(failed.value)


def test_a_policy_that_is_not_deterministic_is_found() -> None:
    with pytest.raises(ssdlab.PolicyError, match="is not deterministic: two instances"):
        run(Counts, OWN, verify="end")


def test_policy_and_key_come_together(tmp_path: Path) -> None:
    with pytest.raises(ssdlab.ConfigError, match=r'ftl\.placement = "custom": needs a placement policy of your own'):
        run(None, OWN)
    with pytest.raises(ssdlab.ConfigError, match=r'ftl\.placement = "none": a user-defined placement policy needs "custom"'):
        run(HotCold, {})
    with pytest.raises(ssdlab.UsageError, match="a saved state does not have what a user-defined placement policy remembers"):
        run(HotCold, OWN, save_state=tmp_path / "state")
    with pytest.raises(ssdlab.ConfigError, match="there is nothing to choose"):
        run(HotCold, OWN | {"ftl.host_streams": 1, "ftl.move_streams": 1})


FILE = '''\
class Even:
    """Even pages apart from odd ones."""

    def __call__(self, placing):
        return placing.page % 2
'''
SMALL = drive("separate", **OWN) | {"device.blocks_per_plane": 64, "device.pages_per_block": 16}
SWEEP = """\
requests = 400
[set]
{keys}
[grid]
placement = ["ours.py:Even"]
seed = [1, 2]
"""


def test_commands_files_and_reports_know_the_policy(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "ours.py").write_text(FILE)
    settings = [word for key, value in SMALL.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    done = ssdlab_command("run", "--placement", "ours.py:Even", "--requests", "400", *settings, "--out", "out", "--json")
    assert (done.code, done.err) == (0, "")
    command = shlex.split(done.json()["command"])
    assert "--placement ours.py:Even" in shlex.join(command)
    assert f'<code id="command">{html.escape(done.json()["command"])}</code>' in (tmp_path / "out" / "report.html").read_text()
    assert ssdlab_command(*command[1:], "--json").json()["digest"] == done.json()["digest"]
    (tmp_path / "sweep.toml").write_text(SWEEP.format(keys="".join(f"{key} = {json.dumps(value)}\n" for key, value in SMALL.items())))
    assert ssdlab_command("sweep", "sweep.toml", "--out", "swept", "--quiet").code == 0
    digests = {json.loads(path.read_text())["digest"] for path in (tmp_path / "swept").glob("*/result.json")}
    assert len(digests) == 2
    assert done.json()["digest"] in digests


def test_variants_compare_a_policy_with_built_in_ones(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "ours.py").write_text(FILE)
    keys = {key: value for key, value in SMALL.items() if not key.startswith("ftl.placement")}
    settings = [word for key, value in keys.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    variants = ["--variant", "none: ftl.placement=none", "--variant", "ours: ftl.placement=custom --placement ours.py:Even"]
    done = ssdlab_command("compare", *variants, "--requests", "400", *settings, "--json")
    assert done.code == 0, done.err
    assert [run["config"]["ftl"]["placement"] for run in done.json()["runs"].values()] == ["none", "custom"]
