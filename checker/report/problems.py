"""What is wrong with an instance and where, for tools that show it beside the source.

SARIF 2.1.0 for code scanning, with the counterexample as a code flow, and the annotations that
GitHub's runner reads from the log. A problem's fingerprint says what is wrong with which instance,
not in which line, so that it stays the same problem while a file is edited above it.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from checker import __version__
from checker.errors import Diagnostic
from checker.frozen import frozen
from checker.links import real
from checker.machine.machine import Machine
from checker.report.files import encoded, put
from checker.report.headline import plural
from checker.report.result import Result
from checker.report.telling import sentence
from checker.source import NOWHERE, Span
from checker.table.sources import NAMES
from checker.trace.naming import step_name
from checker.trace.trace import Trace
from checker.verdict.expectation import Difference
from checker.verdict.vacuity import Looked
from checker.visible import json_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
EVERY_INSTANCE = "(every instance)"
"""Where a problem is not one instance's alone."""

STEPS = 200
"""Steps of a counterexample that a code flow has at most."""


@frozen()
class Place:
    """A line of a file, and what is to be said there."""

    file: str
    line: int
    column: int
    text: str = ""


@frozen()
class Problem:
    """One thing that is wrong with an instance.

    `rule`: the error code, the property, or the figure. `steps`: the run that shows it. `said` is
    what tells problems of one rule apart that an instance may have several of.
    """

    system: str
    instance: str
    rule: str
    message: str
    place: Place
    steps: tuple[Place, ...] = ()
    said: str = ""

    @property
    def fingerprint(self) -> str:
        """What stays the same of this problem while its file is edited."""
        parts = (self.system, self.instance, self.rule, *([self.said] if self.said else []))
        told = "\x1f".join(parts).encode(errors=NAMES)
        return hashlib.blake2b(told, digest_size=16).hexdigest()


def of_diagnostics(
    system: str, instance: str, diagnostics: Sequence[Diagnostic]
) -> tuple[Problem, ...]:
    """Return the errors of a specification as problems."""
    return tuple(
        Problem(system, instance, item.code, item.message, _place(item.span), said=item.message)
        for item in diagnostics
    )


def of_result(
    result: Result, wrong: Sequence[Difference], system: str, file: str, line: int
) -> tuple[Problem, ...]:
    """Return what is not as declared, at the instance, or at the property that broke."""
    machine = result.machine
    at = Place(file, line, 1)
    if not wrong:
        return ()
    about_verdict = any(item.what in {"verdict", "property"} for item in wrong)
    found = [
        _shown(machine, system, trace, at)
        for trace in (result.traces if about_verdict else ())
        if trace.kind != "sometimes" and not _is_declared(machine, trace.property_name)
    ]
    if found:
        return tuple(found)
    # Beside another verdict, other figures say nothing of their own.
    told = [item for item in wrong if item.what in {"verdict", "property"}] or wrong
    return tuple(
        Problem(system, machine.instance, item.what, f"{machine.instance}: {item}", at)
        for item in told
    )


def of_failure(system: str, instance: str, why: str, file: str, line: int) -> Problem:
    """Return that an instance could not be run: of what is wrong with it nothing is known."""
    told = f"{instance}: it could not be run: {why}"
    return Problem(system, instance, "not run", told, Place(file, line, 1))


def of_vacuous(system: str, item: Looked) -> Problem:
    """Return what no instance of a system ever met, where that is an error, as a problem."""
    message = f"vacuous in every instance that was searched whole: {item}"
    return Problem(system, EVERY_INSTANCE, item.name, message, _place(item.span))


def _shown(machine: Machine, system: str, trace: Trace, at: Place) -> Problem:
    """Return what a trace shows as a problem: a property at its place, an error at its row's."""
    steps = plural(trace.length, "step")
    if trace.failure is None:
        rule, spans = trace.property_name, {item.name: item.span for item in machine.properties}
        text = f"{rule} is violated after {steps}. {sentence(trace.why)}".strip()
        where = spans.get(rule)
    else:
        failure, rule = trace.failure, trace.failure.code
        spans = {item.name: item.span for item in machine.properties}
        spans |= {item.name: item.span for item in machine.actions}
        where = spans.get(failure.row or failure.property or "")
        in_what = f" in {failure.row or failure.property}" if where is not None else ""
        text = f"evaluation error{in_what} after {steps}. {sentence(failure.message)}"
    message = f"{machine.instance}: {text}"
    place = at if where is None else _place(where)
    return Problem(system, machine.instance, rule, message, place, _steps(trace))


