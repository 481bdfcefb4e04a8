"""Goal: what passes only because it says nothing is found, by every engine alike."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from checker import flow
from checker.cli.main import run as command
from checker.report.result import Result
from checker.search.limits import Limits
from checker.verdict import exits
from checker.verdict.vacuity import vacuous

LIGHT = """\
system: light
about: A lamp that is switched on at most twice, and a switch that nobody touches.
constants:
  Room: {ids: [kitchen, cellar]}
  most: 2
types:
  Level: one of low, high
variables:
  n: {type: 0..3, initial: "0"}
  mains: {type: bool, initial: "true"}
  level: {type: Level, per: Room, initial: low}
rows:
  - {row: turn, when: n < most, do: n += 1}
  - {row: blow, when: n > 2, do: n = 0}
  - {row: rest, do: pass}
properties:
  holds_of_some: {always: "implies(n == 2, n > 1)", why: its left side is met.}
  holds_of_none:
    always: n >= 0 and all(implies(n == 3, level[r] == high) for r in Room)
    why: n is never 3.
  steps_of_none: {step: "implies(next(n) < n, n == 3)", why: n never falls.}
  steps_of_some: {step: "implies(next(n) > n, n < 3)", why: n rises.}
  over_nothing: {always: "all(n < 3 for r in Room if level[r] == high)", why: none is high.}
  untouched: {always: mains, why: nobody touches it.}
  runs: {step: "ran(turn) or n == next(n)", why: it looks at rows.}
  follows: {leads_to: {from: n == 3, to: n == 0}, why: n is never 3.}
instances:
  default: {}
  more: {set: {most: 3}}
  stopped: {set: {most: 3}, expect: {verdict: violated, property: holds_of_none}}
"""

NEVER = {
    "holds_of_none": "the left side of `implies` never holds",
    "steps_of_none": "the left side of `implies` never holds",
    "over_nothing": "`all` runs over nothing, ever",
    "follows": "`from` never holds, so that nothing has to follow",
    "untouched": "nothing that it depends on is ever changed by a step",
    "blow": "this row never fires",
}


def run(folder: Path, engine: str = "local", instance: str = "default", **other: object) -> Result:
    path = folder / "light.yaml"
    path.write_text(LIGHT)
    request = flow.Request(str(path), instance, engine=engine, workers=1, **other)  # type: ignore[arg-type]
    return flow.check(request, flow.Silent())


@pytest.mark.parametrize("engine", ["local", "reference"])
def test_what_says_nothing_is_found(engine: str, tmp_path: Path) -> None:
    result = run(tmp_path, engine, vacuity="warn")
    found = [(item.name, item.message) for item in vacuous(result.looked)]
    assert found == list(NEVER.items())
    assert result.verdict.exit_code == exits.HOLDS
    places = {item.name: item.span.line for item in vacuous(result.looked)}
    assert LIGHT.splitlines()[places["steps_of_none"] - 1].strip().startswith("steps_of_none:")


@pytest.mark.parametrize("engine", ["local", "reference"])
def test_asking_changes_nothing_else(engine: str, tmp_path: Path) -> None:
    plain, asked = run(tmp_path, engine), run(tmp_path, engine, vacuity="error")
    assert plain.looked == ()
    assert plain.verdict.properties == asked.verdict.properties
    assert plain.machine == asked.machine
    for name in ("distinct", "generated", "levels", "findings", "rows", "stopped_by"):
        assert getattr(plain.exploration, name) == getattr(asked.exploration, name)
    assert asked.verdict.exit_code == exits.UNWITNESSED


def test_a_search_that_ended_early_says_only_what_it_met(tmp_path: Path) -> None:
    result = run(tmp_path, instance="stopped", vacuity="error")
    assert result.verdict.exit_code == exits.SAFETY
    assert vacuous(result.looked) == ()
    seen = {item.name: item.seen for item in result.looked if "implies" in item.message}
    assert seen["holds_of_none"] is True
    assert seen["steps_of_none"] is None


STOPS = """\
system: stops
about: Behind the first item that decides them, conditions over all items have no value.
variables:
  at: {type: 0..2, initial: "0"}
rows:
  - {row: go, when: at < 2, do: at = at + 1}
