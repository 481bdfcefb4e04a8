"""Goal: a system that another one uses means there what it means by itself, under other names."""

from __future__ import annotations

from pathlib import Path

import pytest
from crowded import crowded
from systems import outcomes, run

from checker.elaborate import elaborate
from checker.errors import SpecificationError
from checker.flow import Request, Silent, check
from checker.library import Shipped, shipped
from checker.report.tables import system_sections
from checker.search.limits import Limits
from checker.table import read

LAMP = """\
system: lamp
about: A lamp that somebody switches, and that breaks.
constants:
  Person: {ids: 2}
  presses: 2
  mode: {one_of: [gentle, rough], value: gentle}
types:
  Light: one of dark, bright
messages:
  Press: {person: Person}
faults:
  breaks: {budget: "1"}
components:
  bulb:
    variables:
      light: {type: Light, initial: dark}
  person:
    per: Person
    variables:
      left: {type: 0..presses, initial: presses}
channels:
  wire: {carries: [Press], order: fifo, capacity: "2"}
definitions:
  is_bright(): bulb.light == bright
procedures:
  toggle(by): |
    new = dark if is_bright() else bright
    bulb.light = new
    done(by)
  done(by): pass
rows:
  - row: presses_it
    for: {who: Person}
    when: person[who].left > 0 and len(wire) < 2
    do: person[who].left -= 1
    send: Press(who)
  - row: switches
    on: wire.Press(person)
    do: toggle(person)
  - row: breaks_down
    fault: breaks
    when: is_bright() and mode == rough
    do: bulb.light = dark
terminal:
  - all(person[p].left == 0 for p in Person) and len(wire) == 0
properties:
  nobody_presses_more:
    always: sum(person[p].left for p in Person) >= 0
    why: a count.
  only_switching_lights_it:
    step: implies(not is_bright() and next(is_bright()), ran(switches))
    why: it is dark by itself.
  one_break_at_most:
    always: budget.breaks >= 0
    why: a budget.
instances:
  default: {}
  rough: {set: {mode: rough}}
"""


def used(folder: Path, text: str, **more: object) -> dict[str, str]:
    (folder / "lamp.yaml").write_text(LAMP)
    return outcomes(run(folder, text, **more))  # type: ignore[arg-type]


SMALL = [
    ("alternating_bit", "blocking"),
    ("die_hard", "default"),
    ("dining_philosophers", "default"),
    ("group_small", "leader_lost"),
    ("hour_clock", "default"),
    ("memory", "default"),
    ("readers_writers", "two_actors"),
    ("two_phase", "default"),
    ("replication_isr", "lost_requests"),
    ("share_group", "default"),
]
"""Shipped systems and instances that are searched in a second or two."""


@pytest.mark.parametrize(("name", "instance"), SMALL)
def test_a_system_used_as_it_is_has_its_own_states(
    tmp_path: Path, name: str, instance: str
) -> None:
    """Whatever is called like something of it where it is used: here every word of its text is."""
    place = next(entry.path for entry in shipped() if entry.name == name)
    alone = read(place)
    entry = next((one for one in alone.instances if one.name.text == instance), None)
    listed = entry.properties if entry is not None else None
    claimed = "all" if listed is None else [w.text for w in listed]
    use = f"{{system: {name}, instance: {instance}, properties: {claimed}}}"
    (tmp_path / "system.yaml").write_text(crowded(alone, use))
    results = [
        check(Request(path, chosen, workers=1), Silent())
        for path, chosen in ((str(tmp_path / "system.yaml"), "default"), (name, instance))
    ]
    figures = [
        (
            result.exploration.distinct,
            result.exploration.generated,
            result.exploration.levels,
            result.verdict.exit_code,
            [item.outcome for item in result.verdict.properties if item.kind != "refines"],
            [trace.length for trace in result.failures],
        )
        for result in results
    ]
    assert figures[0] == figures[1]
    assert figures[0][0] > 10


SYSTEMS = [entry for entry in shipped() if entry.kind != "table"]


