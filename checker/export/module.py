"""A machine as a TLA+ module and the configuration that TLC runs it with."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import replace

from checker.export.actions import LEGAL, Actions, Lines, conjuncts, indented
from checker.export.expressions import ROW, Expressions, Scope, bound
from checker.export.names import LIBRARY, assigned, identifier, listed, quoted
from checker.export.values import Values, require_written, unwritten
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.certain import fails_alone
from checker.machine.machine import LIVENESS, Action, Machine, Property
from checker.machine.temporal import Atom, Binary, Constant, Formula
from checker.machine.terms import Generator, Term
from checker.machine.types import Type
from checker.machine.walk import variables_read, walk
from checker.semantics.fairness import fair_rows

WIDTH = 78

_OF_TABLE = ("Moves", "Restores", "Created")
"""How the names of what is defined for a state table end."""
_OF_STEPS = "_step"
"""How the name of what a `step` property says of a step ends."""
_SIGNS = {"and": " /\\ ", "or": " \\/ "}


@frozen()
class Module:
    """What is written: the module's name, its text, and the text of its configuration."""

    name: str
    text: str
    configuration: str
    properties: tuple[tuple[str, str], ...]
    """Names of definitions, each with the property of the specification that it is."""


def module_of(machine: Machine, name: str) -> Module:
    """Return a machine as a TLA+ module; SpecificationError (X7xx) for what has no form there."""
    return _Writer(machine, identifier(name)).module()


def prose(text: str, indent: int = 0) -> Lines:
    """Return a comment."""
    plain = text.encode("ascii", "replace").decode().replace("(*", "( *").replace("*)", "* )")
    width = WIDTH - indent - 6
    lines = [part for line in plain.splitlines() for part in textwrap.wrap(line, width)]
    return [f"{' ' * indent}(* {line.ljust(width)} *)" for line in lines]


