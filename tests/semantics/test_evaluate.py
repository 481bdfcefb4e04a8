"""Goal: every kind of term means what `checker.machine.terms` says, errors and order included."""

import pytest
from machines import (
    BOOL,
    FALSE,
    TRUE,
    at,
    both,
    cast,
    contains,
    counter,
    equal,
    everything,
    less,
    lit,
    local,
    negated,
    number,
    read,
    record,
)

from checker.errors import EvaluationError, InternalError
from checker.machine import terms as t
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
from checker.semantics.evaluate import Context, MadeBy, describe, evaluate
from checker.semantics.values import MapValue, RecordValue, format_value
from checker.source import NOWHERE

SMALL = Range(0, 3)
LEVEL = Enum("Level", ("low", "high", "top"))
POINT = Record("Point", (("x", SMALL), ("y", SMALL)))
WIDE_POINT = Record("Point", (("x", Range(0, 9)), ("y", SMALL)))
MESSAGE = Union("Message", (Record("Ask", (("n", SMALL),)), Record("Stop", ())))
ROW = Sequence(SMALL, 3)
HELD = Map(LEVEL, SMALL, total=False)
FULL = Map(BOOL, SMALL, total=True)

BROKEN = at(lit(MapValue({}), HELD), lit("low", LEVEL))
"""A term that fails (E505), for parts that must not be looked at."""
WRONG = equal(BROKEN, number(0))


def ask(n: int) -> RecordValue:
    return RecordValue("Ask", (("n", n),))


def numbers(*items: int) -> t.Literal:
    return lit(frozenset(items), Set(SMALL))


def row(*items: int) -> t.Literal:
    return lit(items, ROW)


def levels(**items: int) -> t.Literal:
    return lit(MapValue(items), HELD)


def wide(value: object, kind: Type) -> t.Literal:
    return lit(value, kind)


def arithmetic(operator: str, left: int, right: int) -> t.Term:
    return t.Arithmetic(operator, number(left), number(right), Range(-99, 99), NOWHERE)  # type: ignore[arg-type]


def fold(
    operator: str,
    body: t.Term,
    *generators: t.Generator,
    kind: Type = BOOL,
    key: t.Term | None = None,
) -> t.Fold:
    return t.Fold(operator, generators, body, key, kind, NOWHERE)  # type: ignore[arg-type]


X, Y = local("x", SMALL), local("y", SMALL)
SUM = t.Arithmetic("+", X, Y, Range(0, 6), NOWHERE)
OVER_X = t.Generator("x", numbers(0, 1, 2), None)
ODD_X = t.Generator("x", row(3, 2, 1), negated(equal(X, number(2))))
UP_TO_X = t.Generator("y", t.Interval(number(1), X, Set(SMALL), NOWHERE), None)
STATE = {"n": 2, "row": (1, 2)}
NEXT = {"n": 3, "row": ()}

