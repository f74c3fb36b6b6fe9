"""`ssdlab import`: every key of other simulators' files has a row, the conversions are right, and a broken file gets one line."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ssdlab
from conftest import Ssdlab
from import_samples import FEMU, MQSIM_DEVICE, MQSIM_FLOWS, NVMEVIRT, SAMPLES, SIMPLESSD, SIMPLESSD_XML, STANDALONE
from ssdlab.asking.importing import Fate, Imported, read, write
from ssdlab.asking.importing.source import Source
from ssdlab.asking.importing.xml_file import parse
from ssdlab.errors import Error, UsageError

GIB = 1 << 30


def imported(folder: Path, text: str, name: str = "file", **options: Any) -> Imported:
    (folder / name).write_text(text)
    return read([folder / name], **options)[0]


def settings_of(one: Imported) -> dict[str, Any]:
    return {key: value for preset in one.presets for key, value in preset.settings.items()}


def fate_of(one: Imported, name: str) -> Fate:
    return next(row.fate for row in one.rows if row.name == name)


def test_mqsim_device_is_converted_as_its_code_reads_it(tmp_path: Path) -> None:
    one = imported(tmp_path, MQSIM_DEVICE)
    found = settings_of(one)
    expected = {
        "device.channels": 2,
        "device.chips_per_channel": 2,
        "device.die_interleave": False,
        # 2 x floor(1000 / 333) = 6 ns for two transfers of one byte
        "device.transfer_ps_per_byte": 3000,
        # MLC pages are LSB and MSB in turn; 20 ns of ready/busy delay
        "device.read_ns_by_page": [60_020, 80_020],
        "device.program_ns": 500_000,
        "device.overprovisioning": 0.2,
        "ftl.allocation": "CDWP",
        # 0.05 x 128 = 6.4 blocks, raised to 10
        "gc.soft": 10,
        # floor(log2 128) = 7 blocks drawn
        "gc.victim": "d-choices",
        "gc.choices": 7,
        # writes wait below 10 of 10 blocks
        "gc.hard": 1.0,
        "gc.priority": "host",
        "scheduler.suspend": ["program", "erase"],
        "device.suspend_ns": 50_000,
        # 0.5 GB/s x 4
        "host.link_bytes_per_us": 2000,
        "host.queue_depth": 32,
        # 26 ns, and 4,096 bytes in 1024 / 2 times 1.25 ns
        "buffer.access_ns": 26,
        "buffer.bytes_per_us": 6400,
        "buffer.drain": "at-once",
        # a page of each of 2 x 2 x 1 x 2 planes
        "buffer.bytes": 8 * 8192,
        "device.partial_reads": True,
        # 65,536 pages: (2 x 16 + 16) / 8 = 6 bytes an entry there, (16 + 16) / 8 = 4 in flash
        "ftl.map_cache_unit": "entry",
        "ftl.map_entry_bytes": 4,
        "ftl.map_cache_bytes": 10_922 * 4,
        "ftl.precondition.whole_table": True,
    }
    assert {key: found.get(key) for key in expected} == expected
    assert [row.name for row in one.rows if row.fate is Fate.unknown] == ["Own_Key"]
    assert next(row.line for row in one.rows if row.name == "Own_Key") == MQSIM_DEVICE.split("\n").index("      <Own_Key>12</Own_Key>") + 1
    assert fate_of(one, "Page_Read_Latency_CSB") is Fate.idle
    assert one.problem == ""


def test_mqsim_rounds_fast_channels_to_no_time_and_the_table_says_so(tmp_path: Path) -> None:
    one = imported(tmp_path, MQSIM_DEVICE.replace(">333<", ">1200<"))
    assert settings_of(one)["device.transfer_ps_per_byte"] == 833
    assert fate_of(one, "Channel_Transfer_Rate") is Fate.approximated


def test_mqsim_flows_decide_about_the_cache_of_the_device(tmp_path: Path) -> None:
    (tmp_path / "d.xml").write_text(MQSIM_DEVICE)
    (tmp_path / "w.xml").write_text(MQSIM_FLOWS)
    device, flows = read([tmp_path / "d.xml", tmp_path / "w.xml"])
    assert settings_of(device)["buffer.bytes"] == 0
    assert [preset.label for preset in flows.presets] == ["-1", "-2"]
    first, second = (dict(preset.settings) for preset in flows.presets)
    assert (first["workload.read_share"], first["workload.queue_depth"], first["workload.footprint"]) == (0.7, 4, 0.5)
    # 80 % of the requests go to the first 20 % of the addresses
    assert (first["workload.hot_share"], first["workload.hot_access"], first["workload.align_kb"]) == (0.2, 0.8, 8)
    table = dict(map(tuple, first["workload.size_table"]))
    # P(7 < N(8, 2) <= 8) = 0.19146, sizes in KiB are half the sectors
    assert table[4.0] == pytest.approx(0.191462, abs=1e-6)
    assert sum(table.values()) == pytest.approx(1)
    other = first["workload.flows"][0]
    # 4,096,000 bytes/s / 512 / 8 sectors = 1,000 requests a second
    assert (other["interarrival_us"], other["sequential_share"], other["part"]) == (1000.0, 1.0, [0.5, 1.0])
    assert (second["workload.trace"], second["workload.repeat"], second["workload.time_scale"]) == ("traces/small.trace", 3, 1000.0)
    fates = {(row.section, row.name): row.fate for row in flows.rows}
    assert fates["scenario 1, flow 1", "Channel_IDs"] is Fate.mapped
    assert fates["scenario 1, flow 1", "Chip_IDs"] is Fate.left_out
    assert fates["scenario 1, flow 1", "Priority_Class"] is Fate.left_out


def test_femu_script_is_followed_not_run(tmp_path: Path) -> None:
    one = imported(tmp_path, FEMU)
    found = settings_of(one)
    expected = {
        "device.channels": 2,
        "device.chips_per_channel": 2,
        "device.blocks_per_plane": 256,
        "device.page_bytes": 4096,
        "device.read_ns": 40_000,
        "device.transfer_ps_per_byte": 0,
        # 1 - 192 MiB / 256 MiB
        "device.overprovisioning": 0.25,
        # int((1 - 0.9) x 256) = 25 lines: below 26 blocks
        "gc.soft": 26,
        # int((1 - 0.95) x 256) = 12 lines: below 13 of 26
        "gc.hard": 0.5,
    }
    assert {key: found.get(key) for key in expected} == expected
    assert [(row.name, row.line) for row in one.rows if row.fate is Fate.unknown] == [("own_key", 18)]
    assert one.problem == ""


def test_femu_command_line_takes_its_defaults(tmp_path: Path) -> None:
    one = imported(tmp_path, "qemu -device femu,devsz_mb=12288,femu_mode=1")
    assert settings_of(one)["device.overprovisioning"] == 0.25
    assert any("the default there" in row.note for row in one.fixed)


@pytest.mark.parametrize(("percent", "spare"), [(7, 0.065421), (15, 0.130435), (25, 0.2), (50, 0.333333), (100, 0.5)])
def test_femu_divides_the_flash_by_what_op_pcent_adds(tmp_path: Path, percent: int, spare: float) -> None:
    one = imported(tmp_path, f"qemu -device femu,femu_mode=1,gc_thres_pcent=95,op_pcent={percent}")
    assert settings_of(one)["device.overprovisioning"] == spare
    assert one.problem == ""


@pytest.mark.parametrize(
    ("options", "blocks", "expected"),
    [
        ("fdp=on,fdp.nruh=8", 128, ("handles", 8, "persistent", "separate")),
        ("fdp=on,fdp.nruh=8,fdp.isolation_mode=1", 128, ("handles", 8, "initial", "separate")),
        # 12 spare blocks of a die: too few for two open blocks of each of 8 handles, enough for one
        ("fdp=on,fdp.nruh=8", 64, ("handles", 8, "initial", "separate")),
        ("fdp=off,fdp.nruh=4", 128, (None, None, None, "shared")),
        ("fdp=on,fdp.nruh=99", 128, (None, None, None, "shared")),
    ],
)
def test_femu_handles_are_placement_handles(tmp_path: Path, options: str, blocks: int, expected: tuple[object, ...]) -> None:
    drive = f"femu,femu_mode=1,blks_per_pl={blocks},op_pcent=25,gc_thres_pcent=95,subsys=s"
    one = imported(tmp_path, f"qemu -device femu-subsys,id=s,{options} -device {drive}")
    found = settings_of(one)
    assert tuple(found.get(f"ftl.{key}") for key in ("placement", "handles", "isolation", "frontier")) == expected
    assert one.count(Fate.left_out) == ("99" in options)
    assert (one.problem, one.count(Fate.unknown)) == ("", 0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("qemu -device femu,femu_mode=3,zns_num_ch=8", "zoned"),
        ("qemu -device femu,devsz_mb=32768,femu_mode=1", "the geometry is not in the file"),
        ("qemu -device femu,devsz_mb=32768,femu_mode=1,nchs=4", "lower devsz_mb, or raise blks_per_pl"),
    ],
)
def test_femu_that_cannot_be_simulated_gives_no_preset(tmp_path: Path, text: str, problem: str) -> None:
    one = imported(tmp_path, text)
    assert one.presets == ()
    assert problem in one.problem


def test_nvmevirt_profile_is_chosen_and_its_expressions_are_computed(tmp_path: Path) -> None:
    one = imported(tmp_path, NVMEVIRT, profile="FIRST", capacity=GIB)
    found = settings_of(one)
    expected = {
        "device.channels": 4,
        "device.chips_per_channel": 2,
        "device.page_bytes": 16384,
        "device.pages_per_program": 2,
        # 1 GiB / (64 x 8) = 2 MiB a block = 64 programs of 32 KiB = 128 pages
        "device.blocks_per_plane": 64,
        "device.pages_per_block": 128,
        "device.read_ns_by_page": [30_000, 40_000],
        "device.erase_ns": 1,
        # 1 - 100 / 125
        "device.overprovisioning": 0.2,
        # 10^12 / (800 x 2^20)
        "device.transfer_ps_per_byte": 1192,
        # 4 x 2 x 32 KiB x 2
        "buffer.bytes": 512 << 10,
        "host.command_ns": 20_000,
        "ftl.map_unit_bytes": 4096,
    }
    assert {key: found.get(key) for key in expected} == expected
    assert [row.name for row in one.rows if row.fate is Fate.unknown] == ["OWN_KEY"]
    assert one.problem == ""


@pytest.mark.parametrize(
    "enumeration",
    [
        "enum {\n\tCELL_MODE_SLC = 1, // one bit\n\tCELL_MODE_MLC = 2,\n};",
        "enum cell_mode { CELL_MODE_NONE, CELL_MODE_SLC, CELL_MODE_MLC } mode;",
        "enum {\n#ifdef OTHER\n  CELL_MODE_MLC = 4,\n#else\n  CELL_MODE_MLC = (1 << 1),\n#endif\n};",
    ],
)
def test_nvmevirt_enumerators_are_numbers(tmp_path: Path, enumeration: str) -> None:
    lines = NVMEVIRT.split("\n")
    at = next(index for index, line in enumerate(lines) if line.startswith("#define CELL_MODE_MLC"))
    lines[at : at + 2] = [enumeration]
    one = imported(tmp_path, "\n".join(lines), profile="FIRST", capacity=GIB)
    assert settings_of(one)["device.read_ns_by_page"] == [30_000, 40_000]
    assert [row.name for row in one.rows if row.fate is Fate.unknown] == ["OWN_KEY"]
    rows = [row for row in one.rows if row.name == "CELL_MODE_MLC"]
    assert all("CELL_MODE_MLC" in "\n".join(lines).split("\n")[row.line - 1] for row in rows)
    assert rows != []


def test_nvmevirt_needs_a_profile_and_a_capacity(tmp_path: Path) -> None:
    for options, message in (
        ({}, "--profile with one of FIRST, SECOND"),
        ({"profile": "FIRST"}, "--capacity"),
        ({"profile": "X"}, "no profile"),
    ):
        with pytest.raises(UsageError, match=message):
            imported(tmp_path, NVMEVIRT, **options)
    assert "zoned" in imported(tmp_path, NVMEVIRT, profile="SECOND", capacity=GIB).problem


def test_nvmevirt_names_a_macro_that_is_not_defined(tmp_path: Path) -> None:
    for name, lacks in (("SSD_TYPE_CONV", "NS_SSD_TYPE_0 = SSD_TYPE_CONV"), ("FLASH_PAGE_SIZE", "ONESHOT_PAGE_SIZE = ")):
        lines = [line for line in NVMEVIRT.split("\n") if not line.startswith(f"#define {name} ")]
        with pytest.raises(UsageError, match=f"({lacks}.*: )?{name} is not defined"):
            imported(tmp_path, "\n".join(lines), profile="FIRST", capacity=GIB)
    one = imported(tmp_path, f"#define BASE_SSD FIRST\n{NVMEVIRT}", capacity=GIB)
    assert fate_of(one, "BASE_SSD") is Fate.mapped


def test_a_drive_that_no_run_takes_gives_a_table_and_no_preset(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "ssd_config.h").write_text(NVMEVIRT)
    words = ["import", "ssd_config.h", "--profile", "FIRST", "--capacity", "1MiB", "--out", "out"]
    done = ssdlab_command(*words)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["ssd_config-import.md"]


def test_a_femu_mode_without_a_device_says_what_is_expected(tmp_path: Path) -> None:
    for text, message in (("femu_mode=1\n", "no -device femu in front of it"), ("qemu -device femu\n", "-device femu has no options")):
        with pytest.raises(UsageError, match=f"{message}: expected them as QEMU takes them, such as -device femu,devsz_mb="):
            imported(tmp_path, text)


def test_simplessd_times_are_picoseconds(tmp_path: Path) -> None:
    one = imported(tmp_path, SIMPLESSD)
    found = settings_of(one)
    expected = {
        "device.page_bytes": 16384,
        "device.read_ns_by_page": [40_000, 65_000],
        "device.program_ns_by_page": [500_000, 1_300_000],
        "device.erase_ns": 3_500_000,
        # 8,000,000 / (400 x 16 bits)
        "device.transfer_ps_per_byte": 1250,
        "ftl.allocation": "WCDP",
        "ftl.precondition.kind": "fill",
        "gc.victim": "d-choices",
        "gc.choices": 5,
        # (0.1 - 0.05) x 128
        "gc.until": 6,
        "cache.policy": "lru",
        "cache.bytes": 1 << 20,
        "cache.reads": False,
        # 4 x 984.6 MB/s, and 128 bits at 250 MHz
        "host.link_bytes_per_us": 3938,
    }
    assert {key: found.get(key) for key in expected} == expected
    assert [row.name for row in one.rows if row.fate is Fate.unknown] == ["Key"]
    assert fate_of(one, "OwnKey") is Fate.left_out


def test_simplessd_2_1_means_the_same(tmp_path: Path) -> None:
    found = settings_of(imported(tmp_path, SIMPLESSD_XML))
    expected = {
        "device.chips_per_channel": 2,
        "device.spare_bytes": 2208,
        "device.read_ns_by_page": [50_000, 80_000],
        "device.erase_ns": 10_000_000,
        # 8,000,000 / (333 x 8)
        "device.transfer_ps_per_byte": 3003,
        "gc.victim": "cost-benefit",
        "cache.policy": "none",
    }
    assert {key: found.get(key) for key in expected} == expected


def test_standalone_is_a_workload(tmp_path: Path) -> None:
    found = settings_of(imported(tmp_path, STANDALONE))
    keys = {"read_share": 0.7, "sequential_share": 0.0, "request_kb": 8.0, "align_kb": 8.0, "queue_depth": 16}
    assert found == {f"workload.{key}": value for key, value in keys.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_key_has_one_row_and_the_presets_run(tmp_path: Path, ssdlab_command: Ssdlab, name: str) -> None:
    (tmp_path / name).write_text(SAMPLES[name])
    extra = ["--profile", "FIRST", "--capacity", "1GiB"] if name.endswith(".h") else []
    done = ssdlab_command("import", name, "--out", "presets", "--json", *extra)
    assert done.code == 0, done.err
    table = json.loads(done.out)["files"][0]
    assert sum(table["counts"].values()) == len(table["keys"])
    for row in table["keys"]:
        line = SAMPLES[name].split("\n")[row["line"] - 1]
        assert row["name"].split("[")[0] in line or row["line"] == 0 or name == "drive.xml", row
    options = {}
    for path in sorted((tmp_path / "presets").glob("*.toml")):
        kind = path.stem.split("-")[1]
        text = tomllib.loads(path.read_text())
        assert text["source"].startswith("ssdlab import ")
        if "workload-2" not in path.stem:  # replays a trace that the test does not have
            options[kind] = str(path)
    result = ssdlab.run(**{"device": "demo-4g", **options}, requests=200)  # type: ignore[arg-type]
    assert result.latency.all.count == 200


def test_nothing_is_replaced_or_written_in_part(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "run.sh").write_text(FEMU)
    done = ssdlab_command("import", "run.sh")
    assert "nothing was written" in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.sh"]
    out = tmp_path / "out"
    out.mkdir()
    (out / "run-scheme.toml").write_text("mine")
    assert "exists: --force replaces" in ssdlab_command("import", "run.sh", "--out", "out").failed(2)
    assert [path.name for path in out.iterdir()] == ["run-scheme.toml"]
    assert ssdlab_command("import", "run.sh", "--out", "out", "--force").code == 0
    assert sorted(path.name for path in out.iterdir()) == ["run-device.toml", "run-import.md", "run-scheme.toml"]


def test_two_inputs_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.sh").write_text(FEMU)
    with pytest.raises(UsageError, match="two files to import have this name"):
        write(read([tmp_path / "a" / "run.sh", tmp_path / "b" / "run.sh"]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_threshold_without_room_is_lowered_and_said(tmp_path: Path) -> None:
    one = imported(tmp_path, FEMU.replace("gc_thres_pcent=90", "gc_thres_pcent=75"))
    assert one.problem == ""
    assert settings_of(one)["gc.soft"] < 65
    assert any("lowered to the largest that does" in row.note for row in one.fixed)


def test_entity_bombs_are_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><Execution_Parameter_Set>&b;</Execution_Parameter_Set>'
    with pytest.raises(UsageError, match="document type declaration"):
        parse(Source("bomb.xml", bomb))
    with pytest.raises(UsageError, match="not valid XML: undefined entity"):
        parse(Source("x.xml", "<Execution_Parameter_Set>&own;</Execution_Parameter_Set>"))
    with pytest.raises(UsageError, match="16 levels"):
        parse(Source("x.xml", "<a>" * 30 + "</a>" * 30))


def test_mqsim_without_keys_of_collection_does_what_mqsim_does_by_default(tmp_path: Path) -> None:
    """`Device_Parameter_Set.cpp`: preemptible GC, soft threshold 0.05, RGA, OUT_OF_ORDER, CWDP, preconditioned."""
    keys = ("Preemptible_GC", "GC_Exec", "GC_Block", "Transaction_Sched", "Plane_Alloc", "Enabled_Precond")
    one = imported(tmp_path, "\n".join(line for line in MQSIM_DEVICE.split("\n") if not any(key in line for key in keys)))
    found = settings_of(one)
    expected = {"gc.priority": "host", "gc.hard": 1.0, "gc.soft": 10, "gc.victim": "d-choices", "gc.choices": 7}
    expected |= {"scheduler.order": "fr-fcfs", "ftl.allocation": "CWDP", "ftl.precondition.kind": "soft"}
    assert {key: found.get(key) for key in expected} == expected
    told = [row.note for row in one.fixed if "is not given" in row.note]
    assert all(any(key in note for note in told) for key in keys), told
    assert one.problem == ""


@pytest.mark.parametrize(("is_preemptible", "priority", "fate"), [("true", "host", Fate.left_out), ("false", "gc", Fate.idle)])
def test_mqsim_stops_writes_below_ten_free_blocks(tmp_path: Path, is_preemptible: str, priority: str, fate: Fate) -> None:
    text = MQSIM_DEVICE.replace("<Preemptible_GC_Enabled>true", f"<Preemptible_GC_Enabled>{is_preemptible}")
    one = imported(tmp_path, text.replace("<Block_No_Per_Plane>128", "<Block_No_Per_Plane>512"))
    found = settings_of(one)
    # 0.05 x 512 = 25 blocks, and 10 of these 25
    assert (found["gc.soft"], found["gc.hard"]) == (25, 0.4)
    assert (found["gc.priority"], fate_of(one, "GC_Hard_Threshold")) == (priority, fate)


@pytest.mark.parametrize(
    ("rate", "burst", "row", "time"),
    # 2 x 13 ns + 4096 / 2 bursts of 10 ns; 2 x 13 + (1024 / 2 x 10 + 13) x 4096 / 2048 / 2 + 2 x 13 with two rows
    [(100, 1, 8192, 20_506), (100, 2, 2048, 5_185), (800, 4, 8192, 666)],
)
def test_mqsim_memory_has_two_bursts_in_a_transfer(tmp_path: Path, rate: int, burst: int, row: int, time: int) -> None:
    text = MQSIM_DEVICE.replace("Data_Rate>800<", f"Data_Rate>{rate}<").replace("Busrt_Size>4<", f"Busrt_Size>{burst}<")
    found = settings_of(imported(tmp_path, text.replace("Row_Size>8192<", f"Row_Size>{row}<")))
    assert found["buffer.access_ns"] == 26
    assert 26 + 4096 * 1000 / found["buffer.bytes_per_us"] == pytest.approx(time, rel=1e-3)


def test_mqsim_flows_decide_about_the_room_of_the_device(tmp_path: Path) -> None:
    (tmp_path / "d.xml").write_text(MQSIM_DEVICE)
    (tmp_path / "w.xml").write_text(MQSIM_FLOWS.replace("TURNED_OFF", "WRITE_CACHE"))
    alone, device = imported(tmp_path, MQSIM_DEVICE), read([tmp_path / "d.xml", tmp_path / "w.xml"])[0]
    # Requests of 8 sectors take a page of 16 each, and two flows have a mapping cache each.
    for key in ("buffer.bytes", "ftl.map_cache_bytes"):
        assert settings_of(device)[key] == 2 * settings_of(alone)[key]


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    os.mkfifo(tmp_path / "pipe")
    error = ssdlab_command("import", "pipe").failed(2)
    assert error == "pipe: a pipe: save what it gives to a file first, and name that"


@pytest.mark.parametrize(
    ("name", "key"), [("ssdconfig.xml", "Channel_Transfer_Rate"), ("ssdconfig.xml", "Page_Read_Latency_MSB"), ("drive.cfg", "DMASpeed")]
)
def test_no_default_of_ssdlab_takes_the_place_of_a_key(tmp_path: Path, name: str, key: str) -> None:
    lines = [line for line in SAMPLES[name].split("\n") if key not in line]
    with pytest.raises(UsageError, match=f"{key} is not given"):
        imported(tmp_path, "\n".join(lines), name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello = 1\n", "not a configuration that can be imported"),
        (b"\0\1\2", "binary"),
        (b"<MQSim_Results></MQSim_Results>", "results of MQSim"),
        (SIMPLESSD.replace("Channel = 2", "Channel = many").encode(), ":3: Channel = 'many': expected a whole number"),
        (b"[pal]\nnonsense\n", ":2: nonsense: expected a section"),
        (MQSIM_DEVICE.replace("Count>2<", "Count>-1<").encode(), "Flash_Channel_Count = '-1'"),
        (b"#define NAND_CHANNELS 1/0\n#define NS_SSD_TYPE_0 1\n", ":1: 1/0: not a number"),
    ],
)
def test_a_wrong_file_gets_one_line(tmp_path: Path, ssdlab_command: Ssdlab, content: bytes, message: str) -> None:
    (tmp_path / "wrong").write_bytes(content)
    error = ssdlab_command("import", "wrong", "--capacity", "1GiB").failed(2)
    assert message in error
    assert error.count("\n") <= 1


VALUES = st.sampled_from(
    [
        "",
        "0",
        "-1",
        "1e400",
        "nan",
        "99999999999999999999999",
        "0.5",
        "true",
        "\x00",
        "é",
        "KB(KB(1))",
        "A",
        "((((",
        "${x}",
        ",",
        "&lt;",
        "1/0",
        "<<",
    ]
)
EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 60), VALUES), min_size=1, max_size=6)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(SAMPLES)), edits=EDITS)
def test_a_fuzzed_file_gets_one_line_or_every_key(tmp_path: Path, name: str, edits: list[tuple[float, int, str]]) -> None:
    text = SAMPLES[name]
    for place, length, value in edits:
        at = int(place * len(text))
        text = text[:at] + value + text[at + length :]
    _read_or_one_line(tmp_path, name, text)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(SAMPLES)), line=st.integers(0, 60), value=VALUES)
def test_a_fuzzed_value_gets_one_line_or_every_key(tmp_path: Path, name: str, line: int, value: str) -> None:
    lines = SAMPLES[name].split("\n")
    old = lines[line % len(lines)]
    for before, after in ((">", "<"), ("= ", ""), (" (", ")"), ("=", ",")):
        if before in old:
            head, tail = old.split(before, 1)
            lines[line % len(lines)] = head + before + value + (after + tail.split(after, 1)[-1] if after else "")
            break
    _read_or_one_line(tmp_path, name, "\n".join(lines))


def _read_or_one_line(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    try:
        one = read([folder / name], profile="FIRST" if "BASE_SSD == FIRST" in text and name.endswith(".h") else None, capacity=GIB)[0]
    except Error as error:
        lines = str(error).count("\n")
    else:
        lines = one.problem.count("\n")
        _check_written(one, folder)
    assert lines == 0


def _check_written(one: Imported, folder: Path) -> None:
    assert sum(one.count(fate) for fate in Fate) == len(one.rows)
    write([one], folder / "out", force=True)
    for path in (folder / "out").glob("*.toml"):
        tomllib.loads(path.read_text(encoding="utf-8"))
        path.unlink()


def test_the_function_gives_what_the_command_prints(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "femu.txt").write_text(FEMU)
    found = ssdlab.import_configuration(tmp_path / "femu.txt", out=tmp_path / "mine")
    shown = json.loads(ssdlab_command("import", str(tmp_path / "femu.txt"), "--out", "theirs", "--json").out)
    assert [one.to_dict()["keys"] for one in found] == [one["keys"] for one in shown["files"]]
    assert [path.name for path in found.written] == [Path(name).name for name in shown["written"]]
    assert all(path.is_file() for path in found.written)
    assert found.problems == []
    table = found.table()
    assert table.num_rows == sum(len(one.rows) + len(one.fixed) for one in found)
    row = table.to_pylist()[table["name"].to_pylist().index("pg_rd_lat")]
    assert row["fate"] == "mapped"
    assert row["settings"].startswith("device.read_ns = ")
    with pytest.raises(UsageError, match="expected a file, or a list of files"):
        ssdlab.import_configuration([])
    (tmp_path / "mine" / "femu-device.toml").write_text("other")
    with pytest.raises(UsageError, match="exists"):
        ssdlab.import_configuration([tmp_path / "femu.txt"], out=tmp_path / "mine")


def test_a_preset_of_mqsim_has_no_key_without_effect(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    text = MQSIM_DEVICE.replace("Plane_No_Per_Die>2", "Plane_No_Per_Die>1")
    (tmp_path / "ssdconfig.xml").write_text(text)
    ssdlab_command("import", "ssdconfig.xml", "--out", "mine")
    words = ["--device", "mine/ssdconfig-device.toml", "--scheme", "mine/ssdconfig-scheme.toml", "--workload", "uniform-4k-write"]
    remarks = ssdlab_command("run", *words, "--requests", 500, "--json").json()["remarks"]
    idle = [remark["sentence"] for remark in remarks if remark["code"] == "no-effect"]
    assert idle == []
