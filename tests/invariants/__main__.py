"""Lists every promise with the test that goes red once its switch is thrown: `python -m tests.invariants`."""

import sys

from tests.invariants.switches import SWITCHES

for switch in SWITCHES:
    sys.stdout.write(f"{switch.promise}: {switch.test}\n")