TERMS: tuple[tuple[t.Term, object], ...] = (
    (number(3), 3),
    (read("n", SMALL), 2),
    (local("given", SMALL), 1),
    (t.Next(read("n", SMALL), SMALL, NOWHERE), 3),
    (less(read("n", SMALL), t.Next(read("n", SMALL), SMALL, NOWHERE)), True),
    (t.Next(local("given", SMALL), SMALL, NOWHERE), 1),
    (t.Ran("turn", (), NOWHERE), True),
    (t.Ran("turn", (("by", read("n", SMALL)),), NOWHERE), True),
    (t.Ran("turn", (("by", t.Next(read("n", SMALL), SMALL, NOWHERE)),), NOWHERE), False),
    (t.Ran("rest", (), NOWHERE), False),
    (t.Leads((lit(1, SMALL),), (lit(2, SMALL),), counter(), False, NOWHERE), True),
    (t.Leads((lit(1, SMALL),), (lit(3, SMALL),), counter(), False, NOWHERE), False),
    (t.Leads((lit(3, SMALL),), (lit(3, SMALL),), counter(), False, NOWHERE), False),
    (t.Leads((lit(0, SMALL),), (lit(0, SMALL),), counter(), True, NOWHERE), True),
    (t.Leads((lit(0, SMALL),), (lit(1, SMALL),), counter(), True, NOWHERE), False),
    # casts
    (cast(number(3), SMALL), 3),
    (cast(number(3), Option(SMALL)), 3),
    (cast(lit(None, Option(SMALL)), Option(Range(0, 9))), None),
    (cast(lit(2, Option(SMALL)), SMALL), 2),
    (cast(wide(frozenset({1}), Set(Range(0, 9))), Set(SMALL)), frozenset({1})),
    (
        cast(lit(MapValue({False: 1, True: 2}), FULL), Map(BOOL, SMALL, total=False)),
        MapValue({False: 1, True: 2}),
    ),
    (
        cast(wide(RecordValue("Point", (("x", 1), ("y", 2))), WIDE_POINT), POINT),
        RecordValue("Point", (("x", 1), ("y", 2))),
    ),
    (cast(lit(RecordValue("Stop", ()), Record("Stop", ())), MESSAGE), RecordValue("Stop", ())),
    (cast(wide((1, 2), Sequence(SMALL, 9)), ROW), (1, 2)),
    (
        cast(
            wide((ask(1), RecordValue("Stop", ())), Bag(MESSAGE, 9)),
            Bag(Union("Other", MESSAGE.variants[::-1]), 2),
        ),
        (RecordValue("Stop", ()), ask(1)),
    ),
    # arithmetic: Python's floor semantics
    (arithmetic("+", 2, -3), -1),
    (arithmetic("-", 2, -3), 5),
    (arithmetic("*", -2, 3), -6),
    (arithmetic("//", -7, 2), -4),
    (arithmetic("%", -7, 2), 1),
    (arithmetic("//", 7, -2), -4),
    (arithmetic("%", 7, -2), -1),
    # comparison and logic
    (t.Compare("<", lit("high", LEVEL), lit("top", LEVEL), NOWHERE), True),
    (t.Compare(">=", lit("low", LEVEL), lit("high", LEVEL), NOWHERE), False),
    (t.Compare("<=", number(-1), number(-1), NOWHERE), True),
    (t.Compare(">", number(0), number(-1), NOWHERE), True),
    (equal(number(3), lit(3, Range(-5, 5))), True),
    (equal(levels(low=1), levels(low=1, high=2)), False),
    (negated(FALSE), True),
    (both(TRUE, FALSE, WRONG), False),
    (both(TRUE, TRUE), True),
    (t.Or((FALSE, TRUE, WRONG), NOWHERE), True),
    (t.Or((FALSE, FALSE), NOWHERE), False),
    (t.Implies(FALSE, WRONG, NOWHERE), True),
    (t.Implies(TRUE, FALSE, NOWHERE), False),
    (t.Choose(TRUE, number(1), BROKEN, SMALL, NOWHERE), 1),
    (t.Choose(FALSE, BROKEN, number(2), SMALL, NOWHERE), 2),
    (t.Let("x", number(2), t.Let("y", X, SUM, Range(0, 6), NOWHERE), Range(0, 6), NOWHERE), 4),
    # parts
    (t.Field(lit(RecordValue("Point", (("x", 1), ("y", 2))), POINT), "y", SMALL, NOWHERE), 2),
    (t.Field(lit(ask(2), MESSAGE), "n", SMALL, NOWHERE), 2),
    (at(levels(low=3), lit("low", LEVEL)), 3),
    (at(row(5, 6), number(1)), 6),
    (t.IsNone(lit(None, Option(SMALL)), NOWHERE), True),
    (t.IsNone(lit(0, Option(SMALL)), NOWHERE), False),
    (t.IsVariant(lit(ask(1), MESSAGE), "Ask", NOWHERE), True),
    (t.IsVariant(lit(None, Option(MESSAGE)), "Ask", NOWHERE), False),
    (contains(number(7), numbers(1, 2)), False),
    (contains(number(2), numbers(1, 2)), True),
    (contains(lit("low", LEVEL), levels(low=1)), True),
    (contains(number(2), row(1, 2)), True),
    # collections
    (t.SetOperation("|", numbers(0, 1), numbers(1, 2), Set(SMALL), NOWHERE), frozenset({0, 1, 2})),
    (t.SetOperation("&", numbers(0, 1), numbers(1, 2), Set(SMALL), NOWHERE), frozenset({1})),
    (t.SetOperation("-", numbers(0, 1), numbers(1, 2), Set(SMALL), NOWHERE), frozenset({0})),
    (t.SetOperation("^", numbers(0, 1), numbers(1, 2), Set(SMALL), NOWHERE), frozenset({0, 2})),
    (t.Subset(numbers(1), numbers(1), False, NOWHERE), True),
    (t.Subset(numbers(1), numbers(1), True, NOWHERE), False),
    (t.SetOf((number(1), number(1), X), Set(SMALL), NOWHERE), frozenset({1, 3})),
    (everything(LEVEL), frozenset({"low", "high", "top"})),
    (t.Interval(number(1), number(3), Set(SMALL), NOWHERE), frozenset({1, 2, 3})),
    (t.Interval(number(3), number(1), Set(SMALL), NOWHERE), frozenset()),
    (record("Ask", MESSAGE, n=number(1)), ask(1)),
    (
        t.MapOf(((lit("low", LEVEL), number(1)), (lit("low", LEVEL), number(2))), HELD, NOWHERE),
        MapValue({"low": 2}),
    ),
    (t.SequenceOf((number(2), number(1)), ROW, NOWHERE), (2, 1)),
    (t.SequenceOf((number(2), number(1)), Bag(SMALL, 2), NOWHERE), (1, 2)),
    (t.Length(levels(low=1), SMALL, NOWHERE), 1),
    (t.Length(row(1, 1), SMALL, NOWHERE), 2),
    (t.Count(number(1), row(1, 2, 1), SMALL, NOWHERE), 2),
    (t.Count(number(9), row(1, 2, 1), SMALL, NOWHERE), 0),
    (t.Keys(levels(low=1, top=0), Set(LEVEL), NOWHERE), frozenset({"low", "top"})),
    (t.Concatenate(row(1), row(2, 3), Sequence(SMALL, 6), NOWHERE), (1, 2, 3)),
    (t.Slice(row(1, 2, 3), number(1), None, ROW, NOWHERE), (2, 3)),
    (t.Slice(row(1, 2, 3), None, number(2), ROW, NOWHERE), (1, 2)),
    (t.Slice(row(1, 2, 3), number(2), number(9), ROW, NOWHERE), (3,)),
    (t.Slice(row(1, 2, 3), number(2), number(1), ROW, NOWHERE), ()),
    (t.With(lit(ask(1), MESSAGE), "n", number(3), MESSAGE, NOWHERE), ask(3)),
    (t.Extreme("min", (number(3), number(-1)), Range(-1, 3), NOWHERE), -1),
    (t.Extreme("max", (lit("low", LEVEL), lit("high", LEVEL)), LEVEL, NOWHERE), "high"),
    (t.Apply("abs", (number(-3),), Range(0, 3), NOWHERE), 3),
    # folds
    (fold("all", less(X, number(3)), OVER_X), True),
    (fold("all", t.Or((equal(X, number(0)), FALSE), NOWHERE), OVER_X), False),
    (
        fold("any", t.Or((equal(X, number(1)), both(equal(X, number(2)), WRONG)), NOWHERE), OVER_X),
        True,
    ),
    (fold("all", FALSE), False),
    (fold("sum", SUM, OVER_X, UP_TO_X, kind=Range(0, 99)), 2 + 3 + 4),
    (fold("sum", X, t.Generator("x", row(1, 1), None), kind=Range(0, 99)), 2),
    (fold("min", X, ODD_X, kind=SMALL), 1),
    (fold("max", X, ODD_X, kind=SMALL), 3),
    (fold("set", SUM, OVER_X, UP_TO_X, kind=Set(Range(0, 6))), frozenset({2, 3, 4})),
    (
        fold("map", X, t.Generator("x", row(2, 0), None), kind=HELD, key=lit("low", LEVEL)),
        MapValue({"low": 0}),
    ),
    (fold("sequence", X, ODD_X, kind=ROW), (3, 1)),
)

