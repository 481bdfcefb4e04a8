"""Passages to syntax trees, with Python's parser and within limits it cannot be made to exceed.

The text is looked over first, token by token: strings, numbers, brackets and nesting are judged
here, so that Python's recursive parser only ever sees harmless text.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right

from checker.table.explained import explain
from checker.table.forms import (
    ERRORS_OF_A_CELL,
    Context,
    check_expression,
    check_statements,
    offset_of,
)
from checker.table.nodes import NESTING_MAX
from checker.table.passage import Passage
from checker.table.problems import Problems

NUMBER_MAX = 1 << 40
"""The largest number a cell may write."""

# Operators that are open at once bound how deep Python's parser can recurse.
_OPERATORS_MAX = 1000
_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)|(?P<number>[0-9][\w.]*)|(?P<word>\w+)|(?P<string>[\"'`])"
    r"|(?P<escape>\\)|(?P<open>[([{])|(?P<close>[)\]}])|(?P<comma>,)|(?P<line>\n)"
    r"|(?P<operator>\*\*|//|:=|[-+*/%@&|^~.])"
)
_CLEAN: set[tuple[str, Context]] = set()
"""Texts in which nothing was found, so that they are only parsed when they are read again."""
_CLEAN_MAX = 50_000

# `x'` of TLA+ and Quint; the letters before a string of Python's are none.
_PRIMED = re.compile(r"[\])]$|\w$(?<!\b[rbfuRBFU])")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_DEEPENING = frozenset({"not", "if", "else", "lambda", "await", "yield"})


def parse_expression(
    passage: Passage, problems: Problems, context: Context = "expression"
) -> ast.expr | None:
    """Return the checked tree of an expression, positions relative to `passage.text`, or None."""
    if not _harmless(passage, problems, context):
        return None
    joined = re.sub(r"#[^\n]*", lambda comment: " " * len(comment.group()), passage.text)
    lines = joined.split("\n")
    if not joined.strip():
        problems.add(
            "T110", "the expression is empty", passage.whole(), help="write it, or leave it out"
        )
        return None
    # A break inside an expression is a space; joining keeps Python's grammar of one line.
    joined = joined.replace("\n", " ")
    margin = len(joined) - len(joined.lstrip())
    tree = _parse(joined.lstrip(), "eval", passage, problems, margin)
    if tree is None or not isinstance(tree, ast.Expression):
        return None
    _move(tree.body, lines, margin)
    return tree.body if _checked([tree.body], passage, problems, context) else None


def parse_effects(
    passage: Passage, problems: Problems, *, folded: bool
) -> tuple[ast.stmt, ...] | None:
    """Return the checked statements of effects, or None.

    `folded` says that YAML reads the lines as one, so that only one statement can stand there.
    """
    if not _harmless(passage, problems, "effects"):
        return None
    tree = _parse(passage.text, "exec", passage, problems, 0)
    if tree is None or not isinstance(tree, ast.Module):
        return None
    if not tree.body:
        problems.add(
            "T110", "the effects are empty", passage.whole(), help="write `pass`, or leave them out"
        )
        return None
    compound = isinstance(tree.body[0], (ast.If, ast.For))
    if folded and "\n" in passage.text and (len(tree.body) > 1 or compound):
        problems.add(
            "T120",
            "YAML joins these lines into one",
            passage.whole(),
            expected="effects of several lines in a block",
            help="begin the cell with | and put the statements on the lines below",
        )
        return None
    return tuple(tree.body) if _checked(tree.body, passage, problems, "effects") else None


def _checked(
    nodes: list[ast.stmt] | list[ast.expr], passage: Passage, problems: Problems, context: Context
) -> bool:
    """Check depth and forms; return whether nothing was found."""
    if (passage.text, context) in _CLEAN:
        return True
    before = len(problems.found)
    deepest = _too_deep(nodes)
    if deepest is not None:
        _nested(passage, offset_of(passage, deepest), problems)
    elif context == "effects":
        check_statements([node for node in nodes if isinstance(node, ast.stmt)], passage, problems)
    else:
        for node in nodes:
            if isinstance(node, ast.expr):
                check_expression(node, passage, problems, context)
    clean = len(problems.found) == before
    if clean and len(_CLEAN) < _CLEAN_MAX:
        _CLEAN.add((passage.text, context))
    return clean


def _harmless(passage: Passage, problems: Problems, context: Context) -> bool:
    """Judge what needs no grammar; return whether Python's parser may see the text."""
    if (passage.text, context) in _CLEAN:
        return True
    opened: list[tuple[str, int]] = []
    counts = [0]
    before = len(problems.found)
    for match in _TOKEN.finditer(passage.text):
        text, at = match.group(), match.start()
        match match.lastgroup:
            case "string":
                _string(passage, at, problems)
                return False
            case "escape":
                problems.add(
                    "T120",
                    "a backslash",
                    passage.span(at, at + 1),
                    help="remove it; lines are broken inside brackets, and the words are and, or",
                )
                return False
            case "number":
                _number(passage, at, text, problems)
                if len(problems.found) > before + ERRORS_OF_A_CELL:
                    return False
            case "open":
                opened.append((text, at))
                counts[-1] += 1
                counts.append(0)
            case "close":
                if not opened or opened[-1][0] != _PAIRS[text]:
                    _unmatched(passage, at, text, opened, problems)
                    return False
                opened.pop()
                counts.pop()
            case "comma":
                counts[-1] = 0
            case "line" if context == "effects" and not opened:
                counts[-1] = 0
            case "word" if text in _DEEPENING:
                counts[-1] += 1
            case "operator":
                counts[-1] += 1
            case _:
                continue
        if len(opened) > NESTING_MAX or sum(counts) > _OPERATORS_MAX:
            _nested(passage, at, problems)
            return False
    if opened:
        bracket, at = opened[-1]
        problems.add(
            "T120",
            f"`{bracket}` is never closed",
            passage.span(at, at + 1),
            help="close it, or remove it",
        )
    return len(problems.found) == before


