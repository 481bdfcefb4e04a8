"""The meaning of every term: `evaluate(term, context)` is its value, or an EvaluationError.

One small function a kind of term, in the order of `checker.machine.terms`. Nothing is cached and
nothing is clever: what the kernel computes is held to what stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from checker.errors import EvaluationError, InternalError
from checker.frozen import frozen
from checker.machine import terms
from checker.machine.builtins import NAMED
from checker.machine.order import decides_by_name
from checker.machine.relations import variants_of
from checker.machine.terms import Generator, Term
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
from checker.semantics.values import (
    MapValue,
    RecordValue,
    bag_value,
    belongs,
    code_of,
    elements,
    format_value,
    map_value,
    values,
)
from checker.source import Span


@frozen()
class MadeBy:
    """The row that made a step, and what belongs to the step's name."""

    row: str
    bindings: Mapping[str, object]


@frozen()
class Context:
    """What a term sees: the state, the bound names; in `step` properties the next state, too.

    There it also sees by which row the step was made.
    """

    state: Mapping[str, object]
    names: Mapping[str, object]
    following: Mapping[str, object] | None = None
    made_by: MadeBy | None = None

    def bind(self, name: str, value: object) -> Context:
        """Return this context with one more name."""
        return Context(self.state, {**self.names, name: value}, self.following, self.made_by)


def evaluate(term: Term, context: Context) -> Any:
    """Return the value of `term`. Raises EvaluationError (E501..E507) as its kind documents."""
    return _MEANING[type(term)](term, context)


# ------------------------------------------------------------------------- names and constants


def _literal(term: terms.Literal, _: Context) -> object:
    return term.value


def _read(term: terms.Read, context: Context) -> object:
    return context.state[term.variable]


def _local(term: terms.Local, context: Context) -> object:
    if term.name not in context.names:
        raise InternalError(f"{term.span}: the local {term.name} has no value")
    return context.names[term.name]


def _next(term: terms.Next, context: Context) -> object:
    if context.following is None:
        raise InternalError(f"{term.span}: next() outside a step")
    return evaluate(term.item, Context(context.following, context.names))


def _ran(term: terms.Ran, context: Context) -> object:
    if context.made_by is None:
        raise InternalError(f"{term.span}: ran() outside a step")
    made_by = context.made_by
    return made_by.row == term.row and all(
        made_by.bindings[name] == evaluate(value, context) for name, value in term.arguments
    )


def _leads(term: terms.Leads, context: Context) -> object:
    from checker.semantics.successors import leads  # noqa: PLC0415 (steps evaluate terms)

    states = (tuple(evaluate(item, context) for item in side) for side in (term.before, term.after))
    return leads(term.other, *states, begins=term.begins)


def _let(term: terms.Let, context: Context) -> object:
    return evaluate(term.body, context.bind(term.name, evaluate(term.value, context)))


def _cast(term: terms.Cast, context: Context) -> object:
    return fit(term.type, evaluate(term.item, context), term.span)


def fit(kind: Type, value: object, span: Span) -> object:
    """Return `value` as a value of `kind`: E502 where none is no value of it, E501 otherwise."""
    if value is None and not isinstance(kind, Option):
        raise EvaluationError("E502", f"the value is none where {describe(kind)} is needed", span)
    match kind, value:
        case Option(item), _:
            return None if value is None else fit(item, value, span)
        case Record(name, fields), RecordValue() if value.name == name:
            return RecordValue(
                name, tuple((field, fit(part, value[field], span)) for field, part in fields)
            )
        case Union(_, variants), RecordValue():
            for variant in variants:
                if variant.name == value.name:
                    return fit(variant, value, span)
        case Set(item), frozenset():
            return frozenset(fit(item, member, span) for member in value)
        case Map(key, held, _), MapValue():
            entries = {fit(key, k, span): fit(held, v, span) for k, v in value.items()}
            _check_total(kind, entries, "E501", span)
            return map_value(kind, entries)
        case Sequence(item, capacity), tuple():
            check_room(len(value), capacity, span)
            return tuple(fit(item, member, span) for member in value)
        case Bag(item, capacity), tuple():
            check_room(len(value), capacity, span)
            return bag_value(kind, (fit(item, member, span) for member in value))
        case ((Sequence() | Bag()), frozenset()) if not value:
            return ()  # an `empty` that nothing had told yet of what
        case Map(_, _, False), frozenset() if not value:
            return MapValue({})
        case _ if belongs(kind, value):
            return value
    raise EvaluationError("E501", f"{format_value(value)} is outside {describe(kind)}", span)


