"""Sweeps: a run at each point of a grid.

| file | what |
|---|---|
| `definition` | a sweep as data: its axes and points, checked |
| `running` | the runs, resumed where some are there already, and the files that they come to |
| `result` | what came of a sweep: points, a table, a figure |
| `remote` | runs as tasks of Ray, on several machines |
| `api` | `ssdlab.sweep` |
"""
