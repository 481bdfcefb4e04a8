"""Goal: tables have the codes of renamed values as the reference renames them."""

from itertools import permutations

import pytest

from checker.layout.shape import shape_of
from checker.machine.types import Bool, Id, Map, Option, Range, Record, Sequence, Set, Type, Union
from checker.semantics.symmetry import permute
from checker.semantics.values import code_of, values
from checker.symmetry import codes
from checker.symmetry.codes import renamed_codes

A = Id("A", ("a1", "a2", "a3"), symmetric=True)
B = Id("B", ("b1", "b2"), symmetric=True)
PLAIN = Id("Plain", ("p1", "p2"), symmetric=False)
JOIN = Record("Join", (("who", Option(A)), ("level", Range(1, 3)), ("all", Set(A))))
ANSWER = Record("Answer", (("flag", Bool()), ("of", PLAIN), ("to", B)))
MESSAGE = Union("Message", (Record("Free", ()), JOIN, ANSWER))
NESTED = Union("Nested", (Record("None", ()), Record("Some", (("message", MESSAGE), ("to", A)))))
KINDS = (A, B, PLAIN, Option(A), Set(A), Set(PLAIN), JOIN, ANSWER, MESSAGE, Option(MESSAGE), NESTED)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_table_says_what_renaming_does(kind: Type) -> None:
    for order in permutations(range(3)):
        for other in permutations(range(2)):
            found = renamed_codes(shape_of(kind), {"A": order, "B": other})
            names: dict[str, dict[object, object]] = {
                each.name: {each.members[old]: each.members[new] for old, new in enumerate(place)}
                for each, place in ((A, order), (B, other))
            }
            assert found is not None
            for value in values(kind):
                assert found[code_of(kind, value)] == code_of(kind, permute(kind, value, names))


def test_ids_of_a_type_that_is_not_renamed_stay() -> None:
    found = renamed_codes(shape_of(MESSAGE), {"B": (1, 0)})
    assert found is not None
    assert sum(old != new for old, new in enumerate(found)) == shape_of(ANSWER).cardinality


def test_what_has_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    order = {"A": (1, 0, 2)}
    pairs = Set(Record("Pair", (("a", A), ("p", PLAIN))))
    rows = Union("U", (Record("V", (("row", Sequence(A, 2)),)),))
    for kind in (pairs, Map(A, Bool(), total=True), rows):
        assert renamed_codes(shape_of(kind), order) is None
    monkeypatch.setattr(codes, "VALUES_MAX", 10)
    assert renamed_codes(shape_of(MESSAGE), order) is None
