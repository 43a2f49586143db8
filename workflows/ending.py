"""How a task ends before its planner says so."""

from typing import Literal


class TaskEnded(Exception):
    """Raised inside the loop to end the task with a sentence for the person."""

    def __init__(self, outcome: Literal["failed", "cancelled"], sentence: str) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        self.sentence = sentence
