"""Why a command was refused, as a value: nothing has been written when it is raised."""

from typing import Any


class Refusal(Exception):
    """A command that cannot be carried out. `code` names the reason, `facts` fill the sentence."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts
