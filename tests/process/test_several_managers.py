"""Several managers, one floor: killed, stopped, cut off and moved on purpose, under real units."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from controller.link.link import CONNECT_MAX_MS, RETRY_FIRST_MS, RETRY_MAX_MS
from kit.clock import wall_ms
from manager.__main__ import main
from manager.ledger.engines.places import database_of
from manager.ledger.engines.postgres_engine import LEASE_S
from manager.ledger.engines.postgres_lease import RENEWALS_PER_LEASE
from manager.ledger.engines.postgres_line import CONNECT_MAX_S as CONNECT_S
from manager.standby import LOOK_EVERY_S
from manager.watched_floor import WholeFloor
from protocol.wire.version import LINK_DOWN_MS
from tests.kit.breakable_line import BreakableLine
from tests.kit.linked_floor import LinkedFloor, until
from tests.kit.postgres_server import PostgresServer, is_installed
from tests.kit.several_managers import Managers

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL is not installed here")
TABLES = ("touch-1", "touch-2", "touch-3")
PROMISED_S = 10.0
# A busy machine is not a finding: the promise itself is asked of the figures that it follows from.
TAKEOVER_MAX_S = 60.0
MOVES_MAX = 4


@pytest.fixture
def managers(url: str, tmp_path: Path) -> Iterator[Managers]:
    assert main(["make-ledger", url]) == 0
    managers = Managers(tmp_path, url, TABLES)
    managers.share("north")
    yield managers
    managers.end()


def sound(managers: Managers, floor: LinkedFloor) -> None:
    counted = managers.count(floor)
    assert (counted.lost, counted.doubled) == (0, 0)
    assert counted.booked == sum(unit.round_number for unit in floor.units)
    assert managers.audit() == 0


def whole_floor(managers: Managers) -> closing[WholeFloor]:
    return closing(WholeFloor(database_of(managers.place)[0], wall_ms))


def test_the_promised_seconds_follow_from_the_figures() -> None:
    """A lease runs out, somebody looks, a unit that has just failed waits and calls all in turn."""
    unit_ms = RETRY_MAX_MS + CONNECT_MAX_MS + RETRY_FIRST_MS
    assert LEASE_S + LOOK_EVERY_S + unit_ms / 1000 < PROMISED_S
    # A frozen one is silent for longer than its lease lasts; the next manager is called first.
    assert LEASE_S + LOOK_EVERY_S < LINK_DOWN_MS / 1000 < PROMISED_S - unit_ms / 1000
    # An owner that is cut off lets its units go when it cannot have renewed any more.
    pause_s = LEASE_S / RENEWALS_PER_LEASE
    assert LEASE_S + 2 * pause_s + CONNECT_S + unit_ms / 1000 / 2 < PROMISED_S


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM], ids=["killed", "frozen", "stopped"]
)
def test_another_manager_takes_over_and_nothing_is_lost_or_doubled(
    managers: Managers, how: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed, frozen, or stopped by a person: the units find the other one by themselves."""

    async def run() -> LinkedFloor:
        await managers.start_pair()
        async with managers.floor("north", "south") as floor:
            await floor.until_played(20)
            since_s = floor.now_s
            managers.processes["north"].send_signal(how)
            await floor.until(lambda: managers.owner() == "south", TAKEOVER_MAX_S)
            await floor.until_played(20)
            wait_s = floor.longest_wait_s(since_s)
            print(f"{how.name}: {wait_s:.2f} s without an acknowledgement")
            assert wait_s < TAKEOVER_MAX_S
            if how is signal.SIGSTOP:
                # It wakes up with books, units and a lease in its memory, and can write nothing.
                managers.processes["north"].send_signal(signal.SIGCONT)
                await floor.until_played(20)
                assert managers.owner() == "south"
            await floor.until_drained()
        return floor

    floor = asyncio.run(run())
    sound(managers, floor)


def test_a_manager_that_is_cut_off_from_the_database_lets_its_units_go(
    managers: Managers, server: PostgresServer
) -> None:
    """Catches: an owner that keeps its units while nobody can book what they send."""

    async def run() -> LinkedFloor:
        async with BreakableLine(server.folder / ".s.PGSQL.5432") as line:
            far = managers.place.replace(f"host={server.folder}", line.address)
            await asyncio.to_thread(managers.start, "north", None, far)
            await until(lambda: managers.owner() == "north", 60.0)
            await asyncio.to_thread(managers.start, "south", managers.data("north"))
            async with managers.floor("north", "south") as floor:
                await floor.until_played(20)
                since_s = floor.now_s
                line.is_cut = True
                await floor.until(lambda: managers.owner() == "south", TAKEOVER_MAX_S)
                await floor.until_played(20)
                wait_s = floor.longest_wait_s(since_s)
                assert 2.0 < wait_s < TAKEOVER_MAX_S
                print(f"cut off: {wait_s:.2f} s without an acknowledgement")
                await floor.until_drained()
            managers.end_one("north")
        return floor

    floor = asyncio.run(run())
    sound(managers, floor)


