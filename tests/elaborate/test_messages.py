"""Goal: channels, calls, operations and faults become variables and rows with their meaning."""

import pytest
from houses import Elaborating, Refusing
from walking import walk

from checker.machine.terms import Equal
from checker.machine.walk import walk as nodes
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.values import MapValue
from checker.trace.naming import excerpt

CHANNEL = """
constants:
  Person: {ids: 2}
  fault_max: 1
messages:
  Ask: {count: 0..1}
  Stop: {}
channels:
  post: {carries: [Ask, Stop], CHANNEL}
variables:
  n: {type: 0..3, initial: "0"}
  last: {type: 0..1, initial: "0"}
  sent: {type: 0..2, initial: "0"}
rows:
  - row: asks
    when: sent < 2
    do: sent += 1
    send: Ask(sent - 1)
  - row: hears
    on: Ask(count)
    when: n < 3
    do: |
      n += 1
      last = count
"""


STEP = (
    "variables:\n  n: {type: 0..1, initial: '0', observed: true}\nrows:\n  - {row: r, do: n = 1}\n"
)


def channel(options: str) -> str:
    return CHANNEL.replace("CHANNEL", options)


def test_a_queue_delivers_the_oldest_first(machine: Elaborating) -> None:
    found = walk(machine(channel("order: fifo, capacity: '2'")))
    order = [(step.bindings, step.state is not None) for step in found.taken("hears")]
    assert {str(names) for names, _ in order} == {"(('count', 0),)", "(('count', 1),)"}
    assert all(state["last"] == 0 for state in found.states if state["n"] == 1)
    assert found.events == {("asks", "sent"), ("hears", "received")}


def test_a_bag_delivers_in_any_order(machine: Elaborating) -> None:
    found = walk(machine(channel("order: bag, capacity: '2'")))
    assert {state["last"] for state in found.states if state["n"] == 1} == {0, 1}


@pytest.mark.parametrize(
    ("look", "told"),
    [
        ("any(m is Stop for m in post)", []),
        ("Stop() in post", []),
        ("n == 0", ["no row takes `Stop` from `post`"]),
    ],
)
def test_what_stays_may_be_looked_for_instead_of_taken(
    machine: Elaborating, look: str, told: list[str]
) -> None:
    """Goal: a message of a retained channel that a guard asks for is one that a row reads."""
    rows = f"  - {{row: stops, send: Stop()}}\n  - {{row: looks, when: '{look}', do: n = 0}}\n"
    found = machine(channel("order: retained") + rows)
    assert [lint.message for lint in found.warnings if lint.code == "L440"] == told
    taken = machine(channel("order: bag, capacity: '1'") + rows)
    assert [lint.message for lint in taken.warnings if lint.code == "L440"] == [
        "no row takes `Stop` from `post`"
    ]


def test_a_retained_channel_keeps_what_is_read(machine: Elaborating) -> None:
    found = walk(machine(channel("order: retained")))
    assert found.values("n") == {"0", "1", "2", "3"}
    assert ("hears", "read") in found.events


@pytest.mark.parametrize(
    ("policy", "sent", "errors"),
    [
        ("block", {"0", "1", "2"}, set()),
        ("drop", {"0", "1", "2"}, set()),
        ("error", {"0", "1", "2"}, {("asks", "E509")}),
    ],
)
def test_a_full_channel(
    machine: Elaborating, policy: str, sent: set[str], errors: set[tuple[str, str]]
) -> None:
    found = walk(machine(channel(f"order: fifo, capacity: '1', when_full: {policy}")))
    assert found.values("sent") == sent
    assert found.errors == errors
    lost = any(state["sent"] == 2 and state["n"] == 0 for state in found.states)
    assert lost == (policy == "drop")


def test_faults_of_a_channel_are_rows_with_budgets(machine: Elaborating) -> None:
    made = machine(
        channel(
            "order: fifo, capacity: '2', loses: fault_max, duplicates: unlimited, reorders: '1'"
        )
    )
    faults = {action.name: action for action in made.actions if action.generated}
    assert set(faults) == {"lose_post", "duplicate_post", "reorder_post"}
    assert all(action.fault == name for name, action in faults.items())
    assert made.budgets == (("lose_post", 1), ("reorder_post", 1))
    found = walk(made)
    assert {("lose_post", "lost"), ("duplicate_post", "duplicated")} <= found.events
    assert {state["last"] for state in found.states if state["n"] == 1} == {0, 1}
    assert found.values("budget.lose_post") == {"0", "1"}
    assert found.errors == set()


