"""Builds one Debian package: stages its files, writes its control data, and calls dpkg-deb.

Every date in a package is SOURCE_DATE_EPOCH, every mode is set here and every list is sorted. So
the same tree gives the same bytes, on any machine and in any folder.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from deploy.installer.products import LOCK_FILE, NAME_FILE, release_id, version_of
from deploy.package import wheels
from deploy.package.errors import BuildRefused
from deploy.package.recipes import Recipe
from deploy.package.targets import Target

SCRIPTS: Final = ("preinst", "postinst", "prerm", "postrm")
SCRIPT_FOLDER: Final = Path(__file__).parent
KEPT_WHEELS: Final = "build/wheels"
KIBIBYTE: Final = 1024


@dataclass(frozen=True)
class Build:
    recipe: Recipe
    target: Target
    checkout: Path
    epoch_s: int
    brought: Path | None = None  # a folder with wheels that had to be built

    @property
    def version(self) -> str:
        """Later builds are newer to apt, and a newer Debian's build is newer than an older's."""
        when = datetime.fromtimestamp(self.epoch_s, UTC).strftime("%Y%m%d.%H%M%S")
        return f"{version_of(self.checkout)}+{when}~deb{self.target.debian}"

    @property
    def file_name(self) -> str:
        return f"{self.recipe.package}_{self.version}_{self.target.arch}.deb"

    def make(self, out: Path) -> Path:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="underfelt-deb-") as scratch:
            stage = Path(scratch) / "stage"
            self._stage(stage)
            self._write_control(stage)
            _even_out(stage)
            made = Path(scratch) / self.file_name
            _pack(stage, made, self.epoch_s)
            target = out / self.file_name
            target.write_bytes(made.read_bytes())
        return target

    # ---- the steps ----

    def _stage(self, stage: Path) -> None:
        release = stage / self.recipe.place
        contents = self.recipe.product.contents(self.checkout)
        for path, content in contents.items():
            _write(release / path, content.data)
            (release / path).chmod(content.mode)
        named = release_id(version_of(self.checkout), contents, self.target.python)
        _write(release / NAME_FILE, f"{named}\n".encode())
        lock = contents[LOCK_FILE].data.decode()
        fetched = wheels.fetched(lock, self.target, self.checkout / KEPT_WHEELS, self.brought)
        wheels.unpack(fetched, wheels.make_environment(release / "venv", self.target))
        for place, inside in self.recipe.links.items():
            (stage / place).parent.mkdir(parents=True, exist_ok=True)
            (stage / place).symlink_to(f"/{self.recipe.place}/{inside}")
        for inside, outside in self.recipe.outward.items():
            (release / inside).parent.mkdir(parents=True, exist_ok=True)
            (release / inside).symlink_to(outside)
        for place, inside in self.recipe.files.items():
            _write(stage / place, contents[inside].data)
        for place in self.recipe.folders:
            (stage / place).mkdir(parents=True, exist_ok=True)

    def _write_control(self, stage: Path) -> None:
        files = [path for path in stage.rglob("*") if path.is_file() and not path.is_symlink()]
        size_kib = sum(-(-path.stat().st_size // KIBIBYTE) for path in files)
        major, minor = self.target.python
        needed = (f"python3 (>= {major}.{minor}~)", f"python3 (<< {major}.{minor + 1}~)")
        control = (
            f"Package: {self.recipe.package}\n"
            f"Version: {self.version}\n"
            f"Architecture: {self.target.arch}\n"
            "Maintainer: Underfelt <packages@underfelt.example>\n"
            f"Installed-Size: {size_kib}\n"
            f"Depends: {', '.join((*needed, f'python{major}.{minor}', *self.recipe.depends))}\n"
            "Section: misc\n"
            "Priority: optional\n"
            f"Description: {self.recipe.summary}\n"
        )
        _write(stage / "DEBIAN/control", control.encode())
        listed = "".join(f"/{place}\n" for place in sorted(self.recipe.settings))
        if listed:
            _write(stage / "DEBIAN/conffiles", listed.encode())
        for script in SCRIPTS:
            source = SCRIPT_FOLDER / self.recipe.product.key / script
            if source.exists():
                _write(stage / "DEBIAN" / script, source.read_bytes())
                (stage / "DEBIAN" / script).chmod(0o755)


def source_date_s(checkout: Path) -> int:
    """SOURCE_DATE_EPOCH, or when the checkout's commit was made."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given:
        if not given.isdecimal():
            raise BuildRefused(f"SOURCE_DATE_EPOCH must be whole seconds, not {given!r}")
        return int(given)
    asked = ["git", "-C", str(checkout), "log", "-1", "--format=%ct"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True)
    except FileNotFoundError:
        raise BuildRefused("set SOURCE_DATE_EPOCH: there is no git to ask for the date") from None
    if done.returncode != 0:
        raise BuildRefused("set SOURCE_DATE_EPOCH: this folder is no git checkout")
    return int(done.stdout)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o644)


def _even_out(stage: Path) -> None:
    """Modes that this machine's umask cannot change."""
    for path in [stage, *stage.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)


def _pack(stage: Path, made: Path, epoch_s: int) -> None:
    # One thread: with more, the bytes would depend on how many cores there are.
    how = ("--root-owner-group", "--threads-max=1", "-Zzstd", "-z9")
    command = ["dpkg-deb", *how, "--build", str(stage), str(made)]
    try:
        done = subprocess.run(
            command,
            env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch_s)},
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise BuildRefused("dpkg-deb is missing: packages are built on a Debian") from None
    if done.returncode != 0:
        raise BuildRefused(f"dpkg-deb: {done.stderr.strip()}")
