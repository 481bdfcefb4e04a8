"""Typed expressions: the terms into which every cell is elaborated; see `checker.machine.terms`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Literal as OneOf

from checker.frozen import frozen
from checker.machine.types import Bool, Range, Set, Type
from checker.source import Span

if TYPE_CHECKING:
    from checker.machine.machine import Machine

_BOOL = Bool()


@frozen()
class Literal:
    """A constant: a Python value of `type` (see the table in `checker.machine.types`)."""

    value: object
    type: Type
    span: Span


@frozen()
class Read:
    """The current value of a state variable: as the statements before it in the row left it."""

    variable: str
    type: Type
    span: Span


@frozen()
class Local:
    """A bound name: a binding of the row, a local of its effects, a comprehension variable."""

    name: str
    type: Type
    span: Span


@frozen()
class Next:
    """`next(item)` in a `step` property: `item` with every `Read` taken in the next state."""

    item: Term
    type: Type
    span: Span


@frozen()
class Ran:
    """`ran(row, name=value)` in a `step` property: whether `row` made the step, bound like this.

    `arguments` are parts of the step's name (bindings that are shown, and shown lets) with the
    values they must have, in the state before the step.
    """

    row: str
    arguments: tuple[tuple[str, Term], ...]
    span: Span
    type: Bool = _BOOL


@frozen()
class Cast:
    """`item` as a value of `type`; an evaluation error (E501) where it is not one.

    Covers widening and narrowing of ranges, wrapping into and unwrapping from options (E502 when
    none), total to partial maps, and the same inside sets, records, unions, maps and sequences.
    """

    item: Term
    type: Type
    span: Span


@frozen()
class Arithmetic:
    """Integer arithmetic: `+ - * // %` with Python's floor semantics; E503 on division by zero.

    `type` is a Range that contains every possible result, so nothing ever wraps around.
    """

    operator: OneOf["+", "-", "*", "//", "%"]
    left: Term
    right: Term
    type: Range
    span: Span


@frozen()
class Compare:
    """Order of two values: integers by value; enums and asymmetric ids (same type) by code."""

    operator: OneOf["<", "<=", ">", ">="]
    left: Term
    right: Term
    span: Span
    type: Bool = _BOOL


@frozen()
class Equal:
    """Equality of two terms. Both have the same type, except that two Ranges may differ."""

    left: Term
    right: Term
    span: Span
    type: Bool = _BOOL


@frozen()
class Not:
    """Negation."""

    item: Term
    span: Span
    type: Bool = _BOOL


@frozen()
class And:
    """Conjunction, left to right, short-circuit."""

    items: tuple[Term, ...]
    span: Span
    type: Bool = _BOOL


@frozen()
class Or:
    """Disjunction, left to right, short-circuit."""

    items: tuple[Term, ...]
    span: Span
    type: Bool = _BOOL


@frozen()
class Implies:
    """`implies(left, right)`: true without looking at `right` when `left` is false."""

    left: Term
    right: Term
    span: Span
    type: Bool = _BOOL


@frozen()
class Choose:
    """`then if condition else otherwise`; only the chosen branch is evaluated."""

    condition: Term
    then: Term
    otherwise: Term
    type: Type
    span: Span


@frozen()
class Let:
    """`body` with `name` bound to `value`, evaluated once: an inlined definition's parameter."""

    name: str
    value: Term
    body: Term
    type: Type
    span: Span


@frozen()
class Field:
    """A field of a record, or of a union value; E504 where the value's variant lacks the field."""

    item: Term
    name: str
    type: Type
    span: Span


@frozen()
class At:
    """`item[key]`: of a map (E505 when absent), or of a sequence by 0-based position (E506)."""

    item: Term
    key: Term
    type: Type
    span: Span


@frozen()
class IsNone:
    """Whether an Option-typed item is none."""

    item: Term
    span: Span
    type: Bool = _BOOL


@frozen()
class IsVariant:
    """`item is Name`: whether a union value is of that variant; false for none of an option."""

    item: Term
    variant: str
    span: Span
    type: Bool = _BOOL


@frozen()
class Contains:
    """`item in collection`: a Set, the keys of a Map, the items of a Sequence or Bag.

    The item is a value of the collection's item (key) type, or an integer that may lie outside
    it (then false); casts that could fail are never inserted under an item.
    """

    item: Term
    collection: Term
    span: Span
    type: Bool = _BOOL


@frozen()
class SetOperation:
    """Union, intersection, difference, symmetric difference of two sets of the same type."""

    operator: OneOf["|", "&", "-", "^"]
    left: Term
    right: Term
    type: Set
    span: Span


@frozen()
class Subset:
    """`left <= right` of two sets of the same type; `strict` for `<`."""

    left: Term
    right: Term
    strict: bool
    span: Span
    type: Bool = _BOOL