ERRORS: tuple[tuple[t.Term, str], ...] = (
    (cast(number(4), SMALL), "E501"),
    (cast(wide(frozenset({9}), Set(Range(0, 9))), Set(SMALL)), "E501"),
    (cast(lit(ask(1), MESSAGE), Record("Stop", ())), "E501"),
    (cast(wide((1, 1, 1, 1), Sequence(SMALL, 4)), ROW), "E501"),
    (cast(lit(MapValue({True: 1}), Map(BOOL, SMALL, total=False)), FULL), "E501"),
    (cast(lit(None, Option(SMALL)), SMALL), "E502"),
    (arithmetic("//", 1, 0), "E503"),
    (arithmetic("%", 1, 0), "E503"),
    (t.Field(lit(RecordValue("Stop", ()), MESSAGE), "n", SMALL, NOWHERE), "E504"),
    (t.With(lit(RecordValue("Stop", ()), MESSAGE), "n", number(1), MESSAGE, NOWHERE), "E504"),
    (BROKEN, "E505"),
    (fold("map", number(1), kind=FULL, key=TRUE), "E505"),
    (at(row(1), number(1)), "E506"),
    (at(row(1), number(-1)), "E506"),
    (t.Slice(row(1), number(-1), None, ROW, NOWHERE), "E506"),
    (fold("min", X, t.Generator("x", numbers(), None), kind=SMALL), "E507"),
    (fold("sequence", X, OVER_X, kind=Sequence(SMALL, 2)), "E501"),
    (both(TRUE, WRONG), "E505"),
    (fold("all", WRONG, OVER_X), "E505"),
    (t.Let("unused", BROKEN, number(1), SMALL, NOWHERE), "E505"),
)


