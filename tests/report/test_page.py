"""Goal: the HTML page of a run says what happened, needs nothing else, and lets nothing in."""

import base64
import hashlib
import re
import shutil
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from machines import KNOWN, counter, lamp, overflow
from results import result_of

from checker import flow, library
from checker.report import files
from checker.report.chart import chart
from checker.report.headline import headline
from checker.report.hypertext import linked
from checker.report.lanes import Lanes, lanes
from checker.report.result import Result
from checker.report.story import story_views
from checker.report.travels import journey
from checker.report.variants import mended, settings
from checker.semantics.successor import Event
from checker.semantics.values import RecordValue
from checker.trace.trace import Step, Trace

VOID = {"meta", "link", "br", "input"}
SCRIPT = "<script>alert('x')</script>"


class Elements(HTMLParser):
    """Every element with its attributes and text; whether all are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def of(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [
            attributes
            for name, attributes in self.found
            if name == tag and all(attributes.get(key) == value for key, value in wanted.items())
        ]


@cache
def checked(spec: str, instance: str) -> Result:
    request = flow.Request(spec=spec, instance=instance, engine="reference")
    return flow.check(request, flow.Silent())


def ghosts() -> Result:
    return checked("classic_group", "kafka_7824")


def losses() -> Result:
    return checked("alternating_bit", "weak_channels")


def page_of(result: Result) -> str:
    return files.rendered(result, committed=False)["index.html"]


def words(text: str) -> str:
    elements = Elements(text)
    said = " ".join(data for tag, data in elements.texts if tag not in {"style", "script"})
    return " ".join(said.split())


def test_committed_reports_have_no_page() -> None:
    committed = files.rendered(ghosts(), committed=True)
    asked_for = files.rendered(ghosts(), committed=False)
    drawn = {name for name in asked_for if name.endswith(".dot")}
    assert drawn
    assert sorted(asked_for) == sorted([*committed, "index.html", *drawn])
    assert "index.html" not in "".join(committed.values())


def test_committed_reports_have_each_wrong_run_once_and_no_places_in_files() -> None:
    request = flow.Request(spec="share_delivery", instance="pr_23074", workers=1)
    result = flow.check(request, flow.Silent())
    committed = files.rendered(result, committed=True)
    traces = [name for name in committed if name.endswith(".itf.json")]
    asked_for = files.rendered(result, committed=False)
    assert traces == ["start_never_falls.itf.json"]
    assert len([name for name in asked_for if name.endswith(".itf.json")]) > len(result.failures)
    for text in committed.values():
        assert not re.search(r"\.ya?ml:\d", text)
    assert re.search(r"\.yaml:\d+:\d+", asked_for["start_never_falls.itf.json"])


def test_committed_reports_name_no_folder_of_this_machine() -> None:
    request = flow.Request(spec="consumer_rewrite_09", instance="hole_unknown_id", workers=1)
    result = flow.check(request, flow.Silent())
    assert result.machine.unlike
    here = str(Path(library.find("consumer_rewrite_09")).parents[1])
    for text in files.rendered(result, committed=True).values():
        assert here not in text


def test_a_comment_more_changes_no_committed_page(tmp_path: Path) -> None:
    source = Path(library.find("alternating_bit"))
    shutil.copytree(source.parent, tmp_path / "one")
    shutil.copytree(source.parent, tmp_path / "two")
    other = tmp_path / "two" / source.name
    other.write_text("# one line more\n\n" + other.read_text())
    made = []
    for folder in ("one", "two"):
        shutil.rmtree(tmp_path / "same", ignore_errors=True)
        (tmp_path / folder).rename(tmp_path / "same")
        request = flow.Request(
            str(tmp_path / "same" / source.name), "weak_channels", engine="reference"
        )
        made.append(files.rendered(flow.check(request, flow.Silent()), committed=True))
    assert made[0] == made[1]


def test_the_page_begins_with_the_answer() -> None:
    text = words(page_of(ghosts()))
    order = [
        "no_ghost_members after 5 steps",
        "A member that no client knows of blocks every rebalance",
        "What differs from kafka_7824_fixed , which holds",
        "member_id_required false here, true there KIP-394",
        "coordinator.members is {m1: 0, m2: 0}",
        "What happened",
        "1 client_poll_sends_join(c1)",
        "This breaks no_ghost_members.",
        "Check it again",
        "Coverage",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_what_differs_is_what_the_instance_sets_and_the_choices_come_first() -> None:
    differing = {
        item.name: (item.value, item.default) for item in settings(ghosts()) if item.differs
    }
    assert differing == {
        "member_id_required": ("false", "true"),
        "Client": ("1", "2"),
        "disconnects": ("1", "0"),
    }
    fixed = mended(ghosts(), ["no_ghost_members"])
    assert fixed is not None
    assert fixed.name == "kafka_7824_fixed"
    assert [(item.name, item.value, item.default) for item in fixed.settings] == [
        ("member_id_required", "false", "true")
    ]
    alone = replace(ghosts(), document=replace(ghosts().document, instances=()))
    assert mended(alone, ["no_ghost_members"]) is None
    assert "What differs from the specification's defaults" in words(page_of(alone))


def test_every_step_is_there_once_with_what_it_changed() -> None:
    elements = Elements(page_of(ghosts()))
    assert [item["data-step"] for item in elements.of("li") if "data-step" in item] == list(
        "012345"
    )
    marks = [item for item in elements.of("g") if "data-step" in item]
    assert [item["data-step"] for item in marks] == list("12345")
    assert [item["class"] for item in marks] == [
        "mark step",
        "mark fault",
        "mark step",
        "mark step",
        "mark breaks",
    ]
    text = words(page_of(ghosts()))
    assert text.count("Before JoinGroup v4 a first join makes a member at once") == 1
    assert "client[c1].state: UNJOINED → PREPARING_REBALANCE" in text


@pytest.mark.parametrize("made", [ghosts, losses])
def test_every_message_that_was_sent_has_an_arrow(made: object) -> None:
    result = made()  # type: ignore[operator]
    elements = Elements(page_of(result))
    sent = [
        str(step.number)
        for trace in result.failures
        for step in trace.steps
        for event in step.events
        if event.label == "sent"
    ]
    # The lines and, above them, their texts.
    drawn = [item["data-sent"] for item in elements.of("g") if "data-sent" in item]
    assert sent
    assert sorted(drawn) == sorted(sent * 2)


def test_losses_are_crossed_and_the_loop_is_marked() -> None:
    text = page_of(losses())
    elements = Elements(text)
    first = losses().failures[0]
    lost = sum(event.label == "lost" for step in first.steps for event in step.events)
    shown = chart(first, lanes(losses().document, losses().machine))
    assert shown is not None
    assert shown.loop is not None
    assert lost == 2 == sum(arrow.fate == "lost" for arrow in shown.arrows)
    assert len(elements.of("path", **{"class": "again"})) == len(losses().failures)
    assert "The loop begins here." in words(text)
    assert "breaks" not in [mark.kind for mark in shown.marks]


def test_a_late_message_is_slanted_and_later_steps_stand_lower() -> None:
    shown = chart(ghosts().failures[0], lanes(ghosts().document, ghosts().machine))
    assert shown is not None
    assert [line.name for line in shown.lanes] == ["client c1", "coordinator"]
    heights = [mark.y for mark in shown.marks]
    assert heights == sorted(set(heights))
    assert [(arrow.sent, arrow.ended) for arrow in shown.arrows] == [(1, 4), (3, 5)]
    for arrow in shown.arrows:
        _, y1, _, y2 = map(float, re.findall(r"-?[\d.]+", arrow.path))
        assert y2 > y1
    assert all(mark.label.x < shown.width and mark.y < shown.height for mark in shown.marks)


def test_a_step_shows_what_the_failed_part_reads_and_folds_the_rest() -> None:
    found = story_views(ghosts(), {})[0].parts[0].steps
    assert [[item.text for item in step.told] for step in found] == [
        [],
        [],
        [],
        [],
        ["coordinator.members[m1]: +0"],
        ["coordinator.members[m2]: +0"],
    ]
    assert all(
        sorted(map(str, (*step.told, *step.folded))) == sorted(map(str, step.details))
        for step in found
    )
    assert [step.fold for step in found[:2]] == ["source", "changes"]
    assert not re.search(r"<details[^>]*more[^>]*open", page_of(ghosts()))


def test_labels_say_first_what_tells_messages_of_a_kind_apart() -> None:
    long = "MEMBER_ID_REQUIRED"
    answers = [
        RecordValue("Answer", (("same", "x" * 20), ("more", 1), ("error", error)))
        for error in ("NONE", long)
    ]
    events = [Event("sent", "wires[c1]", "wires", answer) for answer in answers]
    first = replace(lamp_trace().steps[1], events=tuple(events), moves=(), illegal=())
    trace = replace(lamp_trace(), steps=(lamp_trace().steps[0], first))
    shown = chart(trace, Lanes({"wires": ("client", "server")}, {}, frozenset()))
    assert shown is not None
    assert [arrow.label.text for arrow in shown.arrows] == [
        "Answer(more=1, error=NONE, …) to server",
        f"Answer(error={long}, …) to server",
    ]
    assert f"same={'x' * 20}" in shown.arrows[0].label.whole
    assert [arrow.fate for arrow in shown.arrows] == ["under way", "under way"]


def test_brokers_that_talk_to_each_other_have_a_lane_each() -> None:
    asked = RecordValue("LookUp", (("to", "b1"), ("epoch", 1)))
    found = RecordValue("Found", (("end", 1),))

    def step(number: int, row: str, bound: tuple[str, ...], *events: tuple[str, object]) -> Step:
        return replace(
            lamp_trace().steps[0],
            number=number,
            row=row,
            bindings=tuple(zip("fg", bound, strict=False)),
            events=tuple(
                Event(label, "connection[b2]", "connection", message) for label, message in events
            ),
            actor="replica",
        )

    trace = replace(
        lamp_trace(),
        steps=(
            lamp_trace().steps[0],
            step(1, "ask", ("b2", "b1"), ("sent", asked)),
            step(2, "answer", ("b2", "b1"), ("received", asked), ("sent", found)),
            step(3, "hear", ("b2",), ("received", found)),
        ),
    )
    parties = Lanes({"connection": ("replica", "replica")}, {"replica": ("b1", "b2")}, frozenset())
    way = journey(trace, parties)
    assert way.actors == {1: "replica b2", 2: "replica b1", 3: "replica b2"}
    assert [(item.origin, item.target) for item in way.travels] == [
        ("replica b2", "replica b1"),
        ("replica b1", "replica b2"),
    ]


def lamp_trace() -> Trace:
    return result_of(lamp()).failures[0]


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_every_page_is_whole_and_the_same_twice(known: object) -> None:
    machine = known.machine  # type: ignore[attr-defined]
    text = page_of(result_of(machine))
    assert text == page_of(replace(result_of(machine), compile_seconds=9.0))
    elements = Elements(text)
    assert elements.open == []
    assert len(elements.of("h1")) == 1
    assert elements.of("html", lang="en")
    names = [item["id"] for _, item in elements.found if "id" in item]
    assert len(names) == len(set(names))


def test_a_run_that_holds_has_no_story() -> None:
    result = checked("classic_group", "kafka_7824_fixed")
    text = page_of(result)
    elements = Elements(text)
    assert elements.of("span", **{"class": "badge holds"})
    assert not elements.of("svg")
    assert f"{result.exploration.distinct:,} distinct states" in words(text)


def test_an_error_is_told_where_it_happened() -> None:
    text = words(page_of(result_of(overflow())))
    assert "E501: " in text
    assert "Here the evaluation ends with an error." in text


def test_an_error_comes_before_what_broke_until_then(tmp_path: Path) -> None:
    """Also where that was declared to break: nothing is known of what comes after an error."""
    file = tmp_path / "both.yaml"
    file.write_text(
        """
