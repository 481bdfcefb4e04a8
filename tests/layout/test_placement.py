"""Goal: leaves never overlap, stay inside their words, and need as few words as they could."""

from math import log2
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.layout.placement import FIRST_WORD_BITS, Spot, place

SIZES = st.lists(
    st.one_of(st.integers(1, 9), st.integers(1, 5000), st.sampled_from([1 << 31, 1 << 62])),
    max_size=60,
)


def pack(sizes: list[int], spots: list[Spot], digits: list[int], words: int) -> list[int]:
    result = [0] * words
    for size, spot, digit in zip(sizes, spots, digits, strict=True):
        assert digit < max(size, 1)
        if spot.width:
            result[spot.word] += digit * spot.divisor << spot.shift
    return result


def unpack(size: int, spot: Spot, words: list[int]) -> int:
    if not spot.width:
        return 0
    group = (words[spot.word] >> spot.shift) % (1 << spot.width)
    digit = group // spot.divisor
    return digit if spot.last else digit % size


@given(sizes=SIZES, data=st.data())
def test_what_is_packed_comes_back(sizes: list[int], data: st.DataObject) -> None:
    words, spots = place(sizes)
    digits = [data.draw(st.integers(0, size - 1)) for size in sizes]
    packed = pack(sizes, spots, digits, words)
    assert [unpack(*pair, packed) for pair in zip(sizes, spots, strict=True)] == digits


@given(sizes=SIZES)
def test_the_fullest_state_fits(sizes: list[int]) -> None:
    words, spots = place(sizes)
    fullest = pack(sizes, spots, [size - 1 for size in sizes], words)
    assert fullest[0] < 1 << FIRST_WORD_BITS
    assert all(word < 1 << 64 for word in fullest)


@given(sizes=SIZES)
def test_groups_share_a_field_and_fields_do_not_overlap(sizes: list[int]) -> None:
    _, spots = place(sizes)
    fields = {(spot.word, spot.shift, spot.width) for spot in spots if spot.width}
    bits = [(word, bit) for word, shift, width in fields for bit in range(shift, shift + width)]
    assert len(bits) == len(set(bits))


@given(sizes=st.lists(st.integers(1, 40), max_size=120))
def test_few_words(sizes: list[int]) -> None:
    """First fit by product leaves at most the largest leaf unused in each word but the last."""
    words, _ = place(sizes)
    information = sum(log2(size) for size in sizes)
    assert words <= information / (63 - log2(40)) + 1


@pytest.mark.parametrize(
    ("sizes", "words", "groups"),
    [
        ([], 1, 0),
        ([1, 1], 1, 0),
        ([2] * 63, 1, 63),
        ([2] * 64, 2, 64),
        ([2] * 127, 2, 127),
        ([5] * 21, 1, 21),  # 63 bits one by one
        ([5] * 27, 1, 1),  # 62.7 bits together
        ([3] * 39, 1, 1),
        ([3] * 31 + [2] * 2, 1, 31),  # one group of three saves the one bit that is missing
        ([1 << 62, 2], 1, 2),
        ([1 << 62, 3], 2, 2),
    ],
)
def test_groups_only_where_bits_are_missing(sizes: list[int], words: int, groups: int) -> None:
    count, spots = place(sizes)
    assert count == words
    fields = {(spot.word, spot.shift) for spot in spots if spot.width}
    if groups == 1:
        assert len(fields) < len(sizes) / 2
    else:
        assert len(fields) == groups


@pytest.mark.parametrize("sizes", [[3, 7, 2, 40] * 2500, [66] * 4000])
def test_many_leaves_are_placed_in_time(sizes: list[int]) -> None:
    """Also where there are bits enough, but not in one word."""
    began = process_time()
    words, spots = place(sizes)
    assert len(spots) == len(sizes)
    assert words <= sum(map(log2, sizes)) / 57 + 1
    assert process_time() - began < 3
