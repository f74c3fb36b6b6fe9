"""Results as tables with units.

| file | content |
|---|---|
| `numbers` | formatting of durations, counts, sizes, rates and shares with units |
| `layout` | fitting of tables to a terminal: whole, with broken headings, or in parts below each other |
| `runs` | the tables of a run |
| `comparisons` | the tables of a comparison of variants or schemes, also over several seeds |
| `sweeps` | the table of a sweep |
| `queueing` | the tables of the queueing model: formulas, simulation and the difference |
| `calibration` | the tables of a calibration: values found, the error of each row |
| `reports` | the tables of reports (on traces, preparation) and of studies |
"""

from ssdlab.pages.tables.calibration import calibration_tables
from ssdlab.pages.tables.comparisons import change_table, comparison_tables
from ssdlab.pages.tables.layout import UNBOUNDED, WIDTH_OF_TEXT, as_text, is_line
from ssdlab.pages.tables.numbers import SIZES, duration, number, share, significant, size, three
from ssdlab.pages.tables.queueing import formula_table, queueing_tables
from ssdlab.pages.tables.reports import STUDY_HEADS, report_table, study_cells, study_table
from ssdlab.pages.tables.runs import CLASSES, headline, run_tables
from ssdlab.pages.tables.sweeps import sweep_tables
from ssdlab.pages.tables.traces import collection_tables, piece_tables, trace_table

__all__ = [
    "CLASSES",
    "SIZES",
    "STUDY_HEADS",
    "UNBOUNDED",
    "WIDTH_OF_TEXT",
    "as_text",
    "calibration_tables",
    "change_table",
    "collection_tables",
    "comparison_tables",
    "duration",
    "formula_table",
    "headline",
    "is_line",
    "number",
    "piece_tables",
    "queueing_tables",
    "report_table",
    "run_tables",
    "share",
    "significant",
    "size",
    "study_cells",
    "study_table",
    "sweep_tables",
    "three",
    "trace_table",
]
