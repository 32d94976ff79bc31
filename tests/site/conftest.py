"""The test league and somebody who reads its pages."""

import pytest

from tests.support.books import Books
from tests.support.pages import Reader, Shown, application, league


@pytest.fixture
def books() -> Books:
    return league()


@pytest.fixture
def shown(books: Books) -> Shown:
    return Shown.of(books)


@pytest.fixture
def reader(shown: Shown) -> Reader:
    return Reader(application(shown))
