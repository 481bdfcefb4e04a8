"""`checker diff OLD NEW`: what a change of a specification does to its behaviour."""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker import flow, library
from checker.cli.interrupts import interruptible
from checker.cli.objects import print_object
from checker.cli.options import format_option, overrides, progress_option
from checker.cli.progress import Style, observing
from checker.cli.revisions import commit_of, extract, names_in, top_of
from checker.errors import Interruption, UsageError
from checker.frozen import frozen
from checker.links import real
from checker.machine.machine import Machine
from checker.report import terminal
from checker.report.headline import plural
from checker.search.limits import Limits
from checker.search.progress import Interrupt, interrupted
from checker.semantics.values import format_value
from checker.table import Document
from checker.table.problems import nearest
from checker.table.written import written
from checker.verdict.judge import PropertyVerdict

if TYPE_CHECKING:
    from checker.graph.difference import Difference, Side
    from checker.graph.inclusion import Run
    from checker.graph.labelled import LabelledGraph

EQUAL, DIFFERENT, UNDECIDED = 0, 1, 20
"""The exit codes."""


@frozen(slots=False)
class _Answer:
    """What is said: the graphs, how they differ, and the properties whose verdict is another.

    `renamed` are rows that nobody said to have another name, with the names that were tried; only
    where both sides are `equal` so it is known, else it is a guess. Rows of both that are written
    otherwise are `rewritten`, those of them that no step of either side takes `untaken`. Properties
    that are written otherwise and judged as before are `reworded`, each with its verdict.
    """

    old: LabelledGraph
    new: LabelledGraph
    difference: Difference
    properties: tuple[tuple[str, str, str], ...]
    renamed: Mapping[str, str]
    rewritten: tuple[str, ...] = ()
    untaken: tuple[str, ...] = ()
    reworded: tuple[tuple[str, str], ...] = ()


@click.command()
@click.argument("old")
@click.argument("new", required=False)
@click.option("--instance", default=None, metavar="NAME", help="The instance to take of both.")
@click.option("--old-instance", default=None, metavar="NAME", help="The instance of OLD.")
@click.option("--new-instance", default=None, metavar="NAME", help="The instance of NEW.")
@click.option("--set", "both", multiple=True, metavar="NAME=VALUE", help="A constant of both.")
@click.option("--old-set", multiple=True, metavar="NAME=VALUE", help="A constant of OLD.")
@click.option("--new-set", multiple=True, metavar="NAME=VALUE", help="A constant of NEW.")
@click.option(
    "--rename", multiple=True, metavar="OLD=NEW", help="A row of OLD that NEW calls otherwise."
)
@click.option(
    "--show", type=click.IntRange(0), default=5, show_default=True, help="Differences of a kind."
)
@format_option("markdown")
@progress_option
def diff(
    old: str,
    new: str | None,
    instance: str | None,
    old_instance: str | None,
    new_instance: str | None,
    both: tuple[str, ...],
    old_set: tuple[str, ...],
    new_set: tuple[str, ...],
    rename: tuple[str, ...],
    show: int,
    form: str,
    progress: Style,
) -> int:
    """Say what NEW does that OLD does not, and the other way round.

    Each is a file, a folder, a shipped name, or REVISION:PATH of the git repository here; without
    NEW it is OLD, with other constants or another instance. Exit code 0: the same runs; 1: not;
    20: that could not be decided.
    """
    rows = _pairs(rename)
    with (
        observing(progress) as observer,
        interruptible("local") as interrupt,
        _file(old) as first,
        _file(new or old) as second,
    ):
        before, after = old_instance or instance, new_instance or instance
        requests = [
            flow.Request(first, before or "default", overrides(both + old_set)),
            flow.Request(second, after or "default", overrides(both + new_set)),
        ]
        prepared = [flow.prepare(request, observer) for request in requests]
        machines = [machine for _, machine in prepared]
        observer.stage("compare")
        answer = _compared(machines, rows, show, interrupt)
        observer.stage("judge")
        verdicts = [_verdicts(request, interrupt) for request in requests]
        if interrupted(interrupt):
            raise Interruption("properties were being judged")
    outcomes = [{item.name: item.outcome for item in found} for found in verdicts]
    names = dict.fromkeys((*outcomes[0], *outcomes[1]))
    changed = tuple(
        (name, outcomes[0].get(name, "-"), outcomes[1].get(name, "-"))
        for name in names
        if outcomes[0].get(name) != outcomes[1].get(name)
    )
    documents = [document for document, _ in prepared]
    rewritten, untaken = _rewritten(documents, answer)
    reworded = _reworded(documents, *verdicts)
    answer = replace(
        answer, properties=changed, rewritten=rewritten, untaken=untaken, reworded=reworded
    )
    if form == "json":
        print_object(_object(answer))
    else:
        for line in _text(answer, markdown=form == "markdown"):
            click.echo(line if form == "markdown" else _wrapped(line))
    if answer.difference.equal is None:
        return UNDECIDED
    return EQUAL if answer.difference.equal else DIFFERENT


