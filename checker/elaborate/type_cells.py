"""Type cells to types: names resolved (in any order), sizes fixed, limits checked."""

from __future__ import annotations

from collections.abc import Iterable

from checker.elaborate import convert
from checker.elaborate.folded import constant_integer
from checker.elaborate.world import World
from checker.elaborate.wrong import Consequence, Wrong, collecting
from checker.machine.relations import (
    NESTING_MAX,
    VALUES_MAX,
    holds_symmetric,
    show,
    size,
    union_of,
    variants_of,
)
from checker.machine.types import (
    Bag,
    Bool,
    Enum,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Union,
)
from checker.source import Span
from checker.table.document import (
    Calls,
    Cell,
    Constant,
    Message,
    NamedType,
    TypeEnum,
    TypeMap,
    TypeName,
    TypeNode,
    TypeOf,
    TypeRange,
    TypeUnion,
    Word,
)
from checker.table.elsewhere import TYPES
from checker.table.problems import meant


class TypeReader:
    """Resolves the type cells of one document; named types on first use."""

    def __init__(self, world: World) -> None:
        self._world = world
        document = world.document
        self._entries: dict[str, NamedType | Message] = {}
        for named in document.types:
            self._entries[named.name.text] = named
        for message in document.messages:
            self._entries[message.name.text] = message
        self._carried = {channel.name.text: channel.carries for channel in document.channels}
        self._calls = {calls.name.text: calls for calls in document.calls}
        for calls in document.calls:
            self._carried[calls.name.text] = calls.requests + calls.responses
        self._open: list[str] = []
        self._failed: set[str] = set()

    def declare(self) -> None:
        """Resolve every named type, message and table, and make their values known as names."""
        world = self._world
        for name, table in world.document.tables.items():
            self._require_no_type(name)
            world.types[name] = Enum(name, tuple(state for state, _ in table.states))
        for name, entry in self._entries.items():
            with collecting(world.problems):
                self.named(name, entry.name.span)
        for kind in list(world.types.values()):
            if isinstance(kind, Enum):
                world.declare_values(kind)

    def _require_no_type(self, table: str) -> None:
        """Report a type, message or id type that is called like a table, whose states are one."""
        document = self._world.document
        entries: tuple[NamedType | Message | Constant, ...] = (
            *document.types,
            *document.messages,
            *document.constants,
        )
        for word in (entry.name for entry in entries):
            if word.text == table and (table in self._world.types or table in self._entries):
                self._world.problems.add(
                    "N203",
                    f"`{table}` is already a table, and the type of its states",
                    word.span,
                    expected="one name for one thing",
                    help="choose another name",
                )
                self._world.problems.raise_any()

    def read(self, node: TypeNode) -> Type:
        """Return the type a cell writes, within the limits of the language."""
        return convert.limited(self._read(node), node.span)

    def _read(self, node: TypeNode) -> Type:
        match node:
            case TypeName("bool", _):
                return Bool()
            case TypeName(name, span):
                return self.named(name, span)
            case TypeRange(low, high, span):
                return self._range(low, high, span)
            case TypeUnion(names, _):
                return self._kinds(names)
            case TypeMap(key, value, total, span):
                keys = self._read(key)
                if size(keys) > VALUES_MAX:
                    convert.limited(Map(keys, Bool(), total), span)
                return Map(keys, self._read(value), total)
            case TypeOf():
                return self._of(node)
            case TypeEnum(_, span):
                raise Wrong("Y310", "`one of` stands in `types:` only; give the enum a name", span)

    def _range(self, low: Cell, high: Cell, span: Span) -> Range:
        least, greatest = (constant_integer(self._world, cell) for cell in (low, high))
        if least > greatest:
            raise Wrong(
                "Y305",
                "this range is empty",
                span,
                expected="LOW at most HIGH",
                found=f"{least}..{greatest}",
            )
        kind = convert.limited(Range(least, greatest), span)
        assert isinstance(kind, Range)
        return kind

    def _of(self, node: TypeOf) -> Type:
        if node.kind == "handle":
            assert isinstance(node.item, TypeName)
            calls = self._calls.get(node.item.name)
            if calls is None:
                raise self._unknown(node.item.name, node.item.span, "calls", self._calls)
            return self.handle(calls)
        item = self._read(node.item)
        match node.kind:
            case "optional":
                if isinstance(item, Option):
                    raise Wrong("Y310", "this is optional already", node.span, found=show(item))
                return Option(item)
            case "set":
                return Set(item)
        capacity = self.capacity(node.capacity, node.span)
        return Sequence(item, capacity) if node.kind == "sequence" else Bag(item, capacity)

    def capacity(self, cell: Cell | None, span: Span) -> int:
        """Return a capacity: a constant of at least 1."""
        if cell is None:
            raise Wrong("Y310", "a capacity is needed", span, expected="up to N")
        value = constant_integer(self._world, cell)
        if not 1 <= value <= VALUES_MAX:
            raise Wrong(
                "Y305",
                "this capacity is out of bounds",
                cell.span,
                expected=f"1 to {VALUES_MAX}",
                found=str(value),
            )
        return value

    def named(self, name: str, span: Span) -> Type:
        """Return the type called `name`."""
        world = self._world
        if name in world.types:
            return world.types[name]
        entry = self._entries.get(name)
        if entry is None:
            if name in self._carried:
                return self.union(self._carried[name])
            raise self._unknown(name, span, "type", [*world.types, *self._entries, "bool"])
        if name in self._open:
            raise Wrong(
                "N220",
                f"the type `{name}` contains itself",
                span,
                found=" -> ".join([*self._open, name]),
            )
        if name in self._failed:
            raise Wrong("N201", f"the type `{name}` has an error of its own", entry.name.span)
        if len(self._open) == NESTING_MAX:
            raise Wrong(
                "Y306",
                "types are too deep in each other",
                entry.name.span,
                expected=f"at most {NESTING_MAX} levels",
            )
        self._open.append(name)
        self._failed.add(name)
        try:
            kind = self._entry(entry)
        finally:
            self._open.pop()
        self._failed.discard(name)
        world.types[name] = kind
        return kind

    def _entry(self, entry: NamedType | Message) -> Type:
        name = entry.name.text
        if isinstance(entry, NamedType) and entry.node is not None:
            if isinstance(entry.node, TypeEnum):
                return Enum(name, tuple(member.text for member in entry.node.members))
            return self.read(entry.node)
        fields = tuple((field.text, self.read(node)) for field, node in entry.fields or ())
        return convert.limited(Record(name, fields), entry.name.span)

    def message(self, word: Word) -> Record:
        """Return the record of a message."""
        known = {message.name.text for message in self._world.document.messages}
        if word.text not in known:
            raise self._unknown(word.text, word.span, "message", known)
        kind = self.named(word.text, word.span)
        assert isinstance(kind, Record)
        return kind

    def union(self, words: tuple[Word, ...]) -> Union:
        """Return the union of some messages, in the order `messages:` declares them."""
        return self._in_order(self.message(word) for word in words)

    def _kinds(self, words: tuple[Word, ...]) -> Union:
        """Return the union of some records, messages and unions of these."""
        found: list[Record] = []
        for word in words:
            kind = self.named(word.text, word.span)
            if not isinstance(kind, Record | Union):
                raise Wrong(
                    "Y303",
                    "only records and messages can be told apart by their kind",
                    word.span,
                    expected="a type with `fields`, a message, or a union of these",
                    found=show(kind),
                    help=f"give it one: {{fields: {{value: {word.text}}}}}, or write `optional`",
                )
            found += variants_of(kind)
        return self._in_order(found)

    def _in_order(self, records: Iterable[Record]) -> Union:
        """Return the union of some records in the order in which the system declares them."""
        known = {record.name: record for record in records}
        return union_of(known[name] for name in self._entries if name in known)

    def handle(self, calls: Calls) -> Record:
        """Return the type of the handles of calls."""
        slots = Range(0, self.capacity(calls.capacity, calls.name.span) - 1)
        fields = (("client", self.read(calls.per)), ("slot", slots))
        return Record(f"handle of {calls.name.text}", fields)

    def key(self, node: TypeNode) -> Type:
        """Return the type of a `per`: ids, an enum or a range."""
        kind = self.read(node)
        convert.limited(Set(kind), node.span)
        if (
            isinstance(kind, Bool | Range | Enum)
            or holds_symmetric(kind)
            or hasattr(kind, "members")
        ):
            return kind
        raise Wrong(
            "Y303",
            "`per` needs ids, an enum or a range",
            node.span,
            expected="an id type, an enum, LOW..HIGH",
            found=show(kind),
            help=f"a variable for each holds a map: `type: total map of {show(kind)} to ...`",
        )

    def _unknown(self, name: str, span: Span, what: str, known: Iterable[str]) -> Wrong:
        if name in self._world.without_value:
            return Consequence("N206", f"`{name}` has no ids, as its cell is wrong", span)
        advice = self._constant(name) if what == "type" else None
        advice = advice or meant(name, known, TYPES)
        return Wrong("N206", f"no {what} is called `{name}`", span, found=name, help=advice)

    def _constant(self, name: str) -> str | None:
        """Return what to write where a constant stands for a type; None of other names."""
        constants = self._world.document.constants
        constant = next((one for one in constants if one.name.text == name), None)
        if constant is None:
            return None
        if constant.ids_count is not None or constant.ids_names is not None:
            return f"`{name}` is declared further down: put it above"
        return (
            f"`{name}` is a constant: a type of ids is declared as `{name}: {{ids: 2}}`, "
            f"a range is written 0..{name}"
        )
