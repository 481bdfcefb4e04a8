"""Goal: `canonical` gives all states of an orbit one and the same state of that orbit.

The states are random, of random types in which ids of symmetric types stand at any depth; and some
by hand whose ids only a search can tell apart.
"""

import ctypes
import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from machines import action, assign, machine, place, read, variable
from symmetric_types import LEVEL, PLAIN, A, B, random_type, sample

from checker.errors import SpecificationError
from checker.kernel import Kernel, build
from checker.layout import Layout, decode_all, encode_all, pack
from checker.llvm.meta import NUMBER
from checker.machine.machine import Machine
from checker.machine.types import (
    Bool,
    Id,
    Map,
    Option,
    Record,
    Sequence,
    Set,
    Type,
    Union,
    cardinality,
)
from checker.semantics.successor import State
from checker.semantics.symmetry import orbit, permute_state, renamings, representative
from checker.semantics.values import MapValue, RecordValue, map_value, values

MANY = 60
"""Random types, and states of each."""


def holder(*kinds: Type, ids: tuple[Id, ...] = (A, B, PLAIN)) -> tuple[Machine, Layout, Kernel]:
    """A machine with variables of these types, any of which it writes, its layout and kernel."""
    choose = random.Random(0)  # noqa: S311
    held = [variable(f"v{n}", kind, sample(choose, kind)) for n, kind in enumerate(kinds)]
    same = [assign(place(item.name, item.type), read(item.name, item.type)) for item in held]
    made = replace(machine("holder", held, [action("stay", *same)], ids=ids), symmetry=True)
    layout = pack(made)
    return made, layout, build(made, layout, use_cache=False)


def canonical(layout: Layout, kernel: Kernel, states: list[State]) -> list[State]:
    packed = np.ascontiguousarray(encode_all(layout, states))
    word = ctypes.c_int64
    call = ctypes.CFUNCTYPE(word, *[word] * 3)(kernel.canonical_address)
    meta = np.zeros(len(states), np.int64)
    assert call(packed.ctypes.data, len(states), meta.ctypes.data) == len(states)
    return decode_all(layout, packed)


def check_numbers(layout: Layout, kernel: Kernel, states: list[State]) -> None:
    """Hold `canonical` to forgetting the numbers of those states that it renames, and no others."""
    packed = np.ascontiguousarray(encode_all(layout, states))
    before = packed.copy()
    meta = np.full(len(states), 5 << NUMBER | 3, np.int64)
    word = ctypes.c_int64
    call = ctypes.CFUNCTYPE(word, *[word] * 3)(kernel.canonical_address)
    call(packed.ctypes.data, len(states), meta.ctypes.data)
    stayed = (packed == before).all(axis=1)
    assert meta.tolist() == [5 << NUMBER | 3 if same else 3 for same in stayed]


def check_orbit(made: Machine, layout: Layout, kernel: Kernel, state: State) -> int:
    """Hold `canonical` to its promise on the whole orbit of a state; return the orbit's size."""
    same = list(orbit(made, state))
    found = canonical(layout, kernel, same)
    assert found.count(found[0]) == len(found), (state, set(found))
    assert found[0] in same
    check_numbers(layout, kernel, same)
    return len(same)


@pytest.mark.parametrize("seed", [seed for seed in range(MANY) if seed != 17])  # long to compile
def test_an_orbit_has_one_canonical_state_and_it_is_in_the_orbit(seed: int) -> None:
    choose = random.Random(seed)  # noqa: S311
    kinds: list[Type] = []
    while len(kinds) < 1 + seed % 3:
        kind = random_type(choose, 1 + seed % 3)
        if cardinality(kind) <= 1 << 200:
            kinds.append(kind)
    made, layout, kernel = holder(*kinds)
    for _ in range(12):
        check_orbit(made, layout, kernel, tuple(sample(choose, kind) for kind in kinds))


def test_an_id_with_several_cells_that_have_no_ids() -> None:
    """What tells ids apart may be any cell of what belongs to them."""
    two = Record("Two", (("one", LEVEL), ("other", Map(PLAIN, Bool(), total=True))))
    kinds = (
        Map(A, Map(Bool(), LEVEL, total=True), total=True),
        Map(A, two, total=True),
        Map(A, Sequence(LEVEL, 2), total=False),
    )
    choose = random.Random(3)  # noqa: S311
    for kind in kinds:
        made, layout, kernel = holder(kind)
        for _ in range(40):
            check_orbit(made, layout, kernel, (sample(choose, kind),))


def test_that_there_is_something_is_told_of_each_place_by_itself() -> None:
    """Of an optional in a partial map, and of a record in an optional: each is a digit."""
    some, held = Sequence(A, 1), Record("Held", (("queue", Sequence(A, 1)),))
    nothing = RecordValue("Held", (("queue", ()),))
    for kind, values_ in (
        (Map(A, Option(some), total=False), ({"?": None}, {"?": ()}, {})),
        (Map(A, Option(held), total=True), ({"?": None}, {"?": nothing})),
    ):
        made, layout, kernel = holder(kind, Map(A, Bool(), total=True))
        each = list(product(values_, (False, True)))
        for one, other in product(each, repeat=2):
            whose = dict(zip(A.members, (one, one, other), strict=True))
            state = (
                MapValue({name: of[0]["?"] for name, of in whose.items() if of[0]}),
                MapValue({name: of[1] for name, of in whose.items()}),
            )
            check_orbit(made, layout, kernel, state)