def _compared(
    machines: list[Machine], rows: Mapping[str, str], show: int, interrupt: Interrupt | None
) -> _Answer:
    from checker.graph.difference import compare, guessed, renamed  # noqa: PLC0415
    from checker.graph.labelled import labelled_graph  # noqa: PLC0415

    for machine, names, whose in zip(machines, (rows, rows.values()), ("OLD", "NEW"), strict=True):
        known = {action.name for action in machine.actions}
        for row in names:
            if row not in known:
                close = nearest(row, known)
                hint = f"; did you mean {close}?" if close else ""
                raise UsageError(f"--rename: {whose} ({machine.name}) has no row {row!r}{hint}")
    graphs = []
    for machine in machines:
        graph = labelled_graph(replace(machine, symmetry=False), interrupt=interrupt)
        assert graph is not None
        graphs.append(graph)
    old, new = renamed(graphs[0], rows), graphs[1]
    found = compare(old, new, show, interrupt=interrupt)
    guess: dict[str, str] = {}
    if not found.equal and found.lost.counts["rows"] and found.gained.counts["rows"]:
        guess = guessed(old, new)
        again = compare(renamed(old, guess), new, show, interrupt=interrupt) if guess else found
        found = again if again.equal else found
    return _Answer(graphs[0], graphs[1], found, (), guess)


