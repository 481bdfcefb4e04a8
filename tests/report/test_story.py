"""Goal: a run is told by parts, by its causes, by whoever is whom, and never told twice."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from machines import counter, lamp
from results import result_of

from checker import flow
from checker.report import markdown, page
from checker.report.causes import causes, concerns, reads_of
from checker.report.chart import chart
from checker.report.headline import fault_mark
from checker.report.lanes import Lanes, lanes
from checker.report.phases import LEAST, MOST, phases
from checker.report.result import Result
from checker.report.story import flattened, states_data, story_views
from checker.report.telling import grouped
from checker.report.travels import journey
from checker.report.variants import designs_read, mended
from checker.semantics.successor import Event
from checker.semantics.values import MapValue, RecordValue
from checker.trace.trace import Change, Move, Reason, Step, Trace, deciding

JOIN = RecordValue("Join", ())
ANSWER = RecordValue("Answer", ())


@cache
def checked(spec: str, instance: str) -> Result:
    request = flow.Request(spec=spec, instance=instance, workers=1)
    return flow.check(request, flow.Silent())


def step(number: int, row: str = "go", **keys: object) -> Step:
    base = result_of(lamp()).failures[0].steps[0]
    return replace(base, number=number, row=row, **{"changes": (), "moves": (), **keys})  # type: ignore[arg-type]


def trace_of(*steps: Step) -> Trace:
    return Trace(counter(), "x", "always", "", (step(0), *steps), (), None, ())


def test_a_party_that_crashed_is_another_lane_afterwards() -> None:
    anew = frozenset(("crash", "failover"))
    parties = Lanes({"wire": ("client", "server")}, {"client": ("c1",)}, frozenset(), anew=anew)
    sent = Event("sent", "wire[c1]", "wire", JOIN)
    got = Event("received", "wire[c1]", "wire", JOIN)
    trace = trace_of(
        step(1, "ask", actor="client", events=(sent,), bindings=(("c", "c1"),)),
        step(2, "client_crashes", actor="client", fault="crash", bindings=(("c", "c1"),)),
        step(3, "ask", actor="client", events=(sent,), bindings=(("c", "c1"),)),
        step(4, "server_moves", actor="server", fault="failover"),
        step(5, "take", actor="server", events=(got,)),
    )
    way = journey(trace, parties)
    assert list(way.actors.values()) == [
        "client c1",
        "client c1",
        "client c1, 2nd",
        "server",
        "server, 2nd",
    ]
    assert [(item.origin, item.target) for item in way.travels] == [
        ("client c1", "server, 2nd"),
        ("client c1, 2nd", "server, 2nd"),
    ]
    assert way.begins == {"client c1, 2nd": 2, "server, 2nd": 4}
    shown = chart(trace, parties)
    assert shown is not None
    first, second = shown.lanes[0], shown.lanes[1]
    assert (first.name, second.name) == ("client c1", "client c1, 2nd")
    assert first.top < second.top < first.bottom < second.bottom


def test_leaders_of_two_epochs_are_two_lanes() -> None:
    result = checked("share_state", "kafka_17796")
    way = journey(result.failures[0], lanes(result.document, result.machine))
    names = {name for item in way.travels for name in (item.origin, item.target)}
    assert {"leader 1", "leader 2", "coordinator, 2nd"} <= names


def test_who_asks_waits_until_the_answer_or_until_it_hangs_up() -> None:
    parties = Lanes(
        {"calls": ("client", "server")}, {}, frozenset({"Answer"}), frozenset({"calls"})
    )
    asked = Event("sent", "calls[c1]", "calls", JOIN)
    answered = Event("received", "calls[c1]", "calls", ANSWER)
    trace = trace_of(
        step(1, actor="client", events=(asked,)),
        step(2, actor="client", events=(answered,)),
        step(3, actor="client", events=(asked,)),
        step(4, actor="client"),
        step(5, actor="client", events=(asked,)),
    )
    free = RecordValue("Free", ())
    sent, hung_up = (
        RecordValue("Requested", (("open", is_open), ("request", JOIN)))
        for is_open in (True, False)
    )
    slots = [(free,), (sent,), (free,), (sent,), (hung_up,), (hung_up, sent)]
    states = [MapValue({"c1": MapValue(enumerate(held))}) for held in slots]
    calls = replace(trace.machine.variables[0], name="calls", origin="calls")
    trace = replace(
        trace,
        machine=replace(trace.machine, variables=(calls,)),
        steps=tuple(
            replace(item, state=(state,)) for item, state in zip(trace.steps, states, strict=True)
        ),
    )
    waits = journey(trace, parties).waits
    assert [(item.since, item.until) for item in waits] == [(1, 2), (3, 4), (5, None)]
    shown = chart(trace, parties)
    assert shown is not None
    assert shown.waits[-1].bottom == shown.bottom
    assert shown.waits[-1].text.endswith("still at the end")


def test_the_operation_that_ends_is_under_way_no_more() -> None:
    records = [RecordValue("append", (("to", place),)) for place in (1, 2)]
    started = [Event("started", f"append[{n}]", "append", it) for n, it in enumerate(records)]
    ended = Event("completed", "append[1]", "append", records[1])
    trace = trace_of(
        step(1, actor="server", events=(started[0],)),
        step(2, actor="server", events=(started[1],)),
        step(3, actor="server", events=(ended,)),
    )
    waits = journey(trace, Lanes({}, {}, frozenset())).waits
    assert [(item.what, item.until) for item in waits] == [
        ("append(to=1)", None),
        ("append(to=2)", 3),
    ]


def test_operations_have_a_lane_of_their_own() -> None:
    record = RecordValue("append", (("to", 1),))
    trace = trace_of(
        step(1, actor="server", events=(Event("started", "append", "append", record),)),
        step(2, actor="server"),
        step(3, actor="server", events=(Event("completed", "append", "append", record),)),
    )
    way = journey(trace, Lanes({}, {}, frozenset()))
    assert [(item.origin, item.target, item.fate) for item in way.travels] == [
        ("server", "append", "started"),
        ("append", "server", "completed"),
    ]
    assert [(item.lane, item.since, item.until) for item in way.waits] == [("append", 1, 3)]
    shown = chart(trace, Lanes({}, {}, frozenset()))
    assert shown is not None
    assert [line.name for line in shown.lanes] == ["server", "append"]
    assert "3 steps and 0 messages" in shown.described


def test_steps_that_matter_changed_what_failed_or_sent_what_such_a_step_received() -> None:
    way_of = Lanes({"wire": ("client", "server")}, {}, frozenset())
    sent = Event("sent", "wire", "wire", JOIN)
    got = Event("received", "wire", "wire", JOIN)
    trace = trace_of(
        step(1, actor="client", events=(sent,)),
        step(2, actor="client", changes=(Change("other", "0", "1"),)),
        step(3, actor="server", events=(got,), changes=(Change("table[m1]", None, "1"),)),
    )
    found = causes(trace, journey(trace, way_of), ("table",))
    assert found == {1: ("sent the Join of step 3",), 3: ("table[m1]: +1",)}
    assert causes(trace, journey(trace, way_of), ()) == {}


def test_what_nothing_changed_was_left_by_those_whose_row_might_have_changed_it() -> None:
    nobody = Lanes({}, {}, frozenset())
    left = trace_of(step(1, "increase"), step(2, "other"), step(3, "other"))
    assert causes(left, journey(left, nobody), ("n",)) == {1: ("left as it was: n",), 3: ()}
    raised = replace(left, steps=(*left.steps[:2], step(2, changes=(Change("n", "0", "1"),))))
    assert causes(raised, journey(raised, nobody), ("n",)) == {2: ("n: 0 → 1",)}


def test_of_a_false_or_every_part_decides() -> None:
    one = Reason("a", "false", "", 1, (), (), ("a",))
    two = Reason("b", "false", "", 1, (), (), ("b",))
    whole = Reason("a or b", "false", "", 0, (), ())
    true = Reason("c", "true", "", 1, (), (), ("c",))
    assert deciding((whole, one, two)) == (one, two)
    assert deciding(()) == ()
    assert deciding((whole, replace(true, given=True), two)) == (two,)
    # However deep: `all(n > 0 for n in log) or b`.
    every = Reason("all(n > 0 for n in log)", "false", "", 1, (("n", "0"),), ())
    inner = Reason("n > 0", "false", "", 2, (), (), ("log",))
    assert deciding((whole, every, inner, two)) == (inner, two)


def test_a_change_of_another_member_is_none_of_what_is_read() -> None:
    reads = ("client[c1].state", "log")
    assert concerns(Change("client[c1].state", "A", "B"), reads)
    assert not concerns(Change("client[c2].state", "A", "B"), reads)
    assert concerns(Change("log.members[m1]", None, "1"), reads)
    assert not concerns(Change("logs", "0", "1"), reads)
    assert concerns(Change("client[c2].state", "A", "B"), ("client.state",))


def test_what_decides_is_read_of_the_member_it_is_about() -> None:
    trace = checked("classic_group", "kafka_10284").failures[0]
    both = {"client[c1].member", "client.member[c1]"}  # as of a component of each, and as of a map
    assert set(reads_of([trace])) == {*both, "log.record"}
    told = [reason.text for reason in trace.reasons]
    assert len(told) == len(set(told)), "no part is told twice"
    assert ("client[c].member", "m2") in trace.reasons[-1].values


def test_long_runs_are_told_in_parts_that_have_every_step_once() -> None:
    steps = [step(number) for number in range(1, 101)]
    steps[40] = replace(steps[40], fault="crash", row="it_crashes")
    steps[70] = replace(steps[70], moves=(Move("group", "group", "Empty", "Stable"),))
    parts = phases(trace_of(*steps))
    assert [number for part in parts for number in range(part.first, part.last + 1)] == list(
        range(1, 101)
    )
    assert all(LEAST <= part.last - part.first + 1 <= MOST + LEAST for part in parts)
    assert {41, 71} <= {part.first for part in parts}
    assert any("it_crashes" in part.title for part in parts)
    assert any("group: Empty → Stable" in part.title for part in parts)
    assert [part.title for part in phases(trace_of(*steps[:3]))] == [""]


def test_a_part_of_a_chart_has_its_own_steps_and_what_passes_through() -> None:
    parties = Lanes({"wire": ("client", "server")}, {}, frozenset())
    sent = Event("sent", "wire", "wire", JOIN)
    got = Event("received", "wire", "wire", JOIN)
    quiet = [step(number, actor="client") for number in range(2, 6)]
    whole = chart(
        trace_of(
            step(1, actor="client", events=(sent,)),
            *quiet,
            step(6, actor="server", events=(got,)),
        ),
        parties,
    )
    assert whole is not None
    middle = whole.part(3, 4)
    assert [mark.number for mark in middle.marks] == [3, 4]
    assert [arrow.sent for arrow in middle.arrows] == [1]
    assert all(middle.top - 12 <= mark.y <= middle.bottom for mark in middle.marks)
    assert whole.part(1, 6).marks == whole.marks


def test_what_an_earlier_run_breaks_too_is_told_with_it() -> None:
    result = checked("share_delivery", "pr_23074")
    views = story_views(result, {})
    told = [answer.name for view in views for answer in view.answers]
    assert sorted(told) == sorted(trace.property_name for trace in result.failures)
    assert len(views) < len(told)
    for view in views:
        assert all(answer.decisive for answer in view.answers)


TWO_WAYS = """\
system: two_ways
about: Two rows that lead from one state to another.
variables:
  x: {type: "0..1", initial: "0"}
