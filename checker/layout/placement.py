"""Where each leaf goes: bit fields where they fit as few words as anything could, else groups.

A *group* is several leaves in one bit field, as the digits of a mixed-radix number. Three leaves
of five values are 125 < 2**7 together, but 9 bits one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from checker.frozen import frozen

WORD_BITS = 64
FIRST_WORD_BITS = 63
"""Bit 63 of word 0 stays clear: searches use it as a mark."""

GROUP_LIMIT = 1 << 63
OPEN_BINS = 64
"""How many unfinished words are tried for a leaf before a new one is begun."""

PATIENCE = 16
"""How often bits are looked for one by one, where there are enough but not in one word."""


@frozen()
class Spot:
    """The place of a leaf: digit `divisor` of the `width` bits from `shift` of a word.

    `last`: the most significant digit of its group, which needs no remainder.
    """

    word: int
    shift: int
    width: int
    divisor: int
    last: bool


Group = tuple[int, ...]
"""Indices of leaves, least significant digit first."""


def place(cardinalities: Sequence[int]) -> tuple[int, list[Spot]]:
    """Place leaves with these numbers of values; return the number of words and a spot for each."""
    fields: list[Group] = [(index,) for index, size in enumerate(cardinalities) if size > 1]
    tightest = _bins_by_product(cardinalities)
    bins = _bins_by_width(fields, cardinalities)
    groups = fields
    attempt = 0
    while len(bins) > len(tightest):
        merged = _merge(groups, cardinalities, len(tightest), 1 << max(0, attempt - PATIENCE))
        if merged == groups:
            bins = [[group] for group in tightest]
            break
        groups, attempt = merged, attempt + 1
        bins = _bins_by_width(groups, cardinalities)
    return max(len(bins), 1), _spots(bins, cardinalities)


def _product(group: Group, cardinalities: Sequence[int]) -> int:
    product = 1
    for index in group:
        product *= cardinalities[index]
    return product


def _width(group: Group, cardinalities: Sequence[int]) -> int:
    return (_product(group, cardinalities) - 1).bit_length()


def _bins_by_product(cardinalities: Sequence[int]) -> list[Group]:
    """Pack leaves into as few mixed-radix words as first fit decreasing finds."""
    order = sorted(range(len(cardinalities)), key=lambda index: -cardinalities[index])
    bins: list[list[int]] = []
    products: list[int] = []
    for index in order:
        size = cardinalities[index]
        if size <= 1:
            continue
        for bin_index in range(max(0, len(bins) - OPEN_BINS), len(bins)):
            if products[bin_index] * size <= GROUP_LIMIT:
                bins[bin_index].append(index)
                products[bin_index] *= size
                break
        else:
            bins.append([index])
            products.append(size)
    return [tuple(sorted(group)) for group in bins]


def _bins_by_width(groups: list[Group], cardinalities: Sequence[int]) -> list[list[Group]]:
    """Pack groups into words: in the order given if that is as good as widest first."""
    widths = {group: _width(group, cardinalities) for group in groups}
    in_order = _first_fit(groups, widths)
    widest_first = _first_fit(sorted(groups, key=lambda group: -widths[group]), widths)
    return in_order if len(in_order) <= len(widest_first) else widest_first


def _first_fit(groups: list[Group], widths: dict[Group, int]) -> list[list[Group]]:
    bins: list[list[Group]] = []
    free: list[int] = []
    for group in groups:
        width = widths[group]
        for index in range(max(0, len(bins) - OPEN_BINS), len(bins)):
            if width <= free[index]:
                bins[index].append(group)
                free[index] -= width
                break
        else:
            free.append((WORD_BITS if bins else FIRST_WORD_BITS) - width)
            bins.append([group])
    return bins


def _merge(
    groups: list[Group], cardinalities: Sequence[int], words: int, least: int
) -> list[Group]:
    """Merge the most wasteful groups until about as many bits are saved as are missing, or `least`.

    A group wastes width - log2(values) bits; merging some that waste a bit together saves one.
    """
    widths = {group: _width(group, cardinalities) for group in groups}
    products = {group: _product(group, cardinalities) for group in groups}
    waste = {group: widths[group] - log2(products[group]) for group in groups}
    missing = max(least, sum(widths.values()) - (WORD_BITS * words - 1))
    result = sorted(groups, key=lambda group: (-waste[group], products[group], group))
    merged: list[Group] = []
    while missing > 0 and result:
        chosen, product, wasted = [result[0]], products[result[0]], waste[result[0]]
        for group in result[1:]:
            if wasted >= 1:
                break
            if product * products[group] <= GROUP_LIMIT:
                chosen.append(group)
                product *= products[group]
                wasted += waste[group]
        saved = sum(widths[group] for group in chosen) - (product - 1).bit_length()
        if saved <= 0:
            break
        missing -= saved
        taken = set(chosen)
        result = [group for group in result if group not in taken]
        merged.append(tuple(sorted(index for group in chosen for index in group)))
    return sorted(merged + result) if merged else groups


def _spots(bins: list[list[Group]], cardinalities: Sequence[int]) -> list[Spot]:
    spots = [Spot(0, 0, 0, 1, last=True)] * len(cardinalities)
    for word, groups in enumerate(bins):
        shift = 0
        for group in groups:
            width = _width(group, cardinalities)
            divisor = 1
            for index in group:
                last = index == group[-1]
                spots[index] = Spot(word, shift, width, divisor, last)
                divisor *= cardinalities[index]
            shift += width
    return spots
