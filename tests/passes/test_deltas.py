"""Goal: what is left of a step property says of every step exactly what the property says.

Held to the reference semantics on any two states of random machines, and on the steps of Kafka's
classic group; there with properties that are broken, so that nothing is left out for good.
"""

import random
from collections import Counter
from collections.abc import Mapping
from collections.abc import Sequence as Row
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import pytest
from agreement import require_agreement
from hypothesis import HealthCheck, given, settings
from machines import BOOL, action, assign, lit, local, machine, place, prop, read, variable
from random_machines import machines, seeded_machine

from checker import library
from checker.errors import EvaluationError
from checker.flow import elaborate
from checker.flow import read as read_specification
from checker.machine import terms as t
from checker.machine.machine import Machine, Property
from checker.machine.types import Id, Map, Option, Range, Record, Sequence, Set, Union
from checker.passes.deltas import Delta, asked_of, deltas
from checker.passes.rewriting import names_rows
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successors import (
    as_mapping,
    initial_states,
    step_violations,
    successors,
)
from checker.semantics.values import values
from checker.source import NOWHERE

Values = Mapping[str, object]
FAILS = "fails"


def steps_of(made: Machine) -> list[Property]:
    return [
        item for item in made.properties if item.kind == "step" and not names_rows(item.condition)
    ]


def plainly(condition: t.Term, now: Values, following: Values) -> object:
    try:
        return evaluate(condition, Context(now, {}, following))
    except EvaluationError:
        return FAILS


def by_deltas(found: list[Delta], count: int, now: Values, following: Values) -> list[object]:
    """What deltas say of each of `count` properties."""
    result: list[object] = [True] * count
    for delta in found:
        if all(any(now[name] != following[name] for name in stay) for stay in delta.triggers):
            for number, condition in delta.conditions:
                if result[number] is not True:
                    continue
                whole = condition
                if delta.generators:
                    whole = t.Fold("all", delta.generators, condition, None, BOOL, NOWHERE)
                result[number] = plainly(whole, now, following)
    return result


class Comparison:
    """Conditions of steps, and what is left of them."""

    def __init__(self, conditions: list[t.Term]) -> None:
        self.conditions = conditions
        self.deltas = deltas(conditions)

    def require_same(self, now: Values, following: Values) -> list[object]:
        wanted = [plainly(condition, now, following) for condition in self.conditions]
        assert by_deltas(self.deltas, len(wanted), now, following) == wanted
        return wanted


def conditions_of(made: Machine) -> list[t.Term]:
    """The step properties of a machine, and what holds of its other conditions before and after."""
    held = [item.condition for item in made.properties if item.kind != "step"]
    return [
        *(item.condition for item in steps_of(made)),
        *(t.Implies(item, following(item), NOWHERE) for item in held),
        *(t.Not(t.And((item, denied(following(item))), NOWHERE), NOWHERE) for item in held),
        *(t.Or((following(item), denied(item)), NOWHERE) for item in held),
        *(t.Equal(following(item), item, NOWHERE) for item in held),
    ]


def denied(term: t.Term) -> t.Not:
    return t.Not(term, NOWHERE)


def following(term: t.Term) -> t.Next:
    return t.Next(term, term.type, NOWHERE)


def any_state(made: Machine, choose: random.Random) -> dict[str, object]:
    return {item.name: choose.choice(list(values(item.type))) for item in made.variables}


def near(made: Machine, state: dict[str, object], choose: random.Random) -> dict[str, object]:
    """A state in which one variable at most is another."""
    changed = choose.choice(made.variables)
    return {**state, changed.name: choose.choice(list(values(changed.type)))}


@pytest.mark.parametrize("seed", range(120))
def test_any_two_states_of_seeded_machines(seed: int) -> None:
    made, choose = seeded_machine(seed), random.Random(seed)  # noqa: S311
    compared = Comparison(conditions_of(made))
    for _ in range(15):
        state = any_state(made, choose)
        compared.require_same(state, any_state(made, choose))
        compared.require_same(state, near(made, state, choose))
        compared.require_same(state, state)


