"""The picture in a message of the QQ in memory."""

import base64

from plugins.rating_bot.sandbox.onebot import BASE64
from plugins.rating_bot.sandbox.values import FakeMessage

PNG = b"\x89PNG\r\n\x1a\n"


def png_of(message: FakeMessage) -> bytes | None:
    """Return the bytes of a message's picture; None where there is none."""
    for segment in message.segments:
        if segment["type"] == "image":
            file = str(segment["data"]["file"])
            assert file.startswith(BASE64)
            return base64.b64decode(file.removeprefix(BASE64), validate=True)
    return None


def size_of(png: bytes) -> tuple[int, int]:
    """Return width and height, as the first chunk says."""
    assert png.startswith(PNG) and png[12:16] == b"IHDR"
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
