"""What numbers mean: how sure they are, what they may be compared with, and what a formula gives.

A module imports only from modules above it in this table, and from rooms below this one (`docs/architecture.md`).

| module | question |
|---|---|
| `remarks` | what must a reader know beside a number? |
| `differences` | what do compared runs differ in, and what follows for the comparison? |
| `formulas` | what does a formula of bux2011 give for arrays? |
| `equations` | which function does each formula have? (written by `tests/test_formulas.py`) |
| `measures` | which numbers does a result have, by path? |
| `logs` | what did each request of a run do, by its log? |
| `paired` | which requests became faster from one run to another? |
| `fan_in` | how long until all parts of an object have been read? |
| `uncertainty` | how wide is a confidence interval? (all arithmetic of it) |
| `effects` | does a change hold over workloads, and among many that were looked at? |
| `backlog` | did a drive keep up with its requests, and how fast did it work? |
"""
