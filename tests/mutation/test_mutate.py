"""Goal: of every mutant the fate that is said is its fate, and none hides another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from checker.cli.main import run as command
from checker.elaborate import elaborate
from checker.library import find
from checker.machine.machine import Machine
from checker.mutation import sights
from checker.mutation.campaign import Judged, Step, Tell, all_mutants, chosen_instances, run
from checker.mutation.parts import VARIABLE
from checker.mutation.report import Campaign, markdown, text
from checker.mutation.subject import Subject
from checker.mutation.weaving import weave
from checker.runs import Processes
from checker.search.exploration import Exploration
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successor import State
from checker.semantics.successors import as_mapping, initial_states, successors
from checker.table import Document, read
from checker.verdict.judge import Verdict

LAMP = """
system: lamp
about: A lamp that burns, is switched and breaks.
types:
  Answer: one of YES, NO
messages:
  Asked: {who: "0..1"}
channels:
  wire: {carries: [Asked], order: fifo, capacity: "1", when_full: block}
variables:
  lit:    {type: bool, initial: "false"}
  heat:   {type: "0..2", initial: "0"}
  unread: {type: Answer, initial: NO}
rows:
  - row: switch_on
    when: not lit and heat == 0
    do: |
      lit = true
      heat += 1
    send: Asked(1)
  - row: switch_off
    on: Asked(who)
    when: lit and who == 1
    do: lit = false
  - row: cools
    when: heat > 0 and not lit
    do: |
      heat -= 1
      if heat == 7:
          heat = 0
  - row: decides
    when: lit
    do: unread = YES
properties:
  heat_is_light: {always: "implies(lit, heat > 0)", why: a cold lamp is none.}
  burns: {sometimes: lit, why: a lamp that never burns is none.}
instances:
  default: {expect: {verdict: holds, distinct: 6, depth: 4}}
"""


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    path = tmp_path / "lamp.yaml"
    path.write_text(LAMP)
    return path


def judged(
    document: Document,
    processes: int = 1,
    kept: Path | None = None,
    tell: Tell = lambda _step: None,
) -> list[Judged]:
    names = chosen_instances(document, (), every=False)
    mutants = all_mutants(document, ())
    return list(run(document, names, mutants, Processes(processes), tell, kept, batch=20))[-1]


def fates(document: Document, kept: Path | None = None) -> dict[str, str]:
    return {item.mutant.key: item.fate for item in judged(document, kept=kept)}


def test_every_fate_is_told(lamp: Path) -> None:
    found = fates(read(lamp))
    assert found["row switch_on: without `heat += 1`"] == "caught"
    assert found["row switch_on: the row is missing"] == "caught"
    assert found["row switch_on: without `send(Asked(1))`"] == "counted"
    assert found["row decides: the row is missing"] == "counted"
    assert found["row decides: without `unread = YES`"] == "counted"
    assert found["row switch_off: `who == 1` taken for true"] == "equal"
    assert found["row cools: without `heat = 0`"] == "equal"
    assert found["row decides: `lit` taken for true"] == "counted"
    assert set(found.values()) == {"caught", "counted", "equal", "refused"}


def test_what_nothing_declared_shows_is_said_to_be_noticed_by_nothing(lamp: Path) -> None:
    lamp.write_text(LAMP.replace(", distinct: 6, depth: 4", ""))
    found = {item.mutant.key: item for item in judged(read(lamp))}
    missing = found["row decides: the row is missing"]
    assert missing.fate == "unnoticed"
    assert missing.telling is not None
    assert missing.telling.by == ("distinct", "depth", "generated", "rows")
    assert (missing.telling.row, missing.telling.depth) == ("decides", 1)


def graph(machine: Machine, number: int) -> tuple[set[object], set[object]]:
    """Return the states and steps of one mutant by the reference interpreter, and its truths."""
    place = [item.name for item in machine.variables].index(VARIABLE)

    def bare(state: State) -> State:
        return (*state[:place], *state[place + 1 :])

    todo = [
        item.state
        for item in initial_states(machine)
        if item.state is not None and item.state[place] == number
    ]
    seen, steps = set(todo), set[object]()
    truths: set[object] = set()
    while todo:
        state = todo.pop()
        for item in machine.properties:
            if item.kind in {"always", "sometimes"}:
                value = evaluate(item.condition, Context(as_mapping(machine, state), {}))
                truths.add((bare(state), item.name, value))
        for step in successors(machine, state):
            assert step.state is not None or step.error is not None
            after = None if step.state is None or step.error is not None else bare(step.state)
            steps.add((bare(state), step.action, after, step.illegal, step.error is not None))
            if after is not None and step.state is not None and step.state not in seen:
                seen.add(step.state)
                todo.append(step.state)
    return steps, truths


@pytest.mark.parametrize("name", ["lamp", "peterson", "transaction_commit"])
def test_a_mutant_is_equal_just_where_the_interpreter_finds_the_same_graph(
    name: str, lamp: Path
) -> None:
    document = read(lamp if name == "lamp" else find(name))
    woven = weave(document, None, "default")
    machine = elaborate(woven.document, "default")
    usual = graph(machine, 0)
    sights = Subject(woven, "default").sights()
    assert len(sights) > 10
    for mutant, sight in sights.items():
        same = graph(machine, mutant.number) == usual
        assert (sight.seen == "same") == same, str(mutant)


def test_the_woven_machine_without_a_mutant_is_as_declared() -> None:
    """A Subject that is not as declared is an error; these have sugar, calls, operations."""
    for name in ("share_state", "share_delivery", "group_small"):
        document = read(find(name))
        keys = {mutant.key for mutant in all_mutants(document, ())[::9]}
        subject = Subject(weave(document, keys, "default"), "default")
        assert subject.usual.exploration.exhaustive


def test_results_are_kept_and_the_same_in_several_processes(lamp: Path, tmp_path: Path) -> None:
    document = read(lamp)
    kept = tmp_path / "kept"
    first = judged(document, 2, kept)
    files = sorted(kept.iterdir())
    assert len(files) > 1
    assert first == judged(document) == judged(document, 1, kept)
    content = json.loads(files[0].read_text())
    key = next(iter(content))
    content[key]["seen"] = "undecided"
    files[0].write_text(json.dumps(content))
    assert fates(document, kept)[key] == "undecided"
    files[0].write_text("{")
    assert judged(document, 1, kept) == first


TWICE = """
system: twice
about: Two rows of one guard, of which a definition says one.
variables: {x: {type: "0..3", initial: "0"}, y: {type: "0..3", initial: "0"}}
definitions:
  low: x < 2
  small: x < 2
