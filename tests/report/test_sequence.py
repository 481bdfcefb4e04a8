"""Goal: the sequence diagram shows who sent what to whom, what was lost, what never arrived."""

from pathlib import Path

import pytest
from machines import counter

from checker.elaborate import elaborate
from checker.report.lanes import Lanes, lanes
from checker.report.sequence import escape, sequence
from checker.semantics.successor import Event
from checker.semantics.successors import initial_steps, successors
from checker.semantics.values import RecordValue
from checker.table import read
from checker.trace.rebuild import make_step
from checker.trace.trace import Change, Step, Trace

LANES = Lanes(
    ends={"requests": ("client", "coordinator"), "calls": ("client", "coordinator")},
    members={"client": ("c1", "c2")},
    responses=frozenset({"JoinResponse"}),
)
JOIN = RecordValue("JoinGroup", (("member", "m1"),))
ANSWER = RecordValue("JoinResponse", (("error", "NONE"),))


def step(number: int, row: str, *events: Event, actor: str | None = None, **keys: object) -> Step:
    return Step(
        number=number,
        row=row,
        bindings=keys.get("bindings", ()),  # type: ignore[arg-type]
        picks=(),
        state=(number,),
        changes=keys.get("changes", ()),  # type: ignore[arg-type]
        moves=(),
        events=events,
        illegal=(),
        actor=actor,
        fault=None,
        about="",
        source="",
        outside_bounds=False,
        error=None,
    )


def event(label: str, message: RecordValue, channel: str = "requests[c1]") -> Event:
    return Event(label, channel, channel.partition("[")[0], message)


def drawn(*steps: Step, parties: Lanes = LANES, begun: tuple[Event, ...] = ()) -> list[str]:
    steps = (step(0, "initial", *begun), *steps)
    trace = Trace(counter(), "x", "always", "", steps, (), None, ())
    return sequence(trace, parties).splitlines()


def test_a_message_is_drawn_where_it_arrives_and_says_when_it_was_sent() -> None:
    lines = drawn(
        step(1, "join", event("sent", JOIN)),
        step(2, "handle", event("received", JOIN)),
    )
    assert lines == [
        "sequenceDiagram",
        "  participant p1 as client c1",
        "  participant p2 as coordinator",
        "  Note over p1: 1 join<br/>sent JoinGroup(member=m1)",
        "  p1->>p2: JoinGroup(member=m1) (sent in 1)",
        "  Note over p2: 2 handle",
    ]


def test_losses_are_crosses_and_what_never_arrives_comes_last() -> None:
    lines = drawn(
        step(1, "join", event("sent", JOIN)),
        step(2, "join", event("sent", JOIN, "requests[c2]")),
        step(3, "lose_requests", event("lost", JOIN), actor="network"),
    )
    assert "  p1--xp3: JoinGroup(member=m1) lost (sent in 1)" in lines
    assert lines[-1] == "  p2--)p3: JoinGroup(member=m1) still under way (sent in 2)"


def test_of_equal_messages_the_one_of_the_initial_state_is_received_first() -> None:
    late = RecordValue("JoinGroup", (("member", "m2"),))
    lines = drawn(
        step(1, "duplicate", event("duplicated", JOIN)),
        step(2, "handle", event("received", JOIN)),
        step(3, "handle", event("received", JOIN)),
        begun=(event("sent", JOIN), event("sent", late)),
    )
    assert [line for line in lines if "->>" in line] == [
        "  p1->>p2: JoinGroup(member=m1)",
        "  p1->>p2: JoinGroup(member=m1) (sent in 1)",
    ]
    assert lines[-1] == "  p1--)p2: JoinGroup(member=m2) still under way (from the beginning)"


def test_what_has_no_room_is_what_was_just_sent() -> None:
    lines = drawn(
        step(1, "join", event("sent", JOIN)),
        step(2, "join", event("sent", JOIN), event("lost", JOIN)),
        step(3, "handle", event("received", JOIN)),
    )
    assert "  p1--xp2: JoinGroup(member=m1) lost (sent in 2)" in lines
    assert "  p1->>p2: JoinGroup(member=m1) (sent in 1)" in lines


