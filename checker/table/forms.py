"""The forms of Python's grammar that the language has; every other one is an error with a help."""

from __future__ import annotations

import ast
from typing import Literal

from checker.table.elsewhere import TEMPORAL
from checker.table.passage import Passage
from checker.table.problems import Problems

Context = Literal["expression", "effects", "trigger", "send"]
"""Where a cell stands: in a `trigger`, `on:` or `message:` of `unhandled:`, `_` skips an argument;
`send` may be a pair."""

ERRORS_OF_A_CELL = 20
"""More errors of one cell are not reported; the first ones say enough."""
_OPERATORS = (
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.BitOr,
    ast.BitAnd,
    ast.BitXor,
)
_OPERATOR_HELP: dict[type[ast.AST], tuple[str, str]] = {
    ast.Div: ("/", "integers are divided by //"),
    ast.MatMult: ("@", "the language has no matrices"),
    ast.LShift: ("<<", "multiply by a power of two"),
    ast.RShift: (">>", "divide by a power of two with //"),
    ast.Invert: ("~", "write `not p`, or subtract the set from all values"),
    ast.UAdd: ("+", "leave the + out"),
    ast.Pow: ("**=", "write x = x * x"),
}
_EXPRESSION_HELP: dict[type[ast.expr], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "name it in `definitions:`, with parameters"),
    ast.NamedExpr: ("an assignment with :=", "name the value in `let:`, or assign it in effects"),
    ast.JoinedStr: ("a string", "states and enum values are plain names"),
    ast.Await: ("await", "a call that is answered later is an operation or `calls:`"),
    ast.Yield: ("yield", "remove it"),
    ast.YieldFrom: ("yield", "remove it"),
    ast.Tuple: (
        "a tuple",
        "give it a type, `Pair: {fields: {a: T, b: T}}` in `types:`, and write Pair(x, y)",
    ),
    ast.GeneratorExp: ("a bare comprehension", "put it into all(...), any(...), sum(...), or { }"),
    ast.Slice: ("a slice", "write s[1:] or s[:n] of a sequence"),
}
_STATEMENT_HELP: dict[type[ast.stmt], tuple[str, str]] = {
    ast.While: ("while", "use `for` over a finite domain, with `break`"),
    ast.Try: ("try", "test before, with `if`"),
    ast.With: ("with", "remove it"),
    ast.FunctionDef: ("def", "write a procedure, in `procedures:`"),
    ast.ClassDef: ("class", "write a record type, in `types:`"),
    ast.Import: ("import", "remove it; a specification is its files and tables"),
    ast.ImportFrom: ("import", "remove it; a specification is its files and tables"),
    ast.Global: ("global", "remove it; variables are visible everywhere"),
    ast.Nonlocal: ("nonlocal", "remove it; variables are visible everywhere"),
    ast.Raise: ("raise", "write reject(...), or a property"),
    ast.Continue: ("continue", "put the rest of the loop under `if`"),
    ast.Match: ("match", "use if and elif"),
    ast.AnnAssign: ("an annotation", "write name = value; types are declared in `variables:`"),
}


def check_expression(
    tree: ast.expr, passage: Passage, problems: Problems, context: Context = "expression"
) -> None:
    """Report every form in `tree` that the language does not have."""
    forms = _Forms(passage, problems, context)
    if context == "send" and isinstance(tree, ast.Tuple) and len(tree.elts) == 2:
        forms.expressions(tree.elts)
    else:
        forms.expression(tree)


def check_statements(statements: list[ast.stmt], passage: Passage, problems: Problems) -> None:
    """Report every form in `statements` that the language does not have."""
    _Forms(passage, problems, "effects").block(statements, in_loop=False)


def offset_of(passage: Passage, node: ast.expr | ast.stmt | ast.keyword) -> int:
    """Return the offset in the passage's text where `node` begins."""
    return _offset(passage, node.lineno, node.col_offset)


def _offset(passage: Passage, line: int, column: int) -> int:
    """Return the offset of a line (1-based) and a column in UTF-8 bytes."""
    lines = passage.text.split("\n")
    before = sum(len(text) + 1 for text in lines[: line - 1])
    return before + len(lines[line - 1].encode()[:column].decode("utf-8", errors="ignore"))


