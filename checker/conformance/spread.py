"""Walks of `conform` in parts, each with an adapter of its own, wherever a spread does them.

A walk depends on what was planned of it alone, so the parts of a batch, made anywhere and in any
order, are put together as if one session had made them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from checker.conformance.adapter import Adapter, AdapterFailure
from checker.conformance.bind import Bound
from checker.conformance.course import Course, Ended, Options
from checker.conformance.space import Space
from checker.conformance.walks import Made, Make, Walk, made_by
from checker.errors import EnvironmentFailure
from checker.frozen import frozen
from checker.runs import Lost, Spread


@frozen()
class Asked:
    """What is driven: the mapping of a specification's instance, and by which adapter.

    `bind`, a function of a module, reads them where the walks are made.
    """

    bind: Callable[[str, str | None, str | None, tuple[str, ...]], Bound]
    spec: str
    mapping: str | None
    instance: str | None
    settings: tuple[str, ...]
    command: str
    reply_seconds: float
    start_seconds: float
    options: Options


@frozen()
class Part:
    """Some walks of a batch, in their order; `left` is how many seconds there are for them."""

    asked: Asked
    walks: tuple[Walk, ...]
    left: float | None


def make_part(part: Part) -> list[Made]:
    """Make the walks of a part; EnvironmentFailure where the adapter does not start here."""
    asked = part.asked
    space = _space_of(asked)
    try:
        adapter = Adapter(asked.command, asked.reply_seconds, asked.start_seconds)
    except AdapterFailure as failure:
        raise EnvironmentFailure(str(failure)) from None
    with adapter:
        whole = Course(space, adapter, asked.options, left=part.left)
        return list(made_by(space, adapter, asked.options, whole.look)(part.walks))


def makes_on(spread: Spread, asked: Asked, course: Course) -> Make:
    """Return what makes walks on a spread, for `course`, whose time limit counts."""

    def make(walks: Sequence[Walk]) -> Iterator[Made]:
        size = -(-len(walks) // spread.parallel) or 1
        parts = [
            Part(asked, tuple(walks[start : start + size]), course.left)
            for start in range(0, len(walks), size)
        ]
        done: dict[int, list[Made]] = {}
        numbers = {id(part): number for number, part in enumerate(parts)}
        following = 0
        try:
            for part, made in spread.each(make_part, parts):
                if isinstance(made, Lost):
                    raise EnvironmentFailure(f"{len(part.walks)} walks were lost: {made.reason}")
                done[numbers[id(part)]] = made
                while following in done:  # as they come, but in their order
                    yield from done.pop(following)
                    following += 1
                course.look()
        except KeyboardInterrupt:
            raise Ended("an interrupt") from None

    return make


_kept: list[tuple[Asked, Space]] = []
"""The last space, for the parts that the same process makes next."""


def _space_of(asked: Asked) -> Space:
    if not _kept or _kept[0][0] != asked:
        _kept[:] = [(asked, Space(asked.bind(*_source(asked))))]
    space = _kept[0][1]
    space.forget()
    return space


def _source(asked: Asked) -> tuple[str, str | None, str | None, tuple[str, ...]]:
    return asked.spec, asked.mapping, asked.instance, asked.settings
