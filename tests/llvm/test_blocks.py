"""Goal: what is written once is known exactly where every way passes it, and nowhere else."""

from collections.abc import Callable

from checker.llvm.code import Code, Ref


def function(write: Callable[[Code], None]) -> list[str]:
    code = Code("define i64 @f(i64 %x, i64 %y)")
    write(code)
    code.emit("ret i64 0")
    code.open = False
    return code.text().splitlines()[2:-1]


def count(lines: list[str], text: str) -> int:
    return sum(text in line for line in lines)


def test_constants_are_folded() -> None:
    code = Code("define void @f()")
    assert code.add(2, 3) == 5
    assert code.mul("%x", 1) == "%x"
    assert code.bits("and", "%x", 0) == 0
    assert code.sub("%x", "%x") == 0
    assert code.add(code.add("%x", 5), -5) == "%x"
    assert code.compare("slt", 3, 4) is True
    assert code.divide(-1, 2) == (2**64 - 1) // 2


def test_a_value_is_computed_once_where_it_is_known() -> None:
    def write(code: Code) -> None:
        one = code.op("mul", "%x", "%y")
        code.leave_if(code.compare("slt", one, 7), "out")
        assert code.op("mul", "%x", "%y") == one
        code.label("out")
        assert code.op("mul", "%x", "%y") == one

    assert count(function(write), "mul") == 1


def test_a_value_of_one_branch_is_not_known_behind_it() -> None:
    def write(code: Code) -> None:
        code.fork(code.compare("slt", "%x", 7), "yes", "no")
        code.label("yes")
        one = code.op("mul", "%x", "%y")
        code.jump("end")
        code.label("no")
        assert code.op("mul", "%x", "%y") != one
        code.jump("end")
        code.label("end")
        code.op("mul", "%x", "%y")

    assert count(function(write), "mul") == 3


def test_a_decided_flag_is_not_asked_again() -> None:
    def write(code: Code) -> None:
        small = code.compare("slt", "%x", 7)
        code.leave_unless(code.both(small, code.compare("eq", "%y", 3)), "out")
        assert code.decided(small) is True
        assert code.compare("sge", "%x", 7) is False
        assert code.settled("%y") == 3
        code.leave_if(code.compare("ne", "%y", 3), "never")
        code.label("never")
        code.label("out")
        assert code.decided(small) == small

    lines = function(write)
    assert count(lines, "br i1") == 1
    assert count(lines, "never") == 0


def test_what_cannot_be_reached_is_not_written() -> None:
    def write(code: Code) -> None:
        code.jump("end")
        code.store(1, Ref("%p"))
        code.fork("%flag", "end", "other")
        code.label("other")
        code.store(2, Ref("%p"))
        code.label("end")

    assert function(write) == ["ret i64 0"]


def test_loads_are_repeated_unless_memory_is_frozen() -> None:
    def write(code: Code) -> None:
        code.frozen.add("%cells")
        for base in ("%cells", "%work"):
            code.load(Ref(base, "%x"))
            code.load(Ref(base, "%x"))

    lines = function(write)
    assert count(lines, "load") == 3
    assert count(lines, "getelementptr") == 2


def test_known_cells_are_not_loaded() -> None:
    def write(code: Code) -> None:
        code.known["%cells", 2] = "%y"
        assert code.load(Ref("%cells", 2)) == "%y"
        code.load(Ref("%cells", 1))

    assert count(function(write), "load") == 1


def test_scratch_memory_is_used_again_after_release() -> None:
    code = Code("define void @f()")
    mark = code.mark()
    one = code.scratch(4)
    assert code.scratch(4) != one
    code.release(mark)
    assert {code.scratch(4), code.scratch(4)} >= {one}
    assert code.scratch(5) != one
