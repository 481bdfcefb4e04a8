"""`index.html` of a report: one run as one page that needs nothing but itself.

The page of a violation begins with the answer: what is broken, why a user should care, what differs
from the variant in which it holds, which part of the property failed. Then the story, as a chart
and as steps; the rest is folded. Everything that a specification says is escaped by the template.
"""

from __future__ import annotations

from checker.machine.machine import Machine
from checker.report.headline import CALM, claim, counts_by_heading, headline, never_fired
from checker.report.hypertext import environment
from checker.report.result import Result
from checker.report.story import other_views, story_views
from checker.report.variants import mended, settings


def page(result: Result, files: dict[str, str]) -> str:
    """Return the page of a run; `files` names the ITF file of each property with a trace."""
    machine, verdict = result.machine, result.verdict
    line = headline(machine, result.exploration, verdict)
    said = claim(verdict)
    shown = settings(result)
    broken = [item.declared or item.name for item in verdict.broken]
    return (
        environment()
        .get_template("page.html")
        .render(
            result=result,
            machine=machine,
            verdict=verdict,
            claim=said,
            extent=line[len(verdict.overall) + 1 :].strip().removeprefix(said).lstrip(", "),
            differing=sorted(
                (item for item in shown if item.differs), key=lambda item: not item.chosen
            ),
            settings=shown,
            mended=mended(result, broken) if broken else None,
            stories=story_views(result, files),
            others=other_views(result),
            files=files,
            calm=CALM,
            coverage=counts_by_heading(machine, result.exploration),
            never=never_fired(result.exploration),
            sources=_sources(machine),
        )
    )


def _sources(machine: Machine) -> list[str]:
    """Return the files of a system, without where this machine keeps them."""
    return ["/".join(source.name.replace("\\", "/").split("/")[-2:]) for source in machine.sources]
