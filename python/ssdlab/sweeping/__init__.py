"""Sweeps: a run at each point of a grid.

| file | content |
|---|---|
| `definition` | axes and points of a sweep, parsed and checked |
| `running` | runs, with resumption, and result files |
| `result` | results of a sweep: points, table, figure |
| `remote` | runs as tasks of Ray, on several machines |
| `api` | `ssdlab.sweep` |
"""
