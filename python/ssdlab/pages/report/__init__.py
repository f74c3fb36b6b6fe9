"""Report pages of a run or a comparison, and figures for print.

| file | content |
|---|---|
| `runs` | results as the report sees them |
| `drawing`, `figures` | figures, in terms that the page and matplotlib both draw |
| `energy`, `slc`, `streams`, `written`, `over_time` | the figures of one subject |
| `changes`, `noise`, `causes`, `leader`, `verdict` | the outcome: differences, how sure they are, why, and which run is best |
| `about`, `summary`, `configuration`, `late`, `page_remarks` | the tables and texts of the page |
| `page`, `frame`, `encoding`, `web/` | the page, with its scripts and style; `web/vendor/`: uPlot, which draws curves |
| `paper`, `look`, `axes`, `ink`, `compared`, `plots`, `words` | figures for print, by matplotlib |
"""

from ssdlab.pages.report.page import write
from ssdlab.pages.report.runs import Runs, load

__all__ = ["Runs", "load", "write"]
