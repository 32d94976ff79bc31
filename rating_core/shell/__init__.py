"""The operator's shell: what `python -m rating_core` does, and the sentences in which it says so."""
