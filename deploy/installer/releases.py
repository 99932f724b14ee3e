"""The releases below one place, and which of them is used: `current`, and `previous` to go back to.

A release's folder is never changed once it is finished. Which one is used is a single link, and
what the machine finds at fixed places (service, udev rule, table file, command) leads through it,
so one rename switches everything together. What is in a release is not known here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from deploy.installer.disk import FOLDER, LINK, Disk, remove_tree, replace_link
from deploy.installer.errors import InstallRefused
from deploy.installer.manifest import damage

FOLDERS: Final = "releases"
CURRENT: Final = "current"
PREVIOUS: Final = "previous"
# A damaged release that is in use stays as it is until its replacement stands beside it.
REPLACEMENT: Final = ".again"


class Releases:
    def __init__(self, disk: Disk, place: Path) -> None:
        self._disk = disk
        self.place = place

    def folder(self, name: str) -> Path:
        return self.place / FOLDERS / name

    def names(self) -> list[str]:
        folders = self.place / FOLDERS
        return self._disk.names(folders) if self._disk.kind(folders) == FOLDER else []

    def current(self) -> str:
        """The name of the release in use, "" when there is none."""
        return self._led_to(CURRENT)

    def previous(self) -> str:
        return self._led_to(PREVIOUS)

    def damage(self, name: str) -> str:
        return damage(self._disk, self.folder(name)) if name else "there is none"

    def name_for(self, name: str) -> str:
        """Under which name a release is found whole, or is to be made."""
        names = (name, name + REPLACEMENT)
        for each in names:
            if not self.damage(each):
                return each
        return next(each for each in names if each != self.current())

    def switch(self, name: str) -> None:
        """From here on this release is used. Only a whole one ever is."""
        fault = self.damage(name)
        if fault:
            raise InstallRefused(f"release {name} is not switched to: {fault}.")
        # Also what others wrote for it, such as its user.
        self._disk.sync_all(self.place)
        old = self.current()
        steps = [(CURRENT, name)]
        if old not in ("", name) and not self.damage(old):
            # A cut between the two must not lose the one to go back to, nor the one gone back to.
            steps.insert(1 if name == self.previous() else 0, (PREVIOUS, old))
        for link, wanted in steps:
            self._lead(link, wanted)

    def remove_unused(self) -> None:
        """Every folder but those of the release in use and of the one to go back to."""
        used = (self.current(), self.previous())
        for name in self.names():
            if name not in used:
                remove_tree(self._disk, self.folder(name))
                self._disk.sync(self.place / FOLDERS)

    def _led_to(self, link: str) -> str:
        path = self.place / link
        if self._disk.kind(path) != LINK:
            return ""
        return Path(self._disk.target(path)).name

    def _lead(self, link: str, name: str) -> None:
        replace_link(self._disk, self.place / link, f"{FOLDERS}/{name}")
