"""Goal: protocols written from docs/language.md alone have the counts that others published.

Each model was written as a first user writes one: the language's page open, the code closed.
Counts of `default` are those that TLC printed for the same algorithm in the public TLA+ examples;
those of the key-value store and of the `small` instances come from other breadth-first searches.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.flow import Request, Silent, check
from checker.report.result import Result

MODELS = Path(__file__).parent / "models"

PUBLISHED = {
    "chang_roberts": (137, 227, 9),
    "elevator": (4_122, 14_296, 35),
    "key_value_store": (28_305, 314_965, 16),
    "paxos": (3_921, None, 16),
    "tcp": (1_182, None, 13),
}
"""Distinct states, generated states and depth of the instance `default`.

None where TLC counts more steps between the same states: one for each message that justifies a
proposal of Paxos, and those that an action constraint forbids afterwards.
"""

SMALL = {
    ("chang_roberts", "default"),
    ("tcp", "default"),
    ("lamport_mutex", "small"),
    ("paxos", "small"),
    ("elevator", "default"),
}
"""Instances that the reference interpreter explores in some seconds."""

SLOWER = {("key_value_store", "small")}


def run(model: str, instance: str, engine: str) -> Result:
    """Check one instance of a model, on one thread: of several, any may find a state first."""
    request = Request(str(MODELS / f"{model}.yaml"), instance, engine=engine, workers=1)
    return check(request, Silent())


def figures(result: Result) -> tuple[object, ...]:
    """Everything about a search that must not depend on the engine."""
    found = result.exploration
    rows = tuple((row.enabled, row.fired, row.new) for row in found.rows)
    outcomes = tuple((item.name, item.outcome) for item in result.verdict.properties)
    return (found.distinct, found.generated, found.levels, found.cuts, rows, outcomes)


def test_every_model_is_held_to_a_count() -> None:
    names = {path.stem for path in MODELS.glob("*.yaml")}
    assert names == {*PUBLISHED, "lamport_mutex"}


@pytest.mark.parametrize("model", sorted(PUBLISHED))
def test_default_has_the_published_counts(model: str) -> None:
    distinct, generated, depth = PUBLISHED[model]
    found = run(model, "default", "local").exploration
    assert (found.distinct, found.depth) == (distinct, depth)
    assert generated in (None, found.generated)
    assert found.exhaustive


@pytest.mark.slow
def test_a_larger_model_has_the_published_counts() -> None:
    found = run("lamport_mutex", "default", "local").exploration
    assert (found.distinct, found.generated, found.depth) == (724_274, 2_729_079, 60)


@pytest.mark.parametrize(("model", "instance"), sorted(SMALL))
def test_both_engines_agree(model: str, instance: str) -> None:
    assert figures(run(model, instance, "reference")) == figures(run(model, instance, "local"))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "instance"), sorted(SLOWER))
def test_both_engines_agree_on_more_states(model: str, instance: str) -> None:
    assert figures(run(model, instance, "reference")) == figures(run(model, instance, "local"))
