"""What rows do, by the manual's words: instances, executions, steps; for these tests alone."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from .evaluation import Scope, evaluate, items, need, some, wanted_of
from .model import Model, Row, scalar
from .values import (
    EMPTY,
    FailedError,
    Map,
    Record,
    Type,
    all_of,
    fit,
    occurring,
)

State = tuple[Any, ...]


class BreakError(Exception):
    """A `break`."""


class LeaveError(Exception):
    """A `return`."""


class RejectError(Exception):
    """A `reject`: the row is over but for its answer."""

    def __init__(self, answer: Callable[[], None]) -> None:
        super().__init__()
        self.answer = answer


class AbandonError(Exception):
    """The execution does not count."""


class OutOfIdsError(Exception):
    """`fresh` found no id."""


@dataclass(frozen=True)
class Field:
    """A step into a record on the way to a place; any other is a key or a position."""

    name: str


@dataclass
class Step:
    """One step: its row, the fair instance it belongs to, and where it leads."""

    row: Row
    instance: tuple[Any, ...]
    state: State | None = None
    names: dict[str, Any] = field(default_factory=dict)
    failed: bool = False
    illegal: bool = False


def distinct(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps of one row with its bindings without those that come to the same."""
    seen = set[tuple[State | None, bool]]()
    for step in steps:
        if step.failed or (step.state, step.illegal) not in seen:
            seen.add((step.state, step.illegal))
            yield step


@dataclass
class Instance:
    """A row with its bindings; `take` consumes what `on:` consumes."""

    names: dict[str, Any]
    shown: tuple[Any, ...]
    take: list[Any] = field(default_factory=list)
    handle: Record | None = None
    failed: bool = False