rows:
  - row: a
    when: x == 0
    do: x = 1
  - row: b
    when: x == 0
    do: x = 1
deadlock: false
properties:
  not_a: {step: not ran(a), why: it is a test.}
  not_b: {step: not ran(b), why: it is a test.}
  small: {always: x == 0, why: it is a test.}
"""


def test_a_row_is_not_blamed_for_what_another_one_breaks(tmp_path: Path) -> None:
    (tmp_path / "two_ways.yaml").write_text(TWO_WAYS)
    result = checked(str(tmp_path / "two_ways.yaml"), "default")
    groups = [[trace.property_name for trace in group] for group in grouped(result.failures)]
    assert groups == [["not_a", "small"], ["not_b"]]


def test_prose_says_which_designs_are_other_than_the_default() -> None:
    result = checked("classic_group", "kafka_10284")
    found = designs_read(result.document, result.machine)
    assert any("persist_static_replacement" in names for names in found.values())
    assert not any("member_id_required" in names for names in found.values()), "it is the default"
    assert not designs_read(result.document, replace(result.machine, constants=()))


def test_what_happens_so_often_is_not_called_a_fault() -> None:
    left = Change("budget.join", "2", "1")
    assert fault_mark(step(1, fault="join", changes=(left,))) == "join (1 left)"
    assert fault_mark(step(1, fault="loss")) == "loss"


def test_the_states_of_the_page_are_those_of_the_trace() -> None:
    result = checked("classic_group", "kafka_7824")
    trace = result.failures[0]
    data = json.loads(states_data(result.machine, trace.steps, [trace]))
    values: dict[str, str | None] = {}
    for taken, changed in zip(trace.steps, data["steps"], strict=True):
        values |= {data["places"][place]: text for place, text in changed}
        assert taken.state is not None
        here = {name: text for name, text in values.items() if text is not None}
        assert here == flattened(result.machine, taken.state)
    assert "PREPARING_REBALANCE" in data["machines"]["client.state"]
    assert data["reads"] == {"no_ghost_members": ["coordinator.members"]}
    assert "<" not in states_data(result.machine, trace.steps)


def test_markdown_says_why_it_happened_what_constants_mean_and_what_is_left_out() -> None:
    result = checked("classic_group", "kafka_12890")
    told = markdown.report(result, {})
    assert "Why it happened: 5 of 7 steps changed what the failed part reads" in told
    assert "* step 1, `client_poll_sends_join(c1)`: sent the JoinGroup of step 2\n" in told
    assert "* step 4, " not in told
    assert "`client[c1].process: running → hung`; from outside: hang\n" in told
    assert "| `pending_sync_timeout` | `false` | `true` | KAFKA-12890: members" in told
    assert "\n* Time is left out.\n" in told
    assert "A timer is armed or not" not in told
    alone = replace(result, document=replace(result.document, instances=()))
    assert "What differs from the specification's defaults:" in markdown.report(alone, {})
    whole = checked("two_phase", "default")
    assert "Left out of the model" not in markdown.report(whole, {})


def test_the_variant_that_holds_judges_what_is_broken_and_best_says_so() -> None:
    """A nearer instance does not judge it; of two as near one is said to be the fixed form."""
    result = checked("topic_deletion", "no_controller_is_elected")
    fixed = mended(result, ["a_controller_is_elected"])
    assert fixed is not None
    assert fixed.name == "preferred_election"
    assert {item.name for item in fixed.settings} == {"known_failures", "election_needs_record"}
    other = mended(result, ["a_topic_leaves_the_queue_for_good"])
    assert other is not None
    silent = replace(
        result.document,
        instances=tuple(replace(entry, about="") for entry in result.document.instances),
    )
    nearest = mended(replace(result, document=silent), ["a_topic_leaves_the_queue_for_good"])
    assert nearest is not None
    assert nearest.name == "election_of_2_8"


def test_a_fix_whose_constant_is_computed_by_default_is_told() -> None:
    """The release decides them by default; the instance sets them."""
    result = checked("controller", "kafka_7235")
    fixed = mended(result, ["only_requests_to_this_registration_count"])
    assert fixed is not None
    told = {item.name: (item.value, item.default) for item in fixed.settings}
    assert told["requests_carry_broker_epoch"] == ("false", "true")
    assert told["bounces_are_noticed"] == ("false", "true")
    assert all(item.chosen for item in fixed.settings if item.name in told)


def test_one_property_leads_the_page_and_reasons_are_told_once() -> None:
    text = page.page(checked("dining_philosophers", "unfair"), {})
    (title,) = re.findall(r"<h1>(.*?)</h1>", text)
    assert title.endswith(" philosopher_0_eats after 0 steps")
    assert "Also broken: philosopher_1_eats after 0 steps; " in text
    assert text.count('class="lead">Nobody starves.<') == 1


def test_what_breaks_is_the_first_note_of_its_step() -> None:
    result = checked("share_partition", "candidate_gap_moves_back")
    shown = chart(result.failures[0], lanes(result.document, result.machine))
    assert shown is not None
    assert [note.text for note in shown.marks[-1].notes] == [
        "breaks a_finished_window_moves",
        "cancelled: lock[1]",
    ]


def test_a_page_says_things_plainly_and_the_ticket_it_is_named_after_first() -> None:
    fetches = checked("share_partition", "kafka_19227")
    answer = story_views(fetches, {})[0].answers[0]
    assert answer.why.startswith("A consumer waits")
    fixed = mended(fetches, ["no_fetch_waits_in_vain"])
    assert fixed is not None
    names = [item.name for item in fixed.settings]
    assert names == ["write_wakes_fetches", "write_failures", "leader_changes"]
    denied = story_views(checked("offset_commit", "kafka_14201"), {})[0].answers[0]
    assert [told[1:] for told in denied.decisive] == [("history.simple_refused", "true")]
