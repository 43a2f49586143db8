"""Find what the modules of a package declare, so that adding one thing is adding one file."""

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

Declared = TypeVar("Declared")


class NothingDeclared(Exception):
    """Raised when a module of a discovered package declares nothing; the text names the module and the name."""


def discover(package: ModuleType, name: str, kind: type[Declared]) -> dict[str, Declared]:
    """Import every module of `package` and give, by module name, what each declares as `name`.

    A module whose name begins with an underscore is not asked. Raises: NothingDeclared.
    """
    found: dict[str, Declared] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        declared = getattr(module, name, None)
        if not isinstance(declared, kind):
            raise NothingDeclared(f"{module.__name__} must declare `{name}` as a {kind.__name__}, not {declared!r}")
        found[info.name] = declared
    return found
