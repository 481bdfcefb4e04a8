"""Goal: endless logs, time, requests that overlap and several clocks are judged as they are meant.

Each test has a log that is explained and one that differs from it in one thing and is not.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from validating import validated

from checker.cli.main import run as command
from checker.conformance.log import Log, sized
from checker.conformance.mapping import read_mapping
from checker.conformance.paths import NOTHING, parsed
from checker.errors import EvaluationError, SpecificationError, UsageError
from checker.verdict import exits

PAGE = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")

SPEC = """\
system: leases
about: One lease that clients acquire, release and lose.
constants:
  Client: {ids: 3, symmetric: true}
variables:
  holder: {type: optional Client, initial: none}
  epoch: {type: "0..9", initial: "0"}
rows:
  - row: acquire
    for: {client: Client}
    when: holder is none
    do: |
      holder = client
      epoch += 1
  - row: renew
    for: {client: Client}
    when: holder == client
    do: pass
  - row: release
    for: {client: Client}
    when: holder == client
    do: holder = none
  - row: expire
    for: {client: Client}
    when: holder == client
    do: holder = none
properties:
  there_is_a_lease:
    always: epoch >= 0
    why: nothing is asked of it here.
"""

MAPPING = """\
conformance: leases
rows:
  acquire:
    call: acquire
    with: {client: client}
    answer: next(epoch)
  renew:
    call: renew
    with: {client: client}
  release:
    call: release
    with: {client: client}
  expire: {fire: expire}
hidden: [expire]
observe: {holder: holder, epoch: epoch}
"""

WINDOW = """\
windows:
  epoch:
    values: [epoch, answer]
    when: epoch > 1
    do: epoch -= 1
"""

TIMERS = """\
time: {unit: ms}
timers:
  lease:
    armed: "{c for c in Client if holder == c}"
    sets: {renew: client}
    fires: {expire: client}
    least: 900
    greatest: 1100
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leases.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)


def judge(
    lines: list[dict[str, Any]], mapping: str, *options: str, files: int = 1
) -> dict[str, Any]:
    """Return the verdict on lines, spread over files by their `stream` where there are several."""
    Path("conformance.yaml").write_text(mapping)
    logs = [Path(f"run{n}.jsonl") for n in range(files)]
    for n, log in enumerate(logs):
        own = [line for line in lines if files == 1 or line["stream"] == n]
        log.write_text("".join(f"{json.dumps(line)}\n" for line in own))
    return validated("leases.yaml", *map(str, logs), *options)


def verdict(lines: list[dict[str, Any]], mapping: str, *options: str, files: int = 1) -> str:
    return str(judge(lines, mapping, *options, files=files)["verdict"])


def call(name: str, client: str, **more: Any) -> dict[str, Any]:
    return {"do": "call", "name": name, "with": {"client": client}, **more}


def turns(count: int) -> list[dict[str, Any]]:
    """Each client is a new one, and each epoch."""
    found: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        client = f"consumer-{number}"
        found.append(call("acquire", client, answer=number + 40, fields={"epoch": number + 40}))
        found.append(call("release", client, fields={"holder": None}))
    return found


def test_ids_are_released_and_numbers_slide_in_a_log_without_an_end() -> None:
    lines = turns(200)
    found = judge(lines, MAPPING + WINDOW)
    assert (found["verdict"], found["events"]) == ("explained", 400)
    assert found["states_at_most"] < 10
    assert judge(lines, MAPPING)["line"] == 1, "without a window the numbers are the model's"