QUEUE = """
system: queue
about: Of equal messages the second one is lost.
constants:
  C: {ids: [c1, c2]}
messages:
  M: {n: 0..1}
channels:
  line: {carries: [M], per: C, order: fifo, capacity: "3", when_full: error, loses: "1"}
variables:
  sent: {type: 0..3, initial: "0"}
rows:
  - row: sends
    for: {c: C}
    when: sent < 3
    do: |
      sent += 1
      send(line[c], M(n=0))
"""


@pytest.mark.parametrize("position", [0, 1])
def test_what_a_queue_loses_is_the_one_at_the_position_of_the_step(
    tmp_path: Path, position: int
) -> None:
    spec = tmp_path / "queue.yaml"
    spec.write_text(QUEUE)
    document = read(spec)
    machine = elaborate(document)
    (first,) = initial_steps(machine)
    assert first.state is not None
    state, steps = first.state, [make_step(machine, 0, first.state, first)]
    taken = [(("c", "c1"),), (("c", "c2"),), (("c", "c1"),), (("c", "c1"), ("position", position))]
    for number, bindings in enumerate(taken, 1):
        found = next(one for one in successors(machine, state) if one.bindings == bindings)
        steps.append(make_step(machine, number, state, found))
        assert found.state is not None
        state = found.state
    trace = Trace(machine, "x", "always", "", tuple(steps), (), None, ())
    lines = sequence(trace, lanes(document, machine)).splitlines()
    lost = [line.partition(": ")[2] for line in lines if "--x" in line]
    assert lost == [f"M(n=0) lost (sent in {(1, 3)[position]})"]


def test_no_budget_takes_part() -> None:
    spent = Change("budget.reorder_requests", "1", "0")
    lines = drawn(
        step(1, "reorder_requests", changes=(Change("requests[c1]", "1", None), spent)),
        step(2, "late", changes=(Change("plain", "1", "2"), spent)),
    )
    assert lines[1:3] == ["  participant p1 as coordinator", "  participant p2 as system"]


def test_answers_of_calls_travel_the_other_way() -> None:
    lines = drawn(
        step(1, "answer", event("sent", ANSWER, "calls[c2]"), actor="coordinator"),
        step(2, "hear", event("received", ANSWER, "calls[c2]"), actor="client"),
    )
    assert "  p1->>p2: JoinResponse(error=NONE) (sent in 1)" in lines
    assert "  participant p1 as coordinator" in lines
    assert "  participant p2 as client c2" in lines


NODES = Lanes(
    ends={"inbox": ("node", "node"), "links": ("node", "node")},
    members={"node": ("n1", "n2", "n3")},
    responses=frozenset(),
    bound={("go", "node"): "n"},
)


@pytest.mark.parametrize("channel", ["inbox[n2]", "inbox[n1]", "links[n1][n2]"])
def test_who_acts_sends_or_receives_whatever_key_a_channel_of_equals_has(channel: str) -> None:
    """A key may be who sends or who receives: only what the step changes says which."""
    ping = RecordValue("Ping", (("to", "n2"),))
    lines = drawn(
        step(1, "ping", event("sent", ping, channel), changes=(Change("node[n1].x", "0", "1"),)),
        step(
            2, "hear", event("received", ping, channel), changes=(Change("node[n2].x", "0", "1"),)
        ),
        parties=NODES,
    )
    assert lines[1:3] == ["  participant p1 as node n1", "  participant p2 as node n2"]
    assert lines[4:] == [
        "  p1->>p2: Ping(to=n2) (sent in 1)",
        "  Note over p2: 2 hear",
    ]


def test_a_pair_of_keys_is_who_sends_and_who_receives() -> None:
    ping = RecordValue("Ping", ())
    lines = drawn(
        step(1, "loses", event("lost", ping, "links[n3][n2]"), bindings=(("n", "n1"),)),
        parties=NODES,
    )
    assert "  p1--xp2: Ping() lost (sent in 1)" in lines
    assert lines[1:3] == ["  participant p1 as node n3", "  participant p2 as node n2"]


def test_a_timeout_is_a_note_over_its_actor() -> None:
    lines = drawn(step(1, "session_timeout", actor="coordinator", bindings=(("member", "m1"),)))
    assert lines[-1] == "  Note over p1: 1 session_timeout(m1)"


def test_nothing_in_a_value_is_syntax() -> None:
    assert escape("a; b # c < d > 50%") == "a#59; b #35; c #lt; d #gt; 50#37;"
