"""`fair_groups:`: rows that are fair together, and what tells instances of the group apart."""

from __future__ import annotations

from checker.elaborate.ran import called
from checker.elaborate.rows import fairness
from checker.elaborate.world import World
from checker.elaborate.wrong import Wrong, collecting
from checker.machine.machine import Action, FairGroup
from checker.machine.relations import join, show
from checker.machine.types import Bool, Enum, Id, Option, Range, Type
from checker.table.document import FairGroupEntry, Word
from checker.table.problems import nearest


def fair_groups_of(world: World) -> tuple[FairGroup, ...]:
    """Return the groups of rows that are fair together, those that constants leave out left out."""
    found: list[FairGroup] = []
    for entry in world.document.fair_groups:
        with collecting(world.problems):
            group = _group(world, entry)
            if group is not None:
                found.append(group)
    return tuple(found)


def _group(world: World, entry: FairGroupEntry) -> FairGroup | None:
    fair = fairness(world, entry.fair)
    if entry.name.text in {*world.actions, *(row.name.text for row in world.document.rows)}:
        raise Wrong(
            "N203",
            f"`{entry.name.text}` is the name of a row, too",
            entry.name.span,
            help="give the group a name of its own",
        )
    rows = _rows(world, entry)
    kinds: list[Type | None] = [None] * len(entry.per)
    members: list[tuple[str, tuple[str, ...]]] = []
    for action in rows:
        names: list[str] = []
        for place, word in enumerate(entry.per):
            name, kind = _binding(action, word)
            known = kinds[place]
            both = kind if known is None else join(known, kind)
            if both is None:
                assert known is not None
                raise Wrong(
                    "Y303",
                    f"`{word.text}` is of another type in `{action.name}`",
                    word.span,
                    expected=show(known),
                    found=show(kind),
                    help="group rows whose bindings of this name mean the same",
                )
            kinds[place] = both
            names.append(name)
        members.append((action.name, tuple(names)))
    if fair == "none" or not rows:
        return None
    per = tuple(
        (word.text, kind) for word, kind in zip(entry.per, kinds, strict=True) if kind is not None
    )
    return FairGroup(entry.name.text, tuple(members), per, fair == "strong", entry.span)


def _rows(world: World, entry: FairGroupEntry) -> list[Action]:
    """Return the rows of a group that this instance has."""
    if entry.rows is None:
        return [action for action in world.actions.values() if action.fault is None]
    declared = {row.name.text for row in world.document.rows}
    found: list[Action] = []
    for word in entry.rows:
        action = world.actions.get(word.text)
        if action is None and entry.every:
            continue
        if action is None and word.text not in declared:
            close = nearest(word.text, {*declared, *world.actions})
            raise Wrong(
                "N206",
                f"no row is called `{word.text}`",
                word.span,
                found=word.text,
                help=f"did you mean `{close}`?" if close else None,
            )
        if action is not None and action.fault is not None and entry.every:
            continue
        if action is not None and action.fault is not None:
            raise Wrong(
                "N205",
                f"`{word.text}` is a fault, and faults are never fair",
                word.span,
                help="leave it out: nothing may rely on a fault to happen",
            )
        if action is not None:
            found.append(action)
    return found


def _binding(action: Action, word: Word) -> tuple[str, Type]:
    """Return the name and type of a row's binding that tells its steps apart."""
    names = [
        binding.name
        for binding in action.bindings
        if binding.name in action.shown and _tells_apart(action.shown[binding.name])
    ]
    known = called(action, names, word.span)
    if word.text not in known:
        raise Wrong(
            "N208",
            f"`{action.name}` has no binding `{word.text}` that tells its steps apart",
            word.span,
            expected=", ".join(known) or "no binding of this row does",
            found=word.text,
            help="name one that `for:` or the key of a channel binds in every row of the group",
        )
    name = known[word.text]
    return name, action.shown[name]


def _tells_apart(kind: Type) -> bool:
    inner = kind.item if isinstance(kind, Option) else kind
    return isinstance(inner, Bool | Range | Enum | Id)
