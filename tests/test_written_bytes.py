"""Write amplification in bytes, from the command to the table; expected values are computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.pages import tables
from ssdlab.pages.tables.numbers import duration, number, quantity, share, size, three

SMALL_WRITES = {
    "ftl.precondition.kind": "none",
    "gc.soft": 1,
    "workload.read_share": 0.0,
    "workload.align_kb": 0.5,
}


@pytest.mark.parametrize(
    ("device", "settings", "expected"),
    [
        # A page of 8 KiB for each 512 bytes, one of 4 KiB for each 1 KiB, one of 16 KiB for each 4 KiB.
        ("lee2013", {"device.page_bytes": 8192, "workload.request_kb": 0.5}, 16.0),
        ("lee2013", {"workload.request_kb": 1, "workload.align_kb": 1}, 4.0),
        ("demo-4g", {"workload.request_kb": 4, "workload.align_kb": 4}, 4.0),
        ("lee2013", {"workload.request_kb": 4, "workload.align_kb": 4}, 1.0),
    ],
)
def test_flash_bytes_over_host_bytes(device: str, settings: dict[str, Any], expected: float) -> None:
    result = ssdlab.run(device=device, set=SMALL_WRITES | settings, requests=300)
    assert (result.gc.jobs, result.gc.write_amplification, result.gc.page_write_amplification) == (0, expected, 1.0)
    written = result.bytes_written
    assert written.flash / written.host == expected
    assert written.host == 300 * settings["workload.request_kb"] * 1024
    shown = tables.as_text(tables.run_tables(result))
    assert f"of the host: write amplification {expected:.3f}" in shown, shown


def test_a_trace_of_small_writes(tmp_path: Path) -> None:
    trace = tmp_path / "writes.csv"
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n" + "".join(f"{10_000 * i},W,{4096 * i},4096\n" for i in range(8)))
    comparison = ssdlab.compare(device="demo-4g", schemes=["npgc", "pgc"], trace=trace)
    for result in comparison.values():
        written = result.bytes_written
        assert (written.host, written.data, written.flash, result.gc.write_amplification) == (32_768, 131_072, 131_072, 4.0)
    assert "4.000" in str(comparison)


def test_data_in_a_buffer_are_told() -> None:
    settings = {"workload.align_kb": 4, "buffer.bytes": 2**20}
    result = ssdlab.run(device="lee2013", set=SMALL_WRITES | settings, requests=8)
    written = result.bytes_written
    assert written.host == 8 * 4096 == written.flash + written.held
    assert written.held > 0
    assert f"cache and write buffer hold {size(written.held)} more" in tables.as_text(tables.run_tables(result))


def test_a_result_without_bytes_is_of_another_version(tmp_path: Path) -> None:
    """Write amplification in a result without bytes is a ratio of pages."""
    out = tmp_path / "run"
    ssdlab.run(device="lee2013", set=SMALL_WRITES, requests=20, out=out)
    file = out / "result.json"
    file.write_text(file.read_text().replace('"bytes_written"', '"bytes"'))
    with pytest.raises(ssdlab.UsageError, match='"bytes_written" is missing'):
        ssdlab.load(out)


def test_only_zero_is_printed_as_zero() -> None:
    small = {
        three: (0.000123456, "0.000123", "0"),
        duration: (0.0123456, "0.0123 ns", "0 ns"),
        share: (0.0000123456, "0.00123%", "0%"),
        number: (0.000123456, "0.000123", "0.000"),
    }
    for shown, (value, text, zero) in small.items():
        assert (shown(value), shown(0.0)) == (text, zero), shown.__name__
    assert three(1e-9) == "1e-09"
    tiny = {"iops": 0.0123, "bandwidth_mb_s": {"read": 0.0, "write": 0.0000503}, "utilisation": {"chips": [0.00001], "channels": [0.0]}}
    shown = tables.as_text(tables.run_tables(tiny))
    assert "0.0123 IOPS, reads 0 MB/s, writes 0.0000503 MB/s, chips 0.00100% busy, channels 0% busy" in shown, shown


def test_three_significant_digits_and_whole_numbers() -> None:
    values = [9.999, 12.345, 99.96, 999.4, 1234.5, 6_800_000]
    assert [three(value) for value in values] == ["10.0", "12.3", "100", "999", "1,234", "6,800,000"]
    times = [5, 12.345, 999.6, 1000, 127_400, 999_999, 2_500_000, 10**9, 10**12]
    assert [duration(ns) for ns in times] == ["5 ns", "12.3 ns", "1.00 us", "1.00 us", "127 us", "1.00 ms", "2.50 ms", "1.00 s", "1,000 s"]
    assert [share(value) for value in (0.1234, 1.0, -0.25, 0.005)] == ["12.3%", "100.0%", "-25.0%", "0.500%"]


def test_powers_of_1024_are_called_so() -> None:
    sizes = [0, 512, 1024, 16_384, 123_456_789, 2**30, 3 * 2**40]
    assert [size(count) for count in sizes] == ["0 bytes", "512 bytes", "1.00 KiB", "16.0 KiB", "118 MiB", "1.00 GiB", "3.00 TiB"]
    assert quantity("mean_kb", 6.0) == "6.000 KiB"
    sizes_of_keys = [text for key, text in ssdlab.config_keys().items() if key.endswith("_kb")]
    assert sizes_of_keys
    assert all("KiB" in str(text) for text in sizes_of_keys), sizes_of_keys
