"""How long a verdict takes. A script's own folder comes first on the path, where this file would hide `policy`."""

import runpy
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])
runpy.run_path(str(Path(__file__).with_name("verdicts.py")), run_name="__main__")
