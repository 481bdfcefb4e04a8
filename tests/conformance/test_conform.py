"""Goal: the page on conformance is true, and each way in which an adapter can differ is told."""

import json
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from threading import Event, Thread, Timer
from typing import TypeVar
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from checker.cli.conform import conform
from checker.cli.main import run as door
from checker.cli.spreading import Where
from checker.conformance.adapter import Adapter, AdapterFailure
from checker.conformance.mapping import KEYS
from checker.errors import Interruption, SpecificationError, UsageError
from checker.verdict import exits

Item = TypeVar("Item")
Made = TypeVar("Made")

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


MAPPING = blocks("conformance.md", "yaml")[0]
KNOWN = blocks("conformance.md", "yaml")[1]


@pytest.fixture
def lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of both pages in a folder of their own, which is the working directory."""
    implementation, test, forgetful = blocks("testing.md", "python")[:3]
    (tmp_path / "lease.yaml").write_text(blocks("testing.md", "yaml")[0])
    (tmp_path / "lease.py").write_text(f"{implementation}\n\n{forgetful}")
    (tmp_path / "test_lease.py").write_text(test)
    (tmp_path / "lease_adapter.py").write_text(blocks("conformance.md", "python")[0])
    (tmp_path / "conformance.yaml").write_text(MAPPING)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def adapter(folder: Path, body: str, options: str = "") -> str:
    """Write an adapter whose class begins with `body`; return the command that starts it."""
    indented = "".join(f"    {line}\n" for line in body.strip().splitlines())
    (folder / "other.py").write_text(
        "import os, sys, time\n"
        "from checker.conformance.serve import serve\n"
        "from lease import ForgetfulLeaseService, LeaseService\n"
        "from test_lease import LeaseAdapter\n\n\n"
        f"class Other(LeaseAdapter):\n{indented}\n\n"
        f"serve(Other, name='Other', version='2'{options})\n"
    )
    return f"{sys.executable} other.py"


FORGETFUL = "def __init__(self):\n    self._service = ForgetfulLeaseService()"


def run(command: str, *options: str) -> tuple[int, str, str]:
    outcome: Result = CliRunner().invoke(
        conform,
        ["lease.yaml", "--adapter", command, "--progress", "none", *options],
        standalone_mode=False,
    )
    if outcome.exception is not None:
        raise outcome.exception
    assert isinstance(outcome.return_value, int)
    return outcome.return_value, outcome.stdout, outcome.stderr


def run_json(command: str, *options: str) -> tuple[int, dict[str, object]]:
    code, out, _ = run(command, "--format", "json", *options)
    found = json.loads(out)
    assert isinstance(found, dict)
    return code, found


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.usefixtures("lease")
def test_the_example_of_the_page_agrees_as_the_page_says() -> None:
    code, out, _ = run(f"{sys.executable} lease_adapter.py")
    assert code == 0
    assert squeezed(blocks("conformance.md", "text")[0]) in squeezed(out)
    assert "20 calls to be refused" in squeezed(out)


def test_the_bug_of_the_page_is_told_as_the_page_says(lease: Path) -> None:
    code, out, _ = run(adapter(lease, FORGETFUL))
    assert code == 1
    assert squeezed(blocks("conformance.md", "text")[1]) in squeezed(out)


def test_every_transition_is_taken_once_or_more(lease: Path) -> None:
    code, found = run_json(adapter(lease, "pass"))
    assert code == 0
    assert (found["states"], found["states_reached"]) == (16, 16)
    assert (found["transitions"], found["transitions_not_reached"]) == (32, 0)
    assert found["transitions_chosen_otherwise"] == 0
    steps, resets = found["steps"], found["resets"]
    assert isinstance(steps, int)
    assert isinstance(resets, int)
    assert steps < 2 * 32, "paths share their beginnings"


def test_snapshots_save_steps(lease: Path) -> None:
    _, without = run_json(adapter(lease, "pass"))
    code, found = run_json(adapter(lease, "pass", ", snapshots=True"))
    assert code == 0
    assert found["transitions_not_reached"] == 0
    assert found["steps"] == 32
    assert isinstance(without["steps"], int)
    assert without["steps"] > 32


def test_rows_are_covered_by_walks(lease: Path) -> None:
    code, found = run_json(adapter(lease, "pass"), "--cover", "rows", "--seed", "3")
    assert code == 0
    assert found["cover"] == "rows"
    assert found["pairs"] == found["pairs_taken"] == 3
    code, found = run_json(adapter(lease, FORGETFUL), "--cover", "rows", "--limit-states", "1")
    assert code == 1


def sent(thing: Item) -> Item:
    return pickle.loads(pickle.dumps(thing))  # type: ignore[no-any-return] # noqa: S301


class Backwards:
    """Makes parts the last one first, and hands everything over as bytes."""

    parallel = 3
    memory = 1 << 30

    def each(
        self, work: Callable[[Item], Made], items: Sequence[Item]
    ) -> Iterator[tuple[Item, Made]]:
        for item in reversed(items):
            yield item, sent(work(sent(item)))


def test_walks_that_are_made_elsewhere_find_the_same(
    lease: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = adapter(lease, FORGETFUL)
    options = ("--cover", "rows", "--depth", "12")
    here = run_json(command, *options)
    monkeypatch.setattr(Where, "spread", lambda *_: nullcontext(Backwards()))
    there = run_json(command, *options, "--engine", "spark")
    for _, found in (here, there):
        del found["seconds"]
    assert here == there


def test_walks_that_are_spread_have_no_common_count_of_steps() -> None:
    with pytest.raises(UsageError, match="--limit-steps"):
        run("true", "--engine", "spark", "--limit-steps", "5")
    with pytest.raises(UsageError, match="--workers"):
        run("true", "--workers", "2")


def test_a_declared_difference_is_counted_and_not_reported(lease: Path) -> None:
    known = KNOWN + KNOWN.split("\n", 1)[1].replace("epoch_is_forgotten", "expiry").replace(
        "row: release", "row: expire"
    )
    (lease / "conformance.yaml").write_text(MAPPING + known)
    code, found = run_json(adapter(lease, FORGETFUL))
    assert code == 0
    differences = found["differences"]
    assert isinstance(differences, list)
    assert {item["known"] for item in differences} == {"epoch_is_forgotten", "expiry"}
    assert {item["ticket"] for item in differences} == {"LEASE-7"}


def test_a_declared_difference_that_is_gone_is_an_error(lease: Path) -> None:
    (lease / "conformance.yaml").write_text(MAPPING + KNOWN)
    code, out, _ = run(adapter(lease, "pass"))
    assert code == 1
    assert "the known difference epoch_is_forgotten (LEASE-7) no longer occurs" in squeezed(out)


def test_what_was_not_tried_to_the_end_is_not_said_to_be_gone(lease: Path) -> None:
    (lease / "conformance.yaml").write_text(MAPPING + KNOWN)
    code, found = run_json(adapter(lease, "pass"), "--limit-steps", "20")
    assert (code, found["known_gone"]) == (20, [])


def test_two_declarations_of_one_difference_both_occur(lease: Path) -> None:
    again = KNOWN.split("\n", 1)[1].replace("epoch_is_forgotten", "epoch_is_not_raised")
    (lease / "conformance.yaml").write_text(MAPPING + KNOWN + again)
    _, found = run_json(adapter(lease, FORGETFUL))
    assert found["known_gone"] == []


def test_a_declared_difference_in_one_field_hides_no_other(lease: Path) -> None:
    (lease / "conformance.yaml").write_text(MAPPING + KNOWN.replace("[epoch]", "[holder]"))
    code, found = run_json(adapter(lease, FORGETFUL))
    assert code == 1
    assert found["known_gone"] == [{"name": "epoch_is_forgotten", "ticket": "LEASE-7"}]


def test_answers_are_compared(lease: Path) -> None:
    answered = MAPPING.replace(
        "    with: {client: client}\n  release",
        "    with: {client: client}\n    answer: next(holder) == client\n  release",
    )
    (lease / "conformance.yaml").write_text(answered)
    right = "def acquire(self, client):\n    super().acquire(client)\n"
    code, _ = run_json(adapter(lease, f"{right}    return self._service.holder == client"))
    assert code == 0
    code, found = run_json(adapter(lease, f"{right}    return True"))
    assert code == 1
    (difference,) = found["differences"]  # type: ignore[misc]
    assert difference["row"] == "acquire"
    assert difference["items"] == [{"name": "answer", "expected": False, "observed": True}]
    assert difference["length"] == 2
    code, found = run_json(adapter(lease, f"{right}    return int(self._service.holder == client)"))
    assert code == 1, "1 is not true"


def test_a_call_that_should_be_refused_and_is_not(lease: Path) -> None:
    code, found = run_json(adapter(lease, "def release(self, client):\n    self._service.expire()"))
    assert code == 1
    refusal = next(item for item in found["differences"] if item["refusal"])  # type: ignore[attr-defined]
    assert refusal["row"] == "release"
    assert [item["name"] for item in refusal["items"]] == ["holder"]
    assert refusal["requests"][-1]["name"] == "release"


def test_the_answer_of_a_refusal_is_compared(lease: Path) -> None:
    (lease / "conformance.yaml").write_text(
        MAPPING.replace("refused: {}", "refused: {when: holder is none, answer: epoch == 0}")
    )
    body = "def release(self, client):\n    super().release(client)\n    return {}"
    code, found = run_json(adapter(lease, body.format("self._service.epoch == 0")))
    assert code == 0
    assert found["rows"][1]["refused"] == 2 * 4  # type: ignore[index]
    code, found = run_json(adapter(lease, body.format("True")))
    assert code == 1


def test_an_exception_of_the_implementation_is_a_difference(lease: Path) -> None:
    body = "def expire(self):\n    raise ValueError('no clock')"
    code, found = run_json(adapter(lease, body))
    assert code == 1
    (difference,) = found["differences"]  # type: ignore[misc]
    assert difference["items"][0]["observed"] == "ValueError: no clock"
    assert found["transitions_not_reached"] == 0


@pytest.mark.parametrize(
    ("body", "reason", "told"),
    [
        (
            "def expire(self):\n    sys.stderr.write('last words\\n')\n    os._exit(3)",
            "crash",
            "code 3",
        ),
        ("def expire(self):\n    time.sleep(60)", "hang", "not answered within 0.5 seconds"),
        (
            "def expire(self):\n    os.write(9, b'nonsense\\n')",
            "garbage",
            "answered 'nonsense', which is no JSON object",
        ),
        (
            'def expire(self):\n    os.write(9, b\'{"fields": {"epoch": NaN}}\\n\')',
            "garbage",
            "answered with the number NaN, which JSON does not have",
        ),
    ],
)
def test_an_adapter_that_fails_is_told_clearly(
    lease: Path, body: str, reason: str, told: str
) -> None:
    command = adapter(lease, body)
    if reason == "garbage":
        (lease / "other.py").write_text(
            "import os\nos.dup2(1, 9)\n" + (lease / "other.py").read_text()
        )
    code, out, _ = run(command, "--reply-seconds", "0.5")
    assert code == 20
    assert told in squeezed(out)
    assert 'it was asked: {"do": "fire", "name": "expire", "with": {}}' in squeezed(out)
    if reason == "crash":
        assert "last words" in out
    _, found = run_json(command, "--reply-seconds", "0.5")
    assert found["failure"]["reason"] == reason  # type: ignore[index]


def test_nobody_waits_for_an_adapter_that_ended_while_another_holds_its_output(
    lease: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checker.conformance.adapter._SECONDS_TO_END", 0.2)
    held = "import subprocess\n    subprocess.Popen(['sleep', '8'], stdout=9)"
    command = adapter(lease, f"def expire(self):\n    {held}\n    os._exit(3)")
    program = (lease / "other.py").read_text()
    (lease / "other.py").write_text("import os\nos.dup2(1, 9)\n" + program)
    began = time.monotonic()
    code, out, _ = run(command)
    assert code == 20
    assert "ended with exit code 3" in squeezed(out)
    assert time.monotonic() - began < 7


def test_an_adapter_that_cannot_go_back_has_failed(lease: Path) -> None:
    body = "def __deepcopy__(self, memo):\n    raise ValueError('no copy')"
    command = adapter(lease, body, ", snapshots=True")
    code, out, _ = run(command)
    assert code == 20
    assert "failed: ValueError: no copy" in squeezed(out)


def test_an_adapter_that_floods_loses_no_result(lease: Path) -> None:
    """What it still writes when nobody asks any more is no failure of the run."""
    endless = "def expire(self):\n    while True:\n        os.write(9, b'x' * 65536)"
    command = adapter(lease, endless)
    program = (lease / "other.py").read_text()
    (lease / "other.py").write_text("import os\nos.dup2(1, 9)\n" + program)
    code, out, _ = run(command, "--reply-seconds", "20")
    assert code == 20
    assert "ended before everything was taken: the adapter failed" in squeezed(out)
    assert "sends a line of more than 16 MiB" in squeezed(out)


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("./no-such-program", "cannot be started"),
        ("", "names the program"),
        ("'", "cannot be read"),
    ],
)
def test_a_command_that_is_none(command: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        run(command)


def test_limits_leave_it_undecided(lease: Path) -> None:
    code, found = run_json(adapter(lease, "pass"), "--limit-steps", "5")
    assert code == 20
    assert found["steps"] == 5
    assert found["stopped_by"] == "the limit of 5 steps"


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    ("old", "new", "code", "place"),
    [
        ("conformance: lease", "conformance: loan", "T115", "1:14"),
        ("  expire: {fire: expire}\n", "", "T114", "1:1"),
        ("expire: {fire: expire}", "expires: {fire: expire}", "N206", "11:3"),
        ("{fire: expire}", "{fire: expire, call: expire}", "T117", "11:18"),
        ("{fire: expire}", "{}", "T114", "11:3"),
        ("{fire: expire}", "{complete: expire}", "T114", "11:11"),
        ("{client: client}", "{client: clint}", "N201", "6:20"),
        ("epoch: epoch", "epoch: epoch + holder", "Y303", "14:18"),
        ("epoch: epoch", "epoch: next(epoch)", "Y3", "14:"),
        ("refused: {}", "refused: {when: epoch}", "Y303", "10:21"),
        ("rows:", "names: {Clint: {alice: a}}\nrows:", "N206", "3:9"),
        ("fire: expire", "fier: expire", "T113", "11:12"),
    ],
)
def test_errors_of_a_mapping_have_a_place(old: str, new: str, code: str, place: str) -> None:
    assert old in MAPPING
    Path("conformance.yaml").write_text(MAPPING.replace(old, new, 1))
    with pytest.raises(SpecificationError) as caught:
        run("true")
    found = [(item.code, str(item.span)) for item in caught.value.diagnostics]
    assert any(c.startswith(code) and f"conformance.yaml:{place}" in p for c, p in found), found


def test_names_and_the_reset_are_told_to_the_implementation(lease: Path) -> None:
    (lease / "conformance.yaml").write_text(
        MAPPING.replace(
            "rows:",
            'reset: {clients: "{c for c in Client}", first: holder}\n'
            "names: {Client: {alice: Alice Smith}}\nrows:",
        )
    )
    told = (
        "def __init__(self, clients, first):\n"
        "    super().__init__()\n"
        "    assert (clients, first) == (['Alice Smith', 'bob'], None)"
    )
    assert run_json(adapter(lease, told))[0] == 0


@pytest.mark.parametrize(
    ("body", "verdict"), [("", None), ("def expire(self):\n    time.sleep(60)", "undecided")]
)
def test_nobody_waits_for_an_adapter_after_an_interrupt(
    lease: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    body: str,
    verdict: str | None,
) -> None:
    command = "sleep 60"
    if body:
        command = adapter(lease, body.replace("time", "open('asked', 'w').close(); time"))
    else:
        (lease / "asked").touch()
    event, began = Event(), time.monotonic()

    def interrupt_it() -> None:
        while not (lease / "asked").exists():
            time.sleep(0.05)
        event.set()

    monkeypatch.setattr(Where, "interruptible", lambda _: nullcontext(event))
    interrupting = Thread(target=interrupt_it)
    interrupting.start()
    words = ["conform", "lease.yaml", "--adapter", command, "--format", "json"]
    assert door(words) == exits.INTERRUPTED
    assert time.monotonic() - began < 20
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict
    interrupting.join()


def test_an_adapter_that_dies_of_the_same_interrupt_has_not_failed() -> None:
    # A shell could not die of it where it is ignored, as by a job in the background.
    dies = "import os, signal; signal.signal(2, signal.SIG_DFL); os.kill(os.getpid(), 2)"
    command = f"{sys.executable} -c '{dies}'"
    event = Event()
    heard_later = Timer(0.15, event.set)
    heard_later.start()
    with pytest.raises(Interruption):
        Adapter(command, 30.0, 30.0, event)
    heard_later.join()
    with pytest.raises(AdapterFailure, match="ended by signal 2"):
        Adapter(command, 30.0, 30.0, Event())


def test_the_page_and_junit_have_each_row(lease: Path) -> None:
    command = adapter(lease, FORGETFUL)
    run(command, "--page", "out/page.md", "--junit", "out/junit.xml")
    page = (lease / "out" / "page.md").read_text()
    assert "| `release` | call `release` |" in page
    assert "## release: epoch differs" in page
    assert "| `epoch` | `2` | `1` |" in page
    cases = ET.parse(lease / "out" / "junit.xml").getroot().iter("testcase")  # noqa: S314
    failed = {case.get("name"): case.find("failure") is not None for case in cases}
    assert failed == {"everything": False, "acquire": False, "release": True, "expire": True}


def test_a_difference_after_a_reset_fails_the_case_of_the_whole(lease: Path) -> None:
    wrong = "def observe(self):\n    return {'holder': None, 'epoch': 7, 'waiting': []}"
    assert run(adapter(lease, wrong), "--junit", "junit.xml")[0] == 1
    suites = ET.parse(lease / "junit.xml").getroot()  # noqa: S314
    told = suites.findtext(".//testcase[@name='everything']/failure") or ""
    assert told.startswith("after a reset: epoch differs\n")
    assert "epoch: the model has 0, the implementation 7" in told
    assert suites.get("failures") == "1"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk here")
def test_a_disk_that_is_full_costs_no_result(
    lease: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["conform", "lease.yaml", "--adapter", adapter(lease, FORGETFUL), "--format", "json"]
    for option in ("--page", "--junit"):
        assert door([*words, option, "/dev/full"]) == exits.USAGE
        printed = capsys.readouterr()
        assert json.loads(printed.out)["verdict"] == "differs"
        assert "no space left on device" in printed.err


EVIL = "\x1b[31m\x9b\u202e<b>|`\n# h"


def test_what_an_adapter_says_stays_text(lease: Path) -> None:
    says = f"def observe(self):\n    return {{'holder': {EVIL!r}, 'epoch': {EVIL!r}}}"
    command, file = adapter(lease, says), lease / "other.py"
    file.write_text(file.read_text().replace("version='2'", f"version={EVIL!r}"))
    code, out, _ = run(command, "--page", "page.md", "--junit", "junit.xml")
    page, junit = (lease / "page.md").read_text(), (lease / "junit.xml").read_text()
    assert code == 1
    assert not set(out + page + junit) & set("\x1b\x9b\u202e")
    assert r"\x1b[31m\x9b\u202e<b>|`" in out
    assert page.startswith(r"# Other \x1b[31m\x9b\u202e&lt;b>|\`\n# h and `lease.yaml`")
    assert r"`` \x1b[31m\x9b\u202e<b>\|`\n# h `` |" in page
    assert "\n# h" not in page


def test_the_page_lists_every_key() -> None:
    text = (DOCS / "conformance.md").read_text()
    for part in KEYS.values():
        for key in part:
            assert f"`{key}" in text or f"    {key}:" in text, key


TICKETS = """
system: tickets
about: A desk issues tickets, and issues again what is forgotten.
constants:
  Client: {ids: 1, prefix: c}
  Ticket: {ids: 2, prefix: t}
