"""What a message says to the bot: text with marks, quote, keys; and what says nothing."""

from typing import Any

import pytest

from plugins.rating_bot.wire.inbound import CONFIRMING_EMOJI, to_inbound, to_sent
from plugins.rating_bot.wire.messages import Inbound, at
from plugins.rating_bot.wire.repair import repair
from plugins.rating_bot.wire.segments import clean_card, fingerprint, plain, to_segments

from .test_repair import Event, group_message, typed

REPLY = {"type": "reply", "data": {"id": "77"}}


def text(said: str) -> Event:
    return {"type": "text", "data": {"text": said}}


def mention(qq: object) -> Event:
    return {"type": "at", "data": {"qq": qq}}


def face(number: int = 76) -> Event:
    return {"type": "face", "data": {"id": str(number)}}


def inbound(*segments: Event, **changes: Any) -> Inbound:
    said = to_inbound(group_message(message=list(segments), **changes))
    assert said is not None
    return said


LINE, OTHER = "张三    胜    李四", "张三    负    李四"

SAID: list[tuple[str, list[Event], str, str | None]] = [
    ("plain", [text(LINE)], LINE, None),
    ("a line in two segments", [text("张三    胜"), text("    李四")], LINE, None),
    ("a name in two segments", [text("张三    胜    李"), text("四")], LINE, None),
    ("a name that ends in a result word", [text("常胜"), text("将军 胜 平安")], "常胜将军 胜 平安", None),
    ("the result alone", [text("张三"), text(" 胜 "), text("李四")], "张三 胜 李四", None),
    ("lines in segments, with line ends", [text(LINE + "\n"), text(OTHER)], f"{LINE}\n{OTHER}", None),
    ("lines in segments, line end after", [text(LINE), text("\n" + OTHER)], f"{LINE}\n{OTHER}", None),
    ("lines in segments, without line ends", [text(LINE), text(OTHER)], f"{LINE}\n{OTHER}", None),
    ("lines with a face between", [text(LINE), face(), text(OTHER)], f"{LINE} \n{OTHER}", None),
    ("a word in two segments", [text("确"), text("认")], "确认", None),
    ("\\r\\n and \\r", [text(f"{LINE}\r\n{OTHER}\r{LINE}\r")], f"{LINE}\n{OTHER}\n{LINE}", None),
    ("other line ends", [text(f"{LINE}\u2028{OTHER}\x0b{LINE}")], f"{LINE}\n{OTHER}\n{LINE}", None),
    ("blank lines stay", [text(f"{LINE}\n\n{OTHER}\n")], f"{LINE}\n\n{OTHER}", None),
    ("@bot in front", [mention(10000), text(" /等级分 张三")], "/等级分 张三", None),
    ("@bot behind", [text("/等级分 张三 "), mention("10000")], "/等级分 张三", None),
    ("@ someone", [text("/等级分 "), mention("2")], f"/等级分 {at('2')}", None),
    ("@ everyone", [mention("all"), text(" 明天比赛")], "@全体成员 明天比赛", None),
    ("@ nobody", [mention(""), text("确认")], "确认", None),
    ("quote", [REPLY, text("确认")], "确认", "77"),
    ("quote and its @", [REPLY, mention("2"), text(" 确认")], "确认", "77"),
    ("quote, blank, its @", [REPLY, text(" "), mention("2"), text(" 确认")], "确认", "77"),
    ("@ in front of the quote", [mention("2"), text(" "), REPLY, text("确认")], "确认", "77"),
    ("@bot, quote", [mention("10000"), text(" "), REPLY, text("确认")], "确认", "77"),
    ("quote at the end", [text("确认"), REPLY], "确认", "77"),
    ("quote and two @", [REPLY, mention("2"), mention("3"), text(" 有误")], f"{at('3')} 有误", "77"),
    ("quote and an @ behind", [REPLY, text("有误 "), mention("3")], f"有误 {at('3')}", "77"),
    ("quote without id", [{"type": "reply", "data": {}}, text("确认")], "确认", None),
    ("quote of 0", [{"type": "reply", "data": {"id": "0"}}, text("确认")], "确认", None),
    ("quote of a negative id", [{"type": "reply", "data": {"id": -5}}, text("确认")], "确认", "-5"),
    ("only a quote", [REPLY], "", "77"),
    ("only a picture", [{"type": "image", "data": {"file": "a.png"}}], "", None),
    ("brackets are not escaped", [text("[&amp;] 张三")], "[&amp;] 张三", None),
    ("the bot's nickname stays", [text("记分机器人 /帮助")], "记分机器人 /帮助", None),
]


