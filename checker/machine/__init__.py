"""Document to Machine: names resolved, types computed, everything typed and closed."""

# The modules of the first line register the forms that they elaborate.
from checker.machine import collections, functions, lookup, messaging, operators, statements  # noqa: F401
from checker.machine.elaborate import elaborate, instances
from checker.machine.machine import Machine

__all__ = ["Machine", "elaborate", "instances"]