class _Writer:
    """Writes one module, section by section."""

    def __init__(self, machine: Machine, name: str) -> None:
        self._unwritten = [item.name for item in machine.properties if item.kind == "refines"]
        kept = tuple(item for item in machine.properties if item.name not in self._unwritten)
        self._machine = machine = replace(machine, properties=kept)
        self._name = name
        self._taken: set[str] = {name, "Judging", "Judge", "Legal", "Still", "InBounds", "Terminal"}
        self._taken |= {"Stays", "NoDeadlock", "Proper", "Faults"}
        self._variables = {item.name: self._new(item.name) for item in machine.variables}
        self._tables = {
            item.name: self._new(item.name.title(), *_OF_TABLE) for item in machine.tables
        }
        self._rows = {item.name: self._new(item.name) for item in machine.actions}
        self._claims = {
            item.name: self._new(item.name, *([_OF_STEPS] if item.kind == "step" else []))
            for item in machine.properties
        }
        self._values = Values(machine, self._taken)
        self._write = Expressions(self._values)
        self._actions = Actions(machine, self._write, self._tables)
        self._faults = any(action.fault is not None for action in machine.actions)

    def _new(self, text: str, *endings: str) -> str:
        """Return a name that is free, and with each of these endings, too."""
        taken = self._taken | {name.removesuffix(end) for name in self._taken for end in endings}
        name = identifier(text, taken)
        self._taken |= {name, *(name + end for end in endings)}
        return name

    @property
    def _scope(self) -> Scope:
        return Scope(self._variables, {}, frozenset(self._taken))

    def _kind(self, *kinds: str) -> list[Property]:
        return [item for item in self._machine.properties if item.kind in kinds]

    def module(self) -> Module:
        """Return the whole of it."""
        require_written(self._machine)
        body = [
            *self._section("Steps", self._all_rows()),
            *self._section("What begins, what follows", self._next()),
            *self._section("Properties", self._properties()),
        ]
        # Types and their orders are defined when all that asks for them has been written.
        head = [
            f" MODULE {self._name} ".center(WIDTH, "-"),
            *self._about(),
            f"EXTENDS {LIBRARY}",
            "",
            *prose("Whether moves are held to their tables, and steps that change nothing judged."),
            "CONSTANT Judging",
            "",
            *self._declarations(),
            *self._section("Types", list(self._values.definitions)),
            *self._section("State tables", self._moves()),
        ]
        text = "\n".join([*head, *body, "=" * WIDTH])
        claims = tuple((own, name) for name, own in self._claims.items())
        return Module(
            self._name, re.sub(r"[ ]+\n", "\n", text) + "\n", self._configuration(), claims
        )

    def _section(self, title: str, lines: Lines) -> Lines:
        if not lines:
            return []
        return [
            "",
            f"(**** {title} {'*' * (WIDTH - len(title) - 8)})"[: WIDTH - 1] + ")",
            "",
            *lines,
        ]

    def _about(self) -> Lines:
        machine = self._machine
        constants = ", ".join(f"{name} = {_shown(value)}" for name, value in machine.constants)
        return [
            *prose(f"{machine.name}, instance {machine.instance}"),
            *prose(machine.about),
            *(prose(f"Constants: {constants}") if constants else []),
            *(
                line
                for name in self._unwritten
                for line in prose(f"Not written: {name}, a claim about two systems.")
            ),
            *prose("Written by checker export; checked by TLC with the configuration beside it."),
        ]

    def _declarations(self) -> Lines:
        names = list(self._variables.values())
        last = len(names) - 1
        lines = ["VARIABLES"]
        for number, variable in enumerate(self._machine.variables):
            comma = "," * (number < last)
            note = f"  \\* {variable.origin}" if variable.origin != "variable" else ""
            follows = f" of table {variable.table}" if variable.table else ""
            lines.append(f"  {names[number]}{comma}{note}{follows}")
        wrapped = textwrap.wrap(f"vars == <<{', '.join(names)}>>", WIDTH, subsequent_indent="  ")
        return [*lines, "", *wrapped]

    def _moves(self) -> Lines:
        lines: Lines = []
        for table in self._machine.tables:
            own = self._tables[table.name]
            pairs = {(move.origin, move.target): None for move in table.transitions}
            lines += prose(table.about)
            moves, restores, created = (own + end for end in _OF_TABLE)
            lines += _set(moves, (_pair(pair) for pair in pairs))
            lines += _set(restores, (_pair(pair) for pair in table.restores))
            lines += _set(created, (quoted(state) for state in table.created))
            lines.append("")
        if lines:
            lines += [
                'Legal(v_moves, v_row) == Assert(Judging => v_moves, <<"illegal move", v_row>>)'
            ]
        return lines

    # ---------------------------------------------------------------------------- rows

    def _all_rows(self) -> Lines:
        lines = self._still()
        for action in self._machine.actions:
            lines += self._row(action)
        return lines

    def _still(self) -> Lines:
        steps = [item for item in self._kind("step") if not _asks_for_rows(item)]
        judge = [
            'Judge(v_holds, v_name) == Assert(Judging => v_holds, <<"step", v_name>>)',
            "",
        ]
        if not steps:
            return judge if self._kind("step") else []
        lines = [
            "Still ==",
            "  IF Judging /\\ vars' = vars THEN",
        ]
        for item in steps:
            own = self._claims[item.name]
            text = self._write.text(item.condition, self._scope)
            lines.append(f'    /\\ Assert({text}, <<"step", {quoted(own)}>>)')
        return [
            *judge,
            *prose("A step that changes nothing is judged too; TLC's [][P]_vars leaves it out."),
            *lines,
            "  ELSE TRUE",
            "",
        ]

    def _row(self, action: Action) -> Lines:
        names = [binding.name for binding in action.bindings]
        scope, parameters = self._scope, []
        for name in names:
            own, scope = scope.bind(name)
            parameters.append(own)
        head = self._rows[action.name]
        head += f"({', '.join(parameters)})" if parameters else ""

        def leaf(at: Scope) -> Lines:
            lines = []
            if LEGAL in at.names and at.names[LEGAL] != "TRUE":
                lines.append(f"/\\ Legal({at.names[LEGAL]}, {quoted(action.name)})")
            same = []
            for name, own in self._variables.items():
                if at.state[name] == own:
                    same.append(own)
                else:
                    lines.append(f"/\\ {own}' = {assigned(at.state[name])}")
            if same:
                unchanged = f"/\\ UNCHANGED <<{', '.join(same)}>>"
                lines += textwrap.wrap(unchanged, WIDTH, subsequent_indent="     ")
            return lines + self._judged(action, {name: scope.names[name] for name in names}, at)

        body = self._actions.body(action, scope, leaf, ["UNCHANGED vars"])
        fault = f" A fault: {action.fault}." if action.fault else ""
        source = f" [{action.source}]" if action.source else ""
        return [*prose(f"{action.about}{fault}{source}"), f"{head} ==", *indented(body), ""]

    def _judged(self, action: Action, bindings: Mapping[str, str], at: Scope) -> Lines:
        """Return what is judged of a row's step where it ends; `bindings` are the row's own."""
        lines = []
        # A property may call something as the row does: what is the row's has names of its own.
        known = {**at.names, **bindings}
        ran = {ROW: action.name, **{bound(name): text for name, text in known.items()}}
        scope = Scope(self._variables, ran, at.bound)
        for item in self._kind("step"):
            if _asks_for_rows(item):
                text = self._write.text(item.condition, scope)
                lines.append(f"/\\ Judge({text}, {quoted(self._claims[item.name])})")
            elif "/\\ Still" not in lines:
                lines.append("/\\ Still")
        return lines

    def _instances(self, action: Action, only: tuple[tuple[str, str], ...] = ()) -> str:
        """Return the disjunction of a row's instances, of those with the values in `only`."""
        scope, text, arguments = self._scope.reserve(*(own for _, own in only)), "", []
        for binding in action.bindings:
            generator = Generator(binding.name, binding.domain, binding.condition)
            own, domain, scope = self._write.chosen(generator, scope)
            chosen = dict(only).get(binding.name)
            domain = f"({domain}) \\cap {{{chosen}}}" if chosen else domain
            text += f"\\E {own} \\in {domain} : "
            arguments.append(own)
        call = self._rows[action.name]
        return text + (f"{call}({', '.join(arguments)})" if arguments else call)

    def _next(self) -> Lines:
        proper = [self._instances(item) for item in self._machine.actions if item.fault is None]
        faults = [self._instances(item) for item in self._machine.actions if item.fault]
        lines = [*self._initial(), ""]
        lines += _either("Proper", proper)
        if faults:
            lines += ["", *_either("Faults", faults)]
        ways = ["Proper", *(["Faults"] if faults else [])]
        if self._machine.terminal:
            terms = [self._write.text(item, self._scope) for item in self._machine.terminal]
            lines += ["", *prose("Where it may end."), *_either("Terminal", terms)]
        if not self._machine.deadlock or faults:
            lines += [
                "",
                *prose("Steps that change nothing, so that TLC does not speak of deadlock itself."),
                "Stays == UNCHANGED vars",
            ]
            ways.append("Stays")
        elif self._machine.terminal:
            lines += ["", "Stays == Terminal = TRUE /\\ UNCHANGED vars"]
            ways.append("Stays")
        lines += ["", "Next == " + " \\/ ".join(ways), "", *self._specification()]
        return lines

    def _initial(self) -> Lines:
        machine, action = self._machine, self._machine.initial
        nothing = Scope({}, {}, frozenset(self._taken))
        start = {item.name: self._write.text(item.initial, nothing) for item in machine.variables}
        lines: Lines = []
        scope = nothing
        used = variables_read(*(binding for binding in action.bindings), action.guard, *action.body)
        used |= {node.place.variable for node in _placed(action)}
        state = {}
        for name, text in start.items():
            if name in used:
                own, scope = scope.aside(f"{name} at first")
                lines.append(f"\\E {own} \\in {listed(text)} :")
                state[name] = own
            else:
                state[name] = text
        scope = Scope(state, {}, scope.bound)
        for binding in action.bindings:
            generator = Generator(binding.name, binding.domain, binding.condition)
            own, domain, scope = self._write.chosen(generator, scope)
            lines.append(f"\\E {own} \\in {domain} :")

        def leaf(at: Scope) -> Lines:
            legal = at.names.get(LEGAL, "TRUE")
            first = [] if legal == "TRUE" else [f'/\\ Legal({legal}, "initial")']
            return first + [
                f"/\\ {own} = {assigned(at.state[v])}" for v, own in self._variables.items()
            ]

        lines += self._actions.body(action, scope, leaf, ["FALSE"])
        return [*prose("The initial states."), "Init ==", *indented(lines)]

    def _specification(self) -> Lines:
        lines = ["Spec =="]
        parts = ["Init", "[][Next]_vars"]
        if self._kind(*LIVENESS):
            rows = fair_rows(self._machine).rows
            for action in self._machine.actions:
                if action.fair != "none" and action.fault is None:
                    per = tuple((name, kind) for name, kind, _ in rows[action.name].splits)
                    own = tuple(name for name, _ in per)
                    parts.append(self._fairness([(action.name, own)], per, action.fair == "strong"))
            groups = self._machine.fair_groups
            parts += [self._fairness(item.rows, item.per, item.strong) for item in groups]
        return lines + [f"  /\\ {part}" for part in parts]

    def _fairness(
        self,
        rows: Iterable[tuple[str, tuple[str, ...]]],
        per: tuple[tuple[str, Type], ...],
        strong: bool,
    ) -> str:
        """Return what is promised to rows together, to each combination of the values of `per`.

        With each row are its bindings that stand for them.
        """
        scope, text, chosen = self._scope, "", []
        for name, domain in per:
            own, scope = scope.bind(f"the {name}")
            text += f"\\A {own} \\in {self._values.set_of(domain)} : "
            chosen.append(own)
        actions = {action.name: action for action in self._machine.actions}
        ways = [
            self._instances(actions[row], tuple(zip(names, chosen, strict=True)))
            for row, names in rows
        ]
        whole = ways[0] if len(ways) == 1 else " \\/ ".join(f"({way})" for way in ways)
        return f"{text}{'SF' if strong else 'WF'}_vars({whole or 'FALSE'})"

    # ---------------------------------------------------------------------- properties

    def _properties(self) -> Lines:
        lines: Lines = []
        if self._machine.bounds:
            lines += prose("States outside are judged but not gone on from.")
            lines += _all("InBounds", self._of_states(*self._machine.bounds))
            lines.append("")
        if self._machine.deadlock and self._faults:
            inside = "InBounds => " if self._machine.bounds else ""
            ends = "Terminal \\/ " if self._machine.terminal else ""
            lines += prose("Something other than a fault can happen, or this is an end.")
            lines += [f"NoDeadlock == {inside}({ends}ENABLED Proper)", ""]
        seen = 0
        for item in self._machine.properties:
            seen += item.kind == "sometimes"
            lines += [*prose(item.why), *self._property(item, seen), ""]
        if seen:
            lines.append(f"ASSUME \\A v_number \\in 1..{seen} : TLCSet(v_number, FALSE)")
        return lines

    def _property(self, item: Property, number: int) -> Lines:
        own = self._claims[item.name]
        if item.kind in LIVENESS:
            return [f"{own} == {self._formula(item)}"]
        if item.kind == "always":
            return _all(own, self._of_states(item.condition))
        parts = [self._write.text(part, self._scope) for part in conjuncts(item.condition)]
        match item.kind:
            case "step" if _asks_for_rows(item):
                return prose(f"{own} speaks of rows: it is judged at the end of each.")
            case "step":
                claim = f"{own} == [][UNCHANGED vars \\/ {own}{_OF_STEPS}]_vars"
                return [*_all(f"{own}{_OF_STEPS}", parts), claim]
            case "sometimes":
                return [
                    *prose("Never false: it says so when a state is the first where this is true."),
                    f"{own} ==",
                    f"  IF {_joined(parts)}",
                    f"  THEN TLCGet({number}) \\/",
                    f'       (TLCSet({number}, TRUE) /\\ PrintT(<<"witnessed", {quoted(own)}>>))',
                    "  ELSE TRUE",
                ]
        raise unwritten(f"a property `{item.kind}`", item.name, item.span)

    def _formula(self, item: Property) -> str:
        """Return what a claim says of infinite runs, of those it speaks of."""
        claim = self._of_all_runs(item)
        return claim if item.initially is None else f"{self._promised(item.initially)} => ({claim})"

    def _of_all_runs(self, item: Property) -> str:
        if item.kind == "ltl":
            assert item.formula is not None
            return self._joined_formula(item.formula, item)
        claim = self._promised(item.condition)
        match item.kind:
            case "eventually":
                return f"<>{claim}"
            case "leads_to":
                assert item.premise is not None
                return f"{self._promised(item.premise)} ~> {claim}"
            case "always_eventually":
                return f"[]<>{claim}"
            case "eventually_always":
                return f"<>[]{claim}"
        raise unwritten(f"a property `{item.kind}`", item.name, item.span)

    def _joined_formula(self, formula: Formula, item: Property) -> str:
        """Return a formula of `ltl`; TLC has no `until` and `release` of two conditions (X703)."""
        match formula:
            case Atom(number, positive):
                text = self._promised(item.atoms[number])
                return text if positive else f"~{text}"
            case Constant(value):
                return "(vars = vars)" if value else "(vars # vars)"
            case Binary("until", Constant(True), right):
                return f"<>({self._joined_formula(right, item)})"
            case Binary("release", Constant(False), right):
                return f"[]({self._joined_formula(right, item)})"
            case Binary("and" | "or" as word, left, right):
                sides = [self._joined_formula(side, item) for side in (left, right)]
                return f"({_SIGNS[word].join(sides)})"
        raise unwritten("`until` or `release`", item.name, item.span)

    def _promised(self, condition: Term) -> str:
        """Write a condition of a temporal formula.

        TLC takes it apart down to what reads nothing of the state, and evaluates that beforehand,
        whatever stands before it. What may fail so is no truth to it, but what equals one.
        """
        parts = self._of_states(condition)
        text = f"({parts[0] if len(parts) == 1 else _joined(parts)})"
        fails = any(fails_alone(node) and not variables_read(node) for node in walk(condition))
        return f"({text} = TRUE)" if fails else text

    def _of_states(self, *conditions: Term) -> list[str]:
        """Write the parts of conditions so that they are of states, also where they read nothing.

        TLC refuses constraints and invariants that it knows to be false, and judges `<>TRUE` wrong.
        """
        parts = [part for condition in conditions for part in conjuncts(condition)]
        texts = [self._write.text(part, self._scope) for part in parts]
        return texts if variables_read(*conditions) else ["vars = vars", *texts]

    def _configuration(self) -> str:
        lines = ["SPECIFICATION Spec", "CONSTANT none = none", "CONSTANT Judging = TRUE"]
        if self._machine.bounds:
            lines.append("CONSTRAINT InBounds")
        for item in self._machine.properties:
            if _asks_for_rows(item):
                continue
            word = "INVARIANT" if item.kind in {"always", "sometimes"} else "PROPERTY"
            lines.append(f"{word} {self._claims[item.name]}")
        if self._machine.deadlock and self._faults:
            # Last: of what is broken in one state TLC tells the first only.
            lines.append("INVARIANT NoDeadlock")
        return "\n".join(lines) + "\n"


def _asks_for_rows(item: Property) -> bool:
    return any(isinstance(node, t.Ran) for node in walk(item.condition))


def _placed(action: Action) -> Iterable[t.Assign]:
    """Yield the statements of an action that change a place."""
    for node in walk(*action.body):
        if hasattr(node, "place"):
            yield node  # type: ignore[misc]


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pair(pair: tuple[str, str]) -> str:
    return f"<<{quoted(pair[0])}, {quoted(pair[1])}>>"


def _set(name: str, items: Iterable[str]) -> Lines:
    items = list(items)
    if len(items) < 2:
        return [f"{name} == {{{', '.join(items)}}}"]
    return [f"{name} == {{", *(f"  {item}," for item in items[:-1]), f"  {items[-1]}}}"]


def _either(name: str, items: list[str]) -> Lines:
    return [f"{name} ==", *(f"  \\/ {item}" for item in items or ["FALSE"])]


def _all(name: str, items: list[str]) -> Lines:
    return [f"{name} ==", *(f"  /\\ {item}" for item in items or ["TRUE"])]


def _joined(parts: list[str]) -> str:
    return " /\\ ".join(f"({part})" for part in parts)
