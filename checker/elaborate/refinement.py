"""`refines`: a coarser system, its states in terms of this one's, and what each step must be.

The coarse system is elaborated as a machine of its own, with this system's ids for the id types
that are the same. A property of steps then says: what the mapping makes of the two states is the
same, or some row of the coarse machine leads from one to the other
(docs/decisions/011-refinement.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from checker.elaborate import build, convert
from checker.elaborate.context import Context, Term, expression
from checker.elaborate.world import Allocator, World
from checker.elaborate.wrong import Wrong
from checker.errors import Diagnostic
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import Machine, Property, Variable
from checker.machine.relations import show
from checker.machine.types import Enum, Id, Map, Set, Type
from checker.semantics.symmetry import drawn_ids
from checker.semantics.values import code_of, format_value, value_of
from checker.source import Span
from checker.table.document import (
    Constant,
    Document,
    InstanceEntry,
    MappedEntry,
    PropertyEntry,
    RefinesEntry,
    Word,
    cells_of,
)
from checker.table.problems import nearest
from checker.table.scopes import counted_ids

Setting = tuple[Word, int | bool | str, Span]


@frozen()
class Coarse:
    """The coarse machine, and the names of its types and values."""

    machine: Machine
    types: Mapping[str, Type]
    values: Mapping[str, tuple[Enum | Id, ...]]


# ---------------------------------------------------------------- the coarse system as it is here


def chosen(
    world: World, claim: RefinesEntry, entries: tuple[InstanceEntry, ...]
) -> tuple[Document, InstanceEntry]:
    """Return the coarse system without its properties, and the instance of it that is meant.

    Its id types that are this system's have this system's ids.
    """
    document = world.document.coarse[claim.system.text]
    name = claim.instance.text if claim.instance is not None else "default"
    entry = next((item for item in entries if item.name.text == name), None)
    if entry is None:
        known = [item.name.text for item in entries]
        raise _unknown("instance", claim.instance or claim.system, document, name, known)
    shared = _shared(world, claim, document)
    for word, _, span in claim.settings:
        if word.text in shared:
            raise Wrong(
                "N205",
                f"the ids of `{word.text}` are those of {shared[word.text].name} here",
                span,
                help="leave this out: there are as many as here",
            )
    settings = (*entry.settings, *(_setting(world, item) for item in claim.settings))
    constants = tuple(
        _with_own_names(item, shared[item.name.text]) if item.name.text in shared else item
        for item in document.constants
    )
    kept = {word.text for item in constants for word in item.ids_names or ()}
    gone = {word.text for item in document.constants for word in item.ids_names or ()} - kept
    if gone:
        _require_ids(document, shared, frozenset(gone))
    return replace(document, constants=constants, properties=()), replace(
        entry.unjudged,
        settings=tuple(item for item in settings if item[0].text not in shared),
        symmetry=None,
    )


def _shared(world: World, claim: RefinesEntry, document: Document) -> dict[str, Id]:
    """Return the id types of the coarse system that are some of this one: named so, or alike."""
    theirs = {
        item.name.text
        for item in document.constants
        if item.ids_count is not None or item.ids_names is not None
    }
    ours = {name: kind for name, kind in world.types.items() if isinstance(kind, Id)}
    shared = {name: ours[name] for name in theirs & ours.keys()}
    for one, other in claim.ids:
        if one.text not in theirs:
            raise _unknown("id type", one, document, one.text, theirs)
        if other.text not in ours:
            raise _unknown("id type", other, world.document, other.text, ours)
        shared[one.text] = ours[other.text]
    return shared


def _unknown(kind: str, word: Word, document: Document, name: str, known: Any) -> Wrong:
    close = nearest(name, known)
    return Wrong(
        "N206",
        f"{document.name.text} has no {kind} `{name}`",
        word.span,
        expected=", ".join(sorted(known)) or None,
        help=f"did you mean `{close}`?" if close else None,
    )


def _with_own_names(constant: Constant, kind: Id) -> Constant:
    """Return an id type of the coarse system with as many ids as one here, in the order of these.

    An id that is called as one here is that one; the others are those that are left, in their
    order. What the text there calls ids are then ids, and nothing else is, whatever ids here are
    called.
    """
    count = len(kind.members)
    symmetric = constant.symmetric and kind.symmetric
    own = _own_names(constant, count)
    left = iter([name for name in own if name not in kind.members])
    named = tuple(
        member if member in own else next(left, f"{kind.name}?{number}")
        for number, member in enumerate(kind.members, 1)
    )
    if constant.ids_count is not None and named == own:
        return replace(constant, ids_count=count, symmetric=symmetric)
    span = constant.name.span
    words = tuple(Word(name, span) for name in named)
    return replace(constant, ids_count=None, ids_names=words, symmetric=symmetric)


def _own_names(constant: Constant, count: int) -> tuple[str, ...]:
    """Return what the coarse system calls ids of a type if there are `count` of them."""
    if constant.ids_names is not None:
        return tuple(word.text for word in constant.ids_names)
    return counted_ids(constant, count)


def _require_ids(document: Document, shared: Mapping[str, Id], names: frozenset[str]) -> None:
    """Raise Wrong for an id that the coarse system names and that is too many here."""
    for cell in cells_of(document):
        for name in sorted(names & cell.names):
            owner = next(
                item.name.text
                for item in document.constants
                if any(word.text == name for word in item.ids_names or ())
            )
            count = len(shared[owner].members)
            raise Wrong(
                "N201",
                f"`{name}` is no id of {owner} where it is {shared[owner].name}",
                cell.span,
                expected=f"{count} of the ids of {owner}, as many as there are of "
                f"{shared[owner].name}",
                found=name,
            )


def _setting(world: World, setting: Setting) -> Setting:
    """Return a constant of the coarse system with its value: a constant's name stands for it."""
    word, value, span = setting
    if not isinstance(value, str):
        return setting
    if value in world.constants:
        held = world.constants[value].value
        return word, held if isinstance(held, int | str) else format_value(held), span
    kind = world.types.get(value)
    return (word, len(kind.members), span) if isinstance(kind, Id) else setting


