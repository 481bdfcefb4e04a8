"""The untyped artefact: what a specification says, cell by cell, each with its place.

`checker.table.read` makes a `Document` from YAML; `checker.elaborate.elaborate` makes a Machine
from it. Nothing here is resolved or typed: names are words, cells are parsed but not understood.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field, fields, is_dataclass, replace
from functools import cached_property
from typing import Literal

from checker.errors import Diagnostic
from checker.frozen import frozen
from checker.source import Heading, Source, Span
from checker.table.state_table import StateTable


@frozen()
class Word:
    """A YAML scalar used as a name or as prose, with its place."""

    text: str
    span: Span


Edit = tuple[int, int, int, str]
"""A line of a text (1-based), from where to where in its UTF-8 bytes, and what stands there."""


@frozen(eq=False, slots=False)
class Cell:
    """A cell that holds an expression or effects.

    `tree` is the parsed expression, or the tuple of parsed statements of effects; only forms the
    language has are in it (everything else was reported by the reader). Positions of its nodes
    are relative to `text`; `place` turns them into spans of the file, also in block scalars.
    """

    text: str
    span: Span
    tree: ast.expr | tuple[ast.stmt, ...]
    starts: tuple[tuple[int, int], ...]
    """Of each line of `text`: the file's line and the column (1-based) where its text begins."""
    edits: tuple[Edit, ...] = ()
    """The names in `text` that `tree` has others for, where a system is used under a prefix."""

    def nodes(self) -> Iterator[ast.AST]:
        """Yield every node of the expression, or of all statements."""
        for tree in (self.tree,) if isinstance(self.tree, ast.expr) else self.tree:
            yield from ast.walk(tree)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that stand in it for themselves."""
        return frozenset(node.id for node in self.nodes() if isinstance(node, ast.Name))

    @cached_property
    def loaded(self) -> frozenset[str]:
        """The names and attributes whose values it takes."""
        found: set[str] = set()
        for node in self.nodes():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.add(node.attr)
        return frozenset(found)

    @cached_property
    def assigned(self) -> frozenset[str]:
        """The bare names that effects assign or change by a method."""
        found: set[str] = set()
        for node in self.nodes():
            match node:
                case ast.Assign([ast.Name(name)], _) | ast.AugAssign(ast.Name(name), _, _):
                    found.add(name)
                case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), _))):
                    found.add(name)
                case ast.Call(ast.Attribute(ast.Name(name), "pop")):
                    found.add(name)
        return frozenset(found)

    @property
    def words(self) -> str:
        """The text with the names that its tree has."""
        lines = list(self._lines)
        for number, begin, end, name in sorted(self.edits, reverse=True):
            line = lines[number - 1]
            lines[number - 1] = line[:begin] + name.encode() + line[end:]
        return b"\n".join(lines).decode()

    def place(self, node: ast.expr | ast.stmt | ast.comprehension | ast.keyword) -> Span:
        """Return the span of a node of `tree` in the file (ast columns are UTF-8 bytes)."""
        known = self._spans.get(node)
        if known is None:
            known = self._spans[node] = self._span_of(node)
        return known

    def _span_of(self, node: ast.expr | ast.stmt | ast.comprehension | ast.keyword) -> Span:
        first: ast.expr | ast.stmt | ast.keyword
        last: ast.expr | ast.stmt | ast.keyword
        if isinstance(node, ast.comprehension):
            first, last = node.target, (node.ifs or [node.iter])[-1]
        else:
            first = last = node
        if getattr(first, "lineno", None) is None:
            return self.span
        end_line, end_column = last.end_lineno, last.end_col_offset
        if end_line is None or end_column is None:
            end_line, end_column = first.lineno, first.col_offset + 1
        begin = self._position(first.lineno, first.col_offset)
        return Span(self.span.source, *begin, *self._position(end_line, end_column))

    def _position(self, number: int, offset: int) -> tuple[int, int]:
        """Return the file's line and column of a line of `text` and an offset in UTF-8 bytes."""
        lines = self._lines
        index = min(max(number, 1), len(lines), len(self.starts)) - 1
        line, column = self.starts[index]
        text = lines[index]
        if self._ascii:
            return line, column + min(offset, len(text))
        return line, column + len(text[:offset].decode("utf-8", errors="ignore"))

    @cached_property
    def _spans(self) -> dict[ast.AST, Span]:
        """The spans that were asked for: those of a cell are, for each instance and pass anew."""
        return {}

    @cached_property
    def _ascii(self) -> bool:
        return self.text.isascii()

    @cached_property
    def _lines(self) -> list[bytes]:
        return self.text.encode().split(b"\n")


