"""/导出 and /导入 through the bot: the group's files, previews, refusals, clients that cannot."""

import io
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from plugins.rating_bot.handlers import workbook as handlers
from plugins.rating_bot.wire.files import FileFailed, GroupFiles
from rating_core.service.health import examine
from tests.support.engines import SQLITE
from tests.support.rig import OFFICIAL, SCORING, Rig, running_rig

GAMES = "日期,棋手A,结果,棋手B\n2026-03-02,张三,胜,李四\n2026-03-03,李四,平,王五\n"


@pytest.fixture
async def rig(engine: str, tmp_path: Path) -> AsyncIterator[Rig]:
    async with running_rig(tmp_path) as rig:
        await rig.league_of("张三", "李四", "王五")
        yield rig


def share(rig: Rig, name: str, data: str | bytes, group: int = SCORING, who: str = "小周") -> int:
    """Put a file into a group; return the message's id."""
    content = data.encode() if isinstance(data, str) else data
    return rig.qq.shelf.share(rig.qq, group, rig.people[who], name, content).message_id


async def bring(rig: Rig, name: str, data: str | bytes, words: str = "", group: int = SCORING) -> str:
    """Share a file and ask for its import; return what the bot says."""
    message = share(rig, name, data, group)
    await rig.idle()
    (said,) = await rig.say("小周", f"/导入 {words}".strip(), group, quote=message)
    return said


def number_of(said: str) -> str:
    found = re.search(r"预(\d+)", said)
    assert found is not None, said
    return found[1]


# --- out ---------------------------------------------------------------------------------------------------------


async def test_the_workbook_goes_to_the_group_s_files(rig: Rig) -> None:
    await rig.say("裁判老赵", "张三 胜 李四", SCORING)
    said = await rig.say("小周", "/导出", SCORING)
    file = rig.qq.shelf.files["/file-1"]
    assert (file.group_id, file.name) == (SCORING, "等级分20261130-1201.xlsx")
    assert said[0] == "[文件] 等级分20261130-1201.xlsx"
    assert "已上传到群文件：等级分20261130-1201.xlsx" in said[1] and "对局1局" in said[1] and "QQ绑定" in said[1]
    sheets = CalamineWorkbook.from_filelike(io.BytesIO(file.data))
    assert sheets.sheet_names == ["战绩", "榜单", "封存名单", "棋手", "调整", "计算器"]
    assert sheets.get_sheet_by_name("战绩").to_python()[1][3:6] == ["张三", "胜", "李四"]
    assert not any(str(number).encode() in file.data for number in rig.people.values())
    (journal, *_) = await rig.say("小周", "/日志 1", SCORING)
    assert "导出" in journal


@pytest.mark.parametrize("style", ["lagrange", "gocqhttp"])
async def test_a_client_that_cannot_upload_is_said(rig: Rig, style: Any) -> None:
    rig.caller._actions.style = style
    for api in ("upload_group_file", "get_file"):
        del rig.caller._actions._table[api]
    (said,) = await rig.say("小周", "/导出", SCORING)
    assert "这个QQ客户端没能上传群文件" in said and "python -m rating_core export" in said


async def test_an_upload_without_an_answer_is_not_sent_again(rig: Rig) -> None:
    calls = []

    async def silent(api: str, **data: Any) -> Any:
        from nonebot.adapters.onebot.v11 import NetworkError

        if api == "upload_group_file":
            calls.append(data["name"])
            raise NetworkError("no answer within 120 s")
        return await type(rig.caller).call_api(rig.caller, api, **data)

    rig.caller.call_api = silent  # type: ignore[method-assign]
    (said,) = await rig.say("小周", "/导出", SCORING)
    assert "没有等到QQ的回答" in said and calls == ["等级分20261130-1201.xlsx"]


async def test_only_scorekeepers_and_only_in_groups(rig: Rig) -> None:
    (said,) = await rig.say("张三", "/导出")
    assert "无权" in said and rig.qq.shelf.files == {}
    message = share(rig, "a.csv", GAMES, OFFICIAL)
    (said,) = await rig.say("张三", "/导入", quote=message)
    assert "无权" in said


# --- in ----------------------------------------------------------------------------------------------------------


