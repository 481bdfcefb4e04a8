"""Goal: a declared mistake is the edit it says, judged by what it breaks; a wrong one has a place.

What the shipped systems declare is judged in tests/spec/test_mistakes.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from checker.cli.main import run as command
from checker.cli.schema import schema_of
from checker.errors import SpecificationError
from checker.library import shipped
from checker.mutation.edits import edited
from checker.mutation.merging import alike
from checker.mutation.mistakes import FILE, KEYS, Mistake, read_mistakes
from checker.mutation.shown import Job, Shown, jobs_of, judge, judge_all
from checker.mutation.versions import versions
from checker.runs import Lost, Processes, Spread
from checker.table import read

GATE = """
system: gate
about: A gate that opens for those who have a ticket, and closes.
variables:
  open:   {type: bool, initial: "false"}
  ticket: {type: bool, initial: "false"}
definitions:
  may_pass: ticket and open
rows:
  - row: buy
    when: not ticket
    do: ticket = true
  - row: enter
    when: >-
      ticket
      and not open
    do: |
      open = true
      # who is in has used it
  - row: leave
    when: open
    do: |
      open = false
      ticket = false
properties:
  nobody_without:
    always: implies(open, ticket)
    why: a ticket opens the gate.
  it_closes:
    step: implies(ticket and not next(ticket), not next(open))
    why: who leaves closes it.
  never_open:
    always: not open
    why: an instance breaks it.
  opened:
    sometimes: may_pass
    why: somebody passes.
instances:
  default: {properties: [nobody_without, it_closes, opened], expect: {verdict: holds}}
  broken:  {properties: [never_open], expect: {verdict: violated, property: never_open}}
"""

MISTAKES = """
mistakes: gate
properties:
  nobody_without:
    in: enter
    replace: |-
      ticket
      and not open
    by: |-
      ticket == ticket
      and not open
  it_closes:
    in: leave
    mutant: without `open = false`
