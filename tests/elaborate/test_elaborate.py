"""Goal: an instance of a document becomes one machine: constants, variants, names, lints."""

from pathlib import Path

import pytest
from houses import HEAD, Elaborating, Refusing

from checker import library
from checker.elaborate import elaborate, instances
from checker.errors import UsageError
from checker.machine.terms import Literal
from checker.machine.types import Enum, Id, Map, Range
from checker.table import Document, read

HOUSE = """
constants:
  Person: {ids: 2, symmetric: true}
  Room: {ids: [kitchen, cellar]}
  last: 3
  dark: true
  mood: {one_of: [good, bad], value: good}
  twice: {value: 2 * last + len(Person)}
assume:
  - last >= 1 and (dark or mood == good)
components:
  person:
    per: Person
    machines:
      lamp: {table: lamp}
    variables:
      hour: {type: 0..twice, initial: "0"}
variables:
  clock: {type: 0..last, initial: "0"}
faults:
  storm: {budget: unlimited}
  crash: {budget: last - 3}
rows:
  - {row: ticks, when: clock < last, do: clock += 1}
  - {row: glows, only_if: dark, for: {p: Person}, do: "person[p].hour = clock", fair: weak}
  - {row: storms, do: pass, fault: storm, fair: strong}
  - {row: crashes, do: pass, fault: crash}
  - {row: moody, do: pass, fair: "weak if mood == good else none"}
bounds:
  - clock <= last
terminal:
  - clock == last
fairness: strong
properties:
  low: {always: "all(person[p].hour <= clock for p in Person)", why: hours come from the clock}
  lit: {always: "true", only_if: not dark, why: only by day}
instances:
  default: {expect: {verdict: holds, distinct: 4}}
  day: {set: {dark: false, last: 5}, symmetry: false, tier: full, properties: [lit]}
  gloom: {set: {dark: false, mood: bad}}
"""


def test_the_default_instance(machine: Elaborating) -> None:
    made = machine(HOUSE)
    assert made.instance == "default"
    assert made.constants == (
        ("Person", 2),
        ("Room", 2),
        ("last", 3),
        ("dark", True),
        ("mood", "good"),
        ("twice", 8),
    )
    assert made.ids == (
        Id("Person", ("person1", "person2"), symmetric=True),
        Id("Room", ("kitchen", "cellar"), symmetric=False),
    )
    assert [action.name for action in made.actions] == ["ticks", "glows", "storms", "moody"]
    assert [action.fair for action in made.actions] == ["strong", "weak", "none", "weak"]
    assert [entry.name for entry in made.properties] == ["low"]
    assert made.symmetry
    assert made.expectation is not None
    assert made.expectation.distinct == 4
    assert [table.name for table in made.tables] == ["lamp"]
    assert made.variable("person.lamp").table == "lamp"
    states = Enum("lamp", ("Off", "On", "Broken"))
    assert made.variable("person.lamp").type == Map(made.ids[0], states, total=True)
    assert made.variable("clock").type == Range(0, 3)
    assert isinstance(made.variable("clock").initial, Literal)


def test_another_instance(machine: Elaborating) -> None:
    made = machine(HOUSE, "day")
    assert dict(made.constants)["twice"] == 12
    assert not made.symmetry
    assert made.tier == "full"
    assert [entry.name for entry in made.properties] == ["lit"]
    assert made.budgets == (("crash", 2),)
    assert [action.name for action in made.actions] == ["ticks", "storms", "crashes", "moody"]
    assert made.expectation is None


def test_settings_of_the_command_replace_constants_and_drop_the_expectation(
    machine: Elaborating,
) -> None:
    made = machine(HOUSE, None, last=4, Person=1, mood="bad")
    assert dict(made.constants)["last"] == 4
    assert len(made.ids[0].members) == 1
    assert made.expectation is None


@pytest.mark.parametrize(
    "setting",
    [
        {"lost": 1},
        {"last": True},
        {"last": "x"},
        {"dark": 1},
        {"mood": "sad"},
        {"Room": 3},
        {"Person": 0},
        {"Person": "two"},
    ],
)
def test_settings_that_cannot_be(
    machine: Elaborating, setting: dict[str, int | bool | str]
) -> None:
    with pytest.raises(UsageError, match=next(iter(setting))):
        machine(HOUSE, None, **setting)


