"""Draws specifications over types of every kind, nested as they come, and what is said of them.

Where `drawing` knows a place by what it is called, this one knows it by its type: what can be read
from a value, what makes one and how one changes follows from the table of types in the manual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from .typed_kinds import BOOL, COLLECTIONS, ID, Kind, Scope
from .typed_reading import RARELY, Reading


class Typed(Reading):
    """Draws one specification."""

    rows = (1, 3)
    claims = (1, 3)
    """How many there are, at least and at most."""

    claim_kinds: tuple[str, ...] = ("always", "sometimes", "step")

    # -------------------------------------------------------------------------------- effects

    def places(self, bound: Scope) -> Scope:
        """Return what is read of the state, what there is of each id by a name that is bound."""
        return self._named(self.variables, bound)

    def _named(self, declared: dict[str, tuple[Kind, bool]], bound: Scope) -> Scope:
        ids = [name for name, kind in bound if kind == ID] or self.values(ID)
        named = []
        for name, (kind, per) in declared.items():
            if not per:
                named.append((name, kind))
            elif ids:
                whole, dot, member = name.partition(".")
                named.append((f"{whole}[{self.one(ids)}]{dot}{member}", kind))
        return named

    def _place(self, scope: Scope) -> tuple[str, Kind, list[str]]:
        """Draw a place of the state, its type, and what must be so for it to be there."""
        bound = [(text, kind) for text, kind in scope if text.isidentifier()]
        own = self._named(self.variables, bound)
        text, kind = self.one(own or [("clock", ("range", 0, 3))])
        guards: list[str] = []
        for _ in range(self.number(0, 2)):
            inner = [one for one in self.parts((text, kind, ()), scope) if one[0] != text]
            if not inner:
                break
            text, kind, needed = self.one(inner)
            guards += needed
        return text, kind, guards

    def block(self, scope: Scope, indent: str, depth: int) -> list[str]:
        inner = list(scope)
        lines = [
            line for _ in range(self.number(1, 2)) for line in self.effect(inner, indent, depth)
        ]
        return lines or [f"{indent}pass"]

    def effect(self, scope: Scope, indent: str, depth: int = 2) -> list[str]:
        """Draw a statement. A local is added to the scope."""
        match self.one(("change", "change", "change", "local", *(("if", "for") if depth else ()))):
            case "local":
                kind = self.one((BOOL, ("range", 0, 2), ("enum", "Hue"), ID))
                value = self.expression(kind, scope, 2)
                if value is None:
                    return []
                name = self.local()
                scope.append((name, kind))
                return [f"{indent}{name} = {value}"]
            case "if":
                lines = [f"{indent}if {self.condition(scope, 2)}:"]
                lines += self.block(scope, f"{indent}  ", depth - 1)
                if self.chance():
                    lines += [f"{indent}else:", *self.block(scope, f"{indent}  ", depth - 1)]
                return lines
            case "for":
                domain, of = self.collection(scope)
                name = self.local()
                inner = [*scope, (name, of)]
                return [
                    f"{indent}for {name} in {domain}:",
                    *self.block(inner, f"{indent}  ", depth - 1),
                ]
        return self._change(scope, indent)

    def _change(self, scope: Scope, indent: str) -> list[str]:
        text, kind, guards = self._place(scope)
        made = self._method(text, kind, scope, guards) if self.chance() else None
        if made is None and self.size(kind) <= 40 and self.chance(3):
            made = self._picked(text, kind, scope)
        if made is None:
            value = self.expression(kind, scope, 2)
            if value is None:
                return []
            made = f"{text} = {value}"
        if guards and not self.chance(RARELY):
            return [f"{indent}if {' and '.join(guards)}:", f"{indent}  {made}"]
        return [f"{indent}{made}"]

    def _picked(self, text: str, kind: Kind, scope: Scope) -> str | None:
        item = kind[1] if kind[0] == "optional" else kind
        if item[0] in COLLECTIONS:
            return None
        some = self.expression(("set", item), scope, 1)
        if some is None or "empty" in some:
            return None
        test = f" if {self.condition([*scope, ('x', item)], 1)}" if self.chance() else ""
        return f"{text} = pick_if_any(x for x in {some}{test})"

    def _method(self, text: str, kind: Kind, scope: Scope, guards: list[str]) -> str | None:
        """Draw a change of a part of a collection or a number; what it needs is added to guards."""
        held = kind[0] in COLLECTIONS and kind[0] != "total"
        item = self.expression(kind[1], scope, 1) if held else None
        match kind:
            case ("range", low, high):
                up = self.chance()
                guards.append(f"{text} < {high}" if up else f"{text} > {low}")
                return f"{text} {'+=' if up else '-='} 1"
            case ("set", _) if item is not None and self.chance():
                return f"{text}.add({item})"
            case ("set", of) if item is not None:
                kinds = self.wider(of)
                other = self.expression(kinds, scope, 1) if kinds[0] != "optional" else None
                return f"{text}.discard({other or item})"
            case ("bag", _, most) if item is not None:
                word = self.one(("add", "remove"))
                guards.append(f"len({text}) < {most}" if word == "add" else f"{item} in {text}")
                return f"{text}.{word}({item})"
            case ("sequence", _, most):
                word = "append" if item is not None and self.chance() else "pop"
                guards.append(f"len({text}) < {most}" if word == "append" else f"len({text}) > 0")
                return f"{text}.{word}({item if word == 'append' else self.one(('', '0'))})"
            case ("map", _, held) if item is not None:
                value = self.expression(held, scope, 1)
                if value is not None and self.chance():
                    return f"{text}[{item}] = {value}"
                guards.append(f"{item} in {text}")
                return f"del {text}[{item}]"
            case ("set" | "map" | "bag", *_):
                return f"{text}.clear()"
        return None

    # ---------------------------------------------------------------------------------- whole

    def text(self) -> str:
        self.depth = self.number(2, 3)
        variables = self._variables()
        more = self.further()
        rows = [line for number in range(self.number(*self.rows)) for line in self.row(number)]
        claims = [
            line for number in range(self.number(*self.claims)) for line in self.claim(number)
        ]
        lines = [
            "system: typed", "about: Drawn by a test.", *self.declared(), *variables, *more,
            "deadlock: false", "rows:", *rows, "properties:", *claims,
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    def declared(self) -> list[str]:
        """Write down constants and types."""
        ids = f"{len(self.ids)}, symmetric: true, prefix: k" if self.symmetric else self._listed()
        return [
            "constants:", f"  K: {{ids: {ids}}}", "types:",
            *(f"  {name}: one of {', '.join(values)}" for name, values in self.enums.items()),
            *(f"  {name}: {{fields: {{{self.fields(name)}}}}}" for name in self.records if self._is_type(name)),
            *(f"  {name}: {' or '.join(kinds)}" for name, kinds in self.unions.items() if self._is_type(name)),
        ]  # fmt: skip

    def _is_type(self, name: str) -> bool:
        return name not in self.messages and name not in self.nameless

    def further(self) -> list[str]:
        """Draw sections that rows and properties can use."""
        return []

    def _listed(self) -> str:
        return f"[{', '.join(self.ids)}]"

    def fields(self, record: str) -> str:
        return ", ".join(f'{name}: "{self.shown(kind)}"' for name, kind in self.records[record])

    def _variables(self) -> list[str]:
        """Declare the variables."""
        initials = {}
        kinds = [self.type(self.number(1, 3)) for _ in range(self.number(1, 3))]
        for number, kind in enumerate([*kinds, *self._together()]):
            per = self.chance(3)
            first = self.plain(kind, [("self", ID)] if per else [])
            if first is None or self.size(kind) > self.largest:
                continue
            if not self.symmetric and not per and self.chance(3):
                first = self.expression(kind, [], 2) or first
            name = self.called(number, per=per)
            self.variables[name] = (kind, per)
            initials[name] = first
        return self.written(initials)

    def called(self, number: int, *, per: bool) -> str:
        """Draw what a variable is called."""
        return f"v{number}"

    def written(self, initials: dict[str, str]) -> list[str]:
        """Write the variables down."""
        clock = '  clock: {type: "0..3", initial: "0"}'
        return ["variables:", clock, *(self.variable(*one) for one in initials.items())]

    def _together(self) -> list[Kind]:
        """Draw types of which a value of one may be in the other: of a kind, and of several."""
        few = [name for name in self.records if self.size(("record", name)) <= self.few]
        if not (self.unions and few and self.chance(3)):
            return []
        return [("set", ("record", few[0])), ("union", next(iter(self.unions)))]

    def variable(self, name: str, initial: str) -> str:
        kind, per = self.variables[name]
        said = f'type: "{self.shown(kind)}", observed: true, initial: "{initial}"'
        return f"  {name}: {{{said}{', per: K' if per else ''}}}"

    def bound(self) -> Scope:
        """Draw what a row or property is about."""
        return [("k", ID)] if self.symmetric or self.chance() else []

    def said(self, bound: Scope) -> list[str]:
        names = ", ".join(f'{name}: "{self.shown(kind)}"' for name, kind in bound)
        return [f"    for: {{{names}}}"] if bound else []

    def row(self, number: int) -> list[str]:
        bound = self.bound()
        if self.chance(4):
            bound.append(("b", self.one((("range", 0, 1), BOOL, ("enum", "Size")))))
        lines = self.steps([*self.places(bound), *bound])
        return [f"  - row: row{number}", *self.said(bound), *lines]

    def steps(self, scope: Scope) -> list[str]:
        """Draw guard and effects of a row."""
        guard = self.condition(scope, 3) if self.chance() else "true"
        lines = [line for _ in range(self.number(1, 3)) for line in self.effect(scope, "      ")]
        if self.chance(10):
            lines.append(f"      assert {self.condition(scope, 2)}")
        when = f'    when: "clock < {self.depth} and {guard}"'
        return [when, "    do: |", "      clock += 1", *lines]

    def claim(self, number: int) -> list[str]:
        bound = self.bound()
        kind = self.one(self.claim_kinds)
        claim = self.claimed(kind, [*self.places(bound), *bound])
        return [f"  p{number}:", *self.said(bound), f'    {kind}: "{claim}"', "    why: drawn"]

    def claimed(self, kind: str, scope: Scope) -> str:
        """Draw what a property says."""
        claim = self.condition(scope, 3)
        if kind == "step":
            places = [text for text, _ in scope if text.split("[")[0] in self.variables]
            place = self.one(places or ["clock"])
            claim = f"next({place}) == {place} or {claim}"
        return claim


@st.composite
def typed(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """A system of one file over nested types of every kind."""
    return Typed(draw).text()
