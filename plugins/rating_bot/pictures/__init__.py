"""Pictures: what a person sees of boards, cards, curves, records and settlements.

`board`, `card`, `curve`, `record` and `sheet` turn query rows into a Picture: a template's name and its data. The
Painter makes a PNG of it when it is sent; typst, fonts and fontTools are imported when the first one is drawn.
"""
