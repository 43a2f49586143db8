"""A package is searched, each module is asked, and silence is an error."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from runtime.discover import NothingDeclared, discover


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    name = f"found_{tmp_path.name}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "two.py").write_text("THING = 'second'")
    (folder / "one.py").write_text("THING = 'first'")
    (folder / "_own.py").write_text("raise RuntimeError('not to be imported')")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(name)
    for loaded in [module for module in sys.modules if module.startswith(name)]:
        del sys.modules[loaded]


def test_every_public_module_gives_what_it_declares(package: ModuleType) -> None:
    assert list(discover(package, "THING", str).items()) == [("one", "first"), ("two", "second")]


@pytest.mark.parametrize("text", ["", "THING = 5", "thing = 'small'"])
def test_a_module_that_declares_nothing_fit_is_named(package: ModuleType, text: str) -> None:
    (Path(package.__path__[0]) / "three.py").write_text(text)

    with pytest.raises(NothingDeclared, match=r"\.three must declare `THING` as a str"):
        discover(package, "THING", str)


def test_an_error_in_a_module_passes_through(package: ModuleType) -> None:
    (Path(package.__path__[0]) / "broken.py").write_text("import no_such_library")

    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        discover(package, "THING", str)
