"""The pictures in README and docs, taken from a sandbox of their own: `python -m tests.support.screenshots`.

They go to docs/图片, with few colours, so that they stay small. Needs Debian's Chromium and a Chinese font.
"""

import asyncio
import base64
import io
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from tests.support.browser import DESK, PHONE, bot_said, browser_page, open_panel, play, sandbox, type_and_send

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "图片"
MOST_BYTES = 150_000
COLOURS = 256
PICTURE_WIDTH = 640
BOARD_ROWS = 0.62
"""A board of 30 is long; its upper part is enough."""


def save(name: str, png: bytes, *, width: int | None = None, part: float = 1.0) -> None:
    """Write a PNG with few colours, `width` pixels wide; of its height only the upper part. Raises ValueError."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image = image.crop((0, 0, image.width, round(image.height * part)))
    if width is not None and width < image.width:
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    path = FOLDER / f"{name}.png"
    image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {image.width}×{image.height}, {path.stat().st_size // 1000} kB")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path.name} has {path.stat().st_size} bytes")


async def picture_of(page: Any, caption: str) -> bytes:
    """Return a picture that the bot sent, as it is."""
    bubble = await bot_said(page, caption)
    encoded = await bubble.locator(".picture img").evaluate(
        """async (image) => {
            const bytes = new Uint8Array(await (await fetch(image.src)).arrayBuffer());
            let text = "";
            for (const byte of bytes) text += String.fromCharCode(byte);
            return btoa(text);
        }"""
    )
    return base64.b64decode(encoded)


@asynccontextmanager
async def board_page(page: Any, size: tuple[int, int]) -> Any:
    """The public pages in a window of their own."""
    async with page.context.expect_page() as opened:
        await page.click("#tools a:has-text('网页榜单')")
    board = await opened.value
    await board.set_viewport_size({"width": size[0], "height": size[1]})
    yield board
    await board.close()


async def on_the_desk(port: int) -> None:
    """The sandbox as one finds it, and the bot's pictures and pages in a league of 300."""
    async with browser_page(port, DESK) as page:
        await play(page, "强制约战到期")
        await play(page, "报分")
        save("沙盒", await page.screenshot())
        await play(page, "300人的联赛", sure=True, seconds=180)
        save("排行榜", await picture_of(page, "（第1/"), width=PICTURE_WIDTH, part=BOARD_ROWS)
        save("曲线", await picture_of(page, "等级分曲线"), width=PICTURE_WIDTH)
        async with board_page(page, DESK) as board:
            await board.get_by_text("常胜将军").first.wait_for()
            save("网页榜单", await board.screenshot())


async def on_the_phone(port: int) -> None:
    """The same league in one hand."""
    async with browser_page(port, PHONE, device_scale_factor=2) as page:
        await type_and_send(page, "张三    胜    李四")
        await bot_said(page, "待确认")
        await open_panel(page, "scenes")
        save("沙盒-手机", await page.screenshot())
        async with board_page(page, PHONE) as board:
            await board.get_by_role("link", name="张三", exact=True).first.click()
            await board.locator("svg").first.wait_for()
            save("网页棋手", await board.screenshot())


async def main() -> None:
    """Take them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with sandbox(Path(folder)) as (_, port):
            await on_the_desk(port)
            await on_the_phone(port)


if __name__ == "__main__":
    asyncio.run(main())
