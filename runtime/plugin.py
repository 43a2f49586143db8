"""The one wiring of converter, codec, failures, tracing and sandbox that client, worker and replayer share."""

from dataclasses import replace

from temporalio.contrib.opentelemetry import OpenTelemetryInterceptor
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes
from temporalio.plugin import SimplePlugin
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from runtime.codec import EncryptionCodec
from runtime.keys import Keyring
from runtime.telemetry import ensure_tracer_provider

PASSED_THROUGH = ("contracts", "opentelemetry", "pydantic", "pydantic_core", "annotated_types")
"""Loaded once and shared by all workflows: they hold no state, and loading them anew costs milliseconds a workflow."""


def agent_os_plugin(keyring: Keyring) -> SimplePlugin:
    """Give it to the client; workers made of that client have it, and a Replayer takes it as it is."""
    ensure_tracer_provider()
    return SimplePlugin(
        "agent-sandbox-os",
        data_converter=sealed_converter(keyring),
        interceptors=[OpenTelemetryInterceptor(add_temporal_spans=True)],
        workflow_runner=_passing_through,
    )


def sealed_converter(keyring: Keyring) -> DataConverter:
    """Pydantic JSON inside AES-256-GCM; exception texts and stack traces are sealed too."""
    return replace(
        pydantic_data_converter,
        payload_codec=EncryptionCodec(keyring),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


def _passing_through(runner: WorkflowRunner | None) -> WorkflowRunner:
    if runner is None:
        runner = SandboxedWorkflowRunner()
    if not isinstance(runner, SandboxedWorkflowRunner):
        return runner
    return replace(runner, restrictions=runner.restrictions.with_passthrough_modules(*PASSED_THROUGH))
