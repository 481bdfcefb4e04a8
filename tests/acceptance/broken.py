"""A specification that uses every section, and a few hundred ways to break one of its cells."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Place = tuple[str | int, ...]
"""Keys and positions from the top of a specification to one cell."""

TABLE = """\
table: lamp
about: A lamp.
source: none
states: {Off: {about: dark, initial: true}, On: {about: light}}
transitions:
  - {from: Off, event: press, to: On}
  - {from: On, event: press, to: Off}
"""

SYSTEM = """\
{"system": "whole", "about": "x", "tables": ["lamp"],
 "constants": {
  "Client": {"ids": 2}, "Broker": {"ids": ["b1", "b2"]}, "Twin": {"ids": 2, "symmetric": true},
  "n": 2, "flag": true, "mode": {"one_of": ["fast", "slow"], "value": "fast"}},
 "assume": ["n >= 1"],
 "types": {"Level": "one of low, high", "Point": {"fields": {"x": "0..3", "y": "0..3"}}},
 "messages": {"Ping": {"k": "0..3"}, "Pong": {"c": "optional Client"}},
 "machines": {"light": {"table": "lamp"}},
 "components": {"client": {"per": "Client", "variables": {"v": {"type": "0..3", "initial": "0"}}}},
 "variables": {
  "x": {"type": "0..3", "initial": "0"}, "s": {"type": "set of Client", "initial": "empty"},
  "m": {"type": "map of Client to 0..3", "initial": "empty"},
  "q": {"type": "sequence of Client up to 2", "initial": "empty"},
  "p": {"type": "Point", "initial": "Point(0, 0)"},
  "o": {"type": "optional Client", "initial": "none"}},
 "channels": {"net": {"carries": ["Ping", "Pong"], "order": "bag", "capacity": "2"}},
 "calls": {"rpc": {"per": "Client", "requests": ["Ping"], "responses": ["Pong"], "capacity": "1"}},
 "operations": {"write": {"captures": {"g": "0..3"}, "capacity": "1",
                          "outcomes": {"ok": {}, "bad": {"fault": "crash"}}}},
 "faults": {"crash": {"budget": "1"}},
 "definitions": {"d()": "x + 1", "f(a)": "a + 1"},
 "procedures": {"pr(a)": "x = a"},
 "rows": [
  {"row": "r0", "for": {"c": "Client"}, "let": {"z": "x"}, "when": "x < 3 and d() < f(x)",
   "do": "x += 1"},
  {"row": "r1", "on": "net.Ping(k)", "do": "pass"},
  {"row": "r2", "when": "len(net) < 2", "send": "net, Ping(1)"},
  {"row": "r3", "on": "write.ok(g)", "do": "pr(1)"},
  {"row": "r4", "when": "len(write) == 0", "do": "start(write(g=1))"},
  {"row": "r5", "for": {"c": "Client"}, "do": "call(rpc[c], Ping(1))"},
  {"row": "r6", "on": "rpc.Ping(k)", "do": "reply(call, Pong(none))"},
  {"row": "r7", "on": "rpc.Pong(c)", "do": "pass"},
  {"row": "r8", "in": {"light": "Off"}, "to": {"light": "On"}}],
 "bounds": ["x <= 3"], "terminal": ["x == 3"],
 "properties": {
  "a": {"always": "x <= 3", "why": "w"}, "b": {"sometimes": "x == 3", "why": "w"},
  "c": {"step": "next(x) >= x", "why": "w"},
  "l": {"leads_to": {"from": "x == 1", "to": "x == 2"}, "why": "w"}},
 "instances": {"default": {"set": {"n": 2}, "expect": {"verdict": "holds"}}}}
"""

GONE = object()
"""Stands for a cell that is taken out."""


def whole() -> Any:
    """Return the specification as lists and dictionaries."""
    return json.loads(SYSTEM)


def with_cell(place: Place, value: object) -> str:
    """Return the specification's text with one cell replaced, or taken out."""
    document = copy.deepcopy(whole())
    around = document
    for key in place[:-1]:
        around = around[key]
    if value is GONE:
        del around[place[-1]]
    else:
        around[place[-1]] = value
    return json.dumps(document, indent=1, ensure_ascii=False)