messages:
  Ask: {}
  Told: {ticket: Ticket}
calls:
  desk: {per: Client, requests: [Ask], responses: [Told], capacity: "1", from: client, to: desk}
variables:
  issued: {type: set of Ticket, initial: empty}
faults:
  hang_up: {budget: "1", about: A client gives up.}
rows:
  - row: ask
    for: {c: Client}
    do: call(desk[c], Ask())
  - row: issue
    on: Ask()
    do: |
      t = fresh(Ticket)
      issued.add(t)
      reply(call, Told(ticket=t))
  - row: take
    on: desk[c].Told(_)
  - row: give_up
    for: {c: Client}
    when: len(desk[c]) > 0
    do: close(desk[c])
    fault: hang_up
  - row: forget
    for: {t: issued}
    when: all(not (r.ticket == t) for r in responses(desk))
    do: issued.discard(t)
instances:
  default: {about: All.}
"""

TICKETS_MAPPING = """
conformance: tickets
rows:
  ask: {silent: a request is on its way}
  issue:
    call: issue
    with: {open: call.open}
  take: {call: take}
  give_up: {call: give_up}
  forget:
    call: forget
    with: {ticket: t}
observe:
  issued: issued
  told: "[r.ticket for r in responses(desk)]"
"""

TICKETS_ADAPTER = """
from checker.conformance.serve import serve


