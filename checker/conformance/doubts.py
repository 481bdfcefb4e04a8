"""Takes a divergence, says whether it is only what leaves runs out that makes it one.

Not every run of the model is looked at: a mapping has rows that are taken `soon` or `late`, rows
that an answer has `told` of, timers with times that are only `usual` and conditions that it
assumes, an instance has bounds. A log that one of the runs left out explains does not diverge from
the specification; who said that there is no such run is told, with the place. That is looked at as
far as a small number of states goes: without these words more states fit. `soon` only says when
rows are taken that nobody sees, so a run without it is a run like any other: the log is explained
then. It is taken away from one row after the other before it is from all. A log that diverges
without all of these is not judged without one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from checker.conformance.bind import Bound
from checker.conformance.explain import Explanation
from checker.conformance.mapping import Mapping
from checker.conformance.places import Taken
from checker.conformance.space import Key, Space
from checker.errors import Diagnostic, SpecificationError
from checker.frozen import frozen
from checker.machine.terms import Term
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successors import as_mapping, initial_steps
from checker.source import Span
from checker.table.document import Word

Again = Callable[[Space, Callable[[Taken], None], int], Explanation]
"""Judges the log once more with another space, as far as so many states fit.

The steps of the run go to a function.
"""

STATES = 1_000
"""States that may fit where a divergence is looked at once more."""

FEW = 100
"""States that may fit where all is taken away at first: most logs diverge soon even so."""


@frozen(slots=False)
class _Free:
    """What is taken away: that rows are told of, soon or late, usual times, the conditions."""

    told: bool = False
    soon: frozenset[str] = frozenset()
    late: bool = False
    usual: bool = False
    conditions: bool = False

    @property
    def keeps_what_is_said(self) -> bool:
        """Whether only the time at which hidden rows are taken is freed."""
        return not (self.told or self.late or self.usual or self.conditions)


def _ways(soon: frozenset[str]) -> list[_Free]:
    """Return what is taken away, one after the other, where these rows are soon."""
    apart = [_Free(soon=frozenset({row})) for row in sorted(soon) if len(soon) > 1]
    return [
        *apart,
        _Free(soon=soon),
        _Free(told=True),
        _Free(late=True),
        _Free(usual=True),
        _Free(conditions=True),
        _Free(told=True, soon=soon, late=True, usual=True, conditions=True),
    ]


def _possible(asked: _Free, bound: Bound, *, cut: bool) -> _Free:
    """Return of what is asked what there is to take away."""
    return _Free(
        asked.told and bool(bound.told),
        asked.soon,
        asked.late and bool(bound.late),
        asked.usual and any(one.usual for one in bound.timers),
        asked.conditions and cut,
    )


@dataclass
class Doubts:
    """Judges divergences again; the spaces that it needs for that are built once."""

    spaces: dict[tuple[Space, _Free], Space] = field(default_factory=dict)

    def settled(
        self, found: Explanation, space: Space, mapping: Mapping, again: Again
    ) -> Explanation:
        """Return a divergence, unless a run that was left out explains the log.

        It is explained if only `soon` left that out, else undecided.
        """
        if found.event is not None and found.event.contradicts is not None:
            return found
        bound, cut = space.bound, space.cut
        ways = _ways(bound.soon)
        # Without all of these there are all the runs that there are without one of them.
        whole, tried = _possible(ways[-1], bound, cut=cut), {_Free()}
        if whole not in tried:
            freed = self._without(space, whole)
            other = again(freed, _unheard, FEW)
            if other.verdict == "diverges" and (cut or not freed.cut):
                return found
        beyond = False
        for asked in ways:
            way = _possible(asked, bound, cut=cut)
            # More states fit without all of these than without one of them.
            if way in tried or (beyond and asked is ways[-1]):
                continue
            tried.add(way)
            first, freed = _First(space), self._without(space, way)
            other = again(freed, first.see, STATES)
            beyond = beyond or other.verdict == "inconclusive"
            if other.verdict == "explained":
                soon = tuple(word for word in mapping.soon if word.text in way.soon)
                late = tuple(word for word in mapping.late if way.late and word.text in bound.late)
                usual = tuple(
                    one.name for one in mapping.recording.timers if way.usual and one.usual
                )
                why = _why(way, (("soon", soon), ("late", late), ("usual", usual)), other, first)
                if way.keeps_what_is_said:
                    return replace(other, why=why, run=(freed, tuple(first.steps)))
                return replace(found, verdict="inconclusive", why=why)
            cut = cut or freed.cut
        return found

    def _without(self, space: Space, way: _Free) -> Space:
        known = self.spaces.get((space, way))
        if known is None:
            bound = space.bound
            bound = bound.without_told() if way.told else bound
            bound = bound.without_soon(way.soon)
            bound = bound.without_late() if way.late else bound
            bound = bound.without_usual() if way.usual else bound
            bound = bound.without_conditions() if way.conditions else bound
            known = self.spaces[space, way] = Space(bound)
        return known


def _unheard(_taken: Taken) -> None:
    """Take a step of a run that nobody asks for."""


class _First:
    """A run, and the first of its states that a condition of a space leaves out."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.steps: list[Taken] = []
        self.line = 0
        self.broken: Term | None = None

    def see(self, taken: Taken) -> None:
        """Look at a step, the next one of the run."""
        self.steps.append(taken)
        event, key, edge = taken
        if self.broken is None:
            self.line = self.line if event is None else event.line
            self.broken = self._broken(key, edge.target)

    def _broken(self, source: Key, target: Key) -> Term | None:
        """Return the first condition that a step does not fulfil."""
        machine = self.space.bound.machine
        old, new = (as_mapping(machine, self.space.state(one)) for one in (source, target))
        single, both = Context(new, {}), Context(old, {}, new)
        false = [one for one in self.space.bound.conditions if not evaluate(one, single)]
        false += [one for one in machine.step_bounds if not evaluate(one, both)]
        return next(iter(false), None)


def refuse_contradictions(space: Space) -> None:
    """Raise SpecificationError if what the mapping assumes is true in no initial state."""
    bound = space.bound
    if not bound.assumed or space.initial():
        return
    machine = replace(bound.machine, bounds=(), step_bounds=())
    begun = [step.state for step in initial_steps(machine) if step.state is not None]
    contexts = [Context(as_mapping(machine, state), {}) for state in begun]
    for term in bound.assumed:
        if not all(evaluate(term, context) for context in contexts):
            raise SpecificationError(
                (
                    Diagnostic(
                        "R601",
                        "the specification contradicts this assumption from the beginning",
                        term.span,
                        expected="true in an initial state",
                        found="false",
                        help="what is assumed of recorded runs holds in every state of them",
                    ),
                )
            )


def _why(
    way: _Free,
    taken_away: tuple[tuple[str, tuple[Word, ...]], ...],
    other: Explanation,
    first: _First,
) -> str:
    if way.conditions and first.broken is not None:
        after = f"after line {first.line:,}" if first.line else "at the beginning"
        return (
            f"a run that explains the log is left out: the condition at {_place(first.broken.span)}"
            f" is false {after}"
        )
    words = [(key, word) for key, some in taken_away for word in some]
    if not words:
        return "`told` leaves out a run that explains the log"
    key, wrong = next((one for one in words if one[1].text in other.rows), words[0])
    return f"`{key}` leaves out a run that explains the log: `{wrong.text}` at {_place(wrong.span)}"


def _place(span: Span) -> str:
    return f"{span.source.name}:{span.line}:{span.column}"
