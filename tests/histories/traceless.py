"""Failures without their stack traces, which name the folders of the machine that records."""

from dataclasses import replace

from temporalio.api.failure.v1 import Failure
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes, PayloadConverter
from temporalio.plugin import SimplePlugin


class Traceless(DefaultFailureConverterWithEncodedAttributes):
    """Sealed as the program seals them; only the trace is left out, which no workflow reads."""

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        super().to_failure(exception.with_traceback(None), payload_converter, failure)


def traceless_plugin() -> SimplePlugin:
    """Comes after the program's own."""
    return SimplePlugin("traceless", data_converter=_without_traces)


def _without_traces(converter: DataConverter | None) -> DataConverter:
    assert converter is not None
    return replace(converter, failure_converter_class=Traceless)
