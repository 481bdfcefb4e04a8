"""Terms in TLA+: expressions with the value of a term, or a failed assertion if it has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from checker.errors import InternalError
from checker.export.names import atomic, bracketed, identifier, listed, place, quoted
from checker.export.values import Values
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.builtins import NAMED
from checker.machine.certain import certain
from checker.machine.relations import bare, variants_of
from checker.machine.terms import Generator, Term
from checker.machine.types import (
    Bag,
    Enum,
    Id,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
)

ROW = "#row"
"""The name under which a scope keeps the row whose step is judged."""


@frozen()
class Scope:
    """What names stand for where an expression is written.

    `state` and `names` are expressions for the variables and the bound names; `bound` holds every
    identifier that a name bound here must not have.
    """

    state: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()

    def bind(self, name: str) -> tuple[str, Scope]:
        """Return a new identifier for a bound name, and the scope in which it stands for it."""
        own, inside = self.aside(name)
        return own, inside.named(name, own)

    def aside(self, base: str) -> tuple[str, Scope]:
        """Return a new identifier, and the scope in which it is taken and all names as before."""
        own = identifier(base, self.bound)
        return own, self.reserve(own)

    def named(self, name: str, text: str) -> Scope:
        """Return the scope in which a name stands for an expression."""
        return replace(self, names={**self.names, name: text})

    def after(self) -> Scope:
        """Return the scope in the state that a step leads to."""
        primed = {name: f"{bracketed(text)}'" for name, text in self.state.items()}
        return replace(self, state=primed)

    def reserve(self, *identifiers: str) -> Scope:
        """Return the scope in which these identifiers are taken."""
        return replace(self, bound=self.bound.union(identifiers))


def bound(name: str) -> str:
    """Return what a binding of the row that ran is known by, where a property asks for it."""
    return f"{ROW} {name}"


def may_fail(*items: Term) -> bool:
    """Return whether a term's value may be an evaluation error."""
    return not all(map(certain, items))


def members(kind: Type, text: str) -> str:
    """Return the set of what a choice from a collection of this type chooses from."""
    match kind:
        case Map() | Bag():
            return f"DOMAIN {bracketed(text)}"
        case Sequence():
            return f"Range({text})"
    return text


def item_type(kind: Type) -> Type:
    """Return the type of what a loop over a collection of this type meets."""
    match kind:
        case Map(key, _, _):
            return key
        case Set(item) | Sequence(item, _) | Bag(item, _):
            return item
    raise TypeError(f"{kind} is no collection")


