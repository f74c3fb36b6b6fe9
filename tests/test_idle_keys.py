"""Keys without effect: presets may contain them and the result lists them; for keys set by hand there is a warning."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE_OPTIONS, SMALL, Ssdlab
from shares import FULL
from ssdlab.asking.plans import Setup, value_text
from test_no_dead_options import CONTEXTS, FILES, fingerprint, has_text, text_of

DEVICES, SCHEMES = ssdlab.presets("device"), ssdlab.presets("scheme")


def pairs(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((key, value_text(value)) for key, value in values.items())


def idle_in(values: Mapping[str, Any]) -> dict[str, str]:
    """The keys without effect among these, with the settings that they need."""
    setup = Setup(set=pairs(values))
    return setup.idle(setup.build(None))


def values_of(key: str) -> list[Any]:
    return [value for value in CONTEXTS[key].values if key not in FILES]


def in_a_file(values: Mapping[str, Any], folder: Path) -> ssdlab.Result:
    """Runs a configuration from a file, for which idle keys cause no warning."""
    file = folder / "keys.toml"
    file.write_text("".join(f"{key} = {text}\n" for key, text in pairs(values)))
    requests = None if "workload.trace" in values else 300
    return ssdlab.run(config=file, requests=requests)


def idle_cases() -> Iterator[tuple[str, str]]:
    """Contexts of the test of dead options with keys that are idle in them, in a random order that is always the same."""
    every = list(itertools.product(CONTEXTS, CONTEXTS))
    random.Random(0).shuffle(every)
    for context, key in every:
        trace = {"workload.trace": "a.csv"} if has_text(context, CONTEXTS[context]) else {}
        base = {**CONTEXTS[context].base, **trace}
        with contextlib.suppress(ssdlab.Error):
            if sum(key in idle_in({**base, key: value}) for value in values_of(key)) > 1:
                yield context, key


def test_many_keys_are_idle_somewhere() -> None:
    """Else the next test would test little."""
    keys = set[str]()
    for count, (_, key) in enumerate(idle_cases(), start=1):
        keys.add(key)
        if count > (1000 if FULL else 300) and len(keys) > 30:
            return
    pytest.fail(f"idle in too few cases, with {len(keys)} keys")


@pytest.mark.parametrize("part", range(4))
def test_what_is_called_idle_changes_nothing(part: int, tmp_path: Path) -> None:
    """Each key that is idle in a context is given all values with which it is; the drive does the same with each."""
    drawn = list(itertools.islice(idle_cases(), 60 * part, 60 * (part + 1)))
    assert len(drawn) == 60
    for name, key in drawn:
        context = CONTEXTS[name]
        base = dict(context.base)
        text = text_of(name, context)
        if text is not None:
            (tmp_path / "trace.csv").write_text(text)
            base["workload.trace"] = str(tmp_path / "trace.csv")
        outcomes = {}
        for value in values_of(key):
            if key in idle_in({**base, key: value}):
                try:
                    outcomes[json.dumps(value)] = fingerprint(in_a_file({**base, key: value}, tmp_path))
                except ssdlab.Error as error:
                    outcomes[json.dumps(value)] = type(error).__name__
        assert len(set(outcomes.values())) <= 1, f"{key} is called idle in the context of {name}, but {', '.join(outcomes)} differ"


@pytest.mark.parametrize("key", [key for key, context in CONTEXTS.items() if context.error is None and key not in FILES])
def test_a_key_that_changes_a_result_is_not_called_idle(key: str) -> None:
    context = CONTEXTS[key]
    trace = {"workload.trace": "a.csv"} if has_text(key, context) else {}
    assert not any(key in idle_in({**context.base, **trace, key: value}) for value in context.values)


@pytest.mark.parametrize("device", DEVICES)
def test_every_scheme_fits_every_device_and_the_result_says_what_was_idle(device: str) -> None:
    spreads = device.endswith(("-like", "-superpage-2023", "-superblock")) or device.startswith("whole-")
    has_cache = device.startswith(("consumer-", "whole-consumer-"))
    of_today = device.startswith("nvme-") or spreads or has_cache
    small = {"device.pages_per_block": 384 if has_cache else 192} if of_today else {"device.blocks_per_plane": 64}
    small["ftl.precondition.settle"] = 0  # what a drive is like after some drive writes is not asked here
    if spreads:
        small |= {"device.channels": 2}
    for scheme in SCHEMES:
        if spreads and scheme in ("gcar-bplru", "gcar-fab"):
            with pytest.raises(ssdlab.ConfigError, match="the pages of a group have no chip in common"):
                ssdlab.run(device=device, scheme=scheme, requests=20, set=small)
            continue
        result = ssdlab.run(device=device, scheme=scheme, requests=20, set=small)
        register = result.config.device.cache_register
        idle = {entry["key"]: entry["needs"] for entry in result.get("idle_keys", ())}
        gc = result.config.gc
        # by itself it still switches scheduler.suspend off for operations of GC
        alone = bool(result.config.scheduler.suspend) and not (gc.suspend or gc.merge or gc.advance != "alone")
        assert ("gc.pipeline" in idle) == (gc.pipeline and not register and not alone), (device, scheme)
        if "gc.pipeline" in idle:
            assert idle["gc.pipeline"] == "device.cache_register = true"
            assert "gc.pipeline has no effect: it needs device.cache_register = true." in str(result)


def test_the_report_names_the_keys_that_had_no_effect(tmp_path: Path) -> None:
    comparison = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=20)
    comparison.report(tmp_path / "report.html")
    said = "pgc: gc.pipeline has no effect: it needs device.cache_register = true. Set that as well, or leave it out. (no-effect)</p>"
    assert said in (tmp_path / "report.html").read_text()


def test_a_pipeline_without_a_cache_register_is_no_longer_accepted_without_a_word(ssdlab_command: Ssdlab) -> None:
    words = ["run", *DRIVE_OPTIONS, "--set", "gc.scope=none", "--set", "gc.pipeline=true", "--requests", "10", "--json"]
    warned = ssdlab_command(*words)
    line = "gc.pipeline has no effect: it needs device.cache_register = true; set that as well, or leave gc.pipeline out"
    assert warned.err == f"warning: {line}\n"
    assert warned.json()["idle_keys"] == [{"key": "gc.pipeline", "needs": "device.cache_register = true"}]
    silent = ssdlab_command(*words, "--set", "device.cache_register=true")
    assert silent.err == ""
    assert "idle_keys" not in silent.json()


def test_a_clean_window_with_lru_is_warned_of_but_not_where_another_scheme_uses_it(ssdlab_command: Ssdlab) -> None:
    values = {**SMALL, "cache.clean_window": 0.5}
    with pytest.warns(ssdlab.IdleKeyWarning, match=r'^cache\.clean_window has no effect: it needs cache\.policy = "cflru"') as warned:
        ssdlab.run(scheme="lru", set=values, requests=10)
    assert warned[0].filename == __file__  # the line that is to be changed
    with pytest.warns(ssdlab.IdleKeyWarning, match="no effect in any of the runs"):
        ssdlab.compare(schemes=["lru", "fab"], set=values, requests=10)
    with pytest.warns(ssdlab.IdleKeyWarning, match="no effect") as warned:
        ssdlab.Simulator(scheme="lru", set=values)
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        comparison = ssdlab.compare(schemes=["lru", "cflru"], set=values, requests=10)
    assert [entry["key"] for entry in comparison["lru"]["idle_keys"]] == ["cache.clean_window"]
    assert "idle_keys" not in comparison["cflru"]
    printed = ssdlab_command(
        "compare", "--scheme", "lru", "--scheme", "cflru", *DRIVE_OPTIONS, "--set", "cache.clean_window=0.5", "--requests", 10
    )
    assert "lru: cache.clean_window has no effect: it needs" in printed.out


def test_a_file_may_hold_keys_that_are_idle_and_the_result_names_them(tmp_path: Path) -> None:
    result = in_a_file({**SMALL, "cache.clean_window": 0.5}, tmp_path)
    assert [dict(entry) for entry in result["idle_keys"]] == [{"key": "cache.clean_window", "needs": 'cache.policy = "cflru"'}]


def test_a_sweep_warns_of_a_key_that_is_idle_in_all_of_its_points(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    axes = {"cache.clean_window": [0.1, 0.5]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(ssdlab.sweep({"scheme": ["lru", "cflru"], **axes}, set=SMALL, requests=10)) == 4
    with pytest.warns(ssdlab.IdleKeyWarning, match="no effect in any of the runs") as warned:
        ssdlab.sweep(axes, scheme="lru", set=SMALL, requests=10)
    assert warned[0].filename == __file__
    (tmp_path / "s.toml").write_text('scheme = "lru"\nrequests = 10\n[grid]\n"cache.clean_window" = [0.1, 0.5]\n')
    assert "warning: cache.clean_window has no effect in any of the runs" in ssdlab_command("sweep", "s.toml", "--out", "out", "-q").err
