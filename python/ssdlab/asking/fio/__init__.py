"""Job files of fio as workloads: the file is read, each job becomes a flow of requests, and what fio alone does is refused or said.

| file | content |
|---|---|
| `job_file` | sections and values |
| `known` | the options of fio |
| `places` | files of jobs on the drive |
| `requests` | kinds, sizes and addresses of a job |
| `flows` | where a job lies, when it sends, and all jobs together |
"""

from __future__ import annotations

from ssdlab.asking.fio.flows import Flow, Flows, flows_of
from ssdlab.asking.fio.job_file import JobFile, load
from ssdlab.asking.fio.known import is_cached, is_synchronous, percentiles_of

__all__ = ["SUFFIX", "Flow", "Flows", "JobFile", "flows_of", "is_cached", "is_synchronous", "load", "percentiles_of"]

SUFFIX = ".fio"
"""Ending of the name of a job file, by which `trace` takes one."""
