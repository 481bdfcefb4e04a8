"""Nodes of files that were parsed before, kept under the digest of their text.

Parsing YAML takes most of the time of reading. What it makes of a text depends on the text and on
the parser only; files with errors are parsed each time.
"""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from checker.cache import Cache
from checker.source import Source, Span
from checker.table.nodes import Mapping, Node, Scalar, Sequence

TEXTS = Cache("texts", 32 << 20)
"""The nodes of parsed files."""

_WORTH_KEEPING = 2000
"""Characters from which on a file is parsed more slowly than its nodes are read."""


def parse_yaml(source: Source) -> Node | None:
    """Return the only document of `source`, or None where it is empty.

    Raises SpecificationError: T102 to T106.
    """
    if len(source.text) < _WORTH_KEEPING:
        return _parsed(source)
    key = hashlib.blake2b(source.text.encode(), key=parser(), digest_size=20).hexdigest()
    blob = TEXTS.get(key)
    if blob is not None:
        known: Node = _node(json.loads(blob), source)
        return known
    node = _parsed(source)
    if node is not None:
        TEXTS.put(key, json.dumps(_plain(node)).encode())
    return node


def _parsed(source: Source) -> Node | None:
    from checker.table import parsing  # noqa: PLC0415 (the parser is slow to import)

    return parsing.parse_yaml(source)


@cache
def parser() -> bytes:
    """Return a digest of what nodes depend on besides the text."""
    modules = ("nodes", "parsed", "parsing", "problems", "text")
    parts = [Path(__file__).with_name(f"{module}.py") for module in modules]
    library = find_spec("ruamel.yaml")
    assert library is not None
    parts.append(Path(str(library.origin)))  # it holds the library's version
    digest = hashlib.blake2b(sys.version.encode(), digest_size=32)
    for path in parts:
        digest.update(path.read_bytes())
    return digest.digest()


def _plain(node: Node) -> list[Any]:
    """Return a node as numbers, texts and lists; places without the file they are in."""
    span = node.span
    place = [span.line, span.column, span.end_line, span.end_column, node.begin, node.end]
    kept = [*place, node.flow]
    match node:
        case Scalar():
            return ["scalar", *kept, node.text, node.style, node.kind]
        case Sequence():
            return ["sequence", *kept, [_plain(item) for item in node.items]]
        case Mapping():
            return ["mapping", *kept, [[_plain(key), _plain(item)] for key, item in node.entries]]


def _node(kept: list[Any], source: Source) -> Any:
    what, line, column, end_line, end_column, begin, end, flow, held, *style_and_kind = kept
    span = Span(source, line, column, end_line, end_column)
    if what == "scalar":
        style, kind = style_and_kind
        return Scalar(held, style, kind, span, begin, end, flow)
    if what == "sequence":
        items = tuple(_node(item, source) for item in held)
        return Sequence(items, span, begin, end, flow)
    entries = tuple((_node(key, source), _node(item, source)) for key, item in held)
    return Mapping(entries, span, begin, end, flow)
