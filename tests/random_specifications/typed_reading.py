"""Expressions over types of every kind: what can be read from a value, and what makes one."""

from __future__ import annotations

from .typed_kinds import BOOL, COLLECTIONS, ID, Kind, Kinds, Read, Scope

DEEP = 2
"""Steps from a name to what is read of it."""

RARELY = 14
"""One in so many reads is not guarded, or not kept within its place: it may be an error."""


class Reading(Kinds):
    """Draws expressions. None where there is no value of a type, as of ids without a name."""

    # -------------------------------------------------------------------------------- reading

    def read(self, scope: Scope) -> list[Read]:
        """Return all that can be read from some names in a few steps."""
        known = self._read.get(tuple(scope))
        if known is not None:
            return known
        last: list[Read] = [(text, kind, ()) for text, kind in scope]
        found = list(last)
        for _ in range(DEEP):
            last = [inner for one in last for inner in self.parts(one, scope)]
            found += last
        self._read[tuple(scope)] = found
        return found

    def parts(self, whole: Read, scope: Scope) -> list[Read]:
        """Return what can be read of a value, and as what else it can be read."""
        text, kind, guards = whole
        match kind:
            case ("optional", item):
                return [(text, item, (*guards, f"{text} is not none"))]
            case ("record", name):
                return [(f"{text}.{field}", part, guards) for field, part in self.records[name]]
            case ("union", name):
                parts = [(record, (*guards, f"{text} is {record}")) for record in self.unions[name]]
                fields = [
                    (f"{text}.{field}", part, asked)
                    for record, asked in parts
                    for field, part in self.records[record]
                ]
                return [*fields, *((text, ("record", record), asked) for record, asked in parts)]
            case ("sequence", item, _):
                places = (("0", 0), ("-1", 0), ("1", 1))
                return [
                    (f"{text}[{place}]", item, (*guards, f"len({text}) > {least}"))
                    for place, least in places
                ]
            case ("map" | "total" as word, key, held):
                keys = [name for name, known in scope if known == key] or self.values(key)
                at = [
                    (f"{text}[{name}]", held, (*guards, f"{name} in {text}"))
                    if word == "map"
                    else (f"{text}[{name}]", held, guards)
                    for name in keys[:2]
                ]
                full = (*guards, f"len({text}) == {self.size(key)}")
                return (
                    at
                    if word == "total" or key[0] == "optional"
                    else [*at, (text, ("total", key, held), full)]
                )
        return []

    def values(self, kind: Kind) -> list[str]:
        """Return constants of a type."""
        match kind:
            case ("bool",):
                return ["true", "false"]
            case ("range", low, high):
                some = {*range(low, min(low, high - 4) + 3), *range(max(low, high - 2), high + 1)}
                return [f"({value})" if value < 0 else str(value) for value in sorted(some)]
            case ("enum", name):
                return self.enums[name]
            case ("id",):
                return [] if self.symmetric else self.ids
            case ("optional", _):
                return ["none"]
            case ("set" | "map" | "sequence" | "bag", *_):
                return ["empty"]
        return []

    def domain(self, kind: Kind) -> str:
        """Return all values of a type that has a name, or few values."""
        match kind:
            case ("range", low, high):
                return f"range({low}, {high + 1})"
            case ("bool",):
                return "{false, true}"
        return self.shown(kind)

    def plain(self, kind: Kind, scope: Scope) -> str | None:
        """Draw what has a value in every state: a constant, a name, or what is made of these."""
        known = [text for text, one in scope if one == kind]
        if self.values(kind) or known:
            return str(self.one(self.values(kind) or known))
        match kind:
            case ("record", name):
                return self._made(name, [self.plain(part, scope) for _, part in self.records[name]])
            case ("union", name):
                made = [self.plain(("record", one), scope) for one in self.unions[name]]
                return next((one for one in made if one is not None), None)
            case ("total", key, held):
                name = self.local()
                value = self.plain(held, [*scope, (name, key)])
                return value and f"{{{name}: {value} for {name} in {self.domain(key)}}}"
        return None

    def _made(self, name: str, parts: list[str | None]) -> str | None:
        if None in parts or name in self.nameless:
            return None
        fields = [field for field, _ in self.records[name]]
        named = [f"{field}={part}" for field, part in zip(fields, parts, strict=True)]
        return f"{name}({', '.join(named)})"

    # ------------------------------------------------------------------------------ expressions

    def condition(self, scope: Scope, depth: int) -> str:
        return self.expression(BOOL, scope, depth) or "true"

    def expression(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        instead = self.plain(kind, scope)
        if self.chance():
            found = self._found(kind, scope, instead)
            if found is not None:
                return found
        if depth == 0 or self.chance(8):
            return instead
        made = getattr(self, f"_{kind[0]}")(kind, scope, depth - 1)
        return instead if made is None else str(made)

    def _found(self, kind: Kind, scope: Scope, instead: str | None) -> str | None:
        """Draw one of what can be read that is of a type, with an expression for where it is not."""
        wanted = (kind, kind[1]) if kind[0] == "optional" else (kind,)
        ranges = kind[0] == "range"
        hits = [
            one for one in self.read(scope) if one[1] in wanted or (ranges and one[1][0] == "range")
        ]
        if not hits:
            return None
        text, of, guards = self.one(hits)
        if ranges and not (kind[1] <= of[1] and of[2] <= kind[2]):
            text = self._within(kind, text)
        if not guards or instead is None or self.chance(RARELY):
            return str(text)
        return f"({text} if {' and '.join(guards)} else {instead})"

    def _within(self, kind: Kind, text: str) -> str:
        return text if self.chance(RARELY) else f"min(max({text}, {kind[1]}), {kind[2]})"

    def choice(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        first, second = (self.expression(kind, scope, depth) for _ in range(2))
        if first is None or second is None:
            return None
        return f"({first} if {self.condition(scope, depth)} else {second})"

    def collection(self, scope: Scope) -> tuple[str, Kind]:
        """Draw what a `for` runs over, and the type of what it finds."""
        known = [one for one in self.read(scope) if one[1][0] in COLLECTIONS]
        if known and self.chance():
            text, kind, guards = self.one(known)
            if guards and kind[0] != "total":
                return f"({text} if {' and '.join(guards)} else empty)", kind[1]
            if not guards:
                return text, kind[1]
        of = self.one((ID, ("range", 0, 2), ("enum", "Hue"), BOOL))
        return self.domain(of), of

    def each(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        """Draw the inside of a comprehension."""
        domain, of = self.collection(scope)
        name = self.local()
        inner = [*scope, (name, of)]
        body = self.expression(kind, inner, depth)
        test = f" if {self.condition(inner, depth)}" if self.chance(3) else ""
        return body and f"{body} for {name} in {domain}{test}"

    def _bool(self, _kind: Kind, scope: Scope, depth: int) -> str | None:
        def part() -> str:
            return self.condition(scope, depth)

        forms = (
            lambda: f"({part()} {self.one(('and', 'or'))} {part()})",
            lambda: f"(not {part()})",
            lambda: f"implies({part()}, {part()})",
            lambda: self.choice(BOOL, scope, depth),
            lambda: (
                f"{self.one(('all', 'any'))}({self.each(BOOL, scope, depth) or 'true for x in K'})"
            ),
            lambda: self._asked(scope),
            lambda: self._compared(scope, depth),
            lambda: self._compared(scope, depth),
            lambda: self._held(scope, depth),
            lambda: self._counted(scope, depth),
        )
        return self.one(forms)()  # type: ignore[no-any-return]

    def _asked(self, scope: Scope) -> str | None:
        """Draw `x is none`, `x is R0`."""
        found = [one for one in self.read(scope) if one[1][0] in ("optional", "union")]
        if not found:
            return None
        text, kind, guards = self.one(found)
        words = ["none"] if kind[0] == "optional" else self.unions[kind[1]]
        asked = f"{text} is {self.one(('', 'not '))}{self.one(words)}"
        return f"({' and '.join((*guards, asked))})"

    def _compared(self, scope: Scope, depth: int) -> str | None:
        found = self.read(scope)
        if not found:
            return None
        text, kind, guards = self.one(found)
        wider = ("range", kind[1] - 1, kind[2] + 1) if kind[0] == "range" else kind
        other = self.expression(wider, scope, depth)
        if other is None:
            return None
        signs = ["==", "!="]
        if kind[0] in ("range", "enum", "set") or (kind == ID and not self.symmetric):
            signs += ["<", "<="]
        pair = (text, other) if self.chance() else (other, text)
        return f"({' and '.join((*guards, f'{pair[0]} {self.one(signs)} {pair[1]}'))})"

    def _held(self, scope: Scope, depth: int) -> str | None:
        domain, of = self.collection(scope)
        item = self.expression(self.wider(of), scope, depth)
        return item and f"({item} {self.one(('in', 'not in'))} {domain})"

    def wider(self, kind: Kind) -> Kind:
        """Draw a type that what is looked for among values of another one may have."""
        unions = [name for name, kinds in self.unions.items() if kind[-1] in kinds]
        if kind[0] == "record" and unions and self.chance(3):
            return ("union", self.one(unions))
        if kind[0] == "total" and self.chance(3):
            return ("map", *kind[1:])
        return kind if kind[0] == "optional" or not self.chance(4) else ("optional", kind)

    def _counted(self, scope: Scope, depth: int) -> str | None:
        found = [one for one in self.read(scope) if one[1][0] in COLLECTIONS]
        if not found:
            return None
        text, kind, guards = self.one(found)
        often = f"len({text})"
        if kind[0] in ("sequence", "bag") and self.chance():
            item = self.expression(kind[1], scope, depth)
            often = often if item is None else f"{text}.count({item})"
        compared = f"{often} {self.one(('>', '==', '<'))} {self.number(0, 2)}"
        return f"({' and '.join((*guards, compared))})"

    def _range(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        def part() -> str | None:
            return self.expression(("range", *self.one(((0, 2), (-1, 1), (0, 3)))), scope, depth)

        def several(word: str) -> str:
            each = self.each(("range", 0, 2), scope, depth) or "1 for x in K"
            return f"sum({each})" if word == "sum" else f"{word}(({each}), default={part()})"

        forms = (
            lambda: f"({part()} {self.one('+-*')} {part()})",
            lambda: f"({part()} {self.one(('//', '%'))} {self.one(('2', '(-2)', '3'))})",
            lambda: f"{self.one(('min', 'max'))}({part()}, {part()})",
            lambda: f"abs({part()})",
            lambda: f"len({self.collection(scope)[0]})",
            lambda: several(self.one(("sum", "min", "max", "least"))),
            lambda: self.choice(kind, scope, depth),
        )
        made = self.one(forms)()
        return made and self._within(kind, made)

    def _enum(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        each = self.each(kind, scope, depth) if self.chance() else None
        if each is None or (kind == ID and self.symmetric):
            return self.choice(kind, scope, depth)
        return f"{self.one(('least', 'min', 'max'))}(({each}), default={self.values(kind)[0]})"

    _id = _enum
    _bag = choice

    def _optional(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        if self.chance(3):
            return self.choice(kind, scope, depth)
        return self.expression(kind[1], scope, depth)

    def _record(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        fields = self.records[kind[1]]
        known = [text for text, one, guards in self.read(scope) if one == kind and not guards]
        if known and fields and self.chance(3):
            field, part = self.one(fields)
            value = self.expression(part, scope, depth)
            return value and f"replace({self.one(known)}, {field}={value})"
        return self._made(kind[1], [self.expression(part, scope, depth) for _, part in fields])

    def _union(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        if self.chance(3):
            return self.choice(kind, scope, depth)
        return self.expression(("record", self.one(self.unions[kind[1]])), scope, depth)

    def _set(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        item = kind[1]
        match self.one(("display", "each", "both", "choice", "all")):
            case "display":
                parts = [self.expression(item, scope, depth) for _ in range(self.number(1, 2))]
                return None if None in parts else f"{{{', '.join(map(str, parts))}}}"
            case "each":
                each = self.each(item, scope, depth)
                return each and f"{{{each}}}"
            case "both":
                pair = [self.expression(kind, scope, depth) for _ in range(2)]
                return f"({pair[0]} {self.one('|&-^')} {pair[1]})"
            case "all" if item[0] not in ("optional", "union"):
                return self.domain(item)
        return self.choice(kind, scope, depth)

    def _map(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        _, key, held = kind
        if self.chance(3):
            one, value = self.expression(key, scope, depth), self.expression(held, scope, depth)
            return one and value and f"{{{one}: {value}}}"
        if self.chance(4):
            return self.choice(kind, scope, depth)
        name = self.local()
        inner = [*scope, (name, key)]
        value = self.expression(held, inner, depth)
        known = [
            text
            for text, one, guards in self.read(scope)
            if one[0] in COLLECTIONS and one[1] == key and not guards
        ]
        domains = [*known, *([] if key[0] == "optional" else [self.domain(key)])]
        if value is None or not domains:
            return None
        test = f" if {self.condition(inner, depth)}" if self.chance() else ""
        return f"{{{name}: {value} for {name} in {self.one(domains)}{test}}}"

    def _total(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        name = self.local()
        value = self.expression(kind[2], [*scope, (name, kind[1])], depth)
        return value and f"{{{name}: {value} for {name} in {self.domain(kind[1])}}}"

    def _sequence(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        known = [text for text, one, guards in self.read(scope) if one == kind and not guards]
        match self.one(("display", "choice", *(("slice", "both", "each") if known else ()))):
            case "slice":
                return f"{self.one(known)}{self.one(('[1:]', '[:-1]', '[:1]'))}"
            case "both":
                item = self.expression(kind[1], scope, depth)
                return item and f"({self.one(known)} + [{item}])[:{kind[2]}]"
            case "each":
                name = self.local()
                inner = [*scope, (name, kind[1])]
                item = self.expression(kind[1], inner, depth)
                test = f" if {self.condition(inner, depth)}" if self.chance() else ""
                return item and f"[{item} for {name} in {self.one(known)}{test}]"
            case "display":
                item = self.expression(kind[1], scope, depth)
                return item and f"[{item}]"
        return self.choice(kind, scope, depth)
