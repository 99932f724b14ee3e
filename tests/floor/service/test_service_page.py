"""The service page of a running table: who is let in, what is told, and what is recorded."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from controller.service.admission import LOCKOUT_MS, WRONG_PINS_MAX, ServiceAdmission
from controller.service.page.app import PageOptions, build
from controller.service.page.sessions import IDLE_MAX_S, Sessions
from hal import aio
from sim.floor.floor import FloorTable
from sim.time.loop import run_virtual
from tests.kit.service_table import PIN, TECH, open_table, service_of, stay, unit_of, uses

HERE = "http://192.0.2.1"
SECRETS = ("/events", "/live", "/unit", "/health", "/log", "/traces", "/traces/1", "/traces/1/file")


@asynccontextmanager
async def page_of(table: FloorTable) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=build(service_of(table), PageOptions()))
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        yield client


async def sign_in(client: httpx.AsyncClient, pin: str = PIN, name: str = TECH) -> httpx.Response:
    return await client.post("/sign-in", json={"name": name, "pin": pin})


async def act(client: httpx.AsyncClient, action: str, argument: str = "") -> dict[str, Any]:
    answer = await client.post("/act", json={"action": action, "argument": argument})
    found: dict[str, Any] = answer.json()
    return found


async def strangers_learn_nothing() -> None:
    async with open_table() as (_floor, table), page_of(table) as client:
        for path in SECRETS:
            assert (await client.get(path)).status_code == 401, path
        for action in ("enter", "selftest", "find"):
            answer = await client.post("/act", json={"action": action, "argument": "1"})
            assert answer.status_code == 401
        first = await client.get("/")
        assert "PIN" in first.text
        assert "SELF-TEST" not in first.text
        assert not service_of(table).mode.is_on
        assert (await sign_in(client)).status_code == 200
        assert "SELF-TEST" in (await client.get("/")).text
        assert uses(table) == [("service page", TECH, "admitted")]
        cookie = next(iter(client.cookies.jar))
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "strict"


def test_nobody_is_told_anything_before_the_pin() -> None:
    run_virtual(strangers_learn_nothing())


async def a_robot_tries_pins() -> None:
    async with open_table() as (_floor, table), page_of(table) as client:
        before = len(unit_of(table).hardware.stores.journal.records.after(0, 10_000))
        answers: set[int] = set()
        for number in range(40):
            answers.add((await sign_in(client, f"{number:06d}")).status_code)
            await aio.sleep_ms(2000)
        assert answers == {403, 429}, "a robot is refused, and slowed down"
        found = uses(table)
        assert found.count(("service page", TECH, "refused: wrong PIN")) == WRONG_PINS_MAX
        assert len(found) <= WRONG_PINS_MAX + 1, "a robot fills the journal"
        assert (await sign_in(client)).status_code == 403, "the right PIN works in the lock-out"
        await aio.sleep_ms(LOCKOUT_MS)
        assert (await sign_in(client)).status_code == 200
        after = len(unit_of(table).hardware.stores.journal.records.after(0, 10_000))
        assert after - before < 2 * WRONG_PINS_MAX + 20
        # The lock-out is the journal's, and so the same for the command line.
        assert ("service page", TECH, "refused: too many wrong PINs") in found


def test_a_robot_is_locked_out_and_leaves_few_records() -> None:
    run_virtual(a_robot_tries_pins())


def test_a_lock_out_that_is_not_kept_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: nobody counts the wrong PINs."""
    monkeypatch.setattr(ServiceAdmission, "_lockout_left_s", lambda self: 0)
    with pytest.raises(AssertionError):
        run_virtual(a_robot_tries_pins())


async def a_session_ends() -> None:
    async with open_table() as (_floor, table):
        clock = [0.0]
        app = build(service_of(table), PageOptions(), Sessions(lambda: clock[0]))
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
            await sign_in(client)
            assert (await client.get("/unit")).status_code == 200
            clock[0] += IDLE_MAX_S + 1
            assert (await client.get("/unit")).status_code == 401
            await sign_in(client)
            await act(client, "enter")
            assert service_of(table).mode.is_on
            assert (await client.post("/sign-out", json={})).status_code == 200
            assert not service_of(table).mode.is_on, "whoever goes gives the table back"
            assert (await client.get("/unit")).status_code == 401


def test_a_session_ends_by_itself_and_by_signing_out() -> None:
    run_virtual(a_session_ends())


async def everything_is_told() -> None:
    async with open_table() as (_floor, table), page_of(table) as client:
        await sign_in(client)
        unit = unit_of(table)
        table.place("3A")
        await aio.sleep_ms(2000)
        await unit.inputs.presses.press("START")
        await aio.sleep_ms(7000)
        refused = await act(client, "enter")
        assert not refused["accepted"]
        assert "under way" in refused["sentence"]
        await unit.inputs.presses.press("END")
        told = (await client.get("/unit")).json()
        assert told["link_up"]
        assert told["serial"] == table.config.board.serial
        assert abs(told["clock_offset_ms"]) < 1000
        assert told["certificates"] == [], "a simulated unit keeps no files"
        assert (await client.get("/traces")).json() == [1]
        trace = (await client.get("/traces/1")).json()
        assert trace["accepted"] == ["3A"]
        assert trace["replay"]["sentence"] == "Today's sensing comes to the same verdicts."
        line = next(each for each in trace["sensors"] if each["id"] == "3A")
        assert max(line["level"]) > 0.7
        assert len(line["t"]) == len(line["level"]) > 50
        assert (await client.get("/traces/99")).status_code == 409
        log = (await client.get("/log")).json()
        kinds = [each["kind"] for each in log["journal"]]
        assert {"Boot", "RoundStart", "RoundEnd", "Service"} <= set(kinds)
        assert all(each["text"] for each in log["journal"]), "a line says nothing"
        newest = log["journal"][-1]["sequence"]
        again = (await client.get(f"/log?sequence={newest}")).json()
        assert again["journal"] == []
        assert (await client.get("/log?sequence=x")).status_code == 400
        assert (await client.get("/health")).json() == []


def test_figures_traces_and_events_are_told_to_a_tech() -> None:
    run_virtual(everything_is_told())


async def odd_requests() -> None:
    async with open_table() as (_floor, table), page_of(table) as client:
        await sign_in(client)
        await act(client, "enter")
        for action, argument in (
            ("find", "99"),
            ("find", "-1"),
            ("find", "²"),
            ("light", "pink"),
            ("light", "white 99"),
            ("calibration", "save"),
            ("undo", ""),
            ("text", ""),
            ("calibrate", ""),
        ):
            said = await act(client, action, argument)
            assert not said["accepted"], (action, argument)
            assert said["sentence"].endswith("."), said
        assert (await client.post("/act", json={"action": "rm"})).status_code == 400
        assert (await client.post("/act", content=b"{")).status_code == 415
        assert "no such button" in (await act(client, "rm"))["sentence"]
        assert service_of(table).mode.is_on
        # Another site's page cannot use the technician's cookie.
        for headers in ({"origin": "http://evil.example"}, {"host": "evil.example"}):
            body = json.dumps({"action": "leave", "argument": ""})
            answer = await client.post(
                "/act", content=body, headers={"content-type": "application/json", **headers}
            )
            assert answer.status_code in (403, 421)
        assert service_of(table).mode.is_on
        await stay(service_of(table), 500)


def test_odd_and_foreign_requests_are_refused_in_one_sentence() -> None:
    run_virtual(odd_requests())
