"""The page to read first: from a YAML file to a verdict and its traces, one line an arrow.

read -> elaborate -> pack -> build -> explore -> judge -> rebuild -> write
"""

from __future__ import annotations

import difflib
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from checker import library
from checker.elaborate import elaborate
from checker.elaborate.alike import unlike
from checker.elaborate.recalled import recalled
from checker.engines import ENGINES, Native, Orders
from checker.errors import Interruption, SpecificationError, UsageError
from checker.frozen import frozen
from checker.graph.endless import judge_endless
from checker.kernel import build
from checker.layout import pack
from checker.machine.machine import LIVENESS, Machine
from checker.memory import peak_rss
from checker.report.result import Result
from checker.search.exploration import Exploration
from checker.search.limits import Limits
from checker.search.options import CHECKPOINT_SECONDS, Compact, Options
from checker.search.progress import Interrupt, Progress, interrupted
from checker.semantics.symmetry import RENAMINGS_MAX, reduces
from checker.spark.session import Cluster
from checker.table import Document, read
from checker.table.predicate import QUERY, nameable, with_predicate
from checker.trace.rebuild import rebuild_all
from checker.trace.trace import Provenance, Trace
from checker.verdict.judge import Verdict, judge
from checker.verdict.vacuity import Vacuity, asking, looked, refusing

BUILT_IN = ("legal", "deadlock")

BRIEF_STATES = 100_000
"""Where no more states than this are declared, code is written that is there sooner and slower."""


class Observer(Protocol):
    """Who is told how far a run is."""

    def stage(self, name: str) -> None:
        """A stage begins; its name is the verb of its arrow."""

    def search(self, progress: Progress) -> None:
        """The search goes on."""

    def notice(self, text: str) -> None:
        """Something that a user should know at once: a sentence."""


class Silent:
    """Tells nobody."""

    def stage(self, name: str) -> None:
        """Ignore a stage."""

    def search(self, progress: Progress) -> None:
        """Ignore the search."""

    def notice(self, text: str) -> None:
        """Ignore a notice."""


@frozen()
class Request:
    """What to check, and how.

    `spec` is a file, a folder or the name of a shipped specification. `engine` is auto, local,
    spark or reference; `cluster` says where spark runs and keeps its levels. `properties` selects
    some of them; None takes all. `symmetry` is whether to reduce by symmetry; None does as the
    instance says. `checkpoint` is a directory to write the search to every `checkpoint_seconds`,
    `resume` one to go on from; `profile`: measure where time and states go; `compact`: whether
    states are kept in halves; `others`: how many
    other shortest runs to each violation are wanted, None: in a report the calmest, where it is
    soon found. These are for the local engine only.
    `vacuity`: whether to look for what says nothing, and whether that is an error. `report` is a
    directory to write the report of the run into.
    """

    spec: str
    instance: str = "default"
    overrides: Mapping[str, int | bool | str] = field(default_factory=dict)
    engine: str = "auto"
    workers: int | None = None
    properties: tuple[str, ...] | None = None
    symmetry: bool | None = None
    checkpoint: Path | None = None
    resume: Path | None = None
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    profile: bool = False
    compact: Compact = "auto"
    vacuity: Vacuity = "off"
    report: Path | None = None
    others: int | None = None
    cluster: Cluster = field(default_factory=Cluster)
    limits: Limits = field(default_factory=Limits)


def check(request: Request, observer: Observer, interrupt: Interrupt | None = None) -> Result:
    """Run the whole flow for one instance; `interrupt` is asked now and then whether to stop."""
    document, machine = prepare(request, observer)
    return check_machine(request, document, machine, observer, interrupt)


def prepare(request: Request, observer: Observer) -> tuple[Document, Machine]:
    """Read and elaborate what is to run, with only the properties asked for."""
    document = document_of(request, observer)
    return document, elaborated(document, request, observer)


def document_of(request: Request, observer: Observer) -> Document:
    """Read the specification of what is to run."""
    observer.stage("read")
    return read(library.find(request.spec))


def elaborated(document: Document, request: Request, observer: Observer) -> Machine:
    """Elaborate what is to run, with only the properties asked for."""
    observer.stage("elaborate")
    machine = recalled(document, request.instance, request.overrides)
    return reduced(select(machine, request.properties), request.symmetry)


