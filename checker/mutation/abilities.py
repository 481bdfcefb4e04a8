"""Of each property of a system, what shows that it can fail; as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from checker import __version__
from checker.frozen import frozen
from checker.mutation.shown import Shown
from checker.table import Document

Way = Literal["instance", "mistake", "unbroken", "nothing"]

WAYS: Mapping[Way, str] = {
    "instance": "an instance of tier quick is declared to break it",
    "mistake": "a declared mistake breaks it",
    "unbroken": "its declared mistake does not break it",
    "nothing": "nothing shows that it can fail",
}


@frozen()
class Ability:
    """A property, and what shows that it can fail: an instance, a mistake, or nothing does."""

    property: str
    way: Way
    instance: str = ""
    shown: Shown | None = None


def abilities(document: Document, shown: Sequence[Shown]) -> tuple[Ability, ...]:
    """Return it of all properties but those that ask for a state: `sometimes` fails by itself.

    A mistake counts first: it was judged now, where an instance only declares what it breaks.
    """
    judged = {item.property: item for item in shown}
    declared: dict[str, str] = {}
    for entry in document.instances:
        if entry.expect is not None and entry.tier == "quick":
            named = (entry.expect.property, *entry.expect.also)
            for word in named:
                if word is not None:
                    declared.setdefault(word.text.split("(")[0], entry.name.text)
    return tuple(
        _ability(entry.name.text, declared, judged)
        for entry in document.properties
        if entry.kind != "sometimes"
    )


def _ability(name: str, declared: Mapping[str, str], judged: Mapping[str, Shown]) -> Ability:
    shown = judged.get(name)
    if shown is not None:
        way: Way = "unbroken" if shown.steps is None else "mistake"
        return Ability(name, way, shown.instance, shown)
    if name in declared:
        return Ability(name, "instance", declared[name])
    return Ability(name, "nothing")


def missing(found: Sequence[Ability]) -> bool:
    """Whether a property is not shown to be able to fail."""
    return any(item.way in {"unbroken", "nothing"} for item in found)


def text(system: str, found: Sequence[Ability], left: int = 0) -> str:
    """Return what a terminal shows; `left` mistakes were not judged, for an interrupt came."""
    return "\n".join(_lines(system, found, left))


def _lines(system: str, found: Sequence[Ability], left: int) -> Iterator[str]:
    properties = "1 property" if len(found) == 1 else f"{len(found)} properties"
    whose = f"{properties} of it" if left else f"its {properties}"
    yield f"{system}: what shows that {whose} can fail"
    if left:
        mistakes = "1 mistake" if left == 1 else f"{left} mistakes"
        yield f"interrupted: {mistakes} not judged, and nothing is said of their properties"
    yield ""
    for way, words in WAYS.items():
        yield f"{sum(item.way == way for item in found):7}  {words}"
    for item in found:
        if item.way == "unbroken":
            assert item.shown is not None
            yield f"\nNOT BROKEN  {item.property}, in {item.instance}: {item.shown.why_not}"
        elif item.way == "nothing":
            yield f"\nNOT SHOWN   {item.property}: a mistake in mistakes.yaml would show it"


def as_object(system: str, found: Sequence[Ability], left: int = 0) -> dict[str, object]:
    """Return the same for programs."""
    return {
        "version": 1,
        "checker": __version__,
        "system": system,
        "left": left,
        "properties": [
            {
                "property": item.property,
                "shown_by": item.way,
                "instance": item.instance or None,
                "steps": None if item.shown is None else item.shown.steps,
                "why_not": (item.shown.why_not if item.shown is not None else "") or None,
            }
            for item in found
        ],
    }