@given(made=machines())
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_any_two_states_of_random_machines(made: Machine) -> None:
    choose, compared = random.Random(0), Comparison(conditions_of(made))  # noqa: S311
    for _ in range(5):
        state = any_state(made, choose)
        compared.require_same(state, any_state(made, choose))
        compared.require_same(state, near(made, state, choose))


@pytest.mark.parametrize("seed", range(24))
def test_a_kernel_judges_what_holds_before_and_after(seed: int) -> None:
    made = seeded_machine(seed)
    properties = [
        prop(f"step{number}", "step", term) for number, term in enumerate(conditions_of(made))
    ]
    require_agreement(replace(made, properties=tuple(properties)), states=10)


# ------------------------------------------------------------------------------ by hand


NUMBER = Range(0, 3)
NODE = Id("Node", ("n1", "n2"), symmetric=False)
ANSWER = Record("Answer", (("level", NUMBER),))
SLOT = Union("Slot", (Record("Free", ()), ANSWER, Record("Ask", (("level", NUMBER),))))
SLOTS = Map(NODE, SLOT, total=True)
ANSWERS = Sequence(Range(0, 3), 2)


def n(value: int) -> t.Literal:
    return lit(value, NUMBER)


def answers() -> t.Fold:
    """[slots[x].level for x in Node if slots[x] is Answer]"""
    slot = t.At(read("slots", SLOTS), local("x", NODE), SLOT, NOWHERE)
    there = t.IsVariant(slot, "Answer", NOWHERE)
    generator = t.Generator("x", t.Everything(Set(NODE), NOWHERE), there)
    level = t.Field(slot, "level", NUMBER, NOWHERE)
    return t.Fold("sequence", (generator,), level, None, ANSWERS, NOWHERE)


def of_new_answers(condition: t.Term) -> t.Fold:
    """all(implies(r not in answers(), condition) for r in next(answers()))"""
    old = t.Contains(local("r", NUMBER), answers(), NOWHERE)
    new = t.Implies(t.Not(old, NOWHERE), condition, NOWHERE)
    generator = t.Generator("r", following(answers()), None)
    return t.Fold("all", (generator,), new, None, BOOL, NOWHERE)


def slot(name: str, level: int | None = None) -> t.RecordOf:
    parts = () if level is None else (("level", n(level)),)
    return t.RecordOf(name, parts, SLOT, NOWHERE)


def put(node: str, term: t.Term) -> t.Assign:
    return assign(place("slots", SLOT, lit(node, NODE)), term)


RISES = t.Compare(">=", following(read("x", NUMBER)), read("x", NUMBER), NOWHERE)
SMALL = t.Compare("<", local("r", NUMBER), n(2), NOWHERE)
KNOWN = t.Equal(local("r", NUMBER), read("x", NUMBER), NOWHERE)


def small_machine() -> Machine:
    slots = next(iter(values(SLOTS)))  # all free
    return machine(
        "small",
        [
            variable("x", NUMBER, 1),
            variable("y", NUMBER, 0),
            variable("slots", SLOTS, slots),
        ],
        [
            action("rise", assign(place("x", NUMBER), n(2))),
            action("fall", assign(place("x", NUMBER), n(0))),
            action("other", assign(place("y", NUMBER), n(1))),
            action("ask", put("n1", slot("Ask", 3))),
            action("answer", put("n1", slot("Answer", 1))),
            action("answer_wrongly", put("n2", slot("Answer", 3))),
            action("free", put("n1", slot("Free"))),
        ],
        properties=[
            prop("rises", "step", RISES),
            prop("small", "step", of_new_answers(SMALL)),
            prop("known", "step", of_new_answers(KNOWN)),
        ],
    )


