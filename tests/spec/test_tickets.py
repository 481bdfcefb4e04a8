"""Goal: the page of tickets names instances that there are, of tier quick, and forgets none."""

from __future__ import annotations

import re
from pathlib import Path

from verified import document

PAGE = Path(__file__).parents[2] / "docs" / "tickets.md"
SYSTEMS = (
    "composed",
    "controller",
    "controller_failover",
    "reassignment",
    "replication",
    "replication_isr",
    "topic_deletion",
)
ROW = re.compile(r"^\| (?P<ticket>K[^|]*?) \|[^|]*\| `(?P<system>\w+)` \| `(?P<instance>\w+)` \|$")
TOTAL = re.compile(r"^## .*: (?P<shown>\d+) of (?P<all>\d+)$")
VIOLATED = "violated"


def rows() -> list[tuple[str, str, str]]:
    found = [ROW.match(line) for line in PAGE.read_text().splitlines()]
    return [(m["ticket"], m["system"], m["instance"]) for m in found if m]


def test_each_instance_shows_its_ticket_by_a_violation() -> None:
    assert len(rows()) == 31
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
        assert int(total["shown"]) <= int(total["all"])


def test_no_ticket_that_an_instance_is_named_after_is_missing() -> None:
    named = " ".join(ticket for ticket, _, _ in rows())
    # tickets beyond the two lists: their READMEs have them
    beyond = {"13972"}
    for system in SYSTEMS:
        for entry in document(system).instances:
            found = re.match(r"kafka_(\d+)", entry.name.text)
            if found and found[1] not in beyond:
                assert f"KAFKA-{found[1]}" in named, entry.name.text
