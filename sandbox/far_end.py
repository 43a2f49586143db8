"""The texts that run inside a sandbox, as the host sends them."""

from functools import cache
from importlib.resources import files


@cache
def far_end(name: str) -> str:
    """The text of `inside/<name>`."""
    return files("sandbox.inside").joinpath(name).read_text(encoding="utf-8")
