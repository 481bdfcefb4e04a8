"""Rows in TLA+: effects in order become a formula, each new value bound to a name of its own.

Such a name ranges over a set of one value, which is evaluated there and then, as the effect does,
and what follows speaks of that name. Where ways part and meet again, what follows is a local
operator whose parameters are what the ways may have changed; a loop is a recursive one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from checker.errors import InternalError
from checker.export.expressions import Expressions, Scope, item_type, may_fail, members
from checker.export.names import assigned, atomic, bound_in, bracketed, listed, place
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import Action, Machine
from checker.machine.terms import Place, Statement, Term
from checker.machine.types import Bag, Id, Map, Option, Record, Sequence, Set, Type, Union
from checker.machine.walk import mentioned, walk

LEGAL = "#legal"
"""The name under which a scope keeps whether all moves so far are in their tables."""

DRAWN = "#drawn "
"""Before the name of an id type: the set of ids that `fresh` drew in this row."""

Lines = list[str]
After = Callable[[Scope], Lines]


@frozen()
class Exits:
    """Where jumps lead, and the locals that are needed there."""

    leaf: After
    cut: Lines
    start: Mapping[str, str]
    break_: After | None = None
    scopes: Mapping[str, After] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()


def indented(lines: Lines, by: int = 2) -> Lines:
    """Return lines moved to the right."""
    return [" " * by + line for line in lines]


def changes(*body: object) -> tuple[list[str], list[str]]:
    """Return the variables and the names that statements may change."""
    variables: dict[str, None] = {}
    names: dict[str, None] = {}
    for node in walk(*body):
        match node:
            case t.Assign() | t.Delete() | t.Send() | t.Receive():
                variables[node.place.variable] = None
            case t.Transition():
                variables[node.place.variable] = None
                names[LEGAL] = None
            case t.SetLocal() | t.Pick() | t.For():
                names[node.name] = None
            case t.Fresh():
                names[node.name] = None
                names[DRAWN + node.type.name] = None
    return list(variables), list(names)


def leaves(body: tuple[Statement, ...]) -> bool:
    """Return whether no way through a block reaches its end."""
    if not body:
        return False
    match body[-1]:
        case t.Leave() | t.Break() | t.Reject():
            return True
        case t.If(_, then, otherwise, _):
            return leaves(then) and leaves(otherwise)
    return any(isinstance(item, t.Leave | t.Break | t.Reject) for item in body)


def conjuncts(term: Term) -> list[Term]:
    """Return the parts of a conjunction, all of which must hold."""
    if isinstance(term, t.And):
        return [part for item in term.items for part in conjuncts(item)]
    return [term]


_PLAIN = (t.Equal, t.Compare, t.Contains, t.Not, t.IsNone, t.Read, t.Local, t.Subset, t.IsVariant)


class Actions:
    """Writes the rows of one machine."""

    def __init__(
        self, machine: Machine, expressions: Expressions, moves: Mapping[str, str]
    ) -> None:
        self._machine = machine
        self._write = expressions
        self._values = expressions.values
        self._moves = moves
        self._kinds = {variable.name: variable.type for variable in machine.variables}
        self._there: set[str] = set()

    def condition(self, term: Term, scope: Scope) -> Lines:
        """Return what must hold for the rest to happen.

        A disjunction that stands free would be ways for the step to happen, so it is compared.
        """
        lines = []
        for part in conjuncts(term):
            if isinstance(part, t.Literal) and part.value is True:
                continue
            text = self._write.clause(part, scope)
            lines.append(f"{text} /\\" if isinstance(part, _PLAIN) else f"{text} = TRUE /\\")
        return lines

    def body(self, action: Action, scope: Scope, leaf: After, cut: Lines) -> Lines:
        """Return lets, guard and body of an action as one formula, which begins in `scope`.

        `leaf` writes what ends a step, `cut` is what a step comes to that runs out of ids.
        """
        exits = Exits(leaf, cut, scope.state)
        lines: Lines = []
        self._there.clear()
        for name, value in action.lets:
            bound, scope = self._bind(name, self._write.text(value, scope), scope, may_fail(value))
            lines += bound
        lines += self.condition(action.guard, scope)
        return tidy([*lines, *self._block(action.body, scope, exits, leaf)], self._there)

    # -------------------------------------------------------------------------- binding

    def _bind(self, name: str, text: str, scope: Scope, now: bool) -> tuple[Lines, Scope]:
        """Let a name stand for an expression, evaluated `now` or where it is used."""
        if atomic(text) and not now:
            return [], scope.named(name, text)
        own, inside = scope.aside(name.strip("#"))
        return self._value(own, text, now=now), inside.named(name, own)

    def _value(self, own: str, text: str, *, now: bool) -> Lines:
        """Return the line that binds an identifier to a value, which is to be evaluated `now`."""
        if now:
            self._there.add(own)
        return [f"\\E {own} \\in {listed(text)} :"]

    def _set(
        self, variable: str, text: str, scope: Scope, *, now: bool = False
    ) -> tuple[Lines, Scope]:
        """Let a variable have a new value, which is evaluated `now` if it may be an error."""
        if re.fullmatch(r'\w+|"[^"]*"', text):
            return [], replace(scope, state={**scope.state, variable: text})
        own, inside = scope.aside(variable)
        inside = replace(inside, state={**scope.state, variable: own})
        return self._value(own, text, now=now), inside

    def _join(
        self,
        base: str,
        inside: Scope,
        body: tuple[list[str], list[str]],
        needs: set[str],
        after: After,
    ) -> tuple[Lines, After, Scope]:
        """Return the definition of what follows several ways, its call, and the scope with it."""
        own, inside = inside.aside(base)
        variables, names = body
        names = [name for name in names if name in needs or name.startswith("#")]
        within, parameters = self._parameters(variables, names, inside)
        lines = after(within)
        if len(lines) == 1:
            return [], after, inside

        def call(at: Scope) -> Lines:
            return [_call(own, self._arguments(variables, names, at))]

        head = f"LET {_call(own, parameters)} =="
        return [head, *indented(lines, 6), "IN"], call, inside

    def _parameters(
        self, variables: list[str], names: list[str], scope: Scope
    ) -> tuple[Scope, list[str]]:
        parameters = []
        state = dict(scope.state)
        for variable in variables:
            own, scope = scope.aside(variable)
            state[variable] = own
            parameters.append(own)
        for name in names:
            own, scope = scope.aside(name.strip("#").replace(" ", "_"))
            scope = scope.named(name, own)
            parameters.append(own)
        return replace(scope, state=state), parameters

    def _arguments(self, variables: list[str], names: list[str], scope: Scope) -> list[str]:
        nothing = {LEGAL: "TRUE"}
        values = [scope.state[variable] for variable in variables]
        for name in names:
            empty = "{}" if name.startswith(DRAWN) else nothing.get(name, "none")
            values.append(scope.names.get(name, empty))
        return values

    # ------------------------------------------------------------------------ statements

    def _block(
        self, body: tuple[Statement, ...], scope: Scope, exits: Exits, after: After
    ) -> Lines:
        if not body:
            return after(scope)
        first, rest = body[0], body[1:]

        def then(inside: Scope) -> Lines:
            return self._block(rest, inside, exits, after)

        needs = mentioned(*rest) | exits.needs
        match first:
            case t.If():
                return self._if(first, scope, exits, then, needs)
            case t.For():
                return self._for(first, scope, exits, then, needs)
            case t.Scope():
                return self._scope(first, scope, exits, then, needs)
            case t.Break():
                if exits.break_ is None:
                    raise InternalError(f"{first.span}: a break leads nowhere")
                return exits.break_(scope)
            case t.Leave(label, _):
                return exits.scopes[label](scope)
            case t.Reject(inner, _):
                again = replace(scope, state=dict(exits.start)).named(LEGAL, "TRUE")
                return self._block(inner, again, exits, exits.leaf)
            case t.Require(condition, _):
                return [*self.condition(condition, scope), *then(scope)]
            case t.Assert(condition, span):
                check = self._check(self._write.text(condition, scope), "E510", span)
                return [check, *then(scope)]
            case t.Note():
                return then(scope)
            case t.Fresh():
                return self._fresh(first, scope, exits, then)
        lines, scope = self._simple(first, scope)
        return [*lines, *then(scope)]

    def _if(
        self, statement: t.If, scope: Scope, exits: Exits, then: After, needs: set[str]
    ) -> Lines:
        lines: Lines = []
        if not leaves(statement.then) and not leaves(statement.otherwise):
            changed = changes(*statement.then, *statement.otherwise)
            lines, then, scope = self._join("after", scope, changed, needs, then)
        inside = replace(exits, needs=frozenset(needs))
        return [
            *lines,
            f"IF {self._write.text(statement.condition, scope)}",
            *_branch("THEN", self._block(statement.then, scope, inside, then)),
            *_branch("ELSE", self._block(statement.otherwise, scope, inside, then)),
        ]

    def _scope(
        self, statement: t.Scope, scope: Scope, exits: Exits, then: After, needs: set[str]
    ) -> Lines:
        jumps = [
            node
            for node in walk(*statement.body)
            if isinstance(node, t.Leave) and node.label == statement.label
        ]
        lines: Lines = []
        if jumps:
            base = "after_" + statement.label.partition("#")[0]
            lines, then, scope = self._join(base, scope, changes(*statement.body), needs, then)
        scopes = {**exits.scopes, statement.label: then}
        inside = replace(exits, scopes=scopes, needs=frozenset(needs))
        return [*lines, *self._block(statement.body, scope, inside, then)]

    def _for(
        self, statement: t.For, scope: Scope, exits: Exits, then: After, needs: set[str]
    ) -> Lines:
        variables, names = changes(*statement.body)
        needs = needs | mentioned(*statement.body)
        lines: Lines = []
        if any(isinstance(node, t.Break) for node in walk(*statement.body)):
            lines, then, scope = self._join("after_loop", scope, (variables, names), needs, then)
        names = [
            name
            for name in names
            if name.startswith("#") or (name in needs and name != statement.name)
        ]
        if statement.name in needs - mentioned(*statement.body):
            names.append(statement.name)
        kind = statement.domain.type
        domain = members(kind, self._write.text(statement.domain, scope))
        row = isinstance(kind, Sequence)
        if row:
            domain = self._write.text(statement.domain, scope)
        loop, scope = scope.aside("loop")
        left, inside = scope.aside("left")
        inside, parameters = self._parameters(variables, names, inside)
        ends = then(inside)
        own, within = inside.bind(statement.name)

        def again(at: Scope) -> Lines:
            less = f"Tail({left})" if row else f"{left} \\ {{{own}}}"
            return [_call(loop, [less, *self._arguments(variables, names, at)])]

        body = self._block(
            statement.body,
            within,
            replace(exits, break_=then, needs=frozenset(needs)),
            again,
        )
        order = "" if row else self._values.before(item_type(kind), statement.span)
        first = f"Head({left})" if row else f"First({left}, {order})"
        marks = ", ".join("_" for _ in [left, *parameters])
        return [
            *lines,
            f"LET RECURSIVE {loop}({marks})",
            f"    {_call(loop, [left, *parameters])} ==",
            f"      IF {left} = {'<<>>' if row else '{}'}",
            *indented(_branch("THEN", ends), 6),
            *indented(_branch("ELSE", [f"\\E {own} \\in {listed(first)} :", *body]), 6),
            "IN",
            _call(loop, [domain, *self._arguments(variables, names, scope)]),
        ]

    def _fresh(self, statement: t.Fresh, scope: Scope, exits: Exits, then: After) -> Lines:
        kind = statement.type
        drawn = DRAWN + kind.name
        # As the step found it, and as it is now.
        held = {
            (variable.type, state[variable.name]): None
            for variable in self._machine.variables
            for state in (exits.start, scope.state)
        }
        every = (self._occurring(kind, item, bracketed(text)) for item, text in held)
        found = [text for text in every if text != "{}"]
        found += [scope.names[drawn]] if drawn in scope.names else []
        free = f"{self._values.set_of(kind)} \\ ({_union(found) or '{}'})"
        left, inside = scope.aside("unused")
        own, within = inside.bind(statement.name)
        before = scope.names.get(drawn)
        within = within.named(drawn, f"({before} \\cup {{{own}}})" if before else f"{{{own}}}")
        order = self._values.before(kind, statement.span)
        return [
            f"\\E {left} \\in {{{free}}} :",
            f"IF {left} = {{}}  \\* out of ids: no step",
            *_branch("THEN", exits.cut),
            *_branch("ELSE", [f"\\E {own} \\in {{First({left}, {order})}} :", *then(within)]),
        ]

    def _occurring(self, wanted: Id, kind: Type, text: str) -> str:
        """Return the set of the ids of a type that occur in a value, which is its own brackets."""
        match kind:
            case Id(name, _, _):
                return f"{{{text}}}" if name == wanted.name else "{}"
            case Option(item):
                inner = self._occurring(wanted, item, text)
                return (
                    inner
                    if inner == "{}"
                    else f"({inner} \\ {{none}})"
                    if isinstance(item, Id)
                    else f"(IF {text} = none THEN {{}} ELSE {inner})"
                )
            case Record(record, fields):
                found = [
                    self._occurring(wanted, part, f"{text}.{self._values.field(record, name)}")
                    for name, part in fields
                ]
                found = [item for item in found if item != "{}"]
                return f"({_union(found)})" if found else "{}"
            case Union(_, variants):
                cases = [(item.name, self._occurring(wanted, item, text)) for item in variants]
                if all(inner == "{}" for _, inner in cases):
                    return "{}"
                tag = self._values.tag
                arms = [f'{text}.{tag} = "{name}" -> {inner}' for name, inner in cases]
                return f"(CASE {' [] '.join(arms)})"
            case Map(key, held, total):
                own = "{}" if total else self._over(wanted, key, f"DOMAIN {text}")
                name, inner = bound_in(
                    "key", lambda key: self._occurring(wanted, held, f"{text}[{key}]"), text
                )
                if inner == "{}":
                    return own
                content = f"UNION {{{inner} : {name} \\in DOMAIN {text}}}"
                return f"({content})" if own == "{}" else f"({own} \\cup {content})"
            case Set(item):
                return self._over(wanted, item, text)
            case Sequence(item, _):
                return self._over(wanted, item, f"Range({text})")
            case Bag(item, _):
                return self._over(wanted, item, f"DOMAIN {text}")
        return "{}"

    def _over(self, wanted: Id, item: Type, collection: str) -> str:
        if isinstance(item, Id):
            return f"({collection})" if item.name == wanted.name else "{}"
        name, inner = bound_in("item", lambda one: self._occurring(wanted, item, one), collection)
        return "{}" if inner == "{}" else f"(UNION {{{inner} : {name} \\in {collection}}})"

    # ----------------------------------------------------------------------- simple ones

    def _simple(self, statement: Statement, scope: Scope) -> tuple[Lines, Scope]:
        match statement:
            case t.Assign():
                return self._assign(statement, scope)
            case t.Transition():
                return self._transition(statement, scope)
            case t.Delete(place_, _):
                way = self._way(place_, scope, inserts=True)
                key = way.last
                present = self._check(
                    f"{bracketed(key)} \\in DOMAIN {way.read}", "E505", statement.span
                )
                text = way.changed(lambda old: f"Without({old}, {key})")
                lines, scope = self._set(place_.variable, text, scope)
                return [*way.checks, present, *lines], scope
            case t.SetLocal(name, value, _):
                return self._bind(name, self._write.text(value, scope), scope, may_fail(value))
            case t.Pick():
                text = members(statement.domain.type, self._write.text(statement.domain, scope))
                own, inside = scope.bind(statement.name)
                if statement.condition is not None:
                    condition = self._write.text(statement.condition, inside)
                    text = f"{{{own} \\in {text} : {condition}}}"
                return [f"\\E {own} \\in Choices({text}, {place(statement.span)}) :"], inside
            case t.Send():
                return self._send(statement, scope)
            case t.Receive():
                return self._receive(statement, scope)
        raise InternalError(f"{statement} is no statement")

    def _assign(self, statement: t.Assign, scope: Scope) -> tuple[Lines, Scope]:
        at, value = statement.place, self._write.text(statement.value, scope)
        way = self._way(at, scope, inserts=True)
        if way.last:
            text = way.changed(lambda old: f"Put({old}, {way.last}, {value})")
        else:
            text = way.changed(lambda _: value)
        now = may_fail(statement.value, *_keys(at))
        lines, scope = self._set(at.variable, text, scope, now=now)
        return [*way.checks, *lines], scope

    def _transition(self, statement: t.Transition, scope: Scope) -> tuple[Lines, Scope]:
        way = self._way(statement.place, scope)
        value = self._write.text(statement.value, scope)
        table = self._moves[statement.table]
        match statement.kind:
            case "transition":
                legal = f"<<{way.read}, {value}>> \\in {table}Moves"
            case "restore":
                legal = f"<<{way.read}, {value}>> \\in {table}Restores"
            case "create":
                legal = f"{bracketed(value)} \\in {table}Created"
        before = scope.names.get(LEGAL, "TRUE")
        scope = scope.named(LEGAL, legal if before == "TRUE" else f"{before} /\\ {legal}")
        text = way.changed(lambda _: value)
        now = may_fail(statement.value, *_keys(statement.place))
        lines, scope = self._set(statement.place.variable, text, scope, now=now)
        return [*way.checks, *lines], scope

    def _send(self, statement: t.Send, scope: Scope) -> tuple[Lines, Scope]:
        way = self._way(statement.place, scope)
        message = self._write.text(statement.message, scope)
        kind = statement.place.type
        lines, now = list(way.checks), may_fail(*_keys(statement.place))
        if not re.fullmatch(r"\w+", message):
            own, scope = scope.aside("message")
            lines += self._value(own, message, now=may_fail(statement.message))
            message = own
        match kind:
            case Set():
                text = way.changed(lambda old: f"{old} \\cup {{{message}}}")
                bound, scope = self._set(statement.place.variable, text, scope, now=now)
                return [*lines, *bound], scope
            case Sequence(_, capacity):
                size, put = f"Len({way.read})", f"Append(@@, {message})"
            case Bag(_, capacity):
                size, put = f"BagSize({way.read})", f"BagAdd(@@, {message})"
            case _:
                raise InternalError(f"{statement.span}: nothing can be sent to {kind}")
        room = f"{size} < {capacity}"
        match statement.when_full:
            case "block":
                lines.append(f"{room} /\\")
            case "error":
                lines.append(self._check(room, "E509", statement.span))
            case "drop":
                put = f"IF {room} THEN {put} ELSE @@"
        text = way.changed(lambda old: put.replace("@@", old))
        bound, scope = self._set(statement.place.variable, text, scope, now=now)
        return [*lines, *bound], scope

    def _receive(self, statement: t.Receive, scope: Scope) -> tuple[Lines, Scope]:
        way = self._way(statement.place, scope)
        message = self._write.text(statement.message, scope)
        kind = statement.place.type
        held = f"{bracketed(message)} \\in {bracketed(members(kind, way.read))}"
        lines = [*way.checks, self._check(held, "E505", statement.span)]
        if statement.label == "read":
            return lines, scope
        match kind:
            case Set():
                text = way.changed(lambda old: f"{old} \\ {{{message}}}")
            case Sequence():
                text = way.changed(lambda old: f"Dropped({old}, {message})")
            case _:
                text = way.changed(lambda old: f"BagTake({old}, {message})")
        bound, scope = self._set(statement.place.variable, text, scope)
        return [*lines, *bound], scope

    def _check(self, condition: str, code: str, span: object) -> str:
        return f'Check({condition}, "{code}", {place(span)}) /\\'  # type: ignore[arg-type]

    def _way(self, at: Place, scope: Scope, *, inserts: bool = False) -> _Way:
        """Return the way into a variable; with `inserts`, a last key may be absent."""
        kind, read, path = self._kinds[at.variable], scope.state[at.variable], ""
        way = _Way(read)
        for number, step in enumerate(at.steps):
            if isinstance(kind, Option):
                way.checks.append(self._check(f"{read} # none", "E502", at.span))
                kind = kind.item
            if step.key is not None:
                key = self._write.text(step.key, scope)
                match kind:
                    case Map(_, held, total):
                        if not total and inserts and number == len(at.steps) - 1:
                            way.last = key
                            break
                        if not total:
                            present = f"{bracketed(key)} \\in DOMAIN {read}"
                            way.checks.append(self._check(present, "E505", at.span))
                        kind = held
                    case Sequence(item, _):
                        present = f"{bracketed(key)} \\in 0..Len({read}) - 1"
                        way.checks.append(self._check(present, "E506", at.span))
                        key, kind = f"{bracketed(key)} + 1", item
                    case _:
                        raise InternalError(f"{at.span}: no key leads into {kind}")
                path += f"[{key}]"
                read = f"{read}[{key}]"
            else:
                assert step.name is not None
                kind, own = self._step_field(kind, step.name, read, at, way)
                path += f".{own}"
                read = f"{read}.{own}"
            way.read, way.path = read, path
        return way

    def _step_field(
        self, kind: Type, name: str, read: str, at: Place, way: _Way
    ) -> tuple[Type, str]:
        shapes = kind.variants if isinstance(kind, Union) else (kind,)
        having = [
            shape for shape in shapes if isinstance(shape, Record) and name in dict(shape.fields)
        ]
        owns = {self._values.field(shape.name, name) for shape in having}
        if len(owns) != 1:
            raise InternalError(f"{at.span}: {name} has several names")
        if len(having) < len(shapes):
            names = ", ".join(f'"{shape.name}"' for shape in having)
            tagged = f"{read}.{self._values.tag} \\in {{{names}}}"
            way.checks.append(self._check(tagged, "E504", at.span))
        return dict(having[0].fields)[name], owns.pop()


@dataclass(slots=True)
class _Way:
    """The way into a variable: what stands there, what must hold, how the variable changes.

    `path` is as in EXCEPT; `last` is the key after it that a partial map may lack.
    """

    read: str
    path: str = ""
    last: str = ""
    checks: Lines = field(default_factory=list)
    variable: str = ""

    def __post_init__(self) -> None:
        self.variable = self.read

    def changed(self, update: Callable[[str], str]) -> str:
        """Return the variable's value with what stands at the end of the way updated."""
        if not self.path:
            return update(self.variable)
        return f"[{self.variable} EXCEPT !{self.path} = {update('@')}]"