def test_each_row_that_breaks_a_property_is_found_and_no_other() -> None:
    made = small_machine()
    broken: Counter[tuple[str, str]] = Counter()
    todo = [step.state for step in initial_states(made)]
    seen = set(todo)
    while todo:
        state = todo.pop()
        assert state is not None
        for step in successors(made, state):
            assert step.state is not None
            broken.update((name, step.action) for name in step_violations(made, state, step))
            if step.state not in seen:
                seen.add(step.state)
                todo.append(step.state)
    assert set(broken) == {
        ("rises", "fall"),
        ("small", "answer_wrongly"),
        ("known", "answer"),
        ("known", "answer_wrongly"),
    }
    assert require_agreement(made, states=200) == len(seen)


def test_what_is_asked_of_a_small_machine() -> None:
    rises, new = deltas([item.condition for item in small_machine().properties])
    assert rises.triggers == (frozenset({"x"}),)
    assert new.triggers == (frozenset({"slots"}),)
    assert [number for number, _ in new.conditions] == [1, 2]
    (generator,) = new.generators
    assert isinstance(generator.domain, t.Fold)
    assert isinstance(generator.domain.generators[0].condition, t.And)


def naming_rows() -> Machine:
    """The small machine with properties that name rows: who else moves x, what rise makes of x."""
    unmoved = t.Equal(following(read("x", NUMBER)), read("x", NUMBER), NOWHERE)
    high = t.Compare("<=", n(3), following(read("x", NUMBER)), NOWHERE)
    claims = {
        "fall_moves": t.Or((unmoved, ran("fall")), NOWHERE),
        "fall_or_rise_moves": t.Or((unmoved, ran("fall"), ran("rise")), NOWHERE),
        "rise_rises": t.Implies(ran("rise"), high, NOWHERE),
        "others_lower": t.Or((ran("rise"), denied(RISES)), NOWHERE),
    }
    properties = tuple(prop(name, "step", condition) for name, condition in claims.items())
    return replace(small_machine(), properties=properties)


def ran(row: str) -> t.Ran:
    return t.Ran(row, (), NOWHERE)


def numbers_in(parts: Row[Delta]) -> list[int]:
    return [number for part in parts for number, _ in part.conditions]


def test_what_all_other_rows_owe_is_asked_once_and_of_them_only() -> None:
    made = naming_rows()
    assert deltas(item.condition for item in made.properties) == []
    others = deltas((item.condition for item in made.properties), shared=True)
    assert [([number for number, _ in it.conditions], it.rows) for it in others] == [
        ([0], {"fall"}),
        ([1], {"fall", "rise"}),
        ([3], {"rise"}),
    ]
    assert [it.triggers for it in others] == [(frozenset({"x"}),), (frozenset({"x"}),), ()]
    asked = asked_of(made.actions, made.properties, shared=True)
    owed = {row: numbers_in(parts) for row, parts in asked.items()}
    assert {row: numbers for row, numbers in owed.items() if numbers} == {"rise": [2]}


def test_a_kernel_judges_steps_of_named_rows_and_of_all_others() -> None:
    made = naming_rows()
    broken: set[tuple[str, str]] = set()
    for start in initial_states(made):
        assert start.state is not None
        for step in successors(made, start.state):
            names = step_violations(made, start.state, step)
            broken.update((name, step.action) for name in names)
    assert {pair for pair in broken if pair[0] != "others_lower"} == {
        ("fall_moves", "rise"),
        ("rise_rises", "rise"),
    }
    # Nobody but fall lowers x.
    assert {row for name, row in broken if name == "others_lower"} == {
        item.name for item in made.actions if item.name not in {"fall", "rise"}
    }
    for brief in (False, True):
        require_agreement(made, states=200, brief=brief)