def check_machine(
    request: Request,
    document: Document,
    machine: Machine,
    observer: Observer,
    interrupt: Interrupt | None = None,
) -> Result:
    """Run the flow from a Machine on."""
    engine = ENGINES[request.engine]
    asked = machine if request.vacuity == "off" else asking(machine)
    native, compile_seconds = None, 0.0
    if engine.native:
        prompt = request.engine != "spark" and not request.profile
        brief = prompt and soon_over(machine) and not (request.checkpoint or request.resume)
        native, compile_seconds = compiled(asked, observer, interrupt, prompt=prompt, brief=brief)
    observer.stage("explore")
    exploration = engine.explore(asked, native, orders(request, observer, interrupt))
    observer.stage("judge")
    met = () if request.vacuity == "off" else looked(machine, asked, exploration)
    exploration, verdict = judged(request, machine, exploration, native, interrupt)
    observer.stage("rebuild")
    traces = rebuild_all(machine, exploration.findings)
    observer.stage("write")
    further, calm = others(request, traces, interrupt)
    result = Result(
        origin=provenance(request, document),
        document=document,
        machine=machine,
        exploration=exploration,
        verdict=refusing(verdict, met) if request.vacuity == "error" else verdict,
        looked=met,
        traces=tuple(sorted(traces, key=lambda trace: trace.kind == "sometimes")),
        compile_seconds=compile_seconds,
        peak_rss_bytes=peak_rss(),
        others=further,
        calm=calm,
    )
    if request.report is None:
        return result
    from checker.report import files  # noqa: PLC0415 (what writes pages, for those who want them)

    return files.written(result, request.report)


def others(
    request: Request, traces: Sequence[Trace], interrupt: Interrupt | None
) -> tuple[tuple[Trace, ...], tuple[str, ...]]:
    """Return other shortest runs to what some traces show, as many of each as are wanted.

    With them the properties whose trace is known to be the calmest itself. The verdict is known by
    now: whoever interrupts, and a graph that does not fit the memory, costs these runs only.
    """
    unasked = request.others is None and request.report is not None
    if not (request.others or unasked) or request.engine not in {"auto", "local"}:
        return (), ()
    from checker.trace.calmest import calmest, near  # noqa: PLC0415 (a graph that few ask for)

    if request.others is not None:
        count = request.others
        ask = partial(calmest, count=count, interrupt=interrupt)
        return tuple(run for trace in traces for run in _if_found(ask, trace, interrupt)), ()
    asked = {trace.states: trace for trace in reversed(traces) if trace.kind != "sometimes"}
    calm: list[str] = []
    further: list[Trace] = []
    for trace in reversed(asked.values()):
        for run in _if_found(partial(near, interrupt=interrupt), trace, interrupt):
            # Other rows may lead through the same states: what is calmest is the run itself.
            if run is trace:
                calm.append(trace.property_name)
            else:
                further.append(run)
    return tuple(further), tuple(calm)


def _if_found(
    ask: Callable[[Trace], tuple[Trace, ...]], trace: Trace, interrupt: Interrupt | None
) -> tuple[Trace, ...]:
    if interrupted(interrupt):
        return ()
    try:
        return ask(trace)
    except (Interruption, UsageError):
        return ()


def soon_over(machine: Machine) -> bool:
    """Whether a search is declared to meet so few states that writing code is most of a check."""
    expected = None if machine.expectation is None else machine.expectation.distinct
    return expected is not None and expected <= BRIEF_STATES


def compiled(
    machine: Machine,
    observer: Observer,
    interrupt: Interrupt | None = None,
    *,
    prompt: bool = False,
    brief: bool = False,
) -> tuple[Native, float]:
    """Pack the states of a machine and build its native code; also the seconds that took.

    `prompt` and `brief`: code that is there in a moment will do, see `build`. Interruption where
    `interrupt` says to stop before it is there.
    """
    started = time.perf_counter()
    observer.stage("pack")
    layout = pack(machine)
    observer.stage("build")
    stop = partial(interrupted, interrupt)
    kernel = build(machine, layout, prompt=prompt, brief=brief, stop=stop)
    return (layout, kernel), time.perf_counter() - started


def orders(request: Request, observer: Observer, interrupt: Interrupt | None) -> Orders:
    """Return what an engine is to do for a request."""
    options = Options(
        checkpoint=request.checkpoint,
        resume=request.resume,
        checkpoint_seconds=request.checkpoint_seconds,
        profile=request.profile,
        compact=request.compact,
        notice=observer.notice,
    )
    return Orders(
        request.limits, request.workers, options, request.cluster, observer.search, interrupt
    )


def judged(
    request: Request,
    machine: Machine,
    exploration: Exploration,
    native: Native | None,
    interrupt: Interrupt | None,
) -> tuple[Exploration, Verdict]:
    """Judge what was found; also the exploration, with what endless runs showed and no states."""
    liveness = judge_endless(
        machine, exploration, request.limits, native, request.workers, interrupt
    )
    claims = {item.name for item in machine.properties} | {*BUILT_IN, "error"}
    whole = replace(
        exploration,
        findings=(
            *(finding for finding in exploration.findings if finding.property in claims),
            *liveness.findings,
        ),
        stopped_by="interrupt" if liveness.interrupted else exploration.stopped_by,
        states=None,
        endless=None,
    )
    return whole, judge(machine, whole, liveness.outcomes)


