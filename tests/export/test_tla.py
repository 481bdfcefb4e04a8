"""Goal: TLC, which shares no code with the checker, counts and judges the written modules alike."""

import re
import subprocess
from pathlib import Path

import pytest
from recount import jar, recount, run_tlc, understood

from checker import flow
from checker.cli.main import run
from checker.elaborate import instances
from checker.errors import EnvironmentFailure, SpecificationError
from checker.export.module import Module, module_of
from checker.export.names import LIBRARY, atomic, auxiliary, identifier, library_text
from checker.library import Shipped, shipped
from checker.spark.java import find_java
from checker.table import read

PART = (
    ("die_hard", "default"),
    ("two_phase", "default"),
    ("alternating_bit", "default"),
    ("peterson", "default"),
    ("classic_group", "tiny"),
)
"""Instances that CI recounts; the nightly command takes all small ones."""


def _java() -> bool:
    try:
        find_java()
    except EnvironmentFailure:
        return False
    return True


needs_tlc = pytest.mark.skipif(jar() is None or not _java(), reason="TLC or Java is not installed")


@needs_tlc
@pytest.mark.slow
@pytest.mark.parametrize(("spec", "instance"), PART)
def test_tlc_counts_and_judges_alike(spec: str, instance: str) -> None:
    assert recount(spec, instance) == []


TIMED = """
system: timed
about: Two locks, of which the older ends first.
constants:
  Slot: {ids: [s, t]}
  looks: %s
types:
  Holder: {fields: {name: 0..1, urgent: bool}}
variables:
  holder: {type: optional Holder, per: Slot, initial: none}
  first: {type: optional Holder, initial: none}
  robbed: {type: bool, initial: "false"}
timers:
  lock:
    per: Slot
    captures: {by: Holder}
    late_cancels: "1"
    fair: weak
rows:
  - row: acquire
    for: {k: Slot, h: Holder}
    when: holder[k] is none
    do: |
      holder[k] = h
      arm(lock[k](h))
      first = least((holder[x] for x in Slot if armed(lock[x])), by=0)
  - row: release
    for: {k: Slot}
    when: holder[k] is not none
    do: |
      holder[k] = none
      cancel(lock[k])
  - row: expires
    on: lock[k].expired(by, cancelled)
    do: |
      if not (looks and cancelled):
          robbed = robbed or holder[k] is not none and holder[k] != by
          holder[k] = none
          cancel(lock[k])
properties:
  not_robbed: {always: not robbed, why: the lock is of the next.}
  freed:
    for: {k: Slot}
    leads_to: {from: "holder[k] is not none", to: "holder[k] is none"}
    why: its time is over.
"""


@needs_tlc
@pytest.mark.parametrize("looks", ["true", "false"])
def test_tlc_knows_timers_and_the_least(looks: str, tmp_path: Path) -> None:
    assert recounted(tmp_path, TIMED % looks) == []


STAYING = """
system: staying
about: A step property that has no value where a run ends.
variables:
  a: {type: "sequence of 0..1 up to 1", initial: "[1]"}
rows:
  - row: r
    when: len(a) > 0
    do: a.clear()
%s
properties:
  q: {step: "a[0] + len(next(a)) == 1", why: It is said of steps.}
instances:
  default: {}
"""


@needs_tlc
@pytest.mark.parametrize("ending", ["deadlock: false", "terminal: [len(a) == 0]"])
def test_a_step_that_only_tlc_makes_is_not_judged(ending: str, tmp_path: Path) -> None:
    assert recounted(tmp_path, STAYING % ending) == []


SYSTEM = """
system: lamp
about: A lamp (* with a comment in it *) that counts.
variables:
  n: {type: 0..5, initial: "0"}
  last: {type: optional 0..5, initial: none}
rows:
  - row: ticks
    when: n < 4
    do: |
      for step in range(1, 3):
          if n + step > 3:
              break
          n += step
      last = pick(k for k in range(0, n + 1) if k != 2)
%s
"""


def lamp(folder: Path, rest: str) -> Path:
    path = folder / "system.yaml"
    path.write_text(SYSTEM % rest)
    return path


def recounted(folder: Path, text: str) -> list[str]:
    """Return what TLC finds else in a system of this text."""
    path = folder / "system.yaml"
    path.write_text(text)
    return recount(str(path), "default")


