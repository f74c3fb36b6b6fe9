"""A page about what a drive did: single operations, and the states of its blocks over time."""

from ssdlab.timelines.page import Sources, found_in, write

__all__ = ["Sources", "found_in", "write"]