@pytest.mark.parametrize("entry", SYSTEMS, ids=lambda entry: entry.name)
def test_every_shipped_system_can_be_used_twice(tmp_path: Path, entry: Shipped) -> None:
    """Enum values, states and ids of the two do not get in each other's way."""
    document = read(entry.path)
    without = "without: [initial], " if document.initial is not None else ""
    name = entry.name
    path = tmp_path / "system.yaml"
    path.write_text(
        f"system: probe\nabout: Two of one kind.\nuses:\n  one: {{system: {name}, {without}}}\n"
        f"  other: {{system: {name}, {without}}}\n"
    )
    machine, alone = elaborate(read(path)), elaborate(document)
    assert len(machine.actions) == 2 * len(alone.actions)
    assert len(machine.variables) == 2 * len(alone.variables)
    assert machine.ids == () or len(machine.ids) == 2 * len(alone.ids)


@pytest.mark.parametrize("entry", SYSTEMS, ids=lambda entry: entry.name)
def test_every_shipped_system_can_be_used_where_its_words_are_taken(
    tmp_path: Path, entry: Shipped
) -> None:
    document = read(entry.path)
    path = tmp_path / "system.yaml"
    path.write_text(crowded(document, f"{{system: {entry.name}, properties: all}}"))
    machine, alone = elaborate(read(path)), elaborate(document)
    assert len(machine.actions) == len(alone.actions)
    claims = [item for item in alone.properties if item.kind != "refines"]
    assert len(machine.properties) >= len(claims)


def test_an_id_type_of_the_same_name_is_the_same(tmp_path: Path) -> None:
    text = "constants: {Person: {ids: 3}}\nuses: {a: lamp, b: lamp}\nterminal: [terminal_a()]\n"
    (tmp_path / "lamp.yaml").write_text(LAMP)
    result = run(tmp_path, text)
    assert [kind.name for kind in result.machine.ids] == ["Person"]
    assert "a_person.left" in {variable.name for variable in result.machine.variables}


@pytest.mark.parametrize(("instance", "broken"), [("default", False), ("rough", True)])
def test_its_constants_are_those_of_an_instance_of_it(
    tmp_path: Path, instance: str, broken: bool
) -> None:
    text = f"""\
uses:
  it: {{system: lamp, instance: {instance}, properties: all}}
terminal: [terminal_it()]
properties:
  never_breaks: {{step: not ran(it_breaks_down), why: a question.}}
"""
    found = used(tmp_path, text)
    assert found.pop("never_breaks") == ("violated" if broken else "holds")


def test_constants_are_set_by_expressions_over_those_here(tmp_path: Path) -> None:
    text = """\
constants: {times: 1}
uses:
  it:
    system: lamp
    set: {presses: times + 2, mode: rough, Person: 1}
terminal: [terminal_it()]
properties:
  three: {sometimes: 'sum(it_person[p].left for p in it_Person) == it_presses', why: a count.}
"""
    (tmp_path / "lamp.yaml").write_text(LAMP)
    result = run(tmp_path, text)
    constants = dict(result.machine.constants)
    assert (constants["it_presses"], constants["it_mode"], constants["it_Person"]) == (
        3,
        "rough",
        1,
    )
    assert dict(run(tmp_path, text, times=2).machine.constants)["it_presses"] == 4


HOOKED = """\
constants: {Person: {ids: 2}}
types: {Shade: "one of dark, grey"}
components:
  led:
    variables:
      light: {type: it_Light, initial: dark}
variables:
  last: {type: optional Person, initial: none}
  new: {type: bool, initial: "false", observed: true}
procedures:
  remember(who): last = who
uses:
  it:
    system: lamp
    set: {presses: 1}
    with: {bulb: led, done: remember}
    without: [breaks_down]
    properties: [only_switching_lights_it]
terminal: [terminal_it()]
properties:
  who_switched_is_remembered:
    step: implies(led.light != next(led.light), next(last) != none and ran(it_switches))
    why: a step of both systems.
"""


def test_something_here_stands_for_something_there(tmp_path: Path) -> None:
    found = used(tmp_path, HOOKED)
    assert found["who_switched_is_remembered"] == "holds"
    assert found["it_only_switching_lights_it"] == "holds"
    assert "it_one_break_at_most" not in found


