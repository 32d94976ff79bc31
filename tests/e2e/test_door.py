"""The door of the real bot: one socket, one token; settings that are half there; what the sandbox lets in."""

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from tests.e2e.world import BOT, OFFICIAL, OWNER, SCORING, TOKEN, World, settings
from tests.support.engines import SQLITE
from tests.support.process import BotProcess, free_port

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLAYERS = ("张三", "李四")
GROUPS = {"TIAOQI__OFFICIAL_GROUPS": f'["{OFFICIAL}"]', "TIAOQI__SCORING_GROUPS": f'["{SCORING}"]'}
REFUSALS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "groups without token": (GROUPS, ("ONEBOT_ACCESS_TOKEN", "没有设置")),
    "blank token": (GROUPS | {"ONEBOT_ACCESS_TOKEN": "   "}, ("ONEBOT_ACCESS_TOKEN", "没有设置")),
    "short token": (GROUPS | {"ONEBOT_ACCESS_TOKEN": "123456789012345"}, ("ONEBOT_ACCESS_TOKEN", "15位", "16位")),
    "token without groups": ({"ONEBOT_ACCESS_TOKEN": TOKEN}, ("TIAOQI__OFFICIAL_GROUPS", "TIAOQI__SCORING_GROUPS")),
    "no scoring group": (
        {"ONEBOT_ACCESS_TOKEN": TOKEN, "TIAOQI__OFFICIAL_GROUPS": GROUPS["TIAOQI__OFFICIAL_GROUPS"]},
        ("TIAOQI__SCORING_GROUPS", "记分群"),
    ),
    "unknown pool": (
        GROUPS | {"ONEBOT_ACCESS_TOKEN": TOKEN, "TIAOQI__OFFICIAL_GROUPS": f'{{"{OFFICIAL}":"单跳"}}'},
        ("TIAOQI__OFFICIAL_GROUPS", "「单跳」", "单跳1v1"),
    ),
    "official and scoring": (
        GROUPS | {"ONEBOT_ACCESS_TOKEN": TOKEN, "TIAOQI__SCORING_GROUPS": f'["{OFFICIAL}"]'},
        (str(OFFICIAL), "官方群", "记分群"),
    ),
    "not JSON": (GROUPS | {"ONEBOT_ACCESS_TOKEN": TOKEN, "TIAOQI__SCORING_GROUPS": '["1'}, ("TIAOQI__SCORING_GROUPS",)),
    "unknown setting": (GROUPS | {"ONEBOT_ACCESS_TOKEN": TOKEN, "TIAOQI__GROUPS": "[]"}, ("TIAOQI__GROUPS",)),
}


@pytest.fixture(scope="module")
def engine() -> str:
    """The door knows no database."""
    return SQLITE


def request(port: int, path: str, body: object = None, **headers: str) -> tuple[int, bytes]:
    """Return status and body of a GET, or of a POST with a JSON body."""
    data = None if body is None else json.dumps(body).encode()
    asked = Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json", **headers})
    try:
        with build_opener(ProxyHandler({})).open(asked, timeout=10) as answer:
            return int(answer.status), answer.read()
    except HTTPError as error:
        return error.code, error.read()


def socket_to(port: int, path: str = "/onebot/v11/ws", **headers: str) -> connect:
    return connect(f"ws://127.0.0.1:{port}{path}", additional_headers=headers, proxy=None)


# --- the real mode --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/onebot/v11/", "/onebot/v11", "/onebot/v11/http", "/onebot/v11/http/", "/onebot/v11/ws"]
)
async def test_no_event_comes_in_by_post(world: World, path: str) -> None:
    """Without a signature and with a superuser's number: this was executed by the adapter as it comes (field notes)."""
    message = world.say("群主", "/任命 裁判 88888")
    await world.hear("裁判", after=message)
    forged = world.client.event_of(message) | {"message_id": 1, "real_seq": "999999999", "message_seq": 1}
    forged |= {"raw_message": "/免去 裁判 88888", "message": [{"type": "text", "data": {"text": "/免去 裁判 88888"}}]}
    status, _ = await asyncio.to_thread(
        request, world.port, path, forged, **{"X-Self-ID": str(BOT), "Authorization": f"Bearer {TOKEN}"}
    )
    assert status == 404
    assert await world.said_since(world.say("群主", "好")) == []
    await world.ask("群主", "/免去 裁判 88888", "裁判")


PAGES = "/ /sandbox /sandbox/static/page.js /docs /openapi.json /redoc /board /board/ /board/api/".split()


@pytest.mark.parametrize("path", PAGES)
async def test_there_is_no_page(world: World, path: str) -> None:
    status, body = await asyncio.to_thread(request, world.port, path)
    assert status == 404, body


@pytest.mark.parametrize("path", ["/sandbox/live", "/onebot/v11/", "/onebot/v11/ws/", "/ws", "/"])
async def test_there_is_no_other_socket(world: World, path: str) -> None:
    with pytest.raises(InvalidHandshake):
        async with socket_to(world.port, path, Authorization=f"Bearer {TOKEN}", **{"X-Self-ID": "10009"}):
            pass


@pytest.mark.parametrize(
    "token", [None, "", "Bearer ", "Bearer wrong", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN[:5]]
)
async def test_a_wrong_token_is_refused(world: World, token: str | None) -> None:
    headers = {} if token is None else {"Authorization": token}
    with pytest.raises(InvalidStatus) as refused:
        async with socket_to(world.port, **headers, **{"X-Self-ID": "10009"}):
            pass
    assert refused.value.response.status_code == 403


