"""What one row does to one machine, found without running it: a sound over-approximation.

A machine is put into one state, the guard and the effects of the row are followed with that known
and nearly everything else unknown. What cannot be told stays possible, so a row is only ever said
not to apply, or not to lead somewhere, where that is certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import Action, Variable
from checker.machine.terms import Statement, Term
from checker.machine.types import Enum, Option, Record, Union
from checker.machine.walk import statements_inside, walk

SUBJECT = ""
"""The name under which an environment knows the states that the machine may be in."""

Key = tuple[object, ...]
"""Which of several machines: the shape of the term in the brackets; empty where there is one."""

ANY: Key = ("any",)
"""The machine of an id that the row only finds while it runs."""

_THIS: Key = ("this",)
_OTHER: Key = ("other",)
"""In a round of a loop: its machine is the one that is followed, or another one."""

_Values = frozenset[object] | None
"""The values that something may have; None where nothing is known."""

_Known = dict[str, _Values]

_TRUE = frozenset({True})
_FALSE = frozenset({False})
_BOTH = frozenset({True, False})


@frozen()
class Found:
    """What a row does to a machine in one state: where it may be then, and what is sent.

    `moves`: some way through the row assigns the state, which is a transition even to itself.
    """

    targets: tuple[str, ...]
    moves: bool
    sends: tuple[str, ...]


def follow(action: Action, variable: Variable) -> dict[Key, dict[str, Found]]:
    """Return what a row does to each machine of `variable` that it is about, from each state.

    A machine is told by its key, which is `()` where there is only one; a state that is missing is
    one in which the row cannot run. A row that is not about any is followed as if there were one.
    """
    row = _Row(action, variable)
    found: dict[Key, dict[str, Found]] = {}
    for subject in _subjects(row) or ((),):
        ways = ((state, row.run(subject, state)) for state in row.states)
        found[subject] = {state: way for state, way in ways if way is not None}
    return found


def _subjects(row: _Row) -> tuple[Key, ...]:
    """Return the machines that a row's guard asks about or its effects move, if any."""
    action, variable = row.action, row.variable
    found: dict[Key, None] = {}
    for node in walk(action):
        match node:
            case t.At(item=t.Read(variable=name), key=key) if name == variable.name:
                found.setdefault(row.key(key) or ANY)
            case t.Read(variable=name) if name == variable.name and not row.several:
                found.setdefault(())
            case t.Transition(place=place) if place.variable == variable.name:
                found.setdefault(row.key_of(place) or (ANY if row.several else ()))
    return tuple(found)


def is_about(action: Action, variable: Variable) -> bool:
    """Whether the guard of a row asks about the machine, or its effects move it."""
    asked = [binding.domain for binding in action.bindings]
    asked += [binding.condition for binding in action.bindings if binding.condition is not None]
    guard = walk(*asked, *(term for _, term in action.lets), action.guard)
    if any(isinstance(node, t.Read) and node.variable == variable.name for node in guard):
        return True
    return any(
        isinstance(node, t.Transition) and node.place.variable == variable.name
        for node in statements_inside(action.body)
    )


