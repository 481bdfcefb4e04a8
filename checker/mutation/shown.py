"""Whether each property of a system can fail: its declared mistakes, judged.

A mistake is shown where its instance, with it, breaks its property: by the search of every check,
its counterexample replayed. Compiling takes longer than searching, so the mistakes of an instance
are put into one machine, edits and generated mutants alike, and each is searched there by itself.
What is not shown so - another property of the machine breaks before, an edit that cannot be chosen
while it runs - is checked as a text of its own, and that decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from checker.elaborate import elaborate, instances
from checker.errors import EnvironmentFailure, SpecificationError
from checker.flow import Request, Silent, check_machine, select
from checker.frozen import frozen
from checker.machine.machine import LIVENESS
from checker.mutation.batches import declared_states
from checker.mutation.edits import edited
from checker.mutation.mistakes import Mistake
from checker.mutation.subject import Subject
from checker.mutation.versions import versions
from checker.mutation.weaving import weave
from checker.runs import Lost, Spread
from checker.source import NOWHERE
from checker.table import Document, read, read_same
from checker.table.document import Word
from checker.table.sources import texts_of
from checker.verdict.judge import Verdict

BATCH = 40
"""Mistakes that are put into one machine: more take longer to compile than they save."""


@frozen()
class Job:
    """Mistakes of the system in `path`, judged together on one instance.

    `texts`: a digest of its text.
    """

    path: str
    instance: str
    mistakes: tuple[Mistake, ...]
    texts: str


@frozen()
class Shown:
    """What became of a mistake: after how many steps its property breaks, or why it does not."""

    property: str
    instance: str
    steps: int | None
    why_not: str = ""


def jobs_of(document: Document, mistakes: Sequence[Mistake]) -> list[Job]:
    """Return what to do: the mistakes of an instance together, some at a time."""
    jobs, texts = [], texts_of(document)
    for instance in dict.fromkeys(item.instance for item in mistakes):
        there = [item for item in mistakes if item.instance == instance]
        count = -(-len(there) // BATCH)
        parts = (tuple(there[place::count]) for place in range(count))
        jobs += [Job(document.path, instance, part, texts) for part in parts]
    return jobs


def judge_all(jobs: Sequence[Job], spread: Spread) -> Iterator[Shown]:
    """Yield what became of each mistake, those of a job together.

    EnvironmentFailure: some were lost, so nobody knows whether they break anything.
    """
    for job, shown in spread.each(judge, jobs):
        if isinstance(shown, Lost):
            raise EnvironmentFailure(f"mistakes in {job.instance}: {shown.reason}")
        yield from shown


def judge(job: Job) -> tuple[Shown, ...]:
    """Return what became of the mistakes of a job, in their order."""
    document = read_same(job.path, job.texts)
    properties = elaborate(document, job.instance).properties
    judged = {item.declared or item.name: item.kind for item in properties}
    steps: dict[str, int] = {}
    # What looks at endless runs stores every step: not where only steps are asked for.
    for endless in (False, True):
        some = [item for item in job.mistakes if item.property.text in judged]
        some = [item for item in some if (judged[item.property.text] in LIVENESS) == endless]
        if len(some) > 1:
            edits = {item.property.text: (item.edit,) for item in some if item.edit is not None}
            steps |= _together(document, job, some, versions(document, edits))
    return tuple(
        Shown(name, job.instance, steps[name])
        if (name := item.property.text) in steps
        else _alone(document, job, item)
        for item in job.mistakes
    )


# ---------------------------------------------------------------------------------- in one machine


def _together(
    document: Document, job: Job, mistakes: Sequence[Mistake], edits: Mapping[str, Document]
) -> dict[str, int]:
    """Return after how many steps properties break that one machine shows to.

    `edits`: what the specification is with those that can be chosen while it runs, by property.
    """
    if len(mistakes) < 2:
        return {}
    try:
        subject = _subject(document, job, mistakes, edits)
    except SpecificationError:
        # One of them is wrong by itself, or they are too many for one machine.
        half = len(mistakes) // 2
        one, two = mistakes[:half], mistakes[half:]
        return _together(document, job, one, edits) | _together(document, job, two, edits)
    numbers = {mutant.what: mutant.number for mutant in subject.woven.mutants}
    keys = {mutant.key: mutant.number for mutant in subject.woven.mutants}
    found = {}
    for item in mistakes:
        name = item.property.text
        number = keys.get(item.mutant) if item.mutant else numbers.get(name)
        if number is not None:
            _, verdict = subject.search(number)
            lengths = _lengths(verdict, name)
            if lengths:
                found[name] = min(lengths)
    return found


def _subject(
    document: Document, job: Job, mistakes: Sequence[Mistake], edits: Mapping[str, Document]
) -> Subject:
    """Return a machine with these mistakes in it, and with the properties that they break."""
    names = [item.property.text for item in mistakes]
    chosen = {name: edits[name] for name in names if name in edits}
    mutants = {item.mutant for item in mistakes if item.mutant}
    woven = weave(_only(document, job.instance, mistakes), mutants, job.instance, chosen)
    return Subject(woven, job.instance, states=declared_states(document, job.instance))


def _only(document: Document, instance: str, mistakes: Sequence[Mistake]) -> Document:
    """Return the system whose instance judges only what is to break, and declares nothing."""
    asked = tuple(Word(item.property.text, NOWHERE) for item in mistakes)
    return replace(
        document,
        instances=tuple(
            replace(entry, properties=asked, without=(), expect=None)
            if entry.name.text == instance
            else entry
            for entry in instances(document)
        ),
    )


def _lengths(verdict: Verdict, name: str) -> list[int]:
    return [item.length or 0 for item in verdict.broken if name in {item.name, item.declared}]


# --------------------------------------------------------------------------------------- by itself


def _alone(document: Document, job: Job, mistake: Mistake) -> Shown:
    """Judge a mistake by itself: the edited text is checked, and nothing of it but the property."""
    name = mistake.property.text
    try:
        if mistake.edit is None:
            document = weave(document, {mistake.mutant}, job.instance).document
        else:
            document = read(Path(job.path), edited(document, [mistake.edit]))
        whole = elaborate(document, job.instance)
    except SpecificationError as error:
        first = error.diagnostics[0]
        return Shown(name, job.instance, None, f"no specification: {first.message} ({first.code})")
    if not any(name in {item.name, item.declared} for item in whole.properties):
        return Shown(name, job.instance, None, "this instance does not judge it")
    request = Request(job.path, job.instance, workers=1)
    verdict = check_machine(request, document, select(whole, (name,)), Silent()).verdict
    lengths = _lengths(verdict, name)
    if lengths:
        return Shown(name, job.instance, min(lengths))
    return Shown(name, job.instance, None, f"the verdict is {verdict.overall}")
