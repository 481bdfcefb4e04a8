"""Goal: a system says what is true of it - each instance as declared, nothing idle, nothing void.

Instances of tier quick only; what `checker verify` has found already is not searched again.
"""

from __future__ import annotations

import re

import pytest
from verified import SYSTEMS, document, mistakes_of, outcome, quick

from checker.mutation.abilities import abilities
from checker.verdict import exits

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
    """By an instance that is declared to break it, or by a mistake; test_mistakes judges these."""
    judged = {
        name.split("(")[0] for each in quick(system) for name in outcome(system, each).properties
    }
    properties = {entry.name.text for entry in document(system).properties}
    assert properties <= judged, "a property that no quick instance has"
    not_declared = {item.property for item in abilities(document(system), ()) if not item.instance}
    assert not_declared == {item.property.text for item in mistakes_of(system)}


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
    """Its own rows; those of a system that it uses fire there."""
    own = document(system)
    rows = {entry.name.text for entry in own.rows if own.is_own(entry.name.span)}
    fired = {
        row
        for instance in quick(system)
        for row, times in outcome(system, instance).rows.items()
        if times
    }
    assert rows - fired == set()
