"""Goal: a listed bug is the edits it says, with the fate of its text; what is said of it is held.

What the shipped systems list is judged in tests/spec/test_bugs.py.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from checker.cli.main import run as command
from checker.cli.schema import schema_of
from checker.errors import SpecificationError, UsageError
from checker.mutation.apart import Apart
from checker.mutation.batches import Job, judge_batch
from checker.mutation.bugs import FILE, KEYS, by_key, read_bugs
from checker.mutation.edits import edited
from checker.table import read
from checker.table.sources import texts_of
from checker.verdict import exits

QUEUE = """
system: queue
about: A worker takes jobs off a queue, one after the other, and tells whoever asked.
types:
  Count: 0..2
  Mood: one of CALM, CROSS
messages:
  Ask:  {n: Count}
  Told: {n: Count}
channels:
  asks: {carries: [Ask, Told], order: fifo, capacity: "1", when_full: block}
variables:
  busy:  {type: bool, initial: "false"}
  given: {type: Count, initial: "0"}
  done:  {type: Count, initial: "0"}
  mood:  {type: Mood, initial: CALM}
definitions:
  free: not busy
rows:
  - row: somebody_asks
    when: given < 2 and len(asks) == 0
    do: given += 1
    send: asks.Ask(given)
  - row: begins
    on: asks.Ask(n)
    when: free
    do: |
      busy = true
      if n == 2:
          mood = CROSS
  - row: ends
    when: busy
    do: |
      busy = false
      done += 1
  - row: calms_down
    when: mood == CROSS and free and len(asks) == 0
    do: mood = CALM
properties:
  all_is_asked_for: {always: done <= given, why: what nobody asked for is not done.}
  one_at_a_time: {step: "implies(next(busy) and busy, next(done) == done)", why: one worker.}
  who_begins_was_free: {step: "implies(ran(begins), not busy)", why: one worker.}
deadlock: false
instances:
  default: {expect: {verdict: holds}}
  pinned: {expect: {verdict: holds, distinct: 9, generated: 10}}
"""

BUGS = """
bugs: queue
about: Every kind of place, and every fate.
list:
  work_that_nobody_asked_for:
    source: TICKET-1
    about: A worker counts a job twice.
    in: ends
    replace: done += 1
    by: done = min(2, done + 2)
  a_worker_takes_two:
    about: Whoever is busy takes one more. In a definition and a row.
    edits:
      - {in: free, replace: not busy, by: busy or not busy}
      - {in: calms_down, replace: mood == CROSS and free, by: mood == CROSS and not busy}
  the_wrong_message:
    about: A trigger, which cannot be chosen while a machine runs.
    in: begins
    replace: asks.Ask(n)
    by: asks.Told(n)
    survives: Nothing asks that work is begun.
  nobody_is_cross:
    about: A mood that is forgotten.
    in: begins
    replace: |-
      if n == 2:
          mood = CROSS
    survives: A mood is nobody's business.
  another_guard_that_is_the_same:
    about: No step is another.
    in: ends
    replace: "when: busy"
    by: "when: busy or not free"
  another_order_of_fields:
    about: In a text of its own no step is another, either.
    in: system.yaml
    replace: |-
      Count: 0..2
      Mood: one of CALM, CROSS
    by: |-
      Mood: one of CALM, CROSS
      Count: 0..2
  no_specification:
    about: A type that does not fit.
    in: ends
    replace: done += 1
    by: done = true
