"""Goal: recorded runs are explained, and one with a line changed is not, with the reason."""

import json
import random
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from click.testing import CliRunner
from validating import validated

from checker.cli.validate import validate
from checker.conformance.forms import Each
from checker.conformance.log import judged_values
from checker.errors import SpecificationError, UsageError
from checker.verdict import exits

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


LOG, DIVERGED = blocks("conformance.md", "json")[0], blocks("conformance.md", "text")[2]
HIDDEN = "hidden: [expire]\n"


@pytest.fixture
def lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lease.yaml").write_text(blocks("testing.md", "yaml")[0])
    (tmp_path / "lease.py").write_text(blocks("testing.md", "python")[0])
    (tmp_path / "conformance.yaml").write_text(blocks("conformance.md", "yaml")[0])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("lease", None)
    return tmp_path


def run(log: str, *options: str) -> tuple[int, str]:
    Path("run.jsonl").write_text(log)
    outcome = CliRunner().invoke(
        validate, ["lease.yaml", "run.jsonl", "--progress", "none", *options], standalone_mode=False
    )
    if outcome.exception is not None:
        raise outcome.exception
    assert isinstance(outcome.return_value, int)
    return outcome.return_value, outcome.stdout


def run_json(log: str, *options: str) -> tuple[int, dict[str, object]]:
    code, out = run(log, "--format", "json", *options)
    found = json.loads(out)
    assert isinstance(found, dict)
    return code, found


def squeezed(text: str) -> str:
    return " ".join(text.split())


def record(seed: int, *, hide: bool) -> list[dict[str, object]]:
    """Drive the lease of the page at random; return what was done and seen."""
    from lease import LeaseService  # type: ignore[import-not-found]  # noqa: PLC0415

    chance = random.Random(seed)  # noqa: S311 - no secret
    service, lines = LeaseService(), []
    names = ["alice", "bob"]
    while service.epoch < 3 and len(lines) < 12:
        ways = [("acquire", c) for c in names if c != service.holder and c not in service.queue]
        if service.holder is not None:
            ways += [("release", service.holder), ("expire", "")]
        name, client = chance.choice(ways)
        if name == "acquire":
            service.request(client)
        elif name == "release":
            service.release(client)
        else:
            service.expire()
            if hide:
                continue
        does = "fire" if name == "expire" else "call"
        arguments = {"client": client} if client else {}
        seen = {"holder": service.holder, "epoch": service.epoch}
        lines.append({"do": does, "name": name, "with": arguments, "fields": seen})
    return lines


def text(lines: list[dict[str, object]]) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.mark.usefixtures("lease")
def test_the_log_of_the_page_is_explained_only_with_the_hidden_expiry(lease: Path) -> None:
    mapping = (lease / "conformance.yaml").read_text()
    code, out = run("\ufeff" + LOG)
    assert code == 1
    assert squeezed(DIVERGED) in squeezed(out)
    (lease / "conformance.yaml").write_text(mapping + HIDDEN)
    code, found = run_json(LOG, "--run", "why.jsonl")
    assert code == 0
    assert found["hidden_steps"] == 1
    steps = [json.loads(line) for line in Path("why.jsonl").read_text().splitlines()]
    assert [step["step"].split("(")[0].split(" ")[0] for step in steps] == [
        "acquire",
        "acquire",
        "expire",
        "release",
    ]
    assert [step["line"] for step in steps] == [1, 2, None, 3]


@pytest.mark.parametrize("seed", range(12))
def test_runs_of_the_implementation_are_explained(lease: Path, seed: int) -> None:
    assert run_json(text(record(seed, hide=False)))[0] == 0
    mapping = (lease / "conformance.yaml").read_text()
    (lease / "conformance.yaml").write_text(mapping + HIDDEN)
    assert run_json(text(record(seed, hide=True)))[0] == 0


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize("seed", range(12))
def test_a_changed_line_is_not(seed: int) -> None:
    lines = record(seed, hide=False)
    place = seed % len(lines)
    seen = dict(lines[place]["fields"])  # type: ignore[call-overload]
    seen["epoch"] += 1
    lines[place]["fields"] = seen
    code, found = run_json(text(lines))
    assert code == 1
    assert found["line"] == place + 1
    assert found["events"] == place
    assert len(found["places"]) == min(found["states"], 3)  # type: ignore[arg-type, call-overload]
    assert found["nearest"]["items"] == [  # type: ignore[index]
        {"name": "epoch", "expected": seen["epoch"] - 1, "observed": seen["epoch"]}
    ]


