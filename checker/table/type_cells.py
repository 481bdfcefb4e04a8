"""Type cells to type nodes: `map of Client to optional 0..n`, by recursive descent."""

from __future__ import annotations

import re
from typing import Literal, NoReturn

from checker.frozen import frozen
from checker.table.document import (
    Cell,
    TypeEnum,
    TypeMap,
    TypeName,
    TypeNode,
    TypeOf,
    TypeRange,
    TypeUnion,
    Word,
)
from checker.table.elsewhere import RECORD, TYPES
from checker.table.expressions import parse_expression
from checker.table.nodes import NESTING_MAX
from checker.table.passage import Passage
from checker.table.problems import Problems, nearest
from checker.table.words import name_error

_TOKEN = re.compile(r"\.\.|\w+|[^\w\s]")
_KEYWORDS = (
    "optional",
    "set",
    "map",
    "total",
    "sequence",
    "bag",
    "handle",
    "one",
    "of",
    "to",
    "up",
    "or",
)
_ENDING = frozenset({"to", "up", "of", "or"})
_FORMS = (
    "bool, LOW..HIGH, a name, optional T, set of T, map of K to V, sequence of T up to N, "
    "bag of T up to N"
)


@frozen()
class _Token:
    text: str
    begin: int
    end: int


class _TypeFailure(Exception):  # noqa: N818 - control flow inside this module
    """The cell is no type; the diagnostic was added."""


def parse_type(passage: Passage, problems: Problems, *, enum: bool = False) -> TypeNode | None:
    """Return the type that the cell says, or None after reporting T130 (or a bound's error)."""
    try:
        return _TypeParser(passage, problems).whole(enum=enum)
    except _TypeFailure:
        return None


def looks_like_type(text: str) -> bool:
    """Return whether the entry of a `for:` is a range, a name or a type form, not an expression."""
    tokens = _TOKEN.findall(text.lstrip("( "))
    if not tokens:
        return False
    if len(tokens) == 1:
        return bool(re.fullmatch(r"[^\W\d]\w*", tokens[0]))
    forms = tokens[0] in _KEYWORDS and re.fullmatch(r"\w+", tokens[1]) is not None
    return forms or tokens[0] == "optional" or tokens[1] == "or" or ".." in tokens


