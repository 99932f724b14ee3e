"""The power goes at every single operation of an installer, on a disk that keeps what was synced.

The real installer runs, with packages and a machine of our own. Whatever the cut left, the machine
boots one release, whole, with that release's own table file, service and udev rule, or does not
start the service at all; and the same command once more brings it to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from deploy.installer import commands, releases
from deploy.installer.commands import Installer, Order
from deploy.installer.disk import NOTHING, make_folders
from deploy.installer.errors import InstallRefused
from deploy.installer.machine import Staged
from deploy.installer.products import LOCK_FILE, NAME_FILE, TABLE_FILE, UNIT, Content
from tests.kit.torn_disk import PowerCut, TornDisk, fates

MIXTURES = 3
INSIDE = (*UNIT.links.values(), *UNIT.files.values())
JOURNAL = Path(UNIT.data, "journal.sqlite")
Act = Callable[[TornDisk], None]


class FewPackages:
    """Writes what pip and venv would, and like them leaves the syncing to others."""

    def __init__(self, disk: TornDisk) -> None:
        self._disk = disk

    def fill(self, folder: Path, parts: Sequence[str], donors: Sequence[Path]) -> None:
        for name in ("venv", "venv/bin", "venv/lib", "wheels"):
            self._disk.make_folder(folder / name, 0o755)
        self._disk.link("/usr/bin/python3", folder / "venv/bin/python")
        self._disk.write(folder / "venv/lib/shared.so", b"\x7fELF of a package", 0o755)
        self._disk.write(folder / "wheels/shared.whl", b"PK of a package", 0o644)

    def check(self, folder: Path, script: str, files: Sequence[Path]) -> None:
        return


class RunningUnit(Staged):
    """A service that runs, and perhaps plays a round."""

    def __init__(self, rounds: Sequence[str] = ("",)) -> None:
        super().__init__(UNIT)
        self._answers = list(rounds)
        self.restarts = 0
        self.asked: list[str] = []  # the releases whose table file was asked by
        self.waited = 0

    def is_running(self) -> bool:
        return True

    def round_under_way(self, table: Path) -> str:
        self.asked.append(table.parents[1].name)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def wait(self) -> None:
        self.waited += 1

    def restart(self) -> None:
        self.restarts += 1


def installer(disk: TornDisk, machine: Staged | None = None, **haste: bool) -> Installer:
    machine = machine or Staged(UNIT)
    return Installer(
        UNIT, disk, Path("/"), machine, FewPackages(disk), lambda sentence: None, **haste
    )


def order(mark: str) -> Order:
    """A release in which every file that matters bears its mark."""
    files = {"controller/app.py": b"app", "README.md": b"readme", LOCK_FILE: b"lock"}
    files |= {inside: inside.encode() for inside in INSIDE if inside not in UNIT.files.values()}
    contents = {path: Content(data + mark.encode(), 0o644) for path, data in files.items()}
    # The one that is copied is the same in every release.
    contents |= {inside: Content(b"[Install]", 0o644) for inside in UNIT.files.values()}
    return Order(f"0.1.0-{mark}-py311", f"0.1.0-{mark}-py311.table", contents)


def install(mark: str) -> Act:
    return lambda disk: installer(disk).install(order(mark))


def roll_back(disk: TornDisk) -> None:
    installer(disk).roll_back()


def uninstall(disk: TornDisk) -> None:
    installer(disk).uninstall(purge_data=False)


def machine_with(*acts: Act) -> TornDisk:
    disk = TornDisk()
    for act in acts:
        act(disk)
    make_folders(disk, JOURNAL.parent)
    if disk.kind(JOURNAL) == NOTHING:
        disk.write(JOURNAL, b"what happened", 0o600)
    disk.sync_all(Path("/"))
    return disk


def earlier_installer(disk: TornDisk) -> None:
    """What the first installer left: files at the fixed places, a marker and no manifest."""
    folder = Path(UNIT.place, "releases/0.1.0-old")
    whole = {folder / "complete": b"", folder / "controller/app.py": b"appold"}
    fixed_places = [fixed for fixed in (*UNIT.links, *UNIT.files) if ".d/release" not in fixed]
    whole |= {Path(fixed): b"old" for fixed in fixed_places}
    for path, data in whole.items():
        make_folders(disk, path.parent)
        disk.write(path, data, 0o644)
    disk.link("releases/0.1.0-old", Path(UNIT.place, "current"))
    make_folders(disk, Path(UNIT.wanted_at).parent)
    disk.link(next(iter(UNIT.files)), Path(UNIT.wanted_at))


# -- what is found after a cut ---------------------------------------------------------------


def boots(disk: TornDisk) -> str:
    """The mark of the release that this machine boots; "" when it starts no service."""
    if disk.kind(Path(UNIT.wanted_at)) == NOTHING:
        return ""
    here = releases.Releases(disk, Path(UNIT.place))
    name = here.current()
    assert here.damage(name) == "", f"{name}: {here.damage(name)}"
    mark = name.split("-")[1]
    assert disk.read(here.folder(name) / NAME_FILE) == f"0.1.0-{mark}-py311\n".encode()
    for fixed, inside in UNIT.links.items():
        assert disk.followed(Path(fixed)) == (inside + mark).encode(), fixed
    for fixed in UNIT.files:
        assert disk.followed(Path(fixed)) == b"[Install]", fixed
    return mark


def is_finished(disk: TornDisk, mark: str, previous: str) -> None:
    """Also when the power goes right after `done`."""
    for fate in fates(0, 1)[:2]:
        found = disk.after_cut(fate)
        assert boots(found) == mark
        here = releases.Releases(found, Path(UNIT.place))
        kept = {here.current()}
        if previous:
            assert here.previous().split("-")[1] == previous
            assert here.damage(here.previous()) == ""
            kept.add(here.previous())
        assert set(here.names()) == kept
        assert found.followed(JOURNAL) == b"what happened"


def cut_everywhere(start: TornDisk, act: Act, judge: Callable[[TornDisk], None]) -> int:
    """Cuts before each operation, lets `judge` see each fate; returns how many operations."""
    for operation in range(1, 10_000):
        disk = start.with_cut_before(operation)
        try:
            act(disk)
        except PowerCut:
            for fate in fates(operation * MIXTURES, MIXTURES):
                judge(disk.after_cut(fate))
        else:
            assert operation > 1, "nothing was done"
            judge(disk.after_cut(fates(0, 0)[0]))
            return operation - 1
    raise AssertionError("it does not end")


def upgrade_survives(start: TornDisk, marks: set[str], act: Act, previous: str) -> int:
    """Returns at how many operations the power went."""
    [new] = marks - {boots(start)}

    def judge(found: TornDisk) -> None:
        assert boots(found) in marks
        act(found)
        is_finished(found, new, previous)

    return cut_everywhere(start, act, judge)


def test_the_first_installation_starts_nothing_before_everything_is_there() -> None:
    def judge(found: TornDisk) -> None:
        assert boots(found) in ("", "A")
        install("A")(found)
        is_finished(found, "A", "")

    assert cut_everywhere(machine_with(), install("A"), judge) > 40


def test_an_upgrade_leaves_the_old_release_or_the_new_one() -> None:
    start = machine_with(install("A"))
    assert upgrade_survives(start, {"A", "B"}, install("B"), "A") > 40


def test_the_old_release_is_kept_and_older_ones_go() -> None:
    start = machine_with(install("A"), install("B"))
    assert upgrade_survives(start, {"B", "C"}, install("C"), "B") > 40


def test_going_back_leaves_one_of_the_two() -> None:
    start = machine_with(install("A"), install("B"))

    def judge(found: TornDisk) -> None:
        if boots(found) == "B":
            roll_back(found)
        # Cut between its two links it has gone back already; the same again changes nothing.
        elif releases.Releases(found, Path(UNIT.place)).previous().split("-")[1] == "A":
            with pytest.raises(InstallRefused, match="no earlier release"):
                roll_back(found)
        assert boots(found) == "A"

    assert cut_everywhere(start, roll_back, judge) > 10


def test_a_damaged_release_is_repaired_and_meanwhile_no_worse() -> None:
    """What the first installer could not: its second run said done and changed nothing."""
    start = machine_with(install("A"))
    here = releases.Releases(start, Path(UNIT.place))
    damaged = here.folder(here.current()) / "venv/lib/shared.so"
    start.write(damaged, b"", 0o755)
    start.sync(damaged)

    def judge(found: TornDisk) -> None:
        now = releases.Releases(found, Path(UNIT.place))
        assert now.damage(now.current()) in ("", "venv/lib/shared.so is damaged")
        install("A")(found)
        is_finished(found, "A", "")

    assert cut_everywhere(start, install("A"), judge) > 40


def test_every_single_file_of_a_release_is_watched_by_its_manifest() -> None:
    start = machine_with(install("A"))
    here = releases.Releases(start, Path(UNIT.place))
    folder = here.folder(here.current())
    files = [folder / name for name in (NAME_FILE, TABLE_FILE, "MANIFEST", *INSIDE)]
    for path in files:
        disk = start.with_cut_before(0)
        disk.write(path, b"", 0o644)
        assert releases.Releases(disk, Path(UNIT.place)).damage(folder.name) != "", path
        install("A")(disk)
        is_finished(disk, "A", "")


def test_a_unit_of_the_first_installer_is_taken_over() -> None:
    start = machine_with(earlier_installer)

    def judge(found: TornDisk) -> None:
        here = releases.Releases(found, Path(UNIT.place))
        if here.current() == "0.1.0-old":
            for fixed in UNIT.links:
                assert found.followed(Path(fixed)) in (b"old", None), fixed
        else:
            assert here.damage(here.current()) == ""
        install("A")(found)
        is_finished(found, "A", "")

    assert cut_everywhere(start, install("A"), judge) > 40


def test_uninstalling_stops_the_service_first_and_keeps_the_data() -> None:
    start = machine_with(install("A"), install("B"))

    def judge(found: TornDisk) -> None:
        assert boots(found) in ("", "B")
        uninstall(found)
        gone = found.after_cut(fates(0, 0)[0])
        assert gone.kind(Path(UNIT.place)) == NOTHING
        assert all(gone.kind(Path(fixed)) == NOTHING for fixed in (*UNIT.links, *UNIT.files))
        assert gone.followed(JOURNAL) == b"what happened"

    assert cut_everywhere(start, uninstall, judge) > 20


def test_purging_removes_the_data_as_well() -> None:
    disk = machine_with(install("A"))
    installer(disk).uninstall(purge_data=True)
    found = disk.after_cut(fates(0, 0)[0])
    assert found.kind(Path(UNIT.data)) == NOTHING
    assert found.kind(Path(UNIT.settings)) == NOTHING


def test_an_installer_that_was_killed_is_followed_by_one_that_leaves_nothing_unsynced() -> None:
    """Catches: switching to a release that only the kernel's memory holds whole."""
    start = machine_with(install("A"))
    for operation in range(1, start_to_end(start, install("B"))):
        disk = start.with_cut_before(operation)
        with pytest.raises(PowerCut):  # here only the program ends, and the disk stays as it is
            install("B")(disk)
        install("B")(disk)
        is_finished(disk, "B", "A")


