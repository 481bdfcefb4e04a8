"""Goal: a compiled function does what Python does with the same text, on whole numbers that wrap
around at 64 bits; its code is kept; and what cannot be compiled is refused with its line.
"""

from pathlib import Path
from typing import Any

import compiled_functions as functions
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.errors import InternalError
from checker.llvm import compiled as module
from checker.llvm.instructions import load

numbers = st.integers(-40, 40)


@pytest.mark.parametrize("name", ["arithmetic", "conditions", "loops", "together"])
@given(a=numbers, b=numbers)
def test_compiled_code_says_what_python_says(name: str, a: int, b: int) -> None:
    function: Any = getattr(functions, name)
    assert function(a, b) == function.__wrapped__(a, b)


@given(st.lists(st.tuples(numbers, numbers, st.integers(0, 65535), st.booleans())))
def test_arrays_are_read_and_written_where_they_stand(rows: list[tuple[Any, ...]]) -> None:
    def arrays() -> list[Any]:
        kinds = (np.int64, np.int32, np.uint16, np.bool_)
        return [np.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]

    one, two = arrays(), arrays()
    sums: Any = functions.sums
    assert sums(*one) == int(sums.__wrapped__(*two))
    assert [item.tolist() for item in one] == [item.tolist() for item in two]


def test_arrays_are_handed_on_with_their_lengths() -> None:
    words, ints = np.array([3, 4, 70], np.int64), np.zeros(5, np.int32)
    assert functions.handed_on(words, ints, np.array([600], np.uint16)) == 675


def test_the_place_that_is_changed_is_computed_once() -> None:
    one, two = np.arange(9), np.arange(9)
    places: Any = functions.places
    assert places(one) == 3
    function = places.__wrapped__
    function(two)
    assert one.tolist() == two.tolist()


def test_words_wrap_around() -> None:
    assert functions.product(1 << 40, 1 << 30) == 0
    assert functions.product((1 << 62) + 1, 2) == -(1 << 63) + 2
    assert functions.product((1 << 64) - 1, 5) == -5


def quotient(a: int, b: int) -> float:
    return a / b


def attribute(a: int) -> int:
    return a.numerator


def otherwise(a: int) -> int:
    while a > 0:
        a -= 1
    else:  # noqa: PLW0120
        a = 3
    return a


def unknown(a: int) -> int:
    return a + pytest  # type: ignore[operator, no-any-return]


@pytest.mark.parametrize("function", [quotient, attribute, otherwise, unknown])
def test_what_cannot_be_compiled_is_refused(function: Any) -> None:
    line = function.__code__.co_firstlineno
    with pytest.raises(InternalError, match=rf"{function.__name__}, line ({line + 1}|{line + 2}):"):
        module.Translation(module.Compiled(function, inline=False), "")


def test_instructions_are_for_compiled_code_only() -> None:
    with pytest.raises(InternalError, match="outside of compiled code: the word at an address"):
        load(8)


def test_code_without_the_function_is_never_called() -> None:
    code = module._code(functions.__name__)
    with pytest.raises(InternalError, match=r"no function compiled_functions\.missing"):
        code.address("compiled_functions.missing")


def test_code_is_kept_and_goes_with_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "_code", module._code.__wrapped__)
    texts = []
    real = module._object_code
    monkeypatch.setattr(module, "_object_code", lambda text: texts.append(text) or real(text))
    name = functions.__name__

    def made() -> int:
        return len(module._code(name).object_code)

    assert made() == made()
    assert len(texts) == 1
    monkeypatch.setattr(functions, "LIMIT", 8)  # a constant that the code holds
    made()
    assert len(texts) == 2
    assert texts[0] != texts[1]
