"""All mutants of a specification on several of its instances: in batches, in parallel, kept.

Instance by instance, cheap ones first: what one has caught runs on no further one. The mutants
that are left are woven together anew for each, so that few are compiled when few are left. What
comes out depends on the specification and the instances only, not on processes or timing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from checker.cache import code_of
from checker.elaborate import elaborate, instances
from checker.errors import EnvironmentFailure, told
from checker.frozen import frozen
from checker.kernel.build import fingerprint
from checker.machine.machine import Machine
from checker.mutation.batches import Job, judge_batch
from checker.mutation.bugs import Bug
from checker.mutation.sights import Sight
from checker.mutation.weaver import USUAL, Kind, Mutant
from checker.mutation.weaving import catalogue
from checker.report.files import put_at_once, refuse_link
from checker.runs import Lost, Spread
from checker.table import Document
from checker.table.sources import texts_of
from checker.table.written import written
from checker.verdict.expectation import expected_verdict

BATCH = 200
"""Mutants that are woven into one machine."""

BUGS_BATCH = 40
"""Bugs that are: each is a copy of what it changes."""

Fate = Literal["caught", "counted", "unnoticed", "equal", "refused", "undecided"]


@frozen()
class Judged:
    """One mutant, and what each instance that ran it saw, in their order.

    `whole`: no instance is left that could see more.
    """

    mutant: Mutant
    sights: tuple[Sight, ...]
    whole: bool = True

    @property
    def fate(self) -> Fate:
        """What became of it: the strongest thing that an instance saw."""
        seen = [sight.seen for sight in self.sights]
        if "refused" in seen:
            return "refused"
        if "caught" in seen:
            return "caught"
        if not self.whole:
            return "undecided"
        if "counted" in seen:
            return "counted"
        if "undecided" in seen or not seen:
            return "undecided"
        return "unnoticed" if "different" in seen else "equal"

    @property
    def telling(self) -> Sight | None:
        """The sight that decided the fate; None of a mutant that nothing ran."""
        wanted = {"unnoticed": "different", "equal": "same"}.get(self.fate, self.fate)
        return next((sight for sight in self.sights if sight.seen == wanted), None)


@frozen()
class Step:
    """How far a campaign is: a batch that was judged, or was known from before (`kept`).

    `unkept` says why its results could not be kept, where they should have been.
    """

    instance: str
    mutants: int
    left: int
    kept: bool
    unkept: str = ""


Tell = Callable[[Step], None]


def chosen_instances(document: Document, names: Sequence[str], *, every: bool) -> list[str]:
    """Return the instances to run: those named, or those of the gate, cheap ones first.

    Cheap are those that should hold, then those that should not; fewer declared states first, and
    properties of endless runs last among equals.
    """
    order = []
    for place, entry in enumerate(instances(document)):
        name = entry.name.text
        if (names and name in names) or (not names and (every or entry.tier == "quick")):
            machine = elaborate(document, name)
            expectation = machine.expectation
            violated = expected_verdict(expectation) == "violated"
            states = expectation.distinct if expectation is not None else None
            order.append((violated, states or 0, machine.judges_runs, place, name))
    for name in names:
        elaborate(document, name)  # UsageError for a name that is none
    return [name for *_, name in sorted(order)]


def run(
    document: Document,
    names: Sequence[str],
    mutants: Sequence[Mutant],
    spread: Spread,
    tell: Tell,
    kept: Path | None = None,
    batch: int = BATCH,
    bugs: Mapping[str, Bug] = MappingProxyType({}),
) -> Iterator[list[Judged]]:
    """Judge `mutants` on these instances; yield what is known whenever more is, and at the end.

    `kept`: a directory where every batch's results are kept, and taken from. `bugs`: by their keys
    those of `mutants` that are written down.
    """
    found: dict[str, list[Sight]] = {mutant.key: [] for mutant in mutants}
    remaining, texts = list(names), texts_of(document)
    while remaining:
        left = [key for key, sights in found.items() if not _settled(sights)]
        parts = [tuple(left[place : place + batch]) for place in range(0, len(left), batch)]
        # So many instances at once that every core has a batch.
        side_by_side = max(1, spread.parallel // max(len(parts), 1)) if parts else len(remaining)
        now, remaining = remaining[:side_by_side], remaining[side_by_side:]
        jobs = [
            Job(
                *(document.path, name, part, spread.memory, texts),
                tuple(bugs[key] for key in part if key in bugs),
            )
            for name in now
            for part in parts
        ]
        seen: dict[Job, dict[str, Sight]] = {}
        for job, sights, known, unkept in _judge_all(document, jobs, spread, kept):
            seen[job] = sights
            tell(Step(job.instance, len(job.keys), len(left), known, unkept))
        for job in jobs:
            for key, sight in seen[job].items():
                if not _settled(found[key]):
                    found[key].append(sight)
        yield [
            Judged(mutant, tuple(sights), whole=not remaining or _settled(sights))
            for mutant, sights in ((mutant, found[mutant.key]) for mutant in mutants)
        ]
    if not names:
        yield [Judged(mutant, ()) for mutant in mutants]


def _settled(sights: Iterable[Sight]) -> bool:
    return any(sight.seen in {"caught", "refused"} for sight in sights)


def _judge_all(
    document: Document, jobs: Sequence[Job], spread: Spread, kept: Path | None
) -> Iterator[tuple[Job, dict[str, Sight], bool, str]]:
    """Yield what each job found, whether it was known already, and why it could not be kept."""
    files = {job: None if kept is None else kept / _file(document, job) for job in jobs}
    todo = []
    for job, file in files.items():
        known = None if file is None else _load(file)
        if known is None:
            todo.append(job)
        else:
            yield job, known, True, ""
    for job, sights in _work(todo, spread):
        file = files[job]
        # With more memory, or fewer runs beside each other, more may be seen.
        if file is None or any(sight.short for sight in sights.values()):
            yield job, sights, False, ""
        else:
            yield job, sights, False, _save(file, sights)


def _work(jobs: Sequence[Job], spread: Spread) -> Iterator[tuple[Job, dict[str, Sight]]]:
    for job, sights in spread.each(judge_batch, jobs):
        if isinstance(sights, Lost):
            raise EnvironmentFailure(f"a batch of mutants on {job.instance}: {sights.reason}")
        yield job, sights


# ------------------------------------------------------------------------------------ kept results


def _file(document: Document, job: Job) -> str:
    """Return the name of the file that a job's results are kept in: what they depend on."""
    machine = elaborate(document, job.instance)
    known = (fingerprint(machine), repr(machine.expectation), _own_code(), job.instance, job.keys)
    edits = [item.edits for item in job.bugs]
    parts = (known, edits, _changed(document, machine))
    return hashlib.blake2b(repr(parts).encode(), digest_size=20).hexdigest() + ".json"


