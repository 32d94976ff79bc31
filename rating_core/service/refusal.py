"""Why a command was refused, as a value: nothing has been written when it is raised."""

from typing import Any


class Refusal(Exception):
    """A command that cannot be carried out. `code` names the reason, `facts` fill the sentence."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts


class Confidential(Exception):
    """Refused because he is 蒙面人公用号 in the matter (§5 D, §7 D): nothing is said where he asked, only to him."""
