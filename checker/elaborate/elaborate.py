"""The second arrow of the flow: a Document and an instance's constants become a Machine.

The passes, each of which reports all of its errors before the next begins: constants and
assumptions; names, types and declarations; rows, properties and the rest; lints.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from checker.elaborate import (
    convert,
    enabled,  # noqa: F401 (registers a built-in)
    timers,  # noqa: F401 (registers built-ins)
)
from checker.elaborate.alike import unlike
from checker.elaborate.constants import Setting, constant_values, declare_constants, settings_of
from checker.elaborate.context import Context, Term, expression
from checker.elaborate.declarations import check_names, declare
from checker.elaborate.definitions import check_recursion
from checker.elaborate.fair_groups import fair_groups_of
from checker.elaborate.folded import constant_truth
from checker.elaborate.generated import channel_faults, ignoring, impossible
from checker.elaborate.impartial import check_impartial
from checker.elaborate.kept import kept_of
from checker.elaborate.lints import check_machine, check_size
from checker.elaborate.properties import properties_of
from checker.elaborate.refinement import Coarse, as_here, chosen
from checker.elaborate.rows import action_of
from checker.elaborate.world import World
from checker.elaborate.wrong import Wrong, collecting
from checker.errors import SpecificationError, UsageError
from checker.machine import terms as t
from checker.machine.machine import Action, Expectation, Machine, Property, Trigger
from checker.machine.types import Id
from checker.machine.walk import walk
from checker.source import NOWHERE, Span
from checker.table.document import Cell, Document, InstanceEntry, PropertyEntry, Word
from checker.table.problems import Problems, nearest
from checker.table.scopes import free_name, ignored, kind_of

_NAMED = 12
"""Instances that are named to somebody who asks for one that is not there."""


def instances(document: Document) -> tuple[InstanceEntry, ...]:
    """Return the instances of a system; the constants as declared are `default` if none is."""
    if any(entry.name.text == "default" for entry in document.instances):
        return document.instances
    name = Word("default", document.name.span)
    implicit = InstanceEntry(name, "", "quick", (), None, None, None)
    return (implicit, *document.instances)


def elaborate(
    document: Document,
    instance: str | None = None,
    overrides: Mapping[str, Setting] | None = None,
) -> Machine:
    """Return the machine of an instance (`default` where None), its constants replaced further.

    Raises SpecificationError with all errors of the first phase that found any (N2xx names, Y3xx
    types, R601 a false assumption); UsageError for an unknown instance, an unknown constant in
    `overrides` or a value of another kind. Lints (L4xx) are the machine's warnings, and so is what
    keeps it from being reduced by symmetry (Y330).
    """
    overrides = overrides or {}
    entry = _instance(document, instance or "default")
    world = _sharing(document, entry, overrides)
    machine = _assemble(world, entry, drops_expectation=bool(overrides))
    check_impartial(world, machine)
    world.problems.raise_any()
    check_size(world, machine)
    return _reducible(check_machine(world, machine), insists=entry.symmetry is True)


def _reducible(machine: Machine, *, insists: bool) -> Machine:
    """Return `machine`, without symmetry where its ids are not shown to be used alike.

    That is a warning; SpecificationError (Y330) where the instance insists on symmetry.
    """
    found = unlike(machine) if machine.symmetry else ()
    if not found:
        return machine
    if insists:
        raise SpecificationError(found)
    told = tuple(replace(item, severity="warning") for item in found)
    return replace(machine, symmetry=False, unlike=told, warnings=(*machine.warnings, *told))


def world_of(
    document: Document, instance: str, overrides: Mapping[str, Setting] | None = None
) -> World:
    """Return what names mean in an instance, for expressions that stand beside the specification.

    Raises what `elaborate` raises of names, types and constants.
    """
    return _declared(document, _instance(document, instance), overrides or {})


def check_settings(
    document: Document,
    instance: str,
    settings: tuple[tuple[Word, Setting, Span], ...],
    overrides: Mapping[str, Setting],
) -> None:
    """Refuse constants that another file sets, as if they stood in the instance.

    Raises SpecificationError with each one that is none, or has a value that is none of its.
    """
    entry = _instance(document, instance)
    entry = replace(entry, settings=(*entry.settings, *settings))
    world = World(document, Problems(document.headings))
    found = settings_of(world, entry, overrides)
    world.problems.raise_any()
    declare_constants(world, found)


def judged(document: Document, instance: str) -> frozenset[str]:
    """Return the names of the declared properties that an instance judges, for `for:` of all.

    Raises what `elaborate` raises of names, types and constants.
    """
    entry = _instance(document, instance)
    world = _declared(document, entry, {})
    return frozenset(
        item.name.text
        for item in document.properties
        if entry.judges({item.name.text})
        and (item.only_if is None or constant_truth(world, item.only_if))
    )


def _declared(document: Document, entry: InstanceEntry, overrides: Mapping[str, Setting]) -> World:
    world = World(document, Problems(document.headings))
    declare_constants(world, settings_of(world, entry, overrides))
    check_names(world)
    declare(world)
    check_recursion(world)
    world.problems.raise_any()
    return world


def _sharing(document: Document, entry: InstanceEntry, overrides: Mapping[str, Setting]) -> World:
    """Return a world in which rows and properties are what they are in others, if they may be."""
    world = _declared(document, entry, overrides)
    kept_of(document).enter(world)
    return world


def _instance(document: Document, name: str) -> InstanceEntry:
    known = instances(document)
    for entry in known:
        if entry.name.text == name:
            return entry
    names = [entry.name.text for entry in known]
    close = nearest(name, names)
    advice = f" Did you mean `{close}`?" if close else ""
    some = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    raise UsageError(f"no instance is called `{name}`.{advice} There are {some}{more}.")


def _assemble(world: World, entry: InstanceEntry, *, drops_expectation: bool) -> Machine:
    document = world.document
    actions, extra = _actions(world)
    world.actions = {action.name: action for action in actions}
    fair_groups = fair_groups_of(world)
    initial = _initial(world)
    properties = _properties(world, entry, extra)
    expectation = _expectation(world, entry, actions, [*extra, *properties])
    bounds, step_bounds = _bounds(world, document.bounds)
    terminal = _conditions(world, document.terminal)
    used = {variable.table for variable in world.variables.values()}
    ids = tuple(
        kind
        for constant in document.constants
        if isinstance(kind := world.types.get(constant.name.text), Id)
    )
    return Machine(
        name=document.name.text,
        path=document.path,
        instance=entry.name.text,
        about=document.about,
        constants=constant_values(world),
        tables=tuple(table for name, table in document.tables.items() if name in used),
        ids=ids,
        variables=tuple(world.variables.values()),
        initial=initial,
        actions=actions,
        properties=properties,
        bounds=bounds,
        terminal=terminal,
        deadlock=document.deadlock,
        budgets=tuple((name, value) for name, value in world.budgets.items() if value),
        expectation=None if drops_expectation else expectation,
        tier=entry.tier,
        fair_groups=fair_groups,
        step_bounds=step_bounds,
        symmetry=any(kind.symmetric for kind in ids) and entry.symmetry is not False,
        endless_symmetry=entry.symmetry is True,
        sources=tuple(file.source for file in document.files),
        headings=document.headings,
    )


# ------------------------------------------------------------------------------------ rows


def _actions(world: World) -> tuple[tuple[Action, ...], list[Property]]:
    """Return the actions in the order of the file, generated ones last.

    With them the invariants of messages declared impossible.
    """
    actions: list[Action] = []
    for row in world.document.rows:
        with collecting(world.problems):
            action = action_of(world, row)
            if action is not None:
                actions.append(action)
    made = {id(entry): name for entry, name in ignored(world.document)}
    names = {*(row.name.text for row in world.document.rows), *made.values()}
    extra: list[Property] = []
    properties = {entry.name.text for entry in world.document.properties}
    for entry in world.document.unhandled:
        with collecting(world.problems):
            if entry.status == "ignored":
                actions.append(ignoring(world, entry, made[id(entry)]))
            else:
                name = free_name(f"impossible_{kind_of(entry)}", properties)
                extra.append(impossible(world, entry, name))
    for action in channel_faults(world):
        if action.name in names:
            world.problems.add(
                "N203", f"the generated row `{action.name}` has the name of a row", action.span
            )
        actions.append(action)
    return tuple(actions), extra


def _initial(world: World) -> Action:
    if world.document.initial is not None:
        with collecting(world.problems):
            action = action_of(world, world.document.initial)
            if action is not None:
                return action
    return Action(
        name="initial",
        bindings=(),
        lets=(),
        shown_lets=(),
        guard=convert.truth(True, NOWHERE),
        body=(),
        trigger=Trigger("spontaneous", None, None),
        fault=None,
        fair="none",
        generated=True,
        actor=None,
        about="",
        source="",
        span=NOWHERE,
    )


# -------------------------------------------------------------------------------- properties


def _conditions(world: World, cells: tuple[Cell, ...]) -> tuple[Term, ...]:
    terms: list[Term] = []
    for cell in cells:
        with collecting(world.problems):
            terms.append(Context(world, cell).condition(expression(cell)))
    return tuple(terms)


def _bounds(world: World, cells: tuple[Cell, ...]) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Return the bounds of states, and those of steps: the ones that speak of the next state.

    Which one a bound is stands in its text: no constant that decides a part of it changes that.
    """
    of_states: list[Term] = []
    of_steps: list[Term] = []
    for cell in cells:
        with collecting(world.problems):
            nexts = world.nexts
            term = Context(world, cell, next_allowed=True).condition(expression(cell))
            if any(isinstance(part, t.Ran) for part in walk(term)):
                raise Wrong(
                    "Y309",
                    "`ran` stands in `step` properties only",
                    cell.span,
                    help="bound the row by its `when:`",
                )
            (of_steps if world.nexts > nexts else of_states).append(term)
    return tuple(of_states), tuple(of_steps)