@pytest.mark.usefixtures("lease")
def test_what_a_log_does_not_know_is_left_open() -> None:
    assert run_json('{"do": "call", "name": "acquire"}\n{"fields": {"epoch": 1}}\n')[0] == 0
    assert run_json('{"do": "call", "name": "acquire"}\n{"fields": {"epoch": 2}}\n')[0] == 1
    both = '{"do": "call", "name": "acquire"}\n{"do": "reset"}\n{"fields": {"holder": null}}\n'
    assert run_json(both)[0] == 0


@pytest.mark.usefixtures("lease")
def test_names_of_the_log_are_bound_when_first_seen() -> None:
    first = '{"do": "call", "name": "acquire", "with": {"client": "consumer-7"}}\n'
    other = first.replace("7", "8")
    assert run_json(first + other + '{"fields": {"holder": "consumer-7"}}\n')[0] == 0
    assert run_json(first + other + '{"fields": {"holder": "consumer-8"}}\n')[0] == 1
    assert run_json(first + other + '{"fields": {"waiting": ["consumer-8"]}}\n')[0] == 0
    assert run_json(first + other + first)[0] == 1, "it holds the lease already"
    assert run_json(first + other + other.replace("8", "9"))[0] == 1, "there are two clients"


ONE_OF_TWO = """\
system: lease
about: A system of a test.
constants:
  Client: {ids: [c1, c2]SYMMETRIC}
variables:
  holder: {type: optional Client, initial: none}
  known: {type: set of Client, initial: empty}
rows:
  - row: acquire
    for: {client: Client}
    when: holder is none
    do: |
      holder = client
      known.add(client)
  - row: release
    for: {client: Client}
    when: holder == client
    do: holder = none
  - row: forget
    for: {client: Client}
    when: client in known and holder != client
    do: known.discard(client)
"""

ONE_OF_TWO_MAPPED = """\
conformance: lease
about: A mapping of a test.
observe: {holder: holder, known: known}
rows:
  acquire: {call: acquire, with: {client: client}}
  release: {call: release, with: {client: client}}
  forget: {call: forget, with: {client: client}}
"""


@pytest.mark.parametrize("symmetric", ["", ", symmetric: true"])
@pytest.mark.parametrize(
    ("words", "explained"),
    [
        ("acquire c1 release c1", True),
        ("acquire c1 release zed", False),
        ("acquire zed release c1", False),
        ("acquire c1 release c1 acquire zed release zed", True),
        ("acquire zed release zed acquire c1 release zed", False),
        ("acquire zed release zed acquire c1 release c1", True),
        ("acquire zed release zed acquire c1 known c1", False),
        ("acquire zed release zed acquire c2 known c2,zed", True),
        (
            "acquire zed release zed forget zed acquire yan release yan acquire c1 known c1,yan",
            True,
        ),
        ("acquire zed release zed acquire c1 release c1 acquire yan", False),
    ],
)
def test_an_id_has_one_name_in_the_log_its_own_or_another(
    lease: Path, symmetric: str, words: str, explained: bool
) -> None:
    (lease / "lease.yaml").write_text(ONE_OF_TWO.replace("SYMMETRIC", symmetric))
    (lease / "conformance.yaml").write_text(ONE_OF_TWO_MAPPED)
    said = words.split()
    lines = [
        {"fields": {"known": who.split(",")}}
        if do == "known"
        else {"do": "call", "name": do, "with": {"client": who}}
        for do, who in zip(said[::2], said[1::2], strict=True)
    ]
    code, out = run("\n".join(map(json.dumps, lines)))
    assert code == (exits.HOLDS if explained else exits.DIFFERENCE), out


