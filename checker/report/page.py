"""`index.html` of a report: one run as one page that needs nothing but itself.

The page of a violation begins with the answer: what is broken, why a user should care, what differs
from the variant in which it holds, which part of the property failed. Then the story, as a chart
and as steps; the rest is folded. Everything that a specification says is escaped by the template.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from checker.machine.machine import Machine
from checker.report.headline import claim, counts_by_heading, headline, never_fired
from checker.report.result import Result
from checker.report.story import other_views, story_views
from checker.report.variants import mended, settings

TICKET = re.compile(r"\bKAFKA-\d+\b")
TICKETS = "https://issues.apache.org/jira/browse/"


def page(result: Result, files: dict[str, str]) -> str:
    """Return the page of a run; `files` names the ITF file of each property with a trace."""
    machine, verdict = result.machine, result.verdict
    line = headline(machine, result.exploration, verdict)
    said = claim(verdict)
    shown = settings(result)
    broken = [item.declared or item.name for item in verdict.broken]
    return (
        _environment()
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
            coverage=counts_by_heading(machine, result.exploration),
            never=never_fired(result.exploration),
            sources=_sources(machine),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("checker.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["linked"] = linked
    environment.filters["coord"] = lambda number: f"{number:.1f}".removesuffix(".0")
    for name, file in (("style", "page.css"), ("script", "page.js")):
        # What stands between the tags is allowed to run by its digest, and nothing else is.
        text = "\n" + environment.get_template(file).render()
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        environment.globals[name] = Markup(text)  # noqa: S704 (files of this package)
        environment.globals[f"{name}_digest"] = digest
    return environment


def linked(text: str) -> Markup:
    """Return prose as HTML, with Kafka's tickets as links."""
    pieces: list[str] = []
    end = 0
    for found in TICKET.finditer(text):
        pieces += [escape(text[end : found.start()])]
        pieces += [Markup('<a href="{}{}">{}</a>').format(TICKETS, found[0], found[0])]
        end = found.end()
    return Markup("").join([*pieces, escape(text[end:])])


def _sources(machine: Machine) -> list[str]:
    """Return the files of a system, without where this machine keeps them."""
    return ["/".join(source.name.replace("\\", "/").split("/")[-2:]) for source in machine.sources]
