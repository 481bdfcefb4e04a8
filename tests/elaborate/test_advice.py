"""Goal: what people try first, coming from other languages, is answered with what to write."""

from pathlib import Path

import pytest

from checker.diagnostics import render_all
from checker.errors import Diagnostic, SpecificationError
from checker.flow import machine_of

HEAD = (
    "system: p\nabout: x.\nconstants:\n  most: 1\n  K: {ids: 2}\nmessages:\n  Rd: {a: 0..1}\n"
    "  Wr: {a: 0..1}\ntypes:\n  Level: one of low, high\n"
)
LEVELS = "variables:\n  s: {type: set of Level, initial: empty}\n"
KEYED = "variables:\n  n: {type: 0..1, per: K, initial: '0'}\n  o: {type: 0..1, initial: '0'}\n"
MESSAGES = "variables:\n  m: {type: optional (Rd or Wr), initial: none}\n"
DOOR = (
    "components:\n  door:\n    machines:\n      state: {table: lamp}\n"
    "    variables:\n      n: {type: 0..1, initial: '0'}\n"
)
LAMP = (
    "table: lamp\nabout: x.\nsource: x\nstates:\n  Off: {initial: true, about: x.}\n"
    "  On: {about: x.}\ntransitions:\n  - {from: Off, event: press, to: On}\n"
)

LEVEL_TABLE = (
    "table: Level\nabout: x.\nsource: a lamp.\nstates:\n  Off: {initial: true, about: it is off.}\n"
    "  On: {about: it is on.}\ntransitions:\n  - {from: Off, event: turn, to: On}\n"
)

