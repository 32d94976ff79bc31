"""Commands: check, append, return what happened. Only the service writes."""
