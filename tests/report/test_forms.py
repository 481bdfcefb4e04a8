"""Goal: every form of report says the same about a run, and the committed form never varies."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from machines import KNOWN, TRUE, bounded_counter, counter, lamp, overflow, prop
from results import result_of

from checker import flow
from checker.errors import Diagnostic
from checker.report import files, terminal
from checker.report.headline import headline
from checker.report.markdown import code, report, table
from checker.report.result import Result
from checker.report.summary import summary
from checker.source import Source, Span

KEYS = [
    "checker",
    "spec",
    "instance",
    "constants",
    "engine",
    "workers",
    "verdict",
    "distinct",
    "generated",
    "depth",
    "seconds",
    "compile_seconds",
    "state_bits",
    "bytes_per_state",
    "peak_rss_bytes",
    "symmetry",
    "stopped_by",
    "depth_complete",
    "cuts",
    "budgets",
    "properties",
    "rows",
    "deadlocks",
]


def printed(result: Result) -> str:
    text = io.StringIO()
    terminal.print_result(terminal.console(text), result)
    return text.getvalue()


def line(result: Result) -> str:
    return headline(result.machine, result.exploration, result.verdict)


def test_the_headline_claims_what_was_explored() -> None:
    safe = replace(counter(), deadlock=False, budgets=(("crash", 2), ("loss", 1)))
    assert line(result_of(safe)) == (
        "holds: 4 distinct states, depth 3, exhaustive, with at most 2 crash, 1 loss"
    )
    assert line(result_of(counter())).startswith("violated: deadlock after 3 steps, 4 distinct")
    assert "within the bounds (1 cut)" in line(result_of(bounded_counter()))
    assert line(result_of(overflow())).startswith("inconclusive: evaluation error in step 3")


def test_an_initial_value_that_fails_is_after_no_step() -> None:
    """Such an error has no state, so that its path is empty."""
    result = result_of(overflow())
    assert result.verdict.error is not None
    error = replace(result.verdict.error, depth=0, path=(), action=None)
    verdict = replace(result.verdict, error=error)
    said = headline(result.machine, result.exploration, verdict)
    assert said.startswith("inconclusive: evaluation error after 0 steps")


def test_unknown_liveness_is_named() -> None:
    live = replace(counter(), deadlock=False, properties=(prop("settles", "eventually", TRUE),))
    assert line(result_of(live)).startswith(
        "inconclusive: safety holds, liveness is unknown (settles)"
    )


def test_the_terminal_shows_steps_coverage_and_gaps() -> None:
    machine = counter()
    never = replace(machine.actions[0], name="never", guard=replace(TRUE, value=False))
    text = printed(result_of(replace(machine, actions=(*machine.actions, never))))
    assert text.splitlines()[0].startswith("violated: deadlock after 3 steps")
    assert "   3  increase\n        n: 2 -> 3\n" in text
    assert "never fired: never" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_the_terminal_keeps_to_100_columns(known: object) -> None:
    text = printed(result_of(known.machine))  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= 100


def test_brackets_of_a_specification_are_no_markup() -> None:
    machine = replace(lamp(), properties=(prop("[bold]x[/bold]", "always", TRUE),))
    assert "[bold]x[/bold]" in printed(result_of(machine))


def test_the_object_has_the_keys_of_the_contract() -> None:
    result = result_of(counter())
    found = json.loads(json.dumps(summary(result, {})))
    assert [key for key in KEYS if key not in found] == []
    assert found["verdict"] == "violated"
    assert found["properties"] == [
        {"name": "deadlock", "kind": "deadlock", "verdict": "violated", "trace": None, "length": 3}
    ]
    assert found["rows"] == [{"row": "increase", "enabled": 3, "fired": 3, "new": 3}]
    assert found["error"] is None


def test_an_evaluation_error_is_an_object_with_row_and_place() -> None:
    error = summary(result_of(overflow()), {})["error"]
    assert isinstance(error, dict)
    assert (error["code"], error["row"], error["length"]) == ("E501", "increase", 3)
    assert "3 is outside 0..2" in error["message"]


def test_warnings_are_located() -> None:
    span = Span(Source("a.yaml", "x"), 1, 1, 1, 2)
    machine = replace(counter(), warnings=(Diagnostic("L420", "never read", span),))
    result = result_of(machine)
    assert "warning[L420] a.yaml:1:1: never read" in printed(result)
    warnings = summary(result, {})["warnings"]
    assert isinstance(warnings, list)
    assert (warnings[0]["code"], warnings[0]["line"]) == ("L420", 1)


def test_the_report_has_all_its_parts_and_never_varies() -> None:
    result = result_of(lamp())
    first = files.rendered(result, committed=True)
    again = files.rendered(
        replace(
            result_of(lamp()),
            compile_seconds=9.0,
            exploration=replace(result.exploration, seconds=9.0, workers=7),
        ),
        committed=True,
    )
    assert first == again
    assert sorted(first) == ["README.md", "legal.itf.json", "verdict.json"]
    page = first["README.md"]
    for part in (
        "# lamp, instance default",
        "checker check lamp",
        "## legal (violated, 3 steps)",
        "3. `revive`",
        "**illegal transition**",
        "stateDiagram-v2",
        "on --> broken: on_broken (step 2)",
        "## Coverage",
        "[legal.itf.json](legal.itf.json)",
    ):
        assert part in page, part


def test_cells_of_markdown_survive_bars_and_backticks() -> None:
    assert table(("a",), [("x | y",)])[2] == "| x \\| y |"
    assert code("a`b") == "`` a`b ``"


def test_every_known_machine_has_a_report() -> None:
    for known in KNOWN:
        result = result_of(known.machine)
        assert report(result, files.trace_files(result)).startswith(f"# {known.machine.name}")


def test_cuts_are_not_said_to_be_of_the_bounds_where_ids_may_run_out(tmp_path: Path) -> None:
    (tmp_path / "cuts.yaml").write_text(
        """\
system: cuts
about: There are two ids, and a bound that cuts nothing.
constants:
  Id: {ids: 2}
variables:
  got: {type: set of Id, initial: empty}
bounds:
  - len(got) < 3
rows:
  - row: takes
    do: got.add(fresh(Id))
"""
    )
    request = flow.Request(str(tmp_path / "cuts.yaml"), engine="reference")
    result = flow.check(request, flow.Silent())
    line = headline(result.machine, result.exploration, result.verdict)
    assert line.endswith("within len(got) < 3 and the ids available (1 cut)")


def test_properties_that_are_called_alike_in_paths_have_files_of_their_own() -> None:
    result = result_of(lamp())
    (trace, *_) = result.failures
    names = ("settles(1)", "settles(-1)", "settles(c1, 2)")
    traces = tuple(replace(trace, property_name=name) for name in names)
    assert files.trace_files(replace(result, traces=traces)) == {
        "settles(1)": "settles-1.itf.json",
        "settles(-1)": "settles-1.2.itf.json",
        "settles(c1, 2)": "settles-c1-2.itf.json",
    }
