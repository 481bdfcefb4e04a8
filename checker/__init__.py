"""Kafka's coordination protocols as state tables, and a model checker for them.

The way data flows, one room an arrow (`checker.flow` is the page to read first):

| room      | takes                | makes       | verb            |
| --------- | -------------------- | ----------- | --------------- |
| `table`   | YAML source          | Document    | `read`          |
| `elaborate` | Document           | Machine     | `elaborate`     |
| `layout`  | Machine              | Layout      | `pack`          |
| `kernel`  | Machine, Layout      | Kernel      | `build`         |
| `search`  | Kernel               | Exploration | `explore`       |
| `graph`   | Exploration          | Liveness    | `judge_endless` |
| `spark`   | Kernel               | Exploration | `explore_spark` |
| `verdict` | Machine, Exploration | Verdict     | `judge`         |
| `trace`   | Machine, Finding     | Trace       | `rebuild`       |
| `report`  | Verdict, Traces      | files       | `write`         |

`checker.machine` is the typed representation between language and engines, `checker.passes` say it
more simply and say what is known beforehand, `checker.llvm` and `checker.symmetry` write the parts
of a kernel. `checker.semantics` is the reference interpreter that every engine must agree with,
`checker.testing` drives an implementation of your own along a specification, `checker.mutation`
says which small mistakes in a specification would be noticed.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
"""The version of pyproject.toml; a test holds the two together."""