@pytest.mark.parametrize(("segments", "said", "quote"), [row[1:] for row in SAID], ids=[row[0] for row in SAID])
def test_text_and_quote(segments: list[Event], said: str, quote: str | None) -> None:
    message = inbound(*segments)
    assert (message.text, message.quote) == (said, quote)


def test_an_event_and_its_data_say_the_same() -> None:
    for _, segments, _, _ in SAID:
        data = group_message(message=segments, real_seq="412")
        assert to_inbound(typed(data)) == to_inbound(data)


def test_everything_else_of_a_message() -> None:
    said = inbound(text("确认"), message_id=-88, sender={"card": "李四", "role": "owner"})
    assert (said.chat, said.group, said.user, said.message_id) == ("g100001", "100001", "1", "-88")
    assert (said.said_at, said.card, said.sender_role) == (1_780_000_000_000, "李四", "owner")
    assert (said.self_id, said.kind, said.made_up, said.seq) == ("10000", "message", False, None)


def test_a_private_message_has_no_group_role() -> None:
    data = group_message(message_type="private", sub_type="group", sender={"role": "owner", "nickname": "三哥"})
    said = to_inbound(data)
    assert said is not None
    assert (said.chat, said.sender_role, said.card) == ("u1", "member", "三哥")


@pytest.mark.parametrize("role", [None, 3, "ADMIN", "superuser"])
def test_an_unknown_role_is_member(role: object) -> None:
    assert inbound(text("x"), sender={"role": role}).sender_role == "member"


def test_history_goes_the_same_way() -> None:
    data = group_message(message=[REPLY, mention("2"), text("确认")])
    live, old = to_inbound(data), to_inbound(data, made_up=True)
    assert live is not None and old is not None
    assert (live.made_up, old.made_up) == (False, True)
    assert (live.key, live.twin, live.text, live.quote) == (old.key, old.twin, old.text, old.quote)


# --- keys ----------------------------------------------------------------------------------------------------


def test_the_same_event_twice_has_one_key() -> None:
    assert inbound(text("确认")).key == inbound(text("确认")).key


def test_qqs_number_is_the_key_where_the_client_tells_it() -> None:
    one = inbound(text("确认"), real_seq="412", message_id=5)
    assert one.key == inbound(text("确认"), real_seq=412, message_id=99, time=1_780_000_001).key
    assert one.key != inbound(text("确认"), real_seq="413", message_id=5).key
    assert one.key != inbound(text("确认"), real_seq="412", group_id=100002).key
    assert one.seq == 412


def test_without_it_message_id_and_time_are() -> None:
    one = inbound(text("确认"))
    assert one.key != inbound(text("确认"), time=1_780_000_001).key
    assert one.key != inbound(text("确认"), message_id=124).key
    assert one.key == inbound(text("something else")).key


def test_without_an_id_it_is_who_when_what_and_quote() -> None:
    one = inbound(REPLY, text("确 认"), message_id=0)
    assert one.key == inbound(REPLY, text("确认"), message_id=0).key
    assert one.message_id == ""
    for other in (
        inbound(text("确认"), message_id=0),
        inbound(REPLY, text("有误"), message_id=0),
        inbound(REPLY, text("确认"), message_id=0, user_id=2),
        inbound(REPLY, text("确认"), message_id=0, time=1_780_000_001),
        inbound(REPLY, text("确认"), message_id=0, group_id=100002),
    ):
        assert one.key != other.key


def test_the_twin_is_equal_under_two_ids_and_differs_by_mention() -> None:
    assert inbound(text("确认"), message_id=1).twin == inbound(text("确认"), message_id=2).twin
    assert inbound(text("/对战 "), mention("1")).twin != inbound(text("/对战 "), mention("2")).twin


# --- what says nothing, and notices --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes", [{"user_id": 10000}, {"post_type": "message_sent", "user_id": 10000}, {"message_type": "guild"}]
)
def test_own_messages_and_guilds_say_nothing(changes: Event) -> None:
    assert to_inbound(group_message(**changes)) is None


