"""A page about what a drive did: single operations, and the states of its blocks over time.

| file | content |
|---|---|
| `events`, `blocks` | what a run wrote |
| `columns` | packing for the script |
| `page`, `web/` | the page and its script |
"""

from ssdlab.pages.timelines.page import Sources, found_in, write

__all__ = ["Sources", "found_in", "write"]