"""


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    (tmp_path / FILE).write_text(BUGS)
    path = tmp_path / "system.yaml"
    path.write_text(QUEUE)
    return path


def judged(queue: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    code = command(["mutate", str(queue), "--bugs", "--workers", "1", *more])
    return code, capsys.readouterr().out


def changed(queue: Path, old: str, new: str) -> None:
    text = (queue.parent / FILE).read_text()
    assert text.count(old) == 1
    (queue.parent / FILE).write_text(text.replace(old, new))


def test_of_every_bug_its_fate_is_told(queue: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = judged(queue, capsys, "--format", "json")
    found = {item["change"]: item for item in json.loads(out)["list"]}
    assert {name: item["fate"] for name, item in found.items()} == {
        "work_that_nobody_asked_for": "caught",
        "a_worker_takes_two": "caught",
        "the_wrong_message": "counted",
        "nobody_is_cross": "counted",
        "another_guard_that_is_the_same": "equal",
        "another_order_of_fields": "equal",
        "no_specification": "refused",
    }
    assert found["a_worker_takes_two"]["by"] == ["who_begins_was_free"]
    assert found["work_that_nobody_asked_for"]["source"] == "TICKET-1"
    assert "`done = true`" in found["no_specification"]["note"]
    assert found["the_wrong_message"]["survives"] == "Nothing asks that work is begun."
    assert code == 1  # one is no specification


def test_in_one_machine_as_by_themselves(queue: Path) -> None:
    """Each bug alone, its text read and checked, has the sight that it has beside the others."""
    listed = by_key(read_bugs(queue.parent / FILE, read(queue)))
    texts = texts_of(read(queue))
    job = Job(str(queue), "pinned", tuple(listed), 1 << 30, texts, tuple(listed.values()))
    together = judge_batch(job)
    for key, bug in listed.items():
        one = replace(job, keys=(key,), bugs=(bug,))
        assert judge_batch(one) == {key: together[key]}


def test_what_changes_while_it_is_judged_is_not_judged(queue: Path) -> None:
    texts = texts_of(read(queue))
    queue.write_text(QUEUE + "# a line more\n")
    with pytest.raises(UsageError, match="was changed while it was being checked"):
        judge_batch(Job(str(queue), "pinned", ("none",), 1 << 30, texts, ()))


def test_a_text_of_its_own_has_the_verdict_of_its_check(
    queue: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = read(queue)
    texts = texts_of(document)
    listed = by_key(read_bugs(queue.parent / FILE, document))
    job = Job(str(queue), "default", tuple(listed), 1 << 30, texts, tuple(listed.values()))
    for key, sight in judge_batch(job).items():
        ((_, text),) = edited(document, listed[key].edits).items()
        (tmp_path / "edited").mkdir(exist_ok=True)
        (tmp_path / "edited" / "system.yaml").write_text(text)
        code = command(["check", str(tmp_path / "edited"), "--format", "json"])
        out = capsys.readouterr().out
        if sight.seen == "refused":
            assert code == exits.SPECIFICATION
        else:
            broken = [
                i["name"] for i in json.loads(out)["properties"] if i["verdict"] == "violated"
            ]
            assert (sight.by if sight.seen == "caught" else ()) == tuple(broken)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    survives: A mood is nobody's business.\n", "", "noticed by declared figures only"),
        (
            "    by: done = min(2, done + 2)\n",
            "    by: done = min(2, done + 2)\n    survives: so be it\n",
            "caught, though it is said to survive",
        ),
    ],
)
def test_what_is_said_of_a_bug_is_held(
    queue: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    changed(queue, BUGS[BUGS.index("  no_specification") :], "")
    assert judged(queue, capsys)[0] == 0
    changed(queue, old, new)
    code, out = judged(queue, capsys)
    assert code == 1
    assert said in out


def test_the_page_lists_all_of_them(
    queue: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(queue, capsys, "--out", str(tmp_path / "out"))
    page = (tmp_path / "out" / "bugs.md").read_text()
    assert "# Bugs of queue" in page
    assert "TICKET-1: A worker counts a job twice." in page
    assert all(name in page for name in ("nobody_is_cross", "no_specification"))
    again = judged(queue, capsys, "--out", str(tmp_path / "out"), "--format", "json")
    assert json.loads(again[1])["bugs"] == 7


def test_another_file_and_some_of_them(
    queue: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = (queue.parent / FILE).rename(tmp_path / "others.yaml")
    code = command(["mutate", str(queue), "--bugs", str(other), "--sample", "2", "--seed", "1"])
    assert "queue: 2 bugs, judged by" in capsys.readouterr().out
    assert code in {0, 1}
    assert command(["mutate", str(queue), "--bugs"]) == 2
    assert "there is no file" in capsys.readouterr().err
    other.write_text("bugs: queue\nlist: {}\n")
    assert command(["mutate", str(queue), "--bugs", str(other)]) == 2
    assert "lists no bug" in capsys.readouterr().err


def test_a_file_that_is_named_is_that_of_this_folder(
    queue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert command(["mutate", str(queue), "--bugs", FILE]) == 2


@pytest.mark.parametrize("more", [["--row", "ends"], ["--kind", "guard"], ["--declared"]])
def test_what_does_not_go_with_it(queue: Path, more: list[str]) -> None:
    assert command(["mutate", str(queue), "--bugs", *more]) == 2


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("bugs: queue", "bugs: queues", "N206"),
        ("in: system.yaml", "in: systems.yaml", "N206"),
        ("    replace: asks.Ask(n)\n", "", "T114"),
        ("    about: A mood that is forgotten.\n", "", "T114"),
        ("    about: A mood", "    abuot: A mood", "T113"),
        (
            "    in: begins\n    replace: asks",
            "    edits: []\n    in: begins\n    replace: a",
            "T117",
        ),
        ("in: calms_down, replace: mood == CROSS and free", "in: free, replace: busy", "T115"),
        ("replace: asks.Ask(n)", "replace: asks.Asked(n)", "T115"),
    ],
)
def test_what_is_wrong_has_a_place(queue: Path, old: str, new: str, code: str) -> None:
    changed(queue, old, new)
    with pytest.raises(SpecificationError) as raised:
        read_bugs(queue.parent / FILE, read(queue))
    codes = {item.code for item in raised.value.diagnostics}
    assert code in codes
    assert raised.value.diagnostics[0].span.source.name == str(queue.parent / FILE)


def test_the_schema_knows_every_key() -> None:
    found = schema_of("bugs")
    parts = {"bugs": found, "bug": found["$defs"]["bug"], "edit": found["$defs"]["edit"]}
    assert {name: set(part["properties"]) for name, part in parts.items()} == {
        name: set(keys) for name, keys in KEYS.items()
    }
    Draft202012Validator.check_schema(found)


WAYS = """
system: ways
about: Two choices, one after the other.
constants:
  Key: {ids: 2}
