"""All one-place mutants of a specification, woven into one machine.

A mutant is one small mistake in a row, procedure or definition: a condition that is left out or
negated, a statement that is forgotten, another state, value or field, an off by one. Compiling a
machine takes much longer than searching it, so the mutants are not written out one by one: the
woven specification has one variable more, which never changes and has another value in every
initial state; each place does what it should unless that variable is one of the place's numbers.
Number 0 is the specification itself. (Untch, Offutt, Harrold 1993: mutant schemata.)
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType

from checker.elaborate import elaborate
from checker.errors import SpecificationError
from checker.frozen import frozen
from checker.machine.machine import Machine
from checker.mutation import parts
from checker.mutation.merging import merged
from checker.mutation.weaver import USUAL, Kind, Mutant, Weaver
from checker.source import NOWHERE, Span
from checker.table.document import (
    BindingEntry,
    Document,
    TypeRange,
    VariableEntry,
    Word,
)

CHOSEN = "_chosen"
"""The binding that chooses a mutant. No specification has such a name (T123)."""

TOO_LARGE = "Y311"
"""The code of what is too large once everything is put in: fewer mutants may fit."""


@frozen(slots=False)
class Woven:
    """A document with all of `mutants` in it, and the machine that an instance of it is."""

    document: Document
    mutants: tuple[Mutant, ...]
    machine: Machine
    refused: frozenset[str] = frozenset()
    """The keys of those that are no specification."""


def catalogue(document: Document, kinds: Collection[Kind] = USUAL) -> tuple[Mutant, ...]:
    """Return all mutants of these kinds of a specification, those with wrong types included."""
    weaver = Weaver(document, None, frozenset(), frozenset(kinds))
    weaver.document()
    return tuple(weaver.mutants)


def weave(
    document: Document,
    keys: AbstractSet[str] | None = None,
    instance: str | None = None,
    versions: Mapping[str, Document] = MappingProxyType({}),
) -> Woven:
    """Return `document` with the mutants of these keys and with versions.

    All of usual kinds where the keys are None.

    Mutants with which the instance is no specification (wrong types, as a rule), or does not use
    its symmetric ids alike any more, are left out; the others are numbered from 1, and after them
    the versions, of which each is a `difference`. SpecificationError where they are too many for
    one machine (Y311), or a version is no specification.
    """
    wrong: set[str] = set()
    while True:
        weaver = Weaver(document, keys, frozenset(wrong))
        whole, mutants = _with_versions(weaver, versions)
        try:
            machine = _elaborated(whole, instance, document)
        except SpecificationError as error:
            if any(item.code == TOO_LARGE for item in error.diagnostics):
                raise
            found = _culprits(document, weaver.mutants, instance, error)
            if not found:
                raise
            wrong |= found
        else:
            return Woven(whole, mutants, machine, frozenset(wrong))


def _with_versions(
    weaver: Weaver, versions: Mapping[str, Document]
) -> tuple[Document, tuple[Mutant, ...]]:
    """Return what a weaver makes, with these versions as mutants after its own."""
    woven = weaver.document()
    mutants = list(weaver.mutants)
    for key, version in versions.items():
        mutants.append(Mutant(len(mutants) + 1, "version", key, "effect", NOWHERE))
        # In the form that woven rows have: `to:` and `send:` are statements.
        changed = Weaver(version, frozenset(), frozenset()).document()
        woven = merged(woven, changed, len(mutants))
    return choosing(woven, len(mutants)), tuple(mutants)


def choosing(document: Document, count: int) -> Document:
    """Return a document with the variable that says which of `count` mutants runs.

    Its section `initial` chooses before it does anything else.
    """
    numbers = TypeRange(parts.cell("0"), parts.cell(str(count)), NOWHERE)
    row = document.initial or parts.NOTHING
    body = () if row.do is None else row.do.tree
    assert isinstance(body, tuple)
    first = ast.parse(f"{parts.VARIABLE} = {CHOSEN}").body
    initial = replace(
        row,
        bindings=(BindingEntry(Word(CHOSEN, NOWHERE), numbers, None), *row.bindings),
        do=parts.with_tree(None, (*first, *body)),
    )
    variable = VariableEntry(
        Word(parts.VARIABLE, NOWHERE), "", numbers, parts.cell("0"), None, observed=True
    )
    return replace(document, initial=initial, variables=(*document.variables, variable))


def _elaborated(document: Document, instance: str | None, origin: Document) -> Machine:
    """Return an instance of what was woven of `origin`.

    SpecificationError where it is none, or uses its symmetric ids less alike than `origin`.
    """
    machine = elaborate(document, instance)
    if machine.unlike and elaborate(origin, instance).symmetry:
        raise SpecificationError(machine.unlike)
    return machine


def _culprits(
    document: Document, mutants: list[Mutant], instance: str | None, error: SpecificationError
) -> set[str]:
    """Return the mutants that are wrong by themselves, looked for where the errors are first."""

    def wrong(some: list[Mutant]) -> set[str]:
        if not some:
            return set()
        keys = {mutant.key for mutant in some}
        weaver = Weaver(document, keys, frozenset())
        alone = choosing(weaver.document(), len(weaver.mutants))
        try:
            _elaborated(alone, instance, document)
        except SpecificationError:
            if len(some) == 1:
                return keys
        else:
            return set()
        return wrong(some[: len(some) // 2]) | wrong(some[len(some) // 2 :])

    there = [
        item for item in mutants if any(_touches(item.span, e.span) for e in error.diagnostics)
    ]
    lines = {(item.span.source.name, item.span.line) for item in error.diagnostics}
    near = [item for item in mutants if (item.span.source.name, item.span.line) in lines]
    return wrong(there) or wrong(near) or wrong(mutants)


def _touches(one: Span, two: Span) -> bool:
    if one.source is not two.source:
        return False
    begins, ends = (one.line, one.column), (one.end_line, one.end_column)
    return begins <= (two.line, two.column) <= ends
