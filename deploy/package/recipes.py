"""What each Debian package holds beside the release itself, and what it asks of the system.

A package has the same folder that the installer makes, `/opt/…/current`, so the same service,
commands and scripts run there. It is a folder and not a link: that tells the two ways apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from deploy.installer.products import MANAGER, TABLE_FILE, UNIT, Product

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
    outward: Mapping[str, str] = field(default_factory=dict)  # in the release: where it leads

    @property
    def place(self) -> str:
        return f"{self.product.place.lstrip('/')}/current"


# Not a service: it has no user, no settings and no data of its own.
LAPTOP: Final = Product(
    key="laptop",
    title="technician's tool",
    user="underfelt-tech",
    groups=(),
    # `hal` for `board check`, which reads a table's hardware as a unit does.
    parts=("deploy/tech", "hal", "kit", "protocol"),
    lock="requirements-tech.lock",
    settings="",
    data="",
    links={},
    files={},
    earlier=(),
)
RECIPES: Final = {
    "tech": Recipe(
        product=LAPTOP,
        package="underfelt-tech",
        summary="technician's tool for table units: flash, provision, look, test",
        depends=(),
        links={"usr/bin/underfelt-tech": "system/underfelt-tech"},
        files={},
        settings=(),
    ),
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
    "unit": Recipe(
        product=UNIT,
        package="underfelt-unit",
        summary="table unit for progressive side bets on card tables",
        depends=("passwd", "udev", "util-linux"),
        links={
            "usr/bin/underfelt": "system/underfelt",
            "usr/lib/udev/rules.d/60-underfelt.rules": "system/60-underfelt.rules",
        },
        files={
            f"{UNITS}/underfelt.service": "system/underfelt.service",
            f"{UNITS}/underfelt.service.d/release.conf": "system/release.conf",
        },
        settings=(),
        folders=("etc/underfelt",),
        # The table's file is the house's, and no part of a package.
        outward={TABLE_FILE: "/etc/underfelt/table.toml"},
    ),
}
