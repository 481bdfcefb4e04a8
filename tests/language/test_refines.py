"""Goal: `refines` holds a system to another one: mapping, ids, constants, errors."""

from pathlib import Path

import pytest
from systems import outcomes, run

from checker.errors import SpecificationError
from checker.flow import Request, Silent, check
from checker.verdict import exits

COARSE = """\
system: ticket
about: Whoever holds the ticket passes it on.
constants:
  Holder: {ids: 3}
  most: 2
variables:
  holder: {type: optional Holder, initial: none}
  passed: {type: "0..3", initial: "0"}
rows:
  - row: taken
    for: {h: Holder}
    when: holder == none
    do: holder = h
  - row: passed_on
    for: {h: Holder}
    when: holder not in {none, h} and passed < most
    do: |
      holder = h
      passed += 1
deadlock: false
properties:
  few: {always: passed <= most, why: It says so.}
instances:
  once: {set: {most: 1}}
  once_and_no_word: {set: {most: 1}, without: [few]}
"""

FINE = """\
constants:
  Client: {ids: 3}
  times: 2
variables:
  has: {type: bool, initial: "false", per: Client}
  times_passed: {type: "0..3", initial: "0"}
  under_way: {type: optional Client, initial: none}
rows:
  - row: begin
    for: {c: Client}
    when: not any(has[k] for k in Client)
    do: has[c] = true
  - row: ask
    for: {c: Client}
    when: under_way == none and not has[c]
    do: under_way = c
  - row: pass_on
    for: {c: Client}
    when: under_way != none and has[c] and under_way != c and times_passed < LIMIT
    do: |
      has[c] = false
      has[under_way] = true
      times_passed += 1
      under_way = none
deadlock: false
properties:
  passes_a_ticket:
    refines:
      system: ticket
      WHICH
      ids: {Holder: Client}
      mapping:
        holder: min(c for c in Client if has[c]) if any(has[c] for c in Client) else none
        passed: times_passed
    why: there is one ticket.
"""


def test_every_step_is_one_of_the_coarse_system_or_changes_nothing_there(tmp_path: Path) -> None:
    (tmp_path / "ticket.yaml").write_text(COARSE)
    result = run(tmp_path, FINE.replace("LIMIT", "times").replace("      WHICH\n", ""))
    assert outcomes(result) == {"passes_a_ticket": "holds"}
    assert result.exploration.distinct > 10
    assert result.verdict.exit_code == exits.HOLDS


@pytest.mark.parametrize(
    ("limit", "which", "outcome"),
    [
        ("2", "instance: once", "violated"),
        ("1", "instance: once", "holds"),
        ("1", "instance: once_and_no_word", "holds"),
        ("times", "set: {most: times}", "holds"),
        ("times + 1", "set: {most: times}", "violated"),
        ("3", "set: {most: 3}", "holds"),
    ],
)
def test_instance_and_constants_of_the_coarse_system(
    tmp_path: Path, limit: str, which: str, outcome: str
) -> None:
    (tmp_path / "ticket.yaml").write_text(COARSE)
    text = FINE.replace("LIMIT", limit).replace("WHICH", which)
    result = run(tmp_path, text, keep_going=True)
    assert outcomes(result) == {"passes_a_ticket": outcome}
    assert result.verdict.exit_code == (exits.SAFETY if outcome == "violated" else exits.HOLDS)


def test_counted_ids_that_the_coarse_system_names_are_the_ones_here(tmp_path: Path) -> None:
    text = FINE.replace("ids: 3}", "ids: 3, prefix: c}").replace("LIMIT", "times")
    text = text.replace("for: {c: Client}\n    when: not", "for: {c: '{c2}'}\n    when: not")
    for named, outcome in (("h2", "holds"), ("Holder.h2", "holds"), ("h1", "violated")):
        coarse = COARSE.replace("ids: 3", "ids: 3, prefix: h")
        coarse = coarse.replace("when: holder == none", f"when: holder == none and h == {named}")
        (tmp_path / "ticket.yaml").write_text(coarse)
        result = run(tmp_path, text.replace("WHICH", "instance: default"))
        assert outcomes(result)["passes_a_ticket"] == outcome, named


