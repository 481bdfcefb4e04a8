"""Goal: every form of report says where a run goes round for ever, and why that is fair."""

from dataclasses import replace
from functools import partial

import pytest
from machines import (
    FALSE,
    hop,
    machine,
    prop,
    variable,
)
from results import result_of

from checker.machine.machine import Machine
from checker.machine.types import Range
from checker.report import markdown
from checker.report.headline import PROMISES_SHOWN, headline, promise_text
from checker.report.lanes import Lanes
from checker.report.result import Result
from checker.report.sequence import sequence
from checker.report.summary import summary
from checker.report.terminal import console, print_result
from checker.search.finding import Finding
from checker.search.outcome import CUT_OFF, Outcome
from checker.trace.lasso import Loop, Promise
from checker.trace.rebuild import rebuild
from checker.verdict.judge import judge

PLACE = Range(0, 2)


go = partial(hop, kind=PLACE, fair="weak")


def turning() -> Machine:
    """0, then 1 and 2 in turn for ever; what is owed never comes."""
    return machine(
        "turning",
        [variable("n", PLACE, 0)],
        [go("start", 0, 1), go("over", 1, 2), go("back", 2, 1)],
        properties=[prop("live", "eventually", FALSE)],
    )


def shown() -> Result:
    made = turning()
    finding = Finding("live", "eventually", 3, ((0,), (1,), (2,), (1,)), loop=1)
    result = result_of(made)
    exploration = replace(result.exploration, findings=(finding,))
    verdict = judge(made, exploration, {"live": Outcome("violated")})
    traces = (rebuild(made, finding),)
    return replace(result, exploration=exploration, verdict=verdict, traces=traces)


def test_the_verdict_and_the_object() -> None:
    result = shown()
    line = headline(result.machine, result.exploration, result.verdict)
    assert line.startswith("violated: live after 3 steps")
    assert result.verdict.exit_code == 13
    (told,) = (item for item in summary(result, {})["properties"] if item["name"] == "live")  # type: ignore[attr-defined]
    assert (told["verdict"], told["length"]) == ("violated", 3)


def test_markdown_marks_the_loop() -> None:
    text = markdown.report(shown(), {})
    begins = text.index("the loop begins here")
    assert text.index("`start`") < begins < text.index("`over`")
    assert "**and again from step 2 on, for ever**" in text
    assert "* weakly fair back: taken in step 3" in text


def test_the_diagram_has_a_loop() -> None:
    (trace,) = shown().traces
    lines = sequence(trace, Lanes({}, {}, frozenset())).splitlines()
    assert lines.index("  loop for ever") < lines.index("  end")
    standing = replace(trace, steps=trace.steps[:3], loop=Loop(2, 0, ()))
    assert "loop" not in sequence(standing, Lanes({}, {}, frozenset()))


def test_many_promises_are_counted() -> None:
    (trace,) = shown().traces
    promises = tuple(Promise(f"row{n}", n == 0, True, n) for n in range(PROMISES_SHOWN + 2))
    lines = promise_text(replace(trace, loop=Loop(1, 1, promises)))
    assert lines[0] == "strongly fair row0: taken in step 0"
    assert lines[-1] == "and 2 more fair row instances"


def test_what_is_unknown_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    made = turning()
    result = result_of(made)
    verdict = judge(made, result.exploration, {"live": Outcome("unknown", CUT_OFF)})
    open_ = replace(result, verdict=verdict)
    print_result(console(), open_)
    assert f"unknown: live: {CUT_OFF}" in capsys.readouterr().out
    assert f"| unknown: {CUT_OFF} |" in markdown.report(open_, {})
    (told,) = (item for item in summary(open_, {})["properties"] if item["name"] == "live")  # type: ignore[attr-defined]
    assert told["reason"] == CUT_OFF
