"""Goal: values of `frozen` classes compare, hash, show and copy as those of dataclasses do."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from checker.frozen import frozen


@frozen()
class Point:
    """Two numbers, one of them by default, and a note that does not tell points apart."""

    x: int
    y: int = 2
    note: list[str] = field(default_factory=list, repr=False, compare=False)


@frozen()
class Single:
    x: int


@frozen()
class Empty:
    pass


@frozen()
class Named(Point):
    name: str = ""

    def __repr__(self) -> str:
        return f"Named({self.name})"


@frozen(eq=False, slots=False)
class Node:
    x: int


@frozen()
class Odd:
    x: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd) and (self.x - other.x) % 2 == 0

    def __hash__(self) -> int:
        return self.x % 2


@frozen()
class Loose:  # noqa: PLW1641 (that it has a hash all the same is tested)
    x: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loose)


@dataclass(frozen=True, slots=True)
class Plain:
    x: int
    y: int = 2


def test_values_are_equal_by_their_class_and_their_compared_fields() -> None:
    assert Point(1) == Point(1, 2, ["seen"])
    assert Point(1) != Point(1, 3)
    assert Point(1) != Plain(1)
    assert Point(1) != Named(1)
    assert Empty() == Empty() != Single(1)
    assert len({Point(1), Point(1, 2), Point(2), Single(1), Empty(), Empty()}) == 4


def test_without_eq_a_value_is_equal_to_itself_only() -> None:
    node, other = Node(1), Node(1)
    assert [node] == [node] != [other]
    assert len({node, other}) == 2


def test_methods_of_a_class_stay() -> None:
    assert Odd(1) == Odd(3) != Odd(2)
    assert hash(Odd(3)) == 1
    assert repr(Named(1, name="here")) == "Named(here)"
    assert Loose(1) == Loose(2)
    assert hash(Loose(1)) == hash(Loose(1))


def test_a_value_is_shown_as_the_call_that_makes_it() -> None:
    assert repr(Point(1, note=["seen"])) == "Point(x=1, y=2)"
    assert repr(Plain(1)).replace("Plain", "Point") == repr(Point(1))
    assert repr(Empty()) == "Empty()"


def test_values_are_replaced_copied_and_pickled_as_those_of_dataclasses() -> None:
    point = Point(1, note=["seen"])
    assert replace(point, y=5) == Point(1, 5)
    assert [it.name for it in fields(point)] == ["x", "y", "note"]
    kept = pickle.loads(pickle.dumps((point, Node(7))))  # noqa: S301 (written a moment before)
    assert kept[1].x == 7
    for same in (copy.copy(point), copy.deepcopy(point), kept[0]):
        assert same == point
        assert same.note == ["seen"]


def test_slots_hold_the_fields_only() -> None:
    with pytest.raises(AttributeError):
        Point(1).z = 3
    node = Node(1)
    vars(node)["kept"] = 3
    assert node.kept == 3


def test_limit_assignment_is_refused_by_types_not_while_running() -> None:
    with pytest.raises(FrozenInstanceError):
        Plain(1).x = 3
    point = Point(1)
    point.x = 3
    assert point.x == 3
