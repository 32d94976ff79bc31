"""Questions to the Book: pure functions that return frozen rows, used alike by text, pictures, pages and workbook."""

from rating_core.queries.boards import Board, BoardRow, board

__all__ = ["Board", "BoardRow", "board"]
