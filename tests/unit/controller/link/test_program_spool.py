"""A new program's bytes on the disk: kept over a restart, never mixed, and told to the updater."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from controller.link.program_spool import HASH_BYTES, ROOM_LEFT_BYTES, NoRoom, ProgramSpool
from kit import program_news
from kit.program_spool import READY, STOP
from protocol.wire.program_steps import Step
from protocol.wire.rows import ProgramOffer

PROGRAM = b"a new program, in a few bytes"
OFFER = ProgramOffer(3, len(PROGRAM), hashlib.sha256(PROGRAM).digest(), "2.0")
DIGEST = OFFER.digest.hex()


class Unit:
    """The table's folder, the updater's and the image's; `free` is what the disk has left."""

    def __init__(self, place: Path) -> None:
        self.folder, self.update = place / "rollout", place / "update"
        self.update.mkdir()
        self.here = place / "program.json"
        self.runs("1.0")
        self.free = OFFER.size + ROOM_LEFT_BYTES
        self.spool = ProgramSpool(self.folder, self.update, self.here, lambda _: self.free)

    def runs(self, version: str) -> None:
        self.here.write_text(json.dumps({"version": version}))

    def updater_says(self, **files: object) -> None:
        for name, told in files.items():
            (self.update / f"{name}.json").write_text(json.dumps(told))

    def ready(self) -> list[Path]:
        return sorted((self.folder / READY).iterdir())


@pytest.fixture
def unit(tmp_path: Path) -> Unit:
    return Unit(tmp_path)


def pending(digest: str, version: str) -> dict[str, object]:
    return {"slot": "B", "version": version, "before": "1.0", "enrolled": True, "digest": digest}


def change(result: str, digest: str = DIGEST, reason: str = "") -> dict[str, object]:
    said = {"wall_s": 1, "before": "1.0", "version": "2.0", "result": result}
    return {**said, "reason": reason, "digest": digest}


def digest_of(spool: ProgramSpool) -> bytes | None:
    return list(spool.hashing())[-1]


# ---- what comes from the manager ----


def test_a_program_comes_in_pieces_and_is_handed_over_whole(unit: Unit) -> None:
    assert unit.spool.begin(OFFER) == 0
    unit.spool.append(0, PROGRAM[:10])
    unit.spool.append(10, PROGRAM[10:])
    assert digest_of(unit.spool) == OFFER.digest
    unit.spool.hand_over(OFFER)
    assert [(each.name, each.read_bytes()) for each in unit.ready()] == [
        (f"{DIGEST}.raucb", PROGRAM)
    ]
    assert unit.spool.standing(OFFER) == (Step.HANDED_OVER, "")
    assert [each.name for each in unit.folder.iterdir()] == [READY]
    assert unit.folder.stat().st_mode & 0o077 == 0, "the table's own"


def test_after_a_restart_it_goes_on_where_it_was(unit: Unit) -> None:
    """Catches: a second part that wipes the first one, so that no program ever comes whole."""
    unit.spool.begin(OFFER)
    unit.spool.append(0, PROGRAM[:10])
    again = ProgramSpool(unit.folder, unit.update, unit.here, lambda _: unit.free)
    assert again.begin(OFFER) == 10
    again.append(10, PROGRAM[10:])
    assert digest_of(again) == OFFER.digest


def test_what_has_come_of_another_program_is_no_beginning_of_this_one(unit: Unit) -> None:
    unit.spool.begin(OFFER)
    unit.spool.append(0, PROGRAM[:10])
    assert unit.spool.begin(OFFER._replace(digest=bytes(32))) == 0
    unit.spool.append(0, b"other")
    assert unit.spool.begin(OFFER._replace(digest=bytes(32), size=OFFER.size - 1)) == 0