def test_a_claim_of_the_used_system_may_fail_here_with_the_place_there(tmp_path: Path) -> None:
    text = (
        HOOKED + "rows:\n  - {row: meddles, when: last != none, do: led.light = it_Light.bright}\n"
    )
    (tmp_path / "lamp.yaml").write_text(LAMP)
    result = run(tmp_path, text)
    trace = next(one for one in result.failures if one.property_name.startswith("it_"))
    assert trace.property_name == "it_only_switching_lights_it"
    assert trace.steps[-1].row == "meddles"
    (claim,) = [one for one in result.machine.properties if one.name == trace.property_name]
    assert claim.span.source.name.endswith("lamp.yaml")


def test_show_says_what_is_used_and_shows_cells_with_their_names_here(tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    (tmp_path / "probe.yaml").write_text("system: probe\nabout: A test.\n" + HOOKED)
    sections = system_sections(read(tmp_path / "probe.yaml"))
    blocks = {block.name: block for section in sections for block in section.blocks}
    assert ("with bulb", "led") in blocks["it"].cells
    assert "it_breaks_down" not in blocks
    body = dict(blocks["it_toggle(by)"].cells)[""]
    assert body.splitlines()[1:] == ["led.light = it_new", "remember(by)"]
    assert "it_Light.dark if it_is_bright() else it_Light.bright" in body


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("uses: {it: lump}", "T144", "did you mean `lamp`?"),
        ("uses: {it: ../../lamp}", "T144", "to use"),
        ("uses: {it: /etc/passwd}", "T144", "to use"),
        ("uses: {it: system}", "T147", "uses itself"),
        ("uses: {it: {system: lamp, set: {press: 1}}}", "T145", "did you mean `presses`?"),
        ("uses: {it: {system: lamp, set: {mode: tender}}}", "T115", "gentle or rough"),
        ("uses: {it: {system: lamp, set: {presses: true}}}", "T115", "an integer"),
        ("uses: {it: {system: lamp, without: [break_down]}}", "T145", "breaks_down"),
        ("uses: {it: {system: lamp, instance: smooth}}", "T145", "instance"),
        ("uses: {it: {system: lamp, properties: [nobody]}}", "T145", "property"),
        ("uses: {it: {system: lamp, with: {bulb: led}}}", "T145", "probe has no part `led`"),
        ("uses: {it: {system: lamp, without: [is_bright]}}", "N201", "it_is_bright"),
        (
            "uses: {it: lamp}\nvariables: {it_wire: {type: bool, initial: 'true'}}",
            "N203",
            "it_wire",
        ),
        ("uses: {it: lamp}\nrows: [{row: it_switches, do: pass}]", "T118", "it_switches"),
        ("uses: {it: lamp, it: lamp}", "T104", "twice"),
        ("uses: {it: {system: lamp, as: x}}", "T113", "as"),
        (
            (
                "variables: {led: {type: bool, initial: 'true'}}\n"
                "uses: {it: {system: lamp, with: {bulb: led}}}"
            ),
            "T146",
            "a component",
        ),
        (
            (
                "components: {led: {variables: {on: {type: bool, initial: 'true'}}}}\n"
                "uses: {it: {system: lamp, with: {bulb: led}}}"
            ),
            "T146",
            "without light",
        ),
        (
            (
                "components: {led: {per: 0..1, variables: {light: {type: bool, initial: empty}}}}\n"
                "uses: {it: {system: lamp, with: {bulb: led}}}"
            ),
            "T146",
            "one component",
        ),
        (
            "procedures: {nothing(): pass}\nuses: {it: {system: lamp, with: {done: nothing}}}",
            "T146",
            "parameters: by",
        ),
        (
            "messages: {Push: {who: bool}}\nuses: {it: {system: lamp, with: {Press: Push}}}",
            "T146",
            "fields: person",
        ),
        (
            "initial: {do: pass}\nuses: {it: hour_clock}",
            "T104",
            "without: [initial]",
        ),
    ],
)
def test_what_does_not_fit_is_said_at_its_place(
    tmp_path: Path, text: str, code: str, said: str
) -> None:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    path = tmp_path / "system.yaml"
    path.write_text(f"system: probe\nabout: A test.\n{text}\n")
    with pytest.raises(SpecificationError) as raised:
        elaborate(read(path))
    found = raised.value.diagnostics
    assert {one.code for one in found} == {code}
    told = " ".join(f"{one.message} {one.expected} {one.found} {one.help}" for one in found)
    assert said in told


