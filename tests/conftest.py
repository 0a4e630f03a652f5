"""What holds for every test: nothing is timed, so a busy machine fails no property."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
