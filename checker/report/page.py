"""`index.html` of a report: one run as one page that needs nothing but itself.

The page of a violation begins with the answer: what is broken, why a user should care, what differs
from the variant in which it holds, which part of the property failed. Then the story, as a chart
and as steps; the rest is folded. Everything that a specification says is escaped by the template.
"""

from __future__ import annotations

from functools import partial

from checker.machine.machine import Machine
from checker.report.headline import (
    CALM,
    broken_text,
    claim,
    counted,
    counts_by_heading,
    counts_of,
    headline,
    never_fired,
)
from checker.report.hypertext import environment
from checker.report.result import Result
from checker.report.story import Story, other_views, story_views
from checker.report.variants import mended, settings
from checker.trace.naming import place
from checker.verdict.judge import Verdict
from checker.verdict.vacuity import vacuous


def page(result: Result, files: dict[str, str]) -> str:
    """Return the page of a run; `files` names the ITF file of each property with a trace."""
    machine, verdict = result.machine, result.verdict
    line = headline(machine, result.exploration, verdict)
    said = claim(verdict)
    shown = settings(result)
    broken = [item.declared or item.name for item in verdict.broken]
    stories = story_views(result, files)
    first, also = _claims(verdict, stories)
    return (
        environment()
        .get_template("page.html")
        .render(
            result=result,
            machine=machine,
            verdict=verdict,
            claim=first or said,
            also=also,
            extent=line[len(verdict.overall) + 1 :].strip().removeprefix(said).lstrip(", "),
            differing=sorted(
                (item for item in shown if item.differs), key=lambda item: not item.chosen
            ),
            settings=shown,
            mended=mended(result, broken) if broken else None,
            stories=stories,
            leads=_leads(stories),
            others=other_views(result),
            files=files,
            calm=CALM,
            coverage=counts_by_heading(machine, result.exploration),
            vacuous=[(place(item.span), str(item)) for item in vacuous(result.looked)],
            counted=counted(result.exploration),
            counts_of=partial(counts_of, result.exploration),
            never=never_fired(result.exploration),
            sources=_sources(machine),
        )
    )


def _claims(verdict: Verdict, stories: tuple[Story, ...]) -> tuple[str, str]:
    """Return what is said of the property whose story is told first, and of the other broken ones.

    Both are empty where nothing broken is told, and where an error counts more than all of it.
    """
    if verdict.error is not None:
        return "", ""
    told = stories[0].answers[0].name if stories else ""
    said = {item.name: broken_text(item) for item in verdict.broken}
    first = said.pop(told, "")
    return first, "; ".join(said.values()) if first else ""


def _leads(stories: tuple[Story, ...]) -> list[str]:
    """Return why a user should care about what the first story breaks, each reason once."""
    answers = stories[0].answers if stories else ()
    return list(dict.fromkeys(answer.why for answer in answers if answer.why))


def _sources(machine: Machine) -> list[str]:
    """Return the files of a system, without where this machine keeps them."""
    return ["/".join(source.name.replace("\\", "/").split("/")[-2:]) for source in machine.sources]
