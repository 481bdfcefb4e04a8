"""The reference semantics: what every engine must agree with, in plain Python over values."""
