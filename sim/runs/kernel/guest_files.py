"""What goes into the guest: this interpreter, the locked packages a unit needs, and our own code.

The interpreter keeps its own paths, whichever it is, so that it finds its library as it does here.
It alone knows what to leave out. Everything is compiled beforehand: the guest is emulated, and
compiling there would take longer than the tests.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import marshal
import re
import subprocess
import sys
import sysconfig
import zoneinfo
from collections.abc import Iterable, Iterator
from pathlib import Path

from sim.runs.kernel.cpio import Archive

ROOT = Path(__file__).resolve().parents[3]
SITE = "/site"
OURS = "/underfelt"
OUR_FOLDERS = ("kit", "hal", "protocol", "controller", "manager", "sim", "deploy/tables", "tests")
OUR_TESTS = ("tests/kit", "tests/contract", "tests/kernel", "tests/scenarios")
OUR_SUFFIXES = {".py", ".toml", ".txt", ".sql", ".cddl"}
# What only the pages need, and what is needed only to install.
LEFT_OUT = {"anyio", "click", "h11", "idna", "jinja2", "markupsafe", "starlette", "uvicorn"}
LEFT_OUT |= {"setuptools"}
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
LIBRARY = re.compile(r"(?:=>\s*)?(/\S+)\s+\(0x")
# The linker's list of libraries that lie in unusual places.
LINKER_CACHE = Path("/etc/ld.so.cache")
# The zone in which a floor counts its gaming days unless it is told another.
ZONE = "UTC"

UNUSED_IN_GUEST = {
    "__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3",
    "tkinter", "turtledemo", "ensurepip", "pydoc_data", "distutils", "venv", "curses", "dbm",
    "wsgiref", "xmlrpc", "pip", "setuptools",
}  # fmt: skip
UNUSED_EXTENSIONS = ("_tkinter.", "_curses", "_test", "_ctypes_test", "readline.", "nis.", "_dbm.")
UNCHECKED_HASH = (1).to_bytes(4, "little")


class Unlocked(Exception):  # noqa: N818 - a sentence for the person who runs the test
    """An installed package is not the one the lock names."""


def interpreter() -> Path:
    """The real program behind the environment's `python`."""
    return Path(sys.executable).resolve()


def base_paths(packages: Iterable[str]) -> list[tuple[Path, str]]:
    """Everything but our own code, as (here, in the guest)."""
    library = Path(sysconfig.get_path("stdlib"))
    standard = [(path, str(path)) for path in _tree(library) if not _is_unused(path)]
    wheels = [each for name in packages for each in _package_paths(name)]
    programs = [interpreter(), *(path for path, _ in standard + wheels if ".so" in path.name)]
    shared = [(path, str(path)) for path in _shared_libraries(programs)]
    cache = [(LINKER_CACHE, str(LINKER_CACHE))] if LINKER_CACHE.is_file() else []
    zones = [(path, str(path)) for path in _zone_files()]
    return [(interpreter(), str(interpreter())), *shared, *cache, *zones, *standard, *wheels]


def our_paths() -> list[tuple[Path, str]]:
    found = []
    for folder in OUR_FOLDERS:
        for path in _tree(ROOT / folder):
            relative = path.relative_to(ROOT).as_posix()
            wanted = folder != "tests" or relative.startswith(OUR_TESTS)
            if wanted and path.suffix in OUR_SUFFIXES:
                found.append((path, f"{OURS}/{relative}"))
    return found


def pack(paths: Iterable[tuple[Path, str]], archive: Archive) -> None:
    for here, there in paths:
        data = here.read_bytes()
        archive.add_file(there, data, executable=here.stat().st_mode & 0o100 != 0)
        if here.suffix == ".py":
            _add_compiled(archive, there, data)


def locked_packages(*locks: Path) -> dict[str, str]:
    """The packages of these locks with their versions; refuses others than those they name."""
    return {name: version for lock in locks for name, version in _locked_packages(lock).items()}


def _locked_packages(lock: Path) -> dict[str, str]:
    locked = dict(LOCKED.findall(lock.read_text(encoding="utf-8")))
    wanted = {name: version for name, version in locked.items() if name not in LEFT_OUT}
    for name, version in wanted.items():
        if importlib.metadata.version(name) != version:
            raise Unlocked(
                f"{name} {importlib.metadata.version(name)} is installed, but {lock.name} names "
                f"{version}; run deploy/setup/environment test"
            )
    return wanted


def _add_compiled(archive: Archive, there: str, source: bytes) -> None:
    # A hash that nobody checks: the guest must not depend on dates surviving the archive.
    code = compile(source, there, "exec", dont_inherit=True)
    header = importlib.util.MAGIC_NUMBER + UNCHECKED_HASH + importlib.util.source_hash(source)
    archive.add_file(importlib.util.cache_from_source(there), header + marshal.dumps(code))


def _tree(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in UNUSED_IN_GUEST and not path.name.startswith(("config-", ".")):
                yield from _tree(path)
        elif path.is_file():
            yield path


def _is_unused(path: Path) -> bool:
    return path.suffix in (".a", ".pyc", ".exe") or path.name.startswith(UNUSED_EXTENSIONS)


def _package_paths(name: str) -> Iterator[tuple[Path, str]]:
    for listed in importlib.metadata.files(name) or ():
        path = Path(str(listed.locate()))
        unused = {"..", *UNUSED_IN_GUEST}.intersection(listed.parts) or path.suffix == ".pyi"
        if not unused and path.is_file():
            yield path, f"{SITE}/{listed.as_posix()}"


def _zone_files() -> Iterator[Path]:
    """The system's own description of the zone, where Python looks for it."""
    for folder in zoneinfo.TZPATH:
        path = Path(folder) / ZONE
        if path.is_file():
            yield path


def _shared_libraries(programs: Iterable[Path]) -> list[Path]:
    found: set[Path] = set()
    for program in programs:
        answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        found.update(Path(name) for name in LIBRARY.findall(answer.stdout))
    return sorted(found)