def context() -> Context:
    return Context(STATE, {"given": 1, "x": 3}, NEXT, MadeBy("turn", {"by": 2}))


@pytest.mark.parametrize(("term", "value"), TERMS, ids=lambda part: type(part).__name__)
def test_what_a_term_means(term: t.Term, value: object) -> None:
    result = evaluate(term, context())
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(("term", "code"), ERRORS, ids=lambda part: type(part).__name__)
def test_what_goes_wrong_is_an_evaluation_error(term: t.Term, code: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluate(term, context())
    assert caught.value.code == code
    assert str(caught.value)


def test_the_message_of_an_error_names_the_values() -> None:
    with pytest.raises(EvaluationError, match=r"^4 is outside 0\.\.3$"):
        evaluate(cast(number(4), SMALL), context())


def test_a_result_outside_the_computed_range_is_our_own_fault() -> None:
    wrong = t.Arithmetic("+", number(2), number(2), SMALL, NOWHERE)
    with pytest.raises(InternalError):
        evaluate(wrong, context())


def test_every_kind_of_term_is_tested() -> None:
    tested = {type(term) for term, _ in TERMS}
    assert tested == set(t.Term.__args__)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Option(Set(SMALL)), "optional set of 0..3"),
        (FULL, "total map of bool to 0..3"),
        (HELD, "map of Level to 0..3"),
        (Bag(MESSAGE, 2), "bag of Ask or Stop up to 2"),
        (Sequence(POINT, 1), "sequence of Point up to 1"),
        (Bool(), "bool"),
    ],
)
def test_types_are_described_in_words(kind: Type, words: str) -> None:
    assert describe(kind) == words


def test_values_in_messages_are_the_language_s() -> None:
    assert format_value(ask(1)) == "Ask(n=1)"