class Run:
    """One execution of a row's effects, for one script of choices."""

    def __init__(
        self, model: Model, state: dict[str, Any], names: dict[str, Any], script: list[int]
    ) -> None:
        self.model, self.start = model, state
        self.state, self.names = dict(state), dict(names)
        self.script, self.sizes = script, list[int]()
        self.illegal = False
        self.drawn: set[str] = set()

    def scope(self) -> Scope:
        return Scope(self.model, self.state, self.names)

    def value(self, node: ast.expr) -> Any:
        return evaluate(node, self.scope())

    def choose(self, candidates: list[Any]) -> Any:
        if not candidates:
            raise FailedError("nothing to pick from")
        place = len(self.sizes)
        self.sizes.append(len(candidates))
        if place == len(self.script):
            self.script.append(0)
        return candidates[self.script[place]]

    # -------------------------------------------------------------------------------- places

    def place(self, node: ast.expr) -> tuple[str, list[Any], Type]:
        """Return variable, keys and fields, and the type of a place."""
        model = self.model
        match node:
            case ast.Name(word):
                return word, [], model.variables[word]
            case ast.Attribute(ast.Name(word), member) if f"{word}.{member}" in model.variables:
                return f"{word}.{member}", [], model.variables[f"{word}.{member}"]
            case ast.Attribute(ast.Subscript(ast.Name(word), key), member) if (
                f"{word}.{member}" in model.variables
            ):
                whole = f"{word}.{member}"
                kind = model.variables[whole]
                return whole, [fit(kind[1], self.value(key), model.ranks)], kind[2]
            case ast.Subscript(base, key):
                variable, path, kind = self.place(base)
                for part in key.elts if isinstance(key, ast.Tuple) else [key]:
                    where = self.value(part)
                    if kind[0] == "map":
                        path, kind = [*path, fit(kind[1], where, model.ranks)], kind[2]
                    else:
                        path, kind = [*path, need(where)], kind[1]
                return variable, path, kind
            case ast.Attribute(base, name):
                variable, path, kind = self.place(base)
                held = self.get(variable, path)
                fields = dict(dict(kind[1])[held.kind])
                if name not in fields:
                    raise FailedError(f"{held.kind} has no {name}")
                return variable, [*path, Field(name)], fields[name]
        raise NotImplementedError(ast.dump(node))

    def get(self, variable: str, path: list[Any]) -> Any:
        value = self.state[variable]
        for step in path:
            value = part_of(value, step)
        return value

    def put(self, variable: str, path: list[Any], value: Any) -> None:
        self.state[variable] = changed(self.state[variable], path, value)

    def store(self, node: ast.expr, value: Any) -> None:
        place = self.place(node)
        self.assign(place, value)

    def assign(
        self, place: tuple[str, list[Any], Type], value: Any, how: str = "transition"
    ) -> None:
        variable, path, kind = place
        new = fit(kind, value, self.model.ranks)
        if variable in self.model.machines:
            old = self.get(variable, path)
            table = self.model.tables[self.model.machines[variable]]
            self.illegal |= not allowed(table, how, old, new)
        self.put(variable, path, new)

    # ---------------------------------------------------------------------------- statements

    def block(self, body: list[ast.stmt]) -> None:
        for node in body:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign([target], value):
                self._assign(target, value)
            case ast.AugAssign(target, op, value):
                read = ast.parse(ast.unparse(target), mode="eval").body
                self._assign(target, ast.BinOp(read, op, value))
            case ast.Delete([ast.Subscript(base, key)]):
                variable, path, kind = self.place(base)
                where = fit(kind[1], self.value(key), self.model.ranks)
                held = self.get(variable, path)
                if where not in held:
                    raise FailedError("no such key")
                self.put(variable, path, Map((k, v) for k, v in held.items() if k != where))
            case ast.If(test, body, otherwise):
                self.block(body if need(self.value(test)) else otherwise)
            case ast.For(ast.Name(name), domain, body):
                for value in items(self.value(domain), self.scope()):
                    self.names[name] = value
                    try:
                        self.block(body)
                    except BreakError:
                        break
            case ast.Break():
                raise BreakError
            case ast.Assert(test):
                if not need(self.value(test)):
                    raise FailedError("what is asserted")
            case ast.Return():
                raise LeaveError
            case ast.Expr(ast.Call() as call):
                self.call(call)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name) and target.id not in self.state:
            self.names[target.id] = self.right_side(value)
            return
        place = self.place(target)
        self.assign(place, self.right_side(value))

    def right_side(self, node: ast.expr) -> Any:
        match node:
            case ast.Call(
                ast.Name("pick" | "pick_if_any" as word), [ast.GeneratorExp(elt, [clause])]
            ):
                assert isinstance(clause.target, ast.Name)
                scope = self.scope()
                found = [
                    value
                    for value in dict.fromkeys(items(evaluate(clause.iter, scope), scope))
                    if all(
                        need(evaluate(test, scope.bind(clause.target.id, value)))
                        for test in clause.ifs
                    )
                ]
                if not found and word == "pick_if_any":
                    raise AbandonError
                chosen = self.choose(found)
                return evaluate(elt, self.scope().bind(clause.target.id, chosen))
            case ast.Call(ast.Name("pick" | "pick_if_any" as word), [domain]):
                found = list(dict.fromkeys(items(self.value(domain), self.scope())))
                if not found and word == "pick_if_any":
                    raise AbandonError
                return self.choose(found)
            case ast.Call(ast.Name("fresh"), [ast.Name(name)]):
                return self.fresh(name)
            case ast.Call(ast.Attribute(base, "pop"), arguments):
                place = self.place(base)
                held = self.get(place[0], place[1])
                if not held:
                    raise FailedError("nothing to pop")
                self.put(place[0], place[1], held[1:] if arguments else held[:-1])
                return held[0] if arguments else held[-1]
        return self._chosen(node)

    def _chosen(self, node: ast.expr) -> Any:
        """Return the value of an expression behind the picks in it, from left to right."""
        inside = [part for part in in_order(node) if is_pick(part)]
        if not inside:
            return self.value(node)
        names = {part: f"pick {number}" for number, part in enumerate(inside)}
        chosen = {name: self.right_side(part) for part, name in names.items()}
        scope = Scope(self.model, self.state, {**self.names, **chosen})
        return evaluate(instead(node, names), scope)

    def fresh(self, name: str) -> str:
        ids = frozenset(self.model.types[name][1])
        used = set(self.drawn)
        for variable, kind in self.model.variables.items():
            used |= occurring(kind, self.state[variable], ids)
            used |= occurring(kind, self.start[variable], ids)
        free = [one for one in self.model.types[name][1] if one not in used]
        if not free:
            raise OutOfIdsError
        self.drawn.add(free[0])
        return free[0]

    def call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            self.method(node, node.func)
            return
        assert isinstance(node.func, ast.Name)
        word, model = node.func.id, self.model
        if word in model.procedures:
            self.procedure(word, node)
            return
        match word:
            case "require":
                if not need(self.value(node.args[0])):
                    raise AbandonError
            case "restore" | "create":
                place = self.place(node.args[0])
                self.assign(place, self.value(node.args[1]), word)
            case "send":
                self.send(node.args)
            case "start":
                self.start_operation(node.args[0])
            case "arm":
                self.arm(node.args[0])
            case "cancel":
                target, wanted = wanted_of(node.args[0], self.scope())
                variable, path, _ = self.place(target)
                self.cancel(variable, path, wanted)
            case "call":
                self.request(node.args[0], node.args[1])
            case "reply":
                handle = need(self.value(node.args[0]))
                self.reply(handle, self.value(node.args[1]))
            case "close":
                assert isinstance(node.args[0], ast.Subscript)
                self.close(node.args[0])
            case "reject":
                raise self.rejected(node.args)
            case _:
                raise NotImplementedError(word)

    def rejected(self, given: list[ast.expr]) -> RejectError:
        """Return how a row is rejected; what it answers is evaluated before anything is undone."""
        match given:
            case []:
                return RejectError(lambda: None)
            case [ast.Call(ast.Name("send"), [target, message])]:
                variable, path, kind = self.place(target)
                sent = fit(kind[1], self.right_side(message), self.model.ranks)
                when_full = self.model.channels[variable].get("when_full", "block")
                return RejectError(lambda: self.put_message(variable, path, kind, sent, when_full))
            case [ast.Call(ast.Name("reply"), [handle, message])]:
                whose, told = need(self.value(handle)), self.right_side(message)
                return RejectError(lambda: self.reply(whose, told))
        answer = self.right_side(given[0])
        return RejectError(lambda: self.reply(self.names["call"], answer))

    def procedure(self, word: str, node: ast.Call) -> None:
        parameters, body = self.model.procedures[word]
        given = [self.right_side(part) for part in node.args]
        outer, self.names = self.names, dict(zip(parameters, given, strict=True))
        try:
            self.block(body)
        except LeaveError:
            pass
        finally:
            self.names = outer

    def method(self, node: ast.Call, function: ast.Attribute) -> None:
        place = self.place(function.value)
        variable, path, kind = place
        held = self.get(variable, path)
        if function.attr == "clear":
            self.assign(place, EMPTY)
            return
        if function.attr == "pop":
            self.right_side(node)
            return
        item = self.right_side(node.args[0])
        match function.attr, kind[0]:
            case "append", _:
                self.assign(place, (*held, fit(kind[1], item, self.model.ranks)))
            case "add", "set":
                self.assign(place, held | {fit(kind[1], item, self.model.ranks)})
            case "add", _:
                item = fit(kind[1], item, self.model.ranks)
                if len(held) >= kind[2]:
                    raise FailedError("full")
                self.assign(place, (*held, item))
            case "discard", _:
                self.assign(place, held - {item})
            case "remove", _:
                item = fit(kind[1], item, self.model.ranks)
                if item not in held:
                    raise FailedError("not there")
                self.assign(place, held - {item} if kind[0] == "set" else without(held, item))

    # -------------------------------------------------------------------------------- traffic

    def send(self, given: list[ast.expr]) -> None:
        if len(given) == 1:
            (name,) = [
                n for n, said in self.model.channels.items() if given[0].func.id in said["carries"]
            ]  # type: ignore[attr-defined]
            target: ast.expr = ast.Name(name)
        else:
            target = given[0]
        variable, path, kind = self.place(target)
        message = fit(kind[1], self.right_side(given[-1]), self.model.ranks)
        self.put_message(
            variable, path, kind, message, self.model.channels[variable].get("when_full", "block")
        )

    def put_message(
        self, variable: str, path: list[Any], kind: Type, message: Record, when_full: str
    ) -> None:
        held = self.get(variable, path)
        if kind[0] == "set":
            self.put(variable, path, held | {message})
        elif len(held) < kind[2]:
            self.assign((variable, path, kind), (*held, message))
        elif when_full == "block":
            raise AbandonError
        elif when_full == "error":
            raise FailedError("full")

    def start_operation(self, node: ast.expr) -> None:
        assert isinstance(node, ast.Call)
        head = node.func.value if isinstance(node.func, ast.Subscript) else node.func
        assert isinstance(head, ast.Name)
        variable, path, kind = self.place(node.func)
        record = evaluate(ast.Call(head, node.args, node.keywords), self.scope())
        when_full = self.model.operations[variable].get("when_full", "block")
        self.put_message(variable, path, kind, record, when_full)

    def arm(self, node: ast.expr) -> None:
        given = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        head = given.func.value if isinstance(given.func, ast.Subscript) else given.func
        assert isinstance(head, ast.Name)
        record = evaluate(ast.Call(head, given.args, given.keywords), self.scope())
        variable, path, kind = self.place(given.func)
        if self.model.timers[variable].get("when_armed", "replace") == "replace":
            self.cancel(variable, path, {})
        self.put_message(variable, path, kind, record, "error")

    def cancel(self, variable: str, path: list[Any], wanted: dict[str, Any]) -> None:
        """Cancel what is armed there and is as wanted; each may be found running already."""
        budget = f"budget.late_cancel_{variable}"
        armed = self.get(variable, path)
        for record in self.model.ranks.ordered(set(armed)):
            if any(record.get(name) != value for name, value in wanted.items()):
                continue
            for _ in range(armed.count(record)):
                late = self.state.get(budget, 0) > 0 and self.choose([False, True])
                self.put(variable, path, without(self.get(variable, path), record))
                if late:
                    self.state[budget] -= 1
                    kind = self.model.variables[f"{variable}.late"]
                    for _key in path:
                        kind = kind[2]
                    running = self.get(f"{variable}.late", path)
                    self.assign((f"{variable}.late", path, kind), (*running, record))

    def request(self, target: ast.expr, message: ast.expr) -> None:
        assert isinstance(target, ast.Subscript)
        assert isinstance(target.value, ast.Name)
        name = target.value.id
        client = self.value(target.slice)
        asked = self.right_side(message)
        slots = self.state[name][client]
        free = [number for number, slot in sorted(slots.items()) if slot.kind == "Free"]
        if not free:
            raise AbandonError
        made = Record("Requested", (("open", True), ("request", asked)))
        self.put(name, [client, free[0]], made)

    def reply(self, handle: Record, message: Record) -> None:
        name = handle.get("of")
        path = [handle.get("client"), handle.get("slot")]
        slot = self.get(name, path)
        answered = Record("Answered", (("response", message),))
        self.put(name, path, answered if slot.get("live") else Record("Free", ()))

    def close(self, target: ast.Subscript) -> None:
        assert isinstance(target.value, ast.Name)
        name, client = target.value.id, self.value(target.slice)
        for number, slot in self.state[name][client].items():
            match slot.kind:
                case "Requested":
                    after = slot.replaced("open", value=False)
                case "Parked":
                    after = slot.replaced("live", value=False)
                case _:
                    after = Record("Free", ())
            self.put(name, [client, number], after)


