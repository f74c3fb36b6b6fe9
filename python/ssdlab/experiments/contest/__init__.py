"""The arena: one's own policies ranked beside all built-in ones, on a fixed set of drives and loads.

| module | what is there |
|---|---|
| `field` | the drives, loads and built-in policies, from `field.toml` |
| `kinds` | which decision a policy in a file makes |
| `ranking` | figures of the runs, and the ranks that follow |
| `api` | the runs, and `ssdlab.arena` |
"""
