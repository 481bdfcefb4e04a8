"""Goal: expressions mean what the language reference says, and have the types it computes."""

from pathlib import Path

import pytest
from houses import Elaborating, Refusing

from checker import flow
from checker.errors import SpecificationError
from checker.machine.types import Bool, Option, Range, Sequence, Set
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successors import as_mapping, start_state

WORLD = """
constants:
  Person: {ids: 2, symmetric: true}
  Room: {ids: [kitchen, cellar]}
  limit: 3
  dark: true
  mood: {one_of: [good, bad], value: good}
types:
  Level: one of low, high
  Flag: one of high, off
  Point: {fields: {x: 0..3, y: 0..3}}
messages:
  Ask: {who: optional Person, count: 0..3}
  Stop: {}
components:
  person:
    per: Person
    machines:
      lamp: {table: lamp}
    variables:
      near: {type: set of Room, initial: empty}
  porch:
    variables:
      level: {type: Level, initial: low}
machines:
  light: {table: lamp, per: Room, initial: "On"}
variables:
  seen: {type: bool, per: Room, initial: "self == kitchen"}
  n: {type: 0..3, initial: "2"}
  maybe: {type: "optional 0..3", initial: none}
  found: {type: "optional 0..3", initial: "1"}
  point: {type: Point, initial: "Point(1, y=2)"}
  some: {type: set of 0..3, initial: "{0, 2}"}
  owners: {type: map of Room to Level, initial: "{kitchen: high}"}
  queue: {type: sequence of 0..3 up to 3, initial: "[3, 1]"}
  hand: {type: bag of 0..3 up to 3, initial: "[2, 1, 2]"}
  kept: {type: optional (Ask or Stop), initial: "Ask(none, 2)"}
channels:
  post: {carries: [Ask, Stop], order: bag, per: Person, capacity: "2"}
definitions:
  twice(k): k + k
  odd(k): k % 2 == 1
  nobody(): all(person[p].lamp == Off for p in Person)
rows:
  - {row: waits, do: pass}
properties:
  claim: {always: "CLAIM", why: it is tested}
"""

TRUE = """
n + 1 == 3
n - 5 == -3 and -n // 2 == -1 and -n % 3 == 1
7 // n == 3 and abs(n - 3) == 1
0 <= n < limit
0 < twice(n) <= 4
min(n, 1) == 1 and max(n, 1, 5) == 5
2 ** 5 == 32 and 0 ** 0 == 1 and (-1) ** 3 == -1
n == 2 if dark else n == 3
maybe is none and found is not none
found == 1 and maybe != 1 and found + n == 3
maybe == none
found in some or found not in some
maybe not in some
9 not in some and 2 in some
some == {2, 0} and {0} < some and some <= some and not some < some
some | {1} == {0, 1, 2} and some & {2, 3} == {2} and some - {2} == {0} and some ^ {2, 3} == {0, 3}
len(some) == 2 and len(empty) == 0 and len(Person) == 2 and len(Room) == 2
{k + 1 for k in some if k > 0} == {3}
owners[kitchen] == high and cellar not in owners and len(owners) == 1
owners.get(cellar, low) == low and owners.get(kitchen, low) == high
owners.keys() == {kitchen}
{r: low for r in Room} != owners and {kitchen: high} == owners
queue[0] == 3 and queue[-1] == 1 and len(queue) == 2 and 3 in queue
queue + [2] == [3, 1, 2] and queue[1:] == [1] and queue[:1] == [3] and queue[:-1] == [3]
queue[-1:] == [1] and [k for k in queue if k < 3] == [1]
queue.count(3) == 1 and hand.count(2) == 2 and 2 in hand and len(hand) == 3
sum(k for k in queue) == 4 and sum(some) == 2
min(k for k in queue) == 1 and max(some) == 2 and min((k for k in some if k > 5), default=7) == 7
point.x == 1 and replace(point, x=3) == Point(3, 2) and point == Point(y=2, x=1)
kept is Ask and kept is not Stop and kept.count == 2 and kept.who is none
all(odd(k) for k in queue) and any(k == 3 for k in queue) and not all(odd(k) for k in range(3))
all(k < m for k in range(2) for m in range(2, 4) if k + m < 9)
light[kitchen] == On and light[cellar] in {Off, On} and light[cellar] == lamp.On
porch.level == low and low == porch.level and porch.level in {low, high} and porch.level < high
porch.level == Level.low and owners[kitchen] == Level.high
seen[kitchen] and not seen[cellar]
porch.level < owners[kitchen] and max(kitchen, cellar) == cellar and kitchen < cellar
nobody and nobody() and mood == good and good == mood
all(len(post[p]) == 0 for p in Person) and all(x is Stop for p in Person for x in post[p])
all(person[p].near == empty and person[p] == person[q] for p in Person for q in Person)
implies(n > 5, n // (n - 2) == 1)
n in {1, 2, 9} and none is none and 3 in range(1, 4) and true
""".strip().splitlines()


