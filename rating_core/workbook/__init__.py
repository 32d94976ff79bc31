"""The workbook (xlsx): the book with live formulas, for people who keep their records in a spreadsheet."""