ALIKE = """\
system: lease
about: A system of a test.
constants:
  Client: {ids: [c1, c2, c3]SYMMETRIC}
  Kind: {ids: [k1, k2]}
variables:
  present: {type: set of Client, initial: empty}
  deep: {type: total map of Kind to total map of Client to bool, initial: FALSE}
rows:
  - row: appear
    for: {client: Client}
    when: client not in present
    do: present.add(client)
  - row: acquire
    for: {client: Client}
    when: client in present
    do: present.discard(client)
  - row: pair
    for: {a: Client, b: Client}
    when: a != b and a not in present and b not in present
    do: |
      present.add(a)
      present.add(b)
  - row: note
    for: {client: Client}
    when: not deep[k1][client]
    do: deep[k1][client] = true
""".replace("FALSE", '"{k: {c: false for c in Client} for k in Kind}"')

ALIKE_MAPPED = """\
conformance: lease
about: A mapping of a test.
observe: {present: present}
hidden: [HIDDEN]
rows:
  appear: {call: appear, with: {client: client}}
  acquire: {call: acquire, with: {client: client}}
  pair: {call: pair, with: {a: a, b: b}}
  note: {call: note, with: {client: client}}
"""


ALIKE_WAYS = [("", ""), (", symmetric: true", ""), ("", "alike: [Client]\n")]
"""Ids that are told apart, that are declared interchangeable, and that a mapping calls alike."""


@pytest.mark.parametrize(("symmetric", "alike"), ALIKE_WAYS[:2])
def test_ids_that_are_alike_explain_what_the_same_ids_apart_explain(
    lease: Path, symmetric: str, alike: str
) -> None:
    (lease / "lease.yaml").write_text(ALIKE.replace("SYMMETRIC", symmetric))

    def explained(hidden: str, words: str) -> bool:
        mapping = ALIKE_MAPPED.replace("HIDDEN", hidden) + alike
        (lease / "recorded.yaml").write_text(mapping)
        lines: list[dict[str, object]] = []
        for said in words.split():
            do, *who = said.split(":")
            names = {"a": who[0], "b": who[1]} if do == "pair" else {"client": who[0]}
            known = {"fields": {"present": who}}
            lines.append(known if do == "present" else {"do": "call", "name": do, "with": names})
        code, out = run("\n".join(map(json.dumps, lines)))
        assert code in (exits.HOLDS, exits.DIFFERENCE), out
        return code == exits.HOLDS

    # Of ids that are alike the first appears, whoever the log then calls so.
    assert explained("appear", "acquire:c2")
    assert explained("appear", "present:c3 acquire:c3")
    assert explained("appear", "present:c2:c3 appear:c1 acquire:c3 present:c1:c2")
    # Who has left by its own name is not one who is there still, without a name.
    assert explained("pair", "acquire:c1 acquire:c2")
    assert explained("pair", "acquire:c2 present:c3")
    assert not explained("pair", "acquire:c2 present:c2")
    # Two who are new in one line, and in a step that nobody saw.
    assert explained("", "pair:zed:yan acquire:yan")
    assert not explained("", "pair:zed:zed")
    assert explained("pair", "acquire:zed acquire:yan")
    # A map within a map holds who is not there as in the beginning.
    assert not explained("", "note:zed note:zed")
    assert not explained("", "note:zed note:yan note:xu note:wim")
    assert explained("", "note:c2 note:c1 note:c3")


def test_hidden_steps_for_ids_that_a_mapping_calls_alike_are_as_few_as_for_symmetric_ones(
    lease: Path,
) -> None:
    most = []
    for symmetric, alike in ALIKE_WAYS:
        (lease / "lease.yaml").write_text(ALIKE.replace("SYMMETRIC", symmetric))
        (lease / "recorded.yaml").write_text(ALIKE_MAPPED.replace("HIDDEN", "appear, note") + alike)
        _, found = run_json('{"do": "call", "name": "acquire", "with": {"client": "zed"}}')
        assert found["verdict"] == "explained"
        most.append(found["states_at_most"])
    apart, declared, called = most
    assert called == declared < apart


def test_what_is_allowed_is_what_any_state_that_fits_allows(lease: Path) -> None:
    (lease / "lease.yaml").write_text(ALIKE.replace("SYMMETRIC", "").replace("c3", "c3, c4"))
    (lease / "recorded.yaml").write_text(ALIKE_MAPPED.replace("HIDDEN", "appear"))
    lines = ['{"do": "call", "name": "acquire", "with": {"client": "c4"}}', '{"fields": {"x": 1}}']
    _, found = run_json("\n".join(lines))
    assert (found["verdict"], found["lines"]) == ("diverges", 1)
    names = {(one["name"], *one["with"].values()) for one in found["allowed"]}
    assert {("acquire", f"c{number}") for number in range(1, 5)} <= names


