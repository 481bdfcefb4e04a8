"""Goal: on random machines the interpreter keeps its promises about types, order and determinism.

These are also the machines that native code is held to, so a test here sees to it that they are
well typed and cover the language.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from machines import machines, reachable, seeded_machine

from checker.machine import terms, types
from checker.machine.machine import Machine
from checker.machine.terms import Term
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.semantics import evaluate as meaning
from checker.semantics.evaluate import Context
from checker.semantics.values import belongs

SEEDS = range(60)


def parts(thing: object) -> Iterator[object]:
    """Yield everything that a machine consists of."""
    if isinstance(thing, tuple):
        for item in thing:
            yield from parts(item)
    elif is_dataclass(thing):
        yield thing
        for field in fields(thing):
            if field.name != "span":
                yield from parts(getattr(thing, field.name))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_term_has_a_value_of_its_type(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = meaning.evaluate

    def checked(term: Term, context: Context) -> Any:
        value = plain(term, context)
        assert belongs(term.type, value), (term, value)
        return value

    monkeypatch.setattr(meaning, "evaluate", checked)
    machine = seeded_machine(seed)
    for state in reachable(machine, 20):
        for variable, value in zip(machine.variables, state, strict=True):
            assert belongs(variable.type, value)


@given(machines())
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_exploring_twice_gives_the_same(machine: Machine) -> None:
    limits = Limits(states=60, keep_going=True)
    first, second = explore_reference(machine, limits), explore_reference(machine, limits)
    assert first.findings == second.findings
    assert (first.levels, first.generated, first.rows) == (
        second.levels,
        second.generated,
        second.rows,
    )


@given(machines(errors=False))
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_machines_without_errors_have_none(machine: Machine) -> None:
    found = explore_reference(machine, Limits(states=60, keep_going=True))
    assert found.stopped_by in (None, "states")
    assert not [finding for finding in found.findings if finding.kind == "error"]


def test_random_machines_cover_the_language() -> None:
    seen = Counter(type(part) for seed in range(300) for part in parts(seeded_machine(seed)))
    kinds = {*Term.__args__, *terms.Statement.__args__, *types.Type.__args__}
    # Whether another machine leads somewhere: tests/search/refining_machines.py draws these.
    for kind in kinds - {terms.Leads}:
        assert seen[kind] > 0, kind


def test_random_machines_reach_errors_and_many_states() -> None:
    limits = Limits(states=100, keep_going=True)
    found = [explore_reference(seeded_machine(seed), limits) for seed in range(80)]
    assert sum(run.stopped_by == "evaluation_error" for run in found) > 5
    assert sum(run.distinct > 20 for run in found) > 5
    assert sum(run.cuts > 0 for run in found) > 5
    assert {finding.kind for run in found for finding in run.findings} == {
        "always",
        "sometimes",
        "step",
        "legal",
        "deadlock",
        "error",
    }
