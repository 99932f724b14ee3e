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
    sentence TEXT NOT NULL,
    detail TEXT NOT NULL,
    commit_ms INTEGER NOT NULL,
    unit_id TEXT NOT NULL,
    event_sequence INTEGER NOT NULL,
    event_monotonic_ms INTEGER NOT NULL,
    event_wall_ms INTEGER NOT NULL,
    event_digest BLOB NOT NULL,
    journal_id BLOB NOT NULL,
    event_kind INTEGER NOT NULL,
    event_body BLOB NOT NULL,
    changes BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;

CREATE TABLE postings (
    transaction_number INTEGER NOT NULL,
    position INTEGER NOT NULL,
    account TEXT NOT NULL CHECK (account <> ''),
    amount_microcents INTEGER NOT NULL CHECK (amount_microcents <> 0),
    PRIMARY KEY (transaction_number, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX postings_by_account ON postings (account, transaction_number);
CREATE INDEX transactions_by_round ON transactions (table_id, round_number, kind);
CREATE INDEX transactions_by_event ON transactions (unit_id, event_sequence)
WHERE length(journal_id) > 0;

-- The units' events. The last transaction of the step that took one in keeps it, so that its clocks
-- and its digest stand once.
CREATE VIEW events AS
SELECT
    unit_id,
    journal_id,
    event_sequence AS sequence,
    event_kind AS kind,
    event_body AS body,
    event_monotonic_ms AS monotonic_ms,
    event_wall_ms AS wall_ms,
    event_digest AS digest,
    commit_ms
FROM transactions
WHERE length(journal_id) > 0;

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

CREATE INDEX wins_by_round ON wins (table_id, round_number);

CREATE TABLE win_lines (
    win_number INTEGER NOT NULL,
    position INTEGER NOT NULL,
    sensor TEXT NOT NULL,
    hand TEXT NOT NULL,
    hand_label TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    meter_id TEXT NOT NULL,
    source INTEGER NOT NULL,
    meter_before_cents INTEGER NOT NULL,
    meter_after_cents INTEGER NOT NULL,
    PRIMARY KEY (win_number, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE win_envy (
    win_number INTEGER NOT NULL,
    position INTEGER NOT NULL,
    sensor TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    PRIMARY KEY (win_number, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE tables (
    id TEXT PRIMARY KEY,
    board_serial TEXT NOT NULL,
    settings BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The policy each meter of a win was paid by, as it was then.
CREATE TABLE win_policies (
    win_number INTEGER NOT NULL,
    meter_id TEXT NOT NULL,
    policy TEXT NOT NULL,
    PRIMARY KEY (win_number, meter_id)
) STRICT, WITHOUT ROWID;

-- A win is reversed at most once, by one ledger transaction.
CREATE TABLE win_reversals (
    win_number INTEGER PRIMARY KEY,
    transaction_number INTEGER NOT NULL UNIQUE
) STRICT;

-- A reversed win is recorded anew at most once.
CREATE TABLE win_replacements (
    win_number INTEGER PRIMARY KEY,
    replaces INTEGER NOT NULL UNIQUE
) STRICT;

-- Which game a table plays on each of its sensors, as the house named it.
CREATE TABLE table_games (
    table_id TEXT NOT NULL,
    letter TEXT NOT NULL,
    game TEXT NOT NULL,
    PRIMARY KEY (table_id, letter)
) STRICT, WITHOUT ROWID;

-- The units' public keys, so that a copy of the ledger is enough to check its seals.
CREATE TABLE seal_keys (
    unit_id TEXT NOT NULL,
    public_key BLOB NOT NULL,
    PRIMARY KEY (unit_id, public_key)
) STRICT, WITHOUT ROWID;

-- State that moves with the records above, in the same SQLite transaction.

CREATE TABLE balances (
    account TEXT PRIMARY KEY,
    amount_microcents INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The terms in force, those that the next reseed brings, and how a jackpot stands.
CREATE TABLE jackpots (
    id TEXT PRIMARY KEY,
    terms TEXT NOT NULL,
    pending TEXT NOT NULL,
    applied_by INTEGER NOT NULL,
    suspended TEXT NOT NULL,
    closed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE units (
    unit_id TEXT PRIMARY KEY,
    table_id TEXT NOT NULL UNIQUE,
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
    joined TEXT NOT NULL,
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

-- What has passed through each table, to be held against what its unit counts.
CREATE TABLE table_counters (
    table_id TEXT PRIMARY KEY,
    wager_count INTEGER NOT NULL,
    wagered_microcents INTEGER NOT NULL,
    win_count INTEGER NOT NULL,
    paid_cents INTEGER NOT NULL,
    round_number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Each new journal that an operator permitted, and the journal that it goes on for.
CREATE TABLE successions (
    number INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    unit_id TEXT NOT NULL,
    operator TEXT NOT NULL,
    reason TEXT NOT NULL,
    permitted_ms INTEGER NOT NULL,
    adopted_ms INTEGER NOT NULL,
    journal_id BLOB NOT NULL,
    before_unit_id TEXT NOT NULL,
    before_journal_id BLOB NOT NULL,
    before_sequence INTEGER NOT NULL,
    before_digest BLOB NOT NULL,
    restored INTEGER NOT NULL
) STRICT;

-- What a table's unit is not told: whose cards count, and what the house asks for beyond them.
CREATE TABLE table_authority (
    table_id TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Each right card that was swiped: what a COMMIT by card must name.
CREATE TABLE swipes (
    ticket BLOB PRIMARY KEY,
    table_id TEXT NOT NULL,
    purpose INTEGER NOT NULL,
    number INTEGER NOT NULL,
    label TEXT NOT NULL,
    role INTEGER NOT NULL,
    swiped_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE wrong_swipes (
    number INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    swiped_ms INTEGER NOT NULL
) STRICT;

-- Who has looked into the alarms of one cause, up to which of them.
CREATE TABLE alarm_acks (
    number INTEGER PRIMARY KEY,
    code TEXT NOT NULL,
    table_id TEXT NOT NULL,
    unit_id TEXT NOT NULL,
    alarm_number INTEGER NOT NULL,
    acked_by TEXT NOT NULL,
    acked_ms INTEGER NOT NULL,
    note TEXT NOT NULL
) STRICT;

-- What the cage or a supervisor wrote on a win's slip: paid, or not to be paid.
CREATE TABLE win_stamps (
    number INTEGER PRIMARY KEY,
    win_number INTEGER NOT NULL,
    stamp TEXT NOT NULL,
    stamped_by TEXT NOT NULL,
    stamped_ms INTEGER NOT NULL,
    note TEXT NOT NULL
) STRICT;

-- Who may sign in. What is kept of a password is worth nothing without the key beside the ledger.
CREATE TABLE people (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    look TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    verifier TEXT NOT NULL,
    code TEXT NOT NULL,
    code_until_ms INTEGER NOT NULL,
    closed INTEGER NOT NULL
) STRICT;

-- What one person asked for and another one decides on.
CREATE TABLE requests (
    number INTEGER PRIMARY KEY,
    command TEXT NOT NULL,
    words TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    asked_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    state TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    decided_ms INTEGER NOT NULL,
    answer TEXT NOT NULL
) STRICT;

CREATE INDEX win_stamps_by_win ON win_stamps (win_number);
CREATE INDEX requests_by_state ON requests (state);
-- How often two people let the books go on from a backup, and from which tail on each time.
CREATE TABLE restores (
    era INTEGER PRIMARY KEY,
    tail_number INTEGER NOT NULL,
    tail_digest BLOB NOT NULL,
    operator TEXT NOT NULL,
    second TEXT NOT NULL,
    reason TEXT NOT NULL,
    commit_ms INTEGER NOT NULL
) STRICT;

-- Gaming days that are over: up to which transaction, and the digest of the books as they stood.
CREATE TABLE closed_days (
    day TEXT PRIMARY KEY,
    last_number INTEGER NOT NULL,
    image_digest BLOB NOT NULL,
    closed_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_by_state ON claims (state, settled);
CREATE INDEX claims_by_round ON claims (table_id, round_number);

-- A transaction takes the next number, or in an empty table the one after the archives; that it balances is checked before and proven by an audit.
CREATE TRIGGER transactions_in_turn BEFORE INSERT ON transactions
WHEN NEW.number <> (SELECT coalesce(max(number) + 1, NEW.number) FROM transactions)
BEGIN SELECT raise(ABORT, 'A ledger transaction must take the next number.'); END;

-- An event is taken in once, whatever the books believe.
CREATE TRIGGER events_once BEFORE INSERT ON transactions
WHEN length(NEW.journal_id) > 0 AND EXISTS (
    SELECT 1 FROM transactions
    WHERE unit_id = NEW.unit_id AND event_sequence = NEW.event_sequence
    AND journal_id = NEW.journal_id AND length(journal_id) > 0
)
BEGIN SELECT raise(ABORT, 'An event is taken in once.'); END;

-- What was written stays as it was written.
CREATE TRIGGER transactions_refuse_update BEFORE UPDATE ON transactions
BEGIN SELECT raise(ABORT, 'The transactions are append-only.'); END;
CREATE TRIGGER transactions_refuse_delete BEFORE DELETE ON transactions
BEGIN SELECT raise(ABORT, 'The transactions are append-only.'); END;
CREATE TRIGGER postings_refuse_update BEFORE UPDATE ON postings
BEGIN SELECT raise(ABORT, 'The postings are append-only.'); END;
CREATE TRIGGER postings_refuse_delete BEFORE DELETE ON postings
BEGIN SELECT raise(ABORT, 'The postings are append-only.'); END;
CREATE TRIGGER alarms_refuse_update BEFORE UPDATE ON alarms
BEGIN SELECT raise(ABORT, 'The alarms are append-only.'); END;
CREATE TRIGGER alarms_refuse_delete BEFORE DELETE ON alarms
BEGIN SELECT raise(ABORT, 'The alarms are append-only.'); END;
CREATE TRIGGER wins_refuse_update BEFORE UPDATE ON wins
BEGIN SELECT raise(ABORT, 'The wins are append-only.'); END;
CREATE TRIGGER wins_refuse_delete BEFORE DELETE ON wins
BEGIN SELECT raise(ABORT, 'The wins are append-only.'); END;
CREATE TRIGGER win_lines_refuse_update BEFORE UPDATE ON win_lines
BEGIN SELECT raise(ABORT, 'The win_lines are append-only.'); END;
CREATE TRIGGER win_lines_refuse_delete BEFORE DELETE ON win_lines
BEGIN SELECT raise(ABORT, 'The win_lines are append-only.'); END;
CREATE TRIGGER win_envy_refuse_update BEFORE UPDATE ON win_envy
BEGIN SELECT raise(ABORT, 'The win_envy are append-only.'); END;
CREATE TRIGGER win_envy_refuse_delete BEFORE DELETE ON win_envy
BEGIN SELECT raise(ABORT, 'The win_envy are append-only.'); END;
CREATE TRIGGER win_policies_refuse_update BEFORE UPDATE ON win_policies
BEGIN SELECT raise(ABORT, 'The win_policies are append-only.'); END;
CREATE TRIGGER win_policies_refuse_delete BEFORE DELETE ON win_policies
BEGIN SELECT raise(ABORT, 'The win_policies are append-only.'); END;
CREATE TRIGGER win_reversals_refuse_update BEFORE UPDATE ON win_reversals
BEGIN SELECT raise(ABORT, 'The win_reversals are append-only.'); END;
CREATE TRIGGER win_reversals_refuse_delete BEFORE DELETE ON win_reversals
BEGIN SELECT raise(ABORT, 'The win_reversals are append-only.'); END;
CREATE TRIGGER win_replacements_refuse_update BEFORE UPDATE ON win_replacements
BEGIN SELECT raise(ABORT, 'The win_replacements are append-only.'); END;
CREATE TRIGGER win_replacements_refuse_delete BEFORE DELETE ON win_replacements
BEGIN SELECT raise(ABORT, 'The win_replacements are append-only.'); END;
CREATE TRIGGER table_games_refuse_update BEFORE UPDATE ON table_games
BEGIN SELECT raise(ABORT, 'The table_games are append-only.'); END;
CREATE TRIGGER table_games_refuse_delete BEFORE DELETE ON table_games
BEGIN SELECT raise(ABORT, 'The table_games are append-only.'); END;
CREATE TRIGGER seal_keys_refuse_update BEFORE UPDATE ON seal_keys
BEGIN SELECT raise(ABORT, 'The seal_keys are append-only.'); END;
CREATE TRIGGER seal_keys_refuse_delete BEFORE DELETE ON seal_keys
BEGIN SELECT raise(ABORT, 'The seal_keys are append-only.'); END;
CREATE TRIGGER swipes_refuse_update BEFORE UPDATE ON swipes
BEGIN SELECT raise(ABORT, 'The swipes are append-only.'); END;
CREATE TRIGGER swipes_refuse_delete BEFORE DELETE ON swipes
BEGIN SELECT raise(ABORT, 'The swipes are append-only.'); END;
CREATE TRIGGER wrong_swipes_refuse_update BEFORE UPDATE ON wrong_swipes
BEGIN SELECT raise(ABORT, 'The wrong_swipes are append-only.'); END;
CREATE TRIGGER wrong_swipes_refuse_delete BEFORE DELETE ON wrong_swipes
BEGIN SELECT raise(ABORT, 'The wrong_swipes are append-only.'); END;
CREATE TRIGGER win_stamps_refuse_update BEFORE UPDATE ON win_stamps
BEGIN SELECT raise(ABORT, 'The win_stamps are append-only.'); END;
CREATE TRIGGER win_stamps_refuse_delete BEFORE DELETE ON win_stamps
BEGIN SELECT raise(ABORT, 'The win_stamps are append-only.'); END;
CREATE TRIGGER alarm_acks_refuse_update BEFORE UPDATE ON alarm_acks
BEGIN SELECT raise(ABORT, 'The alarm_acks are append-only.'); END;
CREATE TRIGGER alarm_acks_refuse_delete BEFORE DELETE ON alarm_acks
BEGIN SELECT raise(ABORT, 'The alarm_acks are append-only.'); END;
CREATE TRIGGER restores_refuse_update BEFORE UPDATE ON restores
BEGIN SELECT raise(ABORT, 'The restores are append-only.'); END;
CREATE TRIGGER restores_refuse_delete BEFORE DELETE ON restores
BEGIN SELECT raise(ABORT, 'The restores are append-only.'); END;
CREATE TRIGGER closed_days_refuse_update BEFORE UPDATE ON closed_days
BEGIN SELECT raise(ABORT, 'The closed_days are append-only.'); END;
CREATE TRIGGER closed_days_refuse_delete BEFORE DELETE ON closed_days
BEGIN SELECT raise(ABORT, 'The closed_days are append-only.'); END;
