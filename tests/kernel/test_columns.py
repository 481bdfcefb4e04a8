"""Goal: a row begins with the keys at which the conditions that a column stands for hold."""

import random
from collections.abc import Iterable, Mapping
from itertools import product

import pytest

from checker import library
from checker.flow import elaborate
from checker.flow import read as read_specification
from checker.kernel.actions import Selection, Stage, plan, select
from checker.kernel.columns import KEYS_MAX, CellTest
from checker.layout import pack
from checker.machine.machine import Machine
from checker.machine.types import Map, Set, Type, cardinality
from checker.passes.analysis import Analysis
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.values import code_of, value_of, values

DRAWS = 60


def specification(name: str, **constants: int | bool) -> Machine:
    return elaborate(read_specification(library.find(name)), "default", constants)


def selections(machine: Machine) -> dict[str, tuple[list[Stage], Selection]]:
    layout, analysis = pack(machine), Analysis()
    shapes = dict(zip(layout.variables, layout.shapes, strict=True))
    found = {}
    for action in machine.actions:
        stages = plan(analysis, action)
        selection = select(analysis, shapes, stages)
        if selection is not None:
            found[action.name] = stages, selection
    return found


def holds(stages: Iterable[Stage], context: Context) -> bool:
    """Say whether all conditions hold, asked in order until one does not."""
    for stage in stages:
        if stage.binding is not None:
            if stage.binding.condition and not evaluate(stage.binding.condition, context):
                return False
            continue
        assert stage.term is not None
        value = evaluate(stage.term, context)
        if stage.name:
            context = context.bind(stage.name, value)
        elif not value:
            return False
    return True


def passes(
    test: CellTest, types: Mapping[str, Type], state: Mapping[str, object], keys: tuple[object, ...]
) -> bool:
    """Say what a column says of the cell at these keys."""
    value, kind = state[test.variable], types[test.variable]
    if isinstance(kind, Set):
        return (keys[0] in value) != test.opposite  # type: ignore[operator]
    for key in keys:
        assert isinstance(kind, Map)
        value, kind = value[key], kind.value  # type: ignore[index]
    return bool(test.truth[code_of(kind, value)]) != test.opposite


def combinations(selection: Selection) -> Iterable[tuple[object, ...]]:
    domains = []
    for binding in selection.bindings:
        assert isinstance(binding.domain.type, Set)
        domains.append(list(values(binding.domain.type.item)))
    return product(*domains)


@pytest.mark.parametrize(("name", "least"), [("group_small", 12), ("classic_group", 20)])
def test_the_same_instances_are_enabled(name: str, least: int) -> None:
    machine = specification(name)
    types = {variable.name: variable.type for variable in machine.variables}
    draw = random.Random(7)  # noqa: S311
    found = selections(machine)
    assert len(found) >= least
    for stages, selection in found.values():
        enabled = 0
        for _ in range(DRAWS):
            state = {
                variable: value_of(kind, draw.randrange(cardinality(kind)))
                for variable, kind in types.items()
            }
            for keys in combinations(selection):
                names = {
                    binding.name: key for binding, key in zip(selection.bindings, keys, strict=True)
                }
                context = Context(state, names)
                chosen = all(passes(test, types, state, keys) for test in selection.tests)
                enabled += chosen
                rest = [*stages[: selection.first], *selection.rest]
                assert holds(stages, context) == (chosen and holds(rest, context))
        assert selection.count <= KEYS_MAX
        assert enabled < DRAWS * selection.count


def test_what_can_fail_does_not_move() -> None:
    machine = specification("group_small")
    stages, selection = selections(machine)["refuse_sync"]
    assert len(selection.tests) == 1
    assert any(stage.term is not None for stage in selection.rest)
    assert len(stages) == selection.first + len(selection.rest) + 2
