"""The Spark engine: the search of the local engine on any Spark cluster, level by level.

`explore` is the door; PySpark is imported behind it only.
"""
