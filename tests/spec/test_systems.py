"""Goal: a system says what is true of it - each instance as declared, nothing idle, nothing void.

One test over the systems that have no file of their own; instances of tier quick only.
"""

from __future__ import annotations

from functools import cache

import pytest

from checker.flow import Request, Silent, check
from checker.library import find
from checker.report.result import Result
from checker.table import read
from checker.table.document import Document
from checker.verdict.expectation import differences

SYSTEMS = ("delayed_operation",)
CAN_FAIL = {"always", "step", "eventually", "leads_to"}


@cache
def document(system: str) -> Document:
    return read(find(system))


@cache
def run(system: str, instance: str) -> Result:
    return check(Request(str(find(system)), instance, workers=1), Silent())


def quick(system: str) -> list[str]:
    return [entry.name.text for entry in document(system).instances if entry.tier == "quick"]


CASES = [(system, instance) for system in SYSTEMS for instance in quick(system)]


@pytest.mark.parametrize(("system", "instance"), CASES)
def test_an_instance_is_as_declared(system: str, instance: str) -> None:
    result = run(system, instance)
    expectation = result.machine.expectation
    assert expectation is not None
    assert expectation.distinct is not None
    assert expectation.depth is not None
    assert not differences(expectation, result.verdict, result.exploration)


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_property_is_shown_to_fail(system: str) -> None:
    declared = {entry.name.text for entry in document(system).properties}
    outcomes = [item for name in quick(system) for item in run(system, name).verdict.properties]
    kinds = {item.name: item.kind for item in outcomes}
    broken = {item.name for item in outcomes if item.outcome == "violated"}
    can_fail = {name for name in declared if kinds.get(name) in CAN_FAIL}
    assert can_fail - broken == set()
    assert declared <= kinds.keys(), "a property that no quick instance has"


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_row_fires(system: str) -> None:
    rows = {entry.name.text for entry in document(system).rows}
    coverage = [row for name in quick(system) for row in run(system, name).exploration.rows]
    assert rows - {row.row for row in coverage if row.fired} == set()