def exported(path: Path) -> str:
    machine = flow.machine_of(str(path), "default", {})
    return module_of(machine, machine.name).text


@needs_tlc
@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ("  - row: fails\n    when: n == 3\n    do: |\n      n = n + 3", "evaluation error"),
        (
            "  - row: unwraps\n    when: n == 3\n    do: |\n      last = none\n      n = last",
            "eval",
        ),
    ],
)
def test_an_evaluation_error_is_one_of_tlc(tmp_path: Path, row: str, wrong: str) -> None:
    machine = flow.machine_of(str(lamp(tmp_path, row)), "default", {})
    module = module_of(machine, machine.name)
    told = run_tlc(module, module.configuration)
    assert told.violated
    assert wrong in told.output.lower()
    assert "system.yaml" in told.output


GIVEN_UP = """
system: given_up
about: A row that fails before it says that it cannot be taken.
types:
  R: {fields: {IN: "0..1", IN_1: "0..1"}}
variables:
  m: {type: "map of 0..1 to 0..1", initial: empty}
  x: {type: 0..1, initial: "0"}
  r: {type: R, initial: "R(IN=0, IN_1=1)"}
rows:
  - row: fails
    do: |
      x = m[0]
      require(r.IN == r.IN_1)
deadlock: false
"""


def test_a_value_that_may_fail_is_evaluated_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(GIVEN_UP)
    assert "\\E x_1 \\in {m[0]} :" in exported(path)


