"""Configurations of other simulators as presets: MQSim, FEMU, NVMeVirt and SimpleSSD, with a table of what became of every key.

| file | content |
|---|---|
| `recognise` | the simulator, from the content of a file |
| `mqsim`, `femu`, `nvmevirt`, `simplessd`, ... | a file or two for each simulator |
| `ledger` | what became of each key |
| `writing` | the preset |
| `api` | public functions |
"""

from __future__ import annotations

from ssdlab.asking.importing.ledger import Fate, Imported, Row
from ssdlab.asking.importing.recognise import read
from ssdlab.asking.importing.writing import write

__all__ = ["Fate", "Imported", "Row", "read", "write"]
