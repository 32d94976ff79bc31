"""Group files of the QQ in memory: shared by people, uploaded by the bot, handed out as clients do."""

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .values import FakeMessage, QQRefused, Segment

if TYPE_CHECKING:
    from .qq import FakeQQ


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file in a group."""

    file_id: str
    group_id: int
    name: str
    data: bytes


@dataclass(slots=True)
class FileShelf:
    """All files of one QQ, by their ids."""

    files: dict[str, SharedFile] = field(default_factory=dict)

    def share(self, qq: "FakeQQ", group_id: int, user_id: int, name: str, data: bytes) -> FakeMessage:
        """Let somebody put a file into a group: it is said as a message with the file in it."""
        file = SharedFile(f"/file-{len(self.files) + 1}", group_id, name, data)
        self.files[file.file_id] = file
        about = {"file": name, "file_id": file.file_id, "file_size": str(len(data))}
        parts: list[Segment] = [{"type": "file", "data": about}]
        return qq.say(group_id, user_id, segments=parts)

    def upload(self, qq: "FakeQQ", params: dict[str, Any]) -> dict[str, Any]:
        """Answer upload_group_file as NapCat and LLOneBot do: content as base64 only, no disk is shared."""
        content = str(params["file"])
        if not content.startswith("base64://"):
            raise QQRefused(f"识别URL失败, uri= {content[:50]}")
        data = base64.b64decode(content.removeprefix("base64://"), validate=True)
        said = self.share(qq, int(params["group_id"]), qq.self_id, str(params["name"]), data)
        return {"file_id": said.segments[0]["data"]["file_id"]}

    def get(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answer get_file with the content (enableLocalFile2Url)."""
        file = self.files.get(str(params.get("file_id") or params.get("file")))
        if file is None:
            raise QQRefused("file not found")
        content = base64.b64encode(file.data).decode("ascii")
        size = str(len(file.data))
        return {"file": f"/tmp/{file.name}", "file_name": file.name, "file_size": size, "base64": content}
