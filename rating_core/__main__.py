"""The operator's shell: python -m rating_core COMMAND (commands.md, "Operator's shell")."""

import asyncio
import os
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from rating_core.importing.games_plan import Options
from rating_core.rulebook import DEFAULT_POOL, POOLS
from rating_core.shell import commands, moving, restoring
from rating_core.shell.opening import DEFAULT_URL, SETTING, ShellError, database_url

app = typer.Typer(
    help="跳棋等级分的操作台。只读的命令可以在机器人运行时使用；写入的命令要先停掉机器人。",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", help=f"数据库文件或地址；默认取 {SETTING}（环境变量或 .env），再默认 {DEFAULT_URL}"),
]


def now() -> int:
    """Return the time in ms."""
    return time.time_ns() // 1_000_000


def _url(option: str | None) -> str:
    return database_url(option, os.environ, Path.cwd())


def _finish(work: Coroutine[Any, Any, int]) -> None:
    raise typer.Exit(asyncio.run(work))


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="导出的工作簿、对局表（xlsx、CSV）、报分文本，或名单（CSV、xlsx）")],
    yes: Annotated[bool, typer.Option("--yes", help="真的写入；不加就只试算")] = False,
    new_players: Annotated[
        bool, typer.Option("--new-players", help="对局里榜上没有的名字都登记成新棋手（普通）")
    ] = False,
    unknown_as_loss: Annotated[
        bool, typer.Option("--unknown-as-loss", help="和旧表格一样：结果不是胜、平的一律算负")
    ] = False,
    pool: Annotated[str, typer.Option("--pool", help=f"没有写榜的对局算哪个榜：{'、'.join(POOLS)}")] = "",
    database: DatabaseOption = None,
) -> None:
    """导入对局或名单。默认只试算，列出所有问题、导入后的榜和表里的分差多少；--yes 一次全部写入。"""
    options = Options(new_players, unknown_as_loss, pool)
    _finish(moving.import_file(_url(database), file, options, yes, now, typer.echo))


@app.command()
def export(
    file: Annotated[Path, typer.Argument(metavar="文件.xlsx", help="新工作簿的名字")], database: DatabaseOption = None
) -> None:
    """导出工作簿：战绩、榜单、封存名单、棋手、调整、计算器，公式是活的。机器人运行时也可以。"""
    _finish(moving.export_file(_url(database), file, now, typer.echo))


@app.command()
def board(
    pool: Annotated[str, typer.Option("--pool", help=f"榜：{'、'.join(POOLS)}")] = DEFAULT_POOL,
    top: Annotated[int | None, typer.Option("--top", min=1, help="只列前几名")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="输出JSON")] = False,
    database: DatabaseOption = None,
) -> None:
    """显示排行榜。"""
    _finish(commands.show_board(_url(database), pool, top, as_json, now, typer.echo))


@app.command()
def calc(
    left: Annotated[float, typer.Argument(metavar="左方等级分")],
    result: Annotated[str, typer.Argument(metavar="胜|平|负", help="左方的结果")],
    right: Annotated[float, typer.Argument(metavar="右方等级分")],
    weight: Annotated[str, typer.Argument(metavar="[系数]", help="1、1.2 或 2")] = "1",
) -> None:
    """算一盘棋的新等级分，例如：calc 2000 胜 2200 1.2"""
    raise typer.Exit(commands.calc(left, result, right, weight, typer.echo))


@app.command()
def replay(
    verify: Annotated[bool, typer.Option("--verify", help="校验哈希链，并与公布过的分数逐一核对")] = False,
    database: DatabaseOption = None,
) -> None:
    """从账本第一行起重算全部等级分。核对不一致时退出码是 1。"""
    _finish(commands.replay(_url(database), verify, typer.echo))


@app.command()
def backup(
    folder: Annotated[Path | None, typer.Argument(metavar="[文件夹]", help="默认是数据库旁边的 backups")] = None,
    database: DatabaseOption = None,
) -> None:
    """备份数据库，机器人运行时也可以。"""
    _finish(commands.backup(_url(database), folder, now, typer.echo))


@app.command()
def restore(
    backup: Annotated[Path, typer.Argument(metavar="备份", help="例如 data/backups/ratings-daily-20261130.db")],
    yes: Annotated[bool, typer.Option("--yes", help="真的恢复；不加就只说会怎样")] = False,
    database: DatabaseOption = None,
) -> None:
    """从备份恢复。先检查备份，说会丢掉哪些记录；--yes 才换上，原来的文件留着。要先停掉机器人。"""
    _finish(restoring.restore(_url(database), backup, yes, now, typer.echo))


@app.command()
def rights(
    drop: Annotated[bool, typer.Option("--drop", help="删掉这些行；要先停掉机器人")] = False,
    database: DatabaseOption = None,
) -> None:
    """列出权限表里和写下时不一样的行：QQ绑定、任命、蒙面人公用号。这些行不给任何权利。"""
    _finish(commands.rights(_url(database), drop, typer.echo))


def main() -> None:
    """Run a command; what it cannot do ends with a Chinese sentence and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without a character shows its code instead of failing
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="python -m rating_core")
    except ShellError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
