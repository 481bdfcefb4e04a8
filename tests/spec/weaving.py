"""All one-place mutants of a specification, woven into one machine.

A mutant is one small mistake in a row, procedure or definition: a condition that is left out or
negated, a statement that is forgotten, another state or error code, an off by one. Compiling a
machine takes much longer than searching it, so the mutants are not written out one by one: the
woven specification has one variable more, `mutant`, which never changes and has another value in
every initial state; each place does what it should unless `mutant` is one of the place's numbers.
Number 0 is the specification itself. (Untch, Offutt, Harrold 1993: mutant schemata.)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from checker.elaborate.elaborate import elaborate
from checker.errors import SpecificationError
from checker.source import NOWHERE, Span
from checker.table.document import (
    BindingEntry,
    Cell,
    Document,
    Row,
    TypeEnum,
    TypeRange,
    VariableEntry,
    Word,
)

VARIABLE = "mutant"
CHOSEN = "chosen_mutant"

SWAPS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
"""Which comparison a comparison is mistaken for; `is` tests kinds and options and is left alone."""

STRUCTURE = {"pick", "fresh", "range", "implies", "len", "min", "max", "sum", "all", "any"}
"""Functions whose arguments are no values of their own."""


@dataclass(frozen=True)
class Mutant:
    """One mistake: `where` it is (row, procedure or definition), `what` was done, in which line."""

    number: int
    where: str
    what: str
    span: Span

    def __str__(self) -> str:
        return f"{self.where}:{self.span.line}: {self.what}"

    @property
    def key(self) -> str:
        """What tells this mutant from all others of its specification, whatever its number."""
        return f"{self.where}: {self.what}"


@dataclass(frozen=True)
class Woven:
    """A document with all of `mutants` in it."""

    document: Document
    mutants: tuple[Mutant, ...]


def weave(document: Document, keys: AbstractSet[str] | None = None) -> Woven:
    """Return `document` with the mutants of these keys, with all where None.

    Those with wrong types are left out; the others are numbered from 1.
    """
    wrong: set[str] = set()
    while True:
        weaver = _Weaver(document, keys, frozenset(wrong))
        woven = weaver.document()
        try:
            elaborate(woven)
        except SpecificationError as error:
            found = {
                mutant.key
                for mutant in weaver.mutants
                for item in error.diagnostics
                if _touches(mutant.span, item.span)
            }
            if not found:
                raise
            wrong |= found
            continue
        return Woven(woven, tuple(weaver.mutants))


def _touches(one: Span, two: Span) -> bool:
    begins, ends = (one.line, one.column), (one.end_line, one.end_column)
    return begins <= (two.line, two.column) <= ends


class _Weaver:
    """Walks through a document once, giving numbers as it goes."""

    def __init__(
        self, document: Document, chosen: AbstractSet[str] | None, wrong: AbstractSet[str]
    ) -> None:
        self.origin = document
        self.chosen = chosen
        self.wrong = wrong
        self.mutants: list[Mutant] = []
        self.keys: set[str] = set()
        self.where = ""
        self.cell: Cell | None = None
        self.locals: set[str] = set()
        self.variables = _variables(document)
        self.values = _values(document)

    def document(self) -> Document:
        definitions = tuple(
            replace(item, body=self.expression(f"definition {item.name.text}", item.body))
            for item in self.origin.definitions
        )
        procedures = tuple(
            replace(
                item,
                body=self.effects(
                    f"procedure {item.name.text}",
                    item.body,
                    {word.text for word in item.parameters},
                ),
            )
            for item in self.origin.procedures
        )
        rows = tuple(self.row(row) for row in self.origin.rows)
        return replace(
            self.origin,
            definitions=definitions,
            procedures=procedures,
            rows=rows,
            initial=self.initial(),
            variables=(*self.origin.variables, self.variable()),
        )

    def variable(self) -> VariableEntry:
        return VariableEntry(
            Word(VARIABLE, NOWHERE), "", self.numbers(), _cell("0"), None, observed=True
        )

    def numbers(self) -> TypeRange:
        return TypeRange(_cell("0"), _cell(str(len(self.mutants))), NOWHERE)

    def initial(self) -> Row:
        """Return the section `initial`, which chooses the mutant before anything else."""
        row = self.origin.initial or _NOTHING
        body = () if row.do is None else row.do.tree
        assert isinstance(body, tuple)
        first = ast.parse(f"{VARIABLE} = {CHOSEN}").body
        return replace(
            row,
            bindings=(BindingEntry(Word(CHOSEN, NOWHERE), self.numbers(), None), *row.bindings),
            do=_with_tree(None, (*first, *body)),
        )

    def row(self, row: Row) -> Row:
        """Weave one row. Its `in:` and `to:` become conditions and statements."""
        self.where = f"row {row.name.text}"
        self.locals = {name.text for name, _ in row.lets} | {e.name.text for e in row.bindings}
        bindings = tuple(
            entry
            if entry.cell is None
            else replace(entry, cell=self.expression(self.where, entry.cell))
            for entry in row.bindings
        )
        lets = tuple((name, self.expression(self.where, cell)) for name, cell in row.lets)
        guard = [] if row.when is None else self.guard(row.when)
        body = () if row.do is None else self.effects(self.where, row.do, self.locals).tree
        assert isinstance(body, tuple)
        if row.fault is None:
            guard = [self.never(row), *guard]
        inside: list[ast.expr] = []
        for entry in row.inside:
            for word in entry.states if len(entry.states) > 1 else ():
                inside += self.not_in(entry.place, word)
        return replace(
            row,
            bindings=bindings,
            lets=lets,
            when=_conjunction([*inside, *guard], row.when),
            do=None if not body else _with_tree(row.do, body),
        )

    def never(self, row: Row) -> ast.expr:
        number = self.number("the row is missing", row.span)
        return _parse("true") if number is None else _is_not(number)

    def not_in(self, place: Cell, word: Word) -> list[ast.expr]:
        number = self.number(f"not in {word.text}", word.span)
        if number is None:
            return []
        return [_parse(f"{VARIABLE} != {number} or {place.text} != {word.text}")]

    def guard(self, cell: Cell) -> list[ast.expr]:
        self.cell = cell
        tree = copy.deepcopy(cell.tree)
        assert isinstance(tree, ast.expr)
        return [self.condition(tree)]

    def expression(self, where: str, cell: Cell) -> Cell:
        self.where, self.cell = where, cell
        tree = copy.deepcopy(cell.tree)
        assert isinstance(tree, ast.expr)
        woven = self.value(tree)
        return _with_tree(cell, ast.fix_missing_locations(woven))

    def effects(self, where: str, cell: Cell, known: set[str]) -> Cell:
        self.where, self.cell, self.locals = where, cell, set(known)
        assert isinstance(cell.tree, tuple)
        body = self.block(copy.deepcopy(list(cell.tree)))
        for statement in body:
            ast.fix_missing_locations(statement)
        return _with_tree(cell, tuple(body))

    # ------------------------------------------------------------------------------ statements

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [woven for item in statements for woven in self.statement(item)]

    def statement(self, item: ast.stmt) -> Iterator[ast.stmt]:
        droppable = not self.begins(item) and not isinstance(item, ast.Pass | ast.If)
        number = self.number(f"without `{_words(item)}`", self.place(item)) if droppable else None
        self.inner(item)
        if number is None:
            yield item
            return
        yield ast.copy_location(ast.If(_is_not(number), [item], []), item)

    def begins(self, item: ast.stmt) -> bool:
        """Whether a statement is the first assignment to a local, which later ones need."""
        if not isinstance(item, ast.Assign) or not isinstance(item.targets[0], ast.Name):
            return False
        name = item.targets[0].id
        known = name in self.locals or name in self.variables
        self.locals.add(name)
        return not known

    def inner(self, item: ast.stmt) -> None:
        match item:
            case ast.Assign() | ast.AugAssign():
                item.value = self.value(item.value)
            case ast.If():
                item.test = self.condition(item.test, false=True)
                item.body = self.block(item.body)
                item.orelse = self.block(item.orelse)
            case ast.For():
                item.iter = self.value(item.iter)
                item.body = self.block(item.body)
            case ast.Expr(ast.Call() as call) if not _takes_a_place(call):
                self.arguments(call)

    def arguments(self, call: ast.Call) -> None:
        """Weave the arguments of a call; the first of `send` and its like is a place."""
        call.args = [
            arg if isinstance(arg, ast.Subscript | ast.Starred) else self.value(arg)
            for arg in call.args
        ]
        for keyword in call.keywords:
            keyword.value = self.value(keyword.value)

    # ----------------------------------------------------------------------------- expressions

    def condition(self, node: ast.expr, *, false: bool = False) -> ast.expr:
        """Weave a condition that can be left out: taken for true, with `false` also for false.

        Of several joined by `and` or `or` each can be left out by itself.
        """
        place, words = self.place(node), _words(node)
        simple = not isinstance(node, ast.BoolOp)
        true = self.number(f"`{words}` taken for true", place) if simple else None
        never = self.number(f"`{words}` taken for false", place) if false else None
        woven = self.value(node)
        if never is not None:
            woven = _joined(ast.And(), _is_not(never), woven)
        return woven if true is None else _joined(ast.Or(), _is(true), woven)

    def value(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.BoolOp(ast.And()):
                node.values = [self.condition(item) for item in node.values]
            case ast.BoolOp(ast.Or()):
                node.values = [self.alternative(item) for item in node.values]
            case ast.UnaryOp(ast.Not(), operand):
                return self.either(node, f"`{_words(node)}` without not", copy.deepcopy(operand))
            case ast.IfExp():
                node.test = self.condition(node.test, false=True)
                node.body, node.orelse = self.value(node.body), self.value(node.orelse)
            case ast.Compare():
                return self.comparison(node)
            case ast.BinOp():
                return self.operation(node)
            case ast.Constant(bool(value)):
                return self.either(node, f"`{value}` wrong", ast.Constant(not value))
            case ast.Constant(int(value)):
                return self.either(node, f"`{value}` one more", ast.Constant(value + 1))
            case ast.Name():
                return self.name(node)
            case ast.Call(ast.Name(name)) if name in STRUCTURE:
                for argument in node.args:
                    self.comprehension(argument)
            case ast.Call(ast.Name()):
                self.arguments(node)
            case ast.Set():
                node.elts = [self.value(item) for item in node.elts]
            case ast.SetComp() | ast.ListComp() | ast.GeneratorExp():
                self.comprehension(node)
        return node

    def comprehension(self, node: ast.expr) -> None:
        if isinstance(node, ast.SetComp | ast.ListComp | ast.GeneratorExp):
            for generator in node.generators:
                generator.ifs = [self.condition(item) for item in generator.ifs]
            node.elt = self.value(node.elt) if _is_truth(node.elt) else node.elt

    def alternative(self, node: ast.expr) -> ast.expr:
        """Weave one of several conditions any of which suffices: it can be taken for false."""
        number = self.number(f"`{_words(node)}` taken for false", self.place(node))
        woven = self.value(node)
        return woven if number is None else _joined(ast.And(), _is_not(number), woven)

    def comparison(self, node: ast.Compare) -> ast.expr:
        other = copy.deepcopy(node)
        kind = type(node.ops[0])
        node.left = self.value(node.left) if isinstance(node.left, ast.BinOp) else node.left
        node.comparators = [self.value(item) for item in node.comparators]
        if len(node.ops) > 1 or kind not in SWAPS:
            return node
        other.ops = [SWAPS[kind]()]
        return self.either(node, f"`{_words(other)}`", other)

    def operation(self, node: ast.BinOp) -> ast.expr:
        """Weave `a op b`, which can become `a` where it is one of sets, and be off by one."""
        left = copy.deepcopy(node.left)
        what = f"`{_words(left)}` for `{_words(node)}`"
        node.left, node.right = self.value(node.left), self.value(node.right)
        number = isinstance(node.right, ast.Constant | ast.IfExp) or not isinstance(
            node.op, ast.BitOr | ast.BitAnd | ast.Sub
        )
        return node if number else self.either(node, what, left)

    def name(self, node: ast.Name) -> ast.expr:
        if node.id in {"true", "false"}:
            other = "false" if node.id == "true" else "true"
            return self.either(node, f"`{other}` for `{node.id}`", ast.Name(other, ast.Load()))
        woven: ast.expr = node
        if node.id in self.values and node.id not in self.locals:
            for other in self.values[node.id]:
                what = f"`{other}` for `{node.id}` in column {self.place(node).column}"
                woven = self.either(woven, what, ast.Name(other, ast.Load()))
        return woven

    def either(self, node: ast.expr, what: str, other: ast.expr) -> ast.expr:
        """Return `node`, or `other` in a mutant of its own."""
        number = self.number(what, self.place(node))
        if number is None:
            return node
        test = _is(number)
        return ast.copy_location(ast.IfExp(test, ast.copy_location(other, node), node), node)

    # ---------------------------------------------------------------------------------- numbers

    def place(self, node: ast.expr | ast.stmt) -> Span:
        assert self.cell is not None
        return self.cell.place(node)

    def number(self, what: str, span: Span) -> int | None:
        """Return the number of a new mutant, None where it is not wanted."""
        same = sum(key == what or key.startswith(f"{what} (") for key in self.keys_here())
        mutant = Mutant(
            len(self.mutants) + 1, self.where, f"{what} ({same + 1})" if same else what, span
        )
        self.keys.add(mutant.key)
        chosen = self.chosen is None or mutant.key in self.chosen
        if not chosen or mutant.key in self.wrong:
            return None
        self.mutants.append(mutant)
        return mutant.number

    def keys_here(self) -> Iterator[str]:
        prefix = f"{self.where}: "
        return (key.removeprefix(prefix) for key in self.keys if key.startswith(prefix))


# ------------------------------------------------------------------------------------- small parts


def _words(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:87]}..."


def _parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _is(number: int) -> ast.expr:
    return _parse(f"{VARIABLE} == {number}")


def _is_not(number: int) -> ast.expr:
    return _parse(f"{VARIABLE} != {number}")


def _joined(operator: ast.boolop, test: ast.expr, node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.BoolOp(operator, [test, node]), node)


def _takes_a_place(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "pop"


def _is_truth(node: ast.expr) -> bool:
    return isinstance(node, ast.BoolOp | ast.Compare | ast.UnaryOp)


def _conjunction(parts: list[ast.expr], cell: Cell | None) -> Cell | None:
    if not parts:
        return None
    tree = parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)
    ast.copy_location(tree, parts[-1])
    return _with_tree(cell, ast.fix_missing_locations(tree))


def _with_tree(cell: Cell | None, tree: ast.expr | tuple[ast.stmt, ...]) -> Cell:
    if cell is None:
        return Cell("", NOWHERE, tree, ((1, 1),))
    return Cell(cell.text, cell.span, tree, cell.starts)


def _cell(text: str) -> Cell:
    return Cell(text, NOWHERE, _parse(text), ((1, 1),))


def _variables(document: Document) -> set[str]:
    return {item.name.text for item in (*document.variables, *document.machines)}


def _values(document: Document) -> Mapping[str, tuple[str, ...]]:
    """Return for each enum value or state what it can be mistaken for: its neighbours."""
    groups = [
        [word.text for word in item.node.members]
        for item in document.types
        if isinstance(item.node, TypeEnum)
    ]
    groups += [[name for name, _ in table.states] for table in document.tables.values()]
    names = [name for group in groups for name in group]
    return {
        name: tuple(dict.fromkeys((group[place - 1], group[(place + 1) % len(group)])))
        for group in groups
        for place, name in enumerate(group)
        if names.count(name) == 1 and len(group) > 1
    }


_NOTHING = Row(
    Word("initial", NOWHERE),
    *("", ""),
    on=None,
    bindings=(),
    only_if=None,
    inside=(),
    lets=(),
    when=None,
    do=None,
    to=(),
    send=(),
    fault=None,
    fair=None,
    actor=None,
    event=None,
    span=NOWHERE,
)
