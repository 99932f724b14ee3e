"""Enrolment with real sockets: code, six digits, approval, and everything that goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.link.enrol import ManagerPlace, enrol
from controller.link.identity import IdentityFault, UnitIdentity
from manager.identity.codes import VALID_MS
from manager.intake.seals import SealBook
from manager.link.tls_listener import Limits
from protocol.wire.messages import Welcome
from tests.contract.tls_floor import TABLE, UNIT, TlsFloor, eventually, on_floor

ROOMY = Limits(attempts_burst=100, per_address_max=10)


def place(floor: TlsFloor, fingerprint: str = "") -> ManagerPlace:
    wanted = fingerprint or floor.doors.folder.ca_fingerprint()
    return ManagerPlace.parse(f"127.0.0.1:{floor.enrol_port}", wanted)


class People:
    """The tech at the unit and the operator at the manager."""

    def __init__(self, floor: TlsFloor, data: Path) -> None:
        self.floor = floor
        self.data = data
        self.digits: list[str] = []

    def code(self) -> str:
        return self.floor.doors.enrolments.codes.make(TABLE)

    def ask(self, code: str, name: str = UNIT) -> asyncio.Task[None]:
        return asyncio.create_task(
            enrol(self.data, name, place(self.floor), code, self.digits.append), name="asking"
        )

    async def refusal(self, code: str, name: str = UNIT) -> str:
        with pytest.raises(IdentityFault) as caught:
            await self.ask(code, name)
        return str(caught.value)

    async def enrol(self) -> UnitIdentity:
        asking = self.ask(self.code())
        await eventually(lambda: bool(self.digits) or asking.done())
        self.floor.approve(UNIT, self.digits.pop())
        await asking
        return UnitIdentity(self.data)


def one_letter_off(code: str) -> str:
    return code[:-1] + ("A" if code[-1] != "A" else "B")


def with_people(tmp_path: Path, play: Callable[[People], object]) -> None:
    async def run(floor: TlsFloor) -> None:
        people = People(floor, tmp_path / "unit")
        await play(people)  # type: ignore[misc]

    on_floor(tmp_path, run, enrolling_limits=ROOMY)


def test_a_unit_is_enrolled_and_welcome_and_its_signing_key_is_registered(tmp_path: Path) -> None:
    async def play(people: People) -> None:
        identity = await people.enrol()
        identity.check(UNIT)
        for path in (identity.unit, identity.seal_key, identity.ca):
            assert path.stat().st_mode & 0o777 == 0o600
        assert not identity.pending.exists()
        stream, answer = await people.floor.greet(identity)
        assert isinstance(answer, Welcome)
        stream.close()
        keys = SealBook(people.floor.manager.store).keys_of(UNIT)
        assert keys == [identity.sealer(UNIT).public_key]
        assert any("Type the six digits that it shows" in alarm for alarm in people.floor.alarms())

    with_people(tmp_path, play)


def test_both_sides_have_the_same_six_digits_and_other_digits_do_not_approve(
    tmp_path: Path,
) -> None:
    async def play(people: People) -> None:
        asking = people.ask(people.code())
        await eventually(lambda: bool(people.digits))
        (waiting,) = people.floor.doors.enrolments.waiting()
        assert people.digits == [waiting.match]
        wrong = f"{(int(waiting.match) + 1) % 1_000_000:06d}"
        for _ in range(3):
            with pytest.raises(Exception, match="not the digits"):
                people.floor.approve(UNIT, wrong)
        with pytest.raises(IdentityFault, match="digits did not match"):
            await asking
        assert not UnitIdentity(people.data).unit.exists()

    with_people(tmp_path, play)


def test_a_manager_with_another_ca_is_not_told_the_code(tmp_path: Path) -> None:
    async def play(people: People) -> None:
        code = people.code()
        with pytest.raises(IdentityFault, match="the code was not sent"):
            await enrol(people.data, UNIT, place(people.floor, "ab" * 32), code, print)
        assert people.floor.doors.enrolments.waiting() == []
        # The code is still good: nobody has heard it.
        asking = people.ask(code)
        await eventually(lambda: bool(people.digits))
        people.floor.ask("refuse-unit", unit=UNIT)
        with pytest.raises(IdentityFault, match="operator refused"):
            await asking

    with_people(tmp_path, play)


def test_a_wrong_a_used_and_an_expired_code_are_refused_and_alarmed(tmp_path: Path) -> None:
    async def play(people: People) -> None:
        good = people.code()
        assert "wrong enrolment code" in await people.refusal(one_letter_off(good))
        await people.enrol()
        used = people.code()
        asking = people.ask(used)
        await eventually(lambda: bool(people.digits))
        other = People(people.floor, people.data.parent / "other")
        assert "was used already" in await other.refusal(used)
        people.floor.approve(UNIT, people.digits.pop())
        await asking
        late = people.code()
        people.floor.clock.ms += VALID_MS
        assert "has expired" in await people.refusal(late)
        told = "\n".join(people.floor.alarms())
        for words in ("wrong enrolment code", "was used already", "has expired"):
            assert words in told

    with_people(tmp_path, play)


def test_a_code_in_the_wrong_unit_is_refused(tmp_path: Path) -> None:
    async def play(people: People) -> None:
        assert "which it does not serve" in await people.refusal(people.code(), "UF-elsewhere")

    with_people(tmp_path, play)


def test_a_broken_connection_does_not_waste_the_code(tmp_path: Path) -> None:
    async def play(people: People) -> None:
        code = people.code()
        asking = people.ask(code)
        await eventually(lambda: bool(people.digits))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        again = people.ask(code)
        await eventually(lambda: len(people.digits) == 2)
        assert people.digits[0] == people.digits[1]
        people.floor.approve(UNIT, people.digits[0])
        await again
        UnitIdentity(people.data).check(UNIT)

    with_people(tmp_path, play)


def test_enrolling_again_rotates_the_certificate_and_keeps_the_signing_key(tmp_path: Path) -> None:
    async def play(people: People) -> None:
        first = await people.enrol()
        before, seal_key = first.unit.read_bytes(), first.seal_key.read_bytes()
        stream, answer = await people.floor.greet(first)
        assert isinstance(answer, Welcome)
        second = await people.enrol()  # while the first one is in use
        assert second.unit.read_bytes() != before
        assert second.seal_key.read_bytes() == seal_key
        again, answer = await people.floor.greet(second)
        assert isinstance(answer, Welcome)
        stream.close()
        again.close()

    with_people(tmp_path, play)
