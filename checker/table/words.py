"""Names, prose, numbers and choices: what the scalars that are no expressions may hold."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterable

from checker.digits import natural
from checker.source import Span
from checker.table.document import Word
from checker.table.nodes import Node, Scalar, Sequence, raw, shorten
from checker.table.problems import Problems, first_place, nearest
from checker.table.torn import quoted

INTEGER_MAX = 1 << 40

_LETTERS = "a letter, then letters, digits and underscores"
_NAMES = f"write a name: {_LETTERS}; true and false are none"


def name_error(text: str) -> str | None:
    """Return why `text` cannot be a name, or None."""
    if not text.isidentifier() or unicodedata.normalize("NFKC", text) != text:
        return f"`{shorten(text, 40)}` is not a name"
    if text.startswith("_"):
        return f"`{text}` begins with an underscore"
    if keyword.iskeyword(text):
        return f"`{text}` is a word of the expression grammar"
    return None


def read_name(node: Node, label: str, problems: Problems) -> Word:
    """Return the name that `node` holds (T112, T116)."""
    if isinstance(node, Scalar) and node.kind in ("boolean", "integer", "number"):
        wrong_kind(node, label, "a name", problems, _NAMES)
        return Word("", node.span)
    word = read_word(node, label, problems)
    reason = name_error(word.text) if word.text else None
    if reason is not None:
        problems.add(
            "T116",
            reason,
            word.span,
            expected=f"`{label}` is {_LETTERS}",
            help="choose another name",
        )
    return word


def read_word(node: Node, label: str, problems: Problems) -> Word:
    """Return the text of `node`; an empty word after reporting what else it is (T112)."""
    if isinstance(node, Scalar) and node.kind == "torn":
        return Word("", node.span)
    if isinstance(node, Scalar) and node.kind == "string" and node.text.strip():
        return Word(node.text.strip(), node.span)
    blank = not raw(node).strip() or (isinstance(node, Scalar) and node.kind == "string")
    help_ = "write some text" if blank else f"quote it: {label}: {quoted(raw(node))}"
    wrong_kind(node, label, "text", problems, help_ if isinstance(node, Scalar) else None)
    return Word("", node.span)


def read_prose(node: Node | None, label: str, problems: Problems) -> str:
    """Return prose with its line breaks as spaces; "" where there is none."""
    return " ".join(read_word(node, label, problems).text.split()) if node is not None else ""


def read_boolean(node: Node, label: str, problems: Problems) -> bool:
    """Return true or false (T112)."""
    if isinstance(node, Scalar) and node.kind == "boolean":
        return node.text.lower() == "true"
    wrong_kind(node, label, "true or false", problems, "write true or false, without quotes")
    return False


def read_integer(
    node: Node, label: str, problems: Problems, low: int = 0, high: int = INTEGER_MAX
) -> int:
    """Return an integer of low..high (T112, T115)."""
    if not isinstance(node, Scalar) or node.kind != "integer":
        wrong_kind(node, label, "an integer", problems, "write decimal digits, without quotes")
        return max(low, 0)
    text = node.text.lstrip("+")
    digits = text.lstrip("-")
    value = None if natural(digits, 20) is None else int(text)
    if value is None or (digits != "0" and digits.startswith("0")) or not low <= value <= high:
        problems.add(
            "T115",
            f"`{label}` cannot be {shorten(node.text, 30)}",
            node.span,
            expected=f"an integer from {low} to {high} in decimal digits",
            help="write a number of that range",
        )
        return max(low, 0)
    return value


def read_choice(node: Node, label: str, choices: tuple[str, ...], problems: Problems) -> str:
    """Return one of `choices` (T115); the first of them after reporting."""
    if isinstance(node, Scalar) and node.kind in ("boolean", "integer", "number"):
        word = Word(raw(node), node.span)  # quoted it would be none of them either
    else:
        word = read_word(node, label, problems)
    if word.text and word.text not in choices:
        near = nearest(word.text, choices)
        problems.add(
            "T115",
            f"`{label}` cannot be `{shorten(word.text, 40)}`",
            word.span,
            expected=" or ".join(choices),
            help=f"did you mean `{near}`?" if near else f"write {' or '.join(choices)}",
        )
    return word.text if word.text in choices else choices[0]


def read_names(
    node: Node, label: str, problems: Problems, *, single: bool = False
) -> tuple[Word, ...]:
    """Return a list of different names; with `single`, one name may stand for a list of one."""
    if single and isinstance(node, Scalar):
        return (read_name(node, label, problems),)
    words = tuple(read_name(item, label, problems) for item in read_items(node, label, problems))
    report_twice(words, problems)
    return words


def read_items(node: Node, label: str, problems: Problems) -> tuple[Node, ...]:
    """Return the items of a list (T112)."""
    if isinstance(node, Sequence):
        return node.items
    if not (isinstance(node, Scalar) and node.kind == "torn"):
        example = raw(node) if isinstance(node, Scalar) and node.text else "..."
        wrong_kind(node, label, "a list", problems, f"write {label}: [{shorten(example, 40)}]")
    return ()


def report_twice(words: Iterable[Word], problems: Problems) -> None:
    """Report words that occur twice (T118)."""
    seen: dict[str, Span] = {}
    for word in words:
        if word.text in seen and word.text:
            problems.add(
                "T118",
                f"`{word.text}` stands here twice",
                word.span,
                found=first_place(seen[word.text], word.span),
                help="keep one of them, or rename one",
            )
        seen.setdefault(word.text, word.span)


def wrong_kind(
    node: Node, label: str, expected: str, problems: Problems, help_: str | None = None
) -> None:
    """Report that `node` is not the kind of YAML value that `label` needs (T112)."""
    problems.add(
        "T112",
        f"`{label}` needs {expected}",
        node.span,
        expected=expected,
        found=_kind_of(node),
        help=help_ or f"write {expected}",
    )


def _kind_of(node: Node) -> str:
    if isinstance(node, Scalar):
        if node.kind == "null":
            return "nothing"
        article = "an" if node.kind == "integer" else "a"
        return f"{article} {node.kind}: {shorten(raw(node), 40)}"
    return "a list" if isinstance(node, Sequence) else "a mapping"
