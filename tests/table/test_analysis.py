"""Goal: the graph of a table is analysed as it is drawn, against paths counted by hand."""

from checker.source import NOWHERE
from checker.table.analysis import analyse_table, lint_table
from checker.table.state_table import StateTable, TableTransition


def table(
    states: str,
    moves: str,
    *,
    initial: str = "A",
    final: str = "",
    created: str = "",
    restores: tuple[tuple[str, str], ...] = (),
) -> StateTable:
    """Return a table of one-letter states; moves are written `AB BC`."""
    return StateTable(
        "t",
        "a",
        "s",
        tuple((state, state) for state in states),
        tuple(initial),
        tuple(final),
        tuple(created),
        tuple(TableTransition(move[0], "e", move[1], "", "") for move in moves.split()),
        restores,
        NOWHERE,
    )


def test_a_chain() -> None:
    analysis = analyse_table(table("ABC", "AB BC", final="C"))
    assert analysis.unreachable == ()
    assert analysis.dead_ends == ()
    assert analysis.components == (("A",), ("B",), ("C",))
    assert analysis.dominators == {"A": (), "B": ("A",), "C": ("A", "B")}


def test_a_diamond_has_no_dominator_but_its_top() -> None:
    analysis = analyse_table(table("ABCD", "AB AC BD CD DA"))
    assert analysis.dominators["D"] == ("A",)
    assert analysis.components == (("A", "B", "C", "D"),)


def test_created_states_are_beginnings() -> None:
    assert analyse_table(table("ABC", "AB BC CA")).dominators["C"] == ("A", "B")
    assert analyse_table(table("ABC", "AB BC CA", created="C")).dominators["C"] == ()


def test_restores_are_ways() -> None:
    analysis = analyse_table(table("AB", "", final="B", restores=(("A", "B"),)))
    assert analysis.unreachable == ()
    assert analysis.dead_ends == ()


def test_a_move_to_itself_is_no_way_out() -> None:
    analysis = analyse_table(table("ABC", "AB BB CA"))
    assert analysis.dead_ends == ("B",)
    assert analysis.unreachable == ("C",)
    assert "C" not in analysis.dominators
    warnings = lint_table(table("ABC", "AB BB CA"))
    assert [(warning.code, warning.severity) for warning in warnings] == [
        ("L401", "warning"),
        ("L402", "warning"),
    ]
