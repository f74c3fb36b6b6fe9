"""`ssdlab list`, `show`, `schema`, as a user calls them."""

from __future__ import annotations

import tomllib

import pytest

from conftest import Ssdlab


@pytest.mark.parametrize(
    ("what", "names"), [("devices", ["lee2013", "demo-4g"]), ("schemes", ["npgc", "cep", "rwp"]), ("workloads", ["lee2013-synthetic"])]
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


def test_list_policies(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("list", "policies")
    assert done.code == 0, done.err
    policies: dict[str, set[str]] = {}
    key = ""
    for line in done.out.splitlines():
        if line.startswith("  "):
            values = line.split() if "CWDP" in line else line.split()[:1]
            policies[key] |= set(values)
        else:
            key = line.split(":")[0]
            policies[key] = set()
    assert "greedy" in policies["gc.victim"]
    assert {"chip", "none"} <= policies["gc.scope"]
    assert policies["gc.suspend"] == {"read", "program", "erase"}
    assert {"CWDP", "PDWC", "dynamic"} <= policies["ftl.allocation"]
    assert "soft" in policies["ftl.precondition.kind"]


def test_show_suggests_the_nearest_name(ssdlab_command: Ssdlab) -> None:
    assert "lee2013" in ssdlab_command("show", "device", "lee2031").failed(2)


def test_schema_describes_every_key(ssdlab_command: Ssdlab) -> None:
    schema = ssdlab_command("schema").json()
    assert {"device", "ftl", "gc", "scheduler", "workload"} <= set(schema["properties"])


def test_version_and_help(ssdlab_command: Ssdlab) -> None:
    assert ssdlab_command("--version").out.startswith("ssdlab 0.")
    for command in (["run"], ["compare"], ["precondition"], ["trace", "info"], ["trace", "convert"], ["list"], ["show"], ["schema"]):
        done = ssdlab_command(*command, "--help")
        assert done.code == 0
        assert "Usage" in done.out