# ------------------------------------------------------------------------------- type cells


@frozen()
class TypeName:
    """`bool`, or a name: a type, id constant, table, message; `key`: see `triggers.key_words`."""

    name: str
    span: Span
    key: tuple[str, ...] = ()


@frozen(eq=False, slots=False)
class TypeRange:
    """`low..high`; both are expression cells over constants."""

    low: Cell
    high: Cell
    span: Span


@frozen()
class TypeEnum:
    """`one of a, b`."""

    members: tuple[Word, ...]
    span: Span


@frozen()
class TypeUnion:
    """`A or B`."""

    names: tuple[Word, ...]
    span: Span


@frozen(eq=False, slots=False)
class TypeOf:
    """`optional T`, `set of T`, `sequence of T up to N`, `bag of T up to N`, `handle of CALLS`.

    A handle has a TypeName as its item.
    """

    kind: Literal["optional", "set", "sequence", "bag", "handle"]
    item: TypeNode
    capacity: Cell | None
    span: Span


@frozen(eq=False, slots=False)
class TypeMap:
    """`map of K to V`, `total map of K to V`."""

    key: TypeNode
    value: TypeNode
    total: bool
    span: Span


TypeNode = TypeName | TypeRange | TypeEnum | TypeUnion | TypeOf | TypeMap

# ------------------------------------------------------------------------------- sections


@frozen(eq=False, slots=False)
class Constant:
    """One constant. Exactly one of `ids_count`, `ids_names`, `value`, `cell` is set.

    With `node` the cell holds a value of that type: a set, a map, a table.

    `value` is a literal int, bool or (with `one_of`) the Word of an enum value; `cell` computes.
    """

    name: Word
    about: str
    ids_count: int | None = None
    ids_names: tuple[Word, ...] | None = None
    prefix: Word | None = None
    symmetric: bool = False
    value: int | bool | Word | None = None
    one_of: tuple[Word, ...] | None = None
    cell: Cell | None = None
    value_span: Span | None = None
    node: TypeNode | None = None


@frozen(eq=False, slots=False)
class NamedType:
    """An entry of `types:`: either a type cell or a record's fields."""

    name: Word
    about: str
    node: TypeNode | None
    fields: tuple[tuple[Word, TypeNode], ...] | None


@frozen(eq=False, slots=False)
class Message:
    """An entry of `messages:`."""

    name: Word
    about: str
    fields: tuple[tuple[Word, TypeNode], ...]


@frozen(eq=False, slots=False)
class VariableEntry:
    """A variable; `per` only outside components."""

    name: Word
    about: str
    node: TypeNode
    initial: Cell
    per: TypeNode | None
    observed: bool


@frozen(eq=False, slots=False)
class MachineEntry:
    """A machine; `initial` is a state's name or None for the table's."""

    name: Word
    about: str
    table: Word
    initial: Word | None
    per: TypeNode | None


@frozen(eq=False, slots=False)
class Component:
    """A bundle of machines and variables."""

    name: Word
    about: str
    per: TypeNode | None
    machines: tuple[MachineEntry, ...]
    variables: tuple[VariableEntry, ...]


Budget = Cell | Literal["unlimited"]


@frozen(eq=False, slots=False)
class Channel:
    """A channel. `per` has zero, one or two keys. A missing budget is None (no such fault)."""

    name: Word
    about: str
    carries: tuple[Word, ...]
    order: Literal["bag", "fifo", "retained"]
    per: tuple[TypeNode, ...]
    capacity: Cell | None
    when_full: Literal["block", "drop", "error"]
    origin: Word | None
    target: Word | None
    loses: Budget | None
    duplicates: Budget | None
    reorders: Budget | None


@frozen(eq=False, slots=False)
class Calls:
    """Requests on connections."""

    name: Word
    about: str
    per: TypeNode
    requests: tuple[Word, ...]
    responses: tuple[Word, ...]
    capacity: Cell
    origin: Word | None
    target: Word | None


@frozen(eq=False, slots=False)
class Outcome:
    """One way in which an operation ends."""

    name: Word
    fault: Word | None
    late: bool


@frozen(eq=False, slots=False)
class Operation:
    """A storage append or remote call."""

    name: Word
    about: str
    captures: tuple[tuple[Word, TypeNode], ...]
    capacity: Cell
    order: Literal["any", "fifo"]
    outcomes: tuple[Outcome, ...]
    per: TypeNode | None
    when_full: Literal["block", "error"]


