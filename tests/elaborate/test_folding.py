"""Goal: what is computed before the search has the value, and the errors, of the search.

A constant that was converted has the range of its place; nothing may take that for its value.
"""

import pytest
from houses import Elaborating, Refusing

from checker.errors import EvaluationError
from checker.machine.types import Range
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successors import as_mapping, start_state

WORLD = """
constants:
  fixed: true
  broken: false
  Room: {ids: [kitchen, cellar]}
types:
  Level: one of low, middle, high
  Point: {fields: {x: 0..9, y: 0..9}}
variables:
  n: {type: 0..9, initial: "2"}
  few: {type: map of Room to 0..3, initial: "{kitchen: 1}"}
  all_of: {type: map of Room to total map of Room to 0..3, initial: empty}
  sets: {type: map of Room to set of 0..3, initial: empty}
  queue: {type: sequence of 0..9 up to 4, initial: "[5, 6, 7, 8]"}
  maybe: {type: "optional 0..3", initial: none}
definitions:
  made(): Point(1, 7 // (n - 2))
rows:
  - {row: waits, do: pass}
properties:
  claim: {always: "CLAIM", why: it is tested}
"""

VALUES = [
    ("max(1, 3 if fixed else 0)", 3),
    ("max(1, 0 if broken else 3)", 3),
    ("min(5, 3 if fixed else 9)", 3),
    ("max(9 if broken else 4, 3 if fixed else 0, 1)", 4),
    ("abs(-3 if fixed else 2)", 3),
    ("abs(min(-3 if fixed else 2, 1))", 3),
    ("max(1, 3 if fixed else none)", 3),
    ("max(1, Point(x=3, y=0).x)", 3),
    ("max(1, (3 if fixed else 0) + (0 if fixed else 9))", 3),
    ("(3 if fixed else 0) * (2 if fixed else -7)", 6),
    ("7 // (2 if fixed else 0)", 3),
    ("7 % (4 if fixed else 0)", 3),
    ("2 ** (3 if fixed else 0)", 8),
    ("len(range(3 if fixed else 0))", 3),
    ("(3 if fixed else 0) if max(0, 1 if fixed else 0) == 1 else 7", 3),
]


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_computed_constants_are_what_the_search_computes(
    machine: Elaborating, expression: str, value: int
) -> None:
    made = machine(WORLD.replace("CLAIM", f"({expression}) == {value}"))
    state = start_state(made)
    assert state is not None
    condition = made.properties[0].condition
    assert evaluate(condition, Context(as_mapping(made, state), {})) is True


@pytest.mark.parametrize(
    ("expression", "value"),
    [pair for pair in VALUES if not any(word in pair[0] for word in ("len", "Point"))],
)
def test_computed_constants_are_folded(machine: Elaborating, expression: str, value: int) -> None:
    text = WORLD.replace("CLAIM", "true")
    text = text.replace("types:\n", f'  computed: {{value: "{expression}"}}\ntypes:\n')
    assert dict(machine(text).constants)["computed"] == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("max(Level.low, high if fixed else low)", "high"),
        ("min(Level.high, middle if fixed else low)", "middle"),
    ],
)
def test_extremes_of_named_constants_are_constants(
    machine: Elaborating, expression: str, value: str
) -> None:
    made = machine(WORLD.replace("CLAIM", f"({expression}) == {value}"))
    state = start_state(made)
    assert state is not None
    assert evaluate(made.properties[0].condition, Context(as_mapping(made, state), {})) is True


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("queue[:2 if fixed else -1]", (5, 6)),
        ("queue[2 if fixed else -1:]", (7, 8)),
        ("queue[:-1 if fixed else 2]", (5, 6, 7)),
        ("[queue[-1 if fixed else 0]]", (8,)),
    ],
)
def test_positions_are_values(
    machine: Elaborating, expression: str, value: tuple[int, ...]
) -> None:
    items = ", ".join(str(item) for item in value)
    made = machine(WORLD.replace("CLAIM", f"{expression} == [{items}]"))
    state = start_state(made)
    assert state is not None
    assert evaluate(made.properties[0].condition, Context(as_mapping(made, state), {})) is True


def test_the_ends_of_a_type_are_values(machine: Elaborating) -> None:
    wide = '  m: {type: "0..max(1, 3 if fixed else 0)", initial: "0"}\n  n: {type: 0..9'
    text = WORLD.replace("CLAIM", "true").replace("  n: {type: 0..9", wide)
    assert machine(text).variable("m").type == Range(0, 3)


def test_division_by_a_constant_that_is_nothing_is_refused(wrong: Refusing) -> None:
    (error,) = wrong(WORLD.replace("CLAIM", "7 // (0 if fixed else 2) == 1"))
    assert error.code == "Y303"


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("implies(few[cellar] == 1, true)", "E505"),
        ("few[cellar] is not none", "E505"),
        ("few[cellar] != none", "E505"),
        ("few[cellar] not in empty", "E505"),
        ("len(all_of[cellar]) == 2", "E505"),
        ("all(true for k in queue[9:n - 3])", "E501"),
        ("not any(false for r in all_of[kitchen])", "E505"),
        ("Point(x=1, y=few[cellar]).x == 1", "E505"),
        ("Point(x=1, y=7 // (n - 2)).x == 1", "E503"),
        ("all(few[r] is not none for r in Room)", "E505"),
        ("made.x == 1", "E503"),
        ("(Point(1, 7 // (n - 2)) if fixed else Point(0, 0)).x == 1", "E503"),
        ("maybe not in sets[cellar]", "E505"),
        ("not any(maybe in {n, 7 // k} for k in range(2))", "E503"),
    ],
)
def test_what_is_certain_beforehand_keeps_its_errors(
    machine: Elaborating, expression: str, code: str
) -> None:
    made = machine(WORLD.replace("CLAIM", expression))
    state = start_state(made)
    assert state is not None
    with pytest.raises(EvaluationError) as raised:
        evaluate(made.properties[0].condition, Context(as_mapping(made, state), {}))
    assert raised.value.code == code


@pytest.mark.parametrize("name", ["requests", "responses", "len", "min", "empty", "send"])
def test_no_definition_hides_a_built_in(wrong: Refusing, name: str) -> None:
    text = WORLD.replace("CLAIM", "true")
    text = text.replace("definitions:\n", f"definitions:\n  {name}(k): k == 1\n")
    assert [error.code for error in wrong(text)] == ["N203"]


CALLS = """
constants:
  Client: {ids: 2, symmetric: true}
messages:
  Ask: {}
  Answer: {}
calls:
  line: {per: Client, requests: [Ask], responses: [Answer], capacity: "1"}
rows:
  - {row: asks, for: {c: Client}, do: "call(line[c], Ask())"}
  - {row: answers, on: "line[c].Ask()", do: "reply(call, Answer())"}
  - {row: ends, on: "line[c].Answer()", do: pass}
properties:
  one_at_a_time: {step: "CLAIM", why: it is tested}
"""


@pytest.mark.parametrize(
    "claim",
    [
        "len(next(requests(line))) <= len(requests(line)) + 1",
        "not any(r is Answer for r in next(requests(line)))",
        "next(len(responses(line))) <= 2",
    ],
)
def test_what_is_on_the_way_in_the_next_state(machine: Elaborating, claim: str) -> None:
    assert machine(CALLS.replace("CLAIM", claim)).properties[0].kind == "step"
