"""Draws what the others leave out: values in values, picks inside of expressions, control flow.

Records and collections of collections with their places, definitions with `let`, procedures with
loops, `return`, `assert`, rejections that send, rows with `to` and `send`, names that `on:` binds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from .drawing import Drawer, Scope

VARIABLES = {
    "pair": ("Pair", "Pair(0, none)"),
    "deep": ("map of K to set of 0..1", "empty"),
    "row": ("sequence of Pair up to 2", "empty"),
    "sets": ("set of set of 0..1", "{{0}}"),
    "tot": ("total map of K to optional 0..1", "{z: none for z in K}"),
    "best": ("optional Pair", "none"),
    "kinds": ("set of Command", "empty"),
}
"""Variables by what they are called here, with type and first value."""


class FurtherDrawer(Drawer):
    """Draws as its base does, and now and then what that does not draw."""

    def _head(self) -> str:
        self.held: set[str] = set()
        head = super()._head() + "\n  Pair: {fields: {x: 0..2, y: optional K}}"
        self.drawn = self.chance(3)
        alike = self.drawn and self.chance()
        plain = "H: {ids: 2, prefix: h}"
        return head.replace(plain, plain[:-1] + ", symmetric: true}") if alike else head

    def _state(self) -> str:
        lines = []
        for name, (kind, first) in VARIABLES.items():
            if self.chance(3):
                self.held.add(name)
                lines.append(f"  w_{name}: {{type: {kind}, initial: {json.dumps(first)}}}")
        if self.chance(4):
            self.held.add("rank")
            lines.append('  w_rank: {type: 0..1, per: 0..1, initial: "1 - self"}')
        if self.drawn:
            lines.append("  w_owned: {type: map of H to 0..1, initial: empty}")
            lines.append("  w_last: {type: optional H, initial: none}")
        head, _, rest = super()._state().partition("\n")
        return "\n".join([head, *lines, rest])

    # --------------------------------------------------------------------------- expressions

    def _int(self, scope: Scope, depth: int) -> str:
        forms = self._further_ints(scope, depth)
        return str(self.one(forms)()) if self.chance(3) else super()._int(scope, depth)

    def _further_ints(self, scope: Scope, depth: int) -> list[Callable[[], str]]:
        def e(kind: str = "int") -> str:
            return self.expression(kind, scope, depth)

        plain = self.id_is_plain(scope)
        forms: list[Callable[[], str]] = [
            lambda: f"with_parts({e()}, {e('bool')})",
            lambda: f"len([x for x in range(3) if x != {e()}])",
            lambda: f"sum(x * y for x in range(2) if x != {e()} for y in range(x + 2))",
            lambda: f"Pair({self.stored(scope, depth)}, none).x",
            lambda: f"replace(Pair(1, none), x={self.stored(scope, depth)}).x",
            lambda: f"len({{x % 2 for x in range(3) if x < {e()}}} | {{{e()}}})",
            lambda: f"len({{x: x for x in range({self.number(0, 2)})}})",
        ]
        if "pair" in self.held:
            forms += [lambda: "w_pair.x", lambda: f"(w_pair if {e('bool')} else Pair(2, none)).x"]
        if "best" in self.held:
            forms.append(lambda: self.guarded("w_best is not none", "w_best.x", ""))
        if "row" in self.held:
            forms += [
                lambda: self.guarded("len(w_row) > 0", f"w_row[{self.one(['0', '-1'])}].x", ""),
                lambda: f"len(w_row[{self.one(['n:', ':n', '1:2', ':-1', '-1:'])}])",
                lambda: f"sum(p.x for p in w_row if p.y is none or {e('bool')})",
            ]
        if "sets" in self.held:
            forms += [lambda: f"sum(len(x) for x in w_sets if {e()} in x)", lambda: "len(w_sets)"]
        if "kinds" in self.held:
            forms.append(lambda: f"len({{x for x in w_kinds if x is {self._a_kind()}}})")
        if "rank" in self.held:
            forms.append(lambda: f"w_rank[{self.one(['0', '1', self.rarely('n', '1')])}]")
        if "deep" in self.held:
            forms.append(lambda: "sum(len(w_deep[z]) for z in w_deep)")
        if self.drawn:
            forms += [
                lambda: "len(w_owned)",
                lambda: f"len({{h for h in w_owned if w_owned[h] == {e()}}})",
            ]
            forms.append(
                lambda: (
                    "w_owned.get(w_last, 2)"
                    if self.chance(6)
                    else "sum(w_owned[h] for h in w_owned)"
                )
            )
        if "tot" in self.held:
            forms.append(lambda: "sum(w_tot[z] for z in K if w_tot[z] is not none)")
            if plain:
                key = self.id(scope)
                forms.append(lambda: self.guarded(f"w_tot[{key}] is not none", f"w_tot[{key}]", ""))
        if plain:
            for place in self.places["int"]:
                if "[?]" in place:
                    forms.append(lambda place=place: self.at(place, scope))
        return forms

    def _a_kind(self) -> str:
        return str(self.one(["Put", "Mark", "Nop"]))

    def _bool(self, scope: Scope, depth: int) -> str:
        if not self.chance(4):
            return super()._bool(scope, depth)

        def e(kind: str = "bool") -> str:
            return self.expression(kind, scope, depth)

        pair = f"Pair({self.stored(scope, depth)}, {e('maybe_id')})"
        forms = [
            lambda: f"both({e()}, {e()})",
            lambda: f"({e('int')} <= {e('int')} != {e('int')})",
            lambda: f"({e('int')} in {{x: true for x in range(2)}})",
            lambda: f"({e('maybe')} == {e('int')})",
            lambda: f"({e('maybe')} in {{0, 1}})",
        ]
        if "pair" in self.held:
            forms += [lambda: f"(w_pair == {pair})", lambda: "(w_pair.y is none)"]
        if "best" in self.held:
            forms.append(lambda: f"(w_best {self.one(['==', '!='])} {pair})")
        if "row" in self.held:
            forms += [lambda: f"({pair} in w_row)", lambda: "any(p.y is none for p in w_row)"]
        if "sets" in self.held:
            forms.append(lambda: f"({{{e('int')}}} in w_sets)")
        if "deep" in self.held and self.id_is_plain(scope):
            forms.append(lambda: f"({e('int')} in w_deep.get({self.id(scope)}, empty))")
        return str(self.one(forms)())

    # -------------------------------------------------------------------------------- effects

    def effect(self, scope: Scope, indent: str, *, loops: bool) -> list[str]:
        if not self.chance(3):
            return super().effect(scope, indent, loops=loops)
        forms: list[Callable[[], list[str]]] = []

        def line(text: Callable[[], str]) -> None:
            forms.append(lambda: [indent + text()])

        def e(kind: str = "int", depth: int = 1) -> str:
            return self.expression(kind, scope, depth)

        plain = self.id_is_plain(scope)
        key = self.id(scope)
        whole = f"Pair({self.stored(scope)}, {e('maybe_id')})"
        line(lambda: "n = (pick(range(2)) + pick({0, 1})) % 3")
        line(lambda: f"n = ({e()} if pick({{true, false}}) else 0) % (1 + pick({{1, 2}}))")
        line(lambda: f"bump(pick(x for x in range(2) if x != {e()}))")
        line(lambda: f"assert {self.rarely(e('bool'), 'n < 3')}")
        line(lambda: f"climb({self.number(0, 2)}, {self.one(['pick({0, 1})', 'n', '1'])})")
        forms.append(lambda: [f"{indent}if {e('bool')}:", f"{indent}    return"])
        forms.append(
            lambda: [
                f"{indent}if {e('bool')}:", f"{indent}    n = 1", f"{indent}elif {e('bool')}:",
                f"{indent}    n = 2", f"{indent}else:", f"{indent}    n = 0",
            ]
        )  # fmt: skip
        line(lambda: f"n {self.one(['+=', '-='])} {self.one(['pick({0, 1})', 'n', '1 - n % 2'])}")
        if loops:
            forms.append(lambda: self._nested(scope, indent))
            forms.append(lambda: self._over_ids(scope, indent))
        if self.drawn:
            forms.append(lambda: self._owning(indent))
            forms.append(lambda: self._owning(indent))
        if "pair" in self.held:
            line(lambda: f"w_pair = {whole}")
            line(lambda: f"w_pair.x = {self.stored(scope)}")
            line(lambda: f"w_pair.y = {e('maybe_id')}")
            line(lambda: f"w_pair = replace(w_pair, x={self.stored(scope)})")
            line(lambda: "w_pair = Pair(pick(range(3)), w_pair.y)")
        if "best" in self.held:
            line(lambda: f"w_best = {self.one([whole, 'none', 'w_best'])}")
            bare = "w_best = replace(w_best, y=none)"
            forms.append(lambda: self.inside("w_best is not none", bare, indent))
        if "row" in self.held:
            forms.append(lambda: self.inside("len(w_row) < 2", f"w_row.append({whole})", indent))
            inner = f"w_row[{self.one(['0', '-1'])}].x = {self.stored(scope)}"
            forms.append(lambda inner=inner: self.inside("len(w_row) > 0", inner, indent))
            text = f"last = w_row.pop({self.one(['0', ''])})"
            forms.append(lambda: self.inside("len(w_row) > 0", text, indent))
        if "sets" in self.held:
            line(
                lambda: (
                    f"w_sets.{self.one(['add', 'discard'])}({{x for x in range(2) if {e('bool')}}})"
                )
            )
            line(
                lambda: (
                    f"w_sets {self.one(['|=', '-=', '&='])} {{{{0}}, pick({{empty, {{0, 1}}}})}}"
                )
            )
        if "kinds" in self.held:
            line(lambda: f"w_kinds.{self.one(['add', 'discard'])}({e('kind')})")
            line(lambda: "w_kinds = {x for x in w_kinds if x is not " + self._a_kind() + "}")
        if "rank" in self.held:
            line(lambda: f"w_rank[{self.one(['0', '1'])}] = pick({{0, 1}})")
        if "deep" in self.held:
            line(lambda: f"w_deep = {{z: {{x for x in range(2) if {e('bool')}}} for z in K}}")
            if plain:
                line(lambda: f"w_deep[{key}] = {{n % 2}}")
                add = self.one(
                    [f"w_deep[{key}].add(1)", f"w_deep[{key}] |= {{n % 2}}", f"del w_deep[{key}]"]
                )
                forms.append(lambda: self.inside(f"{key} in w_deep", add, indent))
        if "tot" in self.held and plain:
            line(lambda: f"w_tot[{key}] = {self.one(['none', '0', 'n % 2', 'pick({0, 1})'])}")
        for place in self.places["partial"] if plain else ():
            line(lambda place=place: f"{place}[{key}] = {place}.get({key}, 1) // 2")
            more = f"{place}[{key}] = ({place}[{key}] + pick({{1, 2}})) % 3"
            forms.append(lambda place=place, m=more: self.inside(f"{key} in {place}", m, indent))
        for place in self.places["ints"]:
            line(
                lambda place=place: f"{place} {self.one(['|=', '-=', '&='])} {{0, pick({{1, 2}})}}"
            )
        for place in self.places["queue"]:
            text = f"n = {place}.pop({self.one(['0', ''])})"
            forms.append(lambda p=place, text=text: self.inside(f"len({p}) > 0", text, indent))
        return list(self.one(forms)())

    def _nested(self, scope: Scope, indent: str) -> list[str]:
        names = [self.local("y"), self.local("y")]
        inner = self._with(self._with(scope, "int", names[0]), "int", names[1])
        stop = self.one(["break", "pass", "return"])
        body = self.effects(inner, 1, indent=indent + "        ", loops=False)
        return [
            f"{indent}for {names[0]} in range(2):", f"{indent}    for {names[1]} in range({names[0]} + 1):",
            *body, f"{indent}        if {self.expression('bool', inner, 1)}:", f"{indent}            {stop}",
            *([f"{indent}    n = (n + 1) % 3"] if self.chance() else []),
        ]  # fmt: skip

    def _over_ids(self, scope: Scope, indent: str) -> list[str]:
        """Draw a loop whose rounds mostly may change places, over ids or what holds them."""
        name = self.local("y")
        over = self.one(
            [
                "K",
                *scope.of("ids"),
                *scope.of("partial"),
                *(["w_deep"] if "deep" in self.held else []),
            ]
        )
        inner = self._with(scope, "id", name)
        test = self.expression("bool", inner, 1)
        own = [f"n = {self.one(['1', 'n', 'min(n + 1, 2)', 'max(n - 1, 0)'])}"]
        own += [
            f"{place.replace('?', name)} = {self.stored(inner)} % 2"
            for place in self.places["int"]
            if "?" in place
        ]
        own += [f"{place}.{self.one(['add', 'discard'])}({name})" for place in self.places["ids"]]
        own += [f"{place}[{name}] = {self.stored(inner)}" for place in self.places["partial"]]
        own += [f"{place} = {place} | {{{self.stored(inner)}}}" for place in self.places["ints"]]
        own += [f"w_tot[{name}] = 1", f"w_tot[{name}] = n % 2"] if "tot" in self.held else []
        own += [f"w_deep[{name}] = {{n % 2}}"] if "deep" in self.held else []
        body = [
            f"{indent}    {self.one(own)}",
            *([f"{indent}    {self.one(own)}"] if self.chance() else []),
        ]
        if self.chance():
            body = [f"{indent}    if {test}:", *(f"    {line}" for line in body)]
        return [f"{indent}for {name} in {over}:", *body]

    def _owning(self, indent: str) -> list[str]:
        """Draw what is done with ids that `fresh` draws."""
        new = self.local("h")
        return list(self.one([
            [f"{indent}{new} = fresh(H)", f"{indent}w_owned[{new}] = {self.one(['0', 'n % 2'])}"],
            [f"{indent}w_last = fresh(H)"],
            [f"{indent}w_last = none", f"{indent}w_owned.clear()"],
            [f"{indent}w_last = {self.one(['pick_if_any', 'pick'])}(h for h in w_owned if w_owned[h] == n % 2)"],
            [f"{indent}if w_last in w_owned:", f"{indent}    del w_owned[w_last]"],
            [f"{indent}w_owned = {{h: 1 - w_owned[h] for h in w_owned if h != w_last}}"],
        ]))  # fmt: skip

    # ----------------------------------------------------------------------------------- rows

    def row(self, on: str, scope: Scope, **given: Any) -> None:
        """Draw a row; one that takes something may be rejected."""
        if not given.get("last") and not given.get("plain") and self.chance(6):
            told = "reject()"
            if on.startswith("on: line") and "Ask" in on:
                told = self.one(["reject(Answer(n % 2))", "reject(reply(call, Answer(n % 2)))"])
            given["last"] = f"      if {self.expression('bool', scope, 1)}:\n          {told}"
        super().row(on, scope, **given)

    def _definitions(self) -> str:
        body = self.effects(self._with(self.scope, "int", "by"), 1, indent="        ", loops=False)
        stop = self.one(["return", "break"])
        climb = [
            "  climb(by, most): |", "    for i in range(3):", "        if i > most:",
            f"            {stop}", *body, "        n = (n + by) % 3",
        ]  # fmt: skip
        if any(word in "\n".join(body) for word in ("return", "climb", "pick")):
            climb = ["  climb(by, most): |", "    n = max(by, most) % 3"]
        parts = [
            "  with_parts(k, b):", "    let:", f"      one: {json.dumps(self.one(['k + 1', 'k * 2', 'k - n', '2 // (k + 1)']))}",
            "      two: one if b else n", "    is: two - one % 2", "  both(a, b): a and (b or n > 0)",
        ]  # fmt: skip
        head, _, rest = super()._definitions().partition("\n")
        return "\n".join([head, *parts, rest, *climb])

    def _askable(self) -> list[list[str]]:
        return [row for row in super()._askable() if "climb(" not in "\n".join(row)]

    def _asks(self, word: str, scope: Scope) -> str:
        """Also ask with what `on:` binds: whose it is, and the fields of what is taken."""
        rows = self._askable() if word == "enabled" else self.rows
        taking = [row for row in rows if any("[c]." in line or "(v)" in line for line in row[:2])]
        if not taking or not self.chance(3):
            return super()._asks(word, scope)
        row = self.one(taking)
        name = row[0].split()[-1]
        if "(v)" in row[1] and "append" in row[1]:
            return f"{word}({name}, v={self.expression('int', scope, 1)})"
        return f"any({word}({name}, c=z) for z in K)"


@st.composite
def further(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """A specification with what the other kinds leave out."""
    return FurtherDrawer(draw).text(grouped=True)
