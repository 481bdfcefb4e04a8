"""Results as JUnit XML: for `verify` a suite a system, a case an instance; for `conform` a row.

What XML 1.0 cannot hold is written as an escape.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET

from checker.frozen import frozen
from checker.report.files import put
from checker.visible import visible


@frozen()
class Case:
    """One instance: `failure` says what is not as declared, `error` why it could not be run.

    `skipped` says why nobody tried to.
    """

    system: str
    instance: str
    seconds: float
    output: str
    failure: str | None
    error: str | None
    file: str = ""
    line: int = 0
    skipped: str | None = None


def write(cases: Iterable[Case], path: Path, command: str) -> None:
    """Write what `command` found to `path`, in the shape that Jenkins and GitHub's readers take."""
    suites: dict[str, list[Case]] = {}
    for case in cases:
        suites.setdefault(case.system, []).append(case)
    root = ET.Element("testsuites", name=command)
    for name, members in suites.items():
        root.append(_suite(name, members))
    _totals(root, [case for members in suites.values() for case in members])
    ET.indent(root)
    put(path, ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _suite(name: str, cases: list[Case]) -> ET.Element:
    suite = ET.Element("testsuite", name=visible(name))
    _totals(suite, cases)
    suite.set("skipped", str(sum(case.skipped is not None for case in cases)))
    for case in cases:
        element = ET.SubElement(
            suite,
            "testcase",
            classname=visible(name),
            name=visible(case.instance),
            time=f"{case.seconds:.3f}",
        )
        if case.file:
            element.set("file", visible(case.file))
            element.set("line", str(case.line))
        for kind, text in (("failure", case.failure), ("error", case.error)):
            if text is not None:
                first = text.splitlines()[0] if text else ""
                ET.SubElement(element, kind, message=visible(first), type=kind).text = visible(text)
        if case.skipped is not None:
            ET.SubElement(element, "skipped", message=visible(case.skipped))
        if case.output:
            ET.SubElement(element, "system-out").text = visible(case.output)
    return suite


def _totals(element: ET.Element, cases: list[Case]) -> None:
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.failure is not None for case in cases)))
    element.set("errors", str(sum(case.error is not None for case in cases)))
    element.set("time", f"{sum(case.seconds for case in cases):.3f}")
