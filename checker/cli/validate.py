"""`checker validate SPEC LOG`: does some run of the model show what a log recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

import click

from checker import __version__, flow
from checker.cli.interrupts import interruptible
from checker.cli.mapped import (
    Decided,
    Mapped,
    decided_by,
    mapped,
    mapped_options,
    mapping_file,
    once_more,
)
from checker.cli.objects import print_object
from checker.cli.options import A_FILE, overrides
from checker.cli.progress import Style, observing
from checker.conformance import story
from checker.conformance.doubts import Doubts, refuse_contradictions
from checker.conformance.explain import Explanation, Limits, explain
from checker.conformance.forms import Value
from checker.conformance.log import Log, judged_values
from checker.conformance.mapping import read_mapping
from checker.conformance.places import Taken
from checker.conformance.recording import Recording
from checker.conformance.space import Space
from checker.errors import UsageError
from checker.report import terminal
from checker.report.files import encoded, naming, put
from checker.verdict import exits
from checker.visible import json_text

EXITS = {
    "explained": exits.HOLDS,
    "diverges": exits.DIFFERENCE,
    "inconclusive": exits.INCONCLUSIVE,
}
SERIOUS = ("explained", "inconclusive", "diverges")
NOTHING_READ = "nothing in the log has a form in the mapping, so nothing was judged"
DEFAULT = Limits()
BEGINNINGS = (100, 1_000, 10_000)
"""States after any steps in which a log may begin, one number after the other."""


@click.command()
@click.argument("spec")
@click.argument(
    "logs",
    metavar="LOG...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--limit-states",
    type=click.IntRange(1),
    default=DEFAULT.places,
    show_default=True,
    metavar="N",
    help="States that may fit at a time; beyond, some are dropped and nothing diverges any more.",
)
@click.option(
    "--limit-lines",
    type=click.IntRange(1),
    default=DEFAULT.lines,
    show_default=True,
    metavar="N",
    help="Lines that may lie within the error of the clocks; beyond, nothing is decided.",
)
@click.option(
    "--midway",
    is_flag=True,
    help="The log begins in the middle of a run, after any steps.",
)
@click.option(
    "--run",
    "run_file",
    type=A_FILE,
    metavar="FILE",
    help="Write a run that explains the log, or as much of it as can be, a step a line.",
)
@mapped_options
def validate(
    spec: str,
    logs: tuple[Path, ...],
    given: Path | None,
    instance: str | None,
    settings: tuple[str, ...],
    limit_states: int,
    limit_lines: int,
    midway: bool,
    run_file: Path | None,
    junit_file: Path | None,
    page_file: Path | None,
    form: str,
    progress: Style,
) -> int:
    """Decide whether SPEC explains the run that LOG recorded; of several, one a clock.

    Exit code 0: some run of the model shows every line; 1: none does; 20: undecided.
    """
    for log in logs:
        if not log.is_file():
            raise UsageError(f"{log} is no ordinary file; a log is read more than once")
    with observing(progress) as observer, interruptible("local") as interrupt:
        limits = Limits(limit_states, limit_lines)
        judge = _Judge(spec, given, logs, instance, settings, limits, observer, interrupt)
        all_told = judge.all_told(run_file, midway=midway)
    told = max(all_told, key=lambda one: SERIOUS.index(one.found.verdict))
    again = once_more(
        ("validate", told.name, *map(str, logs)),
        told.space.bound.machine.instance,
        settings,
        given,
        (
            ("--midway", midway, False),
            ("--limit-states", limits.places, DEFAULT.places),
            ("--limit-lines", limits.lines, DEFAULT.lines),
        ),
    )
    if form == "json":
        object_ = story.told_object(told, __version__)
        print_object({**object_, **story.each(all_told)})
    else:
        story.print_told(terminal.console(), told, all_told)
    # Last: what cannot be written must not cost what was found.
    if junit_file is not None:
        story.write_junit(told, junit_file)
    if page_file is not None:
        put(page_file, encoded(story.page(told, told.about, again)))
    if judge.unwritten:
        raise judge.unwritten[0]
    if interrupt.is_set() and told.found.verdict == "inconclusive":
        return exits.INTERRUPTED
    return EXITS[told.found.verdict]


@dataclass
class _Judge:
    """What logs are judged by; `models` are those that were built, by what a log decides."""

    spec: str
    given: Path | None
    logs: tuple[Path, ...]
    instance: str | None
    settings: tuple[str, ...]
    limits: Limits
    observer: flow.Observer
    interrupt: Event
    models: dict[Decided, tuple[Mapped, Space]] = field(default_factory=dict)
    decided: dict[object, Decided] = field(default_factory=dict)
    """What the logs decide, by what they are asked for it: for most values the same."""

    doubts: Doubts = field(default_factory=Doubts)
    unwritten: list[OSError] = field(default_factory=list)
    """Why steps of runs could not be written."""

    def all_told(self, run_file: Path | None, *, midway: bool) -> list[story.Told]:
        """Return the verdict for each value of the mapping's `each`; where it is one log, once.

        Where not all are explained, they are judged by the mapping's variants, too.
        """
        recording = read_mapping(mapping_file(self.spec, self.given, recorded=True)).recording
        said = overrides(self.settings).keys()
        ways = {"": recording} | {
            one.name: recording.varied(one)
            for one in recording.variants
            if said.isdisjoint(dict(one.constants))
        }
        tried: list[list[story.Told]] = []
        for name, varied in ways.items():
            told = self.judged(varied, name, run_file, midway=midway)
            if all(one.found.verdict == "explained" and not one.found.events for one in told):
                nothing = Explanation("inconclusive", why=NOTHING_READ)
                return [replace(one, found=nothing) for one in told]
            if _distance(told)[0] == 0 or self.interrupt.is_set():
                return told
            tried.append(told)
        least = min(_distance(told) for told in tried)
        nearest = [told for told in tried if _distance(told) == least]
        nearest = [self._settled(told, ways[told[0].variant], midway=midway) for told in nearest]
        found = min(nearest, key=_distance)
        name = found[0].variant
        if run_file is not None and name != [*ways][-1]:
            self.judged(ways[name], name, run_file, midway=midway)
        for one in found:
            if run_file is not None and one.found.run is not None:  # what explains it after all
                self._write(_of(run_file, one.value), *one.found.run)
        return found

    def _write(self, run_file: Path, space: Space, steps: Iterable[Taken]) -> None:
        with ExitStack() as stack:
            write = _writer(space, run_file, stack, self.unwritten)
            for taken in steps:
                write(taken)

    def judged(
        self, recorded: Recording, variant: str, run_file: Path | None, *, midway: bool
    ) -> list[story.Told]:
        """Return the verdict for each value by one variant."""
        each = () if recorded.lines is None else recorded.lines.each
        judged: dict[tuple[Decided, str], story.Told] = {}
        found = []
        for value in judged_values(self.logs, each):
            recording = recorded.of(value)
            asked = recording.decides
            if asked not in self.decided:
                self.decided[asked] = decided_by(recording, self.logs, recorded.lines)
            decided = self.decided[asked]
            alone = run_file is not None or not value
            same = decided, story.key(value) if alone else Log(self.logs, recording).digest()
            if same not in judged:
                model = self.model(decided)
                judged[same] = self.told(recording, model, value, run_file, midway=midway)
            found.append(replace(judged[same], value=value, variant=variant))
        if not found:
            names = ", ".join(one.name for one in each)
            raise UsageError(f"the log says nothing of any {names}: there is nothing to judge")
        return found

    def told(
        self,
        recording: Recording,
        model: tuple[Mapped, Space],
        value: Value,
        run_file: Path | None,
        *,
        midway: bool,
    ) -> story.Told:
        """Return the verdict on the logs, read for a value of the mapping's `each`."""
        found, space = model
        self.observer.stage("explain")
        begun = time.perf_counter()
        most = self.limits.places
        # A run that begins anywhere is looked for among few beginnings first.
        for beginnings in sorted({min(n, most) for n in BEGINNINGS}) if midway else (0,):
            log = Log(self.logs, recording, midway=midway)
            run = None if run_file is None else _of(run_file, value)
            with ExitStack() as stack:
                sink = None if run is None else _writer(space, run, stack, self.unwritten)
                events, clock = log.events(), recording.clock
                explanation = explain(
                    *(space, events, clock, self.limits, self.interrupt, sink),
                    beginnings=beginnings,
                )
            if explanation.verdict == "explained" or self.interrupt.is_set():
                break
        seconds = time.perf_counter() - begun
        return story.Told(
            space,
            found.name,
            self.logs,
            explanation,
            log.left_out,
            seconds,
            value,
            found.mapping.about,
        )

    def _settled(
        self,
        told: list[story.Told],
        recorded: Recording,
        *,
        midway: bool,
    ) -> list[story.Told]:
        """Return what was told; undecided where what the mapping leaves out makes it diverge."""
        known: dict[int, Explanation] = {}

        def settled(one: story.Told) -> Explanation:
            recording = recorded.of(one.value)
            mapped_, space = self.model(self.decided[recording.decides])

            def again(other: Space, sink: Callable[[Taken], None], states: int) -> Explanation:
                limits = replace(self.limits, places=states, drop=False)
                events = Log(self.logs, recording, midway=midway).events()
                return explain(
                    *(other, events, recording.clock, limits, self.interrupt, sink),
                    beginnings=states if midway else 0,
                )

            return self.doubts.settled(one.found, space, mapped_.mapping, again)

        for one in told:
            if one.found.verdict == "diverges" and id(one.found) not in known:
                known[id(one.found)] = settled(one)
        return [replace(one, found=known.get(id(one.found), one.found)) for one in told]

    def model(self, decided: Decided) -> tuple[Mapped, Space]:
        """Return the model of logs that decide the same, built once."""
        known = self.models.get(decided)
        if known is None:
            asked = (self.spec, self.given, self.instance, self.settings, self.observer)
            found = mapped(*asked, decided=decided)
            self.observer.stage("build")
            known = self.models[decided] = (found, Space(found.bound))
            refuse_contradictions(known[1])
        return known


