"""Goal: a system says what is true of it - each instance as declared, nothing idle, nothing void.

One test over the systems that have no file of their own; instances of tier quick only.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from checker.flow import Request, Silent, check
from checker.library import find
from checker.report.result import Result
from checker.table import read
from checker.table.document import Document
from checker.verdict.expectation import differences

SYSTEMS = ("delayed_operation", "replication")
CAN_FAIL = {"always", "step", "eventually", "leads_to"}


@dataclass(frozen=True)
class Mistake:
    """A text of a system's file replaced by another one, and the instance that notices."""

    file: str
    old: str
    new: str
    instance: str = "default"


MISTAKES = {
    ("replication", "high_watermark_is_in_the_log"): Mistake(
        "declarations.yaml",
        "replica[f].high_watermark = min(replica[f].high_watermark, end)",
        "replica[f].high_watermark = replica[f].high_watermark",
        "power_failure",
    ),
    ("replication", "a_leader_never_takes_back"): Mistake(
        "declarations.yaml",
        "if end > replica[b].high_watermark:",
        "if end != replica[b].high_watermark:",
        "kip_320_first_attempt",
    ),
    ("replication", "only_the_leader_is_the_isr"): Mistake(
        "controller.yaml",
        "decide(none if quorum.leader == b else quorum.leader,",
        "decide(quorum.leader,",
    ),
}
"""Properties that hold in every variant, each with a mistake that breaks it."""


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
    assert can_fail - broken == {name for other, name in MISTAKES if other == system}
    assert declared <= kinds.keys(), "a property that no quick instance has"


@pytest.mark.parametrize(("system", "name"), MISTAKES)
def test_a_mistake_is_noticed(system: str, name: str, tmp_path: Path) -> None:
    mistake = MISTAKES[system, name]
    folder = tmp_path / system
    shutil.copytree(find(system).parent, folder)
    file = folder / mistake.file
    text = file.read_text()
    assert text.count(mistake.old) == 1
    file.write_text(text.replace(mistake.old, mistake.new))
    request = Request(str(folder), mistake.instance, workers=1, properties=(name,))
    outcomes = {item.name: item.outcome for item in check(request, Silent()).verdict.properties}
    assert outcomes[name] == "violated"


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_row_fires(system: str) -> None:
    rows = {entry.name.text for entry in document(system).rows}
    coverage = [row for name in quick(system) for row in run(system, name).exploration.rows]
    assert rows - {row.row for row in coverage if row.fired} == set()
