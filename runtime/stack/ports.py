"""Is a port on loopback free, and if not, whose is it."""

import errno
import socket

import psutil


def is_free(port: int) -> bool:
    """Whether a server could listen on it now. Raises: PermissionError for a port below 1024 without the right."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
    return True


def holder_of(port: int) -> str:
    """`name (pid N)` of the process that listens there; empty if this user may not know."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return ""
    for connection in connections:
        if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
            return "" if connection.pid is None else _named(connection.pid)
    return ""


def _named(pid: int) -> str:
    try:
        return f"{psutil.Process(pid).name()} (pid {pid})"
    except psutil.Error:
        return f"pid {pid}"
