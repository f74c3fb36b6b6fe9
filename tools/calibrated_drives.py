"""Calibrates the drives whose presets come with ssdlab, and stores what is measured and simulated.

    python tools/calibrated_drives.py [DRIVE ...]

From `measurements/ssd-iq` it writes `presets/devices/NAME-like.toml`, and all rows as JSON in `docs/evidence/calibrated-drives`, from which
`make docs` makes the page with all rows and its figures. Drives that are not named keep their present files.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ssdlab import calibrate
from ssdlab.experiments.calibration import csv_tables
from ssdlab.experiments.calibration.compared import Compared
from ssdlab.experiments.calibration.figure import drawn
from ssdlab.experiments.calibration.measurements import QUANTITIES
from ssdlab.experiments.calibration.result import Calibration
from ssdlab.experiments.calibration.rule import bound, highest_rate

ROOT = Path(__file__).parent.parent
TABLES = ROOT / "measurements" / "ssd-iq"
FOLDER = ROOT / "docs" / "evidence" / "calibrated-drives"
DRIVES = {
    "7450-max": "Micron 7450 MAX 800 GB",
    "7450-pro": "Micron 7450 PRO 960 GB",
    "d7-p5520-b": "Solidigm D7-P5520 1920 GB",
    "pe8110": "SK Hynix PE8110 960 GB",
}
PRESETS = {name: f"{name.removesuffix('-b')}-like" for name in DRIVES}
ROWS_PAGE = "calibrated-drives-rows.md"
"""Page with all rows, in the folder `evidence` of the site."""
OTHER_UNITS = {"d7-p5520-b": "d7-p5520-a"}
"""A second unit of the same drive, to which no preset is fitted."""
HEAD = """# Calibrated drives, all rows

Drives on sale were calibrated from public measurements of SSD-iq (PVLDB 18(11), 2025), which are
in `measurements/ssd-iq`. This page has every row: measured, simulated, and how far apart they are.
[Calibration](../calibration.md) says what is fitted to which rows and what the bounds are. Each drive
is a device preset; use it with the scheme `nvme`.

Of the six values of each drive that were searched for, at most two are determined. Together they
give the response times and rates below. A single one of the others is no fact about the drive.
"""
MISSED = """
A drive is called badly fitted if fewer than four fifths of either kind of row are as they should
be. Then the model lacks something, or the measurements contradict each other. Its rows say where:
use such a preset only for questions whose rows are near.

In the tables of the drives, the *limit* is how far a simulated value may be from the measured one:
the tolerance of a fitted row, the bound of a prediction. Some are times, such as 15 us; the table
has their share of the measured value. The last column has one of these words:

- *fitted*: used in the fit, and within the limit; *not fitted*: used in the fit, but outside;
- *within*: predicted, and within the limit; *missed*: predicted, but outside;
- *reported*: neither fitted nor with a limit.

Choices were tried. "The next best is worse by 2.1": with the next best alternative the sum of
squared errors, each in units of its limit, is larger by 2.1. From 2 on the choice is determined.
"At least": an alternative is no longer simulated once it is clearly worse, so that it may be more.

Loads are named by the requests a second of load and probe together. The probe has 10,000 of them.

## What is missed, and why

