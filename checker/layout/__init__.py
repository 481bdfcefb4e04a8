"""Takes a Machine, makes its Layout: where each part of a state is kept in a few 64-bit words."""

from checker.layout.codec import decode, decode_all, encode, encode_all, unpack
from checker.layout.layout import Layout, Leaf, pack
from checker.layout.text import describe

__all__ = [
    "Layout",
    "Leaf",
    "decode",
    "decode_all",
    "describe",
    "encode",
    "encode_all",
    "pack",
    "unpack",
]
