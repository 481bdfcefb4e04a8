"""Goal: the page of tickets names instances that there are, of tier quick, and forgets none."""

from __future__ import annotations

import re
from pathlib import Path

from verified import document

from checker import library

PAGE = Path(__file__).parents[2] / "docs" / "tickets.md"
ROW = re.compile(
    r"^\| (?P<ticket>(?:K|PR )[^|]*?) \|[^|]*\| `(?P<system>\w+)` \| `(?P<instance>\w+)` \|$"
)
TOTAL = re.compile(r"^## .*: (?P<shown>\d+)(?: of (?P<all>\d+))?$")
VIOLATED = "violated"


def rows() -> list[tuple[str, str, str]]:
    found = [ROW.match(line) for line in PAGE.read_text().splitlines()]
    return [(m["ticket"], m["system"], m["instance"]) for m in found if m]


def test_each_instance_shows_its_ticket_by_a_violation() -> None:
    assert len(rows()) == 131
    for ticket, system, name in rows():
        entries = [e for e in document(system).instances if e.name.text == name]
        assert len(entries) == 1, ticket
        assert entries[0].tier == "quick", ticket
        assert entries[0].expect is not None, ticket
        assert entries[0].expect.verdict == VIOLATED, ticket


def test_the_totals_are_those_of_the_rows() -> None:
    for part in PAGE.read_text().split("\n## ")[1:]:
        lines = ("## " + part).splitlines()
        total = TOTAL.match(lines[0])
        assert total, lines[0]
        assert sum(1 for line in lines if ROW.match(line)) == int(total["shown"])
        assert int(total["shown"]) <= int(total["all"] or total["shown"])


def test_no_ticket_that_an_instance_is_named_after_is_missing() -> None:
    named = " ".join(ticket for ticket, _, _ in rows())
    for entry in library.shipped():
        if entry.kind == "table" or "systems" not in entry.path.parts:
            continue
        for instance in document(entry.name).instances:
            found = re.match(r"kafka_(\d+)", instance.name.text)
            if found:
                assert f"KAFKA-{found[1]}" in named, instance.name.text
