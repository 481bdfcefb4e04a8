"""Finds cells that YAML tore apart at a comma inside `{ }` or `[ ]`, and reports each once.

`{type: 0..3, initial: max(0, 1)}` is, for YAML, three keys: `type`, `initial` with the value
`max(0`, and `1)` without a value. The pieces are put together again here for the message, and
taken out of the tree, so that they cause no further errors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from checker.source import Span
from checker.table.nodes import Mapping, Node, Scalar, Sequence, shorten
from checker.table.problems import Problems

_OPENING = "([{"
_CLOSING = ")]}"


def mend_torn(node: Node, problems: Problems) -> Node:
    """Return `node` with every torn cell reported (T111) and marked as such."""
    if isinstance(node, Scalar):
        return node
    if isinstance(node, Sequence):
        items = _mend_items(node, problems) if node.flow else node.items
        return replace(node, items=tuple(mend_torn(item, problems) for item in items))
    entries = _mend_entries(node, problems) if node.flow else node.entries
    return replace(node, entries=tuple((key, mend_torn(value, problems)) for key, value in entries))


def unbalanced(text: str) -> int:
    """Return how many brackets of `text` stay open; below zero if one closes that never opened."""
    depth = 0
    for letter in text:
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
            if depth < 0:
                return depth
    return depth


def quoted(text: str) -> str:
    """Return `text` as a quoted YAML scalar on one line."""
    line = shorten(text, 200)
    return f"'{line}'" if '"' in line or "\\" in line else f'"{line}"'


def _mend_entries(node: Mapping, problems: Problems) -> tuple[tuple[Scalar, Node], ...]:
    entries: list[tuple[Scalar, Node]] = []
    opened: Scalar | None = None
    depth = 0
    for key, value in node.entries:
        if opened is not None and _is_empty(value):
            depth += unbalanced(key.text)
            if depth <= 0:
                _report(entries[-1][0].text + ": ", opened, key, problems)
                entries[-1] = (entries[-1][0], replace(opened, kind="torn"))
                opened = None
            continue
        opened = value if _is_open(value) else None
        depth = unbalanced(opened.text) if opened is not None else 0
        entries.append((key, value))
    return tuple(entries) if opened is None else node.entries


def _mend_items(node: Sequence, problems: Problems) -> tuple[Node, ...]:
    items: list[Node] = []
    opened: Scalar | None = None
    depth = 0
    for item in node.items:
        if opened is not None and isinstance(item, Scalar) and item.style == "plain":
            depth += unbalanced(item.text)
            if depth <= 0:
                _report("", opened, item, problems)
                items[-1] = replace(opened, kind="torn")
                opened = None
            continue
        opened = item if _is_open(item) else None
        depth = unbalanced(opened.text) if opened is not None else 0
        items.append(item)
    return tuple(items) if opened is None else node.items


def _is_open(node: Node) -> TypeGuard[Scalar]:
    return isinstance(node, Scalar) and node.style == "plain" and unbalanced(node.text) > 0


def _is_empty(node: Node) -> bool:
    return isinstance(node, Scalar) and node.begin == node.end


def _report(prefix: str, first: Scalar, last: Scalar, problems: Problems) -> None:
    begin, end = first.span, last.span
    text = begin.source.text[first.begin : last.end]
    problems.add(
        "T111",
        "YAML tore this cell apart at its comma",
        Span(begin.source, begin.line, begin.column, end.end_line, end.end_column),
        found=f"the pieces `{shorten(first.text)}` and `{shorten(last.text)}`",
        help=f"quote the whole cell: {prefix}{quoted(text)}",
    )