def test_an_idle_manager_that_was_frozen_learns_that_it_is_no_longer_the_owner(
    managers: Managers,
) -> None:
    """Catches: a renewal that does not look at what it renewed. No commit tells an idle owner."""

    async def run() -> None:
        await managers.start_pair()
        north = managers.processes["north"]
        north.send_signal(signal.SIGSTOP)
        await until(lambda: managers.owner() == "south", TAKEOVER_MAX_S)
        north.send_signal(signal.SIGCONT)
        log = managers.data("north").parent / "north.log"
        await until(
            lambda: "Another manager owns the ledger now" in log.read_text(), TAKEOVER_MAX_S
        )
        # And stands by for the next time.
        managers.processes["south"].kill()
        await until(lambda: managers.owner() == "north", TAKEOVER_MAX_S)

    asyncio.run(run())


def test_a_group_is_moved_on_purpose_without_a_link_that_goes_down(managers: Managers) -> None:
    """A link is down after 5 s of silence, and a busy machine may be silent for that long.

    So each way there and back may be tried again. One that takes the links down does it each time.
    """

    async def there_and_back(floor: LinkedFloor) -> list[int]:
        """How often each link went down meanwhile."""
        before, since_s = [unit.seen.downs for unit in floor.units], floor.now_s
        for name in ("south", "north"):
            if name == "south":
                words = ["move-group", "--data", str(managers.data("north")), "--to", name]
                assert main(words) == 0
            else:  # as the page does
                with whole_floor(managers) as whole:
                    assert "hand over to north" in await whole.move("", name)
            await floor.until(lambda name=name: managers.owner() == name, TAKEOVER_MAX_S)
            await floor.until_played(20)
        wait_s = floor.longest_wait_s(since_s)
        print(f"moved twice: {wait_s:.2f} s without an acknowledgement at most")
        return [unit.seen.downs - down for unit, down in zip(floor.units, before, strict=True)]

    async def run() -> LinkedFloor:
        await managers.start_pair()
        async with managers.floor("north", "south") as floor:
            await floor.until_played(20)
            for _ in range(MOVES_MAX):
                downs = await there_and_back(floor)
                if not any(downs):
                    break
            assert not any(downs), "each move took links down"
            await floor.until_drained()
        return floor

    floor = asyncio.run(run())
    sound(managers, floor)


def test_a_manager_that_stands_by_leads_to_the_owner_who_shows_the_whole_floor(
    managers: Managers, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run() -> None:
        await managers.start_pair()
        async with managers.floor("south", "north") as floor:  # the wrong one first
            await floor.until_played(10)
            await floor.until_drained()
        page = await asyncio.to_thread(managers.page, "south")
        assert 'data-owner="north"' in page
        assert f'href="{managers.addresses["north"]["web"]}/"' in page
        assert "$" not in page  # nobody has signed in
        with whole_floor(managers) as whole:
            groups = await whole.groups()
        assert [group["owner"]["name"] for group in groups] == ["north"]
        assert [table["id"] for table in groups[0]["tables"]] == list(TABLES)

    asyncio.run(run())
    assert main(["who-owns", "--data", str(managers.data("south"))]) == 0
    assert "south stands by" in capsys.readouterr().out
    assert main(["enrol-code", "--data", str(managers.data("south")), "--table", "x"]) == 2
    assert "owned by north" in capsys.readouterr().err
    assert main(["move-group", "--data", str(managers.data("south")), "--to", "west"]) == 2
    assert "No manager west stands by" in capsys.readouterr().err


def test_two_groups_have_a_ledger_and_an_owner_each_and_send_units_to_each_other(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poker = Managers(tmp_path / "poker", f"{url}#poker", ("touch-1",))
    stud = Managers(tmp_path / "stud", f"{url}#stud", ("touch-2",))
    for group in (poker, stud):
        assert main(["make-ledger", group.place]) == 0
    poker.share("north")

    async def run() -> None:
        poker.start("north")
        stud.start("south", poker.data("north"))
        await until(lambda: (poker.owner(), stud.owner()) == ("north", "south"), 60.0)
        stud.addresses |= poker.addresses
        async with stud.floor("north") as floor:  # which knows only the other group's manager
            await floor.until_played(10)
            await floor.until_drained()
        sound(stud, floor)
        with whole_floor(poker) as whole:
            groups = await whole.groups()
        shown = {group["name"]: [table["id"] for table in group["tables"]] for group in groups}
        assert shown == {"poker": ["touch-1"], "stud": ["touch-2"]}

    try:
        asyncio.run(run())
        # The same table in two ledgers would have its wagers now here and now there.
        again = Managers(tmp_path / "again", f"{url}#poker", ("touch-2",))
        again.data("west").mkdir(mode=0o700)
        shutil.copytree(poker.data("north") / "identity", again.data("west") / "identity")
        words = ["--database", again.place, "--name", "west", "--port", "0", "--web-port", "0"]
        words += ["--tables", str(tmp_path / "again" / "tables")]
        capsys.readouterr()
        assert main(["serve", "--data", str(again.data("west")), *words]) == 2
        assert "in the group stud already" in capsys.readouterr().err
    finally:
        stud.end()
        poker.end()


def test_a_manager_with_another_ca_is_refused_at_its_start(
    managers: Managers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would turn every unit of the floor away."""
    words = ["--database", managers.place, "--name", "west", "--port", "0", "--web-port", "0"]
    assert main(["serve", "--data", str(tmp_path / "west"), *words]) == 2
    assert "another CA" in capsys.readouterr().err
    assert main(["serve", "--data", str(tmp_path / "east"), *words[2:]]) == 2
    assert "only from a database" in capsys.readouterr().err
