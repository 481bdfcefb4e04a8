"""What an instance sees of a change: a search with it, held to what is declared and what is usual.

The search is that of every check, by one worker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from checker.errors import Diagnostic, UsageError
from checker.frozen import frozen
from checker.graph.endless import judge_endless
from checker.kernel.calls import Calls, Expansion
from checker.kernel.kernel import Kernel, Words
from checker.layout.layout import Layout
from checker.llvm.meta import CUT
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.outcome import OF_MEMORY
from checker.verdict.expectation import Difference, differences
from checker.verdict.judge import Verdict, judge

GROWTH = 3
"""What has so many times the states of its specification is searched no further."""

LEAST = 1000
"""So many states more it may have in any case."""

BEYOND = 1_000_000
"""States of an instance that must be violated, where the violation is gone."""

Seen = Literal["caught", "counted", "different", "same", "refused", "undecided"]


@frozen()
class Sight:
    """What one instance saw of a mutant.

    `caught`: the verdict is not the declared one, `by` what; `steps` has the length of the run that
    shows it. `counted`: only figures that the instance declares are others, those in `by`.
    `different`: its steps are others, and nothing that is declared shows it; `by` are figures that
    nobody declared and that would. `same`: no step is another. `refused`: it is no specification.
    `row` made (or did not make) the first step that is another, after `depth` steps. `short`: the
    memory did not suffice, so that with more of it more may be seen.
    """

    instance: str
    seen: Seen
    by: tuple[str, ...] = ()
    steps: int | None = None
    row: str | None = None
    depth: int | None = None
    note: str = ""
    short: bool = False


@frozen(slots=False)
class Usual:
    """What an instance is without any change: what others are compared with."""

    machine: Machine
    exploration: Exploration
    broken: frozenset[str]

    @property
    def most(self) -> int:
        """States that a changed one is searched up to."""
        most = LEAST + GROWTH * self.exploration.distinct
        return most if self.exploration.exhaustive else max(most, BEYOND)


def search(
    machine: Machine, layout: Layout, kernel: Kernel, limits: Limits, *, keep: bool = False
) -> tuple[Exploration, Verdict]:
    """Search an instance as `checker verify` does."""
    exploration = explore(machine, layout, kernel, limits, 1, options=Options(keep=keep))
    liveness = judge_endless(machine, exploration, limits, (layout, kernel), 1)
    findings = (*exploration.findings, *liveness.findings)
    exploration = replace(exploration, findings=findings)
    return exploration, judge(machine, exploration, liveness.outcomes)


def flags(kernel: Kernel, calls: Calls, states: Words, steps: Expansion) -> tuple[Words, ...]:
    """Return what properties are in states, and in those that their steps lead to beyond bounds."""
    found = []
    if kernel.checks:
        found += [calls.check(states), calls.check(steps.words[steps.meta & CUT != 0])]
    if kernel.observed:
        found.append(calls.observe(states))
    return tuple(found)


def ways(calls: Calls, ends: Words, meta: Words, words: Words) -> Counter[tuple[int, int, bytes]]:
    """Return how often each step is made: the place of its source, how, what it leads to."""
    sources = np.searchsorted(ends, np.arange(len(meta)), side="right")
    targets = calls.canonical(words)
    return Counter(
        (source, how, bytes(target))
        for source, how, target in zip(sources.tolist(), meta.tolist(), targets, strict=True)
    )


def usual(machine: Machine, exploration: Exploration, verdict: Verdict) -> Usual:
    """Return what an instance is without any change; UsageError where it is not as declared."""
    wrong = differences(machine.expectation, verdict, exploration)
    if wrong:
        said = "; ".join(map(str, wrong))
        raise UsageError(
            f"{machine.name} {machine.instance} is not as declared without any mutant ({said}); "
            "mend that first: checker verify"
        )
    return Usual(machine, exploration, frozenset(item.name for item in verdict.broken))


def seen(usual: Usual, exploration: Exploration, verdict: Verdict) -> Sight:
    """Return what a search with a change shows that is not as declared, or as usual."""
    instance, expectation = usual.machine.instance, usual.machine.expectation
    if verdict.error is not None:
        steps = verdict.error.depth
        return Sight(instance, "caught", ("evaluation error",), steps)
    wrong = differences(expectation, verdict, exploration)
    if not verdict.broken and verdict.overall in {"bounded", "inconclusive"}:
        return _unfinished(usual, exploration, verdict, wrong)
    if any(item.what in {"verdict", "property"} for item in wrong):
        fresh = [item for item in verdict.broken if item.name not in usual.broken]
        if fresh:
            names = tuple(item.name for item in fresh)
            return Sight(instance, "caught", names, fresh[0].length)
        missing = expectation.property if expectation is not None else None
        text = f"{missing or 'the violation'} is gone or comes later"
        return Sight(instance, "caught", (text,))
    if wrong:
        return Sight(instance, "counted", tuple(item.what for item in wrong))
    return Sight(instance, "different", _undeclared(usual.exploration, exploration))


def refused(instance: str, first: Diagnostic) -> Sight:
    """Return the sight of what is no specification, with the first error and the line it is in."""
    lines = first.span.source.text.splitlines()
    line = lines[first.span.line - 1].strip() if first.span.line <= len(lines) else ""
    return Sight(instance, "refused", note=f"{first.message} ({first.code}) in `{line}`")


def _unfinished(
    usual: Usual, exploration: Exploration, verdict: Verdict, wrong: Sequence[Difference]
) -> Sight:
    """Return what is known where a search was stopped before its end."""
    note = f"searched no further than {exploration.distinct:,} states"
    if exploration.stopped_by is None:
        note = "what endless runs do is not known"
    short = exploration.stopped_by in {"memory", "memory_of_one_state"} or any(
        item.reason in OF_MEMORY for item in verdict.unknown_liveness
    )
    note += ", for the memory was short" if short else ""
    expectation = usual.machine.expectation
    length = None if expectation is None else expectation.length
    by = []
    if exploration.distinct > usual.exploration.distinct:
        # More will not be fewer: in the end, too, this number is another.
        by += [item.what for item in wrong if item.what == "distinct"]
    if length is not None and exploration.depth_complete >= length - 1:
        by.append("length")
    seen: Seen = "counted" if by else "undecided"
    return Sight(usual.machine.instance, seen, tuple(by), note=note, short=short)


def _undeclared(usual: Exploration, exploration: Exploration) -> tuple[str, ...]:
    """Return figures that differ though the instance does not declare them."""
    rows = {(row.row, row.fired) for row in usual.rows}
    figures = (
        ("distinct", usual.distinct != exploration.distinct),
        ("depth", usual.depth != exploration.depth),
        ("generated", usual.generated != exploration.generated),
        ("rows", rows != {(row.row, row.fired) for row in exploration.rows}),
    )
    return tuple(name for name, differs in figures if differs)