def test_a_budget_of_nothing_makes_no_row(machine: Elaborating) -> None:
    made = machine(channel("order: bag, capacity: '2', loses: fault_max"), fault_max=0)
    assert not any(action.generated for action in made.actions)
    assert not any(variable.origin == "budget" for variable in made.variables)


def test_a_queue_can_lose_its_last_message_first(machine: Elaborating) -> None:
    text = channel("order: fifo, capacity: '3', loses: '1'").replace("Ask(sent - 1)", "Ask(0)")
    found = walk(machine(text))
    assert len({step.bindings for step in found.taken("lose_post")}) == 2


def as_map(value: object) -> MapValue:
    assert isinstance(value, MapValue)
    return value


CALLS = """
constants:
  Person: {ids: 2, symmetric: true}
messages:
  Ask: {count: 0..1}
  Answer: {count: 0..1}
calls:
  phone: {per: Person, requests: [Ask], responses: [Answer], capacity: 'CAPACITY'}
components:
  person:
    per: Person
    variables:
      asked: {type: 0..2, initial: "0"}
      heard: {type: 0..3, initial: "0", observed: true}
      closed: {type: bool, initial: "false"}
variables:
  waiting: {type: map of Person to handle of phone, initial: "{}"}
rows:
  - row: asks
    for: {p: Person}
    when: person[p].asked < 1
    do: |
      call(phone[p], Ask(1))
      person[p].asked += 1
  - row: takes
    on: phone[p].Ask(count)
    do: |
      waiting[p] = call
  - row: answers
    for: {p: Person}
    when: p in waiting
    do: |
      reply(waiting[p], Answer(1))
      del waiting[p]
  - row: is_told
    on: phone[p].Answer(count)
    do: person[p].heard += 1
  - row: hangs_up
    for: {p: Person}
    when: not person[p].closed
    do: |
      close(phone[p])
      person[p].closed = true
properties:
  parked_are_waiting:
    always: |
      all(h.client in waiting and waiting[h.client] == h for h in phone)
      and all(h in phone for h in {waiting[p] for p in waiting})
    why: what was taken and not answered is what waits.
  used:
    always: |
      all(len(phone[p]) <= 1 for p in Person)
      and all(r is Ask and r.count == 1 for r in requests(phone))
      and all(r.count == 1 for p in Person for r in responses(phone[p]))
      and all(implies(not h.open, person[h.client].closed) for h in phone)
    why: these are the ways to look at calls.
"""


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ("", "call.open"),
        ("    let: {h: call}\n", "h.open"),
        ("", "is_there(call)"),
        ("    let: {h: call}\n", "is_there_still(h)"),
    ],
)
def test_a_guard_may_ask_whether_the_caller_is_still_there(
    machine: Elaborating, named: str, asked: str
) -> None:
    rows = f"""  - row: takes
    on: phone[p].Ask(count)
{named}    when: {asked}
    do: |
      require(call.open)
      waiting[p] = call
  - row: drops
    on: phone[p].Ask(count)
{named}    when: not {asked}
    do: |
      require(not call.open)
      reply(call, Answer(0))
"""
    definitions = "definitions:\n  is_there(h): h.open\n  is_there_still(g): is_there(g)\n"
    taken = """  - row: takes
    on: phone[p].Ask(count)
    do: |
      waiting[p] = call
"""
    assert taken in CALLS
    text = CALLS.replace("CAPACITY", "1").replace(taken, rows)
    found = walk(machine(text.replace("properties:", f"{definitions}properties:")))
    assert found.errors == set()
    assert found.taken("takes")
    assert found.taken("drops")


@pytest.mark.parametrize("capacity", ["1", "2"])
def test_calls_are_taken_parked_answered_and_closed(machine: Elaborating, capacity: str) -> None:
    made = machine(CALLS.replace("CAPACITY", capacity))
    found = walk(made)
    assert found.errors == set()
    assert found.events == {
        ("asks", "sent"),
        ("takes", "received"),
        ("answers", "sent"),
        ("answers", "lost"),
        ("is_told", "received"),
        ("hangs_up", "lost"),
    }
    for state in found.states:
        for entry in made.properties:
            assert evaluate(entry.condition, Context(state, {})) is True
    assert made.warnings == ()


