"""Reads a specification's text into a Model, by the manual's words; for these tests alone."""

from __future__ import annotations

import ast
import copy
import re
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from .composition import SHIPPED, found_at, joined, texts_of, whole
from .values import UP_TO, Ranks, Type, all_of, bare, fit, split_of


def parse(text: Any) -> ast.expr:
    return ast.parse(f"({text}\n)", mode="eval").body


def _head(text: Any) -> tuple[str, list[str]]:
    """Return the name and the parameters of what is declared."""
    match parse(text):
        case ast.Call(ast.Name(name), arguments):
            return name, [item.id for item in arguments if isinstance(item, ast.Name)]
        case ast.Name(name):
            return name, []
    raise ValueError(text)


def effects(text: Any) -> list[ast.stmt]:
    return ast.parse(str(text)).body


PLAIN = (
    "always", "step", "sometimes", "eventually", "always_eventually", "eventually_always", "ltl",
)  # fmt: skip
"""Kinds of properties that are written as one condition or formula."""


def _sides(text: str) -> tuple[str, str]:
    """Return what stands before and behind the ` to ` of a map, outside of parentheses."""
    for found in re.finditer(r"(?<! up) to ", text):
        before = text[: found.start()]
        if before.count("(") == before.count(")"):
            return before, text[found.end() :]
    raise ValueError(text)


Mapping = dict[str, tuple[list[str], ast.expr]]
"""Of variables of a coarse system, the names in their brackets and what they are."""


@dataclass
class Row:
    """A row as it is written, or one that the language generates (then `special` makes it)."""

    name: str
    on: ast.expr | None = None
    binders: list[tuple[str, Any]] = field(default_factory=list)
    inside: list[tuple[ast.expr, list[str]]] = field(default_factory=list)
    lets: list[tuple[str, ast.expr]] = field(default_factory=list)
    when: ast.expr | None = None
    do: list[ast.stmt] = field(default_factory=list)
    to: list[tuple[ast.expr, str]] = field(default_factory=list)
    send: list[ast.expr] = field(default_factory=list)
    fault: str | None = None
    fair: str = "none"
    special: tuple[str, str] | None = None


@dataclass(frozen=True)
class Group:
    """Rows to which fairness is promised together; without `rows` it is all that are no fault."""

    name: str
    rows: frozenset[str] | None
    per: tuple[str, ...]
    fair: str

    def promises(self, row: Row) -> bool:
        """Whether the promise is about a row."""
        own = self.rows is None or row.name in self.rows
        return self.fair != "none" and own and not (row.fault or row.special)


@dataclass
class Model:
    """Everything that a specification says, with its constants replaced."""

    constants: dict[str, Any] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    symmetric: list[str] = field(default_factory=list)
    messages: dict[str, tuple[tuple[str, Type], ...]] = field(default_factory=dict)
    variables: dict[str, Type] = field(default_factory=dict)
    keys: dict[str, list[Type]] = field(default_factory=dict)
    initials: dict[str, ast.expr | Any] = field(default_factory=dict)
    machines: dict[str, str] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    components: dict[str, Type | None] = field(default_factory=dict)
    channels: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    operations: dict[str, dict[str, Any]] = field(default_factory=dict)
    timers: dict[str, dict[str, Any]] = field(default_factory=dict)
    budgets: dict[str, int | None] = field(default_factory=dict)
    definitions: dict[str, tuple[list[str], list[tuple[str, ast.expr]], ast.expr]] = field(
        default_factory=dict
    )
    procedures: dict[str, tuple[list[str], list[ast.stmt]]] = field(default_factory=dict)
    initial: Row | None = None
    rows: list[Row] = field(default_factory=list)
    bounds: list[ast.expr] = field(default_factory=list)
    terminal: list[ast.expr] = field(default_factory=list)
    step_bounds: list[ast.expr] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    properties: list[tuple[str, str, ast.expr, ast.expr | None]] = field(default_factory=list)
    initially: dict[str, ast.expr] = field(default_factory=dict)
    within_bounds: set[str] = field(default_factory=set)
    refinements: dict[str, tuple[Model, Mapping]] = field(default_factory=dict)
    deadlock: bool = True
    until: str | None = None
    """The property whose violation ends the search; None: any."""
    ranks: Ranks = field(default_factory=Ranks)