class Expressions:
    """Writes the terms of one machine."""

    def __init__(self, values: Values) -> None:
        self.values = values

    def text(self, term: Term, scope: Scope) -> str:
        """Return `term` as an expression."""
        writer: Callable[[Term, Scope], str] = getattr(self, _WRITERS[type(term)])
        return writer(term, scope)

    def clause(self, term: Term, scope: Scope) -> str:
        """Return `term` as a part of a conjunction, disjunction or implication."""
        text = self.text(term, scope)
        return text if isinstance(term, _RELATIONS) else bracketed(text)

    def inner(self, term: Term, scope: Scope) -> str:
        """Return `term` as an expression that can stand in any place."""
        return bracketed(self.text(term, scope))

    # --------------------------------------------------------------------- names and logic

    def _literal(self, term: t.Literal, _: Scope) -> str:
        return self.values.literal(term.type, term.value)

    def _read(self, term: t.Read, scope: Scope) -> str:
        return scope.state[term.variable]

    def _local(self, term: t.Local, scope: Scope) -> str:
        if term.name not in scope.names:
            raise InternalError(f"{term.span}: the local {term.name} has no value")
        return scope.names[term.name]

    def _next(self, term: t.Next, scope: Scope) -> str:
        # The variables are primed, not the whole: what a name stands for is of the state before,
        # and in a recursive operator TLA+ has no LET below a prime.
        return self.text(term.item, scope.after())

    def _ran(self, term: t.Ran, scope: Scope) -> str:
        if scope.names.get(ROW) != term.row:
            return "FALSE"
        same = [
            f"{scope.names[bound(name)]} = {self.inner(value, scope)}"
            for name, value in term.arguments
        ]
        return " /\\ ".join(same) or "TRUE"

    def _let(self, term: t.Let, scope: Scope) -> str:
        value = self.text(term.value, scope)
        if atomic(value) and not may_fail(term.value):
            return self.text(term.body, scope.named(term.name, value))
        own, inside = scope.bind(term.name)
        body = self.text(term.body, inside)
        if may_fail(term.value):
            return f"Only({_image(body, own, listed(value))})"
        return f"LET {own} == {value} IN {body}"

    def _cast(self, term: t.Cast, scope: Scope) -> str:
        text = self.text(term.item, scope)
        if isinstance(term.type, Range) or atomic(text):
            return self.values.cast(text, term.item.type, term.type, term.span)
        return self.values.cast(f"({text})", term.item.type, term.type, term.span)

    def _arithmetic(self, term: t.Arithmetic, scope: Scope) -> str:
        if term.operator in {"//", "%"}:
            name = "Quotient" if term.operator == "//" else "Remainder"
            left, right = self.text(term.left, scope), self.text(term.right, scope)
            return f"{name}({left}, {right}, {place(term.span)})"
        return f"{self.inner(term.left, scope)} {term.operator} {self.inner(term.right, scope)}"

    def _compare(self, term: t.Compare, scope: Scope) -> str:
        sides = []
        for side in (term.left, term.right):
            match side.type:
                case Enum() | Id():
                    sides.append(f"{self.values.rank(side.type)}[{self.text(side, scope)}]")
                case _:
                    sides.append(self.inner(side, scope))
        if isinstance(term.left.type, Range | Enum | Id):
            return f"{sides[0]} {term.operator} {sides[1]}"
        return self._compare_codes(term, scope)

    def _compare_codes(self, term: t.Compare, scope: Scope) -> str:
        before = self.values.before(term.left.type, term.span)
        left, right = self.text(term.left, scope), self.text(term.right, scope)
        match term.operator:
            case "<":
                return f"{before}({left}, {right})"
            case ">":
                return f"{before}({right}, {left})"
            case "<=":
                return f"~{before}({right}, {left})"
            case ">=":
                return f"~{before}({left}, {right})"

    def _equal(self, term: t.Equal, scope: Scope) -> str:
        return f"{self.inner(term.left, scope)} = {self.inner(term.right, scope)}"

    def _not(self, term: t.Not, scope: Scope) -> str:
        match term.item:
            case t.Equal(left, right):
                return f"{self.inner(left, scope)} # {self.inner(right, scope)}"
            case t.IsNone(item):
                return f"{self.inner(item, scope)} # none"
        return f"~{self.inner(term.item, scope)}"

    def _and(self, term: t.And, scope: Scope) -> str:
        return " /\\ ".join(self.clause(item, scope) for item in term.items) or "TRUE"

    def _or(self, term: t.Or, scope: Scope) -> str:
        return " \\/ ".join(self.clause(item, scope) for item in term.items) or "FALSE"

    def _implies(self, term: t.Implies, scope: Scope) -> str:
        return f"{self.clause(term.left, scope)} => {self.clause(term.right, scope)}"

    def _choose(self, term: t.Choose, scope: Scope) -> str:
        condition = self.text(term.condition, scope)
        then, otherwise = self.text(term.then, scope), self.text(term.otherwise, scope)
        return f"IF {condition} THEN {then} ELSE {otherwise}"

    # ------------------------------------------------------------------ parts and membership

    def _field(self, term: t.Field, scope: Scope) -> str:
        return self.field(self.inner(term.item, scope), term.item.type, term.name, term)

    def field(self, text: str, kind: Type, name: str, at: t.Field | t.With) -> str:
        """Return a field of the record `text`, which must be its own brackets."""
        shapes = variants_of(bare(kind))
        having = [shape for shape in shapes if name in dict(shape.fields)]
        called = {self.values.field(shape.name, name) for shape in having}
        if len(called) == 1:  # where the record lacks it, TLC says so
            return f"{text}.{called.pop()}"
        tag = self.values.tag
        arms = [
            f"{text}.{tag} = {quoted(shape.name)} -> {text}.{self.values.field(shape.name, name)}"
            for shape in having
        ]
        if len(having) < len(shapes):
            arms.append(f'OTHER -> Error("E504", {place(at.span)})')
        return f"(CASE {' [] '.join(arms)})"

    def _at(self, term: t.At, scope: Scope) -> str:
        item, key = self.inner(term.item, scope), self.text(term.key, scope)
        if isinstance(term.item.type, Map):  # where the key is absent, TLC says so
            return f"{item}[{key}]"
        return f"{item}[{bracketed(key)} + 1]"

    def _is_none(self, term: t.IsNone, scope: Scope) -> str:
        return f"{self.inner(term.item, scope)} = none"

    def _is_variant(self, term: t.IsVariant, scope: Scope) -> str:
        item = self.inner(term.item, scope)
        kind = term.item.type
        bare = kind.item if isinstance(kind, Option) else kind
        if isinstance(bare, Record) and bare.name not in self.values.tagged:
            is_it = "TRUE" if bare.name == term.variant else "FALSE"
        else:
            is_it = f"{item}.{self.values.tag} = {quoted(term.variant)}"
        return f"{item} # none /\\ {is_it}" if isinstance(kind, Option) else is_it

    def _contains(self, term: t.Contains, scope: Scope) -> str:
        collection = members(term.collection.type, self.text(term.collection, scope))
        return f"{self.inner(term.item, scope)} \\in {_operand(collection)}"

    # ------------------------------------------------------------------------- collections

    def _set_operation(self, term: t.SetOperation, scope: Scope) -> str:
        left, right = self.inner(term.left, scope), self.inner(term.right, scope)
        if term.operator == "^":
            return f"({left} \\ {right}) \\cup ({right} \\ {left})"
        sign = {"|": "\\cup", "&": "\\cap", "-": "\\"}[term.operator]
        return f"{left} {sign} {right}"

    def _subset(self, term: t.Subset, scope: Scope) -> str:
        left, right = self.inner(term.left, scope), self.inner(term.right, scope)
        text = f"{left} \\subseteq {right}"
        return f"{text} /\\ {left} # {right}" if term.strict else text

    def _set_of(self, term: t.SetOf, scope: Scope) -> str:
        return listed(*(self.text(item, scope) for item in term.items))

    def _everything(self, term: t.Everything, _: Scope) -> str:
        return self.values.set_of(term.type.item)

    def _interval(self, term: t.Interval, scope: Scope) -> str:
        return f"{self.inner(term.low, scope)}..{self.inner(term.high, scope)}"

    def _record_of(self, term: t.RecordOf, scope: Scope) -> str:
        return self.values.record(
            term.name, ((name, self.text(part, scope)) for name, part in term.fields)
        )

    def _map_of(self, term: t.MapOf, scope: Scope) -> str:
        pairs = ", ".join(
            f"<<{self.text(key, scope)}, {self.text(value, scope)}>>" for key, value in term.pairs
        )
        return self._covering(f"MapOf(<<{pairs}>>)" if pairs else "EmptyMap", term)

    def _covering(self, text: str, term: t.MapOf | t.Fold) -> str:
        if not isinstance(term.type, Map) or not term.type.total:
            return text
        if isinstance(term, t.Fold) and _by_key(term):
            return text
        return f'Covered({text}, {self.values.set_of(term.type.key)}, "E505", {place(term.span)})'

    def _sequence_of(self, term: t.SequenceOf, scope: Scope) -> str:
        return self._row(f"<<{', '.join(self.text(item, scope) for item in term.items)}>>", term)

    def _row(self, text: str, term: t.SequenceOf | t.Concatenate | t.Fold) -> str:
        assert isinstance(term.type, Sequence | Bag)
        if isinstance(term, t.Fold) or (
            isinstance(term, t.SequenceOf) and len(term.items) > term.type.capacity
        ):
            text = f"AtMost({text}, {term.type.capacity}, {place(term.span)})"
        return f"BagOf({text})" if isinstance(term.type, Bag) else text

    def _length(self, term: t.Length, scope: Scope) -> str:
        item = self.text(term.item, scope)
        match term.item.type:
            case Sequence():
                return f"Len({item})"
            case Bag():
                return f"BagSize({item})"
            case Map():
                return f"Cardinality(DOMAIN {bracketed(item)})"
        return f"Cardinality({item})"

    def _count(self, term: t.Count, scope: Scope) -> str:
        name = "BagCount" if isinstance(term.collection.type, Bag) else "Occurrences"
        return f"{name}({self.text(term.collection, scope)}, {self.text(term.item, scope)})"

    def _keys(self, term: t.Keys, scope: Scope) -> str:
        return f"DOMAIN {self.inner(term.item, scope)}"

    def _concatenate(self, term: t.Concatenate, scope: Scope) -> str:
        return f"{self.inner(term.left, scope)} \\o {self.inner(term.right, scope)}"

    def _slice(self, term: t.Slice, scope: Scope) -> str:
        item = self.text(term.item, scope)
        start = "0" if term.start is None else self.text(term.start, scope)
        stop = f"Len({item})" if term.stop is None else self.text(term.stop, scope)
        return f"Slice({item}, {start}, {stop}, {place(term.span)})"

    def _with(self, term: t.With, scope: Scope) -> str:
        item, value = self.inner(term.item, scope), self.text(term.value, scope)
        shapes = variants_of(bare(term.item.type))
        having = [shape for shape in shapes if term.name in dict(shape.fields)]
        arms = [
            (shape.name, f"[{item} EXCEPT !.{self.values.field(shape.name, term.name)} = {value}]")
            for shape in having
        ]
        if len(having) == len(shapes) and len({text for _, text in arms}) == 1:
            return arms[0][1]
        cases = [f"{item}.{self.values.tag} = {quoted(name)} -> {text}" for name, text in arms]
        cases.append(f'OTHER -> Error("E504", {place(term.span)})')
        return f"CASE {' [] '.join(cases)}"

    def _extreme(self, term: t.Extreme, scope: Scope) -> str:
        items = listed(*(self.text(item, scope) for item in term.items))
        before = self.values.before(term.type, term.span)
        return f"{'First' if term.operator == 'min' else 'Last'}({items}, {before})"

    def _apply(self, term: t.Apply, scope: Scope) -> str:
        plain = NAMED[term.function].plain
        assert plain is not None
        return plain.written.format(*(self.inner(item, scope) for item in term.arguments))

    # ------------------------------------------------------------------------------- folds

    def _fold(self, term: t.Fold, scope: Scope) -> str:
        match term.operator:
            case "all" | "any":
                return self._quantified(term, term.generators, scope)
            case "sum":
                return self._sum(term, term.generators, scope)
            case "set":
                return self._set(term, term.generators, scope)
            case "min" | "max":
                name = "Least" if term.operator == "min" else "Greatest"
                items = self._set(term, term.generators, scope)
                before = self.values.before(term.type, term.span)
                return f"{name}({items}, {before}, {place(term.span)})"
            case "sequence":
                return self._row(self._gathered(term, term.generators, scope), term)
            case "map":
                return self._covering(self._map(term, scope), term)

    def _generator(self, item: Generator, scope: Scope) -> tuple[str, str, str, Scope]:
        """Return name, domain, condition ("" where there is none) and the scope inside."""
        domain = self.text(item.domain, scope)
        own, inside = scope.bind(item.name)
        condition = "" if item.condition is None else self.text(item.condition, inside)
        return own, domain, condition, inside

    def _quantified(self, term: t.Fold, generators: tuple[Generator, ...], scope: Scope) -> str:
        if not generators:
            return self.text(term.body, scope)
        own, domain, condition, inside = self._generator(generators[0], scope)
        body = self._quantified(term, generators[1:], inside)
        over = f"{own} \\in {members(generators[0].domain.type, domain)}"
        if term.operator == "all":
            body = f"{bracketed(condition)} => {bracketed(body)}" if condition else body
            return f"\\A {over} : {body}"
        body = f"{bracketed(condition)} /\\ {bracketed(body)}" if condition else body
        return f"\\E {over} : {body}"

    def chosen(self, item: Generator, scope: Scope) -> tuple[str, str, Scope]:
        """Return a name, the set of what it may be, and the scope in which it is bound."""
        own, domain, condition, inside = self._generator(item, scope)
        domain = members(item.domain.type, domain)
        return own, f"{{{own} \\in {domain} : {condition}}}" if condition else domain, inside

    def _set(self, term: t.Fold, generators: tuple[Generator, ...], scope: Scope) -> str:
        own, domain, inside = self.chosen(generators[0], scope)
        if len(generators) > 1:
            inner = self._set(term, generators[1:], inside)
            return f"UNION {_image(inner, own, domain)}"
        body = self.text(term.body, inside)
        return domain if body == own else _image(body, own, domain)

    def _sum(self, term: t.Fold, generators: tuple[Generator, ...], scope: Scope) -> str:
        if not generators:
            return self.text(term.body, scope)
        first, rest = generators[0], generators[1:]
        if isinstance(first.domain.type, Sequence):
            own, domain, condition, inside = self._generator(first, scope)
            number, inside = inside.aside("place")
            body = self._sum(term, rest, inside)
            body = f"IF {condition} THEN {body} ELSE 0" if condition else body
            items = bracketed(domain)
            return (
                f"Sum([{number} \\in DOMAIN {items} |-> LET {own} == {items}[{number}] IN {body}])"
            )
        own, domain, inside = self.chosen(first, scope)
        return f"Sum([{own} \\in {domain} |-> {self._sum(term, rest, inside)}])"

    def _gathered(self, term: t.Fold, generators: tuple[Generator, ...], scope: Scope) -> str:
        """Return the sequence of the bodies (of <<key, body>> for a map) in canonical order."""
        if not generators:
            body = self.text(term.body, scope)
            return (
                f"<<{body}>>"
                if term.key is None
                else (f"<<<<{self.text(term.key, scope)}, {body}>>>>")
            )
        own, domain, condition, inside = self._generator(generators[0], scope)
        body = self._gathered(term, generators[1:], inside)
        body = f"IF {condition} THEN {body} ELSE <<>>" if condition else body
        kind = generators[0].domain.type
        inner = members(kind, domain)
        row = domain if isinstance(kind, Sequence) else self.in_order(kind, inner, term)
        return f"Gather({row}, [{own} \\in {inner} |-> {body}])"

    def in_order(self, kind: Type, text: str, at: t.Fold | t.For) -> str:
        """Return the members `text` of a collection of this type as a sequence."""
        return f"InOrder({text}, {self.values.before(item_type(kind), at.span)})"

    def _map(self, term: t.Fold, scope: Scope) -> str:
        assert term.key is not None
        first = term.generators[0]
        own_key = isinstance(term.key, t.Local) and term.key.name == first.name
        if len(term.generators) == 1 and own_key:
            own, domain, inside = self.chosen(first, scope)
            return f"[{own} \\in {domain} |-> {self.text(term.body, inside)}]"
        return f"MapOf({self._gathered(term, term.generators, scope)})"


