"""A Conformance for people: on the terminal, as a Markdown page, as JUnit XML."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from checker.conformance.result import Conformance, Story, Told
from checker.report import junit
from checker.report.markdown import code, fenced, paragraph, table, text
from checker.report.terminal import step_details
from checker.trace.naming import step_name
from checker.visible import visible_line

COLOURS = {"agrees": "bold green", "differs": "bold red", "undecided": "bold yellow"}
_SHOWN = 10
"""Kinds of difference whose path is printed; the others are counted."""


def headline(result: Conformance) -> str:
    """Return the result in one sentence."""
    run, who = result.run, _who(result)
    counts = run.counts
    kinds = sum(story.known is None for story in result.stories)
    what = {
        "agrees": f"agrees: {who} does as {result.spec} says",
        "differs": f"differs: {who} does not do as {result.spec} says",
        "undecided": f"undecided: not everything of {result.spec} was tried on {who}",
    }[result.verdict]
    wrong = f", {kinds} kind{'s' * (kinds != 1)} of difference" if kinds else ""
    return (
        f"{what} (instance {result.instance}){wrong}; {_coverage(result)}, "
        f"{counts.requests:,} requests in {run.seconds:.1f} s"
    )


def _who(result: Conformance) -> str:
    """Return what the adapter calls the implementation, on one line."""
    return visible_line(f"{result.adapter} {result.version}".rstrip())


def _coverage(result: Conformance) -> str:
    run = result.run
    refused = sum(row.refused for row in result.rows)
    calls = f", {refused:,} calls to be refused" if refused else ""
    if run.cover == "transitions":
        taken = run.transitions - run.untaken - run.left_open
        return (
            f"{taken:,} of {run.transitions:,} transitions of {run.states:,} states in "
            f"{run.counts.steps:,} steps{calls}"
        )
    return (
        f"{run.pairs_taken:,} of {run.pairs:,} pairs of a row and a control state in "
        f"{run.counts.steps:,} steps of random walks{calls}"
    )


def print_result(out: Console, result: Conformance) -> None:
    """Print everything about one run."""
    out.print(Text(headline(result), style=COLOURS[result.verdict]))
    for note in result.notes:
        out.print(Text(f"note: {note}", style="yellow"))
    if result.failure is not None:
        message, steps = result.failure
        out.print(Text(message, style="red"))
        if steps:
            out.print("this was after the steps")
            _print_steps(out, steps)
    for name, ticket in result.gone:
        out.print(
            Text(
                f"the known difference {name} ({ticket}) no longer occurs: take it out of the "
                "mapping",
                style="bold red",
            )
        )
    if result.unmet:
        out.print(Text(f"known differences not come upon: {', '.join(result.unmet)}"))
    unknown = [story for story in result.stories if story.known is None]
    for story in unknown[:_SHOWN]:
        out.print()
        print_story(out, story)
    if len(unknown) > _SHOWN:
        out.print(f"\nand {len(unknown) - _SHOWN} more kinds of difference; --page lists all")
    for story in result.stories:
        if story.known is not None:
            out.print(
                f"known: {story.known} ({story.ticket}), {story.count:,} times: {story.reason}"
            )
    out.print()
    out.print(_row_table(result))
    for row, why in result.skipped:
        out.print(Text(f"not driven: {row}: {why}", style="dim"))


def _row_table(result: Conformance) -> Table:
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("row", "is", "taken", "agreed", "to be refused", "refused"):
        shown.add_column(name, justify="left" if name in ("row", "is") else "right")
    for row in result.rows:
        kind = row.kind if not row.target else f"{row.kind} {row.target}"
        bad = row.taken != row.agreed or row.refused != row.refused_agreed
        shown.add_row(
            row.row,
            kind,
            f"{row.taken:,}",
            f"{row.agreed:,}",
            f"{row.refused:,}" if row.refused else "",
            f"{row.refused_agreed:,}" if row.refused else "",
            style="red" if bad else None,
        )
    return shown


def title(story: Story) -> str:
    """Return a difference in one line."""
    times = "once" if story.count == 1 else f"{story.count:,} times"
    names = ", ".join(item.name for item in story.items)
    differ = f"{names} {'differs' if len(story.items) == 1 else 'differ'}"
    if story.row is None:
        return f"after a reset: {differ}"
    if story.refusal:
        return f"{story.row}, where it is to be refused: {differ} ({times})"
    return f"{story.row}: {differ} ({times})"


def print_story(out: Console, story: Story) -> None:
    """Print one kind of difference: its path, and both sides of what differs."""
    out.print(Text(title(story), style="bold red"))
    _print_steps(out, story.steps)
    if story.last is not None:
        _print_steps(out, (story.last,))
    elif story.refusal:
        out.print(Text(f"      a call of {story.row} that is to be refused", style="bold cyan"))
        out.print(Text(f"        asked {story.request}", style="dim"))
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "what", "the model", "the implementation"):
        shown.add_column(name)
    for item in story.items:
        expected = "(no failure)" if item.name == "error" else _text(item.expected)
        shown.add_row("   ", item.name, expected, _text(item.observed), style="red")
    out.print(shown)


def _print_steps(out: Console, steps: tuple[Told, ...]) -> None:
    for told in steps:
        heading = Text(f"{told.step.number:>4}  ")
        heading.append(step_name(told.step), style="bold cyan")
        out.print(heading)
        if told.request is not None:
            out.print(Text(f"        asked {told.request}", style="dim"))
        if told.step.number:
            for line, style in step_details(told.step):
                out.print(Text(f"        {line}", style=style))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# ------------------------------------------------------------------------------ Markdown, JUnit


def page(result: Conformance, about: str, source: str) -> str:
    """Return a result as a Markdown page, the same for the same run but for its times."""
    who = text(_who(result))
    constants = ", ".join(
        f"{code(name)} {text(_text(value))}" for name, value in result.constants.items()
    )
    lines = [
        f"# {who} and {code(result.spec)}",
        "",
        *paragraph(about),
        f"**{result.verdict}**: {_coverage(result)}.",
        "",
        f"Instance {code(result.instance)}: {constants}.",
        f"Again: {code(source)}",
        "",
        *(f"* {text(note)}" for note in result.notes),
    ]
    if result.failure is not None:
        lines += ["", *fenced("text", result.failure[0])[:-1]]
    lines += ["", *_row_lines(result)]
    if result.skipped:
        lines += ["", "Not driven:", ""]
        lines += [f"* {code(row)}: {text(why)}" for row, why in result.skipped]
    lines += _known_lines(result)
    for story in result.stories:
        lines += ["", f"## {text(title(story))}", ""]
        lines += fenced("text", "\n".join(_story_lines(story)))
        items = [
            (code(item.name), code(_text(item.expected)), code(_text(item.observed)))
            for item in story.items
        ]
        lines += table(("what", "the model", "the implementation"), items)[:-1]
    return "\n".join(lines).rstrip() + "\n"


def _row_lines(result: Conformance) -> list[str]:
    rows = []
    for row in result.rows:
        refused = [f"{row.refused:,}", f"{row.refused_agreed:,}"] if row.refused else ["", ""]
        kind = row.kind if not row.target else f"{row.kind} {code(row.target)}"
        rows.append((code(row.row), kind, f"{row.taken:,}", f"{row.agreed:,}", *refused))
    head = ("row", "is", "taken", "agreed", "to be refused", "refused")
    return table(head, rows, right=(2, 3, 4, 5))[:-1]


def _known_lines(result: Conformance) -> list[str]:
    known = [story for story in result.stories if story.known is not None]
    if not known and not result.gone and not result.unmet:
        return []
    rows = [
        (str(story.known), text(story.ticket), f"{story.count:,}", text(story.reason))
        for story in known
    ]
    rows += [(name, text(ticket), "no longer occurs", "") for name, ticket in result.gone]
    rows += [(name, "", "not come upon", "") for name in result.unmet]
    head = ("known difference", "ticket", "times", "why")
    return ["", *table(head, rows, right=(2,))[:-1]]


def _story_lines(story: Story) -> list[str]:
    told = [*story.steps, *([story.last] if story.last is not None else [])]
    lines = []
    for item in told:
        asked = f"   asked {item.request}" if item.request is not None else ""
        lines.append(f"{item.step.number:>4}  {step_name(item.step)}{asked}")
    if story.refusal:
        lines.append(f"      to be refused: {story.request}")
    return lines


def write_junit(result: Conformance, path: Path) -> None:
    """Write a case for each row, and one for the run as a whole.

    What differs fails its row's case; after a reset, which is no row's, that of the whole.
    """
    suite = f"{result.spec} {result.instance}"
    cases = [
        junit.Case(
            system=suite,
            instance="everything",
            seconds=result.run.seconds,
            output=headline(result),
            failure=_whole_failure(result),
            error=None if result.failure is None else result.failure[0],
        )
    ]
    cases += [
        junit.Case(
            system=suite,
            instance=row.row,
            seconds=0.0,
            output=f"{row.taken} steps, {row.agreed} agreed",
            failure=_differences(result, row.row),
            error=None,
        )
        for row in result.rows
    ]
    junit.write(cases, path, "checker conform")


def _whole_failure(result: Conformance) -> str | None:
    """Return what is wrong with a run and is no row's; None for nothing."""
    gone = "; ".join(
        f"the known difference {name} ({ticket}) no longer occurs" for name, ticket in result.gone
    )
    undecided = "; ".join(result.notes) if result.verdict == "undecided" else ""
    parts = (_differences(result, None), gone, undecided)
    return "\n\n".join(part for part in parts if part) or None


def _differences(result: Conformance, row: str | None) -> str | None:
    """Return the differences of a row that nobody declared, or of a reset; None for none."""
    told = []
    for story in result.stories:
        if story.row != row or story.known is not None:
            continue
        items = [
            f"{item.name}: the model has {_text(item.expected)}, the implementation "
            f"{_text(item.observed)}"
            for item in story.items
        ]
        told.append("\n".join([title(story), *_story_lines(story), *items]))
    return "\n\n".join(told) or None
