"""Goal: each bug of the classic group differs from its fixed form by its variant alone.

The reference interpreter runs the small instances here; `checker verify` holds all of them to what
they declare.
"""

from __future__ import annotations

import pytest

from checker.elaborate.elaborate import elaborate
from checker.flow import Request, Silent, check
from checker.library import find
from checker.table import read
from checker.table.document import InstanceEntry

DOCUMENT = read(find("classic_group"))
INSTANCES = {instance.name.text: instance for instance in DOCUMENT.instances}
BUGS = sorted(name for name in INSTANCES if f"{name}_fixed" in INSTANCES)
SMALL = [
    ("kafka_7824", 5),
    ("kafka_7610", 3),
    ("kafka_9752", 6),
    ("kafka_9801", 10),
    ("kafka_9823", 17),
    ("kafka_13214", 11),
    ("kafka_10870", 12),
    ("kafka_13435", 14),
    ("kafka_10134", 8),
]
"""Bugs of one client, and the steps of the shortest way to them."""


def settings(instance: InstanceEntry) -> dict[str, object]:
    """Return the constants that an instance sets."""
    return {name.text: value for name, value, _ in instance.settings}


def test_there_are_enough_bugs() -> None:
    """Twenty of the historical bugs or more, and no fixed form without its bug."""
    assert len(BUGS) >= 20
    fixed = {name for name in INSTANCES if name.endswith("_fixed")}
    assert fixed == {f"{name}_fixed" for name in BUGS}


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_is_its_variant_and_nothing_else(name: str) -> None:
    """The fixed form sets the same constants, but for one that is a variant of the system."""
    broken, fixed = settings(INSTANCES[name]), settings(INSTANCES[f"{name}_fixed"])
    changed = set(broken.items()) - set(fixed.items())
    assert len(changed) == 1
    assert set(fixed.items()) - set(broken.items()) <= {("MemberId", 3)}


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_declares_its_violation(name: str) -> None:
    """It names the property that breaks and how soon; its fixed form holds to the full."""
    broken, fixed = INSTANCES[name].expect, INSTANCES[f"{name}_fixed"].expect
    assert broken is not None
    assert broken.verdict == "violated"
    assert broken.property is not None
    assert broken.length is not None
    assert fixed is not None
    assert (fixed.verdict, fixed.distinct is None, fixed.depth is None) == ("holds", False, False)


@pytest.mark.parametrize(("name", "length"), SMALL)
def test_the_interpreter_shows_the_bug(name: str, length: int) -> None:
    """The shortest counterexample of the property is as long as it should be."""
    result = check(Request("classic_group", name, engine="reference"), Silent())
    expect = INSTANCES[name].expect
    assert expect is not None
    assert expect.property is not None
    assert [(broken.name, broken.length) for broken in result.verdict.broken] == [
        (expect.property.text, length)
    ]


@pytest.mark.parametrize("name", ["tiny", "kafka_7824_fixed", "kafka_9823_fixed"])
def test_the_interpreter_finds_the_fix_good(name: str) -> None:
    """Nothing breaks in the fixed forms, and what must be reachable is."""
    result = check(Request("classic_group", name, engine="reference"), Silent())
    assert result.verdict.overall == "holds"


def test_what_mends_a_finding_is_one_value() -> None:
    """A finding and its mended form differ by one constant, and the newest value breaks."""
    mended = [name for name in INSTANCES if name.endswith("_mended")]
    assert len(mended) >= 6
    for name in mended:
        broken, holds = settings(INSTANCES[name.removesuffix("_mended")]), settings(INSTANCES[name])
        changed = {key for key in broken | holds if broken.get(key) != holds.get(key)}
        assert len(changed) == 1
        assert changed <= {constant.name.text for constant in DOCUMENT.constants}


def test_every_row_exists_somewhere() -> None:
    """Every row is in some instance: no switch leaves one out everywhere."""
    machines = [elaborate(DOCUMENT, name, {}) for name in INSTANCES]
    seen = {action.name for machine in machines for action in machine.actions}
    assert seen >= {row.name.text for row in DOCUMENT.rows}
