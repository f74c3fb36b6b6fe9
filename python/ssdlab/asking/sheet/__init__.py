"""What a drive will do, computed from its configuration without a run, and beside the numbers of a data sheet.

| file | content |
|---|---|
| `drive` | sizes |
| `retries` | reads that are repeated |
| `limits` | rates, power and latencies |
| `amplification` | closed forms |
| `claims` | the numbers of a data sheet |
| `summary` | all of it |
| `api` | public functions |
"""

from __future__ import annotations

from ssdlab.asking.sheet.claims import parse_claims
from ssdlab.asking.sheet.summary import Summary, summary_of

__all__ = ["Summary", "parse_claims", "summary_of"]
