"""`for` statements over interchangeable ids: whether the order they are met in can matter.

The ids a loop runs over are met in ascending order, and renaming them changes that order. It does
not matter where any two rounds may change places: where each round changes only what belongs to
its own id, or all change the same thing in a way that has no order, and no round looks at what
another one changes. That is looked for here, in the text; how is told at `_SHARED`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import chain

from checker.machine import terms as t
from checker.machine.machine import Action
from checker.machine.order import met_by_name
from checker.machine.types import Bag, Map, Option, Range, Set, Type, Union
from checker.machine.types import Sequence as SequenceType
from checker.machine.walk import children, statements_inside, walk
from checker.source import Span

_SHARED = frozenset({"union", "less", "grows", "shrinks", "put", "taken", "same", "answered"})
"""Changes that all rounds may make to one thing, none looking at it otherwise: elements are only
added, or only taken away without a look; a number only grows, or only shrinks; messages are only
put into a bag or set, or only taken; every round writes the same value; or each looks first whether
nobody has answered there, which fails for all but the first (`_answers`)."""

_Steps = tuple[tuple[str, object], ...]


def partial_loops(action: Action) -> Iterator[tuple[str, Span]]:
    """Yield the loops of an action that may depend on the order of ids, and why."""
    mentions: Counter[str] | None = None
    for node in statements_inside(action.body):
        if not isinstance(node, t.For) or not met_by_name(node.domain) or _is_one(node.domain):
            continue
        if mentions is None:
            mentions = _mentions(action)
        why = _Round(node, mentions).why_ordered()
        if why is not None:
            what = f"row {action.name}: what this loop does may depend on the order of ids"
            yield f"{what}: {why}", node.span


def _is_one(domain: t.Term) -> bool:
    """Whether a loop has one round at most."""
    return isinstance(domain.type, Bag | SequenceType) and domain.type.capacity <= 1


def _mentions(*nodes: object) -> Counter[str]:
    return Counter(node.name for node in walk(*nodes) if isinstance(node, t.Local))


_LOCAL = "local "


def _local(name: str) -> str:
    """Return what a local is called among variables: none of them is called so."""
    return _LOCAL + name


class _Ordered(Exception):  # noqa: N818 - it is an answer
    """The loop is not shown to be the same in every order."""


@dataclass(slots=True)
class _Use:
    """How the rounds of a loop use one variable, or one local that outlives a round.

    `own` are the places, counted in steps, at which its id stands in what a round looks at or
    changes; -1 where it does not. `changes` are the other changes: how, where, and the value.
    """

    own: set[int] = field(default_factory=set)
    changes: set[tuple[str, object, object]] = field(default_factory=set)
    written: bool = False

    def harmless(self) -> bool:
        """Whether rounds may change places as far as this is concerned."""
        if not self.written:
            return True
        if not self.changes:
            return len(self.own) == 1 and -1 not in self.own
        ways, shapes, values = (set(items) for items in zip(*self.changes, strict=True))
        alike = len(ways) == len(shapes) == len(values) == 1
        return not self.own and alike and ways <= _SHARED


class _Round:
    """One round of a loop, read statement by statement."""

    def __init__(self, loop: t.For, mentions: Counter[str]) -> None:
        self._loop = loop
        self._uses: dict[str, _Use] = {}
        self._own = {loop.name}
        self._labels: list[str] = []
        self._inner = 0
        inside = _mentions(*loop.body)
        self._assigned = {
            node.name
            for node in statements_inside(loop.body)
            if isinstance(node, t.SetLocal | t.Pick | t.For | t.Fresh)
        }
        self._outliving = {name for name in self._assigned if mentions[name] > inside[name]}
        self._outliving |= _read_early(loop.body, self._assigned)
        self._leaks = mentions[loop.name] > inside[loop.name] or loop.name in self._assigned

    def why_ordered(self) -> str | None:
        """Return why the order may matter, None where it is shown not to."""
        if self._leaks:
            return f"`{self._loop.name}` is used behind it"
        try:
            self._block(self._loop.body)
        except _Ordered as ordered:
            return str(ordered)
        for name, use in self._uses.items():
            if not use.harmless():
                shown = name.removeprefix(_LOCAL)
                return f"`{shown}` is changed by one round and seen or changed by another"
        return None

    # ------------------------------------------------------------------------------ statements

    def _block(self, body: Sequence[t.Statement]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: t.Statement) -> None:
        match statement:
            case t.Assign(place, value, _):
                self._assign(place, value, "same")
            case t.Transition(place, value, _, kind, _):
                self._assign(place, value, kind)
            case t.Delete(place, _):
                self._change(place, "deleted", None)
            case t.SetLocal(name, value, _):
                self._set_local(name, value)
            case t.If(condition, then, otherwise, _):
                if not self._answers(statement):
                    self._look(condition)
                    self._block(then)
                    self._block(otherwise)
            case t.For(_, domain, body, _):
                self._look(domain)
                self._inner += 1
                self._block(body)
                self._inner -= 1
            case t.Pick(name, domain, condition, _):
                self._look(domain)
                self._look(condition)
                self._keep_local(name)
            case t.Send():
                self._send(statement)
            case t.Receive(place, message, label, _):
                self._element(place, message, "read" if label == "read" else "taken")
            case t.Scope(label, body, _):
                self._labels.append(label)
                self._block(body)
                self._labels.pop()
            case t.Assert(condition, _):
                self._look(condition)
            case t.Note():
                pass
            case _:
                self._ends(statement)

    def _ends(self, statement: t.Statement) -> None:
        """Say no where a round can end the loop, or the row, or takes the next free id."""
        match statement:
            case t.Break() if self._inner:
                return
            case t.Leave(label, _) if label in self._labels:
                return
            case t.Fresh():
                raise _Ordered("each round draws the least id that is free")
        raise _Ordered("a round can end it")

    def _set_local(self, name: str, value: t.Term) -> None:
        if name not in self._outliving:
            if self._is_own(value):
                once = sum(
                    isinstance(node, t.SetLocal | t.Pick | t.For) and node.name == name
                    for node in statements_inside(self._loop.body)
                )
                self._own |= {name} if once == 1 else set()
            self._look(value)
            return
        place = t.Place(_local(name), (), value.type, value.span)
        self._assign(place, value, "same")

    def _keep_local(self, name: str) -> None:
        if name in self._outliving:
            raise _Ordered(f"`{name}` outlives the round that picks it")

    def _assign(self, place: t.Place, value: t.Term, way: str) -> None:
        given = _bare(value)
        match given:
            case t.SetOperation("|" | "-" as operator, left, right) if self._is_at(left, place):
                self._element(place, right, "union" if operator == "|" else "less", whole=True)
            case t.Arithmetic("+" | "-" as operator, left, right) if self._is_at(
                left, place
            ) and _is_no_negative(right):
                self._change(place, "grows" if operator == "+" else "shrinks", right)
            case _:
                self._change(place, way, value)

    def _element(self, place: t.Place, item: t.Term, way: str, *, whole: bool = False) -> None:
        """Note that elements come to a collection or leave it; `whole`: `item` is a set of them."""
        alone = item.items[0] if isinstance(item, t.SetOf) and len(item.items) == 1 else None
        element = alone if whole else item
        apart = isinstance(place.type, Set) or (isinstance(place.type, Bag) and way == "taken")
        if apart and element is not None and self._is_own(element):
            steps = (*_steps_of(place), ("key", element))
            self._note(place.variable, steps, written=True)
            self._look_at_keys(steps)
            return
        self._change(place, way, item)

    def _send(self, statement: t.Send) -> None:
        if statement.when_full == "block":
            raise _Ordered("a round can end the row")
        room = statement.when_full == "error" or isinstance(statement.place.type, Set)
        ordered = isinstance(statement.place.type, SequenceType)
        self._element(statement.place, statement.message, "put" if room and not ordered else "full")

    def _change(self, place: t.Place, way: str, value: t.Term | None) -> None:
        """Note a change of a place: of what is the round's own, or of what all may change."""
        steps = _steps_of(place)
        self._look_at_keys(steps)
        self._look(value)
        if self._place_of_own(steps) >= 0:
            self._note(place.variable, steps, written=True)
            return
        if way == "same" and value is not None and self._names(value):
            way = "differs"
        use = self._uses.setdefault(place.variable, _Use())
        use.written = True
        shape = tuple(kind if kind == "key" else part for kind, part in steps)
        same = _shape(value) if way == "same" else None
        use.changes.add((way, shape, same))

    def _answers(self, statement: t.If) -> bool:
        """Whether a statement looks at a field of a place and then takes the field away for good.

        Of two rounds that do so at one place the second fails, in whatever order they come.
        """
        look = _bare(statement.condition)
        if not isinstance(look, t.Field) or not isinstance(look.item.type, Union):
            return False
        branches = (statement.then, statement.otherwise)
        places = []
        for branch in branches:
            first = branch[0] if branch else None
            if not isinstance(first, t.Assign) or not self._is_at(look.item, first.place):
                return False
            made = _bare(first.value)
            if not isinstance(made, t.RecordOf) or look.name in dict(made.fields):
                return False
            self._look(first.value)
            places.append(first.place)
        steps = _steps_of(places[0])
        self._look_at_keys(steps)
        if self._place_of_own(steps) >= 0:
            self._note(places[0].variable, steps, written=True)
        else:
            use = self._uses.setdefault(places[0].variable, _Use())
            use.written = True
            shape = tuple(kind if kind == "key" else part for kind, part in steps)
            use.changes.add(("answered", shape, None))
        for branch in branches:
            self._block(branch[1:])
        return True

    # ----------------------------------------------------------------------------------- terms

    def _look(self, term: object) -> None:
        """Note everything that a term looks at."""
        match term:
            case None:
                return
            case t.Contains(item, collection) | t.Count(item, collection) if (
                steps := _path(collection)
            ) is not None:
                self._note(steps[0], (*steps[1], ("key", item)), written=False)
                self._look_at_keys((*steps[1], ("key", item)))
                return
            case t.Let(name, value) if self._is_own(value):
                self._own.add(name)
            case t.Local(name) if name in self._outliving:
                self._note(_local(name), (), written=False)
                return
        found = _path(term) if isinstance(term, t.Read | t.Field | t.At | t.Cast) else None
        if found is None:
            for part in children(term):
                self._look(part)
            return
        self._note(found[0], found[1], written=False)
        self._look_at_keys(found[1])

    def _look_at_keys(self, steps: _Steps) -> None:
        for kind, part in steps:
            if kind == "key":
                self._look(part)

    def _note(self, name: str, steps: _Steps, *, written: bool) -> None:
        use = self._uses.setdefault(name, _Use())
        use.own.add(self._place_of_own(steps))
        use.written |= written

    def _place_of_own(self, steps: _Steps) -> int:
        """Return which step is the round's own id, -1 where none is."""
        places = (
            place
            for place, (kind, part) in enumerate(steps)
            if kind == "key" and self._is_own(part)
        )
        return next(places, -1)

    def _is_own(self, term: object) -> bool:
        """Whether a term is the round's own id: no other round has the same."""
        if isinstance(self._loop.domain.type, SequenceType):
            return False
        bare = _bare(term)
        return isinstance(bare, t.Local) and bare.name in self._own

    def _is_at(self, term: t.Term, place: t.Place) -> bool:
        """Whether a term is what stands at a place."""
        if isinstance(term, t.Local):
            return place.variable == _local(term.name) and not place.steps
        found = _path(term)
        return found is not None and found[0] == place.variable and _same(found[1], place)

    def _names(self, term: t.Term) -> bool:
        """Whether a term may have another value in each round."""
        return not (self._assigned | self._own).isdisjoint(_mentions(term))


