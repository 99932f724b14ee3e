"""The PostgreSQL engine keeps the contract, and what only a server can do to it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from manager.ledger.engines import postgres_schema, postgres_tenancy
from manager.ledger.engines.engine import (
    Engine,
    Fenced,
    OutcomeUnknown,
    Owner,
    StorageFailed,
    Tail,
)
from manager.ledger.engines.postgres_engine import PostgresEngine
from manager.ledger.engines.postgres_reader import open_reader
from manager.ledger.engines.relations import BALANCES, RELATIONS, TRANSACTIONS
from manager.ledger.errors import StoreError
from tests.contract.engine_contract import (
    EMPTY,
    EngineContract,
    begun,
    commits_beside_lookups,
    digest_of,
    step,
)
from tests.kit.postgres_server import DURABLE, PostgresServer, is_installed

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL is not installed here")
LEDGER_ID = bytes(range(16))
LEASE_S = 600.0  # no test waits for its end: `expire` lets the time pass
# A busy machine may let a server wait; only where it must not answer is its line cut soon.
PATIENT_S, IMPATIENT_S = 60.0, 0.5
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    with psycopg.connect(server.url(), autocommit=True) as superuser:
        superuser.execute("CREATE ROLE uf_owner LOGIN CREATEDB")
        superuser.execute("CREATE ROLE uf_manager LOGIN")
        superuser.execute("GRANT CREATE ON DATABASE postgres TO uf_owner")
    yield server
    server.remove()


class Ledger:
    """A ledger of its own in the one server, written by the role that a manager has."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.schema = f"ledger_{next(_numbers)}"
        self.url = server.url("uf_manager")
        with psycopg.connect(server.url("uf_owner"), autocommit=True) as owner:
            postgres_schema.create(owner, self.schema, LEDGER_ID, "uf_manager")

    def engine(self, tenancy_file: Path | None = None) -> PostgresEngine:
        owner = Owner(tenancy_file=tenancy_file)
        return PostgresEngine(self.url, self.schema, LEASE_S, PATIENT_S, owner)

    def kill(self, engine: Engine) -> None:
        assert isinstance(engine, PostgresEngine)
        engine.connection.close()
        self.expire()

    def expire(self) -> None:
        self.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second'")

    def run(self, text: str) -> list[tuple[object, ...]]:
        """As the server's own superuser, who may do anything."""
        with psycopg.connect(self.server.url(), autocommit=True) as superuser:
            superuser.execute(f"SET search_path TO {self.schema}")
            cursor = superuser.execute(text)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture
def rig(server: PostgresServer) -> Ledger:
    return Ledger(server)


def test_rows_are_looked_up_beside_a_commit(rig: Ledger) -> None:
    engine = rig.engine()
    assert engine.acquire() is not None
    commits_beside_lookups(engine)
    engine.close()


class TestOnAServer(EngineContract):
    @pytest.fixture
    def rig(self, server: PostgresServer) -> Ledger:
        return Ledger(server)


def first(engine: Engine) -> Engine:
    engine.load()
    engine.commit(step(EMPTY, (BALANCES, ("players", 1))))
    return engine


def test_who_lost_the_lease_writes_nothing_more(rig: Ledger) -> None:
    paused = first(begun(rig))
    rig.expire()
    taker = begun(rig)
    taker.load()
    taker.commit(step(Tail(1, digest_of(1)), (BALANCES, ("players", 2))))
    for previous in (Tail(1, digest_of(1)), Tail(2, digest_of(2))):
        with pytest.raises(Fenced):
            paused.commit(step(previous, (BALANCES, ("players", 3))))
    assert taker.find(BALANCES, {}) == [("players", 2)]
    paused.close()  # which must not give away a lease that is another's
    assert rig.engine().acquire() is None
    taker.close()


def die(engine: PostgresEngine) -> None:
    """As a kill -9 leaves it: nothing is given back, and the machine lets go of the file."""
    engine._tenancy.close()


def test_a_dead_owners_lease_is_taken_at_once_by_its_successor(rig: Ledger, tmp_path: Path) -> None:
    """Catches: waiting for a lease that nobody lives for; and a fence that lets the dead write."""
    killed = rig.engine(tmp_path / "owner")
    assert killed.acquire() == 1
    first(killed)
    die(killed)
    successor = rig.engine(tmp_path / "owner")
    assert successor.acquire() == 2
    assert successor.load().tail == Tail(1, digest_of(1))
    with pytest.raises(Fenced):
        killed.commit(step(Tail(1, digest_of(1)), (BALANCES, ("players", 3))))
    die(successor)
    third = rig.engine(tmp_path / "owner")
    assert third.acquire() == 3
    for engine in (killed, successor, third):
        engine.close()


