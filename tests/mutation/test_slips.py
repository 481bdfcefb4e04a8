"""Goal: what can be lost, exchanged or confused in a row is found, and is what it says it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.main import run as command
from checker.elaborate import elaborate
from checker.library import find
from checker.machine.machine import Machine
from checker.mutation.mistakes import declared_mistakes
from checker.mutation.parts import VARIABLE
from checker.mutation.weaver import KINDS, USUAL
from checker.mutation.weaving import catalogue, weave
from checker.semantics.successor import State
from checker.semantics.successors import initial_states, successors
from checker.table import Document, read

LAST = """\
      teller.state = busy
      send(Told(teller.sum))
      teller.sum = 0
"""

COUNTERS = """
system: counters
about: Two counters that a teller moves, and what it was told.
constants:
  Place: {ids: 2, prefix: p}
messages:
  Told: {amount: "0..3"}
channels:
  wire: {carries: [Told], order: fifo, capacity: "2", when_full: block}
components:
  teller:
    machines:
      state: {table: teller}
    variables:
      last: {type: "0..3", initial: "0"}
      sum: {type: "0..3", initial: "0"}
      open: {type: bool, initial: "false"}
      moves: {type: "0..3", initial: "0", observed: true}
  counter:
    per: Place
    variables:
      value: {type: "0..3", initial: "1"}
definitions:
  both(): teller.last + teller.sum
procedures:
  finish(): |
    teller.open = true
    teller.last = 0
deadlock: false
rows:
  - row: begins
    in: {teller.state: idle}
    for: {p: Place, q: Place}
    when: counter[p].value == 1 and counter[q].value == 1 and teller.last <= 2
    do: |
      teller.last = counter[p].value
      teller.sum = teller.last + 1
      counter[q].value = 2
    to: {teller.state: busy}
    send: Told(teller.sum)
  - row: ends
    on: Told(amount)
    in: {teller.state: busy}
    when: amount + 1 == both()
    do: |
      finish()
      teller.last = amount
      teller.moves = 1
    to: {teller.state: idle}
properties:
  small: {always: "teller.sum < 3", why: it stays small.}
"""

TELLER = """
table: teller
about: What a teller does.
source: none
states:
  idle: {about: It waits., initial: true}
  busy: {about: It works.}
transitions:
  - {from: idle, event: asked, to: busy}
  - {from: busy, event: answered, to: idle}
