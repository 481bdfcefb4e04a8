"""What one instance has elaborated, for the next instances of the same document.

Instances of a system differ in a few constants, and most rows and properties mean the same in
several of them. What a row means depends on what the words in it mean: those in its own cells and
in the definitions, procedures and declarations that these lead to. Where all of them mean what they
meant before, the action of before is the action. It is the same object, so what is worked out of
its terms later (`Analysis`) is known, too.

Nothing is kept of what was reported as wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import TypeVar
from weakref import WeakKeyDictionary

from checker.elaborate.world import World
from checker.errors import Diagnostic
from checker.frozen import frozen
from checker.source import Span
from checker.table.document import Cell, Document, PropertyEntry, Row, TypeName, Word
from checker.table.state_table import StateTable

T = TypeVar("T")

_MEANINGS_MAX = 64
"""Meanings of one word from which on all is forgotten: a sweep has more sizes than come again."""

Words = frozenset[str]


@frozen()
class _Made:
    """What was made of a row or property, and what else that did to the world.

    `held` are the actions in the key, which are told apart by identity.
    """

    result: object
    warnings: tuple[Diagnostic, ...]
    terms: int
    work: int
    held: tuple[object, ...]


class Kept:
    """What was made for one document."""

    def __init__(self, document: Document) -> None:
        self._words = _Reach(document)
        self._meanings: dict[str, list[tuple[object, ...]]] = {}
        self._made: dict[Hashable, _Made] = {}

    def enter(self, world: World) -> None:
        """Find out what all words mean in a world; what means the same becomes the same object."""
        if any(len(known) > _MEANINGS_MAX for known in self._meanings.values()):
            self._meanings.clear()
            self._made.clear()
        world.kept = self
        parts = _Parts(world)
        for word in self._words.all & parts.words:
            world.meanings[word] = self._meaning(world, parts, word)

    def _meaning(self, world: World, parts: _Parts, word: str) -> int:
        """Return the number of what a word means."""
        meaning = parts.of(word)
        known = self._meanings.setdefault(word, [])
        for number, other in enumerate(known):
            if other == meaning:
                _share(world, word, other)
                return number
        known.append(meaning)
        return len(known) - 1

    def made(
        self, world: World, entry: Row | PropertyEntry, make: Callable[[], T], span: Span
    ) -> T:
        """Return what `make` makes of an entry in a world, or made of it before."""
        words = self._words.of(entry)
        rows = [] if isinstance(entry, Row) else [world.actions.get(word) for word in words]
        key = (id(entry), tuple(world.meanings.get(word) for word in words), *map(id, rows))
        known = self._made.get(key)
        if known is None:
            return self._make(world, key, make, tuple(rows))
        world.meter.add(known.terms, known.work, span)
        for lint in known.warnings:
            world.keep(lint)
        return known.result  # type: ignore[return-value]

    def _make(
        self, world: World, key: Hashable, make: Callable[[], T], held: tuple[object, ...]
    ) -> T:
        meter, before = world.meter, world.warnings
        terms, work, problems = meter.terms, meter.work, len(world.problems.found)
        world.warnings = []
        try:
            result = make()
        finally:
            lints, world.warnings = world.warnings, before
            for lint in lints:
                world.keep(lint)
        if len(world.problems.found) == problems:
            self._made[key] = _Made(
                result, tuple(lints), meter.terms - terms, meter.work - work, held
            )
        return result


_KEPT: WeakKeyDictionary[Document, Kept] = WeakKeyDictionary()
_DOCUMENTS_MAX = 8
"""Documents of which anything is kept: the last ones that a world was of."""


def kept_of(document: Document) -> Kept:
    """Return what is kept for a document, for a world to enter.

    What is made in a world is kept where it entered, under its numbers of meanings: by then the
    document may have been forgotten here, as each system that is refined is a new one.
    """
    known = _KEPT.pop(document, None)
    if known is None:
        while len(_KEPT) >= _DOCUMENTS_MAX:
            _KEPT.pop(next(iter(_KEPT)))
        known = Kept(document)
    _KEPT[document] = known
    return known


# ------------------------------------------------------------------------- what words mean


class _Parts:
    """What the words of a world mean."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._below: dict[str, list[str]] = {}
        for name in world.variables:
            self._below.setdefault(name.partition(".")[0], []).append(name)
        self._budgets: dict[str, list[str]] = {}
        for name in world.budgets:
            pieces = name.split("_")
            for word in ("budget", *("_".join(pieces[first:]) for first in range(len(pieces)))):
                self._budgets.setdefault(word, []).append(name)

    @property
    def words(self) -> set[str]:
        """The words that mean anything."""
        below = {f"{word}.*" for word in self._below}
        return {*below, *self._world.variables, *self._budgets}.union(*_named(self._world))

    def of(self, word: str) -> tuple[object, ...]:
        """Return all that a word may mean.

        That is what is kept under this name, the budgets of a fault, or of a channel or timer,
        and what a timer has of late expiries. `component.member` is one variable, `component.*`
        all that begin with it.
        """
        world = self._world
        base, dot, member = word.partition(".")
        if dot:
            below = self._below.get(base, ()) if member == "*" else (word,)
            budget = world.budgets.get(member) if base == "budget" else None
            return (budget, *(world.variables.get(name) for name in below))
        budgets = self._budgets.get(word, ())
        late = (f"{word}.late",) if word in world.timers else ()
        return (
            *(known.get(word) for known in _named(world)),
            *(world.variables.get(name) for name in (word, *late)),
            *((world.budgets[name], world.variables.get(f"budget.{name}")) for name in budgets),
        )


