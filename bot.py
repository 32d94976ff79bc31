"""Start the bot: settings → sandbox or real mode → adapter → plugin → run."""

import gc
import sys

from rating_core.discretion import discreet_output


def main() -> None:
    """Run until stopped. Settings that are half there end the start with what to set (exit code 2)."""
    discreet_output()
    gc.disable()  # what is imported stays: looking for garbage in it takes a seventh of the start
    import nonebot  # only now: its log keeps the stream it finds

    nonebot.init(driver="~fastapi", fastapi_include_adapter_schema=False)
    if nonebot.load_plugin("plugins.rating_bot") is None:
        raise SystemExit("没有启动：机器人插件没能载入，原因见上面的日志。")
    from plugins.rating_bot.app import SettingsError, prepare  # only after NoneBot has loaded it as a plugin

    try:
        options = prepare()
    except SettingsError as error:
        print(f"没有启动：{error}", file=sys.stderr)
        raise SystemExit(2) from None
    nonebot.run(**options)


if __name__ == "__main__":
    main()
