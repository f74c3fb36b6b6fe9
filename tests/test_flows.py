"""Several flows of requests, from a user's perspective: file, command line, report, log, timeline, and error messages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import ssdlab
from conftest import SMALL, Ssdlab

TWO = """
[workload]
name = "database"
queue_depth = 2
part = [0.0, 0.5]

[[workload.flows]]
name = 'back"up'
read_share = 0.0
queue_depth = 4
part = [0.5, 1.0]

[host]
queues = 2
slots = 2
"""
NAMES = ["database", 'back"up']


@pytest.fixture
def two(tmp_path: Path) -> Path:
    file = tmp_path / "two.toml"
    file.write_text(TWO)
    return file


def ran(file: Path, **more: Any) -> ssdlab.Result:
    return ssdlab.run(config=file, set={"device.blocks_per_plane": 64}, requests=2_000, **more)


def test_the_log_has_the_flow_of_each_request(two: Path, tmp_path: Path) -> None:
    result = ran(two, log_requests=True, out=tmp_path / "out")
    log = pq.read_table(tmp_path / "out" / "requests.parquet")
    for flow in result.flows:
        rows = log.filter(pc.equal(log["flow"].cast("string"), flow.name))
        assert rows.num_rows == flow.latency.all.count > 100
        assert pc.mean(rows["response_ns"]).as_py() == pytest.approx(flow.latency.all.mean, rel=1e-12)
    halves = {name: log.filter(pc.equal(log["flow"].cast("string"), name))["offset_bytes"] for name in NAMES}
    assert pc.max(halves[NAMES[0]]).as_py() < pc.min(halves[NAMES[1]]).as_py()


def test_a_single_flow_has_no_such_column(tmp_path: Path) -> None:
    ssdlab.run(set=SMALL, requests=50, log_requests=True, out=tmp_path / "out")
    assert "flow" not in pq.read_schema(tmp_path / "out" / "requests.parquet").names


def test_the_timeline_has_tracks_for_each_flow(two: Path, tmp_path: Path) -> None:
    ran(two, timeline=tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    requests = [event for event in events if event["name"].endswith(" request")]
    assert len(requests) == 2_000
    assert all(tracks[event["tid"]].startswith(f"{event['args']['flow']}: requests ") for event in requests)
    # As many tracks as a flow has requests outstanding.
    assert [sum(name.startswith(f"{flow}: ") for name in tracks.values()) for flow in NAMES] == [2, 4]


def test_terminal_and_report_have_a_row_for_each_flow(two: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab_command("run", "--config", two, "--requests", 2000, "--alone", "--out", "out")
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert done.code == 0
    for flow in result["flows"]:
        assert re.search(rf"{re.escape(flow['name'])} .*{flow['alone']['slowdown']:.2f}", done.out)
    assert f"Fairness: {result['fairness']['ratio']:.3f}" in done.out
    page = (tmp_path / "out" / "report.html").read_text()
    section = page[page.index('<section id="flows">') :].partition("</section>")[0]
    assert all(name.replace('"', "&quot;") in section for name in NAMES)
    assert section.count("<tr>") == 3
    assert "--alone" in page[page.index('id="command"') :].partition("</code>")[0]


def test_a_comparison_has_a_row_for_each_flow_and_variant_and_their_rates(two: Path, ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    said = ["--scheme", "npgc", "--scheme", "nvme", "--config", "two.toml", "--requests", "2000", "--set", "device.blocks_per_plane=64"]
    said += ["--set", "ftl.precondition.kind=steady"]
    shown = ssdlab_command("compare", *said, "--out", "both").out
    runs = json.loads((tmp_path / "both" / "comparison.json").read_text())["runs"]
    assert re.search(r"GC jobs +IOPS\n", shown)
    rows = re.findall(r"^(database|back\"up)? +(npgc|nvme) +([\d,]+) ", shown.partition("Flows by scheme")[2], re.MULTILINE)
    assert [name for name, _, _ in rows] == [NAMES[0], "", NAMES[1], ""]
    rates = [runs[label]["flows"][number]["iops"] for number in (0, 1) for label in ("npgc", "nvme")]
    assert [float(rate.replace(",", "")) for _, _, rate in rows] == pytest.approx(rates, rel=0.01)


def test_the_report_of_a_single_flow_has_no_such_table(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    ssdlab_command("run", "--requests", 200, "--out", "out")
    assert 'id="flows"' not in (tmp_path / "out" / "report.html").read_text()


def test_a_flow_begins_with_a_preset(tmp_path: Path) -> None:
    file = tmp_path / "mail.toml"
    file.write_text('[[workload.flows]]\nname = "mail"\npreset = "cello-like"\nread_share = 0.25\n')
    result = ran(file)
    (mail,) = result["config"]["workload"]["flows"]
    preset = ssdlab.run(set={"device.blocks_per_plane": 64}, workload="cello-like", requests=10)["config"]["workload"]
    own = {"name", "read_share"}
    assert {key: value for key, value in mail.items() if key not in own} == {key: preset[key] for key in mail if key not in own}
    assert mail["read_share"] == 0.25
    again = ssdlab.run(set={"device.blocks_per_plane": 64, "workload.flows": [mail]}, requests=2_000)
    assert again.digest == result.digest


def test_a_run_with_a_trace_in_a_flow_needs_no_number(tmp_path: Path) -> None:
    trace = tmp_path / "three.csv"
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n50000,R,0,4096\n90000,R,4096,4096\n")
    file = tmp_path / "with.toml"
    file.write_text(f'[[workload.flows]]\nname = "replay"\ntrace = "{trace}"\n')
    result = ssdlab.run(config=file)
    main, replay = result.flows
    assert (replay.requests.read, replay.requests.write) == (2, 1)
    assert 50 < sum(main.requests.values()) < 150


def test_a_simulator_takes_requests_of_flows() -> None:
    drive = ssdlab.Simulator(set={**SMALL, "workload.flows": [{"name": "other"}]})
    drive.submit(ssdlab.Request(op="write", offset=0, length=4096))
    drive.submit(ssdlab.Request(op="read", offset=0, length=4096, flow=1))
    drive.run_to_idle()
    assert sorted((done.flow, done.op) for done in drive.completions()) == [(0, "write"), (1, "read")]
    with pytest.raises(ssdlab.UsageError, match="a request of flow 2: the workload has 2 flows"):
        drive.submit(ssdlab.Request(op="read", offset=0, length=4096, flow=2))
    assert [sum(flow.requests.values()) for flow in drive.finish().flows] == [1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[workload.flows]]\nname = "a"\nquee = 1\n', "two.toml:1: workload.flows[0].quee: unknown key; did you mean queue?"),
        ('[[workload.flows]]\nname = "a"\npreset = "celo-like"\n', 'workload "celo-like": no such preset; did you mean "cello-like"?'),
        ('[[workload.flows]]\ntrace = "x"\n', "only a flow with a name of its own may have this key"),
        ('[[workload.flows]]\nname = "a"\ntrace = "nowhere.csv"\n', "nowhere.csv: cannot read"),
        ("[workload]\npart = [0.5, 0.2]\n", "workload.part = [0.5, 0.2]: must be two shares of the exported range"),
        ("[workload]\npart = [0.5, 0.500001]\n", "workload.part = [0.5, 0.500001]: is less than 64 KiB"),
    ],
)
def test_mistakes_are_named(text: str, message: str, two: Path, ssdlab_command: Ssdlab) -> None:
    two.write_text(text)
    done = ssdlab_command("run", "--config", two, "--requests", 100)
    assert done.code != 0
    assert message in done.err
    assert "Traceback" not in done.err


def test_only_several_flows_can_be_compared_with_themselves_alone(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("run", "--requests", 100, "--alone")
    assert done.code != 0
    assert "give further flows a name (workload.flows)" in done.err


VOLUMES = Path(__file__).parent / "data" / "two_volumes.csv"
"""Volume usr_0 at 0, 2 and 4 s, usr_1 at 1 and 3 s."""


def of_volumes(tmp_path: Path, **more: Any) -> Path:
    """Writes a file with a flow for each volume."""
    flows = [{"name": f"d{n}", "trace": str(VOLUMES), "device": f"usr_{n}", "part": [n / 2, n / 2 + 0.5], **more} for n in (0, 1)]
    lines = [[f"{key} = {json.dumps(value)}" for key, value in flow.items()] for flow in flows]
    file = tmp_path / "volumes.toml"
    file.write_text("\n".join(["[workload]", *lines[0], "[[workload.flows]]", *lines[1]]))
    return file


def arrivals(result: ssdlab.Result) -> list[float]:
    return [ns / 1e9 for ns in result.requests["arrival_ns"].to_pylist()]


def test_volumes_of_one_trace_keep_their_relation(tmp_path: Path) -> None:
    """Each request has the drive to itself: a page takes 16384 x 0.833 ns on the bus and 600 us in the array."""
    result = ssdlab.run(config=of_volumes(tmp_path), device="demo-4g", scheme="pgc", log_requests=True)
    assert arrivals(result) == [0, 1, 2, 3, 4]
    assert [flow.latency.write.mean for flow in result.flows] == [613_648, 613_648]


def test_the_log_of_a_run_is_a_trace_that_takes_as_long(tmp_path: Path) -> None:
    options = {"device": "demo-4g", "scheme": "pgc", "set": {"device.blocks_per_plane": 64}, "log_requests": True}
    closed = ssdlab.run(**options, queue_depth=7, requests=3000, out=tmp_path / "closed")
    again = ssdlab.run(**options, trace=tmp_path / "closed" / "requests.parquet")
    assert again.requests["response_ns"].to_pylist() == closed.requests["response_ns"].to_pylist()
    late = ssdlab.run(**options, requests=1000, out=tmp_path / "open", config=of_late(tmp_path))
    again = ssdlab.run(**options, trace=tmp_path / "open" / "requests.parquet")
    assert arrivals(again) == arrivals(late)
    assert arrivals(late)[0] > 2


def of_late(tmp_path: Path) -> Path:
    file = tmp_path / "late.toml"
    file.write_text("[workload]\nstart_s = 2.5\n")
    return file


def test_a_part_of_a_trace_is_chosen_alike_everywhere(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    part = ("--skip", "1", "--seconds", "2.5", "--scale-time", "4")
    run = ssdlab_command("run", "--device", "demo-4g", "--trace", VOLUMES, *part, "--log-requests", "--out", "out")
    assert run.code == 0, run.err
    log = pq.read_table(tmp_path / "out" / "requests.parquet")
    assert log["arrival_ns"].to_pylist() == [0, 250_000_000, 500_000_000]
    assert ssdlab_command("trace", "info", VOLUMES, *part, "--json").json()["span_s"] == 0.5
    assert ssdlab_command("trace", "convert", VOLUMES, "part.csv", *part, "--json").json()["requests"]["write"] == 3
    assert (tmp_path / "part.csv").read_text().splitlines()[-1] == "500000,W,16384,16384,usr_1"
    closed = ssdlab_command("run", "--device", "demo-4g", "--trace", VOLUMES, "--queue-depth", "1", "--json").json()
    assert closed["simulated_ns"] < 1e9
    for command in (("info", VOLUMES), ("convert", VOLUMES, "x.csv")):
        refused = ssdlab_command("trace", *command, "--queue-depth", "4")
        assert refused.code == 2
        assert "a trace has arrival times and no queue depth" in refused.err
