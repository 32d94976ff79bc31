"""Run the README's first command in a fresh folder, see the sandbox come up and its QQ connect, and stop it again.

Once without any settings, once with .env.example copied to .env as it stands: both must be the sandbox.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

INSTALL_SECONDS = 300
START_SECONDS = 60
STOP_SECONDS = 20
POLL_SECONDS = 0.2
READY = ("沙盒已就绪", " connected\n")
"""The log says that the sandbox is up, and that its QQ came in by the door."""
BAD = ("[ERROR]", "[CRITICAL]", "Traceback", "没有启动", "403 Forbidden")


def free_port() -> int:
    """Return a port on 127.0.0.1 that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def page(port: int) -> str:
    """Return the sandbox's page, "" while nothing answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


def ready(log: Path) -> bool:
    """Return whether the bot runs and is connected."""
    text = log.read_text("utf-8")
    return all(sign in text for sign in READY)


def start_and_stop(folder: Path, command: str, seconds: float) -> list[str]:
    """Run the command until the sandbox is ready, then interrupt it; return what went wrong."""
    port = free_port()
    log = folder.parent / "run.log"
    environment = os.environ | {"PORT": str(port), "no_proxy": "127.0.0.1", "PYTHONUNBUFFERED": "1"}
    with log.open("w") as output:
        process = subprocess.Popen(
            ["bash", "-c", command], cwd=folder, env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    wrong: list[str] = []
    try:
        until = time.monotonic() + seconds
        while not ready(log) and process.poll() is None and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
        if not ready(log):
            wrong.append("the sandbox did not come up, or its QQ could not connect")
        elif "<html" not in page(port):
            wrong.append("the sandbox's page does not answer")
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        wrong.append("it did not stop when interrupted")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    text = log.read_text("utf-8")
    wrong += [f"the log says {word}" for word in BAD if word in text]
    if not (folder / "data" / "sandbox.db").exists():
        wrong.append("there is no data/sandbox.db")
    if wrong:
        print(text[-6000:])
    return wrong


def main(folder: Path, command: str) -> int:
    """Run both ways; return the exit code."""
    print(command)
    wrong = start_and_stop(folder, command, INSTALL_SECONDS)
    if not wrong:
        shutil.rmtree(folder / "data")
        shutil.copy(folder / ".env.example", folder / ".env")
        wrong = [f"with .env.example as .env: {what}" for what in start_and_stop(folder, command, START_SECONDS)]
    print("\n".join(wrong) or "the sandbox came up and stopped, without settings and with .env.example as .env")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2]))
