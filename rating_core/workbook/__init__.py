"""The workbook (xlsx): the book with live formulas, for people who keep their records in a spreadsheet."""

from rating_core.workbook.export import Exported, export

__all__ = ["Exported", "export"]
