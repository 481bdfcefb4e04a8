"""Goal: the gate says what differs, where, to every tool that listens, and writes figures only."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import signal
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from toggling import TOGGLE, Command

from checker.cli import expectations, gate
from checker.cli.since import untouched
from checker.errors import UsageError
from checker.report.files import put
from checker.table import read

ONE = ("--workers", "1")


def git(*words: str) -> None:
    names = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", *names, *words], check=True, capture_output=True)


def mended(path: str, before: str, after: str) -> None:
    text = Path(path).read_text()
    assert before in text
    Path(path).write_text(text.replace(before, after))


# -------------------------------------------------------------------------- what is run, and told


def test_only_the_named_instances_run(command: Command, toggle: str) -> None:
    result = command("verify", toggle, *ONE, "--instance", "broken", "--format", "json")
    assert [item["instance"] for item in result.json["instances"]] == ["broken"]
    wrong = command("verify", toggle, "--instance", "brocken")
    assert wrong.code == 2
    assert "did you mean broken?" in wrong.err


def test_progress_counts_and_the_end_is_summed_up(command: Command, toggle: str) -> None:
    result = command("verify", toggle, *ONE)
    assert "[1/2] ok" in result.err
    assert "[2/2] ok" in result.err
    assert "2 instances in " in result.err
    assert "2 instances in " not in result.out


def test_what_differs_stands_beside_the_instance(command: Command, toggle: str) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")
    result = command("verify", toggle, toggle, *ONE, "--report", "out")
    assert "holds\n      distinct: expected 17, found 16\n" in result.out
    assert "2 instances, 1 not as declared" in result.out  # named twice, run once
    page = Path("out/README.md").read_text()
    assert "**holds**; distinct: expected 17, found 16 |" in page


def test_rows_that_fire_another_number_of_times_fail(command: Command, toggle: str) -> None:
    mended(toggle, "distinct: 16}", "distinct: 16, rows: {press: 24, forget: 4}}")
    result = command("verify", toggle, *ONE)
    assert result.code == 0, result.out
    mended(toggle, "press: 24", "press: 25")
    result = command("verify", toggle, *ONE)
    assert result.code == 1
    assert "rows: press: expected 25, found 24" in result.out
    mended(toggle, "press: 25", "pres: 25")
    result = command("verify", toggle, *ONE)
    assert result.code == 120
    assert "did you mean `press`?" in result.out


# ------------------------------------------------------------------------------ for other programs


def test_junit_has_file_and_line(command: Command, toggle: str) -> None:
    command("verify", toggle, *ONE, "--junit", "out/junit.xml")
    root = ET.parse("out/junit.xml").getroot()  # noqa: S314 (our own file)
    case = root.find("./testsuite/testcase[@name='broken']")
    assert case is not None
    line = TOGGLE.splitlines().index("  broken:") + 1
    assert (case.attrib["file"], case.attrib["line"]) == ("toggle.yaml", str(line))


def sarif(command: Command, toggle: str) -> list[dict[str, Any]]:
    command("verify", toggle, *ONE, "--sarif", "out/checker.sarif")
    log = json.loads(Path("out/checker.sarif").read_text())
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    results: list[dict[str, Any]] = run["results"]
    return results


def test_a_folder_that_cannot_be_read_is_called_by_its_name(command: Command, toggle: str) -> None:
    Path(toggle).unlink()
    Path("orders").mkdir()
    Path("orders/system.yaml").write_text(f"{TOGGLE}\nwhatever: [\n")
    result = command("verify", "orders", *ONE, "--junit", "out.xml")
    assert result.code == 120
    assert result.out.startswith("orders\n")
    assert "declared:" not in result.out
    (case,) = ET.parse("out.xml").iter("testcase")  # noqa: S314
    assert case.get("classname") == "orders"
    assert case.get("file") == "orders/system.yaml"
    assert f"orders/system.yaml:{case.get('line')}:" in result.out
    assert case.get("line") != "1"


def test_specifications_of_one_name_are_told_apart(command: Command, toggle: str) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")
    Path("another.yaml").write_text(TOGGLE.replace("distinct: 16", "distinct: 18"))
    both = ("verify", toggle, "another.yaml", *ONE)
    result = command(*both, "--format", "json", "--junit", "out.xml", "--sarif", "out.sarif")
    apart = ["toggle (toggle.yaml)", "toggle (another.yaml)"]
    assert list(dict.fromkeys(item["system"] for item in result.json["instances"])) == apart
    suites = ET.parse("out.xml").iter("testsuite")  # noqa: S314 (our own file)
    assert [suite.get("name") for suite in suites] == apart
    results = json.loads(Path("out.sarif").read_text())["runs"][0]["results"]
    assert len({item["partialFingerprints"]["checker/v1"] for item in results}) == 2
    refused = command(*both, "--report", "reports")
    assert refused.code == 2
    assert "are both called toggle" in refused.err
    assert not Path("reports").exists()


@pytest.mark.usefixtures("toggle")
def test_a_link_to_the_file_of_another_is_a_specification_of_its_own(command: Command) -> None:
    """Its parts stand beside the link; a link to the folder leads to the same."""
    for folder, most in (("one", 3), ("two", 4)):
        Path(folder).mkdir()
        Path(folder, "part.yaml").write_text(f"constants: {{most: {most}}}\n")
    text = TOGGLE.replace("  most: 3\n", "").replace("about:", "files: [part.yaml]\nabout:")
    Path("one/system.yaml").write_text(text)
    Path("two/system.yaml").symlink_to("../one/system.yaml")
    Path("three").symlink_to("one")
    words = ("--instance", "default", "--format", "json")
    for first, second in (("one", "two"), ("two", "one")):
        found = command("verify", first, "three", second, *ONE, *words)
        assert found.code == 1
        by_name = {item["system"]: item["distinct"] for item in found.json["instances"]}
        assert by_name == {"toggle (one/system.yaml)": 16, "toggle (two/system.yaml)": 10}
    told = command("simulate", "two", "--walks", "1").out
    assert "again: checker simulate two/system.yaml " in told


def until(monkeypatch: pytest.MonkeyPatch, instance: str) -> None:
    """Let an interrupt come before an instance is run."""

    def verify(task: gate.Task, memory: int) -> gate.Outcome:
        if task.instance == instance:
            raise KeyboardInterrupt
        return run(task, memory)

    run = gate.verify
    monkeypatch.setattr(gate, "verify", verify)


def test_what_an_interrupt_left_is_no_success(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    until(monkeypatch, "broken")
    files = ("--junit", "out.xml", "--sarif", "out.sarif", "--report", "reports")
    result = command("verify", toggle, *ONE, "--all", "--format", "json", *files)
    assert result.code == 130
    met = {item["instance"]: (item["met"], item["verdict"]) for item in result.json["instances"]}
    assert met == {"default": (True, "holds"), "broken": (None, "not run")}
    (suite,) = ET.parse("out.xml").iter("testsuite")  # noqa: S314 (our own file)
    assert (suite.get("tests"), suite.get("skipped"), suite.get("failures")) == ("2", "1", "0")
    (invocation,) = json.loads(Path("out.sarif").read_text())["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    (told,) = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "toggle broken: interrupted before it was run"
    assert "left as they are: 1 instance could not be run (interrupted)" in result.err
    assert not Path("reports").exists()


def test_a_difference_counts_more_than_an_interrupt(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")
    until(monkeypatch, "broken")
    result = command("verify", toggle, *ONE)
    assert "2 instances, 1 not as declared, 1 not run (interrupted)" in result.out
    assert result.code == 1


def test_what_could_not_be_run_is_no_success(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("too much")

    monkeypatch.setattr("checker.flow.check_machine", fail)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = command("verify", toggle, *ONE, "--fresh", "--sarif", "out.sarif")
    assert result.code == 255
    (run,) = json.loads(Path("out.sarif").read_text())["runs"]
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    texts = [item["message"]["text"] for item in invocation["toolExecutionNotifications"]]
    assert texts[0] == "toggle default: it could not be run: MemoryError: too much"
    line = TOGGLE.splitlines().index("  default:") + 1
    at = f"file=toggle.yaml,line={line},col=1"
    assert f"::error {at},title=toggle default%3A not run" in result.err


def test_a_file_that_cannot_be_written_costs_no_result(command: Command, toggle: str) -> None:
    result = command("verify", toggle, *ONE, "--junit", f"{toggle}/out.xml")
    assert "2 instances, all as declared" in result.out
    assert result.code == 2
    assert "out.xml" in result.err or toggle in result.err


def test_sarif_has_the_counterexample_as_a_code_flow(command: Command, toggle: str) -> None:
    assert sarif(command, toggle) == []
    mended(toggle, "presses < most", "presses <= most")
    results = {result["ruleId"]: result for result in sarif(command, toggle)}
    assert set(results) == {"few", "deadlock"}
    few = results["few"]
    place = few["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "toggle.yaml"
    assert place["region"]["startLine"] == TOGGLE.splitlines().index("  few:") + 2
    flow = few["codeFlows"][0]["threadFlows"][0]["locations"]
    texts = [step["location"]["message"]["text"] for step in flow]
    assert texts[0].startswith("1  press(")
    assert len(texts) == 5
    lines = {step["location"]["physicalLocation"]["region"]["startLine"] for step in flow}
    assert TOGGLE.splitlines().index("  - row: press") + 1 in lines


FAILS = """\
system: fails
about: A property that may break, and then a range that is left.
variables:
  x: {type: "0..2", initial: "0"}