def test_an_error_keeps_a_property_from_being_passed_over() -> None:
    """x // y stays the same where nothing changes, but has no value if y is 0."""
    x, y = read("x", NUMBER), read("y", NUMBER)
    quotient = t.Arithmetic("//", x, y, NUMBER, NOWHERE)
    condition = t.Equal(following(quotient), quotient, NOWHERE)
    (found,) = deltas([condition])
    assert found.triggers == ()
    made = machine(
        "quotient",
        [variable("x", NUMBER, 1), variable("y", NUMBER, 0)],
        [action("stay")],
        properties=[prop("same", "step", condition)],
    )
    same = {"x": 1, "y": 0}
    assert Comparison([condition]).require_same(same, same) == [FAILS]
    require_agreement(made)


def same(name: str) -> t.Equal:
    return t.Equal(following(read(name, NUMBER)), read(name, NUMBER), NOWHERE)


QUOTIENT = t.Arithmetic("//", n(3), following(read("x", NUMBER)), NUMBER, NOWHERE)
HAS_QUOTIENT = t.Compare(">=", QUOTIENT, n(1), NOWHERE)


def of_all(*parts: t.Term) -> t.Fold:
    generator = t.Generator("i", t.Everything(Set(NODE), NOWHERE), None)
    return t.Fold("all", (generator,), t.And(parts, NOWHERE), None, BOOL, NOWHERE)


def test_parts_of_a_property_are_asked_where_what_they_look_at_changes() -> None:
    condition = of_all(same("x"), t.Implies(denied(same("y")), RISES, NOWHERE), same("x"))
    first, second = deltas([condition])
    assert (first.triggers, second.triggers) == (
        (frozenset({"x"}),),
        (frozenset({"x"}), frozenset({"y"})),
    )
    assert isinstance(first.conditions[0][1], t.And)  # what is asked on the same steps together


def test_an_error_comes_before_what_a_later_part_says_and_not_behind() -> None:
    """3 // next(x) has no value where x becomes 0."""
    conditions = [
        t.And((same("y"), HAS_QUOTIENT, same("z")), NOWHERE),
        t.And((HAS_QUOTIENT, same("z"), same("y")), NOWHERE),
        of_all(same("y"), HAS_QUOTIENT),
        same("z"),
    ]
    compared = Comparison(conditions)
    for x in range(2):
        for y in range(2):
            for z in range(2):
                now = {"x": 1, "y": 0, "z": 0}
                compared.require_same(now, {"x": x, "y": y, "z": z})
    assert compared.require_same(now, {"x": 0, "y": 1, "z": 1}) == [False, FAILS, False, False]
    variables = [variable(name, NUMBER, int(name == "x")) for name in "xyz"]
    moves = [
        action(f"to_{x}_{y}_{z}", *(assign(place(name, NUMBER), n(to)) for name, to in
                                    zip("xyz", (x, y, z), strict=True)))
        for x in range(2) for y in range(2) for z in range(2)
    ]  # fmt: skip
    properties = [prop(f"p{place}", "step", term) for place, term in enumerate(conditions)]
    made = machine("errors", variables, moves, properties=properties)
    for brief in (False, True):
        require_agreement(made, states=20, brief=brief)