def test_somebody_who_misspells_an_instance_is_told_the_nearest_and_not_all() -> None:
    document = read(library.find("classic_group"))
    with pytest.raises(UsageError) as refused:
        elaborate(document, "kafka_7842")
    told = str(refused.value)
    assert told.startswith("no instance is called `kafka_7842`. Did you mean `kafka_7824`? There")
    assert told.endswith(f" and {len(document.instances) - 12} more.")


def test_an_unknown_instance(machine: Elaborating) -> None:
    with pytest.raises(UsageError, match="Did you mean `day`"):
        machine(HOUSE, "dayy")


def test_an_assumption_of_an_instance(wrong: Refusing) -> None:
    (found,) = wrong(HOUSE, "gloom")
    assert found.code == "R601"
    assert "dark = False" in (found.found or "")


def test_without_a_default_the_constants_as_declared_are_one(machine: Elaborating) -> None:
    made = machine(HOUSE.replace("  default: {expect: {verdict: holds, distinct: 4}}\n", ""))
    assert made.instance == "default"
    names = [entry.name.text for entry in instances(read_again(made.path))]
    assert names == ["default", "day", "gloom"]


def read_again(path: str) -> Document:
    return read(Path(path))


def test_the_same_document_gives_the_same_machine(machine: Elaborating) -> None:
    document = read_again(machine(HOUSE).path)
    assert elaborate(document) == elaborate(document)


def test_an_instance_judges_what_it_names_or_all_but_that(machine: Elaborating) -> None:
    def judged(old: str, new: str) -> list[str]:
        assert old in HOUSE
        return [entry.name for entry in machine(HOUSE.replace(old, new), "day").properties]

    assert judged("properties: [lit]", "properties: [lit]") == ["lit"]
    assert judged("properties: [lit]", "without: [lit]") == ["low"]
    assert judged("properties: [lit]", "without: [low, lit]") == []
    assert judged(", properties: [lit]", "") == ["low", "lit"]


def test_what_is_built_in_may_be_expected(machine: Elaborating) -> None:
    expected = "properties: [lit], expect: {property: lit, also: [deadlock, legal, low]}"
    made = machine(HOUSE.replace("properties: [lit]", expected), "day")
    assert made.expectation is not None
    assert made.expectation.also == ("deadlock", "legal", "low")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("  clock: {type", "  last: {type", "N203"),
        ("  clock: {type", "  fresh: {type", "N203"),
        ("table: lamp", "table: lamp, initial: Green", "N201"),
        ("clock <= last", "clock <= lost", "N201"),
        ("{type: 0..last", "{type: 0..person", "Y304"),
        ("{type: 0..last", "{type: 0..clock", "Y304"),
        ("properties: [lit]", "properties: [lid]", "N206"),
        ("properties: [lit]", "without: [lid]", "N206"),
        ("properties: [lit]", "without: [deadlock]", "N206"),
        ("properties: [lit]", "properties: [lit], expect: {property: lid}", "N206"),
        ("properties: [lit]", "properties: [lit], expect: {property: lit, also: [no]}", "N206"),
        ("properties: [lit]", "properties: [lit], expect: {rows: {tick: 1}}", "N206"),
        ("properties: [lit]", "without: [low], properties: [lit]", "T117"),
        ("properties: [lit]", "expect: {verdict: holds, property: lit}", "T117"),
        ("properties: [lit]", "expect: {verdict: bounded, also: [lit]}", "T117"),
        ("properties: [lit]", "expect: {verdict: holds, length: 3}", "T117"),
        ("properties: [lit]", "expect: {verdict: violated, also: [lit]}", "T114"),
        ("properties: [lit]", "expect: {length: 3}", "T114"),
        ("  low: {always", "  legal: {always", "N203"),
        ("per: Person", "per: set of Room", "Y303"),
        ("fault: storm", "fault: rain", "N206"),
    ],
)
def test_what_is_wrong_says_so_and_where(wrong: Refusing, old: str, new: str, code: str) -> None:
    assert old in HOUSE
    text = HOUSE.replace(old, new, 1)
    found = wrong(text, "day" if "[" in new else None)
    line = text[: text.index(new)].count("\n") + HEAD.count("\n") + 1
    assert (found[0].code, found[0].span.line) == (code, line)


