"""Studies: published experiments as data, which are run again and compared with the published values.

| module | content |
|---|---|
| `expressions` | arithmetic of metrics and rows |
| `definition` | content of a study's TOML file |
| `library` | locations of studies |
| `evaluation` | means over seeds, rows, verdicts |
| `running` | runs of a study, and its result |
| `figures` | figure of a study (imports matplotlib, so it is imported when needed) |
| `report` | results of several studies as one page |
| `api` | public functions |
"""