def _image(body: str, name: str, domain: str) -> str:
    r"""Return the set of the bodies; `{x \in S : x \in T}` would be another one, a part of S."""
    return f"{{{bracketed(body) if ' ' in body else body} : {name} \\in {domain}}}"


def _by_key(term: t.Fold) -> bool:
    """Return whether a map has a value for each key of its type by the way it is written."""
    first = term.generators[0]
    return (
        len(term.generators) == 1
        and isinstance(term.type, Map)
        and isinstance(first.domain, t.Everything)
        and first.domain.type.item == term.type.key
        and first.condition is None
        and isinstance(term.key, t.Local)
        and term.key.name == first.name
    )


def _operand(text: str) -> str:
    """Return the right side of a relation: what binds tighter needs no parentheses."""
    return text if text.startswith("DOMAIN ") and atomic(text[7:]) else bracketed(text)


_RELATIONS = (t.Equal, t.Compare, t.Contains, t.IsNone, t.Not)
"""What binds tighter than `/\\`, `\\/` and `=>` without parentheses."""

_WRITERS: dict[type, str] = {
    t.Literal: "_literal",
    t.Read: "_read",
    t.Local: "_local",
    t.Next: "_next",
    t.Ran: "_ran",
    t.Let: "_let",
    t.Cast: "_cast",
    t.Arithmetic: "_arithmetic",
    t.Compare: "_compare",
    t.Equal: "_equal",
    t.Not: "_not",
    t.And: "_and",
    t.Or: "_or",
    t.Implies: "_implies",
    t.Choose: "_choose",
    t.Field: "_field",
    t.At: "_at",
    t.IsNone: "_is_none",
    t.IsVariant: "_is_variant",
    t.Contains: "_contains",
    t.SetOperation: "_set_operation",
    t.Subset: "_subset",
    t.SetOf: "_set_of",
    t.Everything: "_everything",
    t.Interval: "_interval",
    t.RecordOf: "_record_of",
    t.MapOf: "_map_of",
    t.SequenceOf: "_sequence_of",
    t.Length: "_length",
    t.Count: "_count",
    t.Keys: "_keys",
    t.Concatenate: "_concatenate",
    t.Slice: "_slice",
    t.With: "_with",
    t.Extreme: "_extreme",
    t.Apply: "_apply",
    t.Fold: "_fold",
}
