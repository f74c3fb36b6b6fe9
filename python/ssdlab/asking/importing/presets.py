"""The device and scheme presets of an imported drive, and whether a run with them begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ssdlab import _core
from ssdlab.asking.importing.ledger import Ledger, Preset
from ssdlab.asking.plans import value_text
from ssdlab.errors import ConfigError

__all__ = ["drive_presets", "objection", "workload_preset"]

OF_DEVICE = ("device.", "ftl.", "buffer.", "host.", "gc.soft")


def drive_presets(ledger: Ledger) -> tuple[list[Preset], str]:
    """The presets of a drive, or why a run with them would be refused, and then none.

    A threshold of GC that leaves the drive no room is lowered to the largest that does, and the table says so.
    """
    problem = objection(ledger.settings)
    if problem and "gc.soft" in ledger.settings:
        problem = _lower_threshold(ledger, problem)
    device = {key: value for key, value in ledger.settings.items() if key.startswith(OF_DEVICE)}
    scheme = {key: value for key, value in ledger.settings.items() if key not in device and not key.startswith("workload.")}
    parts = [("device", device), ("scheme", scheme)]
    return [] if problem else [Preset(kind, "", settings, ledger.comments) for kind, settings in parts if settings], problem


def workload_preset(label: str, settings: Mapping[str, Any], comments: Mapping[str, str]) -> tuple[Preset, str]:
    """The preset of a workload, and why a run with it would be refused; empty if it is not."""
    return Preset("workload", label, settings, comments), objection(settings)


def objection(settings: Mapping[str, Any]) -> str:
    """Why the core refuses a configuration; empty if it does not. Paths of traces are not opened."""
    try:
        _core.build_config(set=[(key, value_text(value)) for key, value in settings.items()])
    except ConfigError as error:
        return "; ".join(str(error).splitlines())
    return ""


def _lower_threshold(ledger: Ledger, problem: str) -> str:
    soft = ledger.settings["gc.soft"]
    wanted = int(soft) if soft >= 1 else max(1, round(soft * ledger.settings["device.blocks_per_plane"]))
    low, high = 0, wanted
    while high - low > 1:
        middle = (low + high) // 2
        if objection({**ledger.settings, "gc.soft": middle}):
            high = middle
        else:
            low = middle
    if not low:
        return problem
    settings: dict[str, Any] = {"gc.soft": low}
    if "gc.hard" in ledger.settings:
        settings["gc.hard"] = round(min(1.0, ledger.settings["gc.hard"] * wanted / low), 6)
    ledger.without_key(
        settings, f"a threshold of {wanted:,} blocks leaves no spare block beside it here: lowered to the largest that does, {low:,}"
    )
    return ""