MISLED = {
    "variables:\n  n: {type: 0..1, per: [K, K], initial: '0'}\n": ("T111", "map of a map"),
    "variables:\n  n: {type: int, initial: '0'}\n": ("N206", "0..9"),
    "variables:\n  n: {type: 'union(Rd, Wr)', initial: '0'}\n": ("T130", "A or B"),
    "rows:\n  - {row: a, when: any(true for x in (Rd or Wr)), do: pass}\n": ("Y303", "`types:`"),
    "rows:\n  - {row: a, for: {r: '{x for x in 0..3}'}, do: pass}\n": ("T130", "range(4)"),
    "definitions:\n  low(): 1 == 2\n": ("N203", "a name of its own"),
    "variables:\n  n: {type: 0..1, initial: any}\n": ("N201", "write it so"),
    "channels:\n  wires: {carries: [Rd], order: bag, capacity: '1', when_full: drop}\n"
    "rows:\n  - {row: a, do: 'send(wire, Rd(1))'}\n": ("N206", "did you mean `wires`"),
    "operations:\n  write: {captures: {}, capacity: '1', outcomes: {ok: {}}}\n"
    "rows:\n  - {row: a, do: start(writ())}\n": ("N206", "did you mean `write`"),
    "variables:\n  s: {type: list of Level, initial: empty}\n": ("T130", "sequence of T up to N"),
    f"{LEVELS}rows:\n  - {{row: a, do: 'add(s, low)'}}\n": ("N201", "write `s.add(low)`"),
    f"{LEVELS}rows:\n  - {{row: a, do: s.insert(low)}}\n": ("N205", "did you mean `add`"),
    "rows:\n  - {row: a, when: not !true, do: pass}\n": ("T120", "write not"),
    "faults:\n  f: {budget: '-1'}\n": ("Y305", "unlimited"),
    "rows:\n  - {row: a, fault: true, do: pass}\n": ("T112", "write a name"),
    "instances:\n  default: {expect: {verdict: true}}\n": ("T115", "write holds or violated"),
    "constants:\n  n = 3\n  m: 4\n": ("T103", "write n: 3"),
    "constants:\n  n: 3\n  m = 4 # here\n\nvariables:\n  x: {type: bool}\n": ("T103", "write m: 4"),
    "rows:\n  -row: a\n    do: pass\n": ("T103", "write - row:"),
    "rows:\n  row: a\n    do: pass\n": ("T103", "let both begin in one column"),
    "channels:\n  wire: {carries: [Rd], order: bag, capacity: '1', when_full: drop}\n"
    "rows:\n  - {row: a, on: Rd(k), for: {k: 0..1}, do: pass}\n": ("N203", "another name"),
    "rows:\n  - {row: a, for: {k: K}, let: {k: '1'}, do: pass}\n": ("N203", "another name"),
    "operations:\n  put:\n    capacity: '1'\n"
    "    outcomes: {ok: {}, late_ok: {}, slow: {late: true}}\n": ("N203", "another name"),
    "channels:\n  wire: {carries: [Rd], order: bag, capacity: '1', when_full: drop}\n"
    "rows:\n  - {row: a, when: 'true', do: pass}\n"
    "unhandled:\n  - {message: Rd, is: ignored, why: nobody waits.}\n"
    "fair_groups:\n  ignore_Rd: {about: x, rows: [a], fair: weak}\n": ("N203", "of its own"),
    "tables: [lamp.yaml]\n": ("N203", "another name"),
    "properties:\n  error: {always: 'true', why: x.}\n": ("N203", "what should hold"),
    "properties:\n  p: {eventually_alway: true, why: x.}\n": ("T113", "eventually_always"),
    # Names of types, values and functions: another language's before any guess.
    "variables:\n  n: {type: uint, initial: '0'}\n": ("N206", "0..9"),
    "variables:\n  n: {type: float, initial: '0'}\n": ("N206", "numbers are integers"),
    "variables:\n  x: {type: most, initial: '0'}\n": ("N206", "most: {ids: 2}"),
    f"{KEYED}rows:\n  - {{row: a, when: o == null, do: pass}}\n": ("N201", "write none"),
    f"{KEYED}rows:\n  - {{row: a, when: n(k1) == 0, do: pass}}\n": ("N205", "write n[k1]"),
    f"{KEYED}rows:\n  - {{row: a, when: o() == 0, do: pass}}\n": ("N205", "o without parentheses"),
    f"{LEVELS}rows:\n  - {{row: a, when: s.size() > 0, do: pass}}\n": ("N205", "write len(s)"),
    f"{LEVELS}rows:\n  - {{row: a, when: s.length > 0, do: pass}}\n": ("N208", "write len(s)"),
    f"{LEVELS}rows:\n  - {{row: a, when: Cardinality(s) > 0, do: pass}}\n": ("N201", "len(s)"),
    f"{LEVELS}rows:\n  - {{row: a, when: s.contains(low), do: pass}}\n": ("N205", "low in s"),
    f"{LEVELS}rows:\n  - {{row: a, when: s == set(), do: pass}}\n": ("N201", "write empty"),
    f"{LEVELS}rows:\n  - {{row: a, do: s += low}}\n": ("Y303", "s.add(x)"),
    f"{LEVELS}rows:\n  - {{row: a, do: 's = s + {{low}}'}}\n": ("Y303", "write |"),
    f"{LEVELS}rows:\n  - {{row: a, do: s -= low}}\n": ("Y303", "s.discard(x)"),
    f"{KEYED}rows:\n  - {{row: a, for: {{k: K}}, do: pass}}\n"
    "  - {row: b, when: 'n[k] == 0', do: pass}\n": ("N201", "for: {k: K}"),
    f"{KEYED}definitions:\n  zero(): n[k] == 0\nrows:\n  - {{row: a, for: {{k: K}}, do: pass}}\n"
    "  - {row: b, when: zero(), do: pass}\n": ("N201", "make `k` a parameter of `zero`"),
    # Messages, and names of their kinds.
    f"{MESSAGES}rows:\n  - {{row: a, do: m = Rd}}\n": ("Y301", "write Rd(a)"),
    f"{MESSAGES}rows:\n  - {{row: a, when: m == Rd, do: pass}}\n": ("Y303", "write `is Rd`"),
    f"{MESSAGES}rows:\n  - {{row: a, when: 'm in {{Rd, Wr}}', do: pass}}\n": ("Y303", "m is Rd"),
    "rows:\n  - {row: a, when: Rd, do: pass}\n": ("Y303", "ask `m is Rd`"),
    "rows:\n  - {row: a, do: send(Rd(1))}\n": ("N206", "declare a channel"),
    # What stands before a `=`.
    f"{KEYED}rows:\n  - {{row: a, do: 'o = 1, o = 0'}}\n": ("T120", "in a line of its own"),
    f"{KEYED}rows:\n  - {{row: a, do: next(o) = 1}}\n": ("T120", "the variable itself: o = ..."),
    f"{KEYED}rows:\n  - {{row: a, do: n(k1) = 1}}\n": ("T120", "write n[k1]"),
    f"{KEYED}rows:\n  - {{row: a, do: n(k1)}}\n": ("N205", "n[k1] = ..."),
    f"{LEVELS}rows:\n  - {{row: a, do: len(s)}}\n": ("N205", "x = len(s)"),
    f"{KEYED}rows:\n  - {{row: a, do: o := 1}}\n": ("T120", "write = to assign"),
    f"{KEYED}rows:\n  - {{row: a, do: o' = 1}}\n": ("T121", "next(x)"),
    f'{KEYED}rows:\n  - {{row: a, do: "if o = 1: o = 0"}}\n': ("T120", "write == to compare"),
    "rows:\n  - {row: a, do: most = 3}\n": ("N203", "make it a variable"),
    f"{MESSAGES}  count: {{type: 0..1, per: K, initial: '0'}}\n"
    "rows:\n  - {row: a, do: 'conut[k1] = 1'}\n": ("Y320", "did you mean `count`"),
    "rows:\n  - row: a\n    do:\n      - pass\n": ("T111", "write do: | and below it"),
    "rows:\n  - row: a\n    do: [n[1] = 2]\n": ("T103", "write do: | and below it"),
    # Formulas of temporal logic.
    "properties:\n  p: {ltl: '[]<>(1 == 1)', why: x.}\n": ("T120", "eventually(p)"),
    "properties:\n  p: {ltl: '[](1 == 1)', why: x.}\n": ("T125", "always(p)"),
    "properties:\n  p: {always: 1 <> 2, why: x.}\n": ("T120", "write !="),
    "properties:\n  p: {ltl: G(1 == 1), why: x.}\n": ("N201", "write always(1 == 1)"),
    "properties:\n  p: {ltl: always(any(eventually(k == l) for k in K for l in K)), why: x.}\n": (
        "Y309",
        "joined by `or`",
    ),
    "properties:\n  p: {ltl: always(all(eventually(k == l) for k in K for l in K)), why: x.}\n": (
        "Y309",
        "by `for:`",
    ),
    "definitions:\n  met(k): eventually(k in K)\nproperties:\n  p: {ltl: met(k1), why: x.}\n": (
        "N201",
        "where the whole formula stands",
    ),
    "  R: {fields: {k: K}}\nvariables:\n  n: {type: 0..1, per: R, initial: '0'}\n": (
        "Y303",
        "total map of R to ...",
    ),
    "rows:\n  - {row: a, when: any(e.from == k for e in K for k in K), do: pass}\n": (
        "T120",
        "give the field another name",
    ),
    # Words of other languages before what they are of.
    "rows:\n  - {row: a, when: exists x in K, do: pass}\n": ("T120", "any(p for x in s)"),
    "rows:\n  - {row: a, do: let x = 1}\n": ("T120", "leave it out"),
    "rows:\n  - {row: a, when: if 1 == 1 then true else false, do: pass}\n": (
        "T120",
        "write a if p else b",
    ),
    "rows:\n  - {row: a, when: 'all(true, k in K)', do: pass}\n": ("N208", "all(p for x in s"),
    # Keys and names of other kinds.
    "rows:\n  - row: a\n    for: k in K\n    do: pass\n": ("T112", "write for: {k: K}"),
    "rows:\n  - {row: a, for: {k in K}, do: pass}\n": ("T116", "write k: K"),
    "rows:\n  - row: a\n    in:{o: p}\n    do: pass\n": ("T113", "`in: ...`"),
    "instances:\n  default: {expect: {distinct 3}}\n": ("T113", "`distinct: ...`"),
    "rows:\n  - row: a\n    do: |\n    if 1 == 1:\n      pass\n": ("T113", "indent a statement"),
    "invariants:\n  p: {always: true, why: x.}\n": ("T113", "`properties:`"),
    "transitions:\n  - {row: a, do: pass}\n": ("T113", "`rows:`"),
    "instances:\n  default: {expect: {distinct: 3,043}}\n": ("T113", "without commas"),
    "properties:\n  leader_known: {always: 1 == 1, why: x.}\n"
    "instances:\n  default: {properties: [leadr]}\n": ("N206", "did you mean `leader_known`"),
}

