"""Every word of the language, in one list: what is called how, and what it means.

The lookup of names, the words that nothing may hide, the advice on a misspelt one, what mutation
leaves alone, and the tables of `docs/language.md` are this list. A *plain* function, of values and
of nothing else, is here whole: the type of its result, its meaning in the reference interpreter,
its text in TLA+. Its code is in `checker.llvm.functions`, and there is no third place. Any other
function or statement has a handler in `checker.elaborate`, which says what it is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from checker.frozen import frozen
from checker.machine.types import Range, Type

Group = Literal["constant", "function", "choice", "statement", "word"]
"""`choice`: stands as a whole right side or argument in effects. `word`: is never called."""


@frozen()
class Plain:
    """A function of values that never fails.

    `result` is the type of the result, or None where the arguments are not what it takes; `value`
    the result itself; `written` the result in TLA+, of arguments in brackets. `takes` is said to
    whoever gives it something else.
    """

    takes: tuple[str, ...]
    result: Callable[..., Type | None]
    value: Callable[..., object]
    written: str


@frozen()
class BuiltIn:
    """One word of the language; `form` is how it is written, `meaning` a sentence on it.

    `binds`: its arguments are no values of their own. `sends`: it is a message. `shared`: a part
    of the state may have the same name, for it is told apart by being called.
    """

    name: str
    group: Group
    form: str
    meaning: str
    plain: Plain | None = None
    binds: bool = False
    sends: bool = False
    shared: bool = False


def _magnitudes(kind: Type) -> Type | None:
    if not isinstance(kind, Range):
        return None
    least = 0 if kind.low <= 0 <= kind.high else min(abs(kind.low), abs(kind.high))
    return Range(least, max(abs(kind.low), abs(kind.high)))


BUILT_INS: tuple[BuiltIn, ...] = (
    BuiltIn("true", "constant", "true", "the truth; `True`, too"),
    BuiltIn("false", "constant", "false", "the opposite; `False`, too"),
    BuiltIn("none", "constant", "none", "no value, of an `optional T`"),
    BuiltIn("empty", "constant", "empty", "the empty set, map, sequence or bag"),
    BuiltIn(
        "abs",
        "function",
        "abs(x)",
        "`x` without its sign",
        plain=Plain(("an integer",), _magnitudes, abs, "(IF {0} < 0 THEN -{0} ELSE {0})"),
    ),
    BuiltIn(
        "min",
        "function",
        "min(a, b)`, `min(e for x in s)`, `min((e for x in s), default=d)",
        "the least; E507 of nothing without a `default`, which is evaluated only then",
        binds=True,
    ),
    BuiltIn("max", "function", "max(a, b)`, `max(e for x in s)", "as `min`, the most", binds=True),
    BuiltIn(
        "least",
        "function",
        "least(x for x in s if p)`, `least((x for x in s), by=e, default=d)",
        "the first of any type in its [order](#order-of-values), or the first of those of which "
        "`e` is least; E507 of nothing without a `default`, which is evaluated only then. `e` is "
        "evaluated of all that `p` lets through, chosen or not, and then what stands before `for` "
        "of those of which it is least",
        binds=True,
    ),
    BuiltIn(
        "len",
        "function",
        "len(s)",
        "how many are in a set, map, sequence, bag or channel; of calls, how many are in use",
        binds=True,
    ),
    BuiltIn("sum", "function", "sum(e for x in s)", "the sum; 0 of nothing", binds=True),
    BuiltIn(
        "all",
        "function",
        "all(p for x in s if q for y in t)",
        "whether `p` is true of each; stops at the first of which it is not",
        binds=True,
    ),
    BuiltIn(
        "any",
        "function",
        "any(p for x in s)",
        "whether `p` is true of one; stops at the first of which it is",
        binds=True,
    ),
    BuiltIn(
        "range",
        "function",
        "range(n)`, `range(a, b)",
        "the integers from 0 or `a`, without the last, as a set",
        binds=True,
    ),
    BuiltIn(
        "implies", "function", "implies(p, q)", "false where `p` is true and `q` not", binds=True
    ),
    BuiltIn("replace", "function", "replace(p, x=0)", "the record `p` with other fields"),
    BuiltIn(
        "closure",
        "function",
        "closure(r)",
        "of a `map of K to set of K`: for each key all that is reached in one step or more",
    ),
    BuiltIn(
        "enabled",
        "function",
        "enabled(row, name=value)",
        "whether the row can run now, with these bindings; see [below](#which-rows-can-run)",
    ),
    BuiltIn("next", "function", "next(e)", "in `step` and bounds of steps: `e` in the successor"),
    BuiltIn(
        "ran",
        "function",
        "ran(row, name=value)",
        "in `step`: whether the row made the step, with these bindings",
    ),
    BuiltIn(
        "requests",
        "function",
        "requests(c)`, `requests(c[k])",
        "the requests of calls that are on the way, as a sequence",
        shared=True,
    ),
    BuiltIn(
        "responses",
        "function",
        "responses(c)`, `responses(c[k])",
        "the answers of calls that are on the way, as a sequence",
        shared=True,
    ),
    BuiltIn(
        "armed",
        "function",
        "armed(timer[k])`, `armed(timer[k](capture=e))",
        "whether a timer is armed, with these captures",
    ),
    BuiltIn(
        "pick",
        "choice",
        "pick(x for x in s if p)`, `pick(s)",
        "any of them, each a successor of its own; E508 of nothing. One `for`; "
        "`pick(f(x) for x in s)` chooses `x`, so that two of one `f(x)` are two successors",
        binds=True,
    ),
    BuiltIn(
        "pick_if_any",
        "choice",
        "pick_if_any(x for x in s if p)",
        "as `pick`; of nothing, the row is not enabled with these choices",
        binds=True,
    ),
    BuiltIn(
        "fresh",
        "choice",
        "fresh(T)",
        "the least id of `T` that occurs nowhere in the state; without one the successor is cut",
        binds=True,
    ),
    BuiltIn(
        "send",
        "statement",
        "send(channel[c], Message(...))`, `send(Message(...))",
        "puts a message into a channel",
        sends=True,
    ),
    BuiltIn(
        "call",
        "statement",
        "call(calls[c], Request(...))",
        "the client sends a request on its open connection",
        sends=True,
    ),
    BuiltIn("reply", "statement", "reply(handle, Response(...))", "answers a call", sends=True),
    BuiltIn("close", "statement", "close(calls[c])", "the client hangs up", sends=True),
    BuiltIn(
        "start",
        "statement",
        "start(operation[b](capture=e))",
        "begins an operation",
        sends=True,
    ),
    BuiltIn(
        "arm",
        "statement",
        "arm(timer[k](capture=e))",
        "arms a timer, with what it remembers",
    ),
    BuiltIn(
        "cancel",
        "statement",
        "cancel(timer[k])`, `cancel(timer[k](capture=e))",
        "cancels a timer, where it is armed with these captures",
    ),
    BuiltIn(
        "restore",
        "statement",
        "restore(place, State)",
        "rolls a machine back to a saved state, without a transition",
    ),
    BuiltIn(
        "create",
        "statement",
        "create(place, State)",
        "loads a machine in a state, without a transition",
    ),
    BuiltIn(
        "reject",
        "statement",
        "reject(Response(...))`, `reject(send(...))",
        "undoes everything the row did, takes its message, answers only this; ends the row",
        sends=True,
    ),
    BuiltIn(
        "require",
        "statement",
        "require(p)",
        "the row instance is not enabled with these choices unless `p`",
    ),
    BuiltIn("bool", "word", "bool", "the type of `true` and `false`"),
    BuiltIn("self", "word", "self", "in `initial:` of one `per` value: that value"),
    BuiltIn("budget", "word", "budget.crash", "how often a fault may still happen"),
    BuiltIn("message", "word", "message", "in a row with `on:`: the whole message"),
)
"""In the order in which the manual lists them."""

NAMED = {item.name: item for item in BUILT_INS}
RESERVED = frozenset(item.name for item in BUILT_INS if not item.shared)
"""Words that no declaration may hide."""

CALLED_ONLY = frozenset(item.name for item in BUILT_INS if item.shared)
"""Words that a place of the state may have as its name, but nothing that is called like them."""


def named(group: Group) -> frozenset[str]:
    """Return the words of one group."""
    return frozenset(item.name for item in BUILT_INS if item.group == group)


def documented(*groups: Group) -> str:
    """Return the table of some groups as it stands in the manual."""
    rows = [
        f"| `{item.form.replace('|', chr(92) + '|')}` | {item.meaning} |"
        for item in BUILT_INS
        if item.group in groups
    ]
    return "\n".join(["| form | meaning |", "| --- | --- |", *rows])
