"""Paths of the sandbox as text: normal form, and the patterns of a policy file."""

import posixpath
from dataclasses import dataclass

from policy.globs import is_glob, overlaps, segments, static_prefix
from policy.setting import SANDBOX


def resolve(path: str, cwd: str) -> str:
    """Absolute, without dots and doubled slashes. Symbolic links are resolved where the path is used."""
    joined = posixpath.normpath(posixpath.join(cwd, path))
    return "/" + joined.lstrip("/")


def is_within(path: str, folder: str) -> bool:
    """Whether path is the folder or lies below it; both normalised."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@dataclass(frozen=True)
class PathPattern:
    """A path of the policy file, which stands for itself and everything below it."""

    text: str
    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "PathPattern":
        """Raises: ValueError, with the remedy."""
        if not text.startswith(("/", "~", "./")) and text != ".":
            raise ValueError(f"{text!r} is not a path: begin it with / or ~/ or ./ (the workspace)")
        home = SANDBOX.home + text[1:] if text == "~" or text.startswith("~/") else text
        if home.startswith("~"):
            raise ValueError(f"{text!r} names another user's home: write the whole path")
        parts = list(segments(resolve(home, SANDBOX.workspace)))
        while parts and parts[-1] in ("*", "**"):
            parts.pop()
        return cls(text, tuple(parts))

    def covers(self, path: str) -> bool:
        """Whether everything that path (which may hold wildcards) stands for lies within."""
        fixed = static_prefix(path)
        if "**" in self.parts:
            return any(overlaps(self.parts, fixed[:length]) for length in range(len(fixed) + 1))
        return len(fixed) >= len(self.parts) and overlaps(self.parts, fixed[: len(self.parts)])

    def touches(self, path: str) -> bool:
        """Whether something that path stands for may lie within."""
        return overlaps((*self.parts, "**"), segments(path))


def covered(patterns: tuple[PathPattern, ...], path: str) -> bool:
    return any(pattern.covers(path) for pattern in patterns)


def may_name_parent(path: str) -> bool:
    """Whether a wildcard of the path might stand for `..`, so that its folder is not known."""
    return any(is_glob(part) and part.startswith(".") and set(part) <= set(".*?") for part in segments(path))
