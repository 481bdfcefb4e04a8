"""Goal: what a chart says of messages is what is in the channels, and who sent and took them."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from test_page import lamp_trace

from checker import flow
from checker.elaborate import elaborate
from checker.machine.machine import Machine
from checker.report.causes import causes, reads_of
from checker.report.chart import chart
from checker.report.lanes import Lanes, lane, lanes
from checker.report.story import flattened
from checker.report.travels import Journey, Travel, journey
from checker.semantics.successor import Successor
from checker.semantics.successors import initial_steps, successors
from checker.semantics.values import MapValue, RecordValue, format_value
from checker.table import read
from checker.trace.rebuild import make_step
from checker.trace.trace import Trace

ALL_KINDS = """system: all_kinds
about: all that travels, and all that takes it away.
constants:
  N: {ids: 2, prefix: n}
  C: {ids: 2, prefix: c}
messages:
  Ping: {}
  Pong: {}
channels:
  links: {carries: [Ping, Pong], order: fifo, per: [N, N], capacity: "2", when_full: drop,
          from: asker, to: replier, loses: unlimited, duplicates: unlimited, reorders: unlimited}
  inbox: {carries: [Ping], order: bag, per: N, capacity: "2", when_full: drop,
          from: asker, to: replier, duplicates: unlimited}
  board: {carries: [Ping], order: retained, from: asker, to: replier, loses: unlimited}
  network: {carries: [Ping, Pong], order: fifo, per: C, capacity: "2", when_full: block,
            from: client, to: server}
calls:
  line: {per: C, requests: [Ping], responses: [Pong], capacity: "2", from: client, to: server}
operations:
  write: {captures: {}, capacity: "2", order: any, outcomes: {ok: {}}}
components:
  asker: {per: N, variables: {a: {type: "0..1", initial: "0", observed: true}}}
  replier: {per: N, variables: {b: {type: "0..1", initial: "0", observed: true}}}
  client: {per: C, variables: {d: {type: "0..1", initial: "0", observed: true}}}
  server: {variables: {parked: {type: optional handle of line, initial: none}}}
faults:
  crash: {budget: unlimited, begins_anew: true}
initial:
  do: |
    send(inbox[n1], Ping())
    start(write())
    call(line[c1], Ping())
rows:
  - {row: pings, for: {p: N, q: N}, actor: asker,
     do: "asker[p].a = 1 - asker[p].a; send(links[p, q], Ping())"}
  - {row: hears, on: "links[p, q].Ping()", actor: replier,
     do: "replier[q].b = 1 - replier[q].b; send(links[p, q], Pong())"}
  - {row: is_told, on: "links[p, q].Pong()", actor: asker, do: "asker[p].a = 1"}
  - {row: puts, for: {p: N, q: N}, actor: asker,
     do: "asker[p].a = 1 - asker[p].a; send(inbox[q], Ping())"}
  - {row: takes, on: "inbox[q].Ping()", actor: replier, do: "replier[q].b = 1 - replier[q].b"}
  - {row: adds, for: {p: N, q: N}, actor: asker,
     do: "asker[p].a = 1 - asker[p].a; inbox[q].add(Ping())"}
  - {row: forgets, do: "inbox[n1].clear(); send(inbox[n2], Ping()); board.clear()"}
  - {row: posts, for: {p: N}, actor: asker, do: "send(board, Ping())"}
  - {row: reads, on: board.Ping(), for: {q: N}, actor: replier, do: "replier[q].b = 1"}
  - {row: asks, for: {c: C}, actor: client, do: "send(network[c], Ping())"}
  - {row: answers, on: "network[c].Ping()", actor: server, do: "send(network[c], Pong())"}
  - {row: gets, on: "network[c].Pong()", actor: client, do: "client[c].d = 1 - client[c].d"}
  - {row: dies, on: "network[c].Pong()", fault: crash, actor: client,
     do: "network[c].clear(); close(line[c])"}
  - {row: calls, for: {c: C}, actor: client, do: "call(line[c], Ping())"}
  - {row: parks, on: "line[c].Ping()", when: server.parked is none, actor: server,
     do: server.parked = call}
  - {row: wakes, when: server.parked is not none, actor: server,
     do: "reply(server.parked, Pong()); server.parked = none"}
  - {row: is_answered, on: "line[c].Pong()", actor: client, do: "client[c].d = 1 - client[c].d"}
  - {row: starts, actor: server, do: start(write())}
  - {row: ends, on: write.ok(), actor: server, do: pass}