def test_more_bytes_than_the_program_has_are_none_of_it(unit: Unit) -> None:
    unit.spool.begin(OFFER)
    unit.spool.append(0, PROGRAM + b"!")
    assert unit.spool.begin(OFFER) == 0
    unit.spool.append(0, PROGRAM)
    assert unit.spool.begin(OFFER) == OFFER.size


def test_what_is_written_again_takes_the_place_of_what_stood_there(unit: Unit) -> None:
    unit.spool.begin(OFFER)
    unit.spool.append(0, b"x" * OFFER.size)
    unit.spool.append(4, b"y")
    unit.spool.append(5, b"z")
    assert digest_of(unit.spool) == hashlib.sha256(b"xxxxyz").digest()
    unit.spool.append(0, b"new")
    assert digest_of(unit.spool) == hashlib.sha256(b"new").digest()


def test_a_disk_without_room_for_the_journal_beside_it_takes_no_program(unit: Unit) -> None:
    unit.free = OFFER.size + ROOM_LEFT_BYTES - 1
    with pytest.raises(NoRoom):
        unit.spool.begin(OFFER)


def test_room_is_asked_only_for_what_is_still_to_come(unit: Unit) -> None:
    """Catches: counting what has come twice, so that a restart on a full disk ends the transfer."""
    unit.spool.begin(OFFER)
    unit.spool.append(0, PROGRAM[:10])
    unit.free = OFFER.size - 10 + ROOM_LEFT_BYTES
    assert unit.spool.begin(OFFER) == 10
    unit.free -= 1
    with pytest.raises(NoRoom):
        unit.spool.begin(OFFER)
    unit.free = OFFER.size + ROOM_LEFT_BYTES
    assert unit.spool.begin(OFFER) == 0, "what had come was given up to make room"


def test_a_long_program_is_hashed_a_piece_at_a_time(unit: Unit) -> None:
    """Catches: one long read that whoever needs the worker has to wait for."""
    unit.spool.begin(OFFER)
    unit.spool.append(0, bytes(HASH_BYTES + 1))
    steps = list(unit.spool.hashing())
    assert steps == [None, None, hashlib.sha256(bytes(HASH_BYTES + 1)).digest()]


def test_what_was_thrown_away_is_fetched_from_its_beginning(unit: Unit) -> None:
    unit.spool.begin(OFFER)
    unit.spool.append(0, PROGRAM)
    unit.spool.throw_away()
    assert unit.spool.begin(OFFER) == 0


def test_what_came_after_it_was_thrown_away_can_be_handed_over(unit: Unit) -> None:
    unit.spool.begin(OFFER)
    unit.spool.throw_away()
    unit.spool.append(0, PROGRAM)
    unit.spool.hand_over(OFFER)
    assert [each.read_bytes() for each in unit.ready()] == [PROGRAM]


