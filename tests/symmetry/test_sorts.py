"""Goal: values that renaming ids turns into each other are of one sort, and few others are."""

import pytest

from checker.layout.shape import shape_of
from checker.machine.types import Bool, Id, Map, Option, Range, Record, Sequence, Set, Type, Union
from checker.semantics.symmetry import permute
from checker.semantics.values import code_of, values
from checker.symmetry import sorts
from checker.symmetry.sorts import sorts_of

A = Id("A", ("a1", "a2", "a3"), symmetric=True)
PLAIN = Id("Plain", ("p1", "p2"), symmetric=False)
JOIN = Record("Join", (("who", Option(A)), ("level", Range(1, 3)), ("all", Set(A))))
ANSWER = Record("Answer", (("flag", Bool()), ("of", PLAIN)))
MESSAGE = Union("Message", (Record("Free", ()), JOIN, ANSWER))
NESTED = Union("Nested", (Record("None", ()), Record("Some", (("message", MESSAGE), ("to", A)))))
NAMES = frozenset({"A"})


def table(kind: Type) -> list[int]:
    found = sorts_of(shape_of(kind), NAMES)
    assert found is not None
    return found


@pytest.mark.parametrize("kind", [A, Option(A), Set(A), JOIN, MESSAGE, NESTED, PLAIN, Set(PLAIN)])
def test_renamed_values_are_of_one_sort(kind: Type) -> None:
    found = table(kind)
    for one, two in (("a1", "a2"), ("a2", "a3")):
        names: dict[object, object] = {name: name for name in A.members}
        swap = {"A": {**names, one: two, two: one}}
        for value in values(kind):
            renamed = permute(kind, value, swap)
            assert found[code_of(kind, value)] == found[code_of(kind, renamed)]


@pytest.mark.parametrize(
    ("kind", "count"),
    [(A, 1), (Option(A), 2), (Set(A), 4), (JOIN, 24), (MESSAGE, 29), (NESTED, 30), (PLAIN, 2)],
)
def test_other_values_are_of_another(kind: Type, count: int) -> None:
    found = table(kind)
    assert len(found) == shape_of(kind).cardinality
    assert set(found) == set(range(count))


def test_what_has_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Set(Record("Pair", (("a", A), ("p", PLAIN)))), Map(A, Bool(), total=True)):
        assert sorts_of(shape_of(kind), NAMES) is None
    assert sorts_of(shape_of(Union("U", (Record("V", (("row", Sequence(A, 2)),)),))), NAMES) is None
    monkeypatch.setattr(sorts, "VALUES_MAX", 10)
    assert sorts_of(shape_of(MESSAGE), NAMES) is None
