"""Figures of what use does to the flash: write amplification over time, wear, and retries of reads."""

from __future__ import annotations

from collections.abc import Iterable

from ssdlab.pages.report.drawing import Axis, Bars, Curve, Figure, Panel, Plot, Range, Ranges
from ssdlab.pages.report.over_time import TIME, figure_of, steps
from ssdlab.pages.report.runs import Run, Runs

__all__ = ["retries", "wear", "write_amplification"]


def write_amplification(runs: Runs) -> Figure | None:
    """Write amplification of each interval, and of the measured part so far."""
    having = [run for run in runs.recorded if run.at("series.written") and any(run.at("series.written.host_bytes"))]
    if not having:
        return None
    axis = Axis("bytes to flash for each of the host", "count", low=0.0, same="amplification")
    now = [steps(run, _amplification(run), weights=run.at("series.written.host_bytes")) for run in having]
    panels = [Panel("Of each interval", axis, now), Panel("So far", axis, [steps(run, _amplification_so_far(run)) for run in having])]
    text = (
        "Bytes programmed in flash for each byte that the host wrote, in each interval and since the measured part began. An interval "
        "without writes of the host has no value; what was programmed in it counts in the next one. Write buffers and caches program later "
        "than the host writes, so single intervals can be far off, also below 1."
    )
    return figure_of("write_amplification", "Write amplification over time", text, [Plot("Write amplification", TIME, panels)])


def wear(runs: Runs) -> Figure | None:
    """The erase counts of blocks."""
    ranges = [Range(run.label, run.index, *(run.at(f"wear.{key}") for key in ("mean", "std", "max"))) for run in runs if run.at("wear")]
    if not any(entry.most for entry in ranges):
        return None
    text = "How often blocks were erased: the mean (dot), one standard deviation around it (bar) and the block erased most often (tick)."
    plots: list[Plot | Bars | Ranges] = [Ranges("Erases of a block", Axis("erases", "count", low=0.0), ranges)]
    blocks = [_worn(run) for run in runs if run.at("wear.histogram")]
    if blocks:
        text += " Beside it: how many blocks were erased how often."
        widest = max(run.at("wear.histogram.width") for run in runs if run.at("wear.histogram"))
        note = f"are counted in steps of up to {widest} erases" if widest > 1 else ""
        panel = Panel("Blocks erased that often", Axis("blocks", "count", low=0.0), blocks, 1.6)
        plots.append(Plot("Blocks by erases", Axis("erases of a block", "count"), [panel], "wear", note))
    return Figure("wear", "Wear", text, plots)


def retries(runs: Runs) -> Figure | None:
    """The numbers of retries of flash reads."""
    having = [run for run in runs if run.at("ages.reads")]
    if not any(run.at("ages.retried") for run in having):
        return None
    panel = Panel("Share of flash reads", Axis("flash reads", "share", low=0.0), [_retried(run) for run in having], 1.6)
    text = "How often the array read a page again because its data had too many errors (errors.retry)."
    return Figure(
        "retries", "Retries of reads", text, [Plot("Flash reads by retries", Axis("retries", "count", low=0.0), [panel], "retries")]
    )


def _retried(run: Run) -> Curve:
    """The share of flash reads by retries, as a step for each number of them."""
    counts, reads = run.at("ages.by_retries"), run.at("ages.reads")
    edges = [float(step) for step in range(len(counts) + 1)]
    return Curve(run.label, run.index, [edges[0], *edges], [0.0, *(count / reads for count in counts), 0.0])


def _amplification(run: Run) -> list[float | None]:
    """Bytes programmed since the last interval in which the host wrote, over bytes that the host wrote, by interval."""
    values: list[float | None] = []
    programmed = 0
    for host, flash in _written(run):
        programmed += flash
        values.append(programmed / host if host else None)
        programmed = 0 if host else programmed
    return values


def _amplification_so_far(run: Run) -> list[float | None]:
    """Write amplification since the warm-up, by interval; the interval in which the warm-up ended counts from its beginning."""
    first = int((run.at("warm_up.ns") or 0) // run.at("series.bin_ns"))
    values: list[float | None] = []
    written = programmed = 0
    for index, (host, flash) in enumerate(_written(run)):
        if index >= first:
            written, programmed = written + host, programmed + flash
        values.append(programmed / written if written else None)
    return values


def _written(run: Run) -> Iterable[tuple[int, int]]:
    """Bytes written by the host and to flash, by interval."""
    return zip(run.at("series.written.host_bytes"), run.at("series.written.flash_bytes"), strict=True)


def _worn(run: Run) -> Curve:
    """The number of blocks by erases, as a step for each bin of the histogram."""
    low, width, blocks = (run.at(f"wear.histogram.{name}") for name in ("least", "width", "blocks"))
    edges = [float(low + width * index) for index in range(len(blocks) + 1)]
    return Curve(run.label, run.index, [edges[0], *edges], [0.0, *map(float, blocks), 0.0])