variables:
  chosen: {type: Key, initial: key1}
rows:
  - row: choose
    do: |
      for turn in Key:
          chosen = pick(Key)
          if chosen == key1:
              pass
properties:
  other: {sometimes: chosen == key2, why: It is reached.}
instances:
  default:
    expect: {verdict: holds, distinct: 2%s}
"""


@pytest.mark.parametrize(
    ("figures", "fate"),
    [(", generated: 9", "counted"), (", rows: {choose: 8}", "counted"), ("", "equal")],
)
def test_a_bug_that_only_leaves_ways_out_is_noticed_by_figures_that_count_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], figures: str, fate: str
) -> None:
    """The same states are reached by the same rows, in 6 ways instead of 8."""
    path = tmp_path / "ways.yaml"
    path.write_text(WAYS % figures)
    (tmp_path / FILE).write_text(
        "bugs: ways\nlist:\n  early: {about: Early., in: choose, replace: pass, by: break}\n"
    )
    _, out = judged(path, capsys, "--format", "json")
    assert [item["fate"] for item in json.loads(out)["list"]] == [fate]


CHOICES = """
system: choices
about: Clients that are used alike ask, and one of two keys is chosen.
constants:
  Client: {ids: 2, symmetric: true}
  Key: {ids: [k1, k2]}
variables:
  asked: {type: set of Client, initial: empty}
  chosen: {type: Key, initial: k1}
rows:
  - row: asks
    for: {c: Client}
    do: asked = asked | {c}
  - row: choose
    for: {k: Key}
    do: chosen = pick(Key)
deadlock: false
properties:
  other: {sometimes: chosen == k2, why: It is reached.}
instances:
  default: {expect: {verdict: holds%s}}
"""


@pytest.mark.parametrize(("figures", "seen"), [(", generated: 37", "counted"), ("", "same")])
def test_ways_are_counted_with_symmetry_too_and_in_a_text_of_its_own(
    tmp_path: Path, figures: str, seen: str
) -> None:
    """Each key is chosen by the row for that key alone, no longer by that for the other one."""
    path = tmp_path / "choices.yaml"
    path.write_text(CHOICES % figures)
    (tmp_path / FILE).write_text(
        "bugs: choices\nlist:\n  own: {about: Own., in: choose, replace: pick(Key), by: k}\n"
    )
    document = read(path)
    ((key, bug),) = by_key(read_bugs(tmp_path / FILE, document)).items()
    job = Job(str(path), "default", (key,), 1 << 30, texts_of(document), (bug,))
    together = judge_batch(job)[key]
    alone = Apart(document, "default", 1 << 30).sight(read(path, edited(document, bug.edits)))
    assert (together.seen, alone.seen) == (seen, seen)


FORMULA = """
system: blinks
about: It blinks for ever.
variables: {on: {type: bool, initial: "false"}}
rows:
  - {row: blink, do: on = not on, fair: weak}
properties:
  lit: {ltl: always(eventually(on)), why: it is a test.}
instances:
  default: {expect: {verdict: holds}}
"""


def test_a_formula_of_the_same_conditions_is_another(tmp_path: Path) -> None:
    path = tmp_path / "blinks.yaml"
    path.write_text(FORMULA)
    (tmp_path / FILE).write_text(
        "bugs: blinks\nlist:\n  stays: {about: It stays., in: blinks.yaml, "
        "replace: always(eventually(on)), by: eventually(always(on))}\n"
    )
    document = read(path)
    ((_, bug),) = by_key(read_bugs(tmp_path / FILE, document)).items()
    sight = Apart(document, "default", 1 << 30).sight(read(path, edited(document, bug.edits)))
    assert (sight.seen, sight.by) == ("caught", ("lit",))
