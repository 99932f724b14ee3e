"""What each Debian package holds beside the release itself, and what it asks of the system.

A package has the same folder that the installer makes, `/opt/…/current`, so the same service,
commands and scripts run there. It is a folder and not a link: that tells the two ways apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from deploy.installer.products import MANAGER, Product

UNITS: Final = "usr/lib/systemd/system"


@dataclass(frozen=True)
class Recipe:
    product: Product
    package: str
    summary: str
    depends: tuple[str, ...]
    links: Mapping[str, str]  # place: path in the release
    files: Mapping[str, str]  # place: path in the release of what is copied
    settings: tuple[str, ...]  # of those, what a person may change: dpkg asks before it replaces
    folders: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return f"{self.product.place.lstrip('/')}/current"


RECIPES: Final = {
    "manager": Recipe(
        product=MANAGER,
        package="underfelt-manager",
        summary="Game Manager for progressive side bets on card tables",
        depends=("passwd", "util-linux"),
        links={"usr/bin/underfelt-manager": "system/underfelt-manager"},
        files={
            f"{UNITS}/underfelt-manager.service": "system/underfelt-manager.service",
            f"{UNITS}/underfelt-manager.service.d/release.conf": "system/release.conf",
            "etc/underfelt-manager/options": "system/options",
        },
        settings=("etc/underfelt-manager/options",),
        folders=("etc/underfelt-manager/tables",),
    ),
}
