"""Names in a TLA+ module: what identifiers of the language become, each only once in its scope."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from importlib import resources

from checker.source import Span

LIBRARY = "CheckerValues"
"""The module that every written module extends."""

_KEYWORDS = (
    "ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE "
    "DEFS DOMAIN ELSE ENABLED EXCEPT EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL "
    "MODULE NEW OBVIOUS OMITTED OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE "
    "STRONG_FAIRNESS SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE VARIABLE "
    "VARIABLES WEAK_FAIRNESS WF_ WITH WITNESS TRUE FALSE BOOLEAN STRING Nat Int Seq Len "
    "Append Head Tail SubSeq SelectSeq Cardinality IsFiniteSet Print PrintT Assert JavaTime "
    "TLCGet TLCSet Permutations SortSeq RandomElement Any ToString TLCEval vars Init Next "
    "Spec "
)


_MODULES = frozenset(("Naturals", "Integers", "Sequences", "FiniteSets", "TLC", LIBRARY))
"""What a written module rests on: none is called like one of them."""


def library_text() -> str:
    """Return the TLA+ module that every written module extends."""
    return resources.files("checker.export").joinpath(f"{LIBRARY}.tla").read_text("utf-8")


def _library_names() -> frozenset[str]:
    """Return every identifier of the library: a bound name must not be one of a definition."""
    return frozenset(re.findall(r"^(?:CONSTANT |)(\w+)(?=\(| ==|$)", library_text(), re.MULTILINE))


RESERVED = frozenset(_KEYWORDS.split()) | _library_names() | _MODULES
"""What no identifier of a module may be."""

_AUXILIARY = "v_"
"""How only the names begin that are bound for values without a name in the specification."""


def identifier(text: str, taken: Iterable[str] = ()) -> str:
    """Return an identifier like `text` that is neither reserved nor taken.

    >>> identifier("client.state"), identifier("client", {"client"}), identifier("IN")
    ('client_state', 'client_1', 'IN_1')
    """
    base = re.sub(r"\W", "_", text, flags=re.ASCII).strip("_") or "x"
    if not base[0].isalpha() or base.startswith(("WF_", "SF_", _AUXILIARY)):
        base = f"x_{base}"
    taken = set(taken) | RESERVED
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def auxiliary(base: str, *texts: str) -> str:
    """Return a name for what no specification has a name for, bound around these expressions.

    In TLA+ a bound name must be that of nothing else that is known there. No other name begins
    like these, so only those that stand in the expressions could be the same.

    >>> auxiliary("key"), auxiliary("key", "x[v_key]"), auxiliary("key", "x[v_key_1 + v_key]")
    ('v_key', 'v_key_1', 'v_key_2')
    """
    there = {name for text in texts for name in re.findall(r"\bv_\w+", text)}
    name, number = f"{_AUXILIARY}{base}", 0
    while name in there:
        number += 1
        name = f"{_AUXILIARY}{base}_{number}"
    return name


_marks = itertools.count()


def bound_in(base: str, make: Callable[[str], str], *texts: str) -> tuple[str, str]:
    r"""Return a name bound around what `make` makes of it, and that.

    What is inside may bind names, too, and need not have this one in what it was made from. So it
    is made first, with a mark that no other has in place of the name.

    >>> bound_in("key", lambda key: f"{{v_key.a : v_key \\in x[{key}]}}", "x")
    ('v_key_1', '{v_key.a : v_key \\in x[v_key_1]}')
    """
    mark = f"{_AUXILIARY}{next(_marks)}_"
    inner = make(mark)
    name = auxiliary(base, inner, *texts)
    return name, inner.replace(mark, name)


def quoted(text: str) -> str:
    """Return a TLA+ string.

    >>> quoted("Stable")
    '"Stable"'
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def place(span: Span) -> str:
    """Return where something stands, as a TLA+ string: file, line and column."""
    name = span.source.name.replace("\\", "/").rpartition("/")[2]
    return quoted(f"{name}:{span.line}:{span.column}".encode("ascii", "replace").decode())


_OPENING, _CLOSING = "([{", ")]}"


_JOINS = re.compile(r"/\\|\\/|~|[=#<>]|\\(?:not)?in\b")
"""What says something true or false of its operands."""


def atomic(text: str) -> bool:
    """Return whether an expression needs no parentheses in any place.

    >>> [atomic(text) for text in ("x", "f[x].y", "Len(s)", "{1, 2}", "x + 1", "(a) + (b)", "-1")]
    [True, True, True, True, False, False, False]
    >>> atomic("(-2)..(-1)")
    False
    """
    if re.fullmatch(r'\d+|"[^"]*"', text):
        return True
    if not re.match(r"[A-Za-z_(\[{<]", text):
        return False
    if text.startswith("<<"):
        return text.endswith(">>") and text.count("<<") == text.count(">>") == 1
    text = text.removesuffix("'")
    depth, quote = 0, False
    for position, letter in enumerate(text):
        if letter == '"':
            quote = not quote
        elif quote:
            continue
        elif letter in _OPENING:
            if depth == 0 and position and text[position - 1] not in "])" and letter == "{":
                return False
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif depth == 0:
            begins = not position or text[position - 1] not in ")}" or letter == "."
            interval = text.startswith("..", position)
            if not (letter.isalnum() or letter in "_.") or interval or not begins:
                return False
    return depth == 0


def assigned(text: str) -> str:
    r"""Return an expression as the right side of `=`, which binds tighter than what joins truths.

    >>> [assigned(text) for text in ("x + 1", "a /\\ b", "x = y", "{y \\in S : y > 1}", "~a")]
    ['x + 1', '(a /\\ b)', '(x = y)', '{y \\in S : y > 1}', '(~a)']
    """
    joins = _JOINS.search(text) is not None and not text.startswith(("IF ", "LET ", "CASE "))
    return bracketed(text) if joins else text


def bracketed(text: str) -> str:
    """Return an expression that can stand in any place."""
    return text if atomic(text) else f"({text})"


_PART = re.compile(r"\w+ \\in ")
"""How a set begins that is a part of another one: `{x \\in S : ...}`."""


def listed(*items: str) -> str:
    r"""Return the set of these items; `{x \in S \/ p}` would be read as a part of S.

    >>> listed("1", "x + 1"), listed("x \\in S \\/ p")
    ('{1, x + 1}', '{(x \\in S \\/ p)}')
    """
    texts = (bracketed(item) if _PART.match(item) else item for item in items)
    return f"{{{', '.join(texts)}}}"