@pytest.mark.parametrize("claim", TRUE)
def test_what_expressions_mean(machine: Elaborating, claim: str) -> None:
    made = machine(WORLD.replace("CLAIM", claim))
    state = start_state(made)
    assert state is not None
    condition = made.properties[0].condition
    assert condition.type == Bool()
    assert evaluate(condition, Context(as_mapping(made, state), {})) is True


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("n + true == 1", "Y303"),
        ("n == kitchen", "Y303"),
        ("low == off", "Y303"),
        ("low in {off}", "Y303"),
        ("1 in {true}", "Y303"),
        ("false in {0, 1}", "Y303"),
        ("{high} == {high}", "N204"),
        ("nothing_of_the_kind == 1", "N201"),
        ("person.near == empty", "N205"),
        ("person[person1].lamp == Off", "Y330"),
        ("all(p < q for p in Person for q in Person)", "Y330"),
        ("min(p for p in Person) == min(p for p in Person)", "Y330"),
        ("max(p for p in Person) in Person", "Y330"),
        ("all(p + 1 == 2 for p in Person)", "Y330"),
        ("point.z == 1", "N208"),
        ("Point(1) == point", "N208"),
        ("Point(1, 2, 3) == point", "N208"),
        ("Point(1, z=3) == point", "N208"),
        ("twice() == 1", "N208"),
        ("next(n) == 1", "Y309"),
        ("pick(some) == 1", "Y309"),
        ("n // 0 == 1", "Y303"),
        ("2 ** n == 4", "Y304"),
        ("kept is Point", "Y303"),
        ("len(n) == 1", "Y303"),
        ("n in n", "Y303"),
        ("not n", "Y303"),
        ("n[0] == 1", "Y303"),
        ("some.get(1, 2) == 2", "N205"),
        ("send(n)", "N201"),
        ("lamp.Green == lamp.On", "N201"),
        ("any(k)", "Y310"),
        ("point.x.y == 1", "N208"),
    ],
)
def test_what_is_wrong_says_so(wrong: Refusing, expression: str, code: str) -> None:
    found = wrong(WORLD.replace("CLAIM", expression))
    assert [error.code for error in found] == [code]
    assert found[0].span.line > 1
    assert found[0].span.source.text


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("least(k for k in empty).x == 1", "there is nothing here that could have a field `x`"),
        ("[k for k in empty][0].keys() == 1", "there is nothing here that could have a `.keys()`"),
        ("point.z == 1", "Point has no field `z`"),
    ],
)
def test_what_a_type_lacks_is_said_of_the_type_that_there_is(
    wrong: Refusing, expression: str, told: str
) -> None:
    (found,) = wrong(WORLD.replace("CLAIM", expression))
    assert found.message.startswith(told)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("n + 1", Range(1, 4)),
        ("n - n", Range(-3, 3)),
        ("n * -2", Range(-6, 0)),
        ("n // 2", Range(0, 1)),
        ("n % 2", Range(0, 1)),
        ("n % 9", Range(0, 3)),
        ("len(some)", Range(0, 4)),
        ("sum(k for k in queue)", Range(0, 9)),
        ("max(n, 2)", Range(2, 3)),
        ("none if dark else n", Option(Range(0, 3))),
        ("n if n > 1 else 9", Range(0, 9)),
        ("n if n > 1 else none", Option(Range(0, 3))),
        ("{n, 9}", Set(Range(0, 9))),
        ("queue + queue", Sequence(Range(0, 3), 6)),
        ("range(n)", Set(Range(0, 2))),
        ("range(0)", Set(Range(0, 0))),
        ("maybe", Option(Range(0, 3))),
    ],
)
def test_the_types_of_expressions(machine: Elaborating, expression: str, kind: object) -> None:
    made = machine(WORLD.replace("CLAIM", f"all(k == k for k in [{expression}])"))
    condition = made.properties[0].condition
    domain = condition.generators[0].domain  # type: ignore[union-attr]
    assert domain.type == Sequence(kind, 1)  # type: ignore[arg-type]


def test_all_errors_of_the_phase_are_reported(wrong: Refusing) -> None:
    found = wrong(
        'variables:\n  a: {type: 0..3, initial: "0"}\nrows:\n'
        "  - {row: one, when: b > 1, do: a = 9}\n"
        "  - {row: two, when: a > c, do: a = 1}\n"
        "properties:\n  p: {always: d, why: all of them}\n"
    )
    assert [error.code for error in found] == ["N201", "Y301", "N201", "N201"]
    assert [error.span.line for error in found] == [6, 6, 7, 9]


AHEAD = """\
system: ahead
about: A number that grows by two.
variables:
  n: {type: 0..2, initial: "0"}
  row: {type: sequence of 0..2 up to 1, initial: "[0]"}
definitions:
  grown(k): next(n - k) == 2
  grown_by_other(k): grown(k)
  grown_since:
    let:
      before: n
    is: next(n - before) == 2
rows:
  - row: count
    when: n == 0
    do: |
      n = 2
      row = [2]
  - row: count_from
    for: {v: 0..1}
    when: n == v and n > 0
    do: n = 2
deadlock: false
properties:
  grows:
    step: implies(ran(count), %s)
    why: two were added.
"""


@pytest.mark.parametrize(
    "claim",
    [
        "grown(n)",
        "grown(n + 0)",
        "grown(row[0])",
        "grown_by_other(n)",
        "grown_since",
        "not grown(next(n))",
        "any(grown(v) for v in {n})",
        "all(next(not enabled(count_from, v=v)) for v in {1})",
        "all(next(v < n) for v in {n})",
    ],
)
@pytest.mark.parametrize("engine", ["local", "reference"])
def test_what_a_definition_is_given_is_a_value_below_next(
    claim: str, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "ahead.yaml"
    path.write_text(AHEAD % claim)
    result = flow.check(flow.Request(str(path), engine=engine), flow.Silent())
    assert result.verdict.overall == "holds"


@pytest.mark.parametrize("claim", ["all(next(v) == v for v in {n})", "same(n)"])
def test_next_of_values_is_refused(claim: str, tmp_path: Path) -> None:
    path = tmp_path / "ahead.yaml"
    text = AHEAD.replace("definitions:\n", "definitions:\n  same(k): next(k + 1) == k + 1\n")
    path.write_text(text % claim)
    with pytest.raises(SpecificationError) as caught:
        flow.check(flow.Request(str(path)), flow.Silent())
    assert [item.code for item in caught.value.diagnostics] == ["Y309"]