class Desk:
    def __init__(self):
        self.issued, self.told = set(), []

    def issue(self, open):
        ticket = next(name for name in ("t1", "t2") if name not in self.issued)
        self.issued.add(ticket)
        if open:
            self.told.append(ticket)

    def take(self):
        self.told.clear()

    give_up = take

    def forget(self, ticket):
        self.issued.discard(ticket)

    def observe(self):
        return {"issued": sorted(self.issued), "told": self.told}


serve(Desk, name="Desk")
"""


def test_a_row_that_takes_a_request_sees_its_call_and_labels_are_no_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lease.yaml").write_text(TICKETS)
    Path("conformance.yaml").write_text(TICKETS_MAPPING)
    Path("desk.py").write_text(TICKETS_ADAPTER)
    code, found = run_json(f"{sys.executable} desk.py")
    assert (code, found["differences"]) == (0, [])
    rows = found["rows"]
    assert isinstance(rows, list)
    assert all(row["taken"] for row in rows)


DRAWN = """\
system: draw
about: A system of a test.
variables:
  drawn: {type: optional 0..99, initial: none}
rows:
  - {row: draw, when: drawn is none, do: drawn = pick(range(100))}
  - {row: show, when: drawn is not none, do: drawn = none}
"""

DRAWN_MAPPED = """\
conformance: draw
about: A mapping of a test.
observe: {has: drawn is not none}
rows:
  draw: {call: draw}
  show: {call: show, answer: drawn}
