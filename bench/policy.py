"""How long a decision of policy takes, beside its parsers and Cedar alone: `python bench/policy.py [--quick]`."""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    # A script's own folder comes first in the search path, and there `policy` is this file instead of the package.
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != HERE.resolve()]
    runpy.run_module("bench._policy_bench", run_name="__main__")
