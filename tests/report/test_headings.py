"""Goal: the headings and files of a specification are what its readers see it divided by."""

import io
from pathlib import Path

import pytest

from checker.elaborate import elaborate
from checker.flow import Request, Silent, check
from checker.report import terminal
from checker.report.markdown import report
from checker.report.result import Result
from checker.report.sections import as_markdown
from checker.report.tables import system_sections
from checker.table import Document, read

SYSTEM = """
system: lights
about: Two lights.
files: [second.yaml]
variables:
  on: {type: bool, initial: "false"}
rows:
  - section: The first light
    about: It blinks.
  - row: first_on
    when: not on
    do: on = true
  - row: first_off
    when: on
    do: on = false
"""
SECOND = """
about: The second light, which only goes on.
variables:
  two: {type: bool, initial: "false"}
definitions:
  section Colours:
  is_green(): two
rows:
  - row: second_on
    when: not is_green()
    do: two = true
"""


@pytest.fixture
def lights(tmp_path: Path) -> Path:
    (tmp_path / "second.yaml").write_text(SECOND)
    path = tmp_path / "system.yaml"
    path.write_text(SYSTEM)
    return path


def test_show_is_divided_by_files_and_headings(lights: Path) -> None:
    document: Document = read(lights)
    headings = [section.heading for section in system_sections(document)]
    assert headings == [
        "System lights",
        "Files",
        "Rows: The first light",
        "Rows in second.yaml",
        "Definitions in second.yaml: Colours",
    ]
    text = as_markdown(system_sections(document))
    assert "## Rows: The first light\n\nIt blinks.\n\n**`first_on`**" in text
    assert "| `second.yaml` | The second light, which only goes on. |" in text


def test_a_heading_is_text_and_no_page_of_its_own(lights: Path) -> None:
    evil = '  - section: "sec <script>alert(7)</script> | # head"'
    lights.write_text(SYSTEM.replace("  - section: The first light", evil))
    shown = as_markdown(system_sections(read(lights)))
    assert "## Rows: sec &lt;script>alert(7)&lt;/script> | # head\n" in shown
    assert "<script>" not in shown


def test_coverage_keeps_the_headings(lights: Path) -> None:
    result: Result = check(Request(str(lights), engine="reference"), Silent())
    out = io.StringIO()
    terminal.print_result(terminal.console(out), result)
    lines = [line.split() for line in out.getvalue().splitlines()]
    begin = lines.index(["row", "enabled", "fired", "new"])
    assert [line[0] for line in lines[begin + 1 : begin + 5]] == [
        "The",
        "first_on",
        "first_off",
        "second_on",
    ]
    assert "| *The first light* |  |  |  |\n| `first_on` |" in report(result, {})


def test_a_warning_names_its_heading(lights: Path) -> None:
    never = "  - section: Never\n  - row: never\n    when: false and on\n    do: pass\n"
    lights.write_text(SYSTEM + never)
    machine = elaborate(read(lights))
    assert [(item.code, item.section) for item in machine.warnings] == [("L451", "Never")]
