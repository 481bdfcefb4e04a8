"""The world of a specification: every declared name, resolved and typed, in one place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.elaborate.wrong import TooMuch
from checker.errors import Diagnostic
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import Action, Variable
from checker.machine.types import Bag, Enum, Id, Range, Record, Sequence, Set, Type, Union
from checker.source import Span
from checker.table.document import (
    Calls,
    Channel,
    Definition,
    Document,
    Operation,
    Procedure,
    Timer,
)
from checker.table.problems import Problems

if TYPE_CHECKING:
    from checker.elaborate.kept import Kept

TERMS_MAX = 100_000
"""Terms a machine may have."""

WORK_MAX = 400_000
"""Terms elaboration may build on the way (locals whose range grows are elaborated again)."""

DEPTH_MAX = 120
"""How deep expressions may nest once definitions are put in."""


EXPIRED = "expired"
"""What a row takes of a timer."""


@dataclass(slots=True)
class Meter:
    """Counts what is built, so that a hostile specification ends with a message."""

    terms: int = 0
    work: int = 0

    def tick(self, span: Span) -> None:
        """Count one term; raise TooMuch (Y311) beyond the limits."""
        self.terms += 1
        self.work += 1
        if self.terms > TERMS_MAX or self.work > WORK_MAX:
            self.add(0, 0, span)

    def add(self, terms: int, work: int, span: Span) -> None:
        """Count terms, and those built on the way; raise TooMuch (Y311) beyond the limits."""
        self.terms += terms
        self.work += work
        if self.terms > TERMS_MAX or self.work > WORK_MAX:
            raise TooMuch(
                "Y311",
                "the specification is too large once definitions and procedures are put in",
                span,
                expected=f"at most {TERMS_MAX} terms",
                help="let definitions use their parameters less often, or split the system",
            )


@frozen()
class ComponentInfo:
    """A component: its key type, if there is one for each, and its members' own names."""

    name: str
    per: Type | None
    members: tuple[str, ...]


@frozen()
class ChannelInfo:
    """A channel: keys of `per`, the union of its messages, the type of one channel's content."""

    entry: Channel
    keys: tuple[Type, ...]
    message: Union
    content: Bag | Sequence | Set


@frozen()
class CallsInfo:
    """Calls: who calls, the slots of one caller, what a slot holds, what a handle is.

    The state is a total map from callers to total maps from slots to one of Free, Requested
    (`open`, `request`), Parked (`live`), Answered (`response`). `open` and `live` say whether the
    connection of the call still stands.
    """

    entry: Calls
    key: Type
    slots: Range
    requests: Union
    responses: Union
    slot: Union
    handle: Record


@frozen()
class OperationInfo:
    """An operation: its key, the record of captures (and `late`), the type of those in flight."""

    entry: Operation
    key: Type | None
    record: Record
    late: bool
    content: Bag | Sequence


@frozen()
class TimerInfo:
    """A timer: its keys, the record of captures, the type of those armed at one key.

    The expiries that run although their timers were cancelled are in a variable of their own, which
    there is where `late_cancels` is declared. `budget` is that of cancels that come too
    late, None where there are none.
    """

    entry: Timer
    keys: tuple[Type, ...]
    record: Record
    content: Bag
    budget: str | None

    @property
    def late(self) -> str:
        """The name of the variable of expiries that run after their timers were cancelled."""
        return f"{self.entry.name.text}.late"


@dataclass(slots=True)
class World:
    """Everything names can mean. Filled by `constants` and `declarations`, then only read."""

    document: Document
    problems: Problems
    constants: dict[str, t.Literal] = field(default_factory=dict)
    without_value: set[str] = field(default_factory=set)
    """Constants of which it is told already that they have no value."""
    types: dict[str, Type] = field(default_factory=dict)
    values: dict[str, list[Enum | Id]] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    components: dict[str, ComponentInfo] = field(default_factory=dict)
    channels: dict[str, ChannelInfo] = field(default_factory=dict)
    calls: dict[str, CallsInfo] = field(default_factory=dict)
    operations: dict[str, OperationInfo] = field(default_factory=dict)
    timers: dict[str, TimerInfo] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)
    procedures: dict[str, Procedure] = field(default_factory=dict)
    budgets: dict[str, int | None] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    """The rows that exist, once they are elaborated: what a property can ask of."""
    guarding: list[str] = field(default_factory=list)
    """Rows whose guards are being elaborated because another guard asks whether they can run."""
    nexts: int = 0
    """How often `next` was met, also where nothing is left of it because a constant decides."""
    meter: Meter = field(default_factory=Meter)
    warnings: list[Diagnostic] = field(default_factory=list)
    kept: Kept | None = None
    """What other instances have made, once the world has entered it; it need not."""
    meanings: dict[str, int] = field(default_factory=dict)
    """The numbers of what words mean, among what they meant in other instances (see `kept`)."""

    def declare_values(self, kind: Enum | Id) -> None:
        """Make the members of an enum or of an asymmetric id type known as names."""
        for member in kind.members:
            owners = self.values.setdefault(member, [])
            if kind not in owners:
                owners.append(kind)

    def is_state(self, word: str) -> bool:
        """Whether a name means a part of the state."""
        return any(
            word in part
            for part in (
                self.variables,
                self.components,
                self.channels,
                self.operations,
                self.timers,
                self.calls,
            )
        )

    def handles(self, kind: Type) -> CallsInfo | None:
        """Return the calls of which `kind` is the handle."""
        return next((calls for calls in self.calls.values() if calls.handle == kind), None)

    def warn(self, code: str, message: str, span: Span, advice: str | None = None) -> None:
        """Keep one lint; a body that is elaborated again says nothing twice."""
        self.keep(Diagnostic(code, message, span, help=advice, severity="warning"))

    def keep(self, lint: Diagnostic) -> None:
        """Keep a lint, once."""
        if lint not in self.warnings:
            self.warnings.append(lint)


class Allocator:
    """Hands out the names of locals, each once in an action or property.

    What a row binds is called as the row calls it, for steps are told by these names: they are
    kept for it, whatever an expression before it calls something.
    """

    def __init__(self) -> None:
        self._used: dict[str, int] = {}
        self._kept: set[str] = set()

    def keep(self, surfaces: Iterable[str]) -> None:
        """Keep names for the bindings that are called so."""
        self._kept |= {surface for surface in surfaces if surface not in self._used}

    def binding(self, surface: str) -> str:
        """Return `surface` for the one binding that it is kept for; otherwise as `unique`."""
        if surface in self._kept:
            self._kept.remove(surface)
            self._used.setdefault(surface, 1)
            return surface
        return self.unique(surface)

    def unique(self, surface: str) -> str:
        """Return `surface`, or `surface#2` and so on where it is taken or kept."""
        number = self._used.get(surface, int(surface in self._kept)) + 1
        self._used[surface] = number
        return surface if number == 1 else f"{surface}#{number}"
