"""Style, script and icon, as they are; their addresses change with what is in them."""

from hashlib import blake2b
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plugins.rating_bot.runtime import bot_version

HERE = Path(__file__).parent
TYPES = {"site.css": "text/css", "site.js": "text/javascript", "icon.svg": "image/svg+xml"}
FOREVER = "public, max-age=31536000, immutable"
AWHILE = "public, max-age=60"


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=6).hexdigest()


class Files:
    """The static files, read once. `code` stands for them, the templates and the code that fills these."""

    def __init__(self) -> None:
        self._content = {name: (HERE / "static" / name).read_bytes() for name in TYPES}
        self._digests = {name: _digest(content) for name, content in self._content.items()}
        self.addresses = {name: f"/board/static/{name}?v={digest}" for name, digest in self._digests.items()}
        own = sorted([*HERE.glob("*.py"), *(HERE / "templates").iterdir(), *(HERE.parent / "wording").glob("*.py")])
        self.code = _digest(b"".join(path.read_bytes() for path in own) + repr((self._digests, bot_version())).encode())

    async def answer(self, request: Request) -> Response:
        """Return a static file; for ever where the address says which version."""
        name = request.path_params["name"]
        if name not in TYPES:
            raise HTTPException(404)
        digest = self._digests[name]
        caching = FOREVER if request.query_params.get("v") == digest else AWHILE
        headers = {"ETag": f'"{digest}"', "Cache-Control": caching}
        if request.headers.get("if-none-match") == f'"{digest}"':
            return Response(status_code=304, headers=headers)
        return Response(self._content[name], media_type=TYPES[name], headers=headers)