"""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    (tmp_path / FILE).write_text(MISTAKES)
    path = tmp_path / "system.yaml"
    path.write_text(GATE)
    return path


def declared(gate: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    code = command(["mutate", str(gate), "--declared", "--workers", "1", *more])
    return code, capsys.readouterr().out


def changed(gate: Path, old: str, new: str) -> None:
    text = (gate.parent / FILE).read_text()
    assert text.count(old) == 1
    (gate.parent / FILE).write_text(text.replace(old, new))


def with_edit(gate: Path, mistake: Mistake) -> str:
    """Return the text that the file of the system has with a mistake."""
    assert mistake.edit is not None
    ((path, text),) = edited(read(gate), [mistake.edit]).items()
    assert path == gate
    return text


def test_an_edit_keeps_the_indentation_of_its_place(gate: Path) -> None:
    (edit, mutant) = read_mistakes(gate.parent / FILE, read(gate))
    assert with_edit(gate, edit) == GATE.replace(
        "ticket\n      and not open", "ticket == ticket\n      and not open"
    )
    assert mutant.mutant == "row leave: without `open = false`"


@pytest.mark.parametrize("by", ["", ', by: ""'])
def test_a_line_that_is_empty_then_goes(gate: Path, by: str) -> None:
    (gate.parent / FILE).write_text(
        f"mistakes: gate\nproperties:\n  it_closes: {{in: leave, replace: open = false{by}}}\n"
    )
    (mistake,) = read_mistakes(gate.parent / FILE, read(gate))
    assert with_edit(gate, mistake) == GATE.replace("      open = false\n", "")


def test_an_edit_stays_in_the_entry_that_it_names(gate: Path) -> None:
    """The name of a row need not stand first in it, and a comment ends nothing."""
    rows = "  - when: not ticket\n    row: buy\n# Money.\n    do: ticket = true\n"
    text = GATE.replace("  - row: buy\n    when: not ticket\n    do: ticket = true\n", rows)
    gate.write_text(text)
    (gate.parent / FILE).write_text(
        "mistakes: gate\nproperties:\n  it_closes: {in: buy, replace: not ticket, by: ticket}\n"
        "  nobody_without: {in: buy, replace: ticket = true, by: open = true}\n"
    )
    when, do = read_mistakes(gate.parent / FILE, read(gate))
    assert with_edit(gate, when) == text.replace("when: not ticket", "when: ticket")
    assert with_edit(gate, do) == text.replace("do: ticket = true", "do: open = true")
    flow = "  [{row: buy, when: not ticket, do: ticket = true}, {row: go, when: open, do: pass}]\n"
    gate.write_text(GATE[: GATE.index("  - row: buy")] + flow + GATE[GATE.index("properties:") :])
    with pytest.raises(SpecificationError) as wrong:
        read_mistakes(gate.parent / FILE, read(gate))
    assert {item.message for item in wrong.value.diagnostics} == {
        "`buy` shares its lines with others"
    }


def test_what_shows_that_each_property_can_fail(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = declared(gate, capsys, "--format", "json")
    found = {item["property"]: item for item in json.loads(out)["properties"]}
    assert found["nobody_without"]["shown_by"] == "mistake"
    assert found["nobody_without"]["steps"] == 1
    assert found["it_closes"]["shown_by"] == "mistake"
    assert found["never_open"]["shown_by"] == "instance"
    assert found.keys() == {"nobody_without", "it_closes", "never_open"}
    assert code == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ticket == ticket", "ticket", "NOT BROKEN  nobody_without, in default: the verdict is"),
        ("ticket == ticket", "tickets", "no specification"),
        ("without `open = false`", "without `ticket = false`", "NOT BROKEN  it_closes, in default"),
        (
            "  it_closes:\n    in: leave\n    mutant: without `open = false`\n",
            "",
            "NOT SHOWN   it_closes",
        ),
    ],
)
def test_what_shows_nothing(
    gate: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    changed(gate, old, new)
    code, out = declared(gate, capsys)
    assert said in out
    assert code == 1


def test_a_system_without_the_file_shows_what_instances_break(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (gate.parent / FILE).unlink()
    code, out = declared(gate, capsys)
    assert "NOT SHOWN   nobody_without" in out
    assert code == 1


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("mistakes: gate", "mistakes: gates", "N206"),
        ("  it_closes:", "  it_close:", "N206"),
        ("in: enter", "in: entered", "N206"),
        ("in: leave", "in: leaves", "N206"),
        ("without `open", "without `opened", "N206"),
        ("in: enter", "instance: defaults\n    in: enter", "N206"),
        ("      ticket\n      and not open\n    by", "      ticket\n      or\n    by", "T115"),
        ("      ticket\n      and not open\n    by", "      open\n    by", "T115"),
        ("in: enter", "is: enter", "T113"),
        ("    in: enter\n", "", "T114"),
        ("    mutant:", "    by: x\n    mutant:", "T117"),
        ("in: leave\n    mutant: without `open = false`", "in: leave", "T114"),
    ],
)
def test_what_is_wrong_has_a_place(gate: Path, old: str, new: str, code: str) -> None:
    changed(gate, old, new)
    with pytest.raises(SpecificationError) as raised:
        read_mistakes(gate.parent / FILE, read(gate))
    first = raised.value.diagnostics[0]
    assert first.code == code
    assert first.span.source.name == str(gate.parent / FILE)


TWICE = """procedures:
  leave(): |
    open = false
    ticket = true and not open