Here *explained in kind* means that a simulation does the same, but not at the same load or by as
much. The *window* is `gc.pace_window`: how far writes may be ahead of collection before they wait.
*Places* are how many requests of the probe may be under way. Ways of collection have the names that
[calibration](../calibration.md#what-is-fitted) tries: blocks of moved data *apart* from those of
writes or *shared* with them.

- **7450 MAX and PRO, writes at middling load: unexplained.** Far below saturation one write in a
  hundred of the measured drives waits 3 to 12.5 ms; of the PRO from 25,000 requests a second on, of
  the MAX from 55,000 on, with shorter waits below that. Medians wait as well: of the PRO at 55,000
  and 65,000, of the MAX from 95,000 on. Simulated writes wait for nothing until the drive is all
  but saturated: its dies fill alike, so that none is short of free blocks before the others. (As
  long as equal chips did not take turns, some simulated writes did wait, for the die that was
  filled most.) The other two drives show no such waits until they are all but saturated.
- **7450 MAX and PRO, reads at 45,000 to 65,000 requests a second: follows from that.** One read in
  a hundred takes 1.8 to 4.8 ms there (of the MAX at 55,000 and 65,000), and of the PRO at 65,000
  every other one 2.8 ms. Reads are fast at lower loads, at higher ones, and when the drive is
  saturated. The probe has 64 places. If its 5,000 writes a second wait for 11 ms each, they fill 55
  of them in the mean, so that at times reads wait on the host. In all measured rows of both drives
  reads are slow exactly where one write in a hundred waits longer than 9.5 ms. No simulated write
  waits so long there, and no read is slow.
- **7450 MAX, skewed writes: explained by how blocks are collected, and for how long.** With `superblocks,
  greedy` all writes to two zones are 4 to 10 % too fast after eight drive writes. After two, 95 % of
  writes to a twentieth of the drive were 190 % too fast, since rare writes had not mixed the blocks yet.
- **7450 MAX, uniform writes to the full drive are 6 % too fast: the cost of collection.** Write
  amplification is right within 1.2 % at all seven uses of the drive, so that it is the rate of programs:
  from half to all of the drive in use the measured one falls from 1.42 to 1.23 GB/s, the simulated one to
  1.33. A page move costs more than its read and its program; the transfer on the channel, which no row
  but these tells, is that of the base.
- **D7-P5520, skewed writes: the measurements contradict each other, which explains a part.** Writes
  by Zipf's law with an exponent of 0.2 are almost uniform: simulated, they are 3 % slower. They were
  measured 10.5 % slower than uniform ones, and uniform ones 8 % slower at a depth of 256 than at 512.
  The fit lies between: uniform writes are 1 % slower than measured at a depth of 512, and 7 % faster
  than at 256. This can explain errors of about 10 %. Not explained is that with exponents of 0.6 and
  0.8 they are 14 % too fast, and writes to two fifths and one fifth of the drive 15 and 28 % too slow.
  Victims by cost and benefit bring these within 10 %, but are 37 % too fast with an exponent of 1.
- **D7-P5520, reads at 15,000 requests a second: unexplained.** From 25,000 on half of the dies are
  busy, since a die [programs plane by plane](../model/flash.md#programs-plane-by-plane) while it has
  time: medians, 70 us at 15,000 and 116 to 145 above, come within 19 %. But one read in a hundred takes
  254 us at 15,000, simulated 146.
- **D7-P5520, saturated: explained in kind.** The probe's writes are faster than the load's, and
  reads take three times as long as below saturation. Both are so where the drive has 256 places for
  commands (`host.slots`), which its queues fill in turn. Simulated with all dies:

  | saturated | measured | 256 places | no limit |
  |---|--:|--:|--:|
  | the probe's writes, median | 2,040 us | 2,510 us | 3,520 us |
  | its reads, median | 397 us | 641 us | 139 us |
  | its reads, 99th percentile | 1,910 us | 3,370 us | 525 us |

  What is left is that writes complete in heaps, with which places come free. With the preset of before, places and
  an even rate of writes (`host.write_bytes_per_us` = 460, 6 % below what the drive takes otherwise) reads took
  251 us in the median and 1,890 us in the 99th percentile, and the probe's writes 2,300 us. So the drive
  seems to let writes in more evenly than pacing does. A fixed rate cannot be its way: it writes up to
  four times as much at once where little is collected. No limit fits the two rows that may choose, the
  rate and the median of reads, clearly better than none.
- **7450 PRO, writes to a fifth or a twentieth of the drive: unexplained.** They are simulated a
  tenth to a quarter slower than measured; the way of collection that fits is that of other rows.
- **Writes to a zone, all drives: a tenth is history.** Where a part of the drive is never written
  again, what became of that part stays. The PE8110's preset with greedy collection, filled in order
  and then written to a fifth of it, has a write amplification of 5.3 after 4 drive writes as after
  12. A preparation that overwrote it in the same way without simulated time (tried, and not kept) led
  to 4.8, after 1 drive write as after 4. By Zipf's law with an exponent of 1 it is 4.1 and 3.8. The
  bound of such rows, 10 %, is no more than that.
"""


def main() -> None:
    """Calibrates the drives named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("drives", nargs="*", choices=[*DRIVES, []], help="all without")
    for name in parser.parse_args().drives or DRIVES:
        began = time.monotonic()
        result = calibrate(TABLES, drive=name, progress=lambda doing, share: print(f"{share:4.0%} {doing}", flush=True))
        save(name, result)
        print(f"{name}: {result.misfit}; {result.runs} runs in {time.monotonic() - began:.0f} s", flush=True)


def stored() -> dict[str, dict[str, Any]]:
    """The stored result of each drive."""
    return {name: json.loads(rows_of(name).read_text(encoding="utf-8")) for name in DRIVES}


def files() -> Iterator[tuple[str, str]]:
    """Name and text of the page, and of the figure of each drive."""
    drives = stored()
    sections = (section(name, data) for name, data in drives.items())
    yield ROWS_PAGE, "\n".join([HEAD, *summary(drives), MISSED, *sections])
    for name, data in drives.items():
        yield f"calibrated-drives/{PRESETS[name]}.svg", picture(name, data)


def picture(name: str, data: dict[str, Any]) -> str:
    """The figure of a drive: its measured rows, beside the stored simulated ones."""
    known = {(row["point"]["label"], row["quantity"]): row for row in data["rows"]}
    rows = []
    for row in csv_tables.read(sorted(TABLES.glob("*.csv")), name).rows:
        found = known[str(row.point), row.quantity]
        is_fitted = found["verdict"] in ("fitted", "not fitted")
        rows.append(Compared(row, found["simulated"], is_fitted=is_fitted, bound=found["bound"]))
    return drawn(name, rows)[0]


def rows_of(name: str) -> Path:
    """The file with the rows of a drive."""
    return FOLDER / f"{PRESETS[name]}.rows.json"


def save(name: str, result: Calibration) -> None:
    """Writes the files of a drive."""
    FOLDER.mkdir(exist_ok=True)
    place = FOLDER / f"{PRESETS[name]}.toml"
    result.save(place)
    for ending in (".toml", ".png", ".svg"):  # presets have their own folder, and figures are drawn for the page
        place.with_suffix(ending).unlink()
    preset = result.preset().replace(f"measured of {name}", f"measured of the {DRIVES[name]}")
    (ROOT / "presets" / "devices" / f"{PRESETS[name]}.toml").write_text(preset, encoding="utf-8")


def summary(drives: dict[str, dict[str, Any]], to_files: bool = False) -> Iterator[str]:
    """A table with a line for each drive on the quality of its fit, with a link to its section of the same page or to its stored rows."""
    yield "| device | drive | fitted rows within their tolerance | predictions within their bound | only reported | |"
    yield "|---|---|---|---|---|---|"
    for name, data in drives.items():
        fitted, predicted = data["fitted_rows"], data["predicted_rows"]
        section_of = f"#{DRIVES[name].lower().replace(' ', '-')}-{PRESETS[name]}"
        cells = [
            f"[`{PRESETS[name]}`]({f'calibrated-drives/{PRESETS[name]}.rows.json' if to_files else section_of})",
            DRIVES[name],
            f"{fitted['within_tolerance']} of {fitted['all']}",
            f"{predicted['within_bound']} of {predicted['with_bound']}",
            str(predicted["reported_only"]),
            "well fitted" if data["well_fitted"] else "**badly fitted**",
        ]
        yield f"| {' | '.join(cells)} |"


def section(name: str, data: dict[str, Any]) -> str:
    """The section of a drive on the page."""
    lines = [
        f"\n## {DRIVES[name]}: `{PRESETS[name]}`\n",
        f"![Measured and simulated](calibrated-drives/{PRESETS[name]}.svg)\n",
        "| value | found | standard error | how |\n|---|---|---|---|",
        *(value_line(value) for value in data["values"]),
        *tables(data["rows"]),
    ]
    if name in OTHER_UNITS:
        lines += other_unit(OTHER_UNITS[name], data["rows"])
    return "\n".join(lines) + "\n"


def tables(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A table for each quantity."""
    for quantity, (about, unit, *_) in QUANTITIES.items():
        those = [row for row in rows if row["quantity"] == quantity]
        if those:
            head = f"{about}{f', {unit}' if unit else ''}: at"
            yield f"\n| {head} | measured | simulated | error | limit | verdict |\n|---|---|---|---|---|---|"
            yield from map(row_line, those)


def other_unit(name: str, simulated: list[dict[str, Any]]) -> Iterator[str]:
    """The rows with a bound that were measured of another unit, beside the simulated values of the calibrated one."""
    found = csv_tables.read(sorted(TABLES.glob("*.csv")), name)
    known = {(row["point"]["label"], row["quantity"]): row["simulated"] for row in simulated}
    highest = highest_rate(found.rows)
    rows: list[dict[str, Any]] = []
    for row in found.rows:
        place, limit = (str(row.point), row.quantity), bound(row, highest)
        if place in known and limit is not None:
            rows.append(Compared(row, known[place], is_fitted=False, bound=max(limit[0] * row.value, limit[1])).to_dict())
    within = sum(row["verdict"] == "within" for row in rows)
    yield f"\n### A second unit, `{name}`: {within} of {len(rows)} rows within their bound\n"
    yield "It was measured under load only. Nothing was fitted to it, so all its rows are predictions. At every"
    yield "other load, from the lowest on, the drive was fitted to the rows of the first unit."
    yield from tables(rows)


def value_line(value: dict[str, Any]) -> str:
    """A row of the table of fitted values."""
    number = value["value"]
    found = number if isinstance(number, str) else f"{number:.4g} {value['unit']}"
    error = "" if value["uncertainty"] is None else f"{value['uncertainty']:.1%}"
    return f"| {value['about']} | {found} | {error} | {'' if value['determined'] else 'not determined: '}{value['why']} |"


def figures(number: float) -> str:
    """Formats four significant digits without a power of ten."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"


def row_line(row: dict[str, Any]) -> str:
    """A row of the table of measurements."""
    simulated = "" if row["simulated"] is None else figures(row["simulated"])
    error = "" if row["error"] is None else f"{row['error']:+.1%}"
    limit = row["bound"]
    if row["verdict"] in ("fitted", "not fitted"):
        quantity = QUANTITIES[row["quantity"]]
        limit = max(quantity.tolerance * row["measured"], quantity.floor)
    share = "" if limit is None else f"{limit / row['measured']:.0%}"
    return f"| {row['point']['label']} | {figures(row['measured'])} | {simulated} | {error} | {share} | {row['verdict']} |"


if __name__ == "__main__":
    main()
