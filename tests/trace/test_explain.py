"""Goal: a failed property is explained by the part that decides it, with witnesses and values."""

from pathlib import Path

import pytest
from machines import BOOL, at, both, everything, lit, read

from checker import flow
from checker.machine import terms as t
from checker.machine.types import Id, Map, Range
from checker.semantics.evaluate import Context
from checker.semantics.values import MapValue
from checker.source import NOWHERE, Source, Span
from checker.trace.explain import explain

CLIENT = Id("Client", ("c1", "c2", "c3"), symmetric=False)
COUNT = Map(CLIENT, Range(0, 9), total=True)
TEXT = "all(implies(n[c] > 3, n[c] == 5 and c != leader) for c in Client)"
SOURCE = Source("spec.yaml", TEXT)


def span(part: str, nth: int = 0) -> Span:
    """The place of the `nth` occurrence of a part in TEXT."""
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(part, start + 1)
    return Span(SOURCE, 1, start + 1, 1, start + len(part) + 1)


C = t.Local("c", CLIENT, span("c", 2))


def count(nth: int) -> t.At:
    return t.At(read("n", COUNT), C, Range(0, 9), span("n[c]", nth))


LEADER = t.Read("leader", CLIENT, span("leader"))
LARGE = t.Compare(">", count(0), lit(3, Range(3, 3)), span("n[c] > 3"))
FIVE = t.Equal(count(1), lit(5, Range(5, 5)), span("n[c] == 5"))
OTHER = t.Not(t.Equal(C, LEADER, span("c != leader")), span("c != leader"))
RIGHT = t.And((FIVE, OTHER), span("n[c] == 5 and c != leader"))
IMPLIES = t.Implies(LARGE, RIGHT, span(TEXT[4:-17]))
EVERY = t.Fold(
    "all", (t.Generator("c", everything(CLIENT), None),), IMPLIES, None, BOOL, span(TEXT)
)


LEADING_TEXT = Source("spec.yaml", "n[leader]")
LEADING = t.At(read("n", COUNT), LEADER, Range(0, 9), Span(LEADING_TEXT, 1, 1, 1, 10))


def why(condition: t.Term, leader: str = "c1", **counts: int) -> list[tuple[object, ...]]:
    state = {"n": MapValue({"c1": 0, "c2": 0, "c3": 0, **counts}), "leader": leader}
    return [
        (reason.text, reason.value, dict(reason.bindings), dict(reason.values))
        for reason in explain(condition, Context(state, {}))
    ]


def test_the_witness_and_the_failing_conjunct_are_shown_with_values() -> None:
    assert why(EVERY, c2=7) == [
        (TEXT, "false", {"c": "c2"}, {}),
        (TEXT[4:-17], "false", {}, {}),
        ("n[c] > 3", "true", {}, {"n[c]": "7"}),
        ("n[c] == 5", "false", {}, {"n[c]": "7"}),
    ]


def test_the_second_conjunct_is_blamed_when_the_first_holds() -> None:
    reasons = why(EVERY, leader="c3", c3=5)
    assert reasons[0][2] == {"c": "c3"}
    assert reasons[-1] == ("c != leader", "false", {}, {"c": "c3", "leader": "c3"})


def test_the_first_witness_in_order_is_shown() -> None:
    assert why(EVERY, c2=7, c3=8)[0][2] == {"c": "c2"}


def test_a_disjunction_fails_with_all_its_parts() -> None:
    either = t.Or((LARGE, FIVE), NOWHERE)
    counted = t.Let("c", lit("c1", CLIENT), either, BOOL, NOWHERE)
    assert [reason[0] for reason in why(counted, c1=1)][1:] == ["n[c] > 3", "n[c] == 5"]


def test_a_step_shows_values_of_both_states() -> None:
    small = Range(0, 9)
    later = t.Next(t.Read("x", small, span("n")), small, span("n"))
    condition = t.Compare("<=", t.Read("x", small, span("c")), later, span("all"))
    reasons = explain(condition, Context({"x": 3}, {}, {"x": 1}))
    assert reasons[0].values == (("c", "3"), ("n", "1"))


def test_what_cannot_be_evaluated_is_not_explained() -> None:
    missing = at(read("n", COUNT), lit("c9", CLIENT))
    condition = both(t.Equal(missing, lit(1, Range(1, 1)), NOWHERE))
    assert explain(condition, Context({"n": MapValue({})}, {})) == ()


@pytest.mark.parametrize("depth", [1, 5, 30])
def test_deep_conditions_are_explained_to_a_limit(depth: int) -> None:
    condition: t.Term = FIVE
    for _ in range(depth):
        condition = t.Not(t.Not(condition, NOWHERE), NOWHERE)
    bound = t.Let("c", lit("c1", CLIENT), condition, BOOL, NOWHERE)
    assert why(bound)[-1][0] == "n[c] == 5"