MACHINES = {
    "in: {state: Off}": ("N201", "did you mean `door.state`"),
    "in: {door.n: 0}": ("T112", "write when: door.n == 0"),
    "in: {door.n: low}": ("Y303", "stand in `when:`"),
    "in: {door.state: On, Off}": ("T112", "write door.state: [On, Off]"),
    "in: {door.state: On or Off}": ("T116", "write door.state: [On, Off]"),
    "in: {door.state = Off}": ("T112", "write door.state: Off"),
    "in: {door.state:Off}": ("T112", "write door.state: Off"),
    "in: door.state == Off": ("T112", "write in: {door.state: Off}"),
    "in: {door: Off}": ("N205", "write door.state"),
    "to: {door.n: 0}": ("T112", "write do: door.n = 0"),
    "do: door = 1": ("N203", "door.state = ..."),
}
"""What is written in a row beside a component with a machine and a number."""

LINES = {
    "rows:\n  - row: a\n    when:true\n    do: pass\n": (3, "write when: true"),
    "rows:\n  - row: a\n    when true\n    do: pass\n": (3, "write when: true"),
    "rows:\n  - row:a\n    do: pass\n": (2, "write - row: a"),
    "rows:\n  - row: a\n    do: |\n    pass\n    fair: weak\n": (4, "indent the lines of a block"),
    "rows:\n  - row: a\n    do: pass\n  row: b\n": (4, "begin it with `- `"),
    "definitions:\n  f(k) 1 == 1\n  g(): f(1)\n": (2, "write f(k): 1 == 1"),
    "definitions:\n  f():1 == 1\n  g(): f()\n": (2, "write f(): 1 == 1"),
    "rows:\n  - row a\n    do: pass\n": (2, "write - row: a"),
    "rows:\n  - row: a\n    when:|\n      1 == 1\n    do: pass\n": (3, "write when: |"),
    "rows:\n  - row: a\n      do: pass\n": (3, "check the indentation"),
    "rows:\n  - row: a\n    do: pass\n   when: true\n": (4, "begins in column 5, this one in"),
    "  A: {fields: {a: bool}\n  B: 0..1\n": (1, "close it with }"),
    "  A: {fields: {a: 0..1}\nrows:\n  - row: a\n": (1, "close it with }"),
    "properties:\n  p:\n    always |\n      1 == 1\n    why: x.\n": (3, "write always: |"),
    "rows\n  - row: a\n": (1, "write rows:"),
    "  A:0..1  # of one\n  B: 0..2\n": (1, "write A: 0..1"),
    "  A 0..1\n  B: 0..2\n": (1, "write A: 0..1"),
    "rows:\n  - row: a\n    for: {k: K\n    do: pass\n": (3, "close it with }"),
    "rows:\n  - row: a\n    do:\n      x = 1\n      if x == 1:\n        x = 2\n": (
        3,
        "write do: |",
    ),
    "procedures:\n  f(x):\n    y = x\n    if y == 1:\n      y = 2\n": (2, "write f(x): |"),
    "rows:\n  - row: a\n    do:\n      if 1 == 1:\n        pass\n      x = 1\n    fair: weak\n": (
        3,
        "write do: |",
    ),
    "rows:\n  - row: a\n    do: pass\n    when: 1 == 1: 2\n": (4, "quote the whole cell"),
    "rows:\n  - row: a\n    do: |\n      x = 1\n    when: 1 == 1: 2\n": (5, "quote the whole cell"),
    "rows:\n  - row: a\n    when: 1 == 1\n    and 2 == 2\n    do: pass\n": (4, "indent it deeper"),
}
"""Texts that are not YAML, with the line below `HEAD` that has to be edited."""


