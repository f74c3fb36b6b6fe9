"""Remarks on a result of a preset that is a whole drive scaled down."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab import _core
from ssdlab.analysis.remarks import WARNING, Remark

__all__ = ["dies", "remarks_of", "scale"]

MOST = 0.5
"""Share of the mean response time of writes from which on waits in front of the drive are most of it."""


def remarks_of(device: str | None, result: Mapping[str, Any]) -> Iterator[Remark]:
    """The remark on writes of a trace that wait in front of a scaled drive, of which each has the bytes that a whole drive is sent."""
    writes = result.get("latency_ns", {}).get("write")
    if not writes or not writes["mean"] or "trace" not in result.get("workload", {}):
        return
    parts = result["breakdown_ns"]["write"]
    share = (parts["host_queue"] + parts["pace"]) / writes["mean"]
    times = scale(device, result["config"]["device"])
    if share >= MOST and times > 1:
        whole = _whole(device)
        sentence = (
            f"{share:.0%} of the mean response time of writes are waits for a place in the drive, which has 1/{times} of the dies and "
        )
        sentence += f"of the buffer of {whole}, while each burst of the trace has all its bytes."
        remedy = f"Take response times of writes from the whole drive: --device {whole}, some 100,000 requests, without GC."
        yield Remark("scaled-bursts", WARNING, "latency_ns.write", sentence, remedy)


def scale(device: str | None, simulated: Mapping[str, Any]) -> int:
    """Dies of the whole drive for each die of the simulated one, which is a preset that was scaled down; 1 for other drives."""
    if (whole := _whole(device)) is None:
        return 1
    import tomllib  # noqa: PLC0415 (only runs of scaled drives need it)

    return max(1, dies(tomllib.loads(_core.preset_text("device", whole))["device"]) // dies(simulated))


def dies(device: Mapping[str, Any]) -> int:
    """Dies of a drive."""
    return math.prod(device[key] for key in ("channels", "chips_per_channel", "dies_per_chip"))


def _whole(device: str | None) -> str | None:
    """The preset of which a preset says, with its first words, that it is scaled down."""
    descriptions = {name: description for name, description, _ in _core.presets("device")}
    whole, scaled, _ = descriptions.get(device or "", "").partition(" scaled down to ")
    return whole if scaled and whole in descriptions else None
