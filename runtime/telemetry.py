"""Metrics and traces of one process: a Prometheus page for the Temporal SDK, and OTLP traces if an endpoint is set."""

from dataclasses import dataclass

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBasedTraceIdRatio
from temporalio.contrib.opentelemetry import ReplaySafeTracerProvider, create_tracer_provider
from temporalio.runtime import LoggingConfig, PrometheusConfig, Runtime, TelemetryConfig, TelemetryFilter


@dataclass(frozen=True)
class Telemetry:
    """What a process hands to its Temporal client, and closes at its end."""

    runtime: Runtime
    tracer_provider: ReplaySafeTracerProvider

    def close(self) -> None:
        """Send what is left. May take seconds if the collector does not answer."""
        self.tracer_provider.shutdown()


def start_telemetry(service: str, *, metrics_port: int | None, otlp_endpoint: str = "") -> Telemetry:
    """Start both, once in a process and before anything else connects. Raises: RuntimeError if the port is in use."""
    provider = _provider(service, otlp_endpoint)
    trace.set_tracer_provider(provider)
    return Telemetry(runtime=_runtime(metrics_port), tracer_provider=provider)


def ensure_tracer_provider() -> None:
    """Give a process that has not started telemetry, such as a test or a replay, a provider that records nothing.

    Without one the Temporal interceptors refuse to work, and leaving them out would give the wiring two forms.
    """
    if not isinstance(trace.get_tracer_provider(), ReplaySafeTracerProvider):
        trace.set_tracer_provider(create_tracer_provider(sampler=ALWAYS_OFF))


def _provider(service: str, otlp_endpoint: str) -> ReplaySafeTracerProvider:
    resource = Resource.create({"service.name": service})
    if not otlp_endpoint:
        return create_tracer_provider(sampler=ALWAYS_OFF, resource=resource)
    provider = create_tracer_provider(sampler=ParentBasedTraceIdRatio(1.0), resource=resource)
    exporter = OTLPSpanExporter(endpoint=f"{otlp_endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def quiet_runtime() -> Runtime:
    """For a command at a terminal: what the client's core has to say about retries is not for the person there."""
    return Runtime(
        telemetry=TelemetryConfig(
            logging=LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
        )
    )


def _runtime(metrics_port: int | None) -> Runtime:
    metrics = None if metrics_port is None else PrometheusConfig(bind_address=f"127.0.0.1:{metrics_port}")
    logging = LoggingConfig(filter=TelemetryFilter(core_level="WARN", other_level="ERROR"))
    return Runtime(telemetry=TelemetryConfig(metrics=metrics, logging=logging))
