"""Files of a group: uploading one, and fetching the one that a message carries, whatever the client's way.

NapCat and LLOneBot take `base64://` and give an address of QQ's own file server (get_group_file_url); get_file gives
the content itself where that is switched on. Lagrange uploads from its own disk only; go-cqhttp too, and it shows files
in no message.
"""

import asyncio
import base64
import binascii
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from nonebot.exception import ActionFailed, ApiNotAvailable, NetworkError
from nonebot.log import logger

from .failures import failure_of
from .history import Caller
from .repair import segments, whole
from .segments import clean_card

UPLOAD_SECONDS = 120.0
DOWNLOAD_SECONDS = 30.0
MAX_NAME = 80


class FileFailed(Exception):
    """A file did not come or go.

    offline: no client; refused: the client cannot, in its words; unclear: no answer, it may be there all the same;
    no_message, no_file: the quoted message is gone or carries none; too_big; unavailable: no way to get it worked.
    """

    def __init__(
        self,
        why: Literal["offline", "refused", "unclear", "no_message", "no_file", "too_big", "unavailable"],
        text: str = "",
    ) -> None:
        super().__init__(why)
        self.why = why
        self.text = text


@dataclass(frozen=True, slots=True)
class Received:
    """A file that somebody shared."""

    name: str
    data: bytes


class GroupFiles:
    """Group files by way of whichever account is connected."""

    def __init__(self, bots: Callable[[], Mapping[str, Caller]], largest: int) -> None:
        """`largest`: bytes of the largest file that is fetched."""
        self._bots, self._largest = bots, largest

    def _bot(self) -> Caller:
        bot = next(iter(self._bots().values()), None)
        if bot is None:
            raise FileFailed("offline")
        return bot

    async def upload(self, group: str, name: str, data: bytes) -> None:
        """Put a file into a group's files. Raises FileFailed: offline, refused or unclear."""
        content = "base64://" + base64.b64encode(data).decode("ascii")
        try:
            await self._bot().call_api(
                "upload_group_file", group_id=int(group), file=content, name=name, _timeout=UPLOAD_SECONDS
            )
        except (ActionFailed, ApiNotAvailable, NetworkError) as error:
            failure = failure_of(error)
            logger.warning(f"upload to group {group} failed: {failure.text[:200]}")
            kind = failure.kind if failure.kind in ("offline", "unclear") else "refused"
            raise FileFailed(kind, failure.text[:100]) from error  # type: ignore[arg-type]

    async def fetch(self, group: str, message_id: str) -> Received:
        """Return the file that a message carries. Raises FileFailed."""
        bot = self._bot()
        file = await _file_in(bot, message_id)
        size = whole(file.get("file_size")) or whole(file.get("size")) or 0
        if size > self._largest:
            raise FileFailed("too_big", str(size))
        name = clean_card(file.get("name"), file.get("file_name"), file.get("file"))[:MAX_NAME] or "文件"
        async for data in self._ways(bot, group, file):
            if len(data) > self._largest:
                raise FileFailed("too_big", str(len(data)))
            return Received(name, data)
        raise FileFailed("unavailable")

    async def _ways(self, bot: Caller, group: str, file: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yield the content, by each way that works: QQ's file server, the client itself, the message's address."""
        file_id = str(file.get("file_id") or file.get("id") or "")
        if file_id:
            params = {"group_id": int(group), "file_id": file_id, "busid": whole(file.get("busid")) or 102}
            answer = await _ask(bot, "get_group_file_url", **params)
            if (data := await self._download(answer.get("url"))) is not None:
                yield data
            answer = await _ask(bot, "get_file", file_id=file_id)
            if (data := _decoded(answer.get("base64"))) is not None:
                yield data
            if (data := await self._download(answer.get("url"))) is not None:
                yield data
        if (data := await self._download(file.get("url"))) is not None:
            yield data

    async def _download(self, url: object) -> bytes | None:
        if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
            return None
        return await asyncio.to_thread(_get, url, self._largest + 1)


async def _file_in(bot: Caller, message_id: str) -> Mapping[str, Any]:
    """Return what the message says of its file."""
    try:
        message = await bot.call_api("get_msg", message_id=int(message_id))
    except (ActionFailed, ApiNotAvailable, NetworkError, ValueError) as error:
        logger.warning(f"message {message_id} cannot be read: {error!r:.200}")
        raise FileFailed("no_message") from error
    parts = segments(message.get("message")) if isinstance(message, Mapping) else []
    file = next((part["data"] for part in parts if part["type"] == "file"), None)
    if file is None:
        raise FileFailed("no_file")
    return file


async def _ask(bot: Caller, api: str, **params: Any) -> Mapping[str, Any]:
    """Return a client's answer, empty where it has none."""
    try:
        answer = await bot.call_api(api, _timeout=DOWNLOAD_SECONDS, **params)
    except (ActionFailed, ApiNotAvailable, NetworkError) as error:
        logger.info(f"{api}: {error!r:.200}")
        return {}
    return answer if isinstance(answer, Mapping) else {}


def _decoded(content: object) -> bytes | None:
    if not isinstance(content, str) or not content:
        return None
    try:
        return base64.b64decode(clean_base64(content), validate=True)
    except (binascii.Error, ValueError):
        return None


def clean_base64(content: str) -> str:
    """Return base64 without its scheme."""
    return content.removeprefix("base64://")


def _get(url: str, most: int) -> bytes | None:
    try:
        with closing(urllib.request.urlopen(url, timeout=DOWNLOAD_SECONDS)) as answer:
            data: bytes = answer.read(most)
            return data
    except (OSError, ValueError, urllib.error.URLError) as error:
        logger.info(f"a group file cannot be downloaded: {error!r:.200}")
        return None
