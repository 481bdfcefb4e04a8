"""What expressions mean, by the manual's words; for these tests alone."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .values import (
    EMPTY,
    Bag,
    FailedError,
    Map,
    Record,
    Type,
    all_of,
    fit,
)

if TYPE_CHECKING:
    from .execution import Step
    from .model import Model


@dataclass(frozen=True)
class Scope:
    """What an expression sees."""

    model: Model
    state: dict[str, Any]
    names: dict[str, Any] = None  # type: ignore[assignment]
    following: dict[str, Any] | None = None
    step: Step | None = None

    def bind(self, name: str, value: Any) -> Scope:
        return replace(self, names={**(self.names or {}), name: value})


def need(value: Any) -> Any:
    """Return a value where none would be an error."""
    if value is None:
        raise FailedError("none where a value is needed")
    return value


def items(value: Any, scope: Scope) -> list[Any]:
    """Return what a `for` runs over, in its order; a bag is told by the caller."""
    value = need(value)
    if isinstance(value, Bag):
        return list(dict.fromkeys(value))
    if isinstance(value, tuple):
        return list(value)
    return scope.model.ranks.ordered(value)


def evaluate(node: ast.expr, scope: Scope) -> Any:
    return _MEANING[type(node)](node, scope)


def _constant(node: ast.Constant, _: Scope) -> Any:
    return node.value


def _name(node: ast.Name, scope: Scope) -> Any:
    word, model = node.id, scope.model
    if scope.names and word in scope.names:
        return scope.names[word]
    if word in model.calls:
        return parked(word, None, scope)
    if word in scope.state:
        return opened(model.variables[word], scope.state[word])
    if word in model.constants:
        return model.constants[word]
    if word in model.definitions:
        return call_definition(word, [], scope)
    if word in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[word]
    if word == "empty":
        return EMPTY
    if word in model.types:
        return frozenset(all_of(model.types[word]))
    if word in model.messages:
        return frozenset(all_of(("msg", ((word, model.messages[word]),))))
    return word


def opened(kind: Type, value: Any) -> Any:
    """Return a value as an expression sees it: a bag is told from a sequence."""
    return Bag(value) if kind[0] == "bag" else value


def _attribute(node: ast.Attribute, scope: Scope) -> Any:
    model = scope.model
    if isinstance(node.value, ast.Name):
        word = node.value.id
        if word == "budget":
            if model.budgets.get(node.attr) == 0:
                return 0
            return scope.state[f"budget.{node.attr}"]
        if word in model.components and f"{word}.{node.attr}" in scope.state:
            return scope.state[f"{word}.{node.attr}"]
        if word in model.timers:
            return opened(("bag",), scope.state[f"{word}.{node.attr}"])
        if word in model.types and node.attr in all_of(model.types[word]):
            return node.attr
    if isinstance(node.value, ast.Subscript) and isinstance(node.value.value, ast.Name):
        whole = f"{node.value.value.id}.{node.attr}"
        if whole in scope.state:
            return at(scope.state[whole], evaluate(node.value.slice, scope))
    item = need(evaluate(node.value, scope))
    if item.kind == "handle" and node.attr == "open":
        return is_open(item, scope)
    return item.get(node.attr)


def is_open(handle: Record, scope: Scope) -> bool:
    slots = scope.state[handle.get("of")]
    slot = slots[handle.get("client")][handle.get("slot")]
    return bool(slot.get("open" if slot.kind == "Requested" else "live"))


def at(container: Any, key: Any) -> Any:
    if isinstance(container, Bag):
        raise NotImplementedError
    container = need(container)
    if isinstance(container, dict):
        if key not in container:
            raise FailedError("no such key")
        return container[key]
    position = need(key)
    if position < 0:
        position += len(container)
    if not 0 <= position < len(container):
        raise FailedError("no such position")
    return container[position]


def _subscript(node: ast.Subscript, scope: Scope) -> Any:
    model = scope.model
    if isinstance(node.value, ast.Name) and node.value.id in model.calls:
        return parked(node.value.id, evaluate(node.slice, scope), scope)
    if isinstance(node.slice, ast.Slice):
        whole = need(evaluate(node.value, scope))
        ends = [
            None if end is None else evaluate(end, scope)
            for end in (node.slice.lower, node.slice.upper)
        ]
        return whole if whole is EMPTY else whole[ends[0] : ends[1]]
    keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if isinstance(node.value, ast.Name) and node.value.id in model.components:
        word, key = node.value.id, evaluate(node.slice, scope)
        members = (name for name in scope.state if name.startswith(f"{word}."))
        return Record(word, tuple((name, at(scope.state[name], key)) for name in members))
    value = evaluate(node.value, scope)
    for key in keys:
        value = at(value, evaluate(key, scope))
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    if name in model.channels or name in model.operations or name in model.timers:
        kind = model.variables[name]
        for _ in keys:
            kind = kind[2] if kind[0] == "map" else kind[1]
        return opened(kind, value)
    return value


def slots_of(name: str, client: Any, scope: Scope) -> Iterator[tuple[Any, int, Record]]:
    info = scope.model.calls[name]
    for caller in all_of(info["key"]) if client is None else [client]:
        for number in range(info["slots"]):
            yield caller, number, scope.state[name][caller][number]


def parked(name: str, client: Any, scope: Scope) -> frozenset[Record]:
    return frozenset(
        Record("handle", (("client", caller), ("slot", number), ("of", name)))
        for caller, number, slot in slots_of(name, client, scope)
        if slot.kind == "Parked"
    )


def _calls_of(node: ast.expr, scope: Scope) -> tuple[str, Any] | None:
    match node:
        case ast.Name(word) if word in scope.model.calls:
            return word, None
        case ast.Subscript(ast.Name(word), key) if word in scope.model.calls:
            return word, evaluate(key, scope)
    return None


def told(value: Any, other: Any) -> Any:
    """Return an `empty` as what the other operand says it is."""
    if value is not EMPTY:
        return value
    return () if isinstance(other, tuple) else frozenset()


def _operation(node: ast.BinOp, scope: Scope) -> Any:
    left, right = need(evaluate(node.left, scope)), need(evaluate(node.right, scope))
    left, right = told(left, right), told(right, left)
    if isinstance(node.op, ast.FloorDiv | ast.Mod) and right == 0:
        raise FailedError("division by zero")
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.BitOr():
            return frozenset(left) | frozenset(right)
        case ast.BitAnd():
            return frozenset(left) & frozenset(right)
        case ast.BitXor():
            return frozenset(left) ^ frozenset(right)
    raise NotImplementedError(ast.dump(node))


def _unary(node: ast.UnaryOp, scope: Scope) -> Any:
    value = need(evaluate(node.operand, scope))
    return (not value) if isinstance(node.op, ast.Not) else -value


def _boolean(node: ast.BoolOp, scope: Scope) -> bool:
    if isinstance(node.op, ast.And):
        return all(need(evaluate(part, scope)) for part in node.values)
    return any(need(evaluate(part, scope)) for part in node.values)


def _choice(node: ast.IfExp, scope: Scope) -> Any:
    chosen = node.body if need(evaluate(node.test, scope)) else node.orelse
    return evaluate(chosen, scope)


def _compare(node: ast.Compare, scope: Scope) -> bool:
    left = evaluate(node.left, scope)
    for op, operand in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, ast.Is | ast.IsNot):
            none = isinstance(operand, ast.Name) and operand.id == "none"
            found = left is None if none else left is not None and left.kind == operand.id  # type: ignore[attr-defined]
            return found if isinstance(op, ast.Is) else not found
        right = evaluate(operand, scope)
        if not _relation(op, left, right, scope):
            return False
        left = right
    return True


def _relation(op: ast.cmpop, left: Any, right: Any, scope: Scope) -> bool:
    match op:
        case ast.Eq():
            return bool(left == right)
        case ast.NotEq():
            return bool(left != right)
        case ast.In():
            return left in need(right)
        case ast.NotIn():
            return left not in need(right)
    left, right = need(left), need(right)
    left, right = told(left, right), told(right, left)
    if isinstance(left, str):
        left, right = scope.model.ranks.names[left], scope.model.ranks.names[right]
    match op:
        case ast.Lt():
            return bool(left < right)
        case ast.LtE():
            return bool(left <= right)
        case ast.Gt():
            return bool(left > right)
    return bool(left >= right)


def _clauses(clauses: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
    if not clauses:
        yield scope
        return
    first = clauses[0]
    assert isinstance(first.target, ast.Name)
    for value in items(evaluate(first.iter, scope), scope):
        inner = scope.bind(first.target.id, value)
        if all(need(evaluate(test, inner)) for test in first.ifs):
            yield from _clauses(clauses[1:], inner)


def _set(node: ast.Set, scope: Scope) -> frozenset[Any]:
    return frozenset(evaluate(part, scope) for part in node.elts)


def _list(node: ast.List, scope: Scope) -> tuple[Any, ...]:
    return tuple(evaluate(part, scope) for part in node.elts)


def _dict(node: ast.Dict, scope: Scope) -> Any:
    made = zip(node.keys, node.values, strict=True)
    return Map((evaluate(k, scope), evaluate(v, scope)) for k, v in made) if node.keys else EMPTY  # type: ignore[arg-type]


def _set_for(node: ast.SetComp, scope: Scope) -> frozenset[Any]:
    return frozenset(evaluate(node.elt, inner) for inner in _clauses(node.generators, scope))


def _list_for(node: ast.ListComp, scope: Scope) -> tuple[Any, ...]:
    return tuple(evaluate(node.elt, inner) for inner in _clauses(node.generators, scope))


def _dict_for(node: ast.DictComp, scope: Scope) -> Map:
    return Map(
        (evaluate(node.key, inner), evaluate(node.value, inner))
        for inner in _clauses(node.generators, scope)
    )


# ---------------------------------------------------------------------------------- calls


def call_definition(name: str, given: list[Any], scope: Scope) -> Any:
    parameters, lets, body = scope.model.definitions[name]
    names = dict(zip(parameters, given, strict=True))
    for word, part in lets:
        names[word] = evaluate(part, replace(scope, names=names))
    return evaluate(body, replace(scope, names=names))


def _call(node: ast.Call, scope: Scope) -> Any:
    if isinstance(node.func, ast.Attribute):
        return _method(node, node.func, scope)
    assert isinstance(node.func, ast.Name)
    word, model = node.func.id, scope.model
    if word in model.definitions:
        return call_definition(word, [evaluate(part, scope) for part in node.args], scope)
    if word in model.messages or word in model.operations or word in model.timers:
        return construct(word, node, scope)
    return _FUNCTIONS[word](node, scope)


def construct(word: str, node: ast.Call, scope: Scope) -> Record:
    model = scope.model
    operation = model.operations.get(word) or model.timers.get(word)
    fields = dict(operation["union"][1])[word] if operation else model.messages[word]
    given = {f: evaluate(part, scope) for (f, _), part in zip(fields, node.args, strict=False)}
    given |= {str(part.arg): evaluate(part.value, scope) for part in node.keywords}
    if operation and operation.get("late"):
        given["late"] = False
    parts = tuple((name, fit(kind, given[name], model.ranks)) for name, kind in fields)
    return Record(word, parts)


def _method(node: ast.Call, function: ast.Attribute, scope: Scope) -> Any:
    item = need(evaluate(function.value, scope))
    match function.attr:
        case "keys":
            return frozenset(item)
        case "get":
            key = evaluate(node.args[0], scope)
            return item[key] if key in item else evaluate(node.args[1], scope)
        case "count":
            return tuple(item).count(evaluate(node.args[0], scope))
    raise NotImplementedError(function.attr)


def _extreme(node: ast.Call, scope: Scope) -> Any:
    assert isinstance(node.func, ast.Name)
    best = min if node.func.id == "min" else max
    if len(node.args) > 1:
        found = [need(evaluate(part, scope)) for part in node.args]
    elif isinstance(node.args[0], ast.GeneratorExp):
        inner = _clauses(node.args[0].generators, scope)
        found = [need(evaluate(node.args[0].elt, one)) for one in inner]
    else:
        found = [need(value) for value in items(evaluate(node.args[0], scope), scope)]
    if not found:
        if node.keywords:
            return evaluate(node.keywords[0].value, scope)
        raise FailedError("min or max of nothing")
    return best(found, key=scope.model.ranks.key)


def _least(node: ast.Call, scope: Scope) -> Any:
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    choice = node.args[0]
    if isinstance(choice, ast.GeneratorExp):
        rows = list(_clauses(choice.generators, scope))
        found = [evaluate(choice.elt, row) for row in rows]
        if "by" in given:
            keys = [need(evaluate(given["by"], row)) for row in rows]
            ranked = [scope.model.ranks.key(key) for key in keys]
            pairs = zip(found, ranked, strict=True)
            found = [value for value, rank in pairs if rank == min(ranked)]
    else:
        found = list(items(evaluate(choice, scope), scope))
    if found:
        return scope.model.ranks.ordered(found)[0]
    if "default" in given:
        return evaluate(given["default"], scope)
    raise FailedError("least of nothing")


def _quantified(node: ast.Call, scope: Scope) -> Any:
    assert isinstance(node.func, ast.Name)
    comprehension = node.args[0]
    if node.func.id == "sum" and not isinstance(comprehension, ast.GeneratorExp):
        return sum(items(evaluate(comprehension, scope), scope))
    assert isinstance(comprehension, ast.GeneratorExp)
    if node.func.id == "sum":
        rows = _clauses(comprehension.generators, scope)
        return sum(need(evaluate(comprehension.elt, row)) for row in rows)
    decides = node.func.id == "any"
    return decides == _decided(comprehension.elt, comprehension.generators, decides, scope)


def _decided(body: ast.expr, clauses: list[ast.comprehension], decides: bool, scope: Scope) -> bool:
    """Whether one value decides `all` or `any`, by being what `decides`.

    Among values with interchangeable ids none is first: an error counts where none decides.
    """
    if not clauses:
        return bool(need(evaluate(body, scope)) == decides)
    first, *rest = clauses
    assert isinstance(first.target, ast.Name)
    domain = need(evaluate(first.iter, scope))
    ordered = isinstance(domain, tuple) and not isinstance(domain, Bag)
    name = first.target.id

    def of(value: Any) -> bool:
        inner = scope.bind(name, value)
        tests = all(need(evaluate(test, inner)) for test in first.ifs)
        return tests and _decided(body, rest, decides, inner)

    return some(items(domain, scope), of, scope.model, ordered=ordered)


def some(
    values: Iterable[Any], of: Callable[[Any], bool], model: Model, *, ordered: bool = False
) -> bool:
    """Whether something is so of one of some values, as `any` looks at them.

    `ordered`: one of them is first, whatever ids they hold.
    """
    values = list(values)
    ordered = ordered or not any(_interchangeable(value, model) for value in values)
    failed = None
    for value in values:
        try:
            if of(value):
                return True
        except FailedError as error:
            if ordered:
                raise
            failed = error
    if failed is not None:
        raise failed
    return False


def _interchangeable(value: Any, model: Model) -> bool:
    """Whether there are interchangeable ids in a value."""
    match value:
        case str():
            return any(value in model.types[name][1] for name in model.symmetric)
        case Record(_, fields):
            return any(_interchangeable(part, model) for _, part in fields)
        case dict():
            return any(_interchangeable(part, model) for pair in value.items() for part in pair)
        case tuple() | frozenset():
            return any(_interchangeable(part, model) for part in value)
    return False


def _len(node: ast.Call, scope: Scope) -> int:
    calls = _calls_of(node.args[0], scope)
    if calls is not None:
        return sum(slot.kind != "Free" for _, _, slot in slots_of(*calls, scope))
    return len(need(evaluate(node.args[0], scope)))


def wanted_of(node: ast.expr, scope: Scope) -> tuple[ast.expr, dict[str, Any]]:
    """Return the timer that `timer[k](capture=e)` names, and what it is to remember."""
    if not isinstance(node, ast.Call):
        return node, {}
    base = node.func.value if isinstance(node.func, ast.Subscript) else node.func
    assert isinstance(base, ast.Name)
    fields = dict(scope.model.timers[base.id]["union"][1])[base.id]
    wanted = {f: evaluate(part, scope) for (f, _), part in zip(fields, node.args, strict=False)}
    wanted |= {str(part.arg): evaluate(part.value, scope) for part in node.keywords}
    return node.func, wanted


def _armed(node: ast.Call, scope: Scope) -> bool:
    target, wanted = wanted_of(node.args[0], scope)
    held = evaluate(target, scope)
    return any(all(one.get(f) == value for f, value in wanted.items()) for one in held)


def _implies(node: ast.Call, scope: Scope) -> bool:
    return not need(evaluate(node.args[0], scope)) or need(evaluate(node.args[1], scope))


def _range(node: ast.Call, scope: Scope) -> frozenset[int]:
    return frozenset(range(*(need(evaluate(part, scope)) for part in node.args)))


def _next(node: ast.Call, scope: Scope) -> Any:
    assert scope.following is not None
    return evaluate(node.args[0], Scope(scope.model, scope.following, scope.names))


def _ran(node: ast.Call, scope: Scope) -> bool:
    step, row = scope.step, node.args[0]
    assert isinstance(row, ast.Name)
    if step is None or step.row.name != row.id:
        return False
    return all(step.names[str(p.arg)] == evaluate(p.value, scope) for p in node.keywords)


def _enabled(node: ast.Call, scope: Scope) -> bool:
    from .execution import Stepper  # noqa: PLC0415

    row = node.args[0]
    assert isinstance(row, ast.Name)
    wanted = {str(part.arg): evaluate(part.value, scope) for part in node.keywords}
    named = [known for known in scope.model.rows if known.name == row.id]
    return any(Stepper(scope.model).can_run(known, scope.state, wanted) for known in named)


def _on_the_way(node: ast.Call, scope: Scope) -> tuple[Any, ...]:
    assert isinstance(node.func, ast.Name)
    calls = _calls_of(node.args[0], scope)
    assert calls is not None
    kind, part = (
        ("Requested", "request") if node.func.id == "requests" else ("Answered", "response")
    )
    return tuple(slot.get(part) for _, _, slot in slots_of(*calls, scope) if slot.kind == kind)


def _replace(node: ast.Call, scope: Scope) -> Record:
    value = need(evaluate(node.args[0], scope))
    for part in node.keywords:
        value = value.replaced(str(part.arg), evaluate(part.value, scope))
    return value  # type: ignore[no-any-return]


def _closure(node: ast.Call, scope: Scope) -> Map:
    relation = need(evaluate(node.args[0], scope))
    reached = {key: set(near) for key, near in relation.items()}
    for middle, further in reached.items():
        for found in reached.values():
            if middle in found:
                found.update(further)
    return Map((key, frozenset(found)) for key, found in reached.items())


_FUNCTIONS = {
    "closure": _closure,
    "abs": lambda node, scope: abs(need(evaluate(node.args[0], scope))),
    "min": _extreme,
    "max": _extreme,
    "all": _quantified,
    "any": _quantified,
    "sum": _quantified,
    "len": _len,
    "implies": _implies,
    "armed": _armed,
    "least": _least,
    "range": _range,
    "next": _next,
    "ran": _ran,
    "enabled": _enabled,
    "requests": _on_the_way,
    "responses": _on_the_way,
    "replace": _replace,
}

_MEANING: dict[type, Any] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.BinOp: _operation,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.IfExp: _choice,
    ast.Compare: _compare,
    ast.Set: _set,
    ast.List: _list,
    ast.Dict: _dict,
    ast.SetComp: _set_for,
    ast.ListComp: _list_for,
    ast.DictComp: _dict_for,
    ast.Call: _call,
}