"""

DRAWS = """\
from checker.conformance.serve import serve

class Draws:
    drawn = None
    def reset(self): self.drawn = None
    def draw(self): self.drawn = 80
    def show(self):
        shown, self.drawn = self.drawn, None
        return shown
    def observe(self): return {"has": self.drawn is not None}

serve(Draws, name="Draws", version="1")
"""


@pytest.mark.parametrize(
    ("kept", "code", "verdict"),
    [(100, exits.HOLDS, "agrees"), (99, exits.INCONCLUSIVE, "undecided")],
)
def test_no_state_that_fits_is_forgotten(
    lease: Path, monkeypatch: pytest.MonkeyPatch, kept: int, code: int, verdict: str
) -> None:
    monkeypatch.setattr("checker.conformance.session.STATES_MAX", kept)
    (lease / "lease.yaml").write_text(DRAWN)
    (lease / "conformance.yaml").write_text(DRAWN_MAPPED)
    (lease / "draws.py").write_text(DRAWS)
    ended, found = run_json(f"{sys.executable} draws.py")
    assert (ended, found["verdict"]) == (code, verdict)
    assert found["differences"] == []
    assert (found["given_up"] != 0) == (kept < 100)


@pytest.mark.parametrize(("cover", "left"), [("transitions", 100), ("rows", 1)])
def test_calls_that_could_not_be_refused_are_told(lease: Path, cover: str, left: int) -> None:
    (lease / "lease.yaml").write_text(DRAWN)
    refusing = DRAWN_MAPPED.replace("{call: draw}", "{call: draw, refused: {}}")
    (lease / "conformance.yaml").write_text(refusing)
    (lease / "draws.py").write_text(DRAWS)
    _, found = run_json(f"{sys.executable} draws.py", "--cover", cover)
    assert found["refusals_not_made"] == left, "what was drawn is not seen"
    assert any("to be refused were not made" in note for note in found["notes"])  # type: ignore[attr-defined]