def describe(kind: Type) -> str:
    """Return a type in the words of the language, for messages."""
    match kind:
        case Bool():
            return "bool"
        case Range(low, high):
            return f"{low}..{high}"
        case Enum(name, _) | Id(name, _, _) | Record(name, _):
            return name
        case Union(_, variants):
            return " or ".join(variant.name for variant in variants)
        case Option(item):
            return f"optional {describe(item)}"
        case Set(item):
            return f"set of {describe(item)}"
        case Map(key, held, total):
            return f"{'total ' * total}map of {describe(key)} to {describe(held)}"
        case Sequence(item, capacity):
            return f"sequence of {describe(item)} up to {capacity}"
        case Bag(item, capacity):
            return f"bag of {describe(item)} up to {capacity}"


def check_room(length: int, capacity: int, span: Span) -> None:
    """Raise E501 when `length` items are more than `capacity`."""
    if length > capacity:
        raise EvaluationError("E501", f"{length} items where at most {capacity} fit", span)


def _check_total(kind: Map, entries: Mapping[object, object], code: str, span: Span) -> None:
    if kind.total:
        missing = [key for key in values(kind.key) if key not in entries]
        if missing:
            raise EvaluationError(
                code, f"a total map lacks the key {format_value(missing[0])}", span
            )


# ----------------------------------------------------------------------- arithmetic and logic


def _arithmetic(term: terms.Arithmetic, context: Context) -> int:
    left: int = evaluate(term.left, context)
    right: int = evaluate(term.right, context)
    if term.operator in {"//", "%"} and right == 0:
        raise EvaluationError("E503", f"division of {left} by zero", term.span)
    match term.operator:
        case "+":
            result = left + right
        case "-":
            result = left - right
        case "*":
            result = left * right
        case "//":
            result = left // right
        case "%":
            result = left % right
    return _within(term.type, result, term.span)


def _within(kind: Type, number: int, span: Span) -> int:
    """The elaborator promised a range that holds every result; hold it to that."""
    if not belongs(kind, number):
        raise InternalError(f"{span}: {number} left the computed range {describe(kind)}")
    return number


def rank(kind: Type, value: object) -> int:
    """Return what orders a value: an integer by itself, anything else by its code."""
    return value if isinstance(kind, Range) else code_of(kind, value)  # type: ignore[return-value]


def _compare(term: terms.Compare, context: Context) -> bool:
    left = rank(term.left.type, evaluate(term.left, context))
    right = rank(term.right.type, evaluate(term.right, context))
    match term.operator:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right


def _equal(term: terms.Equal, context: Context) -> bool:
    left = evaluate(term.left, context)
    return bool(left == evaluate(term.right, context))


def _not(term: terms.Not, context: Context) -> bool:
    return not evaluate(term.item, context)


def _and(term: terms.And, context: Context) -> bool:
    for item in term.items:  # noqa: SIM110 (most of what is evaluated is this)
        if not _MEANING[type(item)](item, context):
            return False
    return True


def _or(term: terms.Or, context: Context) -> bool:
    for item in term.items:  # noqa: SIM110 (like `_and`)
        if _MEANING[type(item)](item, context):
            return True
    return False


def _implies(term: terms.Implies, context: Context) -> bool:
    return not evaluate(term.left, context) or evaluate(term.right, context)


def _choose(term: terms.Choose, context: Context) -> object:
    chosen = term.then if evaluate(term.condition, context) else term.otherwise
    return evaluate(chosen, context)


# ------------------------------------------------------------------------ parts and membership


def field_of(value: RecordValue, name: str, span: Span) -> object:
    """Return a field of a record; E504 where this variant lacks it."""
    if name not in value:
        raise EvaluationError("E504", f"{format_value(value)} has no field {name}", span)
    return value[name]


def item_at(container: object, key: Any, span: Span) -> object:
    """Return `container[key]`: of a map (E505 when absent) or a sequence (E506)."""
    if isinstance(container, MapValue):
        if key not in container:
            raise EvaluationError(
                "E505", f"{format_value(container)} has no key {format_value(key)}", span
            )
        return container[key]
    items: tuple[object, ...] = container  # type: ignore[assignment]
    if not 0 <= key < len(items):
        raise EvaluationError("E506", f"{format_value(items)} has no position {key}", span)
    return items[key]


def _field(term: terms.Field, context: Context) -> object:
    return field_of(evaluate(term.item, context), term.name, term.span)


