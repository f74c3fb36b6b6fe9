"""Results for the eye: one page with everything about a run or a comparison, and its figures on paper."""

from ssdlab.report.page import REPORT_FILE, write
from ssdlab.report.runs import Runs, load

__all__ = ["REPORT_FILE", "Runs", "load", "write"]
