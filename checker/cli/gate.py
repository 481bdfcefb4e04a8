"""One instance held to its expectation, and many of them in parallel processes."""

from __future__ import annotations

import io
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import partial

from checker import flow
from checker.diagnostics import render_all
from checker.elaborate import elaborate, expected_of, instances
from checker.errors import CheckerError, SpecificationError, told
from checker.frozen import frozen
from checker.machine.machine import Expectation
from checker.report import files, problems, terminal
from checker.report.problems import Problem
from checker.report.result import Result
from checker.runs import Lost, Spread
from checker.search.limits import Limits
from checker.table import Document, read_same
from checker.table.sources import texts_of
from checker.verdict import exits
from checker.verdict.expectation import differences, expected_verdict, figures_of
from checker.verdict.vacuity import Looked, Vacuity

NOT_RUN = "not run"
"""The verdict of an instance that was left out."""


@frozen()
class Task:
    """One instance to verify; `path` is the specification's file, `texts` a digest of its text.

    `system` is what it is called: by its name, and where others are called so by its path as well.
    `file` and `line` are where it is declared, `states` as many as it declares.
    """

    path: str
    system: str
    instance: str
    tier: str
    file: str = ""
    line: int = 1
    states: int = 0
    about: str = ""
    texts: str = ""
    vacuity: Vacuity = "off"


@frozen()
class Outcome:
    """What became of a task. `failure`: what is not as declared; `error`: why it did not run.

    `differs` are the keys of `expect:` that `failure` is about; properties may be called so, too.
    `details` is the printed result of a run that failed; `report` the files of a violation;
    `problems` are what is wrong and where, `figures` what was found of what can be declared;
    `levels` are the states of each depth, `rows` the successors of each row, `properties` their
    verdicts; `looked` is what may be vacuous, where that was asked; `remembered`: it was found by
    an earlier run.
    """

    task: Task
    expected: str
    verdict: str
    distinct: int | None = None
    depth: int | None = None
    seconds: float = 0.0
    failure: str | None = None
    differs: tuple[str, ...] = ()
    error: str | None = None
    exit_code: int = exits.HOLDS
    details: str = ""
    report: dict[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    figures: dict[str, int | dict[str, int]] = field(default_factory=dict)
    levels: Sequence[int] = ()
    rows: dict[str, int] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    looked: tuple[Looked, ...] = ()
    remembered: bool = False

    @property
    def run(self) -> bool:
        """Whether somebody tried to run it."""
        return self.verdict != NOT_RUN


def tasks_of(document: Document) -> list[Task]:
    """Return the instances of a specification, in the order of its file."""
    texts = texts_of(document)
    return [
        Task(
            document.path,
            document.name.text,
            entry.name.text,
            entry.tier,
            entry.name.span.source.name,
            entry.name.span.line,
            0 if entry.expect is None else entry.expect.distinct or 0,
            entry.about,
            texts,
        )
        for entry in instances(document)
    ]


def declared(task: Task, document: Document) -> Outcome:
    """Return what an instance of `document` declares, for one that is not run."""
    entries = (entry for entry in instances(document) if entry.name.text == task.instance)
    expectation = expected_of(next(entries))
    return Outcome(
        task,
        expected=expectation_text(expectation),
        verdict=NOT_RUN,
        distinct=expectation.distinct if expectation else None,
        depth=expectation.depth if expectation else None,
    )


def verify_all(tasks: Sequence[Task], spread: Spread) -> Iterator[Outcome]:
    """Verify `tasks` wherever `spread` does it; yield each that is done.

    Those that declare many states begin first, so that none of them is left over at the end. The
    others go system by system, each in one process: what one instance has elaborated is there for
    the next.
    """
    longest_first = sorted(tasks, key=lambda task: -task.states if _long(task) else 0)
    work = partial(verify, memory=spread.memory)
    for task, made in spread.each(work, longest_first, _family):
        if isinstance(made, Lost):
            yield Outcome(task, "", "error", error=made.reason, exit_code=exits.INTERNAL)
        else:
            yield made


def _long(task: Task) -> bool:
    return task.states > flow.BRIEF_STATES


def _family(task: Task) -> tuple[str, str]:
    """Return what a task shares with others: its system, unless the search is what takes time."""
    return task.path, task.instance if _long(task) else ""


def verify(task: Task, memory: int) -> Outcome:
    """Run one instance within `memory` bytes and compare it with what it declares."""
    try:
        return _verify(task, memory)
    except SpecificationError as error:
        return refused(task, error)
    except (CheckerError, OSError) as error:
        return Outcome(task, "", "error", error=told(error), exit_code=exits.of_failure(error))
    except Exception:  # noqa: BLE001 (one instance that fails must not hide the others)
        text = traceback.format_exc()
        return Outcome(task, "", "error", error=text, exit_code=exits.INTERNAL)


def _verify(task: Task, memory: int) -> Outcome:
    document = read_same(task.path, task.texts)
    machine = elaborate(document, task.instance, {})
    request = flow.Request(
        task.path,
        task.instance,
        workers=1,
        limits=Limits(memory_bytes=memory),
        vacuity=task.vacuity,
    )
    result = flow.check_machine(request, document, machine, flow.Silent())
    wrong = differences(machine.expectation, result.verdict, result.exploration)
    violated = result.verdict.overall == "violated"
    return Outcome(
        task,
        expected=expectation_text(machine.expectation),
        verdict=verdict_text(result),
        distinct=result.exploration.distinct,
        depth=result.exploration.depth,
        seconds=result.exploration.seconds,
        failure="\n".join(map(str, wrong)) if wrong else None,
        differs=tuple(item.what.partition(":")[0] for item in wrong),
        exit_code=exits.DIFFERENCE if wrong else exits.HOLDS,
        details=_printed(result) if wrong else "",
        report=files.rendered(result, committed=True) if violated else {},
        problems=problems.of_result(result, wrong, task.system, task.file, task.line),
        figures=figures_of(machine.expectation, result.verdict, result.exploration),
        levels=result.exploration.levels,
        rows={row.row: row.fired for row in result.exploration.rows},
        properties={item.name: item.outcome for item in result.verdict.properties},
        looked=result.looked,
    )


def refused(task: Task, error: SpecificationError) -> Outcome:
    """Return the outcome of an instance whose specification is wrong."""
    return Outcome(
        task,
        "",
        "error",
        error=render_all(error.diagnostics),
        exit_code=exits.SPECIFICATION,
        problems=problems.of_diagnostics(task.system, task.instance, error.diagnostics),
    )


def expectation_text(expectation: Expectation | None) -> str:
    """Return what is expected in a few words: `violated: one_owner`."""
    text = expected_verdict(expectation)
    if expectation is not None and expectation.property is not None:
        text += f": {expectation.property}"
    return text


def verdict_text(result: Result) -> str:
    """Return what was found in a few words, what was not judged included."""
    verdict = result.verdict
    broken = ", ".join(item.name for item in verdict.broken)
    if verdict.error is not None:
        return "evaluation error" + f" ({broken} violated before)" * bool(broken)
    if broken:
        return f"violated: {broken}"
    if verdict.unknown_liveness and verdict.safety_holds:
        return f"{verdict.overall} (safety holds, liveness unknown)"
    return (
        f"{verdict.overall}: {verdict.why_undecided}" if verdict.why_undecided else verdict.overall
    )


def _printed(result: Result) -> str:
    text = io.StringIO()
    terminal.print_result(terminal.console(text), result)
    return text.getvalue()
