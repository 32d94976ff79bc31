"""What is written for people agrees with the code: commands, settings, the chat on the first screen, the lock files."""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.main import get_command

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.settings import Settings
from rating_core.__main__ import app as shell
from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.importing import plan, read_table
from rating_core.importing.table import COLUMNS
from tests.support import command_docs
from tests.support.rig import NOON, OFFICIAL, SCORING, Rig, running_rig

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
EXAMPLE = (ROOT / ".env.example").read_text("utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
GROUPS: dict[str, list[str]] = PROJECT["dependency-groups"]
POSTGRES: list[str] = PROJECT["project"]["optional-dependencies"]["postgres"]
LOCK, TEST_LOCK = "requirements.lock", "tests/requirements.lock"
NONEBOT_SETTINGS = {"HOST", "PORT", "ONEBOT_ACCESS_TOKEN", "SUPERUSERS"}
NAMED_ELSEWHERE = {
    "aiosqlite": "sqlite+aiosqlite",
    "manimgx-fonts": '"manimgx_fonts"',
    "manimgx-fonts-cjk": '"manimgx_fonts_cjk"',
}
"""Distribution → the text in the code by which it is used without an import."""


def block_after(mark: str) -> str:
    """Return the code block that follows a mark in the README."""
    found = re.search(re.escape(f"<!-- {mark} -->\n```") + r"\w*\n(.*?)```\n", README, re.DOTALL)
    assert found is not None, mark
    return found[1]


# --- the two commands --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "lock", "last"), [("run", LOCK, "bot.py"), ("test", TEST_LOCK, "-m pytest -q -n auto")]
)
def test_a_command_is_one_line_from_nothing_to_the_end(name: str, lock: str, last: str) -> None:
    line = block_after(f"command: {name}")
    assert line.count("\n") == 1
    venv, install, run = line.strip().split(" && ")
    assert venv == "python3 -m venv .venv"
    assert install == f".venv/bin/pip install -q --require-hashes -r {lock}"
    assert run == f".venv/bin/python {last}"


def test_windows_and_uv_install_the_same_and_run_the_same() -> None:
    install = f"py -m venv .venv && .venv\\Scripts\\pip install -q --require-hashes -r {LOCK}"
    assert f"{install} && .venv\\Scripts\\python bot.py\n" in README
    for lock, last in ((LOCK, "bot.py"), (TEST_LOCK, "-m pytest -q -n auto")):
        assert f"uv pip install -q --python .venv --require-hashes -r {lock} && .venv/bin/python {last}\n" in README


def test_ci_runs_the_readme_s_own_commands() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    for name in ("run", "test"):
        assert f"command_of {name})" in script
        assert README.count(f"<!-- command: {name} -->") == 1


# --- lock files and dependencies -----------------------------------------------------------------------------


def pins(lock: str) -> dict[str, tuple[Requirement, list[str]]]:
    """Return what a lock file pins: name → requirement and hashes."""
    text = (ROOT / lock).read_text("utf-8")
    found = {}
    for entry in re.split(r"\n(?=[a-z0-9])", text):
        lines = [line.strip().removesuffix(" \\") for line in entry.split("\n") if not line.strip().startswith("#")]
        lines = [line for line in lines if line]
        if lines:
            requirement = Requirement(lines[0])
            found[canonicalize_name(requirement.name)] = (requirement, lines[1:])
    return found


@pytest.mark.parametrize("lock", [LOCK, TEST_LOCK])
def test_a_lock_pins_everything_with_hashes_and_names_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert "://" not in text
    assert "index" not in text
    for requirement, hashes in pins(lock).values():
        assert re.fullmatch(r"==[\w.!+]+", str(requirement.specifier)), requirement
        assert hashes
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", line) for line in hashes), requirement


def test_what_is_tested_is_what_runs() -> None:
    tested = pins(TEST_LOCK)
    for name, (requirement, hashes) in pins(LOCK).items():
        assert str(tested[name][0]) == str(requirement)
        assert tested[name][1] == hashes


@pytest.mark.parametrize("lock", [LOCK, TEST_LOCK])
def test_a_lock_satisfies_pyproject(lock: str) -> None:
    """If this fails, run .ci/lock."""
    pinned = pins(lock)
    for text in declared(with_dev=lock == TEST_LOCK):
        requirement = Requirement(text)
        (version,) = pinned[canonicalize_name(requirement.name)][0].specifier
        assert requirement.specifier.contains(version.version), text


def declared(*, with_dev: bool) -> list[str]:
    dependencies: list[str] = PROJECT["project"]["dependencies"]
    return dependencies + ([*POSTGRES, *GROUPS["dev"]] if with_dev else [])


