"""Goal: a table file becomes the StateTable it says, and each mistake in it is named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from checker.errors import Diagnostic, SpecificationError
from checker.library import shipped
from checker.table import StateTable, read_table
from checker.table.analysis import lint_table

HEAD = "table: t\nabout: a\nsource: s\n"
STATES = "states: {A: {about: x, initial: true}, B: {about: y}}\n"


@pytest.fixture
def reading(tmp_path: Path) -> Callable[[str], StateTable]:
    def read_text(text: str) -> StateTable:
        path = tmp_path / "t.yaml"
        path.write_text(text)
        return read_table(path)

    return read_text


@pytest.fixture
def wrong(reading: Callable[[str], StateTable]) -> Callable[[str], tuple[Diagnostic, ...]]:
    def diagnostics(text: str) -> tuple[Diagnostic, ...]:
        with pytest.raises(SpecificationError) as raised:
            reading(text)
        return raised.value.diagnostics

    return diagnostics


def test_a_table_is_read(reading: Callable[[str], StateTable], lamp: str) -> None:
    table = reading(lamp)
    assert table.name == "lamp"
    assert table.states[0] == ("Off", "It is dark.")
    assert (table.initial, table.final, table.created) == (("Off",), ("Broken",), ("On",))
    assert [(move.origin, move.event, move.target) for move in table.transitions] == [
        ("Off", "switch", "On"),
        ("On", "switch", "On"),
        ("On", "switch_off", "Off"),
        ("Off", "shatter", "Broken"),
        ("On", "shatter", "Broken"),
    ]
    assert table.transitions[1].span.line == 10
    assert table.restores == (("On", "Off"),)
    assert [span.line for span in table.state_spans] == [5, 6, 7]
    assert table.allows("transition", "On", "On")
    assert not table.allows("transition", "Off", "Off")
    assert table.allows("restore", "On", "Off")
    assert table.allows("create", "Broken", "On")
    assert not table.allows("create", "Broken", "Off")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("system: s\nabout: a\n", ["T107"]),
        ("table: t\n", ["T114", "T114", "T114"]),
        (HEAD + "states: {A: {about: x}}\n", ["T152"]),
        (HEAD + "states: {A: {initial: true}}\n", ["T114"]),
        (HEAD + STATES + "created: [C]\n", ["T150"]),
        (HEAD + STATES + "created: [A, A]\n", ["T118"]),
        (HEAD + STATES + "transitions: [{from: [A, C], event: e, to: D}]\n", ["T150", "T150"]),
        (HEAD + STATES + "transitions: [{from: A, event: e}]\n", ["T114"]),
        (HEAD + STATES + "transitions: {from: A, event: e, to: B}\n", ["T112"]),
        (HEAD + STATES + "transitions:\n" + "  - {from: A, event: e, to: B}\n" * 2, ["T151"]),
        (HEAD + STATES + "restores:\n" + "  - {from: [A], to: B}\n" * 2, ["T151"]),
        (HEAD + STATES + "states: {}\n", ["T104"]),
        (HEAD + STATES.replace("B:", "true:"), ["T116"]),
        (HEAD + STATES.replace("initial: true", "initial: yes"), ["T112", "T152"]),
    ],
)
def test_mistakes_in_tables(
    wrong: Callable[[str], tuple[Diagnostic, ...]], text: str, codes: list[str]
) -> None:
    assert sorted(error.code for error in wrong(text)) == sorted(codes)


def test_the_nearest_state_is_suggested(wrong: Callable[[str], tuple[Diagnostic, ...]]) -> None:
    states = "states: {Empty: {about: x, initial: true}}\n"
    (error,) = wrong(HEAD + states + "created: [Emtpy]\n")
    assert error.help == "did you mean `Empty`?"


@pytest.mark.parametrize(
    "path", [entry.path for entry in shipped() if entry.kind == "table"], ids=lambda path: path.stem
)
def test_shipped_tables_are_clean(path: Path) -> None:
    table = read_table(path)
    assert table.name == path.stem
    assert lint_table(table) == ()