deadlock: false
"""


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Machine, Lanes]:
    file = tmp_path_factory.mktemp("travels") / "all_kinds.yaml"
    file.write_text(ALL_KINDS.replace("; ", r"\n"))
    document = read(file)
    machine = elaborate(document, "default")
    return machine, lanes(document, machine)


def walk(machine: Machine, seed: int, length: int) -> Trace:
    """Return a random walk in which rows are chosen before their instances."""
    random = Random(seed)  # noqa: S311
    here: Successor = next(iter(initial_steps(machine)))
    steps = [make_step(machine, 0, here.state or (), here)]
    for number in range(1, length + 1):
        before = here.state or ()
        able: dict[str, list[Successor]] = {}
        for found in successors(machine, before):
            if found.state is not None:
                able.setdefault(found.action, []).append(found)
        here = random.choice(able[random.choice(list(able))])
        steps.append(make_step(machine, number, before, here))
    return Trace(machine, "", "sometimes", "", tuple(steps), (), None, ())


def messages(place: str, value: object) -> Counter[tuple[str, object]]:
    """Return what is on its way in a channel or in calls, whose slots are no places."""
    found: Counter[tuple[str, object]] = Counter()
    match value:
        case MapValue():
            for key, held in value.items():
                slot = isinstance(held, RecordValue)
                found += messages(place if slot else f"{place}[{format_value(key)}]", held)
        case RecordValue():
            fields = dict(value.fields)
            found.update(
                (place, fields[name]) for name in ("request", "response") if name in fields
            )
        case tuple() | frozenset():
            found.update((place, message) for message in value)
    return found


def drawn(way: Journey, number: int) -> Counter[tuple[str, object]]:
    """Return what a chart shows as under way after a step; what stays may have been read before."""
    return Counter(
        (item.channel, item.message)
        for item in way.travels
        if item.fate not in {"started", "completed", "timed out"}
        and item.channel != "board"
        and (item.sent or 0) <= number
        and (item.ended is None or item.ended > number)
    )


@pytest.mark.parametrize("seed", range(6))
def test_what_is_under_way_is_what_the_channels_hold(
    all_kinds: tuple[Machine, Lanes], seed: int
) -> None:
    machine, parties = all_kinds
    trace = walk(machine, seed, 50)
    way = journey(trace, parties)
    for step in trace.steps:
        there: Counter[tuple[str, object]] = Counter()
        for variable, value in zip(machine.variables, step.state or (), strict=True):
            if variable.origin in {"channel", "calls"} and variable.name != "board":
                there += messages(variable.name, value)
        assert drawn(way, step.number) == there, step
    for travel in way.travels:
        if travel.sent and travel.fate not in {"completed", "timed out"}:
            assert (travel.origin, travel.target) == ends(trace, travel), travel
    assert chart(trace, parties) is not None


def test_what_is_cleared_beside_a_sending_is_told(all_kinds: tuple[Machine, Lanes]) -> None:
    machine, _ = all_kinds
    (first,) = initial_steps(machine)
    before = first.state or ()
    (found,) = (item for item in successors(machine, before) if item.action == "forgets")
    step = make_step(machine, 1, before, found)
    assert [str(change) for change in step.changes] == ["inbox[n1]: -Ping()", "inbox[n2]: +Ping()"]
    sent = next(item for item in successors(machine, before) if item.action == "posts")
    assert make_step(machine, 1, before, sent).changes == ()


def ends(trace: Trace, travel: Travel) -> tuple[str, str]:
    """Return who sent a message and whom it was for, as the rows of the specification have it."""
    keys = travel.channel.partition("[")[2].rstrip("]").split("][")
    told = {name: str(value) for name, value in trace.steps[travel.sent or 0].bindings}
    row = trace.steps[travel.sent or 0].row
    match row:
        case "pings" | "puts" | "adds":
            return f"asker {told['p']}", f"replier {told['q']}"
        case "hears":
            return f"replier {keys[1]}", f"asker {keys[0]}"
        case "answers" | "wakes":
            return "server", lived(travel.target, f"client {keys[0]}")
        case "asks" | "calls":
            return lived(travel.origin, f"client {keys[0]}"), "server"
        case "duplicate_links" if isinstance(travel.message, RecordValue):
            pair = f"asker {keys[0]}", f"replier {keys[1]}"
            return pair if travel.message.name == "Ping" else pair[::-1]
    return travel.origin, travel.target


def lived(said: str, name: str) -> str:
    """Return the name of a party that may have died: in whichever life it was."""
    return said if said.partition(",")[0] == name else name


def test_a_number_is_a_party_only_where_it_is_called_like_one() -> None:
    parties = Lanes({}, {"state_leader": ("1", "2")}, frozenset())
    told = replace(
        lamp_trace().steps[0], bindings=(("state_epoch", 1), ("size", 1), ("leader_epoch", 2))
    )
    assert lane(parties, "state_leader", told, None) == "state_leader 2"
    assert lane(parties, "state_leader", replace(told, bindings=(("s", 1),)), None) == (
        "state_leader 1"
    )


def test_a_map_in_a_component_is_not_taken_for_a_component_of_each(tmp_path: Path) -> None:
    file = tmp_path / "seen.yaml"
    file.write_text(SEEN)
    (trace,) = flow.check(flow.Request(str(file), engine="reference"), flow.Silent()).failures
    changed = [str(change) for step in trace.steps for change in step.changes]
    assert changed == ["server.seen[c1]: false -> true", "client[c1].on: false -> true"]
    assert {*flattened(trace.machine, trace.states[0])} == {
        *("server.seen[c1]", "server.seen[c2]", "client[c1].on", "client[c2].on")
    }
    way = journey(trace, Lanes({}, {}, frozenset()))
    assert [*causes(trace, way, reads_of([trace]))] == [1, 2]


SEEN = """system: seen
about: what a server knows of clients.
constants:
  C: {ids: 2, prefix: c}
components:
  server:
    variables:
      seen: {type: total map of C to bool, initial: "{c: false for c in C}"}
  client: {per: C, variables: {on: {type: bool, initial: "false"}}}
rows:
  - {row: sees, for: {c: C}, when: "not server.seen[c]", do: "server.seen[c] = true"}
  - {row: goes_on, for: {c: C}, when: "server.seen[c]", do: "client[c].on = true"}
properties:
  p: {always: "not any(server.seen[c] and client[c].on for c in C)", why: so.}
"""
