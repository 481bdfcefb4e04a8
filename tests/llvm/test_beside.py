"""Goal: optimising can be broken off at once, and its code is had wherever it can be made."""

import time
from pathlib import Path

import pytest
from machines import two_phase

from checker.errors import EnvironmentFailure, Interruption
from checker.kernel import build
from checker.kernel.build import fingerprint
from checker.layout import pack
from checker.llvm import beside, native
from checker.llvm.beside import optimised_unless

TEXT = "define i64 @answer() {\nret i64 42\n}\n"
PATIENCE = 60


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_code_made_elsewhere_is_the_same() -> None:
    assert optimised_unless(lambda: False, TEXT) == native.compile_object(TEXT)


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "pass"])
def test_where_no_process_makes_it_this_one_does(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "_COMMAND", ("-c", code))
    assert optimised_unless(lambda: False, TEXT) == native.compile_object(TEXT)


def test_what_crashed_elsewhere_is_not_tried_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "_COMMAND", ("-c", "import os; os.abort()"))
    with pytest.raises(EnvironmentFailure, match="crashed"):
        optimised_unless(lambda: False, TEXT)


def test_it_is_broken_off_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "_COMMAND", ("-c", "import time; time.sleep(100)"))
    begun = time.monotonic()
    assert optimised_unless(lambda: True, TEXT) is None
    assert time.monotonic() - begun < PATIENCE


def test_who_is_to_stop_gets_no_code() -> None:
    machine = two_phase(2)
    answers = iter((False, True))  # after the text is written, and while it is optimised
    for stop, prompt in ((lambda: True, False), (lambda: True, True), (answers.__next__, False)):
        with pytest.raises(Interruption, match="nothing was searched"):
            build(machine, pack(machine), stop=stop, prompt=prompt)
    assert next(answers, None) is None
    assert native.cached(fingerprint(machine)) is None
    usual = build(machine, pack(machine), stop=lambda: False)
    known = native.cached(fingerprint(machine))
    assert known is not None
    assert known[1] == native.compile_object(usual.ir)