async def test_the_token_is_not_taken_from_the_address(world: World) -> None:
    with pytest.raises(InvalidStatus):
        async with socket_to(world.port, f"/onebot/v11/ws?access_token={TOKEN}", **{"X-Self-ID": "10009"}):
            pass


async def test_a_second_connection_does_not_push_the_first_out(world: World) -> None:
    with pytest.raises((InvalidHandshake, ConnectionClosed)):
        async with socket_to(world.port, Authorization=f"Bearer {TOKEN}", **{"X-Self-ID": str(BOT)}) as second:
            await second.recv()
    await world.ask("张三", "/等级分", "张三")


async def test_events_of_another_account_are_dropped(world: World) -> None:
    before = world.say("群主", "好")
    for self_id in (10009, "10009", 0, -1, "x"):
        with world.client.silent():
            message = world.say("张三", "/等级分")
        world.client.push(world.client.event_of(message) | {"self_id": self_id})
    assert await world.said_since(before) == []


async def test_a_group_role_gives_no_right_outside_the_scoring_groups(world: World) -> None:
    world.qq.add_member(OFFICIAL, 70_001, card="官方群群主", role="owner")
    world.people["官方群群主"] = 70_001
    await world.ask("官方群群主", "/新棋手 王五 70002", "无权")
    world.qq.add_member(SCORING, 70_003, card="记分群管理", role="admin")
    world.people["记分群管理"] = 70_003
    await world.ask("记分群管理", "/新棋手 王五 70002", "王五", group=SCORING)


# --- settings -------------------------------------------------------------------------------------------------


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def starts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, list[Path]]]:
    """Start with each of REFUSALS; exit code, log and what was made on the disk."""

    two_at_a_time = asyncio.Semaphore(2)

    async def start(given: dict[str, str]) -> tuple[int, str, list[Path]]:
        async with two_at_a_time:
            return await run(given)

    async def run(given: dict[str, str]) -> tuple[int, str, list[Path]]:
        folder = tmp_path_factory.mktemp("refused")
        bot = BotProcess(folder, {"HOST": "127.0.0.1", "PORT": str(free_port()), "SUPERUSERS": f'["{OWNER}"]'} | given)
        await bot.spawn()
        try:
            return await bot.ended(), bot.log, list(folder.iterdir())
        finally:
            await bot.close()

    return dict(zip(REFUSALS, await asyncio.gather(*(start(given) for given, _ in REFUSALS.values())), strict=True))


@pytest.mark.parametrize("name", REFUSALS)
async def test_settings_that_are_half_there_refuse_to_start(
    starts: dict[str, tuple[int, str, list[Path]]], name: str
) -> None:
    code, log, made = starts[name]
    assert code == 2, log
    said = log[log.index("没有启动") :]
    for part in REFUSALS[name][1]:
        assert part in said, said
    assert "Traceback" not in log
    assert made == []


async def test_settings_from_a_file_are_the_same(tmp_path: Path) -> None:
    port = free_port()
    given = settings(port)
    (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in given.items()), "utf-8")
    bot = BotProcess(tmp_path, {})
    try:
        await bot.start()
        assert await asyncio.to_thread(request, port, "/") == (404, b'{"detail":"Not Found"}')
        assert (tmp_path / "ratings.db").is_file()
        await bot.stop()
    finally:
        await bot.close()


async def test_only_the_accounts_named_may_connect(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.bot.settings["TIAOQI__BOT_IDS"] = f'["{BOT}"]'
    await world.prepare(*PLAYERS)
    try:
        await world.start()
        with pytest.raises(InvalidStatus):
            async with socket_to(world.port, Authorization=f"Bearer {TOKEN}", **{"X-Self-ID": "10009"}):
                pass
        await world.ask("张三", "/等级分", "张三")
        await world.stop()
    finally:
        await world.close()


# --- the sandbox ----------------------------------------------------------------------------------------------


async def test_the_sandbox_is_for_this_machine_only(tmp_path: Path) -> None:
    port = free_port()
    bot = BotProcess(tmp_path, {"PORT": str(port), "HOST": "0.0.0.0"})
    own = f"127.0.0.1:{port}"
    try:
        await bot.start()
        assert f"http://127.0.0.1:{port}" in await bot.log_line("Uvicorn running on")

        async def status(path: str, **headers: str) -> int:
            return (await asyncio.to_thread(request, port, path, **headers))[0]

        async def live(**options: Any) -> None:
            async with connect(f"ws://127.0.0.1:{port}/sandbox/live", proxy=None, **options) as ws:
                await ws.recv()

        assert await status("/") == 200
        assert await status("/", Host=f"localhost:{port}") == 200
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1"):
            assert await status("/", Host=host) == 403
        for origin in ("http://evil.example", f"https://{own}", "null", f"http://evil.example:{port}"):
            assert await status("/", Origin=origin) == 403
            with pytest.raises(InvalidHandshake):
                await live(origin=origin)
        with pytest.raises(InvalidHandshake):
            await live()
        await live(origin=f"http://{own}")
        for token in ("", TOKEN, "sandbox"):
            with pytest.raises(InvalidHandshake):
                async with socket_to(port, Authorization=f"Bearer {token}", **{"X-Self-ID": "10009"}):
                    pass
        for path in ("/onebot/v11/", "/onebot/v11/http"):
            assert (await asyncio.to_thread(request, port, path, {}))[0] == 404
        await bot.stop()
        assert (tmp_path / "data" / "sandbox.db").is_file()
    finally:
        await bot.close()
