"""Goal: what a used system means does not depend on what things are called where it is used.

Each pair is a system, and one that uses it as `s`: names meet that have nothing to do with each
other, and all properties have to be judged as they are of the system by itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from systems import outcomes, run

from checker.elaborate import elaborate
from checker.errors import SpecificationError
from checker.table import read

NUMBER = 'variables:\n  n: {type: 0..2, initial: "0"}\n'
LOW = "properties:\n  low: {always: n < 2, why: x}\n"
ENDS = "properties:\n  ends: {eventually: n == 2, why: x}\n"
LEVELS = "types:\n  Level: one of low, high\nvariables:\n  v: {type: Level, initial: low}\n"
FAIR = f"fairness: weak\n{NUMBER}"
ARMS = 'rows:\n  - {row: arms, when: n == 0, do: "arm(lock())\\nn = 1"}\n'
EXPIRES = "  - {row: expires, on: lock.expired(), do: n = 2}\n"
SENDS = (
    "messages:\n  M: {who: Worker}\n"
    'channels:\n  c: {carries: [M], order: bag, capacity: "1"}\n'
    "variables:\n  last: {type: optional Worker, initial: none}\n"
    "rows:\n  - row: sends\n    for: {w: Worker}\n    when: len(c) == 0\n    do: send(c, M(w))\n"
    "  - row: takes\n    on: c.M(%s)\n    do: last = %s\n"
    "properties:\n  not_first: {always: 'last != least(w for w in Worker)', why: x}\n"
)
PING = 'messages:\n  Ping: {}\nchannels:\n  c: {carries: [Ping], order: bag, capacity: "1"}\n'
IGNORES = (
    f"{PING}types:\n  Place: one of here, away, gone\n"
    "variables:\n  open: {type: bool, initial: 'true'}\n"
    "  place: {type: Place, initial: away}\n"
    'rows:\n  - {row: sends, when: open, do: "open = false\\nsend(c, Ping())"}\n'
    "  - {row: takes, on: c.Ping(), when: place == here, do: pass}\n"
    "  - {row: goes, when: place == away and open, do: place = gone}\n"
    "unhandled:\n  - {message: Ping, in: {place: away}, is: ignored, why: x}\n"
    "  - {message: Ping, in: {place: gone}, is: ignored, why: x}\n"
    "fair_groups:\n  each: {rows: all, fair: weak}\n"
)

USED = {
    "a row and a fault, and the fault is another": (
        (
            'faults:\n  crash: {budget: "1"}\nvariables:\n  up: {type: bool, initial: "true"}\n'
            "rows:\n  - {row: crash, fault: crash, when: up, do: up = false}\n"
            "properties:\n  stays_up: {always: up, why: x}\n"
        ),
        'faults:\n  outage: {budget: "1"}\nuses:\n  s: {system: it, with: {crash: outage}, %s}\n',
    ),
    "a row and a procedure, and the procedure is another": (
        (
            f"{NUMBER}procedures:\n  bump(x): n = x\n"
            f"rows:\n  - {{row: bump, when: n < 2, do: bump(n + 1)}}\n{LOW}"
        ),
        "procedures:\n  mine(x): s_n = x\nuses:\n  s: {system: it, with: {bump: mine}, %s}\n",
    ),
    "a constant and a fault, and the constant is another": (
        (
            "constants: {slow: 1}\nfaults:\n  slow: {budget: slow}\n"
            f"{NUMBER}rows:\n  - {{row: slows, fault: slow, when: n < 2, do: n += 2}}\n{LOW}"
        ),
        "constants: {mine: 1}\nuses:\n  s: {system: it, with: {slow: mine}, %s}\n",
    ),
    "a group and a timer, and the timer is another": (
        (
            f"{NUMBER}timers:\n  lock: {{}}\n{ARMS}{EXPIRES}"
            f"fair_groups:\n  lock: {{rows: [arms, expires], fair: weak}}\n{ENDS}"
        ),
        "timers:\n  lease: {fair: none}\nuses:\n  s: {system: it, with: {lock: lease}, %s}\n",
    ),
    "a value and a quantifier's name, and a variable here": (
        (
            f"{LEVELS}definitions:\n  up(): any(high == v for high in Level if high != low)\n"
            "rows:\n  - {row: rises, when: v == low, do: v = high}\n"
            "properties:\n  stays: {always: not up(), why: x}\n"
        ),
        (
            "uses:\n  s: {system: it, %s}\nvariables:\n"
            "  high: {type: s_Level, initial: s_Level.low, observed: true}\n"
        ),
    ),
    "a value and a binding's name, and a variable here": (
        (
            f"{LEVELS}rows:\n  - {{row: rises, when: v == low, do: v = high}}\n"
            "  - {row: falls, for: {high: Level}, when: high != v and v != low, do: v = high}\n"
            "properties:\n  stays: {always: v == low, why: x}\n"
        ),
        (
            "uses:\n  s: {system: it, %s}\nvariables:\n"
            "  high: {type: s_Level, initial: s_Level.low, observed: true}\n"
        ),
    ),
    "a value of two types, and a variable here": (
        (
            "types:\n  Doing: one of idle, busy\n  Mode: one of off, idle\nvariables:\n"
            "  doing: {type: Doing, initial: Doing.idle}\n  mode: {type: Mode, initial: off}\n"
            "rows:\n  - {row: works, when: doing == idle, do: doing = busy}\n"
            "  - {row: switch, when: mode != idle, do: mode = off}\n"
            "properties:\n  never_busy: {always: idle == doing, why: x}\n"
        ),
        (
            "uses:\n  s: {system: it, %s}\nvariables:\n"
            "  idle: {type: s_Doing, initial: s_Doing.busy, observed: true}\n"
        ),
    ),
    "a local that would be renamed to what stands for a variable": (
        (
            f'{NUMBER}  v: {{type: 0..1, initial: "0"}}\n'
            f"rows:\n  - {{row: sets, for: {{k: 0..1}}, do: n = v + k}}\n{LOW}"
        ),
        (
            'variables:\n  k: {type: 0..1, initial: "0", observed: true}\n'
            '  s_k: {type: 0..1, initial: "0", observed: true}\n'
            "uses:\n  s: {system: it, with: {v: s_k}, %s}\n"
        ),
    ),
    "all rows, some of which ignore": (
        (
            "messages:\n  Ping: {}\ntypes:\n  Place: one of here, away\n"
            "variables:\n  open: {type: bool, initial: 'true'}\n"
            "  place: {type: Place, initial: away, observed: true}\n"
            'channels:\n  c: {carries: [Ping], order: bag, capacity: "1"}\n'
            'rows:\n  - {row: sends, when: open, do: "open = false\\nsend(c, Ping())"}\n'
            "  - {row: takes, on: c.Ping(), when: place == here, do: pass}\n"
            "unhandled:\n  - {message: Ping, in: {place: away}, is: ignored, why: x}\n"
            "fair_groups:\n  each: {rows: all, fair: weak}\n"
            "properties:\n  empties: {eventually: not open and len(c) == 0, why: x}\n"
        ),
        "uses:\n  s: {system: it, %s}\n",
    ),
    "all rows, one of which is an outcome that is a fault": (
        (
            f'{FAIR}faults:\n  bad: {{budget: "1"}}\noperations:\n'
            '  w: {captures: {}, capacity: "1", outcomes: {ok: {}, error: {fault: bad}}}\n'
            'rows:\n  - {row: starts, when: n == 0, do: "start(w())\\nn = 1"}\n'
            "  - {row: fine, on: w.ok(), do: n = 2}\n  - {row: fails, on: w.error(), do: n = 0}\n"
            f"fair_groups:\n  each: {{rows: all, fair: weak}}\n{ENDS}"
        ),
        "uses:\n  s: {system: it, %s}\n",
    ),
    "the fairness of an expiry, and the timer is another": (
        f"{FAIR}timers:\n  lock: {{}}\n{ARMS}{EXPIRES}{ENDS}",
        "timers:\n  lease: {}\nuses:\n  s: {system: it, with: {lock: lease}, %s}\n",
    ),
    "the fairness of an expiry whose timer promises something itself": (
        f"{FAIR}timers:\n  lock: {{fair: none}}\n{ARMS}{EXPIRES}{ENDS}",
        "uses:\n  s: {system: it, %s}\n",
    ),
    "an argument of `on:`, and an id of a type of both": (
        f"constants:\n  Worker: {{ids: 2}}\n{SENDS % ('b', 'b')}",
        "constants:\n  Worker: {ids: [a, b]}\nuses:\n  s: {system: it, %s}\n",
    ),
    "an id in `on:` that is counted otherwise here": (
        f"constants:\n  Worker: {{ids: 2}}\n{SENDS % ('worker2', 'worker1')}",
        "constants:\n  Worker: {ids: 2, prefix: w}\nuses:\n  s: {system: it, %s}\n",
    ),
    "a row that ignores a message of both": (
        (
            f"{IGNORES}properties:\n  never: {{step: not ran(ignore_Ping), why: x}}\n"
            "  second: {step: 'implies(ran(ignore_Ping_2), place == gone)', why: x}\n"
            "  empties: {eventually: not open and len(c) == 0, why: x}\n"
        ),
        (
            f"{PING}variables:\n  off: {{type: bool, initial: 'true', observed: true}}\n"
            "  z: {type: s_Place, initial: s_Place.here, observed: true}\n"
            "unhandled:\n  - {message: Ping, in: {z: away}, is: ignored, why: x}\n"
            "uses:\n  s: {system: it, with: {Ping: Ping, c: c}, %s}\n"
        ),
    ),
    "a local that is called as budgets are": (
        (
            "types:\n  R: {fields: {bad: 0..2}}\nfaults:\n  bad: {budget: '1'}\n"
            f"{NUMBER}rows:\n  - {{row: sets, let: {{budget: R(bad=2)}}, do: n = budget.bad}}\n"
            f"  - {{row: falls, fault: bad, do: n = 0}}\n{LOW}"
        ),
        "uses:\n  s: {system: it, %s}\n",
    ),
    "a procedure that is called like what collections do": (
        (
            f"messages:\n  M: {{}}\n{NUMBER}channels:\n"
            '  c: {carries: [M], order: bag, capacity: "1"}\n'
            "procedures:\n  clear(): |\n    n = 2\n    c.clear()\n"
            "rows:\n  - {row: sends, when: len(c) == 0, do: c.add(M())}\n"
            f"  - {{row: clears, do: clear()}}\n{LOW}"
        ),
        "uses:\n  s: {system: it, %s}\n",
    ),
}


@pytest.mark.parametrize("name", USED)
def test_a_used_system_is_judged_as_it_is_by_itself(tmp_path: Path, name: str) -> None:
    text, host = USED[name]
    ends = "deadlock: false\n"
    (tmp_path / "it.yaml").write_text(f"system: it\nabout: x.\n{text}{ends}")
    alone = run(tmp_path, text + ends, keep_going=True)
    used = run(tmp_path, host % "properties: all" + ends, keep_going=True)
    wanted = {f"s_{name}": outcome for name, outcome in outcomes(alone).items()}
    assert outcomes(used) == wanted
    assert wanted
    figures = [
        (one.exploration.distinct, one.exploration.generated, [it.length for it in one.failures])
        for one in (alone, used)
    ]
    assert figures[0] == figures[1]


def test_ids_that_another_used_system_counts(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(
        "system: nodes\nabout: x.\nconstants:\n  Node: {ids: 2}\nvariables:\n"
        "  v: {type: Node, initial: node1, observed: true}\n"
        "rows:\n  - {row: r, do: v = node2}\ndeadlock: false\n"
    )
    (tmp_path / "keys.yaml").write_text(
        "system: keys\nabout: x.\nconstants:\n  Key: {ids: 2, prefix: k}\nvariables:\n"
        "  v: {type: Key, initial: k1}\nrows:\n  - {row: r, when: v == k1, do: v = k2}\n"
        "properties:\n  stays: {always: v == k1, why: x}\ndeadlock: false\n"
    )
    text = "uses:\n  a: nodes\n  b: {system: keys, with: {Key: a_Node}, properties: all}\n"
    result = run(tmp_path, f"{text}deadlock: false\n")
    assert outcomes(result) == {"b_stays": "violated"}


def test_the_first_condition_that_is_true_ends_the_question(tmp_path: Path) -> None:
    (tmp_path / "it.yaml").write_text(
        "system: it\nabout: x.\nvariables:\n  o: {type: optional 0..2, initial: none}\n"
        '  n: {type: 0..1, initial: "0"}\nrows:\n  - {row: up, when: n == 0, do: n = 1}\n'
        "terminal:\n  - n == 1 and o is none\n  - n == 1 and o > 0\n"
    )
    result = run(tmp_path, "uses: {s: it}\nterminal: [terminal_s()]\n")
    assert outcomes(result) == {"deadlock": "holds"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "system.yaml").write_text(
        "system: work\nabout: x.\nfiles: [core.yaml, report.yaml]\n"
    )
    (folder / "core.yaml").write_text(
        'faults:\n  crash: {budget: "1"}\nvariables:\n  n: {type: 0..3, initial: "0"}\n'
        "rows:\n  - {row: up, when: n < 3, do: n += 1}\n"
        "  - {row: crash, fault: crash, do: n = 0}\n"
        "properties:\n  low: {always: n < 4, why: x}\n"
    )
    (folder / "report.yaml").write_text(
        "terminal:\n  - n == 3\nbounds:\n  - n < 2\n"
        "properties:\n  never_two: {always: n != 2, why: x}\n"
    )
    return tmp_path


def test_a_file_that_is_left_out_claims_and_ends_nothing(work: Path) -> None:
    uses = "uses:\n  w: {system: work, without: [report.yaml], properties: %s}\n"
    result = run(work, f"{uses % 'all'}deadlock: false\n")
    assert outcomes(result) == {"w_low": "holds"}
    assert result.exploration.distinct == 8
    for text, code in (
        (uses % "[never_two]", "T145"),
        (f"{uses % '[low]'}terminal: [terminal_w()]\n", "N201"),
    ):
        with pytest.raises(SpecificationError) as raised:
            run(work, text)
        assert [one.code for one in raised.value.diagnostics] == [code]


@pytest.mark.parametrize(
    ("without", "states"), [("rows.crash", 4), ("rows.up", 2), ("fair_groups.x", 0), ("crash", 0)]
)
def test_what_is_left_out_may_say_its_section(work: Path, without: str, states: int) -> None:
    text = f"uses:\n  w: {{system: work, without: [report.yaml, {without}]}}\ndeadlock: false\n"
    if states:
        assert len({*run(work, text).exploration.levels}) > 0
        assert run(work, text).exploration.distinct == states
        return
    with pytest.raises(SpecificationError) as raised:
        run(work, text)
    (found,) = raised.value.diagnostics
    assert found.code == "T145"
    assert ("rows.crash" in (found.help or "")) == (without == "crash")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("set: {Key: 2}", "`Key` is"),
        ("set: {most: 2}, with: {most: limit}", "`most` is"),
        ("set: {most: 2}, without: [most]", "left out"),
    ],
)
def test_a_value_for_what_has_none_of_its_own_is_an_error(
    tmp_path: Path, settings: str, said: str
) -> None:
    (tmp_path / "it.yaml").write_text(
        "system: it\nabout: x.\nconstants:\n  Key: {ids: 3}\n  most: 3\nvariables:\n"
        "  held: {type: set of Key, initial: empty}\n"
        "rows:\n  - {row: r, for: {k: Key}, when: len(held) < 3, do: held.add(k)}\n"
    )
    text = f"constants:\n  Key: {{ids: 3}}\n  limit: 3\nuses:\n  s: {{system: it, {settings}}}\n"
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, text)
    (found,) = raised.value.diagnostics
    assert found.code == "T115"
    assert said in found.message


def test_what_stands_for_a_fault_and_something_else_of_one_name_is_said(tmp_path: Path) -> None:
    both = "constants: {slow: 1}\nfaults:\n  slow: {budget: slow}\n"
    row = f"{NUMBER}rows:\n  - {{row: slows, fault: slow, when: n < 2, do: n += 1}}\n"
    (tmp_path / "it.yaml").write_text(f"system: it\nabout: x.\n{both}{row}")
    host = "constants: {mine: 1}\nfaults:\n  mine: {budget: mine}\n"
    with pytest.raises(SpecificationError) as caught:
        run(tmp_path, host + "uses:\n  s: {system: it, with: {slow: mine}}\n")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span.line) == ("T145", 7)
    assert "a fault and something else that are called `slow`" in diagnostic.message


def test_all_rows_are_those_that_ignore_a_message_of_several_systems(tmp_path: Path) -> None:
    """What `without:` leaves out is none of them, though the group was of all where it stands."""
    (tmp_path / "it.yaml").write_text(f"system: it\nabout: x.\n{IGNORES}")
    (tmp_path / "two.yaml").write_text(
        f"system: two\nabout: x.\n{PING}uses:\n"
        "  a: {system: it, with: {Ping: Ping, c: c}}\n  b: {system: it, with: {Ping: Ping, c: c}}\n"
    )
    top = tmp_path / "top.yaml"
    top.write_text("system: top\nabout: x.\nuses:\n  t: {system: two, without: [b_takes]}\n")
    first, second = elaborate(read(top)).fair_groups
    assert [row for row, _ in first.rows] == [
        *("t_a_sends", "t_a_takes", "t_a_goes", "ignore_t_Ping", "ignore_t_Ping_2")
    ]
    assert [row for row, _ in second.rows] == [
        *("t_b_sends", "t_b_goes", "ignore_t_Ping_3", "ignore_t_Ping_4")
    ]