def _too_deep(nodes: list[ast.stmt] | list[ast.expr]) -> ast.expr | ast.stmt | None:
    """Return a node nested deeper than NESTING_MAX, or None; does not recurse itself."""
    level: list[ast.expr | ast.stmt] = list(nodes)
    for _ in range(NESTING_MAX):
        for node in level:
            # Each comparison of a chain holds those after it: `a < b < c` nests as `a + b + c`.
            if isinstance(node, ast.Compare) and len(node.ops) > NESTING_MAX:
                return node.comparators[NESTING_MAX]
        level = [child for node in level for child in _children(node)]
        if not level:
            return None
    return level[0]


def _children(node: ast.AST) -> list[ast.expr | ast.stmt]:
    """Return the expressions and statements directly below `node`."""
    children: list[ast.expr | ast.stmt] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.expr, ast.stmt)):
            children.append(child)
        else:
            children += [
                inner
                for inner in ast.iter_child_nodes(child)
                if isinstance(inner, (ast.expr, ast.stmt))
            ]
    return children


def _parse(
    text: str, mode: str, passage: Passage, problems: Problems, margin: int
) -> ast.AST | None:
    """Return Python's tree of `text`, which stands `margin` characters into the passage."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode=mode)
    except SyntaxError as failure:
        message, help_, at = explain(failure, mode, text, _failure_offset(text, failure))
        at += margin
        end = min(len(passage.text), at + 1)
        problems.add("T120", message, passage.span(min(at, end), end), help=help_)
    except (RecursionError, MemoryError):
        _nested(passage, 0, problems)
    except (ValueError, OverflowError) as failure:
        problems.add("T120", f"this cannot be read: {failure}", passage.whole())
    return None


def _failure_offset(text: str, failure: SyntaxError) -> int:
    """Return the offset in `text` that a SyntaxError points at."""
    lines = text.split("\n")
    number = min(max((failure.lineno or 1) - 1, 0), len(lines) - 1)
    before = sum(len(line) + 1 for line in lines[:number])
    return before + min(max((failure.offset or 1) - 1, 0), len(lines[number]))


def _move(tree: ast.expr, lines: list[str], margin: int) -> None:
    """Give the nodes of a joined text the positions they have in its lines."""
    if len(lines) == 1 and margin == 0:
        return
    begins: list[int] = []
    offset = -margin
    for line in lines:
        begins.append(offset)
        offset += len(line.encode()) + 1
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.keyword)):
            row = bisect_right(begins, node.col_offset) - 1
            last = bisect_right(begins, node.end_col_offset or 0) - 1
            node.lineno, node.col_offset = row + 1, node.col_offset - begins[row]
            node.end_lineno = last + 1
            node.end_col_offset = (node.end_col_offset or 0) - begins[last]


def _string(passage: Passage, at: int, problems: Problems) -> None:
    if passage.text[at] == "'" and _PRIMED.search(passage.text[:at]):
        problems.add(
            "T121",
            "the language has no `'` for what is next",
            passage.span(at, at + 1),
            help="effects assign to the variable itself; `step` properties write next(x)",
        )
        return
    end = passage.text.find(passage.text[at], at + 1)
    end = end + 1 if 0 <= end < len(passage.text) else at + 1
    problems.add(
        "T121",
        "the language has no strings",
        passage.span(at, end),
        found=passage.text[at:end][:60],
        help="states, enum values and messages are plain names; write them without quotes",
    )


def _number(passage: Passage, at: int, text: str, problems: Problems) -> None:
    span = passage.span(at, at + len(text))
    if ".." in text:
        problems.add(
            "T124",
            "a range `a..b` is a type, not an expression",
            span,
            help="write range(a, b + 1), or a <= x <= b",
        )
        return
    digits = text.replace("_", "")
    if len(digits) > 20 and digits.isdecimal():
        value = NUMBER_MAX + 1
    else:
        try:
            value = int(text, 0)
        except ValueError:
            problems.add(
                "T124",
                f"`{text[:40]}` is not an integer",
                span,
                expected="an integer in decimal digits",
                help="numbers are integers; names do not begin with a digit",
            )
            return
    if value > NUMBER_MAX:
        problems.add("T124", "a number beyond 2**40", span, expected=f"at most {NUMBER_MAX}")


def _unmatched(
    passage: Passage, at: int, text: str, opened: list[tuple[str, int]], problems: Problems
) -> None:
    found = f"the last one opened is `{opened[-1][0]}`" if opened else "nothing is open here"
    problems.add(
        "T120",
        f"`{text}` closes what was not opened",
        passage.span(at, at + 1),
        found=found,
        help="match the brackets",
    )


def _nested(passage: Passage, at: int, problems: Problems) -> None:
    problems.add(
        "T106",
        f"the cell is nested deeper than {NESTING_MAX} levels",
        passage.span(at, min(at + 1, len(passage.text))),
        help="give parts of it names, in definitions or `let`",
    )
