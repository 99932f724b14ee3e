"""Which modules are changed, by room, and where the tests are that could notice.

Money and safety: what a wrong line costs here is somebody's. What only words a sentence, and what
needs another machine, is left out with its reason.
"""

from __future__ import annotations

from pathlib import Path

# The first room that names a module has it, so the narrower ones stand first.
ROOMS = {
    "recovery and corrections": (
        "controller/journal/recovery",
        "controller/service/restore.py",
        "manager/intake/succession.py",
        "manager/ledger/corrections",
    ),
    "core": ("controller/core", "controller/keeper.py", "controller/round_clock.py"),
    "journal": ("controller/journal",),
    "link": ("controller/link", "manager/link"),
    "intake": ("manager/intake",),
    "ledger": ("manager/ledger", "manager/audit", "manager/money.py"),
    "protocol": ("protocol/proof", "protocol/wire", "protocol/sensor_id.py"),
    "identity": ("manager/identity", "protocol/secrets"),
}
LEFT_OUT = {
    "controller/core/round/guide_words.py": "only words",
    "manager/identity/postgres_store.py": "its tests need a database server",
    "manager/ledger/store/postgres_copy.py": "its tests need a database server",
    "manager/ledger/store/postgres_engine.py": "its tests need a database server",
    "manager/ledger/store/postgres_lease.py": "its tests need a database server",
    "manager/ledger/store/postgres_line.py": "its tests need a database server",
    "manager/ledger/store/postgres_reader.py": "its tests need a database server",
    "manager/ledger/store/postgres_rows.py": "its tests need a database server",
    "manager/ledger/store/postgres_schema.py": "its tests need a database server",
}
# Browsers, guests, storms and real processes see nothing of these rooms that the others do not, and
# cost minutes.
TESTS = (
    "tests/unit/controller",
    "tests/unit/protocol",
    "tests/unit/manager",
    "tests/golden",
    "tests/contract",
    "tests/hostile",
    "tests/fuzz/test_appendix_a.py",
    "tests/fuzz/test_books_histories.py",
    "tests/fuzz/test_codec_differential.py",
    "tests/fuzz/test_ledger_histories.py",
    "tests/floor/table",
    "tests/floor/recovery",
    "tests/power_cut",
    "tests/scenarios/test_scenarios.py",
)
# These have nothing to do with the rooms above, compute for minutes, or need what is left out.
SKIPPED_TESTS = (
    "tests/unit/controller/text",
    "tests/unit/controller/web",
    "tests/unit/manager/advice",
    "tests/unit/manager/games",
    "tests/unit/manager/odds",
    "tests/unit/manager/training",
    "tests/unit/manager/web",
    "tests/contract/test_backend_contract.py",
    "tests/contract/test_bus_troubles.py",
    "tests/contract/test_config_contract.py",
    "tests/contract/test_devices_over_sim.py",
    "tests/contract/test_peer_drivers.py",
    "tests/contract/test_postgres_engine.py",
    "tests/contract/test_read_api.py",
    "tests/contract/test_sensing_ics.py",
    "tests/contract/test_text_display.py",
    "tests/contract/test_tls_bench.py",
    "tests/hostile/test_input_floods.py",
    "tests/hostile/test_own_pages.py",
    "tests/hostile/test_service_streams.py",
    "tests/hostile/test_slow_browsers.py",
    "tests/floor/table/test_text_display.py",
    "tests/power_cut/test_black_box_power_cut.py",
    "tests/power_cut/test_installer_power_cut.py",
)


def modules(root: Path) -> dict[str, str]:
    """Every module that is changed, with its room."""
    found: dict[str, str] = {}
    for room, places in ROOMS.items():
        for path in _files(root, places, "*.py"):
            if path not in LEFT_OUT:
                found.setdefault(path, room)
    return found


def test_files(root: Path) -> list[str]:
    files = _files(root, TESTS, "test_*.py")
    return [file for file in files if not file.startswith(SKIPPED_TESTS)]


def _files(root: Path, places: tuple[str, ...], pattern: str) -> list[str]:
    paths = []
    for place in places:
        path = root / place
        paths += [path] if path.is_file() else sorted(path.rglob(pattern))
    return [str(path.relative_to(root)) for path in paths]