terminal: [at == 2]
properties:
  states:
    always: >-
      all((i == 1 or at == 0) and implies(10 // (2 - i - at) >= 0, at + i < 3)
      for i in range(0, 2))
    why: of 0 it is false when at is 1, and of 1 it has no value then.
  steps:
    step: >-
      all((i == 1 or at == 0) and implies(10 // (2 - i - at) >= 0, next(at) + i < 4)
      for i in range(0, 2))
    why: the same of steps.
"""


@pytest.mark.parametrize("engine", ["reference", "local"])
def test_a_question_has_a_value_where_its_property_has_one(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "stops.yaml"
    path.write_text(STOPS)
    plain, asked = (
        flow.check(
            flow.Request(
                spec=str(path),
                engine=engine,
                workers=1,
                vacuity=vacuity,
                limits=Limits(keep_going=True),
            ),
            flow.Silent(),
        )
        for vacuity in ("off", "warn")
    )
    assert {item.name: item.length for item in plain.verdict.broken} == {"states": 1, "steps": 2}
    assert asked.verdict == plain.verdict
    assert asked.exploration.generated == plain.exploration.generated


def test_verify_looks_at_all_instances_together(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "light.yaml"
    path.write_text(LIGHT)

    def verified(*words: str) -> tuple[int, dict[str, list[dict[str, object]]]]:
        fixed = ["verify", str(path), "--fresh", "--workers", "1", "--format", "json"]
        code = command([*fixed, "--instance", "default", *words])
        return code, json.loads(capfd.readouterr().out)

    code, told = verified("--vacuity", "error")
    assert code == exits.UNWITNESSED
    assert all(item["met"] for item in told["instances"])
    assert {item["name"] for item in told["vacuous"]} == set(NEVER)
    code, told = verified()
    assert code == exits.HOLDS
    assert "vacuous" not in told
    _, told = verified("--vacuity", "warn", "--instance", "stopped")
    assert {item["name"] for item in told["vacuous"]} == set(NEVER) - {"holds_of_none", "follows"}


def test_what_is_vacuous_fails_a_case_and_is_a_result(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, junit, sarif = (tmp_path / name for name in ("light.yaml", "j.xml", "s.sarif"))
    path.write_text(LIGHT)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    words = ["verify", str(path), "--fresh", "--workers", "1", "--instance", "default"]
    words += ["--junit", str(junit), "--sarif", str(sarif)]
    for vacuity, named in (("warn", set()), ("error", set(NEVER))):
        command([*words, "--vacuity", vacuity])
        suites = ET.parse(junit).getroot()  # noqa: S314
        assert int(suites.get("failures", "")) >= len(named)
        failed = [case for case in suites.iter("testcase") if case.find("failure") is not None]
        assert {case.get("name", "").split()[0] for case in failed} == named
        results = json.loads(sarif.read_text())["runs"][0]["results"]
        assert {item["ruleId"] for item in results} == named
        annotations = [line for line in capfd.readouterr().err.splitlines() if "::error" in line]
        assert len(annotations) == len(results)


def test_check_prints_what_is_vacuous(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "light.yaml"
    path.write_text(LIGHT)
    words = ["check", str(path), "--vacuity", "error", "--report", str(tmp_path / "report")]
    assert command(words) == exits.UNWITNESSED
    assert "blow: this row never fires" in " ".join(capfd.readouterr().out.split())
    for page in ("README.md", "index.html"):
        assert ": blow: this row never fires" in (tmp_path / "report" / page).read_text()


BROKEN = """\
system: broken
about: A property that is false of one number, and has no value for a later one.
variables:
  n: {type: 0..3, initial: "0"}
rows:
  - {row: up, when: n < 3, do: n += 1}
deadlock: false
properties:
  small:
    always: all(implies(6 // (2 - k) > 9, false) and k < 1 for k in range(0, 4))
    why: it is a test.
"""


@pytest.mark.parametrize("engine", ["local", "reference"])
def test_asking_goes_no_further_than_the_property(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(BROKEN)
    results = [
        flow.check(flow.Request(str(path), engine=engine, workers=1, vacuity=asked), flow.Silent())
        for asked in ("off", "warn")
    ]
    assert [result.verdict.overall for result in results] == ["violated", "violated"]


def test_what_constants_decide_depends_on_nothing_that_changes(tmp_path: Path) -> None:
    """It reads `n`, which steps change: as it is written, not where `most` has decided."""
    decided = BROKEN.replace("deadlock", "constants: {most: 2}\ndeadlock")
    path = tmp_path / "broken.yaml"
    path.write_text(decided.partition("    always")[0] + "    always: implies(n == 1, most > 1)\n")
    path.write_text(path.read_text() + "    why: it is a test.\n")
    request = flow.Request(str(path), engine="reference", vacuity="warn")
    found = [str(item) for item in vacuous(flow.check(request, flow.Silent()).looked)]
    assert found == ["small: nothing that it depends on is ever changed by a step"]
