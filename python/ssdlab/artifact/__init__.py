"""Artifact kits: what a reviewer needs to run the studies of a paper again and compare.

| file | what |
|---|---|
| `kit` | what is in a kit, and writing one |
| `identity` | which ssdlab made it, on what |
| `inputs` | traces: their hashes, and where to get them |
| `readme` | its `README.md` |
| `reproduce` | its script, which needs no package: copied as it is |
"""
