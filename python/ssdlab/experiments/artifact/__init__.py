"""Artifact kits: all files that a reviewer needs to run the experiments of a paper again and compare the results.

| file | purpose |
|---|---|
| `kit` | collects and writes a kit |
| `of_study`, `of_results` | a study, and results of a run, comparison or sweep, as parts of a kit |
| `parts` | what a part of a kit has |
| `identity` | version of ssdlab, and the system it runs on |
| `inputs` | traces: their hashes and sources |
| `own_files` | presets, policies and other files of the author's own |
| `readme` | the kit's `README.md` |
| `reproduce` | the kit's script, which needs no package and is copied unchanged |
"""
