"""Implementations held against a specification: driven along its steps, or by what they recorded.

mapping -> bind -> instrument -> graph -> drive -> result -> told
"""