def notice(**fields: Any) -> Event:
    basis = {"post_type": "notice", "time": 1_780_000_000, "self_id": 10000, "group_id": 100001, "message_id": 55}
    return basis | fields


def test_a_recall_twice_is_one() -> None:
    once = to_inbound(notice(notice_type="group_recall", user_id=1, operator_id=3))
    again = to_inbound(notice(notice_type="group_recall", user_id=1, operator_id=3, time=1_780_000_002))
    assert once is not None and again is not None
    assert (once.kind, once.user, once.by, once.message_id, once.chat) == ("recall", "1", "3", "55", "g100001")
    assert once.key == again.key


def test_a_private_recall() -> None:
    said = to_inbound({**notice(notice_type="friend_recall", user_id=1), "group_id": None})
    assert said is not None
    assert (said.chat, said.kind, said.by) == ("u1", "recall", "1")


def test_the_bots_own_message_recalled_says_nothing() -> None:
    assert to_inbound(notice(notice_type="group_recall", user_id=10000, operator_id=1)) is None


REACTIONS = [
    {"notice_type": "group_msg_emoji_like", "user_id": 2, "likes": [{"emoji_id": "76", "count": 1}], "is_add": True},
    {"notice_type": "group_msg_emoji_like", "user_id": 2, "likes": [{"emoji_id": 76}]},
    {"notice_type": "group_msg_emoji_like", "user_id": 2, "likes": [None, {"emoji_id": "1"}, {"emoji_id": "76"}]},
    {"notice_type": "reaction", "sub_type": "add", "operator_id": 2, "code": "76", "count": 1},
]


@pytest.mark.parametrize("fields", REACTIONS)
def test_a_thumb_up(fields: Event) -> None:
    for source in (notice(**fields), typed(notice(**fields))):
        said = to_inbound(source)
        assert said is not None
        assert (said.kind, said.user, said.text, said.message_id) == ("reaction", "2", "76", "55")
        assert said.text in CONFIRMING_EMOJI


@pytest.mark.parametrize(
    "fields",
    [
        REACTIONS[0] | {"is_add": False},
        REACTIONS[0] | {"user_id": 10000},
        REACTIONS[0] | {"user_id": None},
        REACTIONS[0] | {"likes": None},
        REACTIONS[0] | {"likes": [{"emoji_id": "<b>"}]},
        REACTIONS[3] | {"sub_type": "remove"},
        {"notice_type": "notify", "sub_type": "poke", "user_id": 2, "target_id": 10000},
        {"notice_type": "group_increase", "user_id": 2},
    ],
)
def test_notices_that_say_nothing(fields: Event) -> None:
    assert to_inbound(notice(**fields)) is None


def test_own_messages_as_sent() -> None:
    event = repair(group_message(user_id=10000, post_type="message_sent", message=[mention("2"), text(" 收到 #12")]))
    assert event is not None
    sent = to_sent(event)
    assert sent is not None
    assert (sent.chat, sent.message_id, sent.said_at) == ("g100001", "123", 1_780_000_000_000)
    assert fingerprint(sent.text) == "收到#12"
    private = repair(
        group_message(user_id=10000, post_type="message_sent", message_type="private", group_id=..., target_id="7")
    )
    assert private is not None
    assert (to_sent(private) or sent).chat == "u7"


# --- cards and what is sent ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("张三",), "张三"),
        (("", "三哥"), "三哥"),
        ((None, "三哥"), "三哥"),
        (("\u3164", "三哥"), "三哥"),
        (("<%\u0100\u0100\u0007\u00d0>张三",), "张三"),
        (("<$\u00ff\u0100\u000e>张三<&\u0100\u0100\u000b>",), "张三"),
        (("<$100>",), "<$100>"),
        (("张\n三\x07 ",), "张 三"),
        (("\u202e张三\u200b",), "张三"),
        (("张" * 500,), "张" * 60),
        ((5,), ""),
    ],
)
def test_cards(names: tuple[object, ...], shown: str) -> None:
    assert clean_card(*names) == shown


def test_what_is_sent() -> None:
    words = f"#12 {at('2', '李四')} 请回复确认"
    assert to_segments(words, quote="77") == [REPLY, text("#12 "), mention("2"), text(" 请回复确认")]
    assert to_segments(words, mentions=False) == [text("#12 @李四 请回复确认")]
    assert plain(at("2")) == "@2"
    assert to_segments(at("2")) == [mention("2")]
