"""Goal: what is large compiles, and still agrees: words, sets, maps, messages, picks, nesting."""

from dataclasses import replace
from pathlib import Path

import pytest
from agreement import require_agreement
from machines import (
    TRUE,
    action,
    assign,
    at,
    binding,
    both,
    cast,
    contains,
    equal,
    everything,
    length,
    lit,
    local,
    loop,
    machine,
    negated,
    number,
    pick,
    place,
    plus,
    prop,
    read,
    receive,
    record,
    send,
    variable,
    when,
)

from checker.errors import SpecificationError
from checker.kernel import build, functions
from checker.kernel.calls import Calls
from checker.kernel.text import module_text
from checker.layout import pack
from checker.llvm.choices import PICKS_FEW
from checker.llvm.code import FrameTooLargeError
from checker.machine import terms as t
from checker.machine.machine import Machine, Variable
from checker.machine.terms import Term
from checker.machine.types import (
    Bag,
    Bool,
    Id,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Union,
)
from checker.semantics.values import MapValue, RecordValue
from checker.source import NOWHERE

BIG = Id("Big", tuple(f"x{index}" for index in range(100)), symmetric=False)
MANY = Set(BIG)


def some(*indices: int) -> t.Literal:
    return lit(frozenset(BIG.members[index] for index in indices), MANY)


def test_sets_of_a_hundred() -> None:
    one, two = read("one", MANY), read("two", MANY)
    sets = machine(
        "sets",
        [variable("one", MANY, frozenset({"x3", "x64"})), variable("two", MANY, frozenset())],
        [
            action(
                "combine",
                assign(
                    place("two", MANY), t.SetOperation("^", one, some(0, 31, 32, 99), MANY, NOWHERE)
                ),
                assign(place("one", MANY), t.SetOperation("-", two, one, MANY, NOWHERE)),
                guard=t.Subset(two, some(0, 3, 31, 32, 64, 99), False, NOWHERE),
            ),
            action(
                "drop",
                receive(place("one", MANY), local("x", BIG), "silent"),
                bindings=[binding("x", one)],
            ),
            action(
                "pick",
                pick("x", everything(BIG), contains(local("x", BIG), some(1, 50, 98))),
                send(place("two", MANY), local("x", BIG)),
                guard=equal(length(two, 100), number(0)),
            ),
            action(
                "least",
                t.SetLocal(
                    "x",
                    t.Fold(
                        "min", (t.Generator("y", one, None),), local("y", BIG), None, BIG, NOWHERE
                    ),
                    NOWHERE,
                ),
                assign(place("two", MANY), t.SetOf((local("x", BIG),), MANY, NOWHERE)),
            ),
        ],
        properties=[
            prop("few", "always", t.Compare("<", length(one, 100), number(4), NOWHERE)),
            prop("all", "sometimes", equal(one, everything(BIG))),
        ],
    )
    assert require_agreement(sets, states=60) > 10


def test_a_state_of_many_words() -> None:
    kind = Map(BIG, Range(0, 40), total=True)
    x = local("x", BIG)
    value = at(read("numbers", kind), x)
    wide = machine(
        "wide",
        [variable("numbers", kind, MapValue((member, 7) for member in BIG.members))],
        [
            action(
                "up",
                assign(place("numbers", Range(0, 40), x), cast(plus(value, 9), Range(0, 40))),
                bindings=[binding("x", some(0, 50, 99))],
            ),
            action(
                "all_down",
                loop(
                    "x",
                    everything(BIG),
                    assign(place("numbers", Range(0, 40), x), cast(plus(value, -1), Range(0, 40))),
                ),
            ),
        ],
        bounds=[
            t.Compare(
                "<",
                t.At(read("numbers", kind), lit("x99", BIG), Range(0, 40), NOWHERE),
                number(30),
                NOWHERE,
            )
        ],
    )
    assert pack(wide).words > 8
    assert require_agreement(wide, states=40) == 40


NOTE = Record("Note", (("who", BIG), ("text", Sequence(BIG, 12))))
STOP = Record("Stop", (("count", Range(-5, 5)),))
POST = Union("Post", (NOTE, STOP))


def note(who: t.Term, *text: int) -> t.Term:
    words = lit(tuple(BIG.members[index] for index in text), NOTE.fields[1][1])
    return record("Note", POST, who=who, text=words)


@pytest.mark.parametrize("channel", [Bag(POST, 3), Sequence(POST, 3), Bag(Option(POST), 2)])
def test_messages_too_wide_for_a_code(channel: Bag | Sequence) -> None:
    box = read("box", channel)
    m = local("m", channel.item)
    stop = record("Stop", POST, count=number(-3))
    items = [cast(item, channel.item) for item in (note(lit("x5", BIG), 9, 2), stop)]
    is_note = t.IsVariant(m, "Note", NOWHERE)
    post = cast(m, POST)
    made = machine(
        "posts",
        [variable("box", channel, ()), variable("last", Option(POST), None)],
        [
            action("first", send(place("box", channel), items[0])),
            action("second", send(place("box", channel), items[1], "drop")),
            action(
                "answer",
                receive(place("box", channel), m),
                assign(place("last", Option(POST)), cast(post, Option(POST))),
                assign(
                    place("last", Sequence(BIG, 12), "text"),
                    t.Cast(
                        t.Concatenate(
                            t.Field(post, "text", NOTE.fields[1][1], NOWHERE),
                            t.SequenceOf((lit("x77", BIG),), Sequence(BIG, 1), NOWHERE),
                            Sequence(BIG, 13),
                            NOWHERE,
                        ),
                        NOTE.fields[1][1],
                        NOWHERE,
                    ),
                ),
                send(
                    place("box", channel),
                    cast(t.With(post, "who", lit("x4", BIG), POST, NOWHERE), channel.item),
                    "error",
                ),
                bindings=[binding("m", box, is_note)],
            ),
            action(
                "take",
                receive(place("box", channel), m),
                when(
                    negated(t.IsNone(read("last", Option(POST)), NOWHERE)),
                    assign(place("last", Option(POST)), lit(None, Option(POST))),
                ),
                bindings=[binding("m", box)],
            ),
        ],
        properties=[prop("empty", "sometimes", equal(length(box, 3), number(0)))],
    )
    assert require_agreement(made, states=80) > 15


