"""The what-if page: a local page on which configuration keys are changed, and runs in the background show what follows."""

from ssdlab.exploring.choice import Bench
from ssdlab.exploring.server import serve

__all__ = ["Bench", "serve"]
