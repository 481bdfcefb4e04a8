"""Types and values of the language in TLA+: sets of values, literals, their order, conversions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from checker.errors import Diagnostic, SpecificationError
from checker.export.names import auxiliary, bound_in, bracketed, identifier, place, quoted
from checker.machine.machine import Machine
from checker.machine.relations import parts, variants_of
from checker.machine.types import (
    Bag,
    Bool,
    Enum,
    Id,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Union,
)
from checker.machine.walk import walk
from checker.semantics.evaluate import describe
from checker.source import Span

LARGEST = 2**31 - 1
"""The largest integer that TLC has."""


def refuse(code: str, message: str, span: Span, found: str, help_text: str) -> SpecificationError:
    """Return the error for what cannot be said so that TLC understands it."""
    return SpecificationError((Diagnostic(code, message, span, found=found, help=help_text),))


def require_written(machine: Machine) -> None:
    """Refuse (X703) what says more of runs than the module would."""
    for bound in machine.step_bounds:
        raise unwritten("a bound of steps", "next(...)", bound.span)


def unwritten(what: str, found: str, span: Span) -> SpecificationError:
    """Return the error for what the language can say and a module does not."""
    return refuse(
        "X703",
        f"{what} is not written in TLA+",
        span,
        found,
        "leave it out of what is exported: --property, --set or --instance",
    )


def included(source: Type, target: Type) -> bool:
    """Return whether every value of `source` is one of `target` just as it is written."""
    match source, target:
        case Option(inner), Option(outer):
            return included(inner, outer)
        case _, Option(outer):
            return included(source, outer)
        case Range(low, high), Range(least, greatest):
            return low > high or (least <= low and high <= greatest)
        case Enum(_, inner), Enum(_, outer):
            return set(inner) <= set(outer)
        case Record(name, fields), Record(other, others):
            return name == other and all(
                included(a, b) for (_, a), (_, b) in zip(fields, others, strict=True)
            )
        case Record(name, _), Union(_, variants):
            return any(included(source, item) for item in variants if item.name == name)
        case Union(_, variants), (Union() | Record()):
            return all(included(item, target) for item in variants)
        case Set(inner), Set(outer):
            return included(inner, outer)
        case Map(key, value, total), Map(other, held, covers):
            return (
                (key == other if covers else included(key, other))
                and included(value, held)
                and (total or not covers)
            )
        case (Sequence(inner, size), Sequence(outer, room)) | (Bag(inner, size), Bag(outer, room)):
            return included(inner, outer) and size <= room
    return source == target


class Values:
    """The types of one machine; what has to be defined for them gathers in `definitions`."""

    def __init__(self, machine: Machine, names: set[str]) -> None:
        self._names = names
        self.definitions: list[str] = []
        self._sets: dict[str, str] = {}
        self._ranks: dict[str, str] = {}
        self._orders: dict[Type, str] = {}
        kinds = list(_kinds(machine))
        self.tagged = {
            item.name for kind in kinds if isinstance(kind, Union) for item in kind.variants
        }
        records = [kind for kind in kinds if isinstance(kind, Record)]
        fields = {name for record in records for name, _ in record.fields}
        choices = ("kind", "variant", "message")
        self.tag = next((name for name in choices if name not in fields), "kind_of_record")
        split = _split_fields([item for item in records if item.name in self.tagged])
        self._fields = _called(self.tag, fields, records, self.tagged, split)
        # Whether orders are asked for is known when names that might be theirs were bound: there is
        # one for each type, of which several may be called alike.
        self._kept: dict[str, list[str]] = {}
        for kind in kinds:
            if isinstance(kind, Enum | Id):
                self._declare(kind)
                self._keep(f"{kind.name}Rank")
            self._keep(f"{_title(kind)}Before")

    def _declare(self, kind: Enum | Id) -> None:
        """Define the set of an enum's or id type's values, in whose words the rest is written."""
        if kind.name in self._sets:
            return
        name = self._new(kind.name)
        self._sets[kind.name] = name
        self.definitions.append(f"{name} == {{{', '.join(map(quoted, kind.members))}}}")

    def _new(self, text: str) -> str:
        name = identifier(text, self._names)
        self._names.add(name)
        return name

    def _keep(self, text: str) -> None:
        """Keep a name for a definition that may be asked for."""
        self._kept.setdefault(text, []).append(self._new(text))

    def _late(self, text: str) -> str:
        """Return the first name that was kept for such a definition and has none yet."""
        return self._kept[text].pop(0)

    def field(self, record: str, name: str) -> str:
        """Return how a field of a record is called.

        TLC cannot compare values of different kinds: where two messages have a field of the same
        name and different kinds, it is called after its message too.
        """
        return self._fields.get((record, name)) or self._fields["", name]

    def record(self, name: str, fields: Iterable[tuple[str, str]]) -> str:
        """Return a record with these fields and expressions."""
        tag = [f"{self.tag} |-> {quoted(name)}"] if name in self.tagged else []
        inner = [*tag, *(f"{self.field(name, field)} |-> {text}" for field, text in fields)]
        return f"[{', '.join(inner)}]" if inner else f"[record |-> {quoted(name)}]"

    def set_of(self, kind: Type) -> str:
        """Return the set of all values of a type."""
        match kind:
            case Bool():
                return "BOOLEAN"
            case Range(low, high):
                return f"{number(low)}..{number(high)}"
            case Enum(name, _) | Id(name, _, _):
                self._declare(kind)
                return self._sets[name]
            case Option(item):
                return f"{bracketed(self.set_of(item))} \\cup {{none}}"
            case Record(name, fields):
                tag = [f"{self.tag}: {{{quoted(name)}}}"] if name in self.tagged else []
                held = [
                    *tag,
                    *(f"{self.field(name, field)}: {self.set_of(part)}" for field, part in fields),
                ]
                return f"[{', '.join(held)}]" if held else f"{{{self.record(name, ())}}}"
            case Union(_, variants):
                return " \\cup ".join(self.set_of(item) for item in variants)
            case Set(item):
                return f"SUBSET {bracketed(self.set_of(item))}"
            case Map(key, value, True):
                return f"[{self.set_of(key)} -> {self.set_of(value)}]"
            case Map(key, value, False):
                keys, inner = bracketed(self.set_of(key)), self.set_of(value)
                some = auxiliary("keys", keys, inner)
                return f"UNION {{[{some} -> {inner}] : {some} \\in SUBSET {keys}}}"
            case Sequence(item, capacity):
                inner = self.set_of(item)
                length = auxiliary("length", inner)
                return f"UNION {{[1..{length} -> {inner}] : {length} \\in 0..{capacity}}}"
            case Bag(item, capacity):
                return f"BagsOf({self.set_of(item)}, {capacity})"
        raise TypeError(f"{kind} is no type")

    def literal(self, kind: Type, value: Any) -> str:
        """Return a value of a type."""
        match kind, value:
            case Bool(), _:
                return "TRUE" if value else "FALSE"
            case Range(), _:
                return number(value)
            case ((Enum() | Id()), _):
                return quoted(value)
            case Option(item), _:
                return "none" if value is None else self.literal(item, value)
            case Record(name, fields), _:
                return self.record(
                    name, ((field, self.literal(part, value[field])) for field, part in fields)
                )
            case Union(_, variants), _:
                shape = next(item for item in variants if item.name == value.name)
                return self.literal(shape, value)
            case Set(item), _:
                return f"{{{', '.join(sorted(self.literal(item, part) for part in value))}}}"
            case Map(), _:
                return self._map_literal(kind, value)
            case Sequence(item, _), _:
                return f"<<{', '.join(self.literal(item, part) for part in value)}>>"
            case Bag(item, _), _:
                if not value:
                    return "EmptyMap"
                inner = ", ".join(self.literal(item, part) for part in value)
                return f"BagOf(<<{inner}>>)"
        raise TypeError(f"{value} is no value of {kind}")

    def _map_literal(self, kind: Map, value: Mapping[object, object]) -> str:
        if not value:
            return "EmptyMap"
        held = {self.literal(kind.value, part) for part in value.values()}
        if kind.total and len(held) == 1:
            keys, text = self.set_of(kind.key), held.pop()
            return f"[{auxiliary('key', keys, text)} \\in {keys} |-> {text}]"
        return " @@ ".join(
            f"{bracketed(self.literal(kind.key, key))} :> {bracketed(self.literal(kind.value, v))}"
            for key, v in value.items()
        )

    # ------------------------------------------------------------------------------- order

    def rank(self, kind: Enum | Id) -> str:
        """Return the function from the values of a type to their places in its order."""
        if kind.name not in self._ranks:
            domain = self.set_of(kind)
            name = self._late(f"{kind.name}Rank")
            order = ", ".join(map(quoted, kind.members))
            self.definitions.append(
                f"{name} == [v_one \\in {domain} |-> CHOOSE v_place \\in "
                f"1..{len(kind.members)} : <<{order}>>[v_place] = v_one]"
            )
            self._ranks[kind.name] = name
        return self._ranks[kind.name]

    def before(self, kind: Type, span: Span) -> str:
        """Return the operator that says which of two values of a type comes first."""
        match kind:
            case Range():
                return "<"
            case Bool():
                return "BoolBefore"
        if kind not in self._orders:
            body = self._before(kind, span)
            name = self._late(f"{_title(kind)}Before")
            self.definitions.append(f"{name}(v_a, v_b) == {body}")
            self._orders[kind] = name
        return self._orders[kind]

    def _before(self, kind: Type, span: Span) -> str:
        match kind:
            case Enum() | Id():
                rank = self.rank(kind)
                return f"{rank}[v_a] < {rank}[v_b]"
            case Option(item):
                return f"v_b # none /\\ (v_a = none \\/ {self._less(item, 'v_a', 'v_b', span)})"
            case Record(name, fields):
                return self._fields_before(name, fields, span)
            case Union(_, variants):
                names = ", ".join(quoted(item.name) for item in variants)
                cases = " [] ".join(
                    f"v_a.{self.tag} = {quoted(item.name)} -> "
                    + self._less(item, "v_a", "v_b", span)
                    for item in variants
                )
                index = f"CHOOSE v_place \\in 1..{len(variants)} : <<{names}>>[v_place] ="
                return (
                    f"IF v_a.{self.tag} # v_b.{self.tag} "
                    f"THEN ({index} v_a.{self.tag}) < ({index} v_b.{self.tag}) ELSE CASE {cases}"
                )
            case Set(item):
                return f"SetBefore(v_a, v_b, {self.before(item, span)})"
            case Map(key, held, _):
                return f"MapBefore(v_a, v_b, {self.before(key, span)}, {self.before(held, span)})"
            case Sequence(item, _):
                return f"SequenceBefore(v_a, v_b, {self.before(item, span)})"
        raise refuse(
            "X702",
            "an order of bags is asked for, which is not written in TLA+",
            span,
            describe(kind),
            "go over something else in order, or keep the bag out of what is gone over",
        )

    def _fields_before(self, name: str, fields: tuple[tuple[str, Type], ...], span: Span) -> str:
        text = "FALSE"
        for field, part in reversed(fields):
            own = self.field(name, field)
            less = self._less(part, f"v_a.{own}", f"v_b.{own}", span)
            text = less if text == "FALSE" else f"{less} \\/ (v_a.{own} = v_b.{own} /\\ ({text}))"
        return text

    def _less(self, kind: Type, left: str, right: str, span: Span) -> str:
        operator = self.before(kind, span)
        return f"{left} < {right}" if operator == "<" else f"{operator}({left}, {right})"

    # -------------------------------------------------------------------------- conversions

    def cast(self, text: str, source: Type, target: Type, span: Span) -> str:
        """Return `text`, of type `source`, as a value of `target`, or an evaluation error."""
        if included(source, target):
            return text
        where = place(span)

        def inner(start: str, a: Type, b: Type) -> str:
            return self.cast(start, a, b, span)

        match source, target:
            case Option(item), Option(other):
                one, some = bound_in("one", lambda name: inner(name, item, other), text)
                return f"LET {one} == {text} IN IF {one} = none THEN none ELSE {some}"
            case Option(item), _:
                return inner(f"Some({text}, {where})", item, target)
            case _, Option(other):
                return inner(text, source, other)
            case Set(item), Set(other):
                one, made = bound_in("one", lambda name: inner(name, item, other), text)
                return f"{{{made} : {one} \\in {text}}}"
            case Map(), Map():
                return self._cast_map(text, source, target, span)
            case ((Record() | Union()), (Record() | Union())):
                return self._cast_record(text, source, target, span, inner)
            case ((Sequence() | Bag()), (Sequence() | Bag())):
                return self._cast_row(text, source, target, span, inner)
        return f"Within({text}, {self.set_of(target)}, {where})"

    def _cast_map(self, text: str, source: Map, target: Map, span: Span) -> str:
        def held(key: str) -> str:
            return self.cast(f"{bracketed(text)}[{key}]", source.value, target.value, span)

        def key_of(key: str) -> str:
            return self.cast(key, source.key, target.key, span)

        if not (included(source.key, target.key) and included(source.value, target.value)):
            name, inner = bound_in("key", held, text)
            text = f"[{name} \\in DOMAIN {bracketed(text)} |-> {inner}]"
            if not included(source.key, target.key):
                name, key = bound_in("key", key_of, text)
                keys = f"{{{key} : {name} \\in DOMAIN {bracketed(text)}}}"
                text = f'Covered({text}, {keys}, "E501", {place(span)})'
        if target.total and not (source.total and source.key == target.key):
            text = f'Covered({text}, {self.set_of(target.key)}, "E501", {place(span)})'
        return text

    def _cast_record(
        self,
        text: str,
        source: Type,
        target: Type,
        span: Span,
        inner: Callable[[str, Type, Type], str],
    ) -> str:
        assert isinstance(source, Record | Union)
        assert isinstance(target, Record | Union)
        shapes = {item.name: item for item in variants_of(target)}
        cases = []
        for item in variants_of(source):
            if item.name not in shapes:
                continue
            own = dict(shapes[item.name].fields)
            made = [
                (name, inner(f"{bracketed(text)}.{self.field(item.name, name)}", part, own[name]))
                for name, part in item.fields
            ]
            cases.append((item.name, self.record(item.name, made)))
        if isinstance(source, Record) and cases:
            return cases[0][1]
        arms = [f"{bracketed(text)}.{self.tag} = {quoted(name)} -> {made}" for name, made in cases]
        arms.append(f'OTHER -> Error("E501", {place(span)})')
        return "CASE " + " [] ".join(arms)

    def _cast_row(
        self,
        text: str,
        source: Type,
        target: Type,
        span: Span,
        inner: Callable[[str, Type, Type], str],
    ) -> str:
        assert isinstance(source, Sequence | Bag)
        assert isinstance(target, Sequence | Bag)
        where = place(span)
        if isinstance(source, Bag):
            if not included(source.item, target.item):
                item, made = bound_in(
                    "item", lambda name: inner(name, source.item, target.item), text
                )
                text = f"[{item} \\in {{{made} : {item} \\in DOMAIN {text}}} |-> {text}[{item}]]"
            return f"BagUpTo({text}, {target.capacity}, {where})"
        if not included(source.item, target.item):
            row = bracketed(text)
            number, made = bound_in(
                "place", lambda name: inner(f"{row}[{name}]", source.item, target.item), text
            )
            text = f"[{number} \\in DOMAIN {bracketed(text)} |-> {made}]"
        if source.capacity > target.capacity:
            text = f"AtMost({text}, {target.capacity}, {where})"
        return f"BagOf({text})" if isinstance(target, Bag) else text


def _title(kind: Type) -> str:
    """Return the name of a type, of one without what sort of type it is."""
    return str(getattr(kind, "name", type(kind).__name__))


def number(value: int) -> str:
    """Return an integer."""
    return str(value) if value >= 0 else f"(-{-value})"


def _kinds(machine: Machine) -> Iterable[Type]:
    """Yield every type of a machine and of what it computes, outer before inner, each once."""
    nodes = walk(*machine.parts)
    waiting: list[tuple[Type, Span]] = [(item, machine.initial.span) for item in machine.ids]
    waiting += [(item.type, item.span) for item in machine.variables]
    waiting += [
        (node.type, node.span) for node in nodes if hasattr(node, "type") and hasattr(node, "span")
    ]
    seen: set[Type] = set()
    for outer, span in waiting:
        inner = [outer]
        while inner:
            kind = inner.pop()
            if kind in seen:
                continue
            seen.add(kind)
            if isinstance(kind, Range) and (kind.low < -LARGEST or kind.high > LARGEST):
                raise refuse(
                    "X701",
                    "an integer that TLC does not have",
                    span,
                    describe(kind),
                    "let it range over integers of 32 bits",
                )
            yield kind
            inner.extend(parts(kind))


def _split_fields(records: list[Record]) -> set[str]:
    """Return the names of fields whose values in different records TLC cannot compare."""
    kinds: dict[str, set[str]] = {}
    for record in records:
        for name, part in record.fields:
            kinds.setdefault(name, set()).add(_sort(part))
    return {name for name, found in kinds.items() if len(found) > 1}


def _called(
    tag: str, fields: set[str], records: list[Record], tagged: set[str], split: set[str]
) -> dict[tuple[str, str], str]:
    """Return how fields are called: those that are `split` by record, all others by "".

    No two of them alike, nor like the tag. Those that can be called as they are come first.
    """
    wanted = [("", name, name) for name in fields]
    wanted += [
        (record.name, name, f"{record.name}_{name}")
        for record in records
        if record.name in tagged
        for name, _ in record.fields
        if name in split
    ]
    found: dict[tuple[str, str], str] = {}
    for record, name, text in sorted(
        set(wanted), key=lambda one: (bool(one[0]), identifier(one[2]) != one[2], one)
    ):
        found[record, name] = identifier(text, {tag, *found.values()})
    return found


def _sort(kind: Type) -> str:
    """Return what TLC compares a value of the type with."""
    match kind:
        case Bool():
            return "bool"
        case Range():
            return "number"
        case Enum() | Id():
            return "string"
        case Option(item):
            return _sort(item)
        case Set(item):
            return f"set({_sort(item)})"
        case Sequence(item, _):
            return f"row({_sort(item)})"
        case Bag(item, _):
            return f"bag({_sort(item)})"
        case Map(key, value, _):
            return f"map({_sort(key)}, {_sort(value)})"
    # Of two records TLC compares fields, whichever comes first, until two of them differ.
    return f"record({', '.join(sorted(shape.name for shape in variants_of(kind)))})"