def test_ids_that_have_what_is_left_out_are_told_apart_by_it() -> None:
    """Keys that are sets of ids make no facts; and the ids in them are told apart already."""
    kinds = (Map(A, Map(Set(B), Bool(), total=False), total=True), Map(B, LEVEL, total=True))
    made, layout, kernel = holder(*kinds)
    levels = MapValue(dict(zip(B.members, list(values(LEVEL))[:3], strict=True)))
    nothing, held = MapValue({}), MapValue({frozenset({"b1"}): True})
    for whose in product((nothing, held), repeat=3):
        one = MapValue(dict(zip(A.members, whose, strict=True)))
        check_orbit(made, layout, kernel, (one, levels))


def test_what_is_in_a_map_that_is_kept_as_a_number_is_told_where_it_is_there() -> None:
    """Which keys the map in a map has is known of no code by itself."""
    inner = Map(PLAIN, Sequence(A, 1), total=False)
    made, layout, kernel = holder(Map(A, inner, total=False))
    nothing, held = MapValue({}), MapValue({"p2": ()})
    for whose in product((nothing, held), repeat=3):
        state = (MapValue(dict(zip(A.members, whose, strict=True))),)
        check_orbit(made, layout, kernel, state)


def mapped(kind: Map, *held: object) -> MapValue:
    return map_value(kind, dict(zip(values(kind.key), held, strict=True)))


FOUR = Id("Four", ("x1", "x2", "x3", "x4"), symmetric=True)
OTHER = Id("Other", ("z1", "z2", "z3", "z4"), symmetric=True)
SIX = Id("Six", tuple(f"y{number}" for number in range(1, 7)), symmetric=True)


def test_a_ring_and_two_rings_are_told_apart() -> None:
    """Each id points at one and is pointed at by one: colours never tell anything apart."""
    pointers = Map(SIX, SIX, total=True)
    made, layout, kernel = holder(pointers, ids=(SIX,))
    ring = mapped(pointers, "y2", "y3", "y4", "y5", "y6", "y1")
    rings = mapped(pointers, "y2", "y3", "y1", "y5", "y6", "y4")
    pairs = mapped(pointers, "y2", "y1", "y4", "y3", "y6", "y5")
    assert check_orbit(made, layout, kernel, (ring,)) == 120
    assert check_orbit(made, layout, kernel, (rings,)) == 40
    assert check_orbit(made, layout, kernel, (pairs,)) == 15
    assert len(set(canonical(layout, kernel, [(ring,), (rings,), (pairs,)]))) == 3


def test_two_types_that_point_at_each_other() -> None:
    there, back = Map(FOUR, Option(OTHER), total=True), Map(OTHER, Option(FOUR), total=True)
    made, layout, kernel = holder(there, back, ids=(FOUR, OTHER))
    straight = mapped(there, "z1", "z2", "z3", "z4"), mapped(back, "x1", "x2", "x3", "x4")
    crossed = mapped(there, "z1", "z2", "z3", "z4"), mapped(back, "x2", "x1", "x4", "x3")
    turned = mapped(there, "z1", "z2", "z3", "z4"), mapped(back, "x2", "x3", "x4", "x1")
    sizes = [check_orbit(made, layout, kernel, state) for state in (straight, crossed, turned)]
    assert sizes == [24, 72, 144]


def test_sets_of_messages_and_a_leader() -> None:
    vote = Record("Vote", (("by", FOUR), ("to", FOUR)))
    made, layout, kernel = holder(Set(vote), Option(FOUR), Set(FOUR), ids=(FOUR,))
    choose = random.Random(7)  # noqa: S311
    for _ in range(60):
        check_orbit(
            made,
            layout,
            kernel,
            (
                sample(choose, Set(vote)),
                sample(choose, Option(FOUR)),
                sample(choose, Set(FOUR)),
            ),
        )


def test_sets_of_few_values_of_several_kinds() -> None:
    """Each value is known where its bit is looked at, and has the fields of its kind only."""
    two = Id("Two", ("t1", "t2"), symmetric=True)
    ask = Record("Ask", (("of", Map(Bool(), two, total=True)),))
    some = Set(Union("Told", (Record("Tell", (("to", two),)), ask)))
    made, layout, kernel = holder(some, ids=(two,))
    choose = random.Random(8)  # noqa: S311
    for _ in range(20):
        check_orbit(made, layout, kernel, (sample(choose, some),))


def test_all_states_of_a_small_type_have_as_many_representatives_as_orbits() -> None:
    kinds = (Map(A, Option(A), total=True), Set(A))
    made, layout, kernel = holder(*kinds)
    states = [(held, some) for held in values(kinds[0]) for some in values(kinds[1])]
    found = canonical(layout, kernel, states)
    assert len(set(found)) == len({representative(made, state) for state in states})
    assert all(canonical(layout, kernel, [state]) == [state] for state in set(found))


def test_without_symmetry_there_is_nothing_to_do() -> None:
    made, layout, _ = holder(Set(A))
    assert build(replace(made, symmetry=False), layout).canonical_address == 0


def test_too_many_ids_are_refused() -> None:
    crowd = Id("Crowd", tuple(f"c{number}" for number in range(16)), symmetric=True)
    with pytest.raises(SpecificationError) as caught:
        holder(Set(crowd), ids=(crowd,))
    assert [problem.code for problem in caught.value.diagnostics] == ["R611"]


def test_renaming_all_states_agrees_with_the_interpreter() -> None:
    made, _, _ = holder(Map(A, Option(B), total=False))
    state: State = (MapValue({"a1": "b2", "a3": None}),)
    first = next(iter(renamings(made)))
    assert permute_state(made, state, first) == state
