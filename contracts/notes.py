"""What the agent remembers for one person, one note at a time."""

from datetime import datetime

from contracts.values import Value


class Note(Value):
    """One remembered text, and the task and call that it came from."""

    note_id: str
    text: str
    task_id: str
    call_id: str
    at: datetime
