"""The result of a calibration: fitted values with their uncertainty, and the error of every row, fitted and predicted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab import _core
from ssdlab.experiments.calibration.compared import Compared, Verdict
from ssdlab.experiments.calibration.fitting import MARGIN, Fitted
from ssdlab.experiments.calibration.measurements import FullSpeed, Measurements, Point
from ssdlab.experiments.calibration.parameters import CHOICES, PARAMETERS, POWER, power_settings, value_at
from ssdlab.experiments.calibration.preset import preset_text
from ssdlab.experiments.calibration.rule import bound, fitted_rows, highest_rate
from ssdlab.experiments.calibration.runs import Candidate, Simulated, flash_bytes
from ssdlab.system.json_text import json_text

__all__ = ["Calibration", "Value", "calibration_of", "most_used", "written"]

SURE = 0.025
"""Maximum relative standard error of a determined value: two standard errors are 5 %."""
ROUGH = 0.3
"""Relative standard error above which not even the order of the value is known."""
BADLY = " Badly fitted: do not trust it where rows were missed."
PARTIAL = " Partial: its calibration was interrupted, so that values and choices may be far off."
"""Sentences for the description of such a preset."""
WELL = 0.8
"""Minimum share of fitted rows within their tolerance, and of predictions within their bound, for a well fitted drive."""

READ_OFF: Mapping[str, tuple[str, str]] = {
    "ftl.parity_stripe": ("Programs of which one holds parity, by sequential writes", "programs"),
    "buffer.access_ns": ("Time to put a write into the buffer, by writes that do not wait", "ns"),
    "device.chips_per_channel": ("Chips on a channel, by the capacity", "chips"),
    "buffer.bytes": ("Write buffer, by the number of dies", "bytes"),
    "device.channels": ("Channels, by the capacity", "channels"),
    "device.pages_per_block": ("Pages of a block, by the capacity", "pages"),
}
"""Description and unit of a value that rows state directly, by configuration key."""
ALWAYS_SAID = ("ftl.parity_stripe", "buffer.access_ns")
"""Keys of `READ_OFF` that are listed even if no row states them.

