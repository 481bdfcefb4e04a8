"""Passes over the representation: what is known beforehand, and the same said more simply."""
