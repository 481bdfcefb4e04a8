"""Interchangeable ids in native code: of states that differ by a renaming, one for all."""