def test_an_owner_that_lives_or_is_stopped_keeps_its_lease(rig: Ledger, tmp_path: Path) -> None:
    living = rig.engine(tmp_path / "owner")
    assert living.acquire() == 1
    for _ in range(2):  # who was refused has changed nothing in the file
        assert rig.engine(tmp_path / "owner").acquire() is None
    first(living)
    living.close()


def test_a_copy_of_the_file_takes_nobodys_lease(rig: Ledger, tmp_path: Path) -> None:
    """Catches: a folder restored from a backup that takes the ledger from the manager at play."""
    living = rig.engine(tmp_path / "owner")
    assert living.acquire() == 1
    (tmp_path / "copy").write_bytes((tmp_path / "owner").read_bytes())
    assert rig.engine(tmp_path / "copy").acquire() is None
    first(living)
    living.close()


def test_after_a_start_of_the_machine_the_file_says_nothing(
    rig: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = rig.engine(tmp_path / "owner")
    assert killed.acquire() == 1
    die(killed)
    (tmp_path / "boot").write_text("another start\n", encoding="ascii")
    monkeypatch.setattr(postgres_tenancy, "BOOT", tmp_path / "boot")
    assert rig.engine(tmp_path / "owner").acquire() is None
    rig.expire()
    successor = rig.engine(tmp_path / "owner")
    assert successor.acquire() == 2
    successor.close()
    killed.close()


def test_somebody_elses_lease_is_not_the_dead_ones(rig: Ledger, tmp_path: Path) -> None:
    """Catches: a dead owner whose ledger another manager has taken over since."""
    killed = rig.engine(tmp_path / "owner")
    assert killed.acquire() == 1
    die(killed)
    rig.expire()
    other = rig.engine(tmp_path / "elsewhere")
    assert other.acquire() == 2
    assert rig.engine(tmp_path / "owner").acquire() is None
    first(other)
    other.close()
    killed.close()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"0123456789abcdef"])
def test_a_file_that_says_nothing_changes_nothing(
    rig: Ledger, tmp_path: Path, content: bytes
) -> None:
    living = rig.engine()
    assert living.acquire() == 1
    (tmp_path / "owner").write_bytes(content)
    assert rig.engine(tmp_path / "owner").acquire() is None
    living.close()
    newcomer = rig.engine(tmp_path / "owner")
    assert newcomer.acquire() == 2
    newcomer.close()


def test_each_owner_has_a_greater_epoch(rig: Ledger) -> None:
    epochs = []
    for _ in range(3):
        engine = rig.engine()
        epochs.append(engine.acquire())
        engine.close()
    assert epochs == [1, 2, 3]


def test_a_client_stopped_inside_a_commit_cannot_hold_the_lease_for_ever(rig: Ledger) -> None:
    stopped = begun(rig)
    assert isinstance(stopped, PostgresEngine)
    first(stopped)
    # As a client that sent its commit and stopped before its end: the row stays locked.
    stopped.connection.execute("BEGIN")
    stopped.connection.execute("UPDATE lease SET last_number = last_number")
    taker = rig.engine()
    assert taker.acquire() is None  # its lease has not run out: it is left alone
    stopped.connection.execute(
        "UPDATE lease SET expires_at = clock_timestamp() - interval '1 second'"
    )
    stopped.connection.execute("COMMIT")
    stopped.connection.execute("BEGIN")
    stopped.connection.execute("UPDATE lease SET last_number = last_number")
    assert taker.acquire() == 2
    taker.close()
    stopped.close()


def test_a_commit_without_an_answer_is_cut_and_resolved_by_writing(rig: Ledger) -> None:
    engine = begun(rig)
    assert isinstance(engine, PostgresEngine)
    first(engine)
    batch = step(Tail(1, digest_of(1)), (BALANCES, ("players", 2)))
    with psycopg.connect(rig.server.url()) as blocker:
        blocker.execute(f"SET search_path TO {rig.schema}")
        blocker.execute("SELECT * FROM lease FOR UPDATE")
        engine._answer_max_s = IMPATIENT_S
        with pytest.raises(OutcomeUnknown):
            engine.commit(batch)
        blocker.rollback()
    engine._answer_max_s = PATIENT_S
    was_committed = engine.resolve(batch)
    if not was_committed:
        engine.commit(batch)
    assert engine.find(BALANCES, {}) == [("players", 2)]
    assert [row[0] for row in engine.find(TRANSACTIONS, {})] == [1, 2]
    engine.close()