class _Row:
    """One row, followed for one machine."""

    def __init__(self, action: Action, variable: Variable) -> None:
        self.action = action
        self.variable = variable
        self.subject: Key = ()
        self.several = not isinstance(variable.type, Enum)
        kind = variable.type if isinstance(variable.type, Enum) else variable.type.value  # type: ignore[union-attr]
        assert isinstance(kind, Enum)
        self.states = kind.members
        self.everywhere: frozenset[object] = frozenset(self.states)
        self.names: dict[str, Key] = {}
        self.unstable = set(_unstable(action))
        self.rounds: dict[str, Key] = {}
        for name, value in action.lets:
            self.names[name] = self.key(value) or ("local", name)
        for statement in statements_inside(action.body):
            if isinstance(statement, t.SetLocal) and statement.name not in self.unstable:
                self.names[statement.name] = self.key(statement.value) or ("local", statement.name)

    def run(self, subject: Key, state: str) -> Found | None:
        """Follow the row where the machine `subject` is in `state`; None if it cannot run."""
        self.subject = subject
        self.sends: dict[str, None] = {}
        self.moved = False
        self.begin: _Known = {}
        self.ends: list[_Known] = []
        self.leaves: dict[str, list[_Known]] = {}
        self.breaks: list[list[_Known]] = []
        known: _Known = {SUBJECT: frozenset({state})}
        for binding in self.action.bindings:
            if binding.condition is not None and True not in self.truth(binding.condition, known):
                return None
        for name, value in self.action.lets:
            known[name] = self.values(value, known)
        if True not in self.truth(self.action.guard, known):
            return None
        self.begin = dict(known)
        last = self.block(self.action.body, known)
        ends = [*self.ends, *([last] if last is not None else [])]
        if not ends:
            return None
        after = frozenset[object]().union(*(end[SUBJECT] or self.everywhere for end in ends))
        targets = tuple(name for name in self.states if name in after)
        return Found(targets, self.moved, tuple(self.sends))

    # --------------------------------------------------------------------------------- machines

    def key(self, term: Term) -> Key | None:
        """Return the shape of an index whose value cannot change within the row, or None."""
        match term:
            case t.Cast(item=item):
                return self.key(item)
            case t.Literal(value=value):
                return ("value", str(value))
            case t.Local(name=name) if name in self.rounds:
                return self.rounds[name]
            case t.Local(name=name):
                return None if name in self.unstable else self.names.get(name, ("local", name))
            case t.Field(item=item, name=name):
                inner = self.key(item)
                return None if inner is None else ("field", inner, name)
            case _:
                return None

    def is_subject(self, key: Key | None) -> bool:
        """Return whether a key is certainly that of the machine that is followed."""
        return key == _THIS or (key == self.subject and key != ANY)

    def key_of(self, place: t.Place) -> Key | None:
        """Return which machine a place is; () where there is only one."""
        if not self.several:
            return ()
        first = place.steps[0].key if place.steps else None
        return None if first is None else self.key(first)

    # ------------------------------------------------------------------------------------ terms

    def truth(self, term: Term, known: Mapping[str, _Values]) -> frozenset[object]:
        """Return which of true and false a condition may be."""
        values = self.values(term, known)
        return _BOTH if values is None else values

    def values(self, term: Term, known: Mapping[str, _Values]) -> _Values:
        """Return the values that a term may have."""
        match term:
            case t.Literal(value=value):
                return frozenset({value})
            case t.Local(name=name):
                return known.get(name)
            case t.Read(variable=name) if name == self.variable.name and not self.several:
                return known[SUBJECT]
            case t.At(item=t.Read(variable=name), key=key) if name == self.variable.name:
                return known[SUBJECT] if self.is_subject(self.key(key)) else self.everywhere
            case t.Cast(item=item):
                return self.values(item, known)
            case t.Let(name=name, value=value, body=body):
                self.names.setdefault(name, self.key(value) or ("local", name))
                return self.values(body, {**known, name: self.values(value, known)})
            case t.Choose(condition=condition, then=then, otherwise=otherwise):
                return self.choice(condition, then, otherwise, known)
            case t.SetOf(items=items):
                inside = [self.values(item, known) for item in items]
                if any(found is None or len(found) != 1 for found in inside):
                    return None
                return frozenset({frozenset(value for found in inside for value in found or ())})
            case _:
                return self.condition(term, known)

    def choice(
        self, condition: Term, then: Term, otherwise: Term, known: Mapping[str, _Values]
    ) -> _Values:
        found: frozenset[object] = frozenset()
        for wanted, branch in ((True, then), (False, otherwise)):
            narrowed = self.where(condition, dict(known), wanted=wanted)
            if narrowed is not None:
                values = self.values(branch, narrowed)
                if values is None:
                    return None
                found |= values
        return found

    def condition(self, term: Term, known: Mapping[str, _Values]) -> _Values:
        match term:
            case t.Not(item=item):
                return frozenset(not value for value in self.truth(item, known))
            case t.And(items=items):
                return self.joined([self.truth(item, known) for item in items], absorbing=False)
            case t.Or(items=items):
                return self.joined([self.truth(item, known) for item in items], absorbing=True)
            case t.Implies(left=left, right=right):
                first = frozenset(not value for value in self.truth(left, known))
                return self.joined([first, self.truth(right, known)], absorbing=True)
            case t.Equal(left=left, right=right):
                return _same(self.values(left, known), self.values(right, known))
            case t.Contains(item=item, collection=collection):
                return _contained(self.values(item, known), self.values(collection, known))
            case _:
                return None

    def joined(self, found: list[frozenset[object]], *, absorbing: bool) -> frozenset[object]:
        """Return the truth of `or` (absorbing True) or `and` (False) of conditions."""
        result: set[object] = set()
        if any(absorbing in truth for truth in found):
            result.add(absorbing)
        if all((not absorbing) in truth for truth in found):
            result.add(not absorbing)
        return frozenset(result)

    def where(self, condition: Term, known: _Known, *, wanted: bool) -> _Known | None:
        """Return what is known where a condition is as wanted; None where it never is."""
        kept = frozenset(
            state
            for state in known[SUBJECT] or self.everywhere
            if wanted in self.truth(condition, {**known, SUBJECT: frozenset({state})})
        )
        return {**known, SUBJECT: kept} if kept else None

    # ------------------------------------------------------------------------------- statements

    def block(self, statements: Iterable[Statement], known: _Known) -> _Known | None:
        """Return what is known behind some statements; None where nothing gets there."""
        now = known
        for statement in statements:
            behind = self.statement(statement, now)
            if behind is None:
                return None
            now = behind
        return now

    def statement(self, statement: Statement, known: _Known) -> _Known | None:
        match statement:
            case t.Transition():
                return self.transition(statement, known)
            case t.SetLocal(name=name, value=value):
                self.say(name, value, known)
                return {**known, name: self.values(value, known)}
            case t.If(condition=condition, then=then, otherwise=otherwise):
                return self.branches(condition, then, otherwise, known)
            case t.For():
                return self.loop(statement, known)
            case t.Break():
                self.breaks[-1].append(known)
                return None
            case t.Pick(name=name) | t.Fresh(name=name):
                return {**known, name: None}
            case (
                t.Send(message=message, label="sent" | "started")
                | t.Note(message=message, label="sent")
            ):
                self.sends |= dict.fromkeys(self.messages(message, known))
                return known
            case t.Require(condition=condition) | t.Assert(condition=condition):
                return self.where(condition, known, wanted=True)
            case t.Reject(body=body):
                end = self.block(body, dict(self.begin))
                self.ends += [end] if end is not None else []
                return None
            case t.Scope(label=label, body=body):
                self.leaves[label] = []
                return _join([self.block(body, known), *self.leaves.pop(label)])
            case t.Leave(label=label):
                self.leaves[label].append(known)
                return None
            case _:
                return known

    def transition(self, statement: t.Transition, known: _Known) -> _Known:
        if statement.place.variable != self.variable.name:
            return known
        key = self.key_of(statement.place)
        if key == _OTHER:
            return known
        new = self.values(statement.value, known)
        new = self.everywhere if new is None else new
        self.moved = True
        before = known[SUBJECT] or self.everywhere
        return {**known, SUBJECT: new if self.is_subject(key) else before | new}

    def branches(
        self,
        condition: Term,
        then: tuple[Statement, ...],
        otherwise: tuple[Statement, ...],
        known: _Known,
    ) -> _Known | None:
        ends = []
        for wanted, body in ((True, then), (False, otherwise)):
            narrowed = self.where(condition, known, wanted=wanted)
            ends.append(None if narrowed is None else self.block(body, narrowed))
        return _join(ends)

    def loop(self, statement: t.For, known: _Known) -> _Known | None:
        """Follow a loop until another round adds nothing.

        A round is about the machine that is followed, or about another one.
        """
        now = known
        while True:
            self.breaks.append([])
            behind = []
            for role in (_THIS, _OTHER) if self.several else (_OTHER,):
                self.rounds[statement.name] = role
                behind.append(self.block(statement.body, {**now, statement.name: None}))
            del self.rounds[statement.name]
            broken = self.breaks.pop()
            again = _join([now, *behind])
            if again == now:
                return _join([now, *broken])
            assert again is not None
            now = again

    # --------------------------------------------------------------------------------- messages

    def say(self, name: str, value: Term, known: _Known) -> None:
        """Remember the messages that a local may stand for."""
        if isinstance(value.type, Record | Union):
            found = frozenset[object](self.messages(value, known))
            before = self.begin.get(f"message {name}") or frozenset()
            self.begin[f"message {name}"] = found | before

    def messages(self, term: Term, known: Mapping[str, _Values]) -> tuple[str, ...]:
        """Return the messages that a term may be, each with its outcome where that is known."""
        match term:
            case t.Local(name=name) if (said := self.begin.get(f"message {name}")) is not None:
                return tuple(sorted(map(str, said)))
            case t.Cast(item=item) | t.With(item=item):
                return self.messages(item, known)
            case t.Let(name=name, value=value, body=body):
                self.say(name, value, dict(known))
                return self.messages(body, {**known, name: self.values(value, known)})
            case t.Choose(then=then, otherwise=otherwise):
                both = (*self.messages(then, known), *self.messages(otherwise, known))
                return tuple(dict.fromkeys(both))
            case t.RecordOf(name=name, fields=fields):
                for _, value in fields:
                    if isinstance(value.type, Enum):
                        found = self.values(value, known)
                        one = found is not None and len(found) == 1
                        return (f"{name}({next(iter(found or ()))})" if one else name,)
                return (name,)
            case _:
                kind = term.type.item if isinstance(term.type, Option) else term.type
                shapes = kind.variants if isinstance(kind, Union) else (kind,)
                return tuple(shape.name for shape in shapes if isinstance(shape, Record))


