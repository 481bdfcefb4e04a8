"""Draws specifications as text, over the whole language, so that Hypothesis can shrink them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from .choices import Choices

TABLE = """\
table: lamp
about: A lamp.
source: these tests
states:
  Off: {about: dark, initial: true}
  On: {about: light}
  Gone: {about: broken, final: true}
created: [On]
transitions:
  - {from: [Off, On], event: switch, to: On}
  - {from: On, event: off, to: Off}
  - {from: On, event: break_down, to: Gone}
restores:
  - {from: On, to: Off}
"""


@dataclass
class Scope:
    """Expressions to read, by the type they have."""

    known: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, text: str) -> None:
        self.known.setdefault(kind, []).append(text)

    def copy(self) -> Scope:
        return Scope({kind: list(texts) for kind, texts in self.known.items()})

    def of(self, kind: str) -> list[str]:
        return self.known.get(kind, [])


class Drawer(Choices):
    """Draws one specification; `draw` is Hypothesis's."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        super().__init__(draw)
        self.fresh_names = 0
        self.local_names = 0

    def name(self, stem: str) -> str:
        self.fresh_names += 1
        return f"{stem}{self.fresh_names}"

    def local(self, stem: str) -> str:
        """Return a name of this row or property's own; others have it, too."""
        self.local_names += 1
        return f"{stem}{self.local_names}"

    # --------------------------------------------------------------------------- expressions

    def expression(self, kind: str, scope: Scope, depth: int = 2) -> str:
        forms = list(scope.of(kind))
        simple = self.simple(kind)
        if depth == 0 or self.chance(3):
            return str(self.one([*simple, *forms]))
        made = getattr(self, f"_{kind}", None)
        return str(made(scope, depth - 1)) if made else str(self.one([*simple, *forms]))

    def simple(self, kind: str) -> list[str]:
        match kind:
            case "int":
                return ["0", "1", "2", "level"]
            case "bool":
                return ["true", "false", "fixed"]
            case "phase":
                return ["early", "late"]
            case "id":
                return [] if self.symmetric else ["k1"]
            case "maybe":
                return ["none", "1"]
            case "maybe_id":
                return ["none"]
            case "kind":
                return ["Put(0)", "Mark(none, true)", "Nop()"]
            case "ints" | "ids" | "queue" | "hand" | "map" | "partial" | "links":
                return ["empty"]
        return []

    def _int(self, scope: Scope, depth: int) -> str:
        def e(kind: str = "int") -> str:
            return self.expression(kind, scope, depth)

        forms = [
            lambda: f"({e()} + {e()})",
            lambda: f"({e()} - {e()})",
            lambda: f"({e()} * {e()})",
            lambda: f"({e()} // {self.one(['1', '2', '-2', '3', self.rarely('level - n', '2')])})",
            lambda: f"({e()} % {self.one(['2', '3', '-2', self.rarely('n', '3')])})",
            lambda: f"min({e()}, {e()})",
            lambda: f"max({e()}, {e()}, {e()})",
            lambda: f"abs({e()})",
            lambda: f"({e()} if {e('bool')} else {e()})",
            lambda: f"max(1, 2 if {self.one(['fixed', 'broken'])} else {e()})",
            lambda: f"len({e('ints')})" if self.chance() else f"len({e('ids')})",
            lambda: f"sum({self.comprehension(scope, depth, 'int')})",
            lambda: (
                f"{self.one(['min', 'max'])}(({self.comprehension(scope, depth, 'int')}), default={e()})"
            ),
            lambda: (
                f"{self.one(['min', 'max'])}({self.comprehension(scope, depth, 'int')}{self.rarely('', ' for o in range(2)')})"
                if self.chance(4)
                else e()
            ),
            lambda: f"least(({self.comprehension(scope, depth, 'int')}), default={e()})",
            lambda: f"twice({e()})",
            lambda: "len(K)",
            *[
                lambda text=text: self.guarded(f"{text} is not none", text, "")
                for text in scope.of("maybe")
            ],
        ]
        for text in scope.of("partial") if self.id_is_plain(scope) else ():
            forms.append(
                lambda text=text: self.guarded(f"{{}} in {text}", f"{text}[{{}}]", e("id"))
            )
            forms.append(lambda text=text: f"{text}.get({e('id')}, {e()})")
        for text in scope.of("queue"):
            forms.append(
                lambda text=text: self.guarded(
                    f"len({text}) > 0", f"{text}[{self.one(['0', '-1'])}]", ""
                )
            )
            forms.append(lambda text=text: f"len({text}) + {text}.count({e()})")
        for text in scope.of("hand"):
            forms.append(lambda text=text: f"{text}.count({e()})")
        for text in scope.of("count"):
            forms.append(lambda text=text: text)
        if not scope.of("id"):
            forms = forms[:10] + forms[15:18]
        return str(self.one(forms)())

    def rarely(self, odd: str, usual: str) -> str:
        return odd if self.chance(6) else usual

    def guarded(self, test: str, text: str, inner: str) -> str:
        """Return an expression that mostly stands where it has a value."""
        made = text.format(inner)
        return made if self.chance(10) else f"({made} if {test.format(inner)} else 0)"

    def comprehension(self, scope: Scope, depth: int, kind: str) -> str:
        name = self.local("x")
        inner = scope.copy()
        domains = [("int", f"range({self.number(0, 3)})"), ("id", "K")]
        domains += [("int", text) for text in scope.of("queue") + scope.of("ints")]
        domains += [("id", text) for text in scope.of("ids") + scope.of("partial")]
        of, domain = self.one(domains)
        inner.add(of, name)
        body = self.expression(kind, inner, depth)
        test = f" if {self.expression('bool', inner, depth)}" if self.chance(3) else ""
        return f"{body} for {name} in {domain}{test}"

    def _bool(self, scope: Scope, depth: int) -> str:
        def e(kind: str = "bool") -> str:
            return self.expression(kind, scope, depth)

        forms = [
            lambda: f"({e()} and {e()})",
            lambda: f"({e()} or {e()})",
            lambda: f"not ({e()})",
            lambda: f"implies({e()}, {e()})",
            lambda: f"({e('int')} {self.one(['<', '<=', '==', '!=', '>', '>='])} {e('int')})",
            lambda: f"({e('int')} <= {e('int')} < {e('int')})",
            lambda: (
                f"({self.one(scope.of('phase') or ['early'])} {self.one(['==', '!=', '<'])} {e('phase')})"
            ),
            lambda: (
                f"({e('int')} in {self.one(['{0, 2}', 'range(2)', *scope.of('ints'), *scope.of('queue')])})"
            ),
            lambda: f"{self.one(['all', 'any'])}({self.comprehension(scope, depth, 'bool')})",
            lambda: f"small({e('int')})",
        ]
        for kind in ("ints", "ids", "queue", "hand", "map", "partial", "links"):
            for text in scope.of(kind):
                forms.append(
                    lambda text=text, kind=kind: f"({text} {self.one(['==', '!='])} {e(kind)})"
                )
        for kind in ("ints", "ids"):
            for text in scope.of(kind):
                forms.append(
                    lambda text=text, kind=kind: (
                        f"({text} {self.one(['<=', '<'])} {self.one(scope.of(kind))})"
                    )
                )
        for kind in ("maybe", "maybe_id"):
            for text in scope.of(kind):
                forms.append(lambda text=text: f"({text} is {self.one(['none', 'not none'])})")
        for text in scope.of("kind"):
            forms.append(lambda text=text: f"({text} is {self.one(['Put', 'not Put', 'Mark'])})")
            forms.append(lambda text=text: f"({text} == {e('kind')})")
            held = f"{{text}}.v == {{n}} if {{text}} is {self.rarely('Mark', 'Put')} else {{other}}"
            forms.append(
                lambda text=text, held=held: (
                    f"({held.format(text=text, n=e('int'), other=e('bool'))})"
                )
            )
        for text in scope.of("id"):
            for other in scope.of("maybe_id") + scope.of("id"):
                forms.append(lambda text=text, other=other: f"({text} == {other})")
            for other in scope.of("ids") + scope.of("partial"):
                forms.append(lambda text=text, other=other: f"({text} in {other})")
        for text in scope.of("truth"):
            forms.append(lambda text=text: text)
        if not scope.of("id"):
            forms = forms[:6] + forms[9:]
        return str(self.one(forms)())

    def _ints(self, scope: Scope, depth: int) -> str:
        def e(kind: str = "ints") -> str:
            return self.expression(kind, scope, depth)

        return str(self.one([
            lambda: f"{{{e('int')}, {e('int')}}}",
            lambda: f"{{{self.comprehension(scope, depth, 'int')}}}",
            lambda: f"({e()} {self.one(['|', '&', '-', '^'])} {{{e('int')}}})",
        ])())  # fmt: skip

    def _queue(self, scope: Scope, depth: int) -> str:
        known = scope.of("queue")
        items = f"[{self.expression('int', scope, depth)}]"
        if not known:
            return items
        text = self.one(known)
        return str(
            self.one(
                [
                    items,
                    f"({text} + {items})",
                    f"{text}[1:]",
                    f"{text}[:-1]",
                    f"[x for x in {text} if x > 0]",
                ]
            )
        )

    def _ids(self, scope: Scope, depth: int) -> str:
        body = self.expression("bool", self._with(scope, "id", "z"), depth)
        reached = [f"{text}.keys()" for text in scope.of("links")]
        for key in scope.of("id"):
            reached += [f"closure({text}).get({key}, {{{key}}})" for text in scope.of("links")]
        return str(self.one(["K", "{z for z in K if " + body + "}", *reached]))

    def _links(self, scope: Scope, depth: int) -> str:
        body = self.expression("ids", self._with(scope, "id", "z"), depth)
        made = "{z: " + body + " for z in " + self.one(["K", *scope.of("ids")]) + "}"
        return str(self.one([made, *(f"closure({text})" for text in scope.of("links"))]))

    def _partial(self, scope: Scope, depth: int) -> str:
        body = self.expression("int", self._with(scope, "id", "z"), depth)
        return "{z: " + body + " for z in " + self.one(["K", *scope.of("ids")]) + "}"

    def _kind(self, scope: Scope, depth: int) -> str:
        number = self.stored(scope, depth)
        known = [*self.simple("kind"), *scope.of("kind")]
        marked = f"Mark({self.expression('maybe_id', scope, depth)}, {self.expression('bool', scope, depth)})"
        choice = (
            f"({self.one(known)} if {self.expression('bool', scope, depth)} else Put({number}))"
        )
        return str(self.one([f"Put({number})", marked, choice, *known]))

    def _maybe_id(self, scope: Scope, depth: int) -> str:
        return str(self.one([*self.simple("maybe_id"), *scope.of("maybe_id"), *scope.of("id")]))

    def _maybe(self, scope: Scope, depth: int) -> str:
        value = self.expression("int", scope, depth)
        if self.chance(4):
            return self._least_by(scope, depth)
        return f"({value} if {self.expression('bool', scope, depth)} else none)"

    def _least_by(self, scope: Scope, depth: int) -> str:
        """Draw the first of some, which may be none, by a key that several may share."""
        name = self.local("x")
        inner = self._with(scope, "int", name)
        body = self.rarely(name, f"({name} if {self.expression('bool', inner, depth)} else none)")
        key = self.rarely("", f", by={self.expression('int', inner, depth)}")
        domain = self.one(["range(3)", *scope.of("ints"), *scope.of("hand")])
        return f"least(({body} for {name} in {domain}){key}, default=none)"

    @staticmethod
    def _with(scope: Scope, kind: str, name: str) -> Scope:
        inner = scope.copy()
        inner.add(kind, name)
        return inner

    def stored(self, scope: Scope, depth: int = 1) -> str:
        """Return an integer that is mostly in 0..2."""
        text = self.expression("int", scope, depth)
        return text if self.chance(20) else f"min(max({text}, 0), 2)"

    # -------------------------------------------------------------------------------- effects

    def effects(
        self, scope: Scope, size: int, *, indent: str = "      ", loops: bool = True
    ) -> list[str]:
        scope = scope.copy()
        lines: list[str] = []
        for _ in range(size):
            lines += self.effect(scope, indent, loops=loops)
        return lines or [indent + "pass"]

    def effect(self, scope: Scope, indent: str, *, loops: bool) -> list[str]:
        forms: list[Callable[[], list[str]]] = []

        def line(text: Callable[[], str]) -> None:
            forms.append(lambda: [indent + text()])

        def e(kind: str) -> str:
            return self.expression(kind, scope, 1)

        plain = self.id_is_plain(scope)

        def places(kind: str) -> list[str]:
            needs = kind in ("ids", "partial", "links")
            return [one for one in self.places[kind] if plain or not (needs or "[?]" in one)]

        for place in places("int"):
            line(lambda place=place: self._turned(self.at(place, scope)))
            line(lambda place=place: self._turned(self.at(place, scope)))
            line(lambda place=place: f"{self.at(place, scope)} = {self.stored(scope)}")
            line(
                lambda place=place: (
                    f"{self.at(place, scope)} {self.one(['= 1', '= 0', self.rarely('+= 1', '= 1'), self.rarely('-= 1', '= 0')])}"
                )
            )
            line(
                lambda place=place: (
                    f"{self.at(place, scope)} = pick({self.one(['x for x in range(3)', 'x for x in {0, 2} if x != 1', 'x for x in range(2) if ' + e('bool')])})"
                )
            )
        for place in places("int"):
            for held in self.places["ints"]:
                line(
                    lambda place=place, held=held: (
                        f"{self.at(place, scope)} = pick_if_any(x for x in {held} if {e('bool')})"
                    )
                )
        for place in places("kind"):
            line(lambda place=place: f"{place} = pick({{Nop(), Put(1), {e('kind')}}})")
            forms.append(
                lambda place=place: self.inside(
                    f"{place} is Put", f"{place}.v = {self.stored(scope)}", indent
                )
            )
        for kind in ("bool", "phase", "maybe_id", "maybe", "kind"):
            for place in self.places[kind]:
                line(lambda place=place, kind=kind: f"{self.at(place, scope)} = {e(kind)}")
        for place in places("ids"):
            line(
                lambda place=place: (
                    f"{place}.{self.one(['add', 'discard', 'add', self.rarely('remove', 'discard')])}({self.id(scope)})"
                )
            )
        for place in self.places["ints"]:
            line(
                lambda place=place: f"{place}.{self.one(['add', 'discard'])}({self.stored(scope)})"
            )
        for place in self.places["queue"]:
            line(
                lambda place=place: self.one(
                    [
                        f"{place} = {place}[1:]",
                        f"{place}.clear()",
                        f"{place} = [{self.stored(scope)}]",
                    ]
                )
            )
            forms.append(
                lambda place=place: self.inside(
                    f"len({place}) < 2", f"{place}.append({self.stored(scope)})", indent
                )
            )
            forms.append(
                lambda place=place: self.inside(
                    f"len({place}) > 0", f"{place}.{self.one(['pop(0)', 'pop()'])}", indent
                )
            )
        for place in self.places["hand"]:
            line(lambda place=place: f"{place}.clear()")
            forms.append(
                lambda place=place: self.inside(
                    f"len({place}) < 2", f"{place}.add({self.stored(scope)})", indent
                )
            )
            forms.append(
                lambda place=place: self.inside(f"1 in {place}", f"{place}.remove(1)", indent)
            )
        for place in places("partial"):
            line(
                lambda place=place: self.one(
                    [
                        f"{place}[{self.id(scope)}] = {self.stored(scope)}",
                        self.rarely(f"del {place}[{self.id(scope)}]", f"{place}.clear()"),
                        f"{place} = {self.expression('partial', scope, 1)}",
                    ]
                )
            )
        for place in places("links"):
            line(
                lambda place=place: self.one(
                    [
                        f"{place}[{self.id(scope)}] = {e('ids')}",
                        f"{place} = {e('links')}",
                        f"{place}.clear()",
                    ]
                )
            )
        for place in places("machine"):
            line(
                lambda place=place: self.one(
                    [
                        f"{self.at(place, scope)} = {self.one(['On', 'Off', 'On', 'Gone'])}",
                        f"restore({self.at(place, scope)}, Off)",
                        f"create({self.at(place, scope)}, On)",
                    ]
                )
            )
        for text in self.sends:
            line(lambda text=text: text(scope))
        line(lambda: f"require({e('bool')})")
        line(lambda: f"bump({self.stored(scope)})")
        if self.fresh_place:
            line(lambda: f"{self.fresh_place} = fresh(H)")

        def test() -> str:
            asks = self.chance(4) and self._askable()
            return self._asks("enabled", scope) if asks else e("bool")

        forms.append(
            lambda: [
                f"{indent}if {test()}:",
                *self.effects(scope, 1, indent=indent + "    ", loops=False),
                *(
                    [f"{indent}else:", *self.effects(scope, 1, indent=indent + "    ", loops=False)]
                    if self.chance()
                    else []
                ),
            ]
        )
        forms.append(lambda: self._local(scope, indent))
        forms.append(lambda: self._picked(scope, indent))
        if loops:
            forms.append(lambda: self._loop(scope, indent))
        return list(self.one(forms)())

    def _turned(self, place: str) -> str:
        return f"{place} = ({place} + {self.number(1, 2)}) % {2 if place.endswith('.x') else 3}"

    def inside(self, test: str, text: str, indent: str) -> list[str]:
        """Return a statement that mostly runs only where it has a meaning."""
        if self.chance(10):
            return [indent + text]
        return [f"{indent}if {test}:", f"{indent}    {text}"]

    def _local(self, scope: Scope, indent: str) -> list[str]:
        name = self.local("t")
        text = f"{indent}{name} = {self.stored(scope)}"
        scope.add("int", name)
        return [text]

    def _picked(self, scope: Scope, indent: str) -> list[str]:
        name = self.local("w")
        test = self.rarely(" if " + self.expression("bool", self._with(scope, "id", "z"), 1), "")
        scope.add("id", name)
        return [f"{indent}{name} = pick(z for z in K{test})"]

    def _loop(self, scope: Scope, indent: str) -> list[str]:
        name = self.local("y")
        inner = scope.copy()
        of, domain = self.one(
            [
                ("int", "range(2)"),
                *(("int", text) for text in scope.of("queue") + scope.of("ints")),
                *([] if self.symmetric and not self.chance(4) else [("id", "K")]),
            ]
        )
        inner.add(of, name)
        body = self.effects(inner, self.number(1, 2), indent=indent + "    ", loops=False)
        if self.chance(4):
            body.append(f"{indent}    break")
        return [f"{indent}for {name} in {domain}:", *body]

    def id(self, scope: Scope) -> str:
        known = [*self.simple("id"), *scope.of("id")]
        return str(self.one(known)) if known else ""

    def at(self, place: str, scope: Scope) -> str:
        return place.replace("[?]", f"[{self.id(scope)}]")

    # ------------------------------------------------------------------------- specification

    def text(self, *, traffic: bool = True, orbits: bool = False, grouped: bool = False) -> str:
        """Draw a specification; without `traffic` it has no messages, calls, operations, timers.

        With `orbits` its ids are symmetric, several, and most properties are of infinite runs;
        `grouped`: fairness may be promised to rows together.
        """
        self.orbits, self.grouped = orbits, grouped
        self.symmetric = orbits or self.chance(3)
        self.ids = self.number(1 + orbits, 3) if self.symmetric else self.number(1, 2)
        self.places: dict[str, list[str]] = {
            kind: []
            for kind in (
                "int",
                "bool",
                "phase",
                "maybe",
                "maybe_id",
                "ids",
                "ints",
                "queue",
                "hand",
                "partial",
                "links",
                "kind",
                "machine",
            )
        }
        self.sends: list[Callable[[Scope], str]] = []
        self.fresh_place = ""
        self.rows: list[list[str]] = []
        self.triggers: list[tuple[str, Scope]] = []
        self.extra: dict[str, list[str]] = {}
        self.scope = Scope()
        parts = [self._head(), self._state(), *(self._traffic() if traffic else [])]
        self._spontaneous()
        parts += [self._definitions(), self._initial(), self._rows(), self._unhandled()]
        parts += [self._rest(), self.properties(), self._instances()]
        return "\n".join(part for part in parts if part) + "\n"

    def _head(self) -> str:
        ids = f"{{ids: {self.ids}, prefix: k" + (", symmetric: true}" if self.symmetric else "}")
        level = self.one(
            [
                "1",
                "max(0, 2 if fixed else 0)",
                "min(2, 1 if broken else 3) - 1",
                "abs(-1)",
                "len(K) - len(K) + 1",
            ]
        )
        return "\n".join([
            "system: drawn", "about: Drawn by a test.", "constants:", f"  K: {ids}", "  H: {ids: 2, prefix: h}",
            "  fixed: true", "  broken: false", f"  level: {{value: {json.dumps(level)}}}",
            "types:", "  Phase: one of early, late", "  Put: {fields: {v: 0..2}}",
            "  Mark: {fields: {k: optional K, by: bool}}", "  Nop: {fields: {}}",
            "  Command: Mark or Nop or Put",
        ])  # fmt: skip

    def _state(self) -> str:
        per = [*(["id"] if True else [])]
        lines = ["variables:", '  n: {type: 0..2, initial: "0"}']
        self._has("int", "n")
        kinds = {
            "bool": ("bool", "false"), "phase": ("Phase", "early"), "maybe": ("optional 0..2", "none"),
            "maybe_id": ("optional K", "none"), "ids": ("set of K", "empty"), "ints": ("set of 0..2", "{1}"),
            "queue": ("sequence of 0..2 up to 2", "empty"), "hand": ("bag of 0..2 up to 2", "[1]"),
            "partial": ("map of K to 0..2", "empty"), "links": ("map of K to set of K", "empty"), "kind": ("Command", "Put(0)"),
        }  # fmt: skip
        for kind, (type_, initial) in kinds.items():
            if self.chance():
                self._has(kind, f"v_{kind}")
                lines.append(
                    f"  v_{kind}: {{type: {json.dumps(type_)}, initial: {json.dumps(initial)}}}"
                )
        if self.chance(4) and not self.symmetric:
            self.fresh_place = "holder"
            lines.append("  holder: {type: optional H, initial: none}")
        if self.chance(3):
            initial = "0" if self.symmetric else self.one(["0", "1 if self == k1 else 0"])
            lines.append(f"  each: {{type: 0..2, per: K, initial: {json.dumps(initial)}}}")
            self.places["int"].append("each[?]")
            self.per = per
        lines += self._components()
        return "\n".join(lines)

    def _has(self, kind: str, name: str) -> None:
        self.places[kind].append(name)
        self.scope.add(kind, name)

    def _components(self) -> list[str]:
        lines: list[str] = []
        if self.chance(3):
            lines += [
                "components:",
                "  part:",
                "    per: K",
                "    variables:",
                '      x: {type: 0..1, initial: "0"}',
            ]
            self.places["int"].append("part[?].x")
            if self.chance():
                lines += ["    machines:", "      lamp_of: {table: lamp}"]
                self.places["machine"].append("part[?].lamp_of")
        if self.chance(4):
            lines += ["machines:", "  light: {table: lamp}"]
            self.places["machine"].append("light")
        return lines

    # -------------------------------------------------------------------------------- traffic

    def _traffic(self) -> list[str]:
        wanted = self.one([0, 1, 2, 3, 1, 2])
        messages = [
            "messages:",
            '  A: {f: "0..2"}',
            "  B: {f: bool, k: optional K}",
            "  Ask: {f: 0..1}",
            "  Answer: {f: 0..1}",
        ]
        parts = ["\n".join(messages)] if wanted else []
        if wanted & 1:
            parts.append(self._channel())
        if wanted & 2:
            parts.append(self._calls())
        if self.chance(4):
            parts.append(self._operation())
        if self.chance(4):
            parts.append(self._timer())
        return parts

    def _channel(self) -> str:
        order = self.one(["bag", "fifo", "retained"])
        keys = self.one([0, 0, 1, 2]) if self.ids < 3 else self.one([0, 1])
        lines = ["channels:", "  q:", "    carries: [A, B]", f"    order: {order}"]
        lines += ["    per: K"] if keys == 1 else ["    per: [K, K]"] if keys == 2 else []
        if order != "retained":
            capacity = self.one(['"1"', '"2"'])
            lines += [
                f"    capacity: {capacity}",
                f"    when_full: {self.one(['block', 'drop', 'error'])}",
            ]
        disturbed = {
            "bag": ["loses", "duplicates"],
            "fifo": ["loses", "duplicates", "reorders"],
            "retained": ["loses"],
        }
        for word in disturbed[order]:
            if self.chance(4):
                amount = self.one(['"1"', '"0"', "unlimited"])
                lines.append(f"    {word}: {amount}")
        brackets = ["", "[?]", "[?, ?]"][keys]

        def send(scope: Scope) -> str:
            where = brackets
            while "?" in where:
                if not self.id_is_plain(scope):
                    return "pass"
                where = where.replace("?", self.id(scope), 1)
            what = (
                f"A({self.stored(scope)})"
                if self.chance()
                else f"B({self.expression('bool', scope, 1)}, {self.expression('maybe_id', scope, 1)})"
            )
            return f"send(q{where}, {what})"

        self.sends.append(send)
        named = ["", "[c]", "[c, d]"][keys]
        names = ["", "c", "cd"][keys]
        for kind, patterns in (
            ("A", ["f", "0", "_", "1"]),
            ("B", ["f, k", "false", "true, k", "_, none", "f=true"]),
        ):
            for pattern in {self.one(patterns): None for _ in range(self.number(1, 2))}:
                scope = self.scope.copy()
                for name in names:
                    scope.add("id", name)
                if pattern == "f" and kind == "A":
                    scope.add("int", "f")
                if pattern == "f, k":
                    scope.add("bool", "f")
                if "k" in pattern:
                    scope.add("maybe_id", "k")
                self.row(f"on: q{named}.{kind}({pattern})", scope)
        if keys == 0:
            self.scope.add("count", "len(q)")
            self.scope.add("truth", "any(w is A for w in q)")
            self.scope.add("truth", "all(w.k is none for w in q if w is B)")
        else:
            ids = " for c in K" + (" for d in K" if keys == 2 else "")
            self.scope.add("count", f"sum(len(q{named}){ids})")
        self.ignored = (f"q.{self.one(['A', 'B'])}", self.one(["ignored", "impossible"]))
        return "\n".join(lines)

    def _calls(self) -> str:
        capacity = self.one(['"1"', '"2"'])
        lines = [
            "calls:",
            f"  line: {{per: K, requests: [Ask], responses: [Answer], capacity: {capacity}}}",
        ]

        def asks(scope: Scope) -> str:
            return (
                f"call(line[{self.id(scope)}], Ask({self.number(0, 1)}))"
                if self.id_is_plain(scope)
                else "pass"
            )

        def closes(scope: Scope) -> str:
            return f"close(line[{self.id(scope)}])" if self.id_is_plain(scope) else "pass"

        self.sends += [asks, closes]
        scope = Scope({**self.scope.copy().known})
        scope.add("id", "c")
        scope.add("int", "f")
        end = self.one(
            [
                "reply(call, Answer(f))",
                "reject(Answer(1))",
                "if f == 0:\n          reply(call, Answer(0))\n      else:\n          reject(Answer(1))",
                "parked",
            ]
        )
        if end == "parked":
            self.row("on: line[c].Ask(f)", scope, plain=["      pass"])
            self.extra.setdefault("answers", []).append(
                "  - row: answers\n    for:\n      h: line\n"
                + self._tail()
                + f"    do: reply(h, Answer({self.one(['0', '1 if h.open else 0'])}))"
            )
        else:
            self.row("on: line[c].Ask(f)", scope, last="      " + end)
        self.row("on: line[c].Answer(f)", scope)
        self.scope.add("count", "len(requests(line)) + len(line)")
        self.scope.add("truth", "any(w.f == 1 for w in responses(line))")
        return "\n".join(lines)

    def id_is_plain(self, scope: Scope) -> bool:
        return bool(self.simple("id") or scope.of("id"))

    def _operation(self) -> str:
        fault = self.chance()
        late = self.chance()
        order = self.one(["any", "fifo"])
        per = self.chance(3)
        error = (
            "{fault: storage" + (", late: true}" if late else "}")
            if fault
            else ("{late: true}" if late else "{}")
        )
        budget = self.one(['"1"', '"0"', "unlimited"])
        lines = [
            "operations:",
            "  append:",
            '    captures: {v: "0..2"}',
            f'    capacity: "{self.number(1, 2)}"',
            f"    order: {order}",
            "    outcomes:",
            "      ok: {}",
            f"      gone: {error}",
        ]
        lines += ["    per: K"] if per else []
        lines += ["faults:", f"  storage: {{budget: {budget}}}"] if fault else []

        def starts(scope: Scope) -> str:
            if per and not self.id_is_plain(scope):
                return "pass"
            where = f"[{self.id(scope)}]" if per else ""
            return f"start(append{where}(v={self.stored(scope)}))"

        self.sends.append(starts)
        scope = self.scope.copy()
        scope.add("int", "v")
        named = "[c]" if per else ""
        if per:
            scope.add("id", "c")
        for outcome in ("ok", "gone", *(("late_ok",) if late else ())):
            if self.chance(4) is False:
                self.row(f"on: append{named}.{outcome}(v)", scope, faulty=False)
        if not per:
            self.scope.add("count", "len(append)")
        return "\n".join(lines)

    def _timer(self) -> str:
        keys = self.one([0, 0, 1, 2]) if self.ids < 3 else self.one([0, 1])
        captures, adds = self.chance(), self.chance(3)
        late = self.one(["", '"0"', '"1"', '"2"'])
        fair = self.one(["", "weak", "strong"])
        lines = ["timers:", "  lock:", "    about: drawn"]
        lines += ["    per: K"] if keys == 1 else ["    per: [K, K]"] if keys == 2 else []
        lines += ['    captures: {v: "0..2"}'] if captures else []
        lines += ["    when_armed: add", f'    capacity: "{self.number(1, 2)}"'] if adds else []
        lines += [f"    late_cancels: {late}"] if late else []
        lines += [f"    fair: {fair}"] if fair else []

        def named(word: str, scope: Scope, given: str) -> str:
            where = ["", "[?]", "[?, ?]"][keys]
            while "?" in where:
                if not self.id_is_plain(scope):
                    return "pass"
                where = where.replace("?", self.id(scope), 1)
            return f"{word}(lock{where}{given})"

        def arms(scope: Scope) -> str:
            return named("arm", scope, f"(v={self.stored(scope)})" if captures else "")

        def cancels(scope: Scope) -> str:
            one = captures and self.chance(3)
            return named("cancel", scope, f"(v={self.expression('int', scope, 1)})" if one else "")

        self.sends += [arms, cancels]
        for pattern in {self.one(["", "cancelled", "false"]): None for _ in range(2)}:
            scope = self.scope.copy()
            for name in ["", "c", "cd"][keys]:
                scope.add("id", name)
            if pattern == "cancelled":
                scope.add("truth", "cancelled")
            given = [*(["v"] if captures else []), *([f"cancelled={pattern}"] if pattern else [])]
            if captures:
                scope.add("int", "v")
            self.row(f"on: lock{['', '[c]', '[c, d]'][keys]}.expired({', '.join(given)})", scope)
        if keys == 0:
            self.scope.add("truth", f"armed(lock{'(v=1)' if captures and self.chance() else ''})")
            self.scope.add("count", "len(lock.late)" if late else "len(lock)")
        return "\n".join(lines)

    # ----------------------------------------------------------------------------------- rows

    def _tail(self) -> str:
        fair = self.one(["", "none", "weak", "strong"])
        return f"    fair: {fair}\n" if fair else ""

    def row(
        self,
        on: str,
        scope: Scope,
        *,
        last: str = "",
        plain: list[str] | None = None,
        faulty: bool = True,
    ) -> None:
        if on and not (last or plain):
            self.triggers.append((on, scope.copy()))
        if not on:  # what `on:` binds is called by others
            self.local_names = 0
        scope = scope.copy()
        lines = [f"  - row: {self.name('row')}"] + ([f"    {on}"] if on else [])
        if self.chance(3):
            lines += ["    for:", *self._bindings(scope)]
        if self.places["machine"] and self.chance(4) and self.places["machine"][-1] == "light":
            lines.append(f"    in: {{light: {self.one(['Off', '[Off, On]'])}}}")
        if self.chance(4):
            name = self.local("l")
            fails = ["2 // n", *(f"{text}[0]" for text in scope.of("queue"))]
            text = self.one(fails) if self.chance(4) else self.expression("int", scope, 1)
            lines += ["    let:", f"      {name}: {json.dumps(text)}"]
            scope.add("int", name)
        if self.chance():
            guard = (
                self.expression("bool", scope, 2) if self.chance() else self._simple_guard(scope)
            )
            if self.chance(6) and self._askable():
                guard = f"{self.one(['', 'not '])}{self._asks('enabled', scope)} or {guard}"
            lines.append(f"    when: {json.dumps(guard)}")
        body = plain or self.effects(scope, self.number(1, 2))
        lines += ["    do: |", *body, *([last] if last else [])]
        if not on and self.chance(8):
            lines.insert(1, f"    only_if: {self.one(['fixed', 'broken', 'not broken'])}")
        if self.places["phase"] and self.chance(6) and not last:
            lines += [f"    to: {{v_phase: {self.one(['early', 'late'])}}}"]
        lines += [self._tail().rstrip("\n")] if self.chance() else []
        self.rows.append([one for one in lines if one])

    def _askable(self) -> list[list[str]]:
        """Return the rows of which it can be asked whether they can run: their effects always can."""
        unsure = ("require(", "pick_if_any(", "call(", "send(", "enabled(")
        return [row for row in self.rows if not any(word in "\n".join(row) for word in unsure)]

    def _asks(self, word: str, scope: Scope) -> str:
        """Draw whether a row can run, or made the step, perhaps with one of its bindings."""
        rows = self._askable() if word == "enabled" else self.rows
        row = self.one(rows)
        name = row[0].split()[-1]
        bound = [line.split() for line in row if line.endswith((": K", ": bool", ": 0..1"))]
        if not bound or self.chance():
            return f"{word}({name})"
        key, domain = self.one(bound)
        values = ["true", "false"] if domain == "bool" else ["0", "1"]
        if domain == "K":
            values = scope.of("id") or self.simple("id") or ["z"]
        asked = f"{word}({name}, {key[:-1]}={self.one(values)})"
        return f"any({asked} for z in K)" if values == ["z"] else asked

    def _bindings(self, scope: Scope) -> list[str]:
        lines: list[str] = []
        for _ in range(self.number(1, 2)):
            name = self.local("b")
            kind, domain = self.one(
                [
                    ("id", "K"),
                    ("int", "0..1"),
                    ("bool", "bool"),
                    ("int", "0..n"),
                    ("maybe_id", "optional K"),
                    *(
                        (k, t)
                        for k, t in (("int", "v_queue"), ("id", "v_ids"), ("int", "v_hand"))
                        if t in self.scope.of(t[2:])
                    ),
                ]
            )
            lines.append(f"      {name}: {domain}")
            scope.add(kind, name)
        return lines

    def _spontaneous(self) -> None:
        for text in dict.fromkeys(self.sends):
            self._driver(text)
        for _ in range(self.number(1, 4)):
            self.row("", self.scope.copy())

    def _driver(self, text: Callable[[Scope], str]) -> None:
        """Draw a row that sends, calls or starts, so that what consumes it has something to do."""
        name = self.local("b")
        scope = self._with(self.scope, "id", name)
        lines = [f"  - row: {self.name('row')}", "    for:", f"      {name}: K"]
        if self.chance(3):
            lines.append(f"    when: {json.dumps(self._simple_guard(scope))}")
        lines += ["    do: |", f"      {text(scope)}"]
        if self.chance(3):
            lines += self.effect(scope, "      ", loops=True)
        self.rows.append([*lines, *([self._tail().rstrip()] if self.chance() else [])])
        self.rows[-1] = [line for line in self.rows[-1] if line]

    def _simple_guard(self, scope: Scope) -> str:
        place = self.one(scope.of("int") or ["level"])
        tests = [f"{place} < 2", f"{place} == {self.number(0, 2)}", f"{place} != level"]
        return str(self.one([*tests, *scope.of("truth")]))

    def _definitions(self) -> str:
        bump = self.effects(self._with(self.scope, "int", "by"), 0)
        body = (
            ["    n = min(n + by, 2)"]
            if self.chance()
            else ["    if by == 0:", "        return", "    n = 0"]
        )
        assert bump
        risen = [
            "next(n) >= k",
            "next(n - k) <= 1",
            "small(k) or next(n + k) != n",
            "next(small(n - k))",
        ]
        return "\n".join([
            "definitions:", "  twice(k): k + k", f"  small(k): {json.dumps(self.one(['k < 2', 'k in {0, 1}', 'k <= level']))}",
            f"  risen(k): {json.dumps(self.one(risen))}",
            "procedures:", "  bump(by): |", *body,
        ])  # fmt: skip

    def _initial(self) -> str:
        if not self.chance(4):
            return ""
        when = f"\n  when: {json.dumps(self.one(['i <= 1', 'i != level', 'true']))}"
        return f"initial:\n  for:\n    i: 0..2{when if self.chance() else ''}\n  do: |\n    n = {self.one(['i', '2 - i', 'pick(x for x in range(i + 1))'])}"

    def _rows(self) -> str:
        return "\n".join(
            ["rows:", *("\n".join(row) for row in self.rows), *self.extra.get("answers", [])]
        )

    def _unhandled(self) -> str:
        if (
            not self.places["phase"]
            or not self.sends
            or not hasattr(self, "ignored")
            or not self.chance(3)
        ):
            return ""
        message, kind = self.ignored
        return (
            f"unhandled:\n  - {{message: {message}, in: {{v_phase: late}}, is: {kind}, why: drawn}}"
        )

    def _rest(self) -> str:
        lines = []
        if self.chance(4):
            lines += ["bounds:", f"  - {json.dumps(self.expression('bool', self.scope, 2))}"]
            if self.chance():
                step = self.one(
                    [
                        *("next(n) <= n + 1", "next(n) != n or n > 0", "n < 2 or next(n) == 2"),
                        "next(n) != n",
                    ]
                )
                lines.append(f"  - {json.dumps(step)}")
        if self.chance(3):
            lines += ["terminal:", f"  - {json.dumps(self.expression('bool', self.scope, 1))}"]
        if self.chance(3):
            lines += ["deadlock: false"]
        if self.chance(3):
            lines += [f"fairness: {self.one(['weak', 'strong'])}"]
        if self.grouped and self.chance():
            lines += ["fair_groups:", *self._groups()]
        return "\n".join(lines)

    def _groups(self) -> list[str]:
        """Draw promises to rows together: to all, to several, to one for each of its bindings."""
        rows = [row for row in self.rows if not any("fault" in line for line in row)]
        plain = [row for row in rows if not any(line.startswith("    on:") for line in row)]
        fair = self.one(["weak", "strong"])
        if not plain or self.chance(3):
            return [f"  g_all: {{about: drawn, rows: all, fair: {fair}}}"]
        row = self.one(plain)
        keys = [line.split(":")[0].strip() for line in row if line.endswith((": K", ": bool"))]
        names = [row[0].split()[-1]]
        if keys and self.chance():
            return [
                f"  g_one: {{about: drawn, rows: {names}, per: [{keys[0]}], fair: {fair}}}".replace(
                    "'", ""
                )
            ]
        names = list(dict.fromkeys([*names, self.one(plain)[0].split()[-1]]))
        return [f"  g_some: {{about: drawn, rows: {names}, fair: {fair}}}".replace("'", "")]

    def properties(self) -> str:
        return "\n".join(["properties:", *map(self._property, range(self.number(1, 4)))])

    def _property(self, number: int) -> str:
        self.local_names = 0
        endless = ["eventually", "leads_to", "always_eventually", "eventually_always", "ltl"]
        kind = self.one([*([] if self.orbits else ["always", "step"] * 2), "sometimes", *endless])
        each = self.chance()
        scope = self._with(self.scope, "id", "whose") if each else self.scope
        text = self._claim(kind, scope)
        if kind == "leads_to":
            then = self.expression("bool", scope, 1)
            body = f"{{from: {json.dumps(text)}, to: {json.dumps(then)}}}"
        else:
            body = json.dumps(text)
        more = ["for: {whose: K}"] if each else []
        if kind in endless and self.chance(4):
            begins = self.expression("bool", self.scope, 1)
            more.append(f"initially: {json.dumps(begins)}")
        if kind in endless and self.chance(4):
            more.append("within_bounds: true")
        if self.chance(8):
            more.append("only_if: fixed")
        return f"  p{number}: {{{', '.join([*more, f'{kind}: {body}', 'why: drawn'])}}}"

    def _claim(self, kind: str, scope: Scope) -> str:
        if kind == "ltl":
            return self._formula(scope, 2)
        text = self.expression("bool", scope, 2)
        if kind != "step" and self.chance(6) and self._askable():
            text = f"{self._asks('enabled', scope)} or ({text})"
        if kind == "step":
            forms = [
                "next(n) >= n",
                "next(n) - n <= level",
                f"implies({text}, next(n) != n or n == 0)",
                "risen(n)",
                f"risen({self.one(['level', 'twice(n)', 'n + 0', 'next(n)'])})",
            ]
            drawn = self.one([self._parts, self._parts, self._of_new_items])
            text = drawn(scope) if self.chance() else self.one(forms)
            if self.chance() and self.rows:
                text = f"implies({self._asks('ran', scope)}, {text})"
        if kind in ("always", "step") and self.chance():
            text = f"({text}) or n < 3"
        return text

    def _parts(self, scope: Scope) -> str:
        """Draw what must be true together of a step, where one part says if another has a value.

        Some of the parts say something only of steps that change one variable.
        """
        name = self.local("x")
        domains = [("id", "K"), ("int", "range(2)")]
        domains += [(kind, text) for kind in ("int", "id") for text in scope.of(f"{kind}s")]
        of, domain = self.one(domains)
        loops = self.chance()
        inner = self._with(scope, of, name) if loops else scope
        parts = [*self._test_and_use(inner), self.expression("bool", inner, 1)]
        parts.insert(self.one([0, 0, 1, 2, 3]), self.expression("bool", inner, 1))
        if self.chance(6):
            parts.reverse()
        kinds = ("maybe", "queue", "partial", "hand", "ids")
        moved = self.one(["n", *(text for kind in kinds for text in scope.of(kind))])
        said = " and ".join(
            self.one([f"({part})", f"(next({moved}) == {moved} or {part})"]) for part in parts
        )
        over = self.one([domain, f"next({domain})"])
        return f"all({said} for {name} in {over})" if loops else said

    def _of_new_items(self, scope: Scope) -> str:
        """Draw what must be true of what a list holds after a step and did not before."""
        kind = self.one(["int", "phase"])
        listed = f"[{self.comprehension(scope, 2, kind)}]"
        name = self.local("x")
        said = self.expression("bool", self._with(scope, kind, name), 1)
        test = f" if {self.expression('bool', scope, 1)}" if self.chance(4) else ""
        return f"all(implies({name} not in {listed}, {said}) for {name} in next({listed}){test})"

    def _test_and_use(self, scope: Scope) -> list[str]:
        """Draw a test and what has a value where it holds, both of the state before or after."""
        pairs = [("n > 0", "2 // n <= {}")]
        pairs += [(f"{text} is not none", f"{text} >= {{}}") for text in scope.of("maybe")]
        pairs += [(f"len({text}) > 0", f"{text}[0] >= {{}}") for text in scope.of("queue")]
        pairs += [(f"{text} is Put", f"{text}.v != {{}}") for text in scope.of("kind")]
        for key in scope.of("id") if self.id_is_plain(scope) else ():
            pairs += [
                (f"{key} in {text}", f"{text}[{key}] >= {{}}") for text in scope.of("partial")
            ]
        test, use = self.one(pairs)
        said = [f"({test})", f"({use.format(self.expression('int', scope, 0))})"]
        return [f"next{part}" for part in said] if not self.chance(3) else said

    def _formula(self, scope: Scope, depth: int) -> str:
        def f() -> str:
            return self._formula(scope, depth - 1)

        if depth == 0:
            return f"({self.expression('bool', scope, 1)})"
        forms = [
            lambda: f"always({f()})",
            lambda: f"eventually({f()})",
            lambda: f"until({f()}, {f()})",
            lambda: f"release({f()}, {f()})",
            lambda: f"leads_to({f()}, {f()})",
            lambda: f"implies({f()}, {f()})",
            lambda: f"not {f()}",
            lambda: f"({f()} and {f()})",
            lambda: f"({f()} or {f()})",
            f,
        ]
        return str(self.one(forms)())

    def _instances(self) -> str:
        if not self.chance(4):
            return "instances:\n  default: {about: as declared}"
        return (
            "instances:\n  default: {about: the other variant, set: {fixed: false, broken: true}}"
        )


@st.composite
def specifications(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """A specification as text."""
    return Drawer(draw).text(grouped=True)


@st.composite
def orbits(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """A specification of symmetric ids with properties of infinite runs."""
    drawer = Drawer(draw)
    return drawer.text(traffic=drawer.chance(), orbits=True, grouped=True)
