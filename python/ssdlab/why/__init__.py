"""Why the slowest requests of a run were late, in words and as timelines of text."""

from ssdlab.why.explained import Explained, Found, found_in, read_slowest
from ssdlab.why.lines import timeline
from ssdlab.why.words import of_segment, paragraph, title

__all__ = ["Explained", "Found", "found_in", "of_segment", "paragraph", "read_slowest", "timeline", "title"]
