"""What the image and the compose file say, as far as it can be tried without Docker: nothing here builds an image."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.world import settings
from tests.support import process
from tests.support.process import BotProcess, free_port

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
ENVIRONMENT = dict(re.findall(r"(\w+)=(\S+)", re.search(r"^ENV (.*)$", DOCKERFILE, re.M)[1]))  # type: ignore[index]


def instructions(word: str) -> list[str]:
    return re.findall(rf"^{word} +(.*)$", DOCKERFILE, re.M)


def healthcheck() -> list[str]:
    """The command of the health check, with this Python."""
    (line,) = instructions("HEALTHCHECK")
    command = json.loads(line[line.index("CMD ") + 4 :])
    assert command[0] == "python"
    return [sys.executable, *command[1:]]


async def healthy(port: int) -> bool:
    return await asyncio.to_thread(
        lambda: subprocess.run(healthcheck(), env={"PORT": str(port)}, capture_output=True, timeout=10).returncode == 0
    )


async def test_the_bot_starts_from_what_the_image_holds_and_is_found_healthy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line in instructions("COPY"):
        *sources, target = line.split()
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, tmp_path / target, ignore=shutil.ignore_patterns("__pycache__", ".*"))
            else:
                shutil.copy(ROOT / source, tmp_path / target)
    monkeypatch.setattr(process, "BOT_PY", tmp_path / "bot.py")
    port = free_port()
    asked = settings(port) | {name: value for name, value in ENVIRONMENT.items() if name != "PORT"}
    asked |= {"TIAOQI__PICTURES": "true", "TIAOQI__PUBLIC_SITE": "true"}
    bot = BotProcess(tmp_path, asked)
    assert not await healthy(port)
    try:
        await bot.start()
        assert f"http://{ENVIRONMENT['HOST']}:{port}" in await bot.log_line("Uvicorn running on")
        assert await healthy(port)
        await bot.stop()
    finally:
        await bot.close()
    assert not await healthy(port)


def test_the_bot_is_nobody_special_and_keeps_its_data_in_a_volume() -> None:
    assert instructions("USER") == ["bot"] and DOCKERFILE.index("\nUSER") < DOCKERFILE.index("\nCMD")
    assert "--require-hashes" in DOCKERFILE and "-r requirements.lock" in DOCKERFILE
    assert instructions("VOLUME") == ["/app/data"] and instructions("CMD") == ['["python", "bot.py"]']


def test_nothing_private_is_sent_to_docker() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").split("\n")
    kept = {line[1:] for line in lines if line.startswith("!")}
    copied = {source for line in instructions("COPY") for source in line.split()[:-1]}
    assert "*" in lines and kept == copied


def test_the_bot_publishes_no_port_and_napcat_only_its_page_on_this_machine() -> None:
    bot, napcat = COMPOSE["services"]["bot"], COMPOSE["services"]["napcat"]
    assert "ports" not in bot and "network_mode" not in bot and "network_mode" not in napcat
    assert napcat["ports"] == ["127.0.0.1:6099:6099"]
    assert bot["networks"] == napcat["networks"] == list(COMPOSE["networks"])
    assert bot["environment"]["ONEBOT_ACCESS_TOKEN"].startswith("${ONEBOT_ACCESS_TOKEN:?")


def test_data_and_backups_outlive_the_container() -> None:
    bot = COMPOSE["services"]["bot"]
    places = dict(reversed(volume.rsplit(":", 1)) for volume in bot["volumes"])
    assert set(places) == {"/app/data", "/app/data/backups"}
    assert places["/app/data"] in COMPOSE["volumes"] and places["/app/data/backups"].endswith("./backups}")
    assert bot["environment"]["TIAOQI__DATABASE_URL"] == "sqlite+aiosqlite:////app/data/ratings.db"
    assert {v.split(":")[0] for v in COMPOSE["services"]["napcat"]["volumes"]} <= set(COMPOSE["volumes"])


def test_the_client_s_address_in_the_docs_is_the_bot_s_in_the_network() -> None:
    text = (ROOT / "docs" / "部署.md").read_text("utf-8")
    port = COMPOSE["services"]["bot"]["environment"]["PORT"]
    assert f"ws://bot:{port}/onebot/v11/ws" in text and "bot" in COMPOSE["services"]
    assert "没有构建过，也没有运行过" in text
