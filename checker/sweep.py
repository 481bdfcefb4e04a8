"""One specification in several sizes: what a search finds in each, and from where on it stays.

That nothing changed over the sizes that were run is evidence, and no proof, that nothing will.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from checker import __version__, flow
from checker.elaborate import elaborate, world_of
from checker.errors import EnvironmentFailure, SpecificationError, UsageError
from checker.frozen import frozen
from checker.graph.endless import judge_endless
from checker.kernel import build
from checker.kernel.kernel import Words
from checker.layout import pack
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.runs import Lost, Spread
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.options import Options
from checker.search.progress import Interrupt
from checker.table import Document, read
from checker.table.problems import nearest
from checker.verdict.judge import Verdict, judge

Value = int | bool | str
SIZES_MAX = 1000
"""Sizes that one sweep may have."""


@frozen()
class Size:
    """What one search found, or why there was none (`refused`).

    `fired` are the rows that fired, `control` the states that machines were in: names and values,
    None where the states were not kept to be looked at.
    """

    settings: tuple[tuple[str, Value], ...]
    verdict: str = ""
    broken: tuple[str, ...] = ()
    distinct: int = 0
    depth: int = 0
    seconds: float = 0.0
    stopped_by: str | None = None
    fired: frozenset[str] = frozenset()
    control: frozenset[tuple[str, int]] | None = frozenset()
    refused: str = ""

    @property
    def behaviour(self) -> tuple[object, ...]:
        """What is compared between sizes."""
        return self.verdict, self.broken, self.fired, self.control

    @property
    def whole(self) -> bool:
        """Whether all of its behaviour is known: the search was not stopped by a limit."""
        ended = self.stopped_by in {None, "violation", "evaluation_error"}
        return not self.refused and ended and self.control is not None


def ranges(settings: Sequence[str]) -> dict[str, list[Value]]:
    """Return the values of each constant of `--set NAME=LOW..HIGH`, `NAME=A,B` or `NAME=VALUE`."""
    found: dict[str, list[Value]] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name.strip() or not text.strip():
            raise UsageError(f"--set takes NAME=LOW..HIGH or NAME=VALUE,..., not {setting!r}")
        if name.strip() in found:
            raise UsageError(f"--set gives `{name.strip()}` twice; write NAME=VALUE,VALUE,...")
        match = re.fullmatch(r"\s*(-?[0-9]{1,18})\s*\.\.\s*(-?[0-9]{1,18})\s*", text)
        if match is not None:
            low, high = int(match[1]), int(match[2])
            if high < low:
                raise UsageError(f"--set {setting}: the range is empty")
            if high - low >= SIZES_MAX:
                raise UsageError(f"--set {setting}: a sweep has at most {SIZES_MAX:,} sizes")
            found[name.strip()] = list(range(low, high + 1))
        else:
            found[name.strip()] = _listed(setting, [part.strip() for part in text.split(",")])
    sizes = 1
    for values in found.values():
        sizes *= len(values)
    if sizes > SIZES_MAX:
        raise UsageError(f"{sizes:,} sizes are more than a sweep may have ({SIZES_MAX:,})")
    return found


def _listed(setting: str, parts: list[str]) -> list[Value]:
    # A size that ran twice would be counted as evidence for itself.
    values = [_value(part) for part in parts]
    if "" in parts:
        raise UsageError(f"--set {setting}: a value is missing")
    for part, value in zip(parts, values, strict=True):
        if values.count(value) > 1:
            raise UsageError(f"--set {setting}: {part} stands there twice")
    return values


def _value(text: str) -> Value:
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text


def require_constants(document: Document, names: Iterable[str]) -> None:
    """Raise UsageError for a name that is no constant of a specification."""
    known = [constant.name.text for constant in document.constants]
    for name in names:
        if name not in known:
            close = nearest(name, known)
            there = f"there are {', '.join(known) or 'none'}"
            hint = f"; did you mean {close}?" if close else f"; {there}"
            raise UsageError(f"{document.name.text} has no constant {name!r}{hint}")


def require_values(
    document: Document, instance: str, chosen: Iterable[tuple[tuple[str, Value], ...]]
) -> None:
    """Raise UsageError for a value that its constant can never have, before anything is searched.

    What a specification says of its constants itself (`assume`) is for `measure` to find.
    """
    for settings in chosen:
        with suppress(SpecificationError):
            world_of(document, instance, dict(settings))


def sizes(values: Mapping[str, Sequence[Value]]) -> Iterator[tuple[tuple[str, Value], ...]]:
    """Yield the settings of each size; the first constant changes slowest."""
    for chosen in itertools.product(*values.values()):
        yield tuple(zip(values, chosen, strict=True))


def measure(
    document: Document,
    request: flow.Request,
    settings: tuple[tuple[str, Value], ...],
    observer: flow.Observer,
    interrupt: Interrupt | None = None,
) -> Size:
    """Search one size; one that its specification refuses says why."""
    try:
        machine = elaborate(document, request.instance, dict(settings))
    except SpecificationError as error:
        return Size(settings, refused=error.diagnostics[0].message)
    machine = flow.reduced(flow.select(machine, request.properties), request.symmetry)
    exploration, verdict, control = _searched(machine, request, observer, interrupt)
    return Size(
        settings,
        verdict="evaluation error" if verdict.error is not None else verdict.overall,
        broken=tuple(sorted(item.name for item in verdict.broken)),
        distinct=exploration.distinct,
        depth=exploration.depth,
        seconds=exploration.seconds,
        stopped_by=exploration.stopped_by,
        fired=frozenset(row.row for row in exploration.rows if row.fired),
        control=control,
    )


@frozen()
class Task:
    """One size for a process that knows nothing of the others; `request` names a file by path."""

    request: flow.Request
    settings: tuple[tuple[str, Value], ...]


def measure_task(task: Task) -> Size:
    """Search one size by itself."""
    return measure(read(Path(task.request.spec)), task.request, task.settings, flow.Silent())


def measure_everywhere(
    request: flow.Request, chosen: Sequence[tuple[tuple[str, Value], ...]], spread: Spread
) -> Iterator[Size]:
    """Yield each size as soon as a spread has searched it, one core each.

    EnvironmentFailure: a search was lost.
    """
    memory = request.limits.memory_bytes or spread.memory
    alone = replace(request, workers=1, limits=replace(request.limits, memory_bytes=memory))
    for task, found in spread.each(measure_task, [Task(alone, settings) for settings in chosen]):
        if isinstance(found, Lost):
            size = ", ".join(f"{name}={shown(value)}" for name, value in task.settings)
            raise EnvironmentFailure(f"{size}: {found.reason}")
        yield found


def _searched(
    machine: Machine,
    request: flow.Request,
    observer: flow.Observer,
    interrupt: Interrupt | None,
) -> tuple[Exploration, Verdict, frozenset[tuple[str, int]] | None]:
    layout = pack(machine)
    kernel = build(machine, layout, prompt=True)
    limits, workers = request.limits, request.workers
    exploration = explore(
        machine,
        layout,
        kernel,
        limits,
        workers,
        observer.search,
        interrupt,
        Options(keep=True, notice=observer.notice),
    )
    liveness = judge_endless(
        machine, exploration, limits, (layout, kernel.best), workers, interrupt
    )
    findings = (*exploration.findings, *liveness.findings)
    states = exploration.states
    control = _control(machine, layout, states) if isinstance(states, np.ndarray) else None
    exploration = replace(
        exploration, findings=findings, stopped_by=exploration.stopped_by or liveness.stopped_by
    )
    return exploration, judge(machine, exploration, liveness.outcomes), control


def _control(machine: Machine, layout: Layout, states: Words) -> frozenset[tuple[str, int]]:
    """Return the states of their tables that machines were in, whichever of their ids it was."""
    found: set[tuple[str, int]] = set()
    for place, variable in enumerate(machine.variables):
        if variable.table is None:
            continue
        for leaf in layout.variable_leaves(place):
            words = states[:, leaf.word].view(np.uint64) >> np.uint64(leaf.shift)
            if leaf.width < 64:
                words &= np.uint64((1 << leaf.width) - 1)
            codes = words // np.uint64(leaf.divisor) % np.uint64(max(leaf.cardinality, 1))
            found |= {(variable.name, int(code)) for code in np.unique(codes)}
    return frozenset(found)


def settled(found: Sequence[Size], name: str) -> list[tuple[str, Value | None, int]]:
    """Return, where only `name` grows, the value from which on nothing changed, and how many more.

    One entry for each setting of the others, as text; None where the last size still changed
    something, or where a size was not searched whole.
    """
    groups: dict[str, list[tuple[Value, Size]]] = {}
    for size in found:
        others = ", ".join(f"{key}={shown(value)}" for key, value in size.settings if key != name)
        groups.setdefault(others, []).append((dict(size.settings)[name], size))
    answers: list[tuple[str, Value | None, int]] = []
    for others, members in groups.items():
        if all(type(value) is int for value, _ in members):
            members.sort(key=lambda member: int(member[0]))  # in whatever order they were asked for
        same = 0
        last = members[-1][1]
        for _, size in reversed(members):
            if not size.whole or size.behaviour != last.behaviour:
                break
            same += 1
        since = members[-same][0] if same > 1 else None
        answers.append((others, since, max(same - 1, 0)))
    return answers


def shown(value: Value) -> str:
    """Return a constant's value as a user writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_object(
    spec: str, instance: str, found: Sequence[Size], names: Sequence[str]
) -> dict[str, object]:
    """Return a sweep as an object for JSON."""
    return {
        "checker": __version__,
        "spec": spec,
        "instance": instance,
        "sizes": [
            {
                "set": dict(size.settings),
                "verdict": size.verdict or None,
                "broken": list(size.broken),
                "distinct": size.distinct,
                "depth": size.depth,
                "seconds": round(size.seconds, 6),
                "stopped_by": size.stopped_by,
                "fired": len(size.fired),
                "control_states": None if size.control is None else len(size.control),
                "refused": size.refused or None,
            }
            for size in found
        ],
        "unchanged_from": [
            {"constant": name, "others": others, "value": value, "sizes_after": more}
            for name in names
            for others, value, more in settled(found, name)
        ],
    }
