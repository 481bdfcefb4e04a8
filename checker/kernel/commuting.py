"""Steps that need not be looked up, because the same states are come upon in another way.

Row instances are numbered as they are written. A state t was first found by some instance a, its
*arrival*: t = a(s). Where b has a lower number than a, and neither looks at or changes what the
other changes, b was enabled in s already, and b(t) = a(b(s)): the search comes upon b(t) from the
state b(s), which is not deeper than t, unless it leaves that out as well, because b(s) arrived by
an instance with a number above a's. Numbers rise along such a chain, so it ends
(docs/decisions/008-commuting-steps.md; P. Godefroid, Partial-Order Methods for the Verification
of Concurrent Systems, 1996, calls them sleep sets; this is their part that is known beforehand).

Where states are renamed to representatives, an arrival counts only if its state stayed as it was,
and numbers of one row are taken for equal: renaming ids takes each of its instances to another.

b(s) must be expanded wherever b(t) may be stored, so one of the two instances must leave alone
what the bounds look at. Where steps themselves are bounded, or judging a step may fail, nothing is
left out: b(s) could be given up for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from checker.llvm.code import Code, Operand
from checker.llvm.frame import Bound, Mutable
from checker.llvm.meta import NUMBER, STEP
from checker.machine.machine import OF_STEPS, Action, Machine
from checker.machine.types import Bool, Range
from checker.passes.analysis import Analysis
from checker.passes.footprints import Footprint, Footprints
from checker.semantics.fairness import fair_rows
from checker.semantics.symmetry import reduces
from checker.semantics.values import value_of

ROW_WORDS = 8
"""Words of the table for each number: a cache line."""

NUMBERS = 64 * ROW_WORDS
"""Numbers that instances may have, 0 among them: it is that of all that are left over."""

LOOPS = 0
"""The bit of a row that says to write also steps that change nothing; the others say of each
number whether to write the steps of the instances that have it."""

_TABLE = "@commuting"
_EVERYTHING = "@everything"
_ALL = (1 << NUMBERS) - 1


@dataclass(slots=True)
class Commuting:
    """The numbers of a machine's instances, and which of them commute."""

    footprints: Footprints
    bounds: int
    by_row: bool
    """Whether of two instances of one row both are always to be looked up."""
    instances: list[tuple[str, Footprint]] = field(default_factory=list)
    """The action and the footprint of each number, from 1 on."""
    _found: dict[tuple[str, tuple[object, ...]], Footprint] = field(default_factory=dict)

    def restart(self) -> None:
        """Forget the numbers: the rows are written anew."""
        self.instances.clear()

    def number(self, action: Action, names: Mapping[str, Bound | Mutable]) -> int:
        """Number the instances of `action` with these bindings; 0 where no number is left."""
        if len(self.instances) + 1 == NUMBERS:
            return 0
        values = _values(action, names)
        key = action.name, tuple(values.items())
        if key not in self._found:
            self._found[key] = self.footprints.of(action, values)
        self.instances.append((action.name, self._found[key]))
        return len(self.instances)

    def settles(self, number: int) -> bool:
        """Whether a second step with this number changes nothing.

        Only such steps are compared with their source; of others, hardly any leads back to it.
        """
        return number != 0 and self.instances[number - 1][1].settles

    def rows(self) -> list[int]:
        """Return the row of each number."""
        rows = [_ALL & ~(1 << LOOPS)]
        touching = [bool(item.writes & self.bounds) for _, item in self.instances]
        for a, (action, arrival) in enumerate(self.instances):
            row = rows[0]
            for b, (another, other) in enumerate(self.instances[:a]):
                if self.by_row and another == action:
                    break  # they follow each other, and are all that come before
                if not (touching[a] and touching[b]) and arrival.apart_from(other):
                    row &= ~(1 << (b + 1))
            rows.append(row)
        return rows

    def text(self) -> str:
        """Return the definition of the table."""
        words = [word for row in self.rows() for word in _words(row)]
        return (
            f"{_TABLE} = private unnamed_addr constant [{len(words)} x i64] "
            f"[{', '.join(f'i64 {word}' for word in words)}], align 64\n"
            f"{_EVERYTHING} = private unnamed_addr constant [{ROW_WORDS} x i64] "
            f"[{', '.join(['i64 -1'] * ROW_WORDS)}], align 64\n"
        )


def _words(row: int) -> list[int]:
    return [(row >> (64 * word)) & ((1 << 64) - 1) for word in range(ROW_WORDS)]


def commuting(machine: Machine, analysis: Analysis) -> Commuting | None:
    """Return what numbers the instances of a machine; None where all steps are to be looked up."""
    steps = [item.condition for item in machine.properties if item.kind in OF_STEPS]
    beside = fair_rows(machine).count.bit_length() if machine.judges_runs else 0
    if (
        machine.step_bounds
        or any(analysis.may_fail(term) for term in steps)
        or STEP + len(steps) + beside > NUMBER
    ):
        return None
    footprints = Footprints(machine.variables, analysis)
    bounds = 0
    for term in machine.bounds:
        bounds |= footprints.read_by(term, {})
    return Commuting(footprints, bounds, reduces(machine))


def _values(action: Action, names: Mapping[str, Bound | Mutable]) -> dict[str, object]:
    """Return the values of the bindings that are known now."""
    known: dict[str, object] = {}
    for binding in action.bindings:
        held = names.get(binding.name)
        if not isinstance(held, Bound) or not held.shape.scalar or not isinstance(held.value, int):
            continue
        match held.shape.type:
            case Bool():
                known[binding.name] = bool(held.value)
            case Range():
                known[binding.name] = int(held.value)
            case kind:
                known[binding.name] = value_of(kind, int(held.value))
    return known


@dataclass(slots=True)
class Wanted:
    """Which steps of the state at hand are to be written: `row` is the pointer to their bits."""

    code: Code
    row: str
    commuting: Commuting

    def bit(self, number: int) -> Operand:
        """Write: return 1 where steps with this number are wanted, else 0."""
        code = self.code
        place = code.pure(f"getelementptr inbounds i64, ptr {self.row}, i64 {number // 64}")
        word = code.pure(f"load i64, ptr {place}, align 8")
        return code.bits("and", code.bits("lshr", word, number % 64), 1)


def wanted_row(code: Code, index: str) -> str:
    """Write: return the pointer to the bits of state number `index` of those to expand."""
    known, unknown, end = code.new_label(), code.new_label(), code.new_label()
    given = code.pure("icmp ne ptr %arrivals, null")
    code.fork(given, known, unknown)
    code.label(known)
    place = code.pure(f"getelementptr inbounds i16, ptr %arrivals, i64 {index}")
    arrival = code.pure(f"zext i16 {code.value(f'load i16, ptr {place}')} to i64")
    offset = code.mul(arrival, ROW_WORDS)
    row = code.pure(f"getelementptr inbounds i64, ptr {_TABLE}, i64 {offset}")
    at = code.block
    code.jump(end)
    code.label(unknown)
    other = code.block
    code.jump(end)
    code.label(end)
    return code.phi_pointer([(row, at), (_EVERYTHING, other)])
