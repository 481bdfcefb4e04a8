"""Variables that no action writes: their cells are constants of the native code.

What a constant decides is then decided while code is written. So a kernel must only be given
states in which these variables hold what they hold initially; every reachable state is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from checker.errors import EvaluationError
from checker.layout.cells import cells_of
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.passes.writes import written_variables
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.symmetry import Renaming, permute, symmetric_ids

Fixed = Mapping[str, tuple[int, ...]]
"""The cells of variables that never change, by name."""


def fixed_cells(machine: Machine, layout: Layout) -> Fixed:
    """Return the cells of the variables that hold the same in all reachable states.

    Left out is what has no initial value, and what a renaming of symmetric ids would change.
    """
    written: set[str] = set()
    for action in (machine.initial, *machine.actions):
        written.update(written_variables(action.body))
    found: dict[str, tuple[int, ...]] = {}
    for variable, shape in zip(machine.variables, layout.shapes, strict=True):
        if variable.name in written:
            continue
        try:
            value = evaluate(variable.initial, Context({}, {}))
        except EvaluationError:
            continue
        if all(permute(variable.type, value, swap) == value for swap in _swaps(machine)):
            found[variable.name] = tuple(cells_of(shape, value))
    return found


def changeable(machine: Machine, fixed: Fixed) -> list[str]:
    """Return the variables that are not fixed, those that most actions write first."""
    writers = Counter(name for action in machine.actions for name in written_variables(action.body))
    names = [variable.name for variable in machine.variables if variable.name not in fixed]
    return sorted(names, key=lambda name: -writers[name])


def _swaps(machine: Machine) -> Iterator[Renaming]:
    """Yield renamings that swap neighbours; what these do not change, no renaming does."""
    for kind in symmetric_ids(machine):
        for one, two in zip(kind.members, kind.members[1:], strict=False):
            names: dict[object, object] = {name: name for name in kind.members}
            yield {kind.name: {**names, one: two, two: one}}