class _Forms:
    """One walk over a tree, as deep as the reader's nesting limit."""

    def __init__(self, passage: Passage, problems: Problems, context: Context) -> None:
        self.passage = passage
        self.problems = problems
        self.context = context
        self.reported = 0

    # ------------------------------------------------------------------------- expressions

    def expressions(self, nodes: list[ast.expr]) -> None:
        for node in nodes:
            self.expression(node)

    def expression(self, node: ast.expr) -> None:
        match node:
            case ast.Name(id=name):
                self._name(name, node)
            case ast.Constant():
                self._constant(node)
            case ast.Attribute(value=value, attr=name):
                self._name(name, node)
                self.expression(value)
            case ast.Subscript(value=value, slice=index):
                self.expression(value)
                self._index(index)
            case ast.Call():
                self._call(node)
            case ast.BinOp(left=left, op=operator, right=right):
                self._operator(operator, node)
                self.expressions([left, right])
            case ast.UnaryOp(op=operator, operand=operand):
                if not isinstance(operator, (ast.USub, ast.Not)):
                    self._no_operator(operator, node)
                self.expression(operand)
            case ast.BoolOp(values=values):
                self.expressions(values)
            case ast.Compare(left=left, comparators=others):
                self.expressions([left, *others])
            case ast.IfExp(test=test, body=body, orelse=other):
                self.expressions([test, body, other])
            case ast.Set(elts=items) | ast.List(elts=items):
                self.expressions(items)
            case ast.Dict(keys=keys, values=values):
                self._dict(node, keys, values)
            case ast.SetComp(elt=item, generators=loops) | ast.ListComp(elt=item, generators=loops):
                self._comprehension(item, loops)
            case ast.DictComp(key=key, value=value, generators=loops):
                self._comprehension(key, loops)
                self.expression(value)
            case ast.Starred():
                self._starred(node)
            case _:
                what, help_ = _EXPRESSION_HELP.get(type(node), ("this form", "remove it"))
                self._add("T125", f"the language does not have {what} here", node, help_)

    def _constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, int):
            return
        if node.value is None:
            self._add("T125", "`None` is written `none` here", node, "write none")
        else:
            self._add("T125", "this is no value of the language", node, "remove it")

    def _index(self, index: ast.expr) -> None:
        match index:
            case ast.Slice(lower=lower, upper=upper, step=step):
                if step is not None:
                    self._add("T125", "a slice has no step", step, "write s[a:b]")
                self.expressions([bound for bound in (lower, upper) if bound is not None])
            case ast.Tuple(elts=items) if len(items) == 2:
                self.expressions(items)
            case _:
                self.expression(index)

    def _call(self, node: ast.Call) -> None:
        if isinstance(node.func, (ast.Name, ast.Attribute, ast.Subscript)):
            self.expression(node.func)
        else:
            box = isinstance(node.func, ast.List) and not node.func.elts
            help_ = TEMPORAL if box else "call a definition"
            self._add("T125", "only names and their members are called", node.func, help_)
        for argument in node.args:
            if isinstance(argument, ast.GeneratorExp):
                self._comprehension(argument.elt, argument.generators)
            else:
                self.expression(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self._starred(keyword)
            else:
                self._name(keyword.arg, keyword, skippable=False)
                self.expression(keyword.value)

    def _dict(self, node: ast.Dict, keys: list[ast.expr | None], values: list[ast.expr]) -> None:
        self.expressions([key for key in keys if key is not None])
        if None in keys:
            self._starred(node)
        self.expressions(values)

    def _comprehension(self, item: ast.expr, loops: list[ast.comprehension]) -> None:
        for loop in loops:
            if loop.is_async:
                self._add("T125", "the language does not have async", loop.target, "remove async")
            self._loop_name(loop.target)
            self.expression(loop.iter)
            self.expressions(loop.ifs)
        self.expression(item)

    def _loop_name(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._name(target.id, target, skippable=False)
        else:
            help_ = "bind one: of a record read fields, p.a and p.b; of a map keys, k and m[k]"
            self._add("T127", "a loop binds one name", target, help_)

    def _operator(self, operator: ast.operator, node: ast.AST) -> None:
        if not isinstance(operator, _OPERATORS):
            self._no_operator(operator, node)

    def _no_operator(self, operator: ast.AST, node: ast.AST) -> None:
        sign, help_ = _OPERATOR_HELP.get(type(operator), ("this", "remove it"))
        self._add("T122", f"the language does not have the operator {sign}", node, help_)

    def _starred(self, node: ast.AST) -> None:
        self._add(
            "T128", "arguments and items are not unpacked with *", node, "write them one by one"
        )

    def _name(self, name: str, node: ast.AST, *, skippable: bool = True) -> None:
        if name.startswith("_") and not (name == "_" and skippable and self.context == "trigger"):
            self._add(
                "T123", f"`{name}` begins with an underscore", node, "names begin with a letter"
            )

    # -------------------------------------------------------------------------- statements

    def block(self, statements: list[ast.stmt], *, in_loop: bool) -> None:
        for statement in statements:
            self.statement(statement, in_loop=in_loop)

    def statement(self, node: ast.stmt, *, in_loop: bool) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                if len(targets) > 1:
                    self._add(
                        "T127", "one statement assigns to one place", node, "write two statements"
                    )
                for target in targets:
                    self._target(target)
                if not any(isinstance(target, ast.Tuple) for target in targets):
                    self.expression(value)
            case ast.AugAssign(target=target, op=operator, value=value):
                if isinstance(operator, ast.Pow):
                    self._no_operator(operator, node)
                else:
                    self._operator(operator, node)
                self._target(target)
                self.expression(value)
            case ast.Delete(targets=targets):
                self._delete(node, targets)
            case ast.Expr(value=value):
                self._bare(value)
            case ast.If(test=test, body=body, orelse=other):
                self.expression(test)
                self.block(body, in_loop=in_loop)
                self.block(other, in_loop=in_loop)
            case ast.For(target=target, iter=domain, body=body, orelse=other):
                self._loop_name(target)
                self.expression(domain)
                self.block(body, in_loop=True)
                if other:
                    self._add(
                        "T126", "a loop has no else", other[0], "test after the loop, with `if`"
                    )
            case ast.Break():
                if not in_loop:
                    self._add(
                        "T126", "`break` stands outside a loop", node, "write return, or remove it"
                    )
            case ast.Return(value=value):
                if value is not None:
                    self._add(
                        "T126", "`return` returns nothing", node, "assign the value to a place"
                    )
            case ast.Assert(test=test, msg=said):
                self.expression(test)
                if said is not None:
                    self._add("T126", "`assert` has a condition only", said, "remove it")
            case ast.Pass():
                pass
            case _:
                what, help_ = _STATEMENT_HELP.get(type(node), ("this statement", "remove it"))
                self._add("T126", f"the language does not have {what}", node, help_)

    def _target(self, target: ast.expr) -> None:
        if isinstance(target, (ast.Name, ast.Attribute)) or (
            isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice)
        ):
            self.expression(target)
        else:
            self._add(
                "T127",
                "this is no place to assign to",
                target,
                "assign to a variable, then [key] or .field; one at a time",
            )

    def _delete(self, node: ast.Delete, targets: list[ast.expr]) -> None:
        target = targets[0]
        if (
            len(targets) == 1
            and isinstance(target, ast.Subscript)
            and not isinstance(target.slice, ast.Slice)
        ):
            self.expression(target)
        else:
            self._add("T127", "`del` removes one key of a map", node, "write del m[k]")

    def _bare(self, value: ast.expr) -> None:
        if isinstance(value, ast.Call):
            self.expression(value)
            return
        equals = isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.Eq)
        help_ = "write = to assign" if equals else "assign it to a place, or remove it"
        self._add("T126", "this statement does nothing", value, help_)

    def _add(self, code: str, message: str, node: ast.AST, help_: str) -> None:
        self.reported += 1
        if self.reported > ERRORS_OF_A_CELL:
            return
        begin = _offset(self.passage, getattr(node, "lineno", 1), getattr(node, "col_offset", 0))
        end_line = getattr(node, "end_lineno", None)
        end = begin + 1
        if end_line is not None:
            end = _offset(self.passage, end_line, getattr(node, "end_col_offset", 0))
        self.problems.add(code, message, self.passage.span(begin, end), help=help_)
