"""A connected account without a socket: the QQ in memory, called as NoneBot's Bot is."""

import asyncio
from typing import Any

from nonebot.adapters.onebot.v11 import ActionFailed, NetworkError

from plugins.rating_bot.sandbox.actions import ActionFailed as Refused
from plugins.rating_bot.sandbox.actions import Actions, NoAnswer
from plugins.rating_bot.sandbox.qq import FakeQQ
from tests.support.qq import Faults, Style

GROUP = 100001
CHAT = f"g{GROUP}"


class FakeBot:
    """Answers actions at once; an answer that never comes is a NetworkError."""

    def __init__(self, qq: FakeQQ, style: Style = "napcat", faults: Faults | None = None) -> None:
        self.self_id = str(qq.self_id)
        self.qq = qq
        self.style = style
        self.faults = faults or Faults()
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._actions = Actions(qq, self.faults, style)

    async def call_api(self, api: str, **data: Any) -> Any:
        self.calls.append((api, data))
        await asyncio.sleep(0)
        try:
            return self._actions.answer(api, data)
        except Refused as error:
            raise ActionFailed(status="failed", retcode=error.retcode, message=str(error), data=None) from None
        except NoAnswer:
            raise NetworkError(f"{api}: no answer") from None

    def sent(self) -> list[dict[str, Any]]:
        """Return the parameters of all group sends."""
        return [data for api, data in self.calls if api == "send_group_msg"]


def league_qq() -> FakeQQ:
    """A group of three."""
    qq = FakeQQ()
    qq.add_group(GROUP, "官方群")
    for number, card in ((1, "张三"), (2, "李四"), (3, "王五")):
        qq.add_member(GROUP, number, card=card)
    return qq


def say_long_ago(qq: FakeQQ) -> None:
    """Let the group have a past, so that its history shows all that is said from now on."""
    now = qq.now
    qq.now = lambda: now() - 86_400_000
    qq.say(GROUP, 3, "很久以前")
    qq.now = now