def as_here(world: World, claim: RefinesEntry, coarse: World, machine: Machine) -> Coarse:
    """Return the coarse machine with the id types of this system, where they are the same."""
    shared = _shared(world, claim, coarse.document)
    _refuse_fresh_of_several(claim, shared, machine)
    renamed = {coarse.types[name]: kind for name, kind in shared.items()}
    plain = [name for name, kind in shared.items() if kind.symmetric]
    known = [name for name in plain if getattr(coarse.types[name], "symmetric", False)]
    unlike = (*machine.unlike, *(_not_alike(claim, name) for name in plain if name not in known))
    slim = replace(
        machine, expectation=None, bounds=(), step_bounds=(), terminal=(), fair_groups=(),
        warnings=(), sources=(), headings=(), unlike=unlike,
    )  # fmt: skip
    exchange = _Exchange(renamed)
    return Coarse(
        exchange(slim),
        {name: exchange(kind) for name, kind in coarse.types.items()},
        {
            word: owners
            for word, kinds in coarse.values.items()
            if (owners := tuple(kind for kind in kinds if kind not in renamed))
        },
    )


def _refuse_fresh_of_several(
    claim: RefinesEntry, shared: Mapping[str, Id], machine: Machine
) -> None:
    """Raise Wrong where `fresh` draws of a type that is one with another here.

    It looks for ids of its own type only, and here the other's would be of that.
    """
    for name in sorted(drawn_ids(machine) & shared.keys()):
        others = sorted(other for other in shared if shared[other] == shared[name])
        if len(others) > 1:
            both = " and ".join(f"`{other}`" for other in others)
            raise Wrong(
                "N205",
                f"{both} of {machine.name} are one type here, {shared[name].name}, and its rows "
                f"draw `fresh({name})`, which looks for ids of `{name}` only",
                claim.system.span,
                expected=f"an id type that only `{name}` is",
                help="declare one more id type here, with as many ids, and name it under `ids`",
            )


def _not_alike(claim: RefinesEntry, name: str) -> Diagnostic:
    return Diagnostic(
        code="Y330",
        message=f"{claim.system.text} does not declare the ids of {name} symmetric",
        span=claim.system.span,
        expected="that ids which are declared symmetric here are so in the coarse system, too",
        help=f"declare {name} with `symmetric: true` there, or search with --symmetry off",
    )


class _Exchange:
    """Puts id types for others, everywhere in a machine; what is shared stays shared.

    Ids of the one are those of the other in order, so a value has the same code.
    """

    def __init__(self, types: Mapping[Type, Type]) -> None:
        self._types = {old: new for old, new in types.items() if old != new}
        self._done: dict[int, tuple[object, object]] = {}

    def __call__(self, item: Any) -> Any:
        """Return `item` with every type in it that is exchanged for another."""
        if not self._types or not (isinstance(item, tuple) or is_dataclass(item)):
            return item
        known = self._done.get(id(item))
        if known is None:
            known = self._done[id(item)] = (item, self._made(item))
        return known[1]

    def _made(self, item: Any) -> Any:
        if isinstance(item, tuple):
            parts = tuple(map(self, item))
            same = all(new is old for new, old in zip(parts, item, strict=True))
            return item if same else parts
        if isinstance(item, Id):
            return self._types.get(item, item)
        changed = {}
        for part in fields(item):
            old = getattr(item, part.name)
            new = self(old)
            if new is not old:
                changed[part.name] = new
        if isinstance(item, t.Literal) and changed:
            changed["value"] = value_of(changed["type"], code_of(item.type, item.value))
        return replace(item, **changed) if changed else item