class _Put(ast.NodeTransformer):
    """Puts an id in the place of a name."""

    def __init__(self, name: str, value: str) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.value, node.ctx) if node.id == self.name else node


class Reader:
    """One reading of one text."""

    def __init__(
        self, folder: Path, text: str, instance: str, settings: dict[str, Any] | None = None
    ) -> None:
        self.folder = folder
        self.data = joined(whole(texts_of(text, folder).values()), folder)
        chosen = self.data.get("instances", {}).get(instance, {})
        self.chosen = chosen
        self.settings = chosen.get("set", {}) | (settings or {})
        self.model = Model()
        self.declared: dict[str, Any] = {}
        """Types and messages that nobody has asked for yet."""
        self.tabulated: dict[str, tuple[str, Any]] = {}
        """Constants of declared types, with what they are."""

    def read(self) -> Model:
        self._constants()
        self._types()
        self._state()
        self._traffic()
        self._behaviour()
        return self.model

    # -------------------------------------------------------------------------- declarations

    def constant(self, text: Any) -> Any:
        from .evaluation import Scope, evaluate  # noqa: PLC0415

        if isinstance(text, bool | int):
            return text
        return evaluate(parse(text), Scope(self.model, {}))

    def fair(self, said: str) -> str:
        """Return a kind of fairness, which constants may decide."""
        return self.constant(said) or "none"

    def _constants(self) -> None:
        model = self.model
        for name, entry in self.data.get("constants", {}).items():
            given = self.settings.get(name)
            if isinstance(entry, dict) and "ids" in entry:
                ids = entry["ids"] if given is None else given
                prefix = entry.get("prefix", name.lower())
                members = ids if isinstance(ids, list) else [f"{prefix}{i + 1}" for i in range(ids)]
                model.types[name] = ("enum", tuple(members))
                model.ranks.add(members)
                if entry.get("symmetric"):
                    model.symmetric.append(name)
            else:
                value = entry["value"] if isinstance(entry, dict) else entry
                if isinstance(entry, dict) and "type" in entry:
                    self.tabulated[name] = (entry["type"], value if given is None else given)
                else:
                    model.constants[name] = self.constant(value if given is None else given)

    def _types(self) -> None:
        model = self.model
        for name, said in self.data.get("types", {}).items():
            if isinstance(said, dict):
                model.ranks.add([name])
            self.declared[name] = said
        for name, fields in self.data.get("messages", {}).items():
            model.ranks.add([name])
            self.declared[name] = {"fields": fields}
        for name in [*self.declared]:
            self._named(name)
        for name, (kind, value) in self.tabulated.items():
            model.constants[name] = fit(self.type(kind), self.constant(value), model.ranks)

    def _named(self, name: str) -> Type:
        """Return the type of this name: one may be declared before what it is made of."""
        model = self.model
        said = self.declared.pop(name, None)
        if said is None:
            if name in model.messages:
                return self.union([name])
            if name not in model.types:
                self._table(name)
        elif isinstance(said, dict):
            # A record is a message that nobody sends.
            fields = (said["fields"] or {}).items()
            model.messages[name] = tuple((f, self.type(kind)) for f, kind in fields)
            return self.union([name])
        elif str(said).startswith("one of "):
            members = [word.strip() for word in str(said)[7:].split(",")]
            model.types[name] = ("enum", tuple(members))
            model.ranks.add(members)
        else:
            model.types[name] = self.type(said)
        return model.types[name]

    def type(self, text: Any) -> Type:
        text = str(text).strip()
        parts = split_of(text)
        if parts is not None:
            return self._of(*parts)
        if text.startswith("(") and text.endswith(")"):
            return self.type(text[1:-1])
        if text.startswith("handle of "):
            entry = self.data["calls"][text[10:]]
            slots = ("range", 0, self.constant(entry["capacity"]) - 1)
            name = text[10:]
            fields = (
                ("client", self.type(entry["per"])),
                ("slot", slots),
                ("of", ("enum", (name,))),
            )
            return ("msg", (("handle", fields),))
        if ".." in text:
            low, high = text.split("..")
            return ("range", self.constant(low), self.constant(high))
        if text == "bool":
            return ("bool",)
        if " or " in text:
            return self.union(text.split(" or "))
        return self._named(text)

    def _of(self, head: str, rest: str) -> Type:
        match head:
            case "optional":
                return ("opt", self.type(rest))
            case "set of":
                return ("set", self.type(rest))
            case "map of" | "total map of":
                key, value = _sides(rest)
                return ("map", self.type(key), self.type(value), head.startswith("total"))
        found = UP_TO.match(rest)
        assert found is not None
        kind = "seq" if head == "sequence of" else "bag"
        return (kind, self.type(found.group(1)), self.constant(found.group(2)))

    def union(self, words: list[str]) -> Type:
        for name in words:
            if name in self.declared:
                self._named(name)
        known = self.model.ranks.ordered([name for name in self.model.messages if name in words])
        return ("msg", tuple((name, self.model.messages[name]) for name in known))

    # --------------------------------------------------------------------------------- state

    def _state(self) -> None:
        for name, entry in self.data.get("components", {}).items():
            per = self.type(entry["per"]) if "per" in entry else None
            self.model.components[name] = per
            self._members(f"{name}.", [] if per is None else [per], entry)
        self._members("", [], self.data)

    def _members(self, prefix: str, keys: list[Type], section: dict[str, Any]) -> None:
        for name, entry in section.get("machines", {}).items():
            table = self._table(entry["table"])
            own = [*keys, *([self.type(entry["per"])] if "per" in entry else [])]
            first = entry.get("initial") or next(
                state for state, said in table["states"].items() if said.get("initial")
            )
            kind = ("enum", tuple(table["states"]))
            self._add(prefix + name, kind, own, ast.Constant(first))
            self.model.machines[prefix + name] = entry["table"]
        for name, entry in section.get("variables", {}).items():
            own = [*keys, *([self.type(entry["per"])] if "per" in entry else [])]
            self._add(prefix + name, self.type(entry["type"]), own, parse(entry["initial"]))

    def _table(self, name: str) -> dict[str, Any]:
        if name not in self.model.tables:
            places = (
                self.folder,
                *self.folder.parents[:3],
                *(f / "tables" for f in self.folder.parents[:3]),
                SHIPPED / "tables",
            )
            files = (place / f"{name}.yaml" for place in places)
            read = (YAML(typ="safe", pure=True).load(f.read_text()) for f in files if f.is_file())
            table = next(said for said in read if "table" in said)
            self.model.tables[name] = table
            self.model.ranks.add(list(table["states"]))
            self.model.types[name] = ("enum", tuple(table["states"]))
        return self.model.tables[name]

    def _add(self, name: str, kind: Type, keys: list[Type], initial: Any) -> None:
        self.model.keys[name] = keys
        for key in reversed(keys):
            kind = ("map", key, kind, True)
        self.model.variables[name] = kind
        self.model.initials[name] = initial

    # ------------------------------------------------------------------------------- traffic

    def _traffic(self) -> None:
        model = self.model
        for name, entry in self.data.get("channels", {}).items():
            per = entry.get("per", [])
            keys = [self.type(one) for one in (per if isinstance(per, list) else [per])]
            union = self.union(entry["carries"])
            order = entry["order"]
            capacity = 0 if order == "retained" else self.constant(entry["capacity"])
            kind: Type = {
                "retained": ("set", union),
                "bag": ("bag", union, capacity),
                "fifo": ("seq", union, capacity),
            }[order]
            self._add(name, kind, keys, ast.Name("empty"))
            model.channels[name] = {**entry, "union": union, "keys": keys}
            for word, what in (
                ("loses", "lose"),
                ("duplicates", "duplicate"),
                ("reorders", "reorder"),
            ):
                if word in entry:
                    self._budget(f"{what}_{name}", entry[word])
        for name, entry in self.data.get("calls", {}).items():
            self._calls(name, entry)
        for name, entry in self.data.get("operations", {}).items():
            self._operation(name, entry)
        for name, entry in self.data.get("timers", {}).items():
            self._timer(name, entry)
        for name, entry in self.data.get("faults", {}).items():
            self._budget(name, entry["budget"])

    def _calls(self, name: str, entry: dict[str, Any]) -> None:
        self.model.ranks.add([name])
        key, capacity = self.type(entry["per"]), self.constant(entry["capacity"])
        requests, responses = self.union(entry["requests"]), self.union(entry["responses"])
        live = ("bool",)
        slot: Type = (
            "msg",
            (
                ("Free", ()),
                ("Requested", (("open", live), ("request", requests))),
                ("Parked", (("live", live),)),
                ("Answered", (("response", responses),)),
            ),
        )
        free = ast.Constant("Free")
        self._add(name, slot, [key, ("range", 0, capacity - 1)], free)
        self.model.calls[name] = {
            "key": key, "slots": capacity, "requests": requests, "responses": responses,
        }  # fmt: skip

    def _operation(self, name: str, entry: dict[str, Any]) -> None:
        late = any((said or {}).get("late") for said in entry["outcomes"].values())
        fields = [(f, self.type(kind)) for f, kind in entry.get("captures", {}).items()]
        fields += [("late", ("bool",))] if late else []
        union: Type = ("msg", ((name, tuple(fields)),))
        order = "bag" if entry.get("order", "any") == "any" else "seq"
        keys = [self.type(entry["per"])] if "per" in entry else []
        self._add(name, (order, union, self.constant(entry["capacity"])), keys, ast.Name("empty"))
        self.model.operations[name] = {**entry, "late": late, "union": union, "keys": keys}

    def _timer(self, name: str, entry: dict[str, Any]) -> None:
        fields = tuple((f, self.type(kind)) for f, kind in entry.get("captures", {}).items())
        record: Type = ("msg", ((name, fields),))
        per = entry.get("per", [])
        keys = [self.type(one) for one in (per if isinstance(per, list) else [per])]
        self._add(
            name, ("bag", record, self.constant(entry.get("capacity", 1))), keys, ast.Name("empty")
        )
        if "late_cancels" in entry:
            late = max(1, self.constant(entry["late_cancels"]))
            self._add(f"{name}.late", ("bag", record, late), keys, ast.Name("empty"))
            self._budget(f"late_cancel_{name}", entry["late_cancels"])
        self.model.timers[name] = {**entry, "union": record, "keys": keys}

    def _budget(self, name: str, said: Any) -> None:
        if said == "unlimited":
            self.model.budgets[name] = None
            return
        amount = self.constant(said)
        self.model.budgets[name] = amount
        if amount:
            self._add(f"budget.{name}", ("range", 0, amount), [], ast.Constant(amount))

    # ----------------------------------------------------------------------------- behaviour

    def _behaviour(self) -> None:
        model, data = self.model, self.data
        for head, text in data.get("definitions", {}).items():
            said = text if isinstance(text, dict) else {"is": text}
            lets = [(name, parse(part)) for name, part in said.get("let", {}).items()]
            name, names = _head(head)
            model.definitions[name] = (names, lets, parse(said["is"]))
        for head, text in data.get("procedures", {}).items():
            name, names = _head(head)
            model.procedures[name] = (names, effects(text))
        if "initial" in data:
            model.initial = self.row({"row": "initial", **data["initial"]})
        for entry in data.get("rows", []):
            if "only_if" not in entry or self.constant(entry["only_if"]):
                row = self.row(entry)
                if row.fault is None or model.budgets[row.fault] != 0:
                    model.rows.append(row)
        for number, entry in enumerate(data.get("unhandled", [])):
            self._unhandled(entry, number)
        for name in model.channels:
            for what in ("lose", "duplicate", "reorder"):
                fault = f"{what}_{name}"
                if model.budgets.get(fault, 0) != 0:
                    model.rows.append(Row(fault, fault=fault, special=(what, name)))
        for text in data.get("bounds", []):
            (model.step_bounds if "next(" in str(text) else model.bounds).append(parse(text))
        model.groups = [
            Group(
                name,
                None if said["rows"] == "all" else frozenset(said["rows"]),
                tuple(said.get("per", [])),
                self.fair(said["fair"]),
            )
            for name, said in data.get("fair_groups", {}).items()
        ]
        model.terminal = [parse(text) for text in data.get("terminal", [])]
        model.deadlock = data.get("deadlock", True)
        for name, entry in data.get("properties", {}).items():
            if "only_if" in entry and not self.constant(entry["only_if"]):
                continue
            for kind in PLAIN:
                if kind in entry:
                    model.properties.append((name, kind, parse(entry[kind]), None))
            if "leads_to" in entry:
                sides = entry["leads_to"]
                model.properties.append(
                    (name, "leads_to", parse(sides["to"]), parse(sides["from"]))
                )
            names = [name] if "for" not in entry else self._for_each(entry["for"])
            if "initially" in entry:
                model.initially.update(dict.fromkeys(names, parse(entry["initially"])))
            if entry.get("within_bounds"):
                model.within_bounds.update(names)
            if "refines" in entry:
                said = entry["refines"]
                claim = said if isinstance(said, dict) else {"system": said}
                model.properties.append((name, "refines", ast.Constant(name), None))
                model.refinements[name] = self._refinement(claim)
        self._select()

    def _select(self) -> None:
        """Keep the properties that the instance is about."""
        model, chosen = self.model, self.chosen
        only, without = chosen.get("properties"), chosen.get("without", ())

        def about(name: str) -> bool:
            both = {name, name.split("(", maxsplit=1)[0]}
            return both.isdisjoint(without) and (only is None or not both.isdisjoint(only))

        model.properties = [item for item in model.properties if about(item[0])]
        model.refinements = {n: said for n, said in model.refinements.items() if about(n)}
        model.until = chosen.get("expect", {}).get("property")

    def _for_each(self, bound: dict[str, str]) -> list[str]:
        """Judge the property that was read last for each of the values that it binds.

        One condition of all values, or a property for each; returns what these are called.
        """
        name, kind, node, premise = self.model.properties.pop()
        together = {"always": "all", "step": "all"}
        if all(ids in self.model.symmetric for ids in bound.values()):
            together["sometimes"] = "any"
        if kind in together:
            clauses = [
                ast.comprehension(ast.Name(place), self._values(said), [], 0)
                for place, said in bound.items()
            ]
            whole = ast.Call(ast.Name(together[kind]), [ast.GeneratorExp(node, clauses)], [])
            self.model.properties.append((name, kind, whole, None))
            return [name]
        found = []
        for values in product(*(self.constant_values(said) for said in bound.values())):
            put, behind = copy.deepcopy(node), premise and copy.deepcopy(premise)
            for place, value in zip(bound, values, strict=True):
                put = _Put(place, value).visit(put)
                behind = behind and _Put(place, value).visit(behind)
            said = [
                str(value).lower() if isinstance(value, bool) else str(value) for value in values
            ]
            found.append(f"{name}({', '.join(said)})")
            self.model.properties.append((found[-1], kind, put, behind))
        return found

    def _values(self, said: str) -> ast.expr:
        """Return what a `for:` cell ranges over, as an expression."""
        domain = self._domain(said)
        if isinstance(domain, ast.expr):
            return domain
        if isinstance(domain[0], ast.expr):
            low, high = domain
            end = ast.BinOp(high, ast.Add(), ast.Constant(1))
            return ast.Call(ast.Name("range"), [low, end], [])
        return ast.Constant(tuple(all_of(domain)))  # type: ignore[arg-type]

    def constant_values(self, said: str) -> list[Any]:
        """Return the values that a `for:` cell ranges over, which no state decides."""
        from .evaluation import Scope, evaluate  # noqa: PLC0415

        if said in self.model.types:
            return all_of(self.model.types[said])
        values = evaluate(self._values(said), Scope(self.model, {}))
        return self.model.ranks.ordered(values)

    def _refinement(self, entry: dict[str, Any]) -> tuple[Model, Mapping]:
        path = found_at(self.folder, entry["system"])
        instance = entry.get("instance", "default")
        given = {name: self.constant(said) for name, said in entry.get("set", {}).items()}
        coarse = Reader(path.parent, path.read_text(), instance)
        called = entry.get("ids", {})
        for name, said in coarse.data.get("constants", {}).items():
            here = called.get(name, name)
            if isinstance(said, dict) and "ids" in said and here in self.model.types:
                given[name] = list(self.model.types[here][1])
        coarse.settings |= given
        mapping: Mapping = {}
        for head, text in entry.get("mapping", {}).items():
            keys = re.findall(r"\[(\w+)\]", head)
            mapping[re.sub(r"\[\w+\]", "", head)] = (keys, parse(text))
        return coarse.read(), mapping

    def _unhandled(self, entry: dict[str, Any], _number: int) -> None:
        row = self.row(
            {
                "row": "ignore_" + entry["message"].split(".")[-1],
                "on": entry["message"],
                "in": entry["in"],
            }
        )
        row.fair = self.fair(entry.get("fair", self.data.get("fairness", "none")))
        if entry["is"] == "ignored":
            self.model.rows.append(row)
        else:
            row.name = "impossible_" + entry["message"].split(".")[-1]
            self.model.properties.append((row.name, "impossible", row, None))  # type: ignore[arg-type]

    def row(self, entry: dict[str, Any]) -> Row:
        row = Row(entry["row"])
        row.on = parse(entry["on"]) if "on" in entry else None
        row.fault = entry.get("fault") or self._outcome_fault(row.on)
        usual = self._timer_fairness(row.on) or self.data.get("fairness", "none")
        row.fair = "none" if row.fault else self.fair(entry.get("fair", usual))
        row.binders = [(name, self._domain(text)) for name, text in entry.get("for", {}).items()]
        for place, states in entry.get("in", {}).items():
            row.inside.append((parse(place), states if isinstance(states, list) else [states]))
        row.lets = [(name, parse(text)) for name, text in entry.get("let", {}).items()]
        row.when = parse(entry["when"]) if "when" in entry else None
        row.do = effects(entry["do"]) if "do" in entry else []
        row.to = [(parse(place), state) for place, state in entry.get("to", {}).items()]
        sends = entry.get("send", [])
        row.send = [parse(text) for text in (sends if isinstance(sends, list) else [sends])]
        return row

    def _domain(self, text: str) -> Any:
        if text == "bool" or split_of(text) is not None:
            return self.type(text)
        if ".." in text:
            low, high = text.split("..")
            return (parse(low), parse(high))
        return parse(text)

    def _outcome_fault(self, on: ast.expr | None) -> str | None:
        name, outcome = self._taken(on)
        outcomes = self.model.operations.get(name, {}).get("outcomes", {})
        fault = (outcomes.get(outcome) or {}).get("fault")
        return None if fault is None else str(fault)

    def _timer_fairness(self, on: ast.expr | None) -> str | None:
        fair = self.model.timers.get(self._taken(on)[0], {}).get("fair")
        return None if fair is None else str(fair)

    def _taken(self, on: ast.expr | None) -> tuple[str, str]:
        """Return whose and what a row takes, of `owner.what` and `owner[k].what`."""
        head = on.func if isinstance(on, ast.Call) else on
        if not isinstance(head, ast.Attribute):
            return "", ""
        base = head.value.value if isinstance(head.value, ast.Subscript) else head.value
        return base.id if isinstance(base, ast.Name) else "", head.attr


def scalar(kind: Type) -> bool:
    return bare(kind)[0] in {"bool", "range", "enum"}
