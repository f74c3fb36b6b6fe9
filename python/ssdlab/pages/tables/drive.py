"""The tables of `ssdlab check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from ssdlab.pages.tables.layout import new_table, titled
from ssdlab.pages.tables.numbers import duration, share, size, three

__all__ = ["drive_tables"]

LATENCIES = {"read_4k": "read, 4 KiB", "read_page": "read, a page", "write_4k": "write, 4 KiB", "write_page": "write, a page"}


def drive_tables(summary: Mapping[str, Any], claims: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Tables of space, rates and latencies, and of a sheet's numbers if there are any."""
    yield _space(summary)
    yield _rates(summary["rates"])
    table = new_table(["request on an idle drive", "response"])
    for name, label in LATENCIES.items():
        table.add_row(label, duration(summary["latencies_ns"][name]))
    yield titled("Latencies", table)
    if claims:
        yield _claims(claims)
    yield from (f"- {remark}" for remark in summary["remarks"])


def _space(summary: Mapping[str, Any]) -> RenderableType:
    table = new_table(["", "value"])
    table.add_row("exported", f"{summary['exported_bytes']:,} bytes ({size(summary['exported_bytes'])})")
    if "zones" in summary:
        zones = summary["zones"]
        table.add_row("zones", f"{zones['count']:,} of {size(zones['capacity_bytes'])}, {size(zones['size_bytes'])} apart")
    table.add_row("flash", size(summary["flash_bytes"]))
    table.add_row("of it data, without parity", size(summary["data_bytes"]))
    table.add_row("spare, of the data", share(summary["spare_share"]))
    table.add_row("pools x blocks", f"{summary['pools']:,} x {summary['blocks_per_pool']:,}")
    table.add_row("spare blocks of a pool", f"{summary['spare_blocks']:,}")
    table.add_row("open, reserve", f"{summary['open_blocks']}, {summary['reserve_blocks']}")
    table.add_row("T_soft, T_hard (blocks)", f"{summary['soft_blocks']:,}, {summary['hard_blocks'] or 'none'}")
    table.add_row("write amplification, random 4 KiB", _range(summary.get("write_amplification")))
    if "unit_write_amplification" in summary:
        unit = size(summary["rates"]["random write of a unit"]["bytes"])
        table.add_row(f"write amplification, random {unit}", _range(summary["unit_write_amplification"]))
    table.add_row("  by", summary["write_amplification_by"])
    for name, title in (("rating", "rated, random 4 KiB"), ("sequential_rating", "rated, sequential")):
        if name in summary:
            table.add_row(title, f"{three(summary[name]['tbw'])} TBW, {three(summary[name]['dwpd'])} DWPD")
    return titled("Space", table)


def _range(bounds: Sequence[float] | None) -> str:
    if bounds is None:
        return "none computed"
    low, high = bounds
    return f"{high:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


def _rates(rates: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    names = list(dict.fromkeys(name for rate in rates.values() for name in rate["limits"]))
    drawn = ["W"] if any("watts" in rate for rate in rates.values()) else []
    table = new_table(["", "size", "/s", "MB/s", *drawn, "binds", *(f"{name} /s" for name in names)])
    for name, rate in rates.items():
        limits = [three(rate["limits"][limit]) if limit in rate["limits"] else "-" for limit in names]
        watts = [three(rate["watts"])] if drawn else []
        table.add_row(name, size(rate["bytes"]), three(rate["per_s"]), three(rate["mb_s"]), *watts, rate["binding"], *limits)
    return titled("Rates by limit", table)


def _claims(claims: Sequence[Mapping[str, Any]]) -> RenderableType:
    table = new_table(["", "sheet", "computed", "ratio", "verdict"])
    for claim in claims:
        table.add_row(claim["about"], three(claim["sheet"]), three(claim["computed"]), f"{claim['ratio']:.2f}", claim["verdict"])
    return titled("Beside the sheet", table)