def told(text: str, folder: Path) -> tuple[Diagnostic, ...]:
    """Return what is said of a system that begins with `HEAD`."""
    path = folder / "system.yaml"
    path.write_text(HEAD + text)
    with pytest.raises(SpecificationError) as caught:
        machine_of(str(path), "default", {})
    return caught.value.diagnostics


@pytest.mark.parametrize("text", MISLED)
def test_what_people_try_first_is_answered_with_what_to_write(text: str, tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").write_text(LEVEL_TABLE)
    code, said = MISLED[text]
    found = next(item for item in told(text, tmp_path) if item.code == code)
    assert said in (found.help or "")


def test_what_is_wrong_with_an_argument_inside_of_what_is_used_says_where_it_is_used(
    tmp_path: Path,
) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(
        "system: p\nabout: x.\nconstants:\n  K: {ids: 2}\n"
        "variables:\n  s: {type: set of K, initial: empty}\n  n: {type: 0..3, initial: '0'}\n"
        "definitions:\n  inside(k): k in s\n  twice(k): inside(k) and k in s\n  odd: n in s\n"
        "procedures:\n  drop(k): s.discard(k)\n"
        "rows:\n"
        "  - {row: a, for: {k: K}, when: twice(k), do: drop(k)}\n"
        "  - {row: b, when: twice(n), do: drop(2)}\n"
        "  - {row: c, when: odd, do: pass}\n"
    )
    with pytest.raises(SpecificationError) as caught:
        machine_of(str(path), "default", {})
    found = [
        (item.span.line, [(use.what, use.span.line, use.span.column) for use in item.uses])
        for item in caught.value.diagnostics
    ]
    assert found == [
        (9, [("inside(k: 0..3)", 10, 13), ("twice(k: 0..3)", 16, 20)]),
        (11, []),
        (13, [("drop(k: 2..2)", 16, 34)]),
    ]
    text = "".join(render_all(caught.value.diagnostics).split())
    assert "".join(f"= used: twice(k: 0..3) at {path}:16:20".split()) in text


@pytest.mark.parametrize("text", MACHINES)
def test_what_is_no_machine_in_a_state_is_said_where_it_belongs(text: str, tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    code, said = MACHINES[text]
    does = "" if text.startswith(("do", "to")) else "    do: pass\n"
    (found,) = told(f"{DOOR}rows:\n  - row: a\n    {text}\n{does}", tmp_path)
    assert (found.code, said in (found.help or "")) == (code, True)


@pytest.mark.parametrize("text", LINES)
def test_what_is_no_yaml_is_told_of_in_the_line_to_edit(text: str, tmp_path: Path) -> None:
    line, said = LINES[text]
    (found,) = told(text, tmp_path)
    below = found.span.line - len(HEAD.splitlines())
    assert (found.code, below, said in (found.help or "")) == ("T103", line, True)


def test_a_name_whose_cell_is_wrong_is_told_once(tmp_path: Path) -> None:
    """What uses the name says nothing; what is wrong for a reason of its own does."""
    path = tmp_path / "system.yaml"
    path.write_text(
        "system: p\nabout: x.\nvariables:\n  x: {type: 0..3, initial: '0'}\n"
        "initial:\n  for: {f: gone}\n  do: x = f\n"
        "rows:\n"
        "  - row: a\n    for: {n: lost, q: '0..2'}\n    when: n > q\n    do: x = n\n"
        "  - row: b\n    let:\n      k: missing + 1\n      m: k + 1\n      o: absent\n"
        "    when: k > 2\n    do: x = m + o + k\n"
    )
    with pytest.raises(SpecificationError) as caught:
        machine_of(str(path), "default", {})
    names = [item.message.split("`")[1] for item in caught.value.diagnostics]
    assert names == ["gone", "lost", "missing", "absent"]
