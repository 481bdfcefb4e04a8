"""Effects: statements of a row or procedure, elaborated in order, procedures put in at their calls.

The types of locals are found by elaborating a body until no assignment widens a local any more. A
local that grows with every round of a loop ends at what the loop can reach: after as many passes
as the loops have rounds together, every run of the body is covered.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from checker.elaborate import build, convert
from checker.elaborate.advice import no_statement, unassigned, words
from checker.elaborate.collections import domain
from checker.elaborate.context import Context
from checker.elaborate.definitions import expect_count
from checker.elaborate.functions import arguments
from checker.elaborate.operators import ADDING, combine
from checker.elaborate.picks import PICK_IF_ANY, PICKS, picks_inside, without_picks
from checker.elaborate.places import place_of, read, table_of, whole_of
from checker.elaborate.world import Allocator, World
from checker.elaborate.wrong import Wrong, collecting, used
from checker.machine import terms as t
from checker.machine.builtins import NAMED
from checker.machine.relations import NEVER, bound, item_of, join, show, undetermined
from checker.machine.types import Id, Map, Sequence, Type
from checker.source import Span
from checker.table import elsewhere
from checker.table.document import Procedure
from checker.table.nodes import shorten
from checker.table.problems import Problems, nearest

Term = t.Term

PASSES_MAX = 64

StatementCall = Callable[["Effects", "Frame", ast.Call], None]
_CALLS: dict[str, StatementCall] = {}
_METHODS: dict[str, StatementCall] = {}


def _meant(word: str) -> str | None:
    """Return which method was probably meant."""
    close = elsewhere.STATEMENTS.get(word) or nearest(word, _METHODS)
    return f"did you mean `{close}`?" if close else None


def statement(name: str) -> Callable[[StatementCall], StatementCall]:
    """Register what a call of `name` does as a statement; `BUILT_INS` must list it."""

    def register(function: StatementCall) -> StatementCall:
        assert NAMED[name].group == "statement", name
        _CALLS[name] = function
        return function

    return register


def method(name: str) -> Callable[[StatementCall], StatementCall]:
    """Register what a method called `name` does as a statement."""

    def register(function: StatementCall) -> StatementCall:
        _METHODS[name] = function
        return function

    return register


@dataclass(slots=True)
class Frame:
    """A row's body or one procedure put in: what it sees, its own locals, its end."""

    context: Context
    label: str
    fixed: frozenset[str]
    locals: dict[str, str] = field(default_factory=dict)
    left: bool = False


@dataclass(slots=True)
class Locals:
    """The types of the locals of one action, and whether a pass widened one."""

    types: dict[str, Type] = field(default_factory=dict)
    widened: Span | None = None
    frozen: bool = False


