"""The words that every form of report shares: the verdict in one sentence, headings, gaps."""

from __future__ import annotations

from itertools import groupby

from checker.machine.machine import Machine
from checker.search.exploration import Exploration, RowCoverage
from checker.search.finding import Finding
from checker.search.outcome import WITHIN_BOUNDS
from checker.semantics.symmetry import drawn_ids, reduces, symmetric_ids
from checker.source import heading_over
from checker.trace.calmness import calmness
from checker.trace.naming import end_of, excerpt, place
from checker.trace.trace import Reason, Step, Trace, WayOut
from checker.verdict.judge import PropertyVerdict, Verdict

STOPPED = {
    "violation": "stopped at the violation",
    "evaluation_error": "stopped at an evaluation error",
    "depth": "stopped by the depth limit",
    "states": "stopped by the limit of states",
    "steps": "ended after so many steps",
    "seconds": "stopped by the time limit",
    "memory": "stopped by the memory limit",
    "memory_of_one_state": "stopped by the memory limit: one state has more steps than fit",
    "interrupt": "interrupted",
}


FINDINGS = {
    "sometimes": "is reached",
    "deadlock": "nothing but a fault can happen",
}


def headline(machine: Machine, exploration: Exploration, verdict: Verdict) -> str:
    """Return the verdict line: verdict, counts, how far, under which budgets and bounds."""
    parts = [claim(verdict)]
    if exploration.hunted:
        parts.append(exploration.hunted)
    else:
        parts += [_counts(machine, exploration), _extent(exploration)]
    parts += [_budgets(machine), _cuts(machine, exploration)]
    return f"{verdict.overall}: " + ", ".join(part for part in parts if part)


def claim(verdict: Verdict) -> str:
    """Return what is said beside the verdict: which properties are broken, or unknown."""
    if verdict.overall == "violated":
        return "; ".join(broken_text(item) for item in verdict.broken)
    if verdict.error is not None:
        beside = [f"violated: {broken_text(item)}" for item in verdict.broken]
        return "; ".join([_error_text(verdict.error), *beside])
    if verdict.overall == "bounded":
        return "no violation found"
    within = [item.name for item in verdict.properties if item.within_bounds]
    if verdict.overall == "holds" and within:
        return f"{', '.join(within)} {WITHIN_BOUNDS}"
    if verdict.unknown_liveness and verdict.safety_holds:
        names = ", ".join(item.name for item in verdict.unknown_liveness)
        return f"safety holds, liveness is unknown ({names})"
    return ""


def _error_text(error: Finding) -> str:
    steps = error.depth
    if error.action is not None:  # the step that fails is one more, as its trace counts
        return f"evaluation error in step {steps + 1:,}"
    return f"evaluation error after {plural(steps, 'step')}"


def unknown_text(item: PropertyVerdict) -> str:
    """Return why nothing can be said of a property, after its name."""
    return f"{item.name}: {item.reason}" if item.reason else item.name


def broken_text(item: PropertyVerdict) -> str:
    """Return what is said of a broken property beside the verdict: its name, after how long."""
    if item.outcome == "unwitnessed":
        return f"{item.name} is never reached"
    steps = plural(item.length or 0, "step")
    if item.kind == "deadlock":
        return f"deadlock after {steps}"
    if item.kind == "legal":
        return f"a move that the state table lacks after {steps}"
    return f"{item.name} after {steps}"


def _counts(machine: Machine, exploration: Exploration) -> str:
    states = plural(exploration.distinct, "distinct state") + up_to_renaming(machine)
    if machine.unlike:
        states += f" without symmetry ({place(machine.unlike[0].span)})"
    return f"{states}, depth {exploration.depth}"


def up_to_renaming(machine: Machine) -> str:
    """Return what is said after a number of states where one stands for all of its orbit."""
    kinds = symmetric_ids(machine) if reduces(machine) else ()
    return f" up to renaming {' and '.join(kind.name for kind in kinds)}" if kinds else ""