def _is_no_negative(term: t.Term) -> bool:
    return isinstance(term.type, Range) and term.type.low >= 0


def _bare(term: object) -> object:
    while isinstance(term, t.Cast):
        term = term.item
    return term


def _steps_of(place: t.Place) -> _Steps:
    return tuple(
        ("field", step.name) if step.key is None else ("key", step.key) for step in place.steps
    )


def _path(term: object) -> tuple[str, _Steps] | None:
    """Return the variable and the steps that a term looks at, None where it is no such look."""
    steps: list[tuple[str, object]] = []
    while True:
        match term:
            case t.Read(variable):
                return variable, tuple(reversed(steps))
            case t.Field(item, name):
                steps.append(("field", name))
                term = item
            case t.At(item, key) if isinstance(_bare_type(item), Map):
                steps.append(("key", key))
                term = item
            case t.Cast(item):
                term = item
            case _:
                return None


def _bare_type(term: t.Term) -> Type:
    return term.type.item if isinstance(term.type, Option) else term.type


def _same(steps: _Steps, place: t.Place) -> bool:
    return [(kind, _shape(part)) for kind, part in steps] == [
        (kind, _shape(part)) for kind, part in _steps_of(place)
    ]


def _shape(node: object) -> object:
    """Return what a term says, as a value to compare: without types and places in the text."""
    node = _bare(node)
    if isinstance(node, tuple):
        return tuple(_shape(item) for item in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    names = (item.name for item in fields(node) if item.name not in {"span", "type"})
    return type(node).__name__, *(_shape(getattr(node, name)) for name in names)


def _read_early(body: Sequence[t.Statement], assigned: set[str]) -> set[str]:
    """Return the locals that a round may read before it has set them."""
    early: set[str] = set()
    _set_before(body, set(), assigned, early)
    return early


def _set_before(
    body: Sequence[t.Statement], known: set[str], assigned: set[str], early: set[str]
) -> set[str]:
    """Return the locals that are certainly set behind `body`; note those that are read before."""
    for statement in body:
        blocks = [
            part
            for name in ("then", "otherwise", "body")
            if (part := getattr(statement, name, None)) is not None
        ]
        inside = set(map(id, chain.from_iterable(blocks)))
        own = [part for part in children(statement) if id(part) not in inside]
        sets = {statement.name} if isinstance(statement, t.SetLocal | t.Pick | t.For) else set()
        seen = known | (sets if isinstance(statement, t.Pick) else set())
        early |= (set(_mentions(*own)) & assigned) - seen
        after = [
            _set_before(part, known | (sets if isinstance(statement, t.For) else set()),
                        assigned, early)
            for part in blocks
        ]  # fmt: skip
        if isinstance(statement, t.If):
            known = known | set.intersection(*after)
        elif isinstance(statement, t.Scope):
            if not any(isinstance(node, t.Leave) for node in walk(*statement.body)):
                known = known | after[0]
        elif not isinstance(statement, t.For):
            known = known | sets
    return known
