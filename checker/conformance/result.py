"""Takes a Run, makes a Conformance: the verdict, tables by row, and a story of each difference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from checker.conformance.bind import Bound
from checker.conformance.course import Run
from checker.conformance.session import STATES_MAX, Difference, Item, Path
from checker.conformance.space import Key, Space
from checker.frozen import frozen
from checker.semantics.successors import initial_steps
from checker.trace.rebuild import make_step
from checker.trace.trace import Step

Verdict = Literal["agrees", "differs", "undecided"]


@frozen(slots=False)
class RowResult:
    """Of one row: what it is for the implementation, steps taken and agreed, calls refused."""

    row: str
    kind: str
    target: str
    taken: int
    agreed: int
    refused: int
    refused_agreed: int


@frozen(slots=False)
class Told:
    """One step of a story, with what the implementation was asked."""

    step: Step
    request: str | None


@frozen(slots=False)
class Story:
    """One kind of difference: its shortest path, and the step after which things are not alike.

    `last` is the step of the model that comes nearest; None for a call that is to be refused.
    """

    row: str | None
    refusal: bool
    request: str | None
    steps: tuple[Told, ...]
    last: Told | None
    items: tuple[Item, ...]
    count: int
    known: str | None
    reason: str
    ticket: str


@frozen(slots=False)
class Conformance:
    """How an implementation compares with one instance of a specification."""

    verdict: Verdict
    spec: str
    instance: str
    constants: Mapping[str, object]
    command: str
    adapter: str
    version: str
    run: Run
    rows: tuple[RowResult, ...]
    skipped: tuple[tuple[str, str], ...]
    stories: tuple[Story, ...]
    gone: tuple[tuple[str, str], ...]
    """Known differences that no longer occur, with their tickets."""
    unmet: tuple[str, ...]
    """Known differences whose place was not come upon."""
    failure: tuple[str, tuple[Told, ...]] | None
    notes: tuple[str, ...]


def conformance_of(
    space: Space, run: Run, spec: str, command: str, adapter: str, version: str
) -> Conformance:
    """Return what a run means."""
    bound = space.bound
    rows = _rows(bound, run)
    known, tried = run.counts.known, run.counts.known_tried
    gone = tuple(
        (item.name.text, item.ticket)
        for number, item in enumerate(bound.known)
        # Where not everything was tried, it may occur in what is left.
        if tried.get(number) and not known.get(number)
        if run.stopped is None and not run.counts.given_up
    )
    unmet = tuple(
        item.name.text for number, item in enumerate(bound.known) if not tried.get(number)
    )
    stories = tuple(
        _story(space, group.shortest, group.count)
        for group in sorted(
            run.groups.values(), key=lambda group: (len(group.shortest.path), -group.count)
        )
    )
    untaken = [row.row for row in rows if run.cover == "rows" and not row.taken]
    unseen = run.counts.given_up > 0 and run.untaken > 0
    failure = None
    if run.failure is not None:
        start, path, asking = run.failure_path or (b"", (), "")
        del asking
        failure = str(run.failure), _told(space, start, path) if path else ()
    verdict: Verdict = "agrees"
    if any(story.known is None for story in stories) or gone:
        verdict = "differs"
    elif run.stopped is not None or untaken or unseen or not any(row.taken for row in rows):
        verdict = "undecided"
    return Conformance(
        verdict=verdict,
        spec=spec,
        instance=bound.machine.instance,
        constants=dict(bound.machine.constants),
        command=command,
        adapter=adapter,
        version=version,
        run=run,
        rows=rows,
        skipped=tuple((row.action.name, row.target) for row in bound.rows if row.kind == "skip"),
        stories=stories,
        gone=gone,
        unmet=unmet,
        failure=failure,
        notes=tuple(_notes(run, untaken)),
    )


def _rows(bound: Bound, run: Run) -> tuple[RowResult, ...]:
    return tuple(
        RowResult(
            row.action.name,
            row.kind,
            "" if row.kind == "silent" else row.target,
            tally.taken,
            tally.agreed,
            tally.refused,
            tally.refused_agreed,
        )
        for row, tally in zip(bound.rows, run.counts.rows, strict=True)
        if row.kind != "skip"
    )


def _notes(run: Run, untaken: list[str]) -> list[str]:
    notes = []
    if run.stopped is not None:
        notes.append(f"ended before everything was taken: {run.stopped}")
    if untaken:
        notes.append(f"rows that no walk came upon: {', '.join(untaken)}")
    if run.cover == "transitions" and run.untaken:
        notes.append(f"{run.untaken:,} transitions were not reached")
    if run.left_open:
        notes.append(
            f"{run.left_open:,} transitions are choices that the implementation made otherwise"
        )
    if run.unrefused:
        notes.append(
            f"{run.unrefused:,} calls that are to be refused were not made, where the "
            "implementation went otherwise or may be in one of several states"
        )
    if run.counts.given_up:
        notes.append(
            f"{run.counts.given_up:,} paths were given up where more than {STATES_MAX:,} states "
            "fitted what was seen: observe more"
        )
    if run.cover == "rows" and run.pairs_taken < run.pairs:
        notes.append(
            f"{run.pairs - run.pairs_taken:,} pairs of a row and a control state were planned "
            "and not reached"
        )
    return notes


def _told(space: Space, start: Key, path: Path) -> tuple[Told, ...]:
    """Return the initial state and the steps of a path."""
    machine = space.bound.machine
    state = space.state(start)
    first = next(item for item in initial_steps(machine) if item.state == state)
    told = [Told(make_step(machine, 0, state, first), None)]
    for number, taken in enumerate(path, start=1):
        step = make_step(
            machine, number, space.state(taken.key), space.successor(taken.key, taken.edge)
        )
        told.append(Told(step, taken.choice.request))
    return tuple(told)


def _story(space: Space, difference: Difference, count: int) -> Story:
    bound = space.bound
    declared = None if difference.known is None else bound.known[difference.known]
    last = None
    if difference.edge is not None:
        found = space.successor(difference.key, difference.edge)
        step = make_step(
            bound.machine, len(difference.path) + 1, space.state(difference.key), found
        )
        last = Told(step, difference.request)
    return Story(
        row=None if difference.row is None else bound.rows[difference.row].action.name,
        refusal=difference.refusal is not None,
        request=difference.request,
        steps=_told(space, difference.start, difference.path),
        last=last,
        items=difference.items,
        count=count,
        known=None if declared is None else declared.name.text,
        reason="" if declared is None else declared.reason,
        ticket="" if declared is None else declared.ticket,
    )


def as_object(result: Conformance, checker: str) -> dict[str, object]:
    """Return a result as the object that `--format json` prints."""
    run = result.run
    return {
        "checker": checker,
        "spec": result.spec,
        "instance": result.instance,
        "constants": dict(result.constants),
        "adapter": {"command": result.command, "name": result.adapter, "version": result.version},
        "verdict": result.verdict,
        "cover": run.cover,
        "states": run.states,
        "states_reached": run.states_seen,
        "transitions": run.transitions,
        "transitions_not_reached": run.untaken,
        "transitions_chosen_otherwise": run.left_open,
        "refusals_not_made": run.unrefused,
        "pairs": run.pairs,
        "pairs_taken": run.pairs_taken,
        "steps": run.counts.steps,
        "requests": run.counts.requests,
        "resets": run.counts.resets,
        "given_up": run.counts.given_up,
        "seconds": round(run.seconds, 3),
        "stopped_by": run.stopped,
        "failure": None
        if run.failure is None
        else {"reason": run.failure.reason, "message": str(run.failure)},
        "rows": [
            {
                "row": row.row,
                "kind": row.kind,
                "target": row.target,
                "taken": row.taken,
                "agreed": row.agreed,
                "refused": row.refused,
                "refused_agreed": row.refused_agreed,
            }
            for row in result.rows
        ],
        "skipped": [{"row": row, "why": why} for row, why in result.skipped],
        "differences": [_as_object(story) for story in result.stories],
        "known_gone": [{"name": name, "ticket": ticket} for name, ticket in result.gone],
        "known_not_met": list(result.unmet),
        "notes": list(result.notes),
    }


def _as_object(story: Story) -> dict[str, object]:
    steps = [*story.steps[1:], *([story.last] if story.last is not None else [])]
    return {
        "row": story.row,
        "refusal": story.refusal,
        "count": story.count,
        "known": story.known,
        "reason": story.reason,
        "ticket": story.ticket,
        "length": len(steps),
        "requests": [None if told.request is None else json.loads(told.request) for told in steps]
        + ([json.loads(story.request)] if story.refusal and story.request else []),
        "items": [
            {"name": item.name, "expected": item.expected, "observed": item.observed}
            for item in story.items
        ],
    }
