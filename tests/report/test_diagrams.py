"""Goal: a table draws as a diagram that renders, and runs as a machine that keeps to it."""

import pytest
from transitions import MachineError

from checker.report.diagrams import executable, graphviz, mermaid
from checker.source import NOWHERE
from checker.table.state_table import StateTable, TableTransition

LAMP = StateTable(
    name="lamp",
    about="A lamp.",
    source="",
    states=(("Off", "dark"), ("On", "bright"), ("Broken", "dark for ever")),
    initial=("Off",),
    final=("Broken",),
    created=(),
    transitions=(
        TableTransition("Off", "press", "On", "", ""),
        TableTransition("On", "press", "Off", "", ""),
        TableTransition("On", "burn", "Broken", "", ""),
    ),
    restores=(),
    span=NOWHERE,
)


def test_mermaid_draws_states_moves_beginnings_and_ends() -> None:
    assert mermaid(LAMP) == (
        "---\ntitle: lamp\n---\nstateDiagram-v2\n"
        "  direction LR\n"
        "  classDef s_default fill:white,color:black\n"
        "  classDef s_final fill:lightgray,color:black\n"
        "  classDef s_visited fill:gold,color:black\n"
        "\n"
        '  state "Off" as Off\n  Class Off s_default\n'
        '  state "On" as On\n  Class On s_default\n'
        '  state "Broken" as Broken\n  Class Broken s_final\n'
        "\n"
        "  Off --> On: press\n  On --> Off: press\n  On --> Broken: burn\n"
        "  [*] --> Off\n  Broken --> [*]\n"
    )


def test_the_visited_path_is_marked_with_its_steps() -> None:
    drawing = mermaid(LAMP, ["Off", "On"], {("Off", "On"): (1, 3)})
    assert "Class On s_visited" in drawing
    assert "Class Broken s_final" in drawing
    assert "Off --> On: press (step 1, 3)" in drawing


def test_graphviz_quotes_names_and_needs_no_graphviz() -> None:
    drawing = graphviz(LAMP)
    assert drawing.startswith('digraph "lamp" {')
    assert '  "On" -> "Broken" [label="burn"];' in drawing
    assert '  "Broken" [peripheries=2];' in drawing


def test_the_machine_moves_as_the_table_says() -> None:
    model = executable(LAMP).models[0]
    model.press()  # type: ignore[union-attr]
    model.burn()  # type: ignore[union-attr]
    assert model.state == "Broken"  # type: ignore[union-attr]
    with pytest.raises(MachineError):
        model.press()  # type: ignore[union-attr]
