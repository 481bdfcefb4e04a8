"""Goal: fairness can be promised to groups of rows, told apart by the bindings one chooses."""

from pathlib import Path

import pytest
from systems import outcomes, run

from checker.errors import SpecificationError

SERVING = """\
constants:
  Client: {ids: 2}
  lively: true
variables:
  turn: {type: Client, initial: client1}
  served: {type: set of Client, initial: empty}
rows:
  - row: swap
    for: {c: Client}
    when: c == turn and c not in served
    do: turn = client2 if c == client1 else client1
  - row: serve
    for: {c: Client}
    when: c == turn and c not in served
    do: |
      served.add(c)
      turn = client2 if c == client1 else client1
  - row: again
    for: {c: Client}
    when: c == turn and c in served
    do: turn = client2 if c == client1 else client1
terminal: ["true"]
FAIRNESS
properties:
  some: {eventually: served != empty, why: w.}
  moves: {leads_to: {from: turn == client1, to: turn == client2}, why: w.}
  all_served: {eventually: len(served) == 2, why: w.}
"""


def judged(tmp_path: Path, fairness: str) -> dict[str, str]:
    found = outcomes(run(tmp_path, SERVING.replace("FAIRNESS", fairness)))
    return {name: found[name] for name in ("some", "moves", "all_served")}


GROUPS = "fair_groups:\n  together: {rows: %s, per: [%s], fair: %s}"


def test_without_fairness_nothing_has_to_happen(tmp_path: Path) -> None:
    assert set(judged(tmp_path, "fairness: none").values()) == {"violated"}


def test_a_group_of_all_rows_keeps_things_moving_and_no_more(tmp_path: Path) -> None:
    """One of the rows is taken again and again; swapping for ever is one way to do that."""
    found = judged(tmp_path, GROUPS % ("all", "", "weak"))
    assert found == {"some": "violated", "moves": "holds", "all_served": "violated"}


def test_a_group_asks_for_less_than_each_of_its_rows(tmp_path: Path) -> None:
    """`serve` alone is enabled again and again for each client: strong fairness does it."""
    alone = judged(tmp_path, GROUPS % ("[serve]", "c", "strong") + "\nfairness: weak")
    assert alone == {"some": "holds", "moves": "holds", "all_served": "holds"}
    pair = judged(tmp_path, GROUPS % ("[serve, swap]", "c", "strong"))
    assert pair == {"some": "violated", "moves": "violated", "all_served": "violated"}


def test_bindings_that_are_named_split_a_group(tmp_path: Path) -> None:
    """In each state somebody can be served; who it is changes as often as the turn is swapped."""
    whole = judged(tmp_path, GROUPS % ("[serve]", "", "weak"))
    assert whole == {"some": "holds", "moves": "violated", "all_served": "violated"}
    split = judged(tmp_path, GROUPS % ("[serve]", "c", "weak"))
    assert split["some"] == "violated"


def test_constants_may_choose_the_fairness(tmp_path: Path) -> None:
    text = SERVING.replace("FAIRNESS", GROUPS % ("all", "", "weak if lively else none"))
    assert outcomes(run(tmp_path, text))["moves"] == "holds"
    assert outcomes(run(tmp_path, text, lively=False))["moves"] == "violated"


def test_the_lasso_says_how_a_group_keeps_its_promise(tmp_path: Path) -> None:
    text = SERVING.replace("FAIRNESS", GROUPS % ("all", "c", "weak"))
    result = run(tmp_path, text)
    trace = next(item for item in result.failures if item.property_name == "some")
    assert trace.loop is not None
    names = {promise.instance for promise in trace.loop.promises}
    assert names == {"together(client1)", "together(client2)"}
    assert {promise.taken for promise in trace.loop.promises} == {True}


@pytest.mark.parametrize(
    ("group", "code"),
    [
        ("{rows: [serf], fair: weak}", "N206"),
        ("{rows: [serve], per: [d], fair: weak}", "N208"),
        ("{rows: [serve], per: [c]}", "T114"),
        ("{rows: [serve, serve], fair: weak}", "T118"),
        ("{rows: serve, fair: weak}", "T112"),
        ("{rows: all, fair: weekly}", "N201"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, group: str, code: str) -> None:
    text = SERVING.replace("FAIRNESS", f"fair_groups:\n  together: {group}")
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, text)
    assert [item.code for item in raised.value.diagnostics] == [code]
