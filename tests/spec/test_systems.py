"""Goal: a system says what is true of it - each instance as declared, nothing idle, nothing void.

Instances of tier quick only; what `checker verify` has found already is not searched again.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from classic_group_mistakes import CLASSIC_GROUP_MISTAKES, CLASSIC_GROUP_WOVEN
from consumer_mistakes import CONSUMER_MISTAKES, CONSUMER_SYSTEMS
from controller_mistakes import CONTROLLER_MISTAKES, CONTROLLER_SYSTEMS
from coordinator_mistakes import COORDINATOR_MISTAKES
from replication_mistakes import REPLICATION_MISTAKES, REPLICATION_SYSTEMS
from share_mistakes import SHARE_MISTAKES, SHARE_SYSTEMS, SHARE_WOVEN
from verified import document, outcome, quick

from checker.flow import Request, Silent, check
from checker.library import find
from checker.mutation.subject import Subject
from checker.mutation.weaving import weave
from checker.source import NOWHERE
from checker.table.document import Word
from checker.verdict import exits

SYSTEMS = (
    *CONSUMER_SYSTEMS,
    *CONTROLLER_SYSTEMS,
    "classic_group",
    "coordinator_failover",
    "coordinator_runtime",
    "delayed_operation",
    "offset_commit",
    "replication",
    *REPLICATION_SYSTEMS,
    *SHARE_SYSTEMS,
)

CAN_FAIL = {"always", "step", "eventually", "leads_to", "eventually_always"}


@dataclass(frozen=True)
class Mistake:
    """A text of a system's file replaced by another one, and the instance that notices."""

    file: str
    old: str
    new: str
    instance: str = "default"


MISTAKES = {
    ("coordinator_failover", "epochs_never_fall"): Mistake(
        "leadership.yaml",
        "when: epoch > broker[b].epoch and leader == b",
        "when: leader == b",
    ),
    ("coordinator_failover", "the_leader_has_a_coordinator_in_the_end"): Mistake(
        "tasks.yaml",
        "if broker[b].phase == ABSENT:",
        "if broker[b].phase == ACTIVE:",
        "progress",
    ),
    ("coordinator_runtime", "offsets_are_in_order"): Mistake(
        "events.yaml",
        "h >= context.committed and h <= context.written",
        "h >= context.committed",
        "kafka_20634",
    ),
    ("coordinator_runtime", "committed_never_falls"): Mistake(
        "events.yaml",
        "              context.committed = h\n",
        "              context.committed = 0 if h > 1 else h\n",
    ),
    ("coordinator_runtime", "an_answer_is_given_once"): Mistake(
        "procedures.yaml",
        "if operation[o].told == PENDING:\n        operation[o].told = t",
        "if operation[o].answers < 2:\n        operation[o].told = t",
        "timeouts",
    ),
    ("coordinator_runtime", "a_leader_gets_a_coordinator"): Mistake(
        "events.yaml",
        "context.state == INITIAL or context.state == FAILED",
        "context.state == FAILED",
        "progress",
    ),
}
MISTAKES |= {key: Mistake(*parts) for key, parts in CLASSIC_GROUP_MISTAKES.items()}
MISTAKES |= {key: Mistake(*parts) for key, parts in CONSUMER_MISTAKES.items()}
MISTAKES |= {key: Mistake(*parts) for key, parts in CONTROLLER_MISTAKES.items()}
MISTAKES |= {key: Mistake(*parts) for key, parts in COORDINATOR_MISTAKES.items()}
MISTAKES |= {key: Mistake(*parts) for key, parts in REPLICATION_MISTAKES.items()}
MISTAKES |= {key: Mistake(*parts) for key, parts in SHARE_MISTAKES.items()}
"""Properties that hold in every variant, each with a mistake that breaks it."""

WOVEN = {("classic_group", instance): found for instance, found in CLASSIC_GROUP_WOVEN.items()}
WOVEN |= SHARE_WOVEN
"""The same for mutants that are woven into one machine an instance."""

CASES = [(system, instance) for system in SYSTEMS for instance in quick(system)]

MENDS = re.compile("_(fixed|mended)$")
"""What an instance is called that differs from a bug, or a finding, by what mends it."""

TOGETHER = {("classic_consumer", "kafka_12984_fixed"), ("classic_consumer", "kafka_13715_fixed")}
"""Mended by constants that Kafka changed together."""

MENDED = [
    (system, entry.name.text)
    for system in SYSTEMS
    for entry in document(system).instances
    if MENDS.search(entry.name.text) and (system, entry.name.text) not in TOGETHER
]


@pytest.mark.parametrize(("system", "instance"), CASES)
def test_an_instance_is_as_declared(system: str, instance: str) -> None:
    found = outcome(system, instance)
    assert found.error is None
    assert found.failure is None
    assert found.exit_code == exits.HOLDS


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_instance_declares_its_figures(system: str) -> None:
    for entry in document(system).instances:
        if entry.tier == "quick":
            assert entry.expect is not None, entry.name.text
            assert entry.expect.distinct is not None, entry.name.text
            assert entry.expect.depth is not None, entry.name.text
            assert entry.expect.generated is not None, entry.name.text


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_property_is_shown_to_fail(system: str) -> None:
    kinds = {entry.name.text: entry.kind for entry in document(system).properties}
    judged = [
        (name.split("(")[0], verdict)
        for instance in quick(system)
        for name, verdict in outcome(system, instance).properties.items()
    ]
    broken = {name for name, verdict in judged if verdict == "violated"}
    can_fail = {name for name, kind in kinds.items() if kind in CAN_FAIL}
    mistaken = {name for other, name in MISTAKES if other == system}
    mistaken |= {name for (other, _), found in WOVEN.items() if other == system for name in found}
    assert can_fail - broken == mistaken
    assert kinds.keys() <= {name for name, _ in judged}, "a property that no quick instance has"


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
    outcomes = check(request, Silent()).verdict.properties
    assert "violated" in {item.outcome for item in outcomes if item.name.split("(")[0] == name}


@pytest.mark.parametrize(("system", "instance"), WOVEN)
def test_woven_mistakes_are_noticed(system: str, instance: str) -> None:
    """Only these properties are judged, and each is broken by its mutant."""
    wanted = WOVEN[system, instance]
    asked = tuple(Word(name, NOWHERE) for name in wanted)
    entries = tuple(
        replace(entry, properties=asked, expect=None) if entry.name.text == instance else entry
        for entry in document(system).instances
    )
    only = replace(document(system), instances=entries)
    found = Subject(weave(only, set(wanted.values()), instance), instance).sights()
    broken = {
        mutant.key: {name.split("(")[0] for name in sight.by} for mutant, sight in found.items()
    }
    assert {name for name, key in wanted.items() if name not in broken.get(key, ())} == set()


@pytest.mark.parametrize(("system", "mended"), MENDED)
def test_what_mends_is_one_constant(system: str, mended: str) -> None:
    """A bug, or a finding, is the value of one constant and nothing else."""
    entries = {entry.name.text: entry for entry in document(system).instances}
    before, after = (
        {name.text: value for name, value, _ in entries[name].settings}
        for name in (MENDS.sub("", mended), mended)
    )
    changed = {key for key in before | after if before.get(key) != after.get(key)}
    assert len(changed) == 1
    assert changed <= {constant.name.text for constant in document(system).constants}


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_row_fires(system: str) -> None:
    rows = {entry.name.text for entry in document(system).rows}
    fired = {
        row
        for instance in quick(system)
        for row, times in outcome(system, instance).rows.items()
        if times
    }
    assert rows - fired == set()
