"""The property's database fails over under a floor that plays: nothing lost, nothing doubled.

Real PostgreSQL, Patroni and etcd, real managers, the units' own link. `make test-property` runs
these; each prints how long the floor had no acknowledgement.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from manager.__main__ import main
from manager.ledger.engines.places import reader_at
from manager.ledger.engines.relations import TRANSACTIONS, Row
from manager.ledger.store.ledger import Ledger
from tests.kit.linked_floor import LinkedFloor, until
from tests.kit.patroni_cluster import PASSWORD, Cluster, why_not
from tests.kit.places import ROOT
from tests.kit.postgres_server import UNPRIVILEGED
from tests.kit.several_managers import Managers

pytestmark = [pytest.mark.property, pytest.mark.skipif(bool(why_not()), reason=why_not())]
TABLES = ("touch-1", "touch-2", "touch-3", "touch-4")
# Patroni gives a dead machine 20 s; the rest is a busy test machine.
BACK_MAX_S = 120.0
FROZEN_S = 26.0  # longer than Patroni's patience, so that another node is promoted

Fault = Callable[[Cluster, LinkedFloor], Awaitable[None]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    try:
        asyncio.run(cluster.start())
        with psycopg.connect(cluster.url(), autocommit=True) as superuser:
            superuser.execute(f"CREATE ROLE uf_owner LOGIN PASSWORD '{PASSWORD}'")
            superuser.execute(f"CREATE ROLE uf_manager LOGIN PASSWORD '{PASSWORD}'")
            superuser.execute("CREATE DATABASE ledger OWNER uf_owner")
        yield cluster
    finally:
        cluster.end()


@pytest.fixture(scope="module")
def managers(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Managers]:
    url, owner = cluster.url("uf_manager", "ledger"), cluster.url("uf_owner", "ledger")
    assert main(["make-ledger", owner, "--writer", "uf_manager"]) == 0
    managers = Managers(tmp_path_factory.mktemp("managers"), url, TABLES)
    managers.share("north", "--as", owner, "--writer", "uf_manager")
    try:
        asyncio.run(managers.start_pair())
        yield managers
    finally:
        managers.end()


async def postgres_killed(cluster: Cluster, floor: LinkedFloor) -> None:
    cluster.kill_postgres(cluster.leader())


async def node_killed(cluster: Cluster, floor: LinkedFloor) -> None:
    leader = cluster.leader()
    cluster.kill_node(leader)
    await until(lambda: cluster.leader() not in ("", leader), BACK_MAX_S)
    await floor.until_played(20, BACK_MAX_S)
    cluster.start_node(leader)  # the machine is back, and joins by itself


async def standby_killed(cluster: Cluster, floor: LinkedFloor) -> None:
    standby = cluster.standby()
    cluster.kill_node(standby)
    await floor.until_played(20, BACK_MAX_S)
    cluster.start_node(standby)


async def patroni_frozen(cluster: Cluster, floor: LinkedFloor) -> None:
    """The trap that lost 898 entries: the old leader wakes up and wants its lock back."""
    leader = cluster.leader()
    cluster.signal_patroni(leader, signal.SIGSTOP)
    await asyncio.sleep(FROZEN_S)
    cluster.signal_patroni(leader, signal.SIGCONT)


async def switched_over(cluster: Cluster, floor: LinkedFloor) -> None:
    leader = cluster.leader()
    await asyncio.to_thread(cluster.switch_over, leader, cluster.standby())
    await until(lambda: cluster.leader() not in ("", leader), BACK_MAX_S)


FAULTS = (postgres_killed, node_killed, standby_killed, patroni_frozen, switched_over)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.__name__ for fault in FAULTS])
def test_nothing_is_lost_or_doubled(cluster: Cluster, managers: Managers, fault: Fault) -> None:
    async def run() -> None:
        await cluster.until_whole()
        async with managers.floor("north", "south") as floor:
            await floor.until_played(20, BACK_MAX_S)
            since_s = floor.now_s
            await fault(cluster, floor)
            await floor.until_played(20, BACK_MAX_S)
            gap_s = floor.longest_wait_s(since_s)
            await floor.until_drained(BACK_MAX_S)
            counted = managers.count(floor)
            print(f"\n{fault.__name__}: {gap_s:.1f} s without an acknowledgement; {counted}")
            assert (counted.lost, counted.doubled) == (0, 0)
        await cluster.until_whole()

    asyncio.run(run())
    assert managers.audit() == 0


def test_a_backup_is_restored_to_its_last_archived_entry_and_audited(
    cluster: Cluster, managers: Managers, tmp_path: Path
) -> None:
    """The restore drill of docs/property.md, with its own scripts."""
    asyncio.run(cluster.until_whole())
    folder = Path("/tmp") / f"{cluster.folder.name}-restore"
    folder.mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder, UNPRIVILEGED)
    leader = next(node for node in cluster.nodes if node.name == cluster.leader())
    own = f"postgresql://replicator:{PASSWORD}@{leader.host}:{leader.postgres_port}/postgres"
    backup = run_as_postgres("backup", own, str(folder / "b"))

    async def play_on() -> list[Row]:
        """What comes after the backup is in the archive alone. Returns the newest entry of it."""
        async with managers.floor("north", "south") as floor:
            await floor.until_played(10, BACK_MAX_S)
            await floor.until_drained(BACK_MAX_S)
        archived = entries(managers.place, newest=1)  # a manager goes on noting what it misses
        with psycopg.connect(cluster.url(), autocommit=True) as superuser:
            found = superuser.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
        assert found is not None
        last = cluster.folder / cluster.standby() / "archive" / found[0]
        await until(last.exists, BACK_MAX_S)
        return archived

    archived = asyncio.run(play_on())
    archive = cluster.folder / cluster.standby() / "archive"  # which outlives the primary
    try:
        run_as_postgres("restore-drill", backup, str(folder / "r"), str(archive))
        restored = f"postgresql:///ledger?host={folder}/r&user=postgres"
        data = tmp_path / "drill"
        data.mkdir(mode=0o700)
        (data / "database").write_text(restored)
        assert main(["audit", "--data", str(data)]) == 0
        assert archived
        assert entries(restored, number=archived[0][0]) == archived
    finally:
        pid = int((folder / "r" / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def entries(place: str, newest: int | None = None, **where: int) -> list[Row]:
    ledger = Ledger(reader_at(place))
    try:
        return ledger.find(TRANSACTIONS, where, newest=newest)
    finally:
        ledger.close()


def run_as_postgres(script: str, *arguments: str) -> str:
    words = [str(ROOT / "deploy" / "property" / script), *arguments]
    if os.geteuid() == 0:
        words = ["runuser", "-u", UNPRIVILEGED, "--", *words]
    done = subprocess.run(words, check=True, capture_output=True, text=True, cwd="/")
    return done.stdout.strip().splitlines()[-1]
