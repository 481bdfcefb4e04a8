"""Goal: a variable may hold one of several kinds; errors of tuples say how to write one."""

import re
from pathlib import Path

import pytest
from systems import outcomes, run

from checker.errors import SpecificationError
from checker.report.headline import headline

MANUAL = Path(__file__).parents[2] / "docs" / "language.md"


def test_the_manuals_log_gives_what_the_manual_shows(tmp_path: Path) -> None:
    found = re.search(
        r"```yaml\nsystem: key_value_log\nabout: .*?\n(.*?)```\n\n```text\n(.*?)\n```",
        MANUAL.read_text(),
        re.DOTALL,
    )
    assert found is not None
    result = run(tmp_path, found[1])
    assert headline(result.machine, result.exploration, result.verdict) == found[2]
    assert outcomes(result) == {"is_used": "witnessed", "deadlock": "holds"}


UNIONS = """\
types:
  Put: {fields: {n: 0..1}}
  Nop: {fields: {}}
  Small: Put or Nop
  Command: Small or Stop
messages:
  Stop: {n: 0..1}
variables:
  seen: {type: set of Command, initial: empty}
  last: {type: optional Command, initial: none}
rows:
  - row: takes
    for: {c: Command}
    when: c not in seen and (last is none or not any(c2 is Stop for c2 in seen))
    do: |
      seen.add(c)
      last = c
deadlock: false
properties:
  in_order: {always: least(x for x in Command) is Put, why: records come before messages.}
  five_kinds: {always: len(Command) == 5, why: two and one and two.}
  read:
    always: implies(last is not none and last is not Nop, last.n <= 1)
    why: two have it.
"""


def test_unions_of_records_messages_and_unions(tmp_path: Path) -> None:
    assert set(outcomes(run(tmp_path, UNIONS)).values()) == {"holds"}


NARROW = """\
types:
  Put: {fields: {n: 0..1}}
  Nop: {fields: {}}
messages:
  Stop: {n: 0..1}
channels:
  stops: {carries: [Stop], order: bag, capacity: "1", when_full: block}
variables:
  either: {type: Put or Nop, initial: Nop()}
  put: {type: optional Put, initial: none}
  stop: {type: optional Stop, initial: none}
  stopped: {type: sequence of Stop up to 1, initial: empty}
rows:
  - {row: turns, for: {k: 0..1}, do: either = Put(k)}
  - {row: sends, for: {k: 0..1}, when: len(stops) == 0, do: "send(stops, Stop(k))"}
  - row: takes
    when: WHEN
    do: put = either
  - row: looks
    when: len(stops) > 0
    do: |
      stop = pick(stops)
      stopped = [x for x in stops]
deadlock: false
properties:
  both: {sometimes: put == Put(1) and stop == Stop(1) and len(stopped) == 1, why: each can be.}
"""


def test_a_value_of_several_kinds_goes_where_one_of_them_is_wanted(tmp_path: Path) -> None:
    found = run(tmp_path, NARROW.replace("WHEN", "either is Put"))
    assert outcomes(found) == {"both": "witnessed"}
    error = run(tmp_path, NARROW.replace("WHEN", '"true"')).verdict.error
    assert error is not None
    assert error.depth == 0


@pytest.mark.parametrize(
    ("text", "code", "help_"),
    [
        ("types:\n  T: bool or Put\n", "N206", None),
        ("types:\n  L: one of a, b\n  P: 0..1\n  T: L or P\n", "Y303", "fields: {value: L}"),
        ("types:\n  T: tuple of bool\n", "T130", "a tuple is a record"),
        ("definitions:\n  d(x): (x, x)\n", "T125", "write Pair(x, y)"),
        ("definitions:\n  d(s): all(a == b for a, b in s)\n", "T127", "of a record read fields"),
        ("initial:\n  for:\n    a, b: 0..1\n  do: n = a\n", "T116", "one line for each name"),
        ("properties:\n  p: {always: pick(range(2)) == 1, why: w}\n", "Y309", "a property asks"),
    ],
)  # fmt: skip
def test_what_is_no_type_or_choice_says_what_to_write(
    tmp_path: Path, text: str, code: str, help_: str | None
) -> None:
    if "variables" not in text:
        text += 'variables:\n  n: {type: 0..1, initial: "0"}\n'
    with pytest.raises(SpecificationError) as failure:
        run(tmp_path, text + "rows:\n  - {row: r, do: n = 0}\n")
    found = next(one for one in failure.value.diagnostics if one.code == code)
    assert help_ is None or help_ in (found.help or "")


