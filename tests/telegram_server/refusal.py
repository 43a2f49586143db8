"""A refusal in the words of the Bot API."""


class Refusal(Exception):
    """Raised by a method to answer `ok: false`."""

    def __init__(self, code: int, description: str, retry_after: int | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.retry_after = retry_after