def _changed(document: Document, machine: Machine) -> tuple[str, ...]:
    """Return what is written where mutants and bugs change something, or where that is used.

    The same machine can be written in several ways: a row says itself what another time a
    definition says for it, and then a mutant of that definition does not concern the row.
    """
    judged = {item.declared or item.name for item in machine.properties}
    parts = (
        document.definitions,
        document.procedures,
        document.initial,
        document.rows,
        document.bounds,
        document.terminal,
        document.fairness,
        document.fair_groups,
        tuple(item for item in document.properties if item.name.text in judged),
    )
    return written(parts)


@cache
def _own_code() -> bytes:
    """Return a digest of the code that makes and judges mutants, what they mean included.

    What else there is says how results are told.
    """
    return code_of(".", "table", "elaborate", "mutation", "search", "graph", "verdict")


def _save(file: Path, sights: dict[str, Sight]) -> str:
    """Keep the results of a job, whole or not at all; return why they cannot be, empty if kept."""
    text = json.dumps({key: asdict(sight) for key, sight in sights.items()})
    try:
        refuse_link(file.parent.parent, f"{file.parent.name}/{file.name}")
        file.parent.mkdir(parents=True, exist_ok=True)
        put_at_once(file, text.encode())
    except OSError as failure:
        return told(failure)
    return ""


def _load(file: Path) -> dict[str, Sight] | None:
    """Return kept results; None where there are none that can be read."""
    try:
        found = json.loads(file.read_text())
        return {
            key: Sight(**{**fields, "by": tuple(fields["by"])}) for key, fields in found.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def all_mutants(
    document: Document, where: Sequence[str], kinds: Collection[Kind] = USUAL
) -> tuple[Mutant, ...]:
    """Return the mutants of these rows, procedures and definitions; of all where none is named."""
    found = catalogue(document, kinds)
    return tuple(mutant for mutant in found if not where or mutant.name in where)
