"""Retries of reads against the power law, computed apart."""

from __future__ import annotations

import itertools

import pyarrow.parquet as pq
import pytest

import ssdlab

TABLE = [0.9, 0.81, 0.729, 0.656, 0.59, 0.531, 0.478, 0.43, 0.387, 0.349, 0.314, 0.282]


def bit_error_rate(cycles: float, days: float, reads_of_page: float = 0.0) -> float:
    """The law of Kim et al. (FAST 2019) with the coefficients of 72-layer TLC."""
    c = max(cycles, 1)
    wear = 1.48e-3 + 3.90e-10 * c**2.05
    return wear + 6.28e-5 * c**0.14 * days**0.54 + 3.73e-9 * c**0.33 * reads_of_page**1.71


def retries(rate: float, bits: int) -> int:
    """Steps that fail until a codeword of 1 KiB has no more than `bits` errors."""
    shares = [1.0, *TABLE]
    return next((step for step, share in enumerate(shares) if rate * share * 8192 <= bits), len(TABLE))


def run(**settings: object) -> ssdlab.Result:
    keys = {
        "errors.retry": "in-order",
        "workload.read_share": 1.0,
        "workload.queue_depth": 4,
        "device.blocks_per_plane": 64,
    }
    return ssdlab.run(requests=300, seed=3, set={**keys, **settings})


@pytest.mark.parametrize(("cycles", "days"), list(itertools.product([0, 1000, 3000, 5000], [0, 30, 365, 1000])))
def test_the_mean_number_of_retries_is_the_closed_form(cycles: int, days: int) -> None:
    expected = retries(bit_error_rate(cycles, days), 40)
    result = run(
        **{
            "errors.correctable_bits": 40,
            "ftl.precondition.pe_cycles": cycles,
            "ftl.precondition.retention_days": days,
            "errors.gamma": 0.0,
        }
    )
    assert result["ages"]["retries_mean"] == expected
    assert result["ages"]["by_retries"] == [0] * expected + [300]
    at_the_end = bit_error_rate(cycles, days + result["simulated_ns"] / 86_400e9)
    assert result["ages"]["bit_error_rate"]["mean"] == pytest.approx(at_the_end, rel=1e-9)


def test_reads_wear_a_block_out_at_the_read_at_which_the_law_says() -> None:
    # One page of one block is read again and again; a block has 64 pages, and each retry reads the array once more.
    result = run(**{"errors.gamma": 3e-4, "workload.footprint": 7.3e-5, "workload.queue_depth": 1, "errors.correctable_bits": 40})
    reads, expected = 0, []
    for _ in range(300):
        rate = 1.48e-3 + 3.90e-10 + 3e-4 * (reads / 64) ** 1.71
        expected.append(retries(rate, 40))
        reads += 1 + expected[-1]
    assert len(set(expected)) > 3
    assert result["ages"]["by_retries"] == [expected.count(step) for step in range(max(expected) + 1)]


def test_lost_data_are_named_in_the_log(tmp_path: object) -> None:
    result = ssdlab.run(
        requests=50,
        seed=3,
        out=tmp_path,
        log_requests=True,
        set={
            "errors.retry": "none",
            "ftl.precondition.pe_cycles": 5000,
            "ftl.precondition.retention_days": 1000,
            "workload.read_share": 0.5,
        },
    )
    log = pq.read_table(f"{tmp_path}/requests.parquet").to_pydict()
    assert all(kind == "read" for kind, lost in zip(log["kind"], log["uncorrectable"], strict=True) if lost)
    assert result["counters"]["uncorrectable_reads"] > 0
    assert "uncorrectable" in {remark["code"] for remark in result["remarks"]}


def test_a_short_run_says_that_its_data_are_young() -> None:
    assert "young-data" in {remark["code"] for remark in run()["remarks"]}
    assert "young-data" not in {remark["code"] for remark in run(**{"ftl.precondition.retention_days": 1.0})["remarks"]}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"errors.retry_table": [0.5, 0.6]}, ["errors.retry_table[1]", "0.6", "below"]),
        ({"errors.correctable_bits": 600, "errors.codeword_bytes": 64}, ["errors.correctable_bits", "512 bits"]),
        ({"ftl.precondition.pe_cycles": 9, "ftl.precondition.pe_cycles_max": 8}, ["pe_cycles_max = 8", "at least"]),
        ({"ftl.precondition.retention_days": 9.0, "ftl.precondition.retention_days_max": 8.0}, ["retention_days_max = 8", "at least"]),
    ],
)
def test_what_contradicts_itself_is_refused(settings: dict[str, object], words: list[str]) -> None:
    with pytest.raises(ssdlab.ConfigError) as error:
        run(**settings)
    assert all(word in str(error.value) for word in words), error.value
