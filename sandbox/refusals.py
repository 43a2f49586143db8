"""The refusals that do not come from a rule: what each is called, and how it is put to whoever asked."""

from typing import Literal

from contracts.egress import EgressRules
from contracts.kill import Kill
from contracts.language import Language
from contracts.texts import egress as texts
from sandbox.rules import Refused


class Refusals:
    """All in one language."""

    def __init__(self, language: Language) -> None:
        self._language: Language = language

    def bad(self, code: str = "bad_request") -> Refused:
        return Refused(code, texts.EGRESS_BAD_REQUEST.say(self._language), 400)

    def busy(self, count: int) -> Refused:
        return Refused("busy", texts.EGRESS_BUSY.say(self._language, count=count), 503)

    def halted(self, kill: Kill) -> Refused:
        at = f"{kill.at:%Y-%m-%d %H:%M:%S}"
        return Refused("halted", texts.EGRESS_HALTED.say(self._language, by=kill.by, at=at))

    def misdirected(self, host: str, port: int) -> Refused:
        return Refused("misdirected", texts.EGRESS_MISDIRECTED.say(self._language, host=host, port=port), 421)

    def uninspected(self, host: str) -> Refused:
        return Refused("uninspected", texts.EGRESS_UNINSPECTED.say(self._language, host=host))

    def unreachable(self, host: str, port: int) -> Refused:
        return Refused("unreachable", texts.EGRESS_UNREACHABLE.say(self._language, host=host, port=port), 502)

    def unproven(self, host: str, port: int, cause: str) -> Refused:
        text = texts.EGRESS_CERTIFICATE.say(self._language, host=host, port=port, cause=cause)
        return Refused("certificate", text, 502)

    def broken(self, host: str, port: int) -> Refused:
        return Refused("broken", texts.EGRESS_BROKEN.say(self._language, host=host, port=port), 502)

    def used_up(self, direction: Literal["up", "down"], rules: EgressRules) -> Refused:
        if direction == "up":
            return Refused("bytes_up", texts.EGRESS_BYTES_UP.say(self._language, count=rules.bytes_up))
        return Refused("bytes_down", texts.EGRESS_BYTES_DOWN.say(self._language, count=rules.bytes_down))

    def too_often(self, wait_seconds: int, rules: EgressRules) -> Refused:
        count = f"{rules.requests_per_minute:g}"
        text = texts.EGRESS_REQUEST_RATE.say(self._language, count=count, seconds=wait_seconds)
        return Refused("request_rate", text, 429, wait_seconds)