rows:
"""


def test_of_a_row_and_a_procedure_of_one_name_it_is_said_which(gate: Path) -> None:
    gate.write_text(gate.read_text().replace("rows:\n", TWICE, 1))
    document = read(gate)

    def found(where: str, change: str) -> Mistake:
        mistakes = f"mistakes: gate\nproperties:\n  it_closes: {{in: {where}, {change}}}\n"
        (gate.parent / FILE).write_text(mistakes)
        (one,) = read_mistakes(gate.parent / FILE, document)
        return one

    edits = [
        found(f"{part}.leave", "replace: open = false").edit for part in ("procedures", "rows")
    ]
    places = [gate.read_text().index(f"{indent}open = false\n") for indent in ("    ", "      ")]
    assert [(it.begin, it.entry) for it in edits if it] == [(at, "leave") for at in places]
    mutant = "mutant: without `open = false`"
    assert found("rows.leave", mutant).mutant.startswith("row leave: ")
    assert found("procedures.leave", mutant).mutant.startswith("procedure leave: ")
    for change in ("replace: open = false", mutant):
        with pytest.raises(SpecificationError) as raised:
            found("leave", change)
        (told,) = raised.value.diagnostics
        assert (told.code, told.help) == ("N203", "write rows.leave or procedures.leave")


def test_an_instance_that_is_none_is_refused(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command(["mutate", str(gate), "--declared", "--instance", "brocken"])
    assert code == 2
    assert "did you mean `broken`" in capsys.readouterr().err.lower()


def test_an_instance_that_does_not_judge_the_property_shows_nothing(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(gate, "in: enter", "instance: broken\n    in: enter")
    code, out = declared(gate, capsys)
    assert "NOT BROKEN  nobody_without, in broken: this instance does not judge it" in out
    assert code == 1


def test_what_was_judged_is_told_when_it_is_interrupted(
    gate: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(jobs: Sequence[Job], spread: Spread) -> Iterator[Shown]:
        yield from judge_all(jobs[:1], spread)
        raise KeyboardInterrupt

    monkeypatch.setattr("checker.mutation.shown.BATCH", 1)
    monkeypatch.setattr("checker.cli.mutate.judge_all", interrupted)
    code, out = declared(gate, capsys)
    assert "1  a declared mistake breaks it" in out
    assert "NOT SHOWN" not in out
    assert "that 1 property of it can fail\ninterrupted: 1 mistake not judged" in out
    assert code == 130
    assert json.loads(declared(gate, capsys, "--format", "json")[1])["left"] == 1


def test_a_mistake_that_was_lost_is_not_said_to_break_nothing(
    gate: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(_: Processes, __: object, jobs: Sequence[Job]) -> Iterator[tuple[Job, Lost]]:
        yield jobs[0], Lost("it was killed")

    monkeypatch.setattr(Processes, "each", lost)
    code, out = declared(gate, capsys)
    assert (code, out) == (255, "")


LIFT = """
system: lift
about: A lift that goes up and down, with somebody in it or not.
types:
  Floor: 0..3
  Call: {fields: {floor: Floor}}
messages:
  Called: {floor: Floor}
variables:
  floor: {type: Floor, initial: "0"}
  taken: {type: bool, initial: "false"}
channels:
  calls: {carries: [Called], order: fifo, capacity: "1"}
definitions:
  at_top: floor == 3
  rest(n): "{x for x in Floor if x != n}"
  can_leave(f): taken and floor == f
procedures:
  up(by): |
    before = floor
    floor = before + by
initial:
  do: floor = 1
rows:
  - row: somebody_calls
    for: {f: rest(1)}
    when: len(calls) == 0
    send: calls.Called(f)
  - row: somebody_enters
    on: calls.Called(f)
    let: {there: f == floor}
    when: not taken
    do: taken = there
  - row: goes_up
    when: not at_top
    do: up(1)
  - row: goes_down
    when: floor > 0
    do: floor -= 1
  - row: somebody_leaves
    for: {f: 0..3}
    when: can_leave(f)
    do: taken = false
properties:
  never_below_one: {always: floor > 0 or taken or true, why: "w"}
  one_at_a_time: {step: "next(floor) <= floor + 1 and next(floor) >= floor - 1", why: "w"}
  starts_at_one: {always: not (floor == 3 and taken and len(calls) == 0) or true, why: "w"}
  no_call_from_one: {always: "all(m.floor != 1 for m in calls)", why: "w"}
  enters_where_it_is:
    step: implies(ran(somebody_enters, f=0), next(taken) == (floor == 0))
    why: w
  leaves: {step: "implies(ran(somebody_leaves), taken)", why: "w"}
  stays_between: {step: "implies(ran(goes_down), floor > 0)", why: "w"}
