"""Goal: values of a log are the model's exactly where their texts in one order are."""

import json
import random

import pytest

from checker.conformance.equal import equal
from checker.machine.types import (
    Bag,
    Bool,
    Enum,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Union,
)
from checker.semantics.plain import as_json, normal, plain, plain_value, same
from checker.semantics.values import values

COLOUR = Enum("Colour", ("red", "blue"))
PAIR = Record("Pair", (("flag", Bool()), ("number", Range(0, 1))))
OTHER = Record("Other", (("of", Option(COLOUR)),))
TAGGED = Record("Tagged", (("kind", Range(0, 1)),))
KINDS: tuple[Type, ...] = (
    Bool(),
    Range(-1, 1),
    Option(Range(0, 1)),
    PAIR,
    Union("Message", (PAIR, OTHER)),
    Union("Tag", (TAGGED, OTHER)),
    Set(COLOUR),
    Set(PAIR),
    Map(COLOUR, Range(0, 1), total=False),
    Map(Range(0, 1), Set(COLOUR), total=True),
    Map(PAIR, Bool(), total=False),
    Sequence(Range(0, 1), 2),
    Bag(COLOUR, 2),
    Set(Union("Message", (PAIR, OTHER))),
)


def spoilt(data: object, chance: random.Random) -> object:
    """Return data in which something may be otherwise, as a log has it."""
    match data:
        case list() if data:
            one = chance.randrange(len(data))
            ways = [
                chance.sample(data, len(data)),
                [*data, data[one]],
                data[1:],
                [*data[:one], spoilt(data[one], chance), *data[one + 1 :]],
            ]
            return chance.choice(ways)
        case dict() if data:
            name = chance.choice(list(data))
            changed = {**data, name: spoilt(data[name], chance)}
            less = {key: item for key, item in data.items() if key != name}
            backwards = dict(reversed(data.items()))
            return chance.choice([changed, less, {**data, "more": 1}, backwards])
    others = [data, 0, 1, -1, True, False, 1.0, None, "red", "blue", "1", [], {}, [data], "Other"]
    return chance.choice(others)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_what_is_equal_has_the_same_text(kind: Type) -> None:
    chance = random.Random(str(kind))  # noqa: S311 - no secret
    same = equal(kind)
    all_values = [as_json(kind, value, {}) for value in values(kind)]
    found = {True: 0, False: 0}
    for _ in range(3_000):
        expected = chance.choice(all_values)
        value = chance.choice(all_values)
        if chance.random() < 0.8:
            value = expected
            for _ in range(chance.randint(0, 2)):
                value = spoilt(value, chance)
        value = json.loads(json.dumps(value))
        told = normal(kind, value) == normal(kind, expected)
        assert same(expected, value) == told, (kind, expected, value)
        found[told] += 1
    assert min(found.values()) > 100


def test_a_field_called_kind_hides_no_message() -> None:
    kind = Union("Tag", (TAGGED, OTHER))
    for value in values(kind):
        data = plain(kind, value)
        assert isinstance(data, dict)
        assert data["kind"] == value.name
        assert same(kind, data, data)
        assert plain_value(value) == data
        assert as_json(kind, value, {}) == data
