"""Settings that every test shares: random examples are the same in every run."""

from hypothesis import settings

settings.register_profile("checker", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("checker")