@pytest.mark.parametrize("seed", range(8))
def test_a_number_or_a_name_changed_in_it_is_noticed(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    lines = turns(60)
    place = chance.randrange(2, len(lines))
    if seed % 2:
        lines[place]["with"] = {"client": "consumer-1"}
        if lines[place]["name"] == "acquire":
            lines[place]["fields"] = {"holder": "consumer-2"}
    else:
        place -= place % 2
        lines[place] |= {"answer": lines[place]["answer"] + chance.choice([-1, 1])}
    found = judge(lines, MAPPING + WINDOW)
    assert (found["verdict"], found["line"]) == ("diverges", place + 1)


def test_an_id_that_the_state_holds_is_not_released() -> None:
    begun = [call("acquire", "a"), call("renew", "a")]
    assert verdict([*begun, call("renew", "a")], MAPPING.replace("hidden: [expire]\n", "")) == (
        "explained"
    )
    assert verdict([*begun, call("renew", "b")], MAPPING.replace("hidden: [expire]\n", "")) == (
        "diverges"
    )


def test_a_window_whose_numbers_cannot_be_less_is_an_error_with_its_place() -> None:
    wrong = MAPPING + WINDOW.replace("epoch > 1", "epoch >= 0")
    with pytest.raises(EvaluationError) as caught:
        verdict(turns(1), wrong)
    assert caught.value.span.source.name.endswith("conformance.yaml")


def test_what_does_not_fit_is_told_with_its_place() -> None:
    for wrong, told in (
        (WINDOW.replace("epoch -= 1", "epocs -= 1"), "epocs"),
        (TIMERS.replace("expire: client", "expires: client"), "expires"),
        (TIMERS.replace('"{c for c in Client if holder == c}"', "epoch"), "neither a set"),
        (TIMERS.replace("900", "9000"), "less than the least"),
        ("unlimited: [crash]\n", "no fault is called"),
        ("variants:\n  older: {Clint: 3}\n", "no constant is called `Clint`"),
        ("variants:\n  older: {Client: many}\n", "`Client` cannot be many: it is an integer"),
        ("constants: {Clients: 1}\n", "no constant is called `Clients`"),
        ("constants: {Client: true}\n", "`Client` cannot be true: it is an integer"),
        ("sizes: {Clients: client}\n", "no constant is called `Clients`"),
        ("variants:\n  older: 7\n", "`older` needs a mapping"),
    ):
        with pytest.raises(SpecificationError) as caught:
            verdict(turns(1), MAPPING + wrong)
        (diagnostic,) = caught.value.diagnostics
        assert told in diagnostic.message
        assert diagnostic.span.source.name.endswith("conformance.yaml")


@pytest.mark.parametrize(
    "instance",
    [
        "properties: [there_is_a_lease]",
        "without: [there_is_a_lease]",
        "expect: {verdict: violated, property: there_is_a_lease}",
    ],
)
def test_a_fault_without_a_budget_in_an_instance_that_names_properties(instance: str) -> None:
    fault = "faults:\n  crash: {budget: '1'}\n"
    text = SPEC.replace("  - row: expire\n", "  - row: expire\n    fault: crash\n")
    text = text.replace("rows:\n", f"{fault}rows:\n", 1)
    Path("leases.yaml").write_text(f"{text}instances:\n  default: {{{instance}}}\n")
    assert verdict(turns(1), MAPPING + WINDOW + "unlimited: [crash]\n") == "explained"


# ----------------------------------------------------------------------------------------- time


def taken_over(after: int) -> list[dict[str, Any]]:
    """The lease changes hands, and nobody has seen why."""
    return [call("acquire", "a", at=0), call("acquire", "b", at=after)]


@pytest.mark.parametrize(("after", "expected"), [(899, "diverges"), (900, "explained")])
def test_a_doubled_owner_is_not_explained_by_an_expiry_before_its_time(
    after: int, expected: str
) -> None:
    assert verdict(taken_over(after), MAPPING) == "explained", "without timers it always is"
    found = judge(taken_over(after), MAPPING + TIMERS)
    assert found["verdict"] == expected
    if expected == "diverges":
        assert found["line"] == 2
        (early,) = found["too_early"]
        assert (early["row"], early["timer"], early["milliseconds"]) == ("expire", "lease", 1)


def test_a_timer_that_is_set_anew_counts_from_then() -> None:
    renewed = [call("acquire", "a", at=0), call("renew", "a", at=500)]
    assert verdict([*renewed, call("acquire", "b", at=1000)], MAPPING + TIMERS) == "diverges"
    assert verdict([*renewed, call("acquire", "b", at=1400)], MAPPING + TIMERS) == "explained"


@pytest.mark.parametrize(("after", "expected"), [(1100, "explained"), (1101, "diverges")])
def test_a_timer_fires_before_its_greatest_time(after: int, expected: str) -> None:
    lines = [call("acquire", "a", at=0), call("renew", "a", at=after)]
    assert verdict(lines, MAPPING + TIMERS) == expected


def test_two_expiries_need_twice_the_time() -> None:
    first = call("acquire", "a", at=0, answer=1)
    lines = [first, {"fields": {"epoch": 3, "holder": None}, "at": 2700}]
    hidden = MAPPING.replace("[expire]", "[expire, acquire]") + TIMERS
    assert verdict(lines, hidden) == "explained"
    assert verdict([lines[0], lines[1] | {"at": 2699}], hidden) == "diverges"


def test_where_timers_are_each_line_has_a_time() -> None:
    with pytest.raises(UsageError, match="line 1 has no time"):
        verdict([call("acquire", "a")], MAPPING + TIMERS)


def test_units_of_time() -> None:
    lines = [line | {"at": line["at"] * 1000} for line in taken_over(899)]
    assert verdict(lines, MAPPING + TIMERS) == "explained"
    assert verdict(lines, MAPPING + TIMERS.replace("unit: ms", "unit: us")) == "diverges"


# ------------------------------------------------------------------------------------- intervals


def begins(name: str, client: str, identity: int, **more: Any) -> dict[str, Any]:
    return call(name, client, id=identity, **more)


SEEN = MAPPING.replace("hidden: [expire]\n", "")


def test_a_request_is_done_at_one_point_between_its_two_lines() -> None:
    overlapping = [
        begins("acquire", "a", 1),
        begins("acquire", "b", 2),
        {"id": 2, "answer": 1},
        begins("release", "b", 3),
        {"id": 3},
        {"id": 1, "answer": 2},
    ]
    assert verdict(overlapping, SEEN) == "explained"
    early = [*overlapping[:3], {"id": 1, "answer": 2}, *overlapping[3:5]]
    found = judge(early, SEEN)
    assert (found["verdict"], found["line"]) == ("diverges", 4)
    assert found["nearest"]["guard"] == "holder is none"


def test_an_answer_that_no_order_gives_is_not_explained() -> None:
    lines = [begins("acquire", "a", 1), {"id": 1, "answer": 2}]
    found = judge(lines, SEEN)
    assert (found["verdict"], found["line"]) == ("diverges", 2)
    assert found["nearest"]["items"] == [{"name": "answer", "expected": 1, "observed": 2}]
    assert verdict([{"id": 7, "answer": 1}], SEEN) == "diverges", "nobody asked"


def test_a_lost_request_was_done_or_not_or_will_be() -> None:
    lost = [begins("acquire", "a", 1), {"id": 1, "lost": True}]
    assert verdict([*lost, call("acquire", "b")], SEEN) == "explained"
    assert verdict([*lost, call("release", "a")], SEEN) == "explained"
    late = [*lost, call("acquire", "b"), call("release", "b"), call("release", "a")]
    assert verdict(late, SEEN) == "explained"
    assert verdict([*late, call("release", "a")], SEEN) == "diverges", "it was asked once"


def test_a_request_under_way_keeps_its_name() -> None:
    lines = [begins("acquire", "a", 1), {"id": 1}, begins("release", "a", 2), {"id": 2}]
    assert verdict(lines * 3, SEEN) == "explained"


# ----------------------------------------------------------------------------- several observers

CLOCKS = SEEN + "time: {unit: ms, error: 5}\n"


def observed(*entries: tuple[int, str, str, int]) -> list[dict[str, Any]]:
    return [call(name, client, at=at, stream=who) for who, name, client, at in entries]


def test_lines_of_two_clocks_are_taken_in_every_order_that_they_leave_open() -> None:
    crossed = observed((0, "acquire", "b", 100), (1, "acquire", "a", 101), (1, "release", "a", 102))
    assert verdict(crossed, SEEN, files=2) == "diverges", "exact clocks leave one order"
    found = judge(crossed, CLOCKS, files=2)
    assert (found["verdict"], found["events"]) == ("explained", 3)
    apart = observed((0, "acquire", "b", 100), (1, "acquire", "a", 111), (1, "release", "a", 112))
    assert verdict(apart, CLOCKS, files=2) == "diverges", "more than both clocks can be off"
    single = [line | {"stream": 0} for line in crossed]
    assert verdict(single, CLOCKS) == "diverges", "lines of one observer are in order"


def test_a_clock_of_its_own_error() -> None:
    lines = observed((0, "acquire", "b", 100), (1, "acquire", "a", 103), (1, "release", "a", 104))
    named = [line | {"stream": ("exact", "late")[line["stream"] == 0]} for line in lines]
    errors = SEEN + "time: {unit: ms, errors: {late: 4}}\n"
    assert verdict(named, errors) == "explained"
    assert verdict(named, errors.replace("4", "2")) == "diverges"


def test_beyond_a_number_of_lines_within_the_error_nothing_is_decided() -> None:
    lines = observed(*((n % 2, "acquire", f"c{n}", n) for n in range(100)))
    wide = CLOCKS.replace("error: 5", "error: 500")
    found = judge(lines, wide, "--limit-lines", "20", files=2)
    assert found["verdict"] == "inconclusive"
    assert "more than 20 lines" in found["why"]


@pytest.mark.parametrize("seed", range(10))
def test_runs_seen_by_two_clocks_are_explained_and_falsified_ones_are_not(seed: int) -> None:
    """Two observers record a random run, one of whose clocks is off by up to five milliseconds."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    lines: list[dict[str, Any]] = []
    at, off = 0, [0, chance.randint(-5, 5)]
    for number in range(30):
        client, who = f"c{chance.randint(1, 3)}", chance.randint(0, 1)
        for name in ("acquire", "release"):
            at += chance.randint(1, 4)
            answer = {"answer": number + 1} if name == "acquire" else {}
            lines.append(call(name, client, at=at + off[who], stream=who, **answer))
    mapping = CLOCKS + WINDOW
    assert verdict(lines, mapping, files=2) == "explained"
    place = 2 * chance.randint(5, 25)
    lines[place]["answer"] += 17
    found = judge(lines, mapping, files=2)
    assert found["verdict"] == "diverges"
    assert 0 <= place - found["events"] <= 12


def test_a_line_that_goes_back_in_its_own_time_is_not_explained() -> None:
    lines = observed((0, "acquire", "a", 100), (0, "release", "a", 50))
    assert verdict(lines, SEEN + TIMERS) == "diverges"


# ------------------------------------------------------ midway, late, assumed, constants


def test_a_log_that_begins_midway() -> None:
    lines = [call("release", "a"), call("acquire", "b", answer=3)]
    assert verdict(lines, SEEN) == "diverges"
    assert verdict(lines, SEEN, "--midway") == "explained"
    wrong = [lines[0], call("acquire", "b", answer=0)]
    assert verdict(wrong, SEEN, "--midway") == "diverges", "all states were looked at"


def test_ids_that_are_said_to_be_alike_are_named_in_one_way() -> None:
    Path("leases.yaml").write_text(SPEC.replace(", symmetric: true", ""))
    lines = [call("acquire", "a"), call("release", "a"), call("acquire", "b", answer=2)]
    told_apart, alike = judge(lines, SEEN), judge(lines, SEEN + "alike: [Client]\n")
    assert told_apart["verdict"] == alike["verdict"] == "explained"
    assert alike["states_at_most"] < told_apart["states_at_most"]
    with pytest.raises(SpecificationError) as caught:
        judge(lines, SEEN + "alike: [Cliient]\n")
    assert [one.message for one in caught.value.diagnostics] == ["no ids are called `Cliient`"]


def test_what_is_assumed_of_a_recorded_run() -> None:
    lines = [call("acquire", "a"), call("release", "a"), call("acquire", "a", answer=2)]
    assert verdict(lines, SEEN) == "explained"
    assert verdict(lines, SEEN + "assume: [epoch < 3]\n") == "explained"
    wrong = [*lines[:2], call("acquire", "a", answer=3)]
    assert verdict(wrong, SEEN + "assume: [epoch < 2]\n") == "diverges", "whatever is assumed"


def test_what_is_assumed_and_contradicted_by_the_log_is_named() -> None:
    lines = [call("acquire", "a"), call("release", "a"), call("acquire", "a", answer=2)]
    found = judge(lines, SEEN + "assume:\n  - holder == holder\n  - epoch < 2\n")
    assert (found["verdict"], found["line"]) == ("inconclusive", 3)
    place = (SEEN + "assume:\n  - holder == holder\n").count("\n") + 1
    assert f"the condition at conformance.yaml:{place}:5 is false after line 3" in found["why"]
    late = judge(
        [lines[0], {"fields": {"holder": None}}, lines[2]],
        MAPPING + "late: [expire]\nassume: [epoch < 2]\n",
    )
    assert late["verdict"] == "inconclusive", "neither word alone leaves it out"


def test_what_is_assumed_and_contradicted_by_the_specification_is_refused() -> None:
    with pytest.raises(SpecificationError) as caught:
        verdict(turns(1), SEEN + "assume: [holder == holder, epoch > 0]\n")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "R601"
    assert diagnostic.span.source.name.endswith("conformance.yaml")


def test_a_bound_of_the_instance_does_not_make_a_log_diverge() -> None:
    Path("leases.yaml").write_text(SPEC.replace("rows:\n", "bounds:\n  - epoch <= 2\nrows:\n"))
    lines = [call(*one) for n in range(3) for one in (("acquire", f"c{n}"), ("release", f"c{n}"))]
    found = judge(lines, SEEN)
    assert found["verdict"] == "inconclusive"
    assert "the condition at leases.yaml:" in found["why"]
    assert "is false after line 5" in found["why"]


def test_constants_of_the_instance_that_explains() -> None:
    held = [call("acquire", f"c{n}", id=n) for n in range(3)]
    more = [*held, {"id": 0}, {"fields": {"epoch": 1}}]
    assert verdict(more, SEEN + "constants: {Client: 1}\n") == "explained"
    two = [call("acquire", "a", id=1), {"id": 1}, call("renew", "a"), call("renew", "b")]
    assert verdict(two, SEEN + "constants: {Client: 1}\n") == "diverges"


def test_late_rows_wait_for_a_line_with_their_ids() -> None:
    lines = [call("acquire", "a"), {"fields": {"holder": None}}]
    assert verdict(lines, MAPPING) == "explained"
    late = MAPPING + "late: [expire]\n"
    found = judge(lines, late)
    assert found["verdict"] == "inconclusive", "no line names who lost it, but somebody may have"
    assert "`expire` at conformance.yaml:" in found["why"]
    again = [lines[0], call("acquire", "a", answer=2)]
    assert verdict(again, late) == "explained"
    other = [lines[0], call("acquire", "b", answer=2)]
    assert verdict(other, late) == "inconclusive"
    wrong = [lines[0], call("acquire", "b", answer=3)]
    assert verdict(wrong, late) == "diverges", "nothing explains it with the row at any time"


def test_soon_rows_are_taken_before_anything_else() -> None:
    soon = MAPPING.replace("hidden: [expire]", "soon: [expire]")
    taken = [call("acquire", "a"), call("acquire", "b", answer=2)]
    found = judge(taken, soon)
    assert (found["verdict"], found["states_at_most"]) == ("explained", 2)
    assert judge([*taken, {"fields": {"holder": None}}], soon)["verdict"] == "explained"
    kept = judge([call("acquire", "a"), call("renew", "a")], soon, "--run", "why.jsonl")
    assert kept["verdict"] == "explained", "it is a run, with a lease that does not expire yet"
    steps = [json.loads(line)["line"] for line in Path("why.jsonl").read_text().splitlines()]
    assert steps == [1, 2], "the run that is told is the one that explains it"
    assert verdict([call("renew", "a")], soon) == "diverges"
    assert verdict([call("renew", "a")], soon, "--midway", "--page", "page.md") == "explained"
    assert "--midway" in Path("page.md").read_text()
    assert "`soon` leaves out a run" in kept["why"]
    assert "`expire` at conformance.yaml:" in kept["why"]
    wrong = [call("acquire", "a"), call("acquire", "b", answer=3)]
    assert verdict(wrong, soon) == "diverges", "nothing explains it with the row at any time"


# ---------------------------------------------------------------------------- other forms of lines

FORMS = """\
lines:
  at: t
  pairs: id
  read:
    asked:
      where: {kind: Acquire, dir: req}
      call: acquire
      with: {client: who}
      begins: true
    refused:
      where: {kind: Acquire, dir: resp, err: LOST}
      lost: true
    done:
      where: {kind: Acquire, dir: resp}
      answer: value.epoch
      ends: true
    given_back:
      where: {kind: Release, dir: resp}
      call: release
      with: {client: request.who}
"""


def raw(number: int, kind: str, way: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "kind": kind, "dir": way, "t": number, **more}


def test_a_log_in_another_form_is_read_as_the_mapping_says() -> None:
    lines = [
        raw(1, "Acquire", "req", who="A"),
        raw(0, "Chatter", "req"),
        raw(1, "Acquire", "resp", value={"epoch": 1}),
        raw(2, "Release", "req", who="A"),
        raw(2, "Release", "resp"),
        raw(3, "Acquire", "req", who="B"),
        raw(3, "Acquire", "resp", value={"epoch": 2}),
    ]
    found = judge(lines, SEEN + FORMS)
    assert (found["verdict"], found["events"], found["lines_left_out"]) == ("explained", 5, 2)
    lines[-1]["value"] = {"epoch": 3}
    assert judge(lines, SEEN + FORMS)["line"] == 7
    lines[-1] |= {"err": "LOST"}
    assert verdict(lines, SEEN + FORMS) == "explained"


@pytest.mark.parametrize("other", ["request", "answer"])
def test_the_other_line_of_a_pair_is_read_only_where_lines_are_paired(other: str) -> None:
    forms = FORMS.replace("request.who", f"{other}.who").replace("  pairs: id\n", "")
    with pytest.raises(SpecificationError) as caught:
        judge([raw(1, "Acquire", "req", who="A")], SEEN + forms)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "T117"
    assert f"`given_back` reads the `{other}`" in diagnostic.message
    assert diagnostic.help is not None
    assert "`pairs`" in diagnostic.help


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("begins: true", "ready: true", None),
        ("begins: true", "{begins: true, ends: true}", "`ends` is of a line that only answers"),
        ("begins: true", "{begins: true, ready: true}", "`ready` is of a line whose step another"),
        ("ends: true", "begins: true", "`begins` is of a line that asks something"),
        ("ends: true", "ready: true", "`ready` is of a line that asks something"),
    ],
)
def test_a_form_says_what_such_a_line_can_be(old: str, new: str, wrong: str | None) -> None:
    assert old in FORMS
    line = raw(1, "Acquire", "req", who="A")
    mapping = SEEN + FORMS.replace(old, new.strip("{}").replace(", ", "\n      "), 1)
    if wrong is None:
        assert judge([line], mapping)["verdict"] == "explained"
        return
    with pytest.raises(SpecificationError) as caught:
        judge([line], mapping)
    assert wrong in caught.value.diagnostics[0].message


def test_observers_may_be_numbers() -> None:
    lines = [
        {"t": 100, "who": "b", "src": 0, "kind": "acquire"},
        {"t": 101, "who": "a", "src": 1, "kind": "acquire"},
        {"t": 102, "who": "a", "src": 1, "kind": "release"},
    ]
    read = """\
lines:
  at: t
  stream: src
  read:
    acquire: {where: {kind: acquire}, call: acquire, with: {client: who}}
    release: {where: {kind: release}, call: release, with: {client: who}}
"""
    assert verdict(lines, CLOCKS + read) == "explained"
    assert verdict([line | {"src": 0} for line in lines], CLOCKS + read) == "diverges"


def test_the_run_the_page_and_junit_say_where_it_stops() -> None:
    lines = [call("acquire", "a"), call("renew", "b")]
    found = judge(
        lines, SEEN, "--run", "run.txt", "--page", "out/page.md", "--junit", "out/junit.xml"
    )
    assert found["last_steps"] == ["    line 1  acquire(client1)"]
    assert [json.loads(line)["line"] for line in Path("run.txt").read_text().splitlines()] == [1]
    page = Path("out/page.md").read_text()
    assert "**diverges**" in page
    assert "Its guard is false in `holder == client`" in page
    assert "names: a is" in page
    junit = Path("out/junit.xml").read_text()
    assert 'failures="1"' in junit
    assert "holder == client" in junit


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk here")
def test_a_disk_that_is_full_costs_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    judge([call("acquire", "a")], SEEN)
    words = ["validate", "leases.yaml", "run0.jsonl", "--format", "json"]
    assert command([*words, "--run", "new/folder/run.txt"]) == exits.HOLDS
    assert Path("new/folder/run.txt").read_text().count("acquire") == 1
    capsys.readouterr()
    for option in ("--page", "--junit", "--run"):
        assert command([*words, option, "/dev/full"]) == exits.USAGE
        printed = capsys.readouterr()
        assert json.loads(printed.out)["verdict"] == "explained"
        assert "no space left on device" in printed.err


def test_a_log_is_an_ordinary_file(capsys: pytest.CaptureFixture[str]) -> None:
    judge([call("acquire", "a")], SEEN)
    os.mkfifo("pipe.jsonl")
    assert command(["validate", "leases.yaml", "run0.jsonl", "pipe.jsonl"]) == exits.USAGE
    assert "pipe.jsonl is no ordinary file" in capsys.readouterr().err


def test_the_page_has_what_is_tested_here() -> None:
    assert WINDOW in PAGE
    assert TIMERS in PAGE
    overlapping = [
        json.loads(line) for line in PAGE.splitlines() if line.startswith('{"') and '"id"' in line
    ]
    lines = [line for line in overlapping if line["id"] in (7, 8)]
    assert len(lines) == 4
    assert verdict(lines, MAPPING + TIMERS) == "diverges", "the lease of bob cannot have expired"
    assert verdict([*lines[:3], lines[3] | {"at": 1260}], MAPPING + TIMERS) == "explained"


# ------------------------------------------------ rows together, steps that are ready, paths, each


def test_a_step_that_is_ready_is_possible_and_not_done_yet() -> None:
    ready = call("acquire", "a", ready=True)
    assert verdict([ready, call("acquire", "a", answer=1)], SEEN) == "explained"
    assert verdict([ready, call("acquire", "b", answer=1)], SEEN) == "explained"
    assert verdict([call("acquire", "b"), ready], SEEN) == "diverges"


TOGETHER = """\
together:
  handed_over: {rows: [expire, acquire, release]}
"""


def test_rows_that_go_together_have_nothing_in_between() -> None:
    lines = [call("acquire", "a"), call("acquire", "a", answer=3)]
    assert verdict(lines, SEEN) == "diverges"
    assert verdict(lines, SEEN + TOGETHER) == "explained"
    one_less = [lines[0], call("acquire", "a", answer=2)]
    assert verdict(one_less, SEEN + TOGETHER) == "diverges", "one release alone is not hidden"
    another = [lines[0], call("acquire", "b", answer=3)]
    assert verdict(another, SEEN + TOGETHER) == "diverges", "no line names whose rows they are"


SEVERAL = """\
sizes: {Client: who}
lines:
  of: who
  each: {part: {values: ["0", "1"]}}
  read:
    nothing:
      where: {kind: again, previous.kind: again}
    taken:
      where: {"parts[p={part}].does has take": "true"}
      call: acquire
      with: {client: who}
    given_back:
      where: {"parts[p={part}].does.0": give, "who!": "true"}
      call: release
      with: {client: who}
"""


def part(who: str, number: int, *does: str) -> dict[str, Any]:
    return {"who": who, "parts": [{"p": number, "does": list(does)}]}


def test_a_log_is_judged_once_for_each_of_several_values() -> None:
    lines = [part("a", 0, "take"), part("b", 1, "take"), part("a", 0, "give"), part("c", 0, "take")]
    found = judge(lines, SEEN + SEVERAL)
    assert found["each"] == {"0": "explained", "1": "explained"}
    found = judge([*lines, part("a", 1, "give")], SEEN + SEVERAL)
    assert (found["verdict"], found["each"]) == ("diverges", {"0": "explained", "1": "diverges"})
    assert found["line"] == 5


OPEN = """\
sizes: {Client: "parts[p={part}].of"}
timers:
  lease: {armed: holder is not none, fires: {expire: holder}, least_of: "parts[p={part}].ms"}
facts:
  owner:
    value: "parts[p={part}].owner"
    of: "{part}.who"
    is: [taken]
    changes: {taken: {to: "parts[p={part}].next", within: 5}}
lines:
  at: "{part}.at"
  stream: "{part}.by"
  pairs: "{part}.id"
  of: "{part}.who"
  turns: {of: "{part}.line", answers: {"{part}.is": answer}, same: ["{part}.who"]}
  each: {part: {values: ["0"]}}
  read:
    taken:
      where: {"{part}.does": "take {part}"}
      call: acquire
      with: {client: "{part}.who"}
      answer: "{part}.answer"
      fields: {holder: "{part}.holder"}
      takes: "{part}.ms"
"""


def test_values_stand_for_names_in_braces_in_every_path() -> None:
    Path("open.yaml").write_text(SEEN + OPEN)
    recording = read_mapping(Path("open.yaml")).recording
    parts = repr((recording.lines, recording.facts, recording.sizes, recording.timers))
    assert parts.count("{part}") > 15
    filled = recording.of((("part", "7"),))
    parts = repr((filled.lines, filled.facts, filled.sizes, filled.timers))
    assert "{part}" not in parts
    assert filled.decides != recording.decides


def test_values_for_which_the_same_is_read_are_one_log() -> None:
    lines = [part("a", 0, "take"), {"who": "a", "parts": [{"p": 1, "does": ["take"]}]}]
    lines[0]["parts"] += lines[1]["parts"]
    Path("conformance.yaml").write_text(SEEN + SEVERAL)
    recording = read_mapping(Path("conformance.yaml")).recording

    def digests() -> set[str]:
        Path("run.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return {Log((Path("run.jsonl"),), recording.of((("part", n),))).digest() for n in "01"}

    assert len(digests()) == 2
    lines.pop()
    assert len(digests()) == 1


def test_sizes_of_several_paths_are_added_up() -> None:
    sizes = "{Client: who + kind has again + 2}"
    Path("conformance.yaml").write_text(SEEN + SEVERAL.replace("{Client: who}", sizes))
    lines = [part("a", 0, "take"), part("b", 1, "take"), {"who": "a", "kind": "again"}]
    Path("run.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    recording = read_mapping(Path("conformance.yaml")).recording
    assert sized((Path("run.jsonl"),), recording.sizes) == {"Client": 5}


def test_sizes_are_those_of_lines_that_may_have_a_form() -> None:
    kinds = ["take", "give", "again", "of no form", "of none either"]
    lines = [{"who": f"{number}", "kind": kind} for number, kind in enumerate(kinds)]
    Path("run.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    def size(mapping: str) -> dict[str, int]:
        Path("conformance.yaml").write_text(mapping)
        recording = read_mapping(Path("conformance.yaml")).recording
        return sized((Path("run.jsonl"),), recording.sizes, recording.lines)

    assert size(SEEN + SEVERAL) == {"Client": 5}, "for some part each of them may have one"
    plain = SEVERAL.replace('"parts[p={part}].does has take": "true"', "kind: take")
    assert size(SEEN + plain.replace('"parts[p={part}].does.0": give', "kind: give")) == {
        "Client": 3
    }


def test_the_log_says_how_many_ids_and_how_long_a_timer_runs() -> None:
    first = {"who": "a", "kind": "again", "session": 300}
    lines = [first, part("a", 0, "take"), part("b", 0, "take")]
    timed = SEEN.replace("observe:", "hidden: [expire]\nobserve:") + SEVERAL.replace(
        "  of: who\n", "  of: who\n  at: t\n"
    )
    timers = TIMERS.replace("    least: 900\n", "    least: 900\n    least_of: session * 2\n")
    at = [line | {"t": t} for line, t in zip(lines, (0, 0, 600), strict=True)]
    assert verdict(at, timed + timers) == "explained"
    assert verdict([*at[:2], at[2] | {"t": 599}], timed + timers) == "diverges"
    with pytest.raises(SpecificationError):
        judge(lines, SEEN + SEVERAL.replace("{Client: who}", "{Client: 'a b'}"))


def test_times_that_are_only_usual_decide_nothing() -> None:
    lines = [part("a", 0, "take"), part("b", 0, "take")]
    timed = SEEN.replace("observe:", "hidden: [expire]\nobserve:") + SEVERAL.replace(
        "  of: who\n", "  of: who\n  at: t\n"
    )
    early = [line | {"t": t} for line, t in zip(lines, (0, 500), strict=True)]
    assert verdict(early, timed + TIMERS) == "diverges"
    found = judge(early, timed + TIMERS + "    usual: true\n")
    assert found["verdict"] == "inconclusive"
    assert "`usual` leaves out a run that explains the log: `lease` at" in found["why"]
    later = [line | {"t": t} for line, t in zip(lines, (0, 1000), strict=True)]
    assert verdict(later, timed + TIMERS + "    usual: true\n") == "explained"


RANGES = """\
sizes: {Client: who}
lines:
  at: t
  pairs: id
  each:
    part: {values: ["0", "1"]}
    key: {ranges: ["parts[p={part}].taken", "gives[p={part}].keys"]}
  read:
    giving:
      where: {"gives[p={part}].keys[0<={key}<=1]!": "true"}
      call: release
      with: {client: who}
      request: giving
      begins: true
      also: true
    taking:
      where: {take: "true"}
      call: acquire
      with: {client: who}
      request: taking
      begins: true
      within: 100
      also: true
    given:
      where: {"request.gives[p={part}].keys[0<={key}<=1]!": "true", ok: "true"}
      request: giving
      ends: true
      also: true
    not_given:
      where: {"request.gives[p={part}].keys[0<={key}<=1]!": "true", ok: "false"}
      request: giving
      refused: true
      also: true
    taken:
      where: {"parts[p={part}].taken[0<={key}<=1]!": "true"}
      answer: "parts[p={part}].taken[0<={key}<=1].2"
      request: taking
      ends: true
      also: true
    not_taken:
      where: {request.take: "true"}
      request: taking
      refused: true
    breaks:
      where: {breaks: "true"}
      call: release
      with: {client: who}
      lost: true
      within: 100
      takes: takes
"""


def asks(number: int, who: str, *gives: list[int], t: int = 0) -> dict[str, Any]:
    """A request that takes what there is, and gives back ranges of keys of part 0."""
    return {"id": number, "t": t, "who": who, "take": True, "gives": [{"p": 0, "keys": [*gives]}]}


def gets(number: int, *taken: list[int], ok: bool = True, t: int = 0) -> dict[str, Any]:
    return {"id": number, "t": t, "ok": ok, "parts": [{"p": 0, "taken": [*taken]}]}


HELD = [asks(1, "a"), gets(1, [5, 9, 1])]


def test_values_come_from_the_ranges_of_a_log() -> None:
    """5 to 9 are taken together, of them 8 and 9 are given back; 7 stands for 5, 6 and itself."""
    found = judge([*HELD, asks(2, "a", [8, 9]), gets(2)], SEEN + RANGES)
    assert found["each"] == {"0.5": "explained", "0.8": "explained"}
    with pytest.raises(UsageError, match="part, key"):
        judge([asks(1, "a")], SEEN + RANGES)


def test_a_line_begins_several_requests_and_an_answer_ends_them() -> None:
    given_and_taken = [*HELD, asks(2, "a", [5, 9]), gets(2, [5, 9, 2])]
    found = judge(given_and_taken, SEEN + RANGES)
    assert (found["verdict"], found["lines"], found["events"]) == ("explained", 4, 8)
    assert verdict([*HELD, asks(2, "a"), gets(2, [5, 9, 2])], SEEN + RANGES) == "diverges"


def test_what_was_refused_was_not_done() -> None:
    refused = [*HELD, asks(2, "a", [5, 9]), gets(2, ok=False)]
    assert verdict(refused, SEEN + RANGES) == "explained"
    another = [asks(3, "b"), gets(3, [5, 9, 2])]
    assert verdict([*refused, *another], SEEN + RANGES) == "diverges"
    assert verdict([*refused[:3], gets(2), *another], SEEN + RANGES) == "explained"


@pytest.mark.parametrize(("t", "expected"), [(99, "explained"), (101, "diverges")])
def test_what_nobody_sees_the_end_of_is_done_in_time_or_never(t: int, expected: str) -> None:
    """What the break leads to is not done before a gives back what it has, and takes it again."""
    broken = [*HELD, {"t": 0, "who": "a", "breaks": True}]
    back = [asks(2, "a", [5, 9], t=t) | {"take": False}, gets(2, t=t)]
    again = [asks(3, "a", t=t), gets(3, [5, 9, 2], t=t)]
    other = [asks(4, "b", t=t), gets(4, [5, 9, 3], t=t)]
    assert verdict([*broken, *back, *again, *other], SEEN + RANGES) == expected


@pytest.mark.parametrize(("t", "expected"), [(149, "explained"), (151, "diverges")])
def test_what_takes_a_while_lets_others_be_done_later(t: int, expected: str) -> None:
    broken = [*HELD, {"t": 0, "who": "a", "breaks": True, "takes": "some 50 ms"}]
    back = [asks(2, "a", [5, 9], t=t) | {"take": False}, gets(2, t=t)]
    again = [asks(3, "a", t=t), gets(3, [5, 9, 2], t=t)]
    other = [asks(4, "b", t=t), gets(4, [5, 9, 3], t=t)]
    assert verdict([*broken, *back, *again, *other], SEEN + RANGES) == expected


@pytest.mark.parametrize(("t", "expected"), [(140, "explained"), (160, "diverges")])
def test_of_two_that_nobody_sees_the_end_of_the_second_may_be_done_later(
    t: int, expected: str
) -> None:
    broken = [*HELD, *({"t": at, "who": "a", "breaks": True} for at in (0, 50))]
    back = [asks(2, "a", [5, 9], t=t) | {"take": False}, gets(2, t=t)]
    again = [asks(3, "a", t=t), gets(3, [5, 9, 2], t=t)]
    other = [asks(4, "b", t=t), gets(4, [5, 9, 3], t=t)]
    assert verdict([*broken, *back, *again, *other], SEEN + RANGES) == expected


def test_an_answer_after_its_time_says_nothing() -> None:
    late = [asks(1, "a"), {"t": 300, "who": "nobody", "breaks": True}, gets(1, [5, 9, 1], t=301)]
    assert verdict(late, SEEN + RANGES) == "explained"
    assert verdict([*late, asks(2, "b", t=302), gets(2, [5, 9, 2], t=303)], SEEN + RANGES) == (
        "diverges"
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.b", 3),
        ("list.1", 8),
        ("list has 7", True),
        ("list count", 2),
        ("empty count", ""),
        ("missing count", NOTHING),
        ("given has 4", ["B"]),
        ("given has 9", []),
        ("empty has 9", False),
        ("missing has 9", NOTHING),
        ("said has two words", True),
        ("parts[p=1].v", "x"),
        ("ranges[0<=7<=1].2", "b"),
        ("ranges[0<=4<=1]", NOTHING),
        ("list[0<=7<=1]", NOTHING),
        ("missing?", None),
        ("missing!", False),
        ("empty!", False),
        ("request.q", 1),
        ("previous.q", 2),
        ("answer.q", 3),
        ("answer!", False),
        ("asked.q", 4),
        ("said begins two", True),
        ("said begins words", False),
        ("list begins 7", False),
        ("missing begins two", False),
    ],
)
def test_paths(path: str, expected: object) -> None:
    line = {
        "a": {"b": 3},
        "list": [7, 8],
        "given": {"A": [1, 2], "B": [4]},
        "parts": [{"p": 0}, {"p": 1, "v": "x"}],
        "ranges": [[1, 3, "a"], [5, 9, "b"], [7], "no range"],
        "empty": "",
        "said": "two words",
    }
    found = parsed(path)
    assert found is not None
    assert found.at(line, {"q": 1}, {"q": 2}, {"q": 3}, {"q": 4}) == expected


@pytest.mark.parametrize("wrong", ["", "a..b", "a[b]", "a has", "a begins", "a b", "a[0<=7]"])
def test_what_is_no_path(wrong: str) -> None:
    assert parsed(wrong) is None


def test_one_log_may_go_back_in_time_by_as_much_as_its_clocks_are_off() -> None:
    lines = observed((0, "release", "a", 100), (1, "acquire", "b", 111), (2, "acquire", "a", 106))
    assert verdict(lines, CLOCKS) == "explained"
    assert verdict([lines[0], lines[2], lines[1]], CLOCKS) == "explained"
    lines[2]["at"] = 111
    assert verdict(lines, CLOCKS) == "diverges", "more than both clocks can be off"


WITHIN = """\
lines:
  at: t
  pairs: id
  read:
    taking: {where: {kind: take}, call: acquire, with: {client: who}, begins: true, within: 100}
    taken: {where: {kind: taken}, ends: true, answer: got}
    refused: {where: {kind: refused}, refused: true}
    looked: {where: {kind: look}, fields: {holder: who}}
"""


@pytest.mark.parametrize("late", [50, 500])
def test_what_is_done_in_time_is_answered_as_it_was_also_later(late: int) -> None:
    taking, looked = {"kind": "take", "who": "a", "id": 1, "t": 0}, {"kind": "look", "t": late}
    done, not_done = [taking, looked | {"who": "a"}], [taking, looked | {"who": None}]
    taken = {"kind": "taken", "id": 1, "t": late + 1}
    refused = {"kind": "refused", "id": 1, "t": late + 1}
    for lines, last, expected in (
        (done, taken | {"got": 1}, "explained"),
        (done, taken | {"got": 2}, "diverges"),
        (done, taken, "explained"),
        (done, refused, "diverges"),
        (not_done, taken | {"got": 1}, "explained" if late == 50 else "diverges"),
        (not_done, refused, "explained"),
    ):
        assert verdict([*lines, last], SEEN + WITHIN) == expected, last
