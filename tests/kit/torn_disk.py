"""A disk in memory that keeps only what was synced, for the installer to work on.

It stands where `deploy.installer.disk.Disk` does. The power goes before a chosen operation; what is
then found is decided name by name and file by file: everything unsynced lost, every name there but
its data empty (as ext4 left it in a real cut), everything there, or any mixture.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deploy.installer.disk import FILE, FOLDER, LINK, NOTHING, Disk

LINKS_MAX = 8


class PowerCut(Exception):  # noqa: N818 - nothing of the installer may catch it
    """The machine is off."""


@dataclass(eq=False)
class File:
    data: bytes
    mode: int
    synced: bytes = b""  # a file that nobody synced is there, and empty


@dataclass(eq=False)
class Link:
    target: str


@dataclass(eq=False)
class Folder:
    mode: int = 0o755
    names: dict[str, Node] = field(default_factory=dict)
    synced: dict[str, Node] = field(default_factory=dict)


Node = File | Link | Folder


class TornDisk(Disk):
    def __init__(self) -> None:
        self.root = Folder()
        self.done = 0
        self.cut_before = 0  # the number of the operation that no longer happens

    # ---- looking ----

    def kind(self, path: Path) -> str:
        node = self._find(path)
        kinds = {File: FILE, Folder: FOLDER, Link: LINK, type(None): NOTHING}
        return kinds[type(node)]

    def names(self, folder: Path) -> list[str]:
        return sorted(self._folder(folder).names)

    def read(self, path: Path) -> bytes:
        return self._file(path).data

    def target(self, link: Path) -> str:
        node = self._find(link)
        assert isinstance(node, Link)
        return node.target

    def mode(self, path: Path) -> int:
        return self._file(path).mode

    def followed(self, path: Path) -> bytes | None:
        """What a program finds that opens this path, None when there is nothing."""
        node = self._find(path, follow=True)
        return node.data if isinstance(node, File) else None

    # ---- changing ----

    def make_folder(self, path: Path, mode: int) -> None:
        self._before()
        self._add(path, Folder(mode))

    def write(self, path: Path, data: bytes, mode: int) -> None:
        self._before()
        there = self._find(path)
        if isinstance(there, File):
            there.data, there.mode = data, mode
        else:
            self._add(path, File(data, mode))

    def rename(self, old: Path, new: Path) -> None:
        self._before()
        node = self._folder(old.parent).names.pop(old.name)
        self._folder(new.parent).names[new.name] = node

    def link(self, target: str, path: Path) -> None:
        self._before()
        self._add(path, Link(target))

    def remove(self, path: Path) -> None:
        self._before()
        assert self.kind(path) in (FILE, LINK)
        del self._folder(path.parent).names[path.name]

    def remove_folder(self, path: Path) -> None:
        self._before()
        assert not self._folder(path).names
        del self._folder(path.parent).names[path.name]

    def sync(self, path: Path) -> None:
        self._before()
        node = self._find(path, follow=True)
        assert node is not None, f"{path} is not there to be synced"
        _sync(node)

    def sync_all(self, path: Path) -> None:
        self._before()
        assert self.kind(path) == FOLDER
        _sync_tree(self.root)

    # ---- the power ----

    def with_cut_before(self, operation: int) -> TornDisk:
        """The same disk, on a machine that will lose its power."""
        other = copy.deepcopy(self)
        other.done, other.cut_before = 0, operation
        return other

    def after_cut(self, fate: Fate) -> TornDisk:
        """What is found when the power is back."""
        other = TornDisk()
        other.root = fate.folder(copy.deepcopy(self.root))
        return other

    def _before(self) -> None:
        self.done += 1
        if self.done == self.cut_before:
            raise PowerCut

    # ---- the tree ----

    def _add(self, path: Path, node: Node) -> None:
        names = self._folder(path.parent).names
        assert path.name not in names, f"{path} is there already"
        names[path.name] = node

    def _file(self, path: Path) -> File:
        node = self._find(path)
        assert isinstance(node, File), f"{path} is no file"
        return node

    def _folder(self, path: Path) -> Folder:
        node = self._find(path, follow=True)
        assert isinstance(node, Folder), f"{path} is no folder"
        return node

    def _find(self, path: Path, follow: bool = False, links: int = LINKS_MAX) -> Node | None:
        node: Node | None = self.root
        parts = path.parts[1:]
        for at, part in enumerate(parts):
            if not isinstance(node, Folder):
                return None
            node = node.names.get(part)
            last = at == len(parts) - 1
            if isinstance(node, Link) and links and (follow or not last):
                inside = Path("/", *parts[:at])
                led = _plain(inside / node.target).joinpath(*parts[at + 1 :])
                return self._find(led, follow, links - 1)
        return node


def _plain(path: Path) -> Path:
    """Without `..`; no folder of an installation is a link that leads elsewhere on the way up."""
    plain: list[str] = []
    for part in path.parts[1:]:
        if part == "..":
            plain.pop()
        else:
            plain.append(part)
    return Path("/", *plain)


def _sync(node: Node) -> None:
    if isinstance(node, File):
        node.synced = node.data
    elif isinstance(node, Folder):
        node.synced = dict(node.names)


def _sync_tree(node: Node) -> None:
    _sync(node)
    if isinstance(node, Folder):
        for each in node.names.values():
            _sync_tree(each)


class Fate:
    """What a power cut does to what was not synced."""

    def __init__(
        self, keeps_name: Callable[[], bool], kept: Callable[[bytes, bytes], bytes]
    ) -> None:
        self._keeps_name = keeps_name
        self._kept = kept

    def folder(self, folder: Folder) -> Folder:
        found: dict[str, Node] = {}
        for name in sorted(folder.names.keys() | folder.synced.keys()):
            new, old = folder.names.get(name), folder.synced.get(name)
            node = new if new is old or self._keeps_name() else old
            if node is not None:
                found[name] = self._node(node)
        return Folder(folder.mode, found, dict(found))

    def _node(self, node: Node) -> Node:
        if isinstance(node, Folder):
            return self.folder(node)
        if isinstance(node, File):
            data = node.data if node.data == node.synced else self._kept(node.data, node.synced)
            return File(data, node.mode, data)
        return Link(node.target)


def fates(seed: int, mixtures: int) -> list[Fate]:
    lost = Fate(lambda: False, lambda new, old: old)
    emptied = Fate(lambda: True, lambda new, old: b"")
    kept = Fate(lambda: True, lambda new, old: new)
    return [lost, emptied, kept, *(_mixture(seed + n) for n in range(mixtures))]


def _mixture(seed: int) -> Fate:
    draw = random.Random(seed)

    def part(new: bytes, old: bytes) -> bytes:
        return draw.choice((old, b"", new[: len(new) // 2], new))

    return Fate(lambda: draw.random() < 0.5, part)