def test_a_row_that_answers_at_once_and_one_that_rejects(machine: Elaborating) -> None:
    text = CALLS.replace("CAPACITY", "1").replace(
        "      waiting[p] = call\n",
        "      person[p].heard = 2\n      if count == 1:\n          reject(Answer(0))\n"
        "      reply(call, Answer(1))\n",
    )
    text = text[: text.index("  parked_are_waiting")] + "  any: {always: 'true', why: w}\n"
    found = walk(machine(text))
    assert found.errors == set()
    heard = {value for state in found.states for value in as_map(state["person.heard"]).values()}
    assert heard == {0, 1}
    assert {step.bindings[1] for step in found.taken("is_told")} == {("count", 0)}


@pytest.mark.parametrize("answer", ["Answer(count)", "reply(call, Answer(count))"])
@pytest.mark.parametrize("sent", ["count", "person[p].heard"])
def test_what_a_rejection_answers_is_what_it_is_before_it(
    machine: Elaborating, answer: str, sent: str
) -> None:
    text = CALLS.replace("CAPACITY", "1").replace(
        "      waiting[p] = call\n",
        "      person[p].heard = 0\n      person[p].asked = 0\n"
        f"      reject({answer.replace('count', sent)})\n",
    )
    text = text.replace('heard: {type: 0..3, initial: "0"', 'heard: {type: 0..3, initial: "1"')
    text = text[: text.index("  parked_are_waiting")] + "  any: {always: 'true', why: w}\n"
    found = walk(machine(text))
    assert found.errors == set()
    told = {step.bindings[1] for step in found.taken("is_told")}
    assert told == {("count", 1 if sent == "count" else 0)}


def test_a_rejection_that_sends_sends_what_is_there_before_it(machine: Elaborating) -> None:
    text = """
constants:
  Room: {ids: [hall, attic]}
messages:
  Ask: {}
  Told: {n: 0..3}
channels:
  asks: {carries: [Ask], order: bag, capacity: "1"}
  told: {carries: [Told], order: bag, capacity: "2", per: Room}
variables:
  n: {type: 0..3, initial: "0"}
  where: {type: Room, initial: hall}
rows:
  - row: asks
    when: len(told[hall]) + len(told[attic]) == 0
    do: send(asks, Ask())
  - row: takes
    on: asks.Ask()
    do: |
      n = pick({2, 3})
      where = attic
      reject(send(told[where], Told(pick(k for k in range(4) if k < n))))
"""
    found = walk(machine(text))
    assert found.errors == set()
    assert {state["n"] for state in found.states} == {0}
    for told in (as_map(state["told"]) for state in found.states):
        assert told["hall"] == ()
    sent = {message["n"] for state in found.states for message in as_map(state["told"])["attic"]}
    assert sent == {0, 1, 2}


OPERATION = """
messages:
  Stop: {}
operations:
  write:
    captures: {count: 0..1}
    capacity: "2"
    order: ORDER
    outcomes:
      ok: {}
      error: {fault: outage}
      timeout: {fault: outage, late: true}
faults:
  outage: {budget: "1"}
variables:
  begun: {type: 0..2, initial: "0"}
  log: {type: sequence of 0..1 up to 2, initial: empty, observed: true}
rows:
  - {row: begins, when: begun < 2, do: "start(write(count=begun))\\nbegun += 1"}
  - {row: ends, on: write.ok(count), do: log.append(count)}
  - {row: fails, on: write.error(_)}
  - {row: hangs, on: write.timeout()}
  - {row: ends_late, on: write.late_ok(count), do: log.append(count)}
  - {row: fails_late, on: write.late_error()}
properties:
  few: {always: len(write) <= begun and all(o.late == o.late for o in write), why: they are counted}
"""


@pytest.mark.parametrize("order", ["any", "fifo"])
def test_operations_end_time_out_and_end_late(machine: Elaborating, order: str) -> None:
    made = machine(OPERATION.replace("ORDER", order))
    found = walk(made)
    assert found.errors == set()
    assert found.events == {
        ("begins", "started"),
        ("ends", "completed"),
        ("fails", "completed"),
        ("hangs", "timed out"),
        ("ends_late", "completed"),
        ("fails_late", "completed"),
    }
    assert ("(1, 0)" in found.values("log")) == (order == "any")
    faults = {action.name: action.fault for action in made.actions}
    assert faults["hangs"] == faults["fails"] == "outage"
    assert faults["ends_late"] is None
    assert made.warnings == ()


