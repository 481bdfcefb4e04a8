"""Footprints: the atoms that an instance of a row looks at and those that it may change.

They cover every way it can go: whether it is enabled, its choices, its errors and its effects
depend on the atoms it reads (and on those it writes) only, and no other atom than those it writes
changes. What is not known beforehand counts as all that it may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checker.errors import EvaluationError
from checker.frozen import frozen
from checker.machine import terms
from checker.machine.machine import Action, Binding, Variable
from checker.machine.terms import Place, Statement, Term
from checker.machine.types import Set
from checker.machine.walk import terms_inside
from checker.passes.analysis import Analysis, mentions_id
from checker.passes.atoms import Region, regions
from checker.passes.writes import assigned_locals
from checker.semantics.evaluate import Context, evaluate

Names = Mapping[str, object]
"""Locals whose values are known."""


@frozen()
class Footprint:
    """Sets of atoms. An atom whose old value decides about its new one counts as written only.

    `settles`: what is written does not depend on the state, so that a second step of the same
    instance changes nothing.
    """

    reads: int
    writes: int
    settles: bool = False

    def apart_from(self, other: Footprint) -> bool:
        """Whether neither of two instances looks at, or changes, what the other changes."""
        mine, others = self.reads | self.writes, other.reads | other.writes
        return not (self.writes & others or other.writes & mine)


@frozen()
class _Known:
    """The value of a term."""

    value: object


class Footprints:
    """The footprints of a machine's instances."""

    def __init__(self, variables: tuple[Variable, ...], analysis: Analysis) -> None:
        self._variables = variables
        self._regions = regions(variables)
        self._analysis = analysis
        self._closed: dict[int, int] = {}

    def of(self, action: Action, names: Names) -> Footprint:
        """Return the footprint of the instances of `action` whose bindings have these values."""
        reads = self.read_by(action.guard, names)
        for binding in action.bindings:
            reads |= self._bound(binding, names)
        for _, term in action.lets:
            reads |= self.read_by(term, names)
        effects = _Effects(self, self._variables, dict(names))
        effects.block(action.body)
        return Footprint(reads | effects.reads, effects.writes, effects.settle)

    def read_by(self, term: Term, names: Names) -> int:
        """Return the atoms that a term looks at."""
        if self._analysis.names(term):
            return self._read_by(term, names)
        known = self._closed.get(id(term))
        if known is None:  # the machine keeps the term alive
            known = self._closed[id(term)] = self._read_by(term, {})
        return known

    def _bound(self, binding: Binding, names: Names) -> int:
        """Return what finding the values of a binding looks at."""
        reads = self.read_by(binding.condition, names) if binding.condition is not None else 0
        found = self.reach(binding.domain, names)
        if found is not None and binding.name in names:
            region, keys = found
            part = region.element(names[binding.name])
            return reads | keys | (part.mask if part is not None else 0)
        return reads | self.read_by(binding.domain, names)

    # ----------------------------------------------------------------------------------- terms

    def known(self, term: Term, names: Names) -> _Known | None:
        """Return the value of a term that is known beforehand and is no error."""
        if isinstance(term, terms.Literal):
            return _Known(term.value)
        mentioned = self._analysis.names(term)
        if self._analysis.reads(term) or not all(name in names for name in mentioned):
            return None
        try:
            return _Known(evaluate(term, Context({}, names)))
        except EvaluationError:
            return None

    def reach(self, term: Term, names: Names) -> tuple[Region, int] | None:
        """Return where a term is a part of the state, and what is read to find it; else None."""
        match term:
            case terms.Read(variable, _, _):
                return self._regions[variable], 0
            case terms.Field(item, name, _, _):
                found = self.reach(item, names)
                return None if found is None else (found[0].field(name), found[1])
            case terms.At(item, key, _, _):
                found = self.reach(item, names)
                return None if found is None else self.into(found, key, names)
            case terms.Cast(item, kind, _):
                found = self.reach(item, names)
                if found is None or item.type == kind:
                    return found
                return found[0].opaque, found[1]
        return None

    def into(self, found: tuple[Region, int], key: Term, names: Names) -> tuple[Region, int]:
        """Return the region of a key's value in a map's, and what is read to find it."""
        region, reads = found
        value = self.known(key, names)
        if value is None:
            return region.opaque, reads | self.read_by(key, names)
        return region.element(value.value) or region.opaque, reads

    def whole(self, variable: str) -> Region:
        """Return the region of a variable."""
        return self._regions[variable]

    def region_of(self, place: Place, names: Names) -> tuple[Region, int]:
        """Return where a place is, and what is read to find it."""
        found = self._regions[place.variable], 0
        for step in place.steps:
            if step.key is not None:
                found = self.into(found, step.key, names)
            else:
                found = found[0].field(step.name or ""), found[1]
        return found

    def _read_by(self, term: Term, names: Names) -> int:
        found = self.reach(term, names)
        if found is not None:
            return found[0].mask | found[1]
        match term:
            case terms.Contains(item, collection, _, _):
                return self._looked_up(item, collection, names)
            case terms.Let(name, value, body, _, _):
                held = self.known(value, names)
                inner = _without(names, name) if held is None else {**names, name: held.value}
                return self.read_by(value, names) | self.read_by(body, inner)
            case terms.Fold(_, generators, _, _, _, _):
                names = _without(names, *(generator.name for generator in generators))
        return self._read_by_all(terms_inside(term), names)

    def _read_by_all(self, items: Iterable[Term], names: Names) -> int:
        reads = 0
        for item in items:
            reads |= self.read_by(item, names)
        return reads

    def _looked_up(self, item: Term, collection: Term, names: Names) -> int:
        """Return what `item in collection` looks at."""
        found, value = self.reach(collection, names), self.known(item, names)
        if found is None or value is None:
            return self._read_by_all((item, collection), names)
        region, reads = found
        part = region.element(value.value)
        return reads | (part.mask if part is not None else 0)


