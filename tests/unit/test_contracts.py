"""What may import what (pyproject.toml, importlinter), and where a clock may be read."""

import ast
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).resolve().parents[2]
CLOCKS = {"now", "utcnow", "today", "time", "time_ns", "localtime", "gmtime"}


def test_import_contracts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


def clock_reads(source: str) -> list[int]:
    """Return the lines that call something like datetime.now() or time.time()."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS
    ]


def test_the_core_reads_no_clock() -> None:
    """Time comes in as a number; only the shell, a program of its own, looks at the clock."""
    assert clock_reads("import time\nx = time.time()") == [2]
    files = [path for path in (ROOT / "rating_core").rglob("*.py") if path.name != "__main__.py"]
    assert len(files) > 20
    found = {str(path.relative_to(ROOT)): lines for path in files if (lines := clock_reads(path.read_text("utf-8")))}
    assert found == {}
