"""Source to nodes: YAML 1.2, with the place, style and raw text of every scalar, and nothing else.

Built from the parser's events rather than from its own tree, so that a hostile file can neither
recurse nor multiply itself: aliases, anchors and tags are refused where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from checker.errors import SpecificationError
from checker.source import Source, Span
from checker.table.nodes import (
    ENTRIES_MAX,
    NESTING_MAX,
    Kind,
    Mapping,
    Node,
    Scalar,
    Sequence,
    Style,
    raw,
    shorten,
)
from checker.table.problems import Problems
from checker.table.stumbles import stumbled
from checker.table.text import forbidden_character, span_at

_STYLES: dict[str | None, Style] = {
    None: "plain",
    "": "plain",
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)


def parse_yaml(source: Source) -> Node | None:
    """Return the only document of `source`, or None where it is empty.

    Raises SpecificationError: T102 to T106.
    """
    problems = Problems()
    builder = _Builder(source, problems)
    try:
        events = YAML(typ="safe", pure=True).parse(source.text)
        node = builder.document(events)
    except SpecificationError:
        raise
    except MarkedYAMLError as failure:
        problems.keep(stumbled(source, failure))
        node = None
    except YAMLError as failure:
        problems.add("T103", f"this is not YAML: {failure}", span_at(source, 0, 0))
        node = None
    except Exception as failure:  # noqa: BLE001 - the parser fails in many ways on hostile text
        at = builder.offset
        problems.add("T103", f"this is not YAML: {failure}", span_at(source, at, at + 1))
        node = None
    problems.raise_any()
    return node


def classify(text: str) -> Kind:
    """Return what YAML 1.2 (core schema) takes a plain scalar for."""
    if _NULL.fullmatch(text):
        return "null"
    if _BOOLEAN.fullmatch(text):
        return "boolean"
    if _INTEGER.fullmatch(text):
        return "integer"
    return "number" if _NUMBER.fullmatch(text) else "string"


class _Builder:
    """Makes nodes from events; recursion is as deep as NESTING_MAX."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self.source = source
        self.problems = problems
        self.offset = 0

    def document(self, events: Iterator[Any]) -> Node | None:
        node: Node | None = None
        documents = 0
        for event in events:
            self.offset = event.start_mark.index
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse("a second document", event, "keep one document in a file")
                    return node
                if event.version or event.tags:
                    self._refuse("a directive", event, "remove the lines that begin with %")
            elif isinstance(
                event, (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent)
            ):
                node = self._node(event, events, 1, flow=False)
            elif isinstance(event, StreamEndEvent):
                break
        if isinstance(node, Scalar) and node.begin == node.end:
            return None
        return node

    def _node(self, event: Any, events: Iterator[Any], depth: int, *, flow: bool) -> Node:
        self.offset = event.start_mark.index
        if depth > NESTING_MAX:
            self.problems.add(
                "T106",
                f"lists and mappings are nested deeper than {NESTING_MAX} levels",
                self._span(event),
            )
            self.problems.raise_any()
        if isinstance(event, AliasEvent):
            self._refuse("an alias (*)", event, "write the value out, or quote the cell")
            return self._scalar_of(event, "", flow=flow)
        if event.anchor is not None:
            self._refuse("an anchor (&)", event, "remove it, or quote the cell")
        if event.tag is not None:
            self._refuse("a tag (!)", event, "remove it, or quote the cell")
        if isinstance(event, ScalarEvent):
            return self._scalar(event, flow=flow)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(event, events, depth)
        return self._mapping(event, events, depth)

    def _few(self, count: int, event: Any) -> None:
        """Refuse a list or mapping that is too long, before the rest of it is read."""
        if count > ENTRIES_MAX:
            self.problems.add(
                "T106",
                f"a list or mapping has more than {ENTRIES_MAX} entries",
                self._span(event),
                help="a specification of this size is not checked; let bindings say what is alike",
            )
            self.problems.raise_any()

    def _sequence(self, start: Any, events: Iterator[Any], depth: int) -> Sequence:
        items: list[Node] = []
        flow = bool(start.flow_style)
        for event in events:
            if isinstance(event, SequenceEndEvent):
                break
            items.append(self._node(event, events, depth + 1, flow=flow))
            self._few(len(items), event)
        begin, end = self._extent(start, event, items[-1] if items else None, flow=flow)
        return Sequence(tuple(items), self._reach(start, event, items, flow=flow), begin, end, flow)

    def _mapping(self, start: Any, events: Iterator[Any], depth: int) -> Mapping:
        entries: list[tuple[Scalar, Node]] = []
        seen: dict[str, Scalar] = {}
        flow = bool(start.flow_style)
        for event in events:
            if isinstance(event, MappingEndEvent):
                break
            key = self._node(event, events, depth + 1, flow=flow)
            value = self._node(next(events), events, depth + 1, flow=flow)
            if not isinstance(key, Scalar):
                self._strange_key(key)
                continue
            if isinstance(value, Scalar) and value.begin == value.end:
                # An empty value has no place of its own; the key is where users look.
                value = replace(value, span=key.span)
            if key.style == "plain" and key.text == "<<":
                self._refuse_at("a merge key (<<)", key.span, "write the keys out")
            elif key.text in seen:
                first = seen[key.text].span.line
                self.problems.add(
                    "T104",
                    f"the key `{key.text}` stands here twice",
                    key.span,
                    found=f"the first is in line {first}",
                    help="keep one of them",
                )
            seen.setdefault(key.text, key)
            entries.append((key, value))
            self._few(len(entries), event)
        last = entries[-1][1] if entries else None
        begin, end = self._extent(start, event, last, flow=flow)
        span = self._reach(start, event, [last] if last else [], flow=flow)
        return Mapping(tuple(entries), span, begin, end, flow)

    def _scalar(self, event: Any, *, flow: bool) -> Scalar:
        scalar = self._scalar_of(event, event.value, flow=flow)
        found = forbidden_character(scalar.text) if scalar.style == "double" else None
        if found is not None or any("\ud800" <= letter <= "\udfff" for letter in scalar.text):
            name = found[1] if found is not None else "half of a surrogate pair"
            self.problems.add(
                "T102",
                f"the character {name} may not stand in a specification",
                scalar.span,
                help="remove the escape",
            )
        return scalar

    def _scalar_of(self, event: Any, value: str, *, flow: bool) -> Scalar:
        style = _STYLES.get(getattr(event, "style", None), "plain")
        begin, end = event.start_mark.index, event.end_mark.index
        if style in ("literal", "folded"):
            end = begin + len(self.source.text[begin:end].rstrip())
            raw_text = self.source.text[begin:end]
            lines = raw_text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            line, column = event.start_mark.line + 1, event.start_mark.column + 1
            last = column if len(lines) == 1 else 1
            span = Span(self.source, line, column, line + len(lines) - 1, last + len(lines[-1]))
        else:
            span = self._span(event)
        kind: Kind = classify(self.source.text[begin:end]) if style == "plain" else "string"
        return Scalar(value, style, kind, span, begin, end, flow)

    def _span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        return Span(self.source, start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def _reach(self, start: Any, end: Any, items: list[Node], *, flow: bool) -> Span:
        """Return the span of a list or mapping; a block ends where its last item ends."""
        mark = start.start_mark
        if flow or not items:
            stop = (end.end_mark.line + 1, end.end_mark.column + 1)
        else:
            stop = (items[-1].span.end_line, items[-1].span.end_column)
        return Span(self.source, mark.line + 1, mark.column + 1, *stop)

    def _extent(self, start: Any, end: Any, last: Node | None, *, flow: bool) -> tuple[int, int]:
        begin = start.start_mark.index
        return begin, (end.end_mark.index if flow or last is None else max(begin, last.end))

    def _strange_key(self, key: Node) -> None:
        self.problems.add(
            "T111",
            "a list or mapping stands where a key was meant",
            key.span,
            found=shorten(raw(key)),
            help="quote the expression, and the whole cell it stands in",
        )

    def _refuse(self, what: str, event: Any, help_: str) -> None:
        self._refuse_at(what, self._span(event), help_)

    def _refuse_at(self, what: str, span: Span, help_: str) -> None:
        self.problems.add("T105", f"{what}: specifications have none", span, help=help_)