def _extent(exploration: Exploration) -> str:
    if exploration.exhaustive:
        return "exhaustive"
    stopped = STOPPED.get(exploration.stopped_by or "", "not exhaustive")
    complete = exploration.depth_complete
    whole = "no depth complete" if complete < 0 else f"complete to depth {complete}"
    return f"{stopped} ({whole})"


def _budgets(machine: Machine) -> str:
    if not machine.budgets:
        return ""
    return "with at most " + ", ".join(f"{count} {name}" for name, count in machine.budgets)


def _cuts(machine: Machine, exploration: Exploration) -> str:
    if not exploration.cuts:
        return ""
    declared = (*machine.bounds, *machine.step_bounds)
    texts = [excerpt(bound.span) for bound in declared]
    # A step is also cut where `fresh` finds no id: which of them it was is not counted.
    texts += ["the ids available"] if drawn_ids(machine) else []
    bounds = " and ".join(filter(None, texts)) or "the bounds"
    return f"within {bounds} ({plural(exploration.cuts, 'cut')})"


def plural(count: int, noun: str) -> str:
    """Return `1 step`, `2 steps`, `1,234 states`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def title(trace: Trace) -> str:
    """Return the heading of a trace: what it shows, in how many steps."""
    steps = plural(trace.length, "step")
    if trace.failure is not None:
        where = f"row {trace.failure.row}" if trace.failure.row else trace.failure.property
        where = where or "a terminal condition"
        if trace.failure.row and not trace.length:  # of a row that fails there is a step
            where = "the initial state"
        return f"evaluation error in {where} ({steps})"
    return f"{trace.property_name} ({FINDINGS.get(trace.kind, 'violated')}, {steps})"


def other_title(trace: Trace) -> str:
    """Return the heading of a further run: what it shows, and how calm it is."""
    _, turns = calmness(trace)
    limited = [step.fault for step in trace.steps if step.fault is not None]
    told = f"{', '.join(limited)}; " if limited else "no fault; "
    return f"{title(trace)}; {told}{plural(turns, 'change')} of who acts"


CALM = "No run as short has fewer faults, or as few and fewer changes of who acts."
"""What is said of a run that is the calmest of the shortest."""


def stories(trace: Trace) -> dict[int, str]:
    """Return what happens in a step, in the words of its row: where the row comes first."""
    firsts = {step.row: step for step in reversed(trace.steps)}
    return {step.number: step.about for step in firsts.values() if step.about}


NAME_SHOWN = 60
"""Letters of the name of a step on a way out of a loop, with its bindings."""

WAY_SHOWN = 6
"""Steps that are named of a way out of a loop: where it begins says what is missing."""

PROMISES_SHOWN = 12
"""Fair row instances that a report names."""


def loop_end(trace: Trace) -> str:
    """Return where a run goes after the last step shown; empty for a run that just ends."""
    return end_of(trace.length, None if trace.loop is None else trace.loop.start)


def loop_text(trace: Trace) -> list[str]:
    """Return sentences on a loop: since when something is due, and what would bring it about."""
    loop = trace.loop
    if loop is None:
        return []
    since = f"after step {loop.raised}" if loop.raised else "from the beginning"
    way = trace.way_out
    lines = [f"due {since}, and it never comes"]
    if way is not None and not way.steps:
        return [f"due {since}, and it cannot come any more, unless by a fault"]
    if trace.kind == "eventually_always":
        lines = [f"false again and again, as after step {loop.raised}"]
    elif trace.kind == "ltl":
        lines = ["this run does not satisfy the formula"]
    return [*lines, *([_way_out_text(way)] if way is not None else [])]


def _way_out_text(way: WayOut) -> str:
    """Say by which steps the loop would be left for what is due, and why none of them must happen.

    Every other step is only possible once the first one has been taken.
    """
    steps = ", ".join(_short(name) for name in way.steps[:WAY_SHOWN])
    if len(way.steps) > WAY_SHOWN:
        steps += f" and {plural(len(way.steps) - WAY_SHOWN, 'more step')}"
    first = "this" if len(way.steps) == 1 else "the first of these"
    where = f"in {way.possible} of the {way.states} states of the loop"
    if way.possible == way.states:
        where = "all the time"
    if way.elsewhere is not None:
        why = f"step {way.elsewhere} is the same, at another moment or with another outcome"
    elif way.promise == "none":
        why = f"{first} is possible {where}, and nothing promises that it happens"
    elif way.kept is not None:
        why = f"{first} is possible {where}, but what is promised is any row of {way.group}"
        why += f", as in step {way.kept}"
    else:
        why = f"{first} is possible {where}; weak fairness is for what is possible all the time"
    return f"it would come after step {way.after} by {steps}: {why}"


def _short(name: str) -> str:
    """Return a step's name without what it is about, where that is long."""
    row, bracket, _ = name.partition("(")
    return f"{row}(...)" if bracket and len(name) > NAME_SHOWN else name


