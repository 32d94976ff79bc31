"""In which cell of the workbook each player's rating stands, at every point of the ledger."""

from rating_core.workbook.cells import Place


class Ratings:
    """The cell of each player's newest rating in each pool; before his first change there, that of his 原始分."""

    def __init__(self) -> None:
        self._initial: dict[int, Place] = {}
        self._newest: dict[tuple[str, int], Place] = {}

    def start(self, player: int, place: Place) -> None:
        """Note where a player's 原始分 stands."""
        self._initial[player] = place

    def move(self, pool: str, player: int, place: Place) -> None:
        """Note where a player's rating stands from now on."""
        self._newest[pool, player] = place

    def seen_from(self, sheet: str, pool: str, player: int) -> str:
        """Return how a formula on a sheet names a player's rating in a pool."""
        try:
            place = self._newest[pool, player]
        except KeyError:
            place = self._initial[player]
        return place.seen_from(sheet)
