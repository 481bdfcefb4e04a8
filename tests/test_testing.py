"""Goal: the page on testing is true: its example passes, its bug is found, its rules hold."""

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import RULE_MARKER, run_state_machine_as_test

from checker.errors import UsageError
from checker.machine.types import Bag, Id, Map, Option, Range, Record, Sequence, Set, Union
from checker.semantics.plain import plain, plain_value, same
from checker.semantics.values import MapValue, RecordValue
from checker.testing import state_machine

PAGE = Path(__file__).parents[1] / "docs" / "testing.md"
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]
FEW = settings(max_examples=60, stateful_step_count=12, deadline=None, database=None)


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of the page in a folder of their own, which is the working directory."""
    (yaml,) = (text for language, text in BLOCKS if language == "yaml")
    (tmp_path / "lease.yaml").write_text(yaml)
    (tmp_path / "lease.py").write_text(PYTHON[0] + "\n\n" + PYTHON[2])
    (tmp_path / "test_lease.py").write_text(PYTHON[1])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("lease", "test_lease"):
        sys.modules.pop(name, None)


def module(name: str) -> ModuleType:
    return __import__(name)


def run(adapter: Callable[[], object], **options: object) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        state_machine("lease.yaml", adapter, **options),  # type: ignore[arg-type]
        settings=FEW,
    )


@pytest.mark.usefixtures("example")
def test_the_implementation_of_the_page_keeps_to_the_model() -> None:
    run(module("test_lease").LeaseAdapter)


@pytest.mark.usefixtures("example")
def test_the_bug_of_the_page_is_found_in_three_steps() -> None:
    forgetful = module("lease").ForgetfulLeaseService

    class Adapter(module("test_lease").LeaseAdapter):  # type: ignore[misc]
        def __init__(self) -> None:
            self._service = forgetful()

    with pytest.raises(AssertionError) as caught:
        run(Adapter)
    message = str(caught.value)
    assert "the implementation differs from the model" in message
    assert "epoch: the model has 2, the implementation 1" in message
    assert len(message.partition("after the steps\n")[2].splitlines()) == 3


@pytest.mark.usefixtures("example")
def test_a_method_with_a_parameter_for_the_pick_is_told_it() -> None:
    told = []

    class Adapter(module("test_lease").LeaseAdapter):  # type: ignore[misc]
        def expire(self, chosen: str | None = None) -> None:
            told.append(chosen)
            queue = self._service.queue
            queue.sort(key=lambda client: client != chosen)
            super().expire()

    run(Adapter)
    assert {"alice", "bob"} & set(told)


@pytest.mark.usefixtures("example")
def test_adapters_that_do_not_match_are_refused() -> None:
    whole = module("test_lease").LeaseAdapter

    class Lacking:
        acquire = whole.acquire
        observe = whole.observe

    class Misspelt(whole):  # type: ignore[misc]
        def relaese(self) -> None:
            pass

    with pytest.raises(UsageError, match="lacks methods for the rows expire, release"):
        state_machine("lease.yaml", Lacking)
    state_machine("lease.yaml", Lacking, skip={"release", "expire"})
    with pytest.raises(UsageError, match="no rows relaese"):
        state_machine("lease.yaml", Misspelt)
    with pytest.raises(UsageError, match="no rows nothing to skip"):
        state_machine("lease.yaml", whole, skip={"nothing"})
    with pytest.raises(UsageError, match=r"no rows relaese \(did you mean release\?\)"):
        state_machine("lease.yaml", Misspelt)
    with pytest.raises(UsageError, match=r"rows acquire; or skip"):
        state_machine("lease.yaml", type("Hidden", (whole,), {"acquire": None}))


@pytest.mark.usefixtures("example")
def test_a_function_may_make_the_adapters() -> None:
    whole = module("test_lease").LeaseAdapter
    run(partial(whole))
    few = type("Few", (), {"observe": whole.observe})
    with pytest.raises(UsageError, match="lacks methods for the rows acquire, expire, release"):
        state_machine("lease.yaml", partial(few))


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize(
    ("seen", "problem"),
    [
        (None, "is a `return` missing"),
        ([], "not a mapping"),
        ({}, "nothing would be compared"),
        ({"epohc": 0}, r"epohc \(did you mean epoch\?\)"),
        ({1: 0}, "no variables of the model: 1"),
    ],
)
def test_what_compares_nothing_is_refused(seen: object, problem: str) -> None:
    whole = module("test_lease").LeaseAdapter
    with pytest.raises(UsageError, match=problem):
        run(type("Blind", (whole,), {"observe": lambda _: seen}))


@pytest.mark.usefixtures("example")
def test_a_method_with_other_parameters_is_told() -> None:
    class Other(module("test_lease").LeaseAdapter):  # type: ignore[misc]
        def acquire(self, clients: str) -> None:
            raise AssertionError(clients)

    with pytest.raises(UsageError, match=r"acquire takes other arguments: .*client"):
        run(Other)


@pytest.mark.usefixtures("example")
def test_the_adapter_is_begun_and_closed() -> None:
    seen: list[object] = []

    class Adapter(module("test_lease").LeaseAdapter):  # type: ignore[misc]
        def begin(self, initial: dict[str, object]) -> None:
            seen.append(initial)

        def close(self) -> None:
            seen.append("closed")

    run(Adapter)
    assert seen[:2] == [{"holder": None, "epoch": 0, "waiting": frozenset()}, "closed"]


def test_values_become_plain_data() -> None:
    client = Id("Client", ("a", "b"), symmetric=False)
    point = Record("Point", (("x", Range(0, 3)), ("of", Option(client))))
    value = RecordValue("Point", (("x", 1), ("of", None)))
    assert plain(point, value) == {"x": 1, "of": None}
    assert plain(Union("M", (point,)), value) == {"kind": "Point", "x": 1, "of": None}
    assert plain(Map(client, point, total=False), MapValue({"a": value})) == {
        "a": {"x": 1, "of": None}
    }
    assert plain(Sequence(client, 2), ("a", "b")) == ["a", "b"]


def test_collections_are_compared_as_what_they_are() -> None:
    number = Range(0, 9)
    assert same(Sequence(number, 3), [1, 2], (1, 2))
    assert not same(Sequence(number, 3), [1, 2], [2, 1])
    assert same(Bag(number, 3), [1, 1, 2], [2, 1, 1])
    assert not same(Bag(number, 3), [1, 1, 2], [2, 2, 1])
    assert same(Set(number), frozenset({1}), {1})
    assert not same(Set(number), frozenset({1}), None)
    assert not same(Map(number, number, total=False), {1: 2}, {1: 2, 3: 4})


@pytest.mark.usefixtures("example")
def test_only_enabled_rows_are_drawn() -> None:
    """One rule, always possible: Hypothesis throws nothing away for a row that is not enabled."""
    machine = state_machine("lease.yaml", module("test_lease").LeaseAdapter)
    members = [getattr(machine, name) for name in dir(machine)]
    rules = [getattr(item, RULE_MARKER) for item in members if hasattr(item, RULE_MARKER)]
    assert len(rules) == 1
    assert not rules[0].preconditions


HIDDEN = """
system: hidden
about: A coin is thrown and covered; it shows later how it fell.
variables:
  side: {type: "0..1", initial: "0"}
  seen: {type: "0..3", initial: "0"}