def _without(names: Names, *taken: str) -> Names:
    return {name: value for name, value in names.items() if name not in taken}


_PLAIN = (
    terms.Assign, terms.Transition, terms.Send, terms.Receive, terms.SetLocal, terms.Note,
    terms.Require, terms.Scope,
)  # fmt: skip
"""Statements that a row always comes to, and that do not choose."""


class _Effects:
    """What statements look at and change; `names` are the locals known where it has come to.

    `settle`: all of them are done, and change something to what is known beforehand.
    """

    def __init__(
        self, terms_: Footprints, variables: tuple[Variable, ...], names: dict[str, object]
    ) -> None:
        self.reads = 0
        self.writes = 0
        self.settle = True
        self._terms = terms_
        self._variables = variables
        self._names = names

    def block(self, statements: tuple[Statement, ...]) -> None:
        """Add statements that are done one after the other, as far as one comes to them."""
        for statement in statements:
            self._one(statement)

    def _inner(self, statements: tuple[Statement, ...]) -> None:
        """Add statements that are done or not, once or often."""
        self._forget(assigned_locals(statements))
        self.block(statements)
        self._forget(assigned_locals(statements))

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._names.pop(name, None)

    def _read(self, *items: Term | None) -> None:
        for item in items:
            if item is not None:
                self.reads |= self._terms.read_by(item, self._names)

    def _one(self, statement: Statement) -> None:
        self.settle = self.settle and isinstance(statement, _PLAIN)
        match statement:
            case terms.Assign(place, value, _) | terms.Transition(place, value, _, _, _):
                self._assign(place, value)
            case terms.Delete(place, _):
                self.writes |= self._found(place).mask
            case terms.Send(place, message, _, _, _):
                self._move(place, message, changes=True)
            case terms.Receive(place, message, label, _):
                self._move(place, message, changes=label != "read")
            case terms.SetLocal(name, value, _):
                self._set(name, value)
            case terms.If(condition, then, otherwise, _):
                self._read(condition)
                for branch in (then, otherwise):
                    self._inner(branch)
            case terms.For(name, domain, body, _):
                self._read(domain)
                self._forget((name,))
                self._inner(body)
            case terms.Pick(name, domain, condition, _):
                self._forget((name,))
                self._read(domain, condition)
            case terms.Fresh(name, kind, _):
                self._forget((name,))
                for variable in self._variables:
                    if mentions_id(variable.type, kind):
                        self.reads |= self._terms.whole(variable.name).mask
            case terms.Require(condition, _) | terms.Assert(condition, _):
                self._read(condition)
            case terms.Reject(body, _) | terms.Scope(_, body, _):
                self._inner(body)
            case terms.Note(place, message, _, _):
                self._found(place)
                self._read(message)
            case terms.Break() | terms.Leave():
                return

    def _found(self, place: Place) -> Region:
        region, reads = self._terms.region_of(place, self._names)
        self.reads |= reads
        return region

    def _set(self, name: str, value: Term) -> None:
        self._read(value)
        held = self._terms.known(value, self._names)
        self._forget((name,))
        if held is not None:
            self._names[name] = held.value

    def _move(self, place: Place, message: Term, *, changes: bool) -> None:
        """Add that a message is put into a channel, taken out of it, or seen in it."""
        region = self._found(place)
        self._read(message)
        value = self._terms.known(message, self._names)
        if isinstance(region.type, Set) and value is not None:
            region = region.element(value.value) or region.opaque
        elif changes:
            self.settle = False
        if changes:
            self.writes |= region.mask
        else:
            self.reads |= region.mask

    def _assign(self, place: Place, value: Term) -> None:
        region = self._found(place)
        elements = self._elements(region, value)
        if elements is None:
            self._read(value)
            self.writes |= region.mask
            self.settle = self.settle and self._terms.known(value, self._names) is not None
        else:
            self.writes |= elements

    def _elements(self, region: Region, value: Term) -> int | None:
        """Return the elements that an assignment to a set puts into it or takes out of it.

        None where it is not of that kind, or they are not known.
        """
        match value:
            case terms.SetOperation(operator, left, right, _, _) if operator in {"|", "-"}:
                found = self._terms.reach(left, self._names)
                changed = self._terms.known(right, self._names)
                if found is None or found[0] != region or found[1] or changed is None:
                    return None
                elements = 0
                for item in changed.value:  # type: ignore[attr-defined]
                    part = region.element(item)
                    if part is not None:
                        elements |= part.mask
                return elements if isinstance(region.type, Set) else None
        return None
