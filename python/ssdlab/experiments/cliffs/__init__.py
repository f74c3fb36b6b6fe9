"""Write cliffs: the rate of a whole fill of drives with an SLC cache, predicted from what a review measures.

| file | content |
|---|---|
| `drives` | the rows of a table of drives |
| `model` | the simulated drive of a row, scaled down |
| `fill` | a whole fill: rates over bytes written, phases; how many units fold at once; recovery in idle time |
| `predictions` | what is predicted of a drive, beside what was published, with its bound |
| `figure` | the figure of all drives |
| `result`, `api` | the result of a table of drives, and the function `predict` |
"""