def is_pick(node: ast.expr) -> bool:
    words = ("pick", "pick_if_any")
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in words


def in_order(node: ast.AST) -> Iterator[ast.expr]:
    """Yield expressions from left to right, none inside a pick."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            yield part
        if not (isinstance(part, ast.expr) and is_pick(part)):
            yield from in_order(part)


def instead(node: ast.expr, names: dict[ast.expr, str]) -> ast.expr:
    """Return an expression with names in the place of some of its parts."""

    return copy.deepcopy(node, {id(part): ast.Name(name) for part, name in names.items()})


def part_of(value: Any, step: Any) -> Any:
    if isinstance(step, Field):
        return value.get(step.name)
    if isinstance(value, dict):
        if step not in value:
            raise FailedError("no such key")
        return value[step]
    position = step if step >= 0 else step + len(value)
    if not 0 <= position < len(value):
        raise FailedError("no such position")
    return value[position]


def changed(value: Any, path: list[Any], new: Any) -> Any:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, dict):
        if rest and step not in value:
            raise FailedError("no such key")
        return Map({**value, step: changed(value[step], rest, new) if rest else new})
    inner = changed(part_of(value, step), rest, new)
    if isinstance(step, Field):
        return value.replaced(step.name, inner)
    position = step if step >= 0 else step + len(value)
    return (*value[:position], inner, *value[position + 1 :])


def without(held: tuple[Any, ...], item: Any) -> tuple[Any, ...]:
    place = held.index(item)
    return (*held[:place], *held[place + 1 :])


def allowed(table: dict[str, Any], how: str, old: str, new: str) -> bool:
    def froms(move: dict[str, Any]) -> list[str]:
        return move["from"] if isinstance(move["from"], list) else [move["from"]]

    if how == "create":
        return new in table.get("created", [])
    moves = table["transitions" if how == "transition" else "restores"]
    return any(old in froms(move) and move["to"] == new for move in moves)


# --------------------------------------------------------------------------------- instances


class Stepper:
    """The initial states of a model and the steps out of a state.

    `once`: steps of one row with the same bindings that come to the same are one, as under symmetry.
    """

    def __init__(self, model: Model, *, once: bool = False) -> None:
        self.model, self.once = model, once
        self.names = list(model.variables)

    def pack(self, state: dict[str, Any]) -> State:
        return tuple(state[name] for name in self.names)

    def unpack(self, state: State) -> dict[str, Any]:
        return dict(zip(self.names, state, strict=True))

    def start(self) -> dict[str, Any]:
        state: dict[str, Any] = {}
        for name, kind in self.model.variables.items():
            state[name] = self._initial(
                kind, self.model.keys[name], self.model.initials[name], None
            )
        return state

    def _initial(self, kind: Type, keys: list[Type], node: Any, me: Any) -> Any:
        if keys:
            return Map(
                (key, self._initial(kind[2], keys[1:], node, key if me is None else me))
                for key in all_of(keys[0])
            )
        if isinstance(node, ast.Constant) and node.value == "Free":
            return Record("Free", ())
        value = evaluate(node, Scope(self.model, {}, {} if me is None else {"self": me}))
        return fit(kind, value, self.model.ranks)

    def initial(self) -> list[Step]:
        start = self.start()
        row = self.model.initial
        if row is None:
            return [Step(Row("initial"), (), self.pack(start))]
        return list(self.steps_of(row, start))

    def steps(self, state: State) -> Iterator[Step]:
        values = self.unpack(state)
        for row in self.model.rows:
            yield from self.steps_of(row, values)

    def steps_of(self, row: Row, state: dict[str, Any]) -> Iterator[Step]:
        for instance in self.instances(row, state):
            name = (row.name, *instance.shown)
            if instance.failed:
                yield Step(row, name, names=instance.names, failed=True)
                continue
            steps = self._picked(row, state, instance, name)
            yield from distinct(steps) if self.once else steps

    def _picked(
        self, row: Row, state: dict[str, Any], instance: Instance, name: tuple[Any, ...]
    ) -> Iterator[Step]:
        script: list[int] | None = []
        while script is not None:
            run = Run(self.model, state, instance.names, script)
            step = self._execute(run, row, instance, name)
            if step is not None:
                yield step
            script = following(run)

    def _execute(
        self, run: Run, row: Row, instance: Instance, name: tuple[Any, ...]
    ) -> Step | None:
        try:
            self._prologue(run, row, instance)
            self._body(run, row, instance)
        except AbandonError:
            return None
        except OutOfIdsError:
            return Step(row, name, names=instance.names)
        except FailedError:
            return Step(row, name, names=instance.names, failed=True)
        return Step(row, name, self.pack(run.state), instance.names, illegal=run.illegal)

    def _prologue(self, run: Run, row: Row, instance: Instance) -> None:
        for take in instance.take:
            take(run)
        if row.fault is not None and self.model.budgets[row.fault] is not None:
            run.state[f"budget.{row.fault}"] -= 1

    def _body(self, run: Run, row: Row, instance: Instance) -> None:
        try:
            self._statements(run, row)
        except LeaveError:
            pass
        except RejectError as rejected:
            run.state, run.illegal = dict(run.start), False
            self._prologue(run, row, instance)
            rejected.answer()

    def _statements(self, run: Run, row: Row) -> None:
        run.block(row.do)
        for place, state in row.to:
            run.store(place, state)
        for node in row.send:
            run.send([node] if not isinstance(node, ast.Tuple) else node.elts)

    # ------------------------------------------------------------------------------ bindings

    def instances(self, row: Row, state: dict[str, Any]) -> Iterator[Instance]:
        if row.special is not None:
            yield from self._generated(row, state)
            return
        for trigger in self._triggers(row, state):
            yield from self._bound(row, state, row.binders, trigger)

    def can_run(self, row: Row, state: dict[str, Any], wanted: dict[str, Any]) -> bool:
        """Whether a row can run, with some of its bindings: each is looked for as `any` does."""

        def matches(names: dict[str, Any]) -> bool:
            return all(names[name] == value for name, value in wanted.items() if name in names)

        def taken(trigger: Instance) -> bool:
            if trigger.failed:
                raise FailedError("what a row takes")
            return matches(trigger.names) and below(row.binders, trigger)

        def below(binders: list[Any], so_far: Instance) -> bool:
            if not binders:
                found = list(self._guarded(row, Scope(self.model, state, so_far.names), so_far))
                if any(instance.failed for instance in found):
                    raise FailedError("whether a row can run")
                return any(matches(instance.names) for instance in found)
            (name, domain), rest = binders[0], binders[1:]

            def of(value: Any) -> bool:
                inner = Instance({**so_far.names, name: value}, ())
                return matches(inner.names) and below(rest, inner)

            values = self._values(domain, Scope(self.model, state, so_far.names))
            return some(values, of, self.model)

        if row.special is not None:
            return any(map(taken, self._generated(row, state)))
        held = ((*one.names.values(), *one.shown, one) for one in self._triggers(row, state))
        return some(held, lambda values: taken(values[-1]), self.model)

    def _bound(
        self, row: Row, state: dict[str, Any], binders: list[Any], so_far: Instance
    ) -> Iterator[Instance]:
        scope = Scope(self.model, state, so_far.names)
        if not binders:
            yield from self._guarded(row, scope, so_far)
            return
        (name, domain), rest = binders[0], binders[1:]
        try:
            values = self._values(domain, scope)
        except FailedError:
            yield Instance(so_far.names, so_far.shown, failed=True)
            return
        for value in values:
            shown = (*so_far.shown, value) if is_scalar(value) else so_far.shown
            inner = Instance({**so_far.names, name: value}, shown, so_far.take, so_far.handle)
            yield from self._bound(row, state, rest, inner)

    def _values(self, domain: Any, scope: Scope) -> list[Any]:
        if isinstance(domain, tuple) and isinstance(domain[0], ast.expr):
            low, high = (need(evaluate(end, scope)) for end in domain)
            return list(range(low, high + 1))
        if isinstance(domain, tuple):
            return all_of(domain)
        return list(dict.fromkeys(items(evaluate(domain, scope), scope)))

    def _guarded(self, row: Row, scope: Scope, instance: Instance) -> Iterator[Instance]:
        names = dict(instance.names)
        try:
            limited = row.fault is not None and self.model.budgets[row.fault] is not None
            if limited and not scope.state[f"budget.{row.fault}"] > 0:
                return
            for place, states in row.inside:
                if evaluate(place, scope) not in states:
                    return
            for name, node in row.lets:
                names[name] = evaluate(node, Scope(self.model, scope.state, names))
            if row.when is not None and not need(
                evaluate(row.when, Scope(self.model, scope.state, names))
            ):
                return
        except FailedError:
            yield Instance(instance.names, instance.shown, failed=True)
            return
        yield Instance(names, instance.shown, instance.take, instance.handle)

    # ------------------------------------------------------------------------------ triggers

    def _triggers(self, row: Row, state: dict[str, Any]) -> Iterator[Instance]:
        if row.on is None:
            yield Instance({}, ())
            return
        head = row.on.func if isinstance(row.on, ast.Call) else row.on
        arguments = row.on.args if isinstance(row.on, ast.Call) else []
        keywords = row.on.keywords if isinstance(row.on, ast.Call) else []
        key: ast.expr | None = None
        if isinstance(head, ast.Name):
            kind, name = head.id, self._carrier(head.id)
        else:
            assert isinstance(head, ast.Attribute)
            kind = head.attr
            base = head.value
            if isinstance(base, ast.Subscript):
                key, base = base.slice, base.value
            assert isinstance(base, ast.Name)
            name = base.id
        pattern = (arguments, keywords)
        if name in self.model.calls:
            yield from self._from_calls(name, kind, key, pattern, state)
        elif name in self.model.operations:
            yield from self._from_operation(name, kind, key, pattern, state)
        elif name in self.model.timers:
            yield from self._from_timer(name, key, pattern, state)
        else:
            yield from self._from_channel(name, kind, key, pattern, state)

    def _carrier(self, kind: str) -> str:
        channels = [n for n, said in self.model.channels.items() if kind in said["carries"]]
        calls = [
            n
            for n, said in self.model.calls.items()
            if kind in dict(said["requests"][1]) or kind in dict(said["responses"][1])
        ]
        (found,) = channels + calls
        return found

    def _keys(
        self, kinds: list[Type], node: ast.expr | None, state: dict[str, Any]
    ) -> Iterator[tuple[list[Any], dict[str, Any], tuple[Any, ...]]]:
        nodes = (
            [None] * len(kinds)
            if node is None
            else node.elts
            if isinstance(node, ast.Tuple)
            else [node]
        )
        domains, names, fixed = [], list[str | None](), list[bool]()
        for kind, part in zip(kinds, nodes, strict=True):
            new = part is None or (isinstance(part, ast.Name) and not self._known(part.id, state))
            domains.append(all_of(kind) if new else [evaluate(part, Scope(self.model, state))])
            names.append(part.id if new and isinstance(part, ast.Name) and part.id != "_" else None)
            fixed.append(not new)
        for values in product(*domains):
            bound = {name: value for name, value in zip(names, values, strict=True) if name}
            shown = tuple(v for v, known in zip(values, fixed, strict=True) if not known)
            yield list(values), bound, shown

    def _known(self, word: str, state: dict[str, Any]) -> bool:
        model = self.model
        known = word in state or word in model.constants or word in model.definitions
        return known or word in model.ranks.names or word in ("true", "false", "none", "empty")

    def _matches(
        self,
        pattern: Any,
        fields: tuple[tuple[str, Type], ...],
        record: Record,
        names: dict[str, Any],
        state: dict[str, Any],
    ) -> dict[str, Any] | None:
        """Return names with those a pattern binds, None where it does not match."""
        arguments, keywords = pattern
        parts = [(f, node) for (f, _), node in zip(fields, arguments, strict=False)]
        parts += [(str(one.arg), one.value) for one in keywords]
        names = dict(names)
        for name, node in parts:
            value = record.get(name)
            if isinstance(node, ast.Name) and node.id == "_":
                continue
            if (
                isinstance(node, ast.Name)
                and node.id not in names
                and not self._known(node.id, state)
            ):
                names[node.id] = value
            elif evaluate(node, Scope(self.model, state, names)) != value:
                return None
        return names

    def _from_channel(
        self, name: str, kind: str, key: Any, pattern: Any, state: dict[str, Any]
    ) -> Iterator[Instance]:
        said = self.model.channels[name]
        for keys, bound, shown in self._keys(said["keys"], key, state):
            held = state[name]
            for one in keys:
                held = held[one]
            for message in self._next_of(said["order"], held):
                names = (
                    self._matches(
                        pattern, dict(said["union"][1]).get(kind, ()), message, bound, state
                    )
                    if message.kind == kind
                    else None
                )
                if names is not None:
                    take = (
                        []
                        if said["order"] == "retained"
                        else [
                            lambda run, k=keys, m=message: run.put(
                                name, k, without(run.get(name, k), m)
                            )
                        ]
                    )
                    yield Instance({**names, "message": message}, shown, take)

    def _next_of(self, order: str, held: Any) -> list[Record]:
        if order == "fifo":
            return list(held[:1])
        return self.model.ranks.ordered(set(held))

    def _from_calls(
        self, name: str, kind: str, key: Any, pattern: Any, state: dict[str, Any]
    ) -> Iterator[Instance]:
        info = self.model.calls[name]
        asks = kind in dict(info["requests"][1])
        for keys, bound, shown in self._keys([info["key"]], key, state):
            for number, slot in sorted(state[name][keys[0]].items()):
                if slot.kind != ("Requested" if asks else "Answered"):
                    continue
                message = slot.get("request" if asks else "response")
                fields = dict(info["requests" if asks else "responses"][1]).get(kind, ())
                names = (
                    self._matches(pattern, fields, message, bound, state)
                    if message.kind == kind
                    else None
                )
                if names is None:
                    continue
                handle = Record("handle", (("client", keys[0]), ("slot", number), ("of", name)))
                after = (
                    Record("Parked", (("live", slot.get("open")),)) if asks else Record("Free", ())
                )
                take = [lambda run, k=keys[0], n=number, a=after: run.put(name, [k, n], a)]
                names = {**names, "message": message, **({"call": handle} if asks else {})}
                yield Instance(names, shown, take, handle if asks else None)

    def _from_operation(
        self, name: str, outcome: str, key: Any, pattern: Any, state: dict[str, Any]
    ) -> Iterator[Instance]:
        said = self.model.operations[name]
        declared = outcome in said["outcomes"]
        stays = declared and (said["outcomes"][outcome] or {}).get("late")
        order = "fifo" if said.get("order", "any") == "fifo" else "bag"
        for keys, bound, shown in self._keys(said["keys"], key, state):
            held = state[name]
            for one in keys:
                held = held[one]
            for record in self._next_of(order, held):
                if said["late"] and record.get("late") == declared:
                    continue
                fields = dict(said["union"][1])[name]
                names = self._matches(pattern, fields, record, bound, state)
                if names is not None:
                    take = lambda run, k=keys, r=record: self._end(run, name, k, r, stays=stays)  # noqa: E731
                    yield Instance({**names, "message": record}, shown, [take])

    def _from_timer(
        self, name: str, key: Any, pattern: Any, state: dict[str, Any]
    ) -> Iterator[Instance]:
        said = self.model.timers[name]
        fields = (*dict(said["union"][1])[name], ("cancelled", ("bool",)))
        possible = f"budget.late_cancel_{name}" in state
        for keys, bound, shown in self._keys(said["keys"], key, state):
            for cancelled in (False, True) if possible else (False,):
                variable = f"{name}.late" if cancelled else name
                held = state[variable]
                for one in keys:
                    held = held[one]
                for record in self.model.ranks.ordered(set(held)):
                    expiry = Record("expired", (*record.fields, ("cancelled", cancelled)))
                    names = self._matches(pattern, fields, expiry, bound, state)
                    if names is not None:
                        take = lambda run, v=variable, k=keys, r=record: run.put(  # noqa: E731
                            v, k, without(run.get(v, k), r)
                        )
                        told = (*shown, cancelled) if possible else shown
                        yield Instance({**names, "message": expiry}, told, [take])

    def _end(self, run: Run, name: str, keys: list[Any], record: Record, *, stays: bool) -> None:
        kind = self.model.variables[name]
        for _ in keys:
            kind = kind[2]
        held = run.get(name, keys)
        if not stays:
            run.put(name, keys, without(held, record))
            return
        late = record.replaced("late", value=True)
        place = held.index(record)
        run.assign((name, keys, kind), (*held[:place], late, *held[place + 1 :]))

    # ----------------------------------------------------------------------- generated rows

    def _generated(self, row: Row, state: dict[str, Any]) -> Iterator[Instance]:
        assert row.special is not None
        what, name = row.special
        said = self.model.channels[name]
        limited = self.model.budgets[row.name] is not None
        if limited and not state[f"budget.{row.name}"] > 0:
            return
        kind = self.model.variables[name]
        for _ in said["keys"]:
            kind = kind[2]
        for keys in product(*(all_of(one) for one in said["keys"])):
            held = state[name]
            for one in keys:
                held = held[one]
            for after in self._disturbed(what, said["order"], held):
                if kind[0] == "set" or len(after) <= kind[2]:
                    take = [lambda run, k=list(keys), a=after, t=kind: run.assign((name, k, t), a)]
                    yield Instance({}, keys, take)

    def _disturbed(self, what: str, order: str, held: Any) -> Iterator[Any]:
        """Yield what a channel can become."""
        if what == "lose" and order == "fifo":
            yield from ((*held[:i], *held[i + 1 :]) for i in range(len(held)))
        elif what == "lose" and order == "retained":
            yield from (held - {one} for one in self.model.ranks.ordered(held))
        elif what == "lose":
            yield from (without(held, one) for one in self.model.ranks.ordered(set(held)))
        elif what == "duplicate":
            yield from ((*held, one) for one in dict.fromkeys(held))
        else:
            for i in range(len(held) - 1):
                if held[i] != held[i + 1]:
                    yield (*held[:i], held[i + 1], held[i], *held[i + 2 :])


def is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | str)


def following(run: Run) -> list[int] | None:
    """Return the script of choices after that of a run."""
    script = list(run.script)
    while script:
        if script[-1] + 1 < run.sizes[len(script) - 1]:
            script[-1] += 1
            return script
        script.pop()
    return None


__all__ = ["Stepper", "scalar"]
