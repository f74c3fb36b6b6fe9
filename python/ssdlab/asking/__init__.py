"""Asking for a run: from options, files and presets to the core's configuration and plan.

A module imports only from modules above it in this table, and from rooms below this one (`docs/architecture.md`).

| module | question |
|---|---|
| `fio` | which requests does a job file of fio send? |
| `option` | what follows from the definition of an option: signature, documentation, checks? |
| `policies` | how is a policy of the user's own found and loaded? |
| `imported` | which modules of the user's own does a policy import? |
| `options` | which options does a run have? |
| `plans` | which configuration and plan do the options give? |
| `commands` | which options does the command of a result have? |
| `importing` | which preset does the configuration of another simulator give? |
| `keys` | which keys do the files of studies, sweeps and variants have? |
| `varied` | what varies in the file of a study or sweep? |
| `sheet` | what will a drive do, computed without a run? |
"""
