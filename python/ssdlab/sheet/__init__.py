"""What a drive will do, computed from its configuration without a run, and beside the numbers of a data sheet."""

from __future__ import annotations

from ssdlab.sheet.claims import parse_claims
from ssdlab.sheet.summary import Summary, summary_of

__all__ = ["Summary", "parse_claims", "summary_of"]
