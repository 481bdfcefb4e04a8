"""Machines and their graphs in the formats of other tools."""
