"""What other languages write, and what it is here: looked at before any guess at a similar name.

The help of a message is one sentence; where the parts of what was written are known, they stand in
it, so that it can be copied.
"""

from __future__ import annotations

from typing import Final

_BOUNDED = "every type is finite: an integer is a range such as 0..9"
RECORD: Final = "`Pair: {fields: {a: T, b: T}}` in `types:`, and here Pair"
_SEQUENCE = "write sequence of T up to N"

TYPES: Final[dict[str, str]] = {
    **dict.fromkeys(("int", "integer", "Int", "Integer", "nat", "Nat", "number"), _BOUNDED),
    **dict.fromkeys(("uint", "long", "short", "byte", "Number", "Natural"), _BOUNDED),
    **dict.fromkeys(("float", "double", "real", "Real", "decimal"), "numbers are integers: 0..9"),
    **dict.fromkeys(("boolean", "Boolean", "BOOLEAN", "Bool"), "write bool"),
    **dict.fromkeys(("str", "string", "String"), "write an enum in `types:`: one of a, b"),
    **dict.fromkeys(("list", "List", "seq", "Seq", "array", "Array", "queue", "Queue"), _SEQUENCE),
    **dict.fromkeys(("dict", "Dict", "Map", "hash"), "write map of K to V"),
    **dict.fromkeys(("multiset", "Multiset", "counter", "Bag"), "write bag of T up to N"),
    **dict.fromkeys(("option", "maybe", "Option", "Maybe", "Optional"), "write optional T"),
    **dict.fromkeys(("Set", "frozenset"), "write set of T"),
    **dict.fromkeys(("enum", "Enum"), "write an enum in `types:`: one of a, b"),
    **dict.fromkeys(("struct", "record", "Record"), RECORD),
    **dict.fromkeys(("tuple", "Tuple"), f"a tuple is a record: {RECORD}"),
}
"""Words for types."""

WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(("null", "NULL", "Null", "nil", "Nil", "undefined", "nothing"), "write none"),
    **dict.fromkeys(("TRUE", "yes"), "write true"),
    **dict.fromkeys(("FALSE", "no"), "write false"),
    **dict.fromkeys(("EmptySet", "emptyset", "Empty_set"), "write empty"),
    "UNCHANGED": "leave it out: what no effect assigns stays as it is",
}
"""Words for values."""

_CALLED: Final[dict[str, str]] = {
    **dict.fromkeys(("size", "length", "Len", "Length", "Size", "len"), "len({0})"),
    **dict.fromkeys(("Cardinality", "cardinality", "card", "count"), "len({0})"),
    **dict.fromkeys(("isEmpty", "is_empty", "IsEmpty"), "len({0}) == 0"),
    **dict.fromkeys(("nonEmpty", "notEmpty", "isNotEmpty"), "len({0}) > 0"),
    **dict.fromkeys(("head", "Head", "first", "peek", "front"), "{0}[0]"),
    **dict.fromkeys(("tail", "Tail", "rest"), "{0}[1:]"),
    **dict.fromkeys(("last", "Last", "back"), "{0}[-1]"),
    **dict.fromkeys(("DOMAIN", "keySet", "domain"), "{0}.keys()"),
    **dict.fromkeys(("union", "Union", "setUnion"), "{0} | {1}"),
    **dict.fromkeys(("intersect", "intersection", "Intersect"), "{0} & {1}"),
    **dict.fromkeys(("difference", "exclude", "setMinus", "removeAll"), "{0} - {1}"),
    **dict.fromkeys(("subseteq", "issubset", "isSubset"), "{0} <= {1}"),
    **dict.fromkeys(("issuperset", "containsAll"), "{0} >= {1}"),
    **dict.fromkeys(("forall", "every", "each"), "all(p for x in s)"),
    **dict.fromkeys(("exists", "some"), "any(p for x in s)"),
    **dict.fromkeys(("filter", "select"), "{{x for x in s if p}}"),
    "map": "{{e for x in s}}",
}
"""Functions and methods alike, `{0}` what they are of: `size(s)` and `s.size()`."""

_METHODS: Final[dict[str, str]] = {
    **_CALLED,
    **dict.fromkeys(("contains", "has", "includes", "include"), "{1} in {0}"),
    **dict.fromkeys(("containsKey", "contains_key", "has_key", "hasKey"), "{1} in {0}"),
    **dict.fromkeys(("in", "isin", "isIn"), "{0} in {1}"),
    **dict.fromkeys(("add", "plus", "with"), "{0} | {{{1}}}"),
    **dict.fromkeys(("remove", "discard", "minus"), "{0} - {{{1}}}"),
    **dict.fromkeys(("append", "push", "concat"), "{0} + [{1}]"),
    **dict.fromkeys(("values", "items"), "{{{0}[k] for k in {0}}}"),
    **dict.fromkeys(("getOrElse", "getOrDefault", "get_or"), "{0}.get({1}, {2})"),
    **dict.fromkeys(("isDefined", "isSome", "is_some", "isPresent"), "{0} is not none"),
    **dict.fromkeys(("isNone", "is_none"), "{0} is none"),
}

