"""A bare bot on the same stack, to compare with: NoneBot, FastAPI driver, OneBot v11 adapter, one handler that answers.

`python tests/bench/echo.py`, with HOST, PORT and ONEBOT_ACCESS_TOKEN in the environment.
"""

import nonebot
from nonebot.adapters.onebot.v11 import Adapter, GroupMessageEvent

nonebot.init(driver="~fastapi")
nonebot.get_driver().register_adapter(Adapter)
matcher = nonebot.on_message()


@matcher.handle()
async def echo(event: GroupMessageEvent) -> None:
    await matcher.send(event.get_plaintext())


if __name__ == "__main__":
    nonebot.run()