def start_to_end(start: TornDisk, act: Act) -> int:
    disk = start.with_cut_before(0)
    act(disk)
    return disk.done + 1


# -- a round that is being played ------------------------------------------------------------


def test_a_round_is_not_interrupted_and_its_release_stays() -> None:
    disk, unit = machine_with(install("A"), install("B")), RunningUnit(["a round is being played"])
    installer(disk, unit).install(order("C"))
    assert unit.restarts == 0
    assert boots(disk) == "C"  # at the next start
    # B runs; A goes only once nothing older than the release to go back to is in use.
    assert len(releases.Releases(disk, Path(UNIT.place)).names()) == 3


def test_between_two_rounds_the_table_is_restarted() -> None:
    disk, unit = machine_with(install("A")), RunningUnit()
    installer(disk, unit).install(order("B"))
    assert unit.restarts == 1
    assert unit.asked == [order("A").name], "the running table answers where its own file says"


def test_waiting_ends_with_the_round() -> None:
    playing = "a round is being played"
    disk, unit = machine_with(install("A")), RunningUnit([playing, playing, ""])
    installer(disk, unit, wait=True).install(order("B"))
    assert (unit.waited, unit.restarts) == (2, 1)


def test_nothing_is_removed_under_a_round() -> None:
    disk, unit = machine_with(install("A")), RunningUnit(["a round is being played"])
    with pytest.raises(InstallRefused, match="nothing was removed"):
        installer(disk, unit).uninstall(purge_data=True)
    assert boots(disk) == "A"
    installer(disk, unit, now=True).uninstall(purge_data=False)
    assert boots(disk) == ""


