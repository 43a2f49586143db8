"""First process of a sandbox without an engine: takes on its limits, then is the agent.

As the first process it cannot be killed from inside, and orphans become its children, which it buries.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys

from sandbox.inside.agent import behind_a_door


def main() -> None:
    descriptor, processes, memory, files = sys.argv[1:5]
    for limit, value in (
        (resource.RLIMIT_NPROC, int(processes)),
        (resource.RLIMIT_DATA, int(memory)),
        (resource.RLIMIT_NOFILE, int(files)),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    for inherited in map(int, os.listdir("/proc/self/fd")):
        if inherited > 2 and inherited != int(descriptor):
            with contextlib.suppress(OSError):  # the one that listed them is closed already
                os.close(inherited)
    behind_a_door(int(descriptor))