def test_a_long_text_whose_parts_follow_is_told_without_its_middle() -> None:
    text = "all(" + " and ".join(["n[c] > 3"] * 60) + " for c in Client)"
    long = Span(Source("spec.yaml", text), 1, 1, 1, len(text) + 1)
    every = t.Fold("all", (t.Generator("c", everything(CLIENT), None),), LARGE, None, BOOL, long)
    (head, *_), (part, *_) = why(every)
    assert isinstance(head, str)
    assert len(head) < 250 < len(text)
    assert head.startswith("all(n[c] > 3 and ")
    assert head.endswith(" for c in Client)")
    assert " ... " in head
    assert part == "n[c] > 3"  # what nothing follows is told whole


def test_a_side_that_calls_a_definition_is_told_as_it_was_written() -> None:
    definition = Source("spec.yaml", "n[c] + n[c] + n[c] + n[c] + n[c] + n[c] + n[c] + n[c] + n[c]")
    body = Span(definition, 1, 1, 1, len(definition.text) + 1)
    call = Source("spec.yaml", "many(c) <= 1")
    whole = Span(call, 1, 1, 1, len(call.text) + 1)
    many = t.Arithmetic("+", LEADING, LEADING, Range(0, 18), body)
    term = t.Compare("<=", many, lit(1, Range(1, 1)), whole)
    found = why(term, c1=2)
    assert found == [
        ("many(c) <= 1", "false", {}, {"many(c)": "4", "n[leader]": "2", "leader": "c1"})
    ]


def test_what_is_read_in_the_next_state_is_told_as_that() -> None:
    text = "next(n) <= n and next(n < 2)"
    source = Source("spec.yaml", text)

    def place(start: int, end: int) -> Span:
        return Span(source, 1, start + 1, 1, end + 1)

    kind = Range(0, 9)
    now = t.Read("n", kind, place(11, 12))
    total = t.Arithmetic("+", now, lit(0, Range(0, 0)), kind, place(5, 6))
    later = t.Next(total, kind, place(0, 7))
    compared = t.Compare("<=", later, now, place(0, 12))
    context = Context({"n": 1}, {}, {"n": 3})
    (reason,) = explain(compared, context)
    assert dict(reason.values)["n"] == "1"
    inside = t.Next(t.Compare("<", now, lit(2, kind), place(22, 27)), BOOL, place(17, 28))
    (reason,) = explain(inside, context)
    assert reason.text == "next(n < 2)"
    assert ("next(n)", "3") in reason.values


CALLED_TWICE = """\
system: called_twice
about: A definition that is called with two values.
variables:
  x: {type: "0..3", initial: "0"}
definitions:
  twice(n): n + n
rows:
  - {row: up, when: x < 3, do: x += 1}
properties:
  small: {always: twice(x + 1) <= twice(3 - x), why: it is a test.}
"""


def test_a_parameter_that_stands_for_two_values_has_none(tmp_path: Path) -> None:
    (tmp_path / "called_twice.yaml").write_text(CALLED_TWICE)
    request = flow.Request(str(tmp_path / "called_twice.yaml"), engine="reference")
    (reason,) = flow.check(request, flow.Silent()).traces[0].reasons
    told = dict(reason.values)
    assert (told["twice(x + 1)"], told["twice(3 - x)"]) == ("6", "2")
    assert "n" not in told


PERHAPS = """\
system: perhaps
about: A leader that there may be, looked for among others.
constants:
  B: {ids: [b1, b2]}
variables:
  leader: {type: optional B, initial: b1}
  live: {type: map of B to set of B, initial: "{b1: {b1}}"}
rows:
  - {row: steps, when: leader is none, do: leader = none}
deadlock: false
properties:
  away: {always: "CLAIM", why: it is a test.}
"""


@pytest.mark.parametrize(
    "claim", ["leader not in live[b1]", "leader != b1", "leader in live[b1] - {b1}"]
)
def test_what_may_be_none_is_told_as_it_is_written(tmp_path: Path, claim: str) -> None:
    """Not as the language sees it, with what none means: no part says the opposite of its text."""
    (tmp_path / "perhaps.yaml").write_text(PERHAPS.replace("CLAIM", claim))
    request = flow.Request(str(tmp_path / "perhaps.yaml"), engine="reference")
    (reason,) = flow.check(request, flow.Silent()).traces[0].reasons
    assert (reason.text, reason.value) == (claim, "false")
    assert dict(reason.values)["leader"] == "b1"


ALIKE = """
system: alike
about: Of one member the claim has no value, and another one decides it.
constants: {M: {ids: 2, symmetric: true, prefix: m}}
variables:
  first: {type: optional M, initial: none}
  asked: {type: map of M to bool, initial: empty}
rows:
  - {row: lead, for: {m: M}, do: first = m}
  - {row: ask, for: {m: M}, when: first is not none and first != m, do: "asked[m] = true"}
deadlock: false
properties: {nobody: {always: "len(asked) == 0 or all(not asked[m] for m in M)", why: It is false.}}
"""


def test_what_has_no_value_is_passed_over_where_another_value_decides(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(ALIKE)
    result = flow.check(flow.Request(str(path), engine="reference", symmetry=False), flow.Silent())
    for trace in result.traces:
        (decides,) = [item.bindings for item in trace.reasons if item.bindings]
        assert decides == (("m", "m2"),)
    assert {trace.property_name for trace in result.traces} == {"nobody"}
