"""Events as clients really send them become message events; nothing a client sends makes one vanish."""

import json
import time
from typing import Any

import pytest
from nonebot.adapters.onebot.v11 import Adapter, GroupMessageEvent, GroupRecallNoticeEvent, PrivateMessageEvent

from plugins.rating_bot.wire.repair import repair

Event = dict[str, Any]


def group_message(**changes: Any) -> Event:
    """Return a whole group message; a change to ... takes the field out."""
    event: Event = {
        "time": 1_780_000_000,
        "self_id": 10000,
        "post_type": "message",
        "message_type": "group",
        "sub_type": "normal",
        "message_id": 123,
        "group_id": 100001,
        "user_id": 1,
        "message": [{"type": "text", "data": {"text": "张三 胜 李四"}}],
        "raw_message": "张三 胜 李四",
        "font": 14,
        "sender": {"user_id": 1, "nickname": "三哥", "card": "张三", "role": "member", "level": "3"},
    }
    event |= changes
    return {name: value for name, value in event.items() if value is not ...}


def typed(event: Event) -> Any:
    """Repair an event and let NoneBot's models have it, as the adapter does."""
    fixed = repair(json.loads(json.dumps(event)))
    assert fixed is not None
    return Adapter.json_to_event(fixed)


BROKEN: dict[str, Event] = {
    "nothing wrong": {},
    "no font": {"font": ...},
    "font is null": {"font": None},
    "no raw_message": {"raw_message": ...},
    "no sub_type": {"sub_type": ...},
    "sub_type is null": {"sub_type": None},
    "no message_type": {"message_type": ...},
    "no sender": {"sender": ...},
    "sender is null": {"sender": None},
    "sender is a list": {"sender": []},
    "level is an int": {"sender": {"user_id": 1, "level": 12}},
    "level is a list": {"sender": {"user_id": 1, "level": []}},
    "title and card are null": {"sender": {"user_id": 1, "title": None, "card": None}},
    "age is a word": {"sender": {"user_id": 1, "age": "unknown", "nickname": 5}},
    "sender's user_id is a word": {"sender": {"user_id": "u_abc"}},
    "ids are strings": {"user_id": "1", "group_id": "100001", "message_id": "123", "self_id": "10000"},
    "ids are floats": {"user_id": 1.0, "group_id": 100001.0, "message_id": 123.0},
    "time is a string": {"time": "1780000000"},
    "time in milliseconds": {"time": 1_780_000_000_000},
    "null segment": {"message": [None, {"type": "text", "data": {"text": "张三 胜 李四"}}]},
    "segment without type": {"message": [{"data": {}}, {"type": "text", "data": {"text": "张三 胜 李四"}}]},
    "segment without data": {"message": [{"type": "face"}, {"type": "text", "data": {"text": "张三 胜 李四"}}]},
    "segment data is null": {
        "message": [{"type": "rps", "data": None}, {"type": "text", "data": {"text": "张三 胜 李四"}}]
    },
    "text is null": {
        "message": [{"type": "text", "data": {"text": None}}, {"type": "text", "data": {"text": "张三 胜 李四"}}]
    },
    "one segment, no array": {"message": {"type": "text", "data": {"text": "张三 胜 李四"}}},
    "a string": {"message": "张三 胜 李四"},
    "no message, only raw": {"message": ...},
    "message is null": {"message": None},
    "anonymous is half": {"anonymous": {"name": "x"}},
    "anonymous is null": {"anonymous": None},
    "a reply field of its own": {"reply": {"id": 5}, "to_me": "no", "original_message": None},
}


@pytest.mark.parametrize("changes", BROKEN.values(), ids=BROKEN.keys())
def test_every_group_message_becomes_a_group_message_event(changes: Event) -> None:
    event = typed(group_message(**changes))
    assert type(event) is GroupMessageEvent
    assert event.original_message.extract_plain_text() == "张三 胜 李四"
    assert (event.user_id, event.group_id, event.message_id, event.time) == (1, 100001, 123, 1_780_000_000)


