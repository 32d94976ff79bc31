"""A bot that only repeats what reaches its handlers: run as a process by test_door.

What a handler sees comes back to the client as a call of the action `seen`.
"""

import sys

import nonebot
from nonebot.adapters import Bot, Event

from plugins.rating_bot.wire.adapter import UVICORN_OPTIONS, RatingAdapter
from plugins.rating_bot.wire.inbound import to_inbound
from plugins.rating_bot.wire.messages import Sent


class AllowedAdapter(RatingAdapter):
    """Takes two accounts."""

    allowed_self_ids = frozenset({"10000", "10001"})


def main(port: int, token: str) -> None:
    nonebot.init(
        driver="~fastapi", host="127.0.0.1", port=port, api_timeout=5, log_level="WARNING",
        nickname=["小跳"], command_start=["/"], _env_file=None,
    )  # fmt: skip
    AllowedAdapter.access_token = token
    nonebot.get_driver().register_adapter(AllowedAdapter)
    adapter = nonebot.get_adapter(AllowedAdapter)
    own: list[Sent] = []
    unmuted: list[str] = []
    adapter.on_sent = own.append
    adapter.on_unmuted = unmuted.append

    async def seen(bot: Bot, event: Event) -> None:
        inbound = to_inbound(event)  # type: ignore[arg-type]
        said = [inbound.kind, inbound.text, inbound.quote] if inbound else [event.get_event_name()]
        await bot.call_api("seen", said=said, own=[sent.text for sent in own], unmuted=unmuted)

    nonebot.on_message(handlers=[seen])
    nonebot.on_notice(handlers=[seen])
    nonebot.run(**UVICORN_OPTIONS)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