KINDS = """\
system: lease
about: A system of a test.
constants:
  Client: {ids: 2}
messages:
  Ask: {client: Client, kind: 0..1}
  Tell: {client: Client}
variables:
  line: {type: bag of (Ask or Tell) up to 2, initial: empty}
  last: {type: optional (Ask or Tell), initial: none}
  seen: {type: map of Tell to optional Client, initial: "{}"}
rows:
  - row: ask
    for: {client: Client}
    when: len(line) < 2
    do: |
      line.add(Ask(client, 1))
      last = Ask(client, 1)
      seen[Tell(client)] = client
"""

KINDS_MAPPED = """\
conformance: lease
about: A mapping of a test.
observe: {line: line, last: last, seen: seen}
rows:
  ask: {call: ask, with: {client: client}, answer: next(last)}
"""


def test_names_in_messages_of_several_kinds_are_those_of_the_log(lease: Path) -> None:
    (lease / "lease.yaml").write_text(KINDS)
    (lease / "recorded.yaml").write_text(KINDS_MAPPED)
    asked = {"do": "call", "name": "ask", "with": {"client": "zed"}}
    message = {"kind": "Ask", "client": "zed", "Ask_kind": 1}

    def code(**seen: object) -> int:
        return run(json.dumps(asked | {"answer": message, "fields": seen}))[0]

    assert code(line=[message], last=message) == exits.HOLDS
    assert code(seen=[{"key": {"client": "zed"}, "value": "zed"}]) == exits.HOLDS
    assert code(seen=[{"key": {"client": "zed"}, "value": "yan"}]) == exits.DIFFERENCE
    assert code(line=[message | {"client": "yan"}]) == exits.DIFFERENCE
    assert code(line=[message | {"Ask_kind": 0}]) == exits.DIFFERENCE
    assert code(last=message | {"kind": "Tell"}) == exits.DIFFERENCE


HURRIED = """\
system: lease
about: A system of a test.
variables:
  told: {type: bool, initial: "false"}
  ended: {type: bool, initial: "false"}
  left: {type: bool, initial: "false"}
rows:
  - row: tell
    when: not told
    do: told = true
  - row: leave
    when: not left and not ended
    do: left = true
  - row: end
    when: told and not ended
    do: ended = true
"""

HURRIED_MAPPED = """\
conformance: lease
about: A mapping of a test.
observe: {ended: ended, left: left}
hidden: [leave]
soon: [end]
rows:
  tell: {call: tell}
  leave: {call: leave}
  end: {call: end}
"""


def test_what_happens_before_a_row_can_be_taken_is_not_put_off_until_it_was(lease: Path) -> None:
    (lease / "lease.yaml").write_text(HURRIED)
    (lease / "recorded.yaml").write_text(HURRIED_MAPPED)
    _, found = run_json('{"do": "call", "name": "tell"}\n{"fields": {"ended": true, "left": true}}')
    assert (found["verdict"], found["why"]) == ("explained", None), "it ends as soon as it can"


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    "line", ['{"ready": true, "fields": {"epoch": 0}}', '{"do": "reset", "ready": true}']
)
def test_what_is_ready_is_a_step(line: str) -> None:
    with pytest.raises(UsageError, match="is `ready`, which is of what a whole step"):
        run(line)


@pytest.mark.usefixtures("lease")
def test_of_a_log_without_a_line_nothing_is_decided() -> None:
    code, out = run("")
    assert code == 20, out
    assert "nothing was judged" in out
    assert "explained: " not in out


def test_beyond_the_limit_nothing_is_decided(lease: Path) -> None:
    mapping = (lease / "conformance.yaml").read_text()
    (lease / "conformance.yaml").write_text(mapping + "hidden: [expire, acquire, release]\n")
    log = '{"fields": {"epoch": 3}}\n{"fields": {"epoch": 0}}\n'
    assert run_json(log)[0] == 1
    code, found = run_json(log, "--limit-states", "2")
    assert code == 20
    assert "more than 2 states" in str(found["why"])


