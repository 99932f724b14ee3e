"""`find --manager`: the manager's own list of tables, by a token, beside what announces itself.

Mutations this catches: an answer that is read under another name and shows nothing, a token that is
refused and looks like a floor without tables, a missing file that ends as an error of Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.tech.__main__ import main
from deploy.tech.commands import find
from manager.web.app import build
from tests.kit.manager_views import FakeUnits
from tests.kit.people import access_to, add_people
from tests.kit.pretend_books import Books, document
from tests.kit.served_pages import Served


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody announces anything on this network."""
    monkeypatch.setattr(find, "heard", lambda seconds, interface: [])


@pytest.fixture
def token(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A manager with one table that serves its pages, and the file of a token for it."""
    books = Books(str(tmp_path / "ledger.sqlite"))
    books.open(document())
    access = access_to(books.manager.store)
    add_people(access.people, Admin="admin")
    _, secret = access.people.tokens.add("Admin", "Laptop")
    file = tmp_path / "token"
    file.write_text(secret + "\n", encoding="ascii")
    with Served(build(books.manager.view, access, units=FakeUnits())) as served:
        yield served.url, file
    books.store.close()


@pytest.mark.usefixtures("quiet")
def test_the_managers_tables_are_listed_with_their_units(
    token: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    url, file = token
    assert main(["find", "--manager", url, "--token-file", str(file)]) == 1  # nobody announced
    out = capsys.readouterr().out
    assert "No unit announced itself." in out
    assert "UF-touch-1           table touch-1: link down" in out


@pytest.mark.usefixtures("quiet")
def test_a_wrong_token_and_a_missing_one_are_told(
    token: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, file = token
    file.write_text("uft_wrong", encoding="ascii")
    assert main(["find", "--manager", url, "--token-file", str(file)]) == 2
    assert "The manager refused it (status 401)." in capsys.readouterr().err
    assert main(["find", "--manager", url]) == 2
    assert "--token-file FILE" in capsys.readouterr().err
    assert main(["find", "--manager", url, "--token-file", str(tmp_path / "none")]) == 2
    assert "none" in capsys.readouterr().err
