"""Why the slowest requests of a run were late, in words and as timelines of text.

| file | content |
|---|---|
| `records`, `decoding`, `explained` | what a run kept about slow requests, checked |
| `names`, `phrases`, `words` | sentences |
| `alike` | requests that were late for the same reasons |
| `lines` | timelines of text |
"""

from ssdlab.pages.why.decoding import DamagedError, explained_from
from ssdlab.pages.why.explained import Found, found_in, read_slowest
from ssdlab.pages.why.lines import timeline
from ssdlab.pages.why.records import Explained, Older
from ssdlab.pages.why.words import buffer_units, of_segment, paragraph, title, waits_for_older

__all__ = [
    "DamagedError",
    "Explained",
    "Found",
    "Older",
    "buffer_units",
    "explained_from",
    "found_in",
    "of_segment",
    "paragraph",
    "read_slowest",
    "timeline",
    "title",
    "waits_for_older",
]
