"""What the page's script has to know to evaluate expressions: types, names, constants."""

from __future__ import annotations

from checker.machine.machine import Machine
from checker.machine.relations import inside
from checker.machine.types import Enum, Id, Record
from checker.semantics.values import format_value


def vocabulary(machine: Machine) -> dict[str, object]:
    """Return the members of each type that has names, all names of values, and the constants.

    Constants are texts, as the places of a state are.
    """
    kinds = [kind for item in machine.variables for kind in inside(item.type)]
    named = [kind for kind in (*machine.ids, *kinds) if isinstance(kind, Enum | Id)]
    records = [kind.name for kind in kinds if isinstance(kind, Record)]
    words = [word for kind in named for word in kind.members]
    return {
        "domains": {kind.name: list(kind.members) for kind in named},
        "words": sorted({*words, *records}),
        "constants": {name: format_value(value) for name, value in machine.constants},
    }
