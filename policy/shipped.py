"""The policy that comes with the program, for an installation that has none yet."""

from importlib import resources

NAME = "default.yaml"


def default_text() -> str:
    """The file's text with its comments, fit to be written out and edited by the person."""
    return resources.files("policy").joinpath(NAME).read_text(encoding="utf-8")
