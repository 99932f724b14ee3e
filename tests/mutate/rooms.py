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
    "manager/ledger/engines/postgres_copy.py": "its tests need a database server",
    "manager/ledger/engines/postgres_engine.py": "its tests need a database server",
    "manager/ledger/engines/postgres_lease.py": "its tests need a database server",
    "manager/ledger/engines/postgres_line.py": "its tests need a database server",
    "manager/ledger/engines/postgres_reader.py": "its tests need a database server",
    "manager/ledger/engines/postgres_rows.py": "its tests need a database server",
    "manager/ledger/engines/postgres_schema.py": "its tests need a database server",
}
# What is measured, and asked about a change where it runs the changed function.
TESTS = (
    "tests/unit/controller",
    "tests/unit/protocol",
    "tests/unit/manager",
    "tests/unit/deploy/tech/test_decode.py",
    "tests/contract/test_tls_enrolment.py",
    "tests/contract/test_tls_limits.py",
    "tests/contract/test_tls_link.py",
    "tests/golden",
    "tests/hostile/test_odd_numbers.py",
    "tests/hostile/test_stolen_unit.py",
    "tests/fuzz/test_appendix_a.py",
    "tests/fuzz/test_books_histories.py",
    "tests/fuzz/test_codec_differential.py",
)
# These have nothing to do with the rooms above, or compute for minutes.
SKIPPED_TESTS = (
    "tests/unit/controller/text",
    "tests/unit/controller/web",
    "tests/unit/manager/advice",
    "tests/unit/manager/games",
    "tests/unit/manager/odds",
    "tests/unit/manager/training",
    "tests/unit/manager/web",
)
# Whole tables and real sockets run nearly everything, so there is nothing to measure: they are
# asked last. Browsers, guests, storms and real processes see no more than these, and cost minutes.
WHOLE_TABLES = {
    "recovery and corrections": (
        "tests/floor/recovery/test_restored_unit.py",
        "tests/floor/recovery/test_replaced_unit.py",
        "tests/floor/recovery/test_a_copy_went_on.py",
    ),
    "core": ("tests/floor/table/test_jackpots_at_a_table.py", "tests/floor/table/test_lights.py"),
    "journal": (
        "tests/power_cut/test_journal_power_cut.py",
        "tests/floor/recovery/test_failing_disks.py",
        "tests/floor/recovery/test_sealed_journals.py",
    ),
    "link": ("tests/floor/recovery/test_both_ends_agree.py",),
    "intake": (
        "tests/floor/recovery/test_both_ends_agree.py",
        "tests/floor/recovery/test_restored_unit.py",
    ),
    "ledger": (
        "tests/floor/recovery/test_forged_ledger.py",
        "tests/contract/test_sqlite_engine.py",
        "tests/fuzz/test_ledger_histories.py",
    ),
    "protocol": ("tests/fuzz/test_protocol_fuzz.py", "tests/fuzz/test_stream_fuzz.py"),
    "identity": ("tests/contract/test_tls_enrolment.py", "tests/contract/test_tls_link.py"),
}


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
