"""Which paytables exist: the packs that ship plus the operator's own folders.

Finds paytables by id or alias, case-insensitively, and refuses two packs that claim one
name. Reading a single file is the business of ``pack``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from manager.games.model import Paytable
from manager.games.pack import PackError, Problem, read_pack

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
            for file in sorted(folder.glob("*.toml")):
                for paytable in read_pack(file.read_text(encoding="utf-8"), str(file)):
                    self._add(paytable, file)

    def _add(self, paytable: Paytable, file: Path) -> None:
        for name in (paytable.id, *paytable.aliases):
            owner = self._names.setdefault(name.lower(), paytable.id)
            if owner != paytable.id or paytable.id in self._paytables:
                sentence = f"The id {name} is already used by {owner} in another pack."
                raise PackError([Problem(str(file), 1, 1, sentence)])
        self._paytables[paytable.id] = paytable

    def ids(self) -> tuple[str, ...]:
        """Every canonical id, in file order."""
        return tuple(self._paytables)

    def load(self, name: str) -> Paytable:
        """The paytable with this id or alias."""
        found = self._names.get(name.lower())
        if found is None:
            raise UnknownPaytableError(self._sentence(name))
        return self._paytables[found]

    def _sentence(self, name: str) -> str:
        near = [known for known in self._paytables if known.startswith(name.rpartition("/")[0])]
        hint = ", ".join(near or sorted({known.split("/")[0] for known in self._paytables}))
        return f"No pack has the paytable {name!r}; known here: {hint}."


@cache
def open_catalogue(*folders: Path) -> Catalogue:
    """The shipped packs and then the operator's folders, read once per process."""
    return Catalogue((SHIPPED_PACKS, *folders))
