"""The rating bot's NoneBot plugin: the only code that knows QQ."""

from nonebot.plugin import PluginMetadata

from plugins.rating_bot import matchers

__plugin_meta__ = PluginMetadata(
    name="传统跳棋等级分",
    description="在QQ群里收报分、记等级分、查榜",
    usage="报分直接发：张三    胜    李四；命令见 /帮助",
    type="application",
    supported_adapters={"~onebot.v11"},
)
__all__ = ["matchers"]