def test_systems_that_use_each_other_are_told_the_way(tmp_path: Path) -> None:
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / name).mkdir()
        text = f"system: {name}\nabout: It uses {other}.\nuses: {{it: {other}}}\n"
        (tmp_path / name / "system.yaml").write_text(text)
    with pytest.raises(SpecificationError) as raised:
        read(tmp_path / "one" / "system.yaml")
    (found,) = raised.value.diagnostics
    assert (found.code, found.found) == ("T147", "one -> two -> one")


def test_a_single_file_that_uses_itself_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "alone.yaml").write_text("system: it\nabout: It uses itself.\nuses: {it: alone}\n")
    with pytest.raises(SpecificationError) as raised:
        read(tmp_path / "alone.yaml")
    (found,) = raised.value.diagnostics
    assert (found.code, found.found) == ("T147", "alone -> alone")


def test_uses_of_uses_keep_their_names_apart_and_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    (tmp_path / "pair.yaml").write_text(
        "system: pair\nabout: Two.\nuses:\n  a: lamp\n  b:\n    system: lamp\n"
        "    with: {wire: a_wire, Press: a_Press, Person: a_Person}\n"
    )
    (tmp_path / "four.yaml").write_text(
        "system: four\nabout: Two pairs.\nuses: {a: pair, b: pair}\n"
    )
    machine = elaborate(read(tmp_path / "four.yaml"))
    names = {variable.name for variable in machine.variables}
    assert {"a_a_bulb.light", "b_b_bulb.light", "budget.b_a_breaks", "a_a_wire"} <= names
    assert "a_b_wire" not in names
    sections = system_sections(read(tmp_path / "four.yaml"))
    blocks = {block.name: block for section in sections for block in section.blocks}
    body = dict(blocks["a_b_toggle(by)"].cells)[""]
    assert body.startswith("new = a_b_Light.dark if a_b_is_bright() else a_b_Light.bright")
    assert ("on", "a_a_wire.a_a_Press(a_b_person)") in blocks["a_b_switches"].cells
    lines = "".join(f"  u{n}: four\n" for n in range(4))
    (tmp_path / "many.yaml").write_text(f"system: many\nabout: Too many.\nuses:\n{lines}")
    with pytest.raises(SpecificationError) as raised:
        read(tmp_path / "many.yaml")
    assert [one.code for one in raised.value.diagnostics] == ["T106"]


def test_what_a_used_system_names_lies_where_the_first_one_may_look(tmp_path: Path) -> None:
    """`inner/system.yaml` alone may look beside its folder; used by `first.yaml` it may not."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "system.yaml").write_text("system: outside\nabout: Elsewhere.\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / "system.yaml").write_text("system: home\nabout: It looks out.\nuses: {o: outside}\n")
    (home / "first.yaml").write_text(
        "system: first\nabout: It may not.\nuses: {h: ./system.yaml}\n"
    )
    assert read(home / "system.yaml").uses
    with pytest.raises(SpecificationError) as raised:
        read(home / "first.yaml")
    assert [one.code for one in raised.value.diagnostics] == ["T144"]


def test_a_binding_over_a_variable_runs_over_the_used_systems(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(
        "system: part\nabout: It has a set.\nvariables:\n"
        '  waiting: {type: set of 0..2, initial: "{0, 2}"}\n'
        "rows:\n  - row: serve\n    for: {who: waiting}\n    do: waiting.remove(who)\n"
        "deadlock: false\n"
    )
    result = run(tmp_path, "deadlock: false\nuses:\n  it: {system: part.yaml}\n")
    assert (result.exploration.distinct, result.exploration.generated) == (4, 5)


@pytest.mark.parametrize(
    ("what", "values"),
    [
        ("machines:\n  light: {table: light}\n", 3),
        ("components:\n  light:\n    machines: {state: {table: light}}\n", 3),
        ("variables:\n  light: {type: Pair, initial: '{1}'}\n", 2),
    ],
)
def test_a_binding_over_the_name_of_a_table_is_what_it_is_in_the_used_system(
    tmp_path: Path, what: str, values: int
) -> None:
    (tmp_path / "light.yaml").write_text(
        "table: light\nabout: x.\nsource: x.\nstates:\n  Off: {about: x., initial: true}\n"
        "  On: {about: x., final: true}\n"
    )
    (tmp_path / "part.yaml").write_text(
        f"system: part\nabout: x.\ntypes: {{Pair: set of 0..1}}\ntables: [light]\n{what}"
        + ("" if "variables" in what else "variables:\n")
        + f"  seen: {{type: optional {'light' if values == 3 else '0..1'}, initial: none}}\n"
        "rows:\n  - {row: looks, for: {x: light}, do: seen = x}\ndeadlock: false\n"
    )
    result = run(tmp_path, "deadlock: false\nuses:\n  it: {system: part.yaml}\n")
    assert result.exploration.distinct == values


def test_ignoring_a_message_is_as_fair_as_in_the_used_system(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(
        "system: part\nabout: It ignores what it gets.\nfairness: weak\nmessages:\n  Note: {}\n"
        "types:\n  Where: one of here, away\nvariables:\n  reader: {type: Where, initial: here}\n"
        'channels:\n  post: {carries: [Note], order: bag, capacity: "1", when_full: drop}\n'
        "rows:\n  - row: writes\n    when: reader == here\n    do: reader = away\n"
        "    send: Note()\n"
        "unhandled:\n  - {message: Note, in: {reader: away}, is: ignored, why: nobody reads}\n"
        "deadlock: false\nproperties:\n"
        "  is_read: {leads_to: {from: len(post) > 0, to: len(post) == 0}, why: tidy.}\n"
    )
    result = run(tmp_path, "deadlock: false\nuses:\n  it: {system: part.yaml, properties: all}\n")
    assert outcomes(result)["it_is_read"] == "holds"


CLAIM = """\
system: claim
about: A thing is held by one key, then by another.
constants:
  Key: {ids: 2%s}
