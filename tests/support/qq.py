"""The QQ in memory and its client, under one name for the tests."""

from plugins.rating_bot.sandbox.client import Call, FakeClient, Faults, Style
from plugins.rating_bot.sandbox.qq import FakeMessage, FakeQQ, Happened, QQRefused

__all__ = ["Call", "FakeClient", "FakeMessage", "FakeQQ", "Faults", "Happened", "QQRefused", "Style"]
