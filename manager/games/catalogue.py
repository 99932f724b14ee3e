"""Which paytables exist: the packs that ship plus the operator's own folders.

Finds paytables by id or alias, case-insensitively, and refuses two packs that claim one
name. Reading a single file is the business of ``pack``.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from kit.config import ConfigError, Problem
from manager.games.model import Paytable
from manager.games.pack import read_pack_file

SHIPPED_PACKS = Path(__file__).parent / "packs"


class UnknownPaytableError(KeyError):
    """No pack has this id; the sentence names ids that come near."""

    def __str__(self) -> str:
        return str(self.args[0])


class Catalogue:
    """Every paytable of some pack folders, in file order."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._paytables: dict[str, Paytable] = {}
        self._names: dict[str, str] = {}
        for folder in folders:
            for file in _pack_files(folder):
                for paytable in read_pack_file(file):
                    self._add(paytable, file)

    def _add(self, paytable: Paytable, file: Path) -> None:
        for name in (paytable.id, *paytable.aliases):
            owner = self._names.setdefault(name.lower(), paytable.id)
            if owner != paytable.id or paytable.id in self._paytables:
                sentence = f"The id {name} is already used by {owner} in another pack."
                raise ConfigError([Problem((), sentence, False, str(file), *paytable.declared_at)])
        self._paytables[paytable.id] = paytable

    def ids(self) -> tuple[str, ...]:
        """Every canonical id, in file order."""
        return tuple(self._paytables)

    def find(self, name: str) -> Paytable | None:
        found = self._names.get(name.lower())
        return self._paytables[found] if found else None

    def load(self, name: str) -> Paytable:
        """The paytable with this id or alias."""
        found = self.find(name)
        if found is None:
            raise UnknownPaytableError(self._sentence(name))
        return found

    def _sentence(self, name: str) -> str:
        """Names what comes near: the bet's other paytables, else ids spelled alike, else games."""
        bet = name.lower().rpartition("/")[0]
        same_bet = [known for known in self._paytables if known.lower().startswith(f"{bet}/")]
        alike = get_close_matches(name.lower(), [known.lower() for known in self._paytables])
        near = [known for known in self._paytables if known.lower() in alike]
        games = sorted({known.split("/")[0] for known in self._paytables})
        hint = ", ".join((same_bet if bet else []) or near or games)
        return f"No pack has the paytable {name!r}; known here: {hint}."


def _pack_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ConfigError([Problem((), "There is no such folder of packs.", file=str(folder))])
    return sorted(folder.glob("*.toml"))


@cache
def open_catalogue(*folders: Path) -> Catalogue:
    """The shipped packs and then the operator's folders, read once per process."""
    return Catalogue((SHIPPED_PACKS, *folders))
