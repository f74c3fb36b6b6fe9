"""Running: the functions of `import ssdlab` that run something, and the results that they return.

A module imports only from modules above it in this table, and from rooms below this one (`docs/architecture.md`).

| module | question |
|---|---|
| `result` | what does a run return? |
| `fio_json` | how does a result look in fio's JSON form? |
| `scaled` | what does a result say of a drive that was scaled down? |
| `fio_jobs` | what does a result say of jobs of fio? |
| `identity` | which files and policies does a result depend on? |
| `batch` | how are runs executed, and when are their files written? |
| `capacity` | which rate of requests does a drive sustain? |
| `seeds` | how far do several seeds differ? |
| `comparison` | what does a comparison return? |
| `variants` | which runs does a comparison compare? |
| `api` | what do `run`, `compare`, `precondition` and the functions of traces and presets do? |
| `caching` | how often does a cache by itself hit? |
| `queueing_figure` | how long did requests wait in the queueing model? |
| `serving` | how is a drive served to programs? |
"""
