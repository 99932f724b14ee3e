"""What an installer does, step by step: install, roll back, uninstall.

It alone knows the order of the steps. A power cut between any two of them leaves a machine that
boots the old release or the new one, each with its own table file, service and udev rule; doing the
same again then brings it to its end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from deploy.installer.disk import (
    NOTHING,
    Disk,
    make_folders,
    remove_tree,
    replace_file,
    replace_link,
)
from deploy.installer.errors import InstallRefused
from deploy.installer.machine import Staged
from deploy.installer.manifest import write_manifest
from deploy.installer.products import LOCK_FILE, NAME_FILE, TABLE_FILE, Content, Contents, Product
from deploy.installer.releases import CURRENT, PREVIOUS, Releases

Say = Callable[[str], None]
WAIT_COUNT_MAX: Final = 4 * 60 * 60  # asked every two seconds: a whole shift


class Filling(Protocol):
    """Makes a release's environment, and lets the release judge files."""

    def fill(self, folder: Path, parts: Sequence[str], donors: Sequence[Path]) -> None: ...

    def check(self, folder: Path, script: str, files: Sequence[Path]) -> None: ...


@dataclass(frozen=True)
class Order:
    """What is to be installed: one release, and files that are copied beside it."""

    release_id: str
    name: str  # of its folder
    contents: Contents
    check_script: str = ""
    checked: Sequence[Path] = ()
    beside: dict[str, Content] = field(default_factory=dict)  # fixed place: what is copied there


@dataclass
class Installer:
    product: Product
    disk: Disk
    root: Path  # "/" for this machine, else the folder to stage below
    machine: Staged
    packages: Filling
    say: Say
    wait: bool = False
    now: bool = False

    def __post_init__(self) -> None:
        self.releases = Releases(self.disk, self.path(self.product.place))

    def path(self, fixed: str) -> Path:
        return self.root / fixed.lstrip("/")

    # ---- the three commands ----

    def install(self, order: Order) -> None:
        # The same software may be there with another table: then a bad file is refused at once.
        for folder in self._whole_releases(order.release_id)[:1]:
            self._check(folder, order)
        name = self._made(order)
        self._check(self.releases.folder(name), order)
        self.machine.make_user()
        self._use(name, order.beside)

    def roll_back(self) -> None:
        name = self.releases.previous()
        if name in ("", self.releases.current()):
            raise InstallRefused("there is no earlier release to go back to")
        fault = self.releases.damage(name)
        if fault:
            raise InstallRefused(f"the earlier release {name} cannot be used: {fault}")
        self._use(name, {})

    def uninstall(self, purge_data: bool) -> None:
        if self.machine.is_running():
            if not self._between_rounds(self.releases.current()):
                raise InstallRefused("nothing was removed; say --wait, or --now to stop the table")
            self.machine.stop()
        # What starts it goes first: a machine that loses its power now boots without it.
        for fixed in (self.product.wanted_at, *self.product.files, *self.product.links):
            self._remove(self.path(fixed))
        self.machine.reload()
        for path in (CURRENT, PREVIOUS):
            self._remove(self.releases.place / path)
        for fixed in (self.product.place, *self.product.earlier):
            self._remove(self.path(fixed))
        if purge_data:
            self._remove(self.path(self.product.data))
            self._remove(self.path(self.product.settings))
            self.machine.remove_user()
            self.say("its data is gone as well")
            return
        self.say(f"its data stays in {self.product.data} (--purge-data removes that too)")

    # ---- the steps ----

    def _check(self, folder: Path, order: Order) -> None:
        if order.checked:
            self.packages.check(folder, order.check_script, order.checked)

    def _made(self, order: Order) -> str:
        """The name of a release that is whole: found, or made now."""
        name = self.releases.name_for(order.name)
        if not self.releases.damage(name):
            return name
        if order.name in self.releases.names():
            self.say(f"release {order.name} is not whole and is made anew")
        folder = self.releases.folder(name)
        remove_tree(self.disk, folder)
        make_folders(self.disk, folder)
        self._fill(folder, order)
        write_manifest(self.disk, folder)
        return name

    def _fill(self, folder: Path, order: Order) -> None:
        named = Content(f"{order.release_id}\n".encode(), 0o644)
        for path, content in {**order.contents, NAME_FILE: named}.items():
            make_folders(self.disk, (folder / path).parent)
            self.disk.write(folder / path, content.data, content.mode)
        self.packages.fill(folder, self.product.parts, self._donors(order))

    def _donors(self, order: Order) -> list[Path]:
        """Whole releases of the same lock and the same Python."""
        python = order.release_id.rpartition("-")[2]
        lock = order.contents[LOCK_FILE].data
        whole = self._whole_releases(f"-{python}")
        return [other for other in whole if self.disk.read(other / LOCK_FILE) == lock]

    def _whole_releases(self, id_end: str) -> list[Path]:
        """Those whose id ends like this; a folder that is still being made is none of them."""
        whole = [name for name in self.releases.names() if not self.releases.damage(name)]
        folders = [self.releases.folder(name) for name in whole]
        return [each for each in folders if self._id(each).endswith(id_end)]

    def _id(self, folder: Path) -> str:
        return self.disk.read(folder / NAME_FILE).decode().strip()

    def _use(self, name: str, beside: dict[str, Content]) -> None:
        make_folders(self.disk, self.path(self.product.settings))
        make_folders(self.disk, self.path(self.product.data), 0o700)
        for fixed, content in beside.items():
            replace_file(self.disk, self.path(fixed), content.data, content.mode)
        old = self.releases.current()
        self.releases.switch(name)
        self._lead_fixed_places(name)
        if old not in ("", name) and self.releases.previous() != old:
            self.say(f"the release before, {old}, is not whole: there is no going back to it")
        self.machine.own_data()
        self.machine.reload()
        self.say(f"release {name} is in place")
        if self._restarted(old or name):
            # Not before: a table that still plays reads its pages from the release it began with.
            self.releases.remove_unused()

    def _lead_fixed_places(self, name: str) -> None:
        """After the switch, so that none of them ever leads to where nothing is."""
        for fixed, inside in self.product.links.items():
            path = self.path(fixed)
            through = self.releases.place / CURRENT / inside
            replace_link(self.disk, path, os.path.relpath(through, path.parent))
        for fixed, inside in self.product.files.items():
            data = self.disk.read(self.releases.folder(name) / inside)
            replace_file(self.disk, self.path(fixed), data, 0o644)
        # As `systemctl enable` does it, on a machine that may not be running yet.
        replace_link(self.disk, self.path(self.product.wanted_at), next(iter(self.product.files)))
        for fixed in self.product.earlier:
            self._remove(self.path(fixed))

    def _restarted(self, running: str) -> bool:
        """False when the service goes on as it was, because a round is being played."""
        if not self.machine.is_running():
            self.machine.start_if_ready()
            return True
        if not self._between_rounds(running):
            self.say("the table plays on with the release before; between two rounds, type:")
            self.say(f"  sudo systemctl restart {self.product.user}")
            return False
        self.machine.restart()
        return True

    def _between_rounds(self, running: str) -> bool:
        # Where the table answers is in the file that it was started with.
        table = self.releases.folder(running) / TABLE_FILE
        for asked in range(WAIT_COUNT_MAX if self.wait else 1):
            reason = "" if self.now else self.machine.round_under_way(table)
            if not reason:
                return True
            if asked == 0:
                self.say(reason)
            if self.wait:
                self.machine.wait()
        return False

    def _remove(self, path: Path) -> None:
        if self.disk.kind(path) != NOTHING:
            remove_tree(self.disk, path)
            self.disk.sync(path.parent)