def places(node: object, before: Place = ()) -> Iterator[Place]:
    """Yield the place of every cell below `node`, an outer one before its inner ones."""
    items: list[tuple[str | int, object]] = []
    if isinstance(node, dict):
        items = list(node.items())
    elif isinstance(node, list):
        items = list(enumerate(node))
    for key, value in items:
        yield (*before, key)
        yield from places(value, (*before, key))


def write(folder: Path, text: str) -> Path:
    """Write a specification and the table it follows; return its path."""
    (folder / "lamp.yaml").write_text(TABLE)
    path = folder / "whole.yaml"
    path.write_text(text, encoding="utf-8")
    return path


LONG = "x" * 21_000

VALUES: tuple[object, ...] = (
    None, [], {}, 0, -1, 10**30, True, 1.5, "", "  ", "nonsense", "a b c", [1], [[]], {"x": 1},
    {"a": {"b": {}}}, "\u202e", "((((", LONG, "__class__", '"', "9**9**9",
)  # fmt: skip

EXPRESSIONS = (
    "9**9**9", "2**100000", "10**18 ** 10**18", "1/0", "1//0", "(0).__class__", "x.__class__",
    "().__class__.__bases__[0].__subclasses__()", '__import__("os").system("true")',
    'open("/etc/passwd")', 'eval("1")', "print(x)", "lambda: x", '"text"', "f'{x}'", "x if",
    "x if x else", "(x := 3)", "*s", "{**m}", "()", "(1, 2)", "...", "1.5", "1j", "await x",
    "len(range(10**18))", "[x for x in range(10**9)]", "max(range(10**12))",
    "(" * 200 + "x" + ")" * 200, "not " * 4000 + "flag", "-" * 5000 + "1", "+".join("x" * 6000),
    "x" + ".y" * 3000, "x" + "[0]" * 3000, " and ".join(["flag"] * 3000), "d()()", "f()",
    "f(1, 2)", "f(a=1, a=2)", "f(*s)", "pr(1)", "nope", "nope.nope", "Nope(1)", "Client.client1",
    "client[0]", "client[client1].zz", "lamp.Nope", "On == low", "x == On", "x < low", "s < x",
    "{1, low}", "none < none", "min(empty)", "min()", "abs()", "len(x)", "m[1]", "q[::2]",
    "q[10**30]", "q[low]", "p[0]", "p.zz", "Point(1)", "Point(1, 2, 3)", "replace(p, zz=1)",
    "o is 1", "x is Ping", "any(e.zz for e in net)", "next(next(x))", "fresh(Client)", "pick(s)",
    "implies(1, 2)", "x and 1", "not x", "1 if 1 else 2", "range(low)", "{a for a in 5}",
    "[a async for a in s]", "s.add(1)", "m.values()", "m.get(1)", "x @ x", "1 << 10**9", "~x",
    "10**400", "x * 10**18 * 10**18 * 10**18 > 0", "x in 5", "x in {1, 2, none}", "self", "call",
    "message", "budget", "budget.nope", "system", "x; y", "x = 1", "x\ny", "import os", "\x00",
    "0x10", "0b1", "01", "Ellipsis", "globals()", "breakpoint()", "a" * 10_000, "[x, low]",
    "{*s}", "{1: 2, 1: low}", "sum(c for c in Client)", "max(c for c in Twin)", "twin1", "Twin[0]",
    "range(Twin)", "{a < b for a in Twin for b in Twin}", "all(s)", "Ping", "Ping(9)", "Ping(1).c",
    "net.Ping", "len(net[client1])", "light < On", "light in {On, 3}", "client[client1].v.v",
)  # fmt: skip

