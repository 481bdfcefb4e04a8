"""Fair row instances: what fairness is promised to, numbered alike for every engine.

A row instance is a row with values for those of its shown bindings that are a bool, an integer, an
enum value or an id, or none: `per` ids, the keys of a channel, what `for:` ranges over. Messages,
records and collections do not split a row, nor do picks. Rows that are not fair, and faults, have
no instances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.errors import Diagnostic, SpecificationError
from checker.machine.machine import Action, Binding, Machine
from checker.machine.types import (
    Bag,
    Bool,
    Enum,
    Id,
    Map,
    Option,
    Range,
    Sequence,
    Set,
    Type,
    cardinality,
)
from checker.semantics.successor import Successor
from checker.semantics.values import code_of, format_value, value_of

UNFAIR = -1
"""The number of a step that no fair row instance makes."""

INSTANCES_MAX = 1 << 22
"""Fair row instances that a machine may have."""


@dataclass(frozen=True, slots=True)
class RowInstance:
    """A row with the values that tell its instances apart; `strong`: strongly fair, else weakly."""

    row: str
    bindings: tuple[tuple[str, object], ...]
    strong: bool

    @property
    def name(self) -> str:
        """The instance as people write it: `deliver(c1, 2)`."""
        values = ", ".join(format_value(value) for _, value in self.bindings)
        return f"{self.row}({values})" if values else self.row


@dataclass(frozen=True, slots=True)
class FairRow:
    """The instances of one fair row: `first + sum(code of binding * factor)`.

    `splits` are the bindings that split it, with their types and factors.
    """

    row: str
    first: int
    count: int
    strong: bool
    splits: tuple[tuple[str, Type, int], ...]


@dataclass(frozen=True, slots=True)
class FairRows:
    """The fair rows of a machine by name, and how many instances they have together."""

    rows: dict[str, FairRow]
    count: int

    def number(self, step: Successor) -> int:
        """Return the number of the instance that makes a step, or UNFAIR."""
        row = self.rows.get(step.action)
        if row is None:
            return UNFAIR
        values = dict(step.bindings)
        return row.first + sum(
            code_of(kind, values[name]) * factor for name, kind, factor in row.splits
        )

    def instance(self, number: int) -> RowInstance:
        """Return the instance with this number."""
        row = next(row for row in self.rows.values() if row.first <= number < row.first + row.count)
        rest = number - row.first
        values = tuple(
            (name, value_of(kind, rest // factor % cardinality(kind)))
            for name, kind, factor in row.splits
        )
        return RowInstance(row.row, values, row.strong)


def fair_rows(machine: Machine) -> FairRows:
    """Return the fair rows of `machine`; SpecificationError (R611) for too many instances."""
    rows: dict[str, FairRow] = {}
    first = 0
    for action in machine.actions:
        if action.fair == "none" or action.fault is not None:
            continue
        row = _fair_row(action, first)
        first += row.count
        if first > INSTANCES_MAX:
            raise SpecificationError((_too_many(action, row.count),))
        rows[action.name] = row
    return FairRows(rows, first)


def strengths(fair: FairRows) -> NDArray[np.bool_]:
    """Return bool (instances,): which instances are strongly fair."""
    strong = np.zeros(fair.count, np.bool_)
    for row in fair.rows.values():
        strong[row.first : row.first + row.count] = row.strong
    return strong


def _fair_row(action: Action, first: int) -> FairRow:
    splits: list[tuple[str, Type, int]] = []
    factor = 1
    for binding in reversed(action.bindings):
        kind = _bound_type(binding)
        if binding.shown and _splits(kind):
            splits.append((binding.name, kind, factor))
            factor *= cardinality(kind)
    return FairRow(action.name, first, factor, action.fair == "strong", tuple(reversed(splits)))


def _bound_type(binding: Binding) -> Type:
    """Return the type of the values that a binding takes."""
    match binding.domain.type:
        case Map(key, _, _):
            return key
        case Set(item) | Sequence(item, _) | Bag(item, _):
            return item
        case other:
            raise TypeError(f"{other} is no domain")


def _splits(kind: Type) -> bool:
    inner = kind.item if isinstance(kind, Option) else kind
    return isinstance(inner, Bool | Range | Enum | Id)


def _too_many(action: Action, count: int) -> Diagnostic:
    return Diagnostic(
        code="R611",
        message=f"too many fair row instances with those of `{action.name}`",
        span=action.span,
        expected=f"at most {INSTANCES_MAX} of all fair rows together",
        found=f"{count} of this row",
        help="let its `for:` range over less, or let it be unfair",
    )
