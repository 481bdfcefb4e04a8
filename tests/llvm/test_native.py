"""Goal: code kept on disk is taken when it is sound and for this very machine, and never needed."""

from dataclasses import replace
from pathlib import Path

import pytest
from machines import counter, lamp, two_phase

from checker import memory
from checker.errors import EnvironmentFailure, InternalError
from checker.kernel import Kernel, build
from checker.kernel.build import fingerprint
from checker.kernel.calls import Calls
from checker.layout import pack
from checker.llvm import native
from checker.machine.machine import Machine


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules that were compiled, in order."""
    done: list[str] = []
    real = native.compile_object

    def compile_object(text: str, *, optimised: bool = True) -> bytes:
        done.append(text)
        return real(text, optimised=optimised)

    monkeypatch.setattr(native, "compile_object", compile_object)
    return done


def kept(home: Path) -> list[Path]:
    return sorted((home / "kafka-checker" / "kernels").glob("*"))


def answers(kernel: Kernel) -> list[list[int]]:
    calls = Calls(kernel)
    words, _ = calls.initial()
    return calls.expand(words).words.tolist()  # type: ignore[no-any-return]


def built(machine: Machine) -> Kernel:
    return build(machine, pack(machine))


def test_compiles_once(home: Path, compiled: list[str]) -> None:
    first, second = built(two_phase()), built(two_phase())
    assert len(compiled) == 1
    assert len(kept(home)) == 1
    assert first.ir == second.ir == compiled[0]
    assert answers(first) == answers(second)


def test_another_machine_has_another_key(compiled: list[str]) -> None:
    built(counter(3))
    built(counter(4))
    assert len(compiled) == 2
    assert fingerprint(counter(3)) == fingerprint(counter(3))
    assert fingerprint(counter(3)) != fingerprint(counter(4))


def test_prose_and_places_do_not_change_the_key() -> None:
    machine = lamp()
    actions = tuple(replace(action, about="now explained") for action in machine.actions)
    assert fingerprint(machine) == fingerprint(replace(machine, actions=actions, path="moved.yaml"))


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied", "of another key"])
def test_damaged_files_are_compiled_anew(home: Path, compiled: list[str], damage: str) -> None:
    built(lamp())
    (file,) = kept(home)
    data = file.read_bytes()
    match damage:
        case "cut":
            file.write_bytes(data[:-1])
        case "changed":
            file.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
        case "emptied":
            file.write_bytes(b"")
        case "of another key":
            built(counter())
            (other,) = (one for one in kept(home) if one != file)
            other.replace(file)
            compiled.pop()
    assert answers(built(lamp())) == answers(build(lamp(), pack(lamp()), use_cache=False))
    assert len(compiled) == 3
    assert native.cached(file.stem) is not None


def test_no_place_to_keep_it(home: Path, compiled: list[str]) -> None:
    (home / "kafka-checker").write_text("a file where the directory should be")
    assert answers(built(lamp())) == answers(built(lamp()))
    assert len(compiled) == 2


def test_code_that_another_user_signed_is_never_loaded(home: Path, compiled: list[str]) -> None:
    """Loading it would end the process: it is no object code."""
    built(lamp())
    own = home / "kafka-checker" / "key"
    theirs = own.rename(own.with_name("theirs"))
    native.keep(fingerprint(lamp()), "; no code", b"no object code at all")
    theirs.replace(own)
    assert answers(built(lamp())) == answers(build(lamp(), pack(lamp()), use_cache=False))
    assert len(compiled) == 3


def test_malformed_code_is_our_error() -> None:
    with pytest.raises(InternalError, match="malformed"):
        native.compile_object("define i64 @initial() {\nret i64 %nothing\n}\n")


def test_llvm_is_not_begun_where_it_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would end the process."""
    code = native.compile_object("define i64 @answer() {\nret i64 42\n}\n")
    monkeypatch.setattr(memory, "space_left", lambda: 1 << 24)
    with pytest.raises(EnvironmentFailure, match="ulimit"):
        native.compile_object("")
    with pytest.raises(EnvironmentFailure, match="ulimit"):
        native.NativeCode(code)