def test_a_commit_that_was_done_before_its_answer_was_lost_is_not_done_again(rig: Ledger) -> None:
    engine = begun(rig)
    first(engine)
    batch = step(Tail(1, digest_of(1)), (BALANCES, ("players", 2)))
    engine.commit(batch)
    assert engine.resolve(batch) is True
    engine.commit(step(Tail(2, digest_of(2)), (BALANCES, ("players", 3))))
    assert engine.find(BALANCES, {}) == [("players", 3)]
    engine.close()


def test_a_late_commit_of_a_lost_line_fails_after_it_was_resolved(rig: Ledger) -> None:
    engine = begun(rig)
    assert isinstance(engine, PostgresEngine)
    first(engine)
    batch = step(Tail(1, digest_of(1)), (BALANCES, ("players", 2)))
    late = engine.connection
    values = (*engine._fence_values(batch), *engine._packed(batch))
    engine._open = None  # the line is lost, but its server process lives on
    assert engine.resolve(batch) is False
    with pytest.raises(psycopg.Error, match="owned by somebody else"):
        late.execute(postgres_schema.call_text(), values)
    assert engine.find(BALANCES, {}) == [("players", 1)]
    late.close()
    engine.close()


def test_done_with_a_warning_is_not_done(rig: Ledger) -> None:
    engine = begun(rig)
    first(engine)
    rig.run(
        "CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE WARNING 'canceling wait for synchronous replication'; RETURN NULL; END $$"
    )
    rig.run("CREATE TRIGGER warn AFTER UPDATE ON balances EXECUTE FUNCTION warn()")
    with pytest.raises(OutcomeUnknown):
        engine.commit(step(Tail(1, digest_of(1)), (BALANCES, ("players", 2))))
    engine.close()


def test_a_full_disk_is_a_failure_and_leaves_the_batch_out(rig: Ledger) -> None:
    """The server's own word for it, in the middle of a batch; it is final, and halts a manager."""
    engine = begun(rig)
    first(engine)
    rig.run(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
    )
    rig.run("CREATE TRIGGER full_disk AFTER INSERT ON balances EXECUTE FUNCTION full_disk()")
    batch = step(Tail(1, digest_of(1)), (BALANCES, ("house", 1)))
    with pytest.raises(StorageFailed, match="could not extend file") as told:
        engine.commit(batch)
    assert type(told.value) is StorageFailed, "it is known that nothing was written"
    rig.run("DROP TRIGGER full_disk ON balances")
    assert engine.find(BALANCES, {"account": "house"}) == []
    assert engine.find(TRANSACTIONS, {"number": 2}) == []
    engine.close()


def test_a_server_that_dies_is_unknown_and_resolved_when_it_is_back() -> None:
    server = PostgresServer(DURABLE)
    try:
        with psycopg.connect(server.url(), autocommit=True) as superuser:
            superuser.execute("CREATE ROLE uf_owner LOGIN")
            superuser.execute("CREATE ROLE uf_manager LOGIN")
            superuser.execute("GRANT CREATE ON DATABASE postgres TO uf_owner")
        rig = Ledger(server)
        engine = begun(rig)
        first(engine)
        server.stop("immediate")
        batch = step(Tail(1, digest_of(1)), (BALANCES, ("players", 2)))
        with pytest.raises(OutcomeUnknown):
            engine.commit(batch)
        back = threading.Thread(target=server.start)
        back.start()
        assert engine.resolve(batch) is False
        back.join()
        engine.commit(batch)
        assert engine.find(BALANCES, {}) == [("players", 2)]
        engine.close()
    finally:
        server.remove()


@pytest.mark.parametrize("name", [name for name in RELATIONS if RELATIONS[name].append_only])
def test_what_was_written_stays_by_rights_and_by_triggers(rig: Ledger, name: str) -> None:
    column = RELATIONS[name].columns[0]
    for text in (
        f"UPDATE {name} SET {column} = {column}",
        f"DELETE FROM {name}",
        f"TRUNCATE {name}",
    ):
        with psycopg.connect(rig.url, autocommit=True) as manager:
            manager.execute(f"SET search_path TO {rig.schema}")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                manager.execute(text)
        with pytest.raises(psycopg.Error, match="append-only"):
            rig.run(text)