def test_a_map_of_records_with_many_fields() -> None:
    kind = Record("Wide", tuple((f"f{index}", Range(0, 1000)) for index in range(9)))
    entries = Map(Bool(), kind, total=False)
    fresh = record("Wide", kind, **{name: number(0) for name, _ in kind.fields})
    f4 = t.Field(at(read("m", entries), TRUE), "f4", Range(0, 1000), NOWHERE)
    made = machine(
        "records",
        [
            variable("m", entries, MapValue(())),
            variable("one", kind, RecordValue("Wide", tuple((name, 5) for name, _ in kind.fields))),
        ],
        [
            action(
                "insert",
                assign(place("m", kind, local("b", Bool())), fresh),
                bindings=[binding("b", everything(Bool()))],
            ),
            action(
                "change",
                assign(place("m", Range(0, 1000), TRUE, "f4"), cast(plus(f4, 499), Range(0, 1000))),
            ),
            action(
                "move",
                assign(place("one", kind), at(read("m", entries), TRUE)),
                t.Delete(place("m", kind, TRUE), NOWHERE),
            ),
            action(
                "back",
                assign(place("m", kind, lit(False, Bool())), read("one", kind)),
                guard=negated(equal(read("one", kind), fresh)),
            ),
        ],
    )
    assert require_agreement(made, states=60) > 10


def test_fresh_ids_of_a_large_type() -> None:
    x = local("x", BIG)
    made = machine(
        "fresh",
        [variable("used", MANY, frozenset(BIG.members[:97])), variable("last", Option(BIG), None)],
        [
            action(
                "two",
                t.Fresh("y", BIG, NOWHERE),
                t.Fresh("x", BIG, NOWHERE),
                send(place("used", MANY), x),
            ),
            action(
                "one",
                t.Fresh("x", BIG, NOWHERE),
                assign(place("last", Option(BIG)), cast(x, Option(BIG))),
            ),
        ],
    )
    assert require_agreement(made) > 2


def picks(times: int) -> Machine:
    numbers = Range(0, 1)
    body = [pick("x", lit(frozenset({1}), Set(numbers)))] * times
    body.append(assign(place("n", numbers), local("x", numbers)))
    return machine("picks", [variable("n", numbers, 0)], [action("pick", *body)])


@pytest.mark.parametrize("times", [PICKS_FEW, PICKS_FEW + 1, 3 * PICKS_FEW])
def test_there_is_room_for_all_picks_of_an_execution(times: int) -> None:
    assert require_agreement(picks(times)) == 2


def test_terms_nested_thousands_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    n = read("n", Range(0, 1))
    term: t.Term = equal(n, number(1))
    for index in range(1500):
        term = (
            negated(term) if index % 2 else t.Let(f"p{index}", n, both(TRUE, term), Bool(), NOWHERE)
        )
    made = machine(
        "deep",
        [variable("n", Range(0, 1), 0)],
        [
            action(
                "up", assign(place("n", Range(0, 1)), number(1)), guard=negated(equal(n, number(1)))
            )
        ],
        properties=[prop("deep", "always", term)],
    )
    kernel = build(made, pack(made))
    calls = Calls(kernel)
    words, _ = calls.initial()
    both_states = [words, calls.expand(words).words]
    flags = [calls.check(one).tolist() for one in both_states]
    assert sorted(flags) == [[0], [1]]


def test_more_properties_than_bits() -> None:
    made = picks(1)
    many = tuple(prop(f"p{index}", "always", TRUE) for index in range(63))
    made = replace(made, properties=many)
    with pytest.raises(SpecificationError) as caught:
        build(made, pack(made))
    assert caught.value.diagnostics[0].code == "R611"


FEW = Record("Few", (("one", Bool()),))


def wide(bag: Bag) -> tuple[list[Variable], Term]:
    """Two variables, and a term that makes a set over a union with all values of `bag`."""
    some, either = Set(FEW), Union("Either", (FEW, Record("Many", (("some", bag),))))
    held = variable("held", some, frozenset())
    kept = variable("kept", either, RecordValue("Few", (("one", True),)))
    return [held, kept], negated(
        contains(read("kept", either), cast(read("held", some), Set(either)))
    )


def test_a_set_with_a_bit_for_each_of_too_many_values() -> None:
    """The frame of a function that makes one would be larger than a thread's stack."""
    variables, term = wide(Bag(Range(0, 59), 7))
    asked = prop("asked", "always", term)
    made = machine("wide", variables, [action("stay")], properties=[asked])
    with pytest.raises(SpecificationError) as caught:
        build(made, pack(made), use_cache=False)
    assert caught.value.diagnostics[0].code == "R611"


def test_the_frames_of_functions_that_call_each_other_count_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search crashed: a row's set and that of a terminal condition are there at once."""
    monkeypatch.setattr(functions, "PIECE_LINES", 1)
    variables, term = wide(Bag(Range(0, 64), 4))
    made = machine("wide", variables, [action(name, guard=term) for name in ("stay", "wait")])
    assert "@piece1(" in module_text(made, pack(made))
    made = replace(made, terminal=(term,))
    with pytest.raises(FrameTooLargeError):
        module_text(made, pack(made))
