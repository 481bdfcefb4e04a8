"""Whether each property of a system can fail: its declared mistakes, judged.

A mistake is shown where its instance, with it, breaks its property: by the search of every check,
its counterexample replayed. What generated mutants break is found with all of an instance woven
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from checker.elaborate import elaborate, instances
from checker.errors import SpecificationError
from checker.flow import Request, Silent, check_machine, select
from checker.mutation.campaign import declared_states
from checker.mutation.mistakes import Mistake
from checker.mutation.subject import Subject
from checker.mutation.weaving import weave
from checker.runs import Lost, Spread
from checker.source import NOWHERE
from checker.table import Document, read
from checker.table.document import Word


@dataclass(frozen=True, slots=True)
class Job:
    """Mistakes of the system in `path`, judged together on one instance."""

    path: str
    instance: str
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What became of a mistake: after how many steps its property breaks, or why it does not."""

    property: str
    instance: str
    steps: int | None
    why_not: str = ""


def jobs_of(path: str, mistakes: Sequence[Mistake]) -> list[Job]:
    """Return what to do: an edit by itself, the generated mutants of an instance together."""
    jobs = [Job(path, item.instance, (item,)) for item in mistakes if not item.mutant]
    woven: dict[str, list[Mistake]] = {}
    for item in mistakes:
        if item.mutant:
            woven.setdefault(item.instance, []).append(item)
    return [Job(path, name, tuple(items)) for name, items in woven.items()] + jobs


def judge_all(jobs: Sequence[Job], spread: Spread) -> Iterator[Shown]:
    """Yield what became of each mistake, those of a job together."""
    for job, shown in spread.each(judge, jobs):
        if isinstance(shown, Lost):
            for item in job.mistakes:
                yield Shown(item.property.text, job.instance, None, shown.reason)
        else:
            yield from shown


def judge(job: Job) -> tuple[Shown, ...]:
    """Return what became of the mistakes of a job."""
    if any(item.mutant for item in job.mistakes):
        return tuple(_woven(job))
    return tuple(_edited(job, item) for item in job.mistakes)


def _edited(job: Job, mistake: Mistake) -> Shown:
    """Check one instance of the edited text, and nothing of it but the property."""
    name = mistake.property.text
    assert mistake.edit is not None
    file, text = mistake.edit
    try:
        document = read(Path(job.path), {file: text})
        whole = elaborate(document, job.instance)
    except SpecificationError as error:
        first = error.diagnostics[0]
        return Shown(name, job.instance, None, f"no specification: {first.message} ({first.code})")
    if not any(name in {item.name, item.declared} for item in whole.properties):
        return Shown(name, job.instance, None, "this instance does not judge it")
    request = Request(job.path, job.instance, workers=1)
    verdict = check_machine(request, document, select(whole, (name,)), Silent()).verdict
    lengths = [item.length or 0 for item in verdict.broken if name in {item.name, item.declared}]
    if lengths:
        return Shown(name, job.instance, min(lengths))
    return Shown(name, job.instance, None, f"the verdict is {verdict.overall}")


def _woven(job: Job) -> Iterator[Shown]:
    """Judge generated mutants in one machine, which has only the properties that they break."""
    document = read(Path(job.path))
    woven = weave(_only(document, job), {item.mutant for item in job.mistakes}, job.instance)
    states = declared_states(document, job.instance)
    sights = Subject(woven, job.instance, states=states).sights()
    found = {mutant.key: sight for mutant, sight in sights.items()}
    for item in job.mistakes:
        name = item.property.text
        sight = found.get(item.mutant)
        if sight is None:
            yield Shown(name, job.instance, None, "no specification")
        elif name in {broken.split("(")[0] for broken in sight.by}:
            yield Shown(name, job.instance, sight.steps)
        else:
            yield Shown(name, job.instance, None, sight.note or f"its steps are {sight.seen}")


def _only(document: Document, job: Job) -> Document:
    """Return the system whose instance judges only what is to break, and declares nothing."""
    asked = tuple(Word(item.property.text, NOWHERE) for item in job.mistakes)
    return replace(
        document,
        instances=tuple(
            replace(entry, properties=asked, expect=None)
            if entry.name.text == job.instance
            else entry
            for entry in instances(document)
        ),
    )
