"""Results for the eye: one page with everything about a run or a comparison, and its figures on paper."""

from ssdlab.report.page import write
from ssdlab.report.runs import Runs, load

__all__ = ["Runs", "load", "write"]
