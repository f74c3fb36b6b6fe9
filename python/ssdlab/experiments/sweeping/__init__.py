"""Sweeps: a run at each point of a grid.

| file | content |
|---|---|
| `definition` | axes and points of a sweep, parsed and checked |
| `loading` | points whose load is a share of what a drive sustains |
| `running` | runs, with resumption, and result files |
| `result` | results of a sweep: points, table, figure |
| `questions`, `comparisons` | questions that were stated before the runs, and their answers |
| `fitted` | the over-provisioning of fitted drives, on its axis |
| `outcome` | what was found: the best point, differences along the axes |
| `axes`, `figure`, `page` | what is drawn how, for print and on the page |
| `point_pages` | the pages of single points |
| `remote` | runs as tasks of Ray, on several machines |
| `api` | `ssdlab.sweep` |
"""
