"""Draws infinite runs over types of every kind: fairness, promises, formulas, what can run.

Steps may lead back, so that types have few values here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from .typed_further import TypedFurther
from .typed_kinds import Scope

ENDLESS = ("eventually", "leads_to", "always_eventually", "eventually_always", "ltl")
UNSURE = ("require(", "pick", "call(", "send(", "start(", "arm(", "fresh(", "enabled(", "return")
"""What may keep effects from being done, or do them in several ways."""


class Lively(TypedFurther):
    """Draws one specification."""

    ranges = ((0, 1), (0, 1), (-1, 1), (2, 3))
    hues = ("red", "green")
    few = 6
    longest = 1
    largest = 300
    rows = (2, 4)
    claims = (1, 2)
    id_counts = (2,)
    small_size = 12

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        super().__init__(draw)
        self.askable: list[str] = []
        """Rows of which it can be asked whether they can run: their effects always can."""

    def text(self) -> str:
        text = super().text()
        endings = [
            "deadlock: true" if self.chance(6) else "deadlock: false",
            *([f"fairness: {self._fair()}"] if self.chance() else []),
            *(["fair_groups:", *self._groups()] if self.chance(3) else []),
            *self._terminal(),
            *self._instances(),
        ]
        return text.replace("deadlock: false", "\n".join(endings), 1)

    def _fair(self) -> str:
        return str(self.one(("weak", "strong")))

    def _terminal(self) -> list[str]:
        if not self.chance(3):
            return []
        return ["terminal:", f'  - "{self.condition(self.places([]), 2)}"']

    def _groups(self) -> list[str]:
        """Draw a promise to rows together: to all, or to one for each of its bindings."""
        name = self.one(tuple(self.bindings))
        bound = [one for one, _ in self.bindings[name]]
        if not bound or self.chance(3):
            return [f"  group: {{about: Drawn., rows: all, fair: {self._fair()}}}"]
        said = f"rows: [{name}], per: [{self.one(bound)}], fair: {self._fair()}"
        return [f"  group: {{about: Drawn., {said}}}"]

    def _instances(self) -> list[str]:
        """Draw an instance in which constants have other values."""
        given = []
        for name, kind in self.constants:
            value = self.plain(kind, []) if name != "most" else "2"
            if value is not None and self.chance():
                given.append(f'{name}: "{value}"' if name == "data" else f"{name}: {value}")
        if not given:
            return []
        return ["instances:", f"  default: {{about: Drawn., set: {{{', '.join(given)}}}}}"]

    # ---------------------------------------------------------------------- rows and properties

    def row(self, number: int) -> list[str]:
        lines = super().row(number)
        if not any(
            word in "\n".join(lines) for word in (*UNSURE, *(one for one, _ in self.procedures))
        ):
            self.askable.append(f"row{number}")
        return lines

    def steps(self, scope: Scope) -> list[str]:
        when, head, clock, *rest = super().steps(scope)
        turned = self.one(
            (
                "clock = (clock + 1) % 2",
                "clock = (clock + 1) % 4",
                "clock = 1 - clock % 2",
                "clock = 3 - clock",
                "pass",
            )
        )
        if not self.chance(3):
            clock = f"      {turned}"
            when = when.replace(f"clock < {self.depth} and ", "")
        if self.chance(3):
            when = when.replace('when: "', f'when: "clock == {self.number(0, 2)} and ')
        fair = self.one(("", "", "none", "weak", "strong"))
        return [*([f"    fair: {fair}"] if fair else []), when, head, clock, *rest]

    def claim(self, number: int) -> list[str]:
        kind = self.one((*ENDLESS, *ENDLESS, "ltl", "ltl", "always", "sometimes", "step"))
        bound = self.bound()
        scope = [*self.places(bound), *bound]
        lines = [f"  p{number}:", *self.said(bound)]
        if kind == "leads_to":
            said = f'from: "{self.claimed(kind, scope)}", to: "{self.condition(scope, 2)}"'
            lines.append(f"    leads_to: {{{said}}}")
        elif kind == "ltl":
            lines.append(f'    ltl: "{self._formula(scope, 2)}"')
        else:
            lines.append(f'    {kind}: "{self.claimed(kind, scope)}"')
        if kind in ENDLESS and self.chance(4):
            lines.append(f'    initially: "{self.condition(self.places([]), 2)}"')
        if kind in ENDLESS and self.chance(4):
            lines.append("    within_bounds: true")
        return [*lines, "    why: drawn"]

    def claimed(self, kind: str, scope: Scope) -> str:
        if kind == "step":
            said = super().claimed(kind, scope)
            asked = self._asks("ran", [*self.bindings], scope) if self.chance() else None
            return f"implies({asked}, {said})" if asked else said
        said = self.condition(scope, 2)
        asked = self._asks("enabled", self.askable, scope) if self.chance(3) else None
        return f"{asked} {self.one(('or', 'and'))} ({said})" if asked else said

    def _asks(self, word: str, rows: list[str], scope: Scope) -> str | None:
        """Draw whether a row can run, or made the step, perhaps with some of its bindings."""
        if not rows:
            return None
        name = self.one(rows)
        given = [name]
        for bound, kind in self.bindings[name]:
            value = self.expression(self.wider(kind), scope, 1) if self.chance() else None
            if value is not None:
                given.append(f"{bound}={value}")
        return f"{word}({', '.join(given)})"

    def _formula(self, scope: Scope, depth: int) -> str:
        if depth == 0:
            return f"({self.claimed('always', scope)})"

        def f() -> str:
            return self._formula(scope, depth - 1)

        word = self.one(
            ("always", "eventually", "until", "release", "leads_to", "implies", "not", "and", "or")
        )
        match word:
            case "always" | "eventually":
                return f"{word}({f()})"
            case "not":
                return f"not {f()}"
            case "and" | "or":
                return f"({f()} {word} {f()})"
        return f"{word}({f()}, {f()})"


@st.composite
def typed_lively(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """A system of one file over nested types, with promises and formulas of infinite runs."""
    return Lively(draw).text()
