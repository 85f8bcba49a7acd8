"""Where the tests of stores keep their studies."""

from pathlib import Path

import pytest
from postgres import postgres_server, postgres_url  # noqa: F401 (fixtures)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'study.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database, of either kind."""
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
