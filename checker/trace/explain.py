"""Why a condition has the value it has: the part that decides it, with witnesses and values.

A false conjunction is false because of its first false part, a false `all` because of one
witness, a false implication because its left side holds and its right side does not. What is left
at the end is an atom, shown with the values of what stands in it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from checker.errors import EvaluationError
from checker.machine import terms
from checker.machine.terms import Term
from checker.machine.types import Bool
from checker.machine.walk import children, walk
from checker.semantics.evaluate import Context, decider, evaluate
from checker.semantics.values import format_value
from checker.trace.naming import excerpt, place
from checker.trace.trace import Reason

VALUES_SHOWN = 10
DEPTH_SHOWN = 12
INNER_SHOWN = 60
"""Letters of a part that only a definition has written, whose value is told."""

HEAD_SHOWN = 140
TAIL_SHOWN = 90
"""Of a long text whose parts are told after it, what is shown: where it begins and how it ends."""


def explain(condition: Term, context: Context) -> tuple[Reason, ...]:
    """Return why `condition` is what it is in `context`, from the outside in.

    A part that cannot be evaluated is not shown; the error itself is reported elsewhere.
    """
    try:
        return _without_echoes(list(_why(condition, context, 0)))
    except EvaluationError:
        return ()


def _without_echoes(found: list[Reason]) -> tuple[Reason, ...]:
    """Leave out a part that is told again by the next one: what the language makes of one text."""
    kept: list[Reason] = []
    for reason in found:
        if kept and (kept[-1].text, kept[-1].value) == (reason.text, reason.value):
            before = kept.pop()
            kept.append(
                replace(
                    reason,
                    depth=before.depth,
                    bindings=before.bindings + reason.bindings,
                    values=reason.values or before.values,
                    reads=tuple(dict.fromkeys((*before.reads, *reason.reads))),
                )
            )
        else:
            kept.append(reason)
    return tuple(kept)


def _why(term: Term, context: Context, depth: int, *, after: bool = False) -> Iterator[Reason]:
    """Yield the parts; `after`: they stand in a `next`, so that what they read is afterwards."""
    if depth > DEPTH_SHOWN:
        return
    value = evaluate(term, context)
    match term:
        case terms.Not(item) if _is_compound(item) or not _text(term):
            told = _said(_text(term), term, after=after)
            for reason in _why(item, context, depth, after=after):
                # What is written as one thing, such as `x not in s`, is negated in parts of it.
                same = told and reason.text == told
                yield replace(reason, value=format_value(value)) if same else reason
        case terms.Next(item):
            assert context.following is not None
            yield from _why(item, Context(context.following, context.names), depth, after=True)
        case terms.And(items) | terms.Or(items):
            yield from _why_junction(term, items, context, depth, after=after)
        case terms.Implies(left, right) if not value:
            yield _headed(term, value, depth, after=after)
            yield from _given(left, context, depth + 1, after=after)
            yield from _why(right, context, depth + 1, after=after)
        case terms.Implies(left, right):
            holds = evaluate(left, context)
            yield from _why(right if holds else left, context, depth, after=after)
        case terms.Choose(condition, then, otherwise):
            part = then if evaluate(condition, context) else otherwise
            if _text(condition) == _text(term):  # Nobody wrote it: `x in s` with x none is false.
                yield from _why(part, context, depth, after=after)
                return
            yield from _given(condition, context, depth, after=after)
            yield from _why(part, context, depth + 1, after=after)
        case terms.Let(name, bound, body):
            held = evaluate(bound, context)
            found = list(_why(body, context.bind(name, held), depth, after=after))
            if found:
                found[-1] = _with_bound(found[-1], bound, held, context, after=after)
            yield from found
        case terms.Cast(item, Bool()):
            yield from _why(item, context, depth, after=after)
        case terms.Fold("all" | "any", _, body):
            witness = decider(term, context)
            if witness is None:
                yield replace(_atom(term, context, depth, after=after), wide=True)
            else:
                yield _quantifier(term, value, witness, context, depth, after=after)
                yield from _why(body, witness, depth + 1, after=after)
        case _:
            yield _atom(term, context, depth, after=after)


def _given(term: Term, context: Context, depth: int, *, after: bool) -> Iterator[Reason]:
    """Yield why what a condition presupposes has the value it has."""
    for reason in _why(term, context, depth, after=after):
        yield replace(reason, given=True)


def _with_bound(
    reason: Reason, bound: Term, held: object, context: Context, *, after: bool
) -> Reason:
    """Return a reason with the value of what stands in it by a name that nobody wrote."""
    text, value = _said(_text(bound), bound, after=after), format_value(held)
    reads = tuple(dict.fromkeys((*reason.reads, *_places(bound, context))))
    known = dict(reason.values)
    if not text or text in known or text in {value, reason.text}:
        return replace(reason, reads=reads)
    return replace(reason, values=((text, value), *reason.values), reads=reads)


def _why_junction(
    term: Term, items: tuple[Term, ...], context: Context, depth: int, *, after: bool
) -> Iterator[Reason]:
    """One part decides a false `and` and a true `or`; otherwise every part matters."""
    decides = isinstance(term, terms.Or)
    deciding = next((item for item in items if evaluate(item, context) is decides), None)
    if deciding is not None:
        yield from _why(deciding, context, depth, after=after)
        return
    yield _headed(term, not decides, depth, after=after)
    for item in items:
        yield from _why(item, context, depth + 1, after=after)


def _is_compound(term: Term) -> bool:
    if isinstance(term, terms.Fold):
        return term.operator in {"all", "any"}
    return isinstance(
        term, terms.Not | terms.And | terms.Or | terms.Implies | terms.Let | terms.Choose
    )


def _outline(text: str) -> str:
    """Return a text whose parts are told after it, without its middle where it is long."""
    if len(text) <= HEAD_SHOWN + TAIL_SHOWN:
        return text
    head = text[:HEAD_SHOWN].rsplit(" ", 1)[0]
    tail = text[-TAIL_SHOWN:].split(" ", 1)[-1]
    return f"{head} ... {tail}"


def _headed(term: Term, value: object, depth: int, *, after: bool) -> Reason:
    text = _said(_outline(_text(term)), term, after=after)
    return Reason(text, format_value(value), place(term.span), depth, (), ())


def _said(text: str, term: Term, *, after: bool) -> str:
    """Return the text of a part; what it reads in the state afterwards stands in a `next`."""
    reads = after and any(isinstance(node, terms.Read) for node in walk(term))
    return f"next({text})" if text and reads else text


def _quantifier(
    term: terms.Fold,
    value: object,
    witness: Context,
    context: Context,
    depth: int,
    *,
    after: bool,
) -> Reason:
    names = tuple(
        (_written(generator.name, witness), format_value(witness.names[generator.name]))
        for generator in term.generators
    )
    reads = tuple(
        dict.fromkeys(name for part in term.generators for name in _places(part.domain, context))
    )
    text = _said(_outline(_text(term)), term, after=after)
    return Reason(text, format_value(value), place(term.span), depth, names, (), reads)


def _written(name: str, context: Context) -> str:
    """Return a name as its author wrote it, where nothing else in reach is called so."""
    plain = name.partition("#")[0]
    return name if not plain or plain in context.names else plain


def _atom(term: Term, context: Context, depth: int, *, after: bool) -> Reason:
    """A part that is not taken apart further: with the values of what stands in it."""
    shown: dict[str, str] = {}
    several: set[str] = set()  # a parameter of two calls, say, has no one value
    whole, value = _text(term), format_value(evaluate(term, context))
    sides = _sides(term, whole)
    for part, inside in _parts(term, context):
        text = sides.get(id(part)) or _text(part)
        hidden = len(text) > INNER_SHOWN and text not in whole
        later = after or (context.following is not None and inside.following is None)
        text = _said(text, part, after=later)
        if text and not hidden and (text in shown or len(shown) < VALUES_SHOWN):
            try:
                told = format_value(evaluate(part, inside))
            except EvaluationError:
                continue
            if shown.setdefault(text, told) != told:
                several.add(text)
    values = tuple(
        (text, value)
        for text, value in shown.items()
        if text != whole and text not in several and _members(text) != _members(value)
    )
    reads = tuple(dict.fromkeys(_places(term, context)))
    told = _said(whole, term, after=after)
    return Reason(told, value, place(term.span), depth, (), values, reads)


def _sides(term: Term, whole: str) -> dict[int, str]:
    """Return the two sides of a comparison, by identity, as its author wrote them.

    A side that calls a definition has the definition's text otherwise: `owners(p) <= 1` is about
    `owners(p)`, whatever stands behind that.
    """
    match term:
        case terms.Compare(_, left, right) | terms.Equal(left, right):
            sides = left, right
        case terms.Subset(left, right) | terms.Contains(left, right):
            sides = left, right
        case _:
            return {}
    try:
        node = ast.parse(whole, mode="eval").body
    except (SyntaxError, ValueError):
        return {}
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return {}
    found = {}
    written_sides = node.left, node.comparators[0]
    if isinstance(node.ops[0], ast.Gt | ast.GtE) and isinstance(term, terms.Subset):
        sides = sides[::-1]
    for side, written in zip(sides, written_sides, strict=True):
        inner = side.item if isinstance(side, terms.Cast) else side
        text = ast.get_source_segment(whole, written)
        # What is written as a call, and has another text, is what a definition made of it.
        if isinstance(written, ast.Call) and text and _text(inner) != text:
            found[id(inner)] = text
    return found


def _members(text: str) -> list[str]:
    """Return what stands in a text, whatever its order: a set that is written out is its value."""
    return sorted(re.split(r"[{},\s]+", text))


def _places(term: Term, context: Context) -> Iterator[str]:
    """Yield the places of the state that a term reads, as changes name them.

    Of a variable that there is one of for each member it is that member's, where the term says
    whose; as of a component of which there is one for each, and as of a map that it has.
    """
    match term:
        case terms.Read(variable):
            yield variable
        case terms.At(terms.Read(variable), key):
            component, dot, rest = variable.partition(".")
            whose = _known(key, context)
            yield variable if whose is None else f"{component}[{whose}]{dot}{rest}"
            if whose is not None and dot:
                yield f"{variable}[{whose}]"
            yield from _places(key, context)
        case _:
            for part in children(term):
                yield from _places(part, context)  # type: ignore[arg-type]


def _known(key: Term, context: Context) -> str | None:
    """Return the value of a key as text; None inside a quantifier that nothing is chosen for."""
    names = {node.name for node in walk(key) if isinstance(node, terms.Local)}
    if names - context.names.keys():
        return None
    try:
        return format_value(evaluate(key, context))
    except EvaluationError:
        return None


def _parts(term: Term, context: Context) -> Iterator[tuple[Term, Context]]:
    """Yield the parts of an atom that a reader wants to see, with where to evaluate them."""
    match term:
        case terms.Literal() | terms.Everything() | terms.Local():
            # A literal is shown as an operand: folded constants are written as something else.
            return
        case terms.Not(item) | terms.Cast(item):
            yield from _parts(item, context)
        case terms.IsNone(item) | terms.IsVariant(item) | terms.Length(item) | terms.Keys(item):
            yield from _operands((item,), context)
        case (
            terms.Equal(left, right)
            | terms.Compare(_, left, right)
            | terms.Arithmetic(_, left, right)
            | terms.SetOperation(_, left, right)
            | terms.Subset(left, right)
            | terms.Concatenate(left, right)
            | terms.Contains(left, right)
            | terms.Count(left, right)
        ):
            yield from _operands((left, right), context)
        case terms.Extreme(_, items) | terms.Apply(_, items):
            yield from _operands(items, context)
        case terms.SetOf(items) | terms.SequenceOf(items):
            yield from _operands(items, context)
        case terms.Let(name, bound, body):
            yield from _parts(body, context.bind(name, evaluate(bound, context)))
        case terms.Ran(_, arguments):
            yield from _operands(tuple(value for _, value in arguments), context)
        case terms.Next(item):
            assert context.following is not None
            yield from _parts(item, Context(context.following, context.names))
        case terms.At(_, key) if not isinstance(key, terms.Local | terms.Literal):
            yield key, context
        case terms.Fold(_, generators, _):
            # What a comprehension runs over; its body has names that only exist inside it.
            yield from _operands((generators[0].domain,), context)
        case _:
            return


def _operands(items: tuple[Term, ...], context: Context) -> Iterator[tuple[Term, Context]]:
    for item in items:
        inner = item.item if isinstance(item, terms.Cast) else item
        if isinstance(inner, terms.Everything):
            continue
        yield inner, context
        yield from _parts(inner, context)


def _text(term: Term) -> str:
    return excerpt(term.span)
