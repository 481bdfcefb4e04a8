"""Goal: what is kept between runs is this user's own, whole, bounded, and never needed."""

import os
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest
from click.testing import CliRunner

from checker import cache
from checker.cache import Cache, place, private_folder, refusal, repair
from checker.cli.cache import cache as command
from checker.cli.remembered import VERDICTS
from checker.errors import UsageError

BLOBS = Cache("blobs", 4096)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches" / "kafka-checker"


@pytest.fixture(params=["0o000", "0o022", "0o077"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(int(request.param, 8))
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_returns_what_was_kept_and_only_the_user_may_touch_it(root: Path) -> None:
    assert BLOBS.get("a1") is None
    BLOBS.put("a1", b"first")
    BLOBS.put("a2", b"")
    BLOBS.put("a1", b"second")
    assert (BLOBS.get("a1"), BLOBS.get("a2"), BLOBS.get("a3")) == (b"second", b"", None)
    assert refusal() is None
    assert {path.name: path.stat().st_mode & 0o777 for path in (root, *root.rglob("*"))} == {
        "kafka-checker": 0o700,
        "blobs": 0o700,
        "key": 0o600,
        "a1.blob": 0o600,
        "a2.blob": 0o600,
    }


def test_a_blob_is_good_for_its_kind_and_digest_only(root: Path) -> None:
    BLOBS.put("a1", b"first")
    other = Cache("others", 4096)
    other.put("a1", b"other")
    data = (root / "blobs" / "a1.blob").read_bytes()
    (root / "blobs" / "a2.blob").write_bytes(data)
    (root / "others" / "a1.blob").write_bytes(data)
    assert BLOBS.get("a2") is None
    assert other.get("a1") is None
    assert BLOBS.get("a1") == b"first"


def test_no_byte_of_a_file_can_change(root: Path) -> None:
    BLOBS.put("a1", b"first")
    file = root / "blobs" / "a1.blob"
    data = file.read_bytes()
    for index in range(len(data)):
        file.write_bytes(data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :])
        assert BLOBS.get("a1") is None
    for index in range(len(data)):
        file.write_bytes(data[:index])
        assert BLOBS.get("a1") is None
    file.write_bytes(data + b"x")
    assert BLOBS.get("a1") is None


def test_what_another_key_signed_is_nothing(root: Path) -> None:
    BLOBS.put("a1", b"first")
    (root / "key").unlink()
    assert BLOBS.get("a1") is None
    BLOBS.put("a1", b"second")
    assert BLOBS.get("a1") == b"second"


@pytest.mark.parametrize(
    ("name", "mode", "said"),
    [
        (".", 0o770, "kafka-checker: other users may write it; chmod go-w it"),
        (".", 0o702, "kafka-checker: other users may write it"),
        ("key", 0o640, "key: other users may read it; chmod 600 it"),
        ("key", 0o604, "key: other users may read it"),
    ],
)
def test_what_others_may_touch_is_refused(root: Path, name: str, mode: int, said: str) -> None:
    BLOBS.put("a1", b"first")
    (root / name).chmod(mode)
    assert BLOBS.get("a1") is None
    BLOBS.put("a2", b"second")
    assert [path.name for path in (root / "blobs").iterdir()] == ["a1.blob"]
    assert said in (refusal() or "")
    assert private_folder("java") is None
    (root / name).chmod(0o700 if name == "." else 0o600)
    assert BLOBS.get("a1") == b"first"


@pytest.mark.parametrize(
    ("mode", "content"), [(0o644, bytes(32)), (0o600, b"cut short"), (0o600, b""), (0, bytes(32))]
)
def test_a_key_that_is_not_used_is_made_anew(root: Path, mode: int, content: bytes) -> None:
    BLOBS.put("a1", b"first")
    (root / "key").write_bytes(content)
    (root / "key").chmod(mode)
    repair()
    assert refusal() is None
    assert BLOBS.get("a1") is None
    BLOBS.put("a1", b"second")
    assert BLOBS.get("a1") == b"second"
    sound = (root / "key").read_bytes()
    repair()
    assert (root / "key").read_bytes() == sound


def test_no_key_but_the_users_own_file_is_repaired(root: Path, tmp_path: Path) -> None:
    repair()
    assert not root.exists()
    BLOBS.put("a1", b"first")
    (tmp_path / "precious").write_bytes(b"mine")
    (root / "key").unlink()
    (root / "key").symlink_to(tmp_path / "precious")
    repair()
    assert (root / "key").is_symlink()
    assert "key is a link; remove it" in (refusal() or "")
    assert (tmp_path / "precious").read_bytes() == b"mine"
    (root / "key").unlink()
    (root / "key").mkdir()
    repair()
    assert (root / "key").is_dir()
    assert "key is no file; remove it" in (refusal() or "")
    (root / "key").rmdir()
    (root / "key").write_bytes(b"damaged")
    root.chmod(0o777)
    repair()
    assert (root / "key").read_bytes() == b"damaged"


def test_clearing_repairs_the_key(root: Path) -> None:
    VERDICTS.put("a1", b"first")
    (root / "key").write_bytes(b"damaged")
    asked = CliRunner().invoke(command, [])
    assert isinstance(asked.exception, UsageError)
    assert "key is damaged; remove it" in str(asked.exception)
    cleared = CliRunner().invoke(command, ["--clear"])
    assert cleared.exit_code == 0
    assert "verdicts: 0, 0.0 MiB" in cleared.output
    assert [path.name for path in root.rglob("*.blob")] == []


@pytest.mark.parametrize("name", ["blobs", "blobs/a1.blob"])
def test_a_kind_or_file_that_others_may_write_is_nothing(root: Path, name: str) -> None:
    BLOBS.put("a1", b"first")
    (root / name).chmod(0o777)
    assert BLOBS.get("a1") is None


@pytest.mark.parametrize("name", [".", "key", "blobs", "blobs/a1.blob"])
def test_what_another_user_owns_is_refused(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    BLOBS.put("a1", b"first")
    inode = (root / name).stat().st_ino
    real = cache._require_own

    def of_another(status: os.stat_result, what: str, forbidden: int) -> None:
        """See one thing as if another user owned it."""
        if status.st_ino == inode:
            values = list(status)
            values[4] += 1
            status = os.stat_result(values)
        real(status, what, forbidden)

    monkeypatch.setattr(cache, "_require_own", of_another)
    assert BLOBS.get("a1") is None
    if "blobs" not in name:
        assert "belongs to another user" in (refusal() or "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_folder_given_to_another_user_is_refused(root: Path) -> None:
    BLOBS.put("a1", b"first")
    os.chown(root, os.geteuid() + 1, -1)
    assert BLOBS.get("a1") is None
    assert "belongs to another user" in (refusal() or "")


def test_links_and_things_that_are_no_files_are_nothing(root: Path, tmp_path: Path) -> None:
    BLOBS.put("a1", b"first")
    file = root / "blobs" / "a1.blob"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert BLOBS.get("a1") is None
    file.unlink()
    os.mkfifo(file)
    assert BLOBS.get("a1") is None
    file.unlink()
    file.mkdir()
    assert BLOBS.get("a1") is None


def test_only_what_is_kept_is_forgotten(root: Path, tmp_path: Path) -> None:
    BLOBS.put("a1", b"first")
    for name in ("thesis.txt", "a2.blob.txt", ".blob", "key"):
        (root / "blobs" / name).write_bytes(b"mine")
    (root / "blobs" / f"a3.blob.{'0' * 16}").write_bytes(b"begun by a process that was killed")
    assert BLOBS.size()[0] == 2
    BLOBS.clear()
    left = {path.name for path in (root / "blobs").iterdir()}
    assert left == {"thesis.txt", "a2.blob.txt", ".blob", "key"}
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a1.blob").write_bytes(b"mine")
    (root / "others").symlink_to(folder)
    others = Cache("others", 4096)
    assert others.size() == (0, 0)
    others.put("a2", b"second")
    others.clear()
    assert [path.name for path in folder.iterdir()] == ["a1.blob"]


def test_what_was_not_used_for_longest_goes_first(root: Path) -> None:
    small = Cache("blobs", 3 * 1000)
    for age in range(3):
        small.put(f"a{age}", bytes(900))
        os.utime(root / "blobs" / f"a{age}.blob", (age, age))
    (root / "blobs" / "left.blob.0123456789abcdef").write_bytes(bytes(900))
    os.utime(root / "blobs" / "left.blob.0123456789abcdef", (9, 9))
    assert small.get("a0") is not None  # is the youngest now
    small.put("b", bytes(900))
    assert [small.get(name) is not None for name in ("a0", "a1", "a2", "b")] == [
        True,
        False,
        False,
        True,
    ]
    assert small.size()[1] <= small.capacity
    small.clear()
    assert small.size() == (0, 0)


def test_a_file_larger_than_the_cache_is_not_read_whole(root: Path) -> None:
    BLOBS.put("a1", b"first")
    with (root / "blobs" / "a1.blob").open("r+b") as file:
        file.truncate(1 << 40)  # has holes: takes no room on the disk
    assert BLOBS.get("a1") is None


@pytest.mark.parametrize("damage", ["is a file", "is read-only", "has no home"])
def test_without_a_place_nothing_is_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    match damage:
        case "is a file":
            root.parent.mkdir()
            root.write_text("a file where the folder should be")
        case "is read-only":

            def refused(*_: object, **__: object) -> int:
                raise OSError(30, "Read-only file system")

            monkeypatch.setattr(os, "open", refused)
        case "has no home":
            monkeypatch.delenv("XDG_CACHE_HOME")
            monkeypatch.setattr(cache, "place", lambda: None)
    BLOBS.put("a1", b"first")
    assert BLOBS.get("a1") is None
    assert refusal() is None


def test_without_links_the_key_is_made_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    BLOBS.put("a1", b"first")
    assert BLOBS.get("a1") == b"first"


def keep_and_ask(number: int) -> list[bytes | None]:
    BLOBS.put(f"a{number}", b"blob")
    return [BLOBS.get(f"a{number}")]


def test_processes_that_start_together_agree_on_a_key() -> None:
    with get_context("fork").Pool(4) as pool:
        found = pool.map(keep_and_ask, range(8), chunksize=1)
    assert found == [[b"blob"]] * 8
    assert [BLOBS.get(f"a{number}") for number in range(8)] == [b"blob"] * 8


def test_relative_cache_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place() == tmp_path / ".cache" / "kafka-checker"
