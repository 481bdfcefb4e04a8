"""The Frame: what the code being written sees - variables, names in scope, where errors go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from checker.frozen import frozen
from checker.layout.shape import Shape, shape_of
from checker.llvm.code import Code, Flag, Operand, Ref
from checker.machine import terms
from checker.machine.terms import Term
from checker.machine.types import Type
from checker.passes.analysis import Analysis
from checker.passes.signatures import Signatures

Value = int | str | Ref
"""A value in flight: a flag for Bool, cells in memory where the shape is not scalar, else a
number (a Range's actual value, the canonical code of anything else)."""


@frozen()
class Bound:
    """A name that never changes: a binding, a comprehension's variable, a parameter."""

    value: Value
    shape: Shape


@frozen()
class Mutable:
    """A local that statements assign: where its code (scalar shapes), or its cells, are kept."""

    place: Ref
    shape: Shape


@dataclass(slots=True)
class Constants:
    """Constant cell arrays of a module, each once."""

    names: dict[tuple[int, ...], str] = field(default_factory=dict)
    prefix: str = "@cells"

    def array(self, cells: Sequence[int]) -> Ref:
        """Return the place of a constant array with these cells."""
        key = tuple(cells)
        name = self.names.setdefault(key, f"{self.prefix}{len(self.names)}")
        return Ref(name)

    def text(self) -> str:
        """Return the definitions of the arrays."""
        lines = []
        for cells, name in self.names.items():
            items = ", ".join(f"i64 {cell}" for cell in cells) or "i64 0"
            size = max(len(cells), 1)
            lines.append(f"{name} = private unnamed_addr constant [{size} x i64] [{items}]\n")
        return "".join(lines)


class Shapes:
    """The shape of each type, found by identity: types are large and hashed slowly."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Type, Shape]] = {}

    def __getitem__(self, kind: Type) -> Shape:
        known = self._known.get(id(kind))
        if known is None:
            known = self._known[id(kind)] = (kind, shape_of(kind))
        return known[1]


@dataclass(slots=True)
class Frame:
    """The surroundings of a term or statement.

    `variables` are the places of the state variables as they are now; `following` those of the
    next state, for `next(...)` in step properties. `error` is the label an evaluation error goes
    to. `facts` are message kinds known of locals: what `IsVariant` tests established. `unrolling`:
    comprehensions over small domains may be written element by element. `signatures` are there
    where the values of terms that were written before are taken up.
    """

    code: Code
    constants: Constants
    shapes: Shapes
    analysis: Analysis
    evaluate: Callable[[Frame, Term], Value]
    variables: dict[str, Ref]
    error: str
    following: dict[str, Ref] | None = None
    locals: dict[str, Bound | Mutable] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    unrolling: bool = True
    signatures: Signatures | None = None

    def value(self, term: Term) -> Value:
        """Return the value of a term."""
        return self.evaluate(self, term)

    def number(self, term: Term) -> Operand:
        """Return the value of a term whose shape is scalar and which is no Bool."""
        value = self.evaluate(self, term)
        assert not isinstance(value, Ref)
        return value

    def flag(self, term: Term) -> Flag:
        """Return the value of a Bool term."""
        value = self.evaluate(self, term)
        assert isinstance(value, (bool, str))
        return value

    def cells(self, term: Term) -> Ref:
        """Return the cells of the value of a term whose shape is not scalar."""
        value = self.evaluate(self, term)
        assert isinstance(value, Ref)
        return value

    def fail_if(self, flag: Flag) -> None:
        """Leave with an evaluation error if `flag`."""
        self.code.leave_if(flag, self.error)

    def require(self, flag: Flag) -> None:
        """Leave with an evaluation error unless `flag`."""
        self.code.leave_unless(flag, self.error)

    @contextmanager
    def bound(self, name: str, value: Bound | Mutable) -> Iterator[None]:
        """Let `name` be `value` inside the block."""
        before = self.locals.get(name)
        known = dict(self.facts)
        self.facts.pop(name, None)
        self.locals[name] = value
        try:
            yield
        finally:
            if before is None:
                del self.locals[name]
            else:
                self.locals[name] = before
            self.facts = known

    def learn(self, term: Term) -> None:
        """Remember what the truth of `term` says of the message kinds of unchanging locals."""
        match term:
            case terms.IsVariant(terms.Local(name, _, _), variant, _):
                if isinstance(self.locals.get(name), Bound):
                    self.facts[name] = variant
            case terms.And(items, _):
                for item in items:
                    self.learn(item)
