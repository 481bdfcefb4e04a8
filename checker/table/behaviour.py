"""Sections that say what happens and what must hold: definitions, rows, properties, instances."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Literal, cast, get_args

from checker.source import Span, covering
from checker.table.cells import placeholder, read_effects, read_expression, read_type
from checker.table.document import (
    BindingEntry,
    Cell,
    Definition,
    ExpectEntry,
    FairGroupEntry,
    InstanceEntry,
    InState,
    Procedure,
    PropertyEntry,
    PropertyKind,
    RefinesEntry,
    Row,
    Unhandled,
    Word,
)
from checker.table.fields import FAIRNESS, Fields, is_torn
from checker.table.nodes import Mapping, Node, Scalar, Sequence, raw, shorten
from checker.table.problems import Problems
from checker.table.refinement import read_refines, read_settings
from checker.table.type_cells import looks_like_type
from checker.table.words import (
    name_error,
    read_integer,
    read_name,
    read_names,
    report_twice,
    wrong_kind,
)

_KINDS: tuple[PropertyKind, ...] = get_args(PropertyKind)
_SIGNATURE = re.compile(r"\s*(?P<name>\w+)\s*(?:\((?P<parameters>[^()]*)\))?\s*")


def read_definitions(system: Fields) -> tuple[Definition, ...]:
    """Return `definitions:`."""
    definitions: list[Definition] = []
    for key, node in system.entries("definitions"):
        name, parameters = _signature(key, system.problems)
        if not isinstance(node, Mapping):
            body = read_expression(node, key.text, system.problems)
            definitions.append(Definition(name, parameters, body))
            continue
        fields = Fields(node, "definition", system.problems)
        lets = tuple(
            (word, read_expression(value, word.text, system.problems))
            for word, value in fields.nested("let")
        )
        definitions.append(Definition(name, parameters, fields.needed_expression("is"), lets))
    return tuple(definitions)


def read_procedures(system: Fields) -> tuple[Procedure, ...]:
    """Return `procedures:`."""
    procedures: list[Procedure] = []
    for key, node in system.entries("procedures"):
        name, parameters = _signature(key, system.problems)
        procedures.append(
            Procedure(name, parameters, read_effects(node, key.text, system.problems))
        )
    return tuple(procedures)


def _signature(key: Scalar, problems: Problems) -> tuple[Word, tuple[Word, ...]]:
    """Read `name`, `name()` or `name(a, b)` (T131)."""
    match = _SIGNATURE.fullmatch(key.text)
    if match is None or key.kind != "string":
        problems.add(
            "T131",
            f"`{shorten(key.text, 40)}` is no signature",
            key.span,
            expected="name(), or name(first, second)",
            help="write the name and its parameters in parentheses",
        )
        return Word("", key.span), ()
    inner = match["parameters"] or ""
    begin = key.begin + match.start("parameters") if inner.strip() else key.begin
    parameters: list[Word] = []
    for piece in inner.split(",") if inner.strip() else ():
        offset = begin + len(piece) - len(piece.lstrip()) - key.begin
        column = key.span.column + offset + (key.style != "plain")
        text = piece.strip()
        line = key.span.line
        parameters.append(Word(text, Span(key.span.source, line, column, line, column + len(text))))
        begin += len(piece) + 1
    name = Word(match["name"], key.span)
    for word in (name, *parameters):
        reason = name_error(word.text)
        if reason is not None:
            problems.add(
                "T131",
                reason,
                word.span,
                expected="name(first, second)",
                help="choose another name",
            )
    report_twice(parameters, problems)
    return name, tuple(parameters)


# ---------------------------------------------------------------------------------------- rows


def read_rows(system: Fields) -> tuple[Row, ...]:
    """Return `rows:`."""
    rows = tuple(_row(Fields(node, "row", system.problems)) for node in system.items("rows"))
    report_twice((row.name for row in rows), system.problems)
    return rows


def read_initial(system: Fields) -> Row | None:
    """Return the section `initial:` as a row of that name."""
    node = system.get("initial")
    if node is None:
        return None
    return _row(Fields(node, "initial", system.problems), Word("initial", node.span))


def _row(fields: Fields, name: Word | None = None) -> Row:
    name = name or fields.needed_name("row")
    if fields.part == "row" and not any(fields.has(key) for key in ("do", "to", "send", "on")):
        fields.problems.add(
            "T114",
            f"the row `{name.text}` does nothing",
            fields.head(),
            expected="one of `do`, `to`, `send` or `on`",
            help="add `do: pass` if it is meant to",
        )
    return Row(
        name=name,
        about=fields.prose("about"),
        source=fields.prose("source"),
        on=_optional(fields, "on", "trigger"),
        bindings=_bindings(fields),
        only_if=fields.expression("only_if"),
        inside=_states(fields, "in"),
        lets=tuple(
            (word, read_expression(node, word.text, fields.problems))
            for word, node in fields.nested("let")
        ),
        when=fields.expression("when"),
        do=fields.effects("do"),
        to=_states(fields, "to"),
        send=_sends(fields),
        fault=fields.name("fault"),
        fair=fields.fairness(),
        actor=fields.name("actor"),
        event=fields.name("event"),
        span=fields.span,
    )


def _optional(fields: Fields, key: str, context: Literal["trigger", "send"]) -> Cell | None:
    node = fields.get(key)
    return read_expression(node, key, fields.problems, context) if node is not None else None


def _bindings(fields: Fields) -> tuple[BindingEntry, ...]:
    bindings: list[BindingEntry] = []
    given = fields.get("for")
    if isinstance(given, Scalar) and given.kind == "string":
        bound, _, values = shorten(given.text).partition(" in ")
        form = f"{bound}: {values}" if values else "name: values"
        wrong_kind(given, "for", "a mapping", fields.problems, f"write for: {{{form}}}")
        return ()
    for name, node in fields.nested("for"):
        if isinstance(node, Scalar) and node.begin == node.end and name_error(name.text):
            continue  # `{x in s}`: one mistake, which the name has told
        if isinstance(node, Scalar) and node.kind == "string" and looks_like_type(node.text):
            bindings.append(BindingEntry(name, read_type(node, name.text, fields.problems), None))
        else:
            cell = read_expression(node, name.text, fields.problems)
            bindings.append(BindingEntry(name, None, cell))
    return tuple(bindings)


_STATE = re.compile(
    r"(?P<place>\w[\w.\[\], ]*?)\s*(?:==|=|:|\bis\b|\bin\b)\s*(?P<state>[^\W\d]\w*)"
)
"""What people write for `place: State`."""

_STATE_MAX = 200
"""Characters of what is looked through for it."""


def _states(fields: Fields, key: str) -> tuple[InState, ...]:
    """Read `in:` (a state or a list of states for each place) or `to:` (one state)."""
    problems = fields.problems
    given = fields.get(key)
    if isinstance(given, Scalar) and given.kind == "string":
        wrong_kind(given, key, "a mapping", problems, f"write {key}: {{{_as_state(given.text)}}}")
        return ()
    entries: list[InState] = []
    for place, node in fields.entries(key):
        if isinstance(node, Scalar) and node.begin == node.end and given is not None:
            _no_state(given, place, key, problems)
            continue
        cell = read_expression(place, key, problems)
        if not _is_place(cell.tree):
            problems.add(
                "T127",
                "this is no place of a machine's state",
                place.span,
                expected="a machine such as group, coordinator.group or client[c].state",
                help="name the machine",
            )
        states = _named_states(place, node, key, problems)
        entries.append(InState(cell, states, covering(place.span, node.span)))
    return tuple(entries)


def _as_state(text: str) -> str:
    """Return `place: State` for what says it otherwise."""
    match = _STATE.fullmatch(text.strip()[:_STATE_MAX])
    return f"{match['place']}: {match['state']}" if match is not None else "machine: State"


def _no_state(given: Node, place: Scalar, key: str, problems: Problems) -> None:
    """Report an entry of `in:` or `to:` without a state (T112)."""
    help_ = f"write {_as_state(place.text)}"
    if name_error(place.text) is None and isinstance(given, Mapping):
        # `{group: Empty, Stable}`: a further state, which a comma made a key.
        before = [one for one in given.entries if one[0].begin < place.begin]
        if key == "in" and before:
            machine, state = before[-1]
            help_ = f"write {machine.text}: [{shorten(raw(state), 30)}, {place.text}]"
    problems.add(
        "T112",
        f"`{key}` has no state for `{shorten(place.text, 40)}`",
        place.span,
        expected="place: State",
        found="nothing",
        help=help_,
    )


def _named_states(place: Scalar, node: Node, key: str, problems: Problems) -> tuple[Word, ...]:
    """Return the states of one entry; what is no state belongs into another key (T112, T116)."""
    if is_torn(node):
        return (Word("", node.span),)
    if isinstance(node, Scalar) and (node.kind != "string" or name_error(node.text.strip())):
        _other_value(place, node, key, problems)
        return (Word("", node.span),)
    if key == "in":
        return read_names(node, "in", problems, single=True)
    return (read_name(node, "to", problems),)


def _other_value(place: Scalar, node: Scalar, key: str, problems: Problems) -> None:
    text = raw(node) if node.style == "plain" else node.text
    value = shorten(text, 40)
    sign, where = ("==", "when") if key == "in" else ("=", "do")
    listed = [one.strip() for one in re.split(r",|\bor\b|\|", text)]
    if key == "in" and len(listed) > 1 and not any(map(name_error, listed)):
        help_ = f"write {place.text}: [{', '.join(listed)}]"
    elif node.kind == "string":
        help_ = f"write the name of a state here, and anything else into `{where}:`"
    else:
        help_ = f"`{key}` takes machines; write {where}: {place.text} {sign} {value}"
    problems.add(
        "T116" if node.kind == "string" and text.strip() else "T112",
        f"`{value}` is no state",
        node.span,
        expected="a state, or a list of states" if key == "in" else "a state",
        found=value,
        help=help_,
    )


def _is_place(tree: ast.expr | tuple[ast.stmt, ...]) -> bool:
    while isinstance(tree, (ast.Attribute, ast.Subscript)):
        tree = tree.value
    return isinstance(tree, ast.Name)


def _sends(fields: Fields) -> tuple[Cell, ...]:
    node = fields.get("send")
    if node is None:
        return ()
    items = node.items if isinstance(node, Sequence) else (node,)
    return tuple(read_expression(item, "send", fields.problems, "send") for item in items)


def read_fairness(system: Fields) -> Literal["none", "weak", "strong"] | Cell:
    """Return `fairness:`: one of the words, or a constant expression."""
    node = system.get("fairness")
    if isinstance(node, Scalar) and not node.text.isidentifier():
        cell = system.expression("fairness")
        return "none" if cell is None else cell
    word = system.choice("fairness", FAIRNESS, "none")
    return cast('Literal["none", "weak", "strong"]', word)


def read_fair_groups(system: Fields) -> tuple[FairGroupEntry, ...]:
    """Return `fair_groups:`."""
    groups: list[FairGroupEntry] = []
    for name, node in system.named("fair_groups"):
        fields = Fields(node, "group of rows", system.problems)
        rows = fields.need("rows")
        every = isinstance(rows, Scalar) and rows.text == "all"
        fair = fields.fairness()
        fields.need("fair")
        groups.append(
            FairGroupEntry(
                name,
                fields.prose("about"),
                None if every or rows is None else fields.some_names("rows"),
                fields.names("per", single=True),
                Word("weak", fields.head()) if fair is None else fair,
                fields.span,
            )
        )
    return tuple(groups)


def read_unhandled(system: Fields) -> tuple[Unhandled, ...]:
    """Return `unhandled:`."""
    entries: list[Unhandled] = []
    for node in system.items("unhandled"):
        fields = Fields(node, "unhandled message", system.problems)
        status = fields.choice("is", ("ignored", "impossible"))
        entries.append(
            Unhandled(
                fields.needed_expression("message", "trigger"),
                _states(fields, "in"),
                cast('Literal["ignored", "impossible"]', status),
                fields.prose("why", required=True),
                fields.span,
            )
        )
    return tuple(entries)


# ---------------------------------------------------------------------- properties and instances


def read_properties(system: Fields) -> tuple[PropertyEntry, ...]:
    """Return `properties:`."""
    return tuple(
        _property(name, node, system.problems) for name, node in system.named("properties")
    )


def _property(name: Word, node: Node, problems: Problems) -> PropertyEntry:
    fields = Fields(node, "property", problems)
    kinds = [kind for kind in _KINDS if fields.has(kind)]
    if len(kinds) != 1 and not is_torn(node):
        problems.add(
            "T117" if kinds else "T114",
            f"the property `{name.text}` claims {'more than one thing' if kinds else 'nothing'}",
            fields.head(),
            expected=f"one of {', '.join(_KINDS)}",
            help="make it two properties" if kinds else "add one of these keys",
        )
    kind: PropertyKind = kinds[0] if kinds else "always"
    premise: Cell | None = None
    refines: RefinesEntry | None = None
    condition = placeholder(fields.head())
    if kind == "leads_to":
        claim = Fields(cast("Node", fields.get(kind)), "leads_to", problems)
        premise, condition = claim.needed_expression("from"), claim.needed_expression("to")
    elif kind == "refines":
        refines = read_refines(cast("Node", fields.get(kind)), problems)
        condition = replace(placeholder(refines.system.span), text=refines.system.text)
    elif kinds:
        condition = fields.needed_expression(kind)
    return PropertyEntry(
        name,
        kind,
        condition,
        premise,
        fields.expression("only_if"),
        fields.prose("why", required=True),
        fields.prose("source"),
        fields.span,
        _bindings(fields),
        fields.expression("initially"),
        fields.boolean("within_bounds", default=False),
        refines,
    )


def read_instances(system: Fields) -> tuple[InstanceEntry, ...]:
    """Return `instances:`."""
    return tuple(_instance(name, node, system.problems) for name, node in system.named("instances"))


def _instance(name: Word, node: Node, problems: Problems) -> InstanceEntry:
    fields = Fields(node, "instance", problems)
    tier = fields.choice("tier", ("quick", "full"), "quick")
    expect = fields.get("expect")
    fields.alone("properties", ("without",), "name either what is judged or what is not")
    return InstanceEntry(
        name,
        fields.prose("about"),
        cast('Literal["quick", "full"]', tier),
        read_settings(fields.get("set"), "set", problems),
        fields.names("properties") if fields.has("properties") else None,
        fields.boolean("symmetry", default=True) if fields.has("symmetry") else None,
        _expect(Fields(expect, "expectation", problems)) if expect is not None else None,
        fields.names("without"),
    )


def _expect(fields: Fields) -> ExpectEntry:
    verdict: str | None = None
    if fields.has("verdict"):
        verdict = fields.choice("verdict", ("holds", "violated", "bounded", "inconclusive"))
    _expects_one_thing(fields, verdict)
    return ExpectEntry(
        verdict,
        fields.name("property"),
        fields.names("also"),
        fields.integer("distinct"),
        fields.integer("generated"),
        fields.integer("depth"),
        fields.integer("length"),
        tuple(
            (name, read_integer(value, name.text, fields.problems, 0))
            for name, value in fields.named("rows")
        ),
        fields.span,
    )


def _expects_one_thing(fields: Fields, verdict: str | None) -> None:
    """Report what says how something breaks where nothing is to break (T117, T114)."""
    if verdict in {"holds", "bounded", "inconclusive"}:
        mend = "write `verdict: violated`, or leave out what says how a property breaks"
        fields.alone("verdict", ("property", "also", "length"), mend)
    elif not fields.has("property"):
        others = ("also",) if verdict == "violated" else ("also", "length")
        for node in map(fields.get, others):
            if node is not None:
                fields.problems.add(
                    "T114",
                    "no property is expected to break of which this could say more",
                    node.span,
                    expected="`property` beside it",
                    help="add `verdict: violated, property: NAME`: the property that breaks first",
                )
