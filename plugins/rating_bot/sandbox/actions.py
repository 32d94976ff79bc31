"""The actions of OneBot v11 as NapCat, LLOneBot, Lagrange and go-cqhttp answer them, over the QQ in memory."""

from collections.abc import Callable
from typing import Any

from ..wire.messages import group_chat, private_chat
from .faults import Faults
from .onebot import LAGRANGE_HISTORY_ID, Style, member_info, message_event, read_segments
from .qq import FakeMessage, FakeQQ
from .values import QQRefused, Segment, text_segment

Params = dict[str, Any]
APP_NAMES = {
    "napcat": "NapCat.Onebot",
    "llonebot": "LLOneBot",
    "lagrange": "Lagrange.OneBot",
    "gocqhttp": "go-cqhttp",
}
GOCQ_PAGE = 20
"""go-cqhttp takes no count: it gives this many messages up to and including message_seq."""
TIMED_OUT = "Timeout: NTEvent serviceAndMethod:NodeIKernelMsgService/sendMsg ListenerName:onMsgInfoListUpdate"


class ActionFailed(Exception):
    """The action was refused: what the answer says."""

    def __init__(self, retcode: int, text: str):
        super().__init__(text)
        self.retcode = retcode


class NoAnswer(Exception):
    """The answer never comes; with `drop` the connection goes too."""

    def __init__(self, drop: bool = False):
        super().__init__()
        self.drop = drop