@frozen(eq=False, slots=False)
class Timer:
    """Something that is armed, and expires unless it is cancelled.

    `late_cancels`: how many cancels may find that the expiry is running already.
    """

    name: Word
    about: str
    captures: tuple[tuple[Word, TypeNode], ...]
    per: tuple[TypeNode, ...]
    capacity: Cell | None
    when_armed: Literal["replace", "add"]
    late_cancels: Cell | None
    fair: Word | Cell | None


@frozen(eq=False, slots=False)
class Fault:
    """A fault and its budget.

    `begins_anew`: whoever it befalls is not the one that it was, and has forgotten what it knew.
    """

    name: Word
    about: str
    budget: Budget
    begins_anew: bool = False


@frozen(eq=False, slots=False)
class Definition:
    """`name(a, b): expression`, with names for parts of it."""

    name: Word
    parameters: tuple[Word, ...]
    body: Cell
    lets: tuple[tuple[Word, Cell], ...] = ()


@frozen(eq=False, slots=False)
class Procedure:
    """`name(a, b): effects`."""

    name: Word
    parameters: tuple[Word, ...]
    body: Cell


@frozen(eq=False, slots=False)
class BindingEntry:
    """An entry of `for:`: a range or type name (`node`), or any expression (`cell`)."""

    name: Word
    node: TypeNode | None
    cell: Cell | None


@frozen(eq=False, slots=False)
class InState:
    """An entry of `in:` or `to:`: a place and the states it may be in (one, for `to`).

    `span` is all of it, from the place to the last state.
    """

    place: Cell
    states: tuple[Word, ...]
    span: Span


@frozen(eq=False, slots=False)
class Row:
    """A row, or the `initial:` section (named `initial`)."""

    name: Word
    about: str
    source: str
    on: Cell | None
    bindings: tuple[BindingEntry, ...]
    only_if: Cell | None
    inside: tuple[InState, ...]
    lets: tuple[tuple[Word, Cell], ...]
    when: Cell | None
    do: Cell | None
    to: tuple[InState, ...]
    send: tuple[Cell, ...]
    fault: Word | None
    fair: Word | Cell | None
    actor: Word | None
    event: Word | None
    span: Span


@frozen(eq=False, slots=False)
class Unhandled:
    """A message that no row takes in some states, on purpose."""

    message: Cell
    inside: tuple[InState, ...]
    status: Literal["ignored", "impossible"]
    why: str
    span: Span
    fair: Word | Cell | None = None
    """What the system that it was taken from promises the row that ignores the message."""


PropertyKind = Literal[
    "always",
    "step",
    "sometimes",
    "refines",
    "eventually",
    "leads_to",
    "always_eventually",
    "eventually_always",
    "ltl",
]
"""The kinds of property that can be written: each is a key of a property."""


@frozen(eq=False, slots=False)
class MappedEntry:
    """An entry of `mapping:`: what a variable of the coarse system is, in terms of this one.

    `keys` are the names of the ids in `client[c].state`; the cell may use them. `text` is all of
    that as written.
    """

    variable: Word
    keys: tuple[Word, ...]
    cell: Cell
    text: str


@frozen(eq=False, slots=False)
class RefinesEntry:
    """What `refines:` says: the coarse system, which instance of it, and how states map to its.

    `ids` are pairs: an id type of the coarse system, and the one of this system that it is.
    """

    system: Word
    instance: Word | None
    settings: tuple[tuple[Word, int | bool | str, Span], ...]
    ids: tuple[tuple[Word, Word], ...]
    mapping: tuple[MappedEntry, ...]
    span: Span


@frozen(eq=False, slots=False)
class PropertyEntry:
    """A property; `premise` only for leads_to.

    `bindings`: it is claimed for each of their values. `initially`: of runs from such states.
    Where it `refines` a system, the text of its condition is that system's name.
    """

    name: Word
    kind: PropertyKind
    condition: Cell
    premise: Cell | None
    only_if: Cell | None
    why: str
    source: str
    span: Span
    bindings: tuple[BindingEntry, ...] = ()
    initially: Cell | None = None
    within_bounds: bool = False
    refines: RefinesEntry | None = None


@frozen(eq=False, slots=False)
class FairGroupEntry:
    """Rows that are fair together; `rows` is None for all rows that are no faults.

    All of a system that is used (`every`) are listed, those that ignore a message too: of these it
    has those that are there, and are no faults.
    """

    name: Word
    about: str
    rows: tuple[Word, ...] | None
    per: tuple[Word, ...]
    fair: Word | Cell
    span: Span
    every: bool = False


@frozen(eq=False, slots=False)
class ExpectEntry:
    """The `expect:` of an instance."""

    verdict: str | None
    property: Word | None
    also: tuple[Word, ...]
    distinct: int | None
    generated: int | None
    depth: int | None
    length: int | None
    rows: tuple[tuple[Word, int], ...]
    span: Span


