"""Results for readers: tables, figures, pages. They see a result as a mapping, not as a `Result`.

A module imports only from modules above it in this table, and from rooms below this one (`docs/architecture.md`).

| module | question |
|---|---|
| `colours` | which colour does a scheme have? |
| `drawings` | what do all figures drawn by matplotlib have in common? |
| `tables` | how does a result look in a terminal? |
| `why` | why was a request slow, in words and as a timeline of text? |
| `report` | what does the report page say, and which figures are there? |
| `bug_report` | what does a bug report need, without private data? |
| `html_table` | how does a mapping look in a notebook? |
| `notebook` | how does a table look in a notebook? |
| `timelines` | what did a drive do, operation by operation? |
"""
