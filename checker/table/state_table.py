"""A state table as data: states, legal moves, their sources. The contract systems are held to."""

from __future__ import annotations

from checker.frozen import frozen
from checker.source import NOWHERE, Span


@frozen()
class TableTransition:
    """One legal move of a state table; `event` names it."""

    origin: str
    event: str
    target: str
    about: str
    source: str
    span: Span = NOWHERE


@frozen()
class StateTable:
    """A state table: states in declared order with a line of prose each, and the legal moves."""

    name: str
    about: str
    source: str
    states: tuple[tuple[str, str], ...]
    initial: tuple[str, ...]
    final: tuple[str, ...]
    created: tuple[str, ...]
    transitions: tuple[TableTransition, ...]
    restores: tuple[tuple[str, str], ...]
    span: Span
    state_spans: tuple[Span, ...] = ()
    """Where each of `states` is declared, in their order; empty for a table built by hand."""

    def allows(self, kind: str, origin: str, target: str) -> bool:
        """Return whether `kind` (transition, restore, create) may move `origin` to `target`."""
        if kind == "create":
            return target in self.created
        if kind == "restore":
            return (origin, target) in self.restores
        return any(move.origin == origin and move.target == target for move in self.transitions)
