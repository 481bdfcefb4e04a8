"""A small part of Python as LLVM IR: the functions of the search, written so that people read them.

Whole numbers (int64, wrapping), truth values, arrays of one dimension as parameters; assignments,
`if`, `while`, `for ... in range`, calls of other such functions and of `instructions`. Names that
are neither parameters nor assigned are constants of the module, or such functions. What is not in
this list is refused when it is translated (InternalError), with the line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from checker.errors import InternalError
from checker.frozen import frozen
from checker.llvm.instructions import Instruction

_ELEMENTS = {
    "Numbers": "i64",
    "Words": "i64",
    "NDArray[np.int64]": "i64",
    "NDArray[np.int32]": "i32",
    "NDArray[np.uint16]": "i16",
    "Arrivals": "i16",
    "NDArray[np.bool_]": "i8",
}
"""Types of parameters that are arrays, and what their elements are."""

_UNSIGNED = {"i16", "i8"}

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}

_BINARY = {*_OPERATORS, ast.FloorDiv}

_RELATIONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "slt",
    ast.LtE: "sle",
    ast.Gt: "sgt",
    ast.GtE: "sge",
}


class Translated(Protocol):
    """A function of this kind: its name in IR, its definition, and what its names mean."""

    symbol: str
    inline: bool

    @property
    def definition(self) -> ast.FunctionDef:
        """Its definition as it stands in the file."""

    def meaning(self, name: str) -> object:
        """Return what a name of its module is."""


@frozen()
class _Array:
    """Elements of a type (`i64`, ...) from a pointer on, and how many."""

    pointer: str
    length: str
    element: str


@frozen()
class _Value:
    """A word, or where `flag` a truth value (i1)."""

    text: str
    flag: bool = False


def arrays_of(definition: ast.FunctionDef) -> dict[str, str]:
    """Return the parameters that are arrays, with the types of their elements."""
    kinds = {
        item.arg: ast.unparse(item.annotation) if item.annotation else ""
        for item in definition.args.args
    }
    return {name: _ELEMENTS[kind] for name, kind in kinds.items() if kind in _ELEMENTS}


def signature_of(definition: ast.FunctionDef) -> list[str]:
    """Return the parameters in IR: words, and for an array its pointer and its length."""
    arrays = arrays_of(definition)
    given = []
    for item in definition.args.args:
        if item.arg in arrays:
            given += [f"ptr %{item.arg}", f"i64 %{item.arg}.length"]
        else:
            given.append(f"i64 %{item.arg}.given")
    return given


class Translation:
    """One function on its way to IR; `needs` are the functions that it calls."""

    def __init__(self, function: Translated, linkage: str) -> None:
        self.function = function
        self.needs: list[Translated] = []
        self.tables: dict[str, str] = {}
        self._lines: list[str] = []
        self._count = 0
        self._open = True
        self._loops: list[tuple[str, str]] = []
        definition = function.definition
        self._arrays = {
            name: _Array(f"%{name}", f"%{name}.length", element)
            for name, element in arrays_of(definition).items()
        }
        plain = [item.arg for item in definition.args.args if item.arg not in self._arrays]
        self._locals = set(plain) | _assigned(definition)
        kind = " alwaysinline" if function.inline else ""
        given = ", ".join(signature_of(definition))
        self._emit(f'define {linkage} i64 @"{function.symbol}"({given}) nounwind{kind} {{')
        for name in sorted(self._locals):
            self._emit(f"%{name}.place = alloca i64")
        for name in plain:
            self._emit(f"store i64 %{name}.given, ptr %{name}.place")
        self._block(definition.body)
        if self._open:
            self._emit("ret i64 0")
        self._emit("}")

    def text(self) -> str:
        """Return the function's IR."""
        return "\n".join(self._lines)

    # -------------------------------------------------------------------------------- writing

    def _emit(self, line: str) -> None:
        self._lines.append(line)

    def _new(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _label(self) -> str:
        self._count += 1
        return f"L{self._count}"

    def _value(self, text: str, *, flag: bool = False) -> _Value:
        name = self._new()
        self._emit(f"{name} = {text}")
        return _Value(name, flag)

    def _jump(self, label: str) -> None:
        if self._open:
            self._emit(f"br label %{label}")
        self._open = False

    def _fork(self, condition: _Value, there: str, otherwise: str) -> None:
        self._emit(f"br i1 {self._truth(condition)}, label %{there}, label %{otherwise}")
        self._open = False

    def _begin(self, label: str) -> None:
        self._jump(label)
        self._emit(f"{label}:")
        self._open = True

    def _refused(self, node: ast.AST) -> InternalError:
        line = getattr(node, "lineno", 0)
        return InternalError(
            f"{self.function.symbol}, line {line}: no compiled code for {ast.unparse(node)!r}"
        )

    # -------------------------------------------------------------------------------- statements

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if self._open:
                self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Pass() | ast.Expr(ast.Constant()):
                pass
            case ast.Expr(value):
                self._expression(value)
            case ast.Assign([target], value):
                self._assign(target, value)
            case ast.AugAssign(target, operator, value):
                self._change(target, operator, value)
            case ast.If(test, body, otherwise):
                self._if(test, body, otherwise)
            case ast.While(test, body, []):
                self._while(test, body)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), given, []), body, []):
                self._for(name, given, body)
            case ast.Return(value):
                result = "0" if value is None else self._word(self._expression(value))
                self._emit(f"ret i64 {result}")
                self._open = False
            case ast.Break():
                self._jump(self._loops[-1][1])
            case ast.Continue():
                self._jump(self._loops[-1][0])
            case _:
                raise self._refused(node)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for place, found in zip(
                target.elts, [self._expression(item) for item in value.elts], strict=True
            ):
                self._put(place, found)
        else:
            self._put(target, self._expression(value))

    def _put(self, target: ast.expr, value: _Value) -> None:
        match target:
            case ast.Name(name):
                self._emit(f"store i64 {self._word(value)}, ptr %{name}.place")
            case ast.Subscript(ast.Name(name), index) if name in self._arrays:
                array = self._arrays[name]
                self._write(array, self._element(array, index), value)
            case _:
                raise self._refused(target)

    def _change(self, target: ast.expr, operator: ast.operator, value: ast.expr) -> None:
        """`target operator= value`; a place is computed once."""
        if type(operator) not in _BINARY:
            raise self._refused(target)
        match target:
            case ast.Name(name):
                old = self._name(target, name)
                self._put(target, self._operation(operator, old, self._expression(value)))
            case ast.Subscript(ast.Name(name), index) if name in self._arrays:
                array = self._arrays[name]
                pointer = self._element(array, index)
                old = self._read(array, pointer)
                new = self._operation(operator, old, self._expression(value))
                self._write(array, pointer, new)
            case _:
                raise self._refused(target)

    def _read(self, array: _Array, pointer: str) -> _Value:
        found = self._value(f"load {array.element}, ptr {pointer}")
        if array.element == "i64":
            return found
        kind = "zext" if array.element in _UNSIGNED else "sext"
        return self._value(f"{kind} {array.element} {found.text} to i64")

    def _write(self, array: _Array, pointer: str, value: _Value) -> None:
        word = self._word(value)
        if array.element != "i64":
            word = self._value(f"trunc i64 {word} to {array.element}").text
        self._emit(f"store {array.element} {word}, ptr {pointer}")

    def _if(self, test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        there, other, end = self._label(), self._label(), self._label()
        self._fork(self._expression(test), there, other)
        self._begin(there)
        self._block(body)
        ends = self._open
        self._jump(end)
        self._begin(other)
        self._block(otherwise)
        ends = ends or self._open
        self._jump(end)
        if ends:
            self._begin(end)

    def _while(self, test: ast.expr, body: list[ast.stmt]) -> None:
        again, there, end = self._label(), self._label(), self._label()
        self._begin(again)
        if isinstance(test, ast.Constant) and test.value is True:
            self._jump(there)
        else:
            self._fork(self._expression(test), there, end)
        self._begin(there)
        self._loops.append((again, end))
        self._block(body)
        self._loops.pop()
        self._jump(again)
        if any(f"label %{end}" in line for line in self._lines):
            self._begin(end)

    def _for(self, name: str, given: list[ast.expr], body: list[ast.stmt]) -> None:
        """`for name in range(...)`, by steps of 1 or of a third argument, which is positive."""
        bounds = [self._word(self._expression(item)) for item in given]
        start, stop = ("0", bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) > 2 else "1"
        self._count += 1
        counter = f"%c{self._count}.place"
        # An entry in the function's first block: a loop must not take stack each time around.
        self._lines.insert(1, f"{counter} = alloca i64")
        self._emit(f"store i64 {start}, ptr {counter}")
        again, there, next_one, end = (self._label() for _ in range(4))
        self._begin(again)
        here = self._value(f"load i64, ptr {counter}").text
        self._fork(self._value(f"icmp slt i64 {here}, {stop}", flag=True), there, end)
        self._begin(there)
        self._emit(f"store i64 {here}, ptr %{name}.place")
        self._loops.append((next_one, end))
        self._block(body)
        self._loops.pop()
        self._begin(next_one)
        self._emit(f"store i64 {self._value(f'add i64 {here}, {step}').text}, ptr {counter}")
        self._jump(again)
        self._begin(end)

    # ------------------------------------------------------------------------------- expressions

    def _word(self, value: _Value) -> str:
        if not value.flag:
            return value.text
        return self._value(f"zext i1 {value.text} to i64").text

    def _truth(self, value: _Value) -> str:
        if value.flag:
            return value.text
        return self._value(f"icmp ne i64 {value.text}, 0", flag=True).text

    def _expression(self, node: ast.expr) -> _Value:
        match node:
            case ast.Constant(bool(value)):
                return _Value(str(value).lower(), flag=True)
            case ast.Constant(int(value)):
                return _Value(str(value))
            case ast.Name(name):
                return self._name(node, name)
            case ast.BinOp(left, operator, right) if type(operator) in _BINARY:
                return self._operation(operator, self._expression(left), self._expression(right))
            case ast.UnaryOp(operator, item):
                return self._unary(operator, self._expression(item))
            case ast.Compare(left, relations, others):
                return self._comparison(left, relations, others)
            case ast.BoolOp(operator, items):
                return self._joined(items, stops=isinstance(operator, ast.Or))
            case ast.IfExp(test, here, otherwise):
                return self._choice(test, here, otherwise)
            case ast.Subscript(ast.Name(name), index):
                return self._at(node, name, index)
            case ast.Call(ast.Name(name), given, []):
                return self._call(node, name, given)
            case _:
                raise self._refused(node)

    def _name(self, node: ast.expr, name: str) -> _Value:
        if name in self._locals:
            return self._value(f"load i64, ptr %{name}.place")
        found = self.function.meaning(name)
        if not isinstance(found, int):
            raise self._refused(node)
        return _Value(str(int(found)))

    def _operation(self, operator: ast.operator, left: _Value, right: _Value) -> _Value:
        one, two = self._word(left), self._word(right)
        if isinstance(operator, ast.FloorDiv):
            quotient = self._value(f"sdiv i64 {one}, {two}").text
            rest = self._value(f"srem i64 {one}, {two}").text
            uneven = self._value(f"icmp ne i64 {rest}, 0").text
            signs = self._value(f"xor i64 {rest}, {two}").text
            differ = self._value(f"icmp slt i64 {signs}, 0").text
            below = self._value(f"and i1 {uneven}, {differ}", flag=True)
            return self._value(f"sub i64 {quotient}, {self._word(below)}")
        return self._value(f"{_OPERATORS[type(operator)]} i64 {one}, {two}")

    def _unary(self, operator: ast.unaryop, item: _Value) -> _Value:
        match operator:
            case ast.Not():
                return self._value(f"xor i1 {self._truth(item)}, true", flag=True)
            case ast.Invert():
                return self._value(f"xor i64 {self._word(item)}, -1")
            case ast.USub():
                return self._value(f"sub i64 0, {self._word(item)}")
        return item

    def _comparison(
        self, left: ast.expr, relations: list[ast.cmpop], others: list[ast.expr]
    ) -> _Value:
        result: _Value | None = None
        one = self._word(self._expression(left))
        for relation, other in zip(relations, others, strict=True):
            if isinstance(relation, ast.In | ast.NotIn) and isinstance(other, ast.Tuple):
                found = self._among(one, other.elts)
                if isinstance(relation, ast.NotIn):
                    found = self._value(f"xor i1 {found.text}, true", flag=True)
            else:
                two = self._word(self._expression(other))
                found = self._value(
                    f"icmp {_RELATIONS[type(relation)]} i64 {one}, {two}", flag=True
                )
                one = two
            if result is not None:
                found = self._value(f"and i1 {result.text}, {found.text}", flag=True)
            result = found
        assert result is not None
        return result

    def _among(self, one: str, items: list[ast.expr]) -> _Value:
        found = _Value("false", flag=True)
        for item in items:
            same = self._value(f"icmp eq i64 {one}, {self._word(self._expression(item))}").text
            found = self._value(f"or i1 {found.text}, {same}", flag=True)
        return found

    def _joined(self, items: list[ast.expr], *, stops: bool) -> _Value:
        """`and`, `or` of truth values: `stops` is the value that ends it."""
        place, end = self._result("i1"), self._label()
        for item in items:
            found = self._truth(self._expression(item))
            self._emit(f"store i1 {found}, ptr {place}")
            following = self._label()
            labels = (end, following) if stops else (following, end)
            self._fork(_Value(found, flag=True), *labels)
            self._begin(following)
        self._begin(end)
        return self._value(f"load i1, ptr {place}", flag=True)

    def _choice(self, test: ast.expr, here: ast.expr, otherwise: ast.expr) -> _Value:
        place, there, other, end = self._result("i64"), *(self._label() for _ in range(3))
        self._fork(self._expression(test), there, other)
        for label, item in ((there, here), (other, otherwise)):
            self._begin(label)
            self._emit(f"store i64 {self._word(self._expression(item))}, ptr {place}")
            self._jump(end)
        self._begin(end)
        return self._value(f"load i64, ptr {place}")

    def _result(self, kind: str) -> str:
        name = self._new()
        self._lines.insert(1, f"{name} = alloca {kind}")
        return name

    def _element(self, array: _Array, index: ast.expr) -> str:
        place = self._word(self._expression(index))
        return self._value(f"getelementptr {array.element}, ptr {array.pointer}, i64 {place}").text

    def _at(self, node: ast.expr, name: str, index: ast.expr) -> _Value:
        if name in self._arrays:
            array = self._arrays[name]
            return self._read(array, self._element(array, index))
        table = self.function.meaning(name)
        if not isinstance(table, tuple) or not all(isinstance(item, int) for item in table):
            raise self._refused(node)
        held = ", ".join(f"i64 {item}" for item in table)
        symbol = f'@"{self.function.symbol}.{name}"'
        self.tables[symbol] = f"{symbol} = private constant [{len(table)} x i64] [{held}]"
        place = self._word(self._expression(index))
        pointer = self._value(f"getelementptr i64, ptr {symbol}, i64 {place}").text
        return self._value(f"load i64, ptr {pointer}")

    def _call(self, node: ast.Call, name: str, given: list[ast.expr]) -> _Value:
        known: Mapping[str, Callable[[list[ast.expr]], _Value]] = {
            "int": lambda items: _Value(self._word(self._expression(items[0]))),
            "len": self._length,
            "min": lambda items: self._extreme("slt", items),
            "max": lambda items: self._extreme("sgt", items),
        }
        if name in known:
            return known[name](given)
        found = self.function.meaning(name)
        if isinstance(found, Instruction):
            operands = [self._word(self._expression(item)) for item in given]
            lines, result = found.write(self._new, operands)
            self._lines += lines
            return _Value(result)
        if not hasattr(found, "definition"):
            raise self._refused(node)
        called: Translated = found  # type: ignore[assignment]
        if called not in self.needs:
            self.needs.append(called)
        expected = [item.arg for item in called.definition.args.args]
        if len(expected) != len(given):
            raise self._refused(node)
        arrays = arrays_of(called.definition)
        words = []
        for parameter, item in zip(expected, given, strict=True):
            if parameter in arrays:
                if not isinstance(item, ast.Name) or item.id not in self._arrays:
                    raise self._refused(node)
                array = self._arrays[item.id]
                words += [f"ptr {array.pointer}", f"i64 {array.length}"]
            else:
                words.append(f"i64 {self._word(self._expression(item))}")
        return self._value(f'call i64 @"{called.symbol}"({", ".join(words)})')

    def _length(self, items: list[ast.expr]) -> _Value:
        array = items[0]
        if not isinstance(array, ast.Name) or array.id not in self._arrays:
            raise self._refused(array)
        return _Value(self._arrays[array.id].length)

    def _extreme(self, relation: str, items: list[ast.expr]) -> _Value:
        best, *others = [self._word(self._expression(item)) for item in items]
        for other in others:
            closer = self._value(f"icmp {relation} i64 {other}, {best}").text
            best = self._value(f"select i1 {closer}, i64 {other}, i64 {best}").text
        return _Value(best)


def _assigned(definition: ast.FunctionDef) -> set[str]:
    """Return the names that a function assigns."""
    return {
        node.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
