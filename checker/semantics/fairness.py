"""Fair row instances: what fairness is promised to, numbered alike for every engine.

A row instance is a row with values for those of its shown bindings that are a bool, an integer, an
enum value or an id, or none: `per` ids, the keys of a channel, what `for:` ranges over. Messages,
records and collections do not split a row, nor do picks. Faults have no instances.

A step has the number of the row instance that makes it, its *label*. What is promised something is
the instance itself, where its row is fair, and each group of rows that it belongs to; without
groups the two numbers are the same.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from checker.errors import Diagnostic, SpecificationError
from checker.frozen import frozen
from checker.machine.machine import Action, Machine
from checker.machine.relations import item_of
from checker.machine.types import Bool, Enum, Id, Option, Range, Type, cardinality
from checker.semantics.successor import Successor
from checker.semantics.values import code_of, format_value, value_of
from checker.source import Span

UNFAIR = -1
"""The number of a step that nothing is promised to."""

INSTANCES_MAX = 1 << 22
"""Fair row instances that a machine may have."""


@frozen()
class RowInstance:
    """A row or group with the values that tell its instances apart.

    `strong`: strongly fair, else weakly.
    """

    row: str
    bindings: tuple[tuple[str, object], ...]
    strong: bool

    @property
    def name(self) -> str:
        """The instance as people write it: `deliver(c1, 2)`."""
        values = ", ".join(format_value(value) for _, value in self.bindings)
        return f"{self.row}({values})" if values else self.row


@frozen()
class FairRow:
    """The instances of a row or group: `first + sum(code of binding * factor)`.

    `splits` are the bindings that split it, with their types and factors.
    """

    row: str
    first: int
    count: int
    strong: bool
    splits: tuple[tuple[str, Type, int], ...]

    def instance(self, number: int) -> RowInstance:
        """Return the instance with this number."""
        rest = number - self.first
        values = tuple(
            (name, value_of(kind, rest // factor % cardinality(kind)))
            for name, kind, factor in self.splits
        )
        return RowInstance(self.row, values, self.strong)


@frozen()
class FairRows:
    """The rows whose steps have labels, by name, and what is promised to each label.

    `count` is the number of labels; `promised` are the rows and groups that fairness is promised
    to, in the order of their numbers. Where there are groups, what label l is promised is
    `numbers[starts[l]:starts[l + 1]]`.
    """

    rows: dict[str, FairRow]
    count: int
    promised: tuple[FairRow, ...]
    starts: NDArray[np.int64] = field(repr=False)
    numbers: NDArray[np.int32] = field(repr=False)

    @property
    def grouped(self) -> bool:
        """Whether labels and the numbers of what is promised differ."""
        return len(self.starts) > 0

    @property
    def width(self) -> int:
        """How much is promised to one label at most."""
        return int(np.diff(self.starts).max(initial=1)) if self.grouped else 1

    def number(self, step: Successor) -> int:
        """Return the label of a step: the number of the instance that makes it, or UNFAIR."""
        row = self.rows.get(step.action)
        if row is None:
            return UNFAIR
        values = dict(step.bindings)
        return row.first + sum(
            code_of(kind, values[name]) * factor for name, kind, factor in row.splits
        )

    def of(self, step: Successor) -> tuple[int, ...]:
        """Return the numbers of what a step keeps a promise to."""
        label = self.number(step)
        if label == UNFAIR:
            return ()
        if not self.grouped:
            return (label,)
        return tuple(self.numbers[self.starts[label] : self.starts[label + 1]].tolist())

    def instance(self, number: int) -> RowInstance:
        """Return what is promised something by its number."""
        found = next(row for row in self.promised if row.first <= number < row.first + row.count)
        return found.instance(number)

    def spread_size(self, labels: NDArray[np.int32]) -> int:
        """Return how many edges `spread` makes."""
        sizes = np.append(np.maximum(np.diff(self.starts), 1), 1)  # the last one is that of UNFAIR
        return int(sizes[labels].sum())

    def spread(self, labels: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return edges as one for each promise that they keep, one where they keep none.

        First the edge that each is, then what it is promised, or UNFAIR.
        """
        begin = np.append(self.starts, 0)[labels]
        kept = np.where(labels < 0, 0, np.append(self.starts, 0)[labels + 1] - begin)
        times = np.maximum(kept, 1)
        edges = np.repeat(np.arange(len(labels)), times)
        within = np.arange(len(edges)) - np.repeat(np.cumsum(times) - times, times)
        found = np.append(self.numbers, UNFAIR)[
            np.where(kept[edges] > 0, begin[edges] + within, -1)
        ]
        return edges, found.astype(np.int32)


