"""Goal: packing a state and unpacking it gives the same state, for values of every type."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import machine, variable
from random_types import MEMBER, TYPES, values_of

from checker.layout import decode, decode_all, encode, encode_all, pack
from checker.layout.cells import cells_of, value_from
from checker.layout.shape import cell_cardinalities, is_dense, shape_of
from checker.machine.types import (
    Bag,
    Bool,
    Map,
    Option,
    Range,
    Sequence,
    Set,
    Type,
    cardinality,
)
from checker.semantics.values import MapValue, code_of, values


@given(data=st.data())
def test_states_come_back(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(TYPES, min_size=1, max_size=3))
    row = st.tuples(*(values_of(kind) for kind in kinds))
    states = data.draw(st.lists(row, min_size=1, max_size=4))
    variables = [
        variable(f"v{place}", kind, first)
        for place, (kind, first) in enumerate(zip(kinds, states[0], strict=True))
    ]
    made = machine("made", variables, [])
    layout = pack(made)
    words = encode_all(layout, states)
    assert words.shape == (len(states), layout.words)
    assert (words[:, 0] >= 0).all()
    assert decode_all(layout, words) == states
    assert [decode(layout, encode(layout, state)) for state in states] == states
    assert len({tuple(row) for row in words.tolist()}) == len(set(states))


@given(data=st.data())
def test_cells_come_back_and_stay_in_their_sizes(data: st.DataObject) -> None:
    kind = data.draw(TYPES)
    made = data.draw(values_of(kind))
    shape = shape_of(kind)
    cells = cells_of(shape, made)
    assert len(cells) == shape.cells
    sizes = [size for _, size in cell_cardinalities(shape)]
    assert all(0 <= cell < max(size, 1) for cell, size in zip(cells, sizes, strict=True))
    assert value_from(shape, cells) == made


@given(data=st.data())
def test_cells_are_in_canonical_order(data: st.DataObject) -> None:
    kind = data.draw(TYPES)
    one, two = data.draw(values_of(kind)), data.draw(values_of(kind))
    shape = shape_of(kind)
    by_cells = cells_of(shape, one) < cells_of(shape, two)
    assert by_cells == (code_of(kind, one) < code_of(kind, two))


@pytest.mark.parametrize(
    ("kind", "dense"),
    [
        (Map(MEMBER, Set(Bool()), total=False), True),
        (Sequence(Bool(), 1), True),
        (Sequence(Bool(), 2), False),
        (Option(Bag(Bool(), 2)), False),
    ],
)
def test_dense_types_use_every_code(kind: Type, dense: bool) -> None:
    assert is_dense(kind) == dense
    assert (len(list(values(kind))) == cardinality(kind)) == dense


def test_a_value_outside_its_type_is_refused() -> None:
    made = machine(
        "made", [variable("n", Range(0, 3), 0), variable("s", Sequence(Bool(), 1), ())], []
    )
    layout = pack(made)
    with pytest.raises(ValueError, match="4 is no value"):
        encode(layout, (4, ()))
    with pytest.raises(ValueError, match="2 items"):
        encode(layout, (0, (True, True)))


def test_the_empty_state() -> None:
    layout = pack(machine("nothing", [], []))
    assert layout.words == 1
    assert decode_all(layout, np.zeros((2, 1), np.int64)) == [(), ()]


def test_maps_with_holes() -> None:
    kind = Map(MEMBER, Range(3, 9), total=False)
    state = (MapValue([("m3", 9), ("m1", 3)]),)
    layout = pack(machine("holes", [variable("m", kind, MapValue(()))], []))
    assert encode(layout, state).tolist() == [1 | 0 << 3 | 7 << 6]
    assert decode(layout, encode(layout, state)) == state