"""


@pytest.fixture
def counters(tmp_path: Path) -> Document:
    path = tmp_path / "counters.yaml"
    path.write_text(COUNTERS)
    (tmp_path / "teller.yaml").write_text(TELLER)
    return read(path)


def of_kind(document: Document, kind: str) -> list[str]:
    return [item.key for item in catalogue(document, KINDS) if item.kind == kind]


def test_a_row_may_lose_what_its_process_keeps(counters: Document) -> None:
    assert of_kind(counters, "loss") == [
        "row begins: `teller.state` is `idle` at the end",
        "row begins: `teller.last` is `0` at the end",
        "row begins: `teller.sum` is `0` at the end",
        "row begins: `teller.open` is `false` at the end",
        "row begins: `counter[p].value` is `1` at the end",
        "row begins: `counter[q].value` is `1` at the end",
        "row ends: `teller.state` is `idle` at the end",
        "row ends: `teller.last` is `0` at the end",
        "row ends: `teller.sum` is `0` at the end",
        "row ends: `teller.open` is `false` at the end",
    ]


def test_who_a_message_is_of_may_lose_something_too(counters: Document) -> None:
    path = Path(counters.path)
    text = COUNTERS.replace('Told: {amount: "0..3"}', 'Told: {amount: "0..3", of: Place}')
    text = text.replace("Told(teller.sum)", "Told(teller.sum, p)")
    text = text.replace("on: Told(amount)", "on: Told(amount, who)")
    path.write_text(text.replace("amount + 1 ==", "counter[who].value > 0 and amount + 1 =="))
    assert "row ends: `counter[who].value` is `1` at the end" in of_kind(read(path), "loss")


def test_only_statements_that_meet_are_exchanged(counters: Document) -> None:
    """`counter[q].value = 2` meets nothing before it; `finish()` writes `last` two lines down."""
    assert (
        of_kind(counters, "order")
        == [
            "procedure finish: `teller.last = 0` before `teller.open = true`",
            "row begins: `teller.sum = teller.last + 1` before `teller.last = counter[p].value`",
            "row begins: `send(Told(teller.sum))` twice",
            "row ends: `teller.last = amount` before `finish()`",
        ][1:]
    )


def test_things_of_one_type_are_confused(counters: Document) -> None:
    found = of_kind(counters, "confusion")
    assert "row begins: `teller.sum` read for `teller.last` in column 63" in found
    assert "definition both: `teller.sum` read for `teller.last` in column 11" in found
    assert "definition both: `teller.last` read for `teller.sum` in column 25" in found
    assert not any("open" in key or "moves" in key for key in found)


def test_a_name_is_confused_with_one_of_its_type(counters: Document) -> None:
    path = Path(counters.path)
    path.write_text(COUNTERS.replace("teller.last <= 2", "teller.last <= 2 and p != q"))
    found = of_kind(read(path), "confusion")
    assert any("`q` read for `p` in column" in key for key in found)
    assert any("`counter[p].value` read for `counter[q].value` in column" in key for key in found)


def steps_from(machine: Machine, number: int | None) -> set[object]:
    """Return all steps of a machine; those of one mutant, without its number, where it has any."""
    names = [item.name for item in machine.variables]
    place = None if number is None else names.index(VARIABLE)

    def bare(state: State | None) -> State | None:
        if state is None or place is None:
            return state
        return (*state[:place], *state[place + 1 :])

    states = [item.state for item in initial_states(machine) if item.state is not None]
    todo = [state for state in states if place is None or state[place] == number]
    seen, steps = set(todo), set[object]()
    while todo:
        state = todo.pop()
        for step in successors(machine, state):
            steps.add((bare(state), step.action, bare(step.state)))
            if step.state is not None and step.state not in seen:
                seen.add(step.state)
                todo.append(step.state)
    return steps


@pytest.mark.parametrize(
    ("slip", "old", "new"),
    [
        (
            "row begins: `teller.sum` is `0` at the end",
            "value = 2\n    to: {teller.state: busy}\n    send: Told(teller.sum)\n",
            "value = 2\n" + LAST,
        ),
        (
            "row begins: `counter[p].value` is `1` at the end",
            "value = 2\n",
            "value = 2\n      counter[p].value = 1\n",
        ),
        (
            "row ends: `teller.last = amount` before `finish()`",
            "      finish()\n      teller.last = amount\n",
            "      teller.last = amount\n      finish()\n",
        ),
        (
            "row begins: `send(Told(teller.sum))` twice",
            "send: Told(teller.sum)",
            "send: [Told(teller.sum), Told(teller.sum)]",
        ),
        (
            "definition both: `teller.sum` read for `teller.last` in column 11",
            "teller.last + teller.sum",
            "teller.sum + teller.sum",
        ),
        (
            "row begins: `counter[q].value` read for `counter[p].value` in column 11",
            "when: counter[p].value",
            "when: counter[q].value",
        ),
    ],
)
def test_a_slip_is_what_somebody_would_write(
    counters: Document, tmp_path: Path, slip: str, old: str, new: str
) -> None:
    """The woven mutant takes the steps of a specification in which the slip stands as text."""
    assert COUNTERS.count(old) == 1
    path = tmp_path / "written.yaml"
    path.write_text(COUNTERS.replace(old, new))
    woven = weave(counters, {slip})
    assert [mutant.number for mutant in woven.mutants] == [1]
    slipped = steps_from(elaborate(woven.document), 1)
    assert slipped == steps_from(elaborate(read(path)), None)
    assert slipped != steps_from(elaborate(counters), None)


def test_slips_are_made_where_they_are_asked_for(
    counters: Document, capsys: pytest.CaptureFixture[str]
) -> None:
    def kinds(*options: str) -> set[str]:
        command(["mutate", counters.path, *options, "--workers", "1", "--format", "json"])
        return {item["kind"] for item in json.loads(capsys.readouterr().out)["list"]}

    assert kinds() <= set(USUAL)
    assert kinds("--kind", "loss", "--kind", "order") == {"loss", "order"}
    command(["mutate", counters.path, "--kind", "confusion", "--workers", "1"])
    assert "[confusion]" in capsys.readouterr().out
    assert command(["mutate", counters.path, "--kind", "lost"]) == 2
    assert "'lost' is not one of 'guard'" in capsys.readouterr().err
    assert command(["mutate", counters.path, "--kind", "loss", "--declared"]) == 2


def test_a_slip_can_be_a_declared_mistake(counters: Document) -> None:
    Path(counters.path).with_name("mistakes.yaml").write_text("""\
