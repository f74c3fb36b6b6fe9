"""A function for each formula of bux2011. `ssdlab.queueing` exports them.

Written by `UPDATE=1 .venv/bin/python -m pytest tests/test_formulas.py` from the table in
`crates/ssdlab-result/src/queueing/formulas.rs`: change that, not this file.
"""

from __future__ import annotations

from ssdlab.analysis.formulas import Numbers, Value, evaluate

__all__ = [
    "copy_batch_rate",
    "copy_rate",
    "copy_utilisation",
    "erase_utilisation",
    "gc_duration_cep",
    "gc_duration_rwp",
    "initial_work",
    "max_throughput",
    "max_throughput_amplified",
    "max_write_rate",
    "mean_wait_cep_independent",
    "mean_wait_rwp",
    "queue_length",
    "read_utilisation",
    "relocation_time",
    "total_rate",
    "utilisation",
    "wait_balance_rwp",
    "write_amplification",
    "write_utilisation",
]


def write_utilisation(write_rate: Numbers, write_time: Numbers) -> Value:
    """The share of time in which the die serves writes.

    Equation (1) of bux2011.
    """
    return evaluate("write_utilisation", write_rate, write_time)


def read_utilisation(read_rate: Numbers, read_time: Numbers) -> Value:
    """The share of time in which the die serves reads.

    Equation (2) of bux2011.
    """
    return evaluate("read_utilisation", read_rate, read_time)


def copy_utilisation(write_rate: Numbers, copy_time: Numbers, pages: Numbers, valid: Numbers) -> Value:
    """The share of time in which the die copies.

    Equation (3) of bux2011.
    """
    return evaluate("copy_utilisation", write_rate, copy_time, pages, valid)


def erase_utilisation(write_rate: Numbers, erase_time: Numbers, pages: Numbers, valid: Numbers) -> Value:
    """The share of time in which the die erases.

    Equation (4) of bux2011.
    """
    return evaluate("erase_utilisation", write_rate, erase_time, pages, valid)


def utilisation(
    read_rate: Numbers,
    write_rate: Numbers,
    read_time: Numbers,
    write_time: Numbers,
    copy_time: Numbers,
    erase_time: Numbers,
    pages: Numbers,
    valid: Numbers,
) -> Value:
    """The share of time in which the die is busy.

    An overloaded die has 1 or more. Equation (5) of bux2011.
    """
    return evaluate("utilisation", read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid)


def max_write_rate(
    reads_per_write: Numbers,
    read_time: Numbers,
    write_time: Numbers,
    copy_time: Numbers,
    erase_time: Numbers,
    pages: Numbers,
    valid: Numbers,
) -> Value:
    """The highest rate of writes, each with `reads_per_write` reads.

    The times must not all be 0. Equation (6) of bux2011.
    """
    return evaluate("max_write_rate", reads_per_write, read_time, write_time, copy_time, erase_time, pages, valid)


def total_rate(write_rate: Numbers, reads_per_write: Numbers) -> Value:
    """The rate of reads and writes together.

    Equation (7) of bux2011.
    """
    return evaluate("total_rate", write_rate, reads_per_write)


def max_throughput(
    reads_per_write: Numbers,
    read_time: Numbers,
    write_time: Numbers,
    copy_time: Numbers,
    erase_time: Numbers,
    pages: Numbers,
    valid: Numbers,
) -> Value:
    """The highest rate of reads and writes together.

    The times must not all be 0. Equation (8) of bux2011.
    """
    return evaluate("max_throughput", reads_per_write, read_time, write_time, copy_time, erase_time, pages, valid)


def write_amplification(pages: Numbers, valid: Numbers) -> Value:
    """The pages that the die writes for each page that the host writes.

    Equation (9) of bux2011.
    """
    return evaluate("write_amplification", pages, valid)


def max_throughput_amplified(
    reads_per_write: Numbers,
    read_time: Numbers,
    write_time: Numbers,
    copy_time: Numbers,
    erase_time: Numbers,
    pages: Numbers,
    amplification: Numbers,
) -> Value:
    """The highest rate of reads and writes together, from the write amplification, which is at least 1.

    Equation (10) of bux2011.
    """
    return evaluate("max_throughput_amplified", reads_per_write, read_time, write_time, copy_time, erase_time, pages, amplification)


