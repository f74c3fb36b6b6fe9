"""Results of independent simulators, for the same requests on the same drive.

MQSim's mean response times: MQSim (its version of October 2022) was run without garbage collection, with out-of-order scheduling
(reads first), and with host link and command cycles that take no time. Both models are then equivalent.

MQSim's own drive and flows: what MQSim 7ec40e3 prints for its ssdconfig.xml and workload.xml.

FEMU's write amplification: as its tutorial 02 (hw/femu/docs/tutorials/02-gc-and-waf.md) prints it, for the tutorial's drive and jobs.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import mqsim_drive
import ssdlab
from shares import FULL

BLOCKS, PAGES = 2048, 64
"""Blocks per plane and pages per block of MQSim's drive, of which four fifths were addressed."""
ADDRESSED = 8 * BLOCKS * PAGES * 8 // 10
READ_S, WRITE_S = 127.4e-6, 302.4e-6
"""Time that a page occupies its chip and channel, s."""
MIX_S = (READ_S + WRITE_S) / 2
DRIVE = {
    "device.channels": 8,
    "device.chips_per_channel": 1,
    "device.dies_per_chip": 1,
    "device.planes_per_die": 1,
    # More than MQSim's drive has, so that nothing is collected.
    "device.blocks_per_plane": 4 * BLOCKS,
    "device.pages_per_block": PAGES,
    "device.page_bytes": 4096,
    "device.spare_bytes": 0,
    "device.overprovisioning": 0.5,
    "device.read_ns": 25_000,
    "device.program_ns": 200_000,
    "device.transfer_ps_per_byte": 25_000,
    "device.command_ns": 0,
    "device.multiplane": False,
    "ftl.allocation": "CWDP",
    "ftl.precondition.kind": "fill",
}
CASES = (
    # Requests, requests a second, share of reads, KiB, MQSim's mean in us.
    (200_000, 0.2 * 8 / MIX_S, 0.5, 4, 244.3),
    (200_000, 0.4 * 8 / MIX_S, 0.5, 4, 289.9),
    (200_000, 0.6 * 8 / MIX_S, 0.5, 4, 374.2),
    (200_000, 0.8 * 8 / MIX_S, 0.5, 4, 609.1),
    (60_000, 0.3 / WRITE_S, 0.0, 32, 367.2),
    (60_000, 0.6 / WRITE_S, 0.0, 32, 530.3),
    (60_000, 0.3 / READ_S, 1.0, 32, 154.7),
    (60_000, 0.6 / READ_S, 1.0, 32, 223.5),
    (60_000, 0.3 / MIX_S, 0.5, 32, 263.8),
    (60_000, 0.6 / MIX_S, 0.5, 32, 372.7),
)


def write_trace(path: Path, requests: int, rate: float, reads: float, kib: int) -> None:
    """Random aligned requests with exponential gaps, in MQSim's format: ns, device, sector, sectors, 1 for a read."""
    rng, now_ns, pages = random.Random(1), 0.0, kib // 4
    with path.open("w") as file:
        for _ in range(requests):
            now_ns += rng.expovariate(rate) * 1e9
            page = rng.randrange(ADDRESSED // pages) * pages
            file.write(f"{int(now_ns)} 0 {page * 8} {kib * 2} {1 if rng.random() < reads else 0}\n")


@pytest.mark.parametrize(("requests", "rate", "reads", "kib", "mean_us"), CASES)
def test_mqsim_gives_the_same_means(tmp_path: Path, requests: int, rate: float, reads: float, kib: int, mean_us: float) -> None:
    trace = tmp_path / "requests.mqsim.trace"
    write_trace(trace, requests, rate, reads, kib)
    result = ssdlab.run(device="demo-4g", scheme="fr-fcfs", trace=trace, set=DRIVE)
    assert result.gc.jobs == 0
    assert result.latency_ns.all.count == requests
    # MQSim's figures have four digits.
    assert result.latency_ns.all.mean / 1e3 == pytest.approx(mean_us, rel=1e-3)


@pytest.mark.parametrize(
    ("ideal", "scenario", "requests", "rate", "mean_us"),
    [
        (False, 1, 80_000, 37_143, 484.6),
        (True, 1, 80_000, 40_892, 440),
        # The first 2 s, in which the mapping cache is not full; the mean is that of both flows.
        (False, 2, 110_000, 109_994, 290.7),
        (True, 2, 110_000, 192_101, 166.6),
    ],
)
def test_mqsim_serves_its_own_flows_as_fast(tmp_path: Path, ideal: bool, scenario: int, requests: int, rate: float, mean_us: float) -> None:
    ssdlab.import_configuration(mqsim_drive.write(tmp_path, ideal=ideal), out=tmp_path)
    device, scheme, workload = (
        str(tmp_path / f"{name}.toml") for name in ("ssdconfig-device", "ssdconfig-scheme", f"workload-workload-{scenario}")
    )
    result = ssdlab.run(device=device, scheme=scheme, workload=workload, requests=requests)
    assert result.iops == pytest.approx(rate, rel=0.1)
    assert result.latency_ns.all.mean / 1e3 == pytest.approx(mean_us, rel=0.1)
    if not ideal:
        assert result.mapping is not None
        # MQSim counts 368,234 misses of 370,966 look-ups in scenario 1, and 219,052 reads of the table for 219,988 requests in scenario 2.
        assert result.mapping.hit_ratio == pytest.approx(0.005, abs=0.005)
        assert result.mapping.flash_reads == pytest.approx(requests, rel=0.01)


TUTORIAL = "qemu-system-x86_64 -device femu,femu_mode=1,nchs=4,luns_per_ch=4,blks_per_pl=128"
"""FEMU's drive of 2 GiB, in 16 dies."""
EIGHTH = TUTORIAL.replace("nchs=4,luns_per_ch=4", "nchs=2,luns_per_ch=1")
"""A drive of two such dies. Each die collects by itself here, so the write amplification is that of the whole drive within 1 %."""
JOB = "[global]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=libaio\n"
RANDOM = "rw=randwrite\nbs=4k\niodepth=32\nrandrepeat=0\n"


@pytest.mark.parametrize(
    ("options", "printed"), [("25,gc_thres_pcent=95", 3.273), ("25,gc_thres_pcent=90", 4.590), ("50,gc_thres_pcent=90", 1.970)]
)
@pytest.mark.parametrize(("drive", "mebibytes"), [(EIGHTH, 512), *([(TUTORIAL, 4096)] if FULL else [])])
def test_femu_amplifies_as_much(tmp_path: Path, drive: str, mebibytes: int, options: str, printed: float) -> None:
    (tmp_path / "femu.txt").write_text(f"{drive},op_pcent={options}")
    ssdlab.import_configuration(tmp_path / "femu.txt", out=tmp_path)
    written = f"{RANDOM}io_size={mebibytes}M\n"
    (tmp_path / "age.fio").write_text(f"{JOB}[fill]\nrw=write\nbs=128k\niodepth=16\n[age]\nstonewall\n{written}")
    (tmp_path / "run.fio").write_text(f"{JOB}[run]\n{written}")
    device, scheme = (str(tmp_path / f"femu-{part}.toml") for part in ("device", "scheme"))
    ssdlab.run(device=device, scheme=scheme, fio=tmp_path / "age.fio", save_state=tmp_path / "aged")
    result = ssdlab.run(device=device, scheme=scheme, fio=tmp_path / "run.fio", state=tmp_path / "aged")
    assert result.gc.write_amplification == pytest.approx(printed, rel=0.025)
