"""Report pages of a run or a comparison, and figures for print."""

from ssdlab.report.page import write
from ssdlab.report.runs import Runs, load

__all__ = ["Runs", "load", "write"]
