"""The systems that packages are built for: which Debian, which Python, which processor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from deploy.package.errors import BuildRefused

# Debian's release number and its Python's minor version.
SUITES: Final = {"bookworm": (12, 11), "trixie": (13, 13)}
# Debian's name of a processor, and that of wheels.
MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
# Debian 12 has glibc 2.36: a wheel for any C library up to that runs on both.
GLIBC_MINORS: Final = range(5, 37)


@dataclass(frozen=True)
class Target:
    suite: str
    arch: str

    def __post_init__(self) -> None:
        if self.suite not in SUITES:
            raise BuildRefused(f"{self.suite} is no Debian we build for: say {_either(SUITES)}")
        if self.arch not in MACHINES:
            raise BuildRefused(f"{self.arch} is no processor we build for: say {_either(MACHINES)}")

    @property
    def debian(self) -> int:
        return SUITES[self.suite][0]

    @property
    def python(self) -> tuple[int, int]:
        return 3, SUITES[self.suite][1]

    @property
    def platforms(self) -> list[str]:
        """What a wheel's name may end with, to run there."""
        machine = MACHINES[self.arch]
        tags = [f"manylinux_2_{minor}_{machine}" for minor in GLIBC_MINORS]
        return [*tags, f"manylinux2014_{machine}", f"linux_{machine}"]


def _either(names: dict[str, tuple[int, int]] | dict[str, str]) -> str:
    return " or ".join(names)
