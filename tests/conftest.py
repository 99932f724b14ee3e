"""What every test gets: the same drawn examples every time, and no asyncio task left behind.

Async tests are plain functions that hand a coroutine to `sim.time.loop.run_virtual`.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import os
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from protocol.secrets import cards, tech_pin
from tests.kit.places import TESTS

# The ordinary run must not fail for what nobody changed, so it draws the same examples every time.
# Looking for new ones is the work of `--hypothesis-profile=deep` (`make fuzz`). No deadline in
# either: a busy machine is not a finding.
settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("deep", deadline=None, print_blob=True)
settings.load_profile("steady")

# A machine may ask Python to leave no compiled modules behind. The tests start hundreds of
# interpreters, and each of them would then compile all that it imports once more.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


# They take long by themselves, most of it waiting: for Chromium, a database, pip, real seconds. One
# that began last would keep everybody waiting, so they begin first, while others compute.
LONG_FILES = (
    "tests/browser/test_dealer_guide.py",
    "tests/browser/test_manager_pages.py",
    "tests/browser/test_service_page.py",
    "tests/browser/test_whole_round.py",
    "tests/contract/test_conformance.py",
    "tests/contract/test_postgres_engine.py",
    "tests/contract/test_tls_bench.py",
    "tests/mutate/test_trial.py",
    "tests/process/test_installer.py",
    "tests/process/test_ledger_in_a_database.py",
    "tests/process/test_manager_installer.py",
    "tests/process/test_several_managers.py",
    "tests/process/test_standby_pages.py",
)


@pytest.hookimpl(trylast=True)  # after the order was drawn, which is kept otherwise
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG_FILES))


def pytest_collection_finish() -> None:
    """Nine thousand tests and what they import stay to the end: no collection need visit them."""
    gc.collect()
    gc.freeze()


# A card's key takes 50 ms to make, and a table needs three of them. Few tests are about that: only
# where keys are golden, or where another process makes the same ones, is it the shipped work.
SHIPPED_CARD_WORK, LITTLE_CARD_WORK = cards._SCRYPT["n"], 2
ROOMS_OF_SHIPPED_CARD_WORK = ("golden", "browser", "process", "property", "deploy", "kernel")
cards._SCRYPT["n"] = LITTLE_CARD_WORK
# The same few technicians type the same few PINs again and again, at 50 ms each.
tech_pin._hashed = functools.cache(tech_pin._hashed)


@pytest.hookimpl(tryfirst=True)  # before what a whole module shares is made
def pytest_runtest_setup(item: pytest.Item) -> None:
    room = item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""
    is_shipped = room in ROOMS_OF_SHIPPED_CARD_WORK
    work = SHIPPED_CARD_WORK if is_shipped else LITTLE_CARD_WORK
    if work != cards._SCRYPT["n"]:
        from sim.floor.card_work import stretch_with
        from tests.kit.pretend_units import stretched

        stretch_with(work)
        stretched.cache_clear()


@pytest.fixture(autouse=True)
def no_task_left_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails a test that ends while a task it started is neither finished nor cancelled."""
    loops: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()
    original_init = asyncio.BaseEventLoop.__init__

    def remembering_init(self: asyncio.BaseEventLoop, *args: Any, **kwargs: Any) -> None:
        original_init(self, *args, **kwargs)
        loops.add(self)

    monkeypatch.setattr(asyncio.BaseEventLoop, "__init__", remembering_init)
    yield
    left = sorted(task.get_name() for loop in loops for task in asyncio.all_tasks(loop))
    assert not left, f"the test left these tasks behind: {', '.join(left)}"
