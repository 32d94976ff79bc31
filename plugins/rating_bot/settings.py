"""Settings: every one, with its meaning. From the environment or .env; TIAOQI__… for our own."""

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from rating_core.rulebook import POOLS

MIN_TOKEN = 16


class SettingsError(Exception):
    """A setting is missing or wrong; the text says in Chinese what to set."""


def _decoded(value: Any) -> Any:
    """JSON text from the environment as what it says (NoneBot decodes only what stands in .env); blank as nothing."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.strip() else ()
    except ValueError:
        return value


def _groups(value: Any) -> Any:
    """A list of groups or a map group → pool; numbers are taken as text."""
    value = _decoded(value)
    if isinstance(value, list | tuple | set):
        return {str(group): "" for group in value}
    if isinstance(value, dict):
        return {str(group): str(pool or "") for group, pool in value.items()}
    return value


def _texts(value: Any) -> Any:
    value = _decoded(value)
    return tuple(str(item) for item in value) if isinstance(value, list | tuple | set) else value


class Settings(BaseModel):
    """The bot's own settings (TIAOQI__NAME)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    official_groups: Annotated[dict[str, str], BeforeValidator(_groups)] = Field(default_factory=dict)
    """Group → its pool ("" for none)."""
    scoring_groups: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    database_url: str = "sqlite+aiosqlite:///data/ratings.db"
    remind_hours: float = Field(default=24, gt=0)
    confirm_hours: float = Field(default=72, gt=0)
    send_interval: float = Field(default=1.5, ge=0)
    pictures: bool = True
    """Boards, cards and curves as pictures; off: as text."""
    public_site: bool = False
    """The pages under /board/ on the bot's port; the sandbox always has them."""
    bot_ids: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    """QQ numbers the bot may log in as; empty: any."""

    @property
    def groups(self) -> frozenset[str]:
        """All configured groups; everywhere else the bot is silent."""
        return frozenset(self.official_groups) | frozenset(self.scoring_groups)


def check(settings: Settings, token: str | None) -> None:
    """Refuse settings that are half there. Raises SettingsError."""
    if not token:
        raise SettingsError(
            "已经设置了群，但没有设置 ONEBOT_ACCESS_TOKEN：任何人都能冒充QQ连进来，所以不启动。\n"
            f"请在 .env 里写一行 ONEBOT_ACCESS_TOKEN=至少{MIN_TOKEN}位的随机串，并在 NapCat/LLOneBot 里填同一串。"
        )
    if len(token) < MIN_TOKEN:
        raise SettingsError(
            f"ONEBOT_ACCESS_TOKEN 只有{len(token)}位，太短，容易被猜到。请换成至少{MIN_TOKEN}位的随机串。"
        )
    if not settings.groups:
        raise SettingsError(
            '设置了 ONEBOT_ACCESS_TOKEN，但没有设置群。请在 .env 里写 TIAOQI__OFFICIAL_GROUPS=["群号"] '
            '和 TIAOQI__SCORING_GROUPS=["群号"]。'
        )
    if not settings.scoring_groups:
        raise SettingsError('没有设置记分群，收到的比分没处转发。请在 .env 里写 TIAOQI__SCORING_GROUPS=["群号"]。')
    for group, pool in settings.official_groups.items():
        if pool and pool not in POOLS:
            raise SettingsError(
                f"TIAOQI__OFFICIAL_GROUPS 里群 {group} 的榜「{pool}」不认识；可用的榜：{'、'.join(POOLS)}。"
            )
    if both := frozenset(settings.official_groups) & frozenset(settings.scoring_groups):
        raise SettingsError(f"群 {'、'.join(sorted(both))} 同时写成了官方群和记分群，请只留一处。")
    for group in settings.groups:
        if not group.isdigit():
            raise SettingsError(f"群号「{group}」不是数字。请写QQ群号，例如 476745350。")


def snapshot_file(settings: Settings) -> Path:
    """Return the file that keeps the folded book between two runs; it may be deleted at any time."""
    from rating_core.store.database import sqlite_path

    path = sqlite_path(settings.database_url)
    return data_folder(settings) / f"{path.stem if path else 'ratings'}.snapshot"


def data_folder(settings: Settings) -> Path:
    """Return the folder for backups and files: beside the SQLite file, else data/."""
    from rating_core.store.database import sqlite_path

    path = sqlite_path(settings.database_url)
    return path.parent if path else Path("data")
