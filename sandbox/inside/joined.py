"""Lets the parts of the agent import each other in a place where none of them is a file."""

import sys
from _frozen_importlib import ModuleSpec  # importlib.machinery is more to import than all of the agent


class Parts:
    """Finds modules among texts by their name; a package is an empty one."""

    def __init__(self, texts):
        self.texts = texts

    def find_spec(self, name, path=None, target=None):
        text = self.texts.get(name)
        return None if text is None else ModuleSpec(name, self, is_package=not text)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        exec(compile(self.texts[name], name, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  they are ours


def join(texts):
    sys.meta_path.insert(0, Parts(texts))