@frozen(eq=False, slots=False)
class InstanceEntry:
    """A named set of constants.

    `properties` are those that it judges, None for all of them but those in `without`.
    """

    name: Word
    about: str
    tier: Literal["quick", "full"]
    settings: tuple[tuple[Word, int | bool | str, Span], ...]
    properties: tuple[Word, ...] | None
    symmetry: bool | None
    expect: ExpectEntry | None
    without: tuple[Word, ...] = ()

    @property
    def unjudged(self) -> InstanceEntry:
        """The same of a system without its properties, which names none of them."""
        return replace(self, properties=None, without=(), expect=None)

    def judges(self, names: AbstractSet[str]) -> bool:
        """Whether it judges a property that has these names."""
        if self.properties is not None:
            return any(word.text in names for word in self.properties)
        return not any(word.text in names for word in self.without)


@frozen(eq=False, slots=False)
class UseEntry:
    """A system that this one uses: under which prefix, with what in place of what.

    `replaced` are pairs: something that system declares, and what of this one it is here.
    `without` names what is left out of it; `properties` which of its properties are claimed here,
    None for all of them. A cell in `settings` is an expression over the constants of this system.
    """

    prefix: Word
    about: str
    system: Word
    instance: Word | None
    settings: tuple[tuple[Word, int | bool | Cell, Span], ...]
    replaced: tuple[tuple[Word, Word], ...]
    without: tuple[Word, ...]
    properties: tuple[Word, ...] | None
    span: Span


@frozen()
class SystemFile:
    """A file of a system: its name in the folder, what it is about, its text.

    `of` is the name of the system that it belongs to, where that is one that is used.
    """

    name: str
    about: str
    source: Source
    of: str = ""

    @property
    def shown(self) -> str:
        """Its name, after that of the other system whose file it is."""
        return f"{self.of}/{self.name}" if self.of else self.name


@frozen(eq=False, slots=False)
class Document:
    """A system as written, with the tables and systems it names, resolved and read.

    What the systems have that it `uses` stands in its sections, under their prefixes. `coarse`
    has the systems that its properties refine, by the words that name them.
    """

    name: Word
    path: str
    about: str
    source: str
    abstractions: tuple[str, ...]
    tables: Mapping[str, StateTable]
    files: tuple[SystemFile, ...] = ()
    headings: tuple[Heading, ...] = ()
    uses: tuple[UseEntry, ...] = ()
    constants: tuple[Constant, ...] = ()
    assume: tuple[Cell, ...] = ()
    types: tuple[NamedType, ...] = ()
    messages: tuple[Message, ...] = ()
    components: tuple[Component, ...] = ()
    machines: tuple[MachineEntry, ...] = ()
    variables: tuple[VariableEntry, ...] = ()
    channels: tuple[Channel, ...] = ()
    calls: tuple[Calls, ...] = ()
    operations: tuple[Operation, ...] = ()
    timers: tuple[Timer, ...] = ()
    faults: tuple[Fault, ...] = ()
    definitions: tuple[Definition, ...] = ()
    procedures: tuple[Procedure, ...] = ()
    initial: Row | None = None
    rows: tuple[Row, ...] = ()
    unhandled: tuple[Unhandled, ...] = ()
    bounds: tuple[Cell, ...] = ()
    terminal: tuple[Cell, ...] = ()
    deadlock: bool = True
    fairness: Literal["none", "weak", "strong"] | Cell = "none"
    fair_groups: tuple[FairGroupEntry, ...] = ()
    properties: tuple[PropertyEntry, ...] = ()
    instances: tuple[InstanceEntry, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    coarse: Mapping[str, Document] = field(default_factory=dict)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that stand in any of its cells."""
        return frozenset().union(*(cell.names for cell in cells_of(self)))

    def is_own(self, span: Span) -> bool:
        """Return whether a place is in a file of this system, not in one of a system it uses."""
        return not self.uses or any(
            file.source.name == span.source.name and not file.of for file in self.files
        )


def cells_of(node: object) -> Iterator[Cell]:
    """Yield every cell with an expression or effects below a part of a document."""
    if isinstance(node, Cell):
        yield node
    elif isinstance(node, (StateTable, Span, ast.AST)):
        return
    elif is_dataclass(node):
        for item in fields(node):
            yield from cells_of(getattr(node, item.name))
    elif isinstance(node, tuple | list):
        for part in node:
            yield from cells_of(part)
    elif isinstance(node, Mapping):
        for part in node.values():
            yield from cells_of(part)