def test_what_an_earlier_part_rules_out_is_no_error() -> None:
    """Of an option that holds nothing there is no number; an earlier part says that it does."""
    kind = Option(NUMBER)
    held = following(read("o", kind))
    there = denied(t.IsNone(held, NOWHERE))
    y_changed = denied(same("y"))
    y_rises = t.Compare(">=", following(read("y", NUMBER)), read("y", NUMBER), NOWHERE)
    enough = t.Compare(">=", t.Cast(held, NUMBER, NOWHERE), n(1), NOWHERE)
    parts = y_rises, there, t.Implies(y_changed, enough, NOWHERE)
    conditions = [of_all(*parts), t.And(parts, NOWHERE), of_all(there, enough)]
    compared = Comparison(conditions)
    now = {"y": 0, "o": 1}
    assert compared.require_same(now, {"y": 1, "o": None}) == [False, False, False]
    for y in range(3):
        for o in (None, 0, 1):
            compared.require_same({"y": 1, "o": 1}, {"y": y, "o": o})
    moves = [
        action(
            f"to_{y}_{o}",
            assign(place("y", NUMBER), n(y)),
            assign(place("o", kind), lit(o, kind)),
        )
        for y in range(3)
        for o in (None, 0, 1)
    ]
    variables = [variable("y", NUMBER, 1), variable("o", kind, 1)]
    properties = [prop(f"p{place}", "step", term) for place, term in enumerate(conditions)]
    made = machine("options", variables, moves, properties=properties)
    for brief in (False, True):
        require_agreement(made, states=20, brief=brief)


UP_TO_TWO = Range(0, 2)
FEW = [{"w": w, "y": y, "o": o} for w in range(2) for y in range(3) for o in (None, 0, 1)]


def guard_and_use(name: str, *, ahead: bool) -> tuple[t.Term, t.Term]:
    """A test, and what has a value only where it holds, of the state before a step or after it."""
    now = read(name, Option(UP_TO_TWO) if name == "o" else UP_TO_TWO)
    value = following(now) if ahead else now
    if name == "o":
        held = t.Cast(value, UP_TO_TWO, NOWHERE)
        return denied(t.IsNone(value, NOWHERE)), t.Compare(">=", held, n(1), NOWHERE)
    half = t.Arithmetic("//", n(2), value, NUMBER, NOWHERE)
    return t.Compare(">", value, n(0), NOWHERE), t.Compare(">=", half, n(2), NOWHERE)


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("moved", ["y", "w"])
@pytest.mark.parametrize("name", ["o", "y"])
def test_parts_in_every_order_fail_where_the_whole_does(
    name: str, moved: str, *, ahead: bool
) -> None:
    """Of three parts one may rule an error of another out, on steps that change something else."""
    moves = denied(t.Equal(following(read(moved, UP_TO_TWO)), read(moved, UP_TO_TWO), NOWHERE))
    rises = t.Compare(">=", following(read(moved, UP_TO_TWO)), read(moved, UP_TO_TWO), NOWHERE)
    said = guard_and_use(name, ahead=ahead)
    parts = [rises, *said, *(t.Implies(moves, part, NOWHERE) for part in said)]
    orders = list(permutations(parts, 3))
    loops = [of_all(*some) for some in orders]
    compared = Comparison([*loops, *(t.And(some, NOWHERE) for some in orders)])
    seen: Counter[object] = Counter()
    for now, later in product(FEW, FEW):
        seen.update(map(str, compared.require_same(now, later)))
    assert set(seen) == {"True", "False", FAILS}


DEFINED = """\
definitions:
  size(places): sum(places[q] for q in Place)
"""

OF_NEW_ITEMS = """\
system: listed
about: What stands at some positions, made of several values each.
constants:
  Shelf: {ids: 2}
  Place: {ids: 2}
variables:
  held:
    type: total map of Shelf to total map of Place to 0..1
    initial: "{s: {p: 0 for p in Place} for s in Shelf}"
  open: {type: set of Shelf, initial: empty}
rows:
  - {row: put, for: {s: Shelf, p: Place}, when: "held[s][p] == 0", do: "held[s][p] = 1"}
  - {row: takes, for: {s: Shelf}, when: "s in open", do: "held[s][place1] = 0"}
  - {row: opens, for: {s: Shelf}, do: open.add(s)}
deadlock: false
properties:
  p: {step: "all(implies(r not in LIST, r < 1) for r in next(LIST))", why: each new item is none.}
"""


