"""Goal: the flow goes from a file to a verdict in the order it promises, and says where it is."""

from pathlib import Path
from threading import Event

import pytest

from checker import flow, library
from checker.errors import SpecificationError, UsageError
from checker.report.headline import up_to_renaming
from checker.search.limits import Limits
from checker.search.progress import Progress

LATE = """\
system: late
about: Two properties, of which the second breaks later.
variables:
  n: {type: "0..5", initial: "0"}
rows:
  - row: increase
    when: n < 5
    do: n += 1
  - row: rest
    do: pass
properties:
  early: {always: n < 2, why: it breaks first.}
  late: {always: n < 4, why: it breaks later.}
instances:
  default: {expect: {verdict: violated, property: late, also: [early]}}
  first: {expect: {verdict: violated, property: early}}
"""


class Listener:
    """Remembers the stages; sets an event when the search begins."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.interrupt = Event()

    def stage(self, name: str) -> None:
        self.stages.append(name)
        if name == "explore":
            self.interrupt.set()

    def search(self, progress: Progress) -> None:
        assert progress.distinct >= 0

    def notice(self, text: str) -> None:
        raise AssertionError(text)


def test_the_stages_are_the_arrows_of_the_page() -> None:
    listener = Listener()
    result = flow.check(flow.Request("hour_clock", workers=1), listener)
    assert listener.stages == [
        "read",
        "elaborate",
        "pack",
        "build",
        "explore",
        "judge",
        "rebuild",
        "write",
    ]
    assert flow.__doc__ is not None
    assert (
        "read -> elaborate -> pack -> build -> explore -> judge -> rebuild -> write" in flow.__doc__
    )
    assert (result.verdict.overall, result.exploration.distinct) == ("holds", 12)


@pytest.mark.parametrize("engine", ["local", "reference"])
def test_engines_find_the_counts_that_are_published(engine: str) -> None:
    result = flow.check(flow.Request("two_phase", engine=engine), flow.Silent())
    exploration = result.exploration
    assert (exploration.distinct, exploration.generated, exploration.depth) == (288, 1146, 10)
    assert result.verdict.overall == "holds"


def test_an_interrupted_search_tells_what_it_found() -> None:
    listener = Listener()
    request = flow.Request("group_small", overrides={"Member": 4}, workers=1)
    result = flow.check(request, listener, listener.interrupt)
    assert result.exploration.stopped_by == "interrupt"
    assert result.verdict.exit_code == 130


def test_a_search_goes_on_until_the_declared_property_breaks(tmp_path: Path) -> None:
    file = tmp_path / "late.yaml"
    file.write_text(LATE)

    def broken(instance: str) -> list[tuple[str, int | None]]:
        request = flow.Request(str(file), instance, engine="reference")
        verdict = flow.check(request, flow.Silent()).verdict
        return [(item.name, item.length) for item in verdict.broken]

    assert broken("first") == [("early", 2)]
    assert broken("default") == [("early", 2), ("late", 4)]


@pytest.mark.parametrize("engine", ["local", "reference"])
def test_a_search_is_run_once_and_ends_where_the_declared_property_breaks(
    tmp_path: Path, engine: str
) -> None:
    file = tmp_path / "late.yaml"
    file.write_text(LATE)
    listener = Listener()
    result = flow.check(flow.Request(str(file), engine=engine, workers=1), listener)
    assert listener.stages.count("explore") == 1
    assert result.exploration.stopped_by == "violation"
    assert (result.exploration.distinct, result.exploration.depth) == (5, 4)


def test_every_trace_of_a_result_was_replayed_counterexamples_first() -> None:
    result = flow.check(flow.Request("die_hard", engine="reference"), flow.Silent())
    assert [(trace.property_name, trace.length) for trace in result.failures] == [("unsolved", 6)]
    kinds = [trace.kind == "sometimes" for trace in result.traces]
    assert kinds == sorted(kinds)


def test_selecting_properties_leaves_the_others_out() -> None:
    machine = flow.machine_of("two_phase", "default", {})
    selected = flow.select(machine, ("consistent",))
    assert [item.name for item in selected.properties] == ["consistent"]
    assert not selected.deadlock
    assert flow.select(machine, ("deadlock",)).deadlock
    assert flow.select(machine, None) is machine
    with pytest.raises(UsageError, match="did you mean consistent"):
        flow.select(machine, ("consistant",))


def test_shipped_specifications_are_named_and_others_by_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert flow.spec_name(str(library.find("two_phase"))) == "two_phase"
    monkeypatch.chdir(tmp_path)
    assert flow.spec_name(str(tmp_path / "a" / "x.yaml")) == "a/x.yaml"
    assert flow.spec_name("b.yaml") == "b.yaml"


def test_the_command_repeats_the_request() -> None:
    request = flow.Request(
        "two_phase",
        "managers_7",
        {"Manager": 4, "fast": True},
        properties=("consistent",),
        limits=Limits(10**13, 7, 0.5, 1 << 30, keep_going=True),
    )
    document, _ = flow.prepare(flow.Request("two_phase"), flow.Silent())
    origin = flow.provenance(request, document)
    assert origin.command == (
        "checker check two_phase --instance managers_7 --set Manager=4 --set fast=true"
        " --property consistent --keep-going"
        " --limit-states 10000000000000 --limit-depth 7 --limit-seconds 0.5"
    )


def test_what_is_wrong_is_raised_and_not_printed(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("system: [")
    with pytest.raises(SpecificationError):
        flow.check(flow.Request(str(file)), flow.Silent())


def test_one_id_has_nothing_to_rename(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(
        "system: one\nabout: a\nconstants:\n  Client: {ids: 1, symmetric: true}\n"
        "variables:\n  done: {type: set of Client, initial: empty, observed: true}\n"
        "rows:\n  - {row: act, for: {c: Client}, do: done.add(c)}\n"
    )
    result = flow.check(flow.Request(str(file), symmetry=True), flow.Silent())
    assert (result.verdict.overall, result.exploration.distinct) == ("holds", 2)


def test_initial_states_that_do_not_fit_the_memory_end_the_search(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    file.write_text(
        'system: many\nabout: a\nvariables:\n  x: {type: 0..999, initial: "0", observed: true}\n'
        '  y: {type: 0..999, initial: "0", observed: true}\n'
        "initial:\n  for: {a: 0..999, b: 0..999}\n  do: |\n    x = a\n    y = b\n"
        "rows:\n  - {row: rest, do: pass}\n"
    )
    request = flow.Request(str(file), limits=Limits(memory_bytes=1 << 22))
    result = flow.check(request, flow.Silent())
    assert (result.verdict.overall, result.exploration.stopped_by) == ("inconclusive", "memory")
    assert result.exploration.distinct == 0


COARSE = """\
system: coarse
about: Three switches that are told apart.
constants:
  Room: {ids: 3}
variables:
  on: {type: set of Room, initial: empty}
rows:
  - row: turns
    for: {r: Room}
    do: on = on | {r}
"""
FINE = """\
system: fine
about: Three switches, held to others that are told apart or to nothing.
constants:
  Room: {ids: 3, symmetric: true}
variables:
  on: {type: set of Room, initial: empty}
rows:
  - row: turns
    for: {r: Room}
    do: on = on | {r}
properties:
  some: {eventually: len(on) > 1, why: it is a test.}
"""
HELD = "  coarse: {refines: {system: coarse}, why: it is a test.}\n"


def test_a_question_keeps_as_many_states_as_the_graph_it_is_asked_of(tmp_path: Path) -> None:
    (tmp_path / "coarse.yaml").write_text(COARSE)
    for text, alike in ((FINE, " up to renaming Room"), (FINE + HELD, "")):
        (tmp_path / "fine.yaml").write_text(text)
        request = flow.Request(str(tmp_path / "fine.yaml"))
        machine, asked = flow.question(request, "len(on) == 2", flow.Silent())
        assert machine.symmetry == asked.symmetry == bool(alike)
        assert up_to_renaming(asked) == alike