deadlock: false
instances:
  default: {}
"""

EDITS = (
    ("one_at_a_time", "up", "before + by", "min(3, before + by + 1)"),
    ("no_call_from_one", "somebody_calls", "rest(1)", "rest(2)"),
    ("enters_where_it_is", "somebody_enters", "f == floor", "f != floor"),
    ("leaves", "can_leave", "taken and floor == f", "floor == f"),
    (
        "stays_between",
        "goes_down",
        "when: floor > 0\ndo: floor -= 1",
        "do: floor = max(0, floor - 1)",
    ),
    ("never_below_one", "goes_up", "up(1)", "up(true)"),
    (
        "starts_at_one",
        "system.yaml",
        'taken: {type: bool, initial: "false"}',
        "taken: {type: bool}",
    ),
)
"""Of each mistake the property, the place, and what stands there instead of what."""


def test_mistakes_in_one_machine_are_judged_as_by_themselves(tmp_path: Path) -> None:
    """Of each kind of place; two do not break their property, one is no specification."""
    path = tmp_path / "system.yaml"
    path.write_text(LIFT)
    entries = (
        f"  {name}: {json.dumps({'in': place, 'replace': old, 'by': new})}\n"
        for name, place, old, new in EDITS
    )
    (tmp_path / FILE).write_text(f"mistakes: lift\nproperties:\n{''.join(entries)}")
    (job,) = jobs_of(read(path), read_mistakes(tmp_path / FILE, read(path)))
    together = judge(job)
    alone = [judge(replace(job, mistakes=(item,))) for item in job.mistakes]
    assert together == tuple(item for (item,) in alone)
    assert [item.steps for item in together] == [1, 1, 2, 1, 2, None, None]
    assert "no specification" in together[5].why_not


def test_edits_of_one_entry_are_told_apart(gate: Path) -> None:
    (gate.parent / FILE).write_text("""\
mistakes: gate
properties:
  nobody_without: {in: enter, replace: not open, by: open}
  it_closes: {in: enter, replace: open = true, by: open = ticket}
  never_open: {in: leave, replace: ticket = false, by: ticket = true}
""")
    document = read(gate)
    rows = {row.name.text: row for row in document.rows}
    mistakes = read_mistakes(gate.parent / FILE, document)
    found = versions(document, {item.property.text: (item.edit,) for item in mistakes if item.edit})
    changed = {
        name: [(row.name.text, alike(row.when, rows[row.name.text].when)) for row in version.rows]
        for name, version in found.items()
    }
    assert changed == {
        "nobody_without": [("enter", False)],
        "it_closes": [("enter", True)],
        "never_open": [("leave", True)],
    }


def test_options_that_say_what_to_generate_do_not_go_with_it(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = declared(gate, capsys, "--sample", "3")
    assert code == 2


def test_the_schema_accepts_what_is_shipped_and_nothing_misspelt() -> None:
    judge = Draft202012Validator(schema_of("mistakes"))
    yaml = YAML(typ="safe", pure=True)
    paths = [entry.path.parent / FILE for entry in shipped() if entry.kind == "system"]
    texts = [path.read_text(encoding="utf-8") for path in paths if path.is_file()]
    assert texts
    for text in texts:
        assert not list(judge.iter_errors(yaml.load(text)))
        assert list(judge.iter_errors(yaml.load(text.replace("    in:", "    at:", 1))))


def test_the_schema_knows_every_key() -> None:
    found = schema_of("mistakes")
    parts = {"mistakes": found, "mistake": found["$defs"]["mistake"]}
    assert {name: set(part["properties"]) for name, part in parts.items()} == {
        name: set(keys) for name, keys in KEYS.items()
    }
