"""The simulation itself: one seed is one trace, whatever the process; and it can fail."""

import asyncio
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.sim.loop import Stuck, VirtualLoop

ROOT = Path(__file__).resolve().parents[2]


def simulate(*arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own."""
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "tests.reliability.simulation", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=110, check=False)


@pytest.mark.timeout(240)
def test_a_seed_gives_the_same_trace_in_every_process() -> None:
    runs = [simulate("--seeds", "16", "--jobs", jobs, hash_seed=seed) for seed, jobs in (("1", "1"), ("2", "2"))]
    figures = [run.stdout.splitlines()[-1] for run in runs]
    for run, figure in zip(runs, figures, strict=True):
        assert run.returncode == 0, run.stdout + run.stderr
        assert figure.startswith("FIGURE simulation: 16 worlds from seed 1, 0 broken promises")
    traces = {re.search("traces ([0-9a-f]{16})", figure)[1] for figure in figures}  # type: ignore[index]
    assert len(traces) == 1


@pytest.mark.timeout(120)
def test_one_seed_is_replayed_with_everything_that_happens() -> None:
    run = simulate("--seed", "3")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "the client connects" in run.stdout and "bot takes" in run.stdout
    assert run.stdout.splitlines()[-1] == "seed 3: every promise was kept"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("mutant", ["dedupe", "gap", "confirm"])
def test_a_fault_put_into_the_product_is_found(mutant: str) -> None:
    run = simulate("--mutant", mutant, "--seeds", "100", "--jobs", "1")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith(f"mutant {mutant}: seed ")


# --- the loop ---------------------------------------------------------------------------------------------


def on_a_loop(seed: int, work: object) -> object:
    loop = VirtualLoop(random.Random(seed), shuffle=1.0)
    try:
        return loop.run_until_complete(work)  # type: ignore[arg-type]
    finally:
        loop.close()


def test_time_passes_only_where_nothing_else_is_to_be_done() -> None:
    async def wait() -> list[float]:
        loop = asyncio.get_running_loop()
        before = loop.time()
        for _ in range(100):
            await asyncio.sleep(0)
        seen = [loop.time() - before]
        await asyncio.sleep(86_400)
        return [*seen, loop.time() - before]

    assert on_a_loop(1, wait()) == [0.0, 86_400.0]


def test_the_seed_decides_who_goes_first() -> None:
    async def race() -> tuple[int, ...]:
        order: list[int] = []

        async def runner(number: int) -> None:
            for _ in range(3):
                await asyncio.sleep(0)
                order.append(number)

        await asyncio.gather(*(runner(number) for number in range(4)))
        return tuple(order)

    assert on_a_loop(1, race()) == on_a_loop(1, race())
    assert len({on_a_loop(seed, race()) for seed in range(20)}) > 10


def test_threads_run_here_and_now() -> None:
    async def work() -> int:
        return await asyncio.to_thread(lambda: 42)

    assert on_a_loop(1, work()) == 42


def test_what_would_wait_for_ever_is_said() -> None:
    async def wait() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Stuck):
        on_a_loop(1, wait())