class Actions:
    """Answers actions. `style` decides parameters, paging and error codes."""

    def __init__(self, qq: FakeQQ, faults: Faults, style: Style):
        self.qq = qq
        self.faults = faults
        self.style = style
        self._table: dict[str, Callable[[Params], Any]] = {
            "send_group_msg": lambda p: self._send(group_chat(int(p["group_id"])), p),
            "send_private_msg": lambda p: self._send(private_chat(int(p["user_id"])), p),
            "send_msg": self._send_msg,
            "delete_msg": self._delete_msg,
            "get_msg": self._get_msg,
            "get_group_msg_history": lambda p: self._history(group_chat(int(p["group_id"])), p),
            "get_group_list": self._group_list,
            "get_group_info": lambda p: self._group_info(int(p["group_id"])),
            "get_group_member_list": self._member_list,
            "get_group_member_info": self._member_info,
            "get_stranger_info": self._stranger_info,
            "get_login_info": lambda _: self._account(self.qq.self_id),
            "get_friend_list": lambda _: [self._account(i) for i in self.qq.people if i != self.qq.self_id],
            "get_version_info": self._version_info,
            "get_status": lambda _: {"online": True, "good": True},
            "can_send_image": lambda _: {"yes": True},
        }
        if style != "gocqhttp":
            self._table["get_friend_msg_history"] = lambda p: self._history(private_chat(int(p["user_id"])), p)
        if style in ("napcat", "llonebot"):
            self._table["upload_group_file"] = lambda p: self.qq.shelf.upload(self.qq, p)
            self._table["get_file"] = lambda p: self.qq.shelf.get(p)
            self._table["set_msg_emoji_like"] = lambda p: self._react(p["message_id"], p["emoji_id"])
        if style == "lagrange":
            self._table["set_group_reaction"] = lambda p: self._react(p["message_id"], p["code"])

    def answer(self, action: str, params: Params) -> Any:
        """Return the data of the answer.

        Raises ActionFailed with retcode 1404 for an unknown action, 1400 for bad parameters, else as the client
        would; NoAnswer where a fault swallows the answer.
        """
        if action not in self._table:
            raise ActionFailed(1404, f"不支持的Api {action}")
        try:
            return self._table[action](params)
        except QQRefused as refused:
            raise self._failed(str(refused)) from None
        except (KeyError, TypeError, ValueError) as error:
            raise ActionFailed(1400, f"{action}: {error!r}") from None

    def _failed(self, text: str) -> ActionFailed:
        return ActionFailed(100 if self.style == "gocqhttp" else 1200, text)

    # --- sending ------------------------------------------------------------------------------------------

    def _send_msg(self, params: Params) -> dict[str, int]:
        if params.get("message_type") == "group" or (not params.get("message_type") and params.get("group_id")):
            return self._send(group_chat(int(params["group_id"])), params)
        return self._send(private_chat(int(params["user_id"])), params)

    def _send(self, chat: str, params: Params) -> dict[str, int]:
        faults, message = self.faults, params["message"]
        plain = isinstance(message, str) and params.get("auto_escape")
        segments = [text_segment(message)] if plain else read_segments(message)
        if faults.take("swallow_sends"):
            raise NoAnswer
        if faults.take("lose_sends"):
            raise self._failed(TIMED_OUT)
        self._check_send(chat, segments)
        if chat.startswith("g") and int(chat[1:]) in faults.hidden:
            return {"message_id": self.qq.number()}
        said = self.qq.deliver(chat, segments)
        if faults.take("fail_delivered"):
            raise self._failed(TIMED_OUT)
        if faults.take("mute_answers"):
            raise NoAnswer
        if faults.take("drop_after_send"):
            raise NoAnswer(drop=True)
        return {"message_id": said.message_id}

    def _check_send(self, chat: str, segments: list[Segment]) -> None:
        group_id = int(chat[1:]) if chat.startswith("g") else None
        if group_id in self.faults.kicked:
            raise self._send_result(110)
        if group_id in self.faults.muted:
            raise self._send_result(120)
        for segment in segments:
            kind, data = segment["type"], segment["data"]
            if kind == "at":
                known = group_id is None or int(data["qq"]) in self.qq.group(group_id).members
                if self.faults.refuse_at or not known:
                    raise self._failed("At成员不存在")
            if kind == "reply":
                message = self._find(data["id"])
                if self.faults.refuse_reply or message is None or message.chat != chat:
                    raise self._failed("回复的消息不存在")
            if kind == "image" and self.faults.refuse_image:
                raise self._send_result(-1, "rich media transfer failed")

    def _send_result(self, result: int, message: str = "") -> ActionFailed:
        if self.style == "lagrange":
            return ActionFailed(result, "failed")
        if self.style == "gocqhttp":
            return ActionFailed(100, message or "SEND_MSG_API_ERROR")
        event = "NTEvent serviceAndMethod:NodeIKernelMsgService/sendMsg"
        return ActionFailed(
            1200,
            f'EventChecker Failed: {event} EventRet:\n{{\n    "result": {result},\n    "errMsg": "{message}"\n}}\n',
        )

    def _delete_msg(self, params: Params) -> None:
        message = self._find(params["message_id"])
        if message is None or message.group_id is None:
            raise self._failed("消息不存在")
        self.qq.recall(message.group_id, message.message_id, self.qq.self_id)

    def _react(self, message_id: object, emoji_id: object) -> dict[str, Any]:
        message = self._find(message_id)
        if message is None or message.group_id is None:
            raise self._failed("消息不存在")
        self.qq.react(message.group_id, message.message_id, self.qq.self_id, str(emoji_id))
        return {"result": 0, "errMsg": ""}

    # --- what was said ------------------------------------------------------------------------------------

    def _find(self, message_id: object) -> FakeMessage | None:
        number = int(str(message_id))
        found = self.qq.find(number)
        if found is None and self.style == "lagrange":
            found = self.qq.find(number ^ LAGRANGE_HISTORY_ID)
        return None if found is None or found.recalled else found

    def _get_msg(self, params: Params) -> Params:
        message = self._find(params["message_id"])
        if message is None:
            raise self._failed("消息不存在")
        return message_event(self.qq, message, self.style)

    def _history(self, chat: str, params: Params) -> dict[str, list[Params]]:
        faults = self.faults
        if faults.no_history or (chat.startswith("g") and int(chat[1:]) in faults.kicked):
            raise self._failed("获取历史消息失败")
        kept = [m for m in self.qq.messages(chat) if not m.recalled and m.message_id not in faults.history_holes]
        if faults.history_limit is not None:
            kept = kept[-faults.history_limit :] if faults.history_limit else []
        page = self._page(kept, params)
        if not page:
            raise self._failed(f"消息{params.get('message_seq')}不存在")
        return {"messages": [message_event(self.qq, m, self.style, history=True) for m in page]}

    def _page(self, kept: list[FakeMessage], params: Params) -> list[FakeMessage]:
        """Cut one page; oldest first in all styles. Only NapCat without reverse order pages towards the present."""
        anchor = params.get("message_id" if self.style == "lagrange" else "message_seq") or 0
        count = GOCQ_PAGE if self.style == "gocqhttp" else int(params.get("count") or 20)
        if str(anchor) == "0":
            return kept[-count:]
        if self.style == "gocqhttp":
            upto_seq = int(anchor)
        else:
            message = self._find(anchor)
            if message is None:
                return []
            upto_seq = message.real_seq
        reverse = str(params.get("reverse_order") or params.get("reverseOrder") or False).lower() == "true"
        if self.style == "napcat" and not reverse:
            return [m for m in kept if m.real_seq >= upto_seq][:count]
        older = [m for m in kept if m.real_seq <= upto_seq]
        if self.style == "lagrange":
            return [m for m in older if m.real_seq >= upto_seq - count]
        page = older[-count:]
        return page[::-1] if self.style == "llonebot" and reverse else page

    # --- who there is -------------------------------------------------------------------------------------

    def _account(self, user_id: int) -> dict[str, Any]:
        if user_id not in self.qq.people:
            raise self._failed("用户不存在")
        return {"user_id": user_id, "nickname": self.qq.people[user_id].nickname}

    def _stranger_info(self, params: Params) -> dict[str, Any]:
        return self._account(int(params["user_id"])) | {"sex": "unknown", "age": 0}

    def _group_list(self, _: Params) -> list[dict[str, Any]]:
        return [self._group_info(number) for number in self.qq.groups if number not in self.faults.kicked]

    def _group_info(self, group_id: int) -> dict[str, Any]:
        if group_id in self.faults.kicked:
            raise self._failed("群不存在")
        group = self.qq.group(group_id)
        info = {"group_id": group_id, "group_name": group.name}
        return info | {"member_count": len(group.members), "max_member_count": 500}

    def _member_list(self, params: Params) -> list[dict[str, Any]]:
        group_id = int(params["group_id"])
        self._group_info(group_id)
        return [member_info(self.qq, group_id, user_id) for user_id in self.qq.groups[group_id].members]

    def _member_info(self, params: Params) -> dict[str, Any]:
        group_id = int(params["group_id"])
        self._group_info(group_id)
        return member_info(self.qq, group_id, int(params["user_id"]))

    def _version_info(self, _: Params) -> dict[str, Any]:
        return {"app_name": APP_NAMES[self.style], "app_version": "0.0.0-sandbox", "protocol_version": "v11"}