@needs_tlc
def test_an_error_before_a_step_is_given_up_is_one_of_tlc(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(GIVEN_UP)
    machine = flow.machine_of(str(path), "default", {})
    module = module_of(machine, machine.name)
    assert run_tlc(module, module.configuration).violated == "evaluation error"


def test_fields_are_called_apart(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(GIVEN_UP)
    assert "[IN_2 |-> 0, IN_1 |-> 1]" in exported(path)


FRESH = """
system: fresh
about: Ids are taken away and drawn in one step.
constants:
  Member: {ids: 3}
variables:
  h: {type: optional Member, initial: none}
  n: {type: 0..2, initial: "0"}
initial:
  do: h = fresh(Member)
rows:
  - row: anew
    when: n < 2
    do: |
      h = none
      h = fresh(Member)
      n += 1
deadlock: false
properties:
  another: {always: n != 1 or h == member2, why: It has just been somebody's.}
"""


@needs_tlc
def test_what_a_step_takes_away_is_not_fresh_in_it(tmp_path: Path) -> None:
    assert recounted(tmp_path, FRESH) == []


APART = """
system: apart
about: Messages hold records that have a field of one name and two kinds.
types:
  P: {fields: {a: "0..1"}}
  Q: {fields: {a: bool}}
messages:
  M1: {x: P}
  M2: {x: Q}
channels:
  c: {carries: [M1, M2], order: retained}
variables:
  x: {type: 0..1, initial: "0"}
rows:
  - row: sends
    for: {k: "0..1"}
    do: |
      send(c, M1(x=P(a=k)))
      send(c, M2(x=Q(a=true)))
deadlock: false
"""


@needs_tlc
def test_records_of_two_kinds_are_told_apart(tmp_path: Path) -> None:
    assert recounted(tmp_path, APART) == []


def test_a_module_reads_like_the_specification(tmp_path: Path) -> None:
    text = exported(lamp(tmp_path, "properties:\n  low: {always: n <= 4, why: it is small.}"))
    assert text.startswith("-------")
    assert re.search(r"^ticks ==$", text, re.MULTILINE)
    assert re.search(r"^low ==\n  /\\ n <= 4$", text, re.MULTILINE)
    assert "(* it is small." in text
    assert "( * with a comment in it * )" in text
    assert "\t" not in text


def test_what_reads_no_state_is_written_as_a_condition_of_states(tmp_path: Path) -> None:
    """TLC 2.19 refuses a constraint or invariant that is FALSE, and calls `<>TRUE` violated."""
    properties = "never: {always: 1 > 2, why: w.}\n  once: {eventually: 1 < 2, why: w.}"
    text = exported(lamp(tmp_path, f"bounds: [n < 0]\nproperties:\n  {properties}"))
    assert "InBounds ==\n  /\\ vars = vars\n  /\\ FALSE\n" in text
    assert "never ==\n  /\\ vars = vars\n  /\\ FALSE\n" in text
    assert "once == <>((vars = vars) /\\ (TRUE))" in text


def test_a_set_of_truth_values_is_no_part_of_a_set(tmp_path: Path) -> None:
    always = '{always: "false in {k in {1, 2} for k in range(0, n + 1)}", why: zero is in none.}'
    text = exported(lamp(tmp_path, f"properties:\n  zero: {always}"))
    assert "FALSE \\in {(k \\in {1, 2}) : k \\in 0.." in text


@needs_tlc
def test_a_truth_value_that_begins_like_a_part_of_a_set_is_a_value(tmp_path: Path) -> None:
    """`{n \\in S \\/ p}` would be read as the beginning of `{n \\in S : ...}`."""
    row = """
  - row: notes
    when: n == 3
    do: |
      low = n in {1, 2} or n == 3
      if low:
          n = 5
      last = none
"""
    module = module_of(flow.machine_of(str(lamp(tmp_path, row)), "default", {}), "lamp")
    assert "low \\in {(n \\in {1, 2} \\/" in module.text
    told = run_tlc(module, module.configuration)
    assert "exception" not in told.output
    ours = flow.check(flow.Request(str(tmp_path / "system.yaml")), flow.Silent())
    assert told.distinct == ours.exploration.distinct


def test_names_are_never_those_of_tla() -> None:
    assert identifier("THEN") == "THEN_1"
    assert identifier("none") == "none_1"
    assert identifier("Gather") == "Gather_1"
    assert identifier("Sequences") == "Sequences_1"
    assert identifier(LIBRARY) == f"{LIBRARY}_1"
    assert identifier("client.state", {"client_state"}) == "client_state_1"
    assert "SumOver" in library_text()


@pytest.mark.parametrize(
    ("text", "alone"),
    [("f[x].y", True), ("Len(s)", True), ("a \\cup b", False), ("(a) \\ (b)", False), ("x'", True)],
)
def test_only_what_needs_none_has_no_parentheses(text: str, *, alone: bool) -> None:
    assert atomic(text) is alone


def test_what_tlc_does_not_have_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(
        "system: big\nabout: Large.\nvariables:\n"
        '  n: {type: 0..5000000000, initial: "0"}\n'
        "rows:\n  - {row: ends, when: n < 5, do: n = 5}\n"
    )
    with pytest.raises(SpecificationError) as caught:
        exported(path)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.span.line) == ("X701", 4)


def test_the_command_writes_module_configuration_and_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", "die_hard", "--to", "tla", "--out", str(tmp_path / "out")]) == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"die_hard.tla", "die_hard.cfg", "CheckerValues.tla"}
    assert "die_hard.tla" in capsys.readouterr().out


def test_what_tlc_says_is_understood() -> None:
    told = understood(
        "Error: Invariant low is violated.\nState 1: <Initial>\nState 2: <x>\n"
        "12 states generated, 1,007 distinct states found, 3 states left on queue.\n"
    )
    assert (told.violated, told.states, told.distinct) == ("low", 2, 1007)
    with pytest.raises(AssertionError):
        understood("java: command not found")


@needs_tlc
@pytest.mark.slow
def test_a_property_may_call_something_as_the_row_does_that_it_asks_for(tmp_path: Path) -> None:
    text = """
system: asked
about: Two workers begin and end.
constants: {Worker: {ids: 2}}
variables:
  busy: {type: bool, per: Worker, initial: "false"}
rows:
  - row: begins
    for: {w: Worker}
    when: not busy[w]
    do: busy[w] = true
  - row: ends
    for: {w: Worker}
    when: busy[w]
    do: busy[w] = false
properties:
  who_begins_is_busy:
    step: all(implies(ran(begins, w=w), next(busy[w])) for w in Worker)
    why: it is what beginning means.
"""
    assert recounted(tmp_path, text) == []


BOUND_BY_A_MODULE = """
system: named
about: Variables, bindings and rows with the names that a module binds for its own purposes.
constants: {Id: {ids: 2}, Kind: {ids: 2}}
types:
  One: {fields: {a: Id, b: 0..1}}
  Two: {fields: {n: Id}}
  Item: One or Two
variables:
  x: {type: Id, initial: id1}
  i: {type: optional 0..1, initial: none}
  a:
    type: total map of Id to total map of Kind to 0..2
    initial: "{k: {l: 0 for l in Kind} for k in Id}"
  b: {type: set of Item, initial: empty}
  n: {type: sequence of sequence of 0..2 up to 1 up to 2, initial: empty}
  ks: {type: map of Id to map of Kind to 0..1, initial: empty}
  v_keys: {type: bool, initial: "false"}
  number: {type: 0..1, initial: "0"}
rows:
  - row: key
    for: {key: Id, v_a: Kind, v_length: 0..1}
    do: |
      a[key][v_a] = v_length + number
      ks[key] = {v_a: v_length}
      x = least(y for y in Id if y >= x)
      b.add(least({One(key, v_length), Two(x)}))
      number = 1 - number
  - row: v_one
    for: {v_key: sequence of 0..2 up to 1}
    when: len(n) < 2
    do: |
      n.append(v_key)
      i = v_key[0] if len(v_key) > 0 and v_key[0] < 2 else none
      v_keys = not v_keys
properties:
  v_b:
    sometimes: i == 1 and v_keys
    why: it is so in the end.
bounds: [len(b) < 2, "a[id2][kind1] == 0"]
"""

READ_AGAIN = """
system: shadowed
about: Names of bindings that a module has names of its own for, read after it has bound those.
constants: {Id: {ids: 2}}
messages: {Ask: {n: 0..1}, Told: {n: 0..2}}
channels:
  asks: {carries: [Ask], order: bag, capacity: "2"}
  tells: {carries: [Told], order: fifo, capacity: "1", when_full: drop}
variables:
  have: {type: set of Id, initial: empty}
  seen: {type: set of 0..2, initial: empty}
rows:
  - row: ask
    for: {n: 0..1}
    do: send(asks, Ask(n))
  - row: takes
    on: asks.Ask(n)
    do: |
      unused = n + 1
      i = fresh(Id)
      have.add(i)
      seen.add(unused)
      send(tells, Told(unused))
      if n == 1:
          reject(send(tells, Told(message.n)))
  - row: told
    on: tells.Told(n)
    do: |
      left = n
      low = sum(sum(x - place for x in [1, 2]) for place in [1])
      assert low == 1
      place = 2
      for loop in have:
          have.discard(loop)
          left = min(left, place)
      seen.discard(left)
"""


@needs_tlc
@pytest.mark.parametrize("text", [BOUND_BY_A_MODULE, READ_AGAIN], ids=["bound", "read"])
def test_names_of_a_specification_are_told_from_those_that_a_module_needs(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "named.yaml"
    file.write_text(text)
    assert recount(str(file), "default") == []


def test_no_name_of_a_specification_begins_like_an_auxiliary_one() -> None:
    assert identifier("v_key") == "x_v_key"
    assert auxiliary("key", "f[v_key] + v_key_1") == "v_key_2"


def test_a_truth_value_that_may_fail_is_bracketed_where_it_is_bound(tmp_path: Path) -> None:
    rest = """
definitions:
  number(b): 1 if b else 0
properties:
  one: {always: "number(n in {0, 1} and n // n >= 0) <= 1", why: it is a truth value.}
"""
    assert "\\in {(n \\in {0, 1} /\\ " in exported(lamp(tmp_path, rest))


@needs_tlc
@pytest.mark.slow
def test_what_comes_next_is_counted_where_a_row_loops(tmp_path: Path) -> None:
    """In a recursive operator nothing that defines a name of its own may be primed."""
    text = """
system: counted
about: What waits is counted, one after the other.
constants: {Worker: {ids: 2}}
variables:
  n: {type: 0..2, initial: "0"}
  waiting: {type: set of Worker, initial: "{w for w in Worker}"}
  queue: {type: sequence of Worker up to 2, initial: "[]"}
rows:
  - row: count
    when: len(waiting) > 0
    do: |
      for w in waiting:
          n = n + 1
          queue = queue + [w]
      waiting = empty
deadlock: false
properties:
  all_are_counted:
    step: implies(ran(count), next(sum(1 for w in queue if w in Worker)) == n + 2)
    why: they are in the queue.
"""
    assert recounted(tmp_path, text) == []


@needs_tlc
@pytest.mark.slow
def test_tlc_can_read_every_system(tmp_path: Path) -> None:
    """Counting is for the night; that a module is one of TLA+ is seen in a second or two."""
    archive = jar()
    assert archive is not None
    (tmp_path / f"{LIBRARY}.tla").write_text(library_text())
    modules = [written(entry) for entry in shipped() if entry.kind == "system"]
    names = [f"{module.name}.tla" for module in modules]
    for name, module in zip(names, modules, strict=True):
        (tmp_path / name).write_text(module.text)
    done = subprocess.run(
        [str(find_java() / "bin" / "java"), "-cp", str(archive), "tla2sany.SANY", *names],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    assert all(f"Semantic processing of module {name[:-4]}" in output for name in names)
    assert "*** Errors" not in output, output[output.index("*** Errors") :][:3000]
    assert done.returncode == 0


def written(entry: Shipped) -> Module:
    """Return the module of the smallest instance of a system that has one."""
    for _, instance in sorted(
        (item.expect.distinct or 0, item.name.text)
        for item in instances(read(entry.path))
        if item.expect is not None
    ):
        machine = flow.machine_of(entry.name, instance, {})
        try:
            return module_of(machine, machine.name)
        except SpecificationError:  # what has no form in TLA+ is refused
            continue
    raise AssertionError(f"no instance of {entry.name} is written")


HELD = """
system: held
about: >-
  Ids are looked for in collections of collections; variables are called as a module might; promises
  speak of what never changes.
constants:
  M: {ids: [m1, m2]}
  none_held: {type: map of M to bool, value: empty}
variables:
  e0: {type: optional M, initial: none}
  k0: {type: "map of 0..2 to M", initial: "{0: m1}"}
  s: {type: set of set of optional M, initial: empty}
  m: {type: map of 0..1 to map of set of optional M to M, initial: empty}
initial:
  do: e0 = fresh(M)
rows:
  - row: draw
    when: e0 is none
    do: e0 = fresh(M)
deadlock: false
properties:
  always_so: {eventually: m1 != m2, why: TLC finds it false where no variable is read.}
  not_there:
    leads_to: {from: "k0[0] == m1", to: "none_held[m1] if m1 in none_held else m1 != m2"}
    why: TLC evaluates what has no variable though a condition stands before it.
"""


@needs_tlc
def test_promises_may_speak_of_constants(tmp_path: Path) -> None:
    assert recounted(tmp_path, HELD) == []


def test_ids_in_use_are_looked_for_under_names_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(HELD)
    text = exported(path)
    assert "v_key \\in DOMAIN k0" in text
    assert "v_item \\in v_item_1" in text
    assert "v_key \\in DOMAIN m[v_key_1]" in text
    assert re.search(r"\b[ek]0 \\in ", text) is None


CALLED = """
system: called
about: Things are called as what a module defines, or as the parameters of that.
constants:
  M: {ids: [m1, m2]}
variables:
  name: {type: 0..2, initial: "0"}
  holds: {type: bool, initial: "false"}
  either: {type: set of optional M, initial: "{none, m1}"}
  other: {type: set of optional bool, initial: "{none, true}"}
rows:
  - row: Judge
    when: name < 2
    do: name += 1
  - row: p_step
    for: {MRank: M, MBefore: M}
    when: MRank < MBefore
    do: holds = name == 2 and max(M) == m1
  - row: goes
    for: {OptionBefore_1: 0..1}
    do: |
      for one in either:
          holds = one is none and OptionBefore_1 > 0
          break
      for truth in other:
          holds = truth is none
          break
properties:
  p: {step: next(name) >= name, why: it counts.}
  q: {step: "implies(ran(Judge), next(name) > name)", why: it counts.}
"""


def test_what_a_module_defines_is_called_apart_from_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(CALLED)
    text = exported(path)
    heads = re.findall(r"^(\w+)(?:\((.*)\))? ==", text, re.MULTILINE)
    defined = [name for name, _ in heads]
    assert {"Judge", "Judge_1", "p_step", "p_1", "p_1_step"} <= set(defined)
    assert len(defined) == len(set(defined))
    parameters = {one for _, given in heads for one in given.split(", ") if given}
    assert parameters.isdisjoint({*defined, "name", "holds"})
    assert {"MRank", "MBefore", "OptionBefore", "OptionBefore_1"} <= set(defined)