def test_lints_tell_what_is_probably_not_meant(machine: Elaborating) -> None:
    made = machine(
        "machines:\n  light: {table: lamp}\nvariables:\n"
        '  n: {type: 0..3, initial: "0"}\n  kept: {type: 0..3, initial: "0", observed: true}\n'
        "rows:\n  - {row: mends, in: {light: Broken}, to: {light: 'On'}}\n"
        "  - {row: lights, in: {light: 'Off'}, to: {light: 'On'}, event: shatter}\n"
        "  - {row: counts, do: n = n}\n  - {row: never, when: 1 > 2, do: pass}\n"
    )
    assert [lint.code for lint in made.warnings] == ["L420", "L410", "L411", "L451"]
    assert all(lint.severity == "warning" for lint in made.warnings)


def test_the_fairness_of_a_system_may_depend_on_constants(machine: Elaborating) -> None:
    text = HOUSE.replace("fairness: strong", "fairness: strong if dark else none")
    assert [action.fair for action in machine(text).actions] == ["strong", "weak", "none", "weak"]
    made = machine(text, "day")
    assert [action.fair for action in made.actions] == ["none", "none", "none", "weak"]


def test_ignoring_a_message_is_as_fair_as_other_rows(machine: Elaborating) -> None:
    made = machine(
        "messages:\n  Hello: {}\nchannels:\n  line: {carries: [Hello], order: bag, capacity: '1'}\n"
        "rows:\n  - {row: calls, send: Hello()}\nfairness: weak\n"
        "unhandled:\n  - {message: Hello, is: ignored, why: nobody is at home}\n"
    )
    assert [(action.name, action.fair) for action in made.actions] == [
        ("calls", "weak"),
        ("ignore_Hello", "weak"),
    ]


@pytest.mark.parametrize(
    "cell", ["none if mood != good else weak", "weak if mood == good else none"]
)
def test_fairness_may_depend_on_constants_either_way(machine: Elaborating, cell: str) -> None:
    moody = 'fair: "weak if mood == good else none"'
    assert moody in HOUSE
    made = machine(HOUSE.replace(moody, f'fair: "{cell}"'))
    assert made.actions[-1].fair == "weak"


def test_bindings_are_called_as_their_row_calls_them(machine: Elaborating) -> None:
    """Goal: the names by which steps are told are the row's own.

    An expression before a binding may call something alike: a definition whose names nobody sees.
    """
    made = machine(
        """
types: {Place: 0..2}
messages: {Go: {p: Place}}
channels: {wires: {carries: [Go], order: bag, per: [Place, Place], capacity: "1"}}
variables: {board: {type: set of Place, initial: "{0}"}}
definitions: {open(): "{q for q in Place if all(q != p for p in board)}"}
rows:
  - {row: slides, for: {e: open(), p: board}, when: any(p < q for q in board), do: board.add(e)}
  - {row: comes, on: "wires[min(q for q in {min(p for p in board)}), q].Go(p)", do: board.add(p)}
fair_groups: {sliding: {rows: [slides], per: [p], fair: weak}}
"""
    )
    slides, comes = made.actions
    assert list(slides.shown) == ["e", "p"]
    assert list(comes.shown) == ["q", "p"]


def test_what_a_late_timer_says_of_itself_is_called_so_where_a_row_names_it(
    machine: Elaborating,
) -> None:
    """It is the row's binding, whether the row has a name for it or not."""
    made = machine(
        """
timers: {lock: {captures: {by: bool}, late_cancels: "1"}}
rows:
  - {row: begins, do: "arm(lock(by=true))"}
  - {row: ends, do: "cancel(lock(by=true))"}
  - {row: expires, on: "lock.expired(by, cancelled)", when: not cancelled}
"""
    )
    assert list(made.actions[-1].shown) == ["cancelled", "by"]
