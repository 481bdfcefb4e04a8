"""Properties: what they claim, of which runs, for which values; formulas of temporal logic."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from checker.elaborate import convert
from checker.elaborate.context import Context, Term, expression
from checker.elaborate.refinement import Coarse, refined
from checker.elaborate.rows import domain_of
from checker.elaborate.world import Allocator, World
from checker.elaborate.wrong import Wrong
from checker.machine import temporal
from checker.machine import terms as t
from checker.machine.machine import Property
from checker.machine.relations import item_of
from checker.machine.temporal import Atom, Binary, Formula, TooManyNodesError, automaton_of
from checker.machine.types import Bool, Enum, Id, Range, Type
from checker.table.document import PropertyEntry

FAMILY_MAX = 1000
"""Properties that one `for:` may make."""


def properties_of(
    world: World, entry: PropertyEntry, coarse: Coarse | None = None
) -> Iterator[Property]:
    """Yield a property; of one that only some runs or states show, one for each value of `for:`.

    What holds of every state or step for each value is one property of all of them. `coarse` is
    what one refines.
    """
    if not entry.bindings:
        yield _property(world, entry, {}, coarse=coarse)
    elif entry.kind in ("always", "step"):
        yield _for_all(world, entry, "all")
    elif entry.kind == "sometimes" and _over_symmetric(world, entry):
        yield _for_all(world, entry, "any")
    else:
        for names in _values(world, entry, 0, {}):
            shown = ", ".join(_text(literal) for literal in names.values())
            item = _property(world, entry, dict(names), coarse=coarse)
            yield replace(item, name=f"{entry.name.text}({shown})", declared=entry.name.text)


# ---------------------------------------------------------------------------------- for each


def _for_all(world: World, entry: PropertyEntry, operator: str) -> Property:
    """Return a property whose condition holds for all values, or for any."""
    allocator = Allocator()
    generators, names = _bound(world, entry, allocator)
    item = _property(world, entry, names, allocator)
    span = item.condition.span
    assert operator in ("all", "any")
    condition = t.Fold(
        operator,  # type: ignore[arg-type]
        generators,
        item.condition,
        None,
        Bool(),
        span,
    )
    return replace(item, condition=condition)


def _bound(
    world: World, entry: PropertyEntry, allocator: Allocator
) -> tuple[tuple[t.Generator, ...], dict[str, Term]]:
    """Return what `for:` runs over, each domain seeing the names before it, and all the names."""
    names: dict[str, Term] = {}
    generators: list[t.Generator] = []
    for binding in entry.bindings:
        values = domain_of(binding, lambda cell: Context(world, cell, names, allocator))
        kind = item_of(values.type)
        assert kind is not None
        unique = allocator.unique(binding.name.text)
        names[binding.name.text] = t.Local(unique, kind, binding.name.span)
        generators.append(t.Generator(unique, values, None))
    return tuple(generators), names


def _over_symmetric(world: World, entry: PropertyEntry) -> bool:
    """Whether a `sometimes` is of interchangeable ids: seen of one, it is seen of all."""
    generators, _ = _bound(world, entry, Allocator())
    kinds = [item_of(generator.domain.type) for generator in generators]
    symmetric = [isinstance(kind, Id) and kind.symmetric for kind in kinds]
    if any(symmetric) and len(kinds) > 1:
        raise Wrong(
            "Y330",
            "`for:` of a `sometimes` may bind only one interchangeable id, and nothing else",
            entry.bindings[symmetric.index(True)].name.span,
            help="write `any(...)` in the condition, or declare the ids without `symmetric: true`",
        )
    return any(symmetric)


def _values(
    world: World, entry: PropertyEntry, place: int, names: dict[str, t.Literal]
) -> Iterator[dict[str, t.Literal]]:
    """Yield the combinations of the values of `for:`, the last one varying fastest."""
    if place == len(entry.bindings):
        yield names
        return
    binding = entry.bindings[place]
    values = domain_of(binding, lambda cell: Context(world, cell, dict(names), Allocator()))
    items = _constants(values)
    if items is None or len(items) > FAMILY_MAX:
        raise Wrong(
            "Y304",
            f"what `{binding.name.text}` ranges over is not known beforehand",
            values.span,
            expected="a type of booleans, numbers, enum values or ids, a range, or a set of "
            f"constants, of at most {FAMILY_MAX} values",
            help="put the dependence on the state into the condition",
        )
    for value in items:
        kind = item_of(values.type)
        assert kind is not None
        literal = t.Literal(value, kind, binding.name.span)
        yield from _values(world, entry, place + 1, {**names, binding.name.text: literal})


def _constants(values: Term) -> list[object] | None:
    """Return the values of a constant domain in their order, None where it is none."""
    kind = item_of(values.type)
    match values:
        case t.Everything():
            return None if kind is None else _all(kind)
        case t.Interval(t.Literal(int(low)), t.Literal(int(high))):
            return list(range(low, high + 1)) if high - low <= FAMILY_MAX else None
        case t.Literal(frozenset() as chosen) if kind is not None:
            every = _all(kind)
            return None if every is None else [value for value in every if value in chosen]
        case t.SetOf(items) if all(isinstance(item, t.Literal) for item in items):
            every = None if kind is None else _all(kind)
            given = {item.value for item in items if isinstance(item, t.Literal)}
            return None if every is None else [value for value in every if value in given]
    return None


def _all(kind: Type) -> list[object] | None:
    match kind:
        case Bool():
            return [False, True]
        case Range(low, high):
            return list(range(low, high + 1)) if high - low <= FAMILY_MAX else None
        case Enum(_, members) | Id(_, members, _):
            return list(members)
    return None


def _text(literal: t.Literal) -> str:
    return str(literal.value).lower() if isinstance(literal.value, bool) else str(literal.value)


# ------------------------------------------------------------------------------ one property


def _property(
    world: World,
    entry: PropertyEntry,
    names: dict[str, Term],
    allocator: Allocator | None = None,
    coarse: Coarse | None = None,
) -> Property:
    _require_finite_claim(entry)
    if entry.refines is not None and coarse is not None:
        return refined(world, entry, entry.refines, coarse, names)
    context = Context(
        world,
        entry.condition,
        names,
        allocator or Allocator(),
        next_allowed=entry.kind == "step",
    )
    atoms: list[Term] = []
    formula: Formula | None = None
    if entry.kind == "ltl":
        formula = _Reader(context, atoms).read(expression(entry.condition))
        _require_small(formula, entry)
        condition: Term = convert.truth(True, entry.condition.span)
    else:
        condition = context.condition(expression(entry.condition))
    if entry.kind == "eventually_always":
        atoms.append(condition)
        formula = temporal.eventually(temporal.always(Atom(0)))
    premise: Term | None = None
    if entry.kind == "always_eventually":
        premise = convert.truth(True, entry.condition.span)
    if entry.premise is not None:
        premise = context.at_cell(entry.premise).condition(expression(entry.premise))
    initially: Term | None = None
    if entry.initially is not None:
        initially = context.at_cell(entry.initially).condition(expression(entry.initially))
    return Property(
        name=entry.name.text,
        kind=entry.kind,
        condition=condition,
        premise=premise,
        why=entry.why,
        source=entry.source,
        span=entry.span,
        atoms=tuple(atoms),
        formula=formula,
        initially=initially,
        within_bounds=entry.within_bounds,
    )


def _require_finite_claim(entry: PropertyEntry) -> None:
    """Raise Wrong (Y309) where a claim about states or steps is made of some runs only."""
    finite = entry.kind in ("always", "step", "sometimes", "refines")
    if finite and (entry.initially is not None or entry.within_bounds):
        raise Wrong(
            "Y309",
            "`initially` and `within_bounds` are for claims about infinite runs",
            entry.name.span,
            help=f"leave them out of `{entry.kind}`",
        )


def _require_small(formula: Formula, entry: PropertyEntry) -> None:
    try:
        automaton_of(temporal.negation(formula))
    except TooManyNodesError as error:
        raise Wrong(
            "Y311",
            "this formula is too large",
            entry.condition.span,
            expected=f"an automaton of at most {temporal.NODES_MAX} nodes",
            help="make it several properties",
        ) from error


# ---------------------------------------------------------------------------------- formulas

TEMPORAL = {"always": 1, "eventually": 1, "until": 2, "release": 2, "leads_to": 2}
"""The operators of temporal logic, with how many formulas each takes."""


OPERATORS_MAX = 100
"""Parts of a formula that are no atoms: an automaton of more is too large, or one of several."""


class _Reader:
    """Reads a formula; conditions without temporal operators become its atoms."""

    def __init__(self, context: Context, atoms: list[Term]) -> None:
        self._context, self._atoms = context, atoms
        self._operators = 0

    def read(self, node: ast.expr) -> Formula:
        if not _is_temporal(node):
            return self._atom(node)
        self._operators += len(node.values) if isinstance(node, ast.BoolOp) else 1
        if self._operators > OPERATORS_MAX:
            raise Wrong(
                "Y311",
                "this formula is too large",
                self._context.span(node),
                expected=f"at most {OPERATORS_MAX} temporal operators, and what joins them",
                help="make it several properties",
            )
        match node:
            case ast.Call(ast.Name(word), arguments, []) if word in TEMPORAL:
                self._require_no_other(word, node)
                return self._operator(word, arguments, node)
            case ast.Call(ast.Name("implies"), [left, right], []):
                return Binary("or", temporal.negation(self.read(left)), self.read(right))
            case ast.UnaryOp(ast.Not(), item):
                return temporal.negation(self.read(item))
            case ast.BoolOp(operator, items):
                joined = self.read(items[0])
                for item in items[1:]:
                    word = "and" if isinstance(operator, ast.And) else "or"
                    joined = Binary(word, joined, self.read(item))  # type: ignore[arg-type]
                return joined
        raise Wrong(
            "Y309",
            "a temporal operator cannot stand inside this",
            self._context.span(node),
            expected="and, or, not, implies, or another temporal operator around it",
            help=_spelt_out(node),
        )

    def _require_no_other(self, word: str, node: ast.expr) -> None:
        """Raise Wrong (N203) where a definition is called like the operator that stands here."""
        if word in self._context.world.definitions:
            raise Wrong(
                "N203",
                f"`{word}` is an operator of formulas here, and a definition, too",
                self._context.span(node),
                help="give the definition another name",
            )

    def _operator(self, word: str, arguments: list[ast.expr], node: ast.expr) -> Formula:
        if len(arguments) != TEMPORAL[word]:
            raise Wrong(
                "N208",
                f"`{word}` takes {TEMPORAL[word]} formula(s)",
                self._context.span(node),
                found=str(len(arguments)),
            )
        parts = [self.read(argument) for argument in arguments]
        match word:
            case "always":
                return temporal.always(parts[0])
            case "eventually":
                return temporal.eventually(parts[0])
            case "until":
                return Binary("until", parts[0], parts[1])
            case "release":
                return Binary("release", parts[0], parts[1])
            case _:
                answered = temporal.eventually(parts[1])
                return temporal.always(Binary("or", temporal.negation(parts[0]), answered))

    def _atom(self, node: ast.expr) -> Formula:
        term = self._context.condition(node, "a formula")
        if isinstance(term, t.Literal):
            return temporal.Constant(term.value is True)
        self._atoms.append(term)
        return Atom(len(self._atoms) - 1)


def _spelt_out(node: ast.expr) -> str:
    """Return what to write where a formula stands inside of something else."""
    match node:
        case ast.Call(ast.Name("any")):
            return "write a formula for each value, joined by `or`"
        case ast.Call(ast.Name("all")):
            return "write a formula for each value, joined by `and`; or a property each, by `for:`"
        case _:
            return "for one property for each value, use `for:`"


def _is_temporal(node: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in TEMPORAL
        for part in ast.walk(node)
    )