@pytest.mark.parametrize("message_id", [0, -1_234_567_890, "-5", None, ...])
def test_message_ids_that_are_none(message_id: Any) -> None:
    event = typed(group_message(message_id=message_id))
    assert type(event) is GroupMessageEvent
    assert event.message_id == int(message_id if message_id not in (None, ...) else 0)


def test_a_user_id_only_in_the_sender() -> None:
    assert typed(group_message(user_id=...)).user_id == 1


@pytest.mark.parametrize("missing", [{"user_id": ..., "sender": ...}, {"user_id": 0, "sender": {}}, {"group_id": ...}])
def test_without_sender_or_group_there_is_no_message(missing: Event) -> None:
    assert repair(group_message(**missing)) is None


def test_a_missing_time_is_now() -> None:
    for missing in (..., None, 0, -1, "soon", True):
        fixed = repair(group_message(time=missing), now=1_790_000_000)
        assert fixed is not None
        assert fixed["time"] == 1_790_000_000


def test_a_private_message_without_sub_type() -> None:
    event = typed(group_message(message_type="private", sub_type=..., group_id=...))
    assert type(event) is PrivateMessageEvent
    assert event.sub_type == "friend"


def test_a_string_message_is_read_as_cq_codes() -> None:
    event = typed(group_message(message="[CQ:reply,id=-77][CQ:at,qq=2] &#91;确认&#93; &amp;"))
    assert [(part.type, dict(part.data)) for part in event.original_message] == [
        ("reply", {"id": "-77"}),
        ("at", {"qq": "2"}),
        ("text", {"text": " [确认] &"}),
    ]


def test_text_in_an_array_is_not_read_as_cq_codes() -> None:
    event = typed(group_message(message=[{"type": "text", "data": {"text": "[CQ:at,qq=2] &amp;"}}]))
    assert event.original_message.extract_plain_text() == "[CQ:at,qq=2] &amp;"


def test_ids_in_segments_become_strings() -> None:
    event = typed(group_message(message=[{"type": "at", "data": {"qq": 2}}, {"type": "reply", "data": {"id": -9}}]))
    assert [part.data for part in event.original_message] == [{"qq": "2"}, {"id": "-9"}]


def test_what_no_database_stores_and_the_marks_are_taken_out() -> None:
    text = "\ue0001|李四\ue001 张\x00三\ud83d 胜 \U0001f44d"
    event = typed(
        group_message(message=[{"type": "text", "data": {"text": text}}], sender={"card": "\ue000a\x00\udfff"})
    )
    assert event.original_message.extract_plain_text() == "1|李四 张三 胜 \U0001f44d"
    assert event.sender.card == "a"


def test_an_empty_message_keeps_one_segment() -> None:
    event = typed(group_message(message=[], raw_message=""))
    assert [(part.type, part.data) for part in event.message] == [("text", {"text": ""})]


def test_repairing_twice_changes_nothing() -> None:
    for changes in BROKEN.values():
        once = repair(group_message(**changes))
        assert once is not None
        assert repair(once) == once


def test_a_recall_without_operator() -> None:
    notice = {
        "post_type": "notice",
        "notice_type": "group_recall",
        "time": 1,
        "self_id": 1,
        "group_id": 2,
        "user_id": 3,
    }
    event = typed(notice | {"message_id": "55"})
    assert type(event) is GroupRecallNoticeEvent
    assert (event.operator_id, event.message_id) == (0, 55)


def test_a_hostile_message_is_cut_and_costs_no_time() -> None:
    began = time.process_time()
    event = typed(group_message(message="[CQ:a,a=" * 100_000))
    assert len(event.original_message.extract_plain_text()) == 20_000
    typed(group_message(message="[CQ:a,a=" * 100 + "x=" * 10_000))
    assert time.process_time() - began < 0.5