def _at(term: terms.At, context: Context) -> object:
    container = evaluate(term.item, context)
    return item_at(container, evaluate(term.key, context), term.span)


def _is_none(term: terms.IsNone, context: Context) -> bool:
    return evaluate(term.item, context) is None


def _is_variant(term: terms.IsVariant, context: Context) -> bool:
    value = evaluate(term.item, context)
    return value is not None and value.name == term.variant


def _contains(term: terms.Contains, context: Context) -> bool:
    item = evaluate(term.item, context)
    return item in evaluate(term.collection, context)


# -------------------------------------------------------------------------------- collections


def _set_operation(term: terms.SetOperation, context: Context) -> frozenset[object]:
    left: frozenset[object] = evaluate(term.left, context)
    right: frozenset[object] = evaluate(term.right, context)
    match term.operator:
        case "|":
            return left | right
        case "&":
            return left & right
        case "-":
            return left - right
        case "^":
            return left ^ right


def _subset(term: terms.Subset, context: Context) -> bool:
    left: frozenset[object] = evaluate(term.left, context)
    right: frozenset[object] = evaluate(term.right, context)
    return left < right if term.strict else left <= right


def _set_of(term: terms.SetOf, context: Context) -> frozenset[object]:
    return frozenset(evaluate(item, context) for item in term.items)


def _everything(term: terms.Everything, _: Context) -> frozenset[object]:
    return frozenset(values(term.type.item))


def _interval(term: terms.Interval, context: Context) -> frozenset[object]:
    low: int = evaluate(term.low, context)
    high: int = evaluate(term.high, context)
    return frozenset(range(low, high + 1))


def _record_of(term: terms.RecordOf, context: Context) -> RecordValue:
    return RecordValue(
        term.name, tuple((name, evaluate(part, context)) for name, part in term.fields)
    )


def _map_of(term: terms.MapOf, context: Context) -> MapValue:
    assert isinstance(term.type, Map)
    entries = {}
    for key, value in term.pairs:
        name = evaluate(key, context)
        entries[name] = evaluate(value, context)
    _check_total(term.type, entries, "E505", term.span)
    return map_value(term.type, entries)


def _sequence_of(term: terms.SequenceOf, context: Context) -> tuple[object, ...]:
    return _items(term.type, [evaluate(item, context) for item in term.items], term.span)


def _items(kind: Type, items: list[object], span: Span) -> tuple[object, ...]:
    assert isinstance(kind, Sequence | Bag)
    check_room(len(items), kind.capacity, span)
    return bag_value(kind, items) if isinstance(kind, Bag) else tuple(items)


def _length(term: terms.Length, context: Context) -> int:
    return len(evaluate(term.item, context))


def _count(term: terms.Count, context: Context) -> int:
    item = evaluate(term.item, context)
    items: tuple[object, ...] = evaluate(term.collection, context)
    return items.count(item)


def _keys(term: terms.Keys, context: Context) -> frozenset[object]:
    return frozenset(evaluate(term.item, context))


def _concatenate(term: terms.Concatenate, context: Context) -> tuple[object, ...]:
    left: tuple[object, ...] = evaluate(term.left, context)
    right: tuple[object, ...] = evaluate(term.right, context)
    return _items(term.type, [*left, *right], term.span)


def _slice(term: terms.Slice, context: Context) -> tuple[object, ...]:
    items: tuple[object, ...] = evaluate(term.item, context)
    start = 0 if term.start is None else evaluate(term.start, context)
    stop = len(items) if term.stop is None else evaluate(term.stop, context)
    if start < 0 or stop < 0:
        raise EvaluationError("E506", f"a slice from {start} to {stop}", term.span)
    return items[start:stop]


def _with(term: terms.With, context: Context) -> RecordValue:
    record: RecordValue = evaluate(term.item, context)
    value = evaluate(term.value, context)
    field_of(record, term.name, term.span)
    kinds = dict(next(one for one in variants_of(term.item.type) if one.name == record.name).fields)
    return record.replaced(term.name, fit(kinds[term.name], value, term.span))


def _extreme(term: terms.Extreme, context: Context) -> object:
    return _best(term.operator, term.type, [evaluate(item, context) for item in term.items])


def _apply(term: terms.Apply, context: Context) -> object:
    plain = NAMED[term.function].plain
    assert plain is not None
    return plain.value(*[evaluate(argument, context) for argument in term.arguments])


