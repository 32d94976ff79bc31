"""What a database may refuse."""


class StorageFailed(Exception):
    """The database refused (full, locked, damaged, gone); nothing was recorded."""


class DatabaseBusy(StorageFailed):
    """Another process holds the database."""


class LockLost(StorageFailed):
    """This process no longer holds the database and must not write to it any more."""
