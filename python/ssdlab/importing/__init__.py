"""Configurations of other simulators as presets: MQSim, FEMU, NVMeVirt and SimpleSSD, with a table of what became of every key."""

from __future__ import annotations

from ssdlab.importing.ledger import Fate, Imported, Row
from ssdlab.importing.recognise import read
from ssdlab.importing.writing import write

__all__ = ["Fate", "Imported", "Row", "read", "write"]