# --------------------------------------------------------------------------------- the property


def refined(
    world: World, entry: PropertyEntry, claim: RefinesEntry, coarse: Coarse, names: dict[str, Term]
) -> Property:
    """Return the property that steps are steps of the coarse machine, or change nothing there."""
    span = entry.condition.span
    mapped = _states(_seeing(world, coarse), claim, coarse.machine, names)
    after = tuple(t.Next(term, term.type, term.span) for term in mapped)
    same = [t.Equal(now, then, span) for now, then in zip(mapped, after, strict=True)]
    step = t.Leads(mapped, after, coarse.machine, begins=False, span=span)
    start = tuple(variable.initial for variable in coarse.machine.variables)
    return Property(
        name=entry.name.text,
        kind="refines",
        condition=t.Or((build.conjunction(list(same), span), step), span),
        premise=t.Leads(start, mapped, coarse.machine, begins=True, span=span),
        why=entry.why,
        source=entry.source,
        span=entry.span,
    )


def _seeing(world: World, coarse: Coarse) -> World:
    """Return what names mean in a mapping: as everywhere, and the coarse system's values."""
    values = {word: list(owners) for word, owners in world.values.items()}
    for word, owners in coarse.values.items():
        known = values.setdefault(word, [])
        known += [kind for kind in owners if kind not in known]
    return replace(world, types={**coarse.types, **world.types}, values=values)


def _states(
    world: World, claim: RefinesEntry, machine: Machine, names: dict[str, Term]
) -> tuple[Term, ...]:
    """Return what each variable of the coarse machine is, in its order."""
    known = {variable.name for variable in machine.variables}
    given: dict[str, MappedEntry] = {}
    for entry in claim.mapping:
        word = entry.variable
        if word.text not in known:
            close = nearest(word.text, known)
            raise Wrong(
                "N201",
                f"{machine.name} has no variable `{word.text}`",
                word.span,
                expected=", ".join(variable.name for variable in machine.variables),
                help=f"did you mean `{close}`?" if close else None,
            )
        if word.text in given:
            raise Wrong("N203", f"`{word.text}` is mapped twice", word.span)
        given[word.text] = entry
    return tuple(
        _mapped(world, given[variable.name], variable, names)
        if variable.name in given
        else _of_the_same_name(world, claim, machine, variable)
        for variable in machine.variables
    )


def _mapped(world: World, entry: MappedEntry, variable: Variable, names: dict[str, Term]) -> Term:
    """Return what `entry` says a variable is; a map of it where ids are named."""
    allocator, kind = Allocator(), variable.type
    bound: list[tuple[str, Map]] = []
    inside = dict(names)
    for word in entry.keys:
        if not isinstance(kind, Map) or not kind.total:
            raise Wrong(
                "N205",
                f"there is not one `{variable.name}` for each `{word.text}`",
                word.span,
                expected=show(variable.type),
                help="name an id in brackets for each `per`, and for nothing else",
            )
        unique = allocator.unique(word.text)
        inside[word.text] = t.Local(unique, kind.key, word.span)
        bound.append((unique, kind))
        kind = kind.value
    span = entry.cell.span
    value = Context(world, entry.cell, inside, allocator).check(expression(entry.cell), kind)
    for unique, whole in reversed(bound):
        everything = t.Everything(Set(whole.key), span)
        generators = (t.Generator(unique, everything, None),)
        value = t.Fold("map", generators, value, t.Local(unique, whole.key, span), whole, span)
    return value


def _of_the_same_name(
    world: World, claim: RefinesEntry, machine: Machine, variable: Variable
) -> Term:
    ours = world.variables.get(variable.name)
    if ours is None:
        raise Wrong(
            "N221",
            f"the mapping does not say what `{variable.name}` of {machine.name} is",
            claim.span,
            expected=f"`{variable.name}: ...` under `mapping`, a value of {show(variable.type)}",
            help="where nothing of this system tells it, keep it in a variable of its own",
        )
    return convert.coerce(t.Read(ours.name, ours.type, claim.system.span), variable.type)
