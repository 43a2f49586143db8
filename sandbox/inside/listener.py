"""First process of a sandbox without an engine: gives every connection on the inherited socket a shell of its own.

As the first process it cannot be killed from inside, and orphans become its children, which the kernel then buries.
It runs under whatever Python the machine has, so it keeps to old syntax and the standard library.
"""

import os
import resource
import signal
import socket
import sys


def main() -> None:
    descriptor, processes, memory, files, size, bootstrap = sys.argv[1:7]
    for limit, value in (
        (resource.RLIMIT_NPROC, int(processes)),
        (resource.RLIMIT_DATA, int(memory)),
        (resource.RLIMIT_NOFILE, int(files)),
        (resource.RLIMIT_FSIZE, int(size)),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.write(2, b"ready\n")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with socket.socket(fileno=int(descriptor)) as listener:
        while True:
            connection, _ = listener.accept()
            start(connection, bootstrap)


def start(connection: socket.socket, bootstrap: str) -> None:
    try:
        child = os.fork()
    except OSError:
        connection.close()
        return
    if child:
        connection.close()
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    os.execv("/bin/sh", ["sh", "-c", bootstrap])  # noqa: S606  it is a shell


if __name__ == "__main__":
    main()