async def test_a_table_is_previewed_and_applied(engine: str, rig: Rig) -> None:
    said = await bring(rig, "games.csv", GAMES)
    assert "导入「games.csv」（对局表）" in said and "共2局（单跳1v1 2局），2026-03-02到2026-03-03" in said
    assert "导入后的单跳1v1：1 " in said and said.count("\n") < 15 and len(said) <= 500
    assert rig.games() == 0
    answer, *_ = await rig.say("小周", f"确认 预{number_of(said)}", SCORING)
    assert "已导入2局，新棋手0人" in answer
    assert rig.games() == 2 and rig.rating("张三") == 2016.0
    for copy in ("导入前的备份：" in answer, any((rig.folder / "backups").glob("*before-import*"))):
        assert copy == (engine == SQLITE)  # PostgreSQL has its own backups
    assert (await examine(rig.league)).well
    assert "已经导入过（2局）" in await bring(rig, "again.csv", GAMES)
    (said,) = await rig.say("张三", "/解释 局1")
    assert "2016" in said


async def test_what_is_wrong_is_said_and_nothing_is_kept(rig: Rig) -> None:
    said = await bring(rig, "a.csv", GAMES.replace("张三", "张3").replace("王五", "钱七"))
    assert "不能导入，什么也没有写入" in said and "「张3」（第2行起，1局）：是不是「张三」？" in said
    assert said.endswith("/导入 新棋手")
    said = await bring(rig, "a.csv", GAMES.replace("平", "和").replace("李四,和", "李四,和"))
    assert "第3行：「和」不是结果，应写「平」" in said and "确认" not in said
    said = await bring(rig, "a.csv", GAMES.replace("平", "和"), "不认得的算负")
    assert "按负算的：「和」1局" in said and "确认 预" in said
    said = await bring(rig, "a.csv", GAMES.replace("王五", "钱七"), "新棋手")
    assert "新棋手：钱七" in said
    assert rig.games() == 0


async def test_a_text_a_roster_and_a_workbook(rig: Rig) -> None:
    said = await bring(rig, "报分.txt", "2026-03-02\n张三 胜 李四\n#皇后杯 1.2\n李四 平 王五\n".encode("gb18030"))
    assert "（报分文本）" in said and "新赛事：皇后杯（单跳1v1，系数1.2）" in said
    await rig.say("小周", f"确认 预{number_of(said)}", SCORING)
    assert rig.games() == 2 and "皇后杯" in rig.league.directory.events.values()
    said = await bring(rig, "名单.csv", "名字,QQ,名次\n赵六,40404040,亚军\n")
    assert "（名单）" in said and "新棋手1人" in said
    answer, *_ = await rig.say("小周", f"确认 预{number_of(said)}", SCORING)
    assert "已写入：新棋手1人，绑定QQ 1个" in answer and rig.rating("赵六") == 2250.0
    assert "没有新的内容" in await bring(rig, "名单.csv", "名字,QQ,名次\n赵六,40404040,亚军\n")
    await rig.say("小周", "/导出", SCORING)
    workbook = next(reversed(rig.qq.shelf.files.values())).data
    said = await bring(rig, "等级分.xlsx", workbook)
    assert "单跳1v1里已经有" in said, "only into an empty pool"


async def test_the_book_moved_since_the_preview(rig: Rig) -> None:
    said = await bring(rig, "games.csv", GAMES)
    await rig.say("小周", "/调分 王五 +5 测试", SCORING)
    await rig.say("小周", f"确认 预{int(number_of(said)) + 1}", SCORING)
    again, *_ = await rig.say("小周", f"确认 预{number_of(said)}", SCORING)
    assert again.startswith("这期间账本有变动，没有导入，请看新的预览：") and rig.games() == 0
    answer, *_ = await rig.say("小周", f"确认 预{number_of(again)}", SCORING)
    assert "已导入2局" in answer and rig.games() == 2


async def test_a_report_in_between_makes_the_file_too_old(rig: Rig) -> None:
    said = await bring(rig, "games.csv", GAMES)
    await rig.say("裁判老赵", "张三 胜 李四", SCORING)
    answer, *_ = await rig.say("小周", f"确认 预{number_of(said)}", SCORING)
    assert "不能导入" in answer and "已经有2026-11-30 12:01的记录" in answer and rig.games() == 1


