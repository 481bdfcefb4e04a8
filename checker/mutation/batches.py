"""What one instance sees of a batch of mutants: those put into one machine, or one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from checker.errors import SpecificationError
from checker.frozen import frozen
from checker.mutation.apart import Apart
from checker.mutation.bugs import Bug, by_key
from checker.mutation.edits import edited
from checker.mutation.sights import Sight, refused
from checker.mutation.subject import Subject
from checker.mutation.versions import versions
from checker.mutation.weaving import TOO_LARGE, weave
from checker.table import Document, read, read_same

LARGE: Final = frozenset({TOO_LARGE, "R610", "R611"})
"""Codes of what is too large once everything is put in: fewer mutants may fit."""


@frozen()
class Job:
    """Some mutants of the specification in `path`, to be judged on one of its instances.

    Either all are `bugs`, in the order of `keys`, or none is. `texts`: a digest of its text.
    """

    path: str
    instance: str
    keys: tuple[str, ...]
    memory: int
    texts: str
    bugs: tuple[Bug, ...] = ()


def judge_batch(job: Job) -> dict[str, Sight]:
    """Return what one instance sees of some mutants, by their keys."""
    document = read_same(job.path, job.texts)
    if job.bugs:
        return _bugs(document, job)
    return _made(document, job, job.keys)


def declared_states(document: Document, instance: str) -> int | None:
    """Return how many states an instance declares, None where it does not say."""
    for entry in document.instances:
        if entry.name.text == instance and entry.expect is not None:
            return entry.expect.distinct
    return None


def _made(document: Document, job: Job, keys: Sequence[str]) -> dict[str, Sight]:
    """Return what is seen of mutants that the weaver makes."""
    try:
        woven = weave(document, set(keys), job.instance)
        states = declared_states(document, job.instance)
        subject = Subject(woven, job.instance, job.memory, states)
    except SpecificationError as error:
        codes = {item.code for item in error.diagnostics}
        if len(keys) > 1 and codes & LARGE:
            half = len(keys) // 2
            return _made(document, job, keys[:half]) | _made(document, job, keys[half:])
        if len(keys) == 1 and codes & LARGE:
            return {keys[0]: Sight(job.instance, "refused", note="it is too large")}
        raise
    found = {mutant.key: sight for mutant, sight in subject.sights().items()}
    return {key: found.get(key, Sight(job.instance, "refused")) for key in keys}


# -------------------------------------------------------------------------------------------- bugs


def _bugs(document: Document, job: Job) -> dict[str, Sight]:
    """Return what is seen of bugs: of most in one machine, of the others as texts of their own."""
    bugs = by_key(job.bugs)
    told = _versions(job.path, job.texts, job.bugs)
    found = _together(document, job, {key: told[key] for key in job.keys if key in told})
    left = [key for key in job.keys if key not in found]
    if left:
        states = declared_states(document, job.instance)
        apart = Apart(document, job.instance, job.memory, states)
        found |= {key: _alone(document, bugs[key], apart) for key in left}
    return {key: found[key] for key in job.keys}


@lru_cache(maxsize=8)
def _versions(path: str, texts: str, bugs: tuple[Bug, ...]) -> dict[str, Document]:
    edits = {key: bug.edits for key, bug in by_key(bugs).items()}
    return versions(read_same(path, texts), edits)


def _together(document: Document, job: Job, told: Mapping[str, Document]) -> dict[str, Sight]:
    """Return what is seen of versions in one machine; without those that it cannot have."""
    if not told:
        return {}
    try:
        woven = weave(document, set(), job.instance, told)
        subject = Subject(woven, job.instance, job.memory, declared_states(document, job.instance))
    except SpecificationError:
        # One of them is wrong by itself, or they are too many for one machine.
        if len(told) == 1:
            return {}
        items = list(told.items())
        half = len(items) // 2
        one, two = dict(items[:half]), dict(items[half:])
        return _together(document, job, one) | _together(document, job, two)
    return {mutant.what: sight for mutant, sight in subject.sights().items()}


def _alone(document: Document, bug: Bug, apart: Apart) -> Sight:
    """Return what is seen of a bug as a text of its own."""
    try:
        changed = read(Path(document.path), edited(document, bug.edits))
    except SpecificationError as error:
        return refused(apart.instance, error.diagnostics[0])
    return apart.sight(changed)