def test_the_counterexample_says_which_row_comes_nearest_and_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "ticket.yaml").write_text(COARSE)
    result = run(tmp_path, FINE.replace("LIMIT", "2").replace("WHICH", "instance: once"))
    (trace,) = result.failures
    told = "\n".join(trace.notes)
    assert trace.steps[-1].row == "pass_on"
    assert "holder: c2 -> c1; passed: 1 -> 2" in told or "passed: 1 -> 2" in told
    assert "the nearest row is passed_on(" in told
    assert "its guard is false there" in told
    assert "passed < most is false, with passed = 1" in told


def test_a_row_that_leads_elsewhere_is_told_with_what_differs(tmp_path: Path) -> None:
    (tmp_path / "ticket.yaml").write_text(COARSE)
    text = FINE.replace("LIMIT", "times").replace("      WHICH\n", "")
    result = run(tmp_path, text.replace("passed: times_passed", "passed: 0 * times_passed"))
    (trace,) = result.failures
    told = "\n".join(trace.notes)
    assert "the nearest row is taken(" in told
    assert "the nearest row that can run there is passed_on(" in told
    assert "it leaves passed 1 where the step has 0" in told


def test_initial_states_must_be_initial(tmp_path: Path) -> None:
    (tmp_path / "ticket.yaml").write_text(COARSE)
    text = FINE.replace("LIMIT", "times").replace("      WHICH\n", "")
    result = run(tmp_path, text.replace("passed: times_passed", "passed: times_passed + 1"))
    (trace,) = result.failures
    assert (trace.length, trace.kind) == (0, "refines")
    assert "this is no initial state of ticket, but holder = none, passed = 1" in trace.notes
    assert "the nearest initial state has passed = 0" in trace.notes


def test_what_is_not_mapped_has_the_same_name(tmp_path: Path) -> None:
    fine = """\
variables:
  hour: {type: "1..12", initial: "12"}
  minute: {type: "0..1", initial: "0"}
rows:
  - row: half_an_hour
    do: |
      if minute == 1:
          hour = hour % 12 + 1
      minute = 1 - minute
properties:
  a_clock: {refines: hour_clock, why: it shows the hours.}
"""
    assert outcomes(run(tmp_path, fine)) == {"a_clock": "holds", "deadlock": "holds"}
    broken = fine.replace("hour % 12 + 1", "hour % 11 + 2")
    assert outcomes(run(tmp_path, broken))["a_clock"] == "violated"


MANY = """\
system: counter
about: It counts to two.
variables:
  n: {type: "0..2", initial: "0"}
rows:
  - {row: count, when: n < 2, do: n += 1}
deadlock: false
"""

EACH = """\
constants:
  Partition: {ids: 2}
variables:
  count: {type: "0..2", initial: "0", per: Partition}
rows:
  - row: count_up
    for: {p: Partition}
    when: count[p] < 2
    do: count[p] += STEP
deadlock: false
properties:
  counts:
    for: {p: Partition}
    refines: {system: many/counter.yaml, mapping: {n: "count[p]"}}
    why: each partition counts.
"""


def test_for_each_value_and_by_a_path(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "counter.yaml").write_text(MANY)
    result = run(tmp_path, EACH.replace("STEP", "1"))
    assert outcomes(result) == {"counts(partition1)": "holds", "counts(partition2)": "holds"}
    result = run(tmp_path, EACH.replace("STEP", "(2 if p == partition2 else 1)"))
    assert "counts(partition2)" in {item.name for item in result.verdict.broken}


DRAWING = """\
system: drawing
about: It draws ids of A; B has its own.
constants:
  A: {ids: 2}
  B: {ids: 2}
variables:
  last: {type: optional A, initial: none}
  used: {type: set of B, initial: empty}
rows:
  - {row: uses, for: {b: B}, do: used.add(b)}
  - {row: takes, when: last is none, do: last = fresh(A)}
deadlock: false
"""

TAKING = """\
constants:
  X: {ids: 2}
  Y: {ids: 2}
variables:
  last: {type: optional X, initial: none}
  used: {type: set of OTHER, initial: empty}
rows:
  - {row: uses, for: {b: OTHER}, do: used.add(b)}
  - {row: takes, when: last is none, do: last = TAKEN}
deadlock: false
properties:
  drawn: {refines: {system: drawing.yaml, ids: {A: X, B: OTHER}}, why: the least that is free.}
"""


def test_fresh_looks_for_ids_of_its_own_type(tmp_path: Path) -> None:
    (tmp_path / "drawing.yaml").write_text(DRAWING)
    least = TAKING.replace("TAKEN", "x1")
    assert outcomes(run(tmp_path, least.replace("OTHER", "Y")))["drawn"] == "holds"
    second = TAKING.replace("TAKEN", "x2").replace("OTHER", "Y")
    assert outcomes(run(tmp_path, second))["drawn"] == "violated"
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, least.replace("OTHER", "X"))
    (problem,) = raised.value.diagnostics
    assert problem.code == "N205"
    assert "`A` and `B` of drawing are one type here, X" in problem.message


