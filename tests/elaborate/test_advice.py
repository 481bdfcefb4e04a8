"""Goal: what people try first, coming from other languages, is answered with what to write."""

from pathlib import Path

import pytest

from checker.diagnostics import render_all
from checker.errors import SpecificationError
from checker.flow import machine_of

LEVELS = "variables:\n  s: {type: set of Level, initial: empty}\n"

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
    "properties:\n  p: {eventually_alway: true, why: x.}\n": ("T113", "eventually_always"),
}


@pytest.mark.parametrize("text", MISLED)
def test_what_people_try_first_is_answered_with_what_to_write(text: str, tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    (tmp_path / "lamp.yaml").write_text(LEVEL_TABLE)
    path.write_text(
        "system: p\nabout: x.\nconstants:\n  K: {ids: 2}\nmessages:\n  Rd: {a: 0..1}\n"
        "  Wr: {a: 0..1}\ntypes:\n  Level: one of low, high\n" + text
    )
    with pytest.raises(SpecificationError) as caught:
        machine_of(str(path), "default", {})
    code, said = MISLED[text]
    found = next(item for item in caught.value.diagnostics if item.code == code)
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
    told = [
        (item.span.line, [(use.what, use.span.line, use.span.column) for use in item.uses])
        for item in caught.value.diagnostics
    ]
    assert told == [
        (9, [("inside(k: 0..3)", 10, 13), ("twice(k: 0..3)", 16, 20)]),
        (11, []),
        (13, [("drop(k: 2..2)", 16, 34)]),
    ]
    text = render_all(caught.value.diagnostics)
    assert f"= used: twice(k: 0..3) at {path}:16:20" in " ".join(text.split())


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
    told = [item.message.split("`")[1] for item in caught.value.diagnostics]
    assert told == ["gone", "lost", "missing", "absent"]
