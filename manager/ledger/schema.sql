-- The manager's one database. Records of fact are append-only (triggers below); the tables at the
-- end hold state that can be told again from those records, and an audit checks that it agrees.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE transactions (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    table_id TEXT NOT NULL,
    round_number INTEGER NOT NULL,
    sensor TEXT NOT NULL,
    claim_number INTEGER NOT NULL,
    sentence TEXT NOT NULL CHECK (sentence <> ''),
    detail TEXT NOT NULL,
    commit_ms INTEGER NOT NULL,
    unit_id TEXT NOT NULL,
    event_sequence INTEGER NOT NULL,
    event_monotonic_ms INTEGER NOT NULL,
    event_wall_ms INTEGER NOT NULL,
    event_digest BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;

CREATE TABLE postings (
    transaction_number INTEGER NOT NULL REFERENCES transactions (number),
    position INTEGER NOT NULL,
    account TEXT NOT NULL CHECK (account <> ''),
    amount_microcents INTEGER NOT NULL CHECK (amount_microcents <> 0),
    PRIMARY KEY (transaction_number, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX postings_by_account ON postings (account, transaction_number);
CREATE INDEX transactions_by_round ON transactions (table_id, round_number, kind);

CREATE TABLE events (
    unit_id TEXT NOT NULL,
    journal_id BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    body BLOB NOT NULL,
    monotonic_ms INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL,
    digest BLOB NOT NULL,
    commit_ms INTEGER NOT NULL,
    PRIMARY KEY (unit_id, journal_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE alarms (
    number INTEGER PRIMARY KEY,
    commit_ms INTEGER NOT NULL,
    unit_id TEXT NOT NULL,
    table_id TEXT NOT NULL,
    event_sequence INTEGER NOT NULL,
    code TEXT NOT NULL,
    sentence TEXT NOT NULL
) STRICT;

CREATE INDEX alarms_by_unit ON alarms (unit_id, number);

CREATE TABLE wins (
    number INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    claim_number INTEGER NOT NULL,
    round_number INTEGER NOT NULL,
    commit_ms INTEGER NOT NULL,
    method INTEGER NOT NULL,
    authorised_by TEXT NOT NULL,
    role INTEGER NOT NULL,
    frozen INTEGER NOT NULL,
    UNIQUE (table_id, claim_number)
) STRICT;

CREATE TABLE win_lines (
    win_number INTEGER NOT NULL REFERENCES wins (number),
    position INTEGER NOT NULL,
    sensor TEXT NOT NULL,
    hand TEXT NOT NULL,
    hand_label TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    level TEXT NOT NULL,
    source INTEGER NOT NULL,
    meter_before_cents INTEGER NOT NULL,
    meter_after_cents INTEGER NOT NULL,
    PRIMARY KEY (win_number, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE win_envy (
    win_number INTEGER NOT NULL REFERENCES wins (number),
    position INTEGER NOT NULL,
    sensor TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    PRIMARY KEY (win_number, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE jackpots (
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    seed_cents INTEGER NOT NULL,
    opening_cents INTEGER NOT NULL,
    contribution_ppm INTEGER NOT NULL,
    reserve_ppm INTEGER NOT NULL,
    claim_lock INTEGER NOT NULL,
    fixed_pays_from TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tables (
    id TEXT PRIMARY KEY,
    board_serial TEXT NOT NULL,
    settings BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- State that moves with the records above, in the same SQLite transaction.

CREATE TABLE balances (
    account TEXT PRIMARY KEY,
    amount_microcents INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE units (
    unit_id TEXT PRIMARY KEY,
    table_id TEXT NOT NULL UNIQUE REFERENCES tables (id),
    journal_id BLOB NOT NULL,
    last_sequence INTEGER NOT NULL,
    last_digest BLOB NOT NULL,
    last_event_ms INTEGER NOT NULL,
    software TEXT NOT NULL,
    config_digest BLOB NOT NULL,
    lock_sentence TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE rounds (
    table_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    accepted TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    PRIMARY KEY (table_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
    table_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    round_number INTEGER NOT NULL,
    state TEXT NOT NULL,
    frozen INTEGER NOT NULL,
    logged_by TEXT NOT NULL,
    log_number INTEGER NOT NULL,
    role INTEGER NOT NULL,
    lines TEXT NOT NULL,
    envy TEXT NOT NULL,
    shown TEXT NOT NULL,
    awarded INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    win_number INTEGER NOT NULL,
    refusal_code INTEGER NOT NULL,
    refusal_sentence TEXT NOT NULL,
    refusal_sequence INTEGER NOT NULL,
    PRIMARY KEY (table_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_by_state ON claims (state, log_number);
CREATE INDEX claims_by_round ON claims (table_id, round_number);

-- A transaction is appended whole and in turn; the one before it must have balanced.
CREATE TRIGGER transactions_in_turn BEFORE INSERT ON transactions
WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM transactions)
BEGIN SELECT raise(ABORT, 'A ledger transaction must take the next number.'); END;

CREATE TRIGGER transactions_balanced BEFORE INSERT ON transactions
WHEN (SELECT coalesce(sum(amount_microcents), 0) FROM postings
      WHERE transaction_number = NEW.number - 1) <> 0
BEGIN SELECT raise(ABORT, 'The last ledger transaction does not balance.'); END;

CREATE TRIGGER postings_in_turn BEFORE INSERT ON postings
WHEN NEW.transaction_number <> (SELECT coalesce(max(number), 0) FROM transactions)
    OR NEW.position <> (SELECT count(*) + 1 FROM postings
                        WHERE transaction_number = NEW.transaction_number)
BEGIN SELECT raise(ABORT, 'A posting belongs to the newest ledger transaction, in turn.'); END;
