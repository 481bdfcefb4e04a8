"""A question about states, asked beside a specification: one more property of its Document."""

from __future__ import annotations

from dataclasses import replace

from checker.table.document import Cell, Document, PropertyEntry, Word
from checker.table.expressions import parse_expression
from checker.table.passage import Passage
from checker.table.problems import Problems

QUERY = "query"
"""The name of the property, and of the place that errors in it are told at."""


def with_predicate(document: Document, text: str) -> Document:
    """Return `document` with one property: that some state satisfies the expression `text`.

    SpecificationError with the place in `text` where it is no expression of the language.
    """
    passage = Passage.alone(f"<{QUERY}>", text)
    problems = Problems()
    tree = parse_expression(passage, problems)
    problems.raise_any()
    assert tree is not None
    span = passage.whole()
    entry = PropertyEntry(
        name=Word(QUERY, span),
        kind="sometimes",
        condition=Cell(text, span, tree, passage.starts),
        premise=None,
        only_if=None,
        why="somebody asked.",
        source="",
        span=span,
    )
    instances = tuple(
        replace(instance, properties=None, without=(), expect=None)
        for instance in document.instances
    )
    return replace(document, properties=(entry,), instances=instances)


def nameable(document: Document) -> Document:
    """Return `document` with no ids interchangeable, so that each may be named."""
    constants = tuple(replace(item, symmetric=False) for item in document.constants)
    return replace(document, constants=constants)
