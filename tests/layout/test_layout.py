"""Goal: the size of a state is known, told, and limited before anything is searched."""

from dataclasses import replace
from pathlib import Path

import pytest
from machines import lit, machine, two_phase, variable

from checker.elaborate import elaborate
from checker.errors import SpecificationError
from checker.layout import describe, pack
from checker.machine.types import Bool, Enum, Id, Map, Range, Record, Sequence, Set, Type
from checker.source import NOWHERE
from checker.table import read

GROUP = Path(__file__).parents[2] / "spec" / "examples" / "group_small" / "system.yaml"


@pytest.mark.parametrize(
    ("members", "generations", "bits"), [(4, 2, 57.1), (4, 3, 61.3), (3, 4, 49.9)]
)
def test_the_group_of_four_fits_one_word(members: int, generations: int, bits: float) -> None:
    sizes = {"Member": members, "generation_max": generations}
    layout = pack(elaborate(read(GROUP), "default", sizes))
    assert layout.words == 1
    assert layout.bits == pytest.approx(bits, abs=0.1)


def test_the_bits_of_variables_are_those_of_the_state() -> None:
    layout = pack(two_phase())
    shares = [layout.variable_bits(index) for index in range(len(layout.variables))]
    assert sum(shares) == pytest.approx(layout.bits)


def test_weights_are_signed_words() -> None:
    bits = Map(Range(0, 126), Bool(), total=True)
    made = machine("bits", [replace(variable("b", Bool(), False), type=bits)], [])
    weights = [leaf.weight for leaf in pack(made).leaves]
    assert weights == [1 << place for place in range(63)] * 2 + [-1 << 63]


def test_the_description_names_every_part() -> None:
    text = describe(pack(two_phase()))
    layout = pack(two_phase())
    assert text.startswith(f"{layout.machine}: {layout.bits:.1f} bits of state in 1 word")
    for leaf in layout.leaves:
        assert leaf.path in text
        assert f"{leaf.cardinality} values" in text


MANY = Id("Many", tuple(f"x{index}" for index in range(70_000)), symmetric=False)
WIDE = Record("Wide", (("a", Range(0, 2**40)), ("b", Range(0, 2**40))))


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (Range(0, 2**62), "values"),
        (Set(MANY), "elements of a set"),
        (Map(MANY, Bool(), total=True), "keys of a map"),
        (Sequence(Bool(), 10**9), "items"),
        (Sequence(Sequence(WIDE, 1000), 1000), "parts in its state"),
        (Map(WIDE, Bool(), total=False), "keys of a map"),
    ],
)
def test_types_without_limits_are_refused(kind: Type, what: str) -> None:
    fine = variable("fine", Bool(), False)
    huge = replace(fine, name="huge", type=kind, initial=lit(None, kind))
    with pytest.raises(SpecificationError) as caught:
        pack(machine("huge", [fine, huge], []))
    (found,) = caught.value.diagnostics
    assert found.code == "R610"
    assert found.span == NOWHERE
    assert what in found.message
    assert "huge" in found.message


def test_paths_say_where_a_part_is() -> None:
    level = Enum("Level", ("low", "high"))
    point = Record("Point", (("x", Range(0, 3)), ("level", level)))
    kind = Map(Id("C", ("c1", "c2"), symmetric=False), point, total=True)
    made = machine("paths", [replace(variable("v", Bool(), False), type=kind)], [])
    assert [leaf.path for leaf in pack(made).leaves] == [
        "v[c1].x",
        "v[c1].level",
        "v[c2].x",
        "v[c2].level",
    ]