variables:
  held: {type: Key, initial: %s1}
rows:
  - row: takes
    when: held == %s1
    do: held = %s2
  - row: gives
    for: {key: "{%s1, %s2}"}
    when: key == held
    do: pass
properties:
  stays: {always: held == %s1, why: It does not.}
"""


TWICE = "uses:\n  a: {system: claim.yaml, properties: all}\n  b: {system: claim.yaml}\n"
ONCE = "uses:\n  a: {system: claim.yaml, properties: all}\n"
VARIABLE = "  %s: {type: %s, initial: %s, observed: true}\n"
NUMBER = VARIABLE % ("%s", "0..1", "'0'")
OF_THE_TYPE = VARIABLE % ("a_k2", "a_Key", "k1")


@pytest.mark.parametrize(
    ("begin", "here"),
    [
        ("k", TWICE),
        ("key", TWICE),
        ("k", f"{ONCE}variables:\n{NUMBER % 'k2'}"),
        ("key", f"{ONCE}variables:\n{NUMBER % 'key2'}"),
        (
            "k",
            f"{ONCE}variables:\n{NUMBER % 'k2'}{OF_THE_TYPE}",
        ),
        ("k", f"{ONCE}types:\n  Hue: one of k1, k2\nvariables:\n{VARIABLE % ('hue', 'Hue', 'k1')}"),
        ("k", f"{ONCE}constants:\n  Key: {{ids: 2, prefix: node}}\n"),
        ("key", f"{ONCE}constants:\n  Key: {{ids: 2, prefix: node}}\n"),
    ],
)
def test_ids_of_a_used_system_are_its_own_whatever_is_called_so_here(
    tmp_path: Path, begin: str, here: str
) -> None:
    prefix = ", prefix: k" if begin == "k" else ""
    (tmp_path / "claim.yaml").write_text(CLAIM % (prefix, *[begin] * 6))
    used = run(tmp_path, here)
    assert outcomes(used)["a_stays"] == "violated"
    (broken,) = used.verdict.broken
    assert broken.length == 1


@pytest.mark.parametrize(
    "used_as", ["a: {system: middle, %s}", "b: {system: middle, with: {Node: Host}, %s}"]
)
def test_ids_that_a_used_system_has_of_another_are_called_as_here(
    tmp_path: Path, used_as: str
) -> None:
    (tmp_path / "claim.yaml").write_text(CLAIM % ("", *["key"] * 6))
    (tmp_path / "middle.yaml").write_text(
        "system: middle\nabout: In between.\nconstants:\n  Node: {ids: 2, prefix: n}\n"
        "uses:\n  it: {system: claim, with: {Key: Node}, properties: all}\n"
    )
    here = "constants:\n  Host: {ids: 2, prefix: h}\n"
    here += f"variables:\n{VARIABLE % ('it', 'Host', 'h1')}"
    result = run(tmp_path, f"{here}uses:\n  {used_as % 'properties: all'}\n")
    assert outcomes(result) == {f"{used_as[0]}_it_stays": "violated", "deadlock": "unknown"}


BELL = """\
system: %s
about: A bell that rings again and again.
fairness: weak
timers:
  bell: {about: It rings once it is armed%s}