def _is_declared(machine: Machine, name: str) -> bool:
    """Whether an instance declares that a property may break."""
    declared = (item.declared for item in machine.properties if item.name == name)
    return machine.expectation is not None and machine.expectation.allows(name, *declared)


def _steps(trace: Trace) -> tuple[Place, ...]:
    spans = {action.name: action.span for action in trace.machine.actions}
    places = []
    for step in trace.steps[:STEPS]:
        span = spans.get(step.row, trace.machine.initial.span)
        if span is not NOWHERE:
            changes = "; ".join(map(str, step.changes))
            text = f"{step.number}  {step_name(step)}" + (f": {changes}" if changes else "")
            places.append(_place(span, text))
    return tuple(places)


def _place(span: Span, text: str = "") -> Place:
    return Place(span.source.name, span.line, span.column, text)


def _relative(file: str) -> str:
    """Return a file relative to the working directory where it lies below it."""
    path = real(Path(file))
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


# ------------------------------------------------------------------------------------------ SARIF


def write_sarif(problems: Iterable[Problem], path: Path, unknown: Sequence[str] = ()) -> None:
    """Write problems as SARIF; a file with no results says that nothing is wrong.

    `unknown` are sentences on what was not found out, so that it does not say so of that.
    """
    found = list(problems)
    rules = sorted({problem.rule for problem in found})
    driver = {
        "name": "checker",
        "version": __version__,
        "rules": [{"id": rule, "shortDescription": {"text": rule}} for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(unknown)],
        "columnKind": "unicodeCodePoints",
        "results": [_sarif(problem, rules, name) for problem, name in _apart(found)],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    put(path, encoded(json_text(log, indent=1) + "\n"))


def _apart(problems: Iterable[Problem]) -> Iterator[tuple[Problem, str]]:
    """Yield each problem with a fingerprint of its own; of equal ones those after the first count.

    Who keeps problems by their fingerprints would have one of them.
    """
    met: Counter[str] = Counter()
    for problem in problems:
        name = problem.fingerprint
        met[name] += 1
        yield problem, name if met[name] == 1 else f"{name}/{met[name]}"


def _invocation(unknown: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = {"executionSuccessful": not unknown}
    if unknown:
        told = [{"level": "error", "message": {"text": text}} for text in unknown]
        found["toolExecutionNotifications"] = told
    return found


def _sarif(problem: Problem, rules: list[str], fingerprint: str) -> dict[str, object]:
    found: dict[str, object] = {
        "ruleId": problem.rule,
        "ruleIndex": rules.index(problem.rule),
        "level": "error",
        "message": {"text": f"{problem.system}: {problem.message}"},
        "locations": [_location(problem.place)],
        "partialFingerprints": {"checker/v1": fingerprint},
    }
    if problem.steps:
        flow = [{"location": _location(step)} for step in problem.steps]
        found["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return found


def _location(place: Place) -> dict[str, object]:
    found: dict[str, object] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(place.file)},
            "region": {"startLine": place.line, "startColumn": place.column},
        }
    }
    if place.text:
        found["message"] = {"text": place.text}
    return found


def _uri(file: str) -> str:
    """Return a file relative to where the run began; one that lies elsewhere with its scheme."""
    name = _relative(file)
    return Path(name).as_uri() if Path(name).is_absolute() else quote(os.fsencode(name))


# ----------------------------------------------------------------------------- GitHub annotations


def annotation(problem: Problem) -> str:
    """Return the line that makes GitHub's runner show a problem beside its source."""
    place = problem.place
    title = f"{problem.system} {problem.instance}: {problem.rule}"
    properties = f"file={_property(_relative(place.file))},line={place.line},col={place.column}"
    return f"::error {properties},title={_property(title)}::{_data(problem.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