def _named(world: World) -> tuple[dict[str, object], ...]:
    """Return the parts of a world where a word may be."""
    return (
        world.constants,
        world.types,
        world.components,
        world.channels,
        world.calls,
        world.operations,
        world.timers,
        world.values,
    )  # type: ignore[return-value]


def _share(world: World, word: str, meaning: tuple[object, ...]) -> None:
    """Let a word of a world mean the objects of before, which are equal."""
    if "." in word:
        return  # variables are named by their types, which are shared where they are named
    for known, item in zip(_named(world), meaning, strict=False):
        if item is not None and known is not world.values:
            known[word] = item


# -------------------------------------------------------------------------- which words


class _Reach:
    """The words that the rows and properties of a document depend on."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._of: dict[int, tuple[str, ...]] = {}
        self._inside: dict[int, Words] = {}

    @cached_property
    def all(self) -> Words:
        """All words that any row or property depends on."""
        initial = () if self._document.initial is None else (self._document.initial,)
        entries = (*self._document.rows, *initial, *self._document.properties)
        return frozenset(word for entry in entries for word in self.of(entry))

    def of(self, entry: Row | PropertyEntry) -> tuple[str, ...]:
        """Return the words that an entry depends on."""
        known = self._of.get(id(entry))
        if known is None:
            known = self._of[id(entry)] = tuple(sorted(self._reached(entry)))
        return known

    def _reached(self, entry: Row | PropertyEntry) -> set[str]:
        """Return the words of an entry and of all that they name; of a row, those of rows, too.

        Which channel carries a message may be found by its kind alone.
        """
        rows = isinstance(entry, Row)
        found = {*self._anywhere, *self._words(entry)}
        waiting = list(found)
        while waiting:
            word = waiting.pop()
            for named in self._entries.get(word, ()):
                if rows or not isinstance(named, Row):
                    new = self._words(named) - found
                    found |= new
                    waiting += new
        if isinstance(entry, Row) and (entry.on or entry.send or "send" in found):
            found |= {channel.name.text for channel in self._document.channels}
        return found

    def _words(self, entry: object) -> Words:
        """Return the words in one entry; many entries lead to it."""
        known = self._inside.get(id(entry))
        if known is None:
            known = self._inside[id(entry)] = frozenset(_words(entry))
        return known

    @cached_property
    def _anywhere(self) -> Words:
        """What every entry may depend on without a word for it: whose handle a value is."""
        calls = {entry.name.text for entry in self._document.calls}
        fair = self._document.fairness
        return frozenset(calls.union(_words(fair) if isinstance(fair, Cell) else ()))

    @cached_property
    def _entries(self) -> Mapping[str, list[object]]:
        """What is looked into when a row is elaborated; all else has a meaning by then."""
        document = self._document
        found: dict[str, list[object]] = {}
        for section in (
            document.definitions,
            document.procedures,
            document.operations,
            document.timers,
            document.rows,
        ):
            for entry in section:
                found.setdefault(entry.name.text, []).append(entry)
        return found


def _words(node: object) -> Iterator[str]:
    """Yield every word in a part of a document."""
    if isinstance(node, Cell):
        yield from _words_in(node)
    elif isinstance(node, Word):
        yield node.text
    elif isinstance(node, TypeName):
        yield node.name
    elif isinstance(node, (StateTable, Span)):
        return
    elif is_dataclass(node):
        for item in fields(node):
            yield from _words(getattr(node, item.name))
    elif isinstance(node, tuple | list):
        for part in node:
            yield from _words(part)
    elif isinstance(node, Mapping):
        for name, part in node.items():
            yield str(name)
            yield from _words(part)


def _words_in(cell: Cell) -> Iterator[str]:
    """Yield the words in a cell; of a name before a dot also which part is taken, else `.*`."""
    bases: set[int] = set()
    for part in cell.nodes():
        match part:
            case ast.Attribute(
                (ast.Name(word) as base) | ast.Subscript(ast.Name(word) as base), member
            ):
                yield f"{word}.{member}"
                bases.add(id(base))
    for part in cell.nodes():
        match part:
            case ast.Name(word):
                yield word
                if id(part) not in bases:
                    yield f"{word}.*"
            case ast.Attribute(_, word) | ast.keyword(str(word)):
                yield word
