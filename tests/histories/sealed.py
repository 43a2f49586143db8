"""Looks through a history for payloads that somebody without the key could read."""

from base64 import b64encode

from temporalio.client import WorkflowHistory

from runtime.codec import ENCODING

SEALED = b64encode(ENCODING).decode()

OF_THE_SDK = (".events.markerRecordedEventAttributes.details.data",)
"""The ids and times of a local activity; what it was given and what it gave stand elsewhere."""

IN_CLEAR = ("searchAttributes", "header")
"""What must be readable without a key: the index of tasks, and the ids of traces."""


def unsealed(history: WorkflowHistory) -> list[str]:
    """Where a payload is not ciphertext."""
    found: list[str] = []

    def look(value: object, place: str) -> None:
        if isinstance(value, list):
            for each in value:
                look(each, place)
        elif isinstance(value, dict) and "metadata" in value:
            if value["metadata"].get("encoding") != SEALED:
                found.append(place)
        elif isinstance(value, dict):
            for key, each in value.items():
                if key not in IN_CLEAR and f"{place}.{key}" not in OF_THE_SDK:
                    look(each, f"{place}.{key}")

    look(history.to_json_dict(), "")
    return found