def test_what_was_written_is_on_the_disk_before_more_is_asked_for(
    unit: Unit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a power cut that leaves a shorter file than the manager was told."""
    synced: list[object] = []

    def sync_file(file: int) -> None:
        synced.append(os.fstat(file).st_size)

    def sync_names(folder: Path) -> None:
        synced.append([each.name for each in folder.iterdir()])

    monkeypatch.setattr("os.fdatasync", sync_file)
    monkeypatch.setattr("controller.link.program_spool.sync_folder", sync_names)
    unit.spool.begin(OFFER)
    unit.spool.append(0, PROGRAM)
    unit.spool.hand_over(OFFER)
    assert synced == [OFFER.size, [f"{DIGEST}.raucb"]]


def test_a_withdrawn_program_is_taken_from_the_updater(unit: Unit) -> None:
    unit.spool.begin(OFFER)
    unit.spool.append(0, PROGRAM)
    unit.spool.hand_over(OFFER)
    unit.spool.withdraw()
    assert unit.ready() == []
    assert (unit.folder / STOP).exists()
    assert unit.spool.standing(OFFER) is None
    assert unit.spool.begin(OFFER) == 0
    assert not (unit.folder / STOP).exists(), "a new offer lets the updater go on"


def test_what_had_come_of_a_withdrawn_program_is_gone(unit: Unit) -> None:
    unit.spool.begin(OFFER)
    unit.spool.append(0, PROGRAM[:10])
    unit.spool.withdraw()
    assert unit.spool.begin(OFFER) == 0


def test_the_updater_may_take_a_bundle_while_it_is_withdrawn(
    unit: Unit, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit.spool.begin(OFFER)
    monkeypatch.setattr(Path, "glob", lambda folder, pattern: [folder / "taken.raucb"])
    unit.spool.withdraw()
    assert (unit.folder / STOP).exists()


def test_a_unit_that_was_never_offered_anything_has_nothing_to_withdraw(unit: Unit) -> None:
    unit.spool.withdraw()
    assert not unit.folder.exists()


# ---- what the updater says ----


def test_a_program_that_nobody_knows_of_has_to_be_fetched(unit: Unit) -> None:
    assert unit.spool.standing(OFFER) is None


def test_one_on_the_other_slot_waits_for_its_start_and_then_for_its_proof(unit: Unit) -> None:
    unit.updater_says(pending=pending(DIGEST, "2.0"), changes=[change("rolled_back")])
    assert unit.spool.standing(OFFER) == (Step.INSTALLED, "")
    unit.runs("2.0")
    assert unit.spool.standing(OFFER) == (Step.TRIED, "")


def test_the_last_change_says_what_became_of_it(unit: Unit) -> None:
    unit.updater_says(changes=[change("updated")])
    assert unit.spool.standing(OFFER) == (Step.KEPT, "")
    unit.updater_says(changes=[change("rolled_back")] * 2 + [change("updated")])
    assert unit.spool.standing(OFFER) == (Step.KEPT, "")
    rolled_back = [change("rolled_back", reason=why) for why in ("first", "second", "no welcome")]
    unit.updater_says(changes=rolled_back)
    assert unit.spool.standing(OFFER) == (Step.ROLLED_BACK, "no welcome")
    unit.updater_says(changes=[change("updated", digest="another")])
    assert unit.spool.standing(OFFER) is None


@pytest.mark.parametrize(
    ("code", "standing"),
    [
        (program_news.TAKEN, (Step.HANDED_OVER, "")),
        (program_news.WAITS, (Step.HANDED_OVER, "waits")),
        (program_news.WRITING, (Step.WRITING, "")),
        (program_news.INSTALLED, (Step.INSTALLED, "")),
        (program_news.PROVING, (Step.TRIED, "")),
        (program_news.RUNS_ALREADY, (Step.KEPT, "runs_already")),
        (program_news.ROLLED_BACK, (Step.ROLLED_BACK, "")),
        (program_news.NOT_TRUSTED, (Step.REFUSED, "not_trusted")),
        ("of a newer updater", (Step.REFUSED, "of a newer updater")),
        (program_news.STOPPED, None),
    ],
)
def test_the_updaters_news_are_told_on(
    unit: Unit, code: str, standing: tuple[Step, str] | None
) -> None:
    unit.updater_says(news={"code": code, "version": "2.0", "digest": DIGEST})
    assert unit.spool.standing(OFFER) == standing
    unit.updater_says(news={"code": code, "version": "2.0", "digest": "another"})
    assert unit.spool.standing(OFFER) is None


def test_a_program_that_runs_already_is_not_fetched(unit: Unit) -> None:
    unit.runs("2.0")
    assert unit.spool.standing(OFFER) == (Step.KEPT, "runs_already")
    # Another one waits on the other slot: which of the two stays is not known yet.
    unit.updater_says(pending=pending("another", "3.0"))
    assert unit.spool.standing(OFFER) is None


def test_an_offer_that_names_no_version_is_not_taken_for_the_one_that_runs(unit: Unit) -> None:
    unit.here.unlink()
    assert unit.spool.standing(OFFER._replace(version="")) is None