@frozen()
class SetOf:
    """`{a, b}`: the set of some values; every item has the set's item type."""

    items: tuple[Term, ...]
    type: Set
    span: Span


@frozen()
class Everything:
    """All values of a type, as a set: a type's name used as a domain (`for m in Member`)."""

    type: Set
    span: Span


@frozen()
class Interval:
    """The integers low..high, both included, as a set; empty when low > high.

    `range(a, b)` of the language is `Interval(a, b - 1)`.
    """

    low: Term
    high: Term
    type: Set
    span: Span


@frozen()
class RecordOf:
    """A record (`type` a Record) or one variant of a union (`type` a Union): all its fields."""

    name: str
    fields: tuple[tuple[str, Term], ...]
    type: Type
    span: Span


@frozen()
class MapOf:
    """`{k: v, ...}`; later pairs win. For a total map the keys cover it (checked statically)."""

    pairs: tuple[tuple[Term, Term], ...]
    type: Type
    span: Span


@frozen()
class SequenceOf:
    """`[a, b]`: a sequence of exactly these items (`type` a Sequence or Bag)."""

    items: tuple[Term, ...]
    type: Type
    span: Span


@frozen()
class Length:
    """`len(item)`: of a set, the present keys of a map, a sequence, a bag."""

    item: Term
    type: Range
    span: Span


@frozen()
class Count:
    """`bag.count(item)`: how often an item is in a Bag or Sequence; the item as in Contains."""

    item: Term
    collection: Term
    type: Range
    span: Span


@frozen()
class Keys:
    """The present keys of a map, as a set."""

    item: Term
    type: Set
    span: Span


@frozen()
class Concatenate:
    """`left + right` of two sequences; the capacity of `type` is the sum of theirs."""

    left: Term
    right: Term
    type: Type
    span: Span


@frozen()
class Slice:
    """`item[start:stop]` of a sequence with Python's meaning for non-negative bounds.

    None means the beginning or the end; `stop` may also be `len - k` written `item[:-k]`, which is
    elaborated to an explicit subtraction clipped at 0.
    """

    item: Term
    start: Term | None
    stop: Term | None
    type: Type
    span: Span


@frozen()
class With:
    """`item` with the field `name` of a record or union replaced; E504 if the variant lacks it."""

    item: Term
    name: str
    value: Term
    type: Type
    span: Span


@frozen()
class Extreme:
    """`min(a, b, ...)` or `max(...)` of two or more terms: integers, or one ordered type."""

    operator: OneOf["min", "max"]
    items: tuple[Term, ...]
    type: Type
    span: Span


@frozen()
class Apply:
    """A plain function of values, by its name in `checker.machine.builtins`; it never fails."""

    function: str
    arguments: tuple[Term, ...]
    type: Type
    span: Span


@frozen()
class Generator:
    """`for name in domain if condition`: values in canonical order (a sequence in its own order).

    The domain is a Set, a Map (its present keys), a Sequence or a Bag (distinct items, ascending).
    """

    name: str
    domain: Term
    condition: Term | None


@frozen()
class Fold:
    """A comprehension reduced to one value, generators nested left to right.

    `all`, `any`: short-circuit in canonical order. `sum`: of integers. `min`, `max`: E507 when
    there is nothing. `set`: the set of the bodies. `map`: `key` -> `body`, later wins; a total
    `type` must be covered (E505). `sequence`: the bodies in order (E501 beyond the capacity).
    """

    operator: OneOf["all", "any", "sum", "min", "max", "set", "map", "sequence"]
    generators: tuple[Generator, ...]
    body: Term
    key: Term | None
    type: Type
    span: Span


@frozen()
class Leads:
    """Whether some row of the machine `other` leads from one of its states to another.

    `before` and `after` have a term of its type for each variable of `other`, in order. If
    `begins`, it is the initial action and not a row that leads there. A row that cannot be
    evaluated leads nowhere, nor does one whose `fresh` finds no id; so this never fails itself.
    What stands in `other` is about its own variables, and no walk over this term goes in there.
    """

    before: tuple[Term, ...]
    after: tuple[Term, ...]
    other: Machine
    begins: bool
    span: Span
    type: Bool = _BOOL


Term = (
    Literal
    | Read
    | Local
    | Next
    | Ran
    | Cast
    | Arithmetic
    | Compare
    | Equal
    | Not
    | And
    | Or
    | Implies
    | Choose
    | Let
    | Field
    | At
    | IsNone
    | IsVariant
    | Contains
    | SetOperation
    | Subset
    | SetOf
    | Everything
    | Interval
    | RecordOf
    | MapOf
    | SequenceOf
    | Length
    | Count
    | Keys
    | Concatenate
    | Slice
    | With
    | Extreme
    | Apply
    | Fold
    | Leads
)
