"""What else than a page may be answered."""


class NotHere(Exception):
    """There is no such page; the text says what there is not."""


class Moved(Exception):
    """The page stands under another path below /board/."""


class Busy(Exception):
    """It cannot be answered now; the text says why, and a little later it will do."""
