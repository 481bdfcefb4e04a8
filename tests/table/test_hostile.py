"""Goal: no file, however broken, makes the reader fail otherwise than with located diagnostics."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.errors import Diagnostic, SpecificationError
from checker.table import read, read_table

SECONDS_MAX = 10.0  # all take a tenth of a second; what grows without bound takes minutes

EXPRESSIONS = (
    "__import__('os').system('true')",
    "().__class__.__bases__[0].__subclasses__()",
    "x.__class__",
    "lambda: 0",
    "(y := 1)",
    "f'{x}'",
    "'a' * 10",
    "*a",
    "f(*a)",
    "f(**a)",
    "{**a}",
    "await x",
    "(yield)",
    "[x async for x in y]",
    "x if y",
    "a, b",
    "a[1:2:3]",
    "a[b, c, d]",
    "...",
    "None",
    "1.5",
    "1e999",
    "1j",
    "0x" + "f" * 400,
    "9" * 5000,
    "9" * 15000,
    "1_000",
    "007",
    "0..3",
    "~x",
    "+x",
    "x @ y",
    "x << 99",
    "2 ** 2 ** 2 ** 99",
    "x / y",
    "-" * 19000 + "1",
    "not " * 4900 + "x",
    "(" * 61 + "x" + ")" * 61,
    "(" * 9000 + "x" + ")" * 9000,
    "[" * 60 + "]" * 60,
    "{" * 200,
    ")" * 200,
    "x" + ".y" * 9000,
    "x" + "[0]" * 5000,
    "x" + "()" * 5000,
    "+".join(["1"] * 9000),
    " and ".join(["x"] * 3000),
    " < ".join(["x"] * 3000),
    "x if y else " * 1500 + "z",
    "x ** " * 3000 + "y",
    "lambda: " * 2000 + "0",
    "f(" * 59 + ")" * 59,
    "a" * 25000,
    "a\\\nb",
    "a # c",
    "# only a comment",
    "é" * 3000 + ".__class__",
    "x\u00a0+ y",
    "a\u200bb",
    "x ? y",
    "$x",
    "a := b",
    "a = b",
    "print x",
    "exec(x)",
    "x; y",
    "import os",
    "min(x for x in y, default=0)",
    "for x in y",
    "x is not",
    "0xg",
    "1if x else 2",
    "_",
    "__debug__ ",
    "True = 1",
    "{1: 2, **x, 3}",
)
STATEMENTS = (
    "while True: pass",
    "import os; os.system('true')",
    "from os import *",
    "def f(): return 1",
    "class A: pass",
    "try:\n    pass\nexcept:\n    pass",
    "with a as b:\n    pass",
    "global x",
    "nonlocal x",
    "assert x, y",
    "raise x",
    "return x",
    "a = b = c",
    "a, b = c",
    "a: int = 1",
    "a",
    "a == b",
    "a **= 2",
    "a @= 2",
    "a[1:2] = b",
    "f() = 1",
    "del a",
    "del a[b], c[d]",
    "del a.b",
    "for a, b in c:\n    pass",
    "for a in b:\n    pass\nelse:\n    pass",
    "async def f(): pass",
    "break",
    "continue",
    "match a:\n    case b:\n        pass",
    "if a:\n  b = 1\n c = 2",
    "if a:",
    "  a = 1",
    "a = 1\n  b = 2",
    "\n".join("    " * level + "if a:" for level in range(99)) + "\n" + "    " * 99 + "pass",
    "\n".join("    " * level + "if a:" for level in range(150)),
    "if a:\n    pass\n" + "elif a:\n    pass\n" * 800,
    "type X = int",
    "print 'a'",
    "a = 1;" * 3000,
    "try:\n    pass\nexcept* A:\n    pass",
    "lambda: (yield)",
    "_a = 1",
    "a._b = 1",
    "f(_a=1)",
)
FILES: dict[str, bytes] = {
    "empty": b"",
    "blank": b"  \n\n",
    "comment": b"# nothing",
    "null": b"null\n",
    "scalar": b"system\n",
    "list": b"- system: s\n- about: a\n",
    "nul": b"system: s\0\n",
    "escape": b"system: s\nabout: a\x1b[2J\n",
    "latin": "system: s\nabout: é\n".encode("latin-1"),
    "utf-16": "system: s\nabout: a\n".encode("utf-16"),
    "half a character": "system: s\nabout: é".encode()[:-1],
    "escaped nul": b'system: s\nabout: "\\0"\n',
    "escaped surrogate": b'system: s\nabout: "\\ud800"\n',
    "beyond unicode": b'system: s\nabout: "\\UFFFFFFFF"\n',
    "direction mark": "system: s\nabout: a\u202eb\n".encode(),
    "line separator": "system: s\nabout: a\u2028b\n".encode(),
    "marks inside": "system: s\nabout: a\ufeffb\n".encode(),
    "tab": b"system: s\nrows:\n\t- row: a\n",
    "anchor": b"system: &a s\nabout: a\n",
    "alias": b"system: s\nabout: *a\n",
    "tag": b"system: !!python/object/apply:os.system [true]\nabout: a\n",
    "tagged mapping": b"!!omap\n- a: b\n",
    "merge": b"system: s\nabout: a\n<<: {rows: []}\n",
    "two documents": b"system: s\nabout: a\n---\nsystem: t\n",
    "directive": b"%YAML 1.1\n---\nsystem: s\nabout: a\n",
    "strange directive": b"%FOO\n---\nsystem: s\n",
    "bad version": b"%YAML 99.99\n---\nsystem: s\n",
    "tag directive": b"%TAG ! tag:x,2000:\n---\nsystem: s\n",
    "twice": b"system: s\nsystem: t\nabout: a\n",
    "number as key": b"1: s\nabout: a\n",
    "list as key": b"? [a, b]\n: s\nabout: a\n",
    "null key": b"? \n: s\n: t\n",
    "laughs": b"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n",
    "itself": b"&a [*a]\n",
    "nested lists": b"[" * 5000 + b"]" * 5000,
    "nested mappings": b"{a: " * 2000 + b"}" * 2000,
    "open lists": b"[" * 100000,
    "open mappings": b"{" * 100000,
    "nested blocks": b"".join(b" " * n + b"a:\n" for n in range(500)),
    "nested dashes": b"- " * 5000 + b"a",
    "nested questions": b"? " * 5000 + b"a",
    "colons": b": " * 5000,
    "commas": b"system: [" + b"," * 1000 + b"]",
    "long key": b"a" * 70000 + b": b\n",
    "long quoted": b'system: "' + b"a" * 200000 + b'"\n',
    "open quote": b'system: "abc\n' + b"about: x\n" * 1000,
    "open block": b"system: |9\n a\n",
    "too large": b"#" * (1 << 20) + b"#",
    "large comment": b"#" * (1 << 20),
    "many lines": b"\n" * (1 << 20),
    "many spaces": b" " * (1 << 20),
    "many keys": b"".join(b"k%d: 1\n" % n for n in range(3000)),
    "percent": b"%",
    "backtick": b"system: `a`\n",
    "at": b"system: @a\n",
    "crlf": b"system: s\r\nabout: a\r\nrows:\r\n  - row: r\r\n    do: |\r\n      a +\r\n",
    "carriage returns": b"system: s\rabout: a\rbounds: [a +]\r",
    "unicode names": "system: ﬁ\nabout: a\nconstants: {ª: 1}\n".encode(),
    "torn": b"system: s\nabout: a\nvariables: {v: {type: 0..3, initial: max(0, f(1, 2))}}\n",
    "torn list": b"system: s\nabout: a\nbounds: [f(a, b), {a, b}]\n",
    "comma in prose": b"system: s\nabout: a\nconstants: {n: {value: 1, about: one, two (a, b}}\n",
    "keyword names": b"system: class\nabout: a\nrows: [{row: lambda, do: pass}]\n",
    "nulls everywhere": b"system:\nabout:\nrows:\nproperties:\ninstances: ~\nconstants: {a: }\n",
}


def small_edits(good: bytes) -> Iterator[bytes]:
    """Yield the text cut, and with pieces swapped, doubled and left out, at regular places."""
    for at in range(0, len(good), 41):
        yield good[:at]
        yield good[:at] + good[at + 7 :]
        yield good[:at] + b"}" + good[at:]
    for old, new in (
        (b": ", b":"),
        (b":", b""),
        (b"[", b"{"),
        (b"]", b")"),
        (b'"', b""),
        (b"'", b'"'),
        (b"- ", b"-"),
        (b"  ", b" "),
        (b"\n", b" "),
        (b"(", b"(("),
        (b",", b", ,"),
        (b"|", b">"),
        (b"e", b"\xc3"),
        (b"e", b"\xf0\x9f\x92\xa1"),
    ):
        yield good.replace(old, new)


def values_swapped(good: str) -> Iterator[bytes]:
    """Yield the text with the value of one line replaced by something of another kind."""
    lines = good.splitlines()
    strange = (
        "1",
        "true",
        "~",
        "[]",
        "{}",
        "[[a]]",
        "{a: b}",
        '""',
        "1.5",
        "&a b",
        "|",
        "- a",
        "x(",
    )
    for number, line in enumerate(lines):
        key, colon, _ = line.partition(": ")
        if colon:
            swapped = [
                *lines[:number],
                f"{key}: {strange[number % len(strange)]}",
                *lines[number + 1 :],
            ]
            yield "\n".join(swapped).encode()


def judge(path: Path, data: bytes, *, table: bool = False) -> None:
    """Read `data`; whatever is wrong with it must be said with a place, and soon.

    The clock is that of this thread: others may compile, or wait for Spark, at the same time.
    """
    path.write_bytes(data)
    begin = time.thread_time()
    try:
        (read_table if table else read)(path)
    except SpecificationError as failure:
        diagnostics = failure.diagnostics
        located = all(is_located(error) for error in diagnostics)
        if not (diagnostics and located):
            pytest.fail(f"an error without a place in {data[:200]!r}: {diagnostics}")
    assert time.thread_time() - begin < SECONDS_MAX


def is_located(error: Diagnostic) -> bool:
    """Return whether an error has a code, a message and a place in its file."""
    span = error.span
    lines = span.source.text.count("\n") + span.source.text.count("\r") + 1
    ordered = span.end_line > span.line or span.end_column >= span.column
    within = 1 <= span.line <= span.end_line <= lines + 1 and span.column >= 1
    named = error.code.startswith("T") and span.source.name.endswith(".yaml")
    return bool(error.message) and named and within and ordered


def test_a_good_file_broken_anywhere(folder: Path, complete: str) -> None:
    for data in small_edits(complete.encode()):
        judge(folder / "system.yaml", data)


def test_a_good_file_with_values_of_other_kinds(folder: Path, complete: str) -> None:
    for data in values_swapped(complete):
        judge(folder / "system.yaml", data)


def test_a_good_table_broken_anywhere(folder: Path, lamp: str) -> None:
    for data in (*small_edits(lamp.encode()), *values_swapped(lamp)):
        judge(folder / "lamp.yaml", data, table=True)


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_files_that_are_no_specification(folder: Path, data: bytes) -> None:
    judge(folder / "system.yaml", data)
    judge(folder / "table.yaml", data, table=True)
    with pytest.raises(SpecificationError):
        read(folder / "system.yaml")


# What the reader lets through is the elaborator's to judge: names, types and sizes.
HARMLESS = (
    "1_000",
    "a # c",
    "exec(x)",
    "2 ** 2 ** 2 ** 99",
    "[" * 60 + "]" * 60,
    "f(" * 59 + ")" * 59,
    " and ".join(["x"] * 3000),
)


@pytest.mark.parametrize("text", EXPRESSIONS, ids=lambda text: text[:20])
def test_expressions_from_strangers(folder: Path, text: str) -> None:
    block = "\n".join("    " + line for line in text.splitlines())
    for yaml in (
        f"system: s\nabout: a\nbounds:\n  - |\n{block}\n",
        f"system: s\nabout: a\ntypes:\n  T: |\n      0..{block.strip()}\n",
        f"system: s\nabout: a\nvariables:\n  v:\n    initial: |\n  {block}\n",
        f"system: s\nabout: a\nrows:\n  - row: r\n    on: |\n      {block.strip()}\n",
    ):
        judge(folder / "system.yaml", yaml.encode())
    (folder / "system.yaml").write_text(f"system: s\nabout: a\nbounds:\n  - |\n{block}\n")
    if text in HARMLESS:
        read(folder / "system.yaml")
    else:
        with pytest.raises(SpecificationError):
            read(folder / "system.yaml")


@pytest.mark.parametrize("text", STATEMENTS, ids=lambda text: text[:20])
def test_effects_from_strangers(folder: Path, text: str) -> None:
    block = "\n".join("        " + line for line in text.splitlines())
    yaml = f"system: s\nabout: a\nrows:\n  - row: r\n    do: |2\n{block[4:]}\n"
    judge(folder / "system.yaml", yaml.encode())
    yaml = f"system: s\nabout: a\nprocedures:\n  f(a): |\n{block}\n"
    judge(folder / "system.yaml", yaml.encode())
    if text not in ("a = 1;" * 3000, "  a = 1"):
        with pytest.raises(SpecificationError):
            read(folder / "system.yaml")