TYPES = (
    "0..10**18", "0..10**400", "0..9**9**9", "9**9**9..9**9**9", "3..0", "1..n-n", "0..x",
    "0..1//0", "0..flag", "low..high", "0..", "..3", "0..1..2", "set of 0..10**18",
    "set of set of 0..12", "set of " * 6 + "bool", "map of 0..4095 to 0..4095",
    "total map of 0..10**6 to bool", "map of 0..10**9 to bool", "sequence of bool up to 10**9",
    "sequence of 0..10**9 up to 10**9", "sequence of bool up to -1", "sequence of bool up to x",
    "sequence of bool", "bag of 0..1000 up to 1000", "bag of bool up to 10**12",
    "optional optional bool", "optional " * 70 + "bool", "set of " * 70 + "bool",
    "(" * 70 + "bool" + ")" * 70, "none", "optional", "set of", "map of Client", "total", "one of",
    "one of a, a", "set of one of a, b", "Nope", "Ping or bool", "Ping or", "handle of net", "int",
    "bool bool", "{}", "set[bool]", "list of bool", "set of 0..4096", "__class__", "(0..3",
    "0..len(s)", "Level.low", "self", "1..2**70", "-2**63..2**63", "0..2**62",
)  # fmt: skip

EFFECTS = (
    "x = x + 10**40", "while flag: pass", "for i in range(10**9):\n  x = 0", "def g(): pass",
    "class A: pass", "import os", "global x", "del x", "del m", "assert flag", "raise x",
    "try:\n  pass\nexcept:\n  pass", "with x: pass", "return 1", "yield", "break", "continue", "x",
    "1", '"doc"', "x, p = 1, 2", "x = p = 1", "x: int = 1", "[x] = [1]", "x[0] = 1", "p.zz = 1",
    "p = 1", "s = x", "s.add()", "s.remove(9)", "s.nope()", "x.add(1)", "q.append(low)", "q.pop(1)",
    "m[1] = 1", "m[client1][client1] = 1", "light = Nope", "light += 1", "n = 3", "Client[0] = 1",
    "low = high", "d() = 1", "rpc = 1", "budget = 1", "send()", "send(1)", "send(net)",
    "send(net, Ping)", "send(net[client1], Ping(1))", "send(nope, Ping(1))", "x = send(Ping(1))",
    "call(rpc, Ping(1))", "call(rpc[client1], Pong(none))", "call(net, Ping(1))", "close(net)",
    "reply(1, Pong(none))", "start(write)", "start(write(g=9))", "start(nope())", "restore(x, 1)",
    "create(light)", "reject()", "reject(1)", "require()", "require(1)", "x = pick()",
    "x = pick(s) + pick(s)", "x = pick(y for y in range(10**9))", "pick(s)", "x = fresh(1)",
    "o = fresh(Nope)", "o = fresh(Level)", "pr()", "pr(low)", "x = pr(1)", "f(1)", 'exec("1")',
    '__import__("os")', "x.__class__ = 1", "if x: pass", "if flag:", "if flag:\npass", "\tx = 1",
    "x = 1; x = 2", "x = \\\n 1", "pass\n" * 5000, "if flag:\n pass\n" * 2000,
    "".join(" " * i + "if flag:\n" for i in range(99)) + " " * 99 + "pass", "y = y + 1",
    "for i in x: pass", "for i, j in s: pass", "x **= 2", "x /= 1", "s += 1", "self = 1",
    "match x:\n  case 1: pass", "x = lambda: 0", "x = next(x)", "...", "#",
)  # fmt: skip

MAIN_PLACES: tuple[Place, ...] = (
    ("rows", 0, "when"), ("rows", 0, "for", "c"), ("constants", "n"), ("variables", "x", "initial"),
)  # fmt: skip

FURTHER_PLACES: tuple[Place, ...] = (
    ("rows", 0, "let", "z"), ("rows", 0, "only_if"), ("rows", 0, "fair"), ("rows", 1, "on"),
    ("rows", 2, "send"), ("rows", 8, "to", "light"), ("properties", "a", "always"),
    ("properties", "c", "step"), ("bounds", 0), ("assume", 0), ("terminal", 0),
    ("variables", "s", "initial"), ("definitions", "d()"), ("definitions", "f(a)"),
    ("faults", "crash", "budget"), ("channels", "net", "capacity"), ("channels", "net", "loses"),
    ("components", "client", "per"),
)  # fmt: skip

TYPE_PLACES: tuple[Place, ...] = (
    ("variables", "x", "type"), ("messages", "Ping", "k"), ("types", "Level"),
    ("operations", "write", "captures", "g"), ("components", "client", "per"),
)  # fmt: skip

EFFECT_PLACES: tuple[Place, ...] = (("rows", 0, "do"), ("procedures", "pr(a)"), ("rows", 6, "do"))