def promise_text(trace: Trace) -> list[str]:
    """Return sentences on why a loop is fair: what it does about each row that must run."""
    loop = trace.loop
    if loop is None:
        return []
    lines = []
    for promise in loop.promises[:PROMISES_SHOWN]:
        how = f"taken in step {promise.step}"
        if not promise.taken:
            how = f"not enabled after step {promise.step}"
        lines.append(f"{'strongly' if promise.strong else 'weakly'} fair {promise.instance}: {how}")
    more = len(loop.promises) - PROMISES_SHOWN
    if more > 0:
        lines.append(f"and {plural(more, 'more fair row instance')}")
    if not loop.promises and (trace.way_out is None or trace.way_out.steps):
        lines.append("no row that must run sooner or later can run, so nothing has to happen")
    return lines


def fault_mark(step: Step) -> str:
    """Return what is said of a step that only happens so often: `crash (0 left)`.

    Not all of them are failures: joins and changes of metadata are limited in the same way.
    """
    budget = f"budget.{step.fault}"
    left = next((item.after for item in step.changes if item.place == budget), None)
    return f"{step.fault}" if left is None else f"{step.fault} ({left} left)"


def reason_text(reason: Reason) -> str:
    """Return a part of a condition with its value; one without a text by its value alone."""
    return f"{reason.text or 'a part of it'} is {reason.value}"


def never_fired(exploration: Exploration) -> tuple[str, ...]:
    """Return the names of the rows that produced no successor."""
    return tuple(row.row for row in exploration.rows if not row.fired)


def counted(exploration: Exploration) -> tuple[str, tuple[str, ...]]:
    """Return what is counted of a row: in a sentence, and the heads of its columns.

    Hunts do not look at all that can happen in a state, nor keep states to compare.
    """
    if exploration.hunted:
        return "How often all hunts together took a row.", ("taken",)
    told = "States in which a row was enabled, successors it made, those that are another state."
    return told, ("enabled", "fired", "new")


def counts_of(exploration: Exploration, row: RowCoverage) -> tuple[str, ...]:
    """Return what was counted of a row, in the columns of `counted`."""
    counts = (row.fired,) if exploration.hunted else (row.enabled, row.fired, row.new)
    return tuple(f"{count:,}" for count in counts)


def counts_by_heading(
    machine: Machine, exploration: Exploration
) -> tuple[tuple[str, tuple[RowCoverage, ...]], ...]:
    """Return the counts of rows in their order, by the headings over them; "" where none is."""
    spans = {action.name: action.span for action in machine.actions}

    def title(count: RowCoverage) -> str:
        span = spans.get(count.row)
        heading = None if span is None else heading_over(machine.headings, span)
        return heading.title if heading is not None and heading.part == "rows" else ""

    return tuple((name, tuple(counts)) for name, counts in groupby(exploration.rows, title))
