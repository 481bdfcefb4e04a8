"""Goal: of changes that are easily overlooked, `diff`, `mutate` and the gate say what they do."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from checker.cli.main import run

LOAN = """\
system: loan
about: A server lends one thing to clients, each time with a new epoch.
constants:
  Client: {ids: 2}
  most: 2
messages:
  Granted: {client: Client, epoch: 0..most}
channels:
  answers: {carries: [Granted], order: bag, capacity: "2"}
variables:
  holder: {type: optional Client, initial: none}
  epoch: {type: 0..most, initial: "0"}
  known: {type: total map of Client to 0..most, initial: "{c: 0 for c in Client}"}
rows:
  - row: lend
    for: {c: Client}
    when: holder is none and epoch < most
    do: |
      epoch += 1
      holder = c
    send: Granted(c, epoch)
  - row: learn
    on: Granted(c, e)
    do: known[c] = e
  - row: give_back
    for: {c: Client}
    when: holder == c and known[c] == epoch
    do: |
      holder = none
      known[c] = 0
properties:
  one_knows:
    always: all(implies(known[c] == epoch and epoch > 0, holder == c) for c in Client)
    why: two holders write over each other.
  is_lent:
    sometimes: epoch == most and any(known[c] == epoch for c in Client)
    why: a thing that nobody gets is of no use.
terminal: ["epoch == most"]
instances:
  default:
    expect:
      verdict: holds
      distinct: 11
      generated: 13
      depth: 6
      rows: {lend: 4, learn: 4, give_back: 4}
"""


@dataclass(frozen=True)
class Change:
    """A change of a text, and what is to be said of it.

    `verdict`, `only` (rows, steps, states that one side alone has: lost, gained) and `properties`
    are told by `diff`; `gate` is the exit code of `verify`, `told` what it prints. `mutant` is the
    same change as `mutate` makes it, with what becomes of it.
    """

    texts: tuple[tuple[str, str], ...]
    verdict: str
    gate: int
    only: dict[str, tuple[int, int]] = field(default_factory=dict)
    properties: tuple[str, ...] = ()
    told: str = ""
    run: tuple[str, ...] | None = None
    mutant: tuple[str, str, str] | None = None


CHANGES = {
    # No state more, no depth more, the same verdict: only the figures of steps show it.
    "a weaker guard": Change(
        (("when: holder == c and known", "when: known"),),
        "different", 1, {"rows": (0, 0), "states": (0, 0)}, (),
        "generated", ("give_back(client1)",),
        ("row give_back", "`holder == c` taken for true", "counted"),
    ),
    "a dropped effect": Change(
        (("      known[c] = 0\n", ""),),
        "different", 1, {"rows": (0, 0), "states": (4, 12)}, ("one_knows",),
        "one_knows", ("lend(client1)", "learn(client1, 1)", "give_back(client1)"),
        ("row give_back", "without `known[c] = 0`", "caught"),
    ),
    "a renamed row": Change(
        (("row: give_back", "row: hand_back"), ("give_back: 4", "hand_back: 4")), "equal", 0
    ),
    "an equivalent rewrite": Change(
        (("when: holder is none and epoch < most", "when: not (epoch >= most or holder != none)"),),
        "equal", 0,
    ),
    "a changed target": Change(
        (("holder = c\n", "holder = c if epoch == 1 else none\n"),),
        "different", 1, {"rows": (0, 0), "states": (5, 4)}, ("one_knows",),
        "one_knows", ("lend(client1)", "learn(client1, 1)", "give_back(client1)", "lend(client1)"),
        ("row lend", "without `holder = c`", "caught"),
    ),
    "a changed field of a message": Change(
        (("send: Granted(c, epoch)", "send: Granted(c, 0)"),),
        "different", 1, {"rows": (1, 0)}, ("is_lent", "deadlock"),
        "stuck", ("lend(client1)",),
        ("row lend", "`0` for `epoch`", "caught"),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def fates(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """What becomes of each mutant of the loan."""
    folder = tmp_path_factory.mktemp("mutants")
    (folder / "loan.yaml").write_text(LOAN)
    with pytest.MonkeyPatch.context() as patch:
        told: list[str] = []
        patch.setattr("click.echo", lambda text="", **_: told.append(str(text)))
        words = ["--workers", "1", "--format", "json", "--progress", "none"]
        assert run(["mutate", str(folder / "loan.yaml"), *words]) == 0
    found = json.loads(told[-1])["list"]
    return {(item["where"], item["change"]): item["fate"] for item in found}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_told(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fates: dict[tuple[str, str], str],
) -> None:
    change = CHANGES[name]
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    text = LOAN
    for before, after in change.texts:
        assert text.count(before) == 1
        text = text.replace(before, after)
    old.write_text(LOAN)
    new.write_text(text)
    quiet = ["--progress", "none"]
    code = run(["diff", str(old), str(new), "--format", "json", *quiet])
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], code) == (change.verdict, int(change.verdict != "equal"))
    for kind, counts in change.only.items():
        assert (told["old"]["only"][kind], told["new"]["only"][kind]) == counts
    assert tuple(item["name"] for item in told["properties"]) == change.properties
    runs = [told[side]["run"] for side in ("old", "new")]
    assert change.run is None or list(change.run) in runs
    if change.verdict == "equal":
        renaming = len(change.texts) == 2
        assert told["renamed"] == ({"give_back": "hand_back"} if renaming else {})
        assert told["rewritten"] == ([] if renaming else ["lend"])
    assert run(["verify", str(new), "--workers", "1", *quiet]) == change.gate
    assert change.told in capsys.readouterr().out
    if change.mutant is not None:
        where, what, fate = change.mutant
        assert fates[where, what] == fate
