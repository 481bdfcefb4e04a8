"""Goal: what an answer tells spares states, and decides nothing that the log does not say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from validating import validated

from checker.conformance.doubts import Doubts
from checker.conformance.matching import Binding
from checker.conformance.places import LOST, WAITING, Armed, Place, Sooner
from checker.errors import SpecificationError

SPEC = """\
system: desk
about: Clients ask for a ticket; the desk grants or refuses, and nobody sees when.
constants:
  Client: {ids: 3}
types:
  Stage: one of idle, asked, granted, refused
variables:
  stage: {type: total map of Client to Stage, initial: "{c: idle for c in Client}"}
  grants: {type: 0..3, initial: "0"}
rows:
  - row: ask
    for: {c: Client}
    when: stage[c] == idle
    do: stage[c] = asked
  - row: grant
    for: {c: Client}
    when: stage[c] == asked and grants < 3
    do: |
      stage[c] = granted
      grants += 1
  - row: refuse
    for: {c: Client}
    when: stage[c] == asked
    do: stage[c] = refused
  - row: hear
    for: {c: Client}
    when: stage[c] == granted
    do: stage[c] = idle
  - row: hear_no
    for: {c: Client}
    when: stage[c] == refused
    do: stage[c] = idle
properties:
  there_is_a_desk:
    always: grants >= 0
    why: nothing is asked of it here.
"""

MAPPING = """\
conformance: desk
rows:
  ask: {call: ask, with: {client: c}}
  hear: {call: hear, with: {client: c}}
  hear_no: {call: hear_no, with: {client: c}}
rest: nobody sees it
observe: {grants: grants}
lines:
  pairs: id
  read:
    asked: {where: {kind: ask}, call: ask, with: {client: who}}
    granted: {where: {kind: given}, call: hear, with: {client: who}, fields: {grants: grants}}
    refused: {where: {kind: denied}, call: hear_no, with: {client: who}}
"""

TOLD = """\
told:
  grant: [granted]
  refuse: [refused]
"""

Line = dict[str, Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "desk.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)


def judge(lines: list[Line], mapping: str) -> dict[str, Any]:
    Path("conformance.yaml").write_text(mapping)
    Path("run.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return validated("desk.yaml", "run.jsonl")


def line(kind: str, who: str, number: int) -> Line:
    return {"kind": kind, "who": who, "id": number}


ALL_ASK = [line("ask", f"c{n}", n) for n in (1, 2, 3)]
ANSWERS = [line("denied", "c3", 3), line("given", "c1", 1), line("denied", "c2", 2)]
ALL_REFUSED = [line("denied", f"c{n}", n) for n in (1, 2, 3)]


def test_answers_spare_states_and_change_no_verdict() -> None:
    run = [*ALL_ASK, *ANSWERS]
    without, with_them = judge(run, MAPPING), judge(run, MAPPING + TOLD)
    assert without["verdict"] == with_them["verdict"] == "explained"
    assert without["rows"] == with_them["rows"]
    assert with_them["states_at_most"] < without["states_at_most"]


def test_what_no_answer_explains_diverges_with_them_too() -> None:
    """One request was granted, and the last answer says that none was."""
    run = [*ALL_ASK, *ALL_REFUSED[:2], {**line("given", "c3", 3), "grants": 0}]
    assert judge(run, MAPPING)["verdict"] == "diverges"
    assert judge(run, MAPPING + TOLD)["verdict"] == "diverges"


def test_a_request_without_an_answer_may_have_had_any() -> None:
    run = [line("ask", "c1", 1), line("ask", "c2", 2), {**line("given", "c2", 2), "grants": 2}]
    assert judge(run, MAPPING + TOLD)["verdict"] == "explained"


def test_a_word_that_leaves_the_run_out_decides_nothing() -> None:
    wrong = TOLD.replace("[granted]", "[refused]")
    found = judge([*ALL_ASK, *ANSWERS], MAPPING + wrong)
    assert found["verdict"] == "inconclusive"
    assert "`told` leaves out" in found["why"]


def test_what_is_taken_soon_waits_for_what_its_answer_tells() -> None:
    refused = [line("ask", "c1", 1), line("denied", "c1", 1)]
    alone = judge(refused, MAPPING + "soon: [grant]\n")
    assert alone["verdict"] == "explained"
    assert "`soon` leaves out a run" in alone["why"]
    together = judge(refused, MAPPING + "soon: [grant]\n" + TOLD)
    assert (together["verdict"], together["why"]) == ("explained", None)
    granted = [line("ask", "c1", 1), line("given", "c1", 1)]
    assert judge(granted, MAPPING + "soon: [grant]\n" + TOLD)["verdict"] == "explained"


def test_a_divergence_is_judged_once_more_without_all_words_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ways: list[object] = []
    without = Doubts._without
    monkeypatch.setattr(
        Doubts, "_without", lambda one, space, way: ways.append(way) or without(one, space, way)
    )
    wrong = [line("ask", "c1", 1), line("denied", "c1", 1), line("given", "c1", 1)]
    for more, times in (("", 0), (TOLD, 1), ("soon: [grant]\n", 1), ("soon: [grant]\n" + TOLD, 1)):
        ways.clear()
        assert judge(wrong, MAPPING + more)["verdict"] == "diverges"
        assert len(ways) == len(set(ways)) == times, more


def test_a_misspelt_form_is_refused() -> None:
    with pytest.raises(SpecificationError) as raised:
        judge(ALL_ASK, MAPPING + TOLD.replace("[granted]", "[grantd]"))
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.code, diagnostic.help) == ("N206", "did you mean `granted`?")


def place(earliest: float, now: float, latest: float = float("inf")) -> Place:
    return Place(b"k", Binding((), ()), (Armed(0, "c1", earliest, latest),), now)


@pytest.mark.parametrize(
    ("other", "spared"),
    [
        (place(6.0, 9.0), True),
        (place(5.0, 10.0), True),
        (place(4.0, 9.0), False),
        (place(6.0, 8.0), False),
        (place(6.0, 9.0)._replace(key=b"other"), False),
        (place(6.0, 9.0)._replace(requests=(("7", 0),)), False),
    ],
)
def test_a_place_is_spared_only_for_one_that_was_never_later(other: Place, spared: bool) -> None:
    assert Sooner([place(5.0, 9.0)]).has(other) == spared


def test_what_may_still_be_done_or_not_spares_a_place_without_it() -> None:
    waits, may = (place(5.0, 9.0)._replace(requests=(("7", one),)) for one in (WAITING, LOST))
    assert Sooner([may]).has(place(5.0, 9.0))
    assert not Sooner([place(5.0, 9.0)]).has(may)
    assert not Sooner([waits]).has(place(5.0, 9.0))


def test_a_timer_that_must_fire_sooner_spares_nothing() -> None:
    assert not Sooner([place(5.0, 9.0, latest=9.0)]).has(place(6.0, 9.0, latest=12.0))