def test_a_damaged_earlier_release_is_not_gone_back_to() -> None:
    disk = machine_with(install("A"), install("B"))
    here = releases.Releases(disk, Path(UNIT.place))
    disk.write(here.folder(here.previous()) / "README.md", b"", 0o644)
    with pytest.raises(InstallRefused, match=r"README\.md is damaged"):
        roll_back(disk)
    assert boots(disk) == "B"


# -- these tests can fail --------------------------------------------------------------------


def test_an_installer_that_does_not_sync_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of sync alone is missed; without any of them there is what was found in QEMU."""
    for name in ("sync_all", "sync"):
        with monkeypatch.context() as without:
            without.setattr(TornDisk, name, lambda disk, path: disk._before())
            with pytest.raises((AssertionError, InstallRefused)):
                upgrade_survives(_synced(install("A")), {"A", "B"}, install("B"), "A")


def test_a_switch_before_the_manifest_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    start = machine_with(install("A"))
    monkeypatch.setattr(commands, "write_manifest", lambda disk, folder: None)
    monkeypatch.setattr(releases.Releases, "damage", lambda here, name: "" if name else "none")
    with pytest.raises(AssertionError):
        cut_everywhere(start, install("B"), _judged_by_manifest(monkeypatch))


def _synced(act: Act) -> TornDisk:
    """A machine whose first release is on the medium, whoever syncs later."""
    return machine_with(act).after_cut(fates(0, 0)[2])


def _judged_by_manifest(monkeypatch: pytest.MonkeyPatch) -> Callable[[TornDisk], None]:
    from deploy.installer.manifest import damage

    def judge(found: TornDisk) -> None:
        here = releases.Releases(found, Path(UNIT.place))
        assert damage(found, here.folder(here.current())) == ""

    return judge
