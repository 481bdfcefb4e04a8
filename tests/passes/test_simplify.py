"""Goal: a simpler term means the same, and nothing that can fail is left out."""

import random
from collections.abc import Mapping

import pytest
from machines import BOOL, cast, equal, lit, local, read
from random_machines import seeded_machine

from checker.errors import EvaluationError
from checker.machine import terms as t
from checker.machine.machine import Machine
from checker.machine.types import Id, Map, Option, Range, Sequence, Set, Type
from checker.passes.analysis import Analysis
from checker.passes.rewriting import alike
from checker.passes.simplify import Simplifier, is_known
from checker.semantics.evaluate import Context, MadeBy, evaluate
from checker.semantics.values import values
from checker.source import NOWHERE

NUMBER = Range(0, 3)
NODE = Id("Node", ("n1", "n2"), symmetric=False)
X, Y = read("x", NUMBER), read("y", NUMBER)
FLAG = read("flag", BOOL)
FAILING = equal(t.Arithmetic("//", X, Y, NUMBER, NOWHERE), X)
ROW = read("row", Sequence(NUMBER, 3))


def simple(term: t.Term) -> t.Term:
    return Simplifier(Analysis()).simple(term)


def compare(operator: str, left: t.Term, right: t.Term) -> t.Compare:
    return t.Compare(operator, left, right, NOWHERE)  # type: ignore[arg-type]


def both(*items: t.Term) -> t.And:
    return t.And(items, NOWHERE)


def either(*items: t.Term) -> t.Or:
    return t.Or(items, NOWHERE)


def every(name: str, domain: t.Term, body: t.Term) -> t.Fold:
    generator = t.Generator(name, domain, None)
    return t.Fold("all", (generator,), body, None, BOOL, NOWHERE)


def within(name: str, collection: t.Term) -> t.Contains:
    return t.Contains(local(name, NUMBER), collection, NOWHERE)


NOTHING = t.Not(equal(X, X), NOWHERE)

CERTAIN = {
    "equal": (equal(X, X), True),
    "not less": (compare("<", X, X), False),
    "at most": (compare("<=", X, X), True),
    "and": (both(FLAG, NOTHING), False),
    "or": (either(FLAG, equal(X, X)), True),
    "implies": (t.Implies(NOTHING, FAILING, NOWHERE), True),
    "every": (every("r", ROW, within("r", ROW)), True),
    "no room": (both(compare(">", X, lit(1, NUMBER)), FLAG, equal(X, lit(0, NUMBER))), False),
    "mirrored": (both(compare("<", lit(1, NUMBER), X), compare("<", X, lit(2, NUMBER))), False),
    "denied": (both(FLAG, t.Not(FLAG, NOWHERE)), False),
}
Y_ROW = read("other", ROW.type)
OPEN = {
    "fails": equal(FAILING, FAILING),
    "fails first": both(FAILING, NOTHING),
    "fails before": either(FAILING, equal(X, X)),
    "premise fails": t.Implies(FAILING, equal(X, X), NOWHERE),
    "domain fails": every(
        "r", t.At(read("rows", Sequence(ROW.type, 2)), X, ROW.type, NOWHERE), equal(X, X)
    ),
    "room": both(compare(">", X, lit(1, NUMBER)), compare("<", X, lit(3, NUMBER))),
    "other name": every("r", ROW, every("s", ROW, t.Not(within("r", Y_ROW), NOWHERE))),
    "bound anew": every("r", ROW, every("r", Y_ROW, within("r", ROW))),
}


@pytest.mark.parametrize("case", CERTAIN)
def test_what_is_certain(case: str) -> None:
    term, wanted = CERTAIN[case]
    assert is_known(simple(term), wanted)


def said_of_x(values_: frozenset[object], *, inside: bool) -> t.Term:
    """x is one of these, or none of them."""
    term: t.Term = t.Contains(X, t.Literal(values_, Set(NUMBER), NOWHERE), NOWHERE)
    if len(values_) == 1:
        term = equal(X, lit(next(iter(values_)), NUMBER))
    return term if inside else t.Not(term, NOWHERE)


def test_what_two_sets_say_of_an_item() -> None:
    sets = [frozenset[object](number for number in range(4) if bits >> number & 1)
            for bits in range(16)]  # fmt: skip
    for one in sets:
        for other in sets:
            for inside, within_ in ((True, True), (True, False), (False, True), (False, False)):
                term = both(said_of_x(one, inside=inside), said_of_x(other, inside=within_))
                left = {x for x in range(4) if (x in one) == inside and (x in other) == within_}
                if is_known(simple(term), False):
                    assert not left
                else:
                    assert left or not (inside or within_)


@pytest.mark.parametrize("case", OPEN)
def test_what_is_not(case: str) -> None:
    found = simple(OPEN[case])
    assert not is_known(found, True)
    assert not is_known(found, False)


def test_what_an_option_holds_cannot_fail_where_it_holds_something() -> None:
    owner = read("owner", Option(NODE))
    inside = t.Contains(cast(owner, NODE), t.Everything(Set(NODE), NOWHERE), NOWHERE)
    there = t.Not(t.IsNone(owner, NOWHERE), NOWHERE)
    analysis = Analysis()
    assert analysis.may_fail(inside)
    assert not analysis.may_fail(both(there, inside))
    assert analysis.may_fail(both(inside, there))


def test_terms_are_alike_whatever_names_they_bind() -> None:
    assert alike(every("r", ROW, within("r", ROW)), every("s", ROW, within("s", ROW)))
    assert not alike(every("r", ROW, within("r", ROW)), every("s", ROW, within("r", ROW)))
    assert not alike(local("r", NUMBER), local("s", NUMBER))
    keys = Map(NODE, NUMBER, total=True)
    one, two = (t.At(read("m", keys), lit(n, NODE), NUMBER, NOWHERE) for n in NODE.members)
    assert alike(one, one)
    assert not alike(one, two)


def meaning(term: t.Term, state: dict[str, object], made_by: MadeBy) -> object:
    try:
        return evaluate(term, Context(state, {}, state, made_by))
    except EvaluationError:
        return "fails"


def conditions(made: Machine) -> list[t.Term]:
    held = [item.condition for item in made.properties]
    bounds = [*made.bounds, *made.step_bounds]
    return [*held, *bounds, *made.terminal, *(equal(item, item) for item in held)]


def any_of(kinds: Mapping[str, Type], choose: random.Random) -> dict[str, object]:
    return {name: choose.choice(list(values(kind))) for name, kind in kinds.items()}


@pytest.mark.parametrize("seed", range(150))
def test_random_terms_mean_the_same(seed: int) -> None:
    made, choose = seeded_machine(seed), random.Random(seed)  # noqa: S311
    for term in conditions(made):
        shorter = simple(term)
        for _ in range(8):
            state = any_of({item.name: item.type for item in made.variables}, choose)
            row = choose.choice(made.actions)
            made_by = MadeBy(row.name, any_of(row.shown, choose))
            assert meaning(shorter, state, made_by) == meaning(term, state, made_by)