mistakes: counters
properties:
  small:
    in: begins
    mutant: "`teller.sum` is `0` at the end"
""")
    (mistake,) = declared_mistakes(counters)
    assert mistake.mutant == "row begins: `teller.sum` is `0` at the end"


@pytest.mark.parametrize("name", ["composed_with_fetches", "classic_group", "share_state"])
def test_slips_take_no_other_change_its_place_or_name(name: str) -> None:
    document = read(find(name))
    usual = [(item.key, item.kind) for item in catalogue(document)]
    every = [(item.key, item.kind) for item in catalogue(document, KINDS)]
    assert [item for item in every if item[1] in USUAL] == usual
    assert len({key for key, _ in every}) == len(every)


USED = """
system: used
about: A part with states, values and a constant that its user calls something else so.
constants:
  most: 2
types:
  Light: one of dark, bright
components:
  bulb:
    machines:
      state: {table: teller}
    variables:
      light: {type: Light, initial: dark}
      left: {type: 0..most, initial: most}
rows:
  - row: lights
    in: {bulb.state: [idle, busy]}
    when: bulb.light == dark and bulb.left > 0
    do: |
      bulb.light = bright
      bulb.left -= 1
    to: {bulb.state: busy}
  - row: darkens
    for: {dark: Light}
    in: {bulb.state: busy}
    do: bulb.light = dark
    to: {bulb.state: idle}
properties:
  fine: {always: "bulb.left <= most", why: a count.}
"""

USER = """
system: user
about: It calls variables like states and values of what it uses.
uses:
  it: used
variables:
  idle: {type: teller, initial: teller.busy}
  busy: {type: bool, initial: "false"}
  bright: {type: 0..1, initial: "0"}
rows:
  - row: turns
    when: idle == teller.busy and not busy
    do: |
      idle = teller.idle
      busy = true
      bright = 1
"""


@pytest.mark.parametrize("prefix", ["", "it_"])
def test_a_value_stays_one_whatever_else_is_called_so(tmp_path: Path, prefix: str) -> None:
    """Also in the parts of a used system, whose names are others than what stands there."""
    (tmp_path / "used.yaml").write_text(USED)
    (tmp_path / "user.yaml").write_text(USER)
    (tmp_path / "teller.yaml").write_text(TELLER)
    document = read(tmp_path / ("user.yaml" if prefix else "used.yaml"))
    found = [item.key for item in catalogue(document, KINDS) if "row it_" in item.key or not prefix]
    row, bulb = f"row {prefix}lights", f"{prefix}bulb"
    slips = [
        f"{row}: not in idle",
        f"{row}: `{bulb}.state` stays as it is",
        f"{row}: `{bulb}.state` goes to `idle` for `busy`",
        f"{row}: `{bulb}.light` is `{'it_Light.' if prefix else ''}dark` at the end",
        f"{row}: `{bulb}.left` is `{prefix}most` at the end",
    ]
    assert set(slips) <= set(found)
    if not prefix:  # where a row binds what a value is called
        slips.append("row darkens: `bulb.light` is `dark` at the end")
    woven = weave(document, set(slips))
    assert not woven.refused
    usual = steps_from(elaborate(document), None)
    assert steps_from(woven.machine, 0) == usual
    for mutant in woven.mutants:
        assert steps_from(woven.machine, mutant.number) != usual, str(mutant)
