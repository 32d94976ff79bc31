"""One typesetter for all tests of pictures: fonts are read once."""

import pytest

from plugins.rating_bot.pictures.typesetting import Typesetter


@pytest.fixture(scope="session")
def typesetter() -> Typesetter:
    return Typesetter()
