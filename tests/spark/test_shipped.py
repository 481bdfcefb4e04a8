"""Goal: Spark says of what is shipped exactly what the local engine says, liveness included.

With `--every-instance` of all quick instances; otherwise, of each specification, of the one that
takes the fewest levels and holds; and for each other way to end, a property of some kind that is
violated, of the few specifications that show it in the fewest levels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pairs import assert_same, locally, on_spark
from verified import document

from checker import library
from checker.elaborate import instances
from checker.flow import machine_of
from checker.graph.endless import judge_endless
from checker.kernel.build import build
from checker.layout.layout import pack
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.limits import Limits
from checker.search.outcome import Liveness
from checker.table import Document
from checker.table.document import InstanceEntry

pytestmark = pytest.mark.usefixtures("session")

SLOW = 12
"""Levels from which on a search on Spark takes more than a few seconds."""

ENOUGH = 2
"""Specifications in which a violation of some kind is found on Spark."""

FAR = 100
"""Levels that are assumed where an instance does not declare any."""


def quick() -> Iterator[tuple[Document, list[InstanceEntry]]]:
    """Every shipped specification that can be searched, with its quick instances."""
    for entry in library.shipped():
        if entry.kind != "table":
            own = document(entry.name)
            yield own, [item for item in instances(own) if item.tier == "quick"]


def ending(system: Document, instance: InstanceEntry) -> tuple[str | None, str | None]:
    """How a search is declared to end: the verdict, and the kind of the property that breaks."""
    expect = instance.expect
    if expect is None or expect.property is None:
        return expect and expect.verdict, None
    kinds = {item.name.text: item.kind for item in system.properties}
    return expect.verdict, kinds.get(expect.property.text, expect.property.text)


def levels(instance: InstanceEntry) -> int:
    """How many levels a search takes, as far as that is declared."""
    expect = instance.expect
    if expect is None:
        return FAR
    return next((n for n in (expect.depth, expect.length) if n is not None), FAR)


Case = tuple[Document, InstanceEntry]


def every() -> list[Case]:
    return [(system, instance) for system, among in quick() for instance in among]


def selected() -> list[Case]:
    """The instance with the fewest levels that holds, of each specification; and some violated."""
    found: list[Case] = []
    shown: Counter[object] = Counter()
    holding = {case[0].name.text for case in every() if ending(*case)[0] == "holds"}
    for system, instance in sorted(every(), key=lambda case: levels(case[1])):
        way = ending(system, instance)
        if any(own is system and ending(own, other) == way for own, other in found):
            continue
        if way[0] == "holds" or shown[way] < ENOUGH or system.name.text not in holding:
            found.append((system, instance))
            shown[way] += 1
    return sorted(found, key=lambda case: case[0].name.text)


def test_the_selection_shows_each_way_to_end_and_every_specification() -> None:
    chosen, all_of_them = selected(), every()
    assert {case[0].name.text for case in chosen} == {case[0].name.text for case in all_of_them}
    assert {ending(*case) for case in chosen} == {ending(*case) for case in all_of_them}
    holding = {case[0].name.text for case in all_of_them if ending(*case)[0] == "holds"}
    assert holding == {case[0].name.text for case in chosen if ending(*case)[0] == "holds"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "instance" not in metafunc.fixturenames:
        return
    chosen = []
    wanted = every if metafunc.config.getoption("--every-instance") else selected
    for system, instance in wanted():
        names = system.name.text, instance.name.text
        marks = pytest.mark.slow if levels(instance) >= SLOW else ()
        chosen.append(pytest.param(*names, marks=marks, id="-".join(names)))
    metafunc.parametrize(("spec", "instance"), chosen)


def endless(machine: Machine, found: Exploration) -> Liveness:
    layout = pack(machine)
    return judge_endless(machine, found, Limits(), (layout, build(machine, layout)))


def test_an_instance(spec: str, instance: str) -> None:
    machine = machine_of(spec, instance, {})
    found, wanted = on_spark(machine), locally(machine)
    assert_same(found, wanted)
    assert endless(machine, found) == endless(machine, wanted)