def question(request: Request, predicate: str, observer: Observer) -> tuple[Machine, Machine]:
    """Return the machine of a request, and the same with only a question about its states.

    Where the request leaves symmetry out, interchangeable ids may be named.
    """
    observer.stage("read")
    document = read(library.find(request.spec))
    observer.stage("elaborate")
    machine = elaborate(document, request.instance, request.overrides)
    asking_of = nameable(document) if request.symmetry is False else document
    asked = elaborate(with_predicate(asking_of, predicate), request.instance, request.overrides)
    whole = reduced(machine, request.symmetry)
    chosen = reduced(select(asked, (QUERY,)), request.symmetry)
    # A property that tells ids apart has kept all states of the graph; without it they stay all.
    return whole, replace(chosen, symmetry=chosen.symmetry and whole.symmetry)


def machine_of(spec: str, instance: str, overrides: Mapping[str, int | bool | str]) -> Machine:
    """Read and elaborate one instance of a specification, without running it."""
    return elaborate(read(library.find(spec)), instance, overrides)


def select(machine: Machine, names: tuple[str, ...] | None) -> Machine:
    """Return `machine` with only the named properties; UsageError for a name it has not.

    `legal` is always judged: a machine that leaves its table is not the machine it claims to be.
    """
    if names is None:
        return machine
    known = [item.name for item in machine.properties]
    known += [item.declared for item in machine.properties if item.declared] + list(BUILT_IN)
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(known)}"
            raise UsageError(f"{machine.name} has no property {name!r}{hint}")
    chosen = replace(
        machine,
        properties=tuple(
            item for item in machine.properties if item.name in names or item.declared in names
        ),
        deadlock=machine.deadlock and "deadlock" in names,
    )
    # What is claimed of some ids only tells them apart.
    alike = not chosen.endless_symmetry or not unlike(chosen)
    return replace(chosen, endless_symmetry=chosen.endless_symmetry and alike)


def reduced(machine: Machine, symmetry: bool | None) -> Machine:
    """Return `machine` with its symmetry as asked for; UsageError where there is none to use.

    SpecificationError (Y330) where ids are not shown to be used alike.
    """
    if symmetry is None:
        return machine
    if symmetry and not any(kind.symmetric for kind in machine.ids):
        raise UsageError(f"--symmetry on: {machine.name} declares no ids `symmetric`")
    found = unlike(machine) if symmetry else ()
    if found:
        raise SpecificationError(found)
    warnings = tuple(item for item in machine.warnings if item not in machine.unlike)
    asked = replace(
        machine, symmetry=symmetry, endless_symmetry=symmetry, unlike=(), warnings=warnings
    )
    if symmetry and machine.judges_runs and not reduces(asked):
        endless = [item for item in machine.properties if item.kind in LIVENESS]
        named = ", ".join(
            dict.fromkeys(f"{item.declared or item.name} ({item.kind})" for item in endless)
        )
        raise UsageError(
            f"--symmetry on: infinite runs are judged ({named}), so ids that `fresh` draws keep "
            f"their names, and the others may have {RENAMINGS_MAX} orders at most, but more than "
            "one; leave these properties out with --property, or the symmetry with --symmetry off"
        )
    return asked


def spec_name(path: str) -> str:
    """Return how a specification is named without saying where this machine keeps it.

    A shipped one by its name, a file below the working directory relative to it.
    """
    file = library.place_of(Path(path))
    for entry in library.shipped():
        if entry.kind != "table" and library.place_of(entry.path) == file:
            return entry.name
    if file.is_relative_to(Path.cwd()):
        return file.relative_to(Path.cwd()).as_posix()
    return path


def provenance(request: Request, document: Document) -> Provenance:
    """Return how to repeat a request with the default engine.

    Of its limits those that say where a search ends on any machine, and on this one.
    """
    spec = spec_name(document.path)
    words = ["checker", "check", spec]
    if request.instance != "default":
        words += ["--instance", request.instance]
    for name, value in request.overrides.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        words += ["--set", f"{name}={text}"]
    for name in request.properties or ():
        words += ["--property", name]
    if request.symmetry is not None:
        words += ["--symmetry", "on" if request.symmetry else "off"]
    limits = request.limits
    if limits.keep_going:
        words.append("--keep-going")
    seconds = None if limits.seconds is None else f"{limits.seconds:.12g}"
    for option, most in (
        ("--limit-states", limits.states),
        ("--limit-depth", limits.depth),
        ("--limit-seconds", seconds),
    ):
        words += [] if most is None else [option, str(most)]
    return Provenance(spec, shlex.join(words), tuple(request.overrides.items()))
