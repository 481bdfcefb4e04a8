"""Goal: a few lines say how long walks were, and from when on they met nothing new."""

from checker.report.walks import BAR, BINS, coverage_text, lengths_text
from checker.search.simulate import WalkedRow


def row(name: str, first: int | None) -> WalkedRow:
    return WalkedRow(name, 0, 0, 0, first)


def test_lengths_are_counted_in_few_bins() -> None:
    lines = lengths_text([0, 0, 1, 0, 3])
    assert lines == [
        "lengths of walks: 2 to 4 steps, half of them at most 4",
        "  2  " + "#" * round(BAR / 3) + " 1",
        "  3   0",
        "  4  " + "#" * BAR + " 3",
    ]
    many = lengths_text([1] * 1001)
    assert len(many) - 1 <= BINS
    assert sum(int(line.split()[-1]) for line in many[1:]) == 1001
    assert lengths_text([0, 0]) == []


def test_coverage_doubles_the_walks_until_nothing_new_comes() -> None:
    lines = coverage_text([row("a", 0), row("b", 2), row("c", None)], 1000)
    assert lines[0] == "rows taken, of 3, by the first walks"
    assert [(line.split()[0], line.split()[-1]) for line in lines[1:-1]] == [
        ("1", "1"),
        ("2", "1"),
        ("4", "2"),
        ("1,000", "2"),
    ]
    assert lines[-1] == "the last new row came in walk 3; 997 walks after it had none"
    assert coverage_text([], 5) == []
    assert len(coverage_text([row("a", None)], 4)) == 3
