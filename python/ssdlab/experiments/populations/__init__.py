"""Populations of traces: where public ones are found, and pieces that stand for what was downloaded.

| file | content |
|---|---|
| `collections.toml` | public collections of traces that ssdlab reads |
| `manifest` | that file, checked |
| `drawing` | a stratified sample of pieces from the traces in a folder |
"""
