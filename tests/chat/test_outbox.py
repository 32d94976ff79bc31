"""What people see when QQ does not take the bot's messages."""

from tests.support.rig import OFFICIAL, SCORING, Rig


async def test_a_muted_group_keeps_its_queue_and_the_desk_hears_of_it_elsewhere(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    rig.faults.muted.add(OFFICIAL)
    assert await rig.say("张三", "张三 胜 李四") == []
    notice = rig.last(SCORING).text
    assert "禁言" in notice and notice.endswith("/待办")
    (docket,) = await rig.say("小周", "/待办", SCORING)
    assert "没发出去" in docket and "禁言" in docket
    rig.faults.muted.clear()
    assert rig.parts is not None
    rig.parts.unmuted(f"g{OFFICIAL}")
    await rig.idle()
    assert rig.last().text.startswith("#1 待确认")
    (ack,) = await rig.say("李四", "确认 1")
    assert ack.startswith("收到 #1")


async def test_a_mention_or_quote_that_qq_refuses_falls_back_to_plain_text(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    rig.faults.refuse_at = rig.faults.refuse_reply = True
    (prompt,) = await rig.say("张三", "张三 胜 李四")
    assert prompt.startswith("#1 待确认") and "@李四" in prompt
    assert rig.last().quote is None and not rig.last().mentions
    (ack,) = await rig.say("李四", "确认", quote=rig.last().message_id)
    assert ack.startswith("收到 #1")


async def test_an_unanswered_send_that_arrived_is_not_sent_again(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    rig.faults.mute_answers = 1
    assert len(await rig.say("张三", "张三 胜 李四")) == 1
    rig.faults.mute_answers = 2
    assert len(await rig.say("李四", "确认")) == 1
    assert [m.text.split()[0] for m in rig.qq.said_by_bot(SCORING)] == ["#1"]
