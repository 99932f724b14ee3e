"""The locked wheels for another machine: fetched by their hashes, unpacked as pip would.

Only wheels are taken, so nothing is compiled and nothing of a package runs here. What a wheel
brings besides its modules (scripts, manual pages) is left out: nobody calls it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

from deploy.installer.packages import Tools, split_lock
from deploy.package.errors import BuildRefused
from deploy.package.targets import Target

# Where a wheel may keep modules that are meant for the packages' own folder.
MODULE_FOLDERS: Final = ("purelib", "platlib")
DIGEST_DIGITS: Final = 12


def fetched(lock: str, target: Target, kept: Path, brought: Path | None) -> list[Path]:
    """The wheels of a lock for that machine. They are kept, so a second build needs no network.

    `brought` is a folder with the one package that has to be built for some Pythons.
    """
    plain, sometimes_built = split_lock(lock)
    if brought is None or not sometimes_built:
        plain, sometimes_built = lock, ""
    digest = hashlib.sha256(plain.encode()).hexdigest()[:DIGEST_DIGITS]
    folder = kept / f"{digest}-py{target.python[0]}{target.python[1]}-{target.arch}"
    if not folder.exists():
        kept.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="fetching-", dir=kept) as scratch:
            _download(plain, target, Path(scratch))
            _lay_once(Path(scratch) / "wheels", folder)
    found = sorted(folder.glob("*.whl"))
    if brought is not None and sometimes_built:
        found.append(_built(sometimes_built, target, brought))
    return found


def _lay_once(came: Path, folder: Path) -> None:
    """Another build may have fetched the same meanwhile; both were held against the same hashes."""
    try:
        came.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _download(lock: str, target: Target, scratch: Path) -> None:
    tools = Tools(scratch)
    words = ["download", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    words += ["--implementation", "cp", "--python-version", "{}.{}".format(*target.python)]
    for platform in target.platforms:
        words += ["--platform", platform]
    tools.pip(*words, "-d", str(scratch / "wheels"), "-r", tools.listed(lock))


def _built(requirement: str, target: Target, brought: Path) -> Path:
    name, _, rest = requirement.partition("==")
    version = rest.split()[0]
    python = "cp{}{}".format(*target.python)
    found = sorted(brought.glob(f"{name}-{version}-{python}-*.whl"))
    if len(found) != 1:
        raise BuildRefused(f"{brought} holds no single {name} {version} built for {python}")
    return found[0]


def unpack(wheels: Sequence[Path], folder: Path) -> None:
    for wheel in wheels:
        with ZipFile(wheel) as archive:
            for name, place in _modules(archive):
                _put(archive.read(name), folder, place, wheel)


def _modules(archive: ZipFile) -> Iterator[tuple[str, str]]:
    """What is taken of a wheel, and where it goes below the packages' folder."""
    for name in archive.namelist():
        if name.endswith("/"):
            continue
        first, _, rest = name.partition("/")
        if not first.endswith(".data"):
            yield name, name
            continue
        kind, _, inside = rest.partition("/")
        if kind in MODULE_FOLDERS:
            yield name, inside


def _put(data: bytes, folder: Path, place: str, wheel: Path) -> None:
    path = folder / place
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BuildRefused(f"{wheel.name} holds {place}, which leads out of its folder")
    if path.exists():
        raise BuildRefused(f"{wheel.name} holds {place}, which another package holds too")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o644)


def make_environment(folder: Path, target: Target) -> Path:
    """A virtual environment for a Python that is not here; where its packages go."""
    version = "{}.{}".format(*target.python)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").symlink_to(f"/usr/bin/python{version}")
    (folder / "pyvenv.cfg").write_text(
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {version}\n"
    )
    packages = folder / f"lib/python{version}/site-packages"
    packages.mkdir(parents=True)
    return packages
