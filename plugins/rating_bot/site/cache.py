"""Pages once made, kept while nothing changes."""

from collections import OrderedDict

MOST_PAGES = 256
MOST_BYTES = 8_000_000


class PageCache:
    """The pages of one state of the league, the ones used last; another state begins with none."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._tag = ""
        self._bytes = 0

    def get(self, tag: str, key: tuple[str, ...]) -> bytes | None:
        """Return a page made in the state `tag`, if it is at hand."""
        if tag != self._tag or key not in self._pages:
            return None
        self._pages.move_to_end(key)
        return self._pages[key]

    def put(self, tag: str, key: tuple[str, ...], page: bytes) -> None:
        """Keep a page made in the state `tag`."""
        if tag != self._tag:
            self._pages.clear()
            self._tag, self._bytes = tag, 0
        self._bytes += len(page) - len(self._pages.pop(key, b""))
        self._pages[key] = page
        while len(self._pages) > MOST_PAGES or self._bytes > MOST_BYTES:
            self._bytes -= len(self._pages.popitem(last=False)[1])