def _best(operator: str, kind: Type, items: list[object]) -> object:
    best = min if operator == "min" else max
    return best(items, key=lambda item: rank(kind, item))


# --------------------------------------------------------------------------------------- folds


def _fold(term: terms.Fold, context: Context) -> object:
    rows = each(term.generators, context)
    match term.operator:
        case "all" | "any":
            return (decider(term, context) is None) == (term.operator == "all")
        case "sum":
            return _within(term.type, sum(evaluate(term.body, row) for row in rows), term.span)
        case "min" | "max":
            items = [evaluate(term.body, row) for row in rows]
            if not items:
                best = "least" if term.operator == "min" else "greatest"
                raise EvaluationError("E507", f"the {best} of nothing", term.span)
            return _best(term.operator, term.type, items)
        case "set":
            return frozenset(evaluate(term.body, row) for row in rows)
        case "map":
            return _fold_map(term, rows)
        case "sequence":
            return _items(term.type, [evaluate(term.body, row) for row in rows], term.span)


def decider(term: terms.Fold, context: Context) -> Context | None:
    """Return the context of the first values that decide `all` or `any`; None where none do.

    Where what is run over has no first, an error counts only where nothing decides.
    """
    decides = term.operator == "any"
    if not decides_by_name(term):
        rows = each(term.generators, context)
        return next((row for row in rows if evaluate(term.body, row) is decides), None)
    failure: EvaluationError | None = None
    for row in _attempts(term.generators, context):
        try:
            if isinstance(row, EvaluationError):
                raise row
            if evaluate(term.body, row) is decides:
                return row
        except EvaluationError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return None


def _attempts(
    generators: tuple[Generator, ...], context: Context
) -> Iterator[Context | EvaluationError]:
    """Yield what `each` does, and in place of what cannot be evaluated its error."""
    if not generators:
        yield context
        return
    first, rest = generators[0], generators[1:]
    try:
        domain = _domain(first.domain, context)
    except EvaluationError as error:
        yield error
        return
    for value in domain:
        row = context.bind(first.name, value)
        try:
            chosen = first.condition is None or evaluate(first.condition, row)
        except EvaluationError as error:
            yield error
            continue
        if chosen:
            yield from _attempts(rest, row)


def _fold_map(term: terms.Fold, rows: Iterator[Context]) -> MapValue:
    assert isinstance(term.type, Map)
    assert term.key is not None
    entries = {}
    for row in rows:
        key = evaluate(term.key, row)
        entries[key] = evaluate(term.body, row)
    _check_total(term.type, entries, "E505", term.span)
    return map_value(term.type, entries)


def each(generators: tuple[Generator, ...], context: Context) -> Iterator[Context]:
    """Yield the context of every combination of the generators, the last one varying fastest."""
    if not generators:
        yield context
        return
    first, rest = generators[0], generators[1:]
    for value in _domain(first.domain, context):
        row = context.bind(first.name, value)
        if first.condition is None or evaluate(first.condition, row):
            yield from each(rest, row)


def _domain(term: Term, context: Context) -> list[object]:
    """Return what a generator runs over, in order."""
    if isinstance(term, terms.Everything):
        return list(values(term.type.item))
    return elements(term.type, evaluate(term, context))


_MEANING: dict[type, Callable[[Any, Context], Any]] = {
    terms.Literal: _literal,
    terms.Read: _read,
    terms.Local: _local,
    terms.Next: _next,
    terms.Ran: _ran,
    terms.Cast: _cast,
    terms.Arithmetic: _arithmetic,
    terms.Compare: _compare,
    terms.Equal: _equal,
    terms.Not: _not,
    terms.And: _and,
    terms.Or: _or,
    terms.Implies: _implies,
    terms.Choose: _choose,
    terms.Let: _let,
    terms.Leads: _leads,
    terms.Field: _field,
    terms.At: _at,
    terms.IsNone: _is_none,
    terms.IsVariant: _is_variant,
    terms.Contains: _contains,
    terms.SetOperation: _set_operation,
    terms.Subset: _subset,
    terms.SetOf: _set_of,
    terms.Everything: _everything,
    terms.Interval: _interval,
    terms.RecordOf: _record_of,
    terms.MapOf: _map_of,
    terms.SequenceOf: _sequence_of,
    terms.Length: _length,
    terms.Count: _count,
    terms.Keys: _keys,
    terms.Concatenate: _concatenate,
    terms.Slice: _slice,
    terms.With: _with,
    terms.Extreme: _extreme,
    terms.Apply: _apply,
    terms.Fold: _fold,
}
