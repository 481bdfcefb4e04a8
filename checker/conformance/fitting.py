"""What of a state fits a line: the steps that are what was asked, and whether its fields were seen.

Lines of an endless log say the same again and again, apart from numbers that count from a window's
base. What a state is to what lines say besides is remembered by their text.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Iterable, Iterator
from typing import Any

from checker.conformance.bind import ANSWER
from checker.conformance.log import Event
from checker.conformance.matching import Binding, Held, Matcher, Names
from checker.conformance.space import Choice, Edge, Expected, Key, Space
from checker.frozen import frozen

_KEPT = 200_000

_KEPT_LINES = 20_000
"""Answers that are remembered for what lines say, each with its text."""


@frozen()
class Asked:
    """What can be asked in a state, taken apart."""

    outcome: str | None
    said: dict[str, Any]
    edges: tuple[Edge, ...]


@frozen()
class _Part:
    """Fields that stand one after the other in a line; `text`: the same for the same of them.

    None where numbers of a window are among them.
    """

    text: bytes | None
    fields: dict[str, Any]


@frozen()
class _Said:
    """What a line says: its `request`'s text up to where a window's numbers begin, its fields.

    `parts` is None where it has a field that is not observed. `whole`: the request's text says all
    of it, the answer too; `all` is the text of the line, None where it has numbers of a window.
    """

    request: bytes
    whole: bool
    parts: tuple[_Part, ...] | None
    all: tuple[bytes, bytes] | None


class Fitting:
    """Compares lines with states."""

    def __init__(self, space: Space, matcher: Matcher) -> None:
        self.space, self.matcher = space, matcher
        window, compare = matcher.window, matcher.compare
        labels = space.instrumented.labels
        self._arguments = [
            {label.item: compare(label.type, window(label.item)) for label in one.arguments}
            for one in labels
        ]
        self._fields = {
            label.item: (number, compare(label.type, window(label.item)))
            for number, label in enumerate(space.instrumented.observed)
        }
        self._sliding = frozenset(
            label.item
            for one in labels
            for label in (*one.arguments, *((one.answer,) if one.answer is not None else ()))
            if matcher.has_window(label.type, window(label.item))
        )
        """Arguments, and `answer`, with numbers of a window in some row."""
        self._sliding_fields = frozenset(
            label.item
            for label in space.instrumented.observed
            if matcher.has_window(label.type, window(label.item))
        )
        self._asked: dict[Key, dict[tuple[str, str], list[Asked]]] = {}
        self._requests: dict[str, dict[str, Any]] = {}
        self._last: tuple[Event, _Said] | None = None
        self._fit: dict[
            tuple[Key, Names, Held | None, bytes], tuple[tuple[Edge, Binding], ...]
        ] = {}
        self._seen: dict[tuple[Key, Names, bytes], Names | None] = {}

    def forget(self) -> None:
        """Forget what is known of states where there are many."""
        for kept, most in (
            (self._asked, _KEPT),
            (self._requests, _KEPT),
            (self._fit, _KEPT_LINES),
            (self._seen, _KEPT_LINES),
        ):
            if len(kept) > most:
                kept.clear()

    def asked(self, key: Key) -> dict[tuple[str, str], list[Asked]]:
        """Return what can be asked in a state, by what it is and its name."""
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = {}
            for choice in self.space.node(key).choices:
                if choice.request is not None:
                    said = self.request(choice)
                    entry = Asked(said.get("outcome"), said["with"], choice.edges)
                    found.setdefault((said["do"], said["name"]), []).append(entry)
        return found

    def request(self, choice: Choice) -> dict[str, Any]:
        """Return a request, taken apart."""
        text = choice.request
        assert text is not None
        found = self._requests.get(text)
        if found is None:
            found = self._requests[text] = json.loads(text)
        return found

    def edges(
        self, key: Key, event: Event, binding: Binding, held: Held | None
    ) -> Iterable[tuple[Edge, Binding]]:
        """Return the steps that are what was asked, with what names then are.

        `held`: what the state holds, and what stands in answers that are still to come.
        """
        if not self._said(event).whole:
            return self._edges(key, event, binding, held)
        which = key, binding.names, held, self._said(event).request
        found = self._fit.get(which)
        if found is None:
            found = self._fit[which] = tuple(self._edges(key, event, binding, held))
        bases = binding.bases
        return [(edge, Binding(after.names, bases)) for edge, after in found] if bases else found

    def _edges(
        self, key: Key, event: Event, binding: Binding, held: Held | None
    ) -> Iterator[tuple[Edge, Binding]]:
        assert event.do is not None
        for choice in self.asked(key).get((event.do, event.name or ""), ()):
            if event.outcome is not None and event.outcome != choice.outcome:
                continue
            for edge in choice.edges:
                found = self.arguments(edge, choice.said, event, binding, held)
                if found is not None:
                    found = self.answered(edge.answer, event, found)
                if found is not None:
                    yield edge, found

    def arguments(
        self, edge: Edge, said: dict[str, Any], event: Event, binding: Binding, held: Held | None
    ) -> Binding | None:
        """Return what names are if a line's arguments are those of a step."""
        compared = self._arguments[edge.row]
        for name, value in event.arguments.items():
            compare = compared.get(name)
            found = None if compare is None else compare(said[name], value, binding, held)
            if found is None:
                return None
            binding = found
        return binding

    def differing(
        self, edge: Edge, said: dict[str, Any], event: Event, binding: Binding
    ) -> tuple[tuple[str, object, object], ...]:
        """Return what differs in the arguments: of each its name, the step's, the line's."""
        compared = self._arguments[edge.row]
        return tuple(
            (name, said[name], value)
            for name, value in event.arguments.items()
            if name in compared and compared[name](said[name], value, binding, None) is None
        )

    def answered(self, expected: Expected | None, event: Event, binding: Binding) -> Binding | None:
        """Return what names are if a line's answer is that of a step."""
        if expected is None or not event.answered:
            return binding
        compare = self.matcher.compare(expected.type, self.matcher.window("answer"))
        return compare(expected.value, event.answer, binding, None)

    def seen(self, key: Key, event: Event, binding: Binding) -> Binding | None:
        """Return what names are if a state shows what a line says was seen."""
        parts = self._said(event).parts
        if parts is None:
            return None
        for part in parts:
            found = self._seen_part(key, part, binding)
            if found is None:
                return None
            binding = found
        return binding

    def _seen_part(self, key: Key, part: _Part, binding: Binding) -> Binding | None:
        if part.text is None:
            return self._compared(key, part, binding)
        which = key, binding.names, part.text
        try:
            names = self._seen[which]
        except KeyError:
            found = self._compared(key, part, binding)
            names = self._seen[which] = None if found is None else found.names
        if names is None:
            return None
        return binding if names is binding.names else Binding(names, binding.bases)

    def _compared(self, key: Key, part: _Part, binding: Binding) -> Binding | None:
        observed = self.space.node(key).observed
        for name, value in part.fields.items():
            number, compare = self._fields[name]
            found = compare(observed[number].value, value, binding, None)
            if found is None:
                return None
            binding = found
        return binding

    def text(self, event: Event) -> tuple[bytes, bytes] | None:
        """Return what is the same for lines that say the same; None where numbers slide in it."""
        return self._said(event).all

    def _said(self, event: Event) -> _Said:
        """Return what a line says; of the line at hand it is remembered."""
        if self._last is not None and self._last[0] is event:
            return self._last[1]
        sliding = self._sliding
        whole = not (event.answered and ANSWER in sliding) and sliding.isdisjoint(event.arguments)
        asked = (event.do, event.name, event.outcome, event.arguments, event.answered, event.answer)
        request, parts = marshal.dumps(asked, 2) if whole else b"", self._parts(event.fields)
        fields = None if parts is None or len(parts) > 1 else parts[0].text if parts else b""
        told = (request, fields) if whole and fields is not None else None
        said = _Said(request, whole, parts, told)
        self._last = event, said
        return said

    def _parts(self, fields: dict[str, Any]) -> tuple[_Part, ...] | None:
        """Return fields in their order, those without numbers of windows together."""
        if not self._fields.keys() >= fields.keys():
            return None
        if self._sliding_fields.isdisjoint(fields):
            return (_Part(marshal.dumps(fields, 2), fields),)
        parts: list[_Part] = []
        run: dict[str, Any] = {}
        for name, value in fields.items():
            if name in self._sliding_fields:
                if run:
                    parts.append(_Part(marshal.dumps(run, 2), run))
                    run = {}
                parts.append(_Part(None, {name: value}))
            else:
                run[name] = value
        if run:
            parts.append(_Part(marshal.dumps(run, 2), run))
        return tuple(parts)
