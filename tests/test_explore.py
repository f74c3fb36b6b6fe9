"""`ssdlab explore`: who is let in, what is answered, what runs and stops; `test_explore_browser.py` has the page."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
import socket
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE_OPTIONS, PATIENCE_S, SMALL, SMALL_OPTIONS, Ssdlab, core_at_work
from explored import Explored, explored, until_answered
from ssdlab.asking.option import complete
from ssdlab.asking.options import ExploreOptions
from ssdlab.experiments.exploring.choice import Bench, Choice, Variant, blamed, compare_command
from ssdlab.experiments.exploring.page import MATTER
from ssdlab.experiments.exploring.showing import Asked

LONG = {"requests": "100M"}
SET = {key: str(value) for key, value in SMALL.items()}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explored]:
    """A server with a small drive, whose sample is a third of the whole run."""
    with explored(tmp_path_factory.mktemp("explored"), *SMALL_OPTIONS, "--scheme", "pgc", "--requests", 3000, "--sample", 1000) as found:
        yield found


def now(*, scheme: str = "pgc", requests: str = "3000", **changes: Any) -> dict[str, Any]:
    """A choice as the page sends it; `changes`: keys, with __ for the dot."""
    settings = {key.replace("__", "."): str(value) for key, value in changes.items()}
    return {"scheme": scheme, "requests": requests, "seed": "1", "set": {**SET, **settings}}


def bench(**options: Any) -> Bench:
    return Bench(complete("explore", ExploreOptions, options), ())  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------------------------------------------
# Who is let in.


def test_the_address_opens_the_page_and_nothing_is_loaded_from_elsewhere(server: Explored) -> None:
    for name, kind in (("", "text/html"), ("page.js", "text/javascript"), ("page.css", "text/css")):
        status, text, headers = server.get(server.path + name)
        assert status == 200
        assert headers["Content-Type"].startswith(kind)
        assert len(text) > 5000
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_without_the_token_nothing_is_answered(server: Explored) -> None:
    token = server.path.strip("/")
    assert len(token) >= 32
    for path in (
        "*",
        "/",
        "/page.js",
        "/socket",
        f"/{token[:-1]}/",
        f"/{token}x/",
        f"/x/{token}/",
        f"/{token.swapcase()}/page.js",
        "/%2e%2e/",
    ):
        status, text, _ = server.get(path)
        assert (status, token in text) == (403, False), path
    assert server.get(f"{server.path}other")[0] == 404


@pytest.mark.parametrize("host", ["example.org", "example.org:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.example.org:{port}", ""])
def test_a_name_of_somebody_else_for_our_address_is_refused(server: Explored, host: str) -> None:
    for path in (server.path, f"{server.path}page.js", f"{server.path}socket"):
        assert server.get(path, {"Host": host.format(port=server.port)})[0] == 403
    assert server.get(server.path, {"Host": f"localhost:{server.port}"})[0] == 200


@pytest.mark.parametrize("origin", ["http://example.org", "http://127.0.0.1:1", "null"])
def test_another_page_cannot_connect(server: Explored, origin: str) -> None:
    upgrade = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    }
    assert server.get(f"{server.path}socket", {**upgrade, "Origin": origin})[0] == 403
    assert server.get(f"{server.path}socket", {**upgrade, "Origin": f"http://127.0.0.1:{server.port}"})[0] == 101


def test_only_this_machine_can_connect(server: Explored) -> None:
    listening = [line.split() for line in Path(f"/proc/{server.process.pid}/net/tcp").read_text().splitlines()[1:]]
    assert {line[1].partition(":")[0] for line in listening if line[1].endswith(f":{server.port:04X}") and line[3] == "0A"} == {"0100007F"}


# ---------------------------------------------------------------------------------------------------------------------------------------
# What is answered.


def test_a_sample_and_then_the_whole_run_are_shown_and_the_command_repeats_it(server: Explored, ssdlab_command: Ssdlab) -> None:
    config, sample, whole = server.ask({"id": 7, "now": now(gc__soft=0.15)})
    assert [told["id"] for told in (config, sample, whole)] == [7, 7, 7]
    assert (config["kind"], config["values"]["gc.soft"], config["values"]["gc.scope"]) == ("config", "0.15", "none")
    assert (sample["sampled"], whole["sampled"]) == (1000, 0)
    words = shlex.split(config["command"])
    assert words[:2] == ["ssdlab", "run"]
    repeated = ssdlab_command(*words[1:], "--json").json()
    direct = ssdlab.run(scheme="pgc", requests=3000, set={**SMALL, "gc.soft": 0.15})
    assert whole["digest"] == repeated["digest"] == direct.digest
    assert sample["digest"] == ssdlab.run(scheme="pgc", requests=1000, set={**SMALL, "gc.soft": 0.15}).digest
    shown = re.search(r'data-place="latency_ns.all.p99" data-value="([\d.]+)"', whole["overview"])
    assert shown is not None
    assert float(shown[1]) == direct["latency_ns"]["all"]["p99"]


def test_a_change_is_compared_with_the_choice_before_it(server: Explored) -> None:
    config, _, whole = server.ask({"id": 1, "before": now(), "now": now(gc__soft=0.15, scheme="npgc"), "kept": []})
    assert config["change"].startswith("scheme npgc (was pgc); gc.soft 0.15 (was 0.1); ")
    data = json.loads(whole["data"])
    assert data["labels"] == ["before", "now"]
    assert "latency_cdf-0" in data["plots"]
    assert "before" in whole["outcome"]
    assert not config["compare"]


def test_kept_variants_are_compared_and_the_command_has_their_differences(server: Explored) -> None:
    kept = [{"label": "small", "choice": now()}, {"label": 'big "b"', "choice": now(buffer__bytes="64KiB")}]
    config, _, whole = server.ask({"id": 1, "now": now(gc__soft=0.15, scheme="npgc"), "before": now(), "kept": kept})
    assert json.loads(whole["data"])["labels"] == ["small", 'big "b"', "now"]
    words = shlex.split(config["compare"])
    assert words[:2] == ["ssdlab", "compare"]
    variants = [after for word, after in pairwise(words) if word == "--variant"]
    assert variants == [
        "small: --scheme pgc gc.soft=0.1",
        'big "b": --scheme pgc buffer.bytes=64KiB gc.soft=0.1',
        "now: --scheme npgc gc.soft=0.15",
    ]
    assert words[2:8] == ["--requests", "3000", "--seed", "1", "--set", "device.blocks_per_plane=32"], "what all have stands once"


def test_a_kept_variant_that_fails_is_named_and_the_others_are_shown(server: Explored) -> None:
    kept = [{"label": "bad", "choice": now(gc__soft="x")}]
    config, *_, shown = server.ask({"id": 1, "now": now(), "kept": kept})
    assert "bad failed: gc.soft = " in shown["outcome"]
    assert json.loads(shown["data"])["labels"] == ["now"]
    assert not config["compare"]


@pytest.mark.parametrize(
    ("choice", "key", "message"),
    [
        (now(gc__soft="7e9"), "gc.soft", "must be a number from 0 to 1000000"),
        (now(gc__softt="1"), "gc.softt", "did you mean gc.soft?"),
        (now(device__overprovisioning="0.001"), "device.overprovisioning", "set device.overprovisioning to at least"),
        (now(scheme="nope"), "scheme", "no such preset"),
        (now(requests="many"), "requests", "expected"),
        (now() | {"warm_up": "4000"}, "warm_up", "warm_up"),
        (now() | {"seed": "-1"}, "seed", "seed"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." not in value else "",
)
def test_an_error_is_about_the_key_that_it_names(server: Explored, choice: dict[str, Any], key: str, message: str) -> None:
    told = server.ask({"id": 3, "now": choice})[-1]
    assert (told["kind"], told["key"], told["id"]) == ("refused", key, 3)
    assert message in told["message"]
    assert "\n" not in told["message"]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("{", "expected JSON"),
        ("[" * 100_000, "expected JSON"),
        ("3", "expected an object"),
        ("{}", "choice = None"),
        ('{"now": {"set": [1]}}', "expected an object of keys"),
        ('{"now": {"set": {"gc.soft": 1}}}', "gc.soft = 1: expected"),
        ('{"now": {"trace": "/etc/passwd"}}', "expected an object with some of"),
        ('{"now": {}, "kept": 3}', "expected a list"),
        ('{"now": {}, "kept": [{"label": "a:b", "choice": {}}]}', "without a colon"),
        ('{"now": {}, "kept": [{"label": "now", "choice": {}}]}', "two variants"),
        ('{"now": {}, "whole": "yes"}', "whole"),
        ('{"now": {"set": {"\\ud800": "1"}}}', "a text in UTF-8"),
        ('{"now": {"scheme": "+"}}', "expected the name of a preset"),
        ('{"id": NaN, "now": {}}', "id = nan: expected a whole number"),
        ('{"id": [1], "now": {}}', "id = [1]: expected a whole number"),
    ],
)
def test_a_message_that_is_not_a_request_gets_one_line(server: Explored, message: str, said: str) -> None:
    (told,) = server.ask(message)
    assert told["kind"] == "refused"
    assert told["message"].count(said) == 1
    assert "internal" not in told["message"]
    assert "\n" not in told["message"]


def test_a_key_without_effect_says_what_it_needs(server: Explored) -> None:
    config = server.ask({"id": 1, "now": now(gc__choices=4)})[0]
    assert "d-choices" in config["idle"]["gc.choices"]


# ---------------------------------------------------------------------------------------------------------------------------------------
# What runs and stops.


def at_rest(server: Explored) -> bool:
    """Whether no thread of the core works any more, at the latest after some time."""
    ends = time.monotonic() + PATIENCE_S
    while core_at_work(server.process.pid):
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


async def until_working(connection: Any) -> None:
    """Waits until a whole run says how far it is."""
    while True:
        told = json.loads(await connection.read_message())
        if told["kind"] == "progress" and not told["sampled"] and told["phase"] == "simulating":
            return


def test_a_new_request_stops_the_run_of_the_one_before(server: Explored) -> None:
    async def both() -> list[Any]:
        connection = await server.connect()
        await connection.write_message(json.dumps({"id": 1, "now": {**now(), **LONG}}))
        await until_working(connection)
        assert core_at_work(server.process.pid)
        await connection.write_message(json.dumps({"id": 2, "now": now(gc__soft=0.12)}))
        found = [told async for told in until_answered(connection)]
        assert at_rest(server), "the first run goes on"
        connection.close()
        return found

    found = asyncio.run(asyncio.wait_for(both(), PATIENCE_S))
    assert [told["kind"] for told in found if told["id"] == 2] == ["config", "shown", "shown"]
    assert not any(told["kind"] == "shown" and not told["sampled"] for told in found if told["id"] == 1)


@pytest.mark.parametrize("how", ["null", "closed"])
def test_runs_end_with_a_stop_and_with_the_page(server: Explored, how: str) -> None:
    server.ask({"id": 1, "now": now()})  # so that only one of the two runs has progress

    async def begun() -> None:
        connection = await server.connect()
        await connection.write_message(json.dumps({"id": 1, "now": {**now(), **LONG}, "before": now()}))
        await until_working(connection)
        if how == "null":
            await connection.write_message("null")
            assert await asyncio.to_thread(at_rest, server)
        connection.close()

    asyncio.run(asyncio.wait_for(begun(), PATIENCE_S))
    assert at_rest(server)


def test_a_result_that_comes_back_is_not_run_again(server: Explored) -> None:
    first = server.ask({"id": 1, "now": now(gc__soft=0.13)})
    again = server.ask({"id": 2, "now": now(gc__soft=0.13)})
    assert [told["kind"] for told in first] == ["config", "shown", "shown"]
    assert [told["kind"] for told in again] == ["config", "shown"], "the whole result is there: no sample"
    assert again[-1]["digest"] == first[-1]["digest"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_also_during_a_run(tmp_path: Path, number: int) -> None:
    with explored(tmp_path, *SMALL_OPTIONS) as found:

        async def begun() -> tuple[int, str]:
            connection = await found.connect()
            await connection.write_message(json.dumps({"id": 1, "now": {**now(), **LONG}}))
            await until_working(connection)
            ended = await asyncio.to_thread(found.stop, number)
            connection.close()
            return ended

        assert asyncio.run(asyncio.wait_for(begun(), PATIENCE_S)) == (0, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["opened", "read"])
def test_a_signal_ends_it_while_it_waits_for_a_pipe(tmp_path: Path, how: str) -> None:
    """Nothing opens the other end of the pipe, or nothing is written into it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    asked = {"scheme": "pgc", "seed": "1", "set": {"workload.trace": str(pipe)}}
    with explored(tmp_path, *DRIVE_OPTIONS) as found:

        async def begun() -> tuple[int, str]:
            connection = await found.connect()
            await connection.write_message(json.dumps({"id": 1, "now": asked}))
            writer = await asyncio.to_thread(once_awaited, pipe)
            if how == "opened":
                os.close(writer)
                await connection.write_message(json.dumps({"id": 2, "now": {**asked, "scheme": "npgc"}}))
                await asyncio.sleep(0.5)
            ended = await asyncio.to_thread(found.stop, signal.SIGINT)
            if how == "read":
                os.close(writer)
            connection.close()
            return ended

        assert asyncio.run(asyncio.wait_for(begun(), PATIENCE_S)) == (0, "")


