"""Document to Machine: names resolved, types computed, everything typed and closed."""

# The modules of the first line register the forms that they elaborate.
from checker.elaborate import collections, functions, lookup, messaging, operators, statements  # noqa: F401
from checker.elaborate.elaborate import (
    check_settings,
    elaborate,
    expected_of,
    instances,
    judged,
    world_of,
)

__all__ = ["check_settings", "elaborate", "expected_of", "instances", "judged", "world_of"]
