"""The what-if page: a local page on which configuration keys are changed, and runs in the background show what follows."""

from ssdlab.experiments.exploring.choice import Bench
from ssdlab.experiments.exploring.server import serve

__all__ = ["Bench", "serve"]