async def test_after_a_restart_the_file_is_asked_for_again(rig: Rig) -> None:
    said = await bring(rig, "games.csv", GAMES)
    handlers._uploads.clear()  # what a new process begins with
    await rig.stop()
    await rig.start()
    answer, *_ = await rig.say("小周", f"确认 预{number_of(said)}", SCORING)
    assert "请再引用一次那条文件消息发" in answer and rig.games() == 0


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PK\x03\x04" + bytes(100), "工作簿打不开"),
        (b"\xd0\xcf\x11\xe0" + bytes(100), "另存为 .xlsx"),
        ("棋手A,结果,棋手B\n".encode(), "没有对局"),
        ("今天天气真好\n".encode(), "没有「名字」这一列"),
    ],
)
async def test_files_that_cannot_be_read(rig: Rig, data: bytes, says: str) -> None:
    assert says in await bring(rig, "文件", data)


async def test_without_a_file_it_says_what_to_do(rig: Rig) -> None:
    (said,) = await rig.say("小周", "/导入", SCORING)
    assert "再引用那条文件消息发" in said
    message = rig.qq.say(SCORING, rig.people["小周"], "这不是文件")
    await rig.idle()
    (said,) = await rig.say("小周", "/导入", SCORING, quote=message.message_id)
    assert "引用的消息里没有文件" in said
    (said,) = await rig.say("小周", "/导入", SCORING, quote=987654321)
    assert "找不到" in said


async def test_a_file_that_is_too_big_is_not_fetched(rig: Rig) -> None:
    message = rig.qq.say(
        SCORING, rig.people["小周"], segments=[{"type": "file", "data": {"file": "a", "file_size": "99999999"}}]
    )
    await rig.idle()
    (said,) = await rig.say("小周", "/导入", SCORING, quote=message.message_id)
    assert "文件有99999999字节，太大了" in said


async def test_a_name_with_tricks_is_only_a_name(rig: Rig) -> None:
    said = await bring(rig, "\u202egames.csv\n@全体成员\x00" + "长" * 200, GAMES)
    assert "\u202e" not in said and "\x00" not in said and len(said.split("\n")[0]) < 120


# --- ways to a file ------------------------------------------------------------------------------------------------


class Client:
    """A client that answers what it is told to."""

    self_id = "10000"

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def call_api(self, api: str, **data: Any) -> Any:
        from nonebot.adapters.onebot.v11 import ActionFailed

        self.asked.append(api)
        if api not in self.answers:
            raise ActionFailed(status="failed", retcode=1404)
        return self.answers[api]


def files_of(client: Client) -> GroupFiles:
    return GroupFiles(lambda: {client.self_id: client}, 1000)


async def test_the_address_of_the_file_server_comes_first(unused_tcp_port: int, tmp_path: Path) -> None:
    import asyncio

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndata")
        await writer.drain()
        writer.close()

    message = {"message": [{"type": "file", "data": {"file": "a.csv", "file_id": "/1"}}]}
    server = await asyncio.start_server(serve, "127.0.0.1", unused_tcp_port)
    async with server:
        client = Client(get_msg=message, get_group_file_url={"url": f"http://127.0.0.1:{unused_tcp_port}/f"})
        assert (await files_of(client).fetch("1", "5")).data == b"data"
        assert client.asked == ["get_msg", "get_group_file_url"]
    client = Client(get_msg=message, get_file={"base64": "ZGF0YQ=="}, get_group_file_url={"url": "file:///etc/passwd"})
    assert (await files_of(client).fetch("1", "5")).data == b"data", "no file of ours, whatever the address says"


def carrying(**file: Any) -> dict[str, Any]:
    return {"message": [{"type": "file", "data": file or None}]}


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({}, "no_message"),
        ({"get_msg": None}, "no_file"),
        ({"get_msg": {"message": "[CQ:face,id=1]"}}, "no_file"),
        ({"get_msg": carrying()}, "unavailable"),
        ({"get_msg": carrying(file_id="/1"), "get_file": {"base64": "?"}}, "unavailable"),
        ({"get_msg": carrying(file_id="/1", url="/tmp/a")}, "unavailable"),
        ({"get_msg": carrying(file_id="/1"), "get_file": {"base64": "QUFB" * 500}}, "too_big"),
    ],
)
async def test_ways_that_lead_nowhere(answers: dict[str, Any], why: str) -> None:
    with pytest.raises(FileFailed) as caught:
        await files_of(Client(**answers)).fetch("1", "5")
    assert caught.value.why == why
