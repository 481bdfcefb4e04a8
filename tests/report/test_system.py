"""Goal: the page of a system says what holds, what fired and what did not, and what is left out."""

from checker import library
from checker.report.dashboard import Line
from checker.report.system import system_page
from checker.table import read
from checker.tables import state_matrices


def page(*lines: Line, name: str = "group_small") -> str:
    document = read(library.find(name))
    return system_page(document, lines, state_matrices(document))


def test_the_page_has_tables_properties_rows_levels_and_sources() -> None:
    document = read(library.find("group_small"))
    names = [row.name.text for row in document.rows]
    rows = dict.fromkeys(names, 3) | {names[0]: 0}
    first = document.properties[0].name.text
    text = page(
        Line(
            "group_small", "default", "quick", "holds", "holds", 9, 2, met=True,
            about="Two members.", levels=(1, 3, 5), rows=rows, properties={first: "holds"},
        ),
        Line(
            "group_small", "bug", "quick", "violated", f"violated: {first}", 4, 1, met=True,
            report={"README.md": ""}, levels=(1, 3), properties={first: "violated"},
        ),
        Line(
            "group_small", "ended", "quick", "holds", f"evaluation error ({first} violated before)",
            4, 1, met=False, levels=(1, 3), properties={first: "violated"},
        ),
    )  # fmt: skip
    parts = [line for line in text.splitlines() if line.startswith("## ")]
    assert parts[:2] == ["## Instances", "## Properties"]
    assert {"## State tables", "## Rows", "## States per level", "## Sources"} <= set(parts)
    assert "| `default`<br>Two members. | holds | 9 | 2 |" in text
    assert "holds in 1; violated in 2: [`bug`](bug/README.md), `ended` |" in text
    assert f"| `{names[0]}` | 0 of 1 | **never** |" in text
    assert f"| `{names[1]}` | 1 of 1 | 3 in `default` |" in text
    assert "   2            5 " + "#" * 40 in text
    assert "stateDiagram" in text
    assert text.count("\n# ") == 0


def test_instances_that_were_not_run_say_nothing_of_rows() -> None:
    line = Line("group_small", "default", "quick", "holds", "not run", None, None, met=None)
    text = page(line)
    assert "\n## Rows" not in text
    assert "\n## States per level" not in text
    assert "not judged" in text


def test_states_of_a_search_that_a_violation_ended_are_not_told_as_all() -> None:
    held = Line("group_small", "a", "quick", "holds", "holds", 9, 2, met=True, levels=(1, 3, 5))
    more = Line(
        "group_small", "b", "quick", "violated", "violated: p", 19, 2, met=True, levels=(1, 3, 15)
    )
    assert "depth of `a`, 9 in all:" in page(held)
    assert "depth of `b`, 19 found:" in page(held, more)
