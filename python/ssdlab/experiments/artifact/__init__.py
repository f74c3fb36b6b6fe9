"""Artifact kits: all files that a reviewer needs to run the studies of a paper again and compare the results.

| file | purpose |
|---|---|
| `kit` | collects and writes a kit |
| `identity` | version of ssdlab, and the system it runs on |
| `inputs` | traces: their hashes and sources |
| `readme` | the kit's `README.md` |
| `reproduce` | the kit's script, which needs no package and is copied unchanged |
"""