def once_awaited(pipe: Path) -> int:
    """A descriptor to write into a pipe, as soon as somebody reads it."""
    while True:
        with contextlib.suppress(OSError):  # ENXIO: nobody has opened it yet
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.02)


def test_a_port_in_use_is_one_line(ssdlab_command: Ssdlab) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        line = ssdlab_command("explore", *SMALL_OPTIONS, "--port", port).failed(2)
    assert f"port = {port}: in use; choose another port" in line
    assert "expected 0 to 65535" in ssdlab_command("explore", "--port", "70k").failed(2)


def test_what_cannot_begin_says_so_before_it_serves(ssdlab_command: Ssdlab) -> None:
    assert "did you mean gc.soft?" in ssdlab_command("explore", "--set", "gc.sof=1").failed(2)
    assert "can be read only once" in ssdlab_command("explore", "--trace", "/dev/stdin").failed(2)


# ---------------------------------------------------------------------------------------------------------------------------------------
# Choices and commands.


def test_options_of_the_command_are_the_first_choice_and_stay() -> None:
    found = bench(device="lee2013", scheme="pgc", workload="lee2013-synthetic", requests=20, fit="64MiB")
    assert found.first == Choice("lee2013", "pgc", "lee2013-synthetic", "1", "20", "")
    assert found.setup(found.first).command("pgc") == (
        "ssdlab run --device lee2013 --scheme pgc --workload lee2013-synthetic --fit 64MiB --requests 20 --seed 1"
    )
    sample = found.setup(Choice(requests="20k", warm_up="5"), sampled=True)
    assert (sample.options["requests"], sample.options["warm_up"], sample.options["fit"]) == (5000, None, "64MiB")
    assert Choice.read(found.first.to_dict()) == found.first