def test_postgresql_is_installed_by_a_line_in_the_docs() -> None:
    line = f'.venv/bin/pip install "{POSTGRES[0]}"\n'
    assert line in (ROOT / "docs" / "部署.md").read_text("utf-8")


def sources(*places: str) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def imported(*places: str) -> dict[str, Path]:
    """Return the third-party modules that are imported: top name → one file that does."""
    found: dict[str, Path] = {}
    for path in sources(*places):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            for name in names:
                found[name.split(".")[0]] = path
    ours = {"plugins", "rating_core", "migrations", "tests"}
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names | ours}


CODE = ("bot.py", "plugins", "rating_core", "migrations")


@pytest.mark.parametrize(("places", "with_dev"), [(CODE, False), ((*CODE, "tests", ".ci"), True)])
def test_what_is_imported_is_declared(places: tuple[str, ...], with_dev: bool) -> None:
    also = [*GROUPS["bench"], "uno"] if with_dev else []  # not installed for the tests; uno comes with LibreOffice
    allowed = {canonicalize_name(Requirement(text).name) for text in [*declared(with_dev=with_dev), *also]}
    of_module = packages_distributions()
    for module, path in imported(*places).items():
        names = {canonicalize_name(name) for name in of_module.get(module, [module])}
        assert names & allowed, f"{path.relative_to(ROOT)} imports {module}; declare one of {sorted(names)}"


def test_what_is_declared_is_used() -> None:
    of_module = packages_distributions()
    used = {canonicalize_name(name) for module in imported(*CODE) for name in of_module[module]}
    text = "".join(path.read_text("utf-8") for path in sources(*CODE))
    used |= {name for name, sign in NAMED_ELSEWHERE.items() if sign in text}
    assert {canonicalize_name(Requirement(text).name) for text in declared(with_dev=False)} <= used


# --- commands ----------------------------------------------------------------------------------------------------


def test_the_readme_s_command_tables_are_the_command_table() -> None:
    """If this fails, run `python -m tests.support.command_docs`. The order is that of the first import; any will do."""
    _, rest = README.split(command_docs.BEGIN)
    written, _ = rest.split(command_docs.END)
    assert sorted(written.strip().split("\n")) == sorted(command_docs.tables().strip().split("\n"))


def test_every_command_named_in_the_documents_exists() -> None:
    words = {word for command in load_handlers() for word in (command.word, *command.aliases)}
    for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))):
        for typed in re.findall(r"`/([\u4e00-\u9fff][^`]*)`", path.read_text("utf-8")):
            assert any(typed == word or typed.startswith(f"{word} ") for word in words), f"{path.name}: /{typed}"


# --- settings ------------------------------------------------------------------------------------------------------


def known_settings() -> set[str]:
    return NONEBOT_SETTINGS | {f"TIAOQI__{name.upper()}" for name in Settings.model_fields}


def test_every_setting_stands_in_the_readme_and_no_other() -> None:
    table = re.findall(r"^\| `([A-Z][A-Z_]+)` \|", README, re.MULTILINE)
    assert set(table) == known_settings()
    assert len(table) == len(set(table))


def test_every_setting_stands_in_the_example_with_a_comment_and_no_other() -> None:
    lines = EXAMPLE.split("\n")
    at = {m[1]: i for i, line in enumerate(lines) if (m := re.match(r"(?:# )?([A-Z][A-Z_]+)=", line))}
    assert set(at) == known_settings()
    for name, line in at.items():
        assert re.match(r"# .*[\u4e00-\u9fff]", lines[line - 1]), f"{name} has no comment above"


def test_settings_named_in_any_document_exist() -> None:
    for path in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / ".env.example"):
        for name in re.findall(r"TIAOQI__[A-Z_]+", path.read_text("utf-8")):
            assert name in known_settings(), f"{path.name}: {name}"


