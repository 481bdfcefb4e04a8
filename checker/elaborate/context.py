"""Where an expression is elaborated: its cell, the names it sees, what it may contain.

`Context.infer` turns a syntax tree into a typed term; what is done for each kind of node is
registered by the modules of this room with `handles`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from checker.elaborate import build, convert
from checker.elaborate.world import DEPTH_MAX, Allocator, World
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.relations import bare
from checker.machine.types import Type
from checker.source import Span
from checker.table.document import Cell

Term = t.Term
Handler = Callable[["Context", ast.expr, Type | None], Term]

_HANDLERS: dict[type[ast.expr], Handler] = {}


def handles(*kinds: type[ast.expr]) -> Callable[[Handler], Handler]:
    """Register a function for kinds of syntax nodes."""

    def register(handler: Handler) -> Handler:
        for kind in kinds:
            _HANDLERS[kind] = handler
        return handler

    return register


@dataclass(slots=True)
class Context:
    """The surroundings of one expression. `names` are the locals and bindings it sees."""

    world: World
    cell: Cell
    names: dict[str, Term] = field(default_factory=dict)
    allocator: Allocator = field(default_factory=Allocator)
    constant: bool = False
    next_allowed: bool = False
    inlined: tuple[str, ...] = ()
    depth: int = 0
    maybe: frozenset[str] = frozenset()
    """Locals that have a value on some ways to this place only."""
    compared: bool = False
    """Whether values here are only compared: a hint says what names mean, and bounds nothing."""

    def span(self, node: ast.expr | ast.stmt | ast.comprehension | ast.keyword) -> Span:
        """Return the place of a node in its file."""
        return self.cell.place(node)

    def child(self, names: dict[str, Term]) -> Context:
        """Return the same surroundings with more names."""
        return self._with(self.cell, {**self.names, **names}, self.inlined)

    def inside(self, cell: Cell, names: dict[str, Term], name: str) -> Context:
        """Return the surroundings of the definition or procedure `name`, put in here."""
        return self._with(cell, names, (*self.inlined, name))

    def at_cell(self, cell: Cell) -> Context:
        """Return the same surroundings for another cell."""
        return self._with(cell, self.names, self.inlined)

    def _with(self, cell: Cell, names: dict[str, Term], inlined: tuple[str, ...]) -> Context:
        return Context(
            self.world,
            cell,
            names,
            self.allocator,
            self.constant,
            self.next_allowed,
            inlined,
            self.depth,
            self.maybe,
            self.compared,
        )

    def infer(self, node: ast.expr, hint: Type | None = None) -> Term:
        """Return the term of `node`.

        `hint` is the type its place expects: it gives names and empty collections their type, and
        what is stored its bounds (`place`); the result may still need a conversion.
        """
        span = self.cell.place(node)
        self.world.meter.tick(span)
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise Wrong("Y310", "this form is not part of the language", span)
        self.require_shallow(span)
        self.depth += 1
        try:
            return handler(self, node, hint)
        finally:
            self.depth -= 1

    def require_shallow(self, span: Span) -> None:
        """Raise Wrong where what stands here is inside of too much else."""
        if self.depth > DEPTH_MAX:
            raise Wrong(
                "Y311",
                "this nests too deeply once definitions and procedures are put in",
                span,
                expected=f"at most {DEPTH_MAX} levels",
            )

    def check(self, node: ast.expr, expected: Type) -> Term:
        """Return the term of `node` as a value of `expected`."""
        with self.comparing(False):
            return convert.coerce(self.infer(node, expected), expected)

    def meant(self, node: ast.expr, kind: Type | None) -> Term:
        """Return the term of `node`; `kind` says what names in it mean, and it need not fit there.

        It is no value that is stored in a place of that type.
        """
        with self.comparing():
            return self.infer(node, kind)

    def place(self, hint: Type | None) -> Type | None:
        """Return the type of the place that a value is stored in, without `optional`, if any."""
        return None if hint is None or self.compared else bare(hint)

    @contextmanager
    def comparing(self, compared: bool = True) -> Iterator[None]:
        """Say of what is inferred meanwhile whether it is only compared."""
        before, self.compared = self.compared, compared
        try:
            yield
        finally:
            self.compared = before

    def condition(self, node: ast.expr, what: str = "this") -> Term:
        """Return the term of `node` as a boolean."""
        return build.boolean(self.infer(node, convert.BOOL), what)

    def once(self, surface: str, value: Term, use: Callable[[Term], Term], span: Span) -> Term:
        """Return `use(value)` with `value` evaluated once however often `use` mentions it."""
        if convert.is_atomic(value):
            return use(value)
        name = self.allocator.unique(surface)
        body = use(t.Local(name, value.type, span))
        return t.Let(name, value, body, body.type, span)


def expression(cell: Cell) -> ast.expr:
    """Return the tree of a cell that holds an expression."""
    assert isinstance(cell.tree, ast.expr)
    return cell.tree
