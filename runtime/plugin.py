"""The one wiring of converter, codec, failures, tracing and sandbox that client, worker and replayer share."""

from dataclasses import replace

from temporalio.contrib.opentelemetry import OpenTelemetryInterceptor
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes
from temporalio.plugin import SimplePlugin
from temporalio.worker import UnsandboxedWorkflowRunner, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from runtime.codec import EncryptionCodec
from runtime.keys import Keyring
from runtime.telemetry import ensure_tracer_provider

PASSED_THROUGH = ("contracts", "opentelemetry", "pydantic", "pydantic_core", "annotated_types")
"""Loaded once and shared by all workflows: they hold no state, and loading them anew costs milliseconds a workflow."""


def agent_os_plugin(keyring: Keyring, *, spans: bool = False, sandboxed: bool = False) -> SimplePlugin:
    """Give it to the client; workers made of that client have it, and a Replayer takes it as it is.

    `spans` adds OpenTelemetry's interceptor with a span for every workflow and activity. It costs a header in each
    event, so it is for installations that send traces somewhere. `sandboxed` runs workflow code in the SDK's sandbox,
    which refuses what is not deterministic and costs a third of a step: the tests use it, and import rules hold the
    rest.
    """
    if spans:
        ensure_tracer_provider()
    return SimplePlugin(
        "agent-sandbox-os",
        data_converter=sealed_converter(keyring),
        interceptors=[OpenTelemetryInterceptor(add_temporal_spans=True)] if spans else [],
        workflow_runner=_sandbox if sandboxed else UnsandboxedWorkflowRunner(),
    )


def sealed_converter(keyring: Keyring) -> DataConverter:
    """Pydantic JSON inside AES-256-GCM; exception texts and stack traces are sealed too."""
    return replace(
        pydantic_data_converter,
        payload_codec=EncryptionCodec(keyring),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


def _sandbox(_: WorkflowRunner | None) -> WorkflowRunner:
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))
