"""Studies: published experiments as data, run again and compared with what was published.

| module | knows |
|---|---|
| `expressions` | the arithmetic of metrics and rows |
| `definition` | what a study's TOML file says |
| `library` | where studies are |
| `evaluation` | means over seeds, rows, verdicts |
| `running` | all runs of a study, and its result |
| `figures` | its figure (imports matplotlib, so imported when needed) |
| `report` | results of many studies as one page |
| `api` | what people call |
"""