ALIKE = """\
system: owners
about: Owners of a lock, one at a time.
constants:
  Owner: {ids: 2KIND}
variables:
  free: {type: bool, initial: "true"}
  owns: {type: bool, initial: "false", per: Owner}
rows:
  - row: lock
    for: {o: Owner}
    when: free
    do: |
      free = false
      owns[o] = true
  - row: unlock
    for: {o: Owner}
    when: owns[o]
    do: |
      free = true
      owns[o] = false
"""

LOCKING = """\
constants:
  Owner: {ids: 3, symmetric: true}
variables:
  who: {type: optional Owner, initial: none}
  asked: {type: set of Owner, initial: empty}
rows:
  - row: ask
    for: {o: Owner}
    when: o not in asked and who != o
    do: asked.add(o)
  - row: lock
    for: {o: Owner}
    when: o in asked and WHEN
    do: |
      who = o
      asked.remove(o)
  - row: unlock
    when: who != none
    do: who = none
properties:
  a_lock:
    refines:
      system: owners
      mapping:
        free: who == none
        "owns[o]": who == o
    why: one owner at a time.
"""


@pytest.mark.parametrize(("guard", "outcome"), [("who == none", "holds"), ("true", "violated")])
def test_symmetric_ids_are_reduced_where_both_systems_use_them_alike(
    tmp_path: Path, guard: str, outcome: str
) -> None:
    text = LOCKING.replace("WHEN", guard)
    (tmp_path / "owners.yaml").write_text(ALIKE.replace("KIND", ", symmetric: true"))
    reduced = run(tmp_path, text, keep_going=True)
    assert reduced.machine.symmetry
    (tmp_path / "owners.yaml").write_text(ALIKE.replace("KIND", ""))
    whole = run(tmp_path, text, keep_going=True)
    assert not whole.machine.symmetry
    assert any("does not declare the ids of Owner" in str(item) for item in whole.machine.unlike)
    assert outcomes(reduced)["a_lock"] == outcomes(whole)["a_lock"] == outcome
    assert reduced.exploration.distinct < whole.exploration.distinct
    lengths = [[trace.length for trace in result.failures] for result in (reduced, whole)]
    assert lengths[0] == lengths[1]


def test_fresh_ids_of_the_coarse_system_are_not_used_alike(tmp_path: Path) -> None:
    coarse = ALIKE.replace("KIND", ", symmetric: true").replace(
        "    for: {o: Owner}\n    when: free\n    do: |\n",
        "    when: free\n    do: |\n      o = fresh(Owner)\n",
    )
    (tmp_path / "owners.yaml").write_text(coarse)
    result = run(tmp_path, LOCKING.replace("WHEN", "who == none"), keep_going=True)
    assert not result.machine.symmetry
    assert any("draws the least id" in item.message for item in result.machine.unlike)


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("system: ticket\n", "system: tickets\n", "T144", "did you mean `ticket`?"),
        ("system: ticket\n", "system: ../../etc/passwd\n", "T144", "no system"),
        ("passed: times_passed", "passsed: times_passed", "N201", "did you mean `passed`?"),
        ("        passed: times_passed\n", "", "N221", "`passed` of ticket"),
        ("passed: times_passed", '"passed[c]": times_passed', "N205", "not one `passed`"),
        ("passed: times_passed", "passed: under_way", "Y301", "0..3"),
        ("{Holder: Client}", "{Holders: Client}", "N206", "did you mean `Holder`?"),
        ("{Holder: Client}", "{Holder: Clients}", "N206", "did you mean `Client`?"),
        ("system: ticket\n", "system: ticket\n      instance: twice\n", "N206", "`twice`"),
        ("system: ticket\n", "system: ticket\n      set: {moist: 1}\n", "N209", "`most`"),
        ("system: ticket\n", "system: ticket\n      sets: {most: 1}\n", "T113", "`set`"),
        ("system: ticket\n", "system: ticket\n      set: {Holder: 2}\n", "N205", "as many as here"),
        ("    why: there", "    within_bounds: true\n    why: there", "Y309", "infinite runs"),
        ("passed: times_passed", '"a.b.c": times_passed', "T116", "no variable of a system"),
    ],
)
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, old: str, new: str, code: str, said: str
) -> None:
    (tmp_path / "ticket.yaml").write_text(COARSE)
    text = FINE.replace("LIMIT", "times").replace("      WHICH\n", "")
    assert old in text
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, text.replace(old, new))
    assert [item.code for item in raised.value.diagnostics] == [code]
    (problem,) = raised.value.diagnostics
    assert said in f"{problem.message} {problem.expected} {problem.help}"
    assert problem.span.source.name.endswith("system.yaml")