def _coarse(world: World, entry: PropertyEntry) -> Coarse | None:
    """Return the system that a property refines, as a machine of its own."""
    claim = entry.refines
    if claim is None:
        return None
    known = instances(world.document.coarse[claim.system.text])
    document, chosen_entry = chosen(world, claim, known)
    coarse = _sharing(document, chosen_entry, {})
    machine = _assemble(coarse, chosen_entry, drops_expectation=True)
    check_impartial(coarse, machine)
    coarse.problems.raise_any()
    return as_here(world, claim, coarse, _reducible(machine, insists=False))


def _properties(
    world: World, instance: InstanceEntry, extra: list[Property]
) -> tuple[Property, ...]:
    found: list[Property] = []
    for entry in world.document.properties:
        with collecting(world.problems):
            name = entry.name.text
            if name in ("deadlock", "legal"):
                world.problems.add("N203", f"the property `{name}` is built in", entry.name.span)
            elif name == "error":  # two things found of one name would be taken for each other
                world.problems.add(
                    "N203",
                    "`error` is what evaluation errors are found and told as",
                    entry.name.span,
                    help="call the property by what should hold",
                )
            if entry.only_if is None or constant_truth(world, entry.only_if):
                found += _properties_of(world, entry)
    found += extra
    known = {entry.name.text for entry in world.document.properties}
    known |= {one.name for one in extra}
    if instance.properties is not None:
        known |= {"deadlock", "legal"}  # which are judged in any case
    _require(world, "property", (*(instance.properties or ()), *instance.without), known)
    return tuple(one for one in found if instance.judges({one.name, one.declared}))