class Effects:
    """Elaborates the body of one action; `answer` knows how the action is rejected."""

    def __init__(self, world: World, allocator: Allocator, locals_: Locals) -> None:
        self.world = world
        self.allocator = allocator
        self.locals = locals_
        self.out: list[t.Statement] = []
        self.iterations = 0
        self._rounds = 1
        self.prologue: tuple[t.Statement, ...] = ()
        self.handle: Term | None = None

    # ------------------------------------------------------------------------------- blocks

    @contextmanager
    def collect(self) -> Iterator[list[t.Statement]]:
        """Gather what is emitted inside as a block of its own."""
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    def emit(self, *statements: t.Statement) -> None:
        """Append statements to the current block."""
        self.out.extend(statements)

    def block(self, frame: Frame, nodes: list[ast.stmt]) -> None:
        """Elaborate statements in order; a wrong one is reported and the next ones are tried."""
        context = frame.context
        context.depth += 1
        for node in nodes:
            before = len(self.world.problems.found)
            with collecting(self.world.problems):
                self._statement(frame, node)
            if len(self.world.problems.found) > before and isinstance(node, ast.Assign):
                break
        context.depth -= 1

    def _statement(self, frame: Frame, node: ast.stmt) -> None:
        span = frame.context.span(node)
        self.world.meter.tick(span)
        frame.context.require_shallow(span)
        match node:
            case ast.Assign([target], value):
                self._assign(frame, target, value, span)
            case ast.AugAssign(target, operator, value):
                self._augmented(frame, target, operator, value, span)
            case ast.Delete(targets):
                for target in targets:
                    self._delete(frame, target, span)
            case ast.If():
                self._if(frame, node, span)
            case ast.For():
                self._for(frame, node, span)
            case ast.Break():
                self.emit(t.Break(span))
            case ast.Return(None):
                frame.left = True
                self.emit(t.Leave(frame.label, span))
            case ast.Pass():
                pass
            case ast.Assert(test):
                self.emit(t.Assert(frame.context.condition(test, "`assert`"), span))
            case ast.Expr(ast.Call() as call):
                self.call(frame, call)
            case _:
                raise Wrong("Y310", "this is not a statement of the language", span)

    # -------------------------------------------------------------------------- assignments

    def _assign(self, frame: Frame, target: ast.expr, value: ast.expr, span: Span) -> None:
        if isinstance(target, ast.Name) and not self._is_variable(frame, target.id):
            self._check_local(frame, target)
            hint = self.locals.types.get(frame.locals.get(target.id, ""))
            with frame.context.comparing():  # a local holds whatever it is given
                term = self.argument(frame, value, hint, target.id)
            self.set_local(frame, target.id, term, span)
            return
        place = place_of(frame.context, target)
        table_of(frame.context, place)
        term = self.argument(frame, value, place.type, ast.unparse(target))
        self.store(frame, place, term, span)

    def store(self, frame: Frame, place: t.Place, value: Term, span: Span) -> None:
        """Emit that a value is stored in a place; a machine's state is a transition."""
        table = table_of(frame.context, place)
        value, around = convert.coerce(value, place.type), whole_of(frame.context, place)
        if table is not None:
            self.emit(t.Transition(place, value, table, "transition", span))
        elif around is None:
            self.emit(t.Assign(place, value, span))
        else:
            name, old = place.steps[-1].name or "", read(frame.context, around)
            self.emit(t.Assign(around, t.With(old, name, value, around.type, span), span))

    def _is_variable(self, frame: Frame, name: str) -> bool:
        if name in frame.context.names or name in frame.locals:
            return False
        return name in self.world.variables

    def _check_local(self, frame: Frame, target: ast.Name) -> None:
        name = target.id
        if name in frame.fixed:
            raise Wrong(
                "N205",
                f"`{name}` is bound here and cannot be assigned",
                frame.context.span(target),
                help="give the local a name of its own",
            )
        if name not in frame.locals and name in words(self.world) and name not in self.world.values:
            raise Wrong(
                "N203",
                f"`{name}` means something else and cannot be a local",
                frame.context.span(target),
                help=unassigned(self.world, name),
            )

    def set_local(self, frame: Frame, name: str, value: Term, span: Span) -> None:
        """Emit `name = value` and make the local visible, its type widened to the value's."""
        unique = frame.locals.get(name)
        if unique is None:
            unique = frame.locals[name] = self.allocator.unique(name)
        kind = self._widen(unique, name, value, span)
        self.emit(t.SetLocal(unique, convert.coerce(value, kind), span))
        frame.context.names[name] = t.Local(unique, kind, span)
        frame.context.maybe -= {name}

    def _widen(self, unique: str, name: str, value: Term, span: Span) -> Type:
        known = self.locals.types.get(unique, NEVER)
        both = join(known, value.type)
        if both is None:
            raise Wrong(
                "Y303",
                f"`{name}` cannot hold both {show(known)} and {show(value.type)}",
                span,
                expected=show(known),
                found=show(value.type),
            )
        if both != known and not self.locals.frozen:
            # What was elaborated before the first assignment of a pass did not see the local.
            if unique in self.locals.types:
                self.locals.widened = span
            self.locals.types[unique] = both
            return both
        if self.locals.frozen and undetermined(known):
            raise Wrong(
                "Y302",
                f"nothing says what `{name}` holds",
                span,
                help="give it a value that says its type, or write what it stands for in its place",
            )
        return known

    def hidden(self, surface: str, value: Term, span: Span) -> Term:
        """Return a local of ours that holds `value`; a constant stays one."""
        if isinstance(value, t.Literal):
            return value
        unique = self.allocator.unique(surface)
        self.emit(t.SetLocal(unique, value, span))
        return t.Local(unique, value.type, span)

    def _augmented(
        self, frame: Frame, target: ast.expr, operator: ast.operator, value: ast.expr, span: Span
    ) -> None:
        goal = self.target(frame, target)
        stored = goal.place is not None and isinstance(operator, ADDING)
        with frame.context.comparing(not stored):
            right = self.argument(frame, value, goal.current.type, ast.unparse(target))
        goal.store(combine(operator, goal.current, right, span), span)

    def _delete(self, frame: Frame, target: ast.expr, span: Span) -> None:
        place = place_of(frame.context, target)
        keyed = bool(place.steps) and place.steps[-1].key is not None
        outer = t.Place(place.variable, place.steps[:-1], place.type, span)
        kind = read(frame.context, outer).type if keyed else None
        if not isinstance(kind, Map) or kind.total:
            raise Wrong(
                "Y320", "only keys of partial maps can be deleted", span, expected="del m[k]"
            )
        self.emit(t.Delete(place, span))

    def target(self, frame: Frame, node: ast.expr) -> Target:
        """Return the local or place `node` names, to read it and to store into it."""
        if isinstance(node, ast.Name) and not self._is_variable(frame, node.id):
            current = frame.context.infer(node)
            self._check_local(frame, node)
            return Target(self, frame, current, None, node.id)
        place = place_of(frame.context, node)
        return Target(self, frame, read(frame.context, place), place, "")

    # ------------------------------------------------------------------------ nondeterminism

    def argument(self, frame: Frame, node: ast.expr, hint: Type | None, text: str) -> Term:
        """Return a whole right side or argument, in which `pick`, `fresh`, `pop` may stand."""
        match node:
            case ast.Call(ast.Name(word)) if word in PICKS:
                return self._pick(frame, node, text)
            case ast.Call(ast.Name("fresh")):
                return self._fresh(frame, node, text)
            case ast.Call(ast.Attribute(place, "pop")):
                return self.pop(frame, node, place)
        inside = picks_inside(node)
        if not inside:
            return frame.context.infer(node, hint)
        before = frame.context.names
        chosen: dict[ast.expr, str] = {}
        frame.context.names = dict(before)
        for number, call in enumerate(inside):
            name = f"{text} pick {number + 1}"
            frame.context.names[name] = self._pick(frame, call, text)
            chosen[call] = name
        try:
            return frame.context.infer(without_picks(node, chosen), hint)
        finally:
            frame.context.names = before

    def pop(self, frame: Frame, node: ast.Call, place: ast.expr) -> Term:
        """Emit the removal of the first or last item of a sequence; return the item."""
        from_front = bool(arguments(frame.context, node, 0, 1))
        span = frame.context.span(node)
        goal = self.target(frame, place)
        kind = goal.current.type
        if not isinstance(kind, Sequence):
            raise Wrong("Y303", "only sequences have `pop`", span, found=show(kind))
        if from_front:
            position = frame.context.infer(node.args[0])
            if not isinstance(position, t.Literal) or position.value != 0:
                raise Wrong(
                    "Y310", "`pop` takes the last item, or the first", span, expected="pop(0)"
                )
        one = convert.integer(1, span)
        last = build.arithmetic("-", build.length(goal.current, span), one, span)
        taken = build.at(goal.current, convert.integer(0, span) if from_front else last, span)
        item = self.hidden("item", taken, span)
        start, stop = (one, None) if from_front else (None, last)
        goal.store(t.Slice(goal.current, start, stop, kind, span), span)
        return item

    def _pick(self, frame: Frame, node: ast.Call, text: str) -> Term:
        context, span = frame.context, frame.context.span(node)
        disables = isinstance(node.func, ast.Name) and node.func.id == PICK_IF_ANY
        (choice,) = arguments(context, node, 1, 1)
        if not isinstance(choice, ast.GeneratorExp):
            term = domain(context, choice)
            return self._picked(term, None, text, span, disables=disables)
        if len(choice.generators) != 1:
            raise Wrong("Y310", "`pick` takes one `for`", span, help="pick twice")
        clause = choice.generators[0]
        if not isinstance(clause.target, ast.Name):
            raise Wrong("Y310", "`pick` binds one name", span)
        term = domain(context, clause.iter)
        kind = item_of(term.type)
        assert kind is not None
        unique = self.allocator.unique(text)
        inner = context.child({clause.target.id: t.Local(unique, kind, span)})
        tests = [inner.condition(test, "`if`") for test in clause.ifs]
        condition = build.conjunction(tests, span)
        if disables:
            self._require_some(unique, term, condition, span)
        self.emit(t.Pick(unique, term, None if build.is_true(condition) else condition, span))
        return inner.infer(choice.elt)

    def _require_some(self, name: str, term: Term, condition: Term, span: Span) -> None:
        """Emit that the row is not enabled unless some value satisfies a condition."""
        generators = (t.Generator(name, term, None),)
        some = t.Fold("any", generators, condition, None, convert.BOOL, span)
        self.emit(t.Require(some, span))

    def _picked(
        self, term: Term, condition: Term | None, text: str, span: Span, *, disables: bool = False
    ) -> Term:
        kind = item_of(term.type)
        assert kind is not None
        unique = self.allocator.unique(text)
        if disables:
            self._require_some(unique, term, convert.truth(True, span), span)
        self.emit(t.Pick(unique, term, condition, span))
        return t.Local(unique, kind, span)

    def _fresh(self, frame: Frame, node: ast.Call, text: str) -> Term:
        span = frame.context.span(node)
        (wanted,) = arguments(frame.context, node, 1, 1)
        kind = self.world.types.get(wanted.id) if isinstance(wanted, ast.Name) else None
        if not isinstance(kind, Id):
            raise Wrong("N205", "`fresh` needs the name of an id type", span)
        unique = self.allocator.unique(text)
        self.emit(t.Fresh(unique, kind, span))
        return t.Local(unique, kind, span)

    # ------------------------------------------------------------------------------ control

    def _if(self, frame: Frame, node: ast.If, span: Span) -> None:
        context = frame.context
        condition = context.condition(node.test, "`if`")
        before, maybe = dict(context.names), context.maybe
        with self.collect() as then:
            self.block(frame, node.body)
        after_then, maybe_then = context.names, context.maybe
        context.names, context.maybe = before, maybe
        with self.collect() as otherwise:
            self.block(frame, node.orelse)
        if ends(otherwise):
            context.names, context.maybe = after_then, maybe_then
        elif not ends(then):
            lost = {
                name for name in frame.locals if (name in after_then) != (name in context.names)
            }
            for name in lost:
                context.names.pop(name, None)
            context.maybe = context.maybe | maybe_then | lost
        if isinstance(condition, t.Literal):
            self.emit(*(then if condition.value else otherwise))
        else:
            self.emit(t.If(condition, tuple(then), tuple(otherwise), span))

    def _for(self, frame: Frame, node: ast.For, span: Span) -> None:
        context = frame.context
        if not isinstance(node.target, ast.Name):
            raise Wrong("Y310", "`for` binds one name", span)
        if node.orelse:
            raise Wrong("Y310", "`for` has no `else`", span)
        term = domain(context, node.iter)
        kind = item_of(term.type)
        assert kind is not None
        name, unique = node.target.id, self.allocator.unique(node.target.id)
        before, fixed, rounds = dict(context.names), frame.fixed, self._rounds
        self._rounds *= max(1, bound(term.type))
        self.iterations += self._rounds
        context.names[name] = t.Local(unique, kind, context.span(node.target))
        frame.fixed = fixed | {name}
        with self.collect() as body:
            self.block(frame, node.body)
        self._rounds, frame.fixed = rounds, fixed
        new = {one for one in frame.locals if one in context.names and one not in before}
        context.names = before
        context.maybe = context.maybe | new
        self.emit(t.For(unique, term, tuple(body), span))

    # -------------------------------------------------------------------------------- calls

    def call(self, frame: Frame, node: ast.Call) -> None:
        """Elaborate a call that stands as a statement."""
        span = frame.context.span(node)
        if isinstance(node.func, ast.Attribute):
            known = _METHODS.get(node.func.attr)
            if known is None:
                raise Wrong(
                    "N205",
                    f"`.{node.func.attr}()` is no statement",
                    span,
                    expected=", ".join(sorted(_METHODS)),
                    found=node.func.attr,
                    help=_meant(node.func.attr),
                )
            known(self, frame, node)
            return
        if not isinstance(node.func, ast.Name):
            raise Wrong("Y310", "this is not a statement of the language", span)
        word = node.func.id
        if word in self.world.procedures:
            self._procedure(frame, self.world.procedures[word], node, span)
        elif word in _CALLS:
            _CALLS[word](self, frame, node)
        elif word in self.world.definitions:
            raise Wrong("N205", f"`{word}` is a definition; alone it has no effect", span)
        elif word in _METHODS:
            place = ast.unparse(node.args[0]) if node.args else "place"
            rest = ", ".join(map(ast.unparse, node.args[1:]))
            form = f"`{shorten(f'{place}.{word}({rest})')}`"
            raise Wrong(
                "N201", f"`{word}` stands behind a place", span, found=word, help=f"write {form}"
            )
        else:
            raise no_statement(frame.context, node, _CALLS)

    def _procedure(self, frame: Frame, entry: Procedure, node: ast.Call, span: Span) -> None:
        name = entry.name.text
        if node.keywords:
            raise Wrong("N208", "arguments stand in order here", span)
        expect_count(name, entry.parameters, len(node.args), span)
        if name in frame.context.inlined:
            raise Wrong("N220", f"`{name}` calls itself", span)
        assigned = entry.body.assigned
        given: list[tuple[str, Term]] = []
        for parameter, argument in zip(entry.parameters, node.args, strict=True):
            text = parameter.text
            value = self.argument(frame, argument, None, text)
            constant = isinstance(value, t.Literal) or convert.is_bare_empty(value)
            if not constant and not self._is_fixed(value):
                value = self.hidden(f"{name}.{text}", value, span)
            given.append((text, value))
        kinds = [(text, value.type) for text, value in given]
        with used(name, kinds, span, self.world.problems):
            self._inline(frame, entry, given, assigned, span)

    def _is_fixed(self, value: Term) -> bool:
        """Return whether a value can stand for a parameter: a name nothing assigns any more."""
        return isinstance(value, t.Local) and value.name not in self.locals.types

    def _inline(
        self,
        frame: Frame,
        entry: Procedure,
        given: list[tuple[str, Term]],
        assigned: frozenset[str],
        span: Span,
    ) -> None:
        name = entry.name.text
        inner_names = {text: value for text, value in given if text not in assigned}
        context = frame.context.inside(entry.body, inner_names, name)
        context.maybe = frozenset()
        inner = Frame(context, self.allocator.unique(name), frozenset(inner_names))
        with self.collect() as body:
            for text, value in given:
                if text in assigned:
                    self.set_local(inner, text, value, span)
            assert not isinstance(entry.body.tree, ast.expr)
            self.block(inner, list(entry.body.tree))
        if inner.left:
            self.emit(t.Scope(inner.label, tuple(body), span))
        else:
            self.emit(*body)


