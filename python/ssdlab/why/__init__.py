"""Why the slowest requests of a run were late, in words and as timelines of text."""

from ssdlab.why.decoding import DamagedError, explained_from
from ssdlab.why.explained import Found, found_in, read_slowest
from ssdlab.why.lines import timeline
from ssdlab.why.records import Explained
from ssdlab.why.words import buffer_units, of_segment, paragraph, title

__all__ = [
    "DamagedError",
    "Explained",
    "Found",
    "buffer_units",
    "explained_from",
    "found_in",
    "of_segment",
    "paragraph",
    "read_slowest",
    "timeline",
    "title",
]
