"""Goal: `empty` is the empty collection of whatever it is compared with, however deep it stands."""

from pathlib import Path

from checker import flow

SYSTEM = """\
system: empties
about: Collections with nothing in them.
constants:
  K: {ids: 2, symmetric: false}
variables:
  n: {type: 0..3, initial: "0"}
  m: {type: map of K to set of K, initial: "{x: empty for x in K}"}
  tm: {type: total map of K to set of K, initial: "{x: empty for x in K}"}
  ms: {type: map of K to sequence of 0..2 up to 2, initial: "{x: empty for x in K}"}
  mb: {type: map of K to bag of 0..2 up to 2, initial: "{x: empty for x in K}"}
  mm: {type: map of K to map of K to 0..2, initial: "{x: empty for x in K}"}
  ss: {type: set of set of K, initial: "{empty}"}
  s: {type: sequence of 0..2 up to 2, initial: empty}
  so: {type: sequence of optional set of K up to 2, initial: "[empty]"}
rows:
  - {row: up, when: n < 3, do: n += 1}
  - row: push
    when: n == 1 and len(s) < 2
    do: |
      s.append(1)
      ms[k1] = s
  - row: put
    when: n == 2
    do: |
      m[k1].add(k2)
      tm[k2].add(k2)
      mb[k1].clear()
      mm[k1][k1] = 1
      so = [none]
deadlock: false
properties:
"""

CLAIMS = (
    "m != {x: empty for x in K}",
    "m == {x: empty for x in K}",
    "any(q == s for q in {empty})",
    "any(q != s for q in {empty})",
    "ms == {x: empty for x in K}",
    "ms != {x: empty for x in K}",
    "mm == {x: empty for x in K} and mb == {x: empty for x in K}",
    "mm != {x: empty for x in K}",
    "ss == {empty}",
    "so == [empty]",
    "so != [empty]",
    "tm == {x: empty for x in K}",
    "tm != {x: empty for x in K} and tm not in {{x: empty for x in K}}",
    "{x: (empty if n == 0 else {x}) for x in K} == m",
    "s in {empty}",
    "len({empty, s}) == 2",
    "{x: none for x in K} == {x: 1 for x in K} or s == [] ",
    "[empty, {k1}][1] == {k1} and {empty for x in K} == {empty}",
    "{empty} == {s}",
    "(empty if n == 0 else empty) == s",
    "[q for q in [empty, empty]] == [s, s]",
    "{x: {empty} for x in K}[k1] == {s}",
)
"""Each is true in some reachable state."""


def test_engines_compare_empty_collections_alike(tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    lines = (
        f'  claim{number}: {{sometimes: "{claim}", why: it is tested}}\n'
        f'  denial{number}: {{sometimes: "not ({claim})", why: it is tested}}\n'
        for number, claim in enumerate(CLAIMS)
    )
    path.write_text(SYSTEM + "".join(lines))
    found = []
    for engine in ("local", "reference"):
        request = flow.Request(str(path), engine=engine, workers=1)
        result = flow.check(request, flow.Silent())
        assert result.exploration.stopped_by is None
        found.append([(one.name, one.outcome, one.length) for one in result.verdict.properties])
    assert found[0] == found[1]
    outcomes = {name: outcome for name, outcome, _ in found[0]}
    assert {outcomes[f"claim{number}"] for number in range(len(CLAIMS))} == {"witnessed"}