@pytest.mark.parametrize(
    "listed",
    [
        "[sum(held[s][p] for p in Place) for s in Shelf]",
        "[sum(held[s][p] for p in Place) for s in Shelf if s in open]",
        "[held[s][p] for s in Shelf for p in Place if held[s][place1] == 1]",
        "[max((held[s][p] for p in Place if held[s][p] < 1), default=2) for s in Shelf]",
        "[held[s][place2] + len({p for p in Place if held[shelf1][p] == 1}) for s in Shelf]",
        "[size(held[s]) for s in Shelf]",
    ],
)
def test_new_items_of_a_list_are_those_of_positions_that_changed(
    tmp_path: Path, listed: str
) -> None:
    """Also where an item looks at parts of the state by names that it binds itself."""
    text = OF_NEW_ITEMS.replace("LIST", listed)
    if "size(" in text:
        text = text.replace("rows:", DEFINED + "rows:")
    path = tmp_path / "listed.yaml"
    path.write_text(text)
    made = elaborate(read_specification(path))
    compared, choose = Comparison([item.condition for item in made.properties]), random.Random(1)  # noqa: S311
    said: Counter[object] = Counter()
    for _ in range(300):
        said.update(compared.require_same(any_state(made, choose), any_state(made, choose)))
    assert said[True]
    assert said[False]
    for brief in (False, True):
        require_agreement(made, states=100, brief=brief)


def test_rows_are_not_asked_for_what_they_do_not_write() -> None:
    unmoved = t.Or((t.And((same("x"), same("y")), NOWHERE), ran("free")), NOWHERE)
    both = t.And((t.Or((same("x"), ran("free")), NOWHERE), t.Or((same("y"), ran("free")), NOWHERE)),
                 NOWHERE)  # fmt: skip
    made = replace(
        small_machine(), properties=(prop("a", "step", unmoved), prop("b", "step", both))
    )
    asked = asked_of(made.actions, made.properties)
    assert {row: numbers_in(parts) for row, parts in asked.items() if parts} == {
        "rise": [0, 1],
        "fall": [0, 1],
        "other": [0, 1],
    }
    require_agreement(made, states=200)


# ------------------------------------------------------------------------- the classic group


CLASSIC = {"Client": 2, "MemberId": 2, "disconnects": 1, "crashes": 1}


def without_conclusion(term: t.Term) -> t.Term:
    """A property broken by every step that meets its premises."""
    match term:
        case t.Fold("all", _, body, _, _, _):
            return replace(term, body=without_conclusion(body))
        case t.Implies(left, _, span):
            return t.Implies(left, t.Literal(False, BOOL, span), span)
    return t.Literal(False, BOOL, term.span)


def broken_group() -> Machine:
    made = elaborate(read_specification(library.find("classic_group")), "default", CLASSIC)
    properties = [
        replace(item, condition=without_conclusion(item.condition)) for item in steps_of(made)
    ]
    return replace(made, properties=tuple(properties), symmetry=False)


def test_broken_properties_of_the_classic_group() -> None:
    made = broken_group()
    assert require_agreement(made, states=60) == 60
    compared = Comparison([item.condition for item in steps_of(made)])
    broken: Counter[str] = Counter()
    todo = [step.state for step in initial_states(made)]
    seen = set(todo)
    choose = random.Random(0)  # noqa: S311
    for _ in range(300):
        state = todo.pop(max(choose.randrange(len(todo)) for _ in range(3)))
        assert state is not None
        for step in successors(made, state):
            broken.update(step_violations(made, state, step))
            if step.state is not None:
                compared.require_same(as_mapping(made, state), as_mapping(made, step.state))
            if step.cut is None and step.state is not None and step.state not in seen:
                seen.add(step.state)
                todo.append(step.state)
    never = {item.name for item in steps_of(made)} - set(broken)
    assert never == {
        "a_leader_that_rejoins_is_heard",
        "leader_keeps_its_role",
        "group_dies_only_with_its_coordinator",
        "current_member_keeps_its_generation",  # the shipped instance kafka_9823 breaks it
    }
