"""Goal: what no row writes is a constant of the code, unless renaming ids would change it."""

from agreement import require_agreement
from machines import action, assign, equal, lit, machine, place, prop, read, variable

from checker.layout import pack
from checker.machine.machine import Machine
from checker.machine.types import Bool, Id, Map, Option, Range
from checker.passes.fixed import changeable, fixed_cells
from checker.semantics.values import map_value

NUMBER = Range(1, 3)
NODE = Id("Node", ("n1", "n2", "n3"), symmetric=True)
LEVELS = Map(NODE, NUMBER, total=True)


def levels(*held: int) -> object:
    return map_value(LEVELS, dict(zip(NODE.members, held, strict=True)))


def small() -> Machine:
    limit = read("limit", NUMBER)
    return machine(
        "small",
        [
            variable("x", NUMBER, 1),
            variable("limit", NUMBER, 2),
            variable("even", LEVELS, levels(3, 3, 3)),
            variable("odd", LEVELS, levels(3, 1, 3)),
            variable("nobody", Option(NODE), None),
            variable("chosen", Bool(), False),
        ],
        [
            action(
                "up", assign(place("x", NUMBER), lit(3, NUMBER)), guard=equal(limit, lit(2, NUMBER))
            ),
            action(
                "never",
                assign(place("x", NUMBER), lit(2, NUMBER)),
                guard=equal(limit, lit(1, NUMBER)),
            ),
            action("down", assign(place("x", NUMBER), lit(1, NUMBER))),
        ],
        initial=action("initial", assign(place("chosen", Bool()), lit(True, Bool()))),
        properties=[prop("limited", "always", equal(read("x", NUMBER), limit))],
        ids=[NODE],
    )


def test_what_is_fixed() -> None:
    made = small()
    fixed = fixed_cells(made, pack(made))
    assert fixed == {"limit": (1,), "even": (2, 2, 2), "nobody": (0,)}
    assert changeable(made, fixed) == ["x", "odd", "chosen"]


def test_a_kernel_knows_what_is_fixed() -> None:
    assert require_agreement(small()) == 2
