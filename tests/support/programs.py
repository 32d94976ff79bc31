"""Running programs of ours one after the other, each in a process of its own, and showing what they print."""

import subprocess
import sys
import time


def run(module: str, about: str, options: list[str]) -> tuple[int, list[str]]:
    """Run `python -m module`; return its exit code and the lines it printed."""
    begin, lines = time.monotonic(), []
    name = module.rpartition(".")[2]
    print(f"\n=== {name}: {about}", flush=True)
    command = [sys.executable, "-m", module, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip("\n"))
    print(f"--- {name}: {time.monotonic() - begin:.0f} s", flush=True)
    return process.returncode, lines