def _unstable(action: Action) -> Iterator[str]:
    """Yield the names of locals that may change within a row, or differ from round to round."""
    assigned: set[str] = set()
    for node in walk(action):
        if isinstance(node, t.Generator):
            yield node.name
        elif isinstance(node, t.For):
            yield node.name
            for inner in statements_inside(node.body):
                if isinstance(inner, t.SetLocal | t.Pick | t.Fresh):
                    yield inner.name
        elif isinstance(node, t.SetLocal | t.Pick | t.Fresh | t.Let):
            if node.name in assigned:
                yield node.name
            assigned.add(node.name)


def _same(left: _Values, right: _Values) -> _Values:
    if left is None or right is None:
        return None
    if not left & right:
        return _FALSE
    return _TRUE if len(left) == 1 and left == right else _BOTH


def _contained(items: _Values, collections: _Values) -> _Values:
    if items is None or collections is None or len(collections) != 1:
        return None
    collection = next(iter(collections))
    if not isinstance(collection, frozenset):
        return None
    if items <= collection:
        return _TRUE
    return _BOTH if items & collection else _FALSE


def _join(ways: Iterable[_Known | None]) -> _Known | None:
    """Return what is known wherever one came from."""
    real = [way for way in ways if way is not None]
    if not real:
        return None
    joined: _Known = dict(real[0])
    for way in real[1:]:
        for name in {**joined, **way}:
            one, other = joined.get(name), way.get(name)
            if one is None or other is None:
                joined[name] = None
            elif one is not other:
                joined[name] = one | other
    return joined
