"""All one-place mutants of a specification, woven into one machine.

A mutant is one small mistake in a row, procedure or definition: a condition that is left out or
negated, a statement that is forgotten, another state, value or field, an off by one. Compiling a
machine takes much longer than searching it, so the mutants are not written out one by one: the
woven specification has one variable more, which never changes and has another value in every
initial state; each place does what it should unless that variable is one of the place's numbers.
Number 0 is the specification itself. (Untch, Offutt, Harrold 1993: mutant schemata.)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from checker.elaborate import elaborate
from checker.errors import SpecificationError
from checker.frozen import frozen
from checker.machine.builtins import BUILT_INS
from checker.machine.machine import Machine
from checker.mutation import parts
from checker.mutation.merging import merged
from checker.source import NOWHERE, Span
from checker.table.document import (
    BindingEntry,
    Cell,
    Document,
    InState,
    Row,
    TypeNode,
    TypeRange,
    VariableEntry,
    Word,
)

CHOSEN = "_chosen"
"""The binding that chooses a mutant. No specification has such a name (T123)."""

TOO_LARGE = "Y311"
"""The code of what is too large once everything is put in: fewer mutants may fit."""

Kind = Literal["guard", "effect", "target", "message", "definition"]
"""What a mutant changes; `target` is the state that a machine goes to."""

SENDING = frozenset(item.name for item in BUILT_INS if item.sends)
"""Statements that are messages."""

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

BINDING = frozenset(item.name for item in BUILT_INS if item.binds)
"""Functions whose arguments are no values of their own."""


@frozen(slots=False)
class Mutant:
    """One mistake: `where` it is (row, procedure or definition), `what` was done, in which line."""

    number: int
    where: str
    what: str
    kind: Kind
    span: Span

    def __str__(self) -> str:
        return f"{self.where}:{self.span.line}: {self.what}"

    @property
    def name(self) -> str:
        """The row, procedure or definition that it is in."""
        return self.where.partition(" ")[2]

    @property
    def key(self) -> str:
        """What tells this mutant from all others of its specification, whatever its number."""
        return f"{self.where}: {self.what}"


@frozen(slots=False)
class Woven:
    """A document with all of `mutants` in it, and the machine that an instance of it is."""

    document: Document
    mutants: tuple[Mutant, ...]
    machine: Machine
    refused: frozenset[str] = frozenset()
    """The keys of those that are no specification."""


def catalogue(document: Document) -> tuple[Mutant, ...]:
    """Return all mutants of a specification, those with wrong types included."""
    weaver = _Weaver(document, None, frozenset())
    weaver.document()
    return tuple(weaver.mutants)


def weave(
    document: Document,
    keys: AbstractSet[str] | None = None,
    instance: str | None = None,
    versions: Mapping[str, Document] = MappingProxyType({}),
) -> Woven:
    """Return `document` with the mutants of these keys, with all where None, and with versions.

    Mutants with which the instance is no specification (wrong types, as a rule), or does not use
    its symmetric ids alike any more, are left out; the others are numbered from 1, and after them
    the versions, of which each is a `difference`. SpecificationError where they are too many for
    one machine (Y311), or a version is no specification.
    """
    wrong: set[str] = set()
    while True:
        weaver = _Weaver(document, keys, frozenset(wrong))
        whole, mutants = _with_versions(weaver, versions)
        try:
            machine = _elaborated(whole, instance, document)
        except SpecificationError as error:
            if any(item.code == TOO_LARGE for item in error.diagnostics):
                raise
            found = _culprits(document, weaver.mutants, instance, error)
            if not found:
                raise
            wrong |= found
        else:
            return Woven(whole, mutants, machine, frozenset(wrong))


def _with_versions(
    weaver: _Weaver, versions: Mapping[str, Document]
) -> tuple[Document, tuple[Mutant, ...]]:
    """Return what a weaver makes, with these versions as mutants after its own."""
    woven = weaver.document()
    mutants = list(weaver.mutants)
    for key, version in versions.items():
        mutants.append(Mutant(len(mutants) + 1, "version", key, "effect", NOWHERE))
        # In the form that woven rows have: `to:` and `send:` are statements.
        changed = _Weaver(version, frozenset(), frozenset()).document()
        woven = merged(woven, changed, len(mutants))
    return choosing(woven, len(mutants)), tuple(mutants)


def choosing(document: Document, count: int) -> Document:
    """Return a document with the variable that says which of `count` mutants runs.

    Its section `initial` chooses before it does anything else.
    """
    numbers = TypeRange(parts.cell("0"), parts.cell(str(count)), NOWHERE)
    row = document.initial or parts.NOTHING
    body = () if row.do is None else row.do.tree
    assert isinstance(body, tuple)
    first = ast.parse(f"{parts.VARIABLE} = {CHOSEN}").body
    initial = replace(
        row,
        bindings=(BindingEntry(Word(CHOSEN, NOWHERE), numbers, None), *row.bindings),
        do=parts.with_tree(None, (*first, *body)),
    )
    variable = VariableEntry(
        Word(parts.VARIABLE, NOWHERE), "", numbers, parts.cell("0"), None, observed=True
    )
    return replace(document, initial=initial, variables=(*document.variables, variable))


def _elaborated(document: Document, instance: str | None, origin: Document) -> Machine:
    """Return an instance of what was woven of `origin`.

    SpecificationError where it is none, or uses its symmetric ids less alike than `origin`.
    """
    machine = elaborate(document, instance)
    if machine.unlike and elaborate(origin, instance).symmetry:
        raise SpecificationError(machine.unlike)
    return machine


def _culprits(
    document: Document, mutants: list[Mutant], instance: str | None, error: SpecificationError
) -> set[str]:
    """Return the mutants that are wrong by themselves, looked for where the errors are first."""

    def wrong(some: list[Mutant]) -> set[str]:
        if not some:
            return set()
        keys = {mutant.key for mutant in some}
        weaver = _Weaver(document, keys, frozenset())
        alone = choosing(weaver.document(), len(weaver.mutants))
        try:
            _elaborated(alone, instance, document)
        except SpecificationError:
            if len(some) == 1:
                return keys
        else:
            return set()
        return wrong(some[: len(some) // 2]) | wrong(some[len(some) // 2 :])

    there = [
        item for item in mutants if any(_touches(item.span, e.span) for e in error.diagnostics)
    ]
    lines = {(item.span.source.name, item.span.line) for item in error.diagnostics}
    near = [item for item in mutants if (item.span.source.name, item.span.line) in lines]
    return wrong(there) or wrong(near) or wrong(mutants)


def _touches(one: Span, two: Span) -> bool:
    if one.source is not two.source:
        return False
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
        self.known: dict[str, set[str]] = {}
        self.where = ""
        self.cell: Cell | None = None
        self.kind: Kind = "guard"
        self.locals: set[str] = set()
        self.variables = parts.variables(document)
        self.values = parts.values(document)
        self.states = parts.states(document)
        self.fields = {item.name.text: item.fields for item in document.messages}
        self.fields |= {item.name.text: item.fields for item in document.types if item.fields}
        self.calls = {item.name.text for item in document.calls}

    def document(self) -> Document:
        self.kind = "definition"
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
        return replace(self.origin, definitions=definitions, procedures=procedures, rows=rows)

    def row(self, row: Row) -> Row:
        """Weave one row. Its `in:`, `to:` and `send:` become conditions and statements."""
        self.where, self.kind = f"row {row.name.text}", "guard"
        self.locals = {name.text for name, _ in row.lets} | {e.name.text for e in row.bindings}
        bindings = tuple(
            entry
            if entry.cell is None
            else replace(entry, cell=self.expression(self.where, entry.cell))
            for entry in row.bindings
        )
        lets = tuple((name, self.expression(self.where, cell)) for name, cell in row.lets)
        guard = [] if row.when is None else self.guard(row.when)
        if row.fault is None:
            guard = [*self.never(row), *guard]
        inside: list[ast.expr] = []
        for entry in row.inside:
            for word in entry.states if len(entry.states) > 1 else ():
                inside += self.not_in(entry.place, word)
        pieces = [] if row.do is None else [self.effects(self.where, row.do, self.locals)]
        pieces += [self.to(entry) for entry in row.to]
        pieces += [self.effects(self.where, self.sent(cell), self.locals) for cell in row.send]
        return replace(
            row,
            bindings=bindings,
            lets=lets,
            when=parts.conjunction([*inside, *guard], row.when),
            do=parts.one_after_another(pieces),
            to=(),
            send=(),
        )

    def to(self, entry: InState) -> Cell:
        """Return an entry of `to:` as a statement: it can be left out, or go to another state."""
        place, (word,) = copy.deepcopy(entry.place.tree), entry.states
        assert isinstance(place, ast.expr)
        self.cell, self.kind = entry.place, "target"
        goes = ast.copy_location(ast.Name(word.text, ast.Load()), place)
        number = self.number(f"`{entry.place.text}` stays as it is", word.span)
        value = self.other_states(place, goes, word.span)
        moves: ast.stmt = ast.copy_location(ast.Assign([place], value), place)
        if number is not None:
            moves = ast.copy_location(ast.If(parts.is_not(number), [moves], []), place)
        return parts.with_tree(entry.place, (ast.fix_missing_locations(moves),))

    def sent(self, cell: Cell) -> Cell:
        """Return a cell of `send:` as the statement that it stands for."""
        node = cell.tree
        name = "send"
        match node:
            case ast.Tuple([first, second]):
                name = "call" if parts.base(first) in self.calls else "send"
                arguments = [first, second]
            case ast.Call(ast.Name(word)) if word in SENDING:
                return parts.with_tree(cell, (ast.copy_location(ast.Expr(node), node),))
            case ast.Call(ast.Attribute(channel, kind), given, keywords):
                message = ast.Call(ast.Name(kind, ast.Load()), given, keywords)
                arguments = [channel, ast.copy_location(message, node)]
            case _:
                assert isinstance(node, ast.expr)
                arguments = [node]
        assert isinstance(node, ast.expr)
        whole = ast.copy_location(ast.Call(ast.Name(name, ast.Load()), arguments, []), node)
        statement = ast.copy_location(ast.Expr(whole), node)
        return parts.with_tree(cell, (ast.fix_missing_locations(statement),))

    def never(self, row: Row) -> list[ast.expr]:
        number = self.number("the row is missing", row.span)
        return [] if number is None else [parts.is_not(number)]

    def not_in(self, place: Cell, word: Word) -> list[ast.expr]:
        number = self.number(f"not in {word.text}", word.span)
        if number is None:
            return []
        return [parts.parse(f"{parts.VARIABLE} != {number} or {place.text} != {word.text}")]

    def guard(self, cell: Cell) -> list[ast.expr]:
        self.cell = cell
        tree = copy.deepcopy(cell.tree)
        assert isinstance(tree, ast.expr)
        return [self.condition(tree)]

    def expression(self, where: str, cell: Cell) -> Cell:
        self.where, self.cell = where, cell
        tree = copy.deepcopy(cell.tree)
        assert isinstance(tree, ast.expr)
        woven = self.condition(tree) if parts.is_truth(tree) else self.value(tree)
        return parts.with_tree(cell, ast.fix_missing_locations(woven))

    def effects(self, where: str, cell: Cell, known: set[str]) -> Cell:
        self.where, self.cell, self.locals = where, cell, set(known)
        assert isinstance(cell.tree, tuple)
        body = self.block(copy.deepcopy(list(cell.tree)))
        for statement in body:
            ast.fix_missing_locations(statement)
        return parts.with_tree(cell, tuple(body))

    # ------------------------------------------------------------------------------ statements

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [woven for item in statements for woven in self.statement(item)]

    def statement(self, item: ast.stmt) -> Iterator[ast.stmt]:
        droppable = not self.begins(item) and not isinstance(item, ast.Pass | ast.If | ast.Assert)
        self.kind = self.kind_of(item)
        number = (
            self.number(f"without `{parts.words(item)}`", self.place(item)) if droppable else None
        )
        self.inner(item)
        if number is None:
            yield item
            return
        yield ast.copy_location(ast.If(parts.is_not(number), [item], []), item)

    def begins(self, item: ast.stmt) -> bool:
        """Whether a statement is the first assignment to a local, which later ones need."""
        if not isinstance(item, ast.Assign) or not isinstance(item.targets[0], ast.Name):
            return False
        name = item.targets[0].id
        known = name in self.locals or name in self.variables
        self.locals.add(name)
        return not known

    def kind_of(self, item: ast.stmt) -> Kind:
        match item:
            case ast.If():
                return "guard"
            case ast.Assign([target], _) if parts.base(target) in self.states:
                return "target"
            case ast.Expr(ast.Call(ast.Name(name))) if name in SENDING:
                return "message"
        return "effect"

    def inner(self, item: ast.stmt) -> None:
        match item:
            case ast.Assign([target], ast.Name() as value) if self.kind == "target":
                span = self.place(value)
                item.value = self.other_states(target, value, span)
            case ast.Assign() | ast.AugAssign():
                item.value = self.value(item.value)
            case ast.If():
                item.test = self.condition(item.test, false=True)
                item.body = self.block(item.body)
                item.orelse = self.block(item.orelse)
            case ast.For():
                item.iter = self.value(item.iter)
                item.body = self.block(item.body)
            case ast.Expr(ast.Call() as call) if not parts.takes_a_place(call):
                self.arguments(call)

    def arguments(self, call: ast.Call) -> None:
        """Weave the arguments of a call; the first of `send` and its like is a place."""
        fields = self.fields.get(call.func.id, ()) if isinstance(call.func, ast.Name) else ()
        types = {name.text: node for name, node in fields}
        kinds = [*types.values(), *[None] * len(call.args)]
        call.args = [
            arg
            if isinstance(arg, ast.Subscript | ast.Starred) and kind is None
            else self.field(arg, kind)
            for arg, kind in zip(call.args, kinds, strict=False)
        ]
        for keyword in call.keywords:
            keyword.value = self.field(keyword.value, types.get(keyword.arg or ""))

    def field(self, node: ast.expr, kind: TypeNode | None) -> ast.expr:
        """Weave what a field is given; a value that is not written out becomes the least one."""
        first = parts.least(kind)
        if isinstance(node, ast.Starred):
            return node
        if first is None or isinstance(node, ast.Constant) or parts.same(node, first):
            return self.value(node)
        if isinstance(node, ast.Name) and node.id in {*self.values, "true", "false"}:
            return self.value(node)
        what = f"`{parts.words(first)}` for `{parts.words(node)}`"
        woven = self.value(copy.deepcopy(node))
        number = self.number(what, self.place(node))
        if number is None:
            return woven
        first = ast.copy_location(first, node)
        return ast.copy_location(ast.IfExp(parts.is_number(number), first, woven), node)

    def other_states(self, place: ast.expr, node: ast.Name, span: Span) -> ast.expr:
        """Weave the state that a machine goes to: the next ones of its table instead."""
        woven: ast.expr = node
        for states in self.states.get(parts.base(place), ()):
            if node.id in states and len(states) > 1:
                here = states.index(node.id)
                for other in dict.fromkeys((states[here - 1], states[(here + 1) % len(states)])):
                    number = self.number(
                        f"`{parts.words(place)}` goes to `{other}` for `{node.id}`", span
                    )
                    if number is not None:
                        away = ast.copy_location(ast.Name(other, ast.Load()), node)
                        woven = ast.IfExp(parts.is_number(number), away, woven)
                        woven = ast.copy_location(woven, node)
                break
        return woven

    # ----------------------------------------------------------------------------- expressions

    def condition(self, node: ast.expr, *, false: bool = False) -> ast.expr:
        """Weave a condition that can be left out: taken for true, with `false` also for false.

        Of several joined by `and` or `or` each can be left out by itself.
        """
        place, text = self.place(node), parts.words(node)
        simple = not isinstance(node, ast.BoolOp)
        true = self.number(f"`{text}` taken for true", place) if simple else None
        never = self.number(f"`{text}` taken for false", place) if false else None
        negated = None
        if simple and not isinstance(node, ast.Compare | ast.UnaryOp):
            negated = self.number(f"`not {text}`", place)
        woven = self.value(node)
        if negated is not None:
            other = ast.UnaryOp(ast.Not(), copy.deepcopy(woven))
            woven = ast.copy_location(ast.IfExp(parts.is_number(negated), other, woven), node)
        if never is not None:
            woven = parts.joined(ast.And(), parts.is_not(never), woven)
        return woven if true is None else parts.joined(ast.Or(), parts.is_number(true), woven)

    def value(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.BoolOp(ast.And()):
                node.values = [self.condition(item) for item in node.values]
            case ast.BoolOp(ast.Or()):
                node.values = [self.alternative(item) for item in node.values]
            case ast.UnaryOp(ast.Not(), operand):
                return self.either(
                    node, f"`{parts.words(node)}` without not", copy.deepcopy(operand)
                )
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
            case ast.Call(ast.Name(name)) if name in BINDING:
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
            node.elt = self.value(node.elt) if parts.is_truth(node.elt) else node.elt

    def alternative(self, node: ast.expr) -> ast.expr:
        """Weave one of several conditions any of which suffices: it can be taken for false."""
        number = self.number(f"`{parts.words(node)}` taken for false", self.place(node))
        woven = self.value(node)
        return woven if number is None else parts.joined(ast.And(), parts.is_not(number), woven)

    def comparison(self, node: ast.Compare) -> ast.expr:
        other = copy.deepcopy(node)
        kind = type(node.ops[0])
        node.left = self.value(node.left) if isinstance(node.left, ast.BinOp) else node.left
        node.comparators = [self.value(item) for item in node.comparators]
        if len(node.ops) > 1 or kind not in SWAPS:
            return node
        other.ops = [SWAPS[kind]()]
        return self.either(node, f"`{parts.words(other)}`", other)

    def operation(self, node: ast.BinOp) -> ast.expr:
        """Weave `a op b`, which can become `a` where it is one of sets, and be off by one."""
        left = copy.deepcopy(node.left)
        what = f"`{parts.words(left)}` for `{parts.words(node)}`"
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
        test = parts.is_number(number)
        return ast.copy_location(ast.IfExp(test, ast.copy_location(other, node), node), node)

    # ---------------------------------------------------------------------------------- numbers

    def place(self, node: ast.expr | ast.stmt) -> Span:
        assert self.cell is not None
        return self.cell.place(node)

    def number(self, what: str, span: Span) -> int | None:
        """Return the number of a new mutant, None where it is not wanted."""
        here = self.known.setdefault(self.where, set())
        same = sum(known == what or known.startswith(f"{what} (") for known in here)
        mutant = Mutant(
            len(self.mutants) + 1,
            self.where,
            f"{what} ({same + 1})" if same else what,
            self.kind,
            span,
        )
        here.add(mutant.what)
        chosen = self.chosen is None or mutant.key in self.chosen
        if not chosen or mutant.key in self.wrong:
            return None
        self.mutants.append(mutant)
        return mutant.number