def fair_rows(machine: Machine) -> FairRows:
    """Return the fair rows of `machine`; SpecificationError (R611) for too many instances."""
    rows: dict[str, FairRow] = {}
    promised: list[FairRow] = []
    labels = numbers = 0
    for action in machine.actions:
        fair = action.fair != "none" and action.fault is None
        wanted = _wanted(machine, action)
        if not fair and wanted is None:
            continue
        row = _fair_row(action, labels, frozenset() if wanted is None else wanted, whole=fair)
        labels += row.count
        rows[action.name] = row
        if fair:
            promised.append(FairRow(row.row, numbers, row.count, row.strong, row.splits))
            numbers += row.count
        _require_few(max(labels, numbers), action.name, row.count, action.span)
    for group in machine.fair_groups:
        made = _numbered(group.name, group.per, numbers, strong=group.strong)
        promised.append(made)
        numbers += made.count
        _require_few(numbers, group.name, made.count, group.span)
    if not machine.fair_groups:
        nothing = np.empty(0, np.int64), np.empty(0, np.int32)
        return FairRows(rows, labels, tuple(promised), *nothing)
    return FairRows(rows, labels, tuple(promised), *_promises(machine, rows, promised))


def strengths(fair: FairRows) -> NDArray[np.bool_]:
    """Return, for each number that something is promised to, whether it is strongly fair."""
    count = fair.promised[-1].first + fair.promised[-1].count if fair.promised else 0
    strong = np.zeros(count, np.bool_)
    for row in fair.promised:
        strong[row.first : row.first + row.count] = row.strong
    return strong


def _splits(kind: Type | None) -> bool:
    """Whether a binding of this type tells row instances apart."""
    inner = kind.item if isinstance(kind, Option) else kind
    return isinstance(inner, Bool | Range | Enum | Id)


def _wanted(machine: Machine, action: Action) -> frozenset[str] | None:
    """Return the bindings by which groups tell steps of a row apart; None where it is in none."""
    found = [
        names for group in machine.fair_groups for row, names in group.rows if row == action.name
    ]
    return frozenset().union(*found) if found else None


def _fair_row(action: Action, first: int, wanted: frozenset[str], *, whole: bool) -> FairRow:
    names: list[tuple[str, Type]] = []
    for binding in action.bindings:
        kind = item_of(binding.domain.type)
        if kind is None:
            raise TypeError(f"{binding.domain.type} is no domain")
        if binding.shown and _splits(kind) and (whole or binding.name in wanted):
            names.append((binding.name, kind))
    return _numbered(action.name, tuple(names), first, strong=action.fair == "strong")


def _numbered(name: str, per: tuple[tuple[str, Type], ...], first: int, *, strong: bool) -> FairRow:
    found: list[tuple[str, Type, int]] = []
    factor = 1
    for binding, kind in reversed(per):
        found.append((binding, kind, factor))
        factor *= cardinality(kind)
    return FairRow(name, first, factor, strong, tuple(reversed(found)))


def _promises(
    machine: Machine, rows: dict[str, FairRow], promised: list[FairRow]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the starts and numbers of what each label is promised."""
    by_name = {row.row: row for row in promised}
    own = {action.name for action in machine.actions if action.fair != "none"}
    sizes: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
    tables: list[NDArray[np.int64]] = []
    for row in rows.values():
        labels = np.arange(row.count)
        columns = [by_name[row.row].first + labels] if row.row in own else []
        columns += [
            _group_numbers(row, labels, by_name[group.name], names)
            for group in machine.fair_groups
            for name, names in group.rows
            if name == row.row
        ]
        tables.append(np.stack(columns, axis=1).ravel())
        sizes.append(np.full(row.count, len(columns), np.int64))
    starts = np.cumsum(np.concatenate(sizes))
    return starts, np.concatenate([*tables, np.empty(0, np.int64)]).astype(np.int32)


def _group_numbers(
    row: FairRow, labels: NDArray[np.int64], group: FairRow, names: tuple[str, ...]
) -> NDArray[np.int64]:
    """Return the instance of a group that each label of one of its rows belongs to."""
    known = {name: (kind, factor) for name, kind, factor in row.splits}
    numbers = np.full(len(labels), group.first, np.int64)
    for binding, (_, wide, times) in zip(names, group.splits, strict=True):
        kind, factor = known[binding]
        codes = np.array(
            [code_of(wide, value_of(kind, code)) for code in range(cardinality(kind))], np.int64
        )
        numbers += codes[labels // factor % cardinality(kind)] * times
    return numbers


def _require_few(total: int, name: str, count: int, span: Span) -> None:
    if total > INSTANCES_MAX:
        raise SpecificationError(
            (
                Diagnostic(
                    code="R611",
                    message=f"too many fair row instances with those of `{name}`",
                    span=span,
                    expected=f"at most {INSTANCES_MAX} of all fair rows together",
                    found=f"{count} of this row",
                    help="let its `for:` range over less, or let it be unfair",
                ),
            )
        )
