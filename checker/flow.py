"""The page to read first: from a YAML file to a verdict and its traces, one line an arrow.

read -> elaborate -> pack -> build -> explore -> judge -> rebuild -> write
"""

from __future__ import annotations

import difflib
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from checker import library
from checker.elaborate import elaborate
from checker.elaborate.alike import unlike
from checker.errors import SpecificationError, UsageError
from checker.graph.endless import judge_endless
from checker.kernel import build
from checker.kernel.kernel import Kernel
from checker.layout import pack
from checker.layout.layout import Layout
from checker.machine.machine import LIVENESS, Machine
from checker.report.result import Result
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.identity import identity_of
from checker.search.limits import Limits
from checker.search.memory import peak_rss
from checker.search.options import CHECKPOINT_SECONDS, Options
from checker.search.outcome import Outcome
from checker.search.progress import Interrupt, Progress
from checker.search.reference import explore_reference
from checker.spark.explore import explore_spark
from checker.spark.session import Cluster
from checker.table import Document, read
from checker.table.predicate import QUERY, with_predicate
from checker.trace.rebuild import rebuild
from checker.trace.trace import Provenance
from checker.verdict.judge import Verdict, judge

BUILT_IN = ("legal", "deadlock")


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


@dataclass(frozen=True, slots=True)
class Request:
    """What to check, and how.

    `spec` is a file, a folder or the name of a shipped specification. `engine` is auto, local,
    spark or reference; `cluster` says where spark runs and keeps its levels. `properties` selects
    some of them; None takes all. `symmetry` is whether to reduce by symmetry; None does as the
    instance says. `checkpoint` is a directory to write the search to every `checkpoint_seconds`,
    `resume` one to go on from; `profile`: measure where time and states go. These are for the
    local engine only.
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
    cluster: Cluster = field(default_factory=Cluster)
    limits: Limits = field(default_factory=Limits)


def check(request: Request, observer: Observer, interrupt: Interrupt | None = None) -> Result:
    """Run the whole flow for one instance; `interrupt` is asked now and then whether to stop."""
    document, machine = prepare(request, observer)
    return check_machine(request, document, machine, observer, interrupt)


def prepare(request: Request, observer: Observer) -> tuple[Document, Machine]:
    """Read and elaborate what is to run, with only the properties asked for."""
    observer.stage("read")
    document = read(library.find(request.spec))
    observer.stage("elaborate")
    machine = elaborate(document, request.instance, request.overrides)
    return document, reduced(select(machine, request.properties), request.symmetry)


def check_machine(
    request: Request,
    document: Document,
    machine: Machine,
    observer: Observer,
    interrupt: Interrupt | None = None,
) -> Result:
    """Run the flow from a Machine on.

    An instance that declares which property breaks is searched until that one does.
    """
    exploration, endless, compile_seconds = _explore(request, machine, observer, interrupt)
    verdict = judge(machine, exploration, endless)
    if exploration.stopped_by == "violation" and awaits_another(machine, verdict):
        further = replace(
            request,
            limits=replace(request.limits, keep_going=True),
            resume=request.checkpoint or request.resume,
            cluster=replace(
                request.cluster, resume=request.cluster.checkpoint or request.cluster.resume
            ),
        )
        exploration, endless, _ = _explore(further, machine, observer, interrupt)
        verdict = judge(machine, exploration, endless)
    observer.stage("rebuild")
    traces = [rebuild(machine, finding) for finding in exploration.findings]
    return Result(
        origin=provenance(request, document),
        document=document,
        machine=machine,
        exploration=exploration,
        verdict=verdict,
        traces=tuple(sorted(traces, key=lambda trace: trace.kind == "sometimes")),
        compile_seconds=compile_seconds,
        peak_rss_bytes=peak_rss(),
    )


def awaits_another(machine: Machine, verdict: Verdict) -> bool:
    """Whether the search stopped before the property that must break had its chance."""
    if machine.expectation is None or machine.expectation.property is None:
        return False
    awaited = [
        item.outcome
        for item in verdict.properties
        if machine.expectation.property in (item.name, item.declared)
    ]
    return "unknown" in awaited and "violated" not in awaited


def _explore(
    request: Request, machine: Machine, observer: Observer, interrupt: Interrupt | None
) -> tuple[Exploration, Mapping[str, Outcome], float]:
    """Explore, then judge endless runs on what was found; also the seconds that compiling took."""
    exploration, native, seconds = _search(request, machine, observer, interrupt)
    observer.stage("judge")
    liveness = judge_endless(
        machine, exploration, request.limits, native, request.workers, interrupt
    )
    whole = replace(
        exploration,
        findings=(*exploration.findings, *liveness.findings),
        stopped_by="interrupt" if liveness.interrupted else exploration.stopped_by,
        states=None,
        endless=None,
    )
    return whole, liveness.outcomes, seconds


def _search(
    request: Request, machine: Machine, observer: Observer, interrupt: Interrupt | None
) -> tuple[Exploration, tuple[Layout, Kernel] | None, float]:
    """Explore with the engine asked for; return also its kernel, and how long compiling took."""
    if request.engine == "reference":
        observer.stage("explore")
        return explore_reference(machine, request.limits, observer.search), None, 0.0
    started = time.perf_counter()
    observer.stage("pack")
    layout = pack(machine)
    observer.stage("build")
    kernel = build(machine, layout)
    compile_seconds = time.perf_counter() - started
    observer.stage("explore")
    options = Options(
        checkpoint=request.checkpoint,
        resume=request.resume,
        checkpoint_seconds=request.checkpoint_seconds,
        identity=identity_of(machine, kernel),
        profile=request.profile,
        notice=observer.notice,
    )
    if request.engine == "spark":
        exploration = explore_spark(
            machine,
            layout,
            kernel,
            request.limits,
            request.cluster,
            observer.search,
            interrupt,
            options,
        )
        return exploration, (layout, kernel), compile_seconds
    exploration = explore(
        machine,
        layout,
        kernel,
        request.limits,
        request.workers,
        observer.search,
        interrupt,
        options,
    )
    return exploration, (layout, kernel), compile_seconds


def question(request: Request, predicate: str, observer: Observer) -> tuple[Machine, Machine]:
    """Return the machine of a request, and the same with only a question about its states."""
    observer.stage("read")
    document = read(library.find(request.spec))
    observer.stage("elaborate")
    machine = elaborate(document, request.instance, request.overrides)
    asked = elaborate(with_predicate(document, predicate), request.instance, request.overrides)
    chosen = select(asked, (QUERY,))
    return reduced(machine, request.symmetry), reduced(chosen, request.symmetry)


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
    return replace(
        machine,
        properties=tuple(
            item for item in machine.properties if item.name in names or item.declared in names
        ),
        deadlock=machine.deadlock and "deadlock" in names,
    )


def reduced(machine: Machine, symmetry: bool | None) -> Machine:
    """Return `machine` with its symmetry as asked for; UsageError where there is none to use.

    SpecificationError (Y330) where ids are not shown to be used alike.
    """
    if symmetry is None:
        return machine
    if symmetry and not any(kind.symmetric for kind in machine.ids):
        raise UsageError(f"--symmetry on: {machine.name} declares no ids `symmetric`")
    endless = [item for item in machine.properties if item.kind in LIVENESS]
    if symmetry and endless:
        named = ", ".join(
            dict.fromkeys(f"{item.declared or item.name} ({item.kind})" for item in endless)
        )
        raise UsageError(
            f"--symmetry on: what infinite runs decide is judged on all states: {named}; leave "
            "that out with --property, or the symmetry with --symmetry off"
        )
    found = unlike(machine) if symmetry else ()
    if found:
        raise SpecificationError(found)
    warnings = tuple(item for item in machine.warnings if item not in machine.unlike)
    return replace(machine, symmetry=symmetry, unlike=(), warnings=warnings)


def spec_name(path: str) -> str:
    """Return how a specification is named without saying where this machine keeps it.

    A shipped one by its name, a file below the working directory relative to it.
    """
    file = Path(path).resolve()
    for entry in library.shipped():
        if entry.kind != "table" and entry.path.resolve() == file:
            return entry.name
    if file.is_relative_to(Path.cwd()):
        return file.relative_to(Path.cwd()).as_posix()
    return path


def provenance(request: Request, document: Document) -> Provenance:
    """Return how to repeat a request with the default engine."""
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
    if request.limits.keep_going:
        words.append("--keep-going")
    return Provenance(spec, shlex.join(words), tuple(request.overrides.items()))
