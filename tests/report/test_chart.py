"""Goal: a chart fits a window of 960 pixels, and has no lane of somebody who does nothing."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from test_page import lamp_trace

from checker import flow
from checker.report.chart import GAP_MIN, LINE, Chart, chart
from checker.report.lanes import Lanes, lanes
from checker.report.travels import journey
from checker.semantics.successor import Event
from checker.semantics.values import RecordValue
from checker.trace.trace import Step

CALLS = """system: calls
about: two calls of one client, answered the other way round.
constants:
  C: {ids: 1, prefix: c}
messages:
  Ask: {n: "1..2"}
  Answer: {n: "1..2"}
calls:
  link:
    per: C
    requests: [Ask]
    responses: [Answer]
    capacity: "2"
    from: client
    to: server
components:
  client:
    per: C
    variables:
      asked: {type: "0..2", initial: "0"}
      hung_up: {type: bool, initial: "false"}
      got: {type: "sequence of 1..2 up to 2", initial: "empty"}
  server:
    variables:
      parked: {type: optional handle of link, initial: none}
rows:
  - row: client_asks
    for: {c: C}
    when: client[c].asked < 2
    do: |
      client[c].asked += 1
      call(link[c], Ask(n=client[c].asked))
  - row: server_parks
    on: link[c].Ask(n)
    when: n == 1
    do: server.parked = call
  - row: server_answers
    on: link[c].Ask(n)
    when: n == 2
    do: reply(call, Answer(n=2))
  - row: server_wakes
    when: server.parked is not none and len(client[c1].got) == 1
    do: |
      reply(server.parked, Answer(n=1))
      server.parked = none
  - row: client_hangs_up
    for: {c: C}
    when: len(client[c].got) == 1
    do: |
      client[c].hung_up = true
      close(link[c])
  - row: client_gets
    on: link[c].Answer(n)
    do: client[c].got.append(n)
properties:
  p:
    always: not (client[c1].got == [2] and client[c1].hung_up and server.parked is not none)
    why: so.
deadlock: false
"""

WIRES = Lanes({"wires": ("client", "server")}, {}, frozenset())
ASKED = RecordValue("Question", (("about", 1),))


def step(number: int, actor: str, *events: tuple[str, object], fault: str | None = None) -> Step:
    return replace(
        lamp_trace().steps[0],
        number=number,
        row="a_row_with_a_rather_long_name",
        actor=actor,
        fault=fault,
        events=tuple(Event(label, "wires", "wires", message) for label, message in events),
    )


def chart_of(*steps: Step, parties: Lanes = WIRES) -> Chart:
    trace = replace(lamp_trace(), steps=(lamp_trace().steps[0], *steps))
    shown = chart(trace, parties)
    assert shown is not None
    return shown


def test_what_nobody_receives_is_the_beginning_of_an_arrow_and_needs_no_lane() -> None:
    shown = chart_of(step(1, "client", ("sent", ASKED)), step(2, "client"))
    assert [line.name for line in shown.lanes] == ["client"]
    (arrow,) = shown.arrows
    assert arrow.label.text.endswith(" to server")
    assert arrow.bottom < shown.marks[1].y
    received = chart_of(step(1, "client", ("sent", ASKED)), step(2, "server", ("received", ASKED)))
    assert [line.name for line in received.lanes] == ["client", "server"]
    assert not received.arrows[0].label.text.endswith(" to server")


def test_an_error_in_a_property_is_no_property_that_breaks() -> None:
    first = lamp_trace().steps[0]
    trace = replace(lamp_trace(), kind="error", steps=(first, step(1, "client")), loop=None)
    shown = chart(trace, WIRES)
    assert shown is not None
    assert shown.marks[0].notes[0].whole == "the evaluation ends with an error"


def test_many_lanes_with_long_names_fit_and_have_their_heads_apart() -> None:
    shown = chart_of(*(step(number, f"broker {number}") for number in range(1, 7)))
    assert shown.width <= 960
    places = [line.x for line in shown.lanes]
    assert all(after - before > GAP_MIN - 1 for before, after in pairwise(places))
    few = chart_of(*(step(number, f"broker {number}") for number in range(1, 3)))
    assert few.marks[0].label.text == few.marks[0].label.whole  # where there is room it is used
    assert few.lanes[1].x - few.lanes[0].x > GAP_MIN


def test_who_has_died_waits_no_more() -> None:
    parties = replace(WIRES, calls=frozenset(("wires",)), anew=frozenset(("crash",)))
    shown = chart_of(
        step(1, "client", ("sent", ASKED)),
        step(2, "client", fault="crash"),
        step(3, "server", ("received", ASKED)),
        parties=parties,
    )
    (wait,) = shown.waits
    assert wait.bottom == shown.marks[1].y
    assert not wait.text.endswith("at the end")


def test_what_was_sent_at_the_beginning_is_written_below_the_heads() -> None:
    other = RecordValue("Question", (("about", 2),))
    begun = step(0, "", ("sent", ASKED), ("sent", other))
    trace = replace(lamp_trace(), steps=(begun, step(1, "server", ("received", other))))
    shown = chart(trace, WIRES)
    assert shown is not None
    first, second = sorted(arrow.label.y for arrow in shown.arrows)
    assert shown.top <= first <= second - LINE
    assert second < shown.marks[0].y


def test_who_waits_for_several_answers_waits_for_each_until_it_comes_or_nobody_wants_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "calls.yaml").write_text(CALLS)
    result = flow.check(flow.Request(str(tmp_path / "calls.yaml")), flow.Silent())
    (trace,) = result.failures
    rows = {step.row: step.number for step in trace.steps if step.row != "client_asks"}
    way = journey(trace, lanes(result.document, result.machine))
    assert [(wait.what, wait.until) for wait in way.waits] == [
        ("Ask(n=1)", rows["client_hangs_up"]),
        ("Ask(n=2)", rows["client_gets"]),
    ]
