"""Goal: a fact has one value at a time and changes where a log lets it, whatever a model allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from validating import validated

from checker.conformance.facts import Facts
from checker.conformance.forms import Turns
from checker.conformance.paths import Path as Keys
from checker.conformance.paths import parsed
from checker.conformance.recording import Change, Fact
from checker.conformance.turns import Connections
from checker.errors import SpecificationError
from checker.source import NOWHERE
from checker.table.document import Word

SPEC = """\
system: desks
about: Clients ask at one of several desks; the model knows of one.
constants:
  Client: {ids: 3}
variables:
  asked: {type: set of Client, initial: empty}
rows:
  - row: ask
    for: {c: Client}
    when: c not in asked
    do: asked.add(c)
  - row: hear
    for: {c: Client}
    when: c in asked
    do: asked.discard(c)
properties:
  there_is_a_desk:
    always: len(asked) >= 0
    why: nothing is asked of it here.
"""

MAPPING = """\
conformance: desks
rows:
  ask: {call: ask, with: {client: c}}
  hear: {call: hear, with: {client: c}}
observe: {asked: asked}
definitions:
  moves(): "0"
  returns(): "0"
sizes:
  Client: who
  moves: kind has move
  returns: kind has return
facts:
  open:
    value: desk
    is: [served]
    is_not: [sent_away]
    changes:
      moved: {to: desk, within: 100}
      closed: {within: 1000}
      shut: {away: desk, within: 100, known_within: 300}
    known_within: 20
  gone_to:
    value: desk
    of: who
    is: [asked]
    changes:
      sent_away: {within: 50}
    unanswered: {after: 40, within: 100}
    only_with: [told]
timers:
  patience:
    armed: "{c for c in asked if moves() > 0}"
    fires: {}
    greatest: 500
    anew: {moved: 100}
  coming_back:
    armed: "{c for c in Client if c not in asked and returns() > 0}"
    fires: {ask: "c if returns() > 0 else none"}
    greatest: 1000
    or_never: true
lines:
  at: at
  pairs: id
  of: who
  turns:
    of: line to .
    answers: {kind: answer}
    same: [who, desk]
  read:
    moved: {where: {kind: move}, takes: length}
    closed: {where: {kind: close}}
    shut: {where: {kind: shut}, takes: length}
    told: {where: {kind: told}}
    returns: {where: {kind: return}}
    asked: {where: {kind: ask}, call: ask, with: {client: who}}
    heard_by_nobody: {where: {kind: answer, asked.kind: go}}
    served: {where: {kind: answer, ok: "true"}, call: hear, with: {client: who}}
    sent_away: {where: {kind: answer}, call: hear, with: {client: who}}
