"""Goal: renaming reaches ids however deep they stand, and an orbit has one representative."""

from dataclasses import replace

import pytest
from machines import TRUE, machine, prop, variable

from checker.machine.machine import Machine
from checker.machine.types import Bag, Id, Map, Option, Range, Record, Sequence, Set, Type, Union
from checker.semantics.symmetry import (
    orbit,
    permute,
    permute_state,
    reduces,
    renamings,
    representative,
    symmetric_ids,
)
from checker.semantics.values import MapValue, RecordValue, values

A = Id("A", ("a1", "a2", "a3"), symmetric=True)
B = Id("B", ("b1", "b2"), symmetric=True)
FIXED = Id("Fixed", ("f1", "f2"), symmetric=False)
ASK = Record("Ask", (("who", A), ("of", Option(B))))
SWAP = {"A": {"a1": "a2", "a2": "a1", "a3": "a3"}, "B": {"b1": "b2", "b2": "b1"}}


def ask(who: str, of: str | None) -> RecordValue:
    return RecordValue("Ask", (("who", who), ("of", of)))


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        (A, "a1", "a2"),
        (FIXED, "f1", "f1"),
        (Range(0, 3), 2, 2),
        (Option(A), None, None),
        (Option(A), "a2", "a1"),
        (Set(A), frozenset({"a1", "a3"}), frozenset({"a2", "a3"})),
        (Map(A, B, total=False), MapValue({"a1": "b1"}), MapValue({"a2": "b2"})),
        (Sequence(A, 3), ("a1", "a3", "a1"), ("a2", "a3", "a2")),
        (Bag(A, 3), ("a1", "a1", "a2"), ("a1", "a2", "a2")),
        (ASK, ask("a1", "b2"), ask("a2", "b1")),
        (Union("M", (ASK,)), ask("a3", None), ask("a3", None)),
        (Set(ASK), frozenset({ask("a1", None)}), frozenset({ask("a2", None)})),
    ],
    ids=lambda value: str(value) if isinstance(value, Type) else "",
)
def test_every_id_is_renamed(kind: Type, before: object, after: object) -> None:
    assert permute(kind, before, SWAP) == after


def test_the_keys_of_a_renamed_map_are_in_order() -> None:
    kind = Map(A, Range(0, 2), total=True)
    renamed = permute(kind, MapValue({"a1": 0, "a2": 1, "a3": 2}), SWAP)
    assert list(renamed.items()) == [("a1", 1), ("a2", 0), ("a3", 2)]


def holder(*kinds: Type) -> Machine:
    held = [variable(f"v{n}", kind, next(values(kind))) for n, kind in enumerate(kinds)]
    return replace(machine("holder", held, [], ids=(A, B, FIXED)), symmetry=True)


def test_an_orbit_and_its_representative() -> None:
    made = holder(Set(A), Option(B))
    state = (frozenset({"a3"}), "b2")
    assert len(list(renamings(made))) == 12
    assert len(orbit(made, state)) == 6
    assert representative(made, state) == (frozenset({"a1"}), "b1")
    assert {representative(made, same) for same in orbit(made, state)} == {
        representative(made, state)
    }
    assert permute_state(made, state, next(iter(renamings(made)))) == state


def test_the_representatives_of_all_sets_are_as_many_as_their_sizes() -> None:
    made = holder(Set(A))
    assert len({representative(made, (held,)) for held in values(Set(A))}) == 4


def test_what_is_reduced() -> None:
    made = holder(Set(A))
    assert symmetric_ids(made) == (A, B)
    assert reduces(made)
    assert not reduces(replace(made, symmetry=False))
    assert not reduces(replace(made, ids=(FIXED, Id("One", ("o1",), symmetric=True))))
    assert not reduces(replace(made, properties=(prop("ends", "eventually", TRUE),)))
