"""Goal: readers of JUnit XML see each instance, and what is not as declared."""

from pathlib import Path
from xml.etree import ElementTree as ET

from checker.report.junit import Case, write

CASES = [
    Case("group", "default", 1.25, "holds", None, None),
    Case("group", "broken", 0.5, "", "verdict: expected <holds> & found violated\nstep 1", None),
    Case("clock", "default", 0.0, "", None, "no such table\x1b"),
]


def test_suites_count_and_name_what_failed(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "junit.xml"
    write(CASES, file, "checker verify")
    root = ET.parse(file).getroot()  # noqa: S314 (our own file)
    assert root.attrib["tests"] == "3"
    assert (root.attrib["failures"], root.attrib["errors"]) == ("1", "1")
    assert [suite.attrib["name"] for suite in root] == ["group", "clock"]
    group = root[0]
    assert group.attrib["time"] == "1.750"
    failure = group.find("./testcase[@name='broken']/failure")
    assert failure is not None
    assert failure.attrib["message"] == "verdict: expected <holds> & found violated"
    assert failure.text == CASES[1].failure
    assert root.find("./testsuite/testcase/error").text == "no such table\\x1b"  # type: ignore[union-attr]