def _properties_of(world: World, entry: PropertyEntry) -> tuple[Property, ...]:
    """Return the properties of an entry; what refines depends on another document, too."""
    if entry.refines is not None:
        return tuple(properties_of(world, entry, _coarse(world, entry)))
    assert world.kept is not None
    return world.kept.made(world, entry, lambda: tuple(properties_of(world, entry)), entry.span)


def _expectation(
    world: World, entry: InstanceEntry, actions: tuple[Action, ...], properties: list[Property]
) -> Expectation | None:
    expect = entry.expect
    if expect is not None:
        rows = {row.name.text for row in world.document.rows} | {item.name for item in actions}
        _require(world, "row", [word for word, _ in expect.rows], rows)
        known = {item.name.text for item in world.document.properties} | {"deadlock", "legal"}
        known |= {name for item in properties for name in (item.name, item.declared)}
        _require(world, "property", [*filter(None, [expect.property]), *expect.also], known)
    return expected_of(entry)


def _require(world: World, what: str, words: Iterable[Word], known: Collection[str]) -> None:
    """Report each name that nothing has (N206)."""
    for word in words:
        if word.text not in known:
            close = nearest(word.text, known)
            world.problems.add(
                "N206",
                f"no {what} is called `{word.text}`",
                word.span,
                help=f"did you mean `{close}`?" if close else None,
            )


def expected_of(entry: InstanceEntry) -> Expectation | None:
    """Return what an instance declares, None for nothing."""
    expect = entry.expect
    if expect is None:
        return None
    return Expectation(
        verdict=expect.verdict,
        property=expect.property.text if expect.property else None,
        distinct=expect.distinct,
        generated=expect.generated,
        depth=expect.depth,
        length=expect.length,
        also=tuple(word.text for word in expect.also),
        span=expect.span,
        rows=tuple((word.text, times) for word, times in expect.rows),
    )
