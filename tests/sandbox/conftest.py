"""A sandbox page without a bot."""

import socket
from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI

from plugins.rating_bot.sandbox.routes import install, local_hosts
from plugins.rating_bot.sandbox.scene import build
from tests.sandbox.web import Web, serving
from tests.support.qq import FakeQQ


@pytest.fixture
def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


@pytest.fixture
def qq() -> FakeQQ:
    return build()


@pytest.fixture
async def web(qq: FakeQQ, listening: socket.socket) -> AsyncIterator[Web]:
    app = FastAPI()
    install(app, qq, host_allowed=local_hosts(listening.getsockname()[1]))
    async with serving(app, listening) as web:
        yield web
