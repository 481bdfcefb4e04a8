"""Goal: values of every type are stored, moved, compared, sent and taken as the reference says."""

import pytest
from agreement import require_agreement
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from machines import (
    FALSE,
    TRUE,
    action,
    assign,
    at,
    binding,
    cast,
    contains,
    equal,
    lit,
    local,
    machine,
    pick,
    place,
    prop,
    read,
    receive,
    send,
    variable,
)
from random_types import MEMBER, TYPES, values_of

from checker.layout import cells as layout_cells
from checker.layout import shape
from checker.llvm import cells, choices, collections, slots, states
from checker.machine import terms as t
from checker.machine.machine import Machine
from checker.machine.types import Bag, Bool, Map, Option, Range, Record, Sequence, Type, Union
from checker.semantics.values import MapValue
from checker.source import NOWHERE


def mover(kind: Type, one: object, two: object) -> Machine:
    """Two values move between a variable, an option, a sequence, a bag and a map.

    Records are one of two kinds besides; and an id is drawn that is in none of all these.
    """
    maybe = kind if isinstance(kind, Option) else Option(kind)
    drawn, other = Option(MEMBER), Record("Other", (("drawn", Option(MEMBER)),))
    either = Option(Union("Either", (other, kind) if isinstance(kind, Record) else (other,)))
    row, bag, entries = Sequence(kind, 2), Bag(kind, 2), Map(Bool(), kind, total=False)
    value, held = read("value", kind), read("held", maybe)
    x, where = local("x", kind), place("value", kind)
    last = t.Slice(read("row", row), cast(lit(1, Range(1, 1)), Range(0, 2)), None, row, NOWHERE)
    return machine(
        "mover",
        [
            variable("value", kind, one),
            variable("held", maybe, None),
            variable("row", row, ()),
            variable("bag", bag, ()),
            variable("entries", entries, MapValue(())),
            variable("drawn", drawn, None),
            variable("either", either, None),
        ],
        [
            action("change", assign(where, lit(two, kind)), guard=equal(value, lit(one, kind))),
            action("hold", assign(place("held", maybe), cast(value, maybe))),
            action("back", assign(where, cast(held, kind))),
            action("append", send(place("row", row), value, "drop")),
            action("add", send(place("bag", bag), value)),
            action(
                "take", receive(place("bag", bag), x), bindings=[binding("x", read("bag", bag))]
            ),
            action("pick", pick("x", read("row", row)), receive(place("row", row), x)),
            action("first", assign(where, at(read("row", row), lit(0, Range(0, 1))))),
            action("rest", assign(place("row", row), last)),
            action("put", assign(place("entries", kind, TRUE), value)),
            action(
                "get", assign(place("entries", kind, FALSE), at(read("entries", entries), TRUE))
            ),
            action("delete", t.Delete(place("entries", kind, FALSE), NOWHERE)),
            action(
                "both",
                t.Assign(
                    place("row", row), t.SequenceOf((value, lit(one, kind)), row, NOWHERE), NOWHERE
                ),
            ),
            action(
                "sort",
                assign(place("bag", bag), t.SequenceOf((value, lit(one, kind)), bag, NOWHERE)),
            ),
            action(
                "draw",
                t.Fresh("m", MEMBER, NOWHERE),
                assign(place("drawn", drawn), cast(local("m", MEMBER), drawn)),
            ),
            *(
                [action("either", assign(place("either", either), cast(value, either)))]
                if isinstance(kind, Record)
                else []
            ),
        ],
        properties=[
            prop("in_row", "always", contains(value, read("row", row))),
            prop("in_bag", "sometimes", contains(value, read("bag", bag))),
            prop("same", "step", equal(value, t.Next(value, kind, NOWHERE))),
            prop("held_is_value", "always", equal(held, cast(value, maybe))),
        ],
    )


PROMPT = st.integers(0, 7).map(bool)
"""Whether code is compiled in a moment: optimising it is most of what a machine takes here."""


@given(data=st.data())
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_values_of_every_type(data: st.DataObject) -> None:
    kind = data.draw(TYPES)
    one, two = data.draw(values_of(kind)), data.draw(values_of(kind))
    require_agreement(mover(kind, one, two), states=20, prompt=data.draw(PROMPT))


@given(data=st.data())
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_values_too_wide_for_a_code(data: st.DataObject) -> None:
    kind = data.draw(TYPES)
    one, two = data.draw(values_of(kind)), data.draw(values_of(kind))
    prompt = data.draw(PROMPT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shape, "CODE_LIMIT", 16)
        patch.setattr(layout_cells, "_MASK", 7)
        for module in (shape, cells, collections, layout_cells):
            patch.setattr(module, "CHUNK", 3)
        patch.setattr(cells, "UNROLLED_CELLS", 2)
        patch.setattr(choices, "MASK_POSITIONS", 1)
        patch.setattr(states, "CELLS_LISTED", 1)
        patch.setattr(slots, "SHORT", 0)
        shape.shape_of.cache_clear()
        try:
            require_agreement(mover(kind, one, two), states=20, prompt=prompt)
        finally:
            shape.shape_of.cache_clear()
