"""Source to Document: reads specifications and state tables, every error with its place."""

from checker.table.document import Document
from checker.table.recalled import read, read_same
from checker.table.state_table import StateTable
from checker.table.tables import read_table

__all__ = ["Document", "StateTable", "read", "read_same", "read_table"]