rows:
  - {row: arms, when: not armed(bell), do: arm(bell)}
  - {row: rings, on: bell.expired(), do: pass}
"""


@pytest.mark.parametrize("later", ["z", "a"])
def test_a_timer_of_another_used_system_promises_the_same_in_whatever_order(
    tmp_path: Path, later: str
) -> None:
    (tmp_path / "quiet.yaml").write_text(BELL % ("quiet", ""))
    (tmp_path / "loud.yaml").write_text(BELL % ("loud", ", fair: strong"))
    quiet = f"  b: {{system: quiet, with: {{bell: {later}_bell}}}}\n"
    parts = [quiet, f"  {later}: loud\n"]
    path = tmp_path / "system.yaml"
    text = "system: probe\nabout: One bell for both.\nuses:\n"
    path.write_text(text + "".join(parts if later == "z" else reversed(parts)))
    promised = {action.name: action.fair for action in elaborate(read(path)).actions}
    assert promised[f"{later}_rings"] == promised["b_rings"] == "strong"


KEYS = """\
system: keys
about: Rows name no keys, properties and groups do.
constants:
  Client: {ids: 2, prefix: c}
types:
  Who: Client
%s
channels:
  asked: {carries: [Ask], per: Who, order: fifo, capacity: "1", when_full: drop, loses: "1"}
variables:
  turns: {type: 0..3, initial: "0"}
  taken: {type: optional Client, initial: none}
timers:
  bell: {about: It rings., per: Client}
messages: {Ask: {}, Look: {}, Seen: {}}
calls:
  looks: {per: Client, requests: [Look], responses: [Seen], capacity: "1"}
rows:
  - row: asks
    for: {c: Client}
    when: turns == 0
    do: |
      arm(bell[c])
      send(asked[c], Ask())
      call(looks[c], Look())
  - {row: looks_up, on: looks.Look(), do: "reply(call, Seen())"}
  - {row: gets, on: asked.Ask(), do: turns = 1}
  - {row: takes, on: asked.Ask(), for: {client: Client}, do: taken = client}
  - {row: rings, on: bell.expired(), do: turns = 2}
fair_groups:
  served: {rows: [gets, rings], fair: weak, per: [client], about: each}
properties:
  by_c1: {step: "not ran(gets, client=c1)", why: w.}
  seen: {step: "not ran(looks_up, client=c1)", why: w.}
  other: {step: "not ran(takes, other_client=c2, client=c1)", why: w.}
  lost: {step: "not ran(lose_asked, client=c2)", why: w.}
  rung: {step: "implies(ran(rings, client=c2), next(turns) == 2)", why: w.}
deadlock: false
"""
COMPONENT = """
components:
  client: {per: Client, variables: {alive: {type: bool, initial: "true"}}}
"""


@pytest.mark.parametrize(
    ("here", "inside"), [("plain", ""), ("of_another", COMPONENT), ("crowd", COMPONENT)]
)
def test_keys_that_nobody_names_are_called_as_in_their_own_system(
    tmp_path: Path, here: str, inside: str
) -> None:
    (tmp_path / "keys.yaml").write_text(KEYS % inside)
    (tmp_path / "middle.yaml").write_text(
        "system: middle\nabout: m.\nuses: {it: {system: keys, properties: all}}\ndeadlock: false\n"
    )
    (tmp_path / "crowd.yaml").write_text(
        crowded(read(tmp_path / "keys.yaml"), "{system: keys, properties: all}")
    )
    other = "constants:\n  Host: {ids: 2, prefix: h}\n"
    (tmp_path / "plain.yaml").write_text(
        f"system: plain\nabout: p.\n{other}deadlock: false\n"
        "uses: {it: {system: keys, with: {Client: Host}, properties: all}}\n"
    )
    (tmp_path / "of_another.yaml").write_text(
        f"system: of_another\nabout: p.\n{other}deadlock: false\n"
        "uses: {it: {system: middle, with: {it_Client: Host}, properties: all}}\n"
    )
    limits = Limits(depth=2, keep_going=True)
    found = [
        check(Request(str(tmp_path / f"{name}.yaml"), engine="reference", limits=limits), Silent())
        for name in ("keys", here)
    ]
    alone, used = [
        (
            (result.exploration.distinct, result.exploration.generated),
            [item.outcome for item in result.verdict.properties],
            [trace.length for trace in result.traces],
        )
        for result in found
    ]
    assert alone == used
    assert alone[1] == [*["violated"] * 4, "unknown"]


ALIKE = """\
system: alike
about: Two types have ids of the same names, and two enums a value.
constants:
  Client: {ids: 2, prefix: n}
  Server: {ids: 2, prefix: n}
