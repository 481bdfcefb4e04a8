"""Goal: a comprehension whose result depends on the order of interchangeable ids is refused where
it stands, and one that only looks as if it did is not.
"""

import pytest
from houses import Elaborating, Refusing

SYSTEM = """
constants:
  Guest: {{ids: 3, symmetric: true}}
types:
  Card: {{fields: {{who: Guest, number: 0..2}}}}
variables:
  inside: {{type: set of Guest, initial: empty}}
  queue: {{type: sequence of Guest up to 3, initial: empty}}
  levels: {{type: sequence of 0..2 up to 3, initial: empty}}
  level: {{type: 0..2, per: Guest, initial: "0"}}
  cards: {{type: bag of Card up to 2, initial: empty}}
  seats: {{type: map of 0..2 to Guest, initial: empty}}
  rank: {{type: map of Guest to 0..2, initial: empty}}
  count: {{type: 0..3, initial: "0"}}
  yes: {{type: bool, initial: "false"}}
rows:
  - row: acts
    do: {effect}
"""


@pytest.mark.parametrize(
    "effect",
    [
        "queue = [g for g in Guest]",
        "levels = [level[g] for g in inside]",
        "levels = [c.number for c in cards]",
        "levels = [n for g in inside for n in {level[g]}]",
        "count = [level[g] for g in Guest][0]",
        "yes = [g for g in inside] == queue",
        "seats = {level[g]: g for g in inside}",
    ],
)
def test_what_takes_ids_in_their_order_is_refused(effect: str, wrong: Refusing) -> None:
    (problem,) = wrong(SYSTEM.format(effect=f'"{effect}"'))
    assert problem.code == "Y330"
    assert "interchangeable" in problem.message


@pytest.mark.parametrize(
    ("kind", "initial"),
    [
        ("sequence of Guest up to 3", "[g for g in Guest]"),
        ("map of bool to Guest", "{false: g for g in Guest}"),
    ],
)
def test_initial_values_take_no_order_either(kind: str, initial: str, wrong: Refusing) -> None:
    line = f'  first: {{type: "{kind}", initial: "{initial}"}}\nrows:'
    text = SYSTEM.format(effect="yes = true").replace("rows:", line)
    (problem,) = wrong(text)
    assert problem.code == "Y330"
    assert "interchangeable" in problem.message


@pytest.mark.parametrize(
    "effect",
    [
        "levels = [level[g] for g in queue]",
        "levels = [n for n in range(2)]",
        "rank = {g: level[g] for g in inside}",
        "count = len([g for g in inside])",
        "yes = any(n == 2 for n in [level[g] for g in Guest])",
        "yes = 2 in [level[g] for g in Guest]",
        "count = sum(n for n in [1 for g in inside])",
    ],
)
def test_what_only_counts_or_looks_is_not(effect: str, machine: Elaborating) -> None:
    assert machine(SYSTEM.format(effect=f'"{effect}"')).symmetry


NAMED = """
definitions:
  some():
    let:
      all_of_them: "{named}"
      again: all_of_them
    is: "{used}"
"""


@pytest.mark.parametrize(
    "named",
    [
        "[g for g in Guest]",
        "[g for g in Guest] if yes else [g for g in inside]",
        "queue if yes else [g for g in inside]",
    ],
)
@pytest.mark.parametrize(
    ("used", "alike"),
    [
        ("again[0] in inside", False),
        ("all_of_them == queue", False),
        ("again == queue", False),
        ("len(again) > 1", True),
        ("any(g in inside for g in again)", True),
        ("count == 0", True),
    ],
)
def test_a_sequence_that_has_a_name_is_looked_at_where_the_name_is_used(
    named: str, used: str, alike: bool, machine: Elaborating, wrong: Refusing
) -> None:
    text = SYSTEM.format(effect="yes = some()") + NAMED.format(named=named, used=used)
    if alike:
        assert machine(text).symmetry
    else:
        assert {problem.code for problem in wrong(text)} == {"Y330"}
