"""Nodes to cells: finds the text of an expression, type or effects cell and parses it."""

from __future__ import annotations

import ast

from checker.source import Span
from checker.table.document import Cell, TypeName, TypeNode
from checker.table.expressions import parse_effects, parse_expression
from checker.table.forms import Context
from checker.table.nodes import Node, Scalar, Sequence, raw, shorten
from checker.table.passage import Passage
from checker.table.problems import Problems
from checker.table.torn import quoted, unbalanced
from checker.table.type_cells import parse_type

ITEM = "-"
"""The label of a cell that is an item of a list."""

CELL_MAX = 20_000
"""Characters a cell may have."""


def read_expression(
    node: Node, label: str, problems: Problems, context: Context = "expression"
) -> Cell:
    """Return the expression cell `node`, the value of the key `label`."""
    passage = read_passage(node, label, "expression", problems)
    if passage is None:
        return placeholder(node.span)
    tree = parse_expression(passage, problems, context)
    return _cell(passage, tree) if tree is not None else placeholder(node.span)


def read_effects(node: Node, label: str, problems: Problems) -> Cell:
    """Return the effects cell `node`."""
    passage = read_passage(node, label, "effects", problems)
    if passage is None or not isinstance(node, Scalar):
        return placeholder(node.span)
    folded = node.style != "literal" and "\\n" not in raw(node)
    statements = parse_effects(passage, problems, folded=folded)
    return _cell(passage, statements) if statements is not None else placeholder(node.span)


def read_type(node: Node, label: str, problems: Problems, *, enum: bool = False) -> TypeNode:
    """Return the type cell `node`; `enum` where `one of` may stand."""
    passage = read_passage(node, label, "type", problems)
    kind = parse_type(passage, problems, enum=enum) if passage is not None else None
    return kind if kind is not None else TypeName("bool", node.span)


def edit(label: str, text: str) -> str:
    """Return how `text` is written under a key, or as an item of a list (`-`)."""
    return f"- {text}" if label == ITEM else f"{label}: {text}"


def placeholder(span: Span) -> Cell:
    """Return what stands for a cell that was reported; the phase fails, so nobody meets it."""
    nothing = ast.Name("none", ast.Load(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=4)
    return Cell("none", span, nothing, ((span.line, span.column),))


def read_passage(node: Node, label: str, what: str, problems: Problems) -> Passage | None:
    """Return the text of a cell, or None after reporting why it has none."""
    if not isinstance(node, Scalar):
        taken = "these effects" if what == "effects" else f"this {what}"
        problems.add(
            "T111",
            f"YAML took {taken} for a list or mapping",
            node.span,
            expected="text",
            found=shorten(raw(node)),
            help=_as_text(node, label, what),
        )
        return None
    if node.kind == "torn":
        return None
    if node.kind != "string":
        _not_text(node, label, what, problems)
        return None
    if len(node.text) > CELL_MAX:
        problems.add(
            "T106",
            f"a cell of {len(node.text)} characters",
            node.span,
            expected=f"at most {CELL_MAX} characters",
            help="split it into definitions or procedures",
        )
        return None
    if node.flow and node.style == "plain" and unbalanced(node.text) != 0:
        problems.add(
            "T111",
            f"YAML ended this {what} early; its brackets do not match",
            node.span,
            expected="a quoted cell inside { } and [ ]",
            found=shorten(node.text),
            help=f"quote the whole cell: {edit(label, quoted(node.text + '...'))}",
        )
        return None
    passage = _passage(node, problems)
    if passage is not None and not passage.text.strip():
        are = "are" if what == "effects" else "is"
        help_ = f"write it, or leave out `{label}`"
        problems.add("T110", f"the {what} {are} empty", node.span, help=help_)
        return None
    return passage


def _as_text(node: Node, label: str, what: str) -> str:
    """Return the help on a cell that is a list or a mapping."""
    if label == "per":
        return "one `per` has one type; for pairs write a map of a map, with `per` for the first"
    if what == "effects":
        dashes = ", without dashes" if isinstance(node, Sequence) else ""
        return f"write {edit(label, '|')} and below it a statement a line, indented{dashes}"
    if what == "expression" and isinstance(node, Sequence) and not node.flow:
        return "write it without a dash; conditions of several lines are joined by and"
    return f"quote it: {edit(label, quoted(raw(node)))}"


def _not_text(node: Scalar, label: str, what: str, problems: Problems) -> None:
    text = raw(node)
    if node.kind == "null":
        found = "nothing" if not text else "a YAML null"
        help_ = "write it, or leave the key out"
        if what == "expression":
            help_ = f"write `{edit(label, 'none')}` if you mean none, or leave it out"
    else:
        found = f"a YAML {node.kind}"
        help_ = f"quote it: {edit(label, quoted(text))}"
    problems.add(
        "T110",
        f"YAML took this {what} for something else",
        node.span,
        expected="text",
        found=found,
        help=help_,
    )


def _cell(passage: Passage, tree: ast.expr | tuple[ast.stmt, ...]) -> Cell:
    return Cell(passage.text, passage.whole(), tree, passage.starts)


# --------------------------------------------------------------------- from scalars to passages


def _passage(node: Scalar, problems: Problems) -> Passage | None:
    """Return the text of a scalar line by line as it stands in the file."""
    source = node.span.source
    if node.style in ("literal", "folded"):
        return _block(node)
    inner = raw(node) if node.style == "plain" else raw(node)[1:-1]
    column = node.span.column if node.style == "plain" else node.span.column + 1
    if node.style == "double" and "\\" in inner:
        return _escaped(node, inner, problems)
    texts: list[str] = []
    starts: list[tuple[int, int]] = []
    for number, line in enumerate(_lines(inner)):
        begin = column if number == 0 else 1
        texts.append(line.strip(" "))
        starts.append((node.span.line + number, begin + len(line) - len(line.lstrip(" "))))
    return Passage(source, "\n".join(texts), tuple(starts))


def _block(node: Scalar) -> Passage:
    """Return the lines of a block scalar without the indentation that is YAML's."""
    lines = _lines(raw(node))[1:]
    first = next((line for line in lines if line.strip()), "")
    value = next((line for line in node.text.split("\n") if line.strip()), "")
    indent = max(0, len(first.rstrip()) - len(value.rstrip())) if node.style == "literal" else 0
    texts: list[str] = []
    starts: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        text = line[indent:].rstrip(" ") if node.style == "literal" else line.strip(" ")
        before = indent if node.style == "literal" else len(line) - len(line.lstrip(" "))
        texts.append(text)
        starts.append((node.span.line + 1 + number, before + 1))
    if not texts:
        return Passage(node.span.source, "", ((node.span.line, node.span.column),))
    return Passage(node.span.source, "\n".join(texts), tuple(starts))


def _escaped(node: Scalar, inner: str, problems: Problems) -> Passage | None:
    """Return the text of a double-quoted scalar whose only escape is the line break."""
    if inner.replace("\\n", "").find("\\") >= 0 or len(_lines(inner)) > 1:
        problems.add(
            "T120",
            "an escape stands in this cell",
            node.span,
            found=shorten(inner),
            help="write the character itself, or use a block (|)",
        )
        return None
    texts = inner.split("\\n")
    starts: list[tuple[int, int]] = []
    column = node.span.column + 1
    for text in texts:
        starts.append((node.span.line, column))
        column += len(text) + 2
    return Passage(node.span.source, "\n".join(texts), tuple(starts))


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