"""

Line = dict[str, Any]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("desks.yaml").write_text(SPEC)
    Path("recorded.yaml").write_text(MAPPING)


def judged(*lines: Line) -> dict[str, Any]:
    Path("run.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return validated("desks.yaml", "run.jsonl")


def at(desk: str, begun: int, ended: int, *, ok: bool = True, who: str = "c1") -> tuple[Line, Line]:
    """A client asks at a desk, and is served there or sent away."""
    name = f"{who}.{begun}"
    return (
        {"kind": "ask", "who": who, "id": name, "at": begun, "desk": desk},
        {"kind": "answer", "who": who, "id": name, "at": ended, "desk": desk, "ok": ok},
    )


def move(desk: str, when: int) -> Line:
    return {"kind": "move", "desk": desk, "at": when}


def verdict(*lines: Line) -> str:
    return str(judged(*lines)["verdict"])


def test_who_serves_is_one_until_a_line_lets_it_change() -> None:
    begun = at("one", 0, 5)
    assert verdict(*begun, move("two", 10), *at("two", 60, 65)) == "explained"
    assert verdict(*begun, move("two", 10), *at("one", 300, 305)) == "explained", "or it does not"
    found = judged(*begun, move("two", 10), *at("two", 60, 65), *at("one", 300, 305))
    assert (found["verdict"], found["line"]) == ("diverges", 7)
    assert found["why"] == (
        "the line says that `open` is one, but it is two since line 3 and cannot have changed"
    )
    assert verdict(
        *begun, move("two", 10), *at("two", 60, 65), move("one", 200), *at("one", 250, 255)
    ) == ("explained")


def test_who_sends_away_is_not_the_one() -> None:
    begun = (*at("one", 0, 5), move("two", 10))
    assert verdict(*begun, *at("one", 60, 65, ok=False), *at("two", 70, 75)) == "explained"
    assert verdict(*at("one", 0, 5), *at("one", 6, 9, ok=False), move("two", 10)) == "diverges"
    assert verdict(*begun, *at("one", 60, 65, ok=False), *at("one", 70, 75)) == "diverges"
    assert verdict(*begun, *at("one", 200, 205, ok=False)) == "explained", "it is two since"
    late = at("one", 130, 200, ok=False)
    assert verdict(*begun, *at("one", 125, 128), *late) == "diverges", "a move takes 100 ms at most"


def test_at_first_a_fact_may_have_no_value() -> None:
    """A desk that has not opened yet sends away whoever comes, and no line says when it opens."""
    begun = (*at("one", 0, 5, ok=False), *at("one", 6, 9), move("two", 500))
    assert verdict(*begun) == "explained"
    assert verdict(*begun[:-1], *at("one", 10, 12, ok=False), begun[-1]) == "diverges"


def test_what_was_asked_before_a_change_may_be_answered_after_it() -> None:
    asks, hears = at("one", 8, 100, who="c2")
    others = at("two", 60, 65)
    assert verdict(*at("one", 0, 5), asks, move("two", 10), *others, hears) == "explained"


def test_who_was_the_one_may_not_know_for_a_while() -> None:
    begun = (*at("one", 0, 5), move("two", 10), *at("two", 60, 65))
    assert verdict(*begun, *at("one", 80, 85, who="c2")) == "explained"
    assert verdict(*begun, *at("one", 90, 95, who="c2")) == "diverges"
    away = at("one", 70, 72, ok=False, who="c2")
    assert verdict(*begun, *away, *at("one", 75, 79)) == "diverges", "it has said that it knows"


def test_a_change_to_anything_leaves_all_open_for_a_time() -> None:
    begun = (*at("one", 0, 5), {"kind": "close", "at": 10})
    both = (*at("two", 60, 65), *at("one", 70, 75), *at("two", 80, 85))
    assert verdict(*begun, *both, *at("two", 1200, 1205)) == "explained"
    after = (*at("two", 1200, 1205), *at("one", 1300, 1305))
    assert verdict(*begun, *both, *after) == "diverges"


def test_a_log_that_tells_of_no_change_is_not_judged_by_a_fact() -> None:
    assert verdict(*at("one", 0, 5), *at("two", 60, 65), *at("one", 70, 75)) == "explained"


def test_of_many_changes_none_is_forgotten_that_may_matter() -> None:
    desks = ("two", "one") * 10
    lines = [
        line
        for n, desk in enumerate(desks)
        for line in (move(desk, 1000 * n + 10), *at(desk, 1000 * n + 200, 1000 * n + 205))
    ]
    assert verdict(*at("one", 0, 5), *lines) == "explained"
    wrong = at("two", 19900, 19905)
    assert verdict(*at("one", 0, 5), *lines, *wrong) == "diverges"
    untaken = [move("two" if n % 2 else "one", 1000 * n) for n in range(1, 40)]
    assert verdict(*at("one", 0, 5), *untaken) == "explained"


def test_a_timer_may_be_set_anew_after_a_line() -> None:
    asks, hears = at("one", 0, 520)
    assert verdict(asks, hears) == "explained", "no desk moves, so nobody is impatient"
    assert verdict(asks, hears, move("one", 530)) == "diverges"
    assert verdict(move("one", 0), asks, hears | {"at": 590}) == "explained"
    assert verdict(move("one", 0), asks, hears | {"at": 610}) == "diverges"


def test_what_takes_a_while_lets_things_change_for_longer() -> None:
    """Its length stands in the line, whatever it is."""
    asks, hears = at("one", 0, 690)
    assert verdict(move("one", 0) | {"length": 80}, asks, hears) == "diverges"
    assert verdict(move("one", 0) | {"length": 100}, asks, hears) == "explained"
    shut = {"kind": "shut", "desk": "one", "at": 100, "length": "for 900 ms"}
    opens = (*at("one", 0, 10), shut, *at("two", 1050, 1060, who="c2"))
    assert verdict(*opens, *at("two", 1110, 1120)) == "explained"
    assert verdict(*opens, *at("one", 1200, 1290)) == "explained", "one does not know it yet"
    assert verdict(*opens, *at("one", 1330, 1340)) == "diverges", "one was shut for 900 ms"


def test_an_answer_is_known_by_what_was_asked_since() -> None:
    def on_a_line(*lines: Line) -> tuple[Line, ...]:
        return tuple(line | {"line": "a.1"} for line in lines)

    asks, hears = at("one", 0, 10)
    goes = {"kind": "go", "who": "c1", "id": "c1.go", "at": 5, "desk": "one"}
    again = at("one", 20, 30)
    assert verdict(*on_a_line(asks, hears, *again)) == "explained"
    assert verdict(*on_a_line(asks, goes, hears)) == "explained"
    assert verdict(*on_a_line(asks, goes, hears, again[0])) == "diverges", "nobody has heard it"


def test_a_timer_is_set_anew_no_later_than_what_lets_it_is_over() -> None:
    """Desk two has served by 60, so it had opened by then."""
    before = (*at("one", -100, -90, who="c2"), move("two", 0), *at("two", 50, 60, who="c2"))
    asks, hears = at("two", -50, 590)
    begun = (*before[:2], asks, *before[2:])
    assert verdict(*begun, hears) == "diverges", "two has it since 60 at the latest"
    assert verdict(*begun, hears | {"at": 555}) == "explained"
    untold = (*before[:2], asks, before[2])
    assert verdict(*untold, hears) == "explained", "it may have moved at 100"


def test_a_fact_may_change_away_from_a_value_once() -> None:
    begun = (*at("one", 0, 5), {"kind": "shut", "desk": "one", "at": 10})
    assert verdict(*begun, *at("two", 60, 65), *at("two", 500, 505)) == "explained"
    assert verdict(*begun, *at("two", 60, 65), *at("three", 70, 75)) == "diverges", "once"
    assert verdict(*begun, *at("two", 60, 65), *at("one", 200, 205)) == "explained", "it is stale"
    assert verdict(*begun, *at("two", 60, 65), *at("one", 400, 405)) == "diverges"
    away = (*at("one", 200, 205, ok=False), *at("one", 210, 215))
    assert verdict(*begun, *at("two", 60, 65), *away) == "diverges", "it knows by then"
    others = {"kind": "shut", "desk": "two", "at": 10}
    assert verdict(*at("one", 0, 5), others, *at("two", 60, 65)) == "diverges", "one has it"


def test_a_fact_may_be_somebodys() -> None:
    told = {"kind": "told", "at": 0}
    asks = (*at("one", 1, 5), *at("two", 2, 6, who="c2"))
    assert verdict(told, *asks[:1], asks[2], asks[1], asks[3], *at("one", 10, 15)) == "explained"
    assert verdict(*at("one", 1, 5), *at("two", 10, 15)) == "explained", "no line tells of it"
    found = judged(told, *at("one", 1, 5), *at("two", 10, 15))
    assert (found["verdict"], found["line"]) == ("diverges", 4)
    assert verdict(told, *at("one", 1, 5, ok=False), *at("two", 10, 15)) == "explained"
    assert verdict(told, *at("one", 1, 5, ok=False), *at("one", 7, 9), *at("two", 10, 15)) == (
        "explained"
    ), "it was sent away not long ago"
    later = (*at("one", 60, 65), *at("two", 70, 75))
    assert verdict(told, *at("one", 1, 5, ok=False), *later) == "diverges"


def test_who_waits_for_long_may_go_elsewhere() -> None:
    told = {"kind": "told", "at": 0}
    assert verdict(told, *at("one", 1, 60), *at("two", 70, 75)) == "explained"
    assert verdict(told, *at("one", 1, 40), *at("two", 70, 75)) == "diverges"


def test_a_timer_that_may_never_fire_does_so_in_time_or_not_at_all() -> None:
    returns = {"kind": "return", "at": 6}
    assert verdict(*at("one", 0, 5), returns, *at("one", 900, 905)) == "explained"
    assert verdict(*at("one", 0, 5), returns, *at("one", 1010, 1015)) == "diverges"
    others = at("one", 1010, 1015, who="c2")
    assert verdict(*at("one", 0, 5), returns, *at("one", 900, 905, who="c2"), *others) == (
        "explained"
    ), "c1 never comes back, and nobody waits for that"


def on(line: str, *lines: Line) -> list[Line]:
    """Lines that were seen on a connection."""
    return [one | {"line": f"{line}.{one['at']}"} for one in lines]


def test_requests_of_a_connection_are_answered_in_turn() -> None:
    first, second = at("one", 0, 20), at("one", 10, 30, who="c2")
    assert verdict(*on("a", first[0], second[0], first[1], second[1])) == "explained"
    assert verdict(*on("a", first[0], second[0], second[1], first[1])) == "diverges"
    apart = on("a", first[0]) + on("b", second[0], second[1] | {"at": 15}) + on("a", first[1])
    assert verdict(*apart) == "explained"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda run: run[:2] + run[3:], "answers what no line asks, or what is answered already"),
        (lambda run: [*run[:2], run[1], *run[2:]], "answers what no line asks"),
        (lambda run: [*run[:1], *run[2:]], "line 1, which was asked before"),
        (lambda run: [run[0], run[1] | {"desk": "two"}, *run[2:]], "says otherwise who asked whom"),
        (lambda run: [run[0], *run], "asks what another one asks already"),
        (lambda run: run[1:], "answers what no line asks"),
    ],
)
def test_what_is_wrong_with_the_turns_of_a_connection_is_told(change: Any, why: str) -> None:
    several = [line for n in range(3) for line in at("one", 10 * n, 10 * n + 5, who=f"c{n + 1}")]
    found = judged(*change(on("a", *several)))
    assert found["verdict"] == "diverges"
    assert why in found["why"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("is: [served]", "is: [serves]"),
        ("only_with: [told]", "only_with: [tells]"),
        ("closed: {within", "closes: {within"),
        ("anew: {moved", "anew: {mov"),
    ],
)
def test_forms_that_there_are_not_are_told_with_their_place(old: str, new: str) -> None:
    Path("recorded.yaml").write_text(MAPPING.replace(old, new))
    with pytest.raises(SpecificationError) as caught:
        judged(*at("one", 0, 5))
    (diagnostic,) = caught.value.diagnostics
    assert "no form of lines is called" in diagnostic.message
    assert diagnostic.span.source.name.endswith("recorded.yaml")


def path(text: str) -> Keys:
    found = parsed(text)
    assert found is not None
    return found


@pytest.mark.parametrize(("connections", "waiting"), [(2, 100), (100, 2)])
def test_an_answer_to_what_was_forgotten_contradicts_nothing(
    monkeypatch: pytest.MonkeyPatch, connections: int, waiting: int
) -> None:
    monkeypatch.setattr("checker.conformance.turns.CONNECTIONS", connections)
    monkeypatch.setattr("checker.conformance.turns.WAITING", waiting)
    turns = Turns(path("on"), ((path("is"), "a"),), ())
    known = Connections(turns, midway=False)
    asked = [*[{"on": "c1", "is": "q"}] * 3, *({"on": f"c{n}", "is": "q"} for n in (2, 3))]
    for number, said in enumerate(asked):
        assert known.contradicted(number, said, f"p{number}") is None
    answer = {"on": "c1", "is": "a"}
    assert known.contradicted(10, answer, "p0") is None
    assert known.contradicted(11, {"on": "c3", "is": "a"}, "p4") is None
    assert known.contradicted(12, {"on": "c3", "is": "a"}, "p4") is not None


def test_a_change_of_what_nobody_told_of_yet_is_not_over() -> None:
    of, desk = path("who"), path("desk")
    change = Change(None, desk, 100, 0)
    word = Word("gone_to", NOWHERE)
    fact = Fact(word, desk, frozenset({"asked"}), frozenset(), {"moved": change}, 0, of)
    facts = Facts([fact])
    for line, (form, who, time) in enumerate([("asked", "c1", 0.0), ("moved", "c2", 5.0)]):
        assert facts.contradicted([form], line, {"who": who, "desk": "d1"}, (time, time)) is None
    assert facts.settled()["moved"] == float("inf")
