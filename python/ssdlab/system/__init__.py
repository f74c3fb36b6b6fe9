"""What differs from machine to machine: files, folders, signals, terminals, the kernel's block events.

A module imports only from modules above it in this table, and from rooms below this one (`docs/architecture.md`).

| module | question |
|---|---|
| `checksums` | was a result changed after ssdlab wrote it? |
| `json_text` | how is JSON written and read? |
| `locks` | is another process using this folder? |
| `folders` | what is in a folder of results, and how does a new set of files replace the old one as a whole? |
| `progress` | how far is a long task? |
| `inputs` | how is an input read that can be read only once, such as a pipe? |
| `states` | where are the states of prepared drives kept for later runs? |
| `platforms` | what needs Linux, and how many processors and how much memory are there? |
| `signals` | what do Ctrl-C, SIGTERM and SIGHUP do to the command? |
| `recording` | which block requests reach a device while a command runs? |
"""
