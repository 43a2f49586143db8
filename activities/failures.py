"""Tell a tool that went wrong from a platform that did: the first is a result, the second is tried again."""

import errno

from temporalio.exceptions import ApplicationError

from contracts.blobs import BlobDamaged, BlobMissing
from contracts.errors import HALTED, MACHINE_FULL, SANDBOX_LOST, SANDBOX_REFUSED
from contracts.kill import Halted
from contracts.sandbox import SandboxLost, SandboxUnavailable

_MACHINE_IS_FULL = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EROFS}
)


def is_platform_failure(error: Exception) -> bool:
    """True if trying again later may help, and nothing that the planner could change would."""
    if isinstance(error, OSError):
        return error.errno in _MACHINE_IS_FULL
    return isinstance(error, ApplicationError | BlobMissing | BlobDamaged | SandboxUnavailable | MemoryError)


def full(error: OSError, *, give_up: bool) -> ApplicationError:
    """What tells the workflow that the machine has no room; it goes on trying unless told to `give_up`."""
    return ApplicationError(error.strerror or str(error), type=MACHINE_FULL, non_retryable=give_up)


def lost(error: SandboxLost) -> ApplicationError:
    """What tells the workflow to lease another sandbox."""
    return ApplicationError(str(error) or "the sandbox is gone", type=SANDBOX_LOST, non_retryable=True)


def refused(error: SandboxLost) -> ApplicationError:
    """The same, where it is certain that nothing of the call has begun."""
    return ApplicationError(str(error) or "the sandbox is gone", type=SANDBOX_REFUSED, non_retryable=True)


def halted(error: Halted, *, begun: bool = False) -> ApplicationError:
    """What tells the workflow to wait for the lift; with `begun` the call may have had a part of its effect."""
    return ApplicationError(str(error), begun, type=HALTED, non_retryable=True)
