"""Goal: a table draws as a diagram that renders, whatever its states and events are called."""

from dataclasses import replace

from checker.report.diagrams import graphviz, mermaid
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


def test_every_move_of_the_steps_is_drawn_and_no_event_is_said_to_be_one_that_it_may_not_be() -> (
    None
):
    also = TableTransition("Off", "pull", "On", "", "")
    table = replace(
        LAMP,
        transitions=(*LAMP.transitions, also),
    )
    steps = {
        ("Off", "On"): (1,),
        ("Broken", "Off"): (2,),
        ("Off", "Broken"): (3,),
        ("On", "On"): (4,),
    }
    drawing = mermaid(table, (), steps)
    assert "  Off --> On: press or pull (step 1)\n" in drawing
    assert "  Broken --> Off: step 2\n" in drawing
    assert "  Off --> Broken: step 3\n" in drawing
    assert "  On --> On: step 4\n" in drawing
    assert "  Off --> On: press | pull\n" in mermaid(table)


def test_states_and_events_may_be_called_like_anything() -> None:
    names = ("end", "end_", "State")
    table = replace(
        LAMP,
        states=tuple((name, "") for name in names),
        initial=("end",),
        final=(),
        transitions=(
            TableTransition("end", "state", "State", "", ""),
            TableTransition("State", "trigger", "end_", "", ""),
        ),
    )
    drawing = mermaid(table)
    assert '  state "end" as end__\n' in drawing
    assert "  end__ --> State_: state\n  State_ --> end_: trigger\n  [*] --> end__\n" in drawing
