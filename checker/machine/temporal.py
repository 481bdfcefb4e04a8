"""Formulas of linear temporal logic without `next`, and the automata that accept their runs.

Without `next` a formula cannot tell how often a run stands still, which is what lets runs stutter.
The automaton is the tableau of R. Gerth, D. Peled, M. Vardi, P. Wolper, Simple on-the-fly automatic
verification of linear temporal logic, PSTV 1995: a node says what holds of the state it reads and
what must hold of the rest of the run; of every `until` that a run owes, nodes that pay it must come
again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

from checker.frozen import frozen

NODES_MAX = 62
"""Nodes of an automaton: a set of them is a word."""

_COVERS_MAX = 20_000


class TooManyNodesError(Exception):
    """A formula has an automaton of more than NODES_MAX nodes."""


@frozen()
class Atom:
    """A condition on a state: its number among the property's atoms, or its negation."""

    number: int
    positive: bool = True


@frozen()
class Constant:
    """True or false of every run."""

    value: bool


@frozen()
class Binary:
    """Two formulas joined.

    `until`: `right` comes, and `left` holds up to then. `release`: `right` holds up to and with
    the state in which `left` does, or for ever.
    """

    operator: Literal["and", "or", "until", "release"]
    left: Formula
    right: Formula


Formula = Atom | Constant | Binary
"""Negations stand at atoms only: see `negation`."""

TRUE, FALSE = Constant(True), Constant(False)

_DUAL: dict[str, Literal["and", "or", "until", "release"]] = {
    "and": "or",
    "or": "and",
    "until": "release",
    "release": "until",
}


def negation(formula: Formula) -> Formula:
    """Return what holds of exactly the other runs."""
    match formula:
        case Atom(number, positive):
            return Atom(number, not positive)
        case Constant(value):
            return Constant(not value)
        case Binary(operator, left, right):
            return Binary(_DUAL[operator], negation(left), negation(right))


def eventually(formula: Formula) -> Formula:
    """Return that a formula holds now or later."""
    return Binary("until", TRUE, formula)


def always(formula: Formula) -> Formula:
    """Return that a formula holds now and ever after."""
    return Binary("release", FALSE, formula)


# ------------------------------------------------------------------------------ the automaton


@frozen()
class Automaton:
    """Nodes, each with the atoms that must be true or false of the state that it reads.

    `required` and `forbidden` are masks of atoms; `following` and `initial` are masks of nodes;
    of each mask of `accepting` some node must come again and again.
    """

    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    following: tuple[int, ...]
    initial: int
    accepting: tuple[int, ...]


_Cover = tuple[frozenset[Formula], frozenset[Formula]]
"""What holds of a run, and what of the rest of it."""


@cache
def automaton_of(formula: Formula) -> Automaton:
    """Return an automaton of the runs of a formula; TooManyNodesError where it is too large."""
    untils = tuple(sorted(_untils(formula), key=repr))
    nodes: dict[tuple[frozenset[Formula], frozenset[Formula], tuple[bool, ...]], int] = {}
    spent = [0]

    def enter(obligations: frozenset[Formula]) -> int:
        mask = 0
        for old, rest in _covers(obligations, spent):
            literals = frozenset(item for item in old if isinstance(item, Atom))
            held = old | {TRUE}  # which no cover notes
            paid = tuple(item not in old or item.right in held for item in untils)
            key = literals, rest, paid
            if key not in nodes:
                if len(nodes) == NODES_MAX:
                    raise TooManyNodesError
                nodes[key] = len(nodes)
                waiting.append(key)
            mask |= 1 << nodes[key]
        return mask

    waiting: list[tuple[frozenset[Formula], frozenset[Formula], tuple[bool, ...]]] = []
    following: dict[int, int] = {}
    initial = enter(frozenset({formula}))
    while waiting:
        key = waiting.pop(0)
        following[nodes[key]] = enter(key[1])
    keys = list(nodes)
    return Automaton(
        required=tuple(_mask(key[0], positive=True) for key in keys),
        forbidden=tuple(_mask(key[0], positive=False) for key in keys),
        following=tuple(following[number] for number in range(len(keys))),
        initial=initial,
        accepting=tuple(
            sum(1 << number for number, key in enumerate(keys) if key[2][place])
            for place in range(len(untils))
        ),
    )


def _mask(literals: frozenset[Formula], *, positive: bool) -> int:
    return sum(
        1 << item.number
        for item in literals
        if isinstance(item, Atom) and item.positive is positive
    )


def _untils(formula: Formula) -> set[Binary]:
    if not isinstance(formula, Binary):
        return set()
    own = {formula} if formula.operator == "until" else set()
    return own | _untils(formula.left) | _untils(formula.right)


def _covers(obligations: frozenset[Formula], spent: list[int]) -> list[_Cover]:
    """Return the ways to meet obligations: what holds now, and what is left to the rest."""
    found: dict[_Cover, None] = {}
    empty: frozenset[Formula] = frozenset()
    todo: list[tuple[tuple[Formula, ...], frozenset[Formula], frozenset[Formula]]] = [
        (tuple(sorted(obligations, key=repr)), empty, empty)
    ]
    while todo:
        spent[0] += 1
        if spent[0] > _COVERS_MAX:
            raise TooManyNodesError
        open_, old, rest = todo.pop()
        if not open_:
            found[old, rest] = None
            continue
        item, others = open_[0], open_[1:]
        if item in old or item == TRUE:
            todo.append((others, old, rest))
            continue
        if item == FALSE or (isinstance(item, Atom) and negation(item) in old):
            continue
        known = old | {item}
        match item:
            case Binary("and", left, right):
                todo.append(((left, right, *others), known, rest))
            case Binary("or", left, right):
                todo += [((right, *others), known, rest), ((left, *others), known, rest)]
            case Binary("until", left, right):
                todo.append(((left, *others), known, rest | {item}))
                todo.append(((right, *others), known, rest))
            case Binary("release", left, right):
                todo.append(((right, *others), known, rest | {item}))
                todo.append(((left, right, *others), known, rest))
            case _:
                todo.append((others, known, rest))
    return list(found)


# -------------------------------------------------------------------------------- the meaning


def satisfied(formula: Formula, word: Sequence[Sequence[bool]], loop: int) -> bool:
    """Return whether a run satisfies a formula: atom by state, the last going on with `loop`."""
    return _meaning(formula, word, loop)[0]


def _meaning(formula: Formula, word: Sequence[Sequence[bool]], loop: int) -> list[bool]:
    """Return of which suffixes of a run a formula holds."""
    match formula:
        case Constant(value):
            return [value] * len(word)
        case Atom(number, positive):
            return [atoms[number] is positive for atoms in word]
        case Binary(operator, left, right):
            one, two = _meaning(left, word, loop), _meaning(right, word, loop)
    if operator == "and":
        return [a and b for a, b in zip(one, two, strict=True)]
    if operator == "or":
        return [a or b for a, b in zip(one, two, strict=True)]
    # The least solution of `until`, the greatest of `release`: twice round the loop is enough.
    found = [operator == "release"] * len(word)
    for _ in range(2):
        for place in reversed(range(len(word))):
            after = found[place + 1 if place + 1 < len(word) else loop]
            if operator == "until":
                found[place] = two[place] or (one[place] and after)
            else:
                found[place] = two[place] and (one[place] or after)
    return found
