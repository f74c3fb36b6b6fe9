"""`--fit`: the device is made as large as what is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

import ssdlab
from conftest import ROOT, Ssdlab

HEADER = "timestamp_us,op,offset_bytes,size_bytes\n"


def fitted(**arguments: object) -> ssdlab.Section:
    return ssdlab.run(**{"device": "lee2013", "scheme": "npgc", "requests": 100, **arguments}).fit


def test_a_number_of_bytes_is_just_exported() -> None:
    bytes_ = 100_000_000
    fit = fitted(workload="lee2013-synthetic", fit=bytes_)
    assert (fit.to, fit.blocks_per_plane_before) == (bytes_, 2048)
    assert bytes_ <= fit.exported_bytes
    assert fit.exported_bytes * (fit.blocks_per_plane - 1) / fit.blocks_per_plane < bytes_


def test_the_device_can_grow() -> None:
    fit = fitted(device="demo-4g", fit=10_000_000_000)
    assert fit.blocks_per_plane > fit.blocks_per_plane_before
    assert fit.exported_bytes >= 10_000_000_000


def test_a_trace_and_its_prefill_are_covered(tmp_path: Path) -> None:
    trace, prefill = tmp_path / "a.csv", tmp_path / "a.prefill.csv"
    trace.write_text(f"{HEADER}0,W,0,4096\n5,R,199995904,4096\n")
    alone = fitted(trace=trace, fit="trace")
    assert alone.exported_bytes >= 200_000_000
    prefill.write_text("offset_bytes,size_bytes\n0,300000000\n")
    with_prefill = fitted(trace=trace, prefill=prefill, fit="trace")
    assert with_prefill.exported_bytes >= 300_000_000
    assert with_prefill.blocks_per_plane > alone.blocks_per_plane
    trace.write_text(f"{HEADER}0,W,0,4096\n5,R,599995904,4096\n")
    assert fitted(trace=trace, fit="trace").exported_bytes >= 600_000_000, "the file has changed"


def test_a_fitted_run_is_that_of_the_same_device_by_hand() -> None:
    by_fit = ssdlab.run(device="lee2013", scheme="npgc", workload="lee2013-synthetic", requests=2000, fit=100_000_000)
    settings = {"device.blocks_per_plane": by_fit.fit.blocks_per_plane}
    by_hand = ssdlab.run(device="lee2013", scheme="npgc", workload="lee2013-synthetic", requests=2000, set=settings)
    assert by_fit.digest == by_hand.digest
    assert "fit" not in by_hand


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fit", "trace"], ["no trace is given"]),
        (["--fit", "much"], ["fit", "much", "bytes"]),
        (["--fit", "0"], ["fit = 0"]),
        (["--fit", "1000"], ["fit = 1000", "1 blocks a plane", "device.blocks_per_plane"]),
        (["--fit", "99999999999999999"], ["no device of this shape"]),
        (["--fit", "100000000", "--set", "device.blocks_per_plane=64"], ["fit", "device.blocks_per_plane", "both"]),
    ],
)
def test_what_cannot_be_fitted_is_said(ssdlab_command: Ssdlab, options: list[str], words: list[str]) -> None:
    message = ssdlab_command("run", "--device", "lee2013", "--workload", "lee2013-synthetic", *options).failed(2)
    assert all(word in message for word in words), message


def test_the_command_says_what_it_did(ssdlab_command: Ssdlab) -> None:
    name = ROOT / "traces" / "mariadb_oltp_write_only_paced"
    options = ["--trace", f"{name}.csv.zst", "--prefill", f"{name}.prefill.csv", "--fit", "trace", "--requests", 100]
    done = ssdlab_command("compare", "--device", "lee2013", "--scheme", "npgc", "--scheme", "rwp", *options)
    assert done.code == 0, done.err
    assert "Fit to trace: 2,048 -> 255 blocks a plane" in done.out