rows:
  - row: throw
    when: seen == 0
    do: |
      side = pick(x for x in range(2))
      seen = 1
  - row: show
    when: seen == 1
    do: seen = 2 + side
  - row: pocket
    when: seen == 1 and side == 0
    do: seen = 0
deadlock: false
"""


class Coin:
    def __init__(self) -> None:
        self.side, self.seen = 1, 0

    def throw(self) -> None:
        self.seen = 1

    def show(self) -> None:
        self.seen = 2 + self.side

    def pocket(self) -> None:
        raise AssertionError("this coin cannot be put away: it fell on the other side")

    def observe(self) -> dict[str, int]:
        return {"seen": self.seen}


def test_what_an_implementation_picked_may_show_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lease.yaml").write_text(HIDDEN)
    run(Coin)
    with pytest.raises(AssertionError, match="the model has 2, the implementation 1"):
        run(type("Stuck", (Coin,), {"show": lambda _: None}))


def test_who_is_not_told_where_to_begin_begins_somewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lease.yaml").write_text(HIDDEN + "initial: {for: {x: 0..1}, do: side = x}\n")
    begun = {"observe": lambda self: {"seen": self.seen, "side": self.side}, "throw": _throw}
    run(type("Begun", (Coin,), begun))


def _throw(self: Coin) -> None:
    self.seen, self.side = 1, 1


def test_what_stands_inside_of_others_is_plain_and_compared_in_any_order() -> None:
    number = Range(0, 3)
    held = Record("Held", (("items", Bag(number, 2)), ("at", Set(Sequence(number, 2)))))
    value = RecordValue("Held", (("items", (1, 2)), ("at", frozenset({(1, 2), (0,)}))))
    found: Any = plain(held, value)
    assert found == {"items": [1, 2], "at": [[0], [1, 2]]}
    assert same(held, found, {"items": [2, 1], "at": [[1, 2], [0]]})
    assert not same(held, found, {"items": [2, 2], "at": [[1, 2], [0]]})
    assert not same(held, found, {"items": [1, 2]})
    message = Union("M", (held,))
    said = {"kind": "Held", "items": [2, 1], "at": found["at"]}
    assert same(message, plain(message, value), said)
    assert not same(message, plain(message, value), {**said, "kind": "M"})
    keyed: Any = plain(Map(held, number, total=False), MapValue([(value, 1)]))
    assert keyed == {((1, 2), ((0,), (1, 2))): 1}
    assert plain_value(frozenset({RecordValue("P", (("x", 1),))})) == [{"kind": "P", "x": 1}]
    assert plain_value(frozenset({"a"})) == frozenset({"a"})
    assert plain_value(MapValue([((1, 2), 3)])) == {(1, 2): 3}
