"""Goal: fair row instances are numbered one to one, split by what the language says and no more."""

from dataclasses import replace

import pytest
from machines import (
    NOWHERE,
    TRUE,
    action,
    assign,
    binding,
    counter,
    everything,
    fifo_with_loss,
    lit,
    local,
    machine,
    pick,
    place,
    read,
    variable,
)

from checker.errors import SpecificationError
from checker.machine.machine import Action, Machine
from checker.machine.types import Bool, Id, Option, Range, Record, Set
from checker.semantics.fairness import INSTANCES_MAX, UNFAIR, fair_rows, strengths
from checker.semantics.successor import Successor
from checker.semantics.successors import initial_states, successors

WHO = Id("Who", ("ann", "bob"), symmetric=False)
SEAT = Option(Range(3, 4))
PAIR = Record("Pair", (("x", Bool()), ("y", Bool())))


def fair(made: Action, fairness: str = "weak") -> Action:
    return replace(made, fair=fairness)  # type: ignore[arg-type]


def choosing() -> Machine:
    """A row with five bindings of which three split it; a strong one, a fault, an unfair one."""
    kind = Range(0, 1)
    hidden = replace(binding("hidden", everything(WHO)), shown=False)
    names = [
        binding("who", everything(WHO)),
        hidden,
        binding("seat", everything(SEAT)),
        binding("pair", everything(PAIR)),
        binding("flag", everything(Bool())),
    ]
    flip = assign(place("n", kind), local("b", kind))
    return machine(
        "choosing",
        [variable("n", kind, 0)],
        [
            fair(action("sits", pick("b", everything(kind)), flip, bindings=names)),
            action("rests", assign(place("n", kind), lit(0, kind))),
            fair(action("breaks", assign(place("n", kind), lit(1, kind)), fault="crash")),
            fair(action("goes", assign(place("n", kind), lit(1, kind))), "strong"),
        ],
        ids=[WHO],
    )


def test_shown_scalar_bindings_split_a_row_and_nothing_else() -> None:
    made = choosing()
    rows = fair_rows(made)
    assert list(rows.rows) == ["sits", "goes"]
    assert rows.count == 2 * 3 * 2 + 1
    assert [name for name, _, _ in rows.rows["sits"].splits] == ["who", "seat", "flag"]
    assert strengths(rows).tolist() == [False] * 12 + [True]
    (start,) = (step.state for step in initial_states(made))
    assert start is not None
    numbers: dict[int, set[object]] = {}
    for step in successors(made, start):
        number = rows.number(step)
        assert (number == UNFAIR) == (step.action in {"rests", "breaks"})
        if number != UNFAIR:
            kept = {name: value for name, value in step.bindings if name not in {"pair", "hidden"}}
            numbers.setdefault(number, set()).add((step.action, *kept.items()))
            assert rows.instance(number).bindings == tuple(kept.items())
    assert sorted(numbers) == list(range(13))
    assert all(len(same) == 1 for same in numbers.values())


def test_instances_have_names() -> None:
    rows = fair_rows(choosing())
    step = Successor("sits", (("who", "bob"), ("seat", None), ("flag", True)), (), None)
    assert rows.instance(rows.number(step)).name == "sits(bob, none, true)"
    assert rows.instance(12).name == "goes"
    assert rows.instance(12).strong


def test_a_consumed_message_does_not_split_a_row() -> None:
    made = fifo_with_loss()
    take = made.actions[1]
    assert take.name == "take"
    hidden = replace(take, fair="weak", bindings=(replace(take.bindings[0], shown=False),))
    rows = fair_rows(replace(made, actions=(hidden,)))
    assert rows.count == 1


def test_a_machine_without_fairness_has_no_instances() -> None:
    assert fair_rows(counter()).count == 0


def test_too_many_instances_are_refused_where_they_are_declared() -> None:
    wide = Range(1, INSTANCES_MAX + 1)
    row = fair(action("many", guard=TRUE, bindings=[binding("x", everything(wide))]))
    made = machine("wide", [variable("n", Range(0, 1), 0)], [row])
    with pytest.raises(SpecificationError) as error:
        fair_rows(made)
    assert error.value.diagnostics[0].code == "R611"
    assert error.value.diagnostics[0].span is NOWHERE


def test_sets_of_a_state_may_be_domains() -> None:
    held = read("held", Set(WHO))
    row = fair(action("drops", bindings=[binding("who", held)]))
    made = machine("held", [variable("held", Set(WHO), frozenset({"bob"}))], [row], ids=[WHO])
    assert fair_rows(made).count == 2