system: both
about: It counts too far, and something is wrong before.
variables: {x: {type: "0..2", initial: "0"}, y: {type: "0..2", initial: "0"}}
rows:
  - {row: up, do: x += 1}
  - {row: other, when: y < 2, do: y += 1}
deadlock: false
properties:
  few: {always: x + y < 3, why: it is a test.}
instances:
  default: {expect: {verdict: violated, property: few}}
"""
    )
    result = flow.check(flow.Request(str(file), engine="reference"), flow.Silent())
    said = "evaluation error in step 3; violated: few after 3 steps"
    assert headline(result.machine, result.exploration, result.verdict).startswith(
        f"inconclusive: {said}, 8 distinct states"
    )
    assert [trace.property_name for trace in result.failures] == ["error", "few"]
    text = files.rendered(result, committed=False)["index.html"]
    assert f"</span> {said}</h1>" in " ".join(text.split())


def test_what_is_stuck_from_the_beginning_is_no_step() -> None:
    text = words(page_of(result_of(replace(counter(), actions=()))))
    assert "Nothing but a fault can happen from the beginning." in text
    assert "After this step" not in text


@pytest.mark.parametrize("made", [ghosts, losses])
def test_the_page_loads_nothing_and_runs_only_its_own_script(made: object) -> None:
    text = page_of(made())  # type: ignore[operator]
    elements = Elements(text)
    loading = {"src", "srcset", "data", "action", "poster", "xlink:href", "style", "onclick"}
    assert [item for _, item in elements.found if loading & set(item)] == []
    assert not elements.of("link")
    assert "url(" not in text
    assert "@import" not in text
    for item in elements.of("a"):
        target = item["href"] or ""
        assert target.startswith(("#story-", "https://issues.apache.org/jira/browse/KAFKA-")) or (
            target.endswith((".itf.json", ".dot")) and "/" not in target
        )
    (policy,) = elements.of("meta", **{"http-equiv": "Content-Security-Policy"})
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in (policy["content"] or "")


def test_tables_and_charts_can_be_read_aloud() -> None:
    elements = Elements(page_of(ghosts()))
    assert all(item.get("scope") for item in elements.of("th"))
    (drawing,) = elements.of("svg", role="img")
    assert drawing["role"] == "img"
    names = {item.get("id") for _, item in elements.found}
    assert set((drawing["aria-labelledby"] or "").split()) <= names
    assert next(level for level, _ in elements.found if re.fullmatch("h[1-6]", level)) == "h1"


def test_nothing_that_a_specification_says_is_read_as_html() -> None:
    result = result_of(lamp())
    trace = result.failures[0]
    hostile = tuple(
        replace(step, row=SCRIPT, about=SCRIPT, source=SCRIPT, actor=SCRIPT, error=SCRIPT)
        for step in trace.steps
    )
    machine = replace(result.machine, name=SCRIPT, instance=SCRIPT, about=SCRIPT)
    text = page_of(
        replace(
            result,
            machine=machine,
            traces=(replace(trace, property_name=SCRIPT, why=SCRIPT, steps=hostile),),
        )
    )
    assert SCRIPT not in text
    assert text.count("<script>") == 1
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in text
    assert Elements(text).open == []


def test_properties_broken_by_the_same_run_share_its_story() -> None:
    result = result_of(lamp())
    trace = result.failures[0]
    shared = replace(trace, property_name="lit", kind="always", why="Light is wanted.")
    elements = Elements(text := page_of(replace(result, traces=(trace, shared))))
    assert len([item for item in elements.of("section") if "data-story" in item]) == 1
    assert len([item for item in elements.of("li") if "data-step" in item]) == len(trace.steps)
    assert "lit (violated, 3 steps)" in words(text)
    assert "Light is wanted." in words(text)
    other = replace(shared, steps=shared.steps[:2])
    apart = Elements(page_of(replace(result, traces=(trace, other))))
    assert len([item for item in apart.of("section") if "data-story" in item]) == 2


def test_tickets_are_links_and_what_is_around_them_is_escaped() -> None:
    assert linked("<b> KAFKA-12 & XKAFKA-1") == (
        '&lt;b&gt; <a href="https://issues.apache.org/jira/browse/KAFKA-12">KAFKA-12</a> '
        "&amp; XKAFKA-1"
    )