The others only change for a drive much larger or smaller than the base.
"""


@dataclass(frozen=True)
class Value:
    """A fitted value.

    Attributes:
        name: name of the value.
        about: description of the value.
        value: the value; for a choice, the name of the alternative.
        unit: unit of the value; empty for a choice.
        uncertainty: relative standard error; `None` for a choice.
        is_determined: whether the rows determine the value; with a standard error, to 5 %. If not, it depends on the base drive.
        why: how the value was found, or why it is not determined.
    """

    name: str
    about: str
    value: float | str
    unit: str
    uncertainty: float | None
    is_determined: bool
    why: str


@dataclass(frozen=True)
class Calibration:
    """A drive that was fitted to measurements.

    Attributes:
        drive: name of the drive.
        base: device preset that the calibration started from.
        scheme: scheme presets that the drive was calibrated with.
        seed: seed of all runs.
        values: fitted values.
        rows: every row, fitted and predicted.
        left_out: number of unused rows of the files, by reason.
        runs: number of runs.
        exported_bytes: bytes that the drive exports: the largest number of used bytes.
        flash_bytes: flash capacity of the drive, bytes.
        settings: fitted values, by configuration key.
        is_partial: whether the search was interrupted: values and choices may be far off, and rows that were not simulated are missing.
        missing: number of rows that are missing.
    """

    drive: str
    base: str
    scheme: str
    seed: int
    values: tuple[Value, ...]
    rows: tuple[Compared, ...]
    left_out: Mapping[str, int]
    runs: int
    exported_bytes: int
    flash_bytes: int
    settings: Mapping[str, Any]
    is_partial: bool = False
    missing: int = 0

    def count(self, *verdicts: Verdict) -> int:
        """The number of rows with one of these verdicts."""
        return sum(row.verdict in verdicts for row in self.rows)

    @property
    def fitted_share(self) -> float | None:
        """The share of the fitted rows that are within their tolerance, 0 to 1; `None` without such rows."""
        return _share(self.count("fitted"), self.count("fitted", "not fitted"))

    @property
    def predicted_share(self) -> float | None:
        """The share of the predictions with a bound that are within it, 0 to 1; `None` without such rows."""
        return _share(self.count("within"), self.count("within", "missed"))

    @property
    def is_well_fitted(self) -> bool:
        """Whether at least 80 % of the fitted rows are within their tolerance and of the predictions within their bound.

        If not, the real drive has a mechanism that the model lacks, and predictions are not reliable. A partial result never is: rows are
        missing, and the search has not ended.
        """
        shares = (self.fitted_share, self.predicted_share)
        return not self.is_partial and all(share is None or share >= WELL for share in shares)

    @property
    def misfit(self) -> str:
        """The numbers of rows within tolerance and bound, in words, for messages."""
        bounded = self.count("within", "missed")
        predicted = f"{self.count('within')} of {bounded} predictions within their bound" if bounded else "no row could check a prediction"
        return f"{self.count('fitted')} of {self.count('fitted', 'not fitted')} fitted rows are within their tolerance, {predicted}"

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the preset to a `.toml` file, and beside it all rows (`.rows.json`) and the figure (`.svg`, `.png`).

        Raises:
            FileError: a file cannot be written.
        """
        # imported here because matplotlib takes longer than many commands
        from ssdlab.experiments.calibration.figure import drawn  # noqa: PLC0415

        svg, png = drawn(self.drive, self.rows)
        contents: tuple[str | bytes, ...] = (json_text(self.to_dict()) + "\n", svg, png, self.preset())
        for place, content in zip(written(Path(file)), contents, strict=True):
            _core.write_file(place, content)

    def preset(self) -> str:
        """The device preset in TOML, with the uncertainty of each value."""
        spare = 1 - self.exported_bytes / self.flash_bytes
        caveat = PARTIAL if self.is_partial else "" if self.is_well_fitted else BADLY
        return preset_text(self.base, self.drive, self.scheme, self.settings, _remarks(self.values), spare, caveat=caveat)

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary for JSON."""
        return {
            "drive": self.drive,
            "base": self.base,
            "scheme": self.scheme,
            "seed": self.seed,
            "runs": self.runs,
            "exported_bytes": self.exported_bytes,
            "flash_bytes": self.flash_bytes,
            **({"partial": True, "missing_rows": self.missing} if self.is_partial else {}),
            "well_fitted": self.is_well_fitted,
            "fitted_rows": {"within_tolerance": self.count("fitted"), "all": self.count("fitted", "not fitted")},
            "predicted_rows": {
                "within_bound": self.count("within"),
                "with_bound": self.count("within", "missed"),
                "reported_only": self.count("reported"),
            },
            "values": [
                {
                    "name": value.name,
                    "about": value.about,
                    "value": value.value,
                    "unit": value.unit,
                    "uncertainty": value.uncertainty,
                    "determined": value.is_determined,
                    "why": value.why,
                }
                for value in self.values
            ],
            "rows": [row.to_dict() for row in self.rows],
            "left_out": dict(self.left_out),
        }


def written(preset: Path, *, partial: bool = False) -> list[Path]:
    """The files that `save` writes: rows, figure as SVG and PNG, preset. fio's `mine.json` is not among those for `mine.toml`.

    `partial`: those of an interrupted calibration, `mine.partial.toml` and so on, so that it replaces no complete one.
    """
    middle = ".partial" if partial else ""
    return [preset.with_suffix(middle + ending) for ending in (".rows.json", ".svg", ".png", ".toml")]


def calibration_of(
    measurements: Measurements,
    base: Candidate,
    seed: int,
    fitted: Fitted,
    settings: Mapping[str, Any],
    results: Mapping[Point, Simulated | None],
    runs: int,
) -> Calibration:
    """Builds a calibration from the outcome of a search.

    Args:
        measurements: all rows of the drive.
        base: drive that the search started from.
        seed: seed of all runs.
        fitted: outcome of the search.
        settings: fitted values, by configuration key.
        results: simulated quantities of the fitted drive by operating point; rows at others are left out.
        runs: number of runs.
    """
    used_bytes = most_used(measurements)
    if measurements.power is not None:
        settings = {**settings, **power_settings(measurements.power, base.with_changes(settings).tree(), _in_order_per_us(measurements))}
    those = set(fitted_rows(measurements))
    highest = highest_rate(measurements.rows)
    rows = []
    for row in (row for row in measurements.rows if row.point in results):
        result = results[row.point]
        limit = bound(row, highest)
        within = None if limit is None else max(limit[0] * row.value, limit[1])
        is_fitted = row in those
        rows.append(Compared(row, None if result is None else result.get(row.quantity), is_fitted, None if is_fitted else within))
    return Calibration(
        drive=measurements.drive,
        base=base.device,
        scheme=base.scheme,
        seed=seed,
        values=tuple(_values(fitted, base.tree())),
        rows=tuple(rows),
        left_out=measurements.left_out,
        runs=runs,
        exported_bytes=used_bytes,
        flash_bytes=flash_bytes(base.with_changes(settings).tree()),
        settings=settings,
        missing=len(measurements.rows) - len(rows),
    )


def _in_order_per_us(measurements: Measurements) -> float | None:
    """The largest rate of writes in order, bytes per us; `None` without such rows."""
    rows = [row for row in measurements.at("write_iops") if isinstance(row.point, FullSpeed) and row.point.pattern.kind == "sequential"]
    return max((row.value * row.point.request_bytes / 1e6 for row in rows), default=None)


def most_used(measurements: Measurements) -> int:
    """The largest number of used bytes in any row."""
    return max(row.point.used_bytes for row in measurements.rows)


def _values(fitted: Fitted, base: Mapping[str, Any]) -> list[Value]:
    values = []
    for parameter in PARAMETERS:
        value, error = fitted.values[parameter.name], fitted.uncertainty.get(parameter.name)
        low, high = fitted.ends[parameter.name]
        edge = error is not None and (value <= low * 1.01 or value >= high / 1.01)
        why = "no row tells" if error is None else f"at the end of its range, {low:g} to {high:g}" if edge else _how_sure(error)
        values.append(
            Value(parameter.name, parameter.about, value, parameter.unit, error, error is not None and not edge and error <= SURE, why)
        )
    for key, (about, unit) in READ_OFF.items():
        name = key.split(".")[1]
        if key in fitted.read_off:
            doubt = fitted.doubts.get(key)
            values.append(Value(name, about, fitted.read_off[key], unit, None, doubt is None, doubt or "read off"))
        elif key in ALWAYS_SAID:
            values.append(Value(name, about, value_at(base, key), unit, None, False, "no row tells"))
    for choice in CHOICES:
        losses = fitted.losses.get(choice.name)
        nearest = min(losses.values()) if losses else None
        is_told = nearest is not None and nearest >= MARGIN
        untold = "no row tells" if losses is None else "not tried: the rows that tell are met"
        why = untold if nearest is None else f"tried: the next best is worse by at least {nearest:.1f}" if is_told else "others fit as well"
        values.append(Value(choice.name, choice.about, fitted.choices[choice.name], "", None, is_told, why))
    return values


def _how_sure(error: float) -> str:
    if error <= SURE:
        return "searched for"
    return f"known only to about {error:.0%}" if error <= ROUGH else "the rows hardly change with it"


def _remarks(values: Sequence[Value]) -> dict[str, str]:
    remarks = {POWER: "by the data sheet: idle, and writes in order at full speed, of which all above idle is that of programs"}
    for value in values:
        if not value.is_determined:
            text = f"not determined ({value.why}): the drive that the calibration began with, or chance, had a say"
        elif value.uncertainty is not None:
            text = f"fitted, +-{value.uncertainty:.1%}"
        else:
            text = value.why
        remarks[value.name] = text
    return remarks


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