def _rewritten(
    documents: list[Document], answer: _Answer
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rows of both sides that are written otherwise, and those of them never taken."""
    old, new = ({row.name.text: written(row) for row in it.rows} for it in documents)
    taken = {label.row for graph in (answer.old, answer.new) for label in graph.labels}
    found = [name for name in new if name in old and new[name] != old[name]]
    return (
        tuple(name for name in found if name in taken),
        tuple(name for name in found if name not in taken),
    )


def _reworded(
    documents: list[Document],
    before: tuple[PropertyVerdict, ...],
    after: tuple[PropertyVerdict, ...],
) -> tuple[tuple[str, str], ...]:
    """Return the properties of both sides that say something else, though their verdict stayed.

    One that `for:` makes several of is named as each of those.
    """
    old, new = ({it.name.text: written(it) for it in document.properties} for document in documents)
    outcomes = {item.name: item.outcome for item in before}
    return tuple(
        (item.name, item.outcome)
        for item in after
        if item.declared in old and item.declared in new
        if old[item.declared] != new[item.declared] and outcomes.get(item.name) == item.outcome
    )


def _verdicts(request: flow.Request, interrupt: Interrupt | None) -> tuple[PropertyVerdict, ...]:
    whole = replace(request, limits=Limits(keep_going=True))
    return flow.check(whole, flow.Silent(), interrupt).verdict.properties


def _pairs(settings: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for setting in settings:
        old, equals, new = setting.partition("=")
        if not (equals and old and new):
            raise UsageError(f"--rename takes OLD=NEW, not {setting!r}")
        found[old] = new
    return found


@contextmanager
def _file(name: str) -> Iterator[str]:
    """Give the path of a specification; of a revision, in a folder that is there for the time.

    UsageError where it is no specification here, and where the revision has none there.
    """
    revision, colon, path = name.partition(":")
    if not colon or Path(name).exists():
        yield str(library.find(name))
        return
    here = Path.cwd()
    top = top_of(here, f"{name}: the current folder is in no git repository")
    inside = _inside(top, here / path, name)
    commit = commit_of(top, revision, f"{name}: the repository {top} has no revision {revision!r}")
    names = names_in(top, commit)
    found = next((it for it in (inside, inside / "system.yaml") if it.as_posix() in names), None)
    if found is None:
        shown = "its top folder" if inside == Path() else inside
        raise UsageError(
            f"{name}: {revision} has no specification at {shown}; name a file that it has, or a "
            f"folder with system.yaml (`git ls-tree -r --name-only {revision}` lists them)"
        )
    with tempfile.TemporaryDirectory(prefix="checker-diff-") as folder:
        extract(top, commit, Path(folder))
        if not (Path(folder) / found).is_file():
            raise UsageError(f"{name}: {found} is no ordinary file in {revision}")
        yield str(Path(folder) / found)


def _inside(top: Path, place: Path, name: str) -> Path:
    """Return a place from the top of a repository; UsageError for one that is not below it.

    What the path is now says nothing of the revision, so only links to the repository count.
    """
    plain = Path(os.path.normpath(place))
    whole = real(top)
    for folder in (plain, *plain.parents):
        if real(folder) == whole:
            return plain.relative_to(folder)
    raise UsageError(f"{name}: {plain} is not in the repository {top}, so no revision has it")


# --------------------------------------------------------------------------------- what is said

_KINDS = {"rows": "row", "steps": "step", "moves": "move", "states": "state"}


def _headline(answer: _Answer) -> str:
    found = answer.difference
    if found.equal is None:
        return f"inconclusive: {found.why}"
    if found.equal:
        names = f", with {plural(len(answer.renamed), 'row')} renamed" * bool(answer.renamed)
        return f"equal: the same runs, {plural(answer.new.states, 'state')}{names}"
    parts = []
    for side, word in ((found.lost, "lost"), (found.gained, "gained")):
        counts = [
            plural(side.counts[kind], one) for kind, one in _KINDS.items() if side.counts[kind]
        ]
        parts.append(f"{word} {', '.join(counts) or ('runs' if side.shorter else 'nothing')}")
    return f"different: {'; '.join(parts)}"


def _text(answer: _Answer, *, markdown: bool) -> Iterator[str]:
    found = answer.difference
    yield f"## {_headline(answer)}" if markdown else _headline(answer)
    yield ""
    sizes = [
        f"{plural(graph.states, 'state')}, {plural(len(graph.targets), 'step')}"
        for graph in (answer.old, answer.new)
    ]
    yield f"{'* ' * markdown}old: {sizes[0]}"
    yield f"{'* ' * markdown}new: {sizes[1]}"
    for which, names in zip(("old", "new"), found.hidden, strict=True):
        if names:
            yield f"{'* ' * markdown}only {which} has, so not compared: {', '.join(names)}"
    for before, after in answer.renamed.items():
        pair = f"`{before}` -> `{after}`" if markdown else f"{before} -> {after}"
        told = "renamed" if found.equal else "perhaps renamed"
        hint = "" if found.equal else f"; `--rename {before}={after}` compares it so"
        yield f"{'* ' * markdown}{told}: {pair}{hint}"
    if answer.rewritten and found.equal:
        told = _named(answer.rewritten, markdown=markdown)
        yield f"{'* ' * markdown}written otherwise, to the same effect: {told}"
    if answer.untaken:
        told = _named(answer.untaken, markdown=markdown)
        yield (
            f"{'* ' * markdown}written otherwise, but never taken in this instance, so nothing is "
            f"said of it: {told}; another may take it (--instance NAME)"
        )
    for name, before, after in answer.properties:
        shown = f"`{name}`" if markdown else name
        yield f"{'* ' * markdown}property {shown}: {before} -> {after}"
    for name, verdict in answer.reworded:
        shown = f"`{name}`" if markdown else name
        yield f"{'* ' * markdown}property {shown}: written otherwise; {verdict}, as before"
    for side, graph, word in (
        (found.lost, answer.old, "lost"),
        (found.gained, answer.new, "gained"),
    ):
        yield from _side(side, graph, word, markdown=markdown)


def _wrapped(line: str) -> str:
    """Return a line of text in as many lines as the terminal needs, indented alike."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    width = terminal.console().width
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _named(names: tuple[str, ...], *, markdown: bool) -> str:
    return ", ".join(f"`{name}`" if markdown else name for name in names)


def _side(side: Side, graph: LabelledGraph, word: str, *, markdown: bool) -> Iterator[str]:
    if side.shorter is not None:
        yield ""
        yield _heading(f"A shortest run that is {word}", markdown=markdown)
        yield from _run(graph, side.shorter)
    for kind, one in _KINDS.items():
        if not side.counts[kind]:
            continue
        yield ""
        counted = f"{word}: {plural(side.counts[kind], one)}"
        yield f"<details><summary>{counted}</summary>\n" if markdown else counted
        for item in side.shown[kind]:
            what = item.what
            if kind == "states":
                # A whole state is no reading; what the last step did to come there is.
                what = ending(graph, item.run) or "initial state"
            yield f"{'* ' if markdown else '  '}{f'`{what}`' if markdown else what}"
            steps = len(item.run[1])
            yield f"{'  ' if markdown else '      '}after {plural(steps, 'step')}: " + (
                " / ".join(_labels(graph, item.run)) or "in an initial state"
            )
        left = side.counts[kind] - len(side.shown[kind])
        if left:
            yield f"{'* ' if markdown else '  '}and {left:,} more"
        if markdown:
            yield "\n</details>"


def _heading(text: str, *, markdown: bool) -> str:
    return f"### {text}\n" if markdown else text


def _run(graph: LabelledGraph, run: Run) -> Iterator[str]:
    labels = _labels(graph, run)
    yield from (f"  {number}. {text}" for number, text in enumerate(labels, 1))
    if run[0] < 0:
        from checker.graph.labelled import CUT_OFF  # noqa: PLC0415

        beyond = run[0] == CUT_OFF
        yield f"  which {'begins beyond the bounds' if beyond else 'fails before it begins'}"
        return
    yield "  which " + (ending(graph, run) or "begins in another state")


def ending(graph: LabelledGraph, run: Run) -> str:
    """Return what the last step of a run changes; empty where it has none."""
    if not run[1]:
        return ""
    step = run[1][-1]
    target = int(graph.targets[step])
    if target < 0:
        return "leads to no state that is kept"
    before, after = graph.state(int(graph.sources[step])), graph.state(target)
    changes = [
        f"{variable.name}: {format_value(a)} -> {format_value(b)}"
        for variable, a, b in zip(graph.machine.variables, before, after, strict=True)
        if a != b
    ]
    return f"changes {'; '.join(changes)}" if changes else "changes nothing"


def _labels(graph: LabelledGraph, run: Run) -> list[str]:
    from checker.graph.difference import run_labels  # noqa: PLC0415

    return run_labels(graph, run)


def _object(answer: _Answer) -> dict[str, object]:
    found = answer.difference
    verdict = {None: "inconclusive", True: "equal", False: "different"}[found.equal]

    def side(one: Side, graph: LabelledGraph) -> dict[str, object]:
        return {
            "states": graph.states,
            "steps": len(graph.targets),
            "only": dict(one.counts),
            "shown": {
                kind: [{"what": item.what, "run": _labels(graph, item.run)} for item in items]
                for kind, items in one.shown.items()
            },
            "run": None if one.shorter is None else _labels(graph, one.shorter),
        }

    return {
        "verdict": verdict,
        "why": found.why or None,
        "renamed": dict(answer.renamed),
        "rewritten": list(answer.rewritten),
        "untaken": list(answer.untaken),
        "shared": list(found.shared),
        "hidden": {"old": list(found.hidden[0]), "new": list(found.hidden[1])},
        "reworded": [{"name": name, "verdict": verdict} for name, verdict in answer.reworded],
        "properties": [
            {"name": name, "old": before, "new": after} for name, before, after in answer.properties
        ],
        "old": side(found.lost, answer.old),
        "new": side(found.gained, answer.new),
    }
