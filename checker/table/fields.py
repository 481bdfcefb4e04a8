"""The keys of one mapping, each asked for by what its value means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from checker.source import Span
from checker.table import elsewhere
from checker.table.cells import ITEM, placeholder, read_effects, read_expression, read_type
from checker.table.document import Cell, TypeName, TypeNode, Word
from checker.table.forms import Context
from checker.table.keys import HINTS, KEYS
from checker.table.nodes import NAMES_MAX, Mapping, Node, Scalar, Sequence, shorten
from checker.table.problems import Problems, meant
from checker.table.words import (
    INTEGER_MAX,
    name_error,
    read_boolean,
    read_choice,
    read_integer,
    read_items,
    read_name,
    read_names,
    read_prose,
    wrong_kind,
)

_BOUND = re.compile(r"(?P<name>\w+) in (?P<domain>\w+)")
_STATEMENT = re.compile(r"(?:if|elif|for)\s|else$")

FAIRNESS: Final = ("none", "weak", "strong")
"""What may be promised of a row."""


class Fields:
    """One mapping of a known part of the language; unknown keys are reported on opening.

    Methods return None (or a harmless value, for required keys) where the key is missing or
    wrong; the error is then among `problems`, and the phase fails.
    """

    def __init__(
        self, node: Node, part: str, problems: Problems, keys: tuple[str, ...] | None = None
    ) -> None:
        """Open the mapping of a part; its keys are those of `KEYS` where `keys` is None."""
        self.part = part
        self._keys = KEYS[part] if keys is None else keys
        self.problems = problems
        self.span: Span = node.span
        self._head = node.span
        self._values: dict[str, Node] = {}
        if not isinstance(node, Mapping):
            if not is_torn(node):
                example = ", ".join(self._keys[:3])
                wrong_kind(
                    node, part, "a mapping", problems, f"write keys below it: {example}, ..."
                )
            # What is missing from a mapping that is not there was said already.
            self._absent = True
            return
        self._absent = False
        if node.entries and not node.flow:
            self._head = node.entries[0][0].span
        for key, value in node.entries:
            if key.text in self._keys and key.kind == "string":
                self._values[key.text] = value
            else:
                self._unknown(key, value)

    def has(self, key: str) -> bool:
        """Return whether the key is there."""
        return key in self._values

    def get(self, key: str) -> Node | None:
        """Return the node of an optional key."""
        return self._values.get(key)

    def need(self, key: str) -> Node | None:
        """Return the node of a required key, or None after reporting (T114)."""
        node = self._values.get(key)
        if node is None and not self._absent:
            self.problems.add(
                "T114",
                f"the {self.part} has no `{key}`",
                self.head(),
                expected=f"the key `{key}`",
                help=f"add `{key}: ...`",
            )
        return node

    def head(self) -> Span:
        """Return the place for errors about the whole mapping: its first key, or its braces."""
        return self._head

    def prose(self, key: str, *, required: bool = False) -> str:
        """Return prose; "" where it is missing."""
        return read_prose(self.need(key) if required else self.get(key), key, self.problems)

    def name(self, key: str) -> Word | None:
        """Return the name of an optional key."""
        node = self.get(key)
        return read_name(node, key, self.problems) if node is not None else None

    def needed_name(self, key: str) -> Word:
        """Return the name of a required key."""
        node = self.need(key)
        return read_name(node, key, self.problems) if node is not None else Word("", self.head())

    def alone(self, key: str, others: Iterable[str], mend: str) -> None:
        """Report which of `others` stand beside a key that they do not go with (T117)."""
        for other in others if self.has(key) else ():
            extra = self.get(other)
            if extra is not None:
                self.problems.add(
                    "T117", f"`{other}` does not go with `{key}`", extra.span, help=mend
                )

    def names(self, key: str, *, required: bool = False, single: bool = False) -> tuple[Word, ...]:
        """Return a list of names."""
        node = self.need(key) if required else self.get(key)
        return read_names(node, key, self.problems, single=single) if node is not None else ()

    def some_names(self, key: str) -> tuple[Word, ...]:
        """Return a list of names, at least one (T115)."""
        self.refuse_empty(key)
        return self.names(key, required=True)

    def refuse_empty(self, key: str) -> None:
        """Report a list or mapping that has nothing in it, where something has to be (T115)."""
        node = self.get(key)
        nothing = (isinstance(node, Sequence) and not node.items) or (
            isinstance(node, Mapping) and not node.entries
        )
        if node is not None and nothing:
            self.problems.add(
                "T115",
                f"`{key}` is empty",
                node.span,
                expected="one name at least",
                help=f"write some below `{key}`, or leave out the {self.part}",
            )

    def boolean(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        node = self.get(key)
        return read_boolean(node, key, self.problems) if node is not None else default

    def integer(self, key: str, low: int = 0, high: int = INTEGER_MAX) -> int | None:
        """Return an integer of an optional key."""
        node = self.get(key)
        return read_integer(node, key, self.problems, low, high) if node is not None else None

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """Return one of `choices`; required where there is no default."""
        node = self.get(key) if default is not None else self.need(key)
        if node is None:
            return default if default is not None else choices[0]
        return read_choice(node, key, choices, self.problems)

    def expression(self, key: str) -> Cell | None:
        """Return the expression of an optional key."""
        node = self.get(key)
        return read_expression(node, key, self.problems) if node is not None else None

    def needed_expression(self, key: str, context: Context = "expression") -> Cell:
        """Return the expression of a required key."""
        node = self.need(key)
        if node is None:
            return placeholder(self.head())
        return read_expression(node, key, self.problems, context)

    def expressions(self, key: str) -> tuple[Cell, ...]:
        """Return a list of expressions."""
        return tuple(read_expression(item, ITEM, self.problems) for item in self.items(key))

    def fairness(self) -> Word | Cell | None:
        """Return `fair:`: one of the words, or a constant expression; None where it is missing."""
        node = self.get("fair")
        if isinstance(node, Scalar) and node.text in FAIRNESS:
            return Word(node.text, node.span)
        return self.expression("fair")

    def effects(self, key: str) -> Cell | None:
        """Return the effects of an optional key."""
        node = self.get(key)
        return read_effects(node, key, self.problems) if node is not None else None

    def type(self, key: str) -> TypeNode | None:
        """Return the type of an optional key."""
        node = self.get(key)
        return read_type(node, key, self.problems) if node is not None else None

    def needed_type(self, key: str) -> TypeNode:
        """Return the type of a required key."""
        node = self.need(key)
        if node is None:
            return TypeName("bool", self.head())
        return read_type(node, key, self.problems)

    def items(self, key: str) -> tuple[Node, ...]:
        """Return the items of an optional list."""
        node = self.get(key)
        return read_items(node, key, self.problems) if node is not None else ()

    def entries(self, key: str, *, required: bool = False) -> Iterator[tuple[Scalar, Node]]:
        """Return keys and values of a mapping whose keys the user chooses."""
        node = self.need(key) if required else self.get(key)
        return iter(entries_of(node, key, self.problems) if node is not None else ())

    def named(self, key: str, *, required: bool = False) -> Iterator[tuple[Word, Node]]:
        """Return names and values of a mapping whose keys are names (T116)."""
        for name, value in self.entries(key, required=required):
            yield read_key(name, self.problems), value

    def nested(self, key: str) -> Iterator[tuple[Word, Node]]:
        """Return what `named` does, of names of which each sees those before it (T106)."""
        for count, (name, value) in enumerate(self.named(key), start=1):
            if count > NAMES_MAX:
                self.problems.add(
                    "T106",
                    f"`{key}` has too many names",
                    name.span,
                    expected=f"at most {NAMES_MAX}",
                    help="put what belongs together into a definition",
                )
                return
            yield name, value

    def _unknown(self, key: Scalar, value: Node) -> None:
        piece = isinstance(value, Scalar) and value.begin == value.end and key.flow
        if key.kind != "string":
            found = f"a YAML {key.kind}" if key.text else "nothing"
            self.problems.add(
                "T113",
                f"a key of the {self.part} is no word",
                key.span,
                expected=", ".join(self._keys),
                found=found,
                help="a comma ends a value inside { }: write numbers without commas"
                if piece and key.kind == "integer"
                else "write one of these keys",
            )
            return
        help_ = self._misread(key) or meant(key.text, self._keys, self._elsewhere(key))
        if piece and help_ is None:
            self.problems.add(
                "T111",
                "YAML ended the cell before this at its comma",
                key.span,
                found=f"a piece of a cell: `{shorten(key.text)}`",
                help="quote the whole cell: a comma ends it inside { }",
            )
            return
        self.problems.add(
            "T113",
            f"the {self.part} has no key `{shorten(key.text, 40)}`",
            key.span,
            expected=", ".join(self._keys),
            help=help_ or "remove it, or write one of these keys",
        )

    def _elsewhere(self, key: Scalar) -> dict[str, str]:
        """Return what to do about a key that people expect in this part, by the key."""
        help_ = HINTS.get((self.part, key.text)) or elsewhere.KEYS.get((self.part, key.text))
        return {} if help_ is None else {key.text: help_}

    def _misread(self, key: Scalar) -> str | None:
        """Return the help on what is no key, but a part of a cell or a key and its value."""
        if _STATEMENT.match(key.text) and key.text not in self._keys:
            return "indent a statement deeper than the `do: |` or the procedure it belongs to"
        first, sign, _ = re.split(r"([: ]|$)", key.text, maxsplit=1)
        if first not in self._keys or not sign:
            return None
        missing = "a space behind" if sign == ":" else "a colon and a space behind"
        return f"write {missing} `{first}`, as in `{first}: ...`"


def entries_of(node: Node, label: str, problems: Problems) -> tuple[tuple[Scalar, Node], ...]:
    """Return the entries of a mapping (T112)."""
    if isinstance(node, Mapping):
        return node.entries
    if not is_torn(node):
        wrong_kind(
            node, label, "a mapping", problems, "write `name: ...` lines below it, or leave it out"
        )
    return ()


def read_key(key: Scalar, problems: Problems) -> Word:
    """Return a key that is a name the user chose (T116)."""
    reason = name_error(key.text)
    if key.kind != "string":
        reason = f"`{shorten(key.text, 40)}` is a YAML {key.kind}, not a name"
    if reason is not None:
        problems.add(
            "T116",
            reason,
            key.span,
            expected="a letter, then letters, digits and underscores",
            help=_renamed(key.text),
        )
    return Word(key.text, key.span)


def _renamed(text: str) -> str:
    """Return the help on what is no name."""
    bound = _BOUND.fullmatch(text)
    if bound is not None:
        return f"write {bound['name']}: {bound['domain']}"
    return "write one line for each name" if "," in text else "choose another name"


def is_torn(node: Node) -> bool:
    """Return whether the cell was reported already."""
    return isinstance(node, Scalar) and node.kind == "torn"
