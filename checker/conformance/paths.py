"""Where something stands in a line of a log: keys, elements of arrays, what is asked of them."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar, cast

from checker.digits import natural
from checker.frozen import frozen
from checker.source import Span

Some = TypeVar("Some")

NOTHING: Final = object()
"""What stands at a path where nothing does."""

_PATH = re.compile(
    r"(?P<keys>[^\s?!]+)"
    r"(?P<end>\?|!| count| to (?P<mark>\S)| has (?P<held>\S(?:.*\S)?)"
    r"| begins (?P<begun>\S(?:.*\S)?))?"
)
_KEY = re.compile(
    r"(?P<key>[^.\[\]]+)"
    r"(\[((?P<low>[0-9]{1,9})<=(?P<inside>[^\]<]+)<=(?P<high>[0-9]{1,9})|(?P<field>[^=<\]]+)=(?P<text>[^\]]+))\])?"
)


@frozen()
class Step:
    """A key, or the number of an element; then the first element whose `field` is `text`.

    With `between` it is the first whose elements of these numbers have `text`, a number, between.
    """

    key: str
    field: str | None = None
    text: str = ""
    between: tuple[int, int] | None = None

    @property
    def selects(self) -> bool:
        """Whether it is an element of the array at its key."""
        return self.field is not None or self.between is not None

    def of(self, name: str, value: str) -> Step:
        """Return it with a value in place of a name in braces."""
        return replace(self, key=put(self.key, name, value), text=put(self.text, name, value))


@frozen()
class Path:
    """Where something stands in a line, step by step.

    `optional`: null where it is not there. `there`: whether it is there, neither null nor an empty
    text. `counted`: of an array how many elements it has. `held`: of an array whether it has that,
    of an object the keys whose value is that or has it, of anything else whether it is that.
    `begun`: whether a text begins so. `mark`: of a text what stands before the last such
    character. It stands `within` the line at hand, the `request` that it is paired with, the
    `answer` that comes to it, the `previous` one of the same, or what the same has `asked` last.
    """

    steps: tuple[Step, ...]
    optional: bool = False
    there: bool = False
    held: str | None = None
    within: str = "line"
    counted: bool = False
    mark: str | None = None
    begun: str | None = None

    @property
    def asks(self) -> bool:
        """Whether it asks something of what stands there, rather than for it."""
        return self.there or self.held is not None or self.begun is not None

    @property
    def is_open(self) -> bool:
        """Whether a name in braces stands in it."""
        words = (word for step in self.steps for word in (step.key, step.text))
        return any("{" in word for word in (*words, self.held or "", self.begun or ""))

    def of(self, name: str, value: str) -> Path:
        """Return it with a value in place of a name in braces."""
        if not self.is_open:
            return self
        steps = tuple(step.of(name, value) for step in self.steps)
        held = None if self.held is None else put(self.held, name, value)
        begun = None if self.begun is None else put(self.begun, name, value)
        return replace(self, steps=steps, held=held, begun=begun)

    def at(
        self,
        said: Any,
        request: Any = None,
        previous: Any = None,
        answer: Any = None,
        asked: Any = None,
    ) -> Any:
        """Return what stands there, NOTHING where nothing does."""
        others = {"request": request, "previous": previous, "answer": answer, "asked": asked}
        value = others.get(self.within, said)
        for step in self.steps:
            value = _next(step, value)
        if self.there:
            return value is not NOTHING and value not in (None, "")
        if self.held is not None:
            return _holder(value, self.held)
        if self.begun is not None:
            return isinstance(value, str) and value.startswith(self.begun)
        if self.counted and isinstance(value, list):
            return len(value)
        if self.mark is not None and isinstance(value, str):
            return value.rpartition(self.mark)[0] or NOTHING
        return None if value is NOTHING and self.optional else value


def parsed(text: str) -> Path | None:
    """Return the path that `request.parts[p=0].acquired has 3` says; None if it says none."""
    found = _PATH.fullmatch(text)
    if found is None:
        return None
    words = re.findall(r"(?:[^.\[]|\[[^\]]*\])+", found["keys"])
    keys = [_KEY.fullmatch(word) for word in words]
    if not keys or any(key is None for key in keys) or ".".join(words) != found["keys"]:
        return None
    steps = tuple(_step(key) for key in keys if key)
    other = len(steps) > 1 and steps[0].key in ("request", "previous", "answer", "asked")
    within = steps[0].key if other else "line"
    end = found["end"]
    return Path(
        steps[other:],
        optional=end == "?",
        there=end == "!",
        held=found["held"],
        within=within,
        counted=end == " count",
        mark=found["mark"],
        begun=found["begun"],
    )


def _step(key: re.Match[str]) -> Step:
    if key["inside"] is not None:
        return Step(key["key"], None, key["inside"], (int(key["low"]), int(key["high"])))
    return Step(key["key"], key["field"], key["text"] or "")


def put(text: str, name: str, value: str) -> str:
    """Return a text with a value in place of a name in braces."""
    return text.replace(f"{{{name}}}", value)


def filled(item: Some, name: str, value: str) -> Some:
    """Return paths, and what has some in it, with a value in place of a name in braces."""
    return cast("Some", _filled(item, name, value))


def _filled(item: Any, name: str, value: str) -> Any:
    if isinstance(item, Path):
        return item.of(name, value)
    if isinstance(item, tuple):
        parts = tuple(filled(one, name, value) for one in item)
        return parts if any(a is not b for a, b in zip(parts, item, strict=True)) else item
    if isinstance(item, dict):
        return {key: filled(one, name, value) for key, one in item.items()}
    if is_dataclass(item) and not isinstance(item, type | Span):
        made = {one.name: filled(getattr(item, one.name), name, value) for one in fields(item)}
        changed = {key: one for key, one in made.items() if one is not getattr(item, key)}
        return replace(item, **changed) if changed else item
    return item


def plain(value: object) -> str | None:
    """Return a value as text; None for nothing."""
    if value is NOTHING:
        return None
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


def first_number(value: object) -> int | None:
    """Return the first whole number that stands in a value, such as a text; 0 without one.

    None for one of more digits than any number here has.
    """
    found = re.search("[0-9]+", plain(value) or "")
    return 0 if found is None else natural(found[0])


def _next(step: Step, value: Any) -> Any:
    place = natural(step.key) if isinstance(value, list) else None
    if place is not None:
        found = value[place] if place < len(value) else NOTHING
    else:
        found = value.get(step.key, NOTHING) if isinstance(value, dict) else NOTHING
    if not step.selects or found is NOTHING:
        return found
    elements = found if isinstance(found, list) else []
    return next((one for one in elements if _is_selected(step, one)), NOTHING)


def _is_selected(step: Step, element: Any) -> bool:
    if step.between is None:
        return isinstance(element, dict) and plain(element.get(step.field)) == step.text
    number = natural(step.text)
    if not isinstance(element, list) or number is None:
        return False
    low, high = (element[n] if n < len(element) else None for n in step.between)
    return isinstance(low, int) and isinstance(high, int) and low <= number <= high


def _holder(value: Any, held: str) -> Any:
    if value is NOTHING:
        return NOTHING
    if isinstance(value, dict):
        return [key for key, one in value.items() if _has(one, held)]
    return _has(value, held)


def _has(value: Any, held: str) -> bool:
    return (
        any(plain(one) == held for one in value)
        if isinstance(value, list)
        else plain(value) == held
    )
