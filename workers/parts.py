"""Builds everything that a worker is made of, and closes it again."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from temporalio.client import Client
from temporalio.runtime import Runtime

import activities.tools
import policy
from activities.acting import Acting, ActingParts
from activities.catalogue import Catalogue
from activities.examining import Examiner
from activities.judging import Judging
from activities.leasing import Leasing
from activities.parts import ToolParts
from activities.planning import Thinking
from activities.policy_source import PolicyFile
from activities.tool import Tool
from audit.ledger import Ledger
from audit.log import AuditLog
from memory.notes import Notes
from policy.file import Policy, parse
from policy.judge import judge
from runtime.blobs import FileBlobs
from runtime.discover import discover
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.redact import Redactor
from runtime.settings import Settings
from runtime.temporal import connect
from sandbox.choice import make_host
from sandbox.host import SandboxHost
from workers.egress_audit import EgressAudit
from workers.planners import planner_of
from workers.watching import Watching

DEFAULT_POLICY = Path(policy.__path__[0]) / "default.yaml"


@dataclass(frozen=True)
class Parts:
    """The activities of this worker, and what else its main loop needs."""

    client: Client
    host: SandboxHost
    planning: Thinking
    judging: Judging
    acting: Acting
    leasing: Leasing
    watching: Watching


@asynccontextmanager
async def open_parts(settings: Settings, redactor: Redactor, runtime: Runtime) -> AsyncIterator[Parts]:
    """Everything for these settings, open for the length of the block."""