def test_mistakes_of_the_coarse_system_are_told_in_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "ticket.yaml").write_text(COARSE.replace("when: holder == none", "when: holdr"))
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, FINE.replace("LIMIT", "times").replace("      WHICH\n", ""))
    (problem,) = raised.value.diagnostics
    assert (problem.code, Path(problem.span.source.name).name) == ("N201", "ticket.yaml")


def test_a_system_may_refine_only_so_many_others(tmp_path: Path) -> None:
    one = "  p{}: {{refines: {{system: hour_clock, mapping: {{hour: n + 1}}}}, why: w.}}\n"
    text = "variables:\n  n: {type: 0..3, initial: '0'}\nrows:\n  - {row: turn, do: pass}\n"
    many = text + "properties:\n" + "".join(map(one.format, range(21)))
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, many)
    assert [item.code for item in raised.value.diagnostics] == ["T106"]


def test_a_system_may_refine_itself(tmp_path: Path) -> None:
    (tmp_path / "system.yaml").write_text("")
    text = "variables:\n  n: {type: 0..3, initial: '0'}\nrows:\n"
    text += "  - {row: turn, do: n = (n + 1) % 4}\n"
    text += "properties:\n  itself: {refines: system.yaml, why: it does what it does.}\n"
    assert outcomes(run(tmp_path, text))["itself"] == "holds"


def test_a_mapping_without_a_value_is_an_evaluation_error(tmp_path: Path) -> None:
    (tmp_path / "ticket.yaml").write_text(COARSE)
    text = FINE.replace("LIMIT", "times").replace("      WHICH\n", "")
    result = run(
        tmp_path, text.replace("passed: times_passed", "passed: times_passed // (1 - times_passed)")
    )
    assert result.verdict.exit_code == exits.EVALUATION
    assert result.verdict.overall == "inconclusive"


def test_a_refinement_in_which_nothing_ever_happens_is_vacuous(tmp_path: Path) -> None:
    (tmp_path / "ticket.yaml").write_text(COARSE)
    text = FINE.replace("LIMIT", "times").replace("      WHICH\n", "")
    start = text.index("        holder:")
    end = text.index("    why: there")
    (tmp_path / "system.yaml").write_text(
        "system: probe\nabout: A test.\n"
        + text[:start] + "        holder: none\n        passed: 0 * times_passed\n" + text[end:]
    )  # fmt: skip
    result = check(Request(str(tmp_path / "system.yaml"), vacuity="error"), Silent())
    assert any("every step stutters" in str(item) for item in result.looked if item.seen is False)
    assert result.verdict.exit_code == exits.UNWITNESSED


MAIL = """\
messages:
  Letter: {number: 0..2}
channels:
  mail: {carries: [Letter], order: bag, capacity: '2', loses: '1'}
variables:
  written: {type: 0..2, initial: "0"}
  got: {type: set of 0..2, initial: empty}
faults:
  crash: {budget: '1'}
rows:
  - row: write
    when: written < 2
    do: written += 1
    send: Letter(written)
  - row: receive
    on: Letter(number)
    do: got.add(number)
  - row: forget
    fault: crash
    do: got = empty
deadlock: false
"""