rows:
  - row: up
    do: x += 1
instances:
  default: {about: It is a test., expect: {verdict: violated, property: whole, also: [small]}}
properties:
  small: {for: {n: 1..2}, always: x < 2, why: it is a test.}
  whole: {always: x < 3, why: it is a test.}
"""


def test_an_error_is_not_called_a_violation(command: Command, toggle: str) -> None:
    fails = Path(toggle).with_name("fails.yaml")
    fails.write_text(FAILS)
    (result,) = sarif(command, str(fails))
    assert result["ruleId"] == "E501"
    text = result["message"]["text"]
    assert "evaluation error in up after 3 steps. 3 is outside 0..2" in text
    line = FAILS.splitlines().index("  - row: up") + 1
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == line
    done = command("verify", str(fails), "--fresh", "--format", "json", "--progress", "none")
    assert '"verdict": "evaluation error (small violated before)"' in done.out


def test_a_file_elsewhere_is_a_whole_uri_in_sarif(
    command: Command, toggle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")
    (tmp_path / "a place").mkdir()
    monkeypatch.chdir(tmp_path / "a place")
    (result,) = sarif(command, f"../{toggle}")
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (tmp_path / toggle).resolve().as_uri()


def test_a_fingerprint_stays_where_lines_move(command: Command, toggle: str) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")
    (before,) = sarif(command, toggle)
    mended(toggle, "faults:", "# a line more\nfaults:")
    (after,) = sarif(command, toggle)
    assert before["locations"] != after["locations"]
    assert before["partialFingerprints"] == after["partialFingerprints"]


def test_a_wrong_specification_is_in_sarif_with_its_code(command: Command, toggle: str) -> None:
    mended(toggle, "do: presses = 0", "do: presses = zero")
    results = sarif(command, toggle)
    assert {result["ruleId"] for result in results} == {"N201"}


def test_two_errors_of_a_code_have_fingerprints_of_their_own(command: Command, toggle: str) -> None:
    mended(toggle, "always: implies(on, presses <= most)", "always: presses <= of")
    mended(toggle, "when: presses == most", "when: presses == off")
    mended(toggle, "do: on = not on", "do: on = not off")
    found = [item for item in sarif(command, toggle) if item["ruleId"] == "N201"]
    assert len(found) == 6  # three places in two instances
    assert len({item["partialFingerprints"]["checker/v1"] for item in found}) == 6


def test_problems_of_a_file_whose_name_is_no_utf8_are_told(command: Command, toggle: str) -> None:
    """It is in what the system is called where two are called alike."""
    mended(toggle, "distinct: 16", "distinct: 17")
    other = Path(os.fsdecode(b"caf\xe9.yaml"))
    other.write_bytes(Path(toggle).read_bytes())
    result = command("verify", toggle, str(other), *ONE, "--sarif", "out.sarif")
    assert result.code == 1, result.err
    found = json.loads(Path("out.sarif").read_text())["runs"][0]["results"]
    assert len({item["partialFingerprints"]["checker/v1"] for item in found}) == 2


def test_annotations_are_for_github_only(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")
    assert "::error" not in command("verify", toggle, *ONE).err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = command("verify", toggle, *ONE, "--progress", "none")
    line = TOGGLE.splitlines().index("  default:") + 1
    assert f"::error file=toggle.yaml,line={line},col=1,title=toggle default%3A" in result.err
    assert "distinct: expected 17, found 16" in result.err


# ------------------------------------------------------------------------------------- --update


def test_update_shows_and_writes_figures_and_nothing_else(command: Command, toggle: str) -> None:
    mended(toggle, "distinct: 16}", "distinct: 17, depth: 3}  # counted by hand")
    before = Path(toggle).read_text()
    assert command("verify", toggle, *ONE).code == 1
    result = command("verify", toggle, *ONE, "--update")
    assert result.code == 0
    assert "-    expect: {verdict: holds, distinct: 17, depth: 3}  # counted by hand" in result.err
    after = Path(toggle).read_text()
    assert after.replace("16, depth: 8", "17, depth: 3") == before
    assert command("verify", toggle, *ONE).code == 0
    assert command("verify", toggle, *ONE, "--update").err.count("@@") == 0


@pytest.mark.parametrize("text", [b"# a thought\n", b"\xff", b"nonsense: 1\n"])
def test_update_writes_no_figures_into_a_text_that_was_not_judged(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")

    def edits(_outcome: object) -> None:
        with Path(toggle).open("ab") as file:
            file.write(text)

    monkeypatch.setattr("checker.cli.verify.remember", edits)
    before = Path(toggle).read_bytes()
    result = command("verify", toggle, "--instance", "default", "--update")
    assert result.code == 2
    told = f"figures cannot be written: {toggle} was edited since it was judged; verify it again"
    assert f"error: {told}" in result.err
    assert Path(toggle).read_bytes() == before + text


def test_update_writes_no_figures_over_an_edit_of_a_moment_ago(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")
    says = expectations._says

    def edits(*given: Any) -> bool:
        with Path(toggle).open("ab") as file:
            file.write(b"# a thought\n")
        return says(*given)

    monkeypatch.setattr(expectations, "_says", edits)
    result = command("verify", toggle, "--instance", "default", "--update")
    assert (result.code, "was edited since" in result.err) == (2, True)
    assert Path(toggle).read_text().endswith("# a thought\n")
    assert "distinct: 17" in Path(toggle).read_text()


def test_update_replaces_a_number_with_its_sign(command: Command, toggle: str) -> None:
    mended(toggle, "distinct: 16", "distinct: +17")
    assert command("verify", toggle, *ONE, "--update").code == 0
    assert "distinct: 16" in Path(toggle).read_text()
    assert command("verify", toggle, *ONE).code == 0


def test_update_leaves_links_permissions_and_line_ends(command: Command, toggle: str) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")
    own = Path("own.yaml")
    own.write_bytes(Path(toggle).read_bytes().replace(b"\n", b"\r\n"))
    own.chmod(0o764)
    Path("toggle.yaml").unlink()
    Path("toggle.yaml").symlink_to(own)
    before = own.read_bytes()
    result = command("verify", toggle, *ONE, "--update")
    assert result.code == 0, result.err
    assert Path(toggle).is_symlink()
    assert own.read_bytes() == before.replace(b"distinct: 17", b"distinct: 16")
    assert own.stat().st_mode & 0o777 == 0o764


def test_update_that_fails_leaves_the_file_as_it_was(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended(toggle, "distinct: 16", "distinct: 17")
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}

    def full(_self: Path, _target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    result = command("verify", toggle, *ONE, "--update")
    assert result.code == 2
    assert f"error: figures cannot be written: {toggle}: no space left on device" in result.err
    assert "distinct" in result.out
    assert {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    "laid",
    [
        "\n      ? verdict\n      : holds\n      ? distinct\n      : 17",
        "\n      ? verdict\n      : holds",
        "\n      ? verdict\n      : holds\n      distinct: 16",
    ],
)
def test_update_says_where_it_cannot_write(command: Command, toggle: str, laid: str) -> None:
    mended(toggle, "expect: {verdict: holds, distinct: 16}", f"expect: {laid}")
    result = command("verify", toggle, *ONE, "--update", "--pin", "depth")
    assert "error: toggle default: figures must be written by hand" in result.err
    assert result.code == 2  # what was asked for was not done
    text = Path(toggle).read_text()
    assert f"expect: {laid}\n" in text
    assert "length: 5, depth: 5}" in text


def test_update_pins_what_is_asked_for(command: Command, toggle: str) -> None:
    block = "expect:\n      verdict: holds  # always\n      distinct: 16"
    mended(toggle, "expect: {verdict: holds, distinct: 16}", block)
    result = command("verify", toggle, *ONE, "--update", "--pin", "generated", "--pin", "rows")
    assert result.code == 0, result.err
    text = Path(toggle).read_text()
    assert "      verdict: holds  # always\n      distinct: 16\n" in text
    for entry in read(Path(toggle)).instances:
        assert entry.expect is not None
        assert entry.expect.generated is not None
        assert "press" in {word.text for word, _ in entry.expect.rows}
    assert command("verify", toggle, *ONE).code == 0
    assert command("verify", toggle, *ONE, "--pin", "rows").code == 2


def test_what_expects_nothing_has_no_place_for_what_is_pinned(
    command: Command, toggle: str
) -> None:
    text = Path(toggle).read_text()
    Path(toggle).write_text(text[: text.index("instances:")])
    result = command("verify", toggle, *ONE, "--update", "--pin", "distinct")
    assert "`expect` is no mapping here" in result.err
    assert result.code == 2
    assert command("verify", toggle, *ONE, "--update").code == 0


def test_update_never_writes_a_verdict(command: Command, toggle: str) -> None:
    mended(toggle, "presses < most", "presses <= most")
    before = Path(toggle).read_text()
    result = command("verify", toggle, *ONE, "--update")
    assert result.code == 1
    assert Path(toggle).read_text() == before


@pytest.mark.parametrize("name", ["depth", "rows"])
def test_a_property_that_is_called_as_a_figure_is_none(
    command: Command, toggle: str, name: str
) -> None:
    """It breaks: that is no other number, and nothing is written for it."""
    mended(toggle, "  few:\n    always: implies(on, presses", f"  {name}:\n    always: (presses")
    mended(toggle, "presses <= most)", "presses < most)")
    mended(toggle, "properties: [few]", f"properties: [{name}]")
    mended(toggle, "property: few", f"property: {name}")
    before = Path(toggle).read_text()
    result = command("verify", toggle, *ONE, "--instance", "default", "--update")
    assert result.code == 1
    assert f"verdict: expected holds, found violated ({name})" in result.out
    assert Path(toggle).read_text() == before


# -------------------------------------------------------------------------------------- --since


def test_since_runs_what_changed(command: Command, toggle: str) -> None:
    git("init", "--initial-branch=main")
    git("add", toggle)

    def ran() -> list[str]:
        found = command("verify", toggle, *ONE, "--since", "HEAD", "--format", "json")
        assert found.code == 0, found.err
        return [item["instance"] for item in found.json["instances"]]

    assert ran() == ["default", "broken"]
    git("commit", "-m", "first")
    assert ran() == []
    mended(toggle, "a switch that never lights is broken", "it must light")
    assert ran() == []
    mended(toggle, "verdict: holds, distinct: 16", "verdict: holds, distinct: 16, depth: 8")
    assert ran() == ["default"]
    mended(toggle, "do: presses = 0", "do: presses -= most")
    assert ran() == ["default", "broken"]
    git("commit", "-am", "second")
    assert ran() == []
    assert command("verify", toggle, "--since", "nothing").code == 2
    assert command("verify", toggle, "--since", "--output=x").code == 2


def test_since_runs_what_is_no_specification(command: Command, toggle: str) -> None:
    """It is wrong here and there, and nobody knows whether it is the same."""
    mended(toggle, "faults:", "assume: [most < 5]\nfaults:")
    with Path(toggle).open("a") as file:
        file.write("  wrong:\n    set: {most: 7}\n")
    git("init", "-b", "main")
    git("add", toggle)
    git("commit", "-m", "first")
    result = command("verify", toggle, *ONE, "--since", "HEAD", "--format", "json")
    assert result.code == 120
    assert [item["instance"] for item in result.json["instances"]] == ["wrong"]


def test_since_needs_a_repository(command: Command, toggle: str) -> None:
    result = command("verify", toggle, "--since", "HEAD")
    assert result.code == 2
    assert "in no git repository; name your specifications" in result.err


def test_since_says_that_git_does_not_read_what_belongs_to_others(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "-b", "main")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    result = command("verify", toggle, "--since", "HEAD")
    assert (result.code, "which belongs to another user" in result.err) == (2, True)


def test_since_takes_nothing_for_new_that_nobody_named(toggle: str) -> None:
    Path("other.yaml").write_text("{}\n")
    git("init", "--initial-branch=main")
    git("add", "other.yaml")
    git("commit", "-m", "first")
    documents = [read(Path(toggle))]
    assert untouched(documents, "HEAD") == set()
    with pytest.raises(UsageError, match="name your specifications"):
        untouched(documents, "HEAD", named=False)


def test_what_the_machine_refuses_a_run_is_no_difference_of_its_instance(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENFILE, os.strerror(errno.ENFILE))

    monkeypatch.setattr("checker.cli.gate.flow.check_machine", full)
    result = command("verify", toggle, *ONE, "--fresh")
    assert result.code == 255
    assert "the system refuses what the checker needs: too many open files" in result.out
    assert "Traceback" not in result.out


def test_reports_stay_where_an_instance_could_not_be_run(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("verify", toggle, *ONE, "--fresh", "--report", "reports")
    assert command(*words).code == 0
    before = {path: path.read_bytes() for path in Path("reports").rglob("*") if path.is_file()}

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("checker.flow.check_machine", fail)
    failed = command(*words)
    assert failed.code == 255
    assert "the reports in reports are left as they are: 2 instances could not be run" in failed.err
    after = {path: path.read_bytes() for path in Path("reports").rglob("*") if path.is_file()}
    assert after == before


def test_reports_of_the_named_system_alone_are_written(command: Command, toggle: str) -> None:
    other = Path("other.yaml")
    other.write_text(Path(toggle).read_text().replace("system: toggle", "system: other", 1))
    words = ("verify", "--report", "reports")
    assert command(*words, toggle, *ONE).code == 0
    assert command(*words, str(other), *ONE).code == 0
    page = Path("reports/README.md").read_text()
    assert Path("reports/toggle/README.md").is_file()
    assert command(*words, toggle, *ONE, "--check").code == 0
    assert command(*words, toggle, *ONE).code == 0
    assert Path("reports/README.md").read_text() == page
    assert "| [toggle](toggle/README.md) |" in page
    assert "## [other](other/README.md)" in page


def test_reports_do_not_depend_on_whether_vacuity_was_asked(command: Command, toggle: str) -> None:
    words = ("verify", toggle, *ONE, "--report", "reports")
    assert command(*words).code == 0
    assert command(*words, "--check", "--vacuity", "warn").code == 0


def test_reports_stay_where_a_specification_is_wrong(command: Command, toggle: str) -> None:
    words = ("verify", toggle, *ONE, "--report", "reports")
    assert command(*words).code == 0
    before = {path: path.read_bytes() for path in Path("reports").rglob("*") if path.is_file()}
    mended(toggle, "always: implies(on,", "always: implies(off,")
    wrong = command(*words)
    assert wrong.code == 120
    assert "the reports in reports are left as they are: 2 instances could not" in wrong.err
    mended(toggle, "rows:", "rows: [")
    assert command(*words, "--check").code == 120
    after = {path: path.read_bytes() for path in Path("reports").rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_a_full_disk_is_told_with_the_file(command: Command, toggle: str, option: str) -> None:
    done = command("verify", toggle, *ONE, option, "/dev/full")
    assert done.code == 2
    assert "error: /dev/full: no space left on device\n" in done.err


def test_a_full_disk_for_one_file_costs_no_other(command: Command, toggle: str) -> None:
    done = command("verify", toggle, *ONE, "--junit", "/dev/full", "--sarif", "out.sarif")
    assert done.code == 2
    assert "error: /dev/full: no space left on device\n" in done.err
    assert json.loads(Path("out.sarif").read_text())["version"] == "2.1.0"


def test_each_file_that_cannot_be_written_is_told(command: Command, toggle: str) -> None:
    Path("a_file").touch()
    done = command("verify", toggle, *ONE, "--junit", "a_file/out.xml", "--sarif", "/dev/full")
    assert done.code == 2
    assert "error: /dev/full: no space left on device\n" in done.err
    assert "error: a_file" in done.err


def test_a_file_that_is_cut_short_does_not_stay(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            put(tmp_path / "out.xml", bytes(20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_an_interrupt_cuts_short_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cut(io.FileIO):
        def write(self, data: object, /) -> int:
            super().write(data[:10])  # type: ignore[index]
            raise KeyboardInterrupt

    def cut(path: Path, mode: str) -> Cut:
        return Cut(path, mode)

    monkeypatch.setattr(Path, "open", cut)
    with pytest.raises(KeyboardInterrupt):
        put(tmp_path / "out.xml", bytes(20))
    assert list(tmp_path.iterdir()) == []
