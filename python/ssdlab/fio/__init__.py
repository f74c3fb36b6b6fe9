"""Job files of fio as workloads: the file is read, each job becomes a flow of requests, and what fio alone does is refused or said."""

from __future__ import annotations

from ssdlab.fio.flows import Flow, Flows, flows_of
from ssdlab.fio.job_file import JobFile, load

__all__ = ["SUFFIX", "Flow", "Flows", "JobFile", "flows_of", "load"]

SUFFIX = ".fio"
"""Ending of the name of a job file, by which `trace` takes one."""
