"""Work with many runs, and with saved results.

A module imports only from modules above it in this table, and from rooms below this one (`docs/architecture.md`).

| module | question |
|---|---|
| `study` | does a published experiment come out the same? |
| `sweeping` | which point of a grid is best? |
| `calibration` | which configuration behaves as a measured drive does? |
| `populations` | which traces stand for many? |
| `cliffs` | how does the rate of a whole fill fall once the SLC cache is full? |
| `contest` | how does a policy of the user's own rank beside the built-in ones? |
| `loading` | what is in a folder of saved results? |
| `artifact` | what does a reviewer need to repeat a paper's studies and runs? |
| `logged` | which requests of a log were slowest, and which older ones did they wait behind? |
| `explaining` | why were requests of a saved run slow? |
| `exploring` | what happens if a key is changed? (the local what-if page) |
| `saved_pages` | how is the page of saved results written again? |
"""