def test_the_example_shows_the_defaults() -> None:
    shown = dict(re.findall(r"^(?:# )?TIAOQI__([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))
    values = {name.lower(): _value(text) for name, text in shown.items()}
    assert Settings.model_validate(values) == Settings()
    rows = dict(re.findall(r"^\| `TIAOQI__([A-Z_]+)` \| `(.*?)` \|", README, re.MULTILINE))
    assert {name: _value(text) for name, text in rows.items()} == {name: _value(text) for name, text in shown.items()}


def test_the_settings_of_the_readme_s_connecting_step_are_accepted() -> None:
    lines = re.search(r"```sh\n(ONEBOT_ACCESS_TOKEN=.*?)```", README, re.DOTALL)
    assert lines is not None
    ours = re.findall(r"^TIAOQI__([A-Z_]+)=(.*)$", lines[1], re.MULTILINE)
    settings = Settings.model_validate({name.lower(): _value(text) for name, text in ours})
    assert settings.official_groups == {"官方群号": "单跳1v1"}
    assert settings.scoring_groups == ("记分群号",)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


# --- the chat on the first screen ------------------------------------------------------------------------------------


async def test_the_first_screen_is_what_the_bot_really_says(tmp_path: Path) -> None:
    parts = re.split(r"^(〔.+〕|\S+：)\n", block_after("transcript"), flags=re.MULTILINE)[1:]
    groups = {"〔官方群〕": OFFICIAL, "〔记分群〕": SCORING}
    group = OFFICIAL
    async with running_rig(tmp_path) as rig:
        await rig.league_of("张三", "李四")
        said: dict[int, list[str]] = {OFFICIAL: [], SCORING: []}
        for head, words in zip(parts[::2], parts[1::2], strict=True):
            if head in groups:
                group = groups[head]
            elif head == "机器人：":
                said[group].append(words.rstrip("\n"))
            else:
                await rig.say(head.removesuffix("："), words.rstrip("\n"), group)
        for each, expected in said.items():
            assert [_named(rig, message.text) for message in rig.qq.said_by_bot(each)] == expected
    assert all(said.values())


def _named(rig: Rig, text: str) -> str:
    """A mention is sent as a number and shown as the card."""
    for name, number in rig.people.items():
        text = text.replace(f"@{number}", f"@{name}")
    return text.rstrip("\n")


# --- the roster file and the shell ------------------------------------------------------------------------------------


def test_the_sample_roster_can_be_imported() -> None:
    sample = re.search(r"```csv\n(.*?)```", README, re.DOTALL)
    assert sample is not None
    for encoding in ("utf-8", "gb18030"):
        table = read_table(sample[1].encode(encoding))
        found = plan(table, Book(), Directory(), {}, NOON)
        assert found.problems == ()
        assert (len(found.players), len(found.openings)) == (4, 3)


def test_every_column_of_a_roster_is_described() -> None:
    table = README.split("推荐的表头")[1].split("\n\n")[0]
    described = re.findall(r"^\| (名字、.*?|\S+) \| ", table, re.MULTILINE)
    assert [tuple(cell.lower().split("、")) for cell in described] == list(COLUMNS.values())


def test_the_shell_s_commands_are_named_and_no_other() -> None:
    existing = {str(name) for name in get_command(shell).commands}
    for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))):
        named = set(re.findall(r"-m rating_core ([a-z]+)", path.read_text("utf-8")))
        assert named <= existing, path.name
    assert existing <= set(re.findall(r"-m rating_core ([a-z]+)", README))


# --- the rest --------------------------------------------------------------------------------------------------------


def test_links_between_documents_lead_somewhere() -> None:
    for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text("utf-8")
        anchors = {
            re.sub(r"[^\w-]", "", title.lower().replace(" ", "-")) for title in re.findall(r"^#+ (.+)$", text, re.M)
        }
        for link in re.findall(r"\]\(([^)]+)\)", text):
            if link.startswith("#"):
                assert link[1:] in anchors, f"{path.name}: {link}"
            elif "://" not in link:
                assert (path.parent / link).exists(), f"{path.name}: {link}"


def test_the_image_copies_what_exists_and_what_the_bot_needs() -> None:
    copied = [
        name
        for line in re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text("utf-8"), re.M)
        for name in line.split()
    ]
    assert all((ROOT / name).exists() for name in copied)
    assert {*CODE, "pyproject.toml", LOCK} <= set(copied)


def test_the_changelog_knows_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{PROJECT['project']['version']}]" in text
    assert "### 规则" in text


# --- rules to code ----------------------------------------------------------------------------------------


def _rule_rows() -> list[tuple[str, str, str, str]]:
    text = (ROOT / "docs" / "规则与代码.md").read_text("utf-8")
    row = re.compile(r"\| (\S+) \| .+ \| `(\S+)` `(\w+)` \| `(\S+)` \|")
    return [(m[1], m[2], m[3], m[4]) for line in text.splitlines() if (m := row.fullmatch(line))]


def test_every_clause_has_its_function_and_its_test() -> None:
    rows = _rule_rows()
    assert {clause for clause, *_ in rows} >= {f"L{n}" for n in range(1, 17)}
    for clause, code, name, test in rows:
        source = (ROOT / code).read_text("utf-8")
        assert re.search(rf"^\s*(async )?(def|class) {name}\b", source, re.MULTILINE), (clause, code, name)
        assert (ROOT / test).exists(), (clause, test)


def test_every_clause_is_cited_by_a_test() -> None:
    tests = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", ".txt")]
    for number in range(1, 17):
        assert any(re.search(rf"L{number}(?!\d)", text) for text in tests if "test_docs" not in text[:200]), number
