"""The Machine: one instance of a specification, typed and closed, ready to be run.

Channels, operations, timers, calls, faults and budgets have become variables and actions here, so
that whatever runs a machine needs to know variables, actions and properties only.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from checker.errors import Diagnostic
from checker.frozen import frozen
from checker.machine.relations import item_of
from checker.machine.temporal import Formula
from checker.machine.terms import Statement, Term
from checker.machine.types import Id, Type
from checker.source import Heading, Source, Span
from checker.table.document import PropertyKind
from checker.table.state_table import StateTable

Origin = Literal["variable", "machine", "channel", "calls", "operation", "timer", "budget"]
Fairness = Literal["none", "weak", "strong"]

LIVENESS: frozenset[PropertyKind] = frozenset(
    ("eventually", "leads_to", "always_eventually", "eventually_always", "ltl")
)
"""The kinds of property that only infinite runs decide."""

OF_STEPS: frozenset[PropertyKind] = frozenset(("step", "refines"))
"""The kinds of property that are judged on every step."""


@frozen()
class Variable:
    """One state variable: its qualified name (`client.generation`), type and initial value.

    A `per` variable is a total Map from its ids. `table` names the table of a machine's state
    (then the type is the table's Enum, or a total Map to it). `lane` is the party a sequence
    diagram shows for a channel, if the specification names one. `of_each`: its component is one for
    each of its first keys, so that `client[c1].seen` is a place; None where nobody said so.
    """

    name: str
    type: Type
    initial: Term
    origin: Origin
    table: str | None
    span: Span
    of_each: bool | None = None


@frozen()
class Binding:
    """`name` ranges over `domain` (Set, Map keys, Sequence, Bag: distinct items) where `condition`.

    Bindings nest left to right; a later domain may depend on earlier names. A binding that is not
    `shown` is left out of a step's name (the message a row consumes is shown by its fields).
    """

    name: str
    domain: Term
    condition: Term | None
    shown: bool


@frozen()
class Trigger:
    """What starts an action, for readers: a message or outcome, or the expiry of a timer."""

    kind: Literal["message", "outcome", "expiry", "spontaneous"]
    channel: str | None
    message: str | None


@frozen()
class Action:
    """A row as one atomic step: bindings, then guard, then body.

    `lets` are names for parts of the bindings, evaluated in order before the guard (the fields of
    the consumed message); those in `shown_lets` belong to the step's name. `fault` names the fault
    whose budget the body spends; a fault is never fair and does not count against deadlock.
    """

    name: str
    bindings: tuple[Binding, ...]
    lets: tuple[tuple[str, Term], ...]
    shown_lets: tuple[str, ...]
    guard: Term
    body: tuple[Statement, ...]
    trigger: Trigger
    fault: str | None
    fair: Fairness
    generated: bool
    actor: str | None
    about: str
    source: str
    span: Span

    @property
    def shown(self) -> dict[str, Type]:
        """The bindings and lets that belong to a step's name, in its order, with their types."""
        kinds = {
            binding.name: item_of(binding.domain.type) for binding in self.bindings if binding.shown
        }
        lets = {name: term.type for name, term in self.lets}
        kinds.update((name, lets[name]) for name in self.shown_lets)
        return {name: kind for name, kind in kinds.items() if kind is not None}


@frozen()
class Property:
    """What must hold.

    `condition` is the term of `always`, `step`, `sometimes`, `eventually`; for `leads_to` it is
    `to`, and `premise` is `from`, which is true for `always_eventually`. For `refines` it is what
    each step must be, and `premise` what each initial state must be. Of `ltl` and
    `eventually_always` there is a `formula` over `atoms`; the `condition` of `ltl` is only its
    text. `initially`: the claim is of runs from such initial states; `within_bounds`: of runs that
    stay within the bounds. One that `asks` is no claim: whether it is violated, or witnessed, tells
    whether something is vacuous. Where `for:` makes several of one, `declared` is the name of all.
    """

    name: str
    kind: PropertyKind
    condition: Term
    premise: Term | None
    why: str
    source: str
    span: Span
    declared: str = ""
    atoms: tuple[Term, ...] = ()
    formula: Formula | None = None
    initially: Term | None = None
    within_bounds: bool = False
    asks: bool = False

    @property
    def watches(self) -> tuple[Watch, ...]:
        """What judging infinite runs has to know of each state; first what is to come about."""
        first = tuple(Watch(self.name, None, atom) for atom in self.atoms)
        if self.kind == "eventually":
            return (Watch(self.name, self.initially, self.condition),)
        if self.formula is None:
            first = (Watch(self.name, self.premise, self.condition),)
        return first if self.initially is None else (*first, Watch(self.name, None, self.initially))


@frozen()
class Watch:
    """Conditions that are observed in every state for the property called `name`."""

    name: str
    premise: Term | None
    condition: Term


@frozen()
class FairGroup:
    """Rows that fairness is promised to together: one of them is done in the end.

    `per` are the names and types that tell instances of the group apart; `rows` has with each row
    its bindings that stand for them, in that order. `strong`: strongly fair, else weakly.
    """

    name: str
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    per: tuple[tuple[str, Type], ...]
    strong: bool
    span: Span


@frozen()
class Expectation:
    """What an instance declares of its own run; None where it says nothing.

    `rows`: how often some of them fired.
    """

    verdict: str | None
    property: str | None
    distinct: int | None
    generated: int | None
    depth: int | None
    length: int | None
    also: tuple[str, ...]
    span: Span
    rows: tuple[tuple[str, int], ...] = ()

    def allows(self, *names: str | None) -> bool:
        """Whether a property that has these names may break."""
        return not {self.property, *self.also}.isdisjoint(names)


Part = Action | Property | Term
"""What a machine evaluates: a row, a property, or the term of an initial value or a bound."""


@frozen()
class Machine:
    """One instance of a specification with all constants fixed.

    `initial`: the initial states are the successors of the state in which every variable has its
    `Variable.initial` value, under this action (bindings, guard, body; every choice one state).
    `bounds`: a state in which one of them is false is checked but neither stored nor expanded.
    `step_bounds`: a step of which one is false is cut like that, whatever state it leads to.
    `terminal`: a state in which one of them is true is no deadlock.
    `sources`: every file of the system, in order; `headings`: those that its author wrote in them.
    `symmetry`: whether a search may keep one state of each orbit; never where `unlike` says what
    may tell interchangeable ids apart. `endless_symmetry`: also where infinite runs are judged.
    """

    name: str
    path: str
    instance: str
    about: str
    constants: tuple[tuple[str, object], ...]
    tables: tuple[StateTable, ...]
    ids: tuple[Id, ...]
    variables: tuple[Variable, ...]
    initial: Action
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    bounds: tuple[Term, ...]
    terminal: tuple[Term, ...]
    deadlock: bool
    budgets: tuple[tuple[str, int], ...]
    expectation: Expectation | None
    tier: Literal["quick", "full"]
    symmetry: bool
    warnings: tuple[Diagnostic, ...] = field(default=())
    fair_groups: tuple[FairGroup, ...] = ()
    step_bounds: tuple[Term, ...] = ()
    sources: tuple[Source, ...] = field(default=())
    headings: tuple[Heading, ...] = field(default=())
    unlike: tuple[Diagnostic, ...] = field(default=())
    endless_symmetry: bool = False

    @property
    def parts(self) -> tuple[Part, ...]:
        """Everything that is ever evaluated, in the order in which it is met."""
        return (
            *(variable.initial for variable in self.variables),
            self.initial,
            *self.actions,
            *self.properties,
            *self.bounds,
            *self.step_bounds,
            *self.terminal,
        )

    @property
    def judges_runs(self) -> bool:
        """Whether some property is one that only infinite runs decide.

        A formula without conditions observes nothing, and is judged all the same.
        """
        return any(item.kind in LIVENESS for item in self.properties)

    @property
    def watches(self) -> tuple[Watch, ...]:
        """What is observed in every state for all properties of infinite runs, in order."""
        return tuple(
            watch for item in self.properties if item.kind in LIVENESS for watch in item.watches
        )

    def table(self, name: str) -> StateTable:
        """Return the state table called `name`; KeyError if there is none."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(name)

    def variable(self, name: str) -> Variable:
        """Return the variable called `name`; KeyError if there is none."""
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise KeyError(name)
