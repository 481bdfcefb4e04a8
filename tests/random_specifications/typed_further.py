"""Draws what is done with types of every kind: definitions, procedures, traffic, constants.

What has parameters, fields or captures takes them of any type here, and is given expressions of
any form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from .typed import Typed
from .typed_kinds import BOOL, COLLECTIONS, ID, Kind, Scope
from .typed_reading import RARELY


class TypedFurther(Typed):
    """Draws one specification."""

    small_size = 60
    """Values of what is chosen, or kept in a channel for good."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        super().__init__(draw)
        self.constants = self._constants()
        self.contents: dict[str, tuple[Kind, bool]] = {}
        """What channels, operations and timers hold, and whether there is one for each id."""
        self.on_the_way: dict[str, tuple[Kind, bool]] = {}
        """Requests and answers of calls, by what is written before whose they are."""
        self.captures: dict[str, Scope] = {}
        """What operations and timers remember."""
        self.definitions: list[tuple[str, list[Kind], Kind]] = []
        self.procedures: list[tuple[str, list[Kind]]] = []
        self.outcomes: tuple[str, ...] = ("ok", "bad")
        """How operations end."""
        self.bindings: dict[str, Scope] = {}
        """By the name of a row, what it binds."""
        for number in range(self.number(0, 2)):
            self.records[f"M{number}"] = self._parts(f"m{number}")
            self.messages.append(f"M{number}")
        if len(self.messages) > 1:
            self.unions["Carried"] = self.messages
            self.nameless.add("Carried")

    def _parts(self, stem: str) -> Scope:
        parts = [(f"{stem}{place}", self.type(1)) for place in range(self.number(0, 2))]
        return [
            (name, kind if self.size(kind) <= 4 * self.longest else self.small())
            for name, kind in parts
        ]

    def shown(self, kind: Kind) -> str:
        if kind == ("union", "Carried"):
            return " or ".join(self.messages)
        return super().shown(kind)

    def holds_ids(self, kind: Kind) -> bool:
        """Whether a value of a type holds an id."""
        match kind:
            case ("record", name):
                return any(self.holds_ids(part) for _, part in self.records[name])
            case ("union", name):
                return any(self.holds_ids(("record", one)) for one in self.unions[name])
        return kind == ID or any(isinstance(one, tuple) and self.holds_ids(one) for one in kind)

    # --------------------------------------------------------------------------- expressions

    def places(self, bound: Scope) -> Scope:
        calls = [(f"{text})", kind) for text, kind in self._named(self.on_the_way, bound)]
        return [
            *super().places(bound),
            *self._named(self.contents, bound),
            *calls,
            *self.constants,
        ]

    def expression(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        if depth and self.chance(5):
            made = self.one((self._defined, self._gotten, self._least))(kind, scope, depth - 1)
            if made is not None:
                return str(made)
        return super().expression(kind, scope, depth)

    def _given(self, kinds: list[Kind], scope: Scope, depth: int) -> str | None:
        """Draw what parameters are given. They take the types of what that is."""
        parts = [self.expression(kind, scope, depth) for kind in kinds]
        vague = ("none", "empty")
        if any(part is None or (part in vague and not self.chance(RARELY)) for part in parts):
            return None
        return ", ".join(map(str, parts))

    def _defined(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        wanted = (kind, kind[1]) if kind[0] == "optional" else (kind,)
        known = [one for one in self.definitions if one[2] in wanted]
        if not known:
            return None
        name, kinds, _ = self.one(known)
        given = self._given(kinds, scope, depth)
        return None if given is None else f"{name}({given})"

    def _gotten(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        """Draw what a map has, or something else in its place, or all that a relation leads to."""
        if kind[0] == "map" and kind[2] == ("set", kind[1]) and self.chance():
            known = [text for text, one, guards in self.read(scope) if one == kind and not guards]
            return f"closure({self.one(known)})" if known else None
        maps = [
            (text, one)
            for text, one, guards in self.read(scope)
            if one[0] == "map" and not guards and one[2] == kind
        ]
        if kind[0] == "set":
            keys = [
                text
                for text, one, guards in self.read(scope)
                if one[0] in ("map", "total") and one[1] == kind[1] and not guards
            ]
            if keys and self.chance():
                return f"{self.one(keys)}.keys()"
        if not maps:
            return None
        text, one = self.one(maps)
        key = self.expression(self.wider(one[1]), scope, depth)
        instead = self.expression(kind, scope, depth)
        return None if key is None or instead is None else f"{text}.get({key}, {instead})"

    def _least(self, kind: Kind, scope: Scope, depth: int) -> str | None:
        """Draw the first of some values, or the first of those of which something is least."""
        if self.size(kind) > self.small_size or (self.symmetric and self.holds_ids(kind)):
            return None
        domain, of = self.collection(scope)
        name = self.local()
        inner = [*scope, (name, of)]
        value = self.expression(kind, inner, depth)
        instead = self.plain(kind, scope)
        if value is None or instead is None:
            return None
        test = f" if {self.condition(inner, depth)}" if self.chance() else ""
        by = f", by={self.expression(('range', 0, 2), inner, depth)}" if self.chance() else ""
        return f"least(({value} for {name} in {domain}{test}){by}, default={instead})"

    # ------------------------------------------------------------------------------- effects

    def effect(self, scope: Scope, indent: str, depth: int = 2) -> list[str]:
        if not self.chance(3):
            return super().effect(scope, indent, depth)
        forms = (self._called_procedure, self._traffic, self._drawn, self._left)
        return self.one(forms)(scope, indent) or super().effect(scope, indent, depth)  # type: ignore[no-any-return]

    def _called_procedure(self, scope: Scope, indent: str) -> list[str]:
        if not self.procedures:
            return []
        name, kinds = self.one(self.procedures)
        given = self._given(kinds, scope, 2)
        return [] if given is None else [f"{indent}{name}({given})"]

    def _left(self, scope: Scope, indent: str) -> list[str]:
        test = self.condition(scope, 2)
        if self.chance():
            return [f"{indent}require({test})"]
        return [f"{indent}if {test}:", f"{indent}  return"]

    def _drawn(self, scope: Scope, indent: str) -> list[str]:
        """Draw a local that is chosen: a fresh id, or any of several values."""
        name = self.local()
        if self.chance():
            scope.append((name, ID))
            return [f"{indent}{name} = fresh(K)"]
        of = self.type(1)
        some = self.expression(("set", of), scope, 2) if self.size(of) <= self.small_size else None
        if some is None or "empty" in some or of[0] in COLLECTIONS:
            return []
        scope.append((name, of))
        return [f"{indent}{name} = {self.one(('pick', 'pick_if_any', 'pick_if_any'))}({some})"]

    def _traffic(self, scope: Scope, indent: str) -> list[str]:
        bound = [(text, kind) for text, kind in scope if text.isidentifier()]
        client = self._named({"ask": (BOOL, True)}, bound) if self.asked else []
        if client and self.chance(3):
            message = self.expression(("record", self.messages[0]), scope, 2)
            whose = client[0][0]
            return [
                f"{indent}close({whose})" if self.chance(4) else f"{indent}call({whose}, {message})"
            ]
        known = self._named(self.contents, bound)
        if not known:
            return []
        place, (_, item, *_) = self.one(known)
        name = place.partition("[")[0]
        if name == "line":
            message = self.expression(item, scope, 2)
            clear = [f"{indent}{place}.clear()"] if self.chance(5) else []
            return clear or ([] if message is None else [f"{indent}send({place}, {message})"])
        named = self.captures[name]
        if name == "bell" and self.chance(3):
            some = [one for one in named if self.chance()]
            return [f"{indent}cancel({place}{self._remembered(some, scope) or ''})"]
        given = self._remembered(named, scope)
        word = "arm" if name == "bell" else "start"
        return [] if given is None else [f"{indent}{word}({place}{given})"]

    def _remembered(self, captures: Scope, scope: Scope) -> str | None:
        parts = [self.expression(kind, scope, 2) for _, kind in captures]
        if None in parts:
            return None
        named = (f"{name}={part}" for (name, _), part in zip(captures, parts, strict=True))
        return f"({', '.join(named)})"

    # ------------------------------------------------------------------------------ sections

    def _constants(self) -> Scope:
        """Draw what constants are called, and their types: an integer, a truth, data."""
        kinds: list[Kind] = [("range", 2, 2), BOOL, self.type(self.number(1, 2))]
        named = zip(("most", "flag", "data"), kinds, strict=True)
        return [
            one
            for one in named
            if self.chance() and not (self.symmetric and self.holds_ids(one[1]))
        ]

    def declared(self) -> list[str]:
        first, ids, *rest = super().declared()
        constants = []
        for name, kind in self.constants:
            value = "2" if name == "most" else self.plain(kind, [])
            told = f'{{type: "{self.shown(kind)}", value: "{value}"}}' if name == "data" else value
            constants.append(f"  {name}: {told}")
        sent = [f"  {name}: {{{self.fields(name)}}}" for name in self.messages]
        return [first, ids, *constants, *rest, *(["messages:", *sent] if sent else [])]

    def further(self) -> list[str]:
        lines = self._channels() + self._calls() + self._operations() + self._timers()
        definitions = [line for n in range(self.number(0, 2)) for line in self._definition(n)]
        procedures = [line for n in range(self.number(0, 2)) for line in self._procedure(n)]
        return [
            *lines,
            *(["definitions:", *definitions] if definitions else []),
            *(["procedures:", *procedures] if procedures else []),
            *([f'bounds: ["{self.condition(self.places([]), 2)}"]'] if self.chance(8) else []),
        ]

    def called(self, number: int, *, per: bool) -> str:
        return f"node.v{number}" if per and self.chance() else f"v{number}"

    def written(self, initials: dict[str, str]) -> list[str]:
        own = {name: first for name, first in initials.items() if "." not in name}
        members = [
            "    " + self.variable(name, first).replace("node.", "").replace(", per: K}", "}")
            for name, first in initials.items()
            if "." in name
        ]
        node = ["components:", "  node:", "    per: K", "    variables:", *members]
        return [*(node if members else []), *super().written(own)]

    def _channels(self) -> list[str]:
        if not self.messages or self.chance(3):
            return []
        item = ("union", "Carried") if len(self.messages) > 1 else ("record", self.messages[0])
        order = self.one(
            ("bag", "fifo", *(["retained"] if self.size(item) <= self.small_size else ()))
        )
        kinds = {"bag": ("bag", item, 2), "fifo": ("sequence", item, 2), "retained": ("set", item)}
        per = self.chance()
        self.contents["line"] = (kinds[order], per)
        capacity = "" if order == "retained" else ', capacity: "2"'
        faults = {"bag": ("loses", "duplicates"), "fifo": ("loses", "duplicates", "reorders")}
        disturbed = "".join(
            f', {word}: "{self.number(0, 1)}"'
            for word in faults.get(order, ("loses",))
            if self.chance(4)
        )
        full = "" if order == "retained" else f", when_full: {self.one(('block', 'drop', 'error'))}"
        said = f"carries: [{', '.join(self.messages)}], order: {order}{capacity}{disturbed}{full}"
        return ["channels:", f"  line: {{{said}{', per: K' if per else ''}}}"]

    def _calls(self) -> list[str]:
        """Draw calls that ask with the first message and are answered with the last."""
        self.asked = bool(self.messages) and self.chance(3)
        if not self.asked:
            return []
        asked, answered = (("sequence", ("record", self.messages[one]), 1) for one in (0, -1))
        for name, kind in (("requests", asked), ("responses", answered)):
            self.on_the_way[f"{name}(ask"] = (kind, True)
        said = f"requests: [{self.messages[0]}], responses: [{self.messages[-1]}]"
        return ["calls:", f'  ask: {{per: K, {said}, capacity: "1"}}']

    def _captured(self, name: str) -> tuple[str, bool]:
        self.captures[name] = self._parts(name[0])
        self.records[name] = self.captures[name]
        self.nameless.add(name)
        per = self.chance()
        said = ", ".join(f'{part}: "{self.shown(kind)}"' for part, kind in self.captures[name])
        return (f"captures: {{{said}}}, " if said else ""), per

    def _operations(self) -> list[str]:
        if not self.chance(3):
            return []
        captures, per = self._captured("work")
        order = self.one(("any", "fifo"))
        self.contents["work"] = (
            ("sequence" if order == "fifo" else "bag", ("record", "work"), 2),
            per,
        )
        # What is said to be bad may come all the same, later.
        bad = self.one(("", "late: true", "fault: broken", "fault: broken, late: true"))
        if "late" in bad:
            self.outcomes = ("ok", "bad", "late_ok")
        said = f'{captures}capacity: "2", order: {order}, outcomes: {{ok: {{}}, bad: {{{bad}}}}}'
        budget = self.one(('"0"', '"1"', "unlimited"))
        faults = ["faults:", f"  broken: {{budget: {budget}}}"]
        return [
            "operations:",
            f"  work: {{{said}{', per: K' if per else ''}}}",
            *(faults if "fault" in bad else []),
        ]

    def _timers(self) -> list[str]:
        if not self.chance(3):
            return []
        captures, per = self._captured("bell")
        self.contents["bell"] = (("bag", ("record", "bell"), 2), per)
        how = self.one(("when_armed: replace", 'capacity: "2", when_armed: add'))
        if self.chance(3):
            how += f', late_cancels: "{self.number(0, 2)}"'
        said = f"about: Drawn., {captures}{how}"
        return ["timers:", f"  bell: {{{said}{', per: K' if per else ''}}}"]

    def _parameters(self) -> Scope:
        kinds = [self.type(self.number(0, 2)) for _ in range(self.number(0, 2))]
        return [(f"p{place}", kind) for place, kind in enumerate(kinds)]

    def _lets(self, scope: Scope) -> list[str]:
        """Draw names for parts, which are added to the scope; return the lines below `let:`."""
        lines = []
        for place in range(self.number(0, 1)):
            of = self.type(1)
            part = self.expression(of, scope, 2)
            if part is not None and part not in ("none", "empty"):
                scope.append((f"y{place}", of))
                lines.append(f'      y{place}: "{part}"')
        return lines

    def _definition(self, number: int) -> list[str]:
        parameters = self._parameters()
        scope = [*self.places(parameters), *parameters]
        result = self.type(self.number(0, 2)) if self.chance() else BOOL
        lets = self._lets(scope)
        body = self.expression(result, scope, 3)
        if body is None:
            return []
        self.definitions.append((f"d{number}", [kind for _, kind in parameters], result))
        head = f"  d{number}({', '.join(name for name, _ in parameters)}):"
        return [head, "    let:", *lets, f'    is: "{body}"'] if lets else [f'{head} "{body}"']

    def _procedure(self, number: int) -> list[str]:
        parameters = self._parameters()
        body = self.block([*self.places(parameters), *parameters], "    ", 1)
        self.procedures.append((f"q{number}", [kind for _, kind in parameters]))
        return [f"  q{number}({', '.join(name for name, _ in parameters)}): |", *body]

    # ---------------------------------------------------------------------- rows and properties

    def row(self, number: int) -> list[str]:
        taken_from = [*self.contents, *(["ask"] if self.asked else [])]
        if not taken_from or not self.chance():
            return self._spontaneous(number)
        name = self.one(taken_from)
        _, per = self.contents.get(name, (BOOL, True))
        match name:
            case "ask":
                what = self.messages[self.one((0, 0, -1))]
                fields = self.records[what]
            case "work":
                what, fields = self.one(self.outcomes), self.captures["work"]
            case "bell":
                what, fields = "expired", self.captures["bell"]
            case _:
                what = self.one(self.messages)
                fields = self.records[what]
        bound: Scope = [("k", ID)] if per else []
        arguments, compared = [], self.places(bound)
        for place, (_, kind) in enumerate(fields[: self.number(0, len(fields))]):
            match self.one(("bound", "bound", "skipped", "compared")):
                case "bound":
                    arguments.append(f"a{place}")
                    bound.append((f"a{place}", kind))
                case "skipped":
                    arguments.append("_")
                case _:
                    value = self.expression(kind, [*compared, *bound], 1)
                    named = {text for text, _ in [*compared, *bound]}
                    arguments.append("_" if value is None or value in named else value)
        taken = f"{name}{'[k]' if per else ''}.{what}({', '.join(arguments)})"
        on = taken.removesuffix("()") if self.chance() else taken
        more: Scope = [] if per or not self.symmetric else [("k", ID)]
        self.bindings[f"row{number}"] = [*bound, *more]
        if name == "line":
            bound.append(("message", ("record", what)))
        scope = [*self.places([*bound, *more]), *bound, *more]
        lines = self.steps(scope)
        if name == "ask" and what == self.messages[0] and not self.chance(4):
            answer = self.expression(("record", self.messages[-1]), scope, 2)
            word = self.one(("reply(call, ", "reply(call, ", "reject("))
            lines.append(f"      {word}{answer})")
        return [f"  - row: row{number}", f'    on: "{on}"', *self.said(more), *lines]

    def _spontaneous(self, number: int) -> list[str]:
        bound = self.bound()
        said = [f'{name}: "{self.shown(kind)}"' for name, kind in bound]
        for name in ("b", "c")[: self.number(0, 2)]:
            kind = self.type(1)
            domain: str | None = self.shown(kind)
            if self.chance(3) and kind[0] not in COLLECTIONS:
                domain = self.expression(("set", kind), [*self.places(bound), *bound], 2)
            if self.size(kind) <= 6 and domain is not None and domain != "empty":
                bound.append((name, kind))
                said.append(f'{name}: "{domain}"')
        self.bindings[f"row{number}"] = bound
        scope = [*self.places(bound), *bound]
        lets = self._lets(scope)
        return [
            f"  - row: row{number}",
            *([f"    for: {{{', '.join(said)}}}"] if said else []),
            *(["    let:", *lets] if lets else []),
            *self.steps(scope),
        ]

    def claimed(self, kind: str, scope: Scope) -> str:
        if kind != "step":
            return super().claimed(kind, scope)
        own = {name.partition(".")[0] for name in (*self.variables, *self.contents)}
        places = [one for one in scope if one[0].partition("[")[0].partition(".")[0] in own]
        after = [(f"next({text})", of) for text, of in places]
        return f"(next(clock) == clock or {self.condition([*scope, *after], 3)})"


@st.composite
def typed_further(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """A system of one file over nested types, with what takes, keeps and gives values of them."""
    return TypedFurther(draw).text()


class Wide(TypedFurther):
    """Draws types of many values: sets of several words, long sequences, integers of forty bits."""

    ranges = ((0, 1), (0, 2), (0, 63), (0, 64), (-1, 130), (-70, -5), (-(2**39), 2**38))
    id_counts = (2, 3, 9, 66)
    hues = tuple(f"hue{number}" for number in range(67))
    few = 140
    longest = 9
    largest = 10**300
    small_size = 600

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        super().__init__(draw)
        if self.symmetric:
            self.ids = self.ids[:3]


@st.composite
def typed_wide(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """The same over types of many values."""
    return Wide(draw).text()


class Alike(TypedFurther):
    """Draws interchangeable ids, more of them, in most types."""

    alike = True
    id_counts = (3, 3, 4)
    rows = (2, 4)
    claim_kinds = ("sometimes", "sometimes", "step")

    def small(self) -> Kind:
        return super().small() if self.chance(3) else ID


@st.composite
def typed_alike(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """The same over types that hold interchangeable ids."""
    return Alike(draw).text()