class _TypeParser:
    """Reads one type cell from left to right."""

    def __init__(self, passage: Passage, problems: Problems) -> None:
        self.passage = passage
        self.problems = problems
        self.tokens = [
            _Token(match.group(), match.start(), match.end())
            for match in _TOKEN.finditer(passage.text)
        ]
        self.at = 0
        self.depth = 0

    def whole(self, *, enum: bool) -> TypeNode:
        if self._peek() == "one":
            node: TypeNode = self._enum(allowed=enum)
        else:
            node = self._type()
        if self.at < len(self.tokens):
            # `optinal A`: the word before, taken for a type's name, is the one misspelt.
            word = self.tokens[self.at - 1]
            if self._near(word) is not None or word.text in TYPES:
                self._fail(f"`{word.text}` takes no type", word)
            self._fail("the type ends before this", self.tokens[self.at])
        return node

    def _type(self) -> TypeNode:
        self.depth += 1
        if self.depth > NESTING_MAX:
            self._fail("the type is nested too deeply", self._token())
        node = self._form()
        self.depth -= 1
        return node

    def _form(self) -> TypeNode:
        begin = self._token().begin
        match self._peek():
            case "optional":
                self.at += 1
                return self._of("optional", self._type(), None, begin)
            case "set" | "handle" as kind:
                self.at += 1
                self._expect("of")
                return self._of(kind, self._type(), None, begin)
            case "sequence" | "bag" as kind:
                self.at += 1
                self._expect("of")
                item = self._type()
                self._expect("up")
                self._expect("to")
                return self._of(kind, item, self._bound(self._expression_end()), begin)
            case "map":
                return self._map(begin, total=False)
            case "total":
                self.at += 1
                return self._map(begin, total=True)
            case "one":
                self._fail(
                    "an enum `one of ...` is declared in `types:` and used by its name",
                    self._token(),
                )
        return self._atom()

    def _of(
        self,
        kind: Literal["optional", "set", "sequence", "bag", "handle"],
        item: TypeNode,
        capacity: Cell | None,
        begin: int,
    ) -> TypeOf:
        if kind == "handle" and not isinstance(item, TypeName):
            self._fail(
                "a handle is of calls: `handle of coordinator_calls`", self.tokens[self.at - 1]
            )
        return TypeOf(kind, item, capacity, self.passage.span(begin, self.tokens[self.at - 1].end))

    def _map(self, begin: int, *, total: bool) -> TypeMap:
        self._expect("map")
        self._expect("of")
        key = self._type()
        self._expect("to")
        value = self._type()
        return TypeMap(key, value, total, self.passage.span(begin, self.tokens[self.at - 1].end))

    def _atom(self) -> TypeNode:
        """Read a range, a union, a name or a type in parentheses."""
        end = self._expression_end()
        dots = self._dots(end)
        if dots is not None:
            return self._range(dots, end)
        if self._peek() == "(":
            self.at += 1
            node = self._type()
            self._expect(")")
            return node
        return self._names()

    def _names(self) -> TypeNode:
        begin = self._token().begin
        first = self._name()
        names = [first]
        while self._peek() == "or":
            self.at += 1
            names.append(self._name())
        if len(names) == 1:
            return TypeName(first.text, first.span)
        return TypeUnion(tuple(names), self.passage.span(begin, self.tokens[self.at - 1].end))

    def _name(self, *, member: bool = False) -> Word:
        """Read a name; a `member` of an enum may be a word of the type grammar."""
        token = self._token()
        word = re.fullmatch(r"[^\W\d]\w*", token.text) is not None
        if not word or (token.text in _KEYWORDS and not member):
            self._fail(f"a {'value' if member else 'type'} is expected here", token)
        reason = name_error(token.text)
        if reason is not None:
            self._fail(reason, token)
        self.at += 1
        return Word(token.text, self.passage.span(token.begin, token.end))

    def _enum(self, *, allowed: bool) -> TypeEnum:
        first = self._token()
        if not allowed:
            self._fail("an enum `one of ...` is declared in `types:` and used by its name", first)
        self.at += 1
        self._expect("of")
        members = [self._name(member=True)]
        while self._peek() == ",":
            self.at += 1
            members.append(self._name(member=True))
        seen: set[str] = set()
        for member in members:
            if member.text in seen:
                self.problems.add(
                    "T118", f"`{member.text}` stands here twice", member.span, help="keep one"
                )
            seen.add(member.text)
        return TypeEnum(
            tuple(members), self.passage.span(first.begin, self.tokens[self.at - 1].end)
        )

    # ---------------------------------------------------------------- bounds, which are expressions

    def _expression_end(self) -> int:
        """Return the index of the token that ends an expression beginning here."""
        depth = 0
        for index in range(self.at, len(self.tokens)):
            text = self.tokens[index].text
            if text in ("(", "[", "{"):
                depth += 1
            elif text in (")", "]", "}"):
                depth -= 1
            if depth < 0 or (depth == 0 and (text in _ENDING or text == ",")):
                return index
        return len(self.tokens)

    def _dots(self, end: int) -> int | None:
        """Return the index of `..` outside brackets before `end`."""
        depth = 0
        for index in range(self.at, end):
            text = self.tokens[index].text
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if text == ".." and depth == 0:
                return index
        return None

    def _range(self, dots: int, end: int) -> TypeRange:
        first = self._token()
        low = self._bound(dots)
        self.at = dots + 1
        high = self._bound(end)
        return TypeRange(low, high, self.passage.span(first.begin, self.tokens[self.at - 1].end))

    def _bound(self, end: int) -> Cell:
        """Read tokens up to index `end` as a constant expression."""
        if self.at >= end:
            where = self.tokens[end] if end < len(self.tokens) else self._token()
            self._fail("a number or constant expression is expected here", where)
        piece = self.passage.cut(self.tokens[self.at].begin, self.tokens[end - 1].end)
        tree = parse_expression(piece, self.problems)
        if tree is None:
            raise _TypeFailure
        self.at = end
        return Cell(piece.text, piece.whole(), tree, piece.starts)

    # ------------------------------------------------------------------------------------ tokens

    def _peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def _token(self) -> _Token:
        if self.at < len(self.tokens):
            return self.tokens[self.at]
        end = len(self.passage.text)
        return _Token("", end, end)

    def _expect(self, word: str) -> None:
        if self._peek() != word:
            self._fail(f"`{word}` is expected here", self._token())
        self.at += 1

    def _fail(self, message: str, token: _Token) -> NoReturn:
        near = self._near(token)
        self.problems.add(
            "T130",
            message,
            self.passage.span(token.begin, token.end),
            expected=_FORMS,
            found=f"`{token.text}`" if token.text else "the end of the cell",
            help=TYPES.get(token.text) or (f"did you mean `{near}`?" if near else self._advice()),
        )
        raise _TypeFailure

    def _advice(self) -> str:
        """Return what to write in place of what is no type."""
        text = self.passage.text.strip()
        if text.startswith("union"):
            return "a union of records or messages is written A or B"
        if re.search(r"\btuple\b|\([^()]*,", text):
            return f"a tuple is a record: {RECORD}"
        if text.startswith(("{", "[")) and ".." in text:
            return "inside an expression 0..3 is written range(4), and 1..3 range(1, 4)"
        return "write one of the forms of a type"

    def _near(self, token: _Token) -> str | None:
        """Return the word of a form that `token` was probably meant to be, or None."""
        if token.text in _KEYWORDS:
            return None
        return nearest(token.text, _KEYWORDS[:7])