CHOOSING = """\
types:
  Put: {fields: {value: 0..1}}
  Clear: {fields: {value: 0..1, key: 0..1}}
  Command: Put or Clear
variables:
  flag: {type: bool, initial: "false"}
  done: {type: 0..2, initial: "2"}
  last: {type: optional Command, initial: none}
rows:
  - row: flips
    do: flag = not flag
  - row: r
    for: {x: Command}
    when: done == 2
    do: |
      CHOICE
      done = x.value
      last = x
procedures:
  only_puts(y): |
    if flag:
        return
    require(y is Put)
deadlock: false
properties:
  one: {always: "not (last == Clear(1, 0) and done == 1)", why: a Clear comes through.}
  zero: {always: "not (last == Clear(1, 0) and done == 0)", why: its value is its own.}
"""


BRANCHES = {
    "else": """
      if flag:
          pass
      else:
          require(x is Put)
""",
    "if": """
      if not flag:
          require(x is Put)
""",
    "else of else": """
      if flag:
          pass
      elif done == 2:
          require(x is Put)
      else:
          require(x is Clear)
""",
    "loop": """
      for turn in {flag}:
          if turn:
              break
          require(x is Put)
""",
    "procedure": """
      only_puts(x)
""",
}


@pytest.mark.parametrize("branch", BRANCHES)
def test_what_one_branch_requires_is_not_known_behind_both(tmp_path: Path, branch: str) -> None:
    text = CHOOSING.replace("      CHOICE\n", BRANCHES[branch].lstrip("\n"))
    assert outcomes(run(tmp_path, text, keep_going=True)) == {"one": "violated", "zero": "holds"}


UNEVEN = """\
types:
  Few: {fields: {n: 1..2, some: set of 1..2, hand: bag of 1..2 up to 1}}
  Many: {fields: {n: 0..3, some: set of 0..3, hand: bag of 0..3 up to 2}}
  Either: Few or Many
variables:
  it: {type: Either, initial: "Few(1, {1}, empty)"}
  held: {type: map of 0..1 to Either, initial: "{0: Many(0, empty, empty)}"}
  n: {type: 0..3, initial: "1"}
rows:
  - {row: counts, when: n < 3, do: n += 1}
  - row: changes
    do: it = Many(1, {0}, empty)
  - row: writes
    when: n < 3 or it is Many
    do: |
      it.n = n
      held[0].n = 3 - it.n
      it.some.add(n)
      it.some |= {it.n}
  - row: sees
    when: it is Few
    do: it.n += CHANGE
deadlock: false
properties:
  fits: {always: "implies(it is Few, it.n in {1, 2} and it.some <= {1, 2})", why: it is their type.}
  meets: {sometimes: "held[0].n == 0 and it.some == {0, 3}", why: all are written.}
"""


def test_a_field_of_several_types_takes_what_the_kind_at_hand_takes(tmp_path: Path) -> None:
    assert outcomes(run(tmp_path, UNEVEN.replace("CHANGE", "0")))["meets"] == "witnessed"
    broken = run(tmp_path, UNEVEN.replace("CHANGE", "1"))
    assert broken.verdict.error is not None
    assert broken.verdict.error.depth == 1  # once n is 2


@pytest.mark.parametrize("effect", ["it.hand.add(1)", "it.hand.remove(1)", "it.some[0] = 1"])
def test_what_is_inside_of_a_field_of_several_types_is_not_changed_alone(
    tmp_path: Path, effect: str
) -> None:
    with pytest.raises(SpecificationError) as caught:
        run(tmp_path, UNEVEN.replace("it.n += CHANGE", effect))
    assert [item.code for item in caught.value.diagnostics] == ["Y320"]


@pytest.mark.parametrize("effect", ["if last in seen: n += 1", "seen.discard(last)"])
def test_what_may_be_of_a_kind_of_many_values_is_not_looked_for(
    tmp_path: Path, effect: str
) -> None:
    """There is no set over all that it may be; an internal error before."""
    text = f"""
types:
  Put: {{fields: {{n: 0..1}}}}
  Log: {{fields: {{of: map of 0..64 to 0..1}}}}
  Command: Put or Log
variables:
  n: {{type: 0..1, initial: "0"}}
  seen: {{type: set of Put, initial: empty}}
  last: {{type: Command, initial: Put(n=0)}}
rows:
  - row: takes
    when: n < 1
    do: |
      {effect}
"""
    with pytest.raises(SpecificationError) as caught:
        run(tmp_path, text)
    (found,) = caught.value.diagnostics
    assert found.code == "Y306"
    assert "any(x == item for item in items)" in str(found.help)