def _call(name: str, arguments: list[str]) -> str:
    return f"{name}({', '.join(arguments)})" if arguments else name


def _union(sets: list[str]) -> str:
    return " \\cup ".join(sets)


def _branch(word: str, lines: Lines) -> Lines:
    if len(lines) == 1:
        return [f"  {word} {lines[0]}"]
    return [f"  {word}", *indented(lines, 4)]


def _keys(at: Place) -> list[Term]:
    """Return the keys that lead into a place."""
    return [step.key for step in at.steps if step.key is not None]


def tidy(lines: Lines, there: Collection[str]) -> Lines:
    """Return a formula in which what is used once, as a variable's new value, stands there.

    But not what is `there` because it may be an evaluation error: what follows may say that there
    is no such step, and the error would not be met.
    """
    text = "\n".join(lines)
    kept: Lines = []
    values: dict[str, str] = {}
    for line in lines:
        match = re.fullmatch(r" *\\E (\w+) \\in \{(.*)\} :", line)
        if match and match[1] not in there:
            uses = re.findall(rf"\b{match[1]}\b", text)
            target = re.search(rf"^ */\\ (\w+'?) = {match[1]}$", text, re.MULTILINE)
            if len(uses) == 2 and target:
                values[match[1]] = match[2]
                continue
        last = re.fullmatch(r"( */\\ \w+'? = )(\w+)", line)
        kept.append(last[1] + assigned(values[last[2]]) if last and last[2] in values else line)
    return kept