class Target:
    """What a statement reads and then stores into: a local or a place."""

    def __init__(
        self, effects: Effects, frame: Frame, current: Term, place: t.Place | None, name: str
    ) -> None:
        self._effects, self._frame, self._name = effects, frame, name
        self.current = current
        self.place = place

    def store(self, value: Term, span: Span) -> None:
        """Emit the assignment of `value`."""
        if self.place is None:
            self._effects.set_local(self._frame, self._name, value, span)
            return
        self._effects.store(self._frame, self.place, value, span)


def ends(statements: list[t.Statement]) -> bool:
    """Return whether nothing after these statements runs."""
    if not statements:
        return False
    match statements[-1]:
        case t.Leave() | t.Break() | t.Reject():
            return True
        case t.If(_, then, otherwise, _):
            return ends(list(then)) and ends(list(otherwise))
        case _:
            return False


def settle(world: World, elaborate: Callable[[Locals], tuple[object, int]]) -> object:
    """Elaborate a body until the types of its locals stand; return what the last pass made.

    `elaborate` makes one pass and returns its result and how many rounds its loops have together.
    """
    locals_ = Locals()
    outer, terms = world.problems, world.meter.terms
    for number in range(PASSES_MAX + 2):
        world.problems, world.meter.terms = Problems(), terms
        locals_.widened = None
        try:
            result, iterations = elaborate(locals_)
        finally:
            found, world.problems = world.problems.found, outer
        known = not any(undetermined(kind) for kind in locals_.types.values())
        if locals_.frozen or (locals_.widened is None and known):
            outer.extend(found)
            return result
        if locals_.widened is None or number > iterations + 1:
            locals_.frozen = True
        elif number == PASSES_MAX:
            outer.add(
                "Y308",
                "the range of this local grows with every round of its loop",
                locals_.widened,
                help="bound it with min or max, or keep it in a variable",
            )
            return result
    raise AssertionError
