"""What people read is there in both languages, with the same values in it, and is really said."""

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from string import Formatter

import pytest

from contracts.texts.sentence import Sentence
from tests.project.files import ROOT, text_of, tracked

MODULES = sorted(path.stem for path in (ROOT / "contracts" / "texts").glob("*.py") if path.stem != "__init__")


def constants(module: str) -> dict[str, object]:
    """The upper-case names of a module of texts."""
    found = vars(importlib.import_module(f"contracts.texts.{module}"))
    return {name: value for name, value in found.items() if name.isupper()}


def sentences(value: object) -> Iterator[Sentence]:
    if isinstance(value, Sentence):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from sentences(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from sentences(each)


def values_in(template: str) -> set[str]:
    """Names and formats of what is put into a template."""
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("module", MODULES)
def test_both_languages_take_the_same_values(module: str) -> None:
    for name, value in constants(module).items():
        for sentence in sentences(value):
            assert values_in(sentence.en) == values_in(sentence.zh), name


@pytest.mark.parametrize("module", MODULES)
def test_a_sentence_has_one_meaning(module: str) -> None:
    tree = ast.parse((ROOT / "contracts" / "texts" / f"{module}.py").read_text())
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    counted = Counter(target.id for target in targets if isinstance(target, ast.Name))

    assert [name for name, count in counted.items() if count > 1] == []


def test_every_sentence_is_said_somewhere() -> None:
    source = [text_of(path) for path in tracked(".py") if "tests" not in path.relative_to(ROOT).parts]
    said = Counter(name for text in source for name in re.findall(r"\b[A-Z][A-Z0-9_]+\b", text))
    names = {name for module in MODULES for name, value in constants(module).items() if any(sentences(value))}

    assert [name for name in sorted(names) if said[name] < 2] == []
