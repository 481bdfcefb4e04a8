"""The Finding: what was seen of a property, and a path that shows it."""

from __future__ import annotations

from typing import Literal

from checker.frozen import frozen
from checker.semantics.successor import State
from checker.table.document import PropertyKind

FindingKind = Literal[PropertyKind, "deadlock", "legal", "error"]


@frozen()
class Finding:
    """A violation, a witness (`sometimes`) or an evaluation error, with a shortest path to it.

    `path` holds the states from an initial one on. For `step`, `refines`, `legal` the last two
    states are the offending step (the one state, where the initial state is it); for `error` raised
    by a row the path ends in the state the row failed in and `action` names the row. Among the
    shortest paths it is the least by (initial state, then step by step: row in file order,
    bindings, picks), whatever the engine and the threads.

    Where the initial action itself fails there is no state: the path is empty.

    For what only infinite runs decide the path is a lasso: it ends in the state `path[loop]`, from
    where the run goes round for ever; where that is the last state itself, it stays there.
    """

    property: str
    kind: FindingKind
    depth: int
    path: tuple[State, ...]
    action: str | None = None
    loop: int | None = None
