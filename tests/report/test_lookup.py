"""Goal: the page of a system shows all that it says, finds a row, and lets nothing in."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from click.testing import CliRunner

from checker import library
from checker.cli.main import checker
from checker.errors import UsageError
from checker.report.lookup import linked_code, lookup
from checker.table import Document, read
from checker.tables import machines_with_every_row, matrices_of

SCRIPT = "<img src=x onerror=alert(1)>"
SPEC = f"""\
system: lamp
about: "A lamp {SCRIPT}"
abstractions: ["The bulb never breaks. {SCRIPT}"]
variables:
  lit: {{type: bool, initial: "false"}}
definitions:
  dark(): not lit
rows:
  - row: press
    about: "Somebody presses. {SCRIPT}"
    when: dark()
    do: lit = true
properties:
  never_lit:
    always: not lit
    why: it is bright.
instances:
  default: {{expect: {{verdict: violated, property: never_lit}}}}
"""


class Page(HTMLParser):
    """The elements of a page: names of ids, targets of links, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")


def page_of(document: Document) -> str:
    machines = machines_with_every_row(document)
    return lookup(document, machines, matrices_of(document, machines))


@cache
def two_phase() -> tuple[Document, str]:
    document = read(library.find("two_phase"))
    return document, page_of(document)


def lamp(tmp_path: Path) -> Path:
    file = tmp_path / "lamp.yaml"
    file.write_text(SPEC)
    return file


def test_every_row_property_and_instance_is_there_and_every_link_leads_somewhere() -> None:
    document, text = two_phase()
    page = Page(text)
    wanted = [f"row-{row.name.text}" for row in document.rows]
    wanted += [f"property-{entry.name.text}" for entry in document.properties]
    assert set(wanted) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert all(link[1:] in page.ids for link in page.links if link.startswith("#"))
    assert all(f"<code>{entry.name.text}</code>" in text for entry in document.instances)


def test_a_cell_of_a_state_table_leads_to_its_rows() -> None:
    document = read(library.find("classic_consumer"))
    page = Page(page_of(document))
    rows = {f"#row-{row.name.text}" for row in document.rows}
    assert sum(link in rows for link in page.links) > len(document.rows) / 2


def test_what_a_specification_says_never_runs(tmp_path: Path) -> None:
    text = page_of(read(lamp(tmp_path)))
    assert "img" not in Page(text).tags
    assert text.count("&lt;img") >= text.count("onerror=") - 1
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "unsafe" not in policy[1]
    assert "default-src 'none'" in policy[1]


def test_code_links_to_the_bodies_that_it_calls() -> None:
    linked = linked_code({"dark": "body-dark"}, "when dark() and a.dark < 1")
    assert str(linked) == 'when <a href="#body-dark">dark</a>() and a.dark &lt; 1'


def test_the_command_prints_the_page_and_refuses_what_it_would_ignore(tmp_path: Path) -> None:
    file = str(lamp(tmp_path))
    shown = CliRunner().invoke(checker, ["show", file, "--format", "html"])
    assert shown.exit_code == 0
    assert shown.stdout.startswith("<!DOCTYPE html>")
    for more in (["--row", "press"], ["--stage", "machine"], ["--write"]):
        refused = CliRunner().invoke(checker, ["show", file, "--format", "html", *more])
        assert isinstance(refused.exception, UsageError), more
