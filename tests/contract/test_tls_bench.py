"""`python -m sim bench` from nothing: the unit is enrolled by itself and speaks TLS."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller.link.identity import UnitIdentity
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Certificate, Registry
from manager.identity.store import IdentityStore
from tests.contract.tls_floor import eventually
from tests.kit.places import ROOT

UNIT = "UF-0001"
SECONDS_MAX = 30


@contextmanager
def bench(data: Path) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "sim", "bench", "--data", str(data)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert any("Ctrl-C stops" in line for line in process.stdout), "the bench did not start"
        yield
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS_MAX) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def certificates(data: Path) -> list[Certificate]:
    store = IdentityStore(str(IdentityFolder(data / "manager").database), lambda: 0)
    try:
        return Registry(store).of_unit(UNIT)
    finally:
        store.close()


def wait_until_used(data: Path) -> None:
    used = eventually(lambda: any(each.first_used_ms for each in certificates(data)))
    asyncio.run(asyncio.wait_for(used, SECONDS_MAX))


def test_the_bench_enrols_its_unit_once_and_finds_the_certificate_again(tmp_path: Path) -> None:
    with bench(tmp_path):
        wait_until_used(tmp_path)
        UnitIdentity(tmp_path / "unit").check(UNIT)
    (first,) = certificates(tmp_path)
    with bench(tmp_path):
        wait_until_used(tmp_path)
    assert certificates(tmp_path) == [first]