types:
  Hue: one of off, red
  Light: one of off, on
messages: {Ask: {who: Client, of: Server}}
channels:
  asked: {carries: [Ask], order: fifo, capacity: "1"}
variables:
  hue: {type: Hue, initial: off}
  light: {type: Light, initial: off}
  first: {type: Client, initial: n1}
  second: {type: Server, initial: n1}
rows:
  - {row: asks, for: {c: Client}, when: len(asked) == 0, send: "Ask(c, n2)"}
  - row: gets
    on: Ask(n1, n2)
    do: |
      first = n2
      second = n2
      hue = red
properties:
  stays: {always: first == n1 or second == n1 or light == off and hue == off, why: w.}
"""


def test_values_of_several_types_are_those_of_their_own_system(tmp_path: Path) -> None:
    (tmp_path / "alike.yaml").write_text(ALIKE)
    (tmp_path / "middle.yaml").write_text(
        "system: middle\nabout: In between.\nconstants:\n  Node: {ids: 2, prefix: k}\n"
        "uses:\n  it: {system: alike, with: {Client: Node}, properties: all}\n"
    )
    here = (
        "constants:\n  Host: {ids: 2, prefix: h}\nvariables:\n"
        "  off: {type: bool, initial: 'true', observed: true}\nuses:\n"
        "  a: {system: middle, with: {Node: Host}, properties: all}\n"
        "  b: {system: alike, with: {Client: Host, Server: Host}, properties: all}\n"
    )
    used = run(tmp_path, here)
    assert outcomes(used)["a_it_stays"] == outcomes(used)["b_stays"] == "violated"
    assert [trace.length for trace in used.traces] == [2, 2]


GIVEN = """\
system: given
about: What the language names is called so in every system.
messages: {Ask: {}}
channels:
  q: {carries: [Ask], order: fifo, capacity: "2", loses: "1"}
timers:
  bell: {late_cancels: "1"}
variables:
  %s: {type: bool, initial: "true", observed: true}
rows:
  - {row: arms, when: not armed(bell), do: arm(bell)}
  - {row: stops, when: armed(bell), do: cancel(bell)}
  - {row: rings, on: bell.expired(%s), do: pass}
  - {row: asks, when: len(q) < 2, do: "send(q, Ask())"}
  - {row: gets, on: q.Ask, do: pass}
fair_groups:
  rung: {rows: [rings], fair: weak, per: [cancelled], about: each}
properties:
  never_late: {step: "not ran(rings, cancelled=true)", why: w.}
  first: {step: "not ran(lose_q, position=1)", why: w.}
deadlock: false
"""


@pytest.mark.parametrize(("own", "pattern"), [("unlike", "cancelled"), ("position", "")])
@pytest.mark.parametrize("here", ["cancelled", "position"])
def test_what_the_language_names_is_called_so_in_every_system(
    tmp_path: Path, own: str, pattern: str, here: str
) -> None:
    (tmp_path / "given.yaml").write_text(GIVEN % (own, pattern))
    (tmp_path / "system.yaml").write_text(
        "system: host\nabout: h.\nvariables:\n"
        f"  {here}: {{type: bool, initial: 'true', observed: true}}\n"
        "deadlock: false\nuses:\n  i: {system: given, properties: all}\n"
    )
    limits = Limits(depth=3, keep_going=True)
    request = Request(str(tmp_path / "system.yaml"), engine="reference", limits=limits)
    assert set(outcomes(check(request, Silent())).values()) == {"violated"}
