"""What Python's parser refused, in the words of the language, and the edit that mends it."""

from __future__ import annotations

import re
from keyword import iskeyword

from checker.table import elsewhere
from checker.table.nodes import shorten

_ASSIGNS = re.compile(r"(?<![=!<>:])=(?!=)")
_CONDITION = re.compile(r"\s*(?:if|elif|while|assert)\b")
_HEAD = re.compile(r"\s*(?:if|elif|else|for|while)\b[^:]*:\s+")
_CALLED = re.compile(r"(?P<name>[^\W\d][\w.]*)\s*\((?P<inner>.*)\)\s*[-+*/|&]?")
_SEPARATOR = re.compile(r",|\band\b|&&?")
_OPERAND = re.compile(r"[\w)\]}]$")
# Where `[]p` or `<>p` may begin.
_PREFIX = re.compile(r"(?:^|[(,]|\[\]|\b(?:and|or|not))$")
_WORD_BEFORE = re.compile(r"\b\w{1,10}$")
_OPENING, _CLOSING = "([{", ")]}"
_FIELD = re.compile(r"\.\s*([^\W\d]\w*)")


def explain(failure: SyntaxError, mode: str, text: str, at: int) -> tuple[str, str | None, int]:
    """Return a message, its help, and where in `text` it is; the parser stopped at `at`."""
    statement = mode == "exec"
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:].split("\n", 1)[0].partition("#")[0]
    foreign = _foreign(text, at, line if statement else "")
    if foreign is not None:
        return *foreign, at
    # Python counts lines within the cell, which users cannot see.
    reason = re.sub(r" on line \d+", "", str(failure.msg))
    letter = text[at : at + 1]
    if statement and not _CONDITION.match(line):
        several = _several(line, begin, at)
        if several is not None:
            return several
    if "illegal expression for augmented" in reason or "cannot assign" in reason:
        return *_unassignable(line, statement=statement), at
    if "'=='" in reason or (letter == "=" and not statement):
        what = "statement" if statement else "expression"
        return f"`=` does not stand in this {what}", "write == to compare", at
    return *_other(reason, letter, statement=statement), at


def _other(reason: str, letter: str, *, statement: bool) -> tuple[str, str | None]:
    what = "statement" if statement else "expression"
    if "Generator expression must be parenthesized" in reason:
        return (
            "a comprehension beside other arguments needs parentheses",
            "write min((e for x in s), default=d)",
        )
    if "indent" in reason:
        return f"the indentation is wrong: {reason}", "indent the statements of one block alike"
    if letter == "!" and not statement:
        return "the language does not have `!`", "write not"
    if "forgot a comma" in reason or reason == "invalid syntax":
        return f"this is no {what}", "something is missing or too much before this place"
    return f"this is no {what}: {reason}", None


def _foreign(text: str, at: int, line: str) -> tuple[str, str] | None:
    """Return the message on a sign of another language; `line` is that of a statement."""
    before, after = text[:at].rstrip(), text[at:]
    sign = "<>" if after.startswith("<>") else "[]"
    formula = before.removesuffix("[]").rstrip() if sign == "[]" else before
    if (sign == "<>" or formula != before) and _PREFIX.search(formula):
        return f"the language does not have `{sign}`", elsewhere.TEMPORAL
    field = _FIELD.match(text, len(before) - 1 if before.endswith(".") else at)
    if field is not None and iskeyword(field[1]):
        return (
            f"no field is called `{field[1]}`",
            f"`{field[1]}` is a word of the expression grammar; give the field another name",
        )
    word = re.match(r"[UWR]\b", after)
    if word is not None and _OPERAND.search(before):
        help_ = "write until(p, q) or release(p, q), in a property of `ltl:`"
        return f"the language does not have `{word.group()}`", help_
    prefix = _WORD_BEFORE.search(before)
    if prefix is not None and prefix[0] in elsewhere.PREFIXES and re.match(r"\w", after):
        return f"the language does not have `{prefix[0]}`", elsewhere.PREFIXES[prefix[0]]
    if not before and re.match(r"if\b", after):
        return "a choice begins with its value", "write a if p else b"
    if ":=" in line:
        return "the language does not have `:=`", "write = to assign"
    near = text[max(at - 2, 0) : at + 2]
    found = next((one for one in elsewhere.SIGNS if one in near), None)
    return (
        None if found is None else (f"the language does not have `{found}`", elsewhere.SIGNS[found])
    )


def _several(line: str, begin: int, stopped: int) -> tuple[str, str, int] | None:
    """Return the message on a line with more than one assignment, else None.

    Of a line with semicolons something else is wrong, for these do separate statements.
    """
    outside = _outside_brackets(line)
    signs = [match.start() for match in _ASSIGNS.finditer(outside)]
    if len(signs) < 2:
        return None
    between = _SEPARATOR.search(outside, signs[0], signs[1])
    at = stopped - begin if between is None else between.start()
    if ";" in outside or not signs[0] < at < signs[1]:
        return None
    help_ = "write each in a line of its own; a cell of several lines begins with |"
    return "several statements stand in one line", help_, begin + at


def _unassignable(line: str, *, statement: bool) -> tuple[str, str]:
    """Return the message on what stands before a `=` and is no place."""
    if not statement or _CONDITION.match(line):
        what = "statement" if statement else "expression"
        return f"`=` does not stand in this {what}", "write == to compare"
    head = _HEAD.match(line)
    begin = head.end() if head is not None else 0
    sign = _ASSIGNS.search(_outside_brackets(line), begin)
    target = line[begin : sign.start() if sign is not None else len(line)].strip()
    called = _CALLED.fullmatch(target)
    message = f"`{shorten(target, 40)}` is no place to assign to"
    if called is None:
        return message, "assign to a variable, then [key] or .field; write == to compare"
    if called["name"] == "next":
        inner = shorten(called["inner"], 60)
        return message, f"effects assign to the variable itself: {inner} = ..."
    return message, f"write {called['name']}[{shorten(called['inner'], 60)}] for what has keys"


def _outside_brackets(line: str) -> str:
    """Return a line with blanks in place of what stands in brackets, as long as it is."""
    kept: list[str] = []
    depth = 0
    for letter in line:
        depth -= letter in _CLOSING
        kept.append(" " if depth > 0 else letter)
        depth += letter in _OPENING
    return "".join(kept)
