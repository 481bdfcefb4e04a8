"""Goal: every form of the type grammar binds as the language says, and errors point at the word."""

import pytest

from checker.source import Source
from checker.table.document import (
    TypeEnum,
    TypeMap,
    TypeName,
    TypeNode,
    TypeOf,
    TypeRange,
    TypeUnion,
)
from checker.table.passage import Passage
from checker.table.problems import Problems
from checker.table.type_cells import looks_like_type, parse_type


def parse(text: str) -> tuple[TypeNode | None, Problems]:
    problems = Problems()
    passage = Passage(Source("t.yaml", text), text, ((1, 1),))
    return parse_type(passage, problems, enum=True), problems


def shape(node: TypeNode | None) -> str:
    """Return a type with all its parentheses."""
    match node:
        case TypeName(name=name):
            return name
        case TypeRange(low=low, high=high):
            return f"[{low.text}..{high.text}]"
        case TypeEnum(members=members):
            return "{" + ",".join(member.text for member in members) + "}"
        case TypeUnion(names=names):
            return "|".join(name.text for name in names)
        case TypeOf(kind=kind, item=item, capacity=capacity):
            return f"{kind}({shape(item)}{',' + capacity.text if capacity else ''})"
        case TypeMap(key=key, value=value, total=total):
            return f"{'total' if total else 'map'}({shape(key)},{shape(value)})"
    raise AssertionError(node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bool", "bool"),
        ("0..3", "[0..3]"),
        ("-1 .. max(1, n) + 1", "[-1..max(1, n) + 1]"),
        ("(n + 1)..len({a, b})", "[(n + 1)..len({a, b})]"),
        ("one of up, of_all, to", "{up,of_all,to}"),
        ("optional (Join or Sync)", "optional(Join|Sync)"),
        ("optional Join or Sync", "optional(Join|Sync)"),
        ("set of set of A", "set(set(A))"),
        ("map of K to optional set of V", "map(K,optional(set(V)))"),
        ("map of 0..2 to 0..n - 1", "map([0..2],[0..n - 1])"),
        ("total map of map of A to B to C", "total(map(A,B),C)"),
        ("sequence of optional A up to n + 1", "sequence(optional(A),n + 1)"),
        ("sequence of bag of 0..1 up to 2 up to 3", "sequence(bag([0..1],2),3)"),
        ("map of sequence of A up to max(2, n) to B", "map(sequence(A,max(2, n)),B)"),
        ("handle of calls", "handle(calls)"),
        ("(((A)))", "A"),
        ("(0..3)", "[0..3]"),
    ],
)
def test_forms(text: str, expected: str) -> None:
    node, problems = parse(text)
    assert problems.found == []
    assert shape(node) == expected


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("set A", "T130", 5),
        ("set of", "T130", 7),
        ("set of A B", "T130", 10),
        ("map of A", "T130", 9),
        ("bag of A", "T130", 9),
        ("sequence of A up to", "T130", 20),
        ("0..", "T130", 4),
        ("..3", "T130", 1),
        ("1", "T130", 1),
        ("set of one of a", "T130", 8),
        ("one of", "T130", 7),
        ("one of a, a", "T118", 11),
        ("(A", "T130", 3),
        ("A)", "T130", 2),
        ("_A", "T130", 1),
        ("0..x.__class__", "T123", 4),
        ("0..'a'", "T121", 4),
        ("handle of set of A", "T130", 18),
        ("(" * 100 + "A" + ")" * 100, "T130", 61),
        ("optional " * 100 + "A", "T130", 541),
    ],
)
def test_errors_point_at_the_word(text: str, code: str, column: int) -> None:
    _, problems = parse(text)
    assert [(error.code, error.span.column) for error in problems.found] == [(code, column)]


def test_misspelt_words_are_recognised() -> None:
    _, problems = parse("optinal A")
    assert problems.found[0].help == "did you mean `optional`?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Room", True),
        ("0..3", True),
        ("set of Room", True),
        ("{x for x in Room}", False),
        ("rooms[p]", False),
        ("set", True),
        ("a | b", False),
        ("range(3)", False),
        ("optional (set of Room)", True),
        ("Told or Asked", True),
        ("(Told or Asked)", True),
        ("(optional Room)", True),
        ("(rooms | halls)", False),
        ("(", False),
        ("", False),
    ],
)
def test_bindings_that_are_types(text: str, expected: bool) -> None:
    assert looks_like_type(text) is expected
