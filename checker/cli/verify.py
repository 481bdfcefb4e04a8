"""`checker verify [SPEC ...]`: every instance against its declared expectation; the gate of CI."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from checker import errors, library
from checker.cli import expectations
from checker.cli.configuration import SpokenOption, spoken
from checker.cli.gate import Outcome, Task, declared, refused, tasks_of, verify_all
from checker.cli.objects import print_object
from checker.cli.options import A_FILE, A_FOLDER, output_options, vacuity_option
from checker.cli.progress import Style, observing
from checker.cli.remembered import matrices, recall, remember
from checker.cli.since import untouched
from checker.cli.spreading import Where, spreading_options
from checker.errors import SpecificationError, UsageError
from checker.flow import spec_name
from checker.report import dashboard, junit, problems, terminal
from checker.report.dashboard import TITLE, Line
from checker.report.headline import plural
from checker.report.summary import told
from checker.table import Document, read
from checker.table.problems import nearest
from checker.verdict import exits
from checker.verdict.vacuity import Looked, Vacuity
from checker.visible import json_text, visible


@click.command()
@click.argument("specs", metavar="[SPEC]...", nargs=-1)
@click.option(
    "--instance",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only the instances of this name, whatever their tier. Repeatable.",
)
@click.option("--all", "every_tier", is_flag=True, help="Also instances of tier full.")
@click.option(
    "--since",
    "revision",
    metavar="REV",
    help="Only instances that behave, or declare, otherwise than in this git revision.",
)
@spreading_options
@click.option(
    "--fresh", is_flag=True, help="Search also what was as declared before and is unchanged."
)
@vacuity_option
@click.option(
    "--junit",
    "junit_file",
    type=A_FILE,
    metavar="FILE",
    help="Write JUnit XML.",
)
@click.option(
    "--sarif",
    "sarif_file",
    type=A_FILE,
    metavar="FILE",
    help="Write what is not as declared as SARIF, for code scanning.",
)
@click.option(
    "--update",
    "updating",
    is_flag=True,
    cls=SpokenOption,
    does="changes specifications",
    help="Write the figures found into the specifications, after showing the difference.",
)
@click.option(
    "--pin",
    "pinned",
    multiple=True,
    type=click.Choice(expectations.FIGURES),
    help="With --update: write this figure also where none is declared. Repeatable.",
)
@click.option(
    "--report",
    "directory",
    type=A_FOLDER,
    metavar="DIR",
    help="Write the dashboard, and a report of each violation.",
)
@click.option("--title", metavar="TEXT", help=f"With --report: the dashboard's title.  [{TITLE}]")
@click.option(
    "--check", "checking", is_flag=True, help="With --report: compare with DIR, write nothing."
)
@output_options
def verify(
    specs: tuple[str, ...],
    names: tuple[str, ...],
    every_tier: bool,
    revision: str | None,
    engine: str,
    workers: int | None,
    master: str | None,
    conf: tuple[str, ...],
    fresh: bool,
    vacuity: Vacuity,
    junit_file: Path | None,
    sarif_file: Path | None,
    updating: bool,
    pinned: tuple[str, ...],
    directory: Path | None,
    title: str | None,
    checking: bool,
    form: str,
    progress: Style,
) -> int:
    """Verify the instances of each SPEC, by default of all that are shipped.

    An instance that declares no expectation must hold. Exit code 1: one is not as declared, or
    the committed reports are out of date (--check). With --update figures are written into the
    specifications, verdicts and properties never: those a person changes.
    """
    where = Where(engine, workers, master, conf)
    where.refuse()
    _refuse(
        checking=checking and directory is None,
        pinning=bool(pinned) and not updating,
        titled=spoken("title") and directory is None,
        partly=directory is not None and bool(names or revision),
    )
    with observing(progress):  # tells what makes runs slow
        known, broken, documents = _tasks(specs, revision, apart=directory is None)
    known = [replace(task, vacuity=vacuity) for task in known]
    there = {task.instance for each in documents.values() for task in tasks_of(each)}
    tasks = _selected(known, there, names, every_tier=every_tier)
    if updating:
        for task in tasks:
            library.refuse_to_change(Path(task.file))
    fresh = fresh or vacuity != "off"  # what is remembered was not asked
    outcomes, interrupted = _run(tasks, where, progress, fresh=fresh)
    for outcome in outcomes:
        if not outcome.remembered:
            remember(outcome)
    done = {outcome.task for outcome in outcomes}
    left = [declared(task, documents[task.path]) for task in tasks if task not in done]
    outcomes = broken + outcomes
    unwritten: list[str] = []
    if updating:
        outcomes, unwritten = expectations.update(outcomes, pinned)
    nothing = vacuous_everywhere(outcomes)
    _print(outcomes, left, form, nothing)  # first: a file may fail to be written
    # Instances that were not run any more may show what others did not.
    wrong = nothing if vacuity == "error" and not interrupted else ()
    _write([*outcomes, *left], wrong, junit_file, sarif_file)
    for line in unwritten:
        click.echo(visible(f"error: {line}"), err=True)
    codes = {outcome.exit_code for outcome in outcomes}
    codes |= {exits.USAGE} if unwritten else set()
    codes |= {exits.UNWITNESSED} if wrong else set()
    codes |= {exits.INTERRUPTED} if interrupted else set()
    unknown = len(left) + sum(outcome.error is not None for outcome in outcomes)
    if directory is not None and unknown:  # that says nothing of the system
        told = f"{plural(unknown, 'instance')} could not be run" + " (interrupted)" * interrupted
        click.echo(f"the reports in {directory} are left as they are: {told}", err=True)
    elif directory is not None:
        skipped = [declared(task, documents[task.path]) for task in known if task not in tasks]
        only = {task.system for task in known} if spoken("specs") else None
        stale = _report([*outcomes, *skipped], known, directory, title, only, checking=checking)
        if stale:
            said = specs if only is not None else ()
            again = shlex.join(("checker", "verify", *said, "--report", str(directory)))
            click.echo(f"write them again: {again}", err=True)
        codes |= {exits.DIFFERENCE} if stale else set()
    return next((code for code in _ORDER if code in codes), exits.HOLDS)


_ORDER = (
    exits.INTERNAL,
    exits.SPECIFICATION,
    exits.USAGE,
    exits.DIFFERENCE,
    exits.UNWITNESSED,
    exits.INTERRUPTED,
)
"""Of the exit codes that apply the first one here counts."""


def _refuse(*, checking: bool, pinning: bool, titled: bool, partly: bool) -> None:
    """Raise UsageError for options that do not go together."""
    if checking:
        raise UsageError("--check compares with the directory of --report; name it")
    if pinning:
        raise UsageError("--pin says what --update writes; add --update")
    if titled:
        raise UsageError("--title is that of the dashboard; name its directory by --report")
    if partly:
        raise UsageError(
            "--report writes the reports of all instances; leave out what selects some"
        )


def _selected(
    known: list[Task], there: set[str], names: tuple[str, ...], *, every_tier: bool
) -> list[Task]:
    """Return the instances to run; UsageError for a name that is not `there`."""
    if not names:
        return [task for task in known if every_tier or task.tier == "quick"]
    for name in names:
        if name not in there and there:
            close = nearest(name, there)
            hint = f"; did you mean {close}?" if close else ""
            raise UsageError(f"no instance is called {name!r}{hint}")
    return [task for task in known if task.instance in names]


def _write(
    outcomes: Sequence[Outcome],
    nothing: Sequence[tuple[str, Looked]],
    junit_file: Path | None,
    sarif_file: Path | None,
) -> None:
    """Write what other tools read: files, and annotations where GitHub runs this.

    Of an instance that was not run, or could not be, they say so: what lacks one says that nothing
    is wrong with it. `nothing` is what is vacuous, where that is an error. A file that cannot be
    written costs no other: each is told, and the first OSError is raised when all else is done.
    """
    failures: list[OSError] = []
    found = [problem for outcome in outcomes for problem in outcome.problems]
    found += [problems.of_vacuous(system, item) for system, item in nothing]
    unrun = [_unrun(it) for it in outcomes if it.error is not None and not it.problems]
    unknown = [f"{problem.system} {problem.message}" for problem in unrun]
    unknown += [f"{it.task.system} {it.task.instance}: {LEFT}" for it in outcomes if not it.run]
    if junit_file is not None:
        cases = [*map(_case, outcomes), *(_vacuous_case(*item) for item in nothing)]
        try:
            junit.write(cases, junit_file, "checker verify")
        except OSError as failure:
            failures.append(failure)
    if sarif_file is not None:
        try:
            problems.write_sarif(found, sarif_file, unknown)
        except OSError as failure:
            failures.append(failure)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for problem in (*found, *unrun):
            click.echo(problems.annotation(problem), err=True)
    for later in failures[1:]:
        click.echo(visible(f"error: {errors.told(later)}"), err=True)
    if failures:
        raise failures[0]


LEFT = "interrupted before it was run"
"""What is said of an instance that nobody tried to run."""


def _unrun(outcome: Outcome) -> problems.Problem:
    task, why = outcome.task, (outcome.error or "").strip().splitlines() or [""]
    # What is last in a traceback is what went wrong; all else that is told has a line.
    return problems.of_failure(task.system, task.instance, why[-1], task.file, task.line)


def _tasks(
    specs: tuple[str, ...], revision: str | None = None, *, apart: bool = True
) -> tuple[list[Task], list[Outcome], dict[str, Document]]:
    """Return every instance, and an outcome for each specification that cannot be read.

    With them those that can, by path. With a revision, only instances that are not the same there.
    Specifications of one name are told `apart` by their paths; UsageError where they cannot be.
    """
    named = {library.place_of(path): path for path in map(library.find, specs)}
    paths = list(named.values()) or [
        entry.path for entry in library.shipped() if entry.kind != "table"
    ]
    documents: list[Document] = []
    broken: list[Outcome] = []
    for path in paths:
        try:
            documents.append(read(path))
        except SpecificationError as error:
            name = library.name_of(path)
            at = error.diagnostics[0].span
            task = Task(str(path), name, "(specification)", "quick", at.source.name, at.line)
            broken.append(refused(task, error))
    tasks = [task for document in documents for task in tasks_of(document)]
    called = _called([*tasks, *(outcome.task for outcome in broken)], apart=apart)
    tasks = [replace(task, system=called[task.path]) for task in tasks]
    broken = [replace(it, task=replace(it.task, system=called[it.task.path])) for it in broken]
    if revision is not None:
        same = untouched(documents, revision, named=bool(specs))
        tasks = [task for task in tasks if (task.path, task.instance) not in same]
        click.echo(f"{plural(len(tasks), 'instance')} changed since {revision}", err=True)
    return tasks, broken, {document.path: document for document in documents}


def _called(tasks: list[Task], *, apart: bool) -> dict[str, str]:
    """Return what the specification in each path is called where its instances are told."""
    paths: dict[str, dict[str, None]] = {}
    for task in tasks:
        paths.setdefault(task.system, {})[task.path] = None
    for name, same in paths.items():
        if len(same) > 1 and not apart:
            raise UsageError(
                f"{' and '.join(same)} are both called {name}, and reports have a folder for each "
                "name; write those of one at a time"
            )
    return {
        path: name if len(same) == 1 else f"{name} ({spec_name(path)})"
        for name, same in paths.items()
        for path in same
    }


def _run(
    tasks: list[Task], where: Where, progress: Style, *, fresh: bool
) -> tuple[list[Outcome], bool]:
    """Verify `tasks`; return the outcomes in their order, and whether Ctrl-C ended it before.

    What is remembered is not run again, unless `fresh`.
    """
    found: dict[Task, Outcome] = {}
    interrupted = False
    started = time.monotonic()
    for task in tasks:
        known = None if fresh else recall(task)
        if known is not None:
            found[task] = known
            _tell(known, progress, len(found), len(tasks))
    recalled = len(found)
    try:
        left = [task for task in tasks if task not in found]
        for outcome in _searched(left, where, progress):
            found[outcome.task] = outcome
            _tell(outcome, progress, len(found), len(tasks))
    except KeyboardInterrupt:
        interrupted = True
    if progress == "auto" and len(found) > 1:
        longest = max(found.values(), key=lambda outcome: outcome.seconds)
        seconds = time.monotonic() - started
        click.echo(
            f"{plural(len(found), 'instance')} in {seconds:.1f} s; the longest search was "
            f"{longest.task.system} {longest.task.instance} ({longest.seconds:.1f} s)"
            + (f"; {recalled} remembered from earlier runs (--fresh)" if recalled else ""),
            err=True,
        )
    return [found[task] for task in tasks if task in found], interrupted


def _searched(tasks: list[Task], where: Where, progress: Style) -> Iterator[Outcome]:
    """Yield the outcome of each task, searched now."""
    if tasks:
        with observing(progress) as observer, where.spread(len(tasks), observer.notice) as spread:
            yield from verify_all(tasks, spread)


def _tell(outcome: Outcome, progress: Style, done: int, all_of_them: int) -> None:
    """Print a finished instance on stderr, and how many of all are."""
    if progress == "none":
        return
    task = outcome.task
    state = "ok" if outcome.exit_code == exits.HOLDS else "DIFFERENT"
    state = "known" if outcome.remembered else state
    if progress == "json":
        event = {"version": 1, "stage": "verify", "system": task.system, "instance": task.instance}
        event |= {"result": state, "done": done, "of": all_of_them}
        print(json_text(event, plain=True), file=sys.stderr, flush=True)  # noqa: T201
    else:
        count = f"[{done:>{len(str(all_of_them))}}/{all_of_them}]"
        text = f"{count} {state:<9} {task.system} {task.instance}: {outcome.verdict}"
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def _case(outcome: Outcome) -> junit.Case:
    judged = outcome.run and outcome.error is None
    details = "\n\n".join(part for part in (outcome.failure, outcome.details) if part)
    return junit.Case(
        outcome.task.system,
        outcome.task.instance,
        outcome.seconds,
        f"expected {outcome.expected}; {outcome.verdict}" if judged else "",
        details or None,
        outcome.error,
        outcome.task.file,
        outcome.task.line,
        None if outcome.run else LEFT,
    )


def _vacuous_case(system: str, item: Looked) -> junit.Case:
    problem = problems.of_vacuous(system, item)
    return junit.Case(
        system,
        f"{item.name} {problem.instance}",
        0.0,
        "",
        f"{problem.message}\nat {item.span}",
        None,
        problem.place.file,
        problem.place.line,
    )


def vacuous_everywhere(outcomes: Sequence[Outcome]) -> tuple[tuple[str, Looked], ...]:
    """Return, with its system, what is vacuous in every instance that has it.

    An instance that stopped early says only what it met. A row that one variant leaves without
    work, or a property that one fixes, is no finding while another instance shows it.
    """
    merged: dict[tuple[str, str, str, str], Looked] = {}
    for outcome in outcomes:
        for item in outcome.looked:
            key = (outcome.task.system, item.name, item.message, str(item.span))
            known = merged.get(key)
            if known is None or item.seen or (known.seen is None and item.seen is False):
                merged[key] = item
    return tuple((key[0], item) for key, item in merged.items() if item.seen is False)


def _print(
    outcomes: list[Outcome],
    left: list[Outcome],
    form: str,
    nothing: Sequence[tuple[str, Looked]],
) -> None:
    """Print what `outcomes` are; some are `left` if the run was interrupted."""
    if form == "json":
        found: dict[str, object] = {"instances": [_object(item) for item in (*outcomes, *left)]}
        if any(outcome.looked for outcome in outcomes):
            found["vacuous"] = [{"system": system, **told(item)} for system, item in nothing]
        print_object(found)
        return
    out = terminal.console()
    terminal.print_outcomes(out, [_line(outcome) for outcome in outcomes])
    for outcome in outcomes:
        for text in (outcome.failure, outcome.details, outcome.error):
            if text:
                click.echo(f"\n{outcome.task.system} {outcome.task.instance}\n{text.rstrip()}")
    for system, item in nothing:
        where = f"every instance of {system} that was searched whole"
        click.echo(f"\nvacuous in {where}: {item}\n  at {item.span}")
    bad = sum(outcome.exit_code != exits.HOLDS for outcome in outcomes)
    wanted = len(outcomes) + len(left)
    parts = [plural(wanted, "instance"), f"{bad} not as declared" if bad else "all as declared"]
    if left:
        parts = [parts[0], f"{bad} not as declared", f"{len(left)} not run (interrupted)"]
    known = sum(outcome.remembered for outcome in outcomes)
    parts += [f"{known} of them known from before"] if known else []
    click.echo("\n" + ", ".join(parts))


def _object(outcome: Outcome) -> dict[str, object]:
    task = outcome.task
    return {
        "system": task.system,
        "instance": task.instance,
        "tier": task.tier,
        "expected": outcome.expected,
        "verdict": outcome.verdict,
        "met": outcome.exit_code == exits.HOLDS if outcome.run else None,
        "distinct": outcome.distinct if outcome.run else None,
        "depth": outcome.depth if outcome.run else None,
        "seconds": round(outcome.seconds, 6),
        "failure": outcome.failure,
        "error": outcome.error,
        "remembered": outcome.remembered,
    }


def _line(outcome: Outcome) -> Line:
    task = outcome.task
    return Line(
        task.system,
        task.instance,
        task.tier,
        outcome.expected,
        outcome.verdict,
        outcome.distinct,
        outcome.depth,
        met=outcome.exit_code == exits.HOLDS if outcome.run else None,
        report=outcome.report,
        about=task.about,
        levels=outcome.levels,
        rows=outcome.rows,
        properties=outcome.properties,
        failure=outcome.failure or "",
    )


def _systems(order: list[Task], lines: list[Line]) -> dict[str, tuple[str, str]]:
    """Return what each system is about, and its page."""
    from checker.report.system import system_page  # noqa: PLC0415 (only where one is written)

    found = {}
    for path in dict.fromkeys(task.path for task in order):
        document = read(library.find(path))
        name = document.name.text
        mine = [line for line in lines if line.system == name]
        found[name] = document.about, system_page(document, mine, matrices(document))
    return found


def _report(
    outcomes: list[Outcome],
    order: list[Task],
    directory: Path,
    title: str | None,
    only: Collection[str] | None,
    *,
    checking: bool,
) -> list[str]:
    """Write the reports, or return which of those in `directory` are out of date.

    Those of other systems than `only` these, or all, stay as they are.
    """
    place = {task: index for index, task in enumerate(order)}
    lines = [_line(item) for item in sorted(outcomes, key=lambda item: place.get(item.task, -1))]
    kept = dashboard.Kept() if only is None else dashboard.kept_of(directory)
    wanted = dashboard.pages(lines, title, _systems(order, lines), kept)
    if not checking:
        dashboard.write(wanted, directory, only)
        click.echo(f"{len(wanted)} files written to {directory}", err=True)
        return []
    stale = dashboard.stale(wanted, directory, only)
    for name in stale:
        click.echo(f"out of date: {directory / name}", err=True)
    return stale
