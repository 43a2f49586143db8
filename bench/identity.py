"""How fast the vault seals and opens, beside the bare cipher: `python bench/identity.py [--quick] [--json FILE]`."""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    # A script's own folder comes first in the search path, and there `identity` is this file instead of the package.
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != HERE.resolve()]
    runpy.run_module("bench._identity_bench", run_name="__main__")
