"""Pages of HTML that need nothing but themselves: the templates, with their style and scripts.

What stands between the tags of a page is allowed to run by its digest, and nothing else is, so that
no text of a specification can ever run in a reader's browser.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from checker.visible import visible

TICKET = re.compile(r"\bKAFKA-\d+\b")
TICKETS = "https://issues.apache.org/jira/browse/"

_PARTS = (
    ("style", "page.css"),
    ("script", "page.js"),
    ("lookup_style", "lookup.css"),
    ("lookup_script", "lookup.js"),
    ("plot_style", "plot.css"),
)
"""What a page has between its tags, by the name that its template uses."""


@cache
def environment() -> Environment:
    """Return the templates of pages; whatever they are given is escaped."""
    found = Environment(
        loader=PackageLoader("checker.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda item: visible(item) if type(item) is str else item,  # not Markup
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["linked"] = linked
    found.filters["coord"] = lambda number: f"{number:.1f}".removesuffix(".0")
    for name, file in _PARTS:
        text = "\n" + found.get_template(file).render()
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        found.globals[name] = Markup(text)  # noqa: S704 (files of this package)
        found.globals[f"{name}_digest"] = digest
    return found


def linked(text: str) -> Markup:
    """Return prose as HTML, with Kafka's tickets as links."""
    pieces: list[str] = []
    end = 0
    text = visible(text)
    for found in TICKET.finditer(text):
        pieces += [escape(text[end : found.start()])]
        pieces += [Markup('<a href="{}{}">{}</a>').format(TICKETS, found[0], found[0])]
        end = found.end()
    return Markup("").join([*pieces, escape(text[end:])])
