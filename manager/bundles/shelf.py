"""The bundles that came: files in the manager's own folder, the oldest given up for the newest.

It alone knows the folder. What a bundle says is not known here.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from kit.files import OWNER_ONLY, private_folder

_log = logging.getLogger(__name__)

FOLDER = "bundles"
KEPT_MAX = 40  # of at most a megabyte each


@dataclass(frozen=True, slots=True)
class Kept:
    """One bundle, by what the manager itself knows of it."""

    number: int
    unit_id: str
    table_id: str
    asked_by: str
    came_ms: int
    bytes: int


class BundleShelf:
    def __init__(self, data: Path) -> None:
        self._folder = private_folder(data / FOLDER)

    def keep(self, kept: Kept, content: bytes) -> None:
        """The bundle first: a label without one is passed over."""
        self._write(self._bundle(kept.number), content)
        self._write(self._label(kept.number), json.dumps(asdict(kept)).encode())
        for oldest in self.all()[KEPT_MAX:]:
            self._label(oldest.number).unlink(missing_ok=True)
            self._bundle(oldest.number).unlink(missing_ok=True)

    def all(self) -> list[Kept]:
        """Newest first."""
        found = (self._read(path) for path in self._folder.glob("*.json"))
        return sorted((each for each in found if each is not None), key=lambda each: -each.number)

    def find(self, number: int) -> Kept | None:
        return self._read(self._label(number))

    def content(self, number: int) -> bytes:
        return self._bundle(number).read_bytes()

    def _read(self, label: Path) -> Kept | None:
        try:
            kept = Kept(**json.loads(label.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            _log.warning("The label %s of a bundle cannot be read: %s", label.name, error)
            return None
        return kept if self._bundle(kept.number).is_file() else None

    def _bundle(self, number: int) -> Path:
        return self._folder / f"{number}.zip"

    def _label(self, number: int) -> Path:
        return self._folder / f"{number}.json"

    def _write(self, path: Path, content: bytes) -> None:
        """Not synced: tables must not wait for it. Lost to a power cut, it is asked for again."""
        new = path.with_name(path.name + ".new")
        new.unlink(missing_ok=True)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        new.replace(path)
