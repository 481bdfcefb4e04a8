"""Goal: a chart fits a window of 960 pixels, and has no lane of somebody who does nothing."""

from dataclasses import replace
from itertools import pairwise

from test_page import lamp_trace

from checker.report.chart import GAP_MIN, LINE, Chart, chart
from checker.report.lanes import Lanes
from checker.semantics.successor import Event
from checker.semantics.values import RecordValue
from checker.trace.trace import Step

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