rows:
  - {row: a, when: low, do: x += 1}
  - {row: b, when: small and y < 3, do: y += 1}
deadlock: false
properties:
  few: {always: x < 3, why: it is a test.}
"""


def test_results_are_of_what_is_written_and_not_of_the_machine_alone(tmp_path: Path) -> None:
    """Of the other text the machine is the same, and a mutant of `low` changes the other row."""
    path, kept = tmp_path / "twice.yaml", tmp_path / "kept"

    def fate(text: str) -> set[str]:
        path.write_text(text)
        found = fates(read(path), kept)
        return {fate for key, fate in found.items() if key.startswith("definition low: ")}

    assert fate(TWICE) == {"caught"}
    files = sorted(kept.iterdir())
    assert fate(f"# A comment.\n{TWICE}") == {"caught"}
    assert sorted(kept.iterdir()) == files
    swapped = TWICE.replace("when: low", "when: SMALL").replace("when: small", "when: low")
    assert fate(swapped.replace("SMALL", "small")) == {"unnoticed"}


def test_results_are_not_kept_where_memory_was_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, kept = tmp_path / "twice.yaml", tmp_path / "kept"
    path.write_text(TWICE)
    document = read(path)

    def short(usual: sights.Usual, found: Exploration, verdict: Verdict) -> sights.Sight:
        return sights._unfinished(usual, replace(found, stopped_by="memory"), verdict, ())

    with monkeypatch.context() as patch:
        patch.setattr("checker.mutation.subject.seen", short)
        first = fates(document, kept)
    assert "undecided" in first.values()
    assert not kept.exists()
    assert "undecided" not in fates(document, kept).values()


def test_results_are_not_kept_through_a_link(lamp: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").symlink_to("elsewhere")
    (tmp_path / "elsewhere").mkdir()
    steps: list[Step] = []
    assert judged(read(lamp), 1, tmp_path / "kept", steps.append) == judged(read(lamp))
    assert steps
    assert all("kept: a link, and nothing is written through" in step.unkept for step in steps)
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_the_command(lamp: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert command(["mutate", str(lamp), "--workers", "1", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "default: " in printed.err
    assert "noticed by nothing" in printed.out
    assert "score" in (out / "mutants.md").read_text().lower()
    found = json.loads((out / "mutants.json").read_text())
    assert found["mutants"] == sum(
        found[fate] for fate in ("caught", "counted", "unnoticed", "equal", "refused", "undecided")
    )
    assert command(["mutate", str(lamp), "--row", "decides", "--format", "json"]) == 0
    some = json.loads(capsys.readouterr().out)
    assert {item["where"] for item in some["list"]} == {"row decides"}
    assert command(["mutate", str(lamp), "--row", "decide"]) == 2
    assert "did you mean decides?" in capsys.readouterr().err


def test_the_page_is_not_written_through_a_link(
    lamp: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mutants.md").symlink_to("elsewhere.md")
    words = ["mutate", str(lamp), "--row", "decides", "--sample", "1", "--out", str(tmp_path)]
    assert command(words) == 2
    printed = capsys.readouterr()
    assert "mutants.md: a link, and nothing is written through" in printed.err
    assert "score" in printed.out
    assert not (tmp_path / "elsewhere.md").exists()


def test_a_seed_takes_other_mutants(lamp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def taken(*options: str) -> list[tuple[str, str]]:
        command(["mutate", str(lamp), "--sample", "5", *options, "--format", "json"])
        found = json.loads(capsys.readouterr().out)["list"]
        return [(mutant["where"], mutant["change"]) for mutant in found]

    assert taken() == taken("--seed", "0")
    assert taken("--seed", "1") == taken("--seed", "1")
    assert taken() != taken("--seed", "1")


def test_what_some_instance_may_still_see_is_undecided(lamp: Path) -> None:
    lamp.write_text(lamp.read_text() + "  again: {expect: {verdict: holds}}\n")
    document = read(lamp)
    names = chosen_instances(document, (), every=True)
    assert sorted(names) == ["again", "default"]
    first, *_, last = run(
        document, names, all_mutants(document, ()), Processes(1), lambda _step: None
    )
    fates = {item.mutant.key: item.fate for item in last}
    assert {item.fate for item in first} <= {"caught", "refused", "undecided"}
    assert all(item.fate in {fates[item.mutant.key], "undecided"} for item in first)
    assert "undecided" not in fates.values()


def test_the_score_says_what_it_is_at_least_where_mutants_are_undecided(lamp: Path) -> None:
    done = judged(read(lamp))
    open_ = [replace(item, sights=()) if item.fate == "caught" else item for item in done]
    caught = sum(item.fate == "caught" for item in done)
    assert caught > 1
    kept = next(number for number, item in enumerate(done) if item.fate == "caught")
    open_[kept] = done[kept]
    campaign = Campaign("lamp.yaml", "lamp", ("default",), tuple(open_))
    assert campaign.counts["undecided"] == caught - 1
    assert campaign.least_score == 1 / (campaign.changing + caught - 1)
    for said in (text(campaign), markdown(campaign)):
        assert f"{caught - 1} are undecided: the score is at least" in said
    assert "undecided: the score" not in text(replace(campaign, judged=tuple(done)))


def test_what_is_not_as_declared_without_a_mutant_is_an_error(
    lamp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lamp.write_text(LAMP.replace("distinct: 6", "distinct: 5"))
    assert command(["mutate", str(lamp), "--workers", "1"]) == 2
    assert "not as declared without any mutant" in capsys.readouterr().err


def test_nothing_but_a_search_without_end_is_undecided(lamp: Path) -> None:
    """A mutant that grows and grows is searched to a limit; that it grows is what is known."""
    lamp.write_text(
        LAMP.replace('heat:   {type: "0..2"', 'heat:   {type: "0..9999"').replace(
            "not lit and heat == 0", "not lit and heat <= 0"
        )
    )
    found = {item.mutant.key: item for item in judged(read(lamp))}
    grown = found["row switch_on: `heat <= 0` taken for true"]
    assert grown.fate == "counted"
    assert grown.telling is not None
    assert "searched no further" in grown.telling.note
