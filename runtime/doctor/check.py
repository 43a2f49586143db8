"""One line of the doctor's answer."""

from typing import Literal

from contracts.values import Value


class Check(Value):
    """`missing` keeps the main job from working, `warn` takes something away from it."""

    name: str
    status: Literal["ok", "warn", "missing"]
    detail: str
    remedy: str = ""
