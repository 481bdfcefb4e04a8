"""Goal: what guides a hunt cannot fail where properties do not, and changes nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from machines import reachable, seeded_machine

from checker import flow
from checker.errors import EvaluationError
from checker.kernel.build import CHECKS_MAX
from checker.machine.machine import Machine, Property
from checker.search.guides import guided
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successors import as_mapping
from checker.table import Document


def questions(machine: Machine) -> list[Property]:
    return [item for item in guided(machine).properties if item.asks]


@pytest.mark.parametrize("seed", range(60))
def test_what_is_asked_has_a_value_wherever_the_property_has_one(seed: int) -> None:
    machine = seeded_machine(seed)
    asked = questions(machine)
    known = {item.name: item for item in machine.properties}
    for state in reachable(machine, 200):
        context = Context(as_mapping(machine, state), {})
        for item in asked:
            try:
                claim = known[item.name.partition("?")[0]]
                if claim.kind == "always":
                    evaluate(claim.condition, context)
            except EvaluationError:
                continue
            evaluate(item.condition, context)  # or the test fails


LOOKS_NO_FURTHER = """\
system: probe
about: A system of a test.
variables:
  a: {type: 0..9, initial: "5"}
  b: {type: 0..9, initial: "0"}
rows:
  - {row: on, when: b < 2, do: b = b + 1}
  - {row: back, when: b > 0, do: b = b - 1}
properties:
  p: {CLAIM, why: w.}
"""


@pytest.mark.parametrize(
    "claim",
    [
        "always: all(at(i) <= 3 and 10 // (2 - at(i)) <= 9 for i in range(0, 2)) or a == 5",
        "sometimes: any(at(i) > 3 or (9 // (2 - at(i)) > 2 and b > 1) for i in range(2)) and a < 5",
    ],
)
def test_a_question_looks_no_further_than_what_decides(tmp_path: Path, claim: str) -> None:
    path = tmp_path / "system.yaml"
    called = "definitions:\n  at(i): a if i == 0 else b\n"
    text = LOOKS_NO_FURTHER.replace("CLAIM", claim.replace(": ", ': "', 1) + '"')
    path.write_text(text.replace("properties:", called + "properties:"))
    machine = flow.select(flow.machine_of(str(path), "default", {}), ("p",))
    asked = questions(machine)
    assert len(asked) > 1
    states = reachable(machine)
    assert len(states) == 3
    for state in states:
        context = Context(as_mapping(machine, state), {})
        for item in (*machine.properties, *asked):
            evaluate(item.condition, context)  # or the test fails


@pytest.mark.parametrize(
    ("spec", "instance", "name"),
    [
        ("two_phase", "default", "consistent"),
        ("classic_group", "kafka_7824", "no_ghost_members"),
        ("controller_failover", "an_old_cache", "no_acknowledged_record_is_lost"),
    ],
)
def test_a_search_with_questions_is_the_same(spec: str, instance: str, name: str) -> None:
    def found(*, asking: bool) -> tuple[object, ...]:
        _, machine = flow.prepare(flow.Request(spec, instance, properties=(name,)), flow.Silent())
        asked = guided(machine) if asking else machine
        result = flow.check_machine(
            flow.Request(spec, instance), _document(spec), asked, flow.Silent()
        )
        seen = [item for item in result.exploration.findings if item.property == name]
        paths = [item.path for item in seen]
        return result.exploration.distinct, result.exploration.generated, paths

    assert found(asking=True) == found(asking=False)


def _document(spec: str) -> Document:
    document, _ = flow.prepare(flow.Request(spec), flow.Silent())
    return document


def test_sides_are_those_that_a_reader_would_name() -> None:
    _, machine = flow.prepare(
        flow.Request("consumer_group_848", "kafka_16147", properties=("one_owner_per_partition",)),
        flow.Silent(),
    )
    assert 1 <= len(questions(machine)) <= 12
    assert all(item.kind == "sometimes" for item in questions(machine))


def test_questions_beyond_what_a_kernel_has_room_for_are_left_out() -> None:
    _, machine = flow.prepare(flow.Request("classic_group"), flow.Silent())
    asked = guided(machine)
    checks = [item for item in asked.properties if item.kind in ("always", "sometimes")]
    assert len(checks) <= CHECKS_MAX
    assert asked.properties[: len(machine.properties)] == machine.properties
