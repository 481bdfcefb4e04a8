"""Goal: a file that was parsed before has the same nodes, in every detail, without being parsed."""

from pathlib import Path

import pytest

from checker.errors import SpecificationError
from checker.library import shipped
from checker.source import Source
from checker.table import parsed, parsing

LONG = "# A comment.\n" * 200


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def sources() -> list[Source]:
    folders = {entry.path.parent for entry in shipped()}
    files = sorted(path for folder in folders for path in folder.glob("*.yaml"))
    return [Source.read(path) for path in files]


def test_what_is_kept_is_what_was_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Source("odd.yaml", LONG + "\"k\\u2603\": [1, ~, 'a b', {c: .5}]\nd: |\n  e\n\n")
    texts = [*sources(), odd]
    expected = [parsing.parse_yaml(source) for source in texts]
    assert [parsed.parse_yaml(source) for source in texts] == expected
    long = [source for source in texts if len(source.text) >= 2000]
    assert parsed.TEXTS.size()[0] == len({source.text for source in long})
    monkeypatch.delattr(parsing, "parse_yaml")
    again = [parsed.parse_yaml(source) for source in long]
    assert again == [node for node, source in zip(expected, texts, strict=True) if source in long]
    assert all(node.span.source is source for node, source in zip(again, long, strict=True))


def test_names_are_those_of_the_file_read() -> None:
    one, other = (Source(name, LONG + "a: 1\n") for name in ("one.yaml", "other.yaml"))
    parsed.parse_yaml(one)
    node = parsed.parse_yaml(other)
    assert node is not None
    assert node.span.source == other
    assert parsed.TEXTS.size()[0] == 1


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "a: [\n", "a: &b 1\n"])
def test_files_with_errors_are_not_kept(text: str) -> None:
    for _ in range(2):
        with pytest.raises(SpecificationError):
            parsed.parse_yaml(Source("bad.yaml", LONG + text))
    assert parsed.TEXTS.size()[0] == 0


def test_empty_files_stay_empty() -> None:
    assert [parsed.parse_yaml(Source("empty.yaml", LONG)) for _ in range(2)] == [None, None]