def copy_batch_rate(write_rate: Numbers, pages: Numbers, valid: Numbers) -> Value:
    """The rate of GC jobs.

    Equation (11) of bux2011.
    """
    return evaluate("copy_batch_rate", write_rate, pages, valid)


def copy_rate(write_rate: Numbers, pages: Numbers, valid: Numbers) -> Value:
    """The rate of copies.

    Equation (12) of bux2011.
    """
    return evaluate("copy_rate", write_rate, pages, valid)


def wait_balance_rwp(
    read_queue: Numbers,
    write_queue: Numbers,
    read_rate: Numbers,
    write_rate: Numbers,
    read_time: Numbers,
    write_time: Numbers,
    copy_time: Numbers,
    erase_time: Numbers,
    pages: Numbers,
    valid: Numbers,
) -> Value:
    """The mean wait of reads and writes that have priority (rwp), from the mean numbers of them that wait.

    Equation (13) of bux2011.
    """
    return evaluate(
        "wait_balance_rwp", read_queue, write_queue, read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid
    )


def queue_length(wait: Numbers, rate: Numbers) -> Value:
    """The mean number of requests that wait, by Little's law.

    Equation (14) of bux2011.
    """
    return evaluate("queue_length", wait, rate)


def mean_wait_rwp(
    read_rate: Numbers,
    write_rate: Numbers,
    read_time: Numbers,
    write_time: Numbers,
    copy_time: Numbers,
    erase_time: Numbers,
    pages: Numbers,
    valid: Numbers,
) -> Value:
    """The mean wait of reads and writes that have priority (rwp).

    The utilisation (5) must be below 1. Equation (15) of bux2011.
    """
    return evaluate("mean_wait_rwp", read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid)


def gc_duration_cep(copy_time: Numbers, erase_time: Numbers, valid: Numbers) -> Value:
    """The duration of a GC job that has priority (cep).

    Equation (16) of bux2011.
    """
    return evaluate("gc_duration_cep", copy_time, erase_time, valid)


def initial_work(read_rate: Numbers, write_rate: Numbers, read_time: Numbers, write_time: Numbers) -> Value:
    """The mean unfinished work of reads and writes that an arrival finds.

    (1) + (2) must be below 1. Equation (17) of bux2011.
    """
    return evaluate("initial_work", read_rate, write_rate, read_time, write_time)


def relocation_time(
    read_rate: Numbers, write_rate: Numbers, read_time: Numbers, write_time: Numbers, copy_time: Numbers, valid: Numbers
) -> Value:
    """The mean time from the arrival of the write that fills the block to the end of the last copy (rwp).

    (1) + (2) must be below 1. Equation (18) of bux2011.
    """
    return evaluate("relocation_time", read_rate, write_rate, read_time, write_time, copy_time, valid)


def gc_duration_rwp(
    read_rate: Numbers,
    write_rate: Numbers,
    read_time: Numbers,
    write_time: Numbers,
    copy_time: Numbers,
    erase_time: Numbers,
    valid: Numbers,
) -> Value:
    """The mean duration of a GC job over which reads and writes have priority (rwp), while GC jobs do not overlap.

    (1) + (2) must be below 1. Equation (19) of bux2011.
    """
    return evaluate("gc_duration_rwp", read_rate, write_rate, read_time, write_time, copy_time, erase_time, valid)


def mean_wait_cep_independent(
    read_rate: Numbers,
    write_rate: Numbers,
    read_time: Numbers,
    write_time: Numbers,
    copy_time: Numbers,
    erase_time: Numbers,
    pages: Numbers,
    valid: Numbers,
) -> Value:
    """The mean wait of reads and writes over which GC has priority (cep), if GC jobs arrived as a Poisson stream of their own.

    The report rejects it as too high, since GC jobs come at regular intervals: after every c - v writes. The utilisation (5) must be below
    1. Section 5.2.2 of bux2011.
    """
    return evaluate("mean_wait_cep_independent", read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid)