def test_the_words_of_a_variant_give_its_run() -> None:
    found = bench(device="lee2013")
    choices = [
        Choice("demo-4g", "pgc", "lee2013-synthetic", "1", "500", "", (("workload.size_table", "[[4, 1.0], [8, 2.0]]"),)),
        Choice("lee2013", "pgc", "lee2013-synthetic", "1", "500", "10", (("gc.soft", "0.06"), ("gc.victim", "random"))),
    ]
    words = shlex.split(compare_command(found, [Variant("it's", choices[0]), Variant("b", choices[1])]))
    common = [word for word in words[2:] if word not in ("--variant",) and ": " not in word]
    for label, choice in (("it's", choices[0]), ("b", choices[1])):
        own = shlex.split(next(word for word in words if word.startswith(f"{label}: ")).removeprefix(f"{label}: "))
        spelled = [part for word in own for part in ([word] if word.startswith("--") or "=" not in word else ["--set", word])]
        assert sorted([*common, *spelled]) == sorted(found.words(choice))


def test_what_an_error_is_about() -> None:
    choice = Choice(set=(("gc.hard", "1"), ("gc.soft", "9")))
    assert blamed("gc.soft = 9: must be less", choice) == "gc.soft"
    assert blamed("device.page_bytes = 3: no; set gc.hard to 2", choice) == "gc.hard"
    assert blamed('device "x": no such preset', choice) == "device"
    assert blamed("device.page_bytes = 3: no", choice) == "device.page_bytes"
    assert blamed("something: else", choice) == ""


def test_a_variant_that_the_current_choice_equals_is_shown_once() -> None:
    asked = Asked.read({"now": {"seed": "1"}, "before": {"seed": "2"}, "kept": [{"label": "a", "choice": {"seed": "1"}}]})
    assert [(variant.label, variant.choice.seed) for variant in asked.variants] == [("a", "1"), ("before", "2")]
    alone = Asked.read({"now": {"seed": "1"}, "before": {"seed": "1"}})
    assert [variant.label for variant in alone.variants] == ["now"]


def test_a_size_that_changed_has_its_unit(server: Explored) -> None:
    config, *_ = server.ask({"id": 1, "before": now(), "now": now(buffer__bytes="1MiB"), "kept": []})
    assert config["change"].startswith("buffer.bytes 1 MiB (was 0)")


def test_the_load_comes_last_of_the_keys_that_matter_most() -> None:
    keys = ssdlab.config_keys()
    assert len(MATTER) == 12
    assert set(MATTER) <= set(keys)
    of_load = [key.startswith("workload.") for key in MATTER]
    assert of_load == sorted(of_load)
