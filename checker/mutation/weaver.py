"""One walk through a document that makes a place for each mutant, giving numbers as it goes."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import zip_longest
from typing import Literal, get_args

from checker.frozen import frozen
from checker.machine.builtins import BUILT_INS
from checker.mutation import parts
from checker.mutation.slips import Slips, other_field, other_key, reset
from checker.source import Span
from checker.table.document import Cell, Document, InState, Row, TypeNode, Word
from checker.table.renaming import ValueName

Kind = Literal[
    "guard", "effect", "target", "message", "definition", "loss", "order", "confusion", "bug"
]
"""What a mutant changes; `target` is the state that a machine goes to, a `bug` is written down."""

KINDS: tuple[Kind, ...] = get_args(Kind)[:-1]
"""What is made without anybody writing it down."""

USUAL: tuple[Kind, ...] = KINDS[:5]
"""Changes of what is written; the others are slips (`slips.py`), made where they are asked for."""

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


class Weaver:
    """Makes of a document one with these mutants in it.

    `chosen` are their keys, None for all of `kinds`; those of `wrong` are left out.
    """

    def __init__(
        self,
        document: Document,
        chosen: AbstractSet[str] | None,
        wrong: AbstractSet[str],
        kinds: AbstractSet[Kind] = frozenset(USUAL),
    ) -> None:
        self.origin = document
        self.chosen = chosen
        self.kinds = kinds
        self.wrong = wrong
        self.mutants: list[Mutant] = []
        self.known: dict[str, set[str]] = {}
        self.where = ""
        self.cell: Cell | None = None
        self.kind: Kind = "guard"
        self.locals: set[str] = set()
        self.slips = Slips(document)
        self.names_alike: Mapping[str, str] = {}
        self.variables = parts.variables(document)
        self.values = parts.values(document)
        self.states = parts.states(document)
        self.fields = {item.name.text: item.fields for item in document.messages}
        self.fields |= {item.name.text: item.fields for item in document.types if item.fields}
        self.calls = {item.name.text for item in document.calls}

    def document(self) -> Document:
        """Return the document; its mutants are numbered in `mutants` from then on."""
        self.kind = "definition"
        definitions = tuple(
            replace(item, body=self._expression(f"definition {item.name.text}", item.body))
            for item in self.origin.definitions
        )
        procedures = tuple(
            replace(
                item,
                body=self._effects(
                    f"procedure {item.name.text}",
                    item.body,
                    {word.text for word in item.parameters},
                ),
            )
            for item in self.origin.procedures
        )
        rows = tuple(self._row(row) for row in self.origin.rows)
        return replace(self.origin, definitions=definitions, procedures=procedures, rows=rows)

    def _row(self, row: Row) -> Row:
        """Weave one row. Its `in:`, `to:` and `send:` become conditions and statements."""
        self.where, self.kind = f"row {row.name.text}", "guard"
        self.locals = {name.text for name, _ in row.lets} | {e.name.text for e in row.bindings}
        self.names_alike = self.slips.names_alike(row)
        bindings = tuple(
            entry
            if entry.cell is None
            else replace(entry, cell=self._expression(self.where, entry.cell))
            for entry in row.bindings
        )
        lets = tuple((name, self._expression(self.where, cell)) for name, cell in row.lets)
        guard = [] if row.when is None else self._guard(row.when)
        if row.fault is None:
            guard = [*self._never(row), *guard]
        inside: list[ast.expr] = []
        for entry in row.inside:
            for word in entry.states if len(entry.states) > 1 else ():
                inside += self._not_in(entry, word)
        pieces = [] if row.do is None else [self._effects(self.where, row.do, self.locals)]
        pieces += [self._to(entry) for entry in row.to]
        pieces += [self._effects(self.where, self._sent(cell), self.locals) for cell in row.send]
        pieces += self._losses(row)
        self.names_alike = {}
        return replace(
            row,
            bindings=bindings,
            lets=lets,
            when=parts.conjunction([*inside, *guard], row.when),
            do=parts.one_after_another(pieces),
            to=(),
            send=(),
        )

    def _losses(self, row: Row) -> list[Cell]:
        """Return what a row may lose at its end: something has its first value again."""
        cells = [row.do, *(entry.place for entry in row.to), *row.send, row.on]
        near = next((cell for cell in cells if cell is not None), None)
        if near is None:
            return []
        tree = near.tree[0] if isinstance(near.tree, tuple) else near.tree
        lost: list[ast.stmt] = []
        for place, kept in self.slips.losses(row, frozenset(self.locals)):
            number = self._number(f"`{place}` is `{kept.first}` at the end", row.span, "loss")
            if number is not None:
                again = reset(place, kept.value, tree)
                lost.append(ast.copy_location(ast.If(parts.is_number(number), [again], []), tree))
        return [parts.with_tree(near, tuple(map(ast.fix_missing_locations, lost)))] if lost else []

    def _to(self, entry: InState) -> Cell:
        """Return an entry of `to:` as a statement: it can be left out, or go to another state."""
        place, (word,) = copy.deepcopy(entry.place.tree), entry.states
        assert isinstance(place, ast.expr)
        self.cell, self.kind = entry.place, "target"
        goes = ast.copy_location(parts.value(word.text), place)
        number = self._number(f"`{entry.place.words}` stays as it is", word.span)
        value = self._other_states(place, goes, word.span)
        moves: ast.stmt = ast.copy_location(ast.Assign([place], value), place)
        if number is not None:
            moves = ast.copy_location(ast.If(parts.is_not(number), [moves], []), place)
        return parts.with_tree(entry.place, (ast.fix_missing_locations(moves),))

    def _sent(self, cell: Cell) -> Cell:
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

    def _never(self, row: Row) -> list[ast.expr]:
        number = self._number("the row is missing", row.span)
        return [] if number is None else [parts.is_not(number)]

    def _not_in(self, entry: InState, word: Word) -> list[ast.expr]:
        number = self._number(f"not in {word.text}", word.span)
        if number is None:
            return []
        place = copy.deepcopy(entry.place.tree)
        assert isinstance(place, ast.expr)
        other = ast.Compare(place, [ast.NotEq()], [parts.value(word.text)])
        whole = parts.joined(ast.Or(), parts.is_not(number), ast.copy_location(other, place))
        return [ast.fix_missing_locations(whole)]

    def _guard(self, cell: Cell) -> list[ast.expr]:
        self.cell = cell
        tree = copy.deepcopy(cell.tree)
        assert isinstance(tree, ast.expr)
        return [self._condition(tree)]

    def _expression(self, where: str, cell: Cell) -> Cell:
        self.where, self.cell = where, cell
        tree = copy.deepcopy(cell.tree)
        assert isinstance(tree, ast.expr)
        woven = self._condition(tree) if parts.is_truth(tree) else self._value(tree)
        return parts.with_tree(cell, ast.fix_missing_locations(woven))

    def _effects(self, where: str, cell: Cell, known: set[str]) -> Cell:
        self.where, self.cell, self.locals = where, cell, set(known)
        assert isinstance(cell.tree, tuple)
        body = self._block(copy.deepcopy(list(cell.tree)))
        for statement in body:
            ast.fix_missing_locations(statement)
        return parts.with_tree(cell, tuple(body))

    # ------------------------------------------------------------------------------ statements

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        woven: list[ast.stmt] = []
        done = None  # the mutant in which a statement has run before the one before it
        for item, following in zip_longest(statements, statements[1:]):
            early = None if following is None else self._exchanged(item, following)
            if early is not None:
                sooner = [copy.deepcopy(following)]
                woven.append(ast.copy_location(ast.If(parts.is_number(early), sooner, []), item))
            now = list(self._statement(item))
            if done is not None:
                now = [ast.copy_location(ast.If(parts.is_not(done), now, []), item)]
            woven += now
            done = early
        return woven

    def _exchanged(self, one: ast.stmt, two: ast.stmt) -> int | None:
        """Return the mutant in which the second of two statements runs first."""
        if any(isinstance(item, ast.Pass | ast.Assert) for item in (one, two)):
            return None
        if any(self._is_local(item) for item in (one, two)) or not self.slips.meet(one, two):
            return None
        what = f"`{parts.words(two)}` before `{parts.words(one)}`"
        return self._number(what, self._place(two), "order")

    def _is_local(self, item: ast.stmt) -> bool:
        """Whether a statement gives a local a value."""
        match item:
            case ast.Assign([ast.Name(name)], _) | ast.AugAssign(ast.Name(name)):
                return name not in self.variables
        return False

    def _statement(self, item: ast.stmt) -> Iterator[ast.stmt]:
        droppable = not self._begins(item) and not isinstance(item, ast.Pass | ast.If | ast.Assert)
        self.kind = self._kind_of(item)
        number = (
            self._number(f"without `{parts.words(item)}`", self._place(item)) if droppable else None
        )
        twice = self._twice(item)
        again = None if twice is None else copy.deepcopy(item)
        self._inner(item)
        if number is None:
            yield item
        else:
            yield ast.copy_location(ast.If(parts.is_not(number), [item], []), item)
        if twice is not None and again is not None:
            yield ast.copy_location(ast.If(parts.is_number(twice), [again], []), item)

    def _twice(self, item: ast.stmt) -> int | None:
        """Return the mutant in which a message is sent twice."""
        match item:
            case ast.Expr(ast.Call(ast.Name("send"))):
                return self._number(f"`{parts.words(item)}` twice", self._place(item), "order")
        return None

    def _begins(self, item: ast.stmt) -> bool:
        """Whether a statement is the first assignment to a local, which later ones need."""
        if not isinstance(item, ast.Assign) or not isinstance(item.targets[0], ast.Name):
            return False
        name = item.targets[0].id
        known = name in self.locals or name in self.variables
        self.locals.add(name)
        return not known

    def _kind_of(self, item: ast.stmt) -> Kind:
        match item:
            case ast.If():
                return "guard"
            case ast.Assign([target], _) if parts.base(target) in self.states:
                return "target"
            case ast.Expr(ast.Call(ast.Name(name))) if name in SENDING:
                return "message"
        return "effect"

    def _inner(self, item: ast.stmt) -> None:
        match item:
            case ast.Assign([target], ast.Name() as value) if self.kind == "target":
                span = self._place(value)
                item.value = self._other_states(target, value, span)
            case ast.Assign() | ast.AugAssign():
                item.value = self._value(item.value)
            case ast.If():
                item.test = self._condition(item.test, false=True)
                item.body = self._block(item.body)
                item.orelse = self._block(item.orelse)
            case ast.For():
                item.iter = self._value(item.iter)
                item.body = self._block(item.body)
            case ast.Expr(ast.Call() as call) if not parts.takes_a_place(call):
                self._arguments(call)

    def _arguments(self, call: ast.Call) -> None:
        """Weave the arguments of a call; the first of `send` and its like is a place."""
        fields = self.fields.get(call.func.id, ()) if isinstance(call.func, ast.Name) else ()
        types = {name.text: node for name, node in fields}
        kinds = [*types.values(), *[None] * len(call.args)]
        call.args = [
            arg
            if isinstance(arg, ast.Subscript | ast.Starred) and kind is None
            else self._field(arg, kind)
            for arg, kind in zip(call.args, kinds, strict=False)
        ]
        for keyword in call.keywords:
            keyword.value = self._field(keyword.value, types.get(keyword.arg or ""))

    def _field(self, node: ast.expr, kind: TypeNode | None) -> ast.expr:
        """Weave what a field is given; a value that is not written out becomes the least one."""
        first = parts.least(kind)
        if isinstance(node, ast.Starred):
            return node
        if first is None or isinstance(node, ast.Constant) or parts.same(node, first):
            return self._value(node)
        if isinstance(node, ast.Name) and node.id in {*self.values, "true", "false"}:
            return self._value(node)
        what = f"`{parts.words(first)}` for `{parts.words(node)}`"
        woven = self._value(copy.deepcopy(node))
        number = self._number(what, self._place(node))
        if number is None:
            return woven
        first = ast.copy_location(first, node)
        return ast.copy_location(ast.IfExp(parts.is_number(number), first, woven), node)

    def _other_states(self, place: ast.expr, node: ast.expr, span: Span) -> ast.expr:
        """Weave the state that a machine goes to: the next ones of its table instead."""
        woven: ast.expr = node
        assert isinstance(node, ast.Name)
        for states in self.states.get(parts.base(place), ()):
            if node.id in states and len(states) > 1:
                here = states.index(node.id)
                for other in dict.fromkeys((states[here - 1], states[(here + 1) % len(states)])):
                    number = self._number(
                        f"`{parts.words(place)}` goes to `{other}` for `{node.id}`", span
                    )
                    if number is not None:
                        away = ast.copy_location(parts.value(other), node)
                        woven = ast.IfExp(parts.is_number(number), away, woven)
                        woven = ast.copy_location(woven, node)
                break
        return woven

    # ----------------------------------------------------------------------------- expressions

    def _condition(self, node: ast.expr, *, false: bool = False) -> ast.expr:
        """Weave a condition that can be left out: taken for true, with `false` also for false.

        Of several joined by `and` or `or` each can be left out by itself.
        """
        place, text = self._place(node), parts.words(node)
        simple = not isinstance(node, ast.BoolOp)
        true = self._number(f"`{text}` taken for true", place) if simple else None
        never = self._number(f"`{text}` taken for false", place) if false else None
        negated = None
        if simple and not isinstance(node, ast.Compare | ast.UnaryOp):
            negated = self._number(f"`not {text}`", place)
        woven = self._value(node)
        if negated is not None:
            other = ast.UnaryOp(ast.Not(), copy.deepcopy(woven))
            woven = ast.copy_location(ast.IfExp(parts.is_number(negated), other, woven), node)
        if never is not None:
            woven = parts.joined(ast.And(), parts.is_not(never), woven)
        return woven if true is None else parts.joined(ast.Or(), parts.is_number(true), woven)

    def _value(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.BoolOp(ast.And()):
                node.values = [self._condition(item) for item in node.values]
            case ast.BoolOp(ast.Or()):
                node.values = [self._alternative(item) for item in node.values]
            case ast.UnaryOp(ast.Not(), operand):
                return self._either(
                    node, f"`{parts.words(node)}` without not", copy.deepcopy(operand)
                )
            case ast.IfExp():
                node.test = self._condition(node.test, false=True)
                node.body, node.orelse = self._value(node.body), self._value(node.orelse)
            case ast.Compare():
                return self._comparison(node)
            case ast.BinOp():
                return self._operation(node)
            case ast.Constant(bool(value)):
                return self._either(node, f"`{value}` wrong", ast.Constant(not value))
            case ast.Constant(int(value)):
                return self._either(node, f"`{value}` one more", ast.Constant(value + 1))
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call(ast.Name(name)) if name in BINDING:
                for argument in node.args:
                    self._comprehension(argument)
            case ast.Call(ast.Name()):
                self._arguments(node)
            case ast.Set():
                node.elts = [self._value(item) for item in node.elts]
            case ast.SetComp() | ast.ListComp() | ast.GeneratorExp():
                self._comprehension(node)
        return node

    def _comprehension(self, node: ast.expr) -> None:
        if isinstance(node, ast.SetComp | ast.ListComp | ast.GeneratorExp):
            for generator in node.generators:
                generator.ifs = [self._condition(item) for item in generator.ifs]
            node.elt = self._value(node.elt) if parts.is_truth(node.elt) else node.elt

    def _alternative(self, node: ast.expr) -> ast.expr:
        """Weave one of several conditions any of which suffices: it can be taken for false."""
        number = self._number(f"`{parts.words(node)}` taken for false", self._place(node))
        woven = self._value(node)
        return woven if number is None else parts.joined(ast.And(), parts.is_not(number), woven)

    def _comparison(self, node: ast.Compare) -> ast.expr:
        other = copy.deepcopy(node)
        kind = type(node.ops[0])
        if isinstance(node.left, ast.BinOp | ast.Attribute) or self._is_alike(node.left):
            node.left = self._value(node.left)
        node.comparators = [self._value(item) for item in node.comparators]
        if len(node.ops) > 1 or kind not in SWAPS:
            return node
        other.ops = [SWAPS[kind]()]
        return self._either(node, f"`{parts.words(other)}`", other)

    def _operation(self, node: ast.BinOp) -> ast.expr:
        """Weave `a op b`, which can become `a` where it is one of sets, and be off by one."""
        left = copy.deepcopy(node.left)
        what = f"`{parts.words(left)}` for `{parts.words(node)}`"
        number = isinstance(node.right, ast.Constant | ast.IfExp) or not isinstance(
            node.op, ast.BitOr | ast.BitAnd | ast.Sub
        )
        node.left, node.right = self._value(node.left), self._value(node.right)
        return node if number else self._either(node, what, left)

    def _name(self, node: ast.Name) -> ast.expr:
        if node.id in {"true", "false"}:
            other = "false" if node.id == "true" else "true"
            return self._either(node, f"`{other}` for `{node.id}`", ast.Name(other, ast.Load()))
        if node.id in self.names_alike:
            other = self.names_alike[node.id]
            return self._confused(node, node, ast.Name(other, ast.Load()), self._place(node).column)
        woven: ast.expr = node
        other_thing = node.id in self.locals or node.id in self.slips.declared
        if node.id in self.values and (isinstance(node, ValueName) or not other_thing):
            for other in self.values[node.id]:
                what = f"`{other}` for `{node.id}` in column {self._place(node).column}"
                woven = self._either(woven, what, parts.value(other))
        return woven

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        """Weave what is read of a component: another field of it, or that of another id."""
        column = self._place(node).column
        woven: ast.expr = node
        for other in (other_field(node, self.slips.alike), other_key(node, self.names_alike)):
            woven = self._confused(woven, node, other, column)
        return woven

    def _is_alike(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.names_alike

    def _confused(
        self, woven: ast.expr, node: ast.expr, other: ast.expr | None, column: int
    ) -> ast.expr:
        """Weave `node`, woven already, which can be mistaken for another of its type."""
        if other is None:
            return woven
        what = f"`{parts.words(other)}` read for `{parts.words(node)}` in column {column}"
        return self._either(woven, what, other, "confusion")

    def _either(
        self, node: ast.expr, what: str, other: ast.expr, kind: Kind | None = None
    ) -> ast.expr:
        """Return `node`, or `other` in a mutant of its own."""
        number = self._number(what, self._place(node), kind)
        if number is None:
            return node
        test = parts.is_number(number)
        return ast.copy_location(ast.IfExp(test, ast.copy_location(other, node), node), node)

    # ---------------------------------------------------------------------------------- numbers

    def _place(self, node: ast.expr | ast.stmt) -> Span:
        assert self.cell is not None
        return self.cell.place(node)

    def _number(self, what: str, span: Span, kind: Kind | None = None) -> int | None:
        """Return the number of a new mutant, None where it is not wanted.

        It is of the kind at hand where none is given.
        """
        here = self.known.setdefault(self.where, set())
        same = sum(known == what or known.startswith(f"{what} (") for known in here)
        mutant = Mutant(
            len(self.mutants) + 1,
            self.where,
            f"{what} ({same + 1})" if same else what,
            kind or self.kind,
            span,
        )
        here.add(mutant.what)
        chosen = mutant.kind in self.kinds if self.chosen is None else mutant.key in self.chosen
        if not chosen or mutant.key in self.wrong:
            return None
        self.mutants.append(mutant)
        return mutant.number