def _distance(told: list[story.Told]) -> tuple[int, int]:
    """Return how far a log is from being explained: by the verdict, and by the lines explained."""
    worst = max(SERIOUS.index(one.found.verdict) for one in told)
    return worst, -min(one.found.events for one in told)


def _writer(
    space: Space, file: Path, stack: ExitStack, unwritten: list[OSError]
) -> Callable[[Taken], None]:
    """Return what writes each step of a run to a file; why that fails goes to `unwritten`.

    The run is not there again later, and what is found of it must not be lost with it. OSError
    where there can be no such file at all.
    """
    names = story.StepNames(space)
    with naming(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.open("w", encoding="utf-8")
    failed = len(unwritten)

    def write(taken: Taken) -> None:
        if len(unwritten) == failed:
            with _noting(unwritten, file):
                lines.write(f"{json_text(names.line(taken))}\n")

    def close() -> None:  # which writes the rest of it
        with _noting(unwritten, file):
            lines.close()

    stack.callback(close)
    return write


@contextmanager
def _noting(unwritten: list[OSError], file: Path) -> Iterator[None]:
    try:
        with naming(file):
            yield
    except OSError as error:
        unwritten.append(error)


def _of(file: Path, value: Value) -> Path:
    return file.with_name(f"{file.stem}.{story.key(value)}{file.suffix}") if value else file