def test_an_ignored_message_is_taken_and_an_impossible_one_an_invariant(
    machine: Elaborating,
) -> None:
    made = machine(
        "messages:\n  Press: {}\n  Kick: {}\nmachines:\n  light: {table: lamp}\nchannels:\n"
        "  button: {carries: [Press, Kick], order: bag, capacity: '1'}\nrows:\n"
        "  - {row: presses, send: Press()}\n"
        "  - {row: switches, on: Press(), in: {light: 'Off'}, to: {light: 'On'}, event: switch}\n"
        "unhandled:\n  - {message: Press, in: {light: ['On', Broken]}, is: ignored, why: lit}\n"
        "  - {message: Kick, in: {light: Broken}, is: impossible, why: nobody kicks}\n"
    )
    assert [action.name for action in made.actions] == ["presses", "switches", "ignore_Press"]
    assert [entry.name for entry in made.properties] == ["impossible_Kick"]
    parts = nodes(made.properties[0].condition)
    assert "light: Broken" in {excerpt(part.span) for part in parts if isinstance(part, Equal)}
    (taken,) = (action for action in made.actions if action.name == "ignore_Press")
    assert excerpt(taken.guard.span) == "light: ['On', Broken]"
    found = walk(made)
    assert len(found.states) == 4
    assert found.taken("ignore_Press")


def test_a_generated_row_is_called_by_the_message_whatever_the_key_is(machine: Elaborating) -> None:
    made = machine(
        "messages:\n  Press: {}\nchannels:\n"
        "  button: {carries: [Press], order: bag, capacity: '1', per: 0..1}\n"
        "definitions:\n  other(n): 1 - n\n"
        "rows:\n  - {row: presses, for: {n: 0..1}, do: 'send(button[n], Press())'}\n"
        "unhandled:\n  - {message: 'button[other(1)].Press()', is: ignored, why: off}\n"
    )
    assert [action.name for action in made.actions] == ["presses", "ignore_Press"]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("on: Ask(count)", "on: Kick(count)", "N206"),
        ("on: Ask(count)", "on: port.Ask(count)", "N206"),
        ("on: Ask(count)", "on: post.Answer(count)", "N206"),
        ("on: Ask(count)", "on: post[p].Ask(count)", "N208"),
        ("on: Ask(count)", "on: Ask(count, n)", "N208"),
        ("on: Ask(count)", "on: Ask(size=n)", "N208"),
        ("send: Ask(sent - 1)", "send: Ask()", "N208"),
        ("send: Ask(sent - 1)", "send: port, Ask(1)", "N206"),
        ("do: sent += 1", "do: reply(n, Stop())", "Y303"),
        ("do: sent += 1", "do: start(write())", "N206"),
        ("when: n < 3", "fault: outage", "N206"),
    ],
)
def test_what_is_wrong_says_so(wrong: Refusing, old: str, new: str, code: str) -> None:
    text = channel("order: fifo, capacity: '2'")
    assert old in text
    assert code in [error.code for error in wrong(text.replace(old, new))]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("carries", "channels:\n  c: {carries: [], order: bag, capacity: '1'}\n"),
        ("outcomes", "operations:\n  o: {capacity: '1', outcomes: {}}\n"),
        ("rows", "fair_groups:\n  g: {rows: [], fair: weak}\n"),
    ],
)
def test_what_has_to_be_something_is_not_empty(wrong: Refusing, key: str, text: str) -> None:
    (diagnostic,) = wrong(f"{text}{STEP}")
    assert (diagnostic.code, diagnostic.message) == ("T115", f"`{key}` is empty")


def test_of_a_constant_that_cannot_be_that_nothing_else_is_told(wrong: Refusing) -> None:
    found = wrong(
        "constants:\n  most: 2\n  twice: {value: most + most}\n"
        "  Who: {ids: [a, b]}\n  few: {type: set of Who, value: '{a}'}\n"
        + STEP
        + "instances:\n  default: {set: {most: true, Who: 3}}\n"
    )
    assert [one.message for one in found] == [
        "`most` cannot be true: it is an integer",
        "`Who` cannot be 3: its ids have names of their own",
    ]