_FUNCTIONS: Final[dict[str, str]] = {
    **_CALLED,
    **dict.fromkeys(("set", "Set", "list", "List", "dict", "Map", "seq", "Seq"), "empty"),
    **dict.fromkeys(("Append", "append"), "{0} + [{1}]"),
    **dict.fromkeys(("Max", "maximum"), "max({0})"),
    **dict.fromkeys(("Min", "minimum"), "min({0})"),
    **dict.fromkeys(("Abs",), "abs({0})"),
    **dict.fromkeys(("isinstance",), "{0} is {1}"),
    **dict.fromkeys(("ite", "IF", "iff"), "a if p else b"),
    **dict.fromkeys(("oneOf", "choose", "CHOOSE", "choice", "random"), "pick({0})"),
    **dict.fromkeys(("G", "globally", "box"), "always({0}), in a property of `ltl:`"),
    **dict.fromkeys(("F", "diamond"), "eventually({0}), in a property of `ltl:`"),
    **{
        word: f"{word}(...) in the cell `ltl:` of a property, where the whole formula stands"
        for word in ("always", "eventually", "until", "release", "leads_to")
    },
}

TEMPORAL: Final = "`[]p` is always(p) and `<>p` is eventually(p), in a property of `ltl:`"

SIGNS: Final[dict[str, str]] = {
    "&&": "write and",
    "||": "write or",
    "<>": "write != for what differs",
    "<=>": "write ==, which compares conditions, too",
    "=>": "write implies(p, q), or >= to compare",
    "~>": "write the property as `leads_to: {from: p, to: q}`",
    "->": "write implies(p, q)",
    "++": "write += 1",
    ":=": "write == to compare",
}
"""Operators."""

PREFIXES: Final[dict[str, str]] = {
    "exists": "write any(p for x in s)",
    "forall": "write all(p for x in s)",
    **dict.fromkeys(("let", "var", "const", "nondet"), "leave it out: write x = ..."),
    "new": "leave it out",
}
"""Words before what they are of, with a blank between."""

STATEMENTS: Final[dict[str, str]] = {
    "push": "append",
    "enqueue": "append",
    "insert": "add",
    "put": "add",
    "delete": "discard",
    "erase": "discard",
}
"""Methods that change a collection."""


def method(word: str, *parts: str) -> str | None:
    """Return what to write for `a.word(b)` or `a.word`, of which `parts` are `a` and `b`."""
    return _written(_METHODS.get(word), parts)


def function(word: str, *parts: str) -> str | None:
    """Return what to write for `word(a, b)`, of which `parts` are `a` and `b`."""
    if word in ("set", "Set", "list", "List") and parts:
        return f"write {{{', '.join(parts)}}} for a set, [{', '.join(parts)}] for a sequence"
    return _written(_FUNCTIONS.get(word), parts)


def _written(form: str | None, parts: tuple[str, ...]) -> str | None:
    return None if form is None else f"write {form.format(*parts, '...', '...', '...')}"


_TO_ROWS = "steps are `rows:`, a list of `- row: NAME` with `when:` and `do:`"
_TO_PROPERTIES = "claims are `properties:`, each a name with `always: CONDITION` and `why:`"

_WRITTEN: Final[tuple[tuple[tuple[str, ...], str, str], ...]] = (
    (("system", "file of a system"), "transitions actions steps rules next events", _TO_ROWS),
    (("system", "file of a system"), "invariants invariant assertions safety", _TO_PROPERTIES),
    (("system", "file of a system"), "liveness temporal specs", _TO_PROPERTIES),
    (("system", "file of a system"), "vars state VARIABLES", "write `variables:`"),
    (("system", "file of a system"), "init Init", "write `initial:`"),
    (("system", "file of a system"), "parameters params CONSTANTS", "write `constants:`"),
    (("system", "file of a system"), "enums records", "write `types:`"),
    (("system", "file of a system"), "functions", "write `definitions:`"),
    (("row",), "guard if condition", "write `when:`"),
    (("row",), "then effect effects action update", "write `do:`"),
    (("row",), "forall with params", "write `for:`"),
    (("row",), "name", "write `row:`"),
    (("property",), "invariant inv assert", "write `always:`"),
    (("property",), "never", "write `always: not (...)`"),
)

KEYS: Final[dict[tuple[str, str], str]] = {
    (part, word): help_
    for parts, words, help_ in _WRITTEN
    for part in parts
    for word in words.split()
}
"""Keys by the part in which they were written."""