def test_a_manager_cannot_undo_the_rules(rig: Ledger) -> None:
    with psycopg.connect(rig.url, autocommit=True) as manager:
        manager.execute(f"SET search_path TO {rig.schema}")
        for text in (
            "DROP TRIGGER append_only ON transactions",
            "ALTER TABLE transactions DISABLE TRIGGER ALL",
            "DROP VIEW events",
            "DELETE FROM lease",
            "UPDATE meta SET value = ''",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                manager.execute(text)


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("SELECT body FROM events WHERE unit_id = 'u' AND sequence = 1", "events_once"),
        ("SELECT 1 FROM postings WHERE account = 'house'", "postings_by_account"),
        ("SELECT 1 FROM postings WHERE transaction_number > 5", "postings_pkey"),
        ("SELECT 1 FROM transactions WHERE table_id = 't'", "transactions_by_round"),
    ],
)
def test_what_is_looked_for_has_an_index(rig: Ledger, query: str, index: str) -> None:
    """An empty table is read whole unless that is forbidden: then only an index is left."""
    with psycopg.connect(rig.server.url(), autocommit=True) as superuser:
        superuser.execute(f"SET search_path TO {rig.schema}")
        superuser.execute("SET enable_seqscan = off")
        told = "".join(line for (line,) in superuser.execute(f"EXPLAIN {query}").fetchall())
    assert index in told


def test_a_reader_can_change_nothing(rig: Ledger) -> None:
    engine = begun(rig)
    first(engine)
    reader = engine.reader()
    with pytest.raises(StorageFailed, match="read-only"):
        list(reader.rows("DELETE FROM balances"))
    reader.close()
    engine.close()


def end_readers(rig: Ledger) -> None:
    """What a fail-over does to the lines that stand."""
    ended = rig.run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE application_name = 'underfelt reader'"
    )
    assert ended == [(True,)]


def test_a_reader_whose_line_was_ended_goes_on(rig: Ledger) -> None:
    """Catches: pages that say nothing any more after a fail-over, until the manager is restarted.

    And a new line that may write: read-only is a setting of each line.
    """
    engine = begun(rig)
    first(engine)
    reader = engine.reader()
    found = list(reader.rows("SELECT number FROM transactions"))
    end_readers(rig)
    assert list(reader.rows("SELECT number FROM transactions")) == found
    end_readers(rig)
    with reader.snapshot():
        assert list(reader.rows("SELECT number FROM transactions")) == found
    with pytest.raises(StorageFailed, match="read-only"):
        list(reader.rows("DELETE FROM balances"))
    reader.close()
    engine.close()


def test_a_snapshot_is_not_finished_on_another_line(rig: Ledger) -> None:
    """Catches: half of an audit from before a fail-over and half from after it."""
    engine = begun(rig)
    first(engine)
    reader = engine.reader()
    query = "SELECT number FROM transactions"
    with ExitStack() as stack:
        stack.enter_context(reader.snapshot())
        found = list(reader.rows(query))
        end_readers(rig)
        with pytest.raises(StorageFailed, match="terminating connection"):
            list(reader.rows(query))
        with pytest.raises(StorageFailed, match="closed"):
            list(reader.rows(query))
    assert list(reader.rows(query)) == found
    reader.close()
    engine.close()


def test_a_reader_says_that_its_server_is_gone_and_goes_on_when_it_is_back() -> None:
    server = PostgresServer()
    try:
        with psycopg.connect(server.url(), autocommit=True) as superuser:
            postgres_schema.create(superuser, "ledger", LEDGER_ID)
        reader = open_reader(server.url(), "ledger")
        server.stop("fast")
        for _ in range(2):
            with pytest.raises(StorageFailed):
                list(reader.rows("SELECT number FROM transactions"))
        server.start()
        assert list(reader.rows("SELECT number FROM transactions")) == []
        reader.close()
    finally:
        server.remove()


def test_a_database_without_a_ledger_and_one_that_is_not_there_say_so(
    server: PostgresServer,
) -> None:
    with pytest.raises(StoreError, match="no ledger in the schema"):
        PostgresEngine(server.url("uf_manager"), "nothing_here").acquire()
    with pytest.raises(StoreError, match="does not answer"):
        PostgresEngine("postgresql:///postgres?host=/nonexistent").acquire()