def test_channels_budgets_and_faults_are_mapped_like_variables(tmp_path: Path) -> None:
    (tmp_path / "post.yaml").write_text("system: post\nabout: Letters.\n" + MAIL)
    fine = MAIL.replace(
        "variables:\n",
        "variables:\n  desk: {type: optional (Letter), initial: none}\n",
    ).replace(
        "    do: got.add(number)\n",
        "    when: desk == none\n    do: desk = Letter(number)\n"
        "  - row: read\n    when: desk != none\n"
        "    do: |\n      got.add(desk.number)\n      desk = none\n",
    )
    claim = "properties:\n  is_post:\n    refines:\n      system: post\n"
    claim += "      mapping: {got: WHAT}\n    why: it is.\n"
    taken = "'(got if desk == none else got | {desk.number})'"
    # Forgetting leaves the letter on the desk, which in the coarse system was got already.
    result = run(tmp_path, fine + claim.replace("WHAT", taken))
    (trace,) = result.failures
    assert trace.steps[-1].row == "forget"
    whole = fine.replace("do: got = empty", "do: |\n      got = empty\n      desk = none")
    assert outcomes(run(tmp_path, whole + claim.replace("WHAT", taken)))["is_post"] == "holds"
    late = run(tmp_path, whole + claim.replace("WHAT", "got"))
    assert late.failures[0].steps[-1].row == "receive"
    spent = whole.replace("loses: '1'", "loses: unlimited")
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, spent + claim.replace("WHAT", taken))
    (problem,) = raised.value.diagnostics
    assert (problem.code, "budget." in problem.message) == ("N221", True)


TAKES = """\
system: takes
about: Who is told of takes the message.
constants:
  A: {ids: THEIRS}
messages:
  M: {k: A}
variables:
  last: {type: optional A, initial: none}
channels:
  wire: {carries: [M], order: bag, capacity: "1", when_full: block}
rows:
  - {row: sends, for: {k: A}, do: "send(wire, M(k))"}
  - {row: takes, on: M(PATTERN), do: last = VALUE}
deadlock: false
"""

TAKES_HERE = """\
constants:
  B: {ids: OURS}
messages:
  M: {k: B}
variables:
  last: {type: optional B, initial: none}
channels:
  wire: {carries: [M], order: bag, capacity: "1", when_full: block}
rows:
  - {row: sends, for: {k: B}, do: "send(wire, M(k))"}
  - {row: takes, on: M(x), when: "WHEN", do: last = x}
deadlock: false
properties:
  same: {refines: {system: takes, ids: {A: B}}, why: it does the same.}
"""


@pytest.mark.parametrize(
    ("theirs", "ours", "pattern", "when", "outcome"),
    [
        # What `on:` binds there is no id, whatever ids here are called.
        ("2, prefix: a", "2, prefix: b", "b1", "true", "holds"),
        ("2, prefix: a", "[z, y]", "z", "true", "holds"),
        # An id there is an id, whatever ids here are called: those of both in order.
        ("2, prefix: a", "2, prefix: b", "a1", "true", "violated"),
        ("2, prefix: a", "2, prefix: b", "a1", "x == b1", "holds"),
        ("2, prefix: a", "[z, y]", "a2", "true", "violated"),
        ("2, prefix: a", "[z, y]", "a2", "x == y", "holds"),
        ("[p, q]", "2, prefix: b", "q", "x == b2", "holds"),
        # Those that are called alike are the same.
        ("2, prefix: a", "[a2, a1]", "a2", "x == a2", "holds"),
        ("2, prefix: a", "[a2, a1]", "a2", "x == a1", "violated"),
        ("[p, q]", "[q, r]", "p", "x == r", "holds"),
        # More or fewer than there.
        ("[p]", "[q, p]", "p", "x == p", "holds"),
        ("[p, q]", "1, prefix: b", "p", "true", "holds"),
        ("5, prefix: a", "2, prefix: b", "a2", "x == b2", "holds"),
    ],
)
def test_ids_are_those_of_one_name_and_the_others_in_order(
    tmp_path: Path, theirs: str, ours: str, pattern: str, when: str, outcome: str
) -> None:
    coarse = TAKES.replace("THEIRS", theirs).replace("PATTERN", pattern).replace("VALUE", pattern)
    (tmp_path / "takes.yaml").write_text(coarse)
    text = TAKES_HERE.replace("OURS", ours).replace("WHEN", when)
    assert outcomes(run(tmp_path, text, keep_going=True)) == {"same": outcome}


@pytest.mark.parametrize(
    ("theirs", "pattern"), [("[p, q]", "q"), ("2, prefix: a", "a2"), ("2, prefix: a", "a7")]
)
def test_an_id_that_is_too_many_here_is_no_new_name(
    tmp_path: Path, theirs: str, pattern: str
) -> None:
    coarse = TAKES.replace("THEIRS", theirs).replace("PATTERN", pattern).replace("VALUE", "none")
    (tmp_path / "takes.yaml").write_text(coarse)
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, TAKES_HERE.replace("OURS", "1, prefix: b").replace("WHEN", "true"))
    (problem,) = raised.value.diagnostics
    assert problem.code == "N201"
    assert problem.span.source.name.endswith("takes.yaml")