CARDS = """\
system: cards
about: A card is drawn, laid down with another one on it, and shown.
constants:
  Card: {ids: 40, prefix: c}
variables:
  drawn: {type: optional Card, initial: none}
  laid: {type: optional Card, initial: none}
rows:
  - row: draw
    for: {c: Card}
    when: drawn is none
    do: drawn = c
  - row: draw_another
    for: {c: Card}
    when: drawn is not none and laid is none
    do: laid = c
  - row: show
    when: drawn is not none and laid is not none
    do: pass
properties:
  nothing_is_drawn_from_nowhere:
    always: implies(laid is not none, drawn is not none)
    why: a second card needs a first one.
"""

CARDS_SEEN = """\
conformance: cards
rows:
  draw: {call: draw}
  draw_another: {call: again}
  show: {call: show, with: {first: drawn, second: laid}}
observe: {drawn: drawn}
"""


@pytest.mark.parametrize(("limit", "explained"), [("400", True), ("5000", True), ("6", False)])
def test_what_does_not_fit_at_a_time_is_looked_at_part_by_part(
    limit: str, explained: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After two draws 1,600 states fit, and the last lines tell which it was."""
    monkeypatch.chdir(tmp_path)
    Path("cards.yaml").write_text(CARDS)
    Path("conformance.yaml").write_text(CARDS_SEEN)

    def verdict(*shown: tuple[str, str]) -> tuple[dict[str, Any], list[str]]:
        asked = [("draw", {}), ("again", {})]
        asked += [("show", {"first": one, "second": other}) for one, other in shown]
        lines = [json.dumps({"do": "call", "name": name, "with": rest}) for name, rest in asked]
        Path("run.jsonl").write_text("\n".join(lines))
        given = ("cards.yaml", "run.jsonl", "--limit-states", limit, "--run", "steps.jsonl")
        return validated(*given), Path("steps.jsonl").read_text().splitlines()

    found, steps = verdict(("c37", "c21"), ("c37", "c21"))
    if not explained:
        assert "some were dropped" in found["why"]
        return
    assert found["verdict"] == "explained"
    assert [json.loads(step)["line"] for step in steps] == [1, 2, 3, 4]
    found, steps = verdict(("c37", "c21"), ("c37", "c22"))
    assert (found["verdict"], found["line"]) == ("diverges", 4)
    assert [json.loads(step)["line"] for step in steps] == [1, 2, 3]


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nonsense", "run.jsonl:2: is no JSON object"),
        ('{"do": "jump", "name": "x"}', "`do` is 'jump'"),
        ('{"do": "call"}', "a call has a `name`"),
        ('{"do": "call", "name": "x", "with": 3}', "are objects"),
        ('{"at": 3}', "says neither"),
        ('{"do": "call", "name": "x", "id": 1, "outcome": [[]]}', "`outcome` is [[]], not a text"),
        ('{"do": "reset", "name": {}}', "`name` is {}, not a text"),
        ('{"do": "reset", "at": NaN}', "run.jsonl:2: has the number NaN, which JSON does not have"),
        ('{"fields": {"epoch": -Infinity}}', "has the number -Infinity"),
        ('{"fields": {"epoch": 1e999}}', "has the number 1e999"),
    ],
)
def test_a_line_that_is_none_is_told_with_its_place(line: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        run('{"do": "call", "name": "acquire"}\n' + line + "\n")


@pytest.mark.usefixtures("lease")
def test_an_interrupt_says_how_far_the_log_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Later(Event):
        asked = 0

        def is_set(self) -> bool:
            self.asked += 1
            return self.asked > 4

    acquire = '{"do": "call", "name": "acquire", "with": {"client": "alice"}}'
    release = acquire.replace("acquire", "release")
    monkeypatch.setattr("checker.cli.validate.interruptible", lambda _: nullcontext(Later()))
    code, out = run(f"{acquire}\n{release}\n" * 5)
    assert code == exits.INTERRUPTED
    assert re.search(r"explains [1-9] lines? of run.jsonl and stops there", squeezed(out)), out


@pytest.mark.parametrize(
    "more",
    [
        "sizes: {Client: m + ²}",
        f"sizes: {{Client: m + {'9' * 30}}}",
        'timers: {t: {armed: "{}", fires: {expire: holder}, least_of: x * ²}}',
        'timers: {t: {armed: "{}", fires: {expire: holder}, least_of: x * two}}',
    ],
)
def test_what_only_looks_like_a_number_in_a_mapping_is_refused(lease: Path, more: str) -> None:
    mapping = (lease / "conformance.yaml").read_text()
    (lease / "conformance.yaml").write_text(f"{mapping}\n{more}\n")
    with pytest.raises(SpecificationError) as refused:
        run('{"do": "call", "name": "acquire"}')
    assert "keys joined by dots" in str(refused.value.diagnostics[0].expected)


def test_a_time_of_too_many_digits_is_refused(lease: Path) -> None:
    more = "lines: {read: {a: {where: {k: A}, call: acquire, with: {client: who}, takes: t}}}"
    mapping = (lease / "conformance.yaml").read_text()
    (lease / "conformance.yaml").write_text(f"{mapping}\n{more}\n")
    with pytest.raises(UsageError, match=r"run\.jsonl:1: the time that it takes has more than 18"):
        run(json.dumps({"k": "A", "who": "alice", "t": "9" * 5000}))


def test_a_log_of_a_variant_is_explained_and_one_of_none_is_not(lease: Path) -> None:
    spec, mapping = (lease / "lease.yaml").read_text(), (lease / "conformance.yaml").read_text()
    spec = spec.replace("ids: [alice, bob]}", "ids: [alice, bob]}\n  step: {value: 1}")
    (lease / "lease.yaml").write_text(spec.replace("epoch += 1", "epoch += step"))
    variants = "variants:\n  older: {step: 2}\n  odd: {step: 3}\n"
    (lease / "conformance.yaml").write_text(mapping + variants)
    took = (
        '{"do": "call", "name": "acquire", "with": {"client": "alice"}, "fields": {"epoch": %d}}\n'
    )
    assert run_json(took % 1)[1]["variant"] is None
    code, found = run_json(took % 2, "--run", "steps.jsonl")
    assert (code, found["variant"], found["events"]) == (0, "older", 1)
    assert len(Path("steps.jsonl").read_text().splitlines()) == 1
    assert "lease.yaml (older)" in squeezed(run(took % 2)[1])
    assert run_json(took % 4)[0] == 1
    assert run_json(took % 2, "--set", "step=1")[0] == 1, "what is set stays"
    both = took % 2 + '{"do": "call", "name": "release", "with": {"client": "bob"}}\n'
    code, found = run_json(both, "--run", "steps.jsonl")
    assert (code, found["variant"], found["line"]) == (1, "older", 2), "it explains the most lines"
    assert len(Path("steps.jsonl").read_text().splitlines()) == 1


def test_a_log_is_not_judged_for_more_values_than_anybody_waits_for() -> None:
    each = [Each(name, tuple(map(str, range(150)))) for name in "abc"]
    with pytest.raises(UsageError, match=r"more than 10,000 values of its names together"):
        judged_values((), each)
    assert len(judged_values((), each[:1])) == 150


def test_names_in_a_log_stay_text_on_every_page(lease: Path) -> None:
    name = "<script>|`x\n# h\x1b[31m\x9b\u202e\ud800"
    asks = [{"do": "call", "name": "acquire", "with": {"client": who}} for who in (name, "alice")]
    lines = [asks[0] | {"fields": {"holder": name}}, asks[1] | {"fields": {name: name}}]
    code, out = run(text(lines), "--page", "page.md", "--junit", "junit.xml")
    page, junit = (lease / "page.md").read_text(), (lease / "junit.xml").read_text()
    assert code == 1
    assert r"\x1b[31m\x9b\u202e\ud800" in out
    assert not set(out + page + junit) & set("\x1b\x9b\u202e")
    assert r"| `` <script>\|`x\n# h\x1b[31m\x9b\u202e\ud800 `` | `" in page
    assert r"&lt;script&gt;\|`x\n# h\x1b[31m\x9b" in junit
    assert "\n# h" not in out + page + junit
    assert r"|`x\n# h\x1b[31m\x9b\u202e\ud800 is " in out


@pytest.mark.usefixtures("lease")
def test_a_run_that_no_disk_holds_is_told_with_its_file() -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        run(LOG, "--run", "/dev/full")
    assert caught.value.filename == "/dev/full"
