"""`ssdlab list`, `show`, `schema`, from a user's perspective."""

from __future__ import annotations

import json
import tomllib

import pytest

import ssdlab
from conftest import Ssdlab
from ssdlab.cli import presets


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("devices", ["lee2013", "demo-4g"]),
        ("schemes", ["npgc", "cep", "rwp", "gcar-lru", "stt-ram-buffer"]),
        ("workloads", ["lee2013-synthetic"]),
    ],
)
def test_list_and_show(ssdlab_command: Ssdlab, what: str, names: list[str]) -> None:
    done = ssdlab_command("list", what)
    assert (done.code, done.err) == (0, "")
    listed = [line.split()[0] for line in done.out.splitlines()]
    assert set(names) <= set(listed)
    for name in listed:
        shown = ssdlab_command("show", what.removesuffix("s"), name)
        assert shown.code == 0, shown.err
        assert tomllib.loads(shown.out)


def policies(ssdlab_command: Ssdlab) -> dict[str, set[str]]:
    """The output of `list policies`: values by key."""
    done = ssdlab_command("list", "policies")
    assert done.code == 0, done.err
    listed: dict[str, set[str]] = {}
    key = ""
    for line in done.out.splitlines():
        if line.startswith("  "):
            listed[key] |= set(line.split() if "CWDP" in line else line.split()[:1])
        else:
            key = line.split(":")[0]
            listed[key] = set()
    return listed


def test_list_policies(ssdlab_command: Ssdlab) -> None:
    listed = policies(ssdlab_command)
    assert "greedy" in listed["gc.victim"]
    assert {"chip", "none"} <= listed["gc.scope"]
    assert "gc.suspend" in listed
    assert {"CWDP", "PDWC", "dynamic"} <= listed["ftl.allocation"]
    assert "soft" in listed["ftl.precondition.kind"]


def test_list_a_key(ssdlab_command: Ssdlab) -> None:
    order = ssdlab_command("list", "scheduler.order").out.splitlines()
    assert [line.split()[0] for line in order[2:]] == ["fcfs", "fr-fcfs", "fair"]
    assert order[1].endswith("default fcfs")
    assert ssdlab_command("list", "device.overprovisioning").out.splitlines()[1] == "  a number from 0 to 0.99; default 0.15"
    assert 'did you mean "gc.soft"?' in ssdlab_command("list", "gc.sofft").failed(2)
    assert ssdlab_command("list", "suspend").failed(2).endswith("or its section; did you mean gc.suspend or scheduler.suspend?")
    assert ssdlab_command("list", "overprovisioning").failed(2).endswith("; did you mean device.overprovisioning?")


def test_list_the_keys_of_a_section(ssdlab_command: Ssdlab) -> None:
    of_section = {line.split(":")[0] for line in ssdlab_command("list", "wear.").out.splitlines() if not line.startswith(" ")}
    assert "wear.endurance" in of_section
    assert all(key.startswith("wear.") for key in of_section)


def test_every_key_is_listed() -> None:
    for name in (key["name"] for key in json.loads(ssdlab._core.keys())):
        first, second, *_ = presets.keys(name)
        assert first.startswith(f"{name}: ")
        assert "; default " in second


def test_show_suggests_the_nearest_name(ssdlab_command: Ssdlab) -> None:
    assert "lee2013" in ssdlab_command("show", "device", "lee2031").failed(2)


def test_show_finds_a_name_in_all_kinds(ssdlab_command: Ssdlab, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ssdlab_command("show", "lee2013").out == ssdlab_command("show", "device", "lee2013").out
    assert tomllib.loads(ssdlab_command("show", "uniform-4k-write").out)["workload"]
    assert 'did you mean "lee2013"?' in ssdlab_command("show", "lee2031").failed(2)
    assert "expected the name of a preset behind it (`ssdlab list schemes`)" in ssdlab_command("show", "scheme").failed(2)
    assert "expected the name of a preset, or before it one of device" in ssdlab_command("show", "drive", "lee2013").failed(2)
    monkeypatch.setattr(presets._core, "presets", lambda kind: [("same", "", "")] if kind != "workload" else [])
    with pytest.raises(
        ssdlab.UsageError, match="same: a preset of device and of scheme: give the kind too, such as `ssdlab show device same`"
    ):
        presets.show(["same"])


def test_schema_describes_every_key(ssdlab_command: Ssdlab) -> None:
    schema = ssdlab_command("schema").json()
    assert {"device", "ftl", "gc", "scheduler", "workload"} <= set(schema["properties"])


def test_version_and_help(ssdlab_command: Ssdlab) -> None:
    assert ssdlab_command("--version").out == f"ssdlab {ssdlab.__version__}\n"
    for command in (["run"], ["compare"], ["precondition"], ["trace", "info"], ["trace", "convert"], ["list"], ["show"], ["schema"]):
        done = ssdlab_command(*command, "--help")
        assert done.code == 0
        assert "Usage" in done.out


@pytest.mark.parametrize("policy", ["lru", "cflru", "bplru", "fab"])
def test_a_cache_joins_with_a_scheme_of_collection(ssdlab_command: Ssdlab, policy: str) -> None:
    """Unaware ones pass over nothing; aware ones do, where collection runs."""
    skips = []
    for scheme in (f"npgc+{policy}", f"npgc+gcar-{policy}"):
        result = ssdlab_command(
            "run",
            "--device",
            "demo-4g",
            "--scheme",
            scheme,
            "--workload",
            "wu2017-prn_0-like",
            "--requests",
            3000,
            "--json",
            "--set",
            "ftl.precondition.kind=soft",
        ).json()
        assert result["config"]["cache"]["policy"] == policy
        assert result["config"]["gc"]["scope"] == "chip"
        assert result["gc"]["jobs"] > 0
        skips.append(result["cache"]["gc_skips"])
    assert skips[0] == 0
    assert skips[1] > 0


@pytest.mark.parametrize("arguments", [["list"], ["list", "studies"]])
def test_errors_name_the_choices(ssdlab_command: Ssdlab, arguments: list[str]) -> None:
    message = ssdlab_command(*arguments).failed(2)
    assert all(name in message for name in ("devices", "schemes", "workloads", "policies", "configuration key"))


def test_help_is_what_the_options_say(ssdlab_command: Ssdlab) -> None:
    """Nothing in brackets is taken for markup, at whatever depth; flags have no value."""
    text = " ".join(ssdlab_command("sweep", "--help").out.split())
    assert "(pip install 'ssdlab[ray]')" in text
    for command in (["sweep"], ["trace", "info"], ["study", "run"]):
        text = ssdlab_command(*command, "--help").out
        assert "-h, --help" in text
        assert not {"<bool>", "╭", "│"} & set(text.split()), text


@pytest.mark.parametrize("command", [[], ["trace"], ["study"]])
def test_no_command_is_help(ssdlab_command: Ssdlab, command: list[str]) -> None:
    assert ssdlab_command(*command).out == ssdlab_command(*command, "--help").out
