"""Goal: ITF files hold the states exactly, in the form that other tools read."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from machines import FALSE, KNOWN, counter, machines, prop, two_phase

from checker.errors import UsageError
from checker.machine.machine import Machine
from checker.machine.types import Map, Option, Range, Record, Set, Union
from checker.search.finding import Finding
from checker.semantics.successor import State
from checker.semantics.successors import initial_states, successors
from checker.semantics.values import MapValue, RecordValue
from checker.trace import itf
from checker.trace.rebuild import rebuild
from checker.trace.trace import Provenance, Trace

ORIGIN = Provenance("counter", "checker check counter", (("limit", 3),))


def walk(machine: Machine, steps: int) -> Trace:
    """A path of the machine, always by the last successor; it ends where a step is cut."""
    reached = [item for item in initial_states(machine) if item.state is not None][:1]
    path: list[State] = []
    while reached:
        last = reached[-1]
        assert last.state is not None
        path.append(last.state)
        if last.cut is not None or len(path) > steps:
            break
        reached = [item for item in successors(machine, path[-1]) if item.state is not None]
    shown = replace(machine, properties=(prop("x", "always", FALSE),))
    return rebuild(shown, Finding("x", "always", len(path) - 1, tuple(path)))


def test_every_integer_is_a_bigint_and_meta_says_how_to_repeat() -> None:
    data = json.loads(itf.dump(walk(counter(), 2), ORIGIN))
    assert [state["n"] for state in data["states"]] == [{"#bigint": str(n)} for n in range(3)]
    assert data["vars"] == ["n"]
    meta = data["#meta"]
    assert (meta["spec"], meta["replay"], meta["overrides"]) == (
        "counter",
        "checker check counter",
        {"limit": 3},
    )
    assert meta["varTypes"] == {"n": "Int"}
    assert data["states"][1]["#meta"]["row"] == "increase"
    assert data["states"][1]["#meta"]["changes"] == ["n: 0 -> 1"]


def test_values_of_every_shape() -> None:
    point = Record("Point", (("x", Range(0, 3)),))
    message = Union("M", (point, Record("Stop", ())))
    one = RecordValue("Point", (("x", 1),))
    cases = [
        (Option(point), None, {"tag": "None", "value": {"#tup": []}}),
        (Option(point), one, {"tag": "Some", "value": {"x": {"#bigint": "1"}}}),
        (message, one, {"tag": "Point", "value": {"x": {"#bigint": "1"}}}),
        (Set(Range(0, 3)), frozenset({2, 0}), {"#set": [{"#bigint": "0"}, {"#bigint": "2"}]}),
        (
            Map(Range(0, 1), point, total=False),
            MapValue({1: one}),
            {"#map": [[{"#bigint": "1"}, {"x": {"#bigint": "1"}}]]},
        ),
    ]
    for kind, value, expected in cases:
        assert itf.encode(kind, value) == expected
        assert itf.decode(kind, expected) == value


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_states_survive_the_file(known: object) -> None:
    trace = walk(known.machine, 5)  # type: ignore[attr-defined]
    text = itf.dump(trace, ORIGIN)
    assert itf.read_states(trace.machine, itf.load(text, "x"), "x") == trace.states


@given(machines())
def test_states_of_random_machines_survive_the_file(machine: Machine) -> None:
    if not any(item.state is not None for item in initial_states(machine)):
        return
    trace = walk(machine, 3)
    text = itf.dump(trace, ORIGIN)
    assert itf.read_states(machine, itf.load(text, "x"), "x") == trace.states


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"vars": [], "states": []}', "{", "[" * 5000])
def test_what_is_no_trace_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        itf.load(text, "x")


@pytest.mark.parametrize(
    ("text", "said"),
    [("[" * 500_000, "too deep in each other"), (f"[{'1' * 6000}]", "has 6,000 digits")],
    ids=["deep", "long"],
)
def test_what_python_does_not_read_is_told_in_our_words(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as failure:
        itf.load(text, "x")
    assert "sys." not in str(failure.value)
    assert "recursion" not in str(failure.value)


def test_a_plain_number_is_an_integer() -> None:
    text = '\ufeff{"vars": ["n"], "states": [{"n": 0}, {"n": {"#bigint": "1"}}]}'
    assert itf.read_states(counter(), itf.load(text, "x"), "x") == ((0,), (1,))
    for wrong in (True, 1.0, -1, "1"):
        with pytest.raises(UsageError, match="no value of n"):
            itf.read_states(counter(), {"vars": ["n"], "states": [{"n": wrong}]}, "x")


@pytest.mark.parametrize(
    "state", [{}, {"n": 99}, {"n": "one"}, {"n": {"#bigint": "x"}}, {"n": None}, {"n": []}]
)
def test_states_that_do_not_fit_are_usage_errors(state: object) -> None:
    with pytest.raises(UsageError):
        itf.read_states(counter(), {"vars": ["n"], "states": [state]}, "x")


JUNK: tuple[object, ...] = (
    *(None, True, 3, 0.5, "", "None", "Some", [], [[]], [1, 2], {}, {"x": 1}, {"tag": "Some"}),
    *({"tag": [], "value": 1}, {"#bigint": "7"}, {"#set": 1}, {"#set": [[], []]}, {"#map": [[1]]}),
)


def with_junk(value: object) -> Iterator[object]:
    """Yield a value with each part of it, itself included, exchanged for each kind of junk."""
    yield from JUNK
    if isinstance(value, dict):
        for key, part in value.items():
            yield from ({**value, key: other} for other in with_junk(part))
            yield {name: other for name, other in value.items() if name != key}
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in with_junk(part))
        yield value + value


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_a_state_with_junk_in_it_is_a_usage_error(known: object) -> None:
    trace = walk(known.machine, 4)  # type: ignore[attr-defined]
    data = itf.load(itf.dump(trace, ORIGIN), "x")
    last = {key: value for key, value in data["states"][-1].items() if key != "#meta"}
    for key, value in last.items():
        for other in with_junk(value):
            given = {"vars": data["vars"], "states": [{**last, key: other}]}
            try:
                (state,) = itf.read_states(trace.machine, given, "x")
            except UsageError as error:
                assert f"no value of {key}" in str(error)  # noqa: PT017
                continue
            again = itf.read_states(trace.machine, written(trace.machine, state), "x")
            assert again == (state,)


def written(machine: Machine, state: State) -> dict[str, Any]:
    values = zip(machine.variables, state, strict=True)
    shown = {variable.name: itf.encode(variable.type, value) for variable, value in values}
    return {"vars": list(shown), "states": [shown]}


def test_the_hash_depends_on_the_text_alone() -> None:
    machine = two_phase()
    assert itf.spec_hash(machine) == itf.spec_hash(replace(machine, path="elsewhere.yaml"))
