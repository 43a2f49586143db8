"""Lets the parts of the agent import each other in a place where none of them is a file."""

from __future__ import annotations

import sys
from _frozen_importlib import ModuleSpec  # importlib.machinery is more to import than all of the agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


class Parts:
    """Finds modules among texts by their name; a package is an empty one."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        text = self.texts.get(name)
        return None if text is None else ModuleSpec(name, self, is_package=not text)  # type: ignore[arg-type]  # it loads

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        exec(compile(self.texts[name], name, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  they are ours


def join(texts: dict[str, str]) -> None:
    """From now on these can be imported."""
    sys.meta_path.insert(0, Parts(texts))
