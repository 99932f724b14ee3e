"""The two things that are installed, the unit and the manager: what is in each, and where it goes.

Fixed places are links through `current`, so that they switch with the release. The service is the
exception: `systemctl enable` follows links and would tie the machine to one release's folder, so
its file is the same small one in every release, and all that matters is in a drop-in beside it.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

NAME_FILE: Final = "RELEASE"
LOCK_FILE: Final = "requirements.lock"
TABLE_FILE: Final = "etc/table.toml"
SERVICES: Final = "/etc/systemd/system"


@dataclass(frozen=True)
class Content:
    """One file of a release that is not a package's."""

    data: bytes
    mode: int


Contents = dict[str, Content]


@dataclass(frozen=True)
class Product:
    key: str
    title: str
    user: str
    groups: tuple[str, ...]  # beside its own
    parts: tuple[str, ...]  # folders of a checkout
    lock: str
    settings: str  # a folder, kept when the program goes
    data: str
    links: Mapping[str, str]  # fixed place: path in the release
    files: Mapping[str, str]  # fixed place: path in the release of what is copied
    earlier: tuple[str, ...]  # fixed places of earlier installers

    @property
    def place(self) -> str:
        return f"/opt/{self.user}"

    @property
    def service(self) -> str:
        return f"{self.user}.service"

    @property
    def wanted_at(self) -> str:
        """What makes systemd start it at boot."""
        return f"{SERVICES}/multi-user.target.wants/{self.service}"

    def contents(self, checkout: Path) -> Contents:
        """What a release of this checkout holds, beside its packages."""
        found = {}
        for part in (*self.parts, "deploy/__init__.py", "deploy/installer", "README.md"):
            for path in _files(checkout / part):
                found[path.relative_to(checkout).as_posix()] = _content(path)
        for path in _files(checkout / "deploy" / self.key):
            if path.name != "install":  # needs a checkout
                found[f"system/{path.name}"] = _content(path)
        found[LOCK_FILE] = _content(checkout / self.lock)
        return found


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(
        each for each in path.rglob("*") if each.is_file() and "__pycache__" not in each.parts
    )


def _content(path: Path) -> Content:
    return Content(path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644)


def version_of(checkout: Path) -> str:
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def release_id(version: str, contents: Contents, python: tuple[int, int]) -> str:
    """Named by what it contains, so two builds of one version never mix."""
    every = hashlib.sha256()
    for path, content in sorted(contents.items()):
        digest = hashlib.sha256(content.data).hexdigest()
        every.update(f"{content.mode:o} {digest} {path}\n".encode())
    return f"{version}-{every.hexdigest()[:12]}-py{python[0]}{python[1]}"


UNIT = Product(
    key="unit",
    title="table unit",
    user="underfelt",
    groups=("i2c", "gpio", "dialout"),
    # Only what runs on a unit: neither the manager nor the simulator.
    parts=("controller", "deploy/screen", "deploy/update", "hal", "kit", "protocol"),
    lock="requirements.lock",
    settings="/etc/underfelt",
    data="/var/lib/underfelt",
    links={
        "/etc/underfelt/table.toml": TABLE_FILE,
        "/etc/udev/rules.d/60-underfelt.rules": "system/60-underfelt.rules",
        "/usr/local/bin/underfelt": "system/underfelt",
        f"{SERVICES}/underfelt.service.d/release.conf": "system/release.conf",
    },
    files={f"{SERVICES}/underfelt.service": "system/underfelt.service"},
    earlier=("/usr/local/libexec/underfelt",),
)
MANAGER = Product(
    key="manager",
    title="Game Manager",
    user="underfelt-manager",
    groups=(),
    parts=("kit", "manager", "protocol"),
    lock="requirements-manager.lock",
    settings="/etc/underfelt-manager",
    data="/var/lib/underfelt-manager",
    links={
        "/usr/local/bin/underfelt-manager": "system/underfelt-manager",
        f"{SERVICES}/underfelt-manager.service.d/release.conf": "system/release.conf",
    },
    files={f"{SERVICES}/underfelt-manager.service": "system/underfelt-manager.service"},
    earlier=(),
)
PRODUCTS: Final = {product.key: product for product in (UNIT, MANAGER)}
